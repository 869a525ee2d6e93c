//! When the jobs of a mix are submitted.

use std::iter;

use rand_distr::{Distribution, Exp1};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use mumakil_base::random::{ChaCha8Rng, Dist};
use mumakil_base::units::{Count, Factor, Quantity, SimSpan};

/// When jobs are submitted.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Arrivals {
    /// All jobs at the beginning.
    #[default]
    AtOnce,
    /// The first job at the beginning, each other job this long after the one before. Exponential
    /// gaps make a Poisson process.
    Gap(Dist<SimSpan>),
    /// Several jobs close together, then none for a while.
    Bursts {
        /// How many jobs a burst has.
        size: Dist<Count<1, 1_000_000>>,
        /// The time between two jobs of a burst.
        #[serde(default)]
        gap: Dist<SimSpan>,
        /// The time between the last job of a burst and the first of the next.
        pause: Dist<SimSpan>,
    },
    /// At recorded times.
    Times(Vec<SimSpan>),
    /// By chance, at a rate that changes from hour to hour in the same way every day.
    Daily {
        /// How many jobs arrive in a day, on average.
        jobs: Count<1, 10_000_000>,
        /// How the jobs are distributed over the 24 hours of the day: a weight for each hour.
        hours: [Factor; 24],
        /// The hour of the day at which the run begins: 0 is midnight.
        #[serde(default = "midnight", skip_serializing_if = "is_midnight")]
        from: Count<0, 23>,
    },
}

impl Arrivals {
    /// Returns the times at which jobs are submitted, in order; endless, except for recorded times.
    pub(super) fn instants(&self, rng: ChaCha8Rng) -> Box<dyn Iterator<Item = SimSpan> + '_> {
        match self {
            Self::AtOnce => Box::new(iter::repeat(SimSpan::ZERO)),
            Self::Gap(gap) => stepping(rng, move |at, rng| at + gap.sample(rng)),
            Self::Bursts { size, gap, pause } => {
                let mut left = 0;
                stepping(rng, move |at, rng| {
                    // The last burst is complete. `at` is the time of the first job of a new burst.
                    if left == 0 {
                        left = size.sample(rng).get();
                    }
                    left -= 1;
                    at + if left == 0 { pause } else { gap }.sample(rng)
                })
            }
            Self::Times(times) => {
                let mut times = times.clone();
                // Recorded times may be in any order; jobs get them sorted.
                times.sort();
                Box::new(times.into_iter())
            }
            Self::Daily { jobs, hours, from } => {
                let all: f64 = hours.iter().map(|weight| weight.get()).sum();
                let mut in_an_hour =
                    hours.map(|weight| f64::from(jobs.get()) * (weight.get() / all));
                in_an_hour.rotate_left(from.get() as usize);
                stepping(rng, move |at, rng| next_of_day(at, &in_an_hour, rng))
            }
        }
    }
}

fn midnight() -> Count<0, 23> {
    Count::of(0)
}

fn is_midnight(hour: &Count<0, 23>) -> bool {
    hour.get() == 0
}

/// Returns endless times: the first is 0, and each other time is one step later than the time
/// before. Times later than the longest span count as the longest span.
fn stepping<'a>(
    mut rng: ChaCha8Rng,
    mut step: impl FnMut(SimSpan, &mut ChaCha8Rng) -> SimSpan + 'a,
) -> Box<dyn Iterator<Item = SimSpan> + 'a> {
    Box::new(iter::successors(Some(SimSpan::ZERO), move |at| {
        Some(step(*at, &mut rng).min(SimSpan::LONGEST))
    }))
}

/// Returns the time of the next job of a Poisson process, given the expected jobs in each hour of
/// the day.
fn next_of_day(at: SimSpan, in_an_hour: &[f64; 24], rng: &mut ChaCha8Rng) -> SimSpan {
    const HOUR: f64 = 3_600e6;
    // The rest of the wait, as a number of expected jobs.
    let mut wait: f64 = Exp1.sample(rng);
    let mut at = at.as_f64();
    loop {
        let hour = (at / HOUR).floor();
        let rate = in_an_hour[hour as usize % 24] / HOUR;
        let end = (hour + 1.0) * HOUR;
        let expected = rate * (end - at);
        if wait < expected {
            return SimSpan::from_f64(at + wait / rate);
        }
        wait -= expected;
        at = end;
    }
}
