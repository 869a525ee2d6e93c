//! The search behind `show WORD` and `help WORD`.
//!
//! ```text
//! show "Slow Start"   letters alone count: slowstart      -> the end of the key hadoop.slow_start: shown
//! show poisson        another word for workload.mix.arrivals.gap: shown
//! show rack           the end of five names               -> the best three, with their places
//! show commit         in texts alone                      -> the best three paragraphs of guide and keys
//! show fiar           nowhere                             -> did you mean `fair`?
//! ```

use std::cmp::Reverse;

/// Other words for what has another name here: a line for each, with the names.
const SYNONYMS: &str = include_str!("synonyms.txt");

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
    pub(super) fn named(name: &str, command: String, text: &str) -> Self {
        Self { name: name.to_owned(), command, text: text.to_owned(), is_paragraph: false }
    }
}

/// How a passage answers a word, the best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum SearchAnswer {
    /// It has the word as its name.
    Name,
    /// The word is another one for it, or for several: its place among these.
    Meant(usize),
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
pub(super) fn search(
    word: &str,
    passages: impl Iterator<Item = Passage>,
) -> Vec<(SearchAnswer, Passage)> {
    let asked = tokens(word);
    let letters = asked.concat();
    let mut lines = SYNONYMS.lines().filter_map(|line| line.split_once(": "));
    let meant = lines.find(|(other, _)| tokens(other).concat() == letters);
    let names: Vec<&str> = meant.iter().flat_map(|(_, names)| names.split(", ")).collect();
    let answers = passages.filter_map(|passage| {
        let place = names.iter().position(|name| !passage.is_paragraph && passage.name == *name);
        let answer = match place {
            Some(place) => Some(SearchAnswer::Meant(place)),
            None => answer(&asked, &letters, &passage).or_else(|| {
                let text = tokens(&passage.text);
                let times = names.iter().map(|other| count(&text, &tokens(other).concat())).sum();
                (0 < times).then_some(SearchAnswer::InText(Reverse(times)))
            }),
        };
        Some((answer?, passage))
    });
    let mut found: Vec<(SearchAnswer, Passage)> = Vec::new();
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
fn answer(asked: &[String], letters: &str, passage: &Passage) -> Option<SearchAnswer> {
    let name = passage.name.trim_end_matches(".csv");
    let points = name.match_indices('.').map(|(point, _)| point);
    let whole = [0].into_iter().chain(points).find(|at| tokens(&name[*at..]).concat() == letters);
    let (own, text) = (tokens(name), tokens(&passage.text));
    match (whole.filter(|_| !passage.is_paragraph), count(&text, letters)) {
        (Some(0), _) => Some(SearchAnswer::Name),
        (Some(_), _) => Some(SearchAnswer::NameEnd(name.matches('.').count())),
        _ if 0 < count(&own, letters) => Some(SearchAnswer::InName),
        (None, 0) => {
            let has_each = 1 < asked.len() && asked.iter().all(|word| text.contains(word));
            has_each.then_some(SearchAnswer::EachInText)
        }
        (None, times) => Some(SearchAnswer::InText(Reverse(times))),
    }
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

/// Returns how often neighbouring words have these letters together: `slow start` is `slowstart`.
fn count(words: &[String], letters: &str) -> usize {
    let begins = (0..words.len()).filter(|first| {
        let mut rest = Some(letters);
        let behind = words[*first..].iter().map_while(|word| {
            rest = rest.filter(|rest| !rest.is_empty())?.strip_prefix(&**word);
            rest
        });
        behind.last() == Some("")
    });
    begins.count()
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
            None if line.is_empty() || line.contains("]: ") => continue,
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

    fn found(word: &str, passages: &[Passage]) -> Vec<(SearchAnswer, String)> {
        let found = search(word, passages.iter().cloned()).into_iter();
        found.map(|(answer, passage)| (answer, passage.name)).collect()
    }

    #[test]
    fn case_blanks_hyphens_and_plurals_do_not_matter() {
        let passages = [key("hadoop.slow_start", "When reduces start."), key("cluster.nodes", "")];
        for word in ["slow start", "Slow-Start", "slowStart", "slow_starts", "hadoop slow start"] {
            let found = found(word, &passages);
            assert_eq!(found[0].1, "hadoop.slow_start", "{word}");
            assert!(found[0].0 <= SearchAnswer::NameEnd(1), "{word}");
        }
        assert_eq!(found("start", &passages)[0].0, SearchAnswer::InName);
        assert!(found("slow starting", &passages).is_empty());
    }

    #[test]
    fn another_word_finds_the_name() {
        let passages = [key("other", "Poisson."), key("workload.mix.arrivals.gap", "The time.")];
        let names = found("Poisson", &passages);
        assert_eq!(names[0], (SearchAnswer::Meant(0), "workload.mix.arrivals.gap".to_owned()));
        assert_eq!(names[1].0, SearchAnswer::InText(Reverse(1)));
    }

    #[test]
    fn a_word_is_found_in_the_plural_and_not_inside_of_another() {
        let all = paragraphs("a", "# Loads\nA load.\n## A peak\nTwo maps.\n\n```\na\n\nb\n```\n");
        let texts: Vec<_> = all.iter().map(|it| (&*it.name, it.text.trim())).collect();
        let peak = "Two maps.\n\n```\na\n\nb\n```";
        assert_eq!(texts, [("Loads", "A load."), ("A peak", peak)]);
        assert_eq!(found("map", &all), [(SearchAnswer::InText(Reverse(1)), "A peak".to_owned())]);
        assert_eq!(found("peaks", &all)[0].0, SearchAnswer::InName);
        assert!(found("ma", &all).is_empty());
    }

    #[test]
    fn a_description_is_told_once() {
        let passages = [key("scheduler.fifo.w1", "A wait."), key("scheduler.fair.w1", "A wait.")];
        assert_eq!(
            found("w1", &passages),
            [(SearchAnswer::NameEnd(2), "scheduler.fifo.w1".to_owned())]
        );
    }
}
