//! What a trace says of a job's tasks, and the rules for what it leaves out.
//!
//! The rules are those of Rumen, the tool that made such traces, and of Mumak, which replayed
//! them: an attempt that the trace has takes the time and ends as it did there, scaled by how far
//! its input was then and is now; any other is made up from the job's distributions.

use rand::{Rng, RngExt};

use super::Locality;
use crate::units::SimSpan;

/// How an attempt went, or goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TracedTry {
    /// Fetching, once all maps have ended; zero but for reduces.
    pub shuffle: SimSpan,
    /// Merging; zero but for reduces.
    pub sort: SimSpan,
    /// The work itself.
    pub work: SimSpan,
    /// How far its input was: node, rack, elsewhere. Zero for reduces.
    pub distance: usize,
    /// Whether it failed.
    pub fails: bool,
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
    /// How long reduces took.
    pub reduce_times: Cdf,
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
    /// Returns how an attempt of a map goes whose input is so far.
    pub fn map<R: Rng>(
        &self,
        map: u32,
        attempt: u32,
        locality: Option<Locality>,
        rng: &mut R,
    ) -> TracedTry {
        let distance = self.distances[match locality {
            None | Some(Locality::Node) => 0,
            Some(Locality::Rack) => 1,
            Some(Locality::OffRack) => 2,
        }];
        match find(&self.maps, map, attempt) {
            // What made an attempt fail did not wait for its input.
            Some(traced) if traced.fails || traced.distance == distance => traced,
            Some(traced) => {
                let factor = self.factors[distance] / self.factors[traced.distance];
                let millis = traced.work.as_micros() as f64 / 1e3 * factor;
                TracedTry { work: SimSpan::from_millis(millis as u64), distance, ..traced }
            }
            None => self.make_map_up(attempt, distance, rng),
        }
    }

    fn make_map_up<R: Rng>(&self, attempt: u32, distance: usize, rng: &mut R) -> TracedTry {
        let succeeds = match self.tries.as_deref() {
            None => false,
            Some(tries) if tries.len() <= attempt as usize + 1 => true,
            Some(tries) => {
                let left: f64 = tries[attempt as usize..].iter().sum();
                rng.random::<f64>() * left < tries[attempt as usize]
            }
        };
        let times = if succeeds { &self.map_times } else { &self.failed_map_times };
        let time = times[distance].sample(rng).or_else(|| sample_any(times, rng));
        TracedTry {
            shuffle: SimSpan::ZERO,
            sort: SimSpan::ZERO,
            work: time.map_or(UNKNOWN, span),
            distance,
            fails: !succeeds,
        }
    }

    /// Returns how an attempt of a reduce goes.
    pub fn reduce<R: Rng>(&self, reduce: u32, attempt: u32, rng: &mut R) -> TracedTry {
        find(&self.reduces, reduce, attempt).unwrap_or_else(|| TracedTry {
            shuffle: SimSpan::ZERO,
            sort: SimSpan::ZERO,
            // The whole of an attempt becomes its reduce phase.
            work: self.reduce_times.sample(rng).map_or(SimSpan::ZERO, span),
            distance: 0,
            fails: false,
        })
    }
}

fn find(tasks: &[TracedTask], task: u32, attempt: u32) -> Option<TracedTry> {
    *tasks.get(task as usize)?.get(attempt as usize)?
}

/// Draws from one of some distributions, each as likely as it has values.
fn sample_any<R: Rng>(cdfs: &[Cdf], rng: &mut R) -> Option<f64> {
    let total: u64 = cdfs.iter().map(|cdf| cdf.weight).sum();
    let mut rest = (0 < total).then(|| rng.random_range(0..total))?;
    let chosen = cdfs.iter().find(|cdf| {
        let is_it = rest < cdf.weight;
        rest = rest.saturating_sub(cdf.weight);
        is_it
    });
    chosen?.sample(rng)
}

fn span(millis: f64) -> SimSpan {
    SimSpan::from_millis(millis.max(0.0) as u64)
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
        let done = |distance, fails| {
            let nothing = SimSpan::ZERO;
            Some(TracedTry { shuffle: nothing, sort: nothing, work: secs(10), distance, fails })
        };
        Traced {
            maps: vec![[done(0, false)].into(), [done(1, true), None].into()],
            reduces: Vec::new(),
            map_times: [Cdf::default(), Cdf::default(), cdf(7e3, 7e3), cdf(8e3, 8e3)],
            failed_map_times: Default::default(),
            reduce_times: Cdf::default(),
            tries: Some([0.5, 0.5].into()),
            factors: [1.0, 1.5, 3.0],
            distances: [0, 1, 2],
        }
    }

    fn map(traced: &Traced, map: u32, attempt: u32, locality: Locality) -> TracedTry {
        traced.map(map, attempt, Some(locality), &mut stream(1, Purpose::Traced, 0))
    }

    #[test]
    fn a_map_takes_longer_the_farther_its_input_has_become() {
        let traced = traced();
        assert_eq!(map(&traced, 0, 0, Locality::Node).work, secs(10));
        assert_eq!(map(&traced, 0, 0, Locality::Rack).work, secs(15));
        assert_eq!(map(&traced, 0, 0, Locality::OffRack).work, secs(30));
        let mumak = Traced { distances: [0, 2, 2], ..traced };
        assert_eq!(map(&mumak, 0, 0, Locality::Rack).work, secs(30));
    }

    #[test]
    fn a_failed_attempt_keeps_its_time() {
        let failed = map(&traced(), 1, 0, Locality::OffRack);
        assert_eq!((failed.work, failed.fails), (secs(10), true));
    }

    #[test]
    fn what_the_trace_lacks_is_made_up_from_the_jobs_distributions() {
        let mut traced = traced();
        // The second attempt is the last that ever succeeded.
        assert!(!map(&traced, 1, 1, Locality::OffRack).fails);
        assert_eq!(map(&traced, 1, 1, Locality::OffRack).work, secs(7));
        // Nothing is known of local maps: any of the others'.
        let work = map(&traced, 1, 1, Locality::Node).work;
        assert!(work == secs(7) || work == secs(8), "{work}");
        traced.tries = None;
        let made_up = map(&traced, 1, 1, Locality::Node);
        assert_eq!((made_up.work, made_up.fails), (UNKNOWN, true));
    }

    #[test]
    fn a_first_attempt_succeeds_as_often_as_first_attempts_did() {
        let mut rng = stream(1, Purpose::Traced, 0);
        let failures =
            (0..1_000).filter(|_| traced().map(9, 0, Some(Locality::Node), &mut rng).fails).count();
        assert!((450..550).contains(&failures), "{failures}");
    }
}
