//! The options of reduces, which are merged into the options of each policy that uses
//! [`super::Reduces`].
//!
//! In `fair: {preemption: true, reduce_order: srt}` the first option belongs to the policy, the
//! second to its reduces. This module reads, writes and describes the options of reduces, so that
//! no policy repeats them. `serde` could flatten one struct into another, but it would lose the
//! positions of values, and errors would have no line number. So this module takes out the keys for
//! reduces while the policy reads its own options.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserialize, DeserializeSeed, Deserializer, IntoDeserializer, MapAccess, Visitor};
use serde::{Deserialize as DeriveDeserialize, Serialize};
use serde_json::json;

use super::super::delay::DelaySpec;
use super::super::srt::{ReduceOrder, SrtSpec};
use super::ReduceGate;
use mumakil_core::mapred::OptionFacts;

/// The order of reduces, and the condition that holds them back.
#[derive(Clone, Debug, Default, PartialEq, Serialize, DeriveDeserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ReducesSpec {
    /// In what order jobs get slots for reduces, within a pool or queue.
    pub reduce_order: ReduceOrder,
    /// How `srt` computes the remaining time.
    #[schemars(extend("x-only-if" = {"reduce_order": "srt"}))]
    pub srt: SrtSpec,
    /// The condition that holds reduces back after the slow start.
    pub reduce_gate: ReduceGate,
}

/// The options of a policy with those of its reduces.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct WithReduces<O> {
    /// The policy's own options.
    #[serde(flatten)]
    pub own: O,
    /// The options of reduces.
    #[serde(flatten)]
    pub reduces: ReducesSpec,
}

impl<O> WithReduces<O> {
    /// Returns what others ask of these options, in which jobs wait by `delay`.
    pub fn facts<'o>(&self, delay: &'o DelaySpec) -> OptionFacts<'o> {
        // Only the order of reduces may use the bytes that reduces fetch.
        OptionFacts { heeds_bytes: self.reduces.srt.shuffle_rate.is_some(), ..delay.facts() }
    }
}

impl<O> From<O> for WithReduces<O> {
    fn from(own: O) -> Self {
        Self { own, reduces: ReducesSpec::default() }
    }
}

impl<O: JsonSchema> JsonSchema for WithReduces<O> {
    fn schema_name() -> Cow<'static, str> {
        O::schema_name()
    }

    fn json_schema(schemas: &mut SchemaGenerator) -> Schema {
        let mut options = O::json_schema(schemas);
        let mut part = ReducesSpec::json_schema(schemas);
        // A policy without options of its own has no `properties` yet.
        let fields = options.ensure_object().entry("properties").or_insert_with(|| json!({}));
        let more = part.ensure_object().remove("properties");
        if let (Some(fields), Some(more)) = (fields.as_object_mut(), more) {
            fields.extend(more.as_object().cloned().unwrap_or_default());
        }
        options
    }
}

impl<'de, O: Deserialize<'de>> Deserialize<'de> for WithReduces<O> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct OptionsVisitor<O>(PhantomData<O>);
        impl<'de, O: Deserialize<'de>> Visitor<'de> for OptionsVisitor<O> {
            type Value = WithReduces<O>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("the options of a policy")
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<WithReduces<O>, A::Error> {
                let mut reduces = ReducesSpec::default();
                let rest = OtherKeys { map, reduces: &mut reduces };
                let own = O::deserialize(MapAccessDeserializer::new(rest))?;
                Ok(WithReduces { own, reduces })
            }
        }
        from.deserialize_map(OptionsVisitor(PhantomData))
    }
}

/// A mapping whose keys for reduces are hidden; their values are stored in `reduces`.
struct OtherKeys<'r, A> {
    map: A,
    reduces: &'r mut ReducesSpec,
}

impl<'de, A: MapAccess<'de>> MapAccess<'de> for OtherKeys<'_, A> {
    type Error = A::Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, A::Error> {
        let Self { map, reduces } = self;
        // A seed can read only one key, so a key for reduces hands it back for the next key. An error
        // is then raised while the key is read, which knows its place.
        let mut seed = seed;
        loop {
            let Some(key) = map.next_key_seed(SortedKeys(seed))? else { return Ok(None) };
            let (field, for_next) = match key {
                ReduceKey::Own(key) => return Ok(Some(key)),
                ReduceKey::OfPart(field, seed) => (field, seed),
            };
            seed = for_next;
            match field {
                Field::ReduceOrder => reduces.reduce_order = map.next_value()?,
                Field::Srt => reduces.srt = map.next_value()?,
                Field::ReduceGate => reduces.reduce_gate = map.next_value()?,
            }
        }
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, A::Error> {
        self.map.next_value_seed(seed)
    }
}

/// A key for reduces.
enum Field {
    ReduceOrder,
    Srt,
    ReduceGate,
}

/// A key, with the options to which it belongs. A key for reduces hands the seed back; the policy's
/// next key is read with it.
enum ReduceKey<V, K> {
    Own(V),
    OfPart(Field, K),
}

/// Reads a key, and decides to which options it belongs.
struct SortedKeys<K>(K);

impl<'de, K: DeserializeSeed<'de>> DeserializeSeed<'de> for SortedKeys<K> {
    type Value = ReduceKey<K::Value, K>;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Self::Value, D::Error> {
        let name = String::deserialize(from)?;
        let field = match name.as_str() {
            "reduce_order" => Field::ReduceOrder,
            "srt" => Field::Srt,
            "reduce_gate" => Field::ReduceGate,
            // Any other key is left to the policy, which also complains about unknown keys.
            _ => return self.0.deserialize(name.into_deserializer()).map(ReduceKey::Own),
        };
        Ok(ReduceKey::OfPart(field, self.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scheduler::shared::srt::RunningMaps;

    #[derive(Clone, Debug, Default, PartialEq, Serialize, DeriveDeserialize, JsonSchema)]
    #[serde(default, deny_unknown_fields)]
    struct OwnPart {
        /// How large.
        size: u32,
        /// How far.
        reach: u32,
    }

    fn read(yaml: &str) -> Result<WithReduces<OwnPart>, String> {
        serde_yaml::from_str(yaml).map_err(|error| error.to_string())
    }

    #[test]
    fn each_gets_its_own_in_whatever_order_they_stand() {
        let options =
            read("{srt: {running_maps: as_pending}, size: 3, reduce_order: srt, reach: 4}")
                .unwrap();
        assert_eq!(options.own, OwnPart { size: 3, reach: 4 });
        let ReducesSpec { reduce_order, srt, reduce_gate } = options.reduces;
        assert_eq!(
            (reduce_order, srt.running_maps, reduce_gate),
            (ReduceOrder::Srt, RunningMaps::AsPending, ReduceGate::Open)
        );
        assert_eq!(read("{}"), Ok(WithReduces::default()));
        assert_eq!(read("{reduce_gate: coupling}").unwrap().own, OwnPart::default());
    }

    #[test]
    fn written_jobs_read_back() {
        let options = read("{size: 3, reduce_order: srt, reduce_gate: coupling}").unwrap();
        let text = serde_yaml::to_string(&options).unwrap();
        assert_eq!(
            text,
            "size: 3\nreach: 0\nreduce_order: srt\nsrt:\n  running_maps: ignored\nreduce_gate: coupling\n"
        );
        assert_eq!(read(&text), Ok(options));
    }

    #[test]
    fn mistakes_are_those_of_whoever_reads_the_key() {
        for (yaml, why) in [
            ("{sise: 3}", "unknown field `sise`, expected `size` or `reach`"),
            ("{reduce_order: as_map}", "reduce_order: unknown variant `as_map`"),
            ("{srt: {running: 3}}", "srt: unknown field `running`"),
        ] {
            let error = read(yaml).unwrap_err();
            assert!(error.contains(why), "{error}");
        }
    }

    #[test]
    fn the_schema_has_the_fields_of_both() {
        let schema = SchemaGenerator::default().into_root_schema_for::<WithReduces<OwnPart>>();
        let fields = schema.get("properties").and_then(|fields| fields.as_object()).unwrap();
        let names: Vec<&str> = fields.keys().map(String::as_str).collect();
        assert_eq!(names, ["size", "reach", "reduce_order", "srt", "reduce_gate"]);
        assert_eq!(schema.get("additionalProperties"), Some(&json!(false)));
    }
}
