//! A trace's records of a job's tasks, and the rules for everything that the trace leaves out.
//!
//! The rules are those of Rumen, the tool that made such traces, and of Mumak, which replayed them.
//! An attempt in the trace keeps its outcome and its time. But the time of a successful map is
//! scaled if its input is now at another distance. For an attempt that is not in the trace, outcome
//! and time are drawn from the job's distributions.
//!
//! The time of an attempt that committed contains its wait for the permission. A replay that gives
//! permissions itself must not wait twice, so the usual wait of the log is split off
//! ([`TracedTimes::commit`]).

use crate::mapred::ids::{AttemptId, TaskKind};
use crate::mapred::locality::Locality;
use mumakil_base::random::Dice;
use mumakil_base::units::SimSpan;

/// A trace's record of an attempt.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TracedTry {
    /// Its times, if the trace has them.
    pub times: Option<TracedTimes>,
    /// The distance of its input: 0 on the node, 1 in the rack, 2 elsewhere. Zero for reduces.
    pub distance: usize,
    /// Whether it failed.
    pub fails: bool,
    /// The time that it takes at least; zero unless it was killed after this time.
    pub at_least: SimSpan,
    /// How long it held its slot before its logged start, if it was the job's first attempt on its
    /// tracker.
    pub localisation: Option<SimSpan>,
}

/// How long an attempt's phases take.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TracedTimes {
    /// Fetching, once all maps have ended; zero for all but reduces.
    pub shuffle: SimSpan,
    /// Merging; zero for all but reduces.
    pub sort: SimSpan,
    /// The work itself.
    pub work: SimSpan,
    /// The wait for the permission to commit, at the end of the logged time.
    pub commit: SimSpan,
}

impl TracedTimes {
    /// Returns the sum of the phases.
    pub fn sum(&self) -> SimSpan {
        self.shuffle + self.sort + self.work + self.commit
    }
}

/// The attempts of a task, by number; `None` for an attempt that is not in the trace.
pub type TracedTask = Box<[Option<TracedTry>]>;

/// A job's tasks in a trace.
#[derive(Clone, Debug, PartialEq)]
pub struct Traced {
    /// The maps, by number.
    pub maps: Vec<TracedTask>,
    /// The reduces, by number.
    pub reduces: Vec<TracedTask>,
    /// The times of successful maps, by the distance of their input; the last is for unknown
    /// distances.
    pub map_times: [Cdf; 4],
    /// The times of failed maps, by the distance of their input.
    pub failed_map_times: [Cdf; 4],
    /// The times of successful reduces.
    pub reduce_times: Cdf,
    /// The times of failed reduces.
    pub failed_reduce_times: Cdf,
    /// The shares of successful maps that succeeded at their first attempt, at their second, and so
    /// on. With `None` every map that is not in the trace fails.
    pub tries: Option<Box<[f64]>>,
    /// The factors that scale a map's time, by the distance of its input.
    pub factors: [f64; 3],
    /// How long attempts usually waited for the permission to commit; zero in Mumak, which has no
    /// such wait.
    pub commit_wait: SimSpan,
    /// The times of the job as a whole.
    pub service: TracedService,
    /// Whether Mumak's two quirks hold. First, input in the rack counts as input in another rack.
    /// Second, if an attempt in the trace has no start, its time is drawn, and then scaled like a
    /// logged time; if the attempt failed, its time is drawn for the distance in the trace.
    pub quirks: bool,
    /// Whether Mumak fails the job when it reads the splits, because the trace logs more maps than
    /// the job has.
    pub is_unreadable: bool,
    /// The job's id, split into its text and its number; `None` unless ids break ties between jobs,
    /// as in Mumak.
    pub id: Option<(Box<str>, u64)>,
    /// The maps whose input nodes the trace does not name, and the number of nodes that hold each
    /// such input. These nodes are drawn when the job's splits are read. Empty if they were drawn
    /// earlier.
    pub unplaced: (Box<[u32]>, usize),
}

/// The times in a trace that belong to a job as a whole; `None` if the trace does not have them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TracedService {
    /// How long the job's initialisation took.
    pub init: Option<TracedInit>,
    /// How long the first attempts of the job on a tracker usually held their slots before their
    /// logged start, while its files were copied.
    pub localisation: Option<SimSpan>,
    /// The setup task.
    pub setup: ServiceTimes,
    /// The cleanup task.
    pub cleanup: ServiceTimes,
}

/// The times of a job's setup or cleanup in a trace; `None` if the trace does not have them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ServiceTimes {
    /// How long it took, its start-up included.
    pub takes: Option<SimSpan>,
    /// As [`TracedTry::localisation`].
    pub localisation: Option<SimSpan>,
}

/// How long the initialisation of a job took in a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TracedInit {
    /// The reading of its splits.
    Reading(SimSpan),
    /// All the time from its submission on, the wait for the policy's order to read included: the
    /// policy of the time gave such orders.
    SinceSubmission(SimSpan),
}

/// A cumulative distribution of times, in Rumen's form.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Cdf {
    /// How many values it was computed from.
    pub weight: u64,
    /// Pairs (share, milliseconds), from share 0 to share 1: this share of the values lies below
    /// these milliseconds. Empty if there were no values.
    pub points: Box<[(f64, f64)]>,
}

/// The time of a task about which the trace has no data.
// In Rumen's ZombieJob an empty distribution gives −1, and a time below zero becomes 100 ms.
const UNKNOWN: SimSpan = SimSpan::from_millis(100);

/// The number of the first distribution of failed maps. A job's distributions are numbered: first
/// those of successful maps by distance, from 0 on, then those of failed maps by distance.
const FAILED_MAPS: usize = 4;
const REDUCES: usize = 8;
const FAILED_REDUCES: usize = 9;

impl Traced {
    /// Returns how long the files of the job are copied for an attempt that needs them first.
    pub fn localisation(&self, attempt: AttemptId) -> Option<SimSpan> {
        let AttemptId { task, number } = attempt;
        let tasks = match task.kind {
            TaskKind::Map => &self.maps,
            TaskKind::Reduce => &self.reduces,
            TaskKind::Setup => {
                return self.service.setup.localisation.or(self.service.localisation);
            }
            TaskKind::Cleanup => {
                return self.service.cleanup.localisation.or(self.service.localisation);
            }
        };
        let own = find(tasks, task.index, number).and_then(|logged| logged.localisation);
        own.or(self.service.localisation)
    }

    /// Returns the times of an attempt whose input is at this distance, and whether it fails.
    pub fn draw(
        &self,
        attempt: AttemptId,
        locality: Option<Locality>,
        dice: &mut impl Dice,
    ) -> (TracedTimes, bool) {
        let AttemptId { task, number } = attempt;
        let (mut times, fails) = match task.kind {
            TaskKind::Map => self.map(task.index, number, locality, dice),
            _ => self.reduce(task.index, number, dice),
        };
        // As in Hadoop, only a task that writes to HDFS commits: a map with reduces leaves local
        // files. An attempt that fails does not get that far.
        let commits = task.kind == TaskKind::Reduce || self.reduces.is_empty();
        if commits && !fails {
            times.commit = self.commit_wait.min(times.work);
            times.work = times.work.saturating_sub(times.commit);
        }
        (times, fails)
    }

    fn map(
        &self,
        map: u32,
        attempt: u32,
        locality: Option<Locality>,
        dice: &mut impl Dice,
    ) -> (TracedTimes, bool) {
        let distance = match locality {
            Some(Locality::Node) => 0,
            Some(Locality::Rack) if !self.quirks => 1,
            Some(Locality::Rack | Locality::OffRack) | None => 2,
        };
        let logged = find(&self.maps, map, attempt);
        // Draw this before the time, as in ZombieJob: with Mumak's seeds the order of draws
        // matters.
        let fails = logged.map_or_else(|| self.fails(attempt, dice), |logged| logged.fails);
        let then = logged.map_or(distance, |logged| logged.distance);
        let times = logged.and_then(|logged| logged.times);
        let drawn = times.map(|times| times.work).unwrap_or_else(|| {
            let at = if fails && self.quirks { then } else { distance };
            self.draw_map_time(fails, at, dice)
        });
        let work = drawn.max(logged.map_or(SimSpan::ZERO, |logged| logged.at_least));
        // The time until a failure does not depend on the distance of the input, so it is not
        // scaled.
        let is_scaled = !fails && then != distance && (times.is_some() || self.quirks);
        let work = if is_scaled {
            let factor = self.factors[distance] / self.factors[then];
            // Java's cast to whole milliseconds rounds down.
            SimSpan::from_millis((work.as_micros() as f64 / 1e3 * factor) as u64)
        } else {
            work
        };
        (TracedTimes { work, ..TracedTimes::default() }, fails)
    }

    /// Returns whether an attempt of a map that is not in the trace fails.
    fn fails(&self, attempt: u32, dice: &mut impl Dice) -> bool {
        match self.tries.as_deref() {
            None => true,
            // No map of the job needed more attempts, so this attempt succeeds.
            Some(tries) if tries.len() <= attempt as usize + 1 => false,
            Some(tries) => {
                // Of the maps that needed at least this many attempts, the share that needed no
                // more.
                let left: f64 = tries[attempt as usize..].iter().sum();
                let succeeds = dice.share() < tries[attempt as usize] / left;
                !succeeds
            }
        }
    }

    /// Draws the time of a map from the distribution of its distance. If that is empty, draws from
    /// one of the others, chosen with their numbers of values as weights.
    fn draw_map_time(&self, fails: bool, distance: usize, dice: &mut impl Dice) -> SimSpan {
        let (times, first) = match fails {
            true => (&self.failed_map_times, FAILED_MAPS),
            false => (&self.map_times, 0),
        };
        let sample = |at: usize, dice: &mut _| times[at].sample(first + at, dice);
        let millis = sample(distance, dice).or_else(|| {
            let weight = |cdf: &Cdf| u128::from(cdf.weight);
            let total: u128 = times.iter().map(weight).sum();
            // The trace has no map at this distance, so choose one of the other distributions, with
            // their numbers of maps as weights.
            let mut rest = (0 < total).then(|| dice.below(total))?;
            let chosen = times.iter().position(|cdf| {
                let is_it = rest < weight(cdf);
                rest = rest.saturating_sub(weight(cdf));
                is_it
            });
            sample(chosen?, dice)
        });
        millis.and_then(span).unwrap_or(UNKNOWN)
    }

    fn reduce(&self, reduce: u32, attempt: u32, dice: &mut impl Dice) -> (TracedTimes, bool) {
        let traced = find(&self.reduces, reduce, attempt);
        let fails = traced.is_some_and(|traced| traced.fails);
        let times = traced.and_then(|traced| traced.times).unwrap_or_else(|| {
            let (times, number) = match fails {
                true => (&self.failed_reduce_times, FAILED_REDUCES),
                false => (&self.reduce_times, REDUCES),
            };
            // As in Rumen, draw up to five times until the time is not below zero. The whole time
            // counts as the reduce phase.
            let work = (0..5).find_map(|_| times.sample(number, dice).and_then(span));
            TracedTimes { work: work.unwrap_or_default(), ..TracedTimes::default() }
        });
        let rest = traced.map_or(SimSpan::ZERO, |it| it.at_least.saturating_sub(times.sum()));
        (TracedTimes { work: times.work + rest, ..times }, fails)
    }
}

fn find(tasks: &[TracedTask], task: u32, attempt: u32) -> Option<TracedTry> {
    *tasks.get(task as usize)?.get(attempt as usize)?
}

/// Returns this many milliseconds as a span; `None` if they are below zero.
fn span(millis: f64) -> Option<SimSpan> {
    (0.0 <= millis).then(|| SimSpan::from_millis(millis as u64))
}

impl Cdf {
    /// Draws a time in milliseconds: a uniform random share, and the value at that share,
    /// interpolated linearly between the points. The order of operations is Rumen's, so that the
    /// last bit is the same. Returns `None` if the distribution is empty.
    fn sample(&self, number: usize, dice: &mut impl Dice) -> Option<f64> {
        let (last, _) = self.points.split_last()?;
        let share = dice.share_of(number);
        // If several points have an equal share, the last one counts.
        let above = self.points.partition_point(|(at, _)| *at <= share);
        let Some((to, high)) = self.points.get(above) else { return Some(last.1) };
        let Some((from, low)) = above.checked_sub(1).map(|index| self.points[index]) else {
            return Some(*high);
        };
        Some(((share - from) / (to - from) * (high - low)).trunc() + low)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mapred::ids::{JobId, TaskId};
    use mumakil_base::random::mumak::MumakJobs;
    use mumakil_base::random::{Purpose, stream};

    impl Traced {
        /// Returns the record of a job in which a map took 9 s, and a reduce fetched for 6 s after the
        /// last map, merged for 1 s and reduced for 5 s.
        pub(in crate::mapred) fn sample() -> Self {
            let secs = SimSpan::from_secs;
            let (shuffle, sort, work) = (secs(6), secs(1), secs(5));
            let reduce = TracedTimes { shuffle, sort, work, ..TracedTimes::default() };
            let map = TracedTimes { work: secs(9), ..TracedTimes::default() };
            let succeeds = |times| [Some(TracedTry { times: Some(times), ..TracedTry::default() })];
            Self {
                maps: vec![succeeds(map).into()],
                reduces: vec![succeeds(reduce).into()],
                map_times: Default::default(),
                failed_map_times: Default::default(),
                reduce_times: Cdf::default(),
                failed_reduce_times: Cdf::default(),
                tries: Some([].into()),
                factors: [1.0; 3],
                commit_wait: SimSpan::ZERO,
                service: TracedService::default(),
                quirks: false,
                is_unreadable: false,
                id: None,
                unplaced: Default::default(),
            }
        }
    }

    fn secs(secs: u64) -> SimSpan {
        SimSpan::from_secs(secs)
    }

    fn cdf(low: f64, high: f64) -> Cdf {
        Cdf { weight: 10, points: [(0.0, low), (1.0, high)].into() }
    }

    /// Returns an attempt without times.
    fn timeless(distance: usize, fails: bool) -> TracedTry {
        TracedTry { distance, fails, ..TracedTry::default() }
    }

    fn traced() -> Traced {
        let times = Some(TracedTimes { work: secs(10), ..TracedTimes::default() });
        let done = |distance, fails| Some(TracedTry { times, ..timeless(distance, fails) });
        Traced {
            maps: vec![[done(0, false)].into(), [done(1, true), None].into()],
            reduces: vec![[Some(timeless(0, true))].into()],
            map_times: [Cdf::default(), Cdf::default(), cdf(7e3, 7e3), cdf(8e3, 8e3)],
            failed_reduce_times: cdf(9e3, 9e3),
            tries: Some([0.5, 0.5].into()),
            factors: [1.0, 1.5, 3.0],
            ..Traced::sample()
        }
    }

    /// Returns the time of an attempt, and whether it fails.
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
        let mumak = Traced { quirks: true, ..traced };
        assert_eq!(map(&mumak, 0, 0, Locality::Rack), (secs(30), false));
    }

    #[test]
    fn the_wait_for_a_commit_is_split_off_where_the_log_has_one() {
        let times = |work| Some(TracedTimes { work, sort: secs(1), ..TracedTimes::default() });
        let logged = |work, fails| TracedTry { times: times(work), fails, ..timeless(0, false) };
        let mut traced = Traced { commit_wait: secs(2), ..traced() };
        let tries = [secs(9), secs(1)].map(|work| Some(logged(work, false)));
        traced.reduces = vec![tries.into(), [Some(logged(secs(9), true))].into()];
        let split = |traced: &Traced, kind, index, number| {
            let attempt = TaskId { job: JobId(0), kind, index }.attempt(number);
            let times = traced.draw(attempt, None, &mut stream(1, Purpose::Traced, 0)).0;
            (times.work, times.commit)
        };
        assert_eq!(split(&traced, TaskKind::Reduce, 0, 0), (secs(7), secs(2)));
        assert_eq!(split(&traced, TaskKind::Reduce, 0, 1), (secs(0), secs(1)), "all is wait");
        assert_eq!(split(&traced, TaskKind::Reduce, 1, 0), (secs(9), secs(0)), "it failed");
        let map = split(&traced, TaskKind::Map, 1, 0);
        assert_eq!(map.1, secs(0), "a map with reduces commits nothing");
        traced.reduces.clear();
        traced.maps[0] = [Some(logged(secs(9), false))].into();
        traced.factors = [1.0; 3];
        assert_eq!(split(&traced, TaskKind::Map, 0, 0), (secs(7), secs(2)));
    }

    #[test]
    fn an_attempt_that_was_killed_takes_at_least_its_time_until_then() {
        let mut traced = traced();
        let times = Some(TracedTimes { work: secs(10), ..TracedTimes::default() });
        let killed = |at_least| Some(TracedTry { times, at_least, ..timeless(0, false) });
        traced.maps = vec![[killed(secs(4)), killed(secs(60))].into()];
        traced.reduces = vec![[killed(secs(4)), killed(secs(60))].into()];
        for number in [0, 1] {
            let rng = &mut stream(1, Purpose::Traced, 0);
            let expected = [secs(10), secs(60)][number as usize];
            assert_eq!(map(&traced, 0, number, Locality::Node), (expected, false));
            assert_eq!(traced.reduce(0, number, rng).0.work, expected);
        }
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
    fn gaps_of_a_trace_are_drawn_from_the_jobs_distributions() {
        let mut traced = traced();
        // No map needed more than two attempts, so the second one succeeds.
        assert_eq!(map(&traced, 1, 1, Locality::OffRack), (secs(7), false));
        // The trace has no local maps, so the time is that of a map at another distance.
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

    /// Returns a distribution with 1 s as the shortest time, 2 s as the median and 5 s as the
    /// longest.
    fn bent() -> Cdf {
        Cdf { weight: 10, points: [(0.0, 1e3), (0.5, 2e3), (1.0, 5e3)].into() }
    }

    #[test]
    fn times_that_mumak_makes_up_are_its_own_to_the_millisecond() {
        let mut traced = traced();
        traced.map_times[2] = bent();
        traced.reduce_times = bent();
        let mut mumak_draws = MumakJobs::new(42, 0);
        let story = mumak_draws.of(4, "job_200904211745_0006");
        let attempt = |kind, index| TaskId { job: JobId(4), kind, index }.attempt(0);
        // The job's first random number is 0.341: below a half, so the map succeeds. The share
        // drawn from the first distribution that is used is 0.6917: 2 s and 0.3834 of the other 3
        // s.
        let (map, reduce) = (attempt(TaskKind::Map, 29), attempt(TaskKind::Reduce, 7));
        let (times, fails) = traced.draw(map, Some(Locality::OffRack), story);
        assert_eq!((times.work.as_millis(), fails), (3_150, false));
        // The shares drawn from the second distribution are 0.4217 and 0.5678.
        let reduces = [(); 2].map(|()| traced.draw(reduce, None, story).0.work.as_millis());
        assert_eq!(reduces, [1_843, 2_406]);
    }

    #[test]
    fn mumak_scales_what_it_makes_up_for_an_attempt_without_a_start() {
        let without = |fails| Some(timeless(1, fails));
        let mut traced = traced();
        traced.maps = vec![[without(false)].into(), [without(true)].into()];
        traced.failed_map_times = [cdf(1e3, 1e3), cdf(2e3, 2e3), cdf(3e3, 3e3), Cdf::default()];
        assert_eq!(map(&traced, 0, 0, Locality::OffRack), (secs(7), false));
        assert_eq!(map(&traced, 1, 0, Locality::OffRack), (secs(3), true));
        traced.quirks = true;
        // The input was in the rack, so the factor is three over one and a half. The time of the
        // failed attempt is drawn for the distance in the trace.
        assert_eq!(map(&traced, 0, 0, Locality::OffRack), (secs(14), false));
        assert_eq!(map(&traced, 1, 0, Locality::OffRack), (secs(2), true));
    }
}
