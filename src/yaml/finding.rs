//! Mistakes in a file, as messages with which users can correct them: place, path, excerpt, hint.

use std::fmt;

use anstyle::{AnsiColor, Style};

use super::read::TextSpan;

/// The style of a place. Without colours, the signs `-->` and `^` mean the same.
const PLACE: Style = AnsiColor::Cyan.on_default().bold();
/// The style of the marked text, and of the hint.
const MARK: Style = AnsiColor::Red.on_default().bold();

/// One mistake in a file.
///
/// Prints as an excerpt of the text with the place marked, without the leading `error: `;
/// [`Self::lines`] has the same lines with the colours of a terminal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The text of the mistake.
    pub message: String,
    /// A hint how to correct it, if that is clear.
    pub hint: Option<String>,
    /// The field, such as `workload.jobs[0].maps`; empty for the file as a whole.
    pub path: String,
    /// Where the mistake is.
    pub place: FindingSpot,
}

/// Where a mistake is.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FindingSpot {
    /// In the file's text.
    Text {
        /// The name of the file.
        file: String,
        /// The line, from 1.
        line: usize,
        /// The column, from 1, counted in characters.
        column: usize,
        /// The line, or the part of it to show.
        excerpt: Excerpt,
    },
    /// In an argument of the command line, such as `--set cluster.nodes=0`.
    Argument(String),
    /// In the file as a whole.
    File(String),
}

/// A line of text with a part of it marked.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Excerpt {
    /// The line, cut if it is long.
    pub line: String,
    /// How many characters of `line` are before the mark.
    pub before: usize,
    /// How many characters are marked.
    pub marked: usize,
}

/// Returns the text of findings, to be printed after `error: `; the word is repeated before each
/// further finding.
pub fn print(findings: &[Finding]) -> String {
    let blocks: Vec<String> = findings.iter().map(Finding::to_string).collect();
    blocks.join("\n\nerror: ")
}

/// Shortens quotations in a message, and keys of a path: either may be as long as the file.
pub(crate) fn clip(text: &str) -> String {
    // Shorten each part, so that the words around a long quotation stay.
    text.split_inclusive(['"', '`', '.'])
        .map(|part| match part.char_indices().nth(WIDEST) {
            Some((end, _)) => {
                let close = part.chars().last().filter(|c| "\"`.".contains(*c));
                format!("{}…{}", &part[..end], close.map(String::from).unwrap_or_default())
            }
            None => part.to_owned(),
        })
        .collect()
}

/// How many characters of a line an excerpt shows. Chosen: a line of a wide terminal.
const WIDEST: usize = 100;

impl Excerpt {
    /// Cuts out the value at a line and column, from 1.
    pub(crate) fn of(text: &str, line: usize, column: usize) -> Self {
        let line = text.lines().nth(line.saturating_sub(1)).unwrap_or_default();
        // A line may be the whole file: use only the part that could be shown.
        let centred = column.saturating_sub(WIDEST / 2 + 1);
        let first = if column <= WIDEST / 2 { 0 } else { centred };
        let shown: Vec<char> = line
            .chars()
            .skip(first)
            .take(WIDEST)
            .map(|c| if c.is_control() { ' ' } else { c })
            .collect();
        let before = column.saturating_sub(1).saturating_sub(first).min(shown.len());
        let marked = token(&shown[before..]);
        let (lead, tail) = if first == 0 { ("", 0) } else { ("…", 1) };
        let line = format!("{lead}{}", shown.iter().collect::<String>().trim_end());
        Self { line, before: before + tail, marked }
    }

    /// Narrows the mark to a part of the marked text, if that text is found here; returns by how
    /// many characters the mark has moved.
    pub(crate) fn narrow(&mut self, to: &TextSpan) -> usize {
        let marked: String = self.line.chars().skip(self.before).collect();
        let bare = marked.trim_start_matches(['"', '\'']);
        // The text may be written with escapes or over several lines: then the whole value stays
        // marked.
        if !bare.starts_with(&to.text) {
            return 0;
        }
        let moved = marked.chars().count() - bare.chars().count() + to.from;
        self.before += moved;
        self.marked = to.len;
        moved
    }
}

/// Returns the length of the key or scalar at the beginning of a text; at least 1.
fn token(text: &[char]) -> usize {
    let end = match text.first() {
        Some(quote @ ('"' | '\'')) => {
            text.iter().skip(1).position(|c| c == quote).map_or(text.len(), |end| end + 2)
        }
        _ => (0..text.len())
            .find(|&at| match text[at] {
                ',' | '[' | ']' | '{' | '}' => true,
                ':' => text.get(at + 1).is_none_or(|next| next.is_whitespace()),
                // A comment in YAML needs a blank before it.
                ' ' => text.get(at + 1) == Some(&'#'),
                _ => false,
            })
            .unwrap_or(text.len()),
    };
    let trailing = text[..end].iter().rev().take_while(|c| c.is_whitespace()).count();
    (end - trailing).max(1)
}

impl Finding {
    /// Returns the finding's lines, each as parts with their colours. A part may hold any text, but
    /// no line break.
    pub fn lines(&self) -> Vec<Vec<(Style, String)>> {
        const PLAIN: Style = Style::new();
        let gap = if self.path.is_empty() { "" } else { "   " };
        let path = (PLAIN, format!("{gap}{}", self.path));
        let mut lines = vec![vec![(PLAIN, self.message.clone())]];
        match &self.place {
            FindingSpot::Text { file, line, column, excerpt } => {
                let margin = " ".repeat(line.to_string().len());
                let place = (PLACE, format!("--> {file}:{line}:{column}"));
                lines.push(vec![(PLAIN, format!("{margin} ")), place, path]);
                lines.push(vec![(PLAIN, format!("{margin}  |"))]);
                lines.push(vec![(PLAIN, format!(" {line} | {}", excerpt.line))]);
                let hint = self.hint.as_ref().map(|hint| format!(" {hint}")).unwrap_or_default();
                let before = " ".repeat(excerpt.before);
                let carets = "^".repeat(excerpt.marked);
                let mark = (MARK, format!("{carets}{hint}"));
                lines.push(vec![(PLAIN, format!("{margin}  | {before}")), mark]);
            }
            FindingSpot::Argument(whole) | FindingSpot::File(whole) => {
                let place = (PLACE, format!("--> {whole}"));
                lines.push(vec![(PLAIN, "  ".to_owned()), place, path]);
                if let Some(hint) = &self.hint {
                    let hint = (MARK, format!("= {hint}"));
                    lines.push(vec![(PLAIN, "   ".to_owned()), hint]);
                }
            }
        }
        lines
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, line) in self.lines().iter().enumerate() {
            f.write_str(if number == 0 { "" } else { "\n" })?;
            line.iter().try_for_each(|(_, part)| f.write_str(part))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn marked(text: &str, line: usize, column: usize) -> String {
        let Excerpt { line, before, marked } = Excerpt::of(text, line, column);
        line.chars().skip(before).take(marked).collect()
    }

    #[test]
    fn a_key_or_scalar_is_marked_as_a_whole() {
        let text = "nodes: 10 parsecs # far\nlist: [3s, 'a, b', x: y]\nkey:\n";
        assert_eq!(marked(text, 1, 1), "nodes");
        assert_eq!(marked(text, 1, 8), "10 parsecs");
        assert_eq!(marked(text, 2, 8), "3s");
        assert_eq!(marked(text, 2, 12), "'a, b'");
        assert_eq!(marked(text, 2, 7), "[");
        assert_eq!(marked(text, 3, 1), "key");
    }

    #[test]
    fn of_an_expression_the_part_that_is_wrong_is_marked() {
        let within = TextSpan { text: "mean(x) < 3".to_owned(), from: 5, len: 1 };
        for (text, column) in [("- mean(x) < 3", 3), ("- 'mean(x) < 3'", 3)] {
            let mut excerpt = Excerpt::of(text, 1, column);
            excerpt.narrow(&within);
            assert_eq!((text.chars().nth(excerpt.before), excerpt.marked), (Some('x'), 1));
        }
        let mut folded = Excerpt::of("- >-", 1, 3);
        assert_eq!((folded.narrow(&within), folded.marked), (0, 2));
    }

    #[test]
    fn a_long_line_is_cut_around_the_place() {
        let text = format!("{}wrong: 1{}", "x".repeat(1_000), "y".repeat(1_000));
        let excerpt = Excerpt::of(&text, 1, 1_001);
        assert!(excerpt.line.chars().count() <= WIDEST + 1);
        assert_eq!(marked(&text, 1, 1_001), "wrong");
    }

    #[test]
    fn quotes_in_messages_are_clipped() {
        let text = format!("text \"{}\", expected `a`", "x".repeat(1_000));
        assert!(clip(&text).ends_with("xxx…\", expected `a`"), "{}", clip(&text));
        assert_eq!(clip("unknown `a`, expected `b`"), "unknown `a`, expected `b`");
    }

    #[test]
    fn the_place_and_the_mark_have_their_colours() {
        let excerpt = Excerpt::of("nodes: 0\n", 1, 8);
        let file = "a.yaml".to_owned();
        for place in [
            FindingSpot::Text { file: file.clone(), line: 1, column: 8, excerpt },
            FindingSpot::Argument("--set cluster.nodes=0".to_owned()),
            FindingSpot::File(file),
        ] {
            let finding = Finding {
                message: "no nodes".to_owned(),
                hint: Some("one will do".to_owned()),
                path: "cluster.nodes".to_owned(),
                place,
            };
            let parts = finding.lines().concat();
            let coloured = |colour| parts.iter().find(|(style, _)| *style == colour).unwrap();
            assert!(coloured(PLACE).1.starts_with("--> "), "{parts:?}");
            assert!(coloured(MARK).1.ends_with(" one will do"), "{parts:?}");
        }
    }

    #[test]
    fn a_place_outside_of_the_text_is_no_fault() {
        assert_eq!(Excerpt::of("a", 7, 9).marked, 1);
        assert_eq!(Excerpt::of("", 1, 1).marked, 1);
    }
}
