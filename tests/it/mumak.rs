//! Mumak's model beside Mumak itself: its own sample of 19 jobs on 1,545 trackers, under FIFO.
//!
//! The figures are Mumak's, over ten seeds. Prints a table, job by job:
//! `cargo test --release --test it mumak -- --nocapture`.

#![expect(clippy::print_stdout, reason = "the table is read by people")]

use std::collections::BTreeMap;
use std::path::Path;
use std::thread;

use mumakil::emulation::{Options, emulate};
use mumakil::scenario::{self, Registry};

/// What Mumak says of a job.
struct Row {
    /// The end of its id.
    job: &'static str,
    succeeds: bool,
    /// Milliseconds from its submission to its end: the mean and the range over ten seeds.
    mean: f64,
    range: (f64, f64),
}

const fn row(job: &'static str, succeeds: bool, mean: u32, least: u32, most: u32) -> Row {
    Row { job, succeeds, mean: mean as f64, range: (least as f64, most as f64) }
}

const MUMAK: [Row; 19] = [
    row("0002", true, 41_097, 38_999, 42_017),
    row("0003", true, 25_196, 23_994, 27_004),
    row("0004", true, 250_669, 234_200, 255_044),
    row("0005", true, 187_726, 185_931, 188_941),
    row("0006", true, 163_165, 161_930, 164_996),
    row("0007", false, 187_216, 99_625, 256_137),
    row("0008", false, 207_196, 194_823, 223_609),
    row("0009", true, 163_367, 157_191, 166_879),
    row("0010", true, 5_833_364, 5_833_052, 5_833_710),
    row("0011", true, 3_332_124, 3_331_850, 3_332_458),
    row("0012", false, 79_942, 79_880, 79_984),
    row("0013", true, 67_076, 66_102, 69_132),
    row("0014", true, 2_525_411, 2_523_146, 2_525_869),
    row("0015", true, 2_476_070, 2_475_218, 2_476_823),
    row("0016", true, 3_209_820, 3_207_289, 3_210_612),
    row("0017", true, 2_496_521, 2_496_114, 2_496_906),
    row("0018", false, 87_404, 86_467, 88_784),
    row("0019", true, 4_507_072, 4_506_601, 4_507_657),
    row("0020", false, 84_486, 79_552, 88_843),
];

/// Jobs whose length is that of attempts that the trace does not have, with which ones. Their times
/// are drawn from the job's distributions. Mumak draws them with the same seed in every run, so its
/// range says nothing of how they vary.
const DRAWN: [(&str, &str); 3] = [
    ("0006", "reduces 0 and 11, whose first attempts were killed"),
    ("0012", "reduce 485, whose third attempt has no start"),
    ("0020", "reduce 72, whose attempts have no start"),
];

/// One heartbeat interval, by which a range may be missed.
const INTERVAL: f64 = 3_000.0;

/// Returns how long each job ran, and whether it succeeded.
fn run(traces: &Path, seed: u64) -> BTreeMap<String, (f64, bool)> {
    let trace = |name: &str| traces.join(name).display().to_string();
    let yaml = format!(
        "hadoop: mumak\ncluster: mumak\nseed: {seed}\nworkload:\n  rumen:\n    trace: {:?}\n    \
         topology: {:?}\n",
        trace("19-jobs.trace.json.gz"),
        trace("19-jobs.topology.json.gz"),
    );
    let registry = Registry::builtin();
    let scenario = scenario::parse("mumak", &yaml, &[], &registry).unwrap().scenario;
    let folder = tempfile::tempdir().unwrap();
    let folder_path = Some(folder.path().to_owned());
    let options = Options { folder: folder_path, verify: true, ..Options::default() };
    let run = emulate(&scenario, &registry, options).unwrap();
    assert!(run.verifier.unwrap().violations().is_empty());
    let mut jobs = csv::Reader::from_path(folder.path().join("jobs.csv")).unwrap();
    let columns = jobs.headers().unwrap().clone();
    let of = |record: &csv::StringRecord, column: &str| {
        record[columns.iter().position(|name| name == column).unwrap()].to_owned()
    };
    jobs.records()
        .map(|record| {
            let record = record.unwrap();
            let millis = |column| of(&record, column).parse::<f64>().unwrap();
            let ran = millis("finish_ms") - millis("submit_ms");
            let name = of(&record, "name");
            (name[name.len() - 4..].to_owned(), (ran, of(&record, "outcome") == "succeeded"))
        })
        .collect()
}

#[test]
fn jobs_run_as_long_as_in_mumak() {
    let Some(traces) = crate::traces::real("rumen") else { return };
    let seeds: Vec<u64> = (1..=if cfg!(debug_assertions) { 2 } else { 10 }).collect();
    let runs: Vec<BTreeMap<String, (f64, bool)>> = thread::scope(|scope| {
        let halves: Vec<_> = seeds
            .chunks(seeds.len().div_ceil(2))
            .map(|half| scope.spawn(|| half.iter().map(|s| run(&traces, *s)).collect::<Vec<_>>()))
            .collect();
        halves.into_iter().flat_map(|half| half.join().unwrap()).collect()
    });

    println!("job   Mumak, s (range)                      here, s (range)           difference");
    let (mut differences, mut outside) = (Vec::new(), Vec::new());
    for Row { job, succeeds, mean, range } in MUMAK {
        let here: Vec<(f64, bool)> = runs.iter().map(|run| run[job]).collect();
        assert!(here.iter().all(|(_, well)| *well == succeeds), "job {job} ends otherwise");
        let spans: Vec<f64> = here.iter().map(|(span, _)| *span).collect();
        let ours = spans.iter().sum::<f64>() / spans.len() as f64;
        let least = spans.iter().copied().fold(f64::INFINITY, f64::min);
        let most = spans.iter().copied().fold(0.0, f64::max);
        let difference = ours / mean - 1.0;
        let drawn = DRAWN.iter().find(|(other, _)| *other == job);
        println!(
            "{job}  {:8.1} ({:8.1} to {:8.1})   {:8.1} ({:8.1} to {:8.1})  {:+6.2} %  {}",
            mean / 1e3,
            range.0 / 1e3,
            range.1 / 1e3,
            ours / 1e3,
            least / 1e3,
            most / 1e3,
            difference * 100.0,
            drawn.map_or(String::new(), |(_, why)| format!("drawn: {why}")),
        );
        differences.push(difference.abs());
        let fits = range.0 - INTERVAL <= ours && ours <= range.1 + INTERVAL;
        if !fits && drawn.is_none() {
            outside.push(job);
        }
    }
    let mean = differences.iter().sum::<f64>() / differences.len() as f64;
    println!("mean absolute difference {:.2} %, {} seeds", mean * 100.0, seeds.len());
    assert!(outside.is_empty(), "outside of Mumak's range: {outside:?}");
    if !cfg!(debug_assertions) {
        assert!(mean <= 0.02, "{mean}");
    }
}
