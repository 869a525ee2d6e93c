//! Trace files: random bytes, and real traces.
//!
//! Real traces are not part of the repository: `MUMAKIL_TRACES` names a folder with traces of SWIM
//! in `swim/*.tsv` and traces of Rumen in `rumen/*.gz`.

use std::fmt::Debug;
use std::fs;
use std::io::{self, Cursor};
use std::path::{Path, PathBuf};

use mumakil::emulation::Prepared;
use mumakil::random::{Purpose, stream};
use mumakil::scenario;
use mumakil::trace::{Record, Records, Strictness};
use mumakil::traces::rumen::{LoggedJob, LoggedTopology};
use mumakil::traces::swim::SwimJob;
use mumakil::workload::format::TraceJob;
use proptest::prelude::*;
use rand::{Rng, RngExt};

use crate::{Room, files, root};

#[path = "../fuzz/exercise.rs"]
pub(crate) mod exercise;

/// Reads bytes in each format.
fn exercise_all(bytes: &[u8]) {
    exercise::swim(bytes);
    exercise::rumen(bytes);
    exercise::topology(bytes);
    exercise::sls(bytes);
    exercise::list(bytes);
    exercise::batch(bytes);
    exercise::scenario(bytes);
    exercise::set(bytes);
    exercise::expression(bytes);
    exercise::allocations(bytes);
}

/// Returns the seeds of the fuzzer, and the inputs that it has found: those of one target, or of all
/// (`""`).
pub(crate) fn seeds(target: &str) -> Vec<Vec<u8>> {
    let folder = root().join("tests/fuzz/seeds").join(target);
    files(&folder).iter().map(|file| fs::read(folder.join(file)).unwrap()).collect()
}

#[test]
fn every_seed_of_the_fuzzer_is_read_or_refused() {
    assert!(!seeds("").is_empty());
    for seed in seeds("") {
        exercise_all(&seed);
    }
    seeds("study").iter().for_each(|seed| exercise::folders::study(seed));
    seeds("pack").iter().for_each(|seed| exercise::folders::pack(seed));
}

/// A change of a seed: a piece of it is replaced.
#[derive(Clone, Debug)]
pub(crate) struct Mutation {
    at: prop::sample::Index,
    removed: usize,
    added: Vec<u8>,
}

pub(crate) fn mutation() -> impl Strategy<Value = Mutation> {
    // Draw more often the bytes that have a meaning in the formats.
    let byte =
        prop_oneof![prop::sample::select(b"{}[]\",:\\\t\n-019eE.\0\xff".to_vec()), any::<u8>()];
    let added = prop::collection::vec(byte, 0..4);
    (any::<prop::sample::Index>(), 0..8_usize, added).prop_map(|(at, removed, added)| Mutation {
        at,
        removed,
        added,
    })
}

/// Returns a seed with changes.
pub(crate) fn mutated(mut bytes: Vec<u8>, mutations: Vec<Mutation>) -> Vec<u8> {
    for Mutation { at, removed, added } in mutations {
        let start = at.index(bytes.len() + 1);
        let end = (start + removed).min(bytes.len());
        bytes.splice(start..end, added);
    }
    bytes
}

proptest! {
    #[test]
    fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..500)) {
        exercise_all(&bytes);
    }

    #[test]
    fn a_trace_with_mistakes_is_read_or_refused(
        seed in prop::sample::select(seeds("")),
        mutations in prop::collection::vec(mutation(), 1..6),
    ) {
        exercise_all(&mutated(seed, mutations));
    }
}

/// A trace that is damaged as happens to files: a piece is cut off or out, lines are lost, doubled or
/// moved, a number is another one.
pub(crate) fn damaged(bytes: &[u8], rng: &mut impl Rng) -> Vec<u8> {
    let mut lines: Vec<Vec<u8>> =
        bytes.split_inclusive(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect();
    for _ in 0..rng.random_range(1..4) {
        if lines.is_empty() {
            break;
        }
        let (at, other) = (rng.random_range(0..lines.len()), rng.random_range(0..lines.len()));
        match rng.random_range(0..7) {
            0 => drop(lines.remove(at)),
            1 => lines.insert(other, lines[at].clone()),
            2 => lines.swap(at, other),
            3 => lines.truncate(at),
            kind => {
                let line = &mut lines[at];
                let [one, two] = [0; 2].map(|_| rng.random_range(0..=line.len()));
                let (from, to) = (one.min(two), one.max(two));
                match kind {
                    // The rest of a line is lost, with its end or without.
                    4 => line.truncate(from),
                    5 => drop(line.drain(from..to)),
                    _ => replace_number(line, from, rng),
                }
            }
        }
    }
    lines.concat()
}

/// Replaces the first number of a line after a place.
fn replace_number(line: &mut Vec<u8>, from: usize, rng: &mut impl Rng) {
    const NUMBERS: [&str; 9] =
        ["0", "-1", "1", "4294967296", "9223372036854775807", "1e300", "0.5", "-0", ""];
    let Some(begin) = line[from..].iter().position(u8::is_ascii_digit) else { return };
    let begin = from + begin;
    let digits = line[begin..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    let number = NUMBERS[rng.random_range(0..NUMBERS.len())];
    line.splice(begin..begin + digits, number.bytes());
}

/// Names a case if the test panics in it.
struct DamagedCase(u64, usize);

impl Drop for DamagedCase {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("case {} of a damaged trace, of seed {}", self.0, self.1);
        }
    }
}

/// `MUMAKIL_CASES` sets the number of cases.
#[test]
fn damaged_traces_are_read_as_far_as_they_go_or_refused() {
    let cases = std::env::var("MUMAKIL_CASES").map_or(200, |cases| cases.parse().unwrap());
    let kinds = ["log", "rumen", "sls", "swim", "batch", "list", "topology"];
    let seeds: Vec<Vec<u8>> = kinds.iter().flat_map(|kind| seeds(kind)).collect();
    for case in 0..cases {
        let seed = case as usize % seeds.len();
        let _named = DamagedCase(case, seed);
        let mut rng = stream(case, Purpose::Workload, 0);
        exercise::inspect_and_convert(&damaged(&seeds[seed], &mut rng));
    }
}

proptest! {
    // A case reads a whole study; the fuzzer tries more.
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn edited_results_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 6..200)) {
        exercise::folders::study(&bytes);
        exercise::folders::pack(&bytes);
    }
}

/// Returns a folder of real traces; `None` if there is none.
pub(crate) fn real(folder: &str) -> Option<PathBuf> {
    let traces = std::env::var_os("MUMAKIL_TRACES");
    if traces.is_none() {
        eprintln!("skipped: MUMAKIL_TRACES names no folder with real traces");
    }
    Some(PathBuf::from(traces?).join(folder))
}

/// Rumen's `Folder` writes jobs out of order, and ids twice.
fn allow_folded<T: Record>(pass: &mut Records<T>) {
    pass.allow_unordered();
    pass.allow_repeated_ids();
}

fn read<T: Record>(path: &Path) -> (Vec<T>, Records<T>) {
    let mut pass = Records::open(path, Strictness::Strict).unwrap();
    allow_folded(&mut pass);
    let records = pass.by_ref().map(|record| record.unwrap_or_else(|error| panic!("{error}")));
    (records.collect(), pass)
}

/// Writes records, reads them back, and returns the text.
fn rewrite<T: Record + PartialEq + Debug>(
    records: &[T],
    write: fn(&T, &mut Vec<u8>) -> io::Result<()>,
) -> Vec<u8> {
    let mut text = Vec::new();
    for record in records {
        write(record, &mut text).unwrap();
    }
    let copy = Cursor::new(text.clone());
    let mut pass = Records::from_reader("copy", copy, Strictness::Strict).unwrap();
    allow_folded(&mut pass);
    let copies: Vec<T> = pass.map(Result::unwrap).collect();
    assert!(copies == records, "what was written does not read back the same");
    text
}

#[test]
fn real_traces_of_swim_are_read_and_written_byte_for_byte() {
    let Some(folder) = real("swim") else { return };
    for name in files(&folder).iter().filter(|name| name.ends_with(".tsv")) {
        let path = folder.join(name);
        assert_eq!(mumakil::traces::formats().recognise(&path).unwrap().name, "SWIM");
        let (jobs, pass) = read::<SwimJob>(&path);
        let expected = match name.as_str() {
            "FB-2009_samples_24_times_1hr_0.tsv" => 5_894,
            "FB-2010_samples_24_times_1hr_0.tsv" => 24_442,
            _ => jobs.len(),
        };
        assert_eq!(jobs.len(), expected, "{name}");
        assert!(pass.sha256().is_some());
        let written = rewrite(&jobs, |job, to| job.write_to(to));
        assert!(written == fs::read(&path).unwrap(), "{name}");
    }
}

#[test]
fn real_traces_of_rumen_are_read_and_written() {
    let Some(folder) = real("rumen") else { return };
    for name in files(&folder).iter().filter(|name| name.ends_with(".gz")) {
        let path = folder.join(name);
        if mumakil::traces::formats().recognise(&path).unwrap().name == "Rumen's topology" {
            let (topology, _) = read::<LoggedTopology>(&path);
            let racks = &topology[0].children;
            let nodes: usize = racks.iter().map(|rack| rack.children.len()).sum();
            assert_eq!((racks.len(), nodes), (41, 1_545), "{name}");
            rewrite(&topology, |root, to| root.write_to(to));
            continue;
        }
        let (jobs, pass) = read::<LoggedJob>(&path);
        let tasks: usize = jobs.iter().map(|job| job.map_tasks.len()).sum();
        let expected = match name.as_str() {
            "19-jobs.trace.json.gz" => (19, 8_573),
            "gridmix-trace_1m.json.gz" => (5, 42),
            "wordcount.json.gz" => (1, 3),
            _ => (jobs.len(), tasks),
        };
        assert_eq!((jobs.len(), tasks), expected, "{name}");
        assert_eq!(pass.notes().unknown.count, 0, "{name}: {:?}", pass.notes().unknown);
        rewrite(&jobs, |job, to| job.write_to(to));
    }
}

/// Returns a scenario with a real trace and these options, on this many nodes with blocks of 128
/// MiB.
fn scenario_of(trace: &Path, nodes: u32, options: &str) -> String {
    let trace = trace.display();
    format!(
        "cluster: {{nodes: {nodes}, map_slots: 5, reduce_slots: 3, hdfs: {{block: 128MiB}}}}\n\
         workload: {{swim: {{file: {trace}{options}}}}}\n"
    )
}

#[test]
fn real_traces_of_swim_have_a_map_for_each_block() {
    let Some(folder) = real("swim") else { return };
    for (name, expected) in [
        ("FB-2009_samples_24_times_1hr_0.tsv", 205_713),
        ("FB-2010_samples_24_times_1hr_0.tsv", 8_084_865),
    ] {
        let text = scenario_of(&folder.join(name), 600, "");
        let registry = mumakil::registry();
        let loaded = scenario::parse("test.yaml", &text, &[], &registry).unwrap();
        let workload = Prepared::new(loaded.scenario, &registry).unwrap().workload;
        let maps: u64 = workload.arrivals.iter().map(|job| u64::from(job.spec.maps)).sum();
        assert_eq!(maps, expected, "{name}");
    }
}

#[test]
fn every_real_trace_can_be_inspected() {
    for (kind, ending) in [("swim", ".tsv"), ("rumen", ".gz")] {
        let Some(folder) = real(kind) else { return };
        for name in files(&folder).iter().filter(|name| name.ends_with(ending)) {
            let room = Room::new();
            let output = room.mumakil("trace inspect").arg(folder.join(name)).output().unwrap();
            assert_eq!(output.status.code(), Some(0), "{name}: {output:?}");
            let text = String::from_utf8(output.stdout).unwrap();
            assert!(text.lines().skip(1).all(|line| line.chars().count() <= 80), "{text}");
        }
    }
}

#[test]
fn an_hour_of_a_real_trace_runs_to_its_end() {
    let Some(folder) = real("swim") else { return };
    let trace = folder.join("FB-2009_samples_24_times_1hr_0.tsv");
    let room = Room::new();
    room.write("hour.yaml", &scenario_of(&trace, 600, ", window: {to: 1h}"));
    room.mumakil("run hour.yaml").assert().success();
}

#[test]
fn a_real_trace_goes_through_a_list_and_back() {
    let Some(folder) = real("swim") else { return };
    let trace = folder.join("FB-2009_samples_24_times_1hr_0_first50jobs.tsv");
    let room = Room::new();
    for own in ["csv", "yaml"] {
        let (list, back) = (format!("list.{own}"), format!("{own}.tsv"));
        let arguments = format!("trace convert {} --to {own} -o {list}", trace.display());
        room.mumakil(&arguments).assert().success();
        room.mumakil(&format!("trace convert {list} --to swim -o {back}")).assert().success();
        assert_eq!(fs::read(room.path(&back)).unwrap(), fs::read(&trace).unwrap());
    }
}
