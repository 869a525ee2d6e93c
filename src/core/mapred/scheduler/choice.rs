//! `scheduler: fair`: the policy that a scenario chooses, with its options.

use std::borrow::Cow;
use std::sync::Arc;

use indexmap::IndexMap;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize, Serializer, de};
use serde_yaml::{Mapping, Value};

use super::entry::PolicyOptions;
use super::option_file::OptionFile;
use mumakil_base::forms;
use mumakil_yaml::Path;

/// The policy of a scenario: its name, with its options.
#[derive(Clone, Debug)]
pub struct SchedulerChoice {
    /// The name of the policy.
    pub name: String,
    /// The options as they are written; of checked options all of them.
    options: Value,
    checked: Option<Arc<CheckedOptions>>,
}

/// Options that were read and checked.
#[derive(Debug)]
struct CheckedOptions {
    options: Box<dyn PolicyOptions>,
    /// The warnings of their check.
    doubts: Vec<String>,
    /// The files in which some of them stand, each with the path of its option.
    files: Vec<(Path, OptionFile)>,
}

impl SchedulerChoice {
    /// Returns a policy with its default options.
    pub fn named(name: &str) -> Self {
        Self { name: name.to_owned(), options: Mapping::new().into(), checked: None }
    }

    /// Returns the choice with options that were read and checked, the warnings of their check, and
    /// the files in which some options stand.
    pub fn checked(
        &self,
        options: Box<dyn PolicyOptions>,
        doubts: Vec<String>,
        files: Vec<(Path, OptionFile)>,
    ) -> Self {
        let (name, written) = (self.name.clone(), options.written());
        let checked = Some(Arc::new(CheckedOptions { options, doubts, files }));
        Self { name, options: written, checked }
    }

    /// Sets an option; the options are then to be checked again.
    pub fn set(&mut self, option: &str, value: Value) {
        self.checked = None;
        if !self.options.is_mapping() {
            self.options = Mapping::new().into();
        }
        if let Some(options) = self.options.as_mapping_mut() {
            options.insert(option.into(), value);
        }
    }

    /// Returns the options as they are written; of checked options all of them.
    pub fn written(&self) -> &Value {
        &self.options
    }

    /// Returns the options; `None` if they have not been checked. Those of a loaded scenario have.
    pub fn options(&self) -> Option<&dyn PolicyOptions> {
        self.checked.as_ref().map(|checked| &*checked.options)
    }

    /// Returns the warnings that the check of the options gave.
    pub fn doubts(&self) -> &[String] {
        self.checked.as_ref().map_or(&[], |checked| &checked.doubts)
    }

    /// Returns the files in which some options stood when they were checked, each with the path of its
    /// option.
    pub fn files(&self) -> &[(Path, OptionFile)] {
        self.checked.as_ref().map_or(&[], |checked| &checked.files)
    }

    /// Returns the name that reports show: the name of the policy, or of the program if the policy
    /// is a program.
    pub fn title(&self) -> String {
        let title = self.options().and_then(|options| options.facts().title);
        title.unwrap_or_else(|| self.name.clone())
    }
}

/// Whether options were checked makes no difference.
impl PartialEq for SchedulerChoice {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name && self.options == other.options
    }
}

/// The default is Hadoop's own default, `fifo`.
impl Default for SchedulerChoice {
    fn default() -> Self {
        Self::named("fifo")
    }
}

impl Serialize for SchedulerChoice {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match &self.options {
            // A resolved scenario lists all options of a policy. If there are none, the policy has
            // no options: write just its name.
            Value::Mapping(options) if !options.is_empty() => {
                to.collect_map([(&self.name, options)])
            }
            _ => to.serialize_str(&self.name),
        }
    }
}

const POLICY: &str = "the name of a policy, or one name with its options";

forms! {
    SchedulerChoice, expected: POLICY,
    text: |name| Ok(SchedulerChoice::named(name)),
    map: |map| {
        let mut choices = IndexMap::<String, Value>::deserialize(map)?.into_iter();
        let Some((name, options)) = choices.next() else {
            return Err(de::Error::invalid_type(de::Unexpected::Map, &POLICY));
        };
        if let Some((other, _)) = choices.next() {
            return Err(de::Error::custom(format!(
                "`{name}` and `{other}`: a scenario has one policy, with its options below it, such \
                 as `scheduler: {{hfsp: {{weights: priority}}}}`"
            )));
        }
        match options {
            // `{fair: }` is `fair` with its defaults, like a bare `fair`.
            Value::Null => Ok(SchedulerChoice::named(&name)),
            options => Ok(SchedulerChoice { name, options, checked: None }),
        }
    },
}

/// The schema without any policies, which the schema of a scenario adds from its registry.
impl JsonSchema for SchedulerChoice {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> Cow<'static, str> {
        "Scheduler".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": ["string", "object"] })
    }
}
