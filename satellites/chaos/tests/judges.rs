//! Tests that every drawn scenario can be run and repeated, that all settings are drawn, and that
//! correct programs pass.

mod sabotage;

use std::sync::Arc;

use parking_lot::Mutex;
use serde_json::Value as Json;
use sha2::{Digest as _, Sha256};

use self::sabotage::{PLANTED, Planted};
use super::draw::{CaseDrawer, THEMES, lay, read, text, wrong};
use super::subject::under;
use super::trial::{RunObservations, Trial};
use super::*;
use mumakil_core::mapred::{
    Complaint, Event, Fact, Job, JobFact, JobId, MapReach, Offer, Policy, PolicySite, Reason,
    Scheduler, SlotKind,
};
use mumakil_run::emulation::{EmulationError, Options};
use mumakil_run::record::{RecordError, RunBooks, RunEnd, Watcher};
use mumakil_study::parted;

const MUMAKIL: Subject = Subject::Mumakil { policy: None };
const PATIENCE: Duration = Duration::from_secs(5);

fn drawn(seed: u64, registry: &Registry, schema: &Json) -> serde_yaml::Value {
    CaseDrawer::new(seed, schema, None).scenario(registry)
}

#[test]
fn a_number_always_draws_the_same_scenario_and_it_can_be_run() {
    let registry = crate::testing::registry();
    let schema = schema(&registry);
    for seed in 0..200 {
        let tree = drawn(seed, &registry, &schema);
        assert_eq!(wrong(&tree, &registry), Ok(None), "{}", text(&tree));
        assert_eq!(tree, drawn(seed, &registry, &schema));
    }
}

/// Invalid settings are removed from a drawn scenario, so an invalid theme would have no effect.
#[test]
fn each_theme_is_a_scenario() {
    let jobs = "workload: {jobs: [{name: job-0, maps: 4, reduces: 1}]}\ncluster: {nodes: 3}";
    for theme in THEMES {
        let mut tree = serde_yaml::from_str(jobs).unwrap();
        lay(&mut tree, serde_yaml::from_str(theme).unwrap());
        assert_eq!(wrong(&tree, &crate::testing::registry()), Ok(None), "{theme}");
    }
}

/// Every setting of the schema is drawn sooner or later, so a new option is covered, too.
#[test]
fn every_policy_every_fault_and_every_setting_of_hadoop_is_drawn() {
    let registry = crate::testing::registry();
    let schema = schema(&registry);
    let all: String = (0..3_000).map(|seed| text(&drawn(seed, &registry, &schema))).collect();
    let fields = |section: &str| {
        let alternatives = schema["properties"][section]["anyOf"].as_array().unwrap();
        let fields = alternatives.iter().find_map(|one| {
            one.get("properties").or_else(|| one.get("items")?.get("properties"))?.as_object()
        });
        fields.unwrap().keys().cloned().collect::<Vec<_>>()
    };
    for section in ["scheduler", "faults", "hadoop"] {
        for field in fields(section) {
            assert!(all.contains(&field), "{section}.{field} is never drawn");
        }
    }
}

/// A command is drawn like any other string, and could be the name of an existing program.
#[test]
fn a_hunt_starts_no_programs() {
    let all = crate::testing::registry();
    let tame = without_programs(&all);
    let uses = |registry: &Registry| {
        let schema = schema(registry);
        let mut trees = (0..500).map(|seed| text(&drawn(seed, registry, &schema)));
        trees.any(|tree| tree.contains("external"))
    };
    assert!(uses(&all));
    assert!(!uses(&tame));
}

/// The hash of all events, except the sizes of jobs: only the built-in FSP tells them.
#[derive(Default)]
struct RunTrace(Sha256);

impl Watcher for RunTrace {
    fn see(&mut self, event: &Event, _: &RunBooks) -> Result<(), RecordError> {
        if !matches!(event.fact, Fact::Job(_, JobFact::Sized(..))) {
            self.0.update(format!("{event:?}"));
        }
        Ok(())
    }

    fn hears_heartbeats(&self) -> bool {
        true
    }

    fn finish(&mut self, _: &RunEnd<'_>) -> Result<(), RecordError> {
        Ok(())
    }
}

/// FIFO, Algorithm 2 and FSP in Python give the same events as the built-in policies on random
/// clusters.
#[test]
fn policies_in_python_do_as_ours_do_on_random_clusters() {
    if std::process::Command::new("python3").arg("-V").output().is_err() {
        // Without Python, skip this test silently: the tests of the command line are skipped, too,
        // and report the reason.
        return;
    }
    let mut registry = crate::testing::registry();
    registry.permit_programs(ProgramPermit::Trusted);
    let schema = schema(&registry);
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenarios/policies");
    let trial = Trial::new(&MUMAKIL, &registry, 1);
    for (own, file) in [("fifo", "fifo"), ("fair-skip", "fair_skip"), ("fsp", "fsp")] {
        let program = format!("{{external: {{command: [python3, {folder}/{file}.py]}}}}");
        let mut compared = 0;
        for seed in 0..40 {
            let mut tree = CaseDrawer::new(seed, &schema, Some(own)).scenario(&registry);
            tree["until"] = "6h".into();
            if own != "fifo" {
                let scenario = tree.as_mapping_mut().expect("it is a mapping");
                scenario.remove("faults");
                scenario.remove("later");
            }
            // In Python no policy knows what memory the launch before has left.
            if own != "fifo"
                && let Some(cluster) = tree["cluster"].as_mapping_mut()
            {
                cluster.remove("resources");
            }
            let run = |policy: serde_yaml::Value| {
                let scenario = read(&under(&tree, &policy), &registry).unwrap();
                let trace = Arc::new(Mutex::new(RunTrace::default()));
                let watchers: Vec<Box<dyn Watcher>> = vec![Box::new(trace.clone())];
                let options = Options { watchers, ..Options::default() };
                let ran = trial.run(&scenario, RunObservations::default(), options);
                let hash = std::mem::take(&mut trace.lock().0).finalize();
                match ran.result {
                    Ok(run) => Some((run.stop, run.summary, hash)),
                    Err(error @ (EmulationError::Policy { .. } | EmulationError::Bug { .. })) => {
                        panic!("{error}")
                    }
                    Err(_) => None,
                }
            };
            let (Some(one), Some(other)) =
                (run(own.into()), run(serde_yaml::from_str(&program).unwrap()))
            else {
                continue;
            };
            // FSP and Algorithm 2 are simplified in Python, so compare only runs without
            // suspensions, failed attempts and second ones. FSP suspends no task. Algorithm 2 resets
            // a job's waiting time even if the launch is refused, as on a tracker where the map has
            // failed before, or where its first attempt runs.
            let odd = one.1.attempts_failed + one.1.attempts_killed + one.1.suspensions;
            if own == "fifo" || odd == 0 {
                assert!(
                    one.0 == other.0 && one.2 == other.2,
                    "{own}, case {seed}: {}",
                    text(&tree)
                );
                compared += 1;
            }
        }
        assert!(20 <= compared, "{own}: {compared}");
    }
}

fn found(yaml: &str) -> (HuntTally, Option<CaseFlaw>) {
    Trial::new(&MUMAKIL, &crate::testing::registry(), 1).of(&serde_yaml::from_str(yaml).unwrap())
}

/// Each map takes 1 s / 0.01 % = 2 h 47 min to start, so 40 maps take 2 d 08 h in two slots.
#[test]
fn a_run_whose_tasks_end_one_by_one_is_slow_but_not_endless() {
    let slow = "
cluster: {nodes: 1, hdfs: {replication: 1}}
hadoop: {start_up: 1s, task_timeout: 0s}
faults: [{slow: {cpu: 1 %}, at: 1s}, {slow: {cpu: 1 %}, at: 2s}]
workload: {jobs: [{name: a, maps: 40, map_time: 1s}]}
until: 1d
";
    let (tally, wrong) = found(slow);
    assert!(tally.unended == 1 && wrong.is_none(), "{wrong:?}");
    let (tally, wrong) = found(&slow.replace("until: 1d", "until: 1h"));
    assert!(tally.endless == 1 && wrong.is_some(), "no task ends");
}

/// Now and then a heartbeat travels for longer than the expiry, and its tracker is declared lost.
#[test]
fn a_stall_may_end_by_a_latency_without_a_bound() {
    let yaml = "
cluster: {nodes: 1, network: {latency: {log_normal: {mean: 167ms, cv: 2}}}}
hadoop: {expiry: 20s}
faults: [{unhealthy: {nodes: [node-1]}, at: 17270ms}]
workload: {jobs: [{name: job-0, submit: 361851ms, maps: 1}]}
";
    let (tally, wrong) = found(yaml);
    assert!(tally.deadlocks == 1 && wrong.is_none(), "{wrong:?}");
}

/// A task does not try a node again where it failed. The other node has too little memory, and the
/// JobTracker sums up its refusals until the end.
#[test]
fn refusals_after_a_stall_are_no_progress() {
    let yaml = "
cluster: {nodes: 2, memory: 80MiB, groups: [{count: 1, memory: 574MiB}], resources: memory+cores}
faults: [{task_failures: 100 %}]
workload: {jobs: [{name: job-0, maps: 1}]}
";
    let (tally, wrong) = found(yaml);
    assert!(tally.deadlocks == 1 && wrong.is_none(), "{wrong:?}");
}

/// `MUMAKIL_CASES` sets the number of cases.
#[test]
fn a_hunt_finds_nothing_in_what_is_right() {
    let registry = crate::testing::registry();
    let runs = std::env::var("MUMAKIL_CASES").map_or(40, |cases| cases.parse().unwrap());
    let workers = NonZero::new(1).unwrap();
    let wanted = Hunt { subject: MUMAKIL, seed: 1, runs, workers, time: None, patience: PATIENCE };
    let mut caught = Vec::new();
    let tally = hunt(&wanted, &registry, |catch| caught.extend(catch));
    assert!(tally.is_clean(), "{caught:?}");
    assert_eq!((tally.runs, tally.repeated), (runs, runs / 16));
}

/// A policy that launches nothing, and panics when there is something to launch.
struct Helpless;

impl Scheduler for Helpless {
    fn offer(&mut self, offer: &mut Offer<'_>) {
        if let Some(job) = offer.running_jobs().find(|job| 0 < job.pending(SlotKind::Map)) {
            panic!("job {} is too much", job.id().0);
        }
    }
}

impl Policy for Helpless {
    const NAME: &'static str = "helpless";
    const ABOUT: &'static str = "gives up";
    type Options = ();

    fn new((): ()) -> Self {
        Self
    }
}

/// A policy that launches all that it can: maps and, with two kinds, reduces. It draws a warning that
/// has nothing to do with stalls.
struct Greedy<const KINDS: usize>;

impl<const KINDS: usize> Scheduler for Greedy<KINDS> {
    fn offer(&mut self, offer: &mut Offer<'_>) {
        let jobs: Vec<JobId> = offer.running_jobs().map(Job::id).collect();
        let reason = Reason::Other("greedy");
        for kind in &SlotKind::BOTH[..KINDS] {
            for job in &jobs {
                let mut launched = true;
                while launched && 0 < offer.free(*kind) {
                    launched = match kind {
                        SlotKind::Map => offer.launch_map(*job, MapReach::Any, reason).is_some(),
                        SlotKind::Reduce => offer.launch_reduce(*job, reason).is_some(),
                    };
                }
            }
        }
    }
}

impl<const KINDS: usize> Policy for Greedy<KINDS> {
    const NAME: &'static str = "greedy";
    const ABOUT: &'static str = "launches all that it can";
    type Options = ();

    fn settle((): &mut (), _: &PolicySite<'_>) -> Vec<Complaint> {
        vec![Complaint::warning(&[], "it is not fair", "choose `fair`")]
    }

    fn new((): ()) -> Self {
        Self
    }
}

const MAPS_AND_REDUCES: &str =
    "{cluster: {nodes: 2}, workload: {jobs: [{name: a, maps: 4, reduces: 2}]}}";

/// Judges a scenario under a policy.
fn found_under<const KINDS: usize>(yaml: &str) -> (HuntTally, Option<CaseFlaw>) {
    let mut registry = crate::testing::registry();
    registry.add::<Greedy<KINDS>>();
    let tree = under(&serde_yaml::from_str(yaml).unwrap(), &"greedy".into());
    Trial::new(&MUMAKIL, &registry, 1).of(&tree)
}

/// Other warnings than those of stalls once excused it.
#[test]
fn a_policy_that_never_launches_reduces_is_found_though_it_draws_a_warning() {
    let (tally, wrong) = found_under::<1>(MAPS_AND_REDUCES);
    let words = wrong.expect("the reduces starve").words;
    assert_eq!(tally.violations, 1);
    assert!(words.starts_with("a job starves: the run stalls"), "{words}");
    assert!(words.contains("2 reduces wait for the policy"), "{words}");
}

#[test]
fn a_policy_that_ends_its_jobs_is_not_accused_and_one_that_stalls_as_fifo_does_is_not_either() {
    let (tally, wrong) = found_under::<2>(MAPS_AND_REDUCES);
    assert!(tally.deadlocks == 0 && wrong.is_none(), "{wrong:?}");
    let dead = MAPS_AND_REDUCES.replace("nodes: 2}", "nodes: 2}, faults: [{at: 1s, stop: all}]");
    let (tally, wrong) = found_under::<1>(&dead);
    assert!(tally.deadlocks == 1 && wrong.is_none(), "{wrong:?}");
}

/// The reduces take two slots each, and the node has one after its restart.
#[test]
fn a_policy_is_not_blamed_for_nodes_that_become_too_small() {
    let yaml = "
cluster: {nodes: 1}
hadoop: {slow_start: 1}
scheduler: {capacity: {reduce_slot: 100MiB}}
workload: {jobs: [{name: a, maps: 1, map_time: 10min, reduces: 1, reduce_memory: 200MiB}]}
faults: [{at: 5min, restart: {nodes: all, for: 10s, reduce_slots: 1}}]
";
    let (tally, wrong) = found(yaml);
    assert!(tally.deadlocks == 1 && wrong.is_none(), "{wrong:?}");
}

#[test]
fn a_stall_of_which_users_are_warned_is_no_mistake() {
    let yaml = "
cluster: {nodes: 1}
scheduler: {modified-fair: {allocations: {pool_max_jobs: 0}}}
workload: {jobs: [{name: a, maps: 1}]}
";
    let (tally, wrong) = found(yaml);
    assert!(tally.deadlocks == 1 && wrong.is_none(), "{wrong:?}");
}

#[test]
fn each_case_that_breaks_is_told_with_a_small_scenario_that_can_be_run() {
    let mut registry = crate::testing::registry();
    registry.add::<Helpless>();
    let subject = Subject::Mumakil { policy: Some("helpless".to_owned()) };
    let workers = NonZero::new(2).unwrap();
    let wanted = Hunt { subject, seed: 7, runs: 4, workers, time: None, patience: PATIENCE };
    let (mut caught, mut done) = (Vec::new(), 0);
    let tally = hunt(&wanted, &registry, |catch| match catch {
        Some(catch) => caught.push(catch),
        None => done += 1,
    });
    assert_eq!((tally.runs, tally.violations, done, caught.len()), (4, 4, 4, 4));
    for catch in caught {
        assert!(catch.words.contains("the policy `helpless` panicked: job "), "{}", catch.words);
        let tree: serde_yaml::Value = serde_yaml::from_str(&catch.yaml).unwrap();
        assert_eq!(wrong(&tree, &registry), Ok(None), "{}", catch.yaml);
        assert!(
            catch.yaml.lines().count() < 10 && catch.yaml.contains("nodes: "),
            "{}",
            catch.yaml
        );
    }
}

/// A mistake that no case provokes, or that the checker cannot see, would never be found. Each case
/// is run with each mistake that no earlier case has shown.
#[test]
fn each_planted_mistake_is_found_within_a_thousand_cases() {
    let registry = crate::testing::registry();
    let schema = schema(&registry);
    let left: Mutex<Vec<&Planted>> = Mutex::new(PLANTED.iter().collect());
    let workers = thread::available_parallelism().unwrap();
    let hunt =
        Hunt { subject: MUMAKIL, seed: 1, runs: 1_000, workers, time: None, patience: PATIENCE };
    let is_over = || left.lock().is_empty();
    each_case(&hunt, is_over, |seed| {
        let mut tree = drawn(seed, &registry, &schema);
        // End cases early: a mistake shows early or not at all, and a few endless cases would take
        // nearly all the time.
        tree["until"] = "12h".into();
        let hunted = left.lock().clone();
        for mistake in hunted {
            let trial = Trial { recast: mistake.plant, ..Trial::new(&MUMAKIL, &registry, 1) };
            if trial.of(&tree).1.is_some_and(|wrong| wrong.words.contains(mistake.words)) {
                left.lock().retain(|other| other.name != mistake.name);
            }
        }
    });
    let left: Vec<&str> = left.lock().iter().map(|mistake| mistake.name).collect();
    assert!(left.is_empty(), "not found: {left:?}");
}

fn exchange(question: &str, answer: &str) -> (Vec<u8>, Vec<u8>) {
    (question.into(), answer.into())
}

#[test]
fn two_runs_part_where_an_answer_means_something_else() {
    let hello = exchange("{\"hello\":{}}", r#"{"hello":{"protocol":1}}"#);
    let first = exchange("q1", r#"{"answer":{"number":1,"do":[]}}"#);
    let same = exchange("q1", r#"{"answer":{"do":[],"number":1}}"#);
    let other = exchange("q1", r#"{"answer":{"number":1,"do":[{"map":{"job":0}}]}}"#);
    assert!(parted(&[hello.clone(), first.clone()], &[hello.clone(), same]).is_none());
    let wrong = parted(&[hello.clone(), first], &[hello, other]).unwrap();
    assert!(wrong.contains("part at question 1:"), "{}", wrong);
    assert!(wrong.contains("and then {\"answer\":{\"number\":1,\"do\":[{\"map\""));
}

#[test]
fn mistakes_are_the_same_at_other_instants_and_numbers() {
    let wrong = |words: &str| CaseFlaw::new(words, "");
    let one = wrong("`a.py` at 3 s of the run: it names job 7, which has not arrived\n  asked 1");
    assert!(
        one.is_in(&wrong(
            "`a.py` at 2 min 01 s of the run: it names job 12, which has not arrived"
        ))
    );
    assert!(!one.is_in(&wrong("`a.py` at 3 s of the run: it ended with exit code 1")));
}

#[test]
fn a_case_is_cast_wherever_a_policy_stands() {
    let tree = "{scheduler: {fifo: {}}, later: [{at: 1s, scheduler: fifo}, {at: 2s, submit: {}}]}";
    let tree = under(&serde_yaml::from_str(tree).unwrap(), &"mine".into());
    assert_eq!(
        serde_json::to_string(&tree).unwrap(),
        r#"{"scheduler":"mine","later":[{"at":"1s","scheduler":"mine"},{"at":"2s","submit":{}}]}"#
    );
}
