//! `naive-fair` and `fair-skip`: the simple algorithms of the paper on delay scheduling (Zaharia et
//! al., EuroSys 2010, Algorithms 1 and 2).
//!
//! A free slot goes to the job that runs the fewest tasks; of several, to the one that arrived
//! first. `naive-fair` takes whatever map the job has, the nearest first. `fair-skip` passes over a
//! job without input on the node, up to a number of times.

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::part::delay::Delay;
use crate::mapred::{
    JobEvent, JobId, Launched, Offer, PerSlot, Policy, Reason, Scheduler, SlotKind, View,
};
use crate::units::{Count, SimTime};

/// Jobs by how many tasks they run, the fewest first.
#[derive(Debug)]
pub(super) struct FewestFirst {
    /// Those that could use a slot.
    lines: PerSlot<BTreeSet<Turn>>,
    /// Where each stands.
    places: PerSlot<FxHashMap<JobId, Turn>>,
    delay: Delay,
}

/// How many tasks a job runs, when it arrived, and its number.
type Turn = (u32, SimTime, JobId);

impl FewestFirst {
    pub(super) fn new(delay: Delay) -> Self {
        Self { lines: PerSlot::default(), places: PerSlot::default(), delay }
    }

    pub(super) fn job_changed(&mut self, view: &View<'_>, event: &JobEvent) {
        self.delay.job_changed(view, event);
        self.place(view, event.job);
    }

    fn place(&mut self, view: &View<'_>, job: JobId) {
        for kind in SlotKind::BOTH {
            let waiting = view.job(job).filter(|job| 0 < job.pending(kind));
            let place =
                waiting.map(|job| (job.tasks(kind).running(), job.submitted_at(), job.id()));
            let was = match place {
                Some(place) => self.places[kind].insert(job, place),
                None => self.places[kind].remove(&job),
            };
            if was != place {
                was.inspect(|was| _ = self.lines[kind].remove(was));
                self.lines[kind].extend(place);
            }
        }
    }

    pub(super) fn offer(&mut self, offer: &mut Offer<'_>) {
        self.delay.begin(&offer.view());
        for kind in SlotKind::BOTH {
            while 0 < offer.free(kind) {
                let Some(launched) = self.launch(offer, kind) else { break };
                self.place(&offer.view(), launched.attempt.job());
            }
        }
    }

    fn launch(&mut self, offer: &mut Offer<'_>, kind: SlotKind) -> Option<Launched> {
        let Self { lines, delay, .. } = self;
        lines[kind].iter().find_map(|(.., job)| match kind {
            SlotKind::Map => delay.launch_map(offer, *job, false, Reason::Share),
            SlotKind::Reduce => offer.launch_reduce(*job, Reason::Share),
        })
    }
}

/// Algorithm 1: naive fair sharing.
#[derive(Debug)]
pub struct NaiveFair(FewestFirst);

/// `naive-fair` has no options.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct NaiveFairOptions {}

impl Policy for NaiveFair {
    const NAME: &'static str = "naive-fair";
    const ABOUT: &'static str =
        "the job with the fewest running tasks first, wherever its input is";
    type Options = NaiveFairOptions;

    fn new(_: NaiveFairOptions) -> Self {
        Self(FewestFirst::new(Delay::by_skips(0, 0)))
    }
}

impl Scheduler for NaiveFair {
    fn job_changed(&mut self, view: &View<'_>, event: &JobEvent) {
        self.0.job_changed(view, event);
    }

    fn offer(&mut self, offer: &mut Offer<'_>) {
        self.0.offer(offer);
    }
}

/// Algorithm 2: fair sharing with simple delay scheduling.
#[derive(Debug)]
pub struct FairSkip(FewestFirst);

/// The options of `fair-skip`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct FairSkipOptions {
    /// How often a job is passed over before it may launch in a rack that holds its input: `D1`.
    pub skips: Skips,
    /// How often it is passed over after that before it may launch anywhere: `D2`.
    pub rack_skips: Skips,
}

/// How often a job is passed over.
type Skips = Count<0, 1_000_000_000>;

/// For 100 nodes, what the paper's rule gives for 95 % of locality in jobs of 20 maps (`mumakil
/// theory`).
impl Default for FairSkipOptions {
    fn default() -> Self {
        Self { skips: Skips::of(24), rack_skips: Skips::of(0) }
    }
}

impl Policy for FairSkip {
    const NAME: &'static str = "fair-skip";
    const ABOUT: &'static str =
        "as naive-fair, but a job without local input is passed over a number of times";
    type Options = FairSkipOptions;

    fn new(options: FairSkipOptions) -> Self {
        let (node, rack) = (options.skips.get(), options.rack_skips.get());
        Self(FewestFirst::new(Delay::by_skips(node.into(), rack.into())))
    }
}

impl Scheduler for FairSkip {
    fn job_changed(&mut self, view: &View<'_>, event: &JobEvent) {
        self.0.job_changed(view, event);
    }

    fn offer(&mut self, offer: &mut Offer<'_>) {
        self.0.offer(offer);
    }
}
