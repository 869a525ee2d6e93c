//! An option that stands in the scenario, or in a file of Hadoop's whose path the scenario says.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;
use std::path::{Path, PathBuf};

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::value::MapAccessDeserializer;
use serde::{Deserialize, Deserializer, Serialize, de};
use serde_json::json;

use super::xml::{self, Fault, Told};
use mumakil_core::mapred::Complaint;

/// What may stand in a file of its own.
pub trait Filed {
    /// What is expected in its place: the path of such a file.
    const FILE: &'static str;
}

/// An option, or where it is written.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum FileOr<T> {
    /// A file.
    File(PathBuf),
    /// The option.
    Given(T),
}

impl<T: Default> Default for FileOr<T> {
    fn default() -> Self {
        Self::Given(T::default())
    }
}

impl<T: Clone + Default> FileOr<T> {
    /// Returns the option; its default for a file that was not read.
    pub fn given(&self) -> T {
        match self {
            Self::File(_) => T::default(),
            Self::Given(given) => given.clone(),
        }
    }

    /// Puts what the file says in the place of its path, if it is one; returns what seems wrong with
    /// it then.
    ///
    /// # Errors
    /// What is wrong with the file.
    pub fn settle_file(
        &mut self,
        folder: &Path,
        parse: impl FnOnce(&str) -> Result<Told<T>, Vec<Fault>>,
    ) -> Result<Option<Vec<Complaint>>, Vec<Complaint>> {
        let Self::File(file) = self else { return Ok(None) };
        let (given, warnings) = xml::read(&folder.join(file), parse)?;
        *self = Self::Given(given);
        Ok(Some(warnings))
    }
}

impl<'de, T: Deserialize<'de> + Filed> Deserialize<'de> for FileOr<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct FileOrVisitor<T>(PhantomData<T>);

        impl<'de, T: Deserialize<'de> + Filed> de::Visitor<'de> for FileOrVisitor<T> {
            type Value = FileOr<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{}, or a mapping", T::FILE)
            }
            fn visit_str<E: de::Error>(self, path: &str) -> Result<FileOr<T>, E> {
                Ok(FileOr::File(path.into()))
            }
            fn visit_map<A: de::MapAccess<'de>>(self, map: A) -> Result<FileOr<T>, A::Error> {
                T::deserialize(MapAccessDeserializer::new(map)).map(FileOr::Given)
            }
        }
        from.deserialize_any(FileOrVisitor(PhantomData))
    }
}

impl<T: JsonSchema + Filed> JsonSchema for FileOr<T> {
    fn schema_name() -> Cow<'static, str> {
        format!("FileOr{}", T::schema_name()).into()
    }
    fn json_schema(schemas: &mut SchemaGenerator) -> Schema {
        let file = json!({ "type": "string", "title": T::FILE });
        json_schema!({ "anyOf": [file, T::json_schema(schemas)] })
    }
}
