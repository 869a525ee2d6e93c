//! `naive-fair` and `fair-skip`: the simple algorithms of the paper on delay scheduling (Zaharia et
//! al., EuroSys 2010, Algorithms 1 and 2).
//!
//! A free slot goes to the job that runs the fewest tasks; among equal jobs, to the job that
//! arrived first. `naive-fair` launches any map that the job has, the nearest first. `fair-skip`
//! passes over a job without input on the node, up to a given number of times.

use std::collections::BTreeSet;
use std::marker::PhantomData;

use rustc_hash::FxHashMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::shared::delay::{Delay, NO_DELAY, SkipRule};
use super::shared::line::move_entry;
use super::shared::reduces::{Reduces, WithReduces};
use mumakil_base::mutated;
use mumakil_base::units::{SimSpan, SimTime};
use mumakil_base::with_defaults;
use mumakil_core::mapred::{
    Job, JobEvent, JobId, Launched, Offer, OptionFacts, PerSlot, Policy, PolicyNeeds, Precedence,
    PrecedenceBy, Scheduler, SlotKind, View,
};

/// Serves jobs by their number of running tasks, the fewest first. The type `O` of the options
/// decides which policy this is.
#[derive(Debug)]
pub struct FewestFirst<O> {
    /// The jobs that could use a slot, in the order in which they are asked.
    lines: PerSlot<BTreeSet<FewestTurn>>,
    places: PerSlot<FxHashMap<JobId, FewestTurn>>,
    delay: Delay,
    reduces: Reduces,
    // A function type makes the policy `Send`, whatever the type of its options.
    options: PhantomData<fn() -> O>,
}

/// A job's position: its running tasks, its arrival, and its number.
// Algorithm 1 leaves ties open.
type FewestTurn = (u32, SimTime, JobId);

impl<O> FewestFirst<O> {
    pub(super) fn with(delay: Delay, reduces: Reduces) -> Self {
        let (lines, places) = (PerSlot::default(), PerSlot::default());
        Self { lines, places, delay, reduces, options: PhantomData }
    }

    fn place(&mut self, view: &View<'_>, job: JobId) {
        for kind in SlotKind::BOTH {
            // An offer asks only jobs that can use its slot.
            let waiting = view.job(job).filter(|job| 0 < self.reduces.pending(job, kind));
            let place = waiting.map(|job| (measure(job, kind), job.submitted_at(), job.id()));
            let was = match place {
                Some(place) => self.places[kind].insert(job, place),
                None => self.places[kind].remove(&job),
            };
            move_entry(&mut self.lines[kind], was, place);
        }
    }

    fn launch(&mut self, offer: &mut Offer<'_>, kind: SlotKind) -> Option<Launched> {
        let Self { lines, delay, reduces, .. } = self;
        let line = lines[kind].iter().map(|(.., job)| *job);
        reduces.launch_by_share(offer, kind, line, delay)
    }
}

impl<O> Scheduler for FewestFirst<O> {
    fn precedence(&self) -> Precedence {
        Precedence::of_jobs(PrecedenceBy::Share)
    }

    fn patience(&self, view: &View<'_>) -> SimSpan {
        self.delay.patience(view)
    }

    fn needs(&self) -> PolicyNeeds {
        self.reduces.needs()
    }

    fn job_changed(&mut self, view: &View<'_>, event: &JobEvent) {
        self.delay.job_changed(view, event);
        self.place(view, event.job);
    }

    fn offer(&mut self, offer: &mut Offer<'_>) {
        self.delay.begin(&offer.view());
        for kind in SlotKind::BOTH {
            while 0 < offer.free(kind) {
                // If the jobs were asked again, they would count as passed over twice.
                let Some(launched) = self.launch(offer, kind) else { break };
                // The job now runs one task more, so another job may come first for the next slot.
                self.place(&offer.view(), launched.attempt.job());
            }
        }
    }
}

/// Returns the number by which jobs are compared: the fewest running tasks come first.
fn measure(job: &Job, kind: SlotKind) -> u32 {
    let running = job.tasks(kind).running();
    mutated!(
        running,
        "naive/fewest-waiting" => job.pending(kind),
        "naive/fewest-launched" => job.tasks(kind).total() - job.pending(kind),
        "naive/first-come" => 0,
        "naive/most-running" => u32::MAX - running,
        "naive/share-of-the-job" => 10_000 * running / job.tasks(kind).total(),
        "naive/both-kinds" => job.tasks(SlotKind::Map).running() + job.tasks(SlotKind::Reduce).running(),
    )
}

/// Algorithm 1: naive fair sharing.
pub type NaiveFair = FewestFirst<NaiveFairOptions>;

/// `naive-fair` has no options of its own.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct NaiveFairOptions {}

impl Policy for NaiveFair {
    const NAME: &'static str = "naive-fair";
    const ABOUT: &'static str =
        "the job with the fewest running tasks first, wherever its input is";
    const GROUP: &'static str = "of other papers";
    type Options = WithReduces<NaiveFairOptions>;

    fn facts(options: &Self::Options) -> OptionFacts<'_> {
        options.facts(&NO_DELAY)
    }

    fn new(options: Self::Options) -> Self {
        // In Algorithm 1 no job is passed over.
        Self::with(Delay::by_skips(Some(0), 0), Reduces::new(&options.reduces))
    }
}

/// Algorithm 2: fair sharing with simple delay scheduling.
pub type FairSkip = FewestFirst<FairSkipOptions>;

with_defaults! {
    /// The options of `fair-skip`.
    // The defaults are for 100 nodes: the numbers that the paper's rule gives for 95 % locality in
    // jobs of 20 maps.
    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
    #[serde(default, deny_unknown_fields)]
    pub struct FairSkipOptions {
        /// How often a job is passed over before it may launch in a rack with its input: `D1`.
        // Section 3.5: with 3 replicas and a locality of 0.95, D = 100 / 3 × ln 2 = 23.1, rounded up.
        pub skips: SkipRule = SkipRule::of(24),
        /// How often it is then passed over before it may launch anywhere: `D2`.
        // Algorithm 2 has no racks: after D skips a job may launch anywhere.
        pub rack_skips: SkipRule = SkipRule::of(0),
    }
}

impl Policy for FairSkip {
    const NAME: &'static str = "fair-skip";
    const ABOUT: &'static str =
        "as naive-fair, but a job without local input is passed over a number of times";
    const GROUP: &'static str = "of other papers";
    type Options = WithReduces<FairSkipOptions>;

    fn facts(options: &Self::Options) -> OptionFacts<'_> {
        options.facts(&NO_DELAY)
    }

    fn new(options: Self::Options) -> Self {
        let WithReduces { own: FairSkipOptions { skips, rack_skips }, reduces } = options;
        let delay = Delay::by_skips(Some(skips.get().into()), rack_skips.get().into());
        Self::with(delay, Reduces::new(&reduces))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mumakil_core::mapred::PolicyBench;

    /// Returns how many reduces each of two jobs holds on three trackers of one slot each. The
    /// first job has more maps.
    fn held(options: &str) -> [usize; 2] {
        let options = serde_yaml::from_str(options).unwrap();
        let mut bench = PolicyBench::new(NaiveFair::new(options), 3, PerSlot { map: 2, reduce: 1 });
        let jobs = [9, 3].map(|maps| bench.submit(maps, 3, |_| {}));
        bench.fill();
        bench.held(SlotKind::Reduce, jobs)
    }

    #[test]
    fn reduces_go_in_turn_or_by_srt_or_are_held_back() {
        assert_eq!(held("{}"), [2, 1]);
        assert_eq!(held("{reduce_order: srt}"), [0, 3]);
        assert_eq!(held("{reduce_gate: coupling}"), [0, 0]);
    }

    #[test]
    fn a_gate_opens_as_maps_end() {
        let options = serde_yaml::from_str("{reduce_gate: coupling}").unwrap();
        let mut bench = PolicyBench::new(NaiveFair::new(options), 1, PerSlot { map: 4, reduce: 4 });
        let job = bench.submit(4, 2, |_| {});
        let held = [1, 1, 1].map(|ended| {
            bench.fill();
            bench.end_first(job, SlotKind::Map, ended);
            bench.fill();
            bench.held(SlotKind::Reduce, [job])[0]
        });
        assert_eq!(held, [1, 1, 2], "a quarter, half, then three quarters");
    }
}
