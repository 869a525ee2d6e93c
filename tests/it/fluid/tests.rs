//! Courses that were derived by hand.

mod properties;
mod thousand;

use super::FluidDiscipline::{Gps, Ps};
use super::*;

const FSP: FluidDiscipline = FluidDiscipline::Fsp(LateJobs::InTurn);
const SRPT: FluidDiscipline = FluidDiscipline::Srpt(LateJobs::InTurn);

fn ratio(above: u64, below: u64) -> Rational {
    Rational::new(above.into(), below.into())
}

fn number(text: &str) -> Rational {
    exact(text.parse().unwrap()).unwrap()
}

/// A job by its arrival, its duration with the largest share that it can use, and that share.
fn job(arrival: u64, time: u64, most: &str) -> FluidJob {
    let most = number(most);
    let size = ratio(time, 1) * &most;
    FluidJob { most, ..FluidJob::of(ratio(arrival, 1), size) }
}

fn weighing(weight: u64, job: FluidJob) -> FluidJob {
    FluidJob { weight: ratio(weight, 1), ..job }
}

/// The jobs of a single server, by their arrivals and sizes.
fn single(jobs: &[(u64, u64)]) -> Vec<FluidJob> {
    jobs.iter().map(|(arrival, size)| job(*arrival, *size, "1")).collect()
}

fn finishes(discipline: FluidDiscipline, jobs: &[FluidJob]) -> Vec<Rational> {
    let course = discipline.serve(jobs);
    course.jobs.into_iter().map(|job| job.finish).collect()
}

/// Checks when jobs end; expected times are written as `"24.5"` or `"16/3"`.
fn ends(discipline: FluidDiscipline, jobs: &[FluidJob], expected: &[&str]) {
    let told: Vec<String> = finishes(discipline, jobs).iter().map(ToString::to_string).collect();
    let number = |text: &&str| text.parse().unwrap_or_else(|_| number(text)).to_string();
    let expected: Vec<String> = expected.iter().map(number).collect();
    assert_eq!(told, expected, "{discipline:?}");
}

/// Returns the shares of the jobs over time; equal neighbours are joined.
fn course(discipline: FluidDiscipline, jobs: &[FluidJob]) -> Vec<(f64, Vec<f64>)> {
    let intervals = discipline.serve(jobs).intervals;
    let mut told: Vec<(f64, Vec<f64>)> = Vec::new();
    for interval in intervals {
        let shares: Vec<f64> = interval.shares.iter().map(approximate).collect();
        if told.last().is_none_or(|last| last.1 != shares) {
            told.push((approximate(&interval.from), shares));
        }
    }
    told
}

/// Figure 1 of the paper.
fn figure_1() -> Vec<FluidJob> {
    single(&[(0, 30), (10, 10), (15, 10)])
}

/// Figure 2 of the paper.
fn figure_2() -> Vec<FluidJob> {
    vec![job(0, 30, "1"), job(10, 10, "0.55"), job(13, 10, "0.35")]
}

#[test]
fn figure_1_under_sharing_ends_the_second_job_first() {
    // At 15 the jobs have 17.5, 7.5 and 10 left. Each gets a third until 37.5; then two get a half
    // each until 42.5; then the first has 7.5 left.
    ends(Ps, &figure_1(), &["50", "37.5", "42.5"]);
    assert_eq!(Ps.serve(&figure_1()).order(), [1, 2, 0]);
}

#[test]
fn figure_1_under_fsp_serves_one_job_after_another() {
    ends(FSP, &figure_1(), &["50", "20", "30"]);
    let expected = [(0.0, 0), (10.0, 1), (20.0, 2), (30.0, 0)];
    let expected =
        expected.map(|(from, job)| (from, (0..3).map(|i| f64::from(i == job)).collect()));
    assert_eq!(course(FSP, &figure_1()), expected);
}

#[test]
fn figure_2_under_sharing_ends_the_third_job_first() {
    // At 13 the jobs have 18.5, 4 and 3.5 left. Each gets a third until 23.5; then two get a half
    // each until 24.5; then the first has 14.5 left.
    ends(Ps, &figure_2(), &["39", "24.5", "23.5"]);
    assert_eq!(Ps.serve(&figure_2()).order(), [2, 1, 0]);
}

#[test]
fn figure_2_under_fsp_ends_every_job_no_later_than_under_sharing() {
    ends(FSP, &figure_2(), &["39", "20", "23"]);
    let expected = [
        (0.0, vec![1.0, 0.0, 0.0]),
        (10.0, vec![0.45, 0.55, 0.0]),
        (13.0, vec![0.1, 0.55, 0.35]),
        (20.0, vec![0.65, 0.0, 0.35]),
        (23.0, vec![1.0, 0.0, 0.0]),
    ];
    assert_eq!(course(FSP, &figure_2()), expected);
    assert_eq!(FSP.serve(&figure_2()).order(), [1, 2, 0]);
}

#[test]
fn no_jobs_have_no_course_and_no_mean() {
    for discipline in FluidDiscipline::ALL {
        let course = discipline.serve(&[]);
        assert!(course.intervals.is_empty() && course.mean_sojourn().is_none());
    }
}

#[test]
fn a_job_alone_takes_its_time_after_a_pause_too() {
    // Ten seconds at two fifths each; no job is present from 13 to 20.
    let jobs = [job(3, 10, "0.4"), job(20, 10, "0.4")];
    for discipline in FluidDiscipline::ALL {
        ends(discipline, &jobs, &["13", "30"]);
        assert_eq!(discipline.serve(&jobs).mean_sojourn(), Some(ratio(10, 1)));
    }
}

#[test]
fn a_job_that_arrives_as_another_ends_shares_nothing_with_it() {
    for discipline in FluidDiscipline::ALL {
        ends(discipline, &single(&[(0, 5), (5, 2)]), &["5", "7"]);
    }
}

#[test]
fn jobs_that_fit_beside_each_other_do_not_slow_each_other() {
    for discipline in FluidDiscipline::ALL {
        ends(discipline, &[job(0, 8, "0.25"), job(2, 4, "0.75")], &["8", "6"]);
    }
}

#[test]
fn slots_a_small_job_cannot_use_are_shared_among_the_others() {
    // The jobs get one fifth, two fifths and two fifths. At 10 the first ends, and each of the
    // others has 4 left.
    let jobs = [job(0, 10, "0.2"), job(0, 8, "1"), job(0, 8, "1")];
    ends(Ps, &jobs, &["10", "18", "18"]);
}

#[test]
fn shares_follow_the_weights() {
    // The jobs get three quarters and a quarter: the first ends at 8, when the second has 4 left.
    let jobs = single(&[(0, 6), (0, 6)]);
    let jobs = [weighing(3, jobs[0].clone()), jobs[1].clone()];
    ends(Gps, &jobs, &["8", "12"]);
    ends(Ps, &jobs, &["12", "12"]);
}

#[test]
fn a_weight_beyond_what_a_job_can_use_goes_to_the_others_by_weight() {
    // The first job could have 8/11 but uses 1/2, so the others get 1/3 and 1/6. At 6 the first
    // ends, and the others have 1 and 2 left. They get 2/3 and 1/3 until 7.5, when the last has 1.5
    // left.
    let jobs = [job(0, 6, "0.5"), job(0, 3, "1"), job(0, 3, "1")];
    let jobs = [weighing(8, jobs[0].clone()), weighing(2, jobs[1].clone()), jobs[2].clone()];
    ends(Gps, &jobs, &["6", "7.5", "9"]);
}

#[test]
fn fsp_keeps_the_order_of_equal_jobs_and_sharing_does_not_know_one() {
    let jobs = single(&[(0, 4), (0, 4), (0, 4)]);
    ends(Ps, &jobs, &["12", "12", "12"]);
    ends(FSP, &jobs, &["4", "8", "12"]);
    ends(SRPT, &jobs, &["4", "8", "12"]);
}

#[test]
fn a_tie_in_the_sharing_is_an_exact_tie() {
    // The first job has 3 - 1/3 left at 1/3, as much as the second brings. Under PS both end
    // together, so FSP goes on with the one that arrived first, and so does SRPT.
    let mut jobs = single(&[(0, 3), (0, 1)]);
    jobs[1] = FluidJob::of(ratio(1, 3), ratio(8, 3));
    ends(Ps, &jobs, &["17/3", "17/3"]);
    ends(FSP, &jobs, &["3", "17/3"]);
    ends(SRPT, &jobs, &["3", "17/3"]);
}

#[test]
fn fsp_looks_at_what_is_left_in_the_sharing_and_srpt_at_what_really_is() {
    // At 7 the second job has 9/2 left in the imagined sharing, where it had half of the system;
    // really it has 7 left.
    let jobs = single(&[(0, 6), (0, 8), (7, 5)]);
    ends(FSP, &jobs, &["6", "14", "19"]);
    ends(SRPT, &jobs, &["6", "19", "12"]);
}

#[test]
fn under_fsp_a_job_that_ended_early_still_has_its_part_of_the_sharing() {
    // As above, the second job has 9/2 left at 7, more than the third brings. If the first job left
    // the imagined sharing at 6, the second would have 4 left and would go on.
    let mut jobs = single(&[(0, 6), (0, 8), (7, 5)]);
    jobs[2] = FluidJob::of(ratio(7, 1), ratio(17, 4));
    ends(FSP, &jobs, &["6", "18.25", "11.25"]);
}

#[test]
fn under_fsp_a_job_that_should_have_ended_is_first() {
    // In the imagined sharing both jobs have half of the system and end at 8. Really the second
    // begins at 4, can use only half of the system, and has 3/2 left at 9; from then on the third
    // job has the other half.
    let jobs = [job(0, 4, "1"), job(0, 8, "0.5"), job(9, 1, "1")];
    ends(Ps, &jobs, &["8", "8", "10"]);
    ends(FSP, &jobs, &["4", "12", "11"]);
}

/// A wide job and two narrow ones on a hundred slots, all at once. Under PS the wide one has half of the slots
/// until it ends at 60, when the narrow ones have run at full width for as long; FSP lets the narrow ones wait.
/// The guard runs the narrow ones at once, since they have no slack from the beginning.
#[test]
fn jobs_that_use_few_slots_are_later_under_fsp_unless_it_is_guarded() {
    let jobs = [job(0, 30, "1"), job(0, 70, "0.25"), job(0, 70, "0.25")];
    ends(Ps, &jobs, &["60", "70", "70"]);
    ends(FSP, &jobs, &["30", "100", "100"]);
    ends(FluidDiscipline::Guarded, &jobs, &["60", "70", "70"]);
}

#[test]
fn srpt_goes_on_with_a_job_that_has_less_left_than_the_new_one() {
    // At 7 the first job has 3 left, less than the second job's 4. At 8 the first and the third
    // have 2 left, and the first arrived first. In the second case a job with 2 arrives at 7, less
    // than the first has left.
    ends(SRPT, &single(&[(0, 10), (7, 4), (8, 2)]), &["10", "16", "12"]);
    ends(SRPT, &single(&[(0, 10), (7, 2), (8, 2)]), &["14", "9", "11"]);
}

#[test]
fn srpt_lets_a_job_overtake_one_that_can_use_less() {
    // With shares of a quarter and three quarters both have as much left at 2: 2 - 1/2 = 3 - 3/2.
    // Then the wide job takes the whole system for 1.5 s, and the other its quarter for 6 s.
    let jobs = [job(0, 8, "0.25"), job(0, 3, "1")];
    ends(SRPT, &jobs, &["9.5", "3.5"]);
    let shares = [(0.0, vec![0.25, 0.75]), (2.0, vec![0.0, 1.0]), (3.5, vec![0.25, 0.0])];
    assert_eq!(course(SRPT, &jobs), shares);
}

#[test]
fn of_equal_jobs_srpt_serves_the_one_that_can_use_more() {
    // Both have 2 left. In the order of the list the second job would have less left at once, so it
    // goes first: it takes 2 s, and the first job 8 s after it.
    ends(SRPT, &[job(0, 8, "0.25"), job(0, 2, "1")], &["10", "2"]);
}

/// Five jobs on a single server: arrivals, sizes, wrong estimates and weights.
const WRONG: [(u64, u64, u64, u64); 5] =
    [(0, 30, 6, 1), (10, 10, 3, 2), (15, 10, 15, 1), (16, 4, 6, 3), (20, 7, 2, 2)];

/// The ends are those that schedsim computes, the simulator of the authors of FSP with errors and of
/// PSBS, with its tolerance of 1e-6.
#[test]
fn with_wrong_estimates_jobs_end_as_in_the_simulator_of_the_authors() {
    use LateJobs as L;
    for (discipline, expected) in [
        (Ps, [61.0, 47.666667, 53.5, 35.0, 50.166667]),
        (Gps, [61.0, 37.357143, 52.666667, 26.857143, 41.309524]),
        (FluidDiscipline::Las, [61.0, 41.0, 41.0, 27.0, 35.0]),
        (SRPT, [30.0, 47.0, 61.0, 51.0, 37.0]),
        (FluidDiscipline::Srpt(L::Shared), [61.0, 40.666667, 60.0, 36.666667, 44.666667]),
        // By hand: schedsim looks too late whether the first job is late (at 26 and not at 24), as it
        // counts all late jobs in place of those that are served.
        (FluidDiscipline::Srpt(L::LeastAttained), [61.0, 40.0, 48.0, 28.0, 34.0]),
        (FSP, [30.0, 40.0, 61.0, 51.0, 47.0]),
        (FluidDiscipline::Fsp(L::Shared), [58.166667, 38.833333, 61.0, 46.166667, 51.166667]),
        (FluidDiscipline::Fsp(L::LeastAttained), [61.0, 23.0, 48.0, 34.0, 37.0]),
        (FluidDiscipline::Psbs, [61.0, 31.333333, 60.555556, 35.333333, 43.111111]),
    ] {
        let jobs = WRONG.map(|(arrival, size, estimate, weight)| FluidJob {
            estimate: ratio(estimate, 1),
            weight: ratio(weight, 1),
            ..FluidJob::of(ratio(arrival, 1), ratio(size, 1))
        });
        let found = finishes(discipline, &jobs);
        let is_near =
            |(found, expected): (&Rational, &f64)| (approximate(found) - expected).abs() < 1e-5;
        let all_near = found.iter().zip(&expected).all(is_near);
        assert!(all_near, "{discipline:?}: {found:?} for {expected:?}");
    }
}

/// A large job that is taken for small is late from 6 on. In turn it blocks the small ones; sharing,
/// it delays them; by attained service it waits, since they have been served less.
#[test]
fn a_late_job_blocks_delays_or_waits() {
    let mut jobs = single(&[(0, 30), (10, 4), (10, 4)]);
    jobs[0].estimate = ratio(6, 1);
    for (late, expected) in [
        (LateJobs::InTurn, ["30", "34", "38"]),
        (LateJobs::Shared, ["38", "18", "26"]),
        (LateJobs::LeastAttained, ["38", "18", "26"]),
    ] {
        ends(FluidDiscipline::Srpt(late), &jobs, &expected);
    }
    jobs[1].estimate = ratio(1, 1);
    jobs[2].estimate = ratio(1, 1);
    ends(FluidDiscipline::Srpt(LateJobs::LeastAttained), &jobs, &["38", "19", "19"]);
}

#[test]
fn a_decimal_is_taken_at_its_word() {
    assert_eq!(exact(0.55), Some(ratio(11, 20)));
    assert_eq!(exact(-2.5), Some(-ratio(5, 2)));
    assert_eq!(exact(1e21).unwrap().to_string(), format!("1{}", "0".repeat(21)));
    assert_eq!(exact(1e-7).unwrap().to_string(), "1/10000000");
    assert!([f64::NAN, f64::INFINITY].into_iter().all(|float| exact(float).is_none()));
    assert_eq!(approximate(&ratio(1, 3)), 1.0 / 3.0);
}
