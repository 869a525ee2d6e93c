//! A policy that scenarios can name, without its type: what a registry knows of it, and its options
//! from the YAML to the run.

use std::any::Any;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, LazyLock};

use schemars::{Schema, SchemaGenerator};
use serde_yaml::Value;

use super::{Complaint, Policy, PolicyReload, PolicySite, PromisedSlots, Scheduler};
use crate::cluster::PerSlot;
use mumakil_yaml::{LateShape, MOST, Path, TreeShape, YamlProblem, lay, read, write};

/// A policy that scenarios can name. It is made where the type of the policy is, so that only that
/// crate is compiled anew when the policy changes.
#[derive(Clone, Debug)]
pub struct PolicyEntry {
    name: &'static str,
    about: &'static str,
    group: &'static str,
    shape: LateShape,
    schema: fn(SchemaGenerator) -> Schema,
    defaults: fn() -> Box<dyn PolicyOptions>,
    read: ReadOptions,
    vocabulary: fn() -> Vec<(String, &'static str)>,
}

/// Reads options; values of the fallback replace wrong values.
type ReadOptions =
    fn(Value, &Value, &TreeShape) -> (Option<Box<dyn PolicyOptions>>, Vec<YamlProblem>);

impl PolicyEntry {
    /// Returns the entry of a policy.
    pub fn of<P: Policy>() -> Self {
        Self {
            name: P::NAME,
            about: P::ABOUT,
            group: P::GROUP,
            shape: Arc::new(LazyLock::new(Box::new(TreeShape::of_type::<P::Options>))),
            schema: SchemaGenerator::into_root_schema_for::<P::Options>,
            defaults: || Box::new(TypedOptions::<P>(P::Options::default())),
            read: |written, fallback, shape| {
                let (options, problems) = read(written, fallback, shape, MOST);
                (options.map(|options| Box::new(TypedOptions::<P>(options)) as _), problems)
            },
            vocabulary: P::vocabulary,
        }
    }

    /// Returns the name in `scheduler:`.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// Returns the description of the policy, in one sentence.
    pub fn about(&self) -> &'static str {
        self.about
    }

    /// Returns the group in which it is listed.
    pub fn group(&self) -> &'static str {
        self.group
    }

    /// As [`Policy::vocabulary`].
    pub fn vocabulary(&self) -> Vec<(String, &'static str)> {
        (self.vocabulary)()
    }

    /// Returns the shape of the policy's options.
    pub fn shape(&self) -> &TreeShape {
        &self.shape
    }

    /// Sets the shape of the options. Without this it is made of their schema at its first use, which
    /// takes longer than a small run.
    pub fn set_shape(&mut self, shape: LateShape) {
        self.shape = shape;
    }

    /// Returns the JSON Schema of the policy's options.
    pub fn schema(&self, schemas: SchemaGenerator) -> Schema {
        (self.schema)(schemas)
    }

    /// Returns the policy's options with their defaults.
    pub fn default_options(&self) -> Box<dyn PolicyOptions> {
        (self.defaults)()
    }

    /// Returns whether the policy has an option at this path.
    pub fn has_option(&self, path: &Path) -> bool {
        self.shape.has(path)
    }

    /// Reads written options over the defaults, and returns the mistakes in them. With mistakes, the
    /// options have defaults in place of what is wrong.
    pub fn read(&self, written: &Value) -> (Option<Box<dyn PolicyOptions>>, Vec<YamlProblem>) {
        let defaults = self.default_options();
        if matches!(written, Value::Mapping(map) if map.is_empty()) {
            return (Some(defaults), Vec::new());
        }
        let plain = defaults.written();
        let mut options = plain.clone();
        lay(&mut options, written.clone(), &self.shape);
        (self.read)(options, &plain, &self.shape)
    }
}

/// The options of a policy, read as its type, and what others may ask of them.
pub trait PolicyOptions: Send + Sync {
    /// Returns what others ask of the options.
    fn facts(&self) -> OptionFacts<'_>;

    /// As [`Policy::promised`].
    fn promised(&self, slots: PerSlot<u64>) -> PromisedSlots;

    /// Returns the options as their check against a site leaves them, and its complaints, as
    /// [`Policy::settle`].
    fn settled(&self, site: &PolicySite<'_>) -> (Box<dyn PolicyOptions>, Vec<Complaint>);

    /// Returns a policy that knows no jobs yet.
    fn build(&self) -> Box<dyn Scheduler>;

    /// Returns the options for a policy that reads its pools or queues again.
    fn reload(&self) -> PolicyReload;

    /// Returns the options as YAML, every value filled in.
    fn written(&self) -> Value;

    /// Returns the value of [`Policy::Options`].
    fn value(&self) -> &dyn Any;
}

impl fmt::Debug for dyn PolicyOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.written().fmt(f)
    }
}

/// The answers of a policy's options to those who do not know their type.
#[derive(Clone, Debug)]
pub struct OptionFacts<'o> {
    /// The policy's name in reports; `None` if it is the name in `scheduler:`.
    pub title: Option<String>,
    /// Whether the policy uses the bytes that reduces fetch, for example to estimate how large jobs
    /// are, even if a job also gives the time of fetching. If it does not, users are warned that
    /// such a job's bytes have no effect.
    pub heeds_bytes: bool,
    /// The estimator of a user's own build that the options name.
    pub estimator: Option<&'o str>,
    /// The names that have waits of their own.
    pub delayed: DelayedNames<'o>,
    /// The pools or queues that the policy can [read again](Scheduler::reload).
    pub groups: Option<PolicyGroups>,
}

impl Default for OptionFacts<'_> {
    fn default() -> Self {
        Self {
            title: None,
            // Nobody is warned in vain of a policy that does not say.
            heeds_bytes: true,
            estimator: None,
            delayed: DelayedNames::default(),
            groups: None,
        }
    }
}

/// The names of jobs and pools that wait for their input in a way of their own.
#[derive(Clone, Debug, Default)]
pub struct DelayedNames<'o> {
    /// The names of jobs.
    pub jobs: Vec<&'o str>,
    /// The names of pools.
    pub pools: Vec<&'o str>,
}

/// The pools or queues that a policy can read again while jobs run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PolicyGroups {
    /// Each of them, with the one around it; at the top that is empty.
    pub around: BTreeMap<String, String>,
    /// Whether none may come or go while jobs run.
    pub are_fixed: bool,
}

/// The options of a policy of a known type.
struct TypedOptions<P: Policy>(P::Options);

impl<P: Policy> PolicyOptions for TypedOptions<P> {
    fn facts(&self) -> OptionFacts<'_> {
        P::facts(&self.0)
    }

    fn promised(&self, slots: PerSlot<u64>) -> PromisedSlots {
        P::promised(&self.0, slots)
    }

    fn settled(&self, site: &PolicySite<'_>) -> (Box<dyn PolicyOptions>, Vec<Complaint>) {
        let mut options = self.0.clone();
        let complaints = P::settle(&mut options, site);
        (Box::new(Self(options)), complaints)
    }

    fn build(&self) -> Box<dyn Scheduler> {
        Box::new(P::new(self.0.clone()))
    }

    fn reload(&self) -> PolicyReload {
        Arc::new(self.0.clone())
    }

    fn written(&self) -> Value {
        write(&self.0)
    }

    fn value(&self) -> &dyn Any {
        &self.0
    }
}
