//! Compares the emulation with a running Hadoop 1.2.1, job by job.
//!
//! The measured runs are not part of Mumakil. They are looked for in a folder `real-hadoop`, in the
//! folder that `MUMAKIL_TRACES` names or beside it; without them the test is skipped. A
//! scenario there, `NAME.rep1.scenario.yaml`, says how long each task of a repetition worked, and
//! `NAME.jobs.csv` and `NAME.attempts.csv` say what JobTracker and TaskTrackers did.
//!
//! `cargo test --release --test it real_hadoop -- --nocapture` prints a table of both.

#![expect(clippy::print_stdout, reason = "the table is read by people")]

use std::collections::BTreeMap;
use std::path::Path;
use std::{fs, thread};

use crate::rows;
use mumakil::emulation::{Options, emulate};
use mumakil::scenario;
use mumakil::study::needed_folder;

const SEEDS: u64 = 10;

/// The names of the phases.
const PHASES: [&str; 6] = ["sojourn", "setup", "maps", "shuffled", "commit", "cleanup"];

/// How long a job and its phases took, in seconds, in the order of `PHASES`: the whole job; the
/// setup and the cleanup task, until the JobTracker heard of their ends; from the first launch of a
/// map to the end of the last one; from there to the end of a reduce's shuffle; from the end of its
/// work to the end of its commit. `None` for a phase that the job lacks.
type Phases = [Option<f64>; PHASES.len()];

/// Returns a number in seconds from a cell in milliseconds; `None` if it is empty.
fn secs(row: &BTreeMap<String, String>, column: &str) -> Option<f64> {
    row[column].parse::<f64>().ok().map(|millis| millis / 1_000.0)
}

fn mean(values: impl IntoIterator<Item = Option<f64>>) -> Option<f64> {
    let values: Vec<f64> = values.into_iter().flatten().collect();
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// Returns the phases that were measured of each job, by repetition and by a column of the job:
/// `name`, or `job` for its id.
fn measured(folder: &Path, name: &str, by: &str) -> BTreeMap<(String, String), Phases> {
    let attempts = rows(&folder.join(format!("{name}.attempts.csv")));
    let jobs = rows(&folder.join(format!("{name}.jobs.csv")));
    let phases = jobs.iter().map(|job| {
        let between = |from, to| Some(secs(job, to)? - secs(job, from)?);
        let maps_done = secs(job, "maps_done_ms");
        let of_job = |attempt: &&BTreeMap<String, String>| {
            attempt["rep"] == job["rep"]
                && attempt["name"] == job["name"]
                && attempt["outcome"] == "success"
        };
        let reduces = || attempts.iter().filter(of_job).filter(|it| it["kind"] == "reduce");
        let shuffled = reduces().map(|reduce| {
            Some(secs(reduce, "shuffled_ms")? - maps_done?.max(secs(reduce, "start_ms")?))
        });
        let commits = attempts.iter().filter(of_job).map(|attempt| {
            secs(attempt, "commit_pending_ms")?;
            Some(secs(attempt, "finish_ms")? - secs(attempt, "work_end_ms")?)
        });
        let phases = [
            secs(job, "sojourn_ms"),
            between("setup_assigned_ms", "running_ms"),
            between("first_map_ms", "maps_done_ms"),
            mean(shuffled),
            mean(commits),
            between("cleanup_assigned_ms", "finish_ms"),
        ];
        ((job["rep"].clone(), job[by].clone()), phases)
    });
    phases.collect()
}

/// Runs a scenario; returns the phases of each job by name.
fn emulated(yaml: &str, seed: u64) -> BTreeMap<String, Phases> {
    let registry = mumakil::registry();
    let sets = [format!("seed={seed}")];
    let scenario = scenario::parse("real", yaml, &sets, &registry).unwrap().scenario;
    let folder = tempfile::tempdir().unwrap();
    let options =
        Options { folder: Some(folder.path().to_owned()), verify: true, ..Options::default() };
    let run = emulate(&scenario, &registry, options).unwrap();
    assert!(run.verifier.unwrap().violations().is_empty());
    let attempts = rows(&folder.path().join("tasks.csv"));
    let phases = rows(&folder.path().join("jobs.csv")).into_iter().map(|job| {
        let of = |kind: &'static str| {
            let id = job["job"].clone();
            attempts.iter().filter(move |it| {
                it["job"] == id && it["kind"] == kind && it["outcome"] == "succeeded"
            })
        };
        let task = |kind| {
            let task = of(kind).next()?;
            Some(secs(task, "heard_ms")? - secs(task, "launch_ms")?)
        };
        let maps_done = secs(&job, "maps_done_ms");
        let first_map = of("map").filter_map(|map| secs(map, "launch_ms")).reduce(f64::min);
        let shuffled = of("reduce").map(|reduce| {
            let start = secs(reduce, "start_ms")?;
            let shuffled = start + secs(reduce, "start_up_ms")? + secs(reduce, "shuffle_ms")?;
            Some(shuffled - maps_done?.max(start))
        });
        let commits = of("reduce").chain(of("map")).map(|attempt| secs(attempt, "commit_ms"));
        let phases = [
            Some(secs(&job, "finish_ms").unwrap() - secs(&job, "submit_ms").unwrap()),
            task("setup"),
            maps_done.zip(first_map).map(|(done, first)| done - first),
            mean(shuffled),
            mean(commits),
            task("cleanup"),
        ];
        (job["name"].clone(), phases)
    });
    phases.collect()
}

/// The bounds stand near the spread of the measured runs among themselves, which is 4 to 7 %.
#[test]
fn jobs_take_as_long_as_in_a_running_hadoop() {
    let Some(folder) = needed_folder("MUMAKIL_TRACES/real-hadoop") else {
        println!("skipped: there is no folder `real-hadoop` in MUMAKIL_TRACES, nor beside it");
        return;
    };
    let mut differences = Vec::new();
    for name in ["fifo-plain-3s", "small-jobs-3s"] {
        let real = measured(&folder, name, "name");
        let reps: Vec<String> = real.keys().map(|(rep, _)| rep.clone()).collect();
        let reps: std::collections::BTreeSet<String> = reps.into_iter().collect();
        let runs: Vec<(String, BTreeMap<String, Phases>)> = thread::scope(|scope| {
            let started: Vec<_> = reps
                .iter()
                .flat_map(|rep| (1..=SEEDS).map(move |seed| (rep, seed)))
                .map(|(rep, seed)| {
                    let scenario = folder.join(format!("{name}.rep{rep}.scenario.yaml"));
                    let yaml = fs::read_to_string(scenario).unwrap();
                    scope.spawn(move || (rep.clone(), emulated(&yaml, seed)))
                })
                .collect();
            started.into_iter().map(|run| run.join().unwrap()).collect()
        });
        println!("{name}: seconds, measured / emulated");
        println!("{:>6} {}", "", PHASES.map(|phase| format!("{phase:>15}")).concat());
        let names: std::collections::BTreeSet<&String> = real.keys().map(|(_, job)| job).collect();
        for job in names {
            let cells = std::array::from_fn::<_, { PHASES.len() }, _>(|phase| {
                let one = mean(reps.iter().map(|rep| real[&(rep.clone(), job.clone())][phase]));
                let other = mean(runs.iter().map(|(_, run)| run[job][phase]));
                (one, other)
            });
            let text = cells.map(|(one, other)| {
                let text = |value: Option<f64>| value.map_or("-".into(), |it| format!("{it:.2}"));
                format!("{:>15}", format!("{} / {}", text(one), text(other)))
            });
            let (one, other) = (cells[0].0.unwrap(), cells[0].1.unwrap());
            let difference = other / one - 1.0;
            println!("{job:>6} {} {:+.1} %", text.concat(), 100.0 * difference);
            differences.push(difference.abs());
        }
    }
    let mean = differences.iter().sum::<f64>() / differences.len() as f64;
    let worst = differences.iter().copied().fold(0.0, f64::max);
    println!("mean {:.1} %, worst {:.1} %", 100.0 * mean, 100.0 * worst);
    assert!(mean <= 0.04 && worst <= 0.10, "mean {mean}, worst {worst}");
}

/// The log alone, without any measured setting: setup, cleanup, initialisation, shuffles and commits
/// come from the trace.
#[test]
fn a_replayed_log_repeats_the_run_that_it_logs() {
    let Some(folder) = needed_folder("MUMAKIL_TRACES/real-hadoop") else {
        println!("skipped: there is no folder `real-hadoop` in MUMAKIL_TRACES, nor beside it");
        return;
    };
    let at = folder.display();
    let mut differences = Vec::new();
    for name in ["fifo-plain-3s", "small-jobs-3s"] {
        let real = measured(&folder, name, "job");
        for rep in ["1", "2", "3"] {
            let yaml = format!(
                "{{cluster: {{map_slots: 2, reduce_slots: 1, topology: {at}/topology.json}}, \
                 hadoop: {{line: 1.x, heartbeat: 3s}}, scheduler: fifo, \
                 workload: {{rumen: {{trace: {at}/{name}.rep{rep}.rumen.json.gz}}}}}}"
            );
            let runs: Vec<BTreeMap<String, Phases>> = thread::scope(|scope| {
                let started: Vec<_> = (1..=SEEDS)
                    .map(|seed| {
                        scope.spawn({
                            let yaml = &yaml;
                            move || emulated(yaml, seed)
                        })
                    })
                    .collect();
                started.into_iter().map(|run| run.join().unwrap()).collect()
            });
            for ((_, job), phases) in real.iter().filter(|((of, _), _)| of == rep) {
                let replayed = mean(runs.iter().map(|run| run[job][0])).unwrap();
                let difference = replayed / phases[0].unwrap() - 1.0;
                println!("{name} {job} {:+.1} %", 100.0 * difference);
                differences.push(difference.abs());
            }
        }
    }
    let mean = differences.iter().sum::<f64>() / differences.len() as f64;
    let worst = differences.iter().copied().fold(0.0, f64::max);
    println!("mean {:.1} %, worst {:.1} %", 100.0 * mean, 100.0 * worst);
    // Each repetition for itself, so one heartbeat more or less is a tenth of a short job.
    assert!(mean <= 0.06 && worst <= 0.15, "mean {mean}, worst {worst}");
}
