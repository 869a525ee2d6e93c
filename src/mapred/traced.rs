//! What a trace says of a job's tasks, and the rules for what it leaves out.
//!
//! The rules are those of Rumen, the tool that made such traces, and of Mumak, which replayed
//! them: an attempt that the trace has takes the time and ends as it did there, scaled by how far
//! its input was then and is now; any other is made up from the job's distributions.

use rand::{Rng, RngExt};

use super::Locality;
use crate::units::SimSpan;

/// How an attempt went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TracedTry {
    /// Its times, if the trace has them.
    pub times: Option<TracedTimes>,
    /// How far its input was: node, rack, elsewhere. Zero for reduces.
    pub distance: usize,
    /// Whether it failed.
    pub fails: bool,
}

/// How long an attempt's phases took, or take.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TracedTimes {
    /// Fetching, once all maps have ended; zero but for reduces.
    pub shuffle: SimSpan,
    /// Merging; zero but for reduces.
    pub sort: SimSpan,
    /// The work itself.
    pub work: SimSpan,
}

/// The attempts of a task, by number; those that the trace does not have are made up.
pub type TracedTask = Box<[Option<TracedTry>]>;

/// A job's tasks as a trace has them.
#[derive(Clone, Debug, PartialEq)]
pub struct Traced {
    /// The maps, by number.
    pub maps: Vec<TracedTask>,
    /// The reduces, by number.
    pub reduces: Vec<TracedTask>,
    /// How long maps took that succeeded, by the distance of their input; the last where that is
    /// not known.
    pub map_times: [Cdf; 4],
    /// The same for maps that failed.
    pub failed_map_times: [Cdf; 4],
    /// How long reduces took that succeeded.
    pub reduce_times: Cdf,
    /// The same for reduces that failed.
    pub failed_reduce_times: Cdf,
    /// The share of the successful maps that succeeded at their first attempt, second, …; where
    /// there is none at all, a map that is made up fails.
    pub tries: Option<Box<[f64]>>,
    /// How many times as long a map takes, by the distance of its input.
    pub factors: [f64; 3],
    /// At which distance an input counts that is on the node, in the rack, elsewhere.
    pub distances: [usize; 3],
}

/// A distribution function of times as Rumen writes it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Cdf {
    /// How many values it was made of.
    pub weight: u64,
    /// Shares and the milliseconds below which they lie, from share 0 to share 1; none, if it was
    /// made of nothing.
    pub points: Box<[(f64, f64)]>,
}

/// What a task takes for which the trace has nothing at all.
const UNKNOWN: SimSpan = SimSpan::from_millis(100);

impl Traced {
    /// Returns how an attempt of a map goes whose input is so far: its times, and whether it fails.
    pub fn map<R: Rng>(
        &self,
        map: u32,
        attempt: u32,
        locality: Option<Locality>,
        rng: &mut R,
    ) -> (TracedTimes, bool) {
        let distance = self.distances[match locality {
            Some(Locality::Node) => 0,
            Some(Locality::Rack) => 1,
            Some(Locality::OffRack) | None => 2,
        }];
        let (times, then, fails) = match find(&self.maps, map, attempt) {
            Some(TracedTry { times, distance, fails }) => (times, distance, fails),
            None => (None, distance, self.fails(attempt, rng)),
        };
        let work = match times {
            // What made an attempt fail did not wait for its input.
            Some(times) if fails || then == distance => times.work,
            Some(times) => {
                let factor = self.factors[distance] / self.factors[then];
                SimSpan::from_millis((times.work.as_micros() as f64 / 1e3 * factor) as u64)
            }
            None => {
                let times = if fails { &self.failed_map_times } else { &self.map_times };
                let millis = times[distance].sample(rng).or_else(|| sample_any(times, rng));
                millis.and_then(span).unwrap_or(UNKNOWN)
            }
        };
        (TracedTimes { work, ..TracedTimes::default() }, fails)
    }

    /// Returns whether an attempt of a map fails that is made up.
    fn fails<R: Rng>(&self, attempt: u32, rng: &mut R) -> bool {
        match self.tries.as_deref() {
            None => true,
            Some(tries) if tries.len() <= attempt as usize + 1 => false,
            Some(tries) => {
                let left: f64 = tries[attempt as usize..].iter().sum();
                tries[attempt as usize] <= rng.random::<f64>() * left
            }
        }
    }

    /// Returns how an attempt of a reduce goes: its times, and whether it fails.
    pub fn reduce<R: Rng>(&self, reduce: u32, attempt: u32, rng: &mut R) -> (TracedTimes, bool) {
        let traced = find(&self.reduces, reduce, attempt);
        let fails = traced.is_some_and(|traced| traced.fails);
        let times = traced.and_then(|traced| traced.times).unwrap_or_else(|| {
            let times = if fails { &self.failed_reduce_times } else { &self.reduce_times };
            // Rumen draws again, up to five times, when an attempt ended before it began. The
            // whole of an attempt becomes its reduce phase.
            let work = (0..5).find_map(|_| times.sample(rng).and_then(span));
            TracedTimes { work: work.unwrap_or_default(), ..TracedTimes::default() }
        });
        (times, fails)
    }
}

fn find(tasks: &[TracedTask], task: u32, attempt: u32) -> Option<TracedTry> {
    *tasks.get(task as usize)?.get(attempt as usize)?
}

/// Draws from one of some distributions, each as likely as it has values.
fn sample_any<R: Rng>(cdfs: &[Cdf], rng: &mut R) -> Option<f64> {
    let weight = |cdf: &Cdf| u128::from(cdf.weight);
    let total: u128 = cdfs.iter().map(weight).sum();
    let mut rest = (0 < total).then(|| rng.random_range(0..total))?;
    let chosen = cdfs.iter().find(|cdf| {
        let is_it = rest < weight(cdf);
        rest = rest.saturating_sub(weight(cdf));
        is_it
    });
    chosen?.sample(rng)
}

/// Returns a time, unless it is below zero.
fn span(millis: f64) -> Option<SimSpan> {
    (0.0 <= millis).then(|| SimSpan::from_millis(millis as u64))
}

impl Cdf {
    /// Draws milliseconds: even shares, straight between the points.
    fn sample<R: Rng>(&self, rng: &mut R) -> Option<f64> {
        let (last, _) = self.points.split_last()?;
        let share: f64 = rng.random();
        let above = self.points.partition_point(|(at, _)| *at < share);
        let Some((to, high)) = self.points.get(above) else { return Some(last.1) };
        let Some((from, low)) = above.checked_sub(1).map(|index| self.points[index]) else {
            return Some(*high);
        };
        Some(low + (high - low) * (share - from) / (to - from))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Purpose, stream};

    fn secs(secs: u64) -> SimSpan {
        SimSpan::from_secs(secs)
    }

    fn cdf(low: f64, high: f64) -> Cdf {
        Cdf { weight: 10, points: [(0.0, low), (1.0, high)].into() }
    }

    fn traced() -> Traced {
        let times = Some(TracedTimes { work: secs(10), ..TracedTimes::default() });
        let done = |distance, fails| Some(TracedTry { times, distance, fails });
        Traced {
            maps: vec![[done(0, false)].into(), [done(1, true), None].into()],
            reduces: vec![[Some(TracedTry { times: None, distance: 0, fails: true })].into()],
            map_times: [Cdf::default(), Cdf::default(), cdf(7e3, 7e3), cdf(8e3, 8e3)],
            failed_map_times: Default::default(),
            reduce_times: Cdf::default(),
            failed_reduce_times: cdf(9e3, 9e3),
            tries: Some([0.5, 0.5].into()),
            factors: [1.0, 1.5, 3.0],
            distances: [0, 1, 2],
        }
    }

    /// The time of an attempt, and whether it fails.
    fn map(traced: &Traced, map: u32, attempt: u32, locality: Locality) -> (SimSpan, bool) {
        let rng = &mut stream(1, Purpose::Traced, 0);
        let (times, fails) = traced.map(map, attempt, Some(locality), rng);
        (times.work, fails)
    }

    #[test]
    fn a_map_takes_longer_the_farther_its_input_has_become() {
        let traced = traced();
        assert_eq!(map(&traced, 0, 0, Locality::Node), (secs(10), false));
        assert_eq!(map(&traced, 0, 0, Locality::Rack), (secs(15), false));
        assert_eq!(map(&traced, 0, 0, Locality::OffRack), (secs(30), false));
        let mumak = Traced { distances: [0, 2, 2], ..traced };
        assert_eq!(map(&mumak, 0, 0, Locality::Rack), (secs(30), false));
    }

    #[test]
    fn a_failed_attempt_keeps_its_time() {
        assert_eq!(map(&traced(), 1, 0, Locality::OffRack), (secs(10), true));
    }

    #[test]
    fn an_attempt_without_times_ends_as_it_did_after_a_time_of_its_like() {
        let (times, fails) = traced().reduce(0, 0, &mut stream(1, Purpose::Traced, 0));
        assert_eq!((times.work, fails), (secs(9), true));
    }

    #[test]
    fn what_the_trace_lacks_is_made_up_from_the_jobs_distributions() {
        let mut traced = traced();
        // The second attempt is the last that ever succeeded.
        assert_eq!(map(&traced, 1, 1, Locality::OffRack), (secs(7), false));
        // Nothing is known of local maps: any of the others'.
        let (work, _) = map(&traced, 1, 1, Locality::Node);
        assert!(work == secs(7) || work == secs(8), "{work}");
        traced.tries = None;
        assert_eq!(map(&traced, 1, 1, Locality::Node), (UNKNOWN, true));
    }

    #[test]
    fn weights_without_end_can_be_summed() {
        let mut traced = traced();
        for distance in [2, 3] {
            traced.map_times[distance].weight = u64::MAX;
        }
        let (work, _) = map(&traced, 1, 1, Locality::Node);
        assert!(work == secs(7) || work == secs(8), "{work}");
    }

    #[test]
    fn a_first_attempt_succeeds_as_often_as_first_attempts_did() {
        let mut rng = stream(1, Purpose::Traced, 0);
        let traced = traced();
        let mut fails = || traced.map(9, 0, Some(Locality::Node), &mut rng).1;
        let failures = (0..1_000).filter(|_| fails()).count();
        assert!((450..550).contains(&failures), "{failures}");
    }
}
