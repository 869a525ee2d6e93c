//! Fits texts into widths. The widths of texts are estimated, since the reader's fonts are unknown.

use std::fmt;

use maud::{Markup, html};

/// The font size, in units of a drawing that is 720 wide.
// Chosen: at half width, as on a phone, letters are still 7 pixels high.
pub(super) const SIZE: f64 = 15.0;

/// The height of a line of text.
pub(super) const LEADING: f64 = 19.0;

/// Returns the estimated width of a text; most fonts are narrower.
pub(super) fn width(text: &str) -> f64 {
    text.chars().map(advance).sum::<f64>() * SIZE
}

/// Returns the width of a character divided by the font size, as in a wide sans-serif font.
fn advance(c: char) -> f64 {
    match c {
        'i' | 'j' | 'l' | '.' | ',' | ':' | ';' | '\'' | '|' | '!' | 'I' | ' ' => 0.32,
        'f' | 't' | 'r' | '(' | ')' | '[' | ']' | '/' | '-' => 0.4,
        'm' | 'w' | 'M' | 'W' | '@' | '%' | '…' | '—' => 0.95,
        'A'..='Z' => 0.7,
        // These are mostly Chinese, Japanese and Korean characters, which are as wide as high.
        '\u{2e80}'.. => 1.0,
        _ => 0.6,
    }
}

/// Returns the text without characters that XML forbids; all white space becomes spaces.
pub(super) fn clean(text: &str) -> String {
    let legal = text.chars().map(|c| match c {
        c if c.is_whitespace() => ' ',
        c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => '\u{fffd}',
        c => c,
    });
    legal.collect()
}

/// Returns the text, cut with an ellipsis if it is wider than `most`.
pub(super) fn fit(text: &str, most: f64) -> String {
    let text = clean(text);
    if width(&text) <= most {
        return text;
    }
    let count = taken(text.chars(), most - width("…"));
    let cut: String = text.chars().take(count).collect();
    cut.trim_end().to_owned() + "…"
}

/// Returns the name, cut in its middle if it is wider than `most`. The end is kept too: names that
/// begin alike often differ there.
pub(super) fn shorten(name: &str, most: f64) -> String {
    let name = clean(name);
    if width(&name) <= most {
        return name;
    }
    let room = most - width("…");
    // Keep a little more of the beginning, by which readers recognise a name.
    let head = taken(name.chars(), room * 0.6);
    let left: String = name.chars().take(head).collect();
    let tail = taken(name.chars().rev(), room - width(&left));
    let right: String = name.chars().skip(name.chars().count() - tail).collect();
    format!("{}…{}", left.trim_end(), right.trim_start())
}

/// Returns the number of characters that fit into the room.
fn taken(chars: impl Iterator<Item = char>, mut room: f64) -> usize {
    chars
        .take_while(|c| {
            room -= advance(*c) * SIZE;
            0.0 <= room
        })
        .count()
}

/// Returns the text in at most `lines` lines no wider than `most`, broken at spaces.
pub(super) fn wrap(text: &str, most: f64, lines: usize) -> Vec<String> {
    let text = clean(text);
    let mut out: Vec<String> = Vec::new();
    for word in text.split(' ').filter(|word| !word.is_empty()) {
        match out.last_mut() {
            Some(line) if width(line) + width(" ") + width(word) <= most => {
                line.push(' ');
                line.push_str(word);
            }
            _ => out.push(word.to_owned()),
        }
    }
    if lines < out.len() {
        // The rest of the text goes into the last line and is cut there.
        let rest = out.split_off(lines.saturating_sub(1)).join(" ");
        out.push(rest);
    }
    out.iter().map(|line| fit(line, most)).collect()
}

/// A length or coordinate in a drawing. It prints with at most one decimal, so that a drawing has
/// the same bytes on every machine.
#[derive(Clone, Copy, Debug)]
pub(super) struct Coordinate(pub(super) f64);

impl fmt::Display for Coordinate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Print whole tenths, so that the result does not depend on how a platform prints doubles.
        let tenths = (self.0 * 10.0).round() as i64;
        let sign = if tenths < 0 { "-" } else { "" };
        let tenths = tenths.unsigned_abs();
        match tenths % 10 {
            0 => write!(f, "{sign}{}", tenths / 10),
            rest => write!(f, "{sign}{}.{rest}", tenths / 10),
        }
    }
}

/// Returns the name of a mark from the names of its group and series, which may be empty.
pub(super) fn joined(group: &str, series: &str) -> String {
    let names = [group, series].into_iter().filter(|name| !name.is_empty());
    names.collect::<Vec<_>>().join(", ")
}

/// Returns the text of a mark that is shown when a reader points at it.
pub(super) fn tip(text: &str) -> Markup {
    html! { title { (clean(text)) } }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn long_names_are_cut_with_an_ellipsis() {
        assert_eq!(fit("fair", 100.0), "fair");
        assert_eq!(fit("a very long name of a job", 100.0), "a very long…");
        assert_eq!(shorten("fair", 100.0), "fair");
        assert_eq!(shorten("modified-fair-number-17", 100.0), "modifi…r-17");
    }

    #[test]
    fn lines_break_at_spaces_and_the_last_one_is_cut() {
        assert_eq!(wrap("one two three four", 65.0, 3), ["one two", "three", "four"]);
        assert_eq!(wrap("one two three four", 65.0, 2), ["one two", "three f…"]);
        assert!(wrap("", 60.0, 2).is_empty());
    }

    #[test]
    fn characters_xml_cannot_hold_are_replaced() {
        assert_eq!(clean("a\u{0}b\nc"), "a\u{fffd}b c");
    }

    #[test]
    fn places_have_at_most_one_decimal() {
        let places = [1.0, 2.25, -0.04, -3.51, 300.0].map(|place| Coordinate(place).to_string());
        assert_eq!(places.join(" "), "1 2.3 0 -3.5 300");
    }

    proptest! {
        #[test]
        fn a_cut_text_fits(text in ".{0,60}", most in 20.0f64..300.0) {
            prop_assert!(width(&fit(&text, most)) <= most);
            prop_assert!(width(&shorten(&text, most)) <= most + 1e-6);
        }
    }
}
