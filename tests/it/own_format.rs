//! A trace format that Mumakil does not know, in a file of its own. A user's program adds the
//! format with one line, `registry.add_format(&ANTS).add_source::<AntJobs>()`, and can then use it
//! everywhere.

use std::fs;
use std::io;
use std::path::PathBuf;

use mumakil::emulation::{Options, Prepared, emulate};
use mumakil::mapred::TaskTimes;
use mumakil::scenario::{self, Registry, Scenario};
use mumakil::trace::{FirstFew, Framing, Record, RecordFault, Strictness, TraceError, TraceFile};
use mumakil::units::{Bytes, Count, SimSpan};
use mumakil::workload::exchange::{PackedJobs, convert};
use mumakil::workload::format::{ConversionTarget, Format, FormatContents, Trace, TraceJob};
use mumakil::workload::{FoundJobs, JobEntry, Source, SourceKind, WorkloadSite};
use mumakil::yaml::{Path, YamlProblem};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Room;

/// A job from a line such as `ant-1 at 30: 12 x 45`: its name, its arrival, and the number and the
/// seconds of its maps.
#[derive(Clone, Debug, PartialEq)]
struct AntJob {
    name: String,
    submit_s: u64,
    maps: u32,
    map_s: u64,
}

impl AntJob {
    fn parse(line: &str) -> Option<Self> {
        let (name, rest) = line.split_once(" at ")?;
        let (submit, rest) = rest.split_once(": ")?;
        let (maps, map_time) = rest.split_once(" x ")?;
        Some(Self {
            name: name.to_owned(),
            submit_s: submit.parse().ok()?,
            maps: maps.parse().ok()?,
            map_s: map_time.parse().ok()?,
        })
    }
}

impl Record for AntJob {
    const NAME: &'static str = "ant";
    const FRAMING: Framing = Framing::Line;

    fn parse(line: &[u8], _: &mut FirstFew<String>) -> Result<Self, RecordFault> {
        let job = str::from_utf8(line).ok().and_then(Self::parse);
        job.ok_or_else(|| RecordFault::new("no ant").hint("write `NAME at 30: 12 x 45`"))
    }
}

impl TraceJob for AntJob {
    fn name(&self, _number: u64) -> String {
        self.name.clone()
    }

    fn entry(&self, _number: u64, _block: Bytes) -> Result<Option<JobEntry>, String> {
        let maps = Count::new(self.maps).ok_or("too many maps")?;
        Ok(Some(JobEntry {
            submit: self.submit(),
            maps: Some(maps),
            map_time: Some(TaskTimes::from(SimSpan::from_secs(self.map_s))),
            ..JobEntry::named(&self.name)
        }))
    }

    fn submit(&self) -> SimSpan {
        SimSpan::from_secs(self.submit_s)
    }

    fn write_to(&self, to: &mut dyn io::Write) -> io::Result<()> {
        let Self { name, submit_s, maps, map_s } = self;
        writeln!(to, "{name} at {submit_s}: {maps} x {map_s}")
    }
}

/// Returns a job as a line of this format, in which all maps take equally long: as long as the
/// first map, or as the mean.
fn ant(entry: &JobEntry, _block: Bytes) -> Box<dyn TraceJob> {
    let map_s = match &entry.map_time {
        Some(TaskTimes::Each(times)) => {
            times.first().map_or(0, |time| time.as_micros() / 1_000_000)
        }
        Some(TaskTimes::Drawn(times)) => (times.mean() / 1e6) as u64,
        None => 0,
    };
    Box::new(AntJob {
        name: entry.name.clone(),
        submit_s: entry.submit.as_micros() / 1_000_000,
        maps: entry.maps.map_or(0, Count::get),
        map_s,
    })
}

/// The trace format `ants`.
static ANTS: Format = Format {
    known_by: "ants (`NAME at 30: 12 x 45`)",
    has_line: |line| line.starts_with(b"ant-"),
    target: Some(ConversionTarget { key: "ants", about: "Ants", make: ant }),
    ..Format::new("ants", FormatContents::Jobs(Trace::of::<AntJob>))
};

/// `workload: {ants: {file: …}}`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct AntJobs {
    /// The trace.
    file: TraceFile,
    /// Whether broken jobs are left out instead of being an error.
    #[serde(default)]
    lenient: bool,
}

impl SourceKind for AntJobs {
    const KEY: &'static str = "ants";
    const ABOUT: &'static str = "Jobs of ants.";
}

impl Source for AntJobs {
    fn jobs(&mut self, site: &WorkloadSite<'_>) -> Result<FoundJobs, TraceError> {
        FoundJobs::of_trace(&mut self.file, &ANTS, Strictness::of(self.lenient), site)
    }

    fn files_mut(&mut self) -> Vec<(&'static str, &mut TraceFile)> {
        vec![("file", &mut self.file)]
    }

    fn is_traced(&self) -> bool {
        true
    }

    fn problems(&self) -> Vec<YamlProblem> {
        let is_packed = self.file.path.extension().is_some_and(|ending| ending == "zip");
        let problem = || {
            YamlProblem::value(Path::default().key("file"), "ants do not live in a zip")
                .hint("unpack it")
        };
        is_packed.then(problem).into_iter().collect()
    }
}

/// Returns a registry with the format, which one line adds.
fn registry() -> Registry {
    let mut registry = mumakil::registry();
    registry.add_format(&ANTS).add_source::<AntJobs>();
    registry
}

const TRACE: &str = "ant-1 at 30: 12 x 45\nant-2 at 90: 3 x 10\n";
const BLOCK: Bytes = Bytes::from_mib(64);

fn trace_in(room: &Room) -> PathBuf {
    room.write("ants.txt", TRACE);
    room.path("ants.txt")
}

fn written(trace: &Trace) -> String {
    let mut text = Vec::new();
    trace.write_to(&mut text).unwrap();
    String::from_utf8(text).unwrap()
}

fn scenario(room: &Room, options: &str) -> Result<Scenario, String> {
    let text = format!("cluster: {{nodes: 5}}\nworkload: {{ants: {options}}}\n");
    let name = room.path("ants.yaml").display().to_string();
    let loaded = scenario::parse(&name, &text, &[], &registry());
    loaded.map(|loaded| loaded.scenario).map_err(|error| error.to_string())
}

#[test]
fn a_format_of_ones_own_is_recognised_and_read() {
    let room = Room::new();
    let path = trace_in(&room);
    let registry = registry();
    assert_eq!(registry.formats().recognise(&path).unwrap().name, "ants");
    let trace = Trace::read(&path, BLOCK, Strictness::Strict, registry.formats()).unwrap();
    let jobs = trace.entries(BLOCK);
    assert_eq!(
        jobs.iter().map(|job| job.maps.map(Count::get)).collect::<Vec<_>>(),
        [Some(12), Some(3)]
    );
    assert_eq!(written(&trace), TRACE);
}

#[test]
fn a_format_of_ones_own_is_converted_from_and_to() {
    let room = Room::new();
    let (path, registry) = (trace_in(&room), registry());
    let target = |key: &str| registry.formats().written_as(key).unwrap();
    let ants = Trace::read(&path, BLOCK, Strictness::Strict, registry.formats()).unwrap();
    let jobs = PackedJobs::of(&ants.entries(BLOCK), BLOCK);
    let (mut table, mut back) = (Vec::new(), Vec::new());
    convert(&jobs, target("csv"), &mut table).unwrap();
    assert_eq!(table, b"name,submit,maps,map_time\nant-1,30s,12,45s\nant-2,90s,3,10s\n");
    let lost = convert(&jobs, target("ants"), &mut back).unwrap();
    assert_eq!((String::from_utf8(back).unwrap(), lost.len()), (TRACE.to_owned(), 0));
}

#[test]
fn a_format_of_ones_own_is_a_workload() {
    let room = Room::new();
    trace_in(&room);
    let scenario = scenario(&room, "{file: ants.txt}").unwrap();
    assert!(scenario.to_yaml().contains("  ants:\n    file: ants.txt\n    lenient: false\n"));
    assert_eq!(scenario.class_of(2, 0), Some("small"), "a trace has classes by size");
    let prepared = Prepared::new(scenario.clone(), &registry()).unwrap();
    assert!(prepared.scenario.to_yaml().contains("sha256"), "the resolved scenario has the hash");
    let run = emulate(&scenario, &registry(), Options::default()).unwrap();
    assert_eq!(run.summary.jobs_succeeded, 2);
}

#[test]
fn the_options_of_a_workload_of_ones_own_are_checked_and_described() {
    let room = Room::new();
    let error = scenario(&room, "{fiel: ants.txt}").unwrap_err();
    assert!(error.contains("unknown field `fiel`"), "{error}");
    assert!(error.contains("ants.yaml:2:19   workload.ants.fiel"), "{error}");
    assert!(error.contains("did you mean `file`?"), "{error}");
    let error = scenario(&room, "{file: ants.zip}").unwrap_err();
    assert!(error.starts_with("ants do not live in a zip\n"), "{error}");
    assert!(error.contains("ants.yaml:2:25   workload.ants.file"), "{error}");
    assert!(error.contains("^ unpack it"), "{error}");
    let workload = &scenario::schema(&registry())["properties"]["workload"]["anyOf"][1];
    let about = &workload["properties"]["ants"]["description"];
    assert_eq!(about.as_str(), Some("Jobs of ants."));
}

#[test]
fn a_broken_file_of_ones_own_says_where_it_is_broken() {
    let room = Room::new();
    room.write("ants.txt", "ant-1 at 30: 12 x 45\nant-2 at noon\n");
    let path = room.path("ants.txt");
    let read = |strictness| Trace::read(&path, BLOCK, strictness, registry().formats());
    let error = read(Strictness::Strict).unwrap_err().to_string();
    assert!(error.ends_with("ants.txt:2: no ant\n  hint: write `NAME at 30: 12 x 45`"), "{error}");
    assert_eq!(read(Strictness::Lenient).unwrap().skipped.count, 1);
    fs::write(&path, "bee\n").unwrap();
    let error = read(Strictness::Strict).unwrap_err().to_string();
    assert!(error.ends_with(", and ants (`NAME at 30: 12 x 45`)"), "{error}");
}
