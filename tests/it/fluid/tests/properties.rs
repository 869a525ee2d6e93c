//! Laws that hold for all jobs.

use std::collections::BTreeMap;

use mumakil::random::{Purpose, stream};
use num_traits::{One, Zero};
use proptest::prelude::*;
use rand::RngExt;

use super::super::FluidDiscipline::{Gps, Ps};
use super::super::{FluidCourse, FluidDiscipline, FluidJob, Interval, LateJobs, Rational};
use super::{FSP, SRPT, finishes, ratio, single, weighing};

prop_compose! {
    fn any_job()(
        arrival in 0..40_u64, size in (1..20_u64, 1..4_u64), wrong in 0..3_u64, most in 1..=4_u64,
        weight in 1..4_u64,
    ) -> FluidJob {
        FluidJob {
            estimate: ratio(size.0 * wrong, 2 * size.1),
            most: ratio(most, 4),
            weight: ratio(weight, 1),
            ..FluidJob::of(ratio(arrival, 2), ratio(size.0, size.1))
        }
    }
}

prop_compose! {
    /// Two such jobs are hardly ever equal: at a tie, the smallest error of a float decides.
    fn odd_job()(
        arrival in 0..100_000_u64, size in 1..100_000_u64, estimate in 1..100_000_u64,
        most in 1..=100_u64, weight in 1..100_u64,
    ) -> FluidJob {
        FluidJob {
            estimate: ratio(estimate, 9_967),
            most: ratio(most, 100),
            weight: ratio(weight, 31),
            ..FluidJob::of(ratio(arrival, 9_973), ratio(size, 9_949))
        }
    }
}

/// Returns the jobs with right estimates.
fn known(jobs: Vec<FluidJob>) -> Vec<FluidJob> {
    jobs.into_iter().map(|job| FluidJob { estimate: job.size.clone(), ..job }).collect()
}

fn any_jobs() -> impl Strategy<Value = Vec<FluidJob>> {
    prop::collection::vec(any_job(), 1..8)
}

/// Arrivals and sizes on a single server, in whole seconds.
fn any_single(most: usize) -> impl Strategy<Value = Vec<(u64, u64)>> {
    prop::collection::vec((0..12_u64, 1..6_u64), 1..most)
}

fn any_discipline() -> impl Strategy<Value = FluidDiscipline> {
    prop::sample::select(FluidDiscipline::ALL.to_vec())
}

fn is_present(number: usize, jobs: &[FluidJob], course: &FluidCourse, interval: &Interval) -> bool {
    jobs[number].arrival <= interval.from && interval.to <= course.jobs[number].finish
}

/// The least sums of sojourns, by the work left in each job.
type Known = BTreeMap<Vec<u64>, u64>;

/// Returns the least sum of sojourns over all choices of a job for each second.
fn least_sum(jobs: &[(u64, u64)], now: u64, left: &[u64], known: &mut Known) -> u64 {
    // The server never idles, so the work left determines the time.
    if let Some(sum) = known.get(left) {
        return *sum;
    }
    let waiting = |job: &usize| 0 < left[*job];
    let present = |job: &usize| waiting(job) && jobs[*job].0 <= now;
    let numbers = 0..jobs.len();
    let sum = if numbers.clone().any(|job| present(&job)) {
        let after = |job: usize| {
            let mut left = left.to_vec();
            left[job] -= 1;
            let ended = if left[job] == 0 { now + 1 - jobs[job].0 } else { 0 };
            ended + least_sum(jobs, now + 1, &left, known)
        };
        numbers.filter(present).map(after).min().unwrap()
    } else if numbers.clone().any(|job| waiting(&job)) {
        return least_sum(jobs, now + 1, left, known);
    } else {
        0
    };
    known.insert(left.to_vec(), sum);
    sum
}

proptest! {
    #[test]
    fn all_work_is_done_and_nothing_idles_that_a_job_could_use(
        discipline in any_discipline(), jobs in any_jobs(),
    ) {
        let course = discipline.serve(&jobs);
        let mut left: Vec<Rational> = jobs.iter().map(|job| job.size.clone()).collect();
        let mut last = Rational::zero();
        for interval in &course.intervals {
            prop_assert!(last <= interval.from && interval.from < interval.to);
            let present = |number: &usize| is_present(*number, &jobs, &course, interval);
            let usable: Rational = (0..jobs.len()).filter(present).map(|job| &jobs[job].most).sum();
            prop_assert!(usable != Rational::zero());
            prop_assert_eq!(interval.shares.iter().sum::<Rational>(), usable.min(Rational::one()));
            for (number, share) in interval.shares.iter().enumerate() {
                prop_assert!(Rational::zero() <= *share && *share <= jobs[number].most);
                prop_assert!(share.is_zero() || present(&number));
                left[number] -= share * (&interval.to - &interval.from);
            }
            last = interval.to.clone();
        }
        prop_assert!(left.iter().all(Zero::is_zero), "{left:?}");
    }

    #[test]
    fn no_present_job_has_less_for_its_weight_than_another_unless_it_has_all_it_can_use(
        jobs in any_jobs(),
    ) {
        let course = Gps.serve(&jobs);
        for interval in &course.intervals {
            let share = |number: usize| &interval.shares[number] / &jobs[number].weight;
            let most = (0..jobs.len()).map(share).max().unwrap();
            for (number, job) in jobs.iter().enumerate() {
                prop_assert!(
                    !is_present(number, &jobs, &course, interval)
                        || interval.shares[number] == job.most
                        || share(number) == most
                );
            }
        }
    }

    #[test]
    fn under_srpt_a_job_waits_only_for_those_with_less_left(jobs in any_jobs()) {
        let jobs = known(jobs);
        let course = SRPT.serve(&jobs);
        let mut left: Vec<Rational> = jobs.iter().map(|job| job.size.clone()).collect();
        for interval in &course.intervals {
            let before = left.clone();
            for (left, share) in left.iter_mut().zip(&interval.shares) {
                *left -= share * (&interval.to - &interval.from);
            }
            let present = |number: &usize| is_present(*number, &jobs, &course, interval);
            let present: Vec<usize> = (0..jobs.len()).filter(present).collect();
            for less in &present {
                for more in present.iter().filter(|more| before[*less] < before[**more]) {
                    prop_assert!(left[*less] <= left[*more]);
                    let has_all = interval.shares[*less] == jobs[*less].most;
                    prop_assert!(has_all || interval.shares[*more].is_zero());
                }
            }
        }
    }

    #[test]
    fn with_equal_weights_gps_is_ps(jobs in any_jobs(), weight in 1..9_u64) {
        let jobs: Vec<FluidJob> = jobs.into_iter().map(|job| weighing(weight, job)).collect();
        prop_assert_eq!(Gps.serve(&jobs), Ps.serve(&jobs));
    }

    #[test]
    fn a_job_alone_takes_as_long_as_it_must(discipline in any_discipline(), job in any_job()) {
        let finish = &job.arrival + &job.size / &job.most;
        prop_assert_eq!(finishes(discipline, &[job]), [finish]);
    }

    #[test]
    fn on_a_single_server_fsp_ends_no_job_later_than_ps(jobs in any_single(10)) {
        let jobs = single(&jobs);
        let pairs = finishes(FSP, &jobs).into_iter().zip(finishes(Ps, &jobs));
        for (fsp, ps) in pairs {
            prop_assert!(fsp <= ps, "{fsp} is after {ps}");
        }
    }

    #[test]
    fn on_a_single_server_fsp_is_priority_in_the_order_of_ps(jobs in any_single(10)) {
        // On a single server a new job slows all others alike, so PS keeps the order that it
        // foresaw.
        let jobs = single(&jobs);
        let ps = finishes(Ps, &jobs);
        let course = FSP.serve(&jobs);
        for interval in &course.intervals {
            let first = (0..jobs.len())
                .filter(|number| is_present(*number, &jobs, &course, interval))
                .min_by_key(|number| (&ps[*number], &jobs[*number].arrival, *number));
            prop_assert!(interval.shares[first.unwrap()].is_one());
        }
    }

    #[test]
    fn on_a_single_server_the_guard_changes_nothing(jobs in any_single(8)) {
        let jobs = single(&jobs);
        prop_assert_eq!(finishes(FluidDiscipline::Guarded, &jobs), finishes(FSP, &jobs));
    }

    #[test]
    fn on_a_single_server_no_schedule_has_a_lesser_mean_than_srpt(jobs in any_single(6)) {
        let sizes: Vec<u64> = jobs.iter().map(|job| job.1).collect();
        let least = least_sum(&jobs, 0, &sizes, &mut Known::new());
        let mean = |discipline: FluidDiscipline| {
            discipline.serve(&single(&jobs)).mean_sojourn().unwrap()
        };
        prop_assert_eq!(mean(SRPT), ratio(least, jobs.len() as u64));
        prop_assert!(FluidDiscipline::ALL.into_iter().all(|other| mean(SRPT) <= mean(other)));
    }

    #[test]
    fn with_right_estimates_no_job_is_late(jobs in any_single(8)) {
        let jobs = single(&jobs);
        use LateJobs as L;
        for late in [L::Shared, L::LeastAttained] {
            prop_assert_eq!(finishes(FluidDiscipline::Fsp(late), &jobs), finishes(FSP, &jobs));
            prop_assert_eq!(finishes(FluidDiscipline::Srpt(late), &jobs), finishes(SRPT, &jobs));
        }
        prop_assert_eq!(finishes(FluidDiscipline::Psbs, &jobs), finishes(FSP, &jobs));
    }

    #[test]
    fn under_las_only_jobs_that_were_served_least_are_served(jobs in any_single(10)) {
        let jobs = single(&jobs);
        let course = FluidDiscipline::Las.serve(&jobs);
        let mut served = vec![Rational::zero(); jobs.len()];
        for interval in &course.intervals {
            let present = |number: &usize| is_present(*number, &jobs, &course, interval);
            let least = (0..jobs.len()).filter(present).map(|job| served[job].clone()).min();
            for number in (0..jobs.len()).filter(|job| !interval.shares[*job].is_zero()) {
                prop_assert_eq!(Some(&served[number]), least.as_ref());
            }
            for (served, share) in served.iter_mut().zip(&interval.shares) {
                *served += share * (&interval.to - &interval.from);
            }
        }
    }

    #[test]
    fn in_other_units_of_time_all_times_are_the_same(
        discipline in any_discipline(), jobs in any_jobs(), unit in (1..9_u64, 1..9_u64),
    ) {
        let unit = ratio(unit.0, unit.1);
        let scaled = jobs.iter().cloned().map(|job| {
            let [arrival, size, estimate] = [job.arrival, job.size, job.estimate].map(|it| it * &unit);
            FluidJob { arrival, size, estimate, ..job }
        });
        let scaled = discipline.serve(&scaled.collect::<Vec<_>>());
        let plain = discipline.serve(&jobs);
        prop_assert_eq!(scaled.intervals.len(), plain.intervals.len());
        for (scaled, plain) in scaled.jobs.iter().zip(&plain.jobs) {
            prop_assert_eq!(&scaled.finish, &(&plain.finish * &unit));
        }
        for (scaled, plain) in scaled.intervals.iter().zip(&plain.intervals) {
            prop_assert_eq!(&scaled.shares, &plain.shares);
            prop_assert_eq!(&scaled.to, &(&plain.to * &unit));
        }
    }

    #[test]
    fn jobs_that_arrive_one_by_one_may_be_listed_in_any_order(
        discipline in any_discipline(),
        (jobs, places) in any_jobs().prop_flat_map(|jobs| {
            let places: Vec<usize> = (0..jobs.len()).collect();
            (Just(jobs), Just(places).prop_shuffle())
        }),
    ) {
        let mut jobs = jobs;
        for (number, job) in jobs.iter_mut().enumerate() {
            job.arrival += ratio(number as u64, 100);
        }
        let shuffled: Vec<FluidJob> = places.iter().map(|place| jobs[*place].clone()).collect();
        let (finishes, shuffled) = (finishes(discipline, &jobs), finishes(discipline, &shuffled));
        for (place, finish) in places.iter().zip(shuffled) {
            prop_assert_eq!(&finish, &finishes[*place]);
        }
    }
}

/// Of 300 sets of 2 to 8 jobs: how many have a job that ends later than under PS, and how many a longer mean. Jobs
/// arrive within 100 s, take 1 to 100 s with all that they can use, and can use from `least` twentieths of the system
/// to all of it.
fn sets_worse_than_ps(discipline: FluidDiscipline, least: u64) -> [usize; 2] {
    let sets = (0..300).map(|set| {
        let mut draw = stream(42, Purpose::Workload, set);
        let jobs: Vec<FluidJob> = (0..draw.random_range(2..=8))
            .map(|_| {
                let most = ratio(draw.random_range(least..=20), 20);
                let [arrival, time] = [0..100, 1..101].map(|it| ratio(draw.random_range(it), 1));
                FluidJob { most: most.clone(), ..FluidJob::of(arrival, time * most) }
            })
            .collect();
        let [own, ps] = [discipline, Ps].map(|it| it.serve(&jobs));
        let is_later = own.jobs.iter().zip(&ps.jobs).any(|(own, ps)| ps.finish < own.finish);
        [is_later, ps.mean_sojourn() < own.mean_sojourn()]
    });
    let sets: Vec<[bool; 2]> = sets.collect();
    [0, 1].map(|which| sets.iter().filter(|set| set[which]).count())
}

/// The theorem holds where every job can use the whole system, and there alone. The guard mends nearly all of it.
#[test]
fn fsp_is_worse_than_ps_in_most_sets_of_limited_jobs_and_in_few_with_the_guard() {
    let wide = sets_worse_than_ps(FSP, 20);
    let limited = [FSP, FluidDiscipline::Guarded].map(|it| sets_worse_than_ps(it, 1));
    assert_eq!((wide, limited), ([0, 0], [[224, 26], [10, 0]]));
}
