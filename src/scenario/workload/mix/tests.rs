//! Draws of a mix: the number of jobs of each type, their times and users, and which draws stay the
//! same after a change.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use proptest::prelude::*;
use serde_yaml::with::singleton_map_recursive;

use super::*;
use crate::workload::arrivals::Workload;
use mumakil_core::mapred::TaskTimes;

fn mix(yaml: &str) -> Mix {
    singleton_map_recursive::deserialize(serde_yaml::Deserializer::from_str(yaml)).unwrap()
}

fn jobs(yaml: &str) -> Vec<JobEntry> {
    mix(yaml).draw(1)
}

fn names(jobs: &[JobEntry]) -> Vec<&str> {
    jobs.iter().map(|job| job.name.as_str()).collect()
}

fn secs(jobs: &[JobEntry]) -> Vec<u64> {
    jobs.iter().map(|job| job.submit.as_micros() / 1_000_000).collect()
}

fn of_class(jobs: &[JobEntry], class: &str) -> usize {
    jobs.iter().filter(|job| job.drawn_type.as_deref() == Some(class)).count()
}

/// Returns the jobs of a mix with one type of one map; `rest` has further fields of the mix.
fn plain(rest: &str) -> Vec<JobEntry> {
    jobs(&format!("{{types: {{a: {{maps: 1}}}}, {rest}}}"))
}

#[test]
fn counts_are_exact_round_after_round() {
    let yaml = "{types: {a: {maps: 1, count: 3}, b: {maps: 2, count: 7}}, arrivals: {gap: 1s}}";
    let one = jobs(yaml);
    assert_eq!((of_class(&one, "a"), of_class(&one, "b")), (3, 7));
    let three = Mix { jobs: Some(Count::of(30)), ..mix(yaml) }.draw(1);
    for round in three.chunks(10) {
        assert_eq!((of_class(round, "a"), of_class(round, "b")), (3, 7));
    }
    let order =
        |round: &[JobEntry]| round.iter().map(|job| job.drawn_type.clone()).collect::<Vec<_>>();
    assert_ne!(order(&three[..10]), order(&three[10..20]), "each round has its own order");
    assert_eq!(three[..10], one);
}

#[test]
fn weights_share_the_jobs_by_chance() {
    let jobs = jobs(
        "{jobs: 4000, types: {a: {maps: 1, weight: 3}, b: {maps: 1}, c: {maps: 1, weight: 0}}}",
    );
    // Three standard errors: 3 √(4000 · ¾ · ¼).
    assert!((2_918..3_082).contains(&of_class(&jobs, "a")), "{}", of_class(&jobs, "a"));
    assert_eq!((jobs.len(), of_class(&jobs, "c")), (4_000, 0));
}

/// Of exponential numbers with mean 1, 39 % are below one half, which rounds to 0.
#[test]
fn a_job_with_a_drawn_number_of_maps_has_at_least_one_unless_the_mix_says_otherwise() {
    let fewest = |options: &str| {
        let jobs = jobs(&format!("{{jobs: 100, types: {{a: {{{options}}}}}}}"));
        let fewest = |of: fn(&JobEntry) -> u32| jobs.iter().map(of).min();
        let maps = fewest(|job| job.maps.map_or(0, Count::get));
        (maps, fewest(|job| job.reduces.get()))
    };
    let drawn = "{exponential: {mean: 1}}";
    assert_eq!(fewest(&format!("maps: {drawn}, reduces: {drawn}")), (Some(1), Some(0)));
    let floors = "maps_at_least: 0, reduces_at_least: 2";
    assert_eq!(fewest(&format!("maps: {drawn}, reduces: {drawn}, {floors}")), (Some(0), Some(2)));
    assert_eq!(fewest("maps: 0, reduces: 3"), (Some(0), Some(3)), "as the mix says");
}

#[test]
fn many_jobs_that_are_drawn_without_maps_are_a_doubt() {
    let doubts = |options: &str| {
        let mix = mix(&format!("{{jobs: 100, types: {{a: {{{options}}}}}}}"));
        mix.doubts(1, &mix.draw(1)).len()
    };
    assert_eq!(doubts("maps: {exponential: {mean: 1}}"), 1);
    assert_eq!(doubts("maps: {exponential: {mean: 1}}, maps_at_least: 1"), 0);
    assert_eq!(doubts("maps: {exponential: {mean: 1000}}"), 0);
    assert_eq!(doubts("maps: 0, reduces: 3"), 0);
}

const RICH: &str = "{jobs: 40, arrivals: {gap: {exponential: {mean: 10s}}},
    user: {weighted: {ann: 3, bob: 1}},
    types: {a: {maps: {uniform: {from: 1, to: 100}}, map_time: {exponential: {mean: 20s}}},
            b: {maps: {choice: [[5, 1], [50, 1]]}, reduces: {uniform: {from: 0, to: 9}}},
            c: {maps: 1, after: [b]}}}";

#[test]
fn more_jobs_leave_the_first_as_they_are() {
    let few = jobs(RICH);
    let more = Mix { jobs: Some(Count::of(100)), ..mix(RICH) }.draw(1);
    assert_eq!(more[..few.len()], few);
}

#[test]
fn other_times_of_one_type_change_nothing_else() {
    let mut slow = mix(RICH);
    slow.types["a"].map_time = Some(SimSpan::from_secs(99).into());
    let without_times = |mix: &Mix| {
        let blank = |job| JobEntry { map_time: None, ..job };
        mix.draw(1).into_iter().map(blank).collect::<Vec<_>>()
    };
    assert_eq!(without_times(&slow), without_times(&mix(RICH)));
}

#[test]
fn another_seed_is_another_workload_and_the_same_one_the_same() {
    assert_eq!(mix(RICH).draw(7), mix(RICH).draw(7));
    assert_ne!(mix(RICH).draw(7), mix(RICH).draw(8));
}

#[test]
fn jobs_come_when_the_arrivals_say() {
    assert_eq!(secs(&plain("jobs: 3")), [0, 0, 0]);
    assert_eq!(secs(&plain("jobs: 3, arrivals: {gap: 9s}")), [0, 9, 18]);
    assert_eq!(secs(&plain("duration: 20s, arrivals: {gap: 9s}")), [0, 9, 18]);
    assert_eq!(secs(&plain("arrivals: {times: [7s, 1s, 3s]}")), [1, 3, 7]);
    let bursts = "jobs: 7, arrivals: {bursts: {size: 3, gap: 1s, pause: 60s}}";
    assert_eq!(secs(&plain(bursts)), [0, 1, 2, 62, 63, 64, 124]);
}

#[test]
fn a_day_has_the_jobs_of_its_hours() {
    let mut hours = [0; 24];
    hours[9] = 3;
    hours[14] = 1;
    let yaml = format!("duration: 10d, arrivals: {{daily: {{jobs: 400, hours: {hours:?}}}}}");
    let jobs = plain(&yaml);
    let hour = |hour: u64| secs(&jobs).iter().filter(|at| *at / 3_600 % 24 == hour).count();
    let (morning, afternoon) = (hour(9), hour(14));
    // The first job arrives at the beginning, whatever its hour.
    assert_eq!(morning + afternoon + 1, jobs.len());
    // Three standard errors of Poisson counts.
    assert!((2_836..3_164).contains(&morning), "{morning}");
    assert!((906..1_094).contains(&afternoon), "{afternoon}");
}

#[test]
fn a_day_may_begin_at_any_hour() {
    let mut hours = [0; 24];
    hours[9] = 1;
    let daily = |more: &str| {
        secs(&plain(&format!(
            "duration: 1d, arrivals: {{daily: {{jobs: 99, hours: {hours:?}{more}}}}}"
        )))
    };
    let [midnight, morning] = ["", ", from: 7"].map(daily);
    assert!(midnight[1..].iter().all(|at| at / 3_600 == 9), "{midnight:?}");
    let two_hours_in = midnight[1..].iter().map(|at| at - 7 * 3_600);
    assert!(morning[1..].iter().copied().eq(two_hours_in), "{morning:?}");
}

#[test]
fn users_and_pools_come_in_turn_by_weight_or_one_for_each() {
    let users = |rest: &str| -> Vec<String> {
        plain(&format!("jobs: 4, {rest}")).into_iter().map(|job| job.user).collect()
    };
    assert_eq!(users("arrivals: at_once"), ["default"; 4]);
    assert_eq!(users("user: ann"), ["ann"; 4]);
    assert_eq!(users("user: {in_turn: [ann, bob, cy]}"), ["ann", "bob", "cy", "ann"]);
    assert_eq!(users("user: {weighted: {ann: 0, bob: 2}}"), ["bob"; 4]);
    assert_eq!(users("user: {numbered: user}"), ["user-1", "user-2", "user-3", "user-4"]);
    let jobs = jobs(
        "{types: {a: {maps: 1, count: 2, user: {numbered: a}}, b: {maps: 1, count: 2, pool: own}},
          pool: {in_turn: [x, y]}}",
    );
    for job in jobs {
        match job.drawn_type.as_deref() {
            Some("a") => assert!(["a-1", "a-2"].contains(&job.user.as_str())),
            _ => assert_eq!(job.pool.as_deref(), Some("own")),
        }
    }
}

#[test]
fn a_family_waits_for_its_own_and_has_one_user() {
    let jobs = jobs(
        "{user: {numbered: user}, arrivals: {gap: 5s},
          types: {d: {maps: 1, after: [b, c]}, a: {maps: 1, count: 2},
                  b: {maps: 1, after: [a], delay: 3s, class: late}, c: {maps: 1, after: [a]}}}",
    );
    assert_eq!(names(&jobs), ["a-1", "b-1", "c-1", "d-1", "a-2", "b-2", "c-2", "d-2"]);
    assert_eq!(secs(&jobs), [0, 3, 0, 0, 5, 3, 0, 0]);
    assert_eq!(jobs[7].after, ["b-2", "c-2"]);
    assert!(jobs[4..].iter().all(|job| job.user == "user-2"));
    assert_eq!(jobs[1].class.as_deref(), Some("late"));
}

#[test]
fn bytes_are_those_of_a_task_and_times_have_a_common_factor() {
    let jobs = jobs(
        "{jobs: 1, time_factor: 1.5, types: {a: {maps: 4, reduces: 3, map_input: 10MB,
          reduce_input: 5MB, output: 1MB, map_time: 20s, reduce_time: 40s, shuffle_time: 2s}}}",
    );
    let job = &jobs[0];
    let mb = |mb: u64| Bytes::new(mb * 1_000_000);
    assert_eq!((job.input, job.shuffle, job.output), (Some(mb(40)), mb(15), mb(3)));
    let times = [&job.map_time, &job.reduce_time, &job.shuffle_time].map(Option::clone);
    assert_eq!(times, [30, 60, 3].map(|secs| Some(TaskTimes::from(SimSpan::from_secs(secs)))));
    assert_eq!(job.sort_time, SimSpan::from_millis(120).into());
}

#[test]
fn the_first_draws_never_change() {
    let drawn: Vec<String> = jobs(RICH)
        .iter()
        .take(6)
        .map(|job| {
            format!("{} {:?} {} {} {}", job.name, job.maps, job.reduces.get(), job.user, job.submit)
        })
        .collect();
    insta::assert_debug_snapshot!(drawn);
}

#[derive(Debug)]
struct Drawn {
    /// The number of jobs of each type that follows none.
    counts: Vec<u32>,
    is_counted: bool,
    jobs: u32,
    /// For each further type, the earlier type that it follows.
    follows: Vec<prop::sample::Index>,
    arrivals: &'static str,
    seed: u64,
}

impl Drawn {
    fn mix(&self) -> Mix {
        let share = if self.is_counted { "count" } else { "weight" };
        let mut yaml = format!("jobs: {}\narrivals: {}\ntypes:\n", self.jobs, self.arrivals);
        for (kind, count) in self.counts.iter().enumerate() {
            writeln!(yaml, "  t{kind}: {{maps: 1, {share}: {count}}}").unwrap();
        }
        for (place, other) in self.follows.iter().enumerate() {
            let kind = self.counts.len() + place;
            writeln!(yaml, "  t{kind}: {{maps: 1, after: [t{}]}}", other.index(kind)).unwrap();
        }
        mix(&yaml)
    }
}

fn drawn() -> impl Strategy<Value = Drawn> {
    (
        prop::collection::vec(1u32..20, 1..5),
        prop::bool::ANY,
        1u32..200,
        prop::collection::vec(any::<prop::sample::Index>(), 0..4),
        prop::sample::select(vec!["at_once", "{gap: {exponential: {mean: 5s}}}", "{gap: 1s}"]),
        any::<u64>(),
    )
        .prop_map(|(counts, is_counted, jobs, follows, arrivals, seed)| Drawn {
            counts,
            is_counted,
            jobs,
            follows,
            arrivals,
            seed,
        })
}

proptest! {
    #[test]
    fn any_mix_has_the_jobs_that_it_says_and_they_can_all_run(drawn in drawn()) {
        let mix = drawn.mix();
        let jobs = mix.draw(drawn.seed);
        let first = jobs.iter().filter(|job| job.after.is_empty());
        prop_assert_eq!(first.count(), drawn.jobs as usize);
        let names: BTreeSet<&str> = jobs.iter().map(|job| job.name.as_str()).collect();
        prop_assert_eq!(names.len(), jobs.len());
        prop_assert!(jobs.iter().flat_map(|job| &job.after).all(|name| names.contains(&**name)));
        let workload = Workload::from_jobs(&jobs, 1, Bytes::from_mib(64), &|_, _| "".into());
        let follows: Vec<Vec<usize>> = workload
            .follows
            .iter()
            .map(|before| before.iter().map(|batch| batch.index()).collect())
            .collect();
        prop_assert_eq!(in_order(&follows).len(), jobs.len());
        prop_assert_eq!(mix.draw(drawn.seed), jobs);
    }
}
