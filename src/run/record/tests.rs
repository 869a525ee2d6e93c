//! Complete recordings of hand-written streams of facts.

pub(crate) mod stream;

use std::fs;
use std::path::Path;

use hdrhistogram::Histogram;
use insta::assert_snapshot;
use proptest::prelude::*;
use tempfile::TempDir;

use self::stream::{Stream, again, map, reduce};
use super::*;
use mumakil_base::units::SimSpan;
use mumakil_core::mapred::{
    AttemptFact, AttemptState, AutoSpan, Fact, JobFact, JobId, JobSize, JobSpec, Locality, Outcome,
    PerSlot, PhaseTimes, Reason, Role, SlotKind, TaskId, TaskKind, TrackerId,
};
use mumakil_runtime::EventSink;
use mumakil_scenario::RecordSpec;

/// The files of a recorded stream.
struct Left {
    folder: TempDir,
    summary: Summary,
}

impl Left {
    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.folder.path().join(name)).unwrap()
    }

    /// Returns the numbers of the jobs, with the columns of `jobs.csv` from this one on.
    fn columns(&self, first: &str) -> String {
        let table = self.read("jobs.csv");
        let place = table.lines().next().unwrap().split(',').position(|name| name == first);
        let columns = |line: &str| {
            let cells: Vec<&str> = line.split(',').collect();
            format!("{},{}\n", cells[0], cells[place.unwrap()..].join(","))
        };
        table.lines().map(columns).collect()
    }

    fn has(&self, name: &str) -> bool {
        self.folder.path().join(name).exists()
    }
}

fn everything() -> RecordSpec {
    RecordSpec { events: true, sample: SimSpan::ZERO, ..RecordSpec::default() }
}

fn setup(settings: RecordSpec, folder: Option<&Path>) -> Setup {
    let folder = folder.map(Path::to_owned);
    let place = |node: &str, rack: &str| NodeLabel {
        node: node.to_owned(),
        rack: rack.to_owned(),
        group: String::new(),
    };
    let labels = [place("node-1", "rack-1"), place("node-2", "rack-2")].into();
    Setup {
        settings,
        folder,
        labels,
        progress: None,
        watchers: Vec::new(),
        counts_losses: false,
        demands: Vec::new(),
        is_batch: false,
        chains: Vec::new(),
        topology: None,
    }
}

fn run(millis: u64) -> RunFacts {
    RunFacts {
        scenario: "by-hand".to_owned(),
        policy: "fifo".to_owned(),
        seed: 7,
        version: "0.1.0".to_owned(),
        nodes: 2,
        messages: 40,
        ended: SimTime::ZERO + SimSpan::from_millis(millis),
        ..RunFacts::default()
    }
}

fn record(stream: Stream, settings: RecordSpec, millis: u64) -> Left {
    record_chains(Vec::new(), stream, settings, millis)
}

fn record_chains(
    chains: Vec<Vec<JobId>>,
    stream: Stream,
    settings: RecordSpec,
    millis: u64,
) -> Left {
    let folder = TempDir::new().unwrap();
    let setup = Setup { chains, ..setup(settings, Some(folder.path())) };
    let (mut sender, recorder) = Recorder::start(setup).unwrap();
    stream.events.into_iter().for_each(|event| sender.take(&mut vec![event]));
    sender.flush();
    let summary = recorder.finish(run(millis), None).unwrap().summary;
    Left { folder, summary }
}

/// A job of two maps and a reduce on two nodes. The second map fails at first. The reduce is
/// suspended for a while and commits; the JobTracker learns of its success only at the next
/// heartbeat.
fn small_run() -> Stream {
    use AttemptState::{CommitPending, Failed, Running, Succeeded};
    let (first, second, last) = (map(0, 0), map(0, 1), reduce(0, 0));
    let phases = PhaseTimes {
        shuffle: SimSpan::from_millis(1_500),
        sort: SimSpan::from_millis(80),
        commit: Some(SimSpan::from_millis(700)),
        suspended: SimSpan::from_millis(2_000),
        ..PhaseTimes::default()
    };
    Stream::default()
        .up(0, 2, 1)
        .up(1, 2, 1)
        .at(100)
        .submit(JobSpec::bare(0, 2, 1))
        .at(1_000)
        .heartbeat(0, 2_000, 1_000)
        .assign(first, 0, (1, 1))
        .at(1_001)
        .start(first, 0)
        .at(2_000)
        .heartbeat(1, 2_500, 0)
        .grant(second, 1, (2, 0), |grant| {
            grant.locality = Some(Locality::OffRack);
            grant.reason = Reason::Waited(SimSpan::from_millis(1_900));
        })
        .at(2_001)
        .start(second, 1)
        .at(4_000)
        .end(first, 0, Outcome::Succeeded)
        .learn(first, 0, Succeeded, (1, 0))
        .at(5_000)
        .end(second, 1, Outcome::Failed)
        .at(6_000)
        .learn(second, 1, Failed, (0, 1))
        .assign(again(second), 0, (1, 0))
        .start(again(second), 0)
        .at(7_000)
        .assign(last, 1, (1, 0))
        .start(last, 1)
        .at(8_000)
        .suspend(last, 1)
        .at(9_000)
        .end(again(second), 0, Outcome::Succeeded)
        .learn(again(second), 0, Succeeded, (0, 0))
        .fact(Fact::Job(JobId(0), JobFact::MapsDone))
        .at(10_000)
        .resume(last, 1)
        .learn(last, 1, Running, (1, 0))
        .at(12_000)
        .fact(Fact::Attempt(last, TrackerId(1), AttemptFact::CommitPending))
        .learn(last, 1, CommitPending, (1, 0))
        .at(12_700)
        .end_after(last, 1, Outcome::Succeeded, phases)
        .at(15_000)
        .learn(last, 1, Succeeded, (0, 0))
        .job_ended(0, Outcome::Succeeded)
}

#[test]
fn jobs_have_a_row_each() {
    let left = record(small_run().at(15_500).submit(JobSpec::bare(2, 1, 0)), everything(), 16_000);
    assert_snapshot!(left.read("jobs.csv"), @r"
    job,name,user,pool,class,priority,maps,reduces,submit_ms,initialised_ms,running_ms,first_launch_ms,maps_done_ms,finish_ms,sojourn_ms,wait_ms,node_local,rack_local,off_rack,failed,killed,suspended,outcome
    0,job-0,ann,research,small,normal,2,1,100,100,100,1000,9000,15000,14900,900,2,0,0,1,0,1,succeeded
    2,job-2,ann,research,small,normal,1,0,15500,15500,15500,,,,,,0,0,0,0,0,0,unfinished
    ");
}

/// A refused job is over at its submission, but has no sojourn, and no part in the makespan.
#[test]
fn a_refused_job_counts_only_as_refused() {
    let spec = |id| JobSpec { class: "".into(), ..JobSpec::bare(id, 1, 0) };
    let stream = Stream::default()
        .at(1_000)
        .submit(spec(0))
        .at(5_000)
        .job_ended(0, Outcome::Succeeded)
        .at(7_000)
        .refuse(spec(1), Reason::QueueFull(2_000));
    let left = record(stream, RecordSpec { decisions: true, ..everything() }, 10_000);
    let summary = &left.summary;
    assert_eq!((summary.jobs, summary.jobs_succeeded, summary.jobs_refused), (2, 1, 1));
    assert_eq!(summary.outcomes().map(|(jobs, _)| jobs), [1, 0, 0, 1, 0]);
    assert_eq!((summary.makespan_s, summary.mean_sojourn_s), (Some(4.0), Some(4.0)));
    let row = left.read("jobs.csv").lines().nth(2).unwrap().to_owned();
    assert!(row.ends_with(",7000,,,,,7000,,,0,0,0,0,0,0,refused"), "{row}");
    let decisions = left.read("decisions.csv");
    let why = "\"its queue has 2,000 jobs, and accepts no more\"";
    let row = format!("refuse-job,1,setup,,,7000,7000,1,queue-full,,,,,,,{why}\n");
    assert!(decisions.ends_with(&row), "{decisions}");
}

/// A job that is killed early must not make the mean of its pool, or of all jobs, better.
#[test]
fn sojourns_are_of_jobs_that_succeeded() {
    let in_pool = |id, pool: &str| JobSpec { pool: pool.into(), ..JobSpec::bare(id, 1, 0) };
    let stream = Stream::default()
        .submit(in_pool(0, "one"))
        .submit(in_pool(1, "one"))
        .submit(in_pool(2, "other"))
        .at(1_000)
        .job_ended(1, Outcome::Killed)
        .at(4_000)
        .job_ended(0, Outcome::Succeeded)
        .job_ended(2, Outcome::Failed);
    let left = record(stream, everything(), 10_000);
    let summary = &left.summary;
    let sojourns = [summary.mean_sojourn_s, summary.median_sojourn_s, summary.p95_sojourn_s];
    assert_eq!(sojourns, [Some(4.0); 3]);
    assert_eq!(summary.left_out().unwrap(), "2 of 3 left out: 1 failed, 1 killed");
    let pools = summary.pools.iter().map(|pool| (pool.mean_sojourn_s, pool.jobs_left_out));
    assert_eq!(pools.collect::<Vec<_>>(), [(Some(4.0), 1), (None, 1)]);
    let sojourns = left.read("histograms/job_sojourn.hgrm");
    assert!(sojourns.contains("Total count    =            1"), "{sojourns}");
}

/// The second chain begins with the job that has the higher number, the third chain never ends, and
/// no job of the last chain has arrived.
#[test]
fn chains_take_from_their_first_arrival_to_their_last_end() {
    let stream = Stream::default()
        .at(100)
        .submit(JobSpec::bare(0, 1, 0))
        .submit(JobSpec::bare(2, 1, 0))
        .at(200)
        .submit(JobSpec::bare(1, 1, 0))
        .submit(JobSpec::bare(4, 1, 0))
        .at(4_000)
        .job_ended(0, Outcome::Succeeded)
        .job_ended(4, Outcome::Succeeded)
        .at(5_000)
        .job_ended(2, Outcome::Succeeded)
        .at(5_500)
        .submit(JobSpec::bare(3, 1, 0))
        .at(9_000)
        .job_ended(3, Outcome::Failed)
        .job_ended(1, Outcome::Succeeded);
    let chains = [&[0][..], &[1, 2, 3], &[4, 5], &[6]];
    let chains = chains.map(|jobs| jobs.iter().copied().map(JobId).collect());
    let settings = RecordSpec { chains: true, ..everything() };
    let left = record_chains(chains.to_vec(), stream, settings, 10_000);
    assert_snapshot!(left.columns("chain_jobs"), @r"
    job,chain_jobs,chain_finish_ms,chain_sojourn_ms,chain_outcome
    0,1,4000,3900,succeeded
    1,3,9000,8900,failed
    2,,,,
    3,,,,
    4,2,,,unfinished
    ");
}

/// A policy tells the sizes of a job right after the job's success, for each kind of task.
#[test]
fn sizes_stand_beside_their_estimates() {
    let size = |estimated, real| JobSize { estimated, real };
    let sized = |job, kind, size| Fact::Job(JobId(job), JobFact::Sized(kind, size));
    let stream = Stream::default()
        .submit(JobSpec::bare(0, 9, 2))
        .submit(JobSpec::bare(1, 9, 0))
        .at(4_000)
        .job_ended(1, Outcome::Succeeded)
        .fact(sized(1, SlotKind::Map, size(12.0, 10.0)))
        .at(5_000)
        .job_ended(0, Outcome::Succeeded)
        .fact(sized(0, SlotKind::Map, size(15.0, 20.0)))
        .fact(sized(0, SlotKind::Reduce, size(7.5, 0.0)));
    let left = record(stream, RecordSpec { sizes: true, ..everything() }, 10_000);
    assert_snapshot!(left.columns("map_estimate_ms"), @r"
    job,map_estimate_ms,map_size_ms,map_error,reduce_estimate_ms,reduce_size_ms,reduce_error
    0,15000,20000,-0.25,7500,0,
    1,12000,10000,0.2,,,
    ");
}

#[test]
fn attempts_have_a_row_each() {
    let left = record(small_run(), everything(), 16_000);
    assert_snapshot!(left.read("tasks.csv"), @r"
    job,kind,task,attempt,node,rack,locality,slots,launch_ms,start_ms,start_up_ms,shuffle_ms,maps_wait_ms,sort_ms,finish_ms,heard_ms,commit_ms,suspended_ms,outcome,speculative,code,place,waited_ms,held,share,min_share,killed_code,killed_for_job,killed_held,killed_share,reason,suspensions
    0,map,0,0,node-1,rack-1,node,1,1000,1001,0,,,,4000,4000,,0,succeeded,false,in-line,0,,,,,,,,,head of line,
    0,map,1,0,node-2,rack-2,off-rack,1,2000,2001,0,,,,5000,6000,,0,failed,false,waited,,1900,,,,,,,,after 1.9 s of waiting for a place near its input,
    0,map,1,1,node-1,rack-1,node,1,6000,6000,0,,,,9000,9000,,0,succeeded,false,in-line,0,,,,,,,,,head of line,
    0,reduce,0,0,node-2,rack-2,,1,7000,7000,0,1500,1000,80,12700,15000,700,2000,succeeded,false,in-line,0,,,,,,,,,head of line,8000-10000
    ");
}

#[test]
fn attempts_that_are_open_at_the_end_come_last_in_their_order() {
    let stream = Stream::default()
        .up(0, 4, 1)
        .submit(JobSpec::bare(0, 3, 0))
        .assign(map(0, 2), 0, (1, 2))
        .assign(map(0, 1), 0, (2, 1))
        .assign(map(0, 0), 0, (3, 0))
        .at(1)
        .start(map(0, 1), 0)
        .start(map(0, 0), 0)
        .at(10)
        .end(map(0, 0), 0, Outcome::Succeeded)
        .at(20)
        .learn(map(0, 2), 0, AttemptState::Killed, (2, 1));
    assert_snapshot!(record(stream, everything(), 30).read("tasks.csv"), @r"
    job,kind,task,attempt,node,rack,locality,slots,launch_ms,start_ms,start_up_ms,shuffle_ms,maps_wait_ms,sort_ms,finish_ms,heard_ms,commit_ms,suspended_ms,outcome,speculative,code,place,waited_ms,held,share,min_share,killed_code,killed_for_job,killed_held,killed_share,reason,suspensions
    0,map,0,0,node-1,rack-1,node,1,0,1,0,,,,10,,,0,succeeded,false,in-line,0,,,,,,,,,head of line,
    0,map,1,0,node-1,rack-1,node,1,0,1,,,,,,,,,unfinished,false,in-line,0,,,,,,,,,head of line,
    0,map,2,0,node-1,rack-1,node,0,0,,,,,,,20,,,killed,false,in-line,0,,,,,,,,,head of line,
    ");
}

#[test]
fn an_attempt_that_outlives_its_job_has_its_trackers_word() {
    let stream = Stream::default()
        .up(0, 4, 1)
        .submit(JobSpec::bare(0, 2, 0))
        .assign(map(0, 0), 0, (1, 1))
        .assign(map(0, 1), 0, (2, 0))
        .at(5)
        .start(map(0, 0), 0)
        .end(map(0, 0), 0, Outcome::Failed)
        .at(10)
        .job_ended(0, Outcome::Killed)
        .at(20)
        .end(map(0, 1), 0, Outcome::Killed);
    assert_snapshot!(record(stream, everything(), 30).read("tasks.csv"), @r"
    job,kind,task,attempt,node,rack,locality,slots,launch_ms,start_ms,start_up_ms,shuffle_ms,maps_wait_ms,sort_ms,finish_ms,heard_ms,commit_ms,suspended_ms,outcome,speculative,code,place,waited_ms,held,share,min_share,killed_code,killed_for_job,killed_held,killed_share,reason,suspensions
    0,map,0,0,node-1,rack-1,node,1,0,5,0,,,,5,,,0,failed,false,in-line,0,,,,,,,,,head of line,
    0,map,1,0,node-1,rack-1,node,0,0,,,,,,20,,,,killed,false,in-line,0,,,,,,,,,head of line,
    ");
}

#[test]
fn a_map_whose_output_is_lost_has_a_second_row() {
    let stream = Stream::default()
        .up(0, 1, 1)
        .submit(JobSpec::bare(0, 1, 1))
        .assign(map(0, 0), 0, (1, 0))
        .start(map(0, 0), 0)
        .at(10)
        .end(map(0, 0), 0, Outcome::Succeeded)
        .at(12)
        .learn(map(0, 0), 0, AttemptState::Succeeded, (0, 0))
        .at(20)
        .learn(map(0, 0), 0, AttemptState::Killed, (0, 1));
    assert_snapshot!(record(stream, everything(), 30).read("tasks.csv"), @r"
    job,kind,task,attempt,node,rack,locality,slots,launch_ms,start_ms,start_up_ms,shuffle_ms,maps_wait_ms,sort_ms,finish_ms,heard_ms,commit_ms,suspended_ms,outcome,speculative,code,place,waited_ms,held,share,min_share,killed_code,killed_for_job,killed_held,killed_share,reason,suspensions
    0,map,0,0,node-1,rack-1,node,1,0,0,0,,,,10,12,,0,succeeded,false,in-line,0,,,,,,,,,head of line,
    0,map,0,0,node-1,rack-1,,0,,,,,,,20,,,,lost,,,,,,,,,,,,,
    ");
}

#[test]
fn the_removal_of_an_output_has_a_row_of_its_own() {
    let (attempt, tracker) = (map(0, 0), TrackerId(1));
    let phases = PhaseTimes::default();
    let (role, outcome) = (Role::TaskCleanup, Outcome::Killed);
    let stream = Stream::default()
        .up(0, 1, 1)
        .up(1, 1, 1)
        .submit(JobSpec::bare(0, 1, 0))
        .assign(attempt, 0, (1, 0))
        .start(attempt, 0)
        .at(10)
        .end(attempt, 0, Outcome::Killed)
        .learn(attempt, 0, AttemptState::KilledUnclean, (1, 0))
        .grant(attempt, 1, (1, 0), |grant| grant.role = role)
        .at(11)
        .fact(Fact::Attempt(attempt, tracker, AttemptFact::Started { role, slots: 1 }))
        .at(12)
        .fact(Fact::Attempt(attempt, tracker, AttemptFact::Ended { role, outcome, phases }))
        .learn(attempt, 1, AttemptState::Killed, (0, 1));
    let left = record(stream, everything(), 30);
    assert_snapshot!(left.read("tasks.csv"), @r"
    job,kind,task,attempt,node,rack,locality,slots,launch_ms,start_ms,start_up_ms,shuffle_ms,maps_wait_ms,sort_ms,finish_ms,heard_ms,commit_ms,suspended_ms,outcome,speculative,code,place,waited_ms,held,share,min_share,killed_code,killed_for_job,killed_held,killed_share,reason,suspensions
    0,map-cleanup,0,0,node-2,rack-2,,1,,11,,,,,12,,,,killed,false,task-cleanup,,,,,,,,,,cleaning up after an attempt,
    0,map,0,0,node-1,rack-1,node,1,0,0,0,,,,10,12,,0,killed,false,in-line,0,,,,,,,,,head of line,
    ");
    assert_snapshot!(left.read("timeline.csv"), @r"
    time_ms,kind,job,pool,running,slots,suspended,pending
    0,map,0,research,1,1,0,0
    10,map,0,research,1,0,0,0
    11,map,0,research,1,1,0,0
    12,map,0,research,0,0,0,1
    ");
}

#[test]
fn the_timeline_shows_every_change() {
    let left = record(small_run(), everything(), 16_000);
    assert_snapshot!(left.read("timeline.csv"), @r"
    time_ms,kind,job,pool,running,slots,suspended,pending
    100,map,0,research,0,0,0,2
    100,reduce,0,research,0,0,0,1
    1000,map,0,research,1,0,0,1
    1001,map,0,research,1,1,0,1
    2000,map,0,research,2,1,0,0
    2001,map,0,research,2,2,0,0
    4000,map,0,research,1,1,0,0
    5000,map,0,research,1,0,0,0
    6000,map,0,research,1,1,0,0
    7000,reduce,0,research,1,1,0,0
    8000,reduce,0,research,1,0,1,0
    9000,map,0,research,0,0,0,0
    10000,reduce,0,research,1,1,0,0
    12700,reduce,0,research,1,0,0,0
    15000,reduce,0,research,0,0,0,0
    ");
}

#[test]
fn a_sampled_timeline_shows_what_was_at_each_step() {
    let settings = RecordSpec { sample: SimSpan::from_secs(5), ..everything() };
    let left = record(small_run(), settings, 16_000);
    assert_snapshot!(left.read("timeline.csv"), @r"
    time_ms,kind,job,pool,running,slots,suspended,pending
    5000,map,0,research,1,0,0,0
    5000,reduce,0,research,0,0,0,1
    10000,map,0,research,0,0,0,0
    10000,reduce,0,research,1,1,0,0
    15000,reduce,0,research,0,0,0,0
    ");
}

#[test]
fn setup_tasks_hold_slots_but_are_not_on_the_timeline() {
    let setup = TaskId { job: JobId(0), kind: TaskKind::Setup, index: 0 }.attempt(0);
    let stream = Stream::default()
        .up(0, 1, 0)
        .submit(JobSpec::bare(0, 0, 0))
        .assign(setup, 0, (0, 0))
        .start(setup, 0)
        .at(500)
        .end(setup, 0, Outcome::Succeeded)
        .learn(setup, 0, AttemptState::Succeeded, (0, 0));
    let left = record(stream, everything(), 1_000);
    assert_eq!(left.read("timeline.csv").lines().count(), 1);
    assert_eq!(left.summary.slot_utilisation, PerSlot { map: Some(0.5), reduce: None });
    assert_eq!(left.summary.attempts, 0);
}

#[test]
fn the_summary_has_its_keys_in_order() {
    let left = record(small_run(), everything(), 16_000);
    assert_snapshot!(left.read("summary.json"), @r#"
    {
      "scenario": "by-hand",
      "policy": "fifo",
      "precedence": {
        "groups": "own",
        "jobs": "own"
      },
      "seed": 7,
      "version": "0.1.0",
      "model": 0,
      "nodes": 2,
      "map_slots": 4,
      "reduce_slots": 2,
      "warm_up_s": 0.0,
      "jobs": 1,
      "jobs_succeeded": 1,
      "jobs_failed": 0,
      "jobs_killed": 0,
      "attempts": 4,
      "attempts_failed": 1,
      "attempts_killed": 0,
      "suspensions": 1,
      "maps": 2,
      "reduces": 1,
      "makespan_s": 14.9,
      "mean_sojourn_s": 14.9,
      "median_sojourn_s": 14.9,
      "p95_sojourn_s": 14.9,
      "mean_wait_s": 0.9,
      "locality": {
        "node": 1.0,
        "rack": 0.0,
        "off_rack": 0.0
      },
      "slot_utilisation": {
        "map": 0.140594,
        "reduce": 0.115625
      },
      "maps_wait": 0.27027,
      "load": {
        "verdict": "backlogged",
        "overloaded": false,
        "reason": "closed_loop",
        "arrivals": 0,
        "window_s": 0.0,
        "offered": {
          "map": null,
          "reduce": null
        },
        "growth": {
          "map": null,
          "reduce": null
        },
        "growth_p": {
          "map": null,
          "reduce": null
        }
      },
      "heartbeats": 2,
      "messages": 40,
      "virtual_s": 16.0
    }
    "#);
}

#[test]
fn a_summary_of_nothing_says_so() {
    let left = record(Stream::default(), everything(), 0);
    let Summary { jobs, makespan_s, median_sojourn_s, locality, .. } = left.summary;
    assert_eq!((jobs, makespan_s, median_sojourn_s, locality.node), (0, None, None, None));
    assert_eq!(left.read("jobs.csv").lines().count(), 1);
}

#[test]
fn events_are_lines_of_json() {
    let left = record(small_run(), everything(), 16_000);
    assert_snapshot!(left.read("events.jsonl"), @r#"
    {"at_us":0,"fact":"tracker up","node":"node-1","map_slots":2,"reduce_slots":1}
    {"at_us":0,"fact":"tracker joined","node":"node-1"}
    {"at_us":0,"fact":"tracker up","node":"node-2","map_slots":2,"reduce_slots":1}
    {"at_us":0,"fact":"tracker joined","node":"node-2"}
    {"at_us":100000,"fact":"job submitted","job":0,"name":"job-0","pool":"research","maps":2,"reduces":1}
    {"at_us":100000,"fact":"job initialised","job":0}
    {"at_us":100000,"fact":"job running","job":0}
    {"at_us":1000000,"fact":"heartbeat","node":"node-1","rtt_us":2000,"queued_us":1000}
    {"at_us":1000000,"fact":"assigned","job":0,"kind":"map","task":0,"attempt":0,"node":"node-1","role":"work","locality":"node","speculative":false,"waited_us":10000,"running":1,"pending":1,"code":"in-line","place":0,"reason":"head of line"}
    {"at_us":1001000,"fact":"started","job":0,"kind":"map","task":0,"attempt":0,"node":"node-1","role":"work"}
    {"at_us":2000000,"fact":"heartbeat","node":"node-2","rtt_us":2500,"queued_us":0}
    {"at_us":2000000,"fact":"assigned","job":0,"kind":"map","task":1,"attempt":0,"node":"node-2","role":"work","locality":"off-rack","speculative":false,"waited_us":10000,"running":2,"pending":0,"code":"waited","passed_over_us":1900000,"reason":"after 1.9 s of waiting for a place near its input"}
    {"at_us":2001000,"fact":"started","job":0,"kind":"map","task":1,"attempt":0,"node":"node-2","role":"work"}
    {"at_us":4000000,"fact":"ended","job":0,"kind":"map","task":0,"attempt":0,"node":"node-1","role":"work","outcome":"succeeded","shuffle_us":0,"sort_us":0,"suspended_us":0}
    {"at_us":4000000,"fact":"learned","job":0,"kind":"map","task":0,"attempt":0,"node":"node-1","state":"succeeded","running":1,"pending":0}
    {"at_us":5000000,"fact":"ended","job":0,"kind":"map","task":1,"attempt":0,"node":"node-2","role":"work","outcome":"failed","shuffle_us":0,"sort_us":0,"suspended_us":0}
    {"at_us":6000000,"fact":"learned","job":0,"kind":"map","task":1,"attempt":0,"node":"node-2","state":"failed","running":0,"pending":1}
    {"at_us":6000000,"fact":"assigned","job":0,"kind":"map","task":1,"attempt":1,"node":"node-1","role":"work","locality":"node","speculative":false,"waited_us":10000,"running":1,"pending":0,"code":"in-line","place":0,"reason":"head of line"}
    {"at_us":6000000,"fact":"started","job":0,"kind":"map","task":1,"attempt":1,"node":"node-1","role":"work"}
    {"at_us":7000000,"fact":"assigned","job":0,"kind":"reduce","task":0,"attempt":0,"node":"node-2","role":"work","speculative":false,"waited_us":10000,"running":1,"pending":0,"code":"in-line","place":0,"reason":"head of line"}
    {"at_us":7000000,"fact":"started","job":0,"kind":"reduce","task":0,"attempt":0,"node":"node-2","role":"work"}
    {"at_us":8000000,"fact":"suspended","job":0,"kind":"reduce","task":0,"attempt":0,"node":"node-2"}
    {"at_us":9000000,"fact":"ended","job":0,"kind":"map","task":1,"attempt":1,"node":"node-1","role":"work","outcome":"succeeded","shuffle_us":0,"sort_us":0,"suspended_us":0}
    {"at_us":9000000,"fact":"learned","job":0,"kind":"map","task":1,"attempt":1,"node":"node-1","state":"succeeded","running":0,"pending":0}
    {"at_us":9000000,"fact":"maps done","job":0}
    {"at_us":10000000,"fact":"resumed","job":0,"kind":"reduce","task":0,"attempt":0,"node":"node-2"}
    {"at_us":10000000,"fact":"learned","job":0,"kind":"reduce","task":0,"attempt":0,"node":"node-2","state":"running","running":1,"pending":0}
    {"at_us":12000000,"fact":"commit pending","job":0,"kind":"reduce","task":0,"attempt":0,"node":"node-2"}
    {"at_us":12000000,"fact":"learned","job":0,"kind":"reduce","task":0,"attempt":0,"node":"node-2","state":"commit-pending","running":1,"pending":0}
    {"at_us":12700000,"fact":"ended","job":0,"kind":"reduce","task":0,"attempt":0,"node":"node-2","role":"work","outcome":"succeeded","shuffle_us":1500000,"sort_us":80000,"commit_us":700000,"suspended_us":2000000}
    {"at_us":15000000,"fact":"learned","job":0,"kind":"reduce","task":0,"attempt":0,"node":"node-2","state":"succeeded","running":0,"pending":0}
    {"at_us":15000000,"fact":"job ended","job":0,"outcome":"succeeded"}
    "#);
}

#[test]
fn a_histogram_is_a_percentile_table() {
    let left = record(small_run(), everything(), 16_000);
    assert_snapshot!(left.read("histograms/slot_idle.hgrm"), @r"
           Value     Percentile TotalCount 1/(1-Percentile)

        1001.471 0.000000000000          1           1.00
        1001.471 0.100000000000          1           1.11
        1001.471 0.200000000000          1           1.25
        2000.895 0.300000000000          2           1.43
        2000.895 0.400000000000          2           1.67
        2001.919 0.500000000000          3           2.00
        2001.919 0.550000000000          3           2.22
        6000.639 0.600000000000          4           2.50
        6000.639 0.650000000000          4           2.86
        6000.639 0.700000000000          4           3.33
        6000.639 0.750000000000          4           4.00
        6000.639 0.775000000000          4           4.44
        7000.063 0.800000000000          5           5.00
        7000.063 1.000000000000          5
    #[Mean    =  3599.923200, StdDeviation   =  2415.272337]
    #[Max     =     7000.063, Total count    =            5]
    #[Buckets =           13, SubBuckets     =         2048]
    #[Values are milliseconds of virtual time. A percentile is the smallest value that this share does not exceed, to three digits; the median in summary.json is the middle of two neighbours]
    ");
}

#[test]
fn histograms_without_values_leave_no_file() {
    let left = record(small_run(), everything(), 16_000);
    let mut names: Vec<_> = fs::read_dir(left.folder.path().join("histograms"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert_snapshot!(names.join(" "), @"commit_delay.hgrm heartbeat_rtt.hgrm job_sojourn-small.hgrm job_sojourn.hgrm job_wait.hgrm jobtracker_queue.hgrm locality_wait.hgrm slot_idle.hgrm suspension.hgrm task_wait.hgrm");
}

#[test]
fn outputs_that_are_turned_off_are_not_there() {
    let none = RecordSpec {
        tasks: false,
        timeline: false,
        by_node: false,
        events: false,
        histograms: false,
        alone: false,
        chains: false,
        waste: false,
        sizes: false,
        deadlines: false,
        expenses: false,
        prometheus: false,
        shares: false,
        decisions: false,
        report: false,
        warm_up: AutoSpan::Fixed(SimSpan::ZERO),
        sample: SimSpan::ZERO,
    };
    let left = record(small_run(), none, 16_000);
    for name in ["tasks.csv", "timeline.csv", "events.jsonl", "histograms", "latency.hlog"] {
        assert!(!left.has(name), "{name}");
    }
    assert!(left.has("jobs.csv") && left.has("summary.json"));
}

#[test]
fn without_a_folder_there_is_the_summary() {
    let (mut sender, recorder) = Recorder::start(setup(everything(), None)).unwrap();
    small_run().events.into_iter().for_each(|event| sender.take(&mut vec![event]));
    drop(sender);
    let summary = recorder.finish(run(16_000), None).unwrap().summary;
    assert_eq!((summary.jobs_succeeded, summary.attempts), (1, 4));
}

#[test]
fn many_chunks_arrive_whole_and_in_order() {
    let mut stream = Stream::default().up(0, 1, 1);
    for beat in 0..10_000 {
        stream = stream.at(beat).heartbeat(0, beat, 0);
    }
    assert_eq!(record(stream, everything(), 10_000).summary.heartbeats, 10_000);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// The order is more mixed than on any scaled clock.
    #[test]
    fn a_stream_in_any_order_is_recorded_as_well_as_it_goes(
        events in Just(small_run().events).prop_shuffle()
    ) {
        let left = record(Stream { events, ..Stream::default() }, everything(), 16_000);
        prop_assert_eq!(left.read("jobs.csv").lines().count(), 2);
        prop_assert_eq!(left.read("events.jsonl").lines().count(), small_run().events.len());
        prop_assert_eq!((left.summary.jobs, left.summary.attempts), (1, 4));
    }
}

#[test]
fn the_log_reads_back_as_it_was_written() {
    use base64::Engine;
    use base64::engine::general_purpose::STANDARD;
    use hdrhistogram::serialization::Deserializer;
    use hdrhistogram::serialization::interval_log::{IntervalLogIterator, LogEntry};

    let left = record(small_run(), everything(), 16_000);
    let text = left.read("latency.hlog");
    let mut found = Vec::new();
    for entry in IntervalLogIterator::new(text.as_bytes()) {
        let LogEntry::Interval(interval) = entry.unwrap() else { continue };
        assert_eq!(interval.duration().as_secs(), 16);
        let bytes = STANDARD.decode(interval.encoded_histogram()).unwrap();
        let read: Histogram<u64> = Deserializer::new().deserialize(&mut &bytes[..]).unwrap();
        found.push(format!("{} n={} max={}", &*interval.tag().unwrap(), read.len(), read.max()));
    }
    assert_snapshot!(found.join("\n"), @r"
    commit_delay n=1 max=700415
    heartbeat_rtt n=2 max=2501
    job_sojourn n=1 max=14901247
    job_sojourn-small n=1 max=14901247
    job_wait n=1 max=900095
    jobtracker_queue n=2 max=1000
    locality_wait n=1 max=1900543
    slot_idle n=5 max=7000063
    suspension n=1 max=2000895
    task_wait n=4 max=10007
    ");
}

#[test]
fn a_class_of_strange_letters_still_names_a_file() {
    let spec = JobSpec { class: "büro, ../weekly".into(), ..JobSpec::bare(0, 1, 0) };
    let stream = Stream::default().submit(spec).at(5).job_ended(0, Outcome::Succeeded);
    let left = record(stream, everything(), 10);
    assert!(left.has("histograms/job_sojourn-büro__.._weekly.hgrm"));
}

#[test]
fn a_folder_that_has_vanished_is_an_error_with_its_path() {
    let folder = TempDir::new().unwrap().path().join("gone");
    let error = Recorder::start(setup(everything(), Some(&folder))).unwrap_err();
    assert_eq!(error.to_string(), format!("cannot write {}", folder.join("jobs.csv").display()));
}

/// `/dev/full` is always full.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_breaks_the_sender_and_is_reported_at_the_end() {
    let folder = TempDir::new().unwrap();
    std::os::unix::fs::symlink("/dev/full", folder.path().join("tasks.csv")).unwrap();
    let (mut sender, recorder) = Recorder::start(setup(everything(), Some(folder.path()))).unwrap();
    let events = small_run().events;
    for _ in 0..1_000_000 {
        if sender.is_broken() {
            break;
        }
        events.iter().cloned().for_each(|event| sender.take(&mut vec![event]));
        sender.flush();
    }
    assert!(sender.is_broken(), "the sender notices that the writer stopped");
    let error = recorder.finish(run(16_000), None).unwrap_err();
    let path = folder.path().join("tasks.csv");
    assert_eq!(error.to_string(), format!("cannot write {}", path.display()));
}

#[test]
fn a_sender_that_leads_nowhere_takes_everything() {
    let mut sender = EventSender::default();
    small_run().events.into_iter().for_each(|event| sender.take(&mut vec![event]));
    sender.flush();
    assert!(!sender.is_broken());
}
