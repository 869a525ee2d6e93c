//! Text for a terminal: lines, in which no name can do more than stand there.
//!
//! Text from files may hold anything: a trace's job may be called
//! ```text
//! "a\u{1b}[2J"                clears the screen
//! "a\nerror: disk full"       looks like a message of ours
//! "a\u{202e}txt.sh"           turns the direction of what follows
//! ```
//! So everything that is printed is [`TerminalLines`], whose parts pass through [`plain`], which
//! shows such characters as escapes. Only this file ends lines and begins colours.

use std::borrow::Cow;
use std::fmt::Write as _;

use anstyle::Style;

/// The style of the one thing in a block that the eye should find first.
pub(super) const BOLD: Style = Style::new().bold();

/// Lines with colours; `terminal` removes these where they would not be seen.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct TerminalLines {
    /// Only texts that [`plain`] returned, our styles, and ends of lines.
    text: String,
}

impl TerminalLines {
    /// Returns one line.
    pub(super) fn of(line: impl AsRef<str>) -> Self {
        let mut lines = Self::default();
        lines.line(line);
        lines
    }

    /// Adds a line.
    pub(super) fn line(&mut self, line: impl AsRef<str>) {
        self.part(Style::new(), line);
        self.end();
    }

    /// Adds a line of which the beginning is bold.
    pub(super) fn bold(&mut self, head: impl AsRef<str>, rest: impl AsRef<str>) {
        self.part(BOLD, head);
        self.line(rest);
    }

    /// Adds a part of a line.
    pub(super) fn part(&mut self, style: Style, part: impl AsRef<str>) {
        let _ = write!(self.text, "{style}{}{style:#}", plain(part.as_ref()));
    }

    /// Ends a line.
    pub(super) fn end(&mut self) {
        self.text.push('\n');
    }

    /// Adds a message of which further lines are a part: they are indented, so that none can be
    /// taken for a message of its own.
    pub(super) fn message(&mut self, text: &str) {
        for (number, line) in text.split('\n').enumerate() {
            let margin =
                // Lines that are indented already, such as hints, keep their own margin.
                if number == 0 || line.is_empty() || line.starts_with("  ") { "" } else { "  " };
            self.part(Style::new(), margin);
            self.line(line);
        }
    }

    /// Returns whether there is none.
    pub(super) fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// Returns them with the colours.
    pub(super) fn as_str(&self) -> &str {
        &self.text
    }

    /// Returns them without colours.
    pub(super) fn bare(&self) -> String {
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

/// Returns a text in which what a terminal would obey is written as in a program: `\u{1b}`, `\n`.
pub(super) fn plain(text: &str) -> Cow<'_, str> {
    shown(text, controls_terminal)
}

/// Returns the text of a file as a terminal may have it: with its lines and columns.
pub(super) fn plain_file(text: &str) -> Cow<'_, str> {
    shown(text, |c| controls_terminal(c) && !['\n', '\t'].contains(&c))
}

fn shown(text: &str, is_shown: fn(char) -> bool) -> Cow<'_, str> {
    // Nearly every text is harmless, and is not copied.
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

/// Returns whether a terminal obeys a character instead of showing it: control characters, ends of
/// lines and paragraphs, and marks that turn the direction of text.
fn controls_terminal(c: char) -> bool {
    // The separators of lines and of paragraphs, which Unicode does not count as control
    // characters.
    const ENDS: std::ops::RangeInclusive<char> = '\u{2028}'..='\u{2029}';
    // The marks of Arabic letters, of left-to-right and of right-to-left text.
    const MARKS: [char; 3] = ['\u{61c}', '\u{200e}', '\u{200f}'];
    // With these and the isolates, "Trojan Source" attacks reorder what is shown (CVE-2021-42574).
    const EMBEDDINGS: std::ops::RangeInclusive<char> = '\u{202a}'..='\u{202e}';
    const ISOLATES: std::ops::RangeInclusive<char> = '\u{2066}'..='\u{2069}';
    c.is_control()
        || ENDS.contains(&c)
        || MARKS.contains(&c)
        || EMBEDDINGS.contains(&c)
        || ISOLATES.contains(&c)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_would_steer_a_terminal_is_written_out() {
        let all = "a\u{1b}[2J\r\n\t\u{7f}\u{9b}1m\u{2028}\u{202e}\u{2066}\u{200f}b";
        assert_eq!(
            plain(all),
            "a\\u{1b}[2J\\r\\n\\t\\u{7f}\\u{9b}1m\\u{2028}\\u{202e}\\u{2066}\\u{200f}b"
        );
        assert_eq!(plain_file("a\tb\r\n"), "a\tb\\r\n");
    }

    #[test]
    fn what_people_write_stays_as_it_is() {
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
    fn further_lines_of_a_message_belong_to_it() {
        let mut lines = TerminalLines::default();
        lines.message("no `x`\n   = did you mean `y`?\nerror: z");
        assert_eq!(lines.bare(), "no `x`\n   = did you mean `y`?\n  error: z\n");
    }
}
