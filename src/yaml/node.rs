//! A tree as `serde` reads and writes it: a mistake comes back as a value, with its path.
//!
//! The errors of other formats are sentences, in the words of Rust. Here a mistake stays a value
//! until `read`, which knows the shape of the tree, turns it into the words of files. A choice is a
//! name, or a mapping from one name to its options, in every part of a file.

use std::fmt;

use serde::de::value::StrDeserializer;
use serde::de::{
    self, DeserializeOwned, DeserializeSeed, Deserializer, Expected, Unexpected, Visitor,
};
use serde::ser::Serialize;
use serde_yaml::mapping::Iter;
use serde_yaml::with::singleton_map_recursive;
use serde_yaml::{Mapping, Value};

use super::path::{Path, PathStep};

/// A node of a tree.
#[derive(Clone, Copy)]
pub(super) struct TreeNode<'de>(pub(super) &'de Value);

/// A mistake, and the path of the wrong node.
#[derive(Debug)]
pub(super) struct Mistake {
    pub(super) kind: MistakeKind,
    /// The steps from the wrong node to the root.
    steps: Vec<PathStep>,
}

/// A kind of mistake.
#[derive(Debug)]
pub(super) enum MistakeKind {
    /// An unknown key, with the known keys.
    UnknownField(String, &'static [&'static str]),
    /// An unknown name, with the known names.
    UnknownName(String, &'static [&'static str]),
    /// A missing field.
    Missing(&'static str),
    /// The name of a choice that needs options, without options.
    Bare(String),
    /// Anything else, in words.
    Wrong(String),
}

impl Mistake {
    /// Returns the path of the node that is wrong.
    pub(super) fn path(&self) -> Path {
        Path(self.steps.iter().rev().cloned().collect())
    }

    fn inside(mut self, step: PathStep) -> Self {
        self.steps.push(step);
        self
    }

    fn wrong(message: impl Into<String>) -> Self {
        MistakeKind::Wrong(message.into()).into()
    }
}

impl From<MistakeKind> for Mistake {
    fn from(kind: MistakeKind) -> Self {
        Self { kind, steps: Vec::new() }
    }
}

impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {:?}", self.path(), self.kind)
    }
}

impl std::error::Error for Mistake {}

impl de::Error for Mistake {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self::wrong(message.to_string())
    }
    fn invalid_type(found: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Self::wrong(format!("invalid type: {}, expected {expected}", words(found)))
    }
    fn invalid_value(found: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Self::wrong(format!("invalid value: {}, expected {expected}", words(found)))
    }
    fn unknown_field(name: &str, known: &'static [&'static str]) -> Self {
        MistakeKind::UnknownField(name.to_owned(), known).into()
    }
    fn unknown_variant(name: &str, known: &'static [&'static str]) -> Self {
        MistakeKind::UnknownName(name.to_owned(), known).into()
    }
    fn missing_field(name: &'static str) -> Self {
        MistakeKind::Missing(name).into()
    }
}

/// Returns the name of the found value, in the words of files.
fn words(found: Unexpected<'_>) -> String {
    match found {
        Unexpected::Str(text) => format!("text {text:?}"),
        Unexpected::Float(number) => format!("number `{number}`"),
        Unexpected::Unit => "nothing".to_owned(),
        Unexpected::Seq => "a list".to_owned(),
        Unexpected::Map => "a mapping".to_owned(),
        other => other.to_string(),
    }
}

/// Returns the tree of a value, with choices in the form in which they are read.
pub fn write(value: &impl Serialize) -> Value {
    singleton_map_recursive::serialize(value, serde_yaml::value::Serializer)
        .expect("a value read from a tree can be written as one")
}

/// Returns the names of the fields of a struct that allows no others, in their order.
pub fn fields<T: DeserializeOwned>() -> &'static [&'static str] {
    // Offer a field that no struct has: the error lists the known ones.
    let unknown = Value::Mapping(Mapping::from_iter([(Value::from(""), Value::Null)]));
    match T::deserialize(TreeNode(&unknown)).map_err(|mistake| mistake.kind) {
        Err(MistakeKind::UnknownField(_, known)) => known,
        _ => &[],
    }
}

impl<'de> TreeNode<'de> {
    fn found(self) -> Unexpected<'de> {
        match self.0 {
            Value::Null => Unexpected::Unit,
            Value::Bool(value) => Unexpected::Bool(*value),
            Value::Number(number) => match (number.as_u64(), number.as_i64()) {
                (Some(number), _) => Unexpected::Unsigned(number),
                (_, Some(number)) => Unexpected::Signed(number),
                _ => Unexpected::Float(number.as_f64().unwrap_or(f64::NAN)),
            },
            Value::String(text) => Unexpected::Str(text),
            Value::Sequence(_) => Unexpected::Seq,
            Value::Mapping(_) | Value::Tagged(_) => Unexpected::Map,
        }
    }

    /// Returns the mistake for a node that is not `expected`.
    fn refuse(self, expected: &str) -> Mistake {
        de::Error::invalid_type(self.found(), &expected)
    }

    fn text(self, expected: &str) -> Result<&'de str, Mistake> {
        self.0.as_str().ok_or_else(|| self.refuse(expected))
    }

    // A key without a value (`pools: {prod: }`) is read as an empty list or an empty mapping.
    fn list(self) -> Result<ListAccess<'de>, Mistake> {
        match self.0 {
            Value::Sequence(list) => Ok(ListAccess { list, next: 0 }),
            Value::Null => Ok(ListAccess { list: &[], next: 0 }),
            _ => Err(self.refuse("a list")),
        }
    }

    fn list_of(self, len: usize) -> Result<ListAccess<'de>, Mistake> {
        match self.0 {
            Value::Sequence(list) if list.len() == len => Ok(ListAccess { list, next: 0 }),
            Value::Sequence(list) => {
                let found = list.len();
                Err(Mistake::wrong(format!("invalid length {found}, expected a list of {len}")))
            }
            _ => Err(self.refuse(&format!("a list of {len}"))),
        }
    }

    fn entries(self) -> Result<Entries<'de>, Mistake> {
        let entries = match self.0 {
            Value::Mapping(map) => Some(map.iter()),
            Value::Null => None,
            _ => return Err(self.refuse("a mapping")),
        };
        Ok(Entries { entries, value: None })
    }

    fn choice(self) -> Result<NamedChoice<'de>, Mistake> {
        match self.0 {
            Value::String(name) => Ok(NamedChoice { name, options: None }),
            Value::Mapping(map) => match map.iter().next() {
                Some((Value::String(name), options)) if map.len() == 1 => {
                    Ok(NamedChoice { name, options: Some(options) })
                }
                _ => Err(Mistake::wrong(ONE_NAME)),
            },
            _ => Err(self.refuse("a name, or a name with its options")),
        }
    }
}

/// Returns whether a value is a whole number from 0 to `most`.
fn is_whole(value: &Value, most: u64) -> bool {
    value.as_u64().is_some_and(|number| number <= most)
}

/// Reads types of Rust itself, whose own error messages would not help users.
macro_rules! typed {
    ($($deserialize:ident: $expected:literal, $is:expr;)+) => {
        $(fn $deserialize<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Mistake> {
            let is: fn(&Value) -> bool = $is;
            if is(self.0) { self.deserialize_any(visitor) } else { Err(self.refuse($expected)) }
        })+
    };
}

// Most methods here are compiled for each type, so all code that does not depend on the type is
// above.
impl<'de> Deserializer<'de> for TreeNode<'de> {
    type Error = Mistake;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Mistake> {
        match (self.0, self.found()) {
            (Value::Sequence(_), _) => self.deserialize_seq(visitor),
            (Value::Mapping(_), _) => self.deserialize_map(visitor),
            (Value::String(text), _) => visitor.visit_borrowed_str(text),
            (_, Unexpected::Bool(value)) => visitor.visit_bool(value),
            (_, Unexpected::Unsigned(number)) => visitor.visit_u64(number),
            (_, Unexpected::Signed(number)) => visitor.visit_i64(number),
            (_, Unexpected::Float(number)) => visitor.visit_f64(number),
            _ => visitor.visit_unit(),
        }
    }

    typed! {
        deserialize_bool: "`true` or `false`", Value::is_bool;
        deserialize_u8: "a whole number of zero or more", |value| is_whole(value, u8::MAX.into());
        deserialize_u16: "a whole number of zero or more", |value| is_whole(value, u16::MAX.into());
        deserialize_u32: "a whole number of zero or more", |value| is_whole(value, u32::MAX.into());
        deserialize_u64: "a whole number of zero or more", |value| is_whole(value, u64::MAX);
        deserialize_i64: "a whole number", Value::is_i64;
        deserialize_f64: "a number", Value::is_number;
    }

    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Mistake> {
        visitor.visit_borrowed_str(self.text("a text")?)
    }
    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Mistake> {
        self.deserialize_str(visitor)
    }
    fn deserialize_identifier<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Mistake> {
        visitor.visit_borrowed_str(self.text("a name")?)
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Mistake> {
        visitor.visit_seq(self.list()?)
    }
    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Mistake> {
        let mut entries = self.entries()?;
        let value = visitor.visit_map(&mut entries)?;
        entries.end().map(|()| value)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Mistake> {
        if self.0.is_null() { visitor.visit_none() } else { visitor.visit_some(self) }
    }
    fn deserialize_unit<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Mistake> {
        // Only a choice without options is read as a unit.
        if self.0.is_null() { visitor.visit_unit() } else { Err(Mistake::wrong(NO_OPTIONS)) }
    }
    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Mistake> {
        visitor.visit_newtype_struct(self)
    }
    fn deserialize_tuple<V: Visitor<'de>>(
        self,
        len: usize,
        visitor: V,
    ) -> Result<V::Value, Mistake> {
        visitor.visit_seq(self.list_of(len)?)
    }
    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Mistake> {
        self.deserialize_map(visitor)
    }
    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Mistake> {
        visitor.visit_enum(self.choice()?)
    }
    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Mistake> {
        visitor.visit_unit()
    }

    serde::forward_to_deserialize_any! {
        i8 i16 i32 i128 u128 f32 char bytes byte_buf unit_struct tuple_struct
    }
}

const ONE_NAME: &str = "a choice is one name with its options";
const NO_OPTIONS: &str = "this name takes no options";

struct ListAccess<'de> {
    list: &'de [Value],
    next: usize,
}

impl<'de> de::SeqAccess<'de> for ListAccess<'de> {
    type Error = Mistake;
    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, Mistake> {
        let Some(entry) = self.list.get(self.next) else { return Ok(None) };
        let index = self.next;
        self.next += 1;
        let read = seed.deserialize(TreeNode(entry));
        read.map(Some).map_err(|mistake| mistake.inside(PathStep::Index(index)))
    }
    fn size_hint(&self) -> Option<usize> {
        Some(self.list.len() - self.next)
    }
}

struct Entries<'de> {
    /// The entries that are left; `None` for a key without a value.
    entries: Option<Iter<'de>>,
    /// The entry whose key was read.
    value: Option<(&'de Value, &'de Value)>,
}

impl<'de> Entries<'de> {
    fn next(&mut self) -> Option<(&'de Value, &'de Value)> {
        self.entries.as_mut()?.next()
    }

    /// Refuses the entries that are left: the reader of a choice stops after its first name.
    fn end(mut self) -> Result<(), Mistake> {
        match self.next() {
            None => Ok(()),
            Some(_) => Err(Mistake::wrong(ONE_NAME)),
        }
    }
}

impl<'de> de::MapAccess<'de> for Entries<'de> {
    type Error = Mistake;
    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, Mistake> {
        self.value = self.next();
        let Some((key, _)) = self.value else { return Ok(None) };
        seed.deserialize(TreeNode(key)).map(Some).map_err(|mistake| mistake.inside(step(key)))
    }
    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Mistake> {
        let (key, value) = self.value.take().expect("a value is asked for after its key");
        seed.deserialize(TreeNode(value)).map_err(|mistake| mistake.inside(step(key)))
    }
}

fn step(key: &Value) -> PathStep {
    PathStep::Key(key.as_str().unwrap_or_default().to_owned())
}

/// A name of a choice, with its options.
struct NamedChoice<'de> {
    name: &'de str,
    options: Option<&'de Value>,
}

impl<'de> NamedChoice<'de> {
    fn inside(&self) -> impl Fn(Mistake) -> Mistake + use<'de> {
        let Self { name, options } = *self;
        move |mistake| match options {
            Some(_) => mistake.inside(PathStep::Key(name.to_owned())),
            // A bare name is the node itself, so the path has no key to add.
            None => mistake,
        }
    }

    /// Returns the options; an error if there are none.
    fn options(&self) -> Result<&'de Value, Mistake> {
        match self.options {
            Some(options) if !options.is_null() => Ok(options),
            _ => Err(MistakeKind::Bare(self.name.to_owned()).into()),
        }
    }
}

impl<'de> de::EnumAccess<'de> for NamedChoice<'de> {
    type Error = Mistake;
    type Variant = Self;
    fn variant_seed<V: DeserializeSeed<'de>>(self, seed: V) -> Result<(V::Value, Self), Mistake> {
        let name = seed.deserialize(StrDeserializer::new(self.name)).map_err(self.inside())?;
        Ok((name, self))
    }
}

impl<'de> de::VariantAccess<'de> for NamedChoice<'de> {
    type Error = Mistake;
    fn unit_variant(self) -> Result<(), Mistake> {
        match self.options {
            Some(options) if !options.is_null() => Err((self.inside())(Mistake::wrong(NO_OPTIONS))),
            _ => Ok(()),
        }
    }
    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value, Mistake> {
        seed.deserialize(TreeNode(self.options()?)).map_err(self.inside())
    }
    fn tuple_variant<V: Visitor<'de>>(self, len: usize, visitor: V) -> Result<V::Value, Mistake> {
        TreeNode(self.options()?).deserialize_tuple(len, visitor).map_err(self.inside())
    }
    fn struct_variant<V: Visitor<'de>>(
        self,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Mistake> {
        TreeNode(self.options()?).deserialize_map(visitor).map_err(self.inside())
    }
}
