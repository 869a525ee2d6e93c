//! The load of a run, as far as it can be foretold: its offered load, and after a first run the end
//! of its warm-up.

use std::sync::Arc;

use parking_lot::Mutex;

use super::{EmulationError, Options, Prepared};
use crate::record::{RecordError, RunBooks, Watcher};
use mumakil_base::statistics;
use mumakil_base::units::{SimSpan, SimTime};
use mumakil_core::cluster::PerSlot;
use mumakil_core::mapred::{Event, Fact, JobFact, SlotKind, TrueDurations};
use mumakil_scenario::Registry;
use mumakil_scenario::workload::{JobDemand, OfferedWork};

/// The fewest arrivals for which a run is said to become overloaded.
// Chosen: ten gaps at random show their mean to within a third.
const FEWEST_ARRIVALS: usize = 10;

/// The fewest arrivals for which a task is said to outlive them.
// Chosen: a hundred jobs come from a trace or a mix, whose end nobody has set to the length of a task.
const MANY_ARRIVALS: usize = 100;

/// The end of a warm-up, as a first run has shown it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SettledRun {
    /// When the first job arrives that counts.
    pub(super) warm_up: SimSpan,
    /// How many jobs arrive before.
    pub(super) jobs: u64,
    /// Whether the run was long enough to see the end of its warm-up.
    pub(super) is_settled: bool,
}

impl Prepared {
    /// Returns the slot time that each job asks for, by its number; an empty list if jobs arrive by
    /// the progress of the cluster.
    pub(super) fn demands(&self) -> Vec<JobDemand> {
        let Self { scenario, topology, workload, .. } = self;
        TrueDurations::usual(scenario.seed, &scenario.hadoop, &scenario.cluster, topology)
            .map_or_else(Vec::new, |truth| workload.demands(&truth))
    }

    /// Returns the offered load of each kind of slots; `None` if all jobs arrive at once, or by the
    /// progress of the cluster. Jobs of the warm-up and jobs that arrive after the end of the run
    /// are left out.
    pub fn offered_load(&self) -> PerSlot<Option<f64>> {
        OfferedWork::loads(&self.arrivals(), self.topology.slots())
    }

    fn arrivals(&self) -> Vec<OfferedWork> {
        let from = SimTime::ZERO + self.warm_up();
        let until = self.scenario.until.map_or(SimTime::NEVER, |until| SimTime::ZERO + until);
        let counted = (self.demands().into_iter())
            .filter(|demand| demand.arrives.is_some_and(|at| (from..=until).contains(&at)));
        OfferedWork::by_instant(counted)
    }

    /// Returns the highest offered load and its kind of slots; `None` if there is no load.
    pub fn load(&self) -> Option<(SlotKind, f64)> {
        let loads = self.offered_load();
        let all = SlotKind::BOTH.into_iter().filter_map(|kind| Some((kind, loads[kind]?)));
        all.max_by(|(_, a), (_, b)| a.total_cmp(b))
    }

    /// Returns the [load](Self::load) if the cluster cannot keep up with it. Few arrivals are a batch
    /// and no overload, and one that the scenario asks for is no surprise.
    pub fn overload(&self) -> Option<(SlotKind, f64)> {
        if self.scenario.workload.pace.is_overload() {
            return None;
        }
        self.load().filter(|(_, load)| 1.0 <= *load && FEWEST_ARRIVALS <= self.arrivals().len())
    }

    /// Returns the job with the longest task, and the time of that task, if it is longer than the time
    /// in which all jobs arrive: the job outlives the others. Few arrivals are a batch, which has no
    /// such time.
    pub fn outliving(&self) -> Option<(&str, SimSpan, SimSpan)> {
        let demands = self.demands();
        let arrivals: Vec<SimTime> = demands.iter().filter_map(|demand| demand.arrives).collect();
        let window = *arrivals.iter().max()? - *arrivals.iter().min()?;
        let tasks = demands.iter().map(|demand| demand.task.map.max(demand.task.reduce));
        let (place, task) = tasks.enumerate().max_by_key(|(_, task)| *task)?;
        let is_long = MANY_ARRIVALS <= arrivals.len() && window < task;
        is_long.then(|| (&*self.workload.arrivals[place].spec.name, task, window))
    }

    /// Returns the end of the warm-up, as far as it is known before the run.
    pub(super) fn warm_up(&self) -> SimSpan {
        // A workload that first fills the cluster extends the warm-up: its filling jobs do not
        // count.
        self.scenario.record.warm_up.or(SimSpan::ZERO).max(self.workload.warm_up)
    }

    /// Runs the scenario once to find the end of its warm-up.
    pub(super) fn settle(
        &self,
        registry: &Registry,
        options: &Options,
    ) -> Result<SettledRun, EmulationError> {
        let found = Arc::new(Mutex::new(MetJobs::default()));
        let (transport, time_limit) = (options.transport, options.time_limit);
        let watchers: Vec<Box<dyn Watcher>> = vec![Box::new(found.clone())];
        let first = Options { watchers, transport, time_limit, ..Options::default() };
        let rules = super::rules(&self.scenario);
        self.emulate_as(registry, first, rules, |cast| cast)?;
        let MetJobs { arrivals, met } = &*found.lock();
        let left_out = statistics::warm_up(met);
        let warm_up = left_out.and_then(|jobs| arrivals.get(jobs)).copied().unwrap_or_default();
        Ok(SettledRun {
            warm_up: (warm_up - SimTime::ZERO).max(self.warm_up()),
            jobs: left_out.unwrap_or_default() as u64,
            is_settled: left_out.is_some(),
        })
    }
}

/// The number of unfinished jobs that each job meets when it arrives.
///
/// Unlike its sojourn, this number does not depend on the job's own size. By Little's law its mean
/// and that of the sojourns settle together.
#[derive(Debug, Default)]
struct MetJobs {
    arrivals: Vec<SimTime>,
    met: Vec<f64>,
}

impl Watcher for MetJobs {
    fn see(&mut self, event: &Event, books: &RunBooks) -> Result<(), RecordError> {
        if let Fact::Job(_, JobFact::Submitted(_)) = event.fact {
            self.arrivals.push(event.at);
            // The books count the job itself already.
            self.met.push(f64::from(books.submitted.saturating_sub(books.ended + 1)));
        }
        Ok(())
    }
}
