//! HFSP and its reference policies: suspensions and resumptions, lost work, and the order in which
//! jobs end.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::{Arc, Mutex};

use crate::fluid::{FluidDiscipline, FluidJob, LateJobs, Rational, approximate, exact};
use mumakil::emulation::{Emulated, Options, emulate};
use mumakil::mapred::{
    AttemptFact, AttemptId, Event, Fact, JobFact, JobId, JobSize, LedgerFact, MemberFact, Outcome,
    Reason, SlotKind, TaskId, TrackerId,
};
use mumakil::record::{RecordError, RunBooks, RunEnd, Watcher};
use mumakil::scenario::{self, Registry};
use mumakil::units::{SimSpan, SimTime};
use proptest::prelude::*;

use crate::{Room, rows};

/// A cluster on which only the work of tasks takes time.
const EXACT: &str = "
hadoop: {line: \"1.x\", heartbeat: 3s, setup_cleanup: false, task_cleanup: false, start_up: 0s, \
commit_pending: none, launch_expiry: reported}
";

/// The events of a run's attempts and jobs.
#[derive(Debug, Default)]
struct Story {
    /// The largest number of attempts that were suspended on a tracker at the same time.
    most_suspended: usize,
    suspended: BTreeMap<AttemptId, TrackerId>,
    resumed: u32,
    /// The working time of the successful attempts, without suspensions.
    worked: BTreeMap<TaskId, SimSpan>,
    started: BTreeMap<AttemptId, SimTime>,
    killed: u32,
    preempted: u32,
    victims: Vec<AttemptId>,
    /// When the jobs ended, in seconds.
    ended: BTreeMap<u32, f64>,
    went_on: Vec<AttemptId>,
    notes: Vec<&'static str>,
    /// How large jobs were estimated to be, and how large they were.
    sizes: Vec<(JobId, SlotKind, JobSize)>,
}

/// Watches a run and collects the events of its attempts and jobs.
struct Teller(Arc<Mutex<Story>>);

impl Watcher for Teller {
    fn see(&mut self, event: &Event, _: &RunBooks) -> Result<(), RecordError> {
        let mut story = self.0.lock().unwrap();
        match event.fact {
            Fact::Attempt(attempt, _, AttemptFact::Started { .. }) => {
                story.started.insert(attempt, event.at);
            }
            Fact::Attempt(attempt, tracker, AttemptFact::Suspended) => {
                story.suspended.insert(attempt, tracker);
                let here = story.suspended.values().filter(|at| **at == tracker).count();
                story.most_suspended = story.most_suspended.max(here);
            }
            Fact::Attempt(attempt, tracker, AttemptFact::Resumed) => {
                assert_eq!(story.suspended.remove(&attempt), Some(tracker), "on another tracker");
                story.resumed += 1;
                story.went_on.push(attempt);
            }
            Fact::Attempt(attempt, _, AttemptFact::Ended { outcome, phases, .. })
                if attempt.task.is_work() =>
            {
                story.suspended.remove(&attempt);
                story.killed += u32::from(outcome == Outcome::Killed);
                if outcome == Outcome::Succeeded {
                    let ran = event.at - story.started[&attempt];
                    let worked = ran.saturating_sub(phases.suspended);
                    story.worked.insert(attempt.task, worked);
                }
            }
            Fact::Ledger(
                attempt,
                _,
                LedgerFact::Ordered { reason: Reason::PreemptedFor(_), .. },
            ) => {
                story.preempted += 1;
                story.victims.push(attempt);
            }
            Fact::Job(job, JobFact::Ended(_)) => {
                story.ended.insert(job.0, event.at.as_secs_f64());
            }
            Fact::Job(job, JobFact::Sized(kind, size)) => story.sizes.push((job, kind, size)),
            Fact::Member(_, MemberFact::Noted(note)) => story.notes.push(note),
            _ => {}
        }
        Ok(())
    }

    fn finish(&mut self, _: &RunEnd<'_>) -> Result<(), RecordError> {
        Ok(())
    }
}

/// Runs a scenario twice, the second time with the invariant checker, since a run can have only one
/// watcher.
fn run(yaml: &str) -> (Story, Emulated) {
    let registry = mumakil::registry();
    let loaded = scenario::parse("test.yaml", yaml, &[], &registry);
    let scenario = loaded.unwrap_or_else(|error| panic!("{error}\n{yaml}")).scenario;
    let story = Arc::new(Mutex::new(Story::default()));
    let watcher: Box<dyn Watcher> = Box::new(Teller(story.clone()));
    let watched = Options { watchers: vec![watcher], ..Options::default() };
    emulate(&scenario, &registry, watched).unwrap();
    let checked = Options { verify: true, ..Options::default() };
    let run = emulate(&scenario, &registry, checked).unwrap();
    let violations = run.verifier.as_ref().unwrap().violations();
    assert!(violations.is_empty(), "{violations:?}\n{yaml}");
    let story = std::mem::take(&mut *story.lock().unwrap());
    (story, run)
}

/// Returns jobs without reduces, as YAML. `jobs` has for each job its arrival in seconds, its
/// number of maps, and the seconds of a map.
fn maps(jobs: &[(u64, u32, u64)]) -> String {
    let mut yaml = "workload:\n  jobs:\n".to_owned();
    for (number, (submit, maps, seconds)) in jobs.iter().enumerate() {
        writeln!(
            yaml,
            "    - {{name: j{number}, submit: {submit}s, maps: {maps}, map_time: {seconds}s}}"
        )
        .unwrap();
    }
    yaml
}

/// A drawn workload. A task takes the same time under every policy, so lost work shows.
#[derive(Debug)]
struct Drawn {
    jobs: Vec<(u64, u32, u64)>,
    nodes: u32,
    most: u32,
    few: u32,
    stops: Vec<(u64, u32)>,
}

impl Drawn {
    fn yaml(&self, scheduler: &str) -> String {
        let mut yaml = format!(
            "{EXACT}cluster: {{nodes: {}, map_slots: 2, reduce_slots: 1, memory: 64GiB}}\n{}",
            self.nodes,
            maps(&self.jobs)
        );
        writeln!(yaml, "scheduler: {scheduler}").unwrap();
        if !self.stops.is_empty() {
            let stop = |(at, node): &(u64, u32)| {
                format!("{{at: {at}s, stop: node-{}}}", node % self.nodes + 1)
            };
            let stops: Vec<String> = self.stops.iter().take(1).map(stop).collect();
            writeln!(yaml, "faults: [{}]", stops.join(", ")).unwrap();
        }
        yaml
    }
}

fn drawn(stops: usize) -> impl Strategy<Value = Drawn> {
    (
        prop::collection::vec((0..900_u64, 1..9_u32, 20..400_u64), 2..9),
        2..4_u32,
        1..4_u32,
        prop::collection::vec((50..900_u64, 0..4_u32), stops),
    )
        .prop_map(|(jobs, nodes, most, stops)| Drawn {
            jobs,
            nodes,
            most,
            few: most / 2,
            stops,
        })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn no_tracker_bears_more_suspended_attempts_than_it_may_and_none_loses_work(drawn in drawn(0)) {
        let few = drawn.few.min(drawn.most - 1);
        let eager = format!(
            "{{hfsp: {{variant: paper-2013, sample: 1, suspended: {{most: {}, few: {few}}}}}}}",
            drawn.most
        );
        let (story, _) = run(&drawn.yaml(&eager));
        let (undisturbed, _) = run(&drawn.yaml("fifo"));
        prop_assert!(story.most_suspended <= drawn.most as usize);
        prop_assert!(story.suspended.is_empty(), "every suspended attempt was resumed");
        prop_assert_eq!(story.killed, 0);
        prop_assert_eq!(story.worked, undisturbed.worked, "suspensions cost no work");
    }

    #[test]
    fn the_work_of_killed_attempts_is_lost(drawn in drawn(0)) {
        let (story, run) = run(&drawn.yaml("{hfsp: {variant: paper-2013, sample: 1, preemption: kill}}"));
        let (undisturbed, _) = self::run(&drawn.yaml("fifo"));
        prop_assert_eq!(story.worked, undisturbed.worked, "each task was done from its start");
        prop_assert_eq!((story.resumed, story.most_suspended), (0, 0));
        prop_assert!(story.killed <= story.preempted);
        prop_assert_eq!(run.summary.jobs_succeeded, drawn.jobs.len() as u64);
    }

    #[test]
    fn attempts_suspended_on_a_lost_tracker_run_again(drawn in drawn(1)) {
        let eager = "{hfsp: {variant: paper-2013, sample: 1}}";
        let (_, run) = run(&drawn.yaml(eager));
        prop_assert_eq!(run.summary.jobs_succeeded, drawn.jobs.len() as u64);
    }
}

/// A cluster of one map slot, on which only the work of tasks takes time.
pub(crate) const ONE_SLOT: &str = "
hadoop: {line: \"1.x\", heartbeat: 100ms, out_of_band: true, setup_cleanup: false, task_cleanup: false, \
start_up: 0s, commit_pending: none}
cluster: {nodes: 1, map_slots: 1, reduce_slots: 1, jobtracker: {per_heartbeat: 0s, per_task: 0s, init: 1ms}}
";

/// The arrivals and sizes, in seconds, of the papers' first example: a job that fills a cluster,
/// and two short jobs that come later.
const EXAMPLE: [(u64, u64); 3] = [(0, 30), (10, 10), (15, 10)];

/// Returns when jobs end on a server that can be divided into any fractions. Each job is its arrival
/// and its size, in seconds.
pub(crate) fn fluid(discipline: FluidDiscipline, jobs: [(u64, u64); 3]) -> Vec<f64> {
    let number = |number: u64| exact(number as f64).expect("it is finite");
    let job = |(arrival, size): (u64, u64)| FluidJob::of(number(arrival), number(size));
    let course = discipline.serve(&jobs.map(job));
    course.jobs.iter().map(|job| approximate(&job.finish)).collect()
}

/// Returns when the jobs of the example end on a cluster of 20 slots, with tasks of this length.
fn on_a_cluster(scheduler: &str, task_ms: u64) -> Vec<f64> {
    let mut yaml = "
hadoop: {line: \"1.x\", heartbeat: 100ms, out_of_band: true, setup_cleanup: false, start_up: 0s, \
commit_pending: none}
cluster: {nodes: 5, map_slots: 4, reduce_slots: 1, jobtracker: {per_heartbeat: 0s, per_task: 0s, init: 1ms}}
workload: {jobs: ["
        .to_owned();
    for (name, (submit, seconds)) in ["a", "b", "c"].iter().zip(EXAMPLE) {
        let maps = seconds * 20_000 / task_ms;
        write!(yaml, "{{name: {name}, submit: {submit}s, maps: {maps}, map_time: {task_ms}ms}}, ")
            .unwrap();
    }
    writeln!(yaml, "]}}\nscheduler: {scheduler}").unwrap();
    finishes(&yaml)
}

/// Returns when the jobs of a scenario end, in seconds.
pub(crate) fn finishes(yaml: &str) -> Vec<f64> {
    finishes_with(yaml, &mumakil::registry())
}

/// As [`finishes`], with what a registry brings.
pub(crate) fn finishes_with(yaml: &str, registry: &Registry) -> Vec<f64> {
    let folder = tempfile::TempDir::new().unwrap();
    let scenario = scenario::parse("test.yaml", yaml, &[], registry).unwrap().scenario;
    let options = Options { folder: Some(folder.path().to_owned()), ..Options::default() };
    emulate(&scenario, registry, options).unwrap();
    let table = std::fs::read_to_string(folder.path().join("jobs.csv")).unwrap();
    let mut lines = table.lines();
    let column = lines.next().unwrap().split(',').position(|name| name == "finish_ms").unwrap();
    let finish = |line: &str| line.split(',').nth(column).unwrap().parse::<f64>().unwrap() / 1e3;
    lines.map(finish).collect()
}

#[test]
fn the_yardsticks_come_closer_to_their_fluid_models_as_tasks_shrink() {
    let error = |scheduler: &str, discipline: FluidDiscipline, task_ms: u64| {
        let pairs = on_a_cluster(scheduler, task_ms).into_iter().zip(fluid(discipline, EXAMPLE));
        pairs.map(|(real, ideal)| (real - ideal).abs()).fold(0.0, f64::max)
    };
    let hfsp = "{hfsp: {estimator: oracle, sample: 0, delay: {w1: 0s, w2: 0s}}}";
    for (scheduler, discipline) in [
        ("ps", FluidDiscipline::Ps),
        ("fsp", FluidDiscipline::Fsp(LateJobs::InTurn)),
        ("srpt", FluidDiscipline::Srpt(LateJobs::InTurn)),
        (hfsp, FluidDiscipline::Fsp(LateJobs::InTurn)),
        ("{rank: {jobs: -attained}}", FluidDiscipline::Las),
    ] {
        let [coarse, fine] = [2_000, 200].map(|task_ms| error(scheduler, discipline, task_ms));
        // A job that comes while tasks run waits for one task at most, and so do the jobs after it.
        assert!(coarse <= 4.0, "{scheduler}: off by {coarse} s with tasks of 2 s");
        // The round trip of a heartbeat takes a few milliseconds of every 0.2 s.
        assert!(fine <= 1.5, "{scheduler}: off by {fine} s with tasks of 0.2 s");
    }
}

/// All sizes are taken for a fifth of what they are, so all jobs are late sooner or later.
#[test]
fn late_jobs_end_as_in_their_fluid_models() {
    let number = |number: f64| exact(number).expect("it is finite");
    let jobs = EXAMPLE.map(|(arrival, size)| FluidJob {
        estimate: number(size as f64 / 5.0),
        ..FluidJob::of(number(arrival as f64), number(size as f64))
    });
    for (name, late) in [
        ("in-turn", LateJobs::InTurn),
        ("shared", LateJobs::Shared),
        ("least-attained", LateJobs::LeastAttained),
    ] {
        for (policy, discipline) in
            [("fsp", FluidDiscipline::Fsp(late)), ("srpt", FluidDiscipline::Srpt(late))]
        {
            let scheduler = format!("{{{policy}: {{error: {{bias: 0.2}}, late: {name}}}}}");
            let course = discipline.serve(&jobs);
            for (found, ideal) in on_a_cluster(&scheduler, 200).iter().zip(&course.jobs) {
                let ideal = approximate(&ideal.finish);
                assert!((found - ideal).abs() <= 1.5, "{scheduler}: {found} for {ideal}");
            }
        }
    }
}

/// Returns the share of a large job that is done after 50 min. A short job, which could fill the
/// cluster for 10 s, arrives every 10 s.
fn stream_of_small_jobs(scheduler: &str) -> f64 {
    let mut yaml = format!(
        "{EXACT}cluster: {{nodes: 4, map_slots: 2, reduce_slots: 1}}\nuntil: 3000s\nscheduler: {scheduler}\n\
         workload:\n  jobs:\n    - {{name: large, maps: 100, map_time: 8s}}\n"
    );
    for number in 0..290 {
        writeln!(
            yaml,
            "    - {{name: small-{number}, submit: {}s, maps: 8, map_time: 10s}}",
            5 + 10 * number
        )
        .unwrap();
    }
    let (story, _) = run(&yaml);
    let of_large = |task: &&TaskId| task.job.0 == 0;
    story.worked.keys().filter(of_large).count() as f64 / 100.0
}

#[test]
fn a_large_job_under_a_stream_of_small_ones_ends_but_starves_under_srpt() {
    let done = stream_of_small_jobs("fsp");
    assert_eq!(done, 1.0, "FSP knows the true sizes");
    let done = stream_of_small_jobs("srpt");
    assert!(done < 0.3, "small jobs leave it few slots: {done} is done");
}

#[test]
fn attempts_that_cannot_be_suspended_are_waited_for() {
    let jobs = "
workload:
  jobs:
    - {name: large, maps: 4, map_time: 500s, suspendable: false}
    - {name: small, submit: 60s, maps: 2, map_time: 30s}
";
    let cluster = format!("{EXACT}cluster: {{nodes: 2, map_slots: 2, reduce_slots: 1}}\n");
    let fsp = "scheduler: {fsp: {preemption: eager}}\n";
    let (story, _) = run(&format!("{cluster}{jobs}{fsp}"));
    assert_eq!(story.preempted, 0);
    let (story, _) = run(&format!("{cluster}{}{fsp}", jobs.replace("false", "true")));
    assert_eq!((story.preempted, story.resumed), (2, 2), "the small job lacks two slots");
}

#[test]
fn a_tracker_that_bears_no_more_says_so_and_says_when_it_does_again() {
    let jobs = maps(&[(0, 4, 900), (100, 4, 300), (200, 4, 100), (300, 4, 30)]);
    let yaml = format!(
        "{EXACT}cluster: {{nodes: 1, map_slots: 4, reduce_slots: 1}}\n{jobs}\
         scheduler: {{fsp: {{preemption: eager, suspended: {{most: 8, few: 2}}}}}}\n"
    );
    let (story, _) = run(&yaml);
    assert_eq!(story.most_suspended, 8, "two jobs' maps; the last job waits");
    let full = story.notes.iter().filter(|note| note.starts_with("too many")).count();
    let free = story.notes.iter().filter(|note| note.starts_with("few")).count();
    assert_eq!((full, free), (1, 1), "{:?}", story.notes);
}

/// Runs jobs on a cluster with `nodes` nodes, and `slots` slots of each kind on every node.
fn on(nodes: u32, slots: u32, scheduler: &str, jobs: &str) -> (Story, Emulated) {
    run(&format!(
        "{EXACT}cluster: {{nodes: {nodes}, map_slots: {slots}, reduce_slots: {slots}, memory: 64GiB}}\n\
         scheduler: {scheduler}\nworkload:\n  jobs:\n{jobs}"
    ))
}

/// Four reduces take an hour each. HFSP measures them after a minute, when nearly all of their work
/// is left.
#[test]
fn a_large_job_of_few_reduces_makes_room_once_it_is_measured() {
    let jobs = "
    - {name: large, maps: 1, map_time: 5s, reduces: 4, reduce_time: 1h}
    - {name: middle, submit: 300s, maps: 1, map_time: 5s, reduces: 12, reduce_time: 100s}
";
    let (story, _) = on(4, 1, "hfsp", jobs);
    assert_eq!((story.preempted, story.resumed), (4, 4));
    assert!(story.ended[&1] < 700.0, "{:?}", story.ended);
}

#[test]
fn no_more_are_killed_than_are_lacking() {
    let jobs = "
    - {name: large, maps: 5, map_time: 1000s}
    - {name: small, submit: 100s, maps: 6, map_time: 30s}
";
    for how in ["kill", "eager"] {
        let (story, _) = on(10, 1, &format!("{{fsp: {{preemption: {how}}}}}"), jobs);
        assert_eq!(story.preempted, 1, "{how}: five of ten slots are free");
    }
}

#[test]
fn attempts_that_cannot_be_suspended_spare_nobody_else() {
    let jobs = "
    - {name: middle, maps: 2, map_time: 500s}
    - {name: large, submit: 5s, maps: 2, map_time: 900s, suspendable: false}
    - {name: small, submit: 60s, maps: 2, map_time: 30s}
";
    let (story, _) = on(2, 2, "{fsp: {preemption: eager}}", jobs);
    let of = |job: u32| story.victims.iter().filter(|victim| victim.job().0 == job).count();
    assert_eq!((of(0), of(1)), (2, 0), "the middle job is suspended instead");
}

#[test]
fn attempts_that_have_run_for_longest_go_on_first() {
    let jobs = "
    - {name: filler, maps: 1, map_time: 20s}
    - {name: large, maps: 2, map_time: 1000s}
    - {name: one, submit: 100s, maps: 1, map_time: 100s}
    - {name: other, submit: 110s, maps: 1, map_time: 120s}
";
    let hfsp = "{hfsp: {variant: paper-2013, estimator: oracle, sample: 0, victims: youngest}}";
    let (story, _) = on(1, 2, hfsp, jobs);
    let [young, old] = story.victims[..] else { panic!("{:?}", story.victims) };
    assert!(story.started[&old] < story.started[&young], "the youngest is suspended first");
    assert_eq!(story.went_on, [old, young]);
}

#[test]
fn a_job_of_unknown_size_goes_last_whatever_is_guessed() {
    let jobs = "
    - {name: known, maps: 20, map_time: 20s}
    - {name: unknown, submit: 100s, maps: 20, map_time: 20s}
";
    let hfsp = "{hfsp: {variant: paper-2013, sample: 1, confidence: inf, training_slots: 0}}";
    let (story, _) = on(2, 1, hfsp, jobs);
    assert_eq!(story.preempted, 0);
    assert!(story.ended[&0] < 260.0, "no other job takes its slots: {:?}", story.ended);
}

/// A small job, which can use all eight slots for ten seconds, arrives every ten seconds. Once
/// there are more jobs than slots, the papers' virtual cluster gives the largest job no slot.
#[test]
fn whole_virtual_slots_starve_the_largest_job_and_a_note_says_so() {
    let done = stream_of_small_jobs("hfsp");
    assert!(done < 0.5, "{done} was done before there were more jobs than slots");
    let jobs = "
    - {name: large, maps: 9, map_time: 100s}
    - {name: one, submit: 10s, maps: 1, map_time: 500s}
    - {name: other, submit: 20s, maps: 1, map_time: 500s}
";
    let (story, _) = on(1, 2, "{hfsp: {estimator: oracle, sample: 0}}", jobs);
    let is_told = |note: &&str| note.starts_with("some jobs have no virtual slot for");
    assert!(story.notes.iter().any(is_told), "{:?}", story.notes);
    let (story, _) = on(1, 2, "fsp", jobs);
    assert!(!story.notes.iter().any(is_told), "{:?}", story.notes);
}

/// A job has four reduces of 300 s on two slots. Its first reduce is the sample, which is measured
/// after a minute. A reduce of another job is ready before this measurement. It can take the other
/// slot, unless HFSP spares all reduces of the first job.
#[test]
fn a_job_in_training_keeps_its_slots_where_it_is_spared() {
    let jobs = "
    - {name: large, maps: 1, map_time: 5s, reduces: 4, shuffle_time: 0s, reduce_time: 300s}
    - {name: small, submit: 20s, maps: 1, map_time: 5s, reduces: 1, shuffle_time: 0s, reduce_time: 10s}
";
    let ended = |spared: &str| {
        let (story, _) = on(2, 1, &format!("{{hfsp: {{sample: 1, spared: {spared}}}}}"), jobs);
        assert_eq!((story.preempted, story.resumed), (1, 1), "{spared}");
        story.ended[&1]
    };
    let [sample, training] = ["sample", "training"].map(ended);
    assert!(sample < 60.0, "the small reduce got a slot at once: {sample}");
    assert!((70.0..110.0).contains(&training), "it waited for the measurement: {training}");
}

/// A first job holds the only reduce slot for a minute. Then each of two other jobs has a reduce.
/// The maps of one job take four more minutes; the maps of the other job are done.
#[test]
fn a_reduce_whose_maps_are_not_done_stands_last_in_line() {
    let jobs = "
    - {name: first, maps: 1, map_time: 1s, reduces: 1, shuffle_time: 0s, reduce_time: 60s}
    - {name: slow, submit: 5s, maps: 20, map_time: 40s, reduces: 1, shuffle_time: 0s, reduce_time: 10s}
    - {name: quick, submit: 6s, maps: 1, map_time: 1s, reduces: 1, shuffle_time: 0s, reduce_time: 100s}
";
    let cluster = format!(
        "{EXACT}cluster: {{nodes: 1, map_slots: 3, reduce_slots: 1, memory: 64GiB}}\nworkload:\n  jobs:\n{jobs}"
    );
    let ended = |variant: &str| {
        let hfsp = format!("{{hfsp: {{variant: {variant}, preemption: wait}}}}");
        run(&format!("{cluster}scheduler: {hfsp}\n")).0.ended[&2]
    };
    let [with_maps, maps_done] = ["hadoop", "paper-2015"].map(ended);
    assert!(200.0 < with_maps, "the slow reduce held the slot: {with_maps}");
    assert!(maps_done < 200.0, "{maps_done}");
}

/// Two jobs of forty maps of 10 s share eight slots. Their pools weigh 1 and 3. With six virtual
/// slots the second job ends first; with four slots it would not.
#[test]
fn jobs_share_the_virtual_cluster_by_the_weights_of_their_pools() {
    let jobs = "
    - {name: light, pool: nightly, maps: 40, map_time: 10s}
    - {name: heavy, pool: reports, submit: 1s, maps: 40, map_time: 10s}
";
    let ended = |weights: &str| {
        let hfsp = format!("{{hfsp: {{estimator: oracle, sample: 0, weights: {weights}}}}}");
        let (story, _) = on(1, 8, &hfsp, jobs);
        story.ended[&1] < story.ended[&0]
    };
    assert!(!ended("equal"));
    assert!(ended("{pools: {reports: 3}}"));
}

#[test]
fn wrong_weights_of_pools_are_told_with_their_places() {
    for (weights, told) in [
        ("{daily: 0}", "error: a weight is above zero: at 0 no job of the pool"),
        ("{daily: 1.5e6}", "error: a weight is from 0.000001 to 1,000,000: beyond, the smaller"),
        ("{daily: 1e-7}", "error: a weight is from 0.000001 to 1,000,000: beyond, the smaller"),
        (
            "{daily: 1e6, nightly: 1e-6}",
            "warning: pools that are declared, but have no job: `daily`, `nightly`; that have jobs, but \
             are not declared: `dayly`",
        ),
    ] {
        let room = Room::new();
        let yaml = format!(
            "workload: {{jobs: [{{name: a, pool: dayly, maps: 1, map_time: 1s}}]}}\n\
             scheduler:\n  hfsp: {{weights: {{pools: {weights}}}}}\n"
        );
        room.write("weights.yaml", &yaml);
        let output = room.mumakil("check weights.yaml").output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        let has_place = told.starts_with("warning") || said.contains("--> weights.yaml:3:35");
        assert!(said.contains(told) && has_place, "{weights}: {said}");
    }
}

/// The oracle's sizes are exact, unless they are made wrong on purpose.
#[test]
fn an_error_makes_the_sizes_of_the_oracle_wrong() {
    let jobs = "
    - {name: a, maps: 5, map_time: 20s, reduces: 2, reduce_time: 30s}
    - {name: b, submit: 5s, maps: 3, map_time: 50s}
";
    let errors = |error: &str| -> Vec<f64> {
        let hfsp = format!("{{hfsp: {{estimator: oracle, sample: 0{error}}}}}");
        let (story, _) = on(4, 2, &hfsp, jobs);
        assert_eq!(story.sizes.len(), 3, "{:?}", story.sizes);
        story.sizes.iter().map(|(.., size)| size.estimated / size.real - 1.0).collect()
    };
    assert!(errors("").iter().all(|error| *error == 0.0));
    let wrong = errors(", error: {uniform: 0.5}");
    assert!(wrong.iter().all(|error| *error != 0.0 && error.abs() <= 0.5), "{wrong:?}");
}

/// All tasks of a job take the same time, so a sample tells the size but for the heartbeat at which
/// a task is measured. The reduces begin when the maps are done, so that no sample waits for maps.
#[test]
fn expectations_judge_the_estimates() {
    let room = Room::new();
    let yaml = format!(
        "{EXACT}cluster: {{nodes: 4, map_slots: 2, reduce_slots: 2, memory: 64GiB}}
workload: {{jobs: [{{name: a, maps: 40, map_time: 60s, reduces: 8, reduce_time: 5min, slow_start: 100 %}}]}}
scheduler: {{hfsp: {{sample: 3}}}}
record: {{sizes: true}}
expect:
  - -0.05 <= mean(size_error.map) <= 0.05
  - -0.05 <= mean(size_error.reduce) <= 0.05
  - mean(estimate.map) / mean(true_size.map) <= 1.05
"
    );
    room.write("sizes.yaml", &yaml);
    let output = room.mumakil("run sizes.yaml --out out").output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    let table = std::fs::read_to_string(room.path("out/jobs.csv")).unwrap();
    assert_eq!(table.lines().count(), 2, "{table}");
}

#[test]
fn an_error_without_an_estimate_is_told_with_its_place() {
    let room = Room::new();
    let yaml = "workload: {jobs: [{name: a, maps: 1, map_time: 1s}]}
scheduler:
  hfsp:
    sample: 0
    error: {uniform: 0.5}
";
    room.write("error.yaml", yaml);
    let output = room.mumakil("check error.yaml").output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("error.yaml:5:") && said.contains("estimator: oracle"), "{said}");
}

/// With seed 6 a map of the first job fails for good, but the job goes on. Its reduces may start
/// when all its other maps are done. A former version of Mumakil let these reduces wait until no
/// other job had reduces.
#[test]
fn reduces_do_not_wait_for_a_map_that_has_failed_for_good() {
    let ends = |variant: &str| {
        let room = Room::new();
        room.write(
            "failing.yaml",
            &format!(
                "seed: 6\nhadoop: {{map_failures: 90 %, max_attempts: 1, slow_start: 1}}\ncluster: {{nodes: 4}}\n\
                 scheduler: {{hfsp: {{variant: {variant}}}}}\nfaults: [{{task_failures: 6 %}}]\n\
                 workload:\n  jobs:\n\
                 \x20   - {{name: a, maps: 40, map_time: 10s, reduces: 2, shuffle_time: 0s, reduce_time: 10s}}\n\
                 \x20   - {{name: b, submit: 1s, count: 40, every: 20s, maps: 4, map_time: 10s, reduces: 4, \
                 shuffle_time: 0s, reduce_time: 40s}}\n"
            ),
        );
        room.mumakil("run failing.yaml --out out").assert().success();
        let mut jobs = csv::Reader::from_path(room.path("out/jobs.csv")).unwrap();
        let column = jobs.headers().unwrap().iter().position(|name| name == "sojourn_ms").unwrap();
        let first = jobs.records().next().unwrap().unwrap();
        first[column].parse::<u64>().unwrap()
    };
    let [with_maps, maps_done] = ["hadoop", "paper-2015"].map(ends);
    assert!(maps_done < with_maps * 3 / 2, "{maps_done} ms beside {with_maps} ms");
}

/// Returns the maps of FB2009's jobs as jobs of a fluid model, by a run that knows the sizes.
fn facebooks_maps(room: &Room, seed: u64) -> Vec<FluidJob> {
    const SLOTS: u64 = 400;
    let yaml = "cluster: ec2-100\nworkload: fb2009\nrecord: {sizes: true}\n\
                scheduler: {hfsp: {estimator: oracle, sample: 0}}";
    room.write("facebook.yaml", yaml);
    room.mumakil(&format!(
        "run facebook.yaml --seed {seed} --drive bare --force --out facebook -q"
    ))
    .assert()
    .success();
    let jobs = rows(&room.path("facebook/jobs.csv")).into_iter().map(|row| {
        // Decimals of a second make the numbers long, and change nothing.
        let number = |column: &str, per: u64| {
            Rational::new((row[column].parse::<u64>().unwrap() / per).into(), 1.into())
        };
        let slots = Rational::new(SLOTS.into(), 1.into());
        let most = (number("maps", 1) / &slots).min(exact(1.0).unwrap());
        FluidJob {
            most,
            ..FluidJob::of(number("submit_ms", 1000), number("map_size_ms", 1000) / slots)
        }
    });
    jobs.filter(|job| 0.0 < approximate(&job.size)).collect()
}

#[test]
fn fsp_ends_some_of_facebooks_jobs_later_than_sharing_and_with_the_guard_none() {
    let room = Room::new();
    let later = [1, 2].map(|seed| {
        let jobs = facebooks_maps(&room, seed);
        let ps = FluidDiscipline::Ps.serve(&jobs);
        let fsp = FluidDiscipline::Fsp(LateJobs::InTurn).serve(&jobs);
        let guarded = FluidDiscipline::Guarded.serve(&jobs);
        assert!(guarded.mean_sojourn() < fsp.mean_sojourn(), "the guard shortens the mean, too");
        [fsp, guarded].map(|course| {
            let pairs = course.jobs.iter().zip(&ps.jobs);
            pairs.filter(|(own, ps)| ps.finish < own.finish).count()
        })
    });
    assert_eq!(later, [[12, 0], [3, 0]], "of 100 jobs");
}
