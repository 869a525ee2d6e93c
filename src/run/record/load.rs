//! Whether a run is steady: the offered load, and whether the waiting work grows.
//!
//! Sojourns say something about a cluster only if it keeps up with the arrivals. Otherwise they
//! grow with the number of jobs, and measure that number. The verdict is drawn from what happens
//! between two arrivals:
//!
//! ```text
//! waiting work     the mean task time × the tasks that have not been launched, of all jobs
//! growth           its change from one arrival to the next: one number for each gap
//! spare time       the slot time of the gap, less the work that arrives at its beginning
//!
//! overloaded       the mean growth is above zero, for a kind of slots
//! stable           it is not, and for each kind of slots the mean spare time is above zero
//! backlogged       the run is too short to say, or there are no gaps: a batch, a closed loop
//! ```
//!
//! "Above zero" is a one-sided t test at the level of 5 %. Waiting work is a random walk in an
//! overloaded queue: its steps are the work of an arrival, less what is done until the next. A queue
//! is stable if and only if that step is negative in the mean (D. V. Lindley, 1952; R. M. Loynes,
//! 1962), so both tests are tests of a mean step. In a stable queue the steps of the waiting work
//! cancel out, so that the first test errs less often than its level says. Only arrivals and
//! launches are looked at, as for any network of queues that nobody can look into (J. R. Wieland,
//! R. Pasupathy and B. W. Schmeiser: Queueing-network stability: simulation-based checking, WSC
//! 2003).
//!
//! An arrival is an instant: jobs that arrive together are one arrival.

use serde::Serialize;

use super::RunBooks;
use super::summary::rounded;
use mumakil_base::dense::grown;
use mumakil_base::statistics::{LEVEL, p_of_rise};
use mumakil_base::units::SimTime;
use mumakil_base::worded;
use mumakil_core::mapred::{Event, Fact, JobFact, JobId, PerSlot, SlotCounts, SlotKind};
use mumakil_scenario::workload::{JobDemand, OfferedWork};

worded! {
    /// Whether the cluster keeps up with the jobs that arrive.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
    #[serde(rename_all = "snake_case")]
    pub enum LoadVerdict {
        /// It keeps up.
        Stable = "stable",
        /// The jobs are one batch or come by the progress of the cluster, or the run is too short to
        /// say.
        Backlogged = "backlogged",
        /// It does not keep up: work waits longer and longer.
        Overloaded = "overloaded",
    }
}

/// Why a run has its verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum VerdictReason {
    /// The waiting work grows.
    Growth,
    /// The waiting work does not grow, and slots have time to spare.
    SpareTime,
    /// All jobs come at once, or before the first of them has ended.
    AtOnce,
    /// The scenario says that the jobs are a batch.
    Batch,
    /// Jobs are submitted by the progress of the cluster.
    ClosedLoop,
    /// Neither growth nor spare time is certain.
    TooShort,
}

/// The part of `summary.json` about the offered load.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LoadSummary {
    /// The verdict.
    pub verdict: LoadVerdict,
    /// Whether the verdict is that the cluster is overloaded.
    pub overloaded: bool,
    /// Why the run has its verdict.
    pub reason: VerdictReason,
    /// How many arrivals there are; jobs of one instant are one arrival.
    pub arrivals: u64,
    /// Seconds from the first to the last arrival.
    pub window_s: f64,
    /// The slot time that jobs ask for while they arrive, over the slot time that is there.
    pub offered: PerSlot<Option<f64>>,
    /// By how many slots' work the waiting work grows while jobs arrive: seconds of slot time in a
    /// second.
    pub growth: PerSlot<Option<f64>>,
    /// How likely so much growth would be by chance alone.
    pub growth_p: PerSlot<Option<f64>>,
}

/// The waiting work and the slot time when a job arrived.
#[derive(Clone, Copy, Debug)]
struct ArrivalSample {
    job: JobId,
    submitted: SimTime,
    /// The waiting work before the job, in microseconds.
    waiting: PerSlot<i128>,
    /// The slot time since the beginning of the run, in microseconds.
    available: PerSlot<u128>,
}

/// The waiting work of a run.
#[derive(Debug, Default)]
pub(super) struct LoadTally {
    /// The slot time that each job asks for, by its number; empty in a closed loop.
    demands: Vec<JobDemand>,
    /// Whether the scenario says that the jobs are a batch.
    is_batch: bool,
    /// The tasks of each job that wait for a slot.
    pending: Vec<PerSlot<u32>>,
    waiting: PerSlot<i128>,
    samples: Vec<ArrivalSample>,
    /// When the first job ended.
    first_end: Option<SimTime>,
}

impl LoadTally {
    pub(super) fn new(demands: Vec<JobDemand>, is_batch: bool) -> Self {
        Self { demands, is_batch, ..Self::default() }
    }

    /// Takes an event that `books` already include; `available` returns the slot time so far.
    pub(super) fn see(
        &mut self,
        event: &Event,
        books: &RunBooks,
        available: impl Fn(SlotKind) -> u128,
    ) {
        if self.demands.is_empty() {
            return;
        }
        for &(job, kind, SlotCounts { pending, .. }) in &books.tallies {
            self.set(job, kind, pending);
        }
        let Fact::Job(id, ref fact) = event.fact else { return };
        match fact {
            JobFact::Submitted(spec) => {
                if self.demand(id).arrives.is_some() {
                    self.samples.push(ArrivalSample {
                        job: id,
                        submitted: event.at,
                        waiting: self.waiting,
                        available: PerSlot::of(available),
                    });
                }
                // Work waits from its arrival on, also while the job is set up.
                self.set(id, SlotKind::Map, spec.maps);
                self.set(id, SlotKind::Reduce, spec.reduces);
            }
            JobFact::SubmissionRefused(_) => {
                SlotKind::BOTH.into_iter().for_each(|kind| self.set(id, kind, 0));
            }
            JobFact::Ended(_) => {
                self.first_end.get_or_insert(event.at);
            }
            _ => {}
        }
    }

    fn demand(&self, job: JobId) -> JobDemand {
        self.demands.get(job.index()).copied().unwrap_or_default()
    }

    /// Sets the number of a job's waiting tasks of a kind.
    fn set(&mut self, job: JobId, kind: SlotKind, tasks: u32) {
        let each = i128::from(self.demand(job).task[kind].as_micros());
        let pending = &mut grown(&mut self.pending, job.index())[kind];
        self.waiting[kind] += (i128::from(tasks) - i128::from(*pending)) * each;
        *pending = tasks;
    }

    /// Returns the verdict on a run that is over.
    pub(super) fn summary(&self, books: &RunBooks) -> LoadSummary {
        if self.demands.is_empty() {
            return LoadSummary::CLOSED_LOOP;
        }
        let counts =
            |sample: &&ArrivalSample| books.counts(sample.job) && !is_refused(books, sample);
        let counted: Vec<ArrivalSample> = self.samples.iter().filter(counts).copied().collect();
        let arrivals = OfferedWork::by_instant(counted.iter().map(|job| self.demand(job.job)));
        // One sample for each instant: the first job that arrived then.
        let mut firsts = counted.clone();
        firsts.sort_by_key(|sample| self.demand(sample.job).arrives);
        firsts.dedup_by_key(|sample| self.demand(sample.job).arrives);
        let window_s = OfferedWork::window_s(&arrivals);
        let mut load = LoadSummary {
            arrivals: arrivals.len() as u64,
            window_s: rounded(window_s),
            ..LoadSummary::CLOSED_LOOP
        };
        let mut has_spare_time = true;
        for kind in SlotKind::BOTH {
            let steps = ArrivalSteps::of(&arrivals, &firsts, kind);
            load.offered[kind] = OfferedWork::load(&arrivals, kind, steps.slot_s).map(rounded);
            if load.offered[kind].is_none_or(|offered| offered == 0.0) {
                continue;
            }
            load.growth[kind] = Some(rounded(steps.growth.iter().sum::<f64>() / window_s));
            let growth_p = p_of_rise(&steps.growth);
            load.growth_p[kind] = growth_p.map(rounded);
            load.overloaded |= growth_p.is_some_and(|p| p < LEVEL);
            has_spare_time &= p_of_rise(&steps.spare).is_some_and(|p| p < LEVEL);
        }
        let last = firsts.last().map(|sample| sample.submitted);
        // Before any job has ended, nobody can know how fast the cluster is.
        let is_batch = self.first_end.is_none_or(|end| last.is_none_or(|last| last <= end));
        (load.verdict, load.reason) = match (load.overloaded, has_spare_time) {
            _ if self.is_batch => (LoadVerdict::Backlogged, VerdictReason::Batch),
            _ if is_batch || arrivals.len() < 2 => (LoadVerdict::Backlogged, VerdictReason::AtOnce),
            (true, _) => (LoadVerdict::Overloaded, VerdictReason::Growth),
            (false, true) => (LoadVerdict::Stable, VerdictReason::SpareTime),
            (false, false) => (LoadVerdict::Backlogged, VerdictReason::TooShort),
        };
        load.overloaded = load.verdict == LoadVerdict::Overloaded;
        load
    }
}

/// Returns whether a job was refused: its work never was in the cluster.
fn is_refused(books: &RunBooks, sample: &ArrivalSample) -> bool {
    books.job(sample.job).is_some_and(super::BookedJob::is_refused)
}

/// The steps from each arrival to the next, in seconds of slot time.
struct ArrivalSteps {
    /// The change of the waiting work.
    growth: Vec<f64>,
    /// The slot time, less the work that arrives at the beginning.
    spare: Vec<f64>,
    /// The slot time from the first to the last arrival.
    slot_s: f64,
}

impl ArrivalSteps {
    fn of(arrivals: &[OfferedWork], firsts: &[ArrivalSample], kind: SlotKind) -> Self {
        let seconds = |micros: i128| micros as f64 / 1e6;
        let slots = |from: &ArrivalSample, to: &ArrivalSample| {
            seconds(to.available[kind] as i128 - from.available[kind] as i128)
        };
        let (mut growth, mut spare) = (Vec::new(), Vec::new());
        for (pair, arrival) in firsts.windows(2).zip(arrivals) {
            growth.push(seconds(pair[1].waiting[kind] - pair[0].waiting[kind]));
            spare.push(slots(&pair[0], &pair[1]) - arrival.work[kind]);
        }
        let ends = firsts.first().zip(firsts.last());
        Self { growth, spare, slot_s: ends.map_or(0.0, |(first, last)| slots(first, last)) }
    }
}

impl LoadSummary {
    /// The load of a run whose jobs are submitted by the progress of the cluster.
    pub const CLOSED_LOOP: Self = Self {
        verdict: LoadVerdict::Backlogged,
        overloaded: false,
        reason: VerdictReason::ClosedLoop,
        arrivals: 0,
        window_s: 0.0,
        offered: PerSlot { map: None, reduce: None },
        growth: PerSlot { map: None, reduce: None },
        growth_p: PerSlot { map: None, reduce: None },
    };

    /// Returns the verdict in a word, and after it what it means for the reader; nothing for a
    /// stable run.
    pub fn words(&self) -> String {
        let why = match self.reason {
            VerdictReason::Growth => {
                "work waits longer and longer, and sojourns grow with the jobs"
            }
            VerdictReason::SpareTime => return "stable".to_owned(),
            VerdictReason::AtOnce => {
                "all jobs come before the first ends, so sojourns measure this batch"
            }
            VerdictReason::Batch => "the jobs are a batch, and sojourns measure how many there are",
            VerdictReason::ClosedLoop => "jobs come when others end, so sojourns measure this loop",
            // Nobody should read a verdict before the words that there is none.
            VerdictReason::TooShort => {
                return "not judged: too few jobs to tell a steady state from a batch".to_owned();
            }
        };
        format!("{}: {why}", self.verdict.word())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    use mumakil_base::units::SimSpan;
    use mumakil_core::mapred::{JobSpec, Outcome};

    /// A cluster with one map slot, on which jobs of one map each are served in order.
    struct OneSlot {
        tally: LoadTally,
        books: RunBooks,
    }

    impl OneSlot {
        /// Serves jobs with these times of arrival and service, in seconds.
        fn serve(jobs: &[(u64, u64)]) -> LoadSummary {
            let at = |secs: u64| SimTime::ZERO + SimSpan::from_secs(secs);
            let demand = |&(arrives, service): &(u64, u64)| JobDemand {
                task: PerSlot { map: SimSpan::from_secs(service), reduce: SimSpan::ZERO },
                arrives: Some(at(arrives)),
                brings: PerSlot { map: service as f64, reduce: 0.0 },
            };
            let tally = LoadTally::new(jobs.iter().map(demand).collect(), false);
            let mut slot = Self { tally, books: RunBooks::default() };
            let (mut events, mut free) = (Vec::new(), 0);
            for (number, &(arrives, service)) in (0..).zip(jobs) {
                let start = free.max(arrives);
                free = start + service;
                let spec = Arc::new(JobSpec::bare(number, 1, 0));
                events.push((arrives, 0, JobId(number), Some(JobFact::Submitted(spec))));
                events.push((start, 1, JobId(number), None));
                let ended = JobFact::Ended(Outcome::Succeeded);
                events.push((free, 2, JobId(number), Some(ended)));
            }
            events.sort_by_key(|(time, rank, job, _)| (*time, *rank, *job));
            for (time, _, job, fact) in events {
                match fact {
                    // A launch: the books' counts have a test of their own.
                    None => slot.tally.set(job, SlotKind::Map, 0),
                    Some(fact) => slot.see(Event { at: at(time), fact: Fact::Job(job, fact) }),
                }
            }
            slot.tally.summary(&slot.books)
        }

        fn see(&mut self, event: Event) {
            self.books.enter(&event);
            let micros = u128::from(event.at.as_micros());
            let one = |kind| if kind == SlotKind::Map { micros } else { 0 };
            self.tally.see(&event, &self.books, one);
        }
    }

    /// Jobs that arrive every ten seconds, with services around this mean.
    fn jobs(count: u64, mean: u64) -> Vec<(u64, u64)> {
        (0..count).map(|job| (10 * job, mean + [0, 3, 1, 0, 2][job as usize % 5] - 1)).collect()
    }

    #[test]
    fn a_queue_that_keeps_up_is_stable_and_one_that_does_not_is_overloaded() {
        let load = OneSlot::serve(&jobs(100, 7));
        assert_eq!((load.verdict, load.offered.map), (LoadVerdict::Stable, Some(0.72)));
        assert_eq!((load.arrivals, load.window_s, load.offered.reduce), (100, 990.0, None));
        let load = OneSlot::serve(&jobs(100, 13));
        assert_eq!((load.verdict, load.offered.map), (LoadVerdict::Overloaded, Some(1.32)));
        // A slot does ten seconds of work in ten seconds, and work of 13.2 s arrives.
        assert!((load.growth.map.unwrap() - 0.32).abs() < 0.02, "{load:?}");
        assert!(load.overloaded && load.growth_p.map < Some(0.001), "{load:?}");
    }

    #[test]
    fn a_run_of_few_jobs_is_called_too_short_rather_than_stable() {
        let load = OneSlot::serve(&[(0, 5), (10, 30), (20, 1), (30, 2)]);
        assert_eq!(load.reason, VerdictReason::TooShort, "{load:?}");
        let words = "not judged: too few jobs to tell a steady state from a batch";
        assert_eq!(load.words(), words);
        assert_eq!(load.verdict, LoadVerdict::Backlogged);
    }

    #[test]
    fn a_batch_is_no_overload() {
        let load = OneSlot::serve(&[(0, 50); 20]);
        assert_eq!((load.reason, load.offered.map), (VerdictReason::AtOnce, None));
        // Here the jobs are a second apart, but the last comes before the first has ended.
        let close: Vec<_> = (0..20).map(|job| (job, 50)).collect();
        let load = OneSlot::serve(&close);
        assert_eq!(load.reason, VerdictReason::AtOnce);
        assert!(load.offered.map > Some(40.0), "{load:?}");
    }

    #[test]
    fn a_closed_loop_offers_no_load() {
        let load = LoadTally::new(Vec::new(), false).summary(&RunBooks::default());
        assert_eq!(load.reason, VerdictReason::ClosedLoop);
        assert_eq!(load.offered, PerSlot::default());
    }
}
