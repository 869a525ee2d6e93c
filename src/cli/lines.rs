//! Text for a terminal, made safe: no name in it can control the terminal.
//!
//! Text from files may have any characters. For example, a job of a trace may be called
//! ```text
//! "a\u{1b}[2J"                clears the screen
//! "a
//! error: disk full"       looks like a message of Mumakil
//! "a\u{202e}txt.sh"           turns the direction of the following text
//! ```
//! So all output is [`TerminalLines`], and each piece of text passes through [`plain`], which shows
//! such characters as escapes. Only this file writes line ends and colours.

use std::borrow::Cow;
use std::fmt::Write as _;

use anstyle::Style;

/// The style of the few words in a block that a reader should see first.
pub const BOLD: Style = Style::new().bold();

/// Lines with colours; `terminal` removes the colours where they cannot be shown.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TerminalLines {
    /// Only texts that [`plain`] returned, our styles, and line ends.
    text: String,
}

impl TerminalLines {
    /// Returns one line.
    pub fn of(line: impl AsRef<str>) -> Self {
        let mut lines = Self::default();
        lines.line(line);
        lines
    }

    /// Adds a line.
    pub fn line(&mut self, line: impl AsRef<str>) {
        self.part(Style::new(), line);
        self.end();
    }

    /// Adds a line whose beginning is bold.
    pub fn bold(&mut self, head: impl AsRef<str>, rest: impl AsRef<str>) {
        self.part(BOLD, head);
        self.line(rest);
    }

    /// Adds text in a style to the current line.
    pub fn part(&mut self, style: Style, part: impl AsRef<str>) {
        let _ = write!(self.text, "{style}{}{style:#}", plain(part.as_ref()));
    }

    /// Ends the current line.
    pub fn end(&mut self) {
        self.text.push('\n');
    }

    /// Adds a message of one or more lines. Indents all lines but the first, so that no line looks
    /// like another message.
    pub fn message(&mut self, text: &str) {
        for (number, line) in text.split('\n').enumerate() {
            let margin =
                // Lines that are indented already, such as hints, keep their margin.
                if number == 0 || line.is_empty() || line.starts_with("  ") { "" } else { "  " };
            self.part(Style::new(), margin);
            self.line(line);
        }
    }

    /// Returns the lines, each with at most about `most` characters: the middle of a longer line is
    /// left out. Colours stay.
    pub fn shortened(&self, most: usize) -> Self {
        let lines = self.text.split_inclusive('\n').map(|line| shortened(line, most));
        Self { text: lines.collect() }
    }

    /// Returns whether there are no lines.
    pub fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// Returns the lines with colours.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Returns the lines without colours.
    #[cfg(test)]
    pub fn bare(&self) -> String {
        anstream::adapter::strip_str(&self.text).to_string()
    }
}

impl std::ops::AddAssign for TerminalLines {
    fn add_assign(&mut self, other: Self) {
        self.text += &other.text;
    }
}

impl std::ops::Add for TerminalLines {
    type Output = Self;
    fn add(mut self, other: Self) -> Self {
        self += other;
        self
    }
}

impl std::iter::Sum for TerminalLines {
    fn sum<I: Iterator<Item = Self>>(all: I) -> Self {
        all.fold(Self::default(), |lines, more| lines + more)
    }
}

/// Returns a line without its middle, if it has more than `most` characters.
pub fn shortened(line: &str, most: usize) -> Cow<'_, str> {
    // Colours count here, too: a line that is short with them is short.
    if line.chars().nth(most).is_none() {
        return line.into();
    }
    // Only our own styles have an escape; each ends with the letter `m`.
    let mut is_colour = false;
    let marked = line.chars().map(|c| {
        is_colour |= c == '\u{1b}';
        let is_text = !is_colour && c != '\n';
        is_colour &= c != 'm';
        (c, is_text)
    });
    let chars: Vec<(char, bool)> = marked.collect();
    let count = chars.iter().filter(|(_, is_text)| *is_text).count();
    // Often the end has the reason, so a quarter of the room is for it.
    let left_out = most - most / 4..count.saturating_sub(most / 4);
    let (mut short, mut place) = (String::new(), 0);
    for (c, is_text) in chars {
        if !is_text || !left_out.contains(&place) {
            short.push(c);
        } else if place == left_out.start {
            short += " … ";
        }
        place += usize::from(is_text);
    }
    short.into()
}

/// Returns a text with its control characters as escapes: `\u{1b}`, `
/// `.
pub fn plain(text: &str) -> Cow<'_, str> {
    shown(text, controls_terminal)
}

/// Returns a file's text with escapes for control characters, except line ends and tabs.
pub fn plain_file(text: &str) -> Cow<'_, str> {
    shown(text, |c| controls_terminal(c) && !['\n', '\t'].contains(&c))
}

fn shown(text: &str, is_shown: fn(char) -> bool) -> Cow<'_, str> {
    // Nearly every text is harmless: return it without a copy.
    if !text.contains(is_shown) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::new();
    for c in text.chars() {
        if is_shown(c) {
            shown.extend(c.escape_default());
        } else {
            shown.push(c);
        }
    }
    Cow::Owned(shown)
}

/// Returns whether a character controls the terminal, or hides in it: control characters, ends of
/// lines and paragraphs, marks that turn the direction of text, and characters without width.
fn controls_terminal(c: char) -> bool {
    // The separators of lines and paragraphs; Unicode does not count them as control characters.
    const ENDS: std::ops::RangeInclusive<char> = '\u{2028}'..='\u{2029}';
    // Marks for Arabic letters, for left-to-right and for right-to-left text.
    const MARKS: [char; 3] = ['\u{61c}', '\u{200e}', '\u{200f}'];
    // With embeddings and isolates, "Trojan Source" attacks reorder the shown text
    // (CVE-2021-42574).
    const EMBEDDINGS: std::ops::RangeInclusive<char> = '\u{202a}'..='\u{202e}';
    const ISOLATES: std::ops::RangeInclusive<char> = '\u{2066}'..='\u{2069}';
    // Characters that nobody sees: the byte order mark, spaces without width, operators that are not
    // shown. A joiner stays, since it makes one emoji of several.
    const UNSEEN: [char; 2] = ['\u{feff}', '\u{200b}'];
    const OPERATORS: std::ops::RangeInclusive<char> = '\u{2060}'..='\u{2064}';
    c.is_control()
        || UNSEEN.contains(&c)
        || OPERATORS.contains(&c)
        || ENDS.contains(&c)
        || MARKS.contains(&c)
        || EMBEDDINGS.contains(&c)
        || ISOLATES.contains(&c)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_that_steer_a_terminal_are_written_out() {
        let all = "a\u{1b}[2J\r\n\t\u{7f}\u{9b}1m\u{2028}\u{202e}\u{2066}\u{200f}b";
        assert_eq!(
            plain(all),
            "a\\u{1b}[2J\\r\\n\\t\\u{7f}\\u{9b}1m\\u{2028}\\u{202e}\\u{2066}\\u{200f}b"
        );
        assert_eq!(plain_file("a\tb\r\n"), "a\tb\\r\n");
        assert_eq!(plain("\u{feff}a\u{200b}\u{2060}"), "\\u{feff}a\\u{200b}\\u{2060}");
    }

    #[test]
    fn texts_of_people_stay_as_they_are() {
        for text in ["", "query-1", "größer · 10 %", "節點", "משרה", "👩‍💻 é"] {
            assert!(matches!(plain(text), Cow::Borrowed(same) if same == text), "{text}");
        }
    }

    #[test]
    fn a_name_ends_no_line_and_begins_no_colour() {
        let mut lines = TerminalLines::of("a\nerror: b");
        lines.bold("c\u{1b}[0m", "\u{1b}[31md");
        assert_eq!(lines.bare(), "a\\nerror: b\nc\\u{1b}[0m\\u{1b}[31md\n");
        assert_eq!(lines.as_str().matches('\u{1b}').count(), 2);
    }

    #[test]
    fn a_long_line_loses_its_middle_and_keeps_its_colours() {
        let mut lines = TerminalLines::of("short");
        lines.bold("ä".repeat(90), "b".repeat(90) + " is wrong");
        let short = lines.shortened(20);
        assert_eq!(short.bare(), format!("short\n{} … wrong\n", "ä".repeat(15)));
        assert_eq!(short.as_str().matches('\u{1b}').count(), 2);
        assert_eq!(lines.shortened(1_000), lines);
    }

    #[test]
    fn further_lines_of_a_message_belong_to_it() {
        let mut lines = TerminalLines::default();
        lines.message("no `x`\n   = did you mean `y`?\nerror: z");
        assert_eq!(lines.bare(), "no `x`\n   = did you mean `y`?\n  error: z\n");
    }
}
