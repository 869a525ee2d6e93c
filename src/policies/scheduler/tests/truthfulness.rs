//! Tests with random jobs on small clusters that the reports of policies are true: jobs that are
//! reported as held back get nothing, a job that is refused for a tracker's load is reported with
//! this reason, and the reported slots of pools and queues are right.

use proptest::collection::vec;
use proptest::prelude::*;

use super::*;
use mumakil_base::units::{Bytes, SimSpan};
use mumakil_core::mapred::{
    Input, JobId, JobSpec, PerSlot, Policy, PolicyBench, Priority, RankNumber, Reason, SlotKind,
    SlotShare, SlotStanding, Split, TrackerId,
};

const TRACKERS: u32 = 6;
const PRIORITIES: [Priority; 3] = [Priority::High, Priority::Normal, Priority::VeryLow];

/// A random event: its kind, and three numbers that choose the details.
type TimelineEvent = (u8, u32, u32, u32);

fn tell(spec: &mut JobSpec, (_, a, b, c): TimelineEvent) {
    spec.user = format!("u{}", b % 3).into();
    spec.pool = format!("p{}", c % 3).into();
    spec.priority = PRIORITIES[(a % 3) as usize];
    if c % 4 != 0 {
        let split = |map| Split {
            bytes: Bytes::new(1),
            holders: [TrackerId((map * 5 + b) % TRACKERS)].into(),
        };
        spec.input = Some(Input::Splits((0..spec.maps).map(split).collect::<Vec<_>>().into()));
    }
}

/// Runs a policy with these events.
fn play<P: Policy>(options: &str, happenings: &[TimelineEvent]) {
    let options = serde_yaml::from_str(options).unwrap();
    let racks: Vec<u32> = (0..TRACKERS).map(|tracker| tracker / 2).collect();
    let mut bench = PolicyBench::with_racks(P::new(options), &racks, PerSlot { map: 2, reduce: 2 });
    let mut now = 0.0;
    for happening in happenings {
        let (what, a, b, c) = *happening;
        now += f64::from(c % 7) / 2.0;
        bench.at(now);
        match what % 8 {
            0 => _ = bench.submit(1 + a % 5, b % 4, |spec| tell(spec, *happening)),
            1 => {
                let running = bench.running(a % TRACKERS);
                if let Some(attempt) = running.get(b as usize % running.len().max(1)) {
                    if c % 5 == 0 { bench.fails(*attempt) } else { bench.ends(*attempt) }
                }
            }
            2 => _ = bench.tick(),
            3 => _ = bench.carry_out(),
            _ => check::<P>(&mut bench, a % TRACKERS),
        }
    }
}

/// Lets a tracker make an offer, and checks that jobs that are held back get nothing.
fn check<P: Policy>(bench: &mut PolicyBench<P>, tracker: u32) {
    let held_back = held_back(bench);
    for attempt in bench.offer(tracker).into_iter().map(|launched| launched.attempt) {
        let (job, kind) = (attempt.job(), attempt.slot());
        assert!(!held_back.contains(&(job, kind)), "{} holds {job} back, not {attempt}", P::NAME);
    }
}

/// Returns the jobs that a policy reports as held back before an offer.
fn held_back<P: Policy>(bench: &PolicyBench<P>) -> Vec<(JobId, SlotKind)> {
    let mut withheld = bench.withheld();
    // Leave out two reasons that may cease to apply in the offer itself. Up to 0.21, limits of
    // users do not apply if no user is below its limit. `modified-fair` allots slots anew at an
    // offer if slots have become free.
    let gives_way = |why: &Reason| {
        *why == Reason::UserLimit
            || P::NAME == ModifiedFair::NAME && matches!(why, Reason::GroupLimit(_))
    };
    withheld.retain(|(.., why)| !gives_way(why));
    withheld.into_iter().map(|(job, kind, _)| (job, kind)).collect()
}

fn bench<P: Policy>(options: &str, map: u32) -> PolicyBench<P> {
    let policy = P::new(serde_yaml::from_str(options).unwrap());
    PolicyBench::new(policy, 2, PerSlot { map, reduce: 0 })
}

/// A job demands two of four slots on two nodes, so each node's part is one map. The first node
/// makes two offers.
#[test]
fn a_job_refused_for_the_load_of_a_tracker_has_that_reason() {
    fn refused<P: Policy>(options: &str) -> Vec<(JobId, SlotKind, &'static str)> {
        let mut bench = bench::<P>(options, 2);
        bench.submit(2, 0, |_| {});
        bench.tick();
        bench.refused();
        bench.offer(0);
        bench.offer(0);
        bench.refused()
    }
    let expected = [(JobId(0), SlotKind::Map, "tracker-load")];
    assert_eq!(refused::<Fifo>("{}"), expected);
    assert_eq!(refused::<Fair>("{tracker_load: current}"), expected);
    assert_eq!(refused::<FairDeficit>("{}"), expected);
    assert_eq!(refused::<ModifiedFair>("{tracker_load: current}"), expected);
}

/// There are ten slots. The first job demands all of them. The second demands two, and its pool has
/// a minimum of six.
#[test]
fn policies_tell_how_pools_stand() {
    fn told<P: Policy>(options: &str) -> Vec<(String, u32, Option<f64>, u32)> {
        let policy = P::new(serde_yaml::from_str(options).unwrap());
        let mut bench = PolicyBench::new(policy, 2, PerSlot { map: 5, reduce: 0 });
        bench.submit_to("p0", 20, 0);
        bench.submit_to("p1", 2, 0);
        bench.tick().fill();
        bench.tick();
        let told =
            bench.holdings(SlotKind::Map).into_iter().filter(|(pool, _)| pool.starts_with('p'));
        let numbers = |(pool, SlotStanding { held, share, min_share })| {
            (pool, held, share.map(SlotShare::slots), min_share)
        };
        told.map(numbers).collect()
    }
    let pools = "allocations: {pools: {p1: {min_maps: 6}}}";
    let [p0, p1] = ["p0", "p1"].map(str::to_owned);
    let shared = [(p1.clone(), 2, Some(2.0), 6), (p0.clone(), 8, Some(8.0), 0)];
    assert_eq!(told::<Fair>(&format!("{{{pools}}}")), shared);
    // The policy divides slots among jobs with tasks, whatever the number of their tasks.
    let by_jobs = [(p1.clone(), 2, Some(5.0), 6), (p0.clone(), 8, Some(5.0), 0)];
    assert_eq!(told::<FairDeficit>(&format!("{{{pools}}}")), by_jobs);
    let unshared = [(p1.clone(), 2, None, 6), (p0.clone(), 8, None, 0)];
    assert_eq!(told::<ModifiedFair>(&format!("{{{pools}}}")), unshared);
    let queues = "{allocations: {queues: {p0: {capacity: 40 %}, p1: {capacity: 60 %}}}}";
    assert_eq!(told::<Capacity>(queues), [(p0, 8, Some(4.0), 0), (p1, 2, Some(6.0), 0)]);
    assert_eq!(told::<Fifo>("{}"), []);
}

/// One map runs at a time, for 10 s.
#[test]
fn a_job_that_ranks_first_gets_the_slot() {
    fn play<P: Policy>(options: &str) -> Vec<RankNumber> {
        let mut bench = bench::<P>(options, 1);
        bench.lose(1);
        for (at, maps) in [(0.0, 5), (1.0, 2), (2.0, 9)] {
            bench.at(at).submit(maps, 0, |_| {});
        }
        bench.tick();
        let at_first = bench.ranking(SlotKind::Map);
        for round in 1..=16 {
            let ranking = bench.ranking(SlotKind::Map);
            let launched = bench.offer(0)[0];
            assert_eq!(launched.job(), ranking[0].0, "{}, round {round}: {ranking:?}", P::NAME);
            bench.advance(SimSpan::from_secs(10)).ends(launched);
        }
        assert_eq!(bench.ranking(SlotKind::Map), [], "{}", P::NAME);
        at_first.into_iter().take(3).map(|(_, numbers)| numbers[0]).collect()
    }
    let ranks = play::<ByRank>("{jobs: -maps}");
    assert_eq!(ranks, [("rank", -2.0), ("rank", -5.0), ("rank", -9.0)]);
    assert_eq!(play::<ByRank>("{jobs: -attained}"), [("rank", 0.0); 3]);
    assert_eq!(play::<Hfsp>("{sample: 1}"), [("sample", 1.0); 3]);
    let minimum = [("has_minimum", 0.0), ("has_minimum", 1.0), ("has_minimum", 1.0)];
    let pools = "{allocations: {pools: {research: {min_maps: 1}}}}";
    assert_eq!(play::<FairDeficit>(pools), minimum, "one job gets the pool's minimum");
}

proptest! {
    #[test]
    fn jobs_that_are_held_back_get_nothing(happenings in vec(any::<TimelineEvent>(), 1..90)) {
            let delay = "delay: {w1: 2s, w2: 3s}";
            play::<Fifo>("{}", &happenings);
            play::<Fifo>(&format!("{{padding: 50 %, {delay}}}"), &happenings);
            play::<Fifo>("{reduce_order: srt, reduce_gate: coupling}", &happenings);
            play::<Fifo>("{delay: {w1: 2s, long_task: 3s}}", &happenings);
            play::<NaiveFair>("{reduce_order: srt}", &happenings);
            play::<ByRank>("{jobs: age / remaining, delay: {w1: 2s}}", &happenings);
            play::<ByRank>("{jobs: -remaining, preemption: kill, preemption_when: waited > 2s}", &happenings);
            play::<ByRank>("{jobs: -attained, preemption: eager}", &happenings);
            play::<FairSkip>("{skips: 2, rack_skips: 1}", &happenings);
            let pools = "{p0: {min_maps: 2, order: fifo}, o: {pools: {p1: {weight: 2}, p2: {}}}}";
            for more in ["", "variant: paper, ", "assign_multiple: false, reduce_order: srt, "] {
                let options = format!("{{{more}{delay}, allocations: {{pools: {pools}}}}}");
                play::<Fair>(&options, &happenings);
            }
            let options = "{allocations: {pools: {p0: {min_maps: 2}}}, reduce_order: srt}";
            play::<FairDeficit>(options, &happenings);
            let queues = "allocations: {queues: {p0: {capacity: 20 %, maximum_capacity: 40 %}, \
                          o: {capacity: 80 %, queues: {p1: {supports_priority: true}, \
                          p2: {minimum_user_limit: 50 %}}}}}";
            for rules in ["0.20", "0.21", "1.x"] {
                play::<Capacity>(&format!("{{rules: \"{rules}\", {queues}}}"), &happenings);
            }
            play::<Capacity>(&format!("{{{queues}, {delay}, reduce_order: srt}}"), &happenings);
            play::<ModifiedFair>("{}", &happenings);
            play::<ModifiedFair>("{sorting: false, reduce_order: srt}", &happenings);
            for more in ["variant: hadoop", "variant: paper-2013", "preemption: kill", delay] {
                play::<Hfsp>(&format!("{{{more}}}"), &happenings);
            }
            play::<Ps>("null", &happenings);
    }
}
