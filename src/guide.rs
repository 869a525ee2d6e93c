//! The guide: a chapter for each subject, for users of Mumakil. The last chapter, [`tour`], is for
//! its developers.
//! ```text
//! src/guide/faults.md  ->  guide::faults, a module of these docs    `[policies]` links to guide::policies
//!                      ->  CHAPTERS: `mumakil help faults`
//!                      ->  tests: its transcripts are typed again, its scenarios are checked
//! ```

/// A chapter of the guide.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Chapter {
    /// Its name, on the command line, in links and as a file.
    pub name: &'static str,
    /// Its text, as Markdown.
    pub text: &'static str,
}

impl Chapter {
    /// Returns the chapter with this name.
    pub fn find(name: &str) -> Option<&'static Self> {
        CHAPTERS.iter().find(|chapter| chapter.name == name)
    }

    /// Returns the chapters that contain a word, each with the heading above the word's first
    /// occurrence.
    pub fn places(word: &str) -> impl Iterator<Item = (&'static Self, &'static str)> {
        let word = word.to_lowercase();
        CHAPTERS.iter().filter_map(move |chapter| {
            let mut heading = chapter.title();
            chapter.text.lines().find_map(|line| {
                if let Some(new) = line.strip_prefix("## ") {
                    heading = new;
                }
                // Whole words only, or their plurals: `map` should not find `mapping`.
                let is_word = |other: &str| {
                    let other = other.to_lowercase();
                    other.strip_prefix(&word).is_some_and(|rest| ["", "s", "es"].contains(&rest))
                };
                let mut words = line.split(|letter: char| !letter.is_alphanumeric());
                words.any(is_word).then_some((chapter, heading))
            })
        })
    }

    /// Returns the chapter's heading.
    pub fn title(&self) -> &'static str {
        self.text.lines().next().unwrap_or_default().trim_start_matches("# ")
    }
}

/// Makes a module and an entry of [`CHAPTERS`] from each `src/guide/NAME.md`.
///
/// In a file, `[policies]` is a link to the file `policies.md`, by a definition at the end of the
/// file. In these docs it must be a link to the module. The first of two definitions counts, so the
/// macro puts its own before the text.
macro_rules! chapters {
    ($($name:ident)*) => {
        chapters!(@linked concat!($("[", stringify!($name), "]: mod@", stringify!($name), "\n"),*); $($name)*);
    };
    (@linked $links:expr; $($name:ident)*) => {
        $(
            #[doc = $links]
            #[doc = ""]
            #[doc = include_str!(concat!("guide/", stringify!($name), ".md"))]
            pub mod $name {}
        )*

        /// All chapters that `mumakil help` shows, in the best order to read them.
        pub const CHAPTERS: &[Chapter] = &[$(Chapter {
            name: stringify!($name),
            text: include_str!(concat!("guide/", stringify!($name), ".md")),
        }),*];
    };
}

chapters! {
    results
    scenario
    workloads
    traces
    policies
    faults
    studies
    clusters
    metrics
    time
    external
    scores
    teaching
    extending
    differences
    experiments
    watching
    exits
    tour
}

/// Every key of scenarios and studies. In a terminal, `mumakil show reference` shows them, and with
/// them the policies that your own program adds.
#[doc = include_str!("guide/reference.md")]
pub mod reference {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_found_in_the_plural_and_not_inside_of_another() {
        let found = |word: &str| Chapter::places(word).map(|(of, _)| of.name).collect::<Vec<_>>();
        assert!(found("peak").contains(&"workloads"), "{:?}", found("peak"));
        assert!(found("Sojourn").contains(&"results") && found("sojour").is_empty());
    }

    #[test]
    fn every_chapter_has_a_title() {
        for chapter in CHAPTERS {
            assert!(chapter.text.starts_with("# "), "{}", chapter.name);
            assert!(Chapter::find(chapter.name) == Some(chapter) && !chapter.title().is_empty());
        }
    }
}
