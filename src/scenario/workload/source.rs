//! The kinds of workload: the keys below `workload:` that bring jobs.
//!
//! A kind of workload is a type of options that implements [`Source`], just as a policy is a type
//! of options that makes a scheduler. [`crate::Registry::add_source`] turns the type into
//! `workload: {KEY: options}`, with its JSON Schema and its checks. A run only uses a list of
//! [`JobEntry`], whichever source made it.

use std::fmt;
use std::sync::{Arc, LazyLock};

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_yaml::Value;

use super::format::{Format, TraceToRead, other};
use super::jobs::JobEntry;
use super::site::WorkloadSite;
use mumakil_core::trace::{Strictness, TraceError, TraceFile};
use mumakil_yaml::{self as yaml, LateShape, Path, TreeShape, YamlProblem, read};

/// The source of a run's jobs, with the options of the scenario.
pub trait Source: AnyWorkload + fmt::Debug + Send + Sync {
    /// Returns the jobs; notes the digests of their files in the options.
    ///
    /// # Errors
    /// If a file cannot be read or has mistakes; the error names them.
    fn jobs(&mut self, site: &WorkloadSite<'_>) -> Result<FoundJobs, TraceError>;

    /// Returns the files that the options name, each with its key; the key is empty for the options
    /// as a whole.
    fn files_mut(&mut self) -> Vec<(&'static str, &mut TraceFile)> {
        Vec::new()
    }

    /// Returns the key of the file with the cluster's racks and hosts, if the options name one.
    fn hosts_key(&self) -> Option<&'static str> {
        None
    }

    /// Returns whether jobs come from the trace of another tool.
    fn is_traced(&self) -> bool {
        false
    }

    /// Returns the problems with valid options that do not fit each other; paths begin at the
    /// options.
    fn problems(&self) -> Vec<YamlProblem> {
        Vec::new()
    }

    /// Returns the jobs that the options list.
    fn listed(&self) -> &[JobEntry] {
        &[]
    }

    /// Returns the jobs that are drawn with a seed, and adds problems with the options; `None` if
    /// drawing needs a file. The drawn jobs are checked like the jobs of `listed`.
    fn drawn(&self, _seed: u64, _problems: &mut Vec<YamlProblem>) -> Option<Vec<JobEntry>> {
        None
    }

    /// Returns what is allowed but probably a mistake about the jobs that are drawn with a seed, each
    /// as a sentence.
    fn doubts(&self, _seed: u64, _jobs: &[JobEntry]) -> Vec<String> {
        Vec::new()
    }

    /// Returns the path, from the options, of the option that causes the problems of a drawn job.
    fn origin_of(&self, _job: &JobEntry) -> Path {
        Path::default()
    }
}

/// A kind of workload.
pub trait SourceKind: Source + Clone + Serialize + DeserializeOwned + JsonSchema + 'static {
    /// The key of its options below `workload:`.
    const KEY: &'static str;
    /// Its description, in one sentence.
    const ABOUT: &'static str;
}

/// A kind of workload that scenarios can name, without its type.
#[derive(Clone, Debug)]
pub struct SourceEntry {
    pub(crate) key: &'static str,
    pub(crate) about: &'static str,
    pub(crate) shape: LateShape,
    pub(crate) schema: fn(SchemaGenerator) -> Schema,
    pub(crate) read: ReadSource,
}

/// Reads the options of a source until it has found a number of mistakes; values of the fallback
/// replace wrong values.
type ReadSource =
    fn(Value, &Value, &TreeShape, usize) -> (Option<Box<dyn Source>>, Vec<YamlProblem>);

impl SourceEntry {
    /// Returns the entry of a kind of workload.
    pub fn of<S: SourceKind>() -> Self {
        Self {
            key: S::KEY,
            about: S::ABOUT,
            shape: Arc::new(LazyLock::new(Box::new(TreeShape::of_type::<S>))),
            schema: SchemaGenerator::into_root_schema_for::<Option<S>>,
            read: |options, fallback, shape, most| {
                let (source, problems) = read::<S>(options, fallback, shape, most);
                (source.map(|source| Box::new(source) as Box<dyn Source>), problems)
            },
        }
    }
}

/// Methods that follow from the type of a workload, for code that does not know the type.
pub trait AnyWorkload {
    /// Returns the key of the options below `workload:`.
    fn key(&self) -> &'static str;
    /// Returns a copy of the source.
    fn boxed(&self) -> Box<dyn Source>;
    /// Returns the options as YAML, all of them.
    fn options(&self) -> Value;
}

impl<S: SourceKind> AnyWorkload for S {
    fn key(&self) -> &'static str {
        S::KEY
    }

    fn boxed(&self) -> Box<dyn Source> {
        Box::new(self.clone())
    }

    fn options(&self) -> Value {
        yaml::write(self)
    }
}

impl Clone for Box<dyn Source> {
    fn clone(&self) -> Self {
        self.boxed()
    }
}

impl PartialEq for dyn Source {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key() && self.options() == other.options()
    }
}

/// The jobs from a source.
#[derive(Debug, Default)]
pub struct FoundJobs {
    /// The jobs.
    pub jobs: Vec<JobEntry>,
    /// How many jobs are left out since they have no tasks.
    pub left_out: u64,
    /// How many records are left out since they are broken.
    pub broken: u64,
    /// Notes on the trace for the user, each a sentence: for example, that some hosts are not nodes
    /// of the cluster.
    pub notes: Vec<String>,
}

impl FoundJobs {
    /// Returns the jobs of a trace in a given format, as `mumakil trace convert` would list them.
    ///
    /// # Errors
    /// If the file cannot be read, has another format, or has mistakes; the error names the
    /// mistakes.
    pub fn of_trace(
        file: &mut TraceFile,
        format: &'static Format,
        strictness: Strictness,
        site: &WorkloadSite<'_>,
    ) -> Result<Self, TraceError> {
        let path = file.find(site.folder);
        let found = site.formats.recognise(&path)?;
        // The content determines the format of a file, not its name.
        if found != format {
            return Err(other(&path, found, format.name));
        }
        let block = site.cluster.hdfs.block;
        let trace = TraceToRead { format, path: &path, block, strictness }.read()?;
        file.pin(site.folder, trace.sha256.as_deref())?;
        let jobs = trace.entries(block);
        let left_out = (trace.jobs.len() - jobs.len()) as u64;
        Ok(Self { jobs, left_out, broken: trace.skipped.count, notes: trace.notes })
    }
}
