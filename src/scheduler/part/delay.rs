//! Delay scheduling: a job without input on the node lets others go first for a while.
//!
//! A job begins at the level of nodes: it launches maps only where their input is. Passed over for
//! long enough it may launch in the racks of its input, after that anywhere. What it then launches
//! sets the level anew: a job that gets a node with its input waits for such nodes again.
//!
//! What counts is either time or the number of times that the job was passed over. Time passes only
//! for a job that the last offer has passed over, so a job that nobody asked does not grow impatient.

use rustc_hash::FxHashMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::long_tasks::LongTasks;
use crate::mapred::{
    Auto, JobChange, JobEvent, JobId, Launched, Locality, Offer, Reach, Reason, View,
};
use crate::units::{SimSpan, SimTime};

/// The longest that `auto` waits.
const LONGEST_AUTO: SimSpan = SimSpan::from_secs(15);

/// How long jobs wait for their input.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct DelaySpec {
    /// How long a job is passed over before it may launch in a rack that holds its input. `auto` is
    /// one and a half heartbeat intervals, at most 15 s.
    pub w1: Auto,
    /// How much longer it is passed over before it may launch anywhere; `auto` as in `w1`.
    pub w2: Auto,
    /// Long tasks are spread over the nodes: maps that take longer than this are long, and so are
    /// those of a job of which no map has ended. A job of long maps gets no slot on a node that runs
    /// more of them than others do. Absent: they are not told apart.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub long_task: Option<SimSpan>,
}

impl DelaySpec {
    /// Nobody waits.
    pub const NONE: Self =
        Self { w1: Auto::Fixed(SimSpan::ZERO), w2: Auto::Fixed(SimSpan::ZERO), long_task: None };
}

/// Nobody waits, unless it is asked for.
impl Default for DelaySpec {
    fn default() -> Self {
        Self::NONE
    }
}

/// What a job's patience is measured in.
#[derive(Clone, Copy, Debug)]
enum Patience {
    /// Time for nodes, then for racks.
    Time(Auto, Auto),
    /// Times passed over: for nodes, then for racks.
    Skips(u64, u64),
}

/// The waiting of jobs.
#[derive(Debug)]
pub struct Delay {
    patience: Patience,
    /// What a job bears for nodes, then for racks: microseconds or skips.
    limits: [u64; 2],
    jobs: FxHashMap<JobId, Waiting>,
    /// The jobs that the last offer has passed over.
    passed_over: Vec<JobId>,
    last_offer: Option<SimTime>,
    long_tasks: Option<LongTasks>,
}

/// How far a job is.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    level: Locality,
    waited: u64,
    /// When it was first passed over since it launched a map.
    since: Option<SimTime>,
    is_passed_over: bool,
    /// When it last launched a map: in that offer it is not passed over any more.
    served_at: Option<SimTime>,
}

impl Default for Waiting {
    fn default() -> Self {
        let level = Locality::Node;
        Self { level, waited: 0, since: None, is_passed_over: false, served_at: None }
    }
}

impl Delay {
    /// Returns waiting by time.
    pub fn new(spec: &DelaySpec) -> Self {
        Self::with(Patience::Time(spec.w1, spec.w2), spec.long_task)
    }

    /// Returns waiting by the number of times that a job is passed over.
    pub fn by_skips(node: u64, rack: u64) -> Self {
        Self::with(Patience::Skips(node, rack), None)
    }

    fn with(patience: Patience, long_task: Option<SimSpan>) -> Self {
        Self {
            patience,
            limits: [0, 0],
            jobs: FxHashMap::default(),
            passed_over: Vec::new(),
            last_offer: None,
            long_tasks: long_task.map(LongTasks::new),
        }
    }

    /// Changes how long jobs are passed over from the next offer on, for nodes and for racks; without
    /// a time it stays as it is.
    ///
    /// Only for waiting by time.
    pub fn adjust(&mut self, waits: [Option<SimSpan>; 2]) {
        if let Patience::Time(w1, w2) = &mut self.patience {
            for (wait, new) in [w1, w2].into_iter().zip(waits) {
                *wait = new.map_or(*wait, Auto::Fixed);
            }
        }
    }

    /// Returns how long a job has been passed over since it last launched a map, if waiting is by time.
    pub fn waited(&self, job: JobId) -> SimSpan {
        SimSpan::from_micros(self.jobs.get(&job).map_or(0, |job| job.waited))
    }

    /// Hears of a job; to be called with all news.
    pub fn job_changed(&mut self, view: &View<'_>, event: &JobEvent) {
        if let JobChange::Ended(_) = event.change {
            self.jobs.remove(&event.job);
        }
        if let Some(long_tasks) = &mut self.long_tasks {
            long_tasks.job_changed(view, event);
        }
    }

    /// Begins an offer: those that the last one has passed over have waited since.
    pub fn begin(&mut self, view: &View<'_>) {
        let now = view.now();
        if let Patience::Time(w1, w2) = self.patience {
            let interval = view.heartbeat_interval().as_micros();
            let auto = SimSpan::from_micros(interval * 3 / 2).min(LONGEST_AUTO);
            self.limits = [w1, w2].map(|wait| wait.or(auto).as_micros());
            let gap = now.saturating_since(self.last_offer.unwrap_or(now)).as_micros();
            for job in &self.passed_over {
                if let Some(job) = self.jobs.get_mut(job) {
                    job.waited += gap;
                }
            }
        } else if let Patience::Skips(node, rack) = self.patience {
            self.limits = [node, rack];
        }
        for job in self.passed_over.drain(..) {
            if let Some(job) = self.jobs.get_mut(&job) {
                job.is_passed_over = false;
            }
        }
        self.last_offer = Some(now);
    }

    /// Launches a map of a job as near to its input as its patience allows, or passes it over.
    ///
    /// With `anywhere` the job need not wait.
    pub fn launch_map(
        &mut self,
        offer: &mut Offer<'_>,
        job: JobId,
        anywhere: bool,
        reason: Reason,
    ) -> Option<Launched> {
        let now = offer.view().now();
        let is_blocked = self
            .long_tasks
            .as_ref()
            .is_some_and(|long| long.crowds(&offer.view(), job, offer.tracker()));
        let reach = if anywhere { Reach::Any } else { self.reach(&offer.view(), job) };
        let waiting = self.jobs.entry(job).or_default();
        let reason = match waiting.since {
            Some(since) if self.limits != [0, 0] => Reason::Waited(now.saturating_since(since)),
            _ => reason,
        };
        let launched = if is_blocked { None } else { offer.launch_map(job, reach, reason) };
        match launched {
            Some(launched) => {
                let level = launched.locality.unwrap_or(Locality::OffRack);
                *waiting = Waiting { level, served_at: Some(now), ..Waiting::default() };
                if let Some(long_tasks) = &mut self.long_tasks {
                    long_tasks.launched(now, offer.tracker(), launched);
                }
            }
            None => self.pass_over(now, job),
        }
        launched
    }

    fn pass_over(&mut self, now: SimTime, job: JobId) {
        let waiting = self.jobs.entry(job).or_default();
        waiting.since.get_or_insert(now);
        if let Patience::Skips(..) = self.patience {
            waiting.waited += 1;
        } else if !waiting.is_passed_over && waiting.served_at != Some(now) {
            waiting.is_passed_over = true;
            self.passed_over.push(job);
        }
    }

    /// Returns how far from its input a job may launch now.
    fn reach(&self, view: &View<'_>, job: JobId) -> Reach {
        if view.job(job).is_none_or(|job| job.has_homeless_maps()) {
            return Reach::Any;
        }
        let Waiting { level, waited, .. } = self.jobs.get(&job).copied().unwrap_or_default();
        let [node, rack] = self.limits;
        match level {
            Locality::Node if waited < node => Reach::Node,
            Locality::Node if waited < node + rack => Reach::Rack,
            Locality::Rack if waited < rack => Reach::Rack,
            _ => Reach::Any,
        }
    }
}
