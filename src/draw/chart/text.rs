//! Texts that fit: widths are estimated, for the fonts of the reader are not known here.

use std::fmt;

use maud::{Markup, html};

/// The size of the type, in units of a drawing that is 720 wide.
// Chosen: a drawing shown at half its width on a phone still has letters of 7 pixels.
pub(super) const SIZE: f64 = 15.0;

/// The height of a line.
pub(super) const LEADING: f64 = 19.0;

/// Returns about how wide a text is; most fonts are narrower.
pub(super) fn width(text: &str) -> f64 {
    text.chars().map(advance).sum::<f64>() * SIZE
}

/// Returns the width of a character in relation to its height, as in a wide sans-serif.
fn advance(c: char) -> f64 {
    match c {
        'i' | 'j' | 'l' | '.' | ',' | ':' | ';' | '\'' | '|' | '!' | 'I' | ' ' => 0.32,
        'f' | 't' | 'r' | '(' | ')' | '[' | ']' | '/' | '-' => 0.4,
        'm' | 'w' | 'M' | 'W' | '@' | '%' | '…' | '—' => 0.95,
        'A'..='Z' => 0.7,
        // From here on mostly Chinese, Japanese and Korean, whose characters are as wide as high.
        '\u{2e80}'.. => 1.0,
        _ => 0.6,
    }
}

/// Returns the text without what XML cannot hold; every kind of white space is a space.
pub(super) fn clean(text: &str) -> String {
    let legal = |c: char| match c {
        c if c.is_whitespace() => ' ',
        c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => '\u{fffd}',
        c => c,
    };
    text.chars().map(legal).collect()
}

/// Returns the text, cut with an ellipsis where it would be wider than `most`.
pub(super) fn fit(text: &str, most: f64) -> String {
    let text = clean(text);
    if width(&text) <= most {
        return text;
    }
    let count = taken(text.chars(), most - width("…"));
    let cut: String = text.chars().take(count).collect();
    cut.trim_end().to_owned() + "…"
}

/// Returns the name, cut in its middle where it would be wider than `most`: names that begin alike
/// tend to differ at the end.
pub(super) fn shorten(name: &str, most: f64) -> String {
    let name = clean(name);
    if width(&name) <= most {
        return name;
    }
    let room = most - width("…");
    // A little more of the beginning, by which people know a name.
    let head = taken(name.chars(), room * 0.6);
    let left: String = name.chars().take(head).collect();
    let tail = taken(name.chars().rev(), room - width(&left));
    let right: String = name.chars().skip(name.chars().count() - tail).collect();
    format!("{}…{}", left.trim_end(), right.trim_start())
}

/// Returns how many of the characters fit into the room.
fn taken(chars: impl Iterator<Item = char>, mut room: f64) -> usize {
    chars
        .take_while(|c| {
            room -= advance(*c) * SIZE;
            0.0 <= room
        })
        .count()
}

/// Returns the text in lines no wider than `most`, broken at spaces, at most so many of them.
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
        // The rest goes to the last line and is cut there.
        let rest = out.split_off(lines.saturating_sub(1)).join(" ");
        out.push(rest);
    }
    out.iter().map(|line| fit(line, most)).collect()
}

/// A length or a place in a drawing, printed with at most one decimal: the bytes of a drawing are
/// the same on every machine.
#[derive(Clone, Copy, Debug)]
pub(super) struct Coordinate(pub(super) f64);

impl fmt::Display for Coordinate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // In whole tenths, so that no platform's way of printing doubles has a say.
        let tenths = (self.0 * 10.0).round() as i64;
        let sign = if tenths < 0 { "-" } else { "" };
        let tenths = tenths.unsigned_abs();
        match tenths % 10 {
            0 => write!(f, "{sign}{}", tenths / 10),
            rest => write!(f, "{sign}{}.{rest}", tenths / 10),
        }
    }
}

/// Returns the name of a mark of a group and a series, either of which may have none.
pub(super) fn joined(group: &str, series: &str) -> String {
    let names = [group, series].into_iter().filter(|name| !name.is_empty());
    names.collect::<Vec<_>>().join(", ")
}

/// Returns what a mark says when it is pointed at.
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
    fn what_xml_cannot_hold_is_replaced() {
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
