//! Options that may be written as one bare value if all others have their defaults.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::value::{
    F64Deserializer, MapAccessDeserializer, SeqAccessDeserializer, StrDeserializer, U64Deserializer,
};
use serde::de::{self, Deserializer};
use serde::{Deserialize, Serialize, Serializer};

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

impl<'de, T> Deserialize<'de> for ShortForm<T>
where
    T: Shorten<Bare: Deserialize<'de>> + Deserialize<'de>,
{
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct ShortVisitor<T>(PhantomData<T>);

        fn lengthen<T: Shorten, E: de::Error>(bare: T::Bare) -> Result<ShortForm<T>, E> {
            T::lengthen(bare).map(ShortForm).map_err(E::custom)
        }

        impl<'de, T> de::Visitor<'de> for ShortVisitor<T>
        where
            T: Shorten<Bare: Deserialize<'de>> + Deserialize<'de>,
        {
            type Value = ShortForm<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(T::EXPECTED)
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<ShortForm<T>, E> {
                lengthen(T::Bare::deserialize(StrDeserializer::new(text))?)
            }
            fn visit_u64<E: de::Error>(self, number: u64) -> Result<ShortForm<T>, E> {
                lengthen(T::Bare::deserialize(U64Deserializer::new(number))?)
            }
            fn visit_f64<E: de::Error>(self, number: f64) -> Result<ShortForm<T>, E> {
                lengthen(T::Bare::deserialize(F64Deserializer::new(number))?)
            }
            fn visit_seq<A: de::SeqAccess<'de>>(self, list: A) -> Result<ShortForm<T>, A::Error> {
                lengthen(T::Bare::deserialize(SeqAccessDeserializer::new(list))?)
            }
            fn visit_map<A: de::MapAccess<'de>>(self, map: A) -> Result<ShortForm<T>, A::Error> {
                T::deserialize(MapAccessDeserializer::new(map)).map(ShortForm)
            }
        }
        from.deserialize_any(ShortVisitor(PhantomData))
    }
}

impl<T: Shorten<Bare: JsonSchema> + JsonSchema> JsonSchema for ShortForm<T> {
    fn schema_name() -> Cow<'static, str> {
        format!("ShortOr{}", T::schema_name()).into()
    }
    fn json_schema(schemas: &mut SchemaGenerator) -> Schema {
        let (bare, whole) = (schemas.subschema_for::<T::Bare>(), schemas.subschema_for::<T>());
        // No title here: the reference prints a title instead of the options.
        json_schema!({ "anyOf": [bare, whole] })
    }
}
