//! From a path to line and column, on the error path only.
//!
//! The reader of YAML knows where an error was raised. So we walk the text along the path, raise
//! one at its end, and ask where that was.

use std::fmt;

use serde::de::{self, DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::path::{Path, PathStep};

/// What of a node to point at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PointAt {
    /// Its value.
    Value,
    /// The key that it is the value of.
    Key,
    /// The second time that this key stands in its mapping.
    SecondKey,
}

/// Returns the line and column, from 1, of a node; of what is around it where the text lacks it,
/// but never of the text as a whole.
pub(crate) fn locate(text: &str, path: &Path, part: PointAt) -> Option<(usize, usize)> {
    let mut part = part;
    let outermost = usize::from(!path.0.is_empty());
    (outermost..=path.0.len()).rev().find_map(|len| {
        let follow = Follow { steps: &path.0[..len], part };
        // What is around is pointed at by its value: its first key, mostly.
        part = PointAt::Value;
        let error = follow.deserialize(serde_yaml::Deserializer::from_str(text)).err()?;
        let place = error.location()?;
        error.to_string().contains(FOUND).then(|| (place.line(), place.column()))
    })
}

/// The text of the error that is no error. No scenario's text appears in ours.
const FOUND: &str = "\u{1}found\u{1}";

#[derive(Clone, Copy)]
struct Follow<'p> {
    steps: &'p [PathStep],
    part: PointAt,
}

impl<'de> DeserializeSeed<'de> for Follow<'_> {
    type Value = ();
    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<(), D::Error> {
        from.deserialize_any(self)
    }
}

impl Follow<'_> {
    fn scalar<E: de::Error>(self) -> Result<(), E> {
        if self.steps.is_empty() { Err(E::custom(FOUND)) } else { Ok(()) }
    }
}

impl<'de> Visitor<'de> for Follow<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }
    fn visit_unit<E: de::Error>(self) -> Result<(), E> {
        self.scalar()
    }
    fn visit_bool<E: de::Error>(self, _: bool) -> Result<(), E> {
        self.scalar()
    }
    fn visit_i64<E: de::Error>(self, _: i64) -> Result<(), E> {
        self.scalar()
    }
    fn visit_u64<E: de::Error>(self, _: u64) -> Result<(), E> {
        self.scalar()
    }
    fn visit_f64<E: de::Error>(self, _: f64) -> Result<(), E> {
        self.scalar()
    }
    fn visit_str<E: de::Error>(self, _: &str) -> Result<(), E> {
        self.scalar()
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        let Some((step, steps)) = self.steps.split_first() else {
            return Err(de::Error::custom(FOUND));
        };
        if let PathStep::Index(index) = step {
            for _ in 0..*index {
                if list.next_element::<IgnoredAny>()?.is_none() {
                    return Ok(());
                }
            }
            list.next_element_seed(Follow { steps, ..self })?;
        }
        while list.next_element::<IgnoredAny>()?.is_some() {}
        Ok(())
    }
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let Some((step, steps)) = self.steps.split_first() else {
            return Err(de::Error::custom(FOUND));
        };
        let at_the_key = steps.is_empty() && self.part != PointAt::Value;
        let mut skip = usize::from(self.part == PointAt::SecondKey);
        while let Some(same) =
            map.next_key_seed(KeySeed { step, raise: at_the_key && skip == 0 })?
        {
            if !same {
                map.next_value::<IgnoredAny>()?;
            } else if at_the_key {
                skip -= 1;
                map.next_value::<IgnoredAny>()?;
            } else {
                map.next_value_seed(Follow { steps, ..self })?;
            }
        }
        Ok(())
    }
}

/// A key: whether it is the one that the path names, raised as an error if it is the target.
struct KeySeed<'p> {
    step: &'p PathStep,
    raise: bool,
}

impl<'de> DeserializeSeed<'de> for KeySeed<'_> {
    type Value = bool;
    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<bool, D::Error> {
        from.deserialize_str(self)
    }
}

impl Visitor<'_> for KeySeed<'_> {
    type Value = bool;
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a name as the key")
    }
    fn visit_str<E: de::Error>(self, key: &str) -> Result<bool, E> {
        let same = matches!(self.step, PathStep::Key(name) if name == key);
        if same && self.raise { Err(E::custom(FOUND)) } else { Ok(same) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
seed: 7
cluster:
  nodes: 0
  groups: [{count: 1}, {count: 2,
    cores: x}]
  nodes: 3
";

    fn at(path: &str, part: PointAt) -> (usize, usize) {
        locate(TEXT, &Path::of(path), part).unwrap()
    }

    #[test]
    fn values_and_keys_are_found() {
        assert_eq!(at("seed", PointAt::Value), (1, 7));
        assert_eq!(at("seed", PointAt::Key), (1, 1));
        assert_eq!(at("cluster.nodes", PointAt::Value), (3, 10));
        assert_eq!(at("cluster.nodes", PointAt::SecondKey), (6, 3));
        assert_eq!(at("cluster.groups[1].cores", PointAt::Value), (5, 12));
        assert_eq!(at("cluster.groups[1]", PointAt::Value), (4, 24));
    }

    #[test]
    fn what_is_not_there_is_pointed_at_by_what_is_around() {
        assert_eq!(at("cluster.groups[1].memory", PointAt::Value), (4, 24));
        assert_eq!(at("cluster.groups[9]", PointAt::Value), (4, 11));
        assert_eq!(locate(TEXT, &Path::of("workload"), PointAt::Key), None);
        assert_eq!(locate("", &Path::default(), PointAt::Value), None);
    }
}
