//! `workload: {jobs: …}`: jobs that are listed in the scenario, or in a file of their own.

use std::path::PathBuf;

use schemars::{JsonSchema, json_schema};
use serde::{Deserialize, Serialize, Serializer, de};

use crate::workload::format::{FormatContents, TraceToRead, other};
use crate::workload::jobs::JobEntry;
use crate::workload::site::WorkloadSite;
use crate::workload::source::{FoundJobs, Source, SourceKind};
use mumakil_base::forms;
use mumakil_core::trace::{Strictness, TraceError, TraceFile};
use mumakil_yaml::{Path, YamlProblem};

/// A list of jobs.
#[derive(Clone, Debug, PartialEq)]
pub enum ListSource {
    /// In the scenario.
    Listed(Vec<JobEntry>),
    /// In a file.
    File(JobFile),
}

/// A file of jobs: its path, or `{path, sha256, lenient}`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobFile {
    /// The file.
    pub file: TraceFile,
    /// Whether broken jobs, and jobs that wait for one through `after`, are left out instead of
    /// being an error.
    pub lenient: bool,
}

/// The long form of a file of jobs.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename = "JobFile", deny_unknown_fields)]
struct LongJobFile {
    /// The path.
    path: PathBuf,
    /// The SHA-256 of the content, in hexadecimal digits; a file with other content is an error.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    sha256: Option<String>,
    /// Whether broken jobs, and jobs that wait for one through `after`, are left out instead of
    /// being an error.
    #[serde(default)]
    lenient: bool,
}

impl Serialize for ListSource {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Listed(jobs) => to.collect_seq(jobs.iter().map(JobEntry::said)),
            Self::File(JobFile { file, lenient: false }) => file.serialize(to),
            Self::File(JobFile { file, lenient }) => {
                let TraceFile { path, sha256 } = file.clone();
                LongJobFile { path, sha256, lenient: *lenient }.serialize(to)
            }
        }
    }
}

forms! {
    ListSource, expected: "a list of jobs, or the path of a file with one",
    text: |path| {
        let file = TraceFile { path: path.into(), sha256: None };
        Ok(ListSource::File(JobFile { file, lenient: false }))
    },
    list: |list| Vec::deserialize(list).map(ListSource::Listed),
    map: |map| {
        // Most mappings here are a job without the dash of a list, so "missing field `path`" would
        // mislead.
        let LongJobFile { path, sha256, lenient } = LongJobFile::deserialize(map).map_err(|_| {
            let expected = "a list of jobs, or {path: …, sha256: …, lenient: …}";
            de::Error::invalid_type(de::Unexpected::Map, &expected)
        })?;
        Ok(ListSource::File(JobFile { file: TraceFile { path, sha256 }, lenient }))
    },
    schema: "Jobs", |schemas| {
        let listed = schemas.subschema_for::<Vec<JobEntry>>();
        let long = schemas.subschema_for::<LongJobFile>();
        let file = json_schema!({
            "title": "the path of a file, or {path: …, sha256: …, lenient: …}",
            "anyOf": [{ "type": "string" }, long],
        });
        json_schema!({ "anyOf": [listed, file] })
    },
}

impl SourceKind for ListSource {
    const KEY: &'static str = "jobs";
    const ABOUT: &'static str = "Jobs written out, here or in a file of their own: a table (CSV) \
                                 with these fields as its\ncolumns, or a list in YAML.";
}

impl Source for ListSource {
    fn jobs(&mut self, site: &WorkloadSite<'_>) -> Result<FoundJobs, TraceError> {
        match self {
            // A copy, since the resolved scenario, which the results keep, needs the list as well.
            Self::Listed(jobs) => Ok(FoundJobs { jobs: jobs.clone(), ..FoundJobs::default() }),
            Self::File(JobFile { file, lenient }) => {
                let path = file.find(site.folder);
                let format = site.formats.recognise(&path)?;
                let FormatContents::List { .. } = format.contents else {
                    return Err(other(&path, format, "a list of jobs"));
                };
                let (block, strictness) = (site.cluster.hdfs.block, Strictness::of(*lenient));
                let list = TraceToRead { format, path: &path, block, strictness }.read()?;
                file.pin(site.folder, list.sha256.as_deref())?;
                let broken = list.skipped.count;
                Ok(FoundJobs { jobs: list.into_own(), broken, ..FoundJobs::default() })
            }
        }
    }

    fn files_mut(&mut self) -> Vec<(&'static str, &mut TraceFile)> {
        match self {
            Self::Listed(_) => Vec::new(),
            Self::File(JobFile { file, .. }) => vec![("", file)],
        }
    }

    fn problems(&self) -> Vec<YamlProblem> {
        match self {
            Self::Listed(jobs) if jobs.is_empty() => {
                let message = "there are no jobs: a run would end before it began";
                vec![YamlProblem::value(Path::default(), message)]
            }
            Self::Listed(_) | Self::File(_) => Vec::new(),
        }
    }

    fn listed(&self) -> &[JobEntry] {
        match self {
            Self::Listed(jobs) => jobs,
            Self::File(_) => &[],
        }
    }
}
