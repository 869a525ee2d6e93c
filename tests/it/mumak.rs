//! Compares the emulation of Mumak's model with Mumak itself, to the millisecond.
//!
//! Some tests run a few jobs on one tracker, and expect times that were computed by hand from
//! Mumak's rules and random numbers. One test runs Mumak's own sample of 19 jobs on 1,545 trackers
//! under FIFO, over ten seeds, and expects the numbers that Mumak printed. `cargo test --release
//! --test it mumak -- --nocapture` prints a table of both.
//!
//! Here locality counts all launches, as in Mumak; `jobs.csv` counts only successful attempts.

#![expect(clippy::print_stdout, reason = "the table is read by people")]

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::thread;

use mumakil::emulation::{Options, emulate};
use mumakil::scenario;

/// Mumak's result for a job.
struct Row {
    /// The last digits of the job's id.
    job: &'static str,
    succeeds: bool,
    /// Milliseconds from submission to end: the mean and the range over ten seeds.
    mean: f64,
    range: (f64, f64),
    /// The ranges of three numbers: maps launched on a node with their input, in a rack with their
    /// input, and elsewhere.
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

/// The emulated result of a job.
#[derive(Default)]
struct Ran {
    millis: f64,
    succeeded: bool,
    /// The numbers of maps launched at each distance from their input.
    maps: [u32; 3],
}

/// Returns the rows of a run's table, each as a function from a column's name to its value.
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

/// Runs a trace in Mumak's model; returns the folder of its results.
fn emulated(trace: &Path, topology: &Path, seed: u64, sets: &[&str]) -> tempfile::TempDir {
    let [trace, topology] = [trace, topology].map(|path| path.display().to_string());
    let yaml = format!(
        "hadoop: mumak\nseed: {seed}\nworkload: {{rumen: {{trace: {trace:?}, topology: \
         {topology:?}}}}}"
    );
    let registry = mumakil::registry();
    let sets: Vec<String> = sets.iter().map(|set| (*set).to_owned()).collect();
    let scenario = scenario::parse("mumak", &yaml, &sets, &registry).unwrap().scenario;
    let folder = tempfile::tempdir().unwrap();
    let folder_path = Some(folder.path().to_owned());
    let options = Options { folder: folder_path, verify: true, ..Options::default() };
    let run = emulate(&scenario, &registry, options).unwrap();
    assert!(run.verifier.unwrap().violations().is_empty());
    folder
}

/// Returns the result of each job of the sample, by the end of its name.
fn run(traces: &Path, seed: u64) -> BTreeMap<String, Ran> {
    let [trace, topology] = ["trace", "topology"].map(|what| format!("19-jobs.{what}.json.gz"));
    let folder = emulated(&traces.join(trace), &traces.join(topology), seed, &[]);
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

/// Returns the mean, the smallest and the largest value.
fn spread(values: &[f64]) -> (f64, f64, f64) {
    let least = values.iter().copied().fold(f64::INFINITY, f64::min);
    let most = values.iter().copied().fold(0.0, f64::max);
    (values.iter().sum::<f64>() / values.len() as f64, least, most)
}

/// The first map ends in the same millisecond as a heartbeat. The second map's attempt was killed
/// in the trace, so its outcome is drawn at random. The map of the second job fails, so the length
/// of its next attempt is drawn at random.
const TWO_JOBS: &str = r#"
    {"jobID": "job_1_0001", "user": "ann", "submitTime": 1000, "totalMaps": 2, "totalReduces": 1,
     "mapperTriesToSucceed": [0.5, 0.5],
     "successfulMapAttemptCDFs": [
       {"numberValues": 10, "minimum": 1000, "maximum": 5000, "rankings": []}],
     "mapTasks": [
       {"taskID": "task_1_0001_m_000000", "taskType": "MAP", "taskStatus": "SUCCESS",
        "preferredLocations": [{"layers": ["r0", "h0"]}], "attempts": [
          {"attemptID": "attempt_1_0001_m_000000_0", "result": "SUCCESS", "startTime": 10000,
           "finishTime": 12997, "hostName": "/r0/h0"}]},
       {"taskID": "task_1_0001_m_000001", "taskType": "MAP", "taskStatus": "SUCCESS",
        "preferredLocations": [{"layers": ["r0", "h0"]}], "attempts": [
          {"attemptID": "attempt_1_0001_m_000001_0", "result": "KILLED", "startTime": 10000,
           "finishTime": 10001, "hostName": "/r0/h0"}]}],
     "reduceTasks": [
       {"taskID": "task_1_0001_r_000000", "taskType": "REDUCE", "taskStatus": "SUCCESS", "attempts": [
          {"attemptID": "attempt_1_0001_r_000000_0", "result": "SUCCESS", "startTime": 10000,
           "shuffleFinished": 20000, "sortFinished": 20500, "finishTime": 22000}]}]}
    {"jobID": "job_1_0002", "user": "ann", "submitTime": 5000, "totalMaps": 1,
     "mapperTriesToSucceed": [0.5, 0.5],
     "successfulMapAttemptCDFs": [
       {"numberValues": 0, "rankings": []}, {"numberValues": 0, "rankings": []},
       {"numberValues": 0, "rankings": []},
       {"numberValues": 10, "minimum": 1000, "maximum": 9000,
        "rankings": [{"relativeRanking": 0.5, "datum": 2000}]}],
     "mapTasks": [
       {"taskID": "task_1_0002_m_000000", "taskType": "MAP", "taskStatus": "FAILED",
        "preferredLocations": [{"layers": ["r0", "h0"]}], "attempts": [
          {"attemptID": "attempt_1_0002_m_000000_0", "result": "FAILED", "startTime": 10000,
           "finishTime": 10500, "hostName": "/r0/h0"}]}]}
"#;

const ONE_HOST: &str = r#"{"name": "<root>", "children": [
    {"name": "r0", "children": [{"name": "h0", "children": null}]}]}"#;

/// With seed 42 the only tracker sends heartbeats at 103.902 s, 106.899, 109.902, 112.906, 115.904,
/// 118.911, 121.916. The second map succeeds (0.382 is below a half) and takes 1 s plus 0.0852 of 4
/// s. The second attempt of the failed map takes 1 s plus 0.2789 of 2 s, which is 1.557 s.
#[test]
fn two_jobs_end_when_mumaks_rules_say_so() {
    let folder = written(TWO_JOBS);
    let times = |set: &str| -> Vec<[u64; 3]> {
        let lives = lives(folder.path(), &[set]);
        lives.into_iter().map(|(_, life)| life.map(Option::unwrap)).collect()
    };
    // Both maps start at 103.902, and their ends are reported at 106.899. The reduce starts at that
    // instant. At 109.902 the tracker reports the reduce, which may then go on. The reduce ends 1.5
    // s later, and its end is reported at 112.906. The other job's map fails at 110.402, starts
    // again at 112.906, and its end is reported at 115.904.
    let first = [103_000, 103_902, 112_906];
    assert_eq!(times("scheduler=fifo"), [first, [107_000, 109_902, 115_904]]);
    // The fair scheduler's last update before the report of the first map was at 106.5 s. This
    // update counted no reduce, so the reduce starts only at 109.902.
    let fair = [[103_000, 103_902, 115_904], [107_000, 109_902, 115_904]];
    assert_eq!(times("scheduler=fair"), fair);
    // Jobs are initialised at 105 s and 110 s. A heartbeat launches one map: the heartbeat at
    // 106.899 launches the first map, and the heartbeat at 109.902 launches the second map and the
    // reduce.
    let capacity = [[103_000, 106_899, 115_904], [107_000, 112_906, 118_911]];
    assert_eq!(times("scheduler=capacity"), capacity);
    // There is only one tracker, so even in stress mode the second job is submitted only after the
    // end of the first job.
    for submission in ["serial", "stress"] {
        let times = times(&format!("workload.submission={submission}"));
        assert_eq!(times, [first, [112_907, 115_904, 121_916]], "{submission}");
    }
}

/// Writes a trace and a topology with one host; returns their folder.
fn written(trace: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("trace.json"), trace).unwrap();
    fs::write(folder.path().join("topology.json"), ONE_HOST).unwrap();
    folder
}

/// Returns the name, submission, first launch (if any) and end of each job, in a run with seed 42.
fn lives(folder: &Path, sets: &[&str]) -> Vec<(String, [Option<u64>; 3])> {
    let [trace, topology] = ["trace.json", "topology.json"].map(|name| folder.join(name));
    let out = emulated(&trace, &topology, 42, sets);
    let columns = ["submit_ms", "first_launch_ms", "finish_ms"];
    let of_job = |of: &dyn Fn(&str) -> String| {
        (of("name"), columns.map(|column| of(column).parse::<u64>().ok()))
    };
    rows(&out.path().join("jobs.csv")).map(|of| of_job(&of)).collect()
}

/// The same two jobs come after a job whose log has more maps than its `totalMaps`.
#[test]
fn a_job_whose_splits_cannot_be_read_is_submitted_and_fails_when_it_is_initialised() {
    let unreadable = r#"
    {"jobID": "job_1_0003", "user": "bob", "submitTime": 500, "totalMaps": 1, "mapTasks": [
       {"taskID": "task_1_0003_m_000000", "taskType": "MAP"},
       {"taskID": "task_1_0003_m_000001", "taskType": "MAP"}]}"#;
    let folder = written(&[unreadable, TWO_JOBS].concat());
    let times = |sets: &[&str]| lives(folder.path(), sets).into_iter().map(|life| life.1).collect();
    let life = |submit, launch, finish| [Some(submit), Some(launch), Some(finish)];
    let fails = |at| [Some(103_000), None, Some(at)];
    // Because of this job the other two jobs are submitted half a second later, but the same
    // heartbeats launch their tasks.
    let fifo = [life(103_500, 103_902, 112_906), life(107_500, 109_902, 115_904), fails(103_000)];
    let all: Vec<[Option<u64>; 3]> = times(&["scheduler=fifo"]);
    assert_eq!(all, fifo);
    let all: Vec<[Option<u64>; 3]> = times(&["scheduler=capacity"]);
    assert_eq!(all[2], fails(105_000), "it fails when it would be initialised");
    // The job ends at once, so the next job is submitted at once.
    for submission in ["serial", "stress"] {
        let all: Vec<_> = times(&[&format!("workload.submission={submission}")]);
        let [first, second] = [life(103_001, 103_902, 112_906), life(112_907, 115_904, 121_916)];
        assert_eq!(all, [first, second, fails(103_000)], "{submission}");
    }
}

fn job_of_a_second(id: &str, submit: u64) -> String {
    format!(
        r#"{{"jobID": "job_1_{id}", "user": "ann", "submitTime": {submit}, "totalMaps": 1, "mapTasks": [
            {{"taskID": "task_1_{id}_m_000000", "taskType": "MAP", "taskStatus": "SUCCESS",
              "preferredLocations": [{{"layers": ["r0", "h0"]}}], "attempts": [
                {{"attemptID": "attempt_1_{id}_m_000000_0", "result": "SUCCESS", "startTime": 10000,
                  "finishTime": 11000, "hostName": "/r0/h0"}}]}}]}}"#
    )
}

/// Two jobs are submitted in the same millisecond to a cluster with one slot. The job with the
/// lower number gets the slot, although it is the last job in the file. Mumak's fair scheduler
/// compares ids as texts: under it, 10000 is lower than 9999.
#[test]
fn of_jobs_submitted_in_one_millisecond_the_lower_id_goes_first() {
    let jobs = [job_of_a_second("10000", 5_000), job_of_a_second("9999", 5_000)];
    let folder = written(&jobs.concat());
    for (policy, first) in [("fifo", "9999"), ("capacity", "9999"), ("fair", "10000")] {
        let policy = format!("scheduler={policy}");
        let mut jobs = lives(folder.path(), &["cluster.map_slots=1", &policy]);
        jobs.sort_by_key(|(_, life)| life[1]);
        assert!(jobs[0].1[1] < jobs[1].1[1], "one job has to wait for the slot");
        assert_eq!(jobs[0].0, format!("job_1_{first}"), "{policy}");
    }
}

#[test]
fn one_after_another_and_under_stress_jobs_come_as_they_stand_in_the_file() {
    let jobs = [job_of_a_second("0002", 9_000), job_of_a_second("0001", 5_000)];
    let folder = written(&jobs.concat());
    for submission in ["serial", "stress"] {
        let jobs = lives(folder.path(), &[&format!("workload.submission={submission}")]);
        let submitted: Vec<_> = jobs.iter().map(|(name, life)| (&name[6..], life[0])).collect();
        // The first job's map is reported at 106.899.
        assert_eq!(submitted, [("0001", Some(106_900)), ("0002", Some(103_000))], "{submission}");
    }
}

#[test]
fn jobs_run_as_long_and_as_near_to_their_input_as_in_mumak() {
    let Some(traces) = crate::traces::real("rumen") else { return };
    // All ten seeds take too long in a debug build.
    let seeds: Vec<u64> = (1..=if cfg!(debug_assertions) { 2 } else { 10 }).collect();
    let runs: Vec<BTreeMap<String, Ran>> = thread::scope(|scope| {
        let halves: Vec<_> = seeds
            .chunks(seeds.len().div_ceil(2))
            .map(|half| scope.spawn(|| half.iter().map(|s| run(&traces, *s)).collect::<Vec<_>>()))
            .collect();
        halves.into_iter().flat_map(|half| half.join().unwrap()).collect()
    });
    println!(
        "job   mean, least and most, ms: Mumak                here    launches: Mumak and here"
    );
    let mut other = Vec::new();
    for Row { job, succeeds, mean, range, maps } in MUMAK {
        assert!(runs.iter().all(|run| run[job].succeeded == succeeds), "wrong outcome: job {job}");
        let spans: Vec<f64> = runs.iter().map(|run| run[job].millis).collect();
        let (ours, least, most) = spread(&spans);
        let launches = [0, 1, 2].map(|distance| {
            let of = |run: &BTreeMap<String, Ran>| run[job].maps[distance];
            let all = || runs.iter().map(of);
            (all().min().unwrap_or(0), all().max().unwrap_or(0))
        });
        println!("{job}  {mean} {range:?}   {ours:.0} {:?}   {maps:?} {launches:?}", (least, most));
        let is_inside = range.0 <= least && most <= range.1;
        let is_same = (ours - mean).abs() < 1.0 && range == (least, most) && maps == launches;
        if !is_inside || seeds.len() == 10 && !is_same {
            other.push(job);
        }
    }
    assert!(other.is_empty(), "differs from Mumak: {other:?}");
}
