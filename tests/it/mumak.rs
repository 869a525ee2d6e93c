//! Mumak's model beside Mumak itself: its own sample of 19 jobs on 1,545 trackers, under FIFO.
//!
//! The figures are Mumak's, over ten seeds. Prints two tables, job by job:
//! `cargo test --release --test it mumak -- --nocapture`.
//!
//! How near maps ran to their input counts all launches, as Mumak does. `jobs.csv` has those alone
//! that succeeded.

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
    /// The ranges of how many of its maps were launched on a node of their input, in a rack of it
    /// and elsewhere.
    maps: [(u32, u32); 3],
}

const fn row(
    job: &'static str,
    succeeds: bool,
    mean: u32,
    (least, most): (u32, u32),
    maps: [(u32, u32); 3],
) -> Row {
    Row { job, succeeds, mean: mean as f64, range: (least as f64, most as f64), maps }
}

const MUMAK: [Row; 19] = [
    row("0002", true, 41_097, (38_999, 42_017), [(0, 2), (4, 10), (9, 17)]),
    row("0003", true, 25_196, (23_994, 27_004), [(0, 0), (0, 2), (1, 3)]),
    row("0004", true, 250_669, (234_200, 255_044), [(12, 22), (77, 92), (28, 40)]),
    row("0005", true, 187_726, (185_931, 188_941), [(0, 1), (2, 11), (10, 19)]),
    row("0006", true, 163_165, (161_930, 164_996), [(0, 2), (14, 23), (13, 22)]),
    row("0007", false, 187_216, (99_625, 256_137), [(2_351, 2_443), (1_399, 1_518), (164, 397)]),
    row("0008", false, 207_196, (194_823, 223_609), [(2_435, 2_480), (755, 802), (72, 90)]),
    row("0009", true, 163_367, (157_191, 166_879), [(6, 16), (59, 68), (33, 45)]),
    row("0010", true, 5_833_364, (5_833_052, 5_833_710), [(0, 0), (0, 0), (1, 1)]),
    row("0011", true, 3_332_124, (3_331_850, 3_332_458), [(0, 0), (0, 0), (509, 509)]),
    row("0012", false, 79_942, (79_880, 79_984), [(0, 0), (0, 0), (1, 1)]),
    row("0013", true, 67_076, (66_102, 69_132), [(0, 2), (5, 10), (11, 17)]),
    row("0014", true, 2_525_411, (2_523_146, 2_525_869), [(0, 0), (0, 0), (1, 1)]),
    row("0015", true, 2_476_070, (2_475_218, 2_476_823), [(0, 0), (0, 0), (2, 2)]),
    row("0016", true, 3_209_820, (3_207_289, 3_210_612), [(0, 0), (0, 0), (524, 524)]),
    row("0017", true, 2_496_521, (2_496_114, 2_496_906), [(0, 0), (0, 0), (1, 1)]),
    row("0018", false, 87_404, (86_467, 88_784), [(0, 0), (0, 0), (536, 555)]),
    row("0019", true, 4_507_072, (4_506_601, 4_507_657), [(0, 0), (0, 0), (1, 1)]),
    row("0020", false, 84_486, (79_552, 88_843), [(73, 93), (191, 227), (26, 52)]),
];

/// Jobs whose length is that of attempts that the trace does not have, with which ones. Their times
/// are drawn from the job's distributions. Mumak draws them with the same seed in every run, so its
/// range says nothing of how they vary; here it is taken this much wider, as a share of the mean. Of
/// 0012 hardly more than that one draw is left: over ten seeds it ends after 41 s to 164 s.
const DRAWN: [(&str, f64, &str); 3] = [
    ("0006", 0.05, "reduces 0 and 11, whose first attempts were killed"),
    ("0012", 0.2, "reduce 485, whose third attempt has no start"),
    ("0020", 0.05, "reduce 72, whose attempts have no start"),
];

/// One heartbeat interval, by which a range may be missed.
const INTERVAL: f64 = 3_000.0;

/// How a job went.
#[derive(Default)]
struct Ran {
    millis: f64,
    succeeded: bool,
    /// How many maps were launched at each distance from their input.
    maps: [u32; 3],
}

/// Returns the rows of a table of a run, each with a function that finds its columns.
fn rows(table: &Path) -> impl Iterator<Item = impl Fn(&str) -> String> {
    let mut table = csv::Reader::from_path(table).unwrap();
    let columns = table.headers().unwrap().clone();
    table.into_records().map(move |record| {
        let (record, columns) = (record.unwrap(), columns.clone());
        move |column: &str| {
            record[columns.iter().position(|name| name == column).unwrap()].to_owned()
        }
    })
}

/// Returns how each job went, by the end of its name.
fn run(traces: &Path, seed: u64) -> BTreeMap<String, Ran> {
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
    let mut ran: Vec<(String, Ran)> = rows(&folder.path().join("jobs.csv"))
        .map(|of| {
            let millis = |column| of(column).parse::<f64>().unwrap();
            let (name, succeeded) = (of("name"), of("outcome") == "succeeded");
            let millis = millis("finish_ms") - millis("submit_ms");
            (name[name.len() - 4..].to_owned(), Ran { millis, succeeded, ..Ran::default() })
        })
        .collect();
    for of in rows(&folder.path().join("tasks.csv")).filter(|of| of("kind") == "map") {
        let distances = ["node", "rack", "off_rack"];
        let distance = distances.iter().position(|word| *word == of("locality"));
        let (_, job) = &mut ran[of("job").parse::<usize>().unwrap()];
        job.maps[distance.unwrap_or(2)] += 1;
    }
    ran.into_iter().collect()
}

/// Returns the mean, the least and the most.
fn spread(values: &[f64]) -> (f64, f64, f64) {
    let least = values.iter().copied().fold(f64::INFINITY, f64::min);
    let most = values.iter().copied().fold(0.0, f64::max);
    (values.iter().sum::<f64>() / values.len() as f64, least, most)
}

#[test]
fn jobs_run_as_long_and_as_near_to_their_input_as_in_mumak() {
    let Some(traces) = crate::traces::real("rumen") else { return };
    let seeds: Vec<u64> = (1..=if cfg!(debug_assertions) { 2 } else { 10 }).collect();
    let runs: Vec<BTreeMap<String, Ran>> = thread::scope(|scope| {
        let halves: Vec<_> = seeds
            .chunks(seeds.len().div_ceil(2))
            .map(|half| scope.spawn(|| half.iter().map(|s| run(&traces, *s)).collect::<Vec<_>>()))
            .collect();
        halves.into_iter().flat_map(|half| half.join().unwrap()).collect()
    });

    println!("job   Mumak, s (range)                      here, s (range)           difference");
    let (mut differences, mut outside) = (Vec::new(), Vec::new());
    for Row { job, succeeds, mean, range, .. } in MUMAK {
        assert!(runs.iter().all(|run| run[job].succeeded == succeeds), "job {job} ends otherwise");
        let spans: Vec<f64> = runs.iter().map(|run| run[job].millis).collect();
        let (ours, least, most) = spread(&spans);
        let difference = ours / mean - 1.0;
        let drawn = DRAWN.iter().find(|(other, ..)| *other == job);
        println!(
            "{job}  {:8.1} ({:8.1} to {:8.1})   {:8.1} ({:8.1} to {:8.1})  {:+6.2} %  {}",
            mean / 1e3,
            range.0 / 1e3,
            range.1 / 1e3,
            ours / 1e3,
            least / 1e3,
            most / 1e3,
            difference * 100.0,
            drawn.map_or(String::new(), |(_, _, why)| format!("drawn: {why}")),
        );
        differences.push(difference.abs());
        let slack = INTERVAL + drawn.map_or(0.0, |(_, share, _)| share * mean);
        if ours < range.0 - slack || range.1 + slack < ours {
            outside.push(job);
        }
    }
    let mean = differences.iter().sum::<f64>() / differences.len() as f64;
    println!("mean absolute difference {:.2} %, {} seeds", mean * 100.0, seeds.len());

    println!("\njob   maps launched on a node of their input, in a rack of it, elsewhere");
    println!("      Mumak                                   here, on average");
    let mut farther = Vec::new();
    for Row { job, maps, .. } in MUMAK {
        let of = |distance: usize| -> Vec<f64> {
            runs.iter().map(|run| f64::from(run[job].maps[distance])).collect()
        };
        let ours = [0, 1, 2].map(|distance| spread(&of(distance)).0);
        let theirs = maps.map(|(least, most)| format!("{least} to {most}"));
        println!(
            "{job}  {:<38}  {:.1}   {:.1}   {:.1}",
            theirs.join("   "),
            ours[0],
            ours[1],
            ours[2]
        );
        let fits = |((least, most), ours): (&(u32, u32), &f64)| {
            (f64::from(*least)..=f64::from(*most)).contains(ours)
        };
        if !maps.iter().zip(&ours).all(fits) {
            farther.push(job);
        }
    }
    assert!(outside.is_empty(), "outside of Mumak's range: {outside:?}");
    // Two seeds are too few for these.
    if !cfg!(debug_assertions) {
        assert!(mean <= 0.02, "{mean}");
        assert!(farther.is_empty(), "maps ran nearer or farther than in Mumak: {farther:?}");
    }
}
