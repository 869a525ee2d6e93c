//! Priority: jobs are served in an order, each with the largest share of the remaining system that
//! it can use. Jobs whose estimates are used up may share.

use std::collections::BTreeMap;

use num_traits::{One, Zero};

use super::course::FluidCourse;
use super::flow::{FluidDivision, PresentJob, ends, flow, least, serve};
use super::share::in_tiers;
use super::{FluidJob, LateJobs, Rational, attained};

/// Serves the jobs under FSP; the imagined run shares by weight.
pub(super) fn by_virtual_finish(
    jobs: &[FluidJob],
    course: FluidCourse,
    late: LateJobs,
    weight: impl Fn(&FluidJob) -> Rational,
) -> FluidCourse {
    by_imagined_run(jobs, course, &weight, |now, present, finishes| {
        let finish = |place: usize| finishes[place];
        let order = ranked(present, |one, other| {
            let [one, other] = [one, other].map(|place| (finish(place), present[place].job));
            one.0.cmp(other.0).then(one.1.arrival.cmp(&other.1.arrival))
        });
        // A job is late from the instant on at which it ends in the imagined run.
        let is_late = |place: &usize| finish(*place) <= now;
        let first = order.iter().position(|place| !is_late(place)).unwrap_or(order.len());
        let (behind, rest) = order.split_at(first);
        let mut tiers = of_late(present, behind, late);
        tiers.extend(rest.iter().map(|place| vec![*place]));
        let shares = in_tiers(present, tiers, &weight);
        let becomes_late = match late {
            // Then only the order counts, and it stays.
            LateJobs::InTurn => None,
            _ => rest.first().map(|place| finish(*place).clone() - now),
        };
        let meeting = meeting(present, behind, late, &shares);
        FluidDivision { shares, lasts: least(becomes_late.into_iter().chain(meeting)) }
    })
}

/// Serves the jobs under FSP, but those first that have no slack: they need their largest share from now on to
/// end when they end in the imagined run.
pub(super) fn by_guarded_finish(
    jobs: &[FluidJob],
    course: FluidCourse,
    weight: impl Fn(&FluidJob) -> Rational,
) -> FluidCourse {
    by_imagined_run(jobs, course, &weight, |now, present, finishes| {
        let finish = |place: usize| finishes[place];
        let slack = |place: usize| {
            let PresentJob { job, left, .. } = &present[place];
            finish(place).clone() - now - left.clone() / &job.most
        };
        let has_slack = |place: usize| Rational::zero() < slack(place);
        let order = ranked(present, |one, other| {
            let [one, other] =
                [one, other].map(|it| (has_slack(it), finish(it), &present[it].job.arrival));
            one.cmp(&other)
        });
        let tiers = order.into_iter().map(|place| vec![place]).collect();
        let shares = in_tiers(present, tiers, &weight);
        // The less of its largest share a job has, the faster it loses slack.
        let lost = (0..present.len()).filter(|place| has_slack(*place)).filter_map(|place| {
            let speed = Rational::one() - shares[place].clone() / &present[place].job.most;
            (!speed.is_zero()).then(|| slack(place) / &speed)
        });
        let lasts = least(lost);
        FluidDivision { shares, lasts }
    })
}

/// Serves the jobs with the shares of `divide`, which is told when each job that is present ends in an imagined run
/// in which all share by weight.
fn by_imagined_run(
    jobs: &[FluidJob],
    course: FluidCourse,
    weight: impl Fn(&FluidJob) -> Rational,
    divide: impl Fn(&Rational, &[PresentJob<'_>], &[&Rational]) -> FluidDivision,
) -> FluidCourse {
    // In the imagined run a job is as large as its estimate.
    let imagined: Vec<FluidJob> =
        jobs.iter().map(|job| FluidJob { size: job.estimate.clone(), ..job.clone() }).collect();
    let mut sharing = ImaginedRun::default();
    flow(jobs, course, |now, present| {
        sharing.meet(present, &imagined, now, &weight);
        let finishes = present.iter().map(|job| &sharing.finishes[&job.number]);
        divide(now, present, &finishes.collect::<Vec<_>>())
    })
}

/// A run in which the jobs share the system.
#[derive(Clone, Default)]
struct ImaginedRun<'a> {
    now: Rational,
    present: Vec<PresentJob<'a>>,
    /// When each job ends, if no more jobs come.
    finishes: BTreeMap<usize, Rational>,
}

impl<'a> ImaginedRun<'a> {
    /// Goes on until now, if jobs have arrived, and foresees all ends anew. Only an arrival changes the order:
    /// without arrivals, all jobs end as foreseen.
    fn meet(
        &mut self,
        present: &[PresentJob<'_>],
        imagined: &'a [FluidJob],
        now: &Rational,
        weight: impl Fn(&FluidJob) -> Rational,
    ) {
        let new = present.iter().filter(|job| !self.finishes.contains_key(&job.number));
        let new: Vec<usize> = new.map(|job| job.number).collect();
        if !new.is_empty() {
            self.advance(Some(now), &weight);
            let arriving = new.into_iter().map(|number| (number, &imagined[number]));
            self.present.extend(arriving.map(|(number, job)| PresentJob::arriving(number, job)));
            // Those that have ended by now have done so as foreseen before.
            let ends = self.clone().advance(None, &weight);
            self.finishes.extend(ends);
        }
    }

    /// Goes on up to an instant, or until all jobs have ended. Returns when jobs end on the way.
    fn advance(
        &mut self,
        to: Option<&Rational>,
        weight: impl Fn(&FluidJob) -> Rational,
    ) -> Vec<(usize, Rational)> {
        let mut ended = Vec::new();
        loop {
            let over = self.present.iter().filter(|job| job.left.is_zero());
            ended.extend(over.map(|job| (job.number, self.now.clone())));
            self.present.retain(|job| !job.left.is_zero());
            let rest = to.map(|to| to.clone() - &self.now);
            if self.present.is_empty() || rest.as_ref().is_some_and(Zero::is_zero) {
                self.now = to.unwrap_or(&self.now).clone();
                return ended;
            }
            let all = vec![(0..self.present.len()).collect()];
            let shares = in_tiers(&self.present, all, &weight);
            let until_end = ends(&self.present, &shares).flatten();
            let span = least(until_end.chain(rest.clone())).expect("there are jobs");
            serve(&mut self.present, &shares, &span);
            let is_over = rest.as_ref() == Some(&span);
            self.now = match to {
                Some(to) if is_over => to.clone(),
                _ => self.now.clone() + &span,
            };
        }
    }
}

/// Serves the jobs under SRPT.
pub(super) fn by_work_left(jobs: &[FluidJob], course: FluidCourse, late: LateJobs) -> FluidCourse {
    flow(jobs, course, |_, present| {
        let left: Vec<Rational> = present.iter().map(PresentJob::believed_left).collect();
        // Of two equal jobs, the job that can use more would overtake the other at once.
        let order = ranked(present, |one, other| {
            let [a, b] = [one, other].map(|place| present[place].job);
            let by_left = left[one].cmp(&left[other]);
            by_left.then(b.most.cmp(&a.most)).then(a.arrival.cmp(&b.arrival))
        });
        let first = order.iter().position(|place| !left[*place].is_zero()).unwrap_or(order.len());
        let (behind, rest) = order.split_at(first);
        let mut tiers = of_late(present, behind, late);
        match (late, rest.split_first()) {
            (LateJobs::Shared | LateJobs::LeastAttained, Some((head, rest))) => {
                // The first job that is not late shares with the late jobs that are served.
                match tiers.first_mut() {
                    Some(tier) => tier.push(*head),
                    None => tiers.push(vec![*head]),
                }
                tiers.extend(rest.iter().map(|place| vec![*place]));
            }
            _ => tiers.extend(rest.iter().map(|place| vec![*place])),
        }
        let shares = in_tiers(present, tiers, |_| Rational::one());
        let overtaking = first_overtaking(&left, rest, &shares);
        let served = rest.iter().filter(|place| !shares[**place].is_zero());
        let becomes_late = served.map(|place| left[*place].clone() / &shares[*place]);
        let meeting = meeting(present, behind, late, &shares);
        let lasts = least(becomes_late.chain(overtaking).chain(meeting));
        FluidDivision { shares, lasts }
    })
}

/// Returns the places of the jobs by their rank; of jobs with the same rank, the first in the list
/// comes first.
fn ranked(
    present: &[PresentJob<'_>],
    rank: impl Fn(usize, usize) -> std::cmp::Ordering,
) -> Vec<usize> {
    let mut order: Vec<usize> = (0..present.len()).collect();
    order.sort_by(|one, other| {
        rank(*one, *other).then(present[*one].number.cmp(&present[*other].number))
    });
    order
}

/// Returns the tiers in which late jobs are served.
fn of_late(present: &[PresentJob<'_>], late: &[usize], how: LateJobs) -> Vec<Vec<usize>> {
    match how {
        LateJobs::InTurn => late.iter().map(|place| vec![*place]).collect(),
        LateJobs::Shared if late.is_empty() => Vec::new(),
        LateJobs::Shared => vec![late.to_vec()],
        LateJobs::LeastAttained => attained::tiers(present, late.to_vec()),
    }
}

/// Returns when late jobs that are served by their attained service must be grouped anew.
fn meeting(
    present: &[PresentJob<'_>],
    late: &[usize],
    how: LateJobs,
    shares: &[Rational],
) -> Option<Rational> {
    let is_by_service = how == LateJobs::LeastAttained;
    let tiers = is_by_service.then(|| attained::tiers(present, late.to_vec()))?;
    attained::first_meeting(present, &tiers, shares)
}

/// Returns when a job will first have as little work left as the job before it in the order. Only a
/// job with a larger share can catch up, so two jobs overtake each other at most once.
fn first_overtaking(left: &[Rational], order: &[usize], shares: &[Rational]) -> Option<Rational> {
    let pairs = order.windows(2).map(|pair| (pair[0], pair[1]));
    let closing = pairs.filter(|(ahead, behind)| shares[*ahead] < shares[*behind]);
    least(closing.map(|(ahead, behind)| {
        let gap = left[behind].clone() - &left[ahead];
        gap / &(shares[behind].clone() - &shares[ahead])
    }))
}
