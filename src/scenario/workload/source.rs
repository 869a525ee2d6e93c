//! The kinds of workload: what may stand below `workload:`, and bring its jobs.
//!
//! A kind is a type of options that is a [`Source`], as a policy is a type of options that makes a
//! scheduler: [`crate::Registry::add_source`] makes `workload: {KEY: options}` of it, with
//! its JSON Schema and its checks. All that a run does with jobs it does with a list of
//! [`JobEntry`], wherever that comes from.

use std::fmt;

use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_yaml::Value;

use super::format::{Format, Trace, other};
use super::jobs::JobEntry;
use super::site::WorkloadSite;
use mumakil_core::trace::{Strictness, TraceError, TraceFile};
use mumakil_yaml::{self as yaml, Path, YamlProblem};

/// Where the jobs of a run come from, with the options of the scenario.
pub trait Source: AnyWorkload + fmt::Debug + Send + Sync {
    /// Returns the jobs; notes the digests of the files that they come from.
    ///
    /// # Errors
    /// If a file cannot be read, or with what is wrong in it.
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

    /// Returns what is wrong with the options though each can be read; paths begin at the options.
    fn problems(&self) -> Vec<YamlProblem> {
        Vec::new()
    }

    /// Returns the jobs that the options write out.
    fn listed(&self) -> &[JobEntry] {
        &[]
    }

    /// Returns the jobs that are drawn with a seed, if that needs no file, and adds what is wrong with
    /// the options. Such jobs are checked as those are that are written out.
    fn drawn(&self, _seed: u64, _problems: &mut Vec<YamlProblem>) -> Option<Vec<JobEntry>> {
        None
    }

    /// Returns the path, from the options, of the one to blame for what is wrong with a job that was
    /// drawn.
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

/// The methods that every kind of workload has by its type, without naming the type.
pub trait AnyWorkload {
    /// Returns the key of the options below `workload:`.
    fn key(&self) -> &'static str;
    /// Returns the same again.
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

/// The jobs that a source gave.
#[derive(Debug, Default)]
pub struct FoundJobs {
    /// The jobs.
    pub jobs: Vec<JobEntry>,
    /// How many jobs there is nothing to run of.
    pub left_out: u64,
    /// How many records are broken.
    pub broken: u64,
    /// A warning about hosts that are none of the cluster's nodes.
    pub unknown_hosts: Option<String>,
}

impl FoundJobs {
    /// Returns the jobs of a trace of a format, as `mumakil trace convert` would list them.
    ///
    /// # Errors
    /// If the file cannot be read or is of another format, or with what is wrong in it.
    pub fn of_trace(
        file: &mut TraceFile,
        format: &'static dyn Format,
        strictness: Strictness,
        site: &WorkloadSite<'_>,
    ) -> Result<Self, TraceError> {
        let path = file.find(site.folder);
        let found = site.formats.recognise(&path)?;
        // The content decides what a file is, whatever its name.
        if found != format {
            return Err(other(&path, found, format.name()));
        }
        let trace = Trace::read_as(format, &path, site.cluster.hdfs.block, strictness)?;
        file.pin(site.folder, trace.sha256.as_deref())?;
        let jobs = trace.entries(site.cluster.hdfs.block);
        let left_out = (trace.jobs.len() - jobs.len()) as u64;
        Ok(Self { jobs, left_out, broken: trace.skipped.count, unknown_hosts: None })
    }
}
