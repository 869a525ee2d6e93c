//! What policies tell of contenders is what they do: of random jobs on small clusters, whoever is first
//! without a refusal gets the slot, and if all are refused nobody does.

use proptest::collection::vec;
use proptest::prelude::*;

use super::*;
use crate::mapred::bench::{Bench, input_on};
use crate::mapred::{
    Contender, Input, JobId, JobSpec, Measure, Outcome, PerSlot, Policy, Priority, Reason,
    SlotKind, Split, Standing, TrackerId,
};
use crate::units::Bytes;

const TRACKERS: u32 = 6;
const PRIORITIES: [Priority; 3] = [Priority::High, Priority::Normal, Priority::VeryLow];

/// Something that happens, with three numbers that say more.
type Happening = (u8, u32, u32, u32);

fn tell(spec: &mut JobSpec, (_, a, b, c): Happening) {
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

/// Lets all this happen to a policy; every offer keeps what was told of it.
fn play<P: Policy>(options: &str, happenings: &[Happening]) {
    let options = serde_yaml::from_str(options).unwrap();
    let racks: Vec<u32> = (0..TRACKERS).map(|tracker| tracker / 2).collect();
    let mut bench = Bench::with_racks(P::new(options), &racks, PerSlot { map: 2, reduce: 2 });
    let mut now = 0.0;
    for happening in happenings {
        let (what, a, b, c) = *happening;
        now += f64::from(c % 7) / 2.0;
        bench.at(now);
        match what % 8 {
            0 => _ = bench.job(1 + a % 5, b % 4, |spec| tell(spec, *happening)),
            1 => {
                let running = bench.running(a % TRACKERS);
                if let Some(attempt) = running.get(b as usize % running.len().max(1)) {
                    let outcome = if c % 5 == 0 { Outcome::Failed } else { Outcome::Succeeded };
                    bench.end(*attempt, outcome);
                }
            }
            2 => _ = bench.tick(),
            3 => _ = bench.kill(),
            _ => check::<P>(&mut bench, a % TRACKERS),
        }
    }
}

fn check<P: Policy>(bench: &mut Bench<P>, tracker: u32) {
    let held_back = held_back(bench);
    let (launched, lineups) = bench.listen(tracker);
    let name = P::NAME;
    for told in &lineups {
        let is_free =
            |one: &&Contender| one.refusal.is_none() && held_back.contains(&(one.job, told.kind));
        let odd = told.contenders.iter().find(is_free);
        assert_eq!(odd, None, "{name} says that it is held back: {told:#?}");
    }
    for (place, attempt) in launched.iter().enumerate() {
        let told = lineups.iter().rfind(|one| one.kind == attempt.slot() && one.launched == place);
        let told = told.unwrap_or_else(|| panic!("{name} said nothing of {attempt}"));
        let first = told.contenders.iter().find(|one| one.refusal.is_none());
        assert_eq!(first.map(|one| one.job), Some(attempt.job()), "{name}: {told:#?}");
    }
    for kind in SlotKind::BOTH {
        let Some(told) = lineups.iter().rfind(|one| one.kind == kind) else { continue };
        let resumes = |one: &&Contender| {
            let numbers = one.standings.iter().flat_map(|standing| &standing.numbers);
            !numbers.clone().any(|number| *number == Measure::Resumes.flag(true))
        };
        let left = told.contenders.iter().filter(resumes).find(|one| one.refusal.is_none());
        let was_launched = launched[told.launched..].iter().any(|one| one.slot() == kind);
        assert!(was_launched || left.is_none(), "{name} launched nothing: {told:#?}");
    }
}

/// Returns who contended for each map slot that a tracker got, with the numbers and refusals.
fn told<P: Policy>(bench: &mut Bench<P>, tracker: u32) -> Vec<Vec<String>> {
    let (_, lineups) = bench.listen(tracker);
    let line = |one: &Contender| {
        let mut line = one.job.0.to_string();
        for Standing { group, numbers } in &one.standings {
            line += &group.as_ref().map_or("|".to_owned(), |name| format!("| {name}:"));
            for (measure, number) in numbers {
                line += &format!(" {} {number}", measure.name());
            }
        }
        let code = one.refusal.as_ref().map_or(String::new(), |why| format!(" ({})", why.code()));
        line + &code
    };
    let maps = lineups.iter().filter(|one| one.kind == SlotKind::Map);
    maps.map(|one| one.contenders.iter().map(line).collect()).collect()
}

fn bench<P: Policy>(options: &str, map: u32) -> Bench<P> {
    let policy = P::new(serde_yaml::from_str(options).unwrap());
    Bench::new(policy, 2, PerSlot { map, reduce: 0 })
}

#[test]
fn fifo_tells_priority_and_arrival_and_who_waits_for_its_input() {
    let mut line = bench::<Fifo>("{delay: {w1: 5s}}", 1);
    line.job(3, 0, |_| {});
    line.at(1.0).job(3, 0, |spec| {
        spec.priority = Priority::High;
        spec.input = input_on([1, 1, 1]);
    });
    assert_eq!(
        told(&mut line, 0),
        [["1| priority 1 arrived_s 1 (delay)", "0| priority 2 arrived_s 0"]]
    );
}

#[test]
fn who_shares_by_counting_tells_what_jobs_hold() {
    let mut line = bench::<Ps>("null", 2);
    line.job(3, 0, |_| {});
    line.at(1.0).job(3, 0, |_| {});
    assert_eq!(
        told(&mut line, 0),
        [
            ["0| held 0 arrived_s 0", "1| held 0 arrived_s 1"],
            ["1| held 0 arrived_s 1", "0| held 1 arrived_s 0"]
        ]
    );
}

#[test]
fn fair_tells_how_pools_and_jobs_stand() {
    let pools = "allocations: {pools: {a: {weight: 2}, b: {min_maps: 1}}}";
    let mut line = bench::<Fair>(&format!("{{variant: paper, {pools}}}"), 3);
    ["a", "b"].into_iter().for_each(|pool| _ = line.job_of(pool, 9, 0));
    let told = told(&mut line, 0);
    assert_eq!(
        told[0],
        [
            "1| b: below_min_share 1 ratio 0 held 0 min_share 1 weight 1| ratio 0 arrived_s 0 held 0 weight 1",
            "0| a: below_min_share 0 ratio 0 held 0 min_share 0 weight 2| ratio 0 arrived_s 0 held 0 weight 1",
        ]
    );
    // The third slot: b has what it is promised, and a one for a weight of two.
    assert_eq!(
        told[2],
        [
            "0| a: below_min_share 0 ratio 0.5 held 1 min_share 0 weight 2| ratio 1 arrived_s 0 held 1 weight 1",
            "1| b: below_min_share 0 ratio 1 held 1 min_share 1 weight 1| ratio 1 arrived_s 0 held 1 weight 1",
        ]
    );
}

#[test]
fn fair_deficit_tells_what_jobs_have_lacked() {
    let pools = "{allocations: {pools: {a: {weight: 1}, b: {weight: 3}}}}";
    let mut line = bench::<FairDeficit>(pools, 2);
    ["a", "b"].into_iter().for_each(|pool| _ = line.job_of(pool, 9, 0));
    // Of four slots a should have all until a second has passed, then one, and b three.
    line.at(1.0).tick().at(4.0).tick();
    assert_eq!(
        told(&mut line, 0),
        [[
            "1| below_min_share 0 deficit_slot_s 9 arrived_s 0 held 0 share 3 min_share 0",
            "0| below_min_share 0 deficit_slot_s 7 arrived_s 0 held 0 share 1 min_share 0",
        ]]
    );
}

#[test]
fn capacity_tells_what_queues_have_of_their_own() {
    let queues = "{allocations: {queues: {a: {capacity: 25 %}, b: {capacity: 75 %}}}}";
    let mut line = bench::<Capacity>(queues, 2);
    ["a", "b"].into_iter().for_each(|pool| _ = line.job_of(pool, 9, 0));
    line.tick();
    told(&mut line, 0);
    // Of four slots a has its one, b none of three.
    assert_eq!(
        told(&mut line, 0),
        [[
            "1| b: due_s inf ratio 0 held 0 share 3| limits_aside 0 priority 2 arrived_s 0",
            "0| a: due_s inf ratio 1 held 1 share 1| limits_aside 0 priority 2 arrived_s 0",
        ]]
    );
}

#[test]
fn modified_fair_tells_what_pools_hold_and_jobs_lack() {
    let mut line = bench::<ModifiedFair>("{classification: false}", 2);
    [3, 9].into_iter().for_each(|maps| _ = line.job_of("a", maps, 0));
    line.tick();
    let pool = "| a: below_min_share 1 ratio 0 last_launch 0 held 0 min_share 0 weight 1|";
    assert_eq!(
        told(&mut line, 0)[0],
        [
            format!("1{pool} priority 2 pending 9 held 0 arrived_s 0"),
            format!("0{pool} priority 2 pending 3 held 0 arrived_s 0"),
        ]
    );
}

#[test]
fn hfsp_tells_when_sharing_would_end_jobs() {
    let options = "{sample: 1, first_guess: 10s, confidence: 1, virtual_slots: parts}";
    let mut line = bench::<Hfsp>(options, 2);
    [6, 2].into_iter().for_each(|maps| _ = line.job(maps, 0, |_| {}));
    // Of four slots two each for ten seconds, which ends the small one; then all for the other's 40 s.
    let (large, small) = ("virtual_finish_s 20 size_s 60", "virtual_finish_s 10 size_s 20");
    assert_eq!(
        told(&mut line, 0)[0],
        [
            format!("1| sample 1 tasks_left 2 {small} resumes 0"),
            format!("0| sample 1 tasks_left 6 {large} resumes 0"),
        ],
        "each job once, though both have more to launch than their samples"
    );
}

/// Returns who is held back before an offer: they get nothing in it, and are no contenders without a
/// refusal.
fn held_back<P: Policy>(bench: &Bench<P>) -> Vec<(JobId, SlotKind)> {
    let mut withheld = bench.withheld();
    // Up to 0.21 limits of users give way when nobody is below them any more; what `modified-fair` has
    // allotted it allots anew when a tracker asks after slots have come free.
    let gives_way = |why: &Reason| {
        *why == Reason::UserLimit
            || P::NAME == ModifiedFair::NAME && matches!(why, Reason::GroupLimit(_))
    };
    withheld.retain(|(.., why)| !gives_way(why));
    withheld.into_iter().map(|(job, kind, _)| (job, kind)).collect()
}

/// Of four slots on two nodes a job wants two: each node has one of its maps, and the first asks again.
#[test]
fn who_is_refused_for_the_load_of_a_tracker_is_told_so() {
    fn refused<P: Policy>(options: &str) -> Vec<(JobId, SlotKind, &'static str)> {
        let mut bench = bench::<P>(options, 2);
        bench.job(2, 0, |_| {});
        bench.tick();
        bench.refused();
        bench.beat(0);
        bench.beat(0);
        bench.refused()
    }
    let expected = [(JobId(0), SlotKind::Map, "tracker-load")];
    assert_eq!(refused::<Fifo>("{}"), expected);
    assert_eq!(refused::<Fair>("{tracker_load: current}"), expected);
    assert_eq!(refused::<FairDeficit>("{}"), expected);
    assert_eq!(refused::<ModifiedFair>("{tracker_load: current}"), expected);
}

/// Of ten slots one job wants all and another two; the pool of this has six at least.
#[test]
fn policies_tell_how_pools_stand() {
    fn told<P: Policy>(options: &str) -> Vec<String> {
        let policy = P::new(serde_yaml::from_str(options).unwrap());
        let mut bench = Bench::new(policy, 2, PerSlot { map: 5, reduce: 0 });
        bench.job_of("p0", 20, 0);
        bench.job_of("p1", 2, 0);
        bench.tick().fill();
        bench.tick();
        let mut told = bench.holdings(SlotKind::Map);
        told.retain(|pool| pool.starts_with('p'));
        told
    }
    let pools = "allocations: {pools: {p1: {min_maps: 6}}}";
    let shared = ["p1: 2 of 2, at least 6", "p0: 8 of 8, at least 0"];
    assert_eq!(told::<Fair>(&format!("{{{pools}}}")), shared);
    // It shares out between jobs that have tasks, however many these are.
    let by_jobs = ["p1: 2 of 5, at least 6", "p0: 8 of 5, at least 0"];
    assert_eq!(told::<FairDeficit>(&format!("{{{pools}}}")), by_jobs);
    let unshared = ["p1: 2 of NaN, at least 6", "p0: 8 of NaN, at least 0"];
    assert_eq!(told::<ModifiedFair>(&format!("{{{pools}}}")), unshared);
    let queues = "{allocations: {queues: {p0: {capacity: 40 %}, p1: {capacity: 60 %}}}}";
    assert_eq!(told::<Capacity>(queues), ["p0: 8 of 4, at least 0", "p1: 2 of 6, at least 0"]);
    assert_eq!(told::<Fifo>("{}"), [""; 0]);
}

proptest! {
    #[test]
    fn whoever_is_told_to_be_first_gets_the_slot(happenings in vec(any::<Happening>(), 1..90)) {
            let delay = "delay: {w1: 2s, w2: 3s}";
            play::<Fifo>("{}", &happenings);
            play::<Fifo>(&format!("{{padding: 50 %, {delay}}}"), &happenings);
            play::<Fifo>("{reduce_order: srt, reduce_gate: coupling}", &happenings);
            play::<Fifo>("{delay: {w1: 2s, long_task: 3s}}", &happenings);
            play::<NaiveFair>("{reduce_order: srt}", &happenings);
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
