//! Numbers that stay on one line with their units.

/// The units of numbers in pages.
const UNITS: [&str; 17] = [
    "%", "d", "h", "min", "s", "ms", "µs", "B", "KiB", "MiB", "GiB", "TiB", "PiB", "point",
    "points", "times", "×",
];

/// Returns a text in which no line breaks between a number and its unit, or within a time such as
/// `1 min 35 s`.
pub(super) fn unbroken(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 8);
    let mut words = text.split(' ').peekable();
    // Whether the word is a unit that is bound to the number before it.
    let mut is_bound = false;
    while let Some(word) = words.next() {
        out.push_str(word);
        let Some(next) = words.peek() else { break };
        // Quantities end with a mark of the sentence, or are in parentheses: `(99.4 %)`.
        let unit = next.trim_end_matches(['.', ',', ';', ':', ')']).split('/').next();
        let is_number = word.ends_with(|c: char| c.is_ascii_digit());
        let binds = match is_bound {
            true => {
                next.starts_with(|c: char| c.is_ascii_digit()) && ["d", "h", "min"].contains(&word)
            }
            false => is_number && unit.is_some_and(|unit| UNITS.contains(&unit)),
        };
        out.push(if binds { '\u{a0}' } else { ' ' });
        is_bound = binds && !is_bound;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_stays_with_its_unit() {
        for (text, label) in [
            ("rack 0.6 %, off-rack 0.0 %", "rack 0.6~%, off-rack 0.0~%"),
            ("at 1 min 35 s (2.5 MiB/s)", "at 1~min~35~s (2.5~MiB/s)"),
            ("1 h 06 min 40 s later", "1~h~06~min~40~s later"),
            ("+9.0 s 12 jobs", "+9.0~s 12 jobs"),
            ("of 40 slots, a s", "of 40 slots, a s"),
            ("2  s ", "2  s "),
            ("", ""),
        ] {
            assert_eq!(unbroken(text).replace('\u{a0}', "~"), label);
        }
    }
}
