//! A policy for the bench `external`: launches tasks of the first jobs that have any, until no slot
//! is free.
//!
//! The policy is one file without packages, for `rustc -O`. It only searches the text of a question
//! for the few words that it needs. No policy can do less work, so the bench measures the cost of
//! the exchange itself. At its end the policy prints the number of answers and its computing time.

use std::collections::BTreeMap;
use std::io::{self, BufRead as _, Write as _};

fn main() {
    let (mut input, mut output) = (io::stdin().lock(), io::stdout().lock());
    let (mut line, mut answer) = (String::new(), String::new());
    let mut pending: BTreeMap<u64, [u64; 2]> = BTreeMap::new();
    let mut asked = 0u64;
    while input.read_line(&mut line).expect("it speaks UTF-8") > 0 {
        answer.clear();
        if line.starts_with("{\"hello\"") {
            answer.push_str("{\"hello\":{\"protocol\":1}}");
        } else if line.starts_with("{\"end\"") {
            break;
        } else {
            asked += 1;
            for (_, counts) in after(&line, "{\"counts\":") {
                let job = number(counts, "\"job\":");
                let [maps, reduces] = pair(counts, "\"pending\":[");
                pending.insert(job, [maps, reduces]);
            }
            for (_, ended) in after(&line, "{\"ended\":") {
                pending.remove(&number(ended, "\"job\":"));
            }
            let mut free = pair(&line, "\"free\":[");
            answer.push_str(&format!("{{\"answer\":{{\"number\":{asked},\"do\":["));
            let mut comma = "";
            for (job, left) in &mut pending {
                for (kind, word) in ["map", "reduce"].into_iter().enumerate() {
                    let count = free[kind].min(left[kind]);
                    free[kind] -= count;
                    left[kind] -= count;
                    for _ in 0..count {
                        answer.push_str(&format!("{comma}{{\"{word}\":{{\"job\":{job}}}}}"));
                        comma = ",";
                    }
                }
            }
            answer.push_str("]}}");
        }
        answer.push('\n');
        output.write_all(answer.as_bytes()).expect("somebody listens");
        output.flush().expect("somebody listens");
        line.clear();
    }
    // The first number is the time on a processor, in nanoseconds.
    let computed = std::fs::read_to_string("/proc/self/schedstat").unwrap_or_default();
    eprintln!("{asked} {}", computed.split(' ').next().unwrap_or_default());
}

/// Returns each position after a word.
fn after<'a>(text: &'a str, word: &'a str) -> impl Iterator<Item = (usize, &'a str)> {
    text.match_indices(word).map(move |(at, _)| (at, &text[at + word.len()..]))
}

/// Returns the number after a word, or 0.
fn number(text: &str, word: &str) -> u64 {
    let rest = text.find(word).map_or("", |at| &text[at + word.len()..]);
    rest.split(|c: char| !c.is_ascii_digit()).next().and_then(|of| of.parse().ok()).unwrap_or(0)
}

/// Returns the two numbers after a word, or zeros.
fn pair(text: &str, word: &str) -> [u64; 2] {
    let rest = text.find(word).map_or("", |at| &text[at + word.len()..]);
    let mut numbers = rest.split(|c: char| !c.is_ascii_digit()).map(|of| of.parse().unwrap_or(0));
    [(); 2].map(|()| numbers.next().unwrap_or(0))
}
