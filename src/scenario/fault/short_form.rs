//! Options that may be written as one bare value if all others have their defaults.

use schemars::{JsonSchema, json_schema};
use serde::de::value::{F64Deserializer, StrDeserializer, U64Deserializer};
use serde::{Deserialize, Serialize, Serializer, de};

use mumakil_base::forms;

/// Options with a short form.
pub(super) trait Shorten: Sized {
    /// The bare value.
    type Bare;
    /// The expected values, in the words of an error.
    const EXPECTED: &'static str;

    /// Returns the options that a bare value stands for, or the reason why the value is wrong.
    fn lengthen(bare: Self::Bare) -> Result<Self, String>;

    /// Returns the bare value; `None` if some other option differs from its default.
    fn bare(&self) -> Option<&Self::Bare>;
}

/// Options that may be written in the short form.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ShortForm<T>(pub(super) T);

impl<T: Shorten<Bare: Serialize> + Serialize> Serialize for ShortForm<T> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self.0.bare() {
            Some(bare) => bare.serialize(to),
            None => self.0.serialize(to),
        }
    }
}

fn lengthen<T: Shorten, E: de::Error>(bare: T::Bare) -> Result<ShortForm<T>, E> {
    T::lengthen(bare).map(ShortForm).map_err(E::custom)
}

forms! {
    ShortForm<T>, of: [T: Shorten<Bare: Deserialize<'de>> + Deserialize<'de>],
    expected: T::EXPECTED,
    text: |text| lengthen(T::Bare::deserialize(StrDeserializer::new(text))?),
    whole: |number| lengthen(T::Bare::deserialize(U64Deserializer::new(number))?),
    number: |number| lengthen(T::Bare::deserialize(F64Deserializer::new(number))?),
    list: |list| lengthen(T::Bare::deserialize(list)?),
    map: |map| T::deserialize(map).map(ShortForm),
    schema: format!("ShortOr{}", T::schema_name()),
        of: [T: Shorten<Bare: JsonSchema> + JsonSchema], |schemas| {
        let (bare, whole) = (schemas.subschema_for::<T::Bare>(), schemas.subschema_for::<T>());
        // No title here: the reference prints a title instead of the options.
        json_schema!({ "anyOf": [bare, whole] })
    },
}
