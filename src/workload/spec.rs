//! The `workload:` part of a scenario, as written: where jobs come from, and when they come.

use std::borrow::Cow;
use std::fmt;
use std::path::PathBuf;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use super::{JobEntry, Mix, Rumen, Sls, Submission, Swim};
use crate::mapred::Auto;
use crate::random::Dist;
use crate::trace::TraceFile;
use crate::units::{Fraction, SimSpan};

/// What arrives: jobs from one source, and when they are submitted.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct WorkloadSpec {
    /// Jobs written out, here or in a file of their own: a table (CSV) with these fields as its
    /// columns, or a list in YAML.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub jobs: Option<Jobs>,
    /// Jobs of several types, drawn by chance.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mix: Option<Mix>,
    /// Jobs of a Rumen trace.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rumen: Option<Rumen>,
    /// Jobs of a SWIM trace.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub swim: Option<Swim>,
    /// Jobs of YARN's Scheduler Load Simulator.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sls: Option<Sls>,
    /// When jobs are submitted.
    pub submission: Submission,
    /// When the first job is submitted; the others keep their distance from it. `auto`: as the
    /// jobs' own times say, and in Mumak's model when every tracker has sent a heartbeat.
    pub start: Auto,
    /// Work that fills the cluster before the first job comes; its own jobs are in no statistics.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub warm_start: Option<WarmStart>,
}

/// Work that fills a cluster.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WarmStart {
    /// The share of the map slots that it takes.
    #[serde(default)]
    pub map_slots: Fraction,
    /// The share of the reduce slots that it takes.
    #[serde(default)]
    pub reduce_slots: Fraction,
    /// How long it holds each of these map slots.
    #[serde(default)]
    pub map_time: Dist<SimSpan>,
    /// How long it holds each of these reduce slots.
    #[serde(default)]
    pub reduce_time: Dist<SimSpan>,
    /// How long it has to fill them before the workload begins; `auto`: so many heartbeats as a
    /// node has slots, and a few more to get going.
    #[serde(default)]
    pub settle: Auto,
}

/// Jobs written out.
#[derive(Clone, Debug, PartialEq)]
pub enum Jobs {
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
    /// Whether broken jobs are left out, and those that follow them, instead of being an error.
    pub lenient: bool,
}

/// The long form of a file of jobs.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(rename = "JobFile", deny_unknown_fields)]
struct LongJobFile {
    /// The path.
    path: PathBuf,
    /// The SHA-256 of the content, in hexadecimal digits; another content is an error.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    sha256: Option<String>,
    /// Whether broken jobs are left out, and those that follow them, instead of being an error.
    #[serde(default)]
    lenient: bool,
}

impl Serialize for Jobs {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Listed(jobs) => JobEntry::serialize_list(jobs, to),
            Self::File(JobFile { file, lenient: false }) => file.serialize(to),
            Self::File(JobFile { file, lenient }) => {
                let TraceFile { path, sha256 } = file.clone();
                LongJobFile { path, sha256, lenient: *lenient }.serialize(to)
            }
        }
    }
}

impl<'de> Deserialize<'de> for Jobs {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct JobsVisitor;

        impl<'de> de::Visitor<'de> for JobsVisitor {
            type Value = Jobs;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list of jobs, or the path of a file with one")
            }
            fn visit_seq<A: de::SeqAccess<'de>>(self, list: A) -> Result<Jobs, A::Error> {
                Vec::deserialize(SeqAccessDeserializer::new(list)).map(Jobs::Listed)
            }
            fn visit_str<E: de::Error>(self, path: &str) -> Result<Jobs, E> {
                let file = TraceFile { path: path.into(), sha256: None };
                Ok(Jobs::File(JobFile { file, lenient: false }))
            }
            fn visit_map<A: de::MapAccess<'de>>(self, map: A) -> Result<Jobs, A::Error> {
                let long = LongJobFile::deserialize(MapAccessDeserializer::new(map));
                let LongJobFile { path, sha256, lenient } = long.map_err(|_| {
                    let expected = "a list of jobs, or {path: …, sha256: …, lenient: …}";
                    de::Error::invalid_type(de::Unexpected::Map, &expected)
                })?;
                Ok(Jobs::File(JobFile { file: TraceFile { path, sha256 }, lenient }))
            }
        }
        from.deserialize_any(JobsVisitor)
    }
}

impl JsonSchema for Jobs {
    fn schema_name() -> Cow<'static, str> {
        "Jobs".into()
    }
    fn json_schema(schemas: &mut SchemaGenerator) -> Schema {
        let listed = schemas.subschema_for::<Vec<JobEntry>>();
        let long = schemas.subschema_for::<LongJobFile>();
        let file = json_schema!({
            "title": "the path of a file, or {path: …, sha256: …, lenient: …}",
            "anyOf": [{ "type": "string" }, long],
        });
        json_schema!({ "anyOf": [listed, file] })
    }
}

impl WorkloadSpec {
    /// Returns the jobs that the scenario itself writes out.
    pub fn listed(&self) -> &[JobEntry] {
        match &self.jobs {
            Some(Jobs::Listed(jobs)) => jobs,
            _ => &[],
        }
    }

    /// Returns the files that hold jobs or the hosts that they run on, each with its key.
    pub fn files_mut(&mut self) -> impl Iterator<Item = (&'static str, &mut TraceFile)> {
        let Self { jobs, rumen, swim, sls, .. } = self;
        let jobs = match jobs {
            Some(Jobs::File(jobs)) => Some(&mut jobs.file),
            _ => None,
        };
        let (trace, topology) =
            rumen.as_mut().map(|rumen| (&mut rumen.trace, rumen.topology.as_mut())).unzip();
        let (listed, nodes) = sls.as_mut().map(|sls| (&mut sls.file, sls.nodes.as_mut())).unzip();
        let files = [
            ("workload.jobs", jobs),
            ("workload.rumen.trace", trace),
            ("workload.rumen.topology", topology.flatten()),
            ("workload.swim.file", swim.as_mut().map(|swim| &mut swim.file)),
            ("workload.sls.file", listed),
            ("workload.sls.nodes", nodes.flatten()),
        ];
        files.into_iter().filter_map(|(key, file)| Some((key, file?)))
    }

    /// Returns whether jobs come from the trace of another tool.
    pub fn is_traced(&self) -> bool {
        self.rumen.is_some() || self.swim.is_some() || self.sls.is_some()
    }

    /// Returns the names of the sources that are given; a scenario has one.
    pub fn sources(&self) -> Vec<&'static str> {
        let given = [
            ("jobs", self.jobs.is_some()),
            ("mix", self.mix.is_some()),
            ("rumen", self.rumen.is_some()),
            ("swim", self.swim.is_some()),
            ("sls", self.sls.is_some()),
        ];
        given.into_iter().filter_map(|(name, is_given)| is_given.then_some(name)).collect()
    }
}
