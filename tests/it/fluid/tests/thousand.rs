//! A thousand jobs with wrong sizes, served once more by floats, event by event.

use super::*;

/// Amounts below this are nothing.
const NOTHING: f64 = 1e-9;

/// A job, how much of it is left, and how much of its estimate in the imagined run.
#[derive(Clone)]
struct FloatJob {
    arrival: f64,
    size: f64,
    estimate: f64,
    weight: f64,
    left: f64,
    imagined: f64,
    imagined_end: f64,
}

impl FloatJob {
    fn attained(&self) -> f64 {
        self.size - self.left
    }
}

/// Returns the jobs of a list with the smallest value; `apart` says how far equal values may differ.
fn first(jobs: &[usize], apart: f64, value: impl Fn(usize) -> f64) -> Vec<usize> {
    let least = jobs.iter().map(|job| value(*job)).fold(f64::INFINITY, f64::min);
    jobs.iter().copied().filter(|job| value(*job) <= least + apart).collect()
}

/// Returns the jobs that are served, all in proportion to weights, and whether weights count.
fn served(how: FluidDiscipline, all: &[FloatJob], present: &[usize]) -> (Vec<usize>, bool) {
    use FluidDiscipline::{Fsp, Las, Psbs, Srpt};
    let attained = |job: usize| all[job].attained();
    let late = |is_late: &dyn Fn(&FloatJob) -> bool| -> Vec<usize> {
        present.iter().copied().filter(|job| is_late(&all[*job])).collect()
    };
    let one = |jobs: Vec<usize>| jobs.into_iter().take(1).collect::<Vec<_>>();
    match how {
        Ps => (present.to_vec(), false),
        Gps => (present.to_vec(), true),
        Las => (first(present, NOTHING, attained), false),
        FluidDiscipline::Guarded => unreachable!("its order changes between events, too"),
        Fsp(_) | Psbs => {
            let late = late(&|job| job.imagined <= NOTHING);
            match how {
                _ if late.is_empty() => {
                    let weighs = how == Psbs;
                    let end =
                        |job: usize| all[job].imagined / if weighs { all[job].weight } else { 1.0 };
                    (one(first(present, NOTHING, end)), false)
                }
                Psbs => (late, true),
                Fsp(LateJobs::InTurn) => {
                    (one(first(&late, NOTHING, |job| all[job].imagined_end)), false)
                }
                Fsp(LateJobs::Shared) => (late, false),
                _ => (first(&late, NOTHING, attained), false),
            }
        }
        Srpt(how) => {
            let left = |job: usize| (all[job].estimate - all[job].attained()).max(0.0);
            let late = late(&|job| job.estimate <= job.attained() + NOTHING);
            let rest: Vec<usize> =
                present.iter().copied().filter(|job| !late.contains(job)).collect();
            let head = one(first(&rest, NOTHING, left));
            let late = match how {
                LateJobs::InTurn if late.is_empty() => return (head, false),
                LateJobs::InTurn => return (one(late), false),
                LateJobs::Shared => late,
                LateJobs::LeastAttained => first(&late, NOTHING, attained),
            };
            ([late, head].concat(), false)
        }
    }
}

/// Returns when the jobs end.
fn floats(how: FluidDiscipline, jobs: &[FluidJob]) -> Vec<f64> {
    let float = |job: &FluidJob| {
        let [arrival, size, estimate, weight] =
            [&job.arrival, &job.size, &job.estimate, &job.weight].map(approximate);
        FloatJob {
            arrival,
            size,
            estimate,
            weight,
            left: size,
            imagined: estimate,
            imagined_end: 0.0,
        }
    };
    let mut all: Vec<FloatJob> = jobs.iter().map(float).collect();
    let (mut now, mut ends) = (0.0, vec![0.0; all.len()]);
    while all.iter().any(|job| NOTHING < job.left) {
        let is_here = |job: &usize| all[*job].arrival <= now + NOTHING;
        let here: Vec<usize> = (0..all.len()).filter(is_here).collect();
        let present: Vec<usize> =
            here.iter().copied().filter(|job| NOTHING < all[*job].left).collect();
        let imagined: Vec<usize> =
            here.iter().copied().filter(|job| NOTHING < all[*job].imagined).collect();
        let weight = |job: usize, weighs: bool| if weighs { all[job].weight } else { 1.0 };
        let rates = |jobs: &[usize], weighs: bool| -> Vec<(usize, f64)> {
            let sum: f64 = jobs.iter().map(|job| weight(*job, weighs)).sum();
            jobs.iter().map(|job| (*job, weight(*job, weighs) / sum)).collect()
        };
        let (jobs, weighs) = served(how, &all, &present);
        let (real, dream) = (rates(&jobs, weighs), rates(&imagined, how == FluidDiscipline::Psbs));
        let mut span = f64::INFINITY;
        let mut until = |time: f64| span = if NOTHING < time { span.min(time) } else { span };
        all.iter().for_each(|job| until(job.arrival - now));
        dream.iter().for_each(|(job, rate)| until(all[*job].imagined / rate));
        for (job, rate) in &real {
            until(all[*job].left / rate);
            until((all[*job].estimate - all[*job].attained()) / rate);
            let gaps = present.iter().map(|other| all[*other].attained() - all[*job].attained());
            gaps.filter(|gap| NOTHING < *gap).for_each(|gap| until(gap / rate));
        }
        now += span;
        for (job, rate) in dream {
            all[job].imagined -= rate * span;
            all[job].imagined_end = now;
        }
        for (job, rate) in real {
            all[job].left -= rate * span;
            ends[job] = now;
        }
    }
    ends
}

/// Each busy period is short, since exact numbers grow with it.
#[test]
fn a_thousand_jobs_with_wrong_sizes_end_as_in_a_model_of_floats() {
    let mut seed = 1_u64;
    let mut draw = |below: u64| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) % below
    };
    let mut arrival = 0;
    let jobs: Vec<FluidJob> = (0..1000)
        .map(|_| {
            arrival += 1 + draw(43);
            let size = [1 + draw(4), 1 + draw(12), 1 + draw(40)][draw(3) as usize];
            FluidJob {
                // Wrong by up to eight times, in both directions.
                estimate: ratio(size * (1 + draw(8)), 1 + draw(8)),
                weight: ratio(1 + draw(3), 1),
                ..FluidJob::of(ratio(arrival, 1), ratio(size, 1))
            }
        })
        .collect();
    let judged = |it: &FluidDiscipline| *it != FluidDiscipline::Guarded;
    for discipline in FluidDiscipline::ALL.into_iter().filter(judged) {
        let exact = finishes(discipline, &jobs);
        for (number, (exact, float)) in exact.iter().zip(floats(discipline, &jobs)).enumerate() {
            let exact = approximate(exact);
            assert!((exact - float).abs() < 1e-6, "{discipline:?}: job {number}: {exact}, {float}");
        }
    }
}
