//! How a quantity is written in a scenario: one macro gives a type its text form.
//!
//! A type defines what it expects, how a text is parsed, how the value is printed and how it is
//! written to a file; from that it gets `FromStr`, `Display`, serde and its entry in the JSON
//! Schema. Errors are raised in the scalar's visitor, where the YAML reader still knows line and
//! column.

/// A unit and its size in a base unit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NamedUnit {
    /// The name of the unit, as people write it.
    pub name: &'static str,
    /// The size of the unit in the base unit.
    pub size: f64,
}

/// Splits a leading decimal number from a text: `"3.5 MiB"` gives `(3.5, "MiB")`.
///
/// The number has only digits and one point: no sign, no exponent, no infinity. Returns `None` for
/// any other beginning.
pub(super) fn number_and_rest(text: &str) -> Option<(f64, &str)> {
    let text = text.trim_start();
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let value: f64 = text[..end].parse().ok()?;
    Some((value, text[end..].trim_start()))
}

/// Reads one number with its unit: `"128MiB"`. A bare `0` needs no unit.
pub(super) fn with_unit(text: &str, units: &[NamedUnit]) -> Option<f64> {
    let (value, rest) = number_and_rest(text)?;
    let name = rest.trim_end();
    if name.is_empty() {
        return (value == 0.0).then_some(0.0);
    }
    units.iter().find(|unit| unit.name == name).map(|unit| value * unit.size)
}

/// Reads a sum of numbers with units: `"1h 30min"`. A bare `0` needs no unit.
pub(super) fn sum_of_parts(text: &str, units: &[NamedUnit]) -> Option<f64> {
    if text.trim() == "0" {
        return Some(0.0);
    }
    let mut sum = 0.0;
    let mut rest = text.trim();
    loop {
        let (value, after) = number_and_rest(rest)?;
        let end = after.find(|c: char| !c.is_alphabetic()).unwrap_or(after.len());
        let unit = units.iter().find(|unit| unit.name == &after[..end])?;
        sum += value * unit.size;
        rest = after[end..].trim_start();
        if rest.is_empty() {
            return Some(sum);
        }
    }
}

/// Gives a quantity its text form: `FromStr`, `Display`, `Serialize`, `Deserialize`, `JsonSchema`.
/// If a type has a largest value, `too_much` recognises a text that is wrong only by being larger,
/// and returns the largest value in words.
#[macro_export]
#[doc(hidden)]
macro_rules! text_form {
    ($type:ident, name: $name:literal, expected: $expected:expr, pattern: $pattern:literal,
     parse: |$text:ident| $parse:expr,
     $(too_much: |$large:ident| $too_much:expr => $most:literal,)? print: |$value:ident, $f:ident| $print:expr,
     write: |$self:ident, $to:ident| $write:expr $(,)?) => {
        impl std::str::FromStr for $type {
            type Err = String;
            fn from_str($text: &str) -> Result<Self, String> {
                fn parse($text: &str) -> Option<$type> {
                    $parse
                }
                parse($text).ok_or_else(|| match Self::too_much($text) {
                    Some(most) => format!("`{}` is too much: {most}", $text),
                    None => format!("`{}` is not {}", $text, $expected),
                })
            }
        }

        impl $type {
            /// Returns the largest value in words, if a text is wrong only by being larger.
            fn too_much(_text: &str) -> Option<&'static str> {
                $(
                    let $large = _text;
                    if $too_much {
                        return Some($most);
                    }
                )?
                None
            }
        }

        impl std::fmt::Display for $type {
            fn fmt(&self, $f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                let $value = self;
                $print
            }
        }

        impl serde::Serialize for $type {
            fn serialize<S: serde::Serializer>(&$self, $to: S) -> Result<S::Ok, S::Error> {
                $write
            }
        }

        $crate::forms! {
            $type, expected: $expected,
            text: |text| text.parse().map_err(|why: String| match $type::too_much(text) {
                Some(_) => E::custom(why),
                None => E::invalid_value(serde::de::Unexpected::Str(text), &$expected),
            }),
            // YAML passes `0.05` on as a number: use its text, as with quotes around it.
            whole: |number| number.to_string().parse().map_err(|_: String| {
                E::invalid_value(serde::de::Unexpected::Unsigned(number), &$expected)
            }),
            number: |number| number.to_string().parse().map_err(|_: String| {
                E::invalid_value(serde::de::Unexpected::Float(number), &$expected)
            }),
            schema: $name, |_| schemars::json_schema!({
                "title": $expected,
                "type": ["string", "number"],
                "pattern": $pattern,
            }),
        }
    };
}
