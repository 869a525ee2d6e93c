//! The search behind `show WORD` and `help WORD`.
//!
//! ```text
//! show "Slow Start"   letters alone count: slowstart      -> the end of the key hadoop.slow_start: shown
//! show poisson        another word for workload.mix.arrivals.gap: shown
//! show rack           the end of five names               -> the best three, with their places
//! show commit         in texts alone                      -> the best three paragraphs of guide and keys
//! show fiar           nowhere                             -> did you mean `fair`?
//! ```
//! Names come before texts: the texts are searched only if no name has the word.

use std::cmp::Reverse;
use std::ops::Range;

/// Other words for what has another name here. A name may have several such words.
const SYNONYMS: &[(&str, &[&str])] = &[
    ("bandwidth", &["cluster.network", "cluster.disk"]),
    ("block size", &["cluster.hdfs.block"]),
    ("confidence interval", &["metrics"]),
    ("container", &["cluster.map_slots", "cluster.reduce_slots"]),
    ("data locality", &["locality.node", "locality.rack", "locality.off_rack"]),
    ("data node", &["cluster.nodes"]),
    ("delay scheduling", &["scheduler.fifo.delay"]),
    ("exponential", &["workload.mix.arrivals.gap"]),
    ("failure", &["faults"]),
    ("fair share", &["fair"]),
    ("gang scheduling", &["cluster.resources"]),
    ("input size", &["workload.jobs[].input"]),
    ("inter arrival", &["workload.mix.arrivals.gap"]),
    ("job size", &["workload.jobs[].maps"]),
    ("latency", &["sojourn", "cluster.network.latency"]),
    ("load", &["offered_load.map", "workload.pace"]),
    ("log normal", &["workload.mix.types.NAME.map_time"]),
    ("machine", &["cluster.nodes"]),
    ("minimum share", &["scheduler.fair.allocations.pools.NAME.min_maps"]),
    ("node failure", &["faults.kill"]),
    ("percentile", &["metrics"]),
    ("poisson", &["workload.mix.arrivals.gap"]),
    ("preempt", &["scheduler.fair.preemption"]),
    ("processor sharing", &["ps"]),
    ("replica", &["cluster.hdfs.replication"]),
    ("response time", &["sojourn"]),
    ("shortest job first", &["srpt", "hfsp"]),
    ("speculative execution", &["hadoop.speculation"]),
    ("task tracker", &["cluster.nodes"]),
    ("turnaround", &["sojourn"]),
    ("throughput", &["makespan", "goodput"]),
    ("uniform", &["workload.mix.arrivals.gap"]),
    ("v core", &["cluster.cores"]),
    ("waiting time", &["wait"]),
    ("warm up", &["record.warm_up"]),
    ("worker", &["cluster.nodes"]),
];

/// How many passages answer a word.
pub(super) const SHOWN: usize = 3;

/// Something that a search can find: a name with its description, or a paragraph of the guide.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Passage {
    /// Its name; the heading above a paragraph.
    pub(super) name: String,
    /// The words after `mumakil` that show it whole.
    pub(super) command: String,
    pub(super) text: String,
    pub(super) is_paragraph: bool,
}

impl Passage {
    /// Returns the passage about a name.
    pub(super) const fn named(name: String, command: String, text: String) -> Self {
        Self { name, command, text, is_paragraph: false }
    }
}

/// How a passage answers a word, the best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Answer {
    /// It has the word as its name, or the word is another one for it.
    Name,
    /// Its name ends in the word, after this number of steps.
    NameEnd(usize),
    /// Its name, or the heading above it, contains the word.
    InName,
    /// Its text has the word so often.
    InText(Reverse<usize>),
    /// Its text has each of the words, somewhere.
    EachInText,
}

/// Returns the passages that answer a word, the best first; those of equal worth stay in their order.
/// A description that several keys share is answered by the first.
pub(super) fn search(word: &str, passages: Vec<Passage>) -> Vec<(Answer, Passage)> {
    let asked = tokens(word);
    let letters = asked.concat();
    let meant = SYNONYMS.iter().find(|(other, _)| tokens(other).concat() == letters);
    let names = meant.map_or(&[][..], |(_, names)| names);
    let answers = passages.into_iter().filter_map(|passage| {
        let answer = match names.contains(&&*passage.name) && !passage.is_paragraph {
            true => Some(Answer::Name),
            false => answer(&asked, &letters, &passage),
        };
        Some((answer?, passage))
    });
    let mut found: Vec<(Answer, Passage)> = Vec::new();
    for (answer, passage) in answers {
        let is_told = found.iter_mut().find(|(_, other)| {
            !passage.text.is_empty() && other.text == passage.text && !other.is_paragraph
        });
        match is_told {
            Some((best, _)) if *best <= answer => {}
            Some(other) => *other = (answer, passage),
            None => found.push((answer, passage)),
        }
    }
    found.sort_by_key(|(answer, _)| *answer);
    found
}

/// Returns how a passage answers; `None` if it does not.
fn answer(asked: &[String], letters: &str, passage: &Passage) -> Option<Answer> {
    let name = tokens(&passage.name);
    if let Some(place) = places(&name, letters).last() {
        let is_end = place.end == name.len();
        return Some(match (passage.is_paragraph, is_end, place.start) {
            (false, true, 0) => Answer::Name,
            (false, true, _) if ends_in_steps(&passage.name, letters) => {
                Answer::NameEnd(passage.name.matches('.').count())
            }
            _ => Answer::InName,
        });
    }
    let text = tokens(&passage.text);
    let is_there = |token| text.contains(token);
    match places(&text, letters).count() {
        0 if 1 < asked.len() && asked.iter().all(is_there) => Some(Answer::EachInText),
        0 => None,
        times => Some(Answer::InText(Reverse(times))),
    }
}

/// Returns whether the last steps of a dotted name have just these letters.
fn ends_in_steps(name: &str, letters: &str) -> bool {
    let ends = name.match_indices('.').map(|(point, _)| &name[point..]);
    ends.into_iter().any(|end| tokens(end).concat() == letters)
}

/// Returns the words of a text, in the singular and in British spelling.
fn tokens(text: &str) -> Vec<String> {
    let words = text.split(|letter: char| !letter.is_alphanumeric()).filter(|it| !it.is_empty());
    words
        .map(|word| {
            let mut word = word.to_lowercase().replace("iza", "isa");
            if 3 < word.len() && word.ends_with('s') && !word.ends_with("ss") {
                word.pop();
            }
            word
        })
        .collect()
}

/// Returns the runs of neighbouring words that have these letters together: `slow start` is
/// `slowstart`.
fn places(words: &[String], letters: &str) -> impl Iterator<Item = Range<usize>> {
    (0..words.len()).filter_map(move |first| {
        let mut rest = letters;
        let ends = words[first..].iter().position(|word| {
            rest = rest.strip_prefix(&**word).unwrap_or("-");
            ["", "-"].contains(&rest)
        });
        ends.filter(|_| rest.is_empty()).map(|last| first..first + last + 1)
    })
}

/// Returns the paragraphs of a chapter, each with the heading above it.
pub(super) fn paragraphs(chapter: &str, text: &str) -> Vec<Passage> {
    let (mut heading, mut all, mut is_code) = ("", Vec::<Passage>::new(), false);
    let mut is_new = true;
    for line in text.lines() {
        if line.starts_with('#') && !is_code {
            heading = line.trim_start_matches(['#', ' ']);
            is_new = true;
            continue;
        }
        is_code ^= line.starts_with("```");
        // Code belongs to the sentence before it.
        match all.last_mut().filter(|last| last.name == heading && (!is_new || is_code)) {
            Some(passage) => passage.text += &format!("\n{line}"),
            None if line.is_empty() => continue,
            None => all.push(Passage {
                name: heading.to_owned(),
                command: format!("help {chapter}"),
                text: line.to_owned(),
                is_paragraph: true,
            }),
        }
        is_new = line.is_empty() && !is_code;
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(name: &str, text: &str) -> Passage {
        let command = format!("show key {name}");
        Passage { name: name.to_owned(), command, text: text.to_owned(), is_paragraph: false }
    }

    fn found(word: &str, passages: &[Passage]) -> Vec<(Answer, String)> {
        let found = search(word, passages.to_vec()).into_iter();
        found.map(|(answer, passage)| (answer, passage.name)).collect()
    }

    #[test]
    fn case_blanks_hyphens_and_plurals_do_not_matter() {
        let passages = [key("hadoop.slow_start", "When reduces start."), key("cluster.nodes", "")];
        for word in ["slow start", "Slow-Start", "slowStart", "slow_starts", "hadoop slow start"] {
            let found = found(word, &passages);
            assert_eq!(found[0].1, "hadoop.slow_start", "{word}");
            assert!(found[0].0 <= Answer::NameEnd(1), "{word}");
        }
        assert_eq!(found("start", &passages)[0].0, Answer::InName);
        assert!(found("slow starting", &passages).is_empty());
    }

    #[test]
    fn another_word_finds_the_name() {
        let passages = [key("other", "Poisson."), key("workload.mix.arrivals.gap", "The time.")];
        let names = found("Poisson", &passages);
        assert_eq!(names[0], (Answer::Name, "workload.mix.arrivals.gap".to_owned()));
        assert_eq!(names[1].0, Answer::InText(Reverse(1)));
    }

    #[test]
    fn a_word_is_found_in_the_plural_and_not_inside_of_another() {
        let all = paragraphs("a", "# Loads\nA load.\n## A peak\nTwo maps.\n\n```\na\n\nb\n```\n");
        let texts: Vec<_> = all.iter().map(|it| (&*it.name, it.text.trim())).collect();
        let peak = "Two maps.\n\n```\na\n\nb\n```";
        assert_eq!(texts, [("Loads", "A load."), ("A peak", peak)]);
        assert_eq!(found("map", &all), [(Answer::InText(Reverse(1)), "A peak".to_owned())]);
        assert_eq!(found("peaks", &all)[0].0, Answer::InName);
        assert!(found("ma", &all).is_empty());
    }

    #[test]
    fn a_description_is_told_once() {
        let passages = [key("scheduler.fifo.w1", "A wait."), key("scheduler.fair.w1", "A wait.")];
        assert_eq!(found("w1", &passages), [(Answer::NameEnd(2), "scheduler.fifo.w1".to_owned())]);
    }
}
