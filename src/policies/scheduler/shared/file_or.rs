//! An option that is given in the scenario, or in a file of Hadoop whose path the scenario gives.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::marker::PhantomData;
use std::path::PathBuf;

use indexmap::IndexMap;
use roxmltree::Node;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::value::MapAccessDeserializer;
use serde::{Deserialize, Deserializer, Serialize, de};
use serde_json::json;

use super::xml::{self, XmlFindings, XmlKind};
use mumakil_core::mapred::{Complaint, OptionFacts, PolicyGroups, PolicySite};
use mumakil_yaml::Path;

/// The key of the option.
const ALLOCATIONS: &str = "allocations";

/// Options that may be given in a file of their own.
pub trait FileOptions: Sized {
    /// The words that name the path of such a file, for complaints about other values.
    const FILE: &'static str;

    /// The kind of file.
    const KIND: XmlKind;

    /// The settings outside of the file on which its checks depend.
    type Context: Copy;

    /// Returns the options in the root element of such a file. Notes faults, and the position of
    /// each option.
    fn read(root: Node<'_, '_>, findings: &mut XmlFindings) -> Self;

    /// Returns complaints about the options, from a scenario or a file.
    fn check(&self, context: Self::Context) -> Vec<Complaint>;

    /// Returns the pools or queues.
    fn groups(&self) -> PolicyGroups;
}

/// Notes each pool or queue with the one around it; `inside` returns those inside of one.
pub fn note_groups<G>(
    groups: &IndexMap<String, G>,
    inside: fn(&G) -> &IndexMap<String, G>,
    around: &str,
    places: &mut BTreeMap<String, String>,
) {
    for (name, group) in groups {
        places.insert(name.clone(), around.to_owned());
        note_groups(inside(group), inside, name, places);
    }
}

/// An option, or the file that gives it.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum FileOr<T> {
    /// The path of a file.
    File(PathBuf),
    /// The option itself.
    Given(T),
    /// The content of a file, which was checked when it was read.
    Read(T),
}

impl<T: Default> Default for FileOr<T> {
    fn default() -> Self {
        Self::Given(T::default())
    }
}

impl<T> FileOr<T> {
    /// Returns the option; `None` if it is a file that is not read yet.
    pub fn given(&self) -> Option<&T> {
        match self {
            Self::File(_) => None,
            Self::Given(given) | Self::Read(given) => Some(given),
        }
    }

    /// Returns the option, of which any file has been [read](FileOr::read_and_check).
    ///
    /// # Panics
    /// Panics if the file has not been read: no value can stand for its content.
    #[track_caller]
    pub fn settled(&self) -> &T {
        match self {
            Self::Given(given) | Self::Read(given) => given,
            Self::File(file) => {
                panic!("{} is not read; `emulation::bench` reads it, as a run does", file.display())
            }
        }
    }
}

impl<T: FileOptions> FileOr<T> {
    /// Returns what others ask of the option, whose key is `allocations`.
    pub fn facts(&self) -> OptionFacts<'_> {
        let files = match self {
            Self::File(file) => vec![(Path::of(ALLOCATIONS), file.as_path())],
            Self::Given(_) | Self::Read(_) => Vec::new(),
        };
        let groups = Some(self.given().map(T::groups).unwrap_or_default());
        OptionFacts { files, groups, ..OptionFacts::default() }
    }

    /// Replaces a path by the content of its file. Returns complaints about the option, whose key
    /// is `allocations`; `more` adds complaints if the option has no errors.
    pub fn read_and_check(
        &mut self,
        site: &PolicySite<'_>,
        context: T::Context,
        more: impl FnOnce(&T) -> Vec<Complaint>,
    ) -> Vec<Complaint> {
        let mut complaints = match self {
            Self::Given(given) => given.check(context),
            Self::Read(_) => Vec::new(),
            Self::File(_) if !site.reads_files => {
                let hint = "write the `allocations` themselves";
                vec![Complaint::error(&[], "no file may be read here", hint)]
            }
            Self::File(file) => match xml::read(&site.folder.join(file), context) {
                Ok((given, warnings)) => {
                    *self = Self::Read(given);
                    warnings
                }
                Err(complaints) => complaints,
            },
        };
        // With errors the run does not begin, and further checks would only repeat them in other
        // words.
        if let Some(given) = self.given()
            && complaints.iter().all(|complaint| complaint.is_warning)
        {
            complaints.extend(more(given));
        }
        for complaint in &mut complaints {
            // The checks give paths within the option, so put its key in front.
            complaint.path.insert(0, ALLOCATIONS.to_owned());
        }
        complaints
    }
}

impl<'de, T: Deserialize<'de> + FileOptions> Deserialize<'de> for FileOr<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct FileOrVisitor<T>(PhantomData<T>);

        impl<'de, T: Deserialize<'de> + FileOptions> de::Visitor<'de> for FileOrVisitor<T> {
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
        // Text is a path; a mapping is the option itself.
        from.deserialize_any(FileOrVisitor(PhantomData))
    }
}

impl<T: JsonSchema + FileOptions> JsonSchema for FileOr<T> {
    fn schema_name() -> Cow<'static, str> {
        format!("FileOr{}", T::schema_name()).into()
    }
    fn json_schema(schemas: &mut SchemaGenerator) -> Schema {
        let file = json!({ "type": "string", "title": T::FILE });
        json_schema!({ "anyOf": [file, T::json_schema(schemas)] })
    }
}

#[cfg(test)]
mod tests {
    use std::panic::catch_unwind;

    use crate::scheduler::{Capacity, Fair, FairDeficit, ModifiedFair};
    use mumakil_core::mapred::{PerSlot, Policy};

    fn is_built<P: Policy>() -> bool {
        let options = || serde_yaml::from_str("{allocations: pools.xml}").unwrap();
        assert!(P::promised(&options(), PerSlot::default()).is_empty(), "{}", P::NAME);
        catch_unwind(|| _ = P::new(options())).is_ok()
    }

    #[test]
    fn a_file_that_is_not_read_is_no_empty_file() {
        assert!(!is_built::<Fair>() && !is_built::<FairDeficit>());
        assert!(!is_built::<ModifiedFair>() && !is_built::<Capacity>());
    }
}
