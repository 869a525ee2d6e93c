//! Reads a JSON object, with the path to a mistake; writes an object on one line.

use std::fmt;
use std::io;

use serde::de::{self, Deserialize, DeserializeOwned, Deserializer, MapAccess};
use serde::ser::Serialize;
use serde_json::value::RawValue;

use super::error::{RecordFault, clip};
use super::first_few::FirstFew;
use super::words::plain;

/// Parses an object; the names of attributes that `T` does not know are added to `unknown`.
///
/// # Errors
/// If the object is broken or is no `T`; the error names the mistake and its byte.
pub fn parse<T: DeserializeOwned>(
    object: &[u8],
    unknown: &mut FirstFew<String>,
) -> Result<T, RecordFault> {
    let mut json = serde_json::Deserializer::from_slice(object);
    let mut track = serde_path_to_error::Track::new();
    // This deserializer follows the path to the value, so that a message can name the wrong
    // attribute.
    let tracked = serde_path_to_error::Deserializer::new(&mut json, &mut track);
    let read = serde_ignored::deserialize(tracked, |path| {
        // Only names are noted; an ignored element of a list has none.
        if let serde_ignored::Path::Map { key, .. } = path {
            unknown.add_name(clip(&key));
        }
    });
    read.map_err(|error: serde_json::Error| {
        let path = track.path().to_string();
        // `?` stands for an attribute whose name could not be read, `.` for the object itself.
        let path = match path.trim_end_matches(['?', '.']) {
            "" => String::new(),
            path => format!("{path}: "),
        };
        RecordFault {
            at: position(object, &error),
            what: clip(&(path + &bare(&error))),
            unframed: error.is_syntax() || error.is_eof(),
            ..RecordFault::default()
        }
    })
}

/// Returns the text of the first attribute of this name in an object that may be broken; `None` if
/// there is no such text.
pub(super) fn text_of(object: &[u8], attribute: &str) -> Option<String> {
    let name = format!("\"{attribute}\"");
    // Search for the name, since a broken object cannot be parsed. A string that contains the same
    // words would mislead the search; then only the job's id in a message is wrong.
    let place = object.windows(name.len()).position(|bytes| bytes == name.as_bytes())?;
    let value = object[place + name.len()..].trim_ascii_start().strip_prefix(b":")?;
    serde_json::Deserializer::from_slice(value).into_iter().next()?.ok()
}

/// Returns the attributes of an object up to its first error, each with its value if that is a
/// string.
pub(super) fn attributes(object: &[u8]) -> Vec<(String, Option<String>)> {
    struct AttributesVisitor<'a>(&'a mut Vec<(String, Option<String>)>);
    impl<'de> de::Visitor<'de> for AttributesVisitor<'_> {
        type Value = ();
        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an object")
        }
        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
            // Raw values are skipped and not parsed, so a large object costs no memory.
            while let Some((name, value)) = map.next_entry::<String, &RawValue>()? {
                self.0.push((name, serde_json::from_str(value.get()).ok()));
            }
            Ok(())
        }
    }
    let mut found = Vec::new();
    // The attributes before an error have been found, so ignore the error.
    let _ =
        serde_json::Deserializer::from_slice(object).deserialize_map(AttributesVisitor(&mut found));
    found
}

/// Returns the position of an error in an object, in bytes.
fn position(object: &[u8], error: &serde_json::Error) -> usize {
    let lines = object.split_inclusive(|byte| *byte == b'\n');
    // An error without a place has line 0.
    let before: usize = lines.take(error.line().saturating_sub(1)).map(<[u8]>::len).sum();
    before + error.column()
}

/// Returns the text of an error without its place, whose line is counted from the object's
/// beginning.
fn bare(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let place = format!(" at line {} column {}", error.line(), error.column());
    // The caller gives the place in the file instead.
    plain(text.strip_suffix(&place).unwrap_or(&text))
}

/// Writes an object on one line.
pub fn write(record: &impl Serialize, mut to: impl io::Write) -> io::Result<()> {
    serde_json::to_writer(&mut to, record)?;
    to.write_all(b"\n")
}

/// Reads a value; null becomes the type's default value.
///
/// # Errors
/// If the value is neither null nor of the type.
pub fn nullable<'de, D, T>(from: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de> + Default,
{
    Option::deserialize(from).map(Option::unwrap_or_default)
}

/// A count that may be unknown: `None` is −1 in the file.
pub mod count {
    use std::fmt;
    use std::marker::PhantomData;

    use serde::de::{self, Deserializer, Unexpected};
    use serde::ser::Serializer;

    /// Writes −1 for `None`.
    pub fn serialize<S, N>(count: &Option<N>, to: S) -> Result<S::Ok, S::Error>
    where
        S: Serializer,
        N: Copy + Into<u64>,
    {
        match count {
            Some(count) => to.serialize_u64((*count).into()),
            None => to.serialize_i64(-1),
        }
    }

    /// Reads −1 and null as `None`.
    ///
    /// # Errors
    /// If the value is another number below zero, a number that is too large, or no number.
    pub fn deserialize<'de, D, N>(from: D) -> Result<Option<N>, D::Error>
    where
        D: Deserializer<'de>,
        N: TryFrom<i64>,
    {
        struct WholeNumberVisitor<N>(PhantomData<N>);
        impl<N: TryFrom<i64>> de::Visitor<'_> for WholeNumberVisitor<N> {
            type Value = Option<N>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a whole number, or -1 where it is unknown")
            }
            fn visit_unit<E: de::Error>(self) -> Result<Self::Value, E> {
                Ok(None)
            }
            fn visit_i64<E: de::Error>(self, number: i64) -> Result<Self::Value, E> {
                match number {
                    -1 => Ok(None),
                    0.. => N::try_from(number).map(Some).map_err(|_| ()),
                    _ => Err(()),
                }
                .map_err(|()| E::invalid_value(Unexpected::Signed(number), &self))
            }
            fn visit_u64<E: de::Error>(self, number: u64) -> Result<Self::Value, E> {
                match i64::try_from(number) {
                    Ok(number) => self.visit_i64(number),
                    // Rumen's own readers accept no larger numbers.
                    Err(_) => Err(E::invalid_value(Unexpected::Unsigned(number), &self)),
                }
            }
        }
        from.deserialize_any(WholeNumberVisitor(PhantomData))
    }
}
