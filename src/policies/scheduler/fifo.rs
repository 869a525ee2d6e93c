//! `fifo`: Hadoop's default policy, the JobQueueTaskScheduler, which is the same in all versions.
//!
//! Jobs are queued by priority, then arrival. Each free map slot goes to the first job in the queue
//! that has maps: to a map with input in the node's rack or, if the job has no such map, to a map
//! with input in another rack (a *far* map). After a far map the heartbeat launches no more maps. A
//! heartbeat launches at most one reduce.
//!
//! Two rules spread the load. First, a tracker takes no more than its part of the remaining work,
//! so a small amount of work is spread over all nodes. The unfinished tasks of a failing job count
//! as work until its cleanup has ended. Second, when the cluster is almost full, the last slots are
//! kept for the first job (*padding*). As in Hadoop, padding counts only jobs with reduces, even
//! for map slots. So jobs without reduces never cause padding.
//!
//! With a `delay`, a job without input near the node is passed over for a while (see
//! [`delay`](super::shared::delay)). If it later launches a far map, this still ends the maps of
//! the heartbeat.

use std::collections::BTreeSet;
use std::ops::Bound;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::shared::delay::{Delay, DelaySpec};
use super::shared::load::{TrackerLoad, room};
use super::shared::reduces::{Reduces, WithReduces};
use mumakil_base::mutated;
use mumakil_base::units::{Fraction, SimSpan, SimTime};
use mumakil_base::with_defaults;
use mumakil_core::mapred::{
    AttemptState, JobChange, JobEvent, JobId, MapReach, Offer, OptionFacts, PerSlot, Policy,
    PolicyNeeds, Precedence, PrecedenceBy, Priority, Reason, Scheduler, SlotKind, View,
};

with_defaults! {
    /// The options of `fifo`.
    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
    #[serde(default, deny_unknown_fields)]
    pub struct FifoOptions {
        // `mapred.jobtracker.taskalloc.capacitypad` is 0.01, and no job waits.
        /// The last slots that are kept for the first job, as a share of all tasks of jobs with
        /// reduces; at most those of one tracker.
        pub padding: Fraction = Fraction::of(0.01),
        /// How long jobs wait for their input. Without this, they do not wait.
        pub delay: DelaySpec = DelaySpec::NONE,
    }
}

/// The state of the scheduler: jobs by priority, then arrival.
#[derive(Debug)]
pub struct Fifo {
    options: FifoOptions,
    /// The jobs that have begun and not ended, in the order of the queue.
    line: Vec<LinePlace>,
    /// The jobs with maps to launch; may also contain jobs that no longer have any.
    with_maps: BTreeSet<LinePlace>,
    /// The number of all tasks of the jobs with reduces, from which padding is computed.
    padded: PerSlot<u64>,
    /// Makes jobs wait for their input; `None` if the options do not ask for it.
    delay: Option<Delay>,
    reduces: Reduces,
}

/// The position of a job in the queue.
// Hadoop's order: priority, start time, job id. The id makes each position unique.
type LinePlace = (Priority, SimTime, JobId);

impl Policy for Fifo {
    const NAME: &'static str = "fifo";
    const ABOUT: &'static str = "jobs by priority, then arrival: Hadoop's default";
    const GROUP: &'static str = "Hadoop's own";
    type Options = WithReduces<FifoOptions>;

    fn facts(options: &Self::Options) -> OptionFacts<'_> {
        options.facts(&options.own.delay)
    }

    fn new(options: Self::Options) -> Self {
        let WithReduces { own: options, reduces } = options;
        // Without a delay the walk may skip jobs without maps, which is faster.
        let delay = (options.delay != DelaySpec::NONE).then(|| Delay::new(&options.delay));
        let reduces = Reduces::new(&reduces);
        let (line, with_maps, padded) = Default::default();
        Self { options, line, with_maps, padded, delay, reduces }
    }
}

impl Scheduler for Fifo {
    fn precedence(&self) -> Precedence {
        Precedence::of_jobs(PrecedenceBy::Line)
    }

    fn patience(&self, view: &View<'_>) -> SimSpan {
        self.delay.as_ref().map_or(SimSpan::ZERO, |delay| delay.patience(view))
    }

    fn job_changed(&mut self, view: &View<'_>, event: &JobEvent) {
        if let Some(delay) = &mut self.delay {
            delay.job_changed(view, event);
        }
        let Some(job) = view.job(event.job) else { return };
        let priority = mutated!(job.priority(), "fifo/no-priority" => Priority::Normal);
        let place = (priority, job.submitted_at(), job.id());
        if let JobChange::Altered { priority } = event.change {
            return self.reorder((priority, place.1, place.2), place);
        }
        // Arrival never changes, and priority only with the event above.
        let in_line = || self.line.binary_search(&place);
        // A job may end without ever having been in the queue.
        let moved = match event.change {
            JobChange::Running => in_line().map_err(|at| self.line.insert(at, place)).is_err(),
            JobChange::Ended(_) => {
                self.with_maps.remove(&place);
                in_line().map(|at| self.line.remove(at)).is_ok()
            }
            _ => false,
        };
        // A job enters this set here. It leaves the set at its end, or when the walk finds it
        // without maps. So the many changes that only take maps away cost nothing.
        if may_give_work(event.change) && job.is_running() && 0 < job.pending(SlotKind::Map) {
            self.with_maps.insert(place);
        }
        // Hadoop's test for padding walks only along the jobs with reduces, even for map slots.
        if moved && 0 < job.spec().reduces {
            for kind in SlotKind::BOTH {
                let tasks = u64::from(job.tasks(kind).total());
                match event.change {
                    JobChange::Running => self.padded[kind] += tasks,
                    _ => self.padded[kind] -= tasks,
                }
            }
        }
    }

    fn needs(&self) -> PolicyNeeds {
        self.reduces.needs()
    }

    fn offer(&mut self, offer: &mut Offer<'_>) {
        if let Some(delay) = &mut self.delay {
            delay.begin(&offer.view());
        }
        // Hadoop's `assignTasks` launches all maps first, then at most one reduce.
        self.offer_maps(offer);
        self.offer_reduce(offer);
        offer.refuse_first(|offer, kind| {
            if offer.taken(kind) < balanced_room(offer, kind) {
                return None;
            }
            let view = offer.view();
            let pending = |id: &JobId| view.job(*id).is_some_and(|job| 0 < job.pending(kind));
            let first = self.line.iter().map(|(.., job)| *job).find(pending)?;
            Some((first, Reason::TrackerLoad))
        });
    }
}

impl Fifo {
    fn reorder(&mut self, was: LinePlace, place: LinePlace) {
        // A job without a position has not begun; it gets its position when it does.
        let Ok(at) = self.line.binary_search(&was) else { return };
        self.line.remove(at);
        let at = self.line.partition_point(|other| *other < place);
        self.line.insert(at, place);
        if self.with_maps.remove(&was) {
            self.with_maps.insert(place);
        }
    }

    fn offer_maps(&mut self, offer: &mut Offer<'_>) {
        // Usually there are no maps to launch, which this check finds quickly.
        if offer.view().jobs_pending(SlotKind::Map) == 0 {
            return;
        }
        // Another framework may have taken slots of this offer before.
        let turns = balanced_room(offer, SlotKind::Map).min(offer.free(SlotKind::Map));
        // If the last slots are being kept, this heartbeat launches only one map.
        let is_full = 0 < turns && self.is_almost_full(offer, SlotKind::Map);
        for _ in 0..turns {
            // `turns` depends on the tracker's report, which a launch does not change.
            if offer.view().jobs_pending(SlotKind::Map) == 0 || !self.launch_map(offer) || is_full {
                return;
            }
        }
    }

    /// Launches a map. Returns whether the heartbeat may launch another one.
    fn launch_map(&mut self, offer: &mut Offer<'_>) -> bool {
        let Some(delay) = &mut self.delay else { return self.launch_map_at_once(offer) };
        for (place, (_, _, job)) in (0..).zip(&self.line) {
            let launched = delay.launch_map(offer, *job, 1, false, Reason::InLine(place));
            if let Some(launched) = launched {
                // Further maps may be near their input on other trackers.
                return mutated!(launched.is_near(), "fifo/far-goes-on" => true);
            }
        }
        false
    }

    /// As `launch_map`, but jobs never wait for their input. Jobs without maps are not asked, but
    /// the time that the JobTracker would need to ask them is counted.
    fn launch_map_at_once(&mut self, offer: &mut Offer<'_>) -> bool {
        let has_map =
            |view: View<'_>, job| view.job(job).is_some_and(|job| 0 < job.pending(SlotKind::Map));
        let mut asked = 0;
        let mut next = self.with_maps.first().copied();
        while let Some(at) = next {
            next = self.with_maps.range((Bound::Excluded(at), Bound::Unbounded)).next().copied();
            let job = at.2;
            // Drop a job without maps: its last map was launched after the job entered the set.
            if !has_map(offer.view(), job) {
                self.with_maps.remove(&at);
                continue;
            }
            // Jobs enter the set while they are in the queue, and leave both together.
            let place = self.line.binary_search(&at).expect("a job with maps is in the queue");
            // Hadoop also asks the jobs between, which takes the JobTracker time.
            offer.look_past(|| ASKED_FOR_MAPS * (place - asked) as u32);
            asked = place + 1;
            // Hadoop tries far maps of this job before near maps of the next job in the queue.
            let reach = mutated!(MapReach::Rack, "fifo/nearest-of-all" => MapReach::Node);
            let near = offer.launch_map(job, reach, Reason::InLine(place as u32));
            if near.is_some() {
                return true;
            }
            if offer.launch_map(job, MapReach::Beyond, Reason::InLineFar(place as u32)).is_some() {
                return mutated!(false, "fifo/far-goes-on" => true);
            }
        }
        offer.look_past(|| ASKED_FOR_MAPS * (self.line.len() - asked) as u32);
        // Check the shortcut: a job that has maps but is not in the set would starve.
        debug_assert!(
            self.line.iter().all(|at| self.with_maps.contains(at) || !has_map(offer.view(), at.2)),
            "a job with maps was not asked"
        );
        false
    }

    fn offer_reduce(&mut self, offer: &mut Offer<'_>) {
        if self.delay.is_none() {
            return self.offer_reduce_with(None, offer);
        }
        // The walk reads the policy; moving the delay takes longer than most heartbeats.
        let mut delay = self.delay.take();
        self.offer_reduce_with(delay.as_mut(), offer);
        self.delay = delay;
    }

    fn offer_reduce_with(&self, mut delay: Option<&mut Delay>, offer: &mut Offer<'_>) {
        let kind = SlotKind::Reduce;
        // Usually there are none, as for maps.
        if offer.view().jobs_pending(kind) == 0
            || balanced_room(offer, kind).min(offer.free(kind)) == 0
        {
            return;
        }
        let is_full = self.is_almost_full(offer, kind);
        let jobs = self.line.iter().map(|(.., job)| *job);
        let mut line = (0..).zip(self.reduces.in_order(kind, &offer.view(), jobs, |_| None));
        while let Some((place, id)) = line.next() {
            // Skip jobs without reduces before the test for padding: no slots are kept for them.
            let Some(job) = offer.view().job(id).filter(|job| 0 < job.tasks(kind).total()) else {
                continue;
            };
            let may_launch = 0 < self.reduces.pending(job, kind);
            let reason = Reason::InLine(place);
            let launched = match &mut delay {
                _ if !may_launch => None,
                Some(delay) => delay.launch_reduce(offer, id, 1, reason),
                None => offer.launch_reduce(id, reason),
            };
            if launched.is_some() {
                return;
            }
            // If slots are kept, Hadoop stops at the first job with reduces.
            if is_full {
                // Only the record of decisions needs the rest of the queue.
                if offer.keeps_refusals() {
                    line.for_each(|(_, other)| offer.refuse(other, kind, Reason::KeptFor(id)));
                }
                return;
            }
        }
    }

    /// Returns whether the remaining slots are kept for the first job.
    fn is_almost_full(&self, offer: &Offer<'_>, kind: SlotKind) -> bool {
        let view = offer.view();
        // Without a job that has reduces, Hadoop's loop never reaches its test.
        if self.padded.map + self.padded.reduce == 0 {
            return false;
        }
        // `MIN_CLUSTER_SIZE_FOR_PADDING`: up to three trackers there is no padding.
        let padding = if view.trackers() <= 3 {
            0
        } else {
            let share = self.padded[kind] as f64 * self.options.padding.get();
            // Round down, as Java's cast does; at most the slots of one tracker.
            (share as u64).min(u64::from(offer.slots(kind)))
        };
        u64::from(view.capacity(kind))
            <= u64::from(view.occupied(kind)) + mutated!(padding, "fifo/no-padding" => 0)
    }
}

/// How often a job is asked for a map: once for a map in the node's rack, once for a farther one.
const ASKED_FOR_MAPS: u32 = 2;

/// Returns whether a change may give tasks to launch to a job that had none.
fn may_give_work(change: JobChange) -> bool {
    use AttemptState as S;
    match change {
        // A slow map may be launched a second time.
        JobChange::Running | JobChange::SlowTasks => true,
        // Its map waits again, as does a map whose output is lost with its tracker.
        JobChange::Attempt(_, state) => {
            matches!(state, S::FailedUnclean | S::KilledUnclean | S::Failed | S::Killed)
        }
        _ => false,
    }
}

/// Returns how many tasks a tracker may launch before it exceeds its part of the remaining work.
fn balanced_room(offer: &Offer<'_>, kind: SlotKind) -> u32 {
    // Unfinished tasks include the running ones, as in Hadoop's `remainingMapLoad`.
    room(offer, kind, offer.view().unfinished(kind) as f64, 0.0, TrackerLoad::Reported)
}

#[cfg(test)]
mod tests {
    use super::*;
    use mumakil_core::mapred::{Input, PolicyBench, steps_of};

    /// Returns a test cluster of trackers with four map slots and one reduce slot, with this
    /// padding.
    fn bench(trackers: u32, padding: f64) -> PolicyBench<Fifo> {
        let options = FifoOptions { padding: Fraction::of(padding), ..FifoOptions::default() };
        PolicyBench::new(Fifo::new(options.into()), trackers, PerSlot { map: 4, reduce: 1 })
    }

    /// Returns the jobs whose reduces are launched by five trackers of one slot each. The first job
    /// has more maps left.
    fn reduces(options: &str) -> Vec<JobId> {
        let options = serde_yaml::from_str(options).unwrap();
        let mut bench = PolicyBench::new(Fifo::new(options), 5, PerSlot { map: 1, reduce: 1 });
        for (maps, reduces) in [(9, 2), (4, 4)] {
            bench.submit(maps, reduces, near);
        }
        let launched = (0..5).flat_map(|tracker| bench.offer(tracker)).collect::<Vec<_>>();
        let reduces = launched.iter().filter(|attempt| attempt.slot() == SlotKind::Reduce);
        reduces.map(|attempt| attempt.job()).collect()
    }

    #[test]
    fn reduces_go_by_the_line_or_by_srt_or_are_held_back() {
        let [first, second] = [0, 1].map(JobId);
        assert_eq!(reduces("{}"), [first, first, second, second, second]);
        assert_eq!(reduces("{reduce_order: srt}"), [second, second, second, second, first]);
        assert_eq!(reduces("{reduce_gate: coupling}"), [], "no map has ended");
    }

    /// Puts a job's input into every rack, since a far map would end the maps of a heartbeat.
    fn near(job: &mut mumakil_core::mapred::JobSpec) {
        job.input = Some(Input::on_trackers([0; 20]));
    }

    /// Returns how many tasks the last of five trackers launches at once, while the others are
    /// full.
    fn last(reduces: u32, padding: f64) -> usize {
        let mut bench = bench(5, padding);
        (0..2).for_each(|_| _ = bench.submit(10, reduces, near));
        for tracker in 0..4 {
            while !bench.offer(tracker).is_empty() {}
        }
        bench.offer(4).iter().filter(|attempt| attempt.slot() == SlotKind::Map).count()
    }

    #[test]
    fn an_almost_full_cluster_gives_its_last_slots_one_by_one() {
        // A fifth of twenty maps is four: all the slots that are left.
        assert_eq!(last(1, 0.2), 1);
        assert_eq!(last(1, 0.1), 4, "two slots are kept, four are free");
    }

    #[test]
    fn a_job_is_asked_again_in_its_place_when_a_map_of_it_has_failed() {
        let mut bench = bench(5, 0.0);
        let [first, second] = [1, 30].map(|maps| bench.submit(maps, 0, near));
        let launched = bench.offer(0);
        assert_eq!(launched[0].job(), first);
        bench.fails(launched[0]);
        let jobs: Vec<JobId> = bench.offer(1).iter().map(|attempt| attempt.job()).collect();
        assert_eq!(jobs, [first, second, second, second]);
    }

    #[test]
    fn jobs_whose_maps_are_all_launched_cost_an_offer_nothing() {
        let steps = |jobs: u32| {
            let slots = PerSlot { map: 1_000, reduce: 1 };
            let mut bench = PolicyBench::new(Fifo::new(FifoOptions::default().into()), 2, slots);
            (0..jobs).for_each(|_| _ = bench.submit(1, 0, near));
            bench.fill();
            bench.submit(10, 0, near);
            // In this offer the policy notices that the other jobs have no maps left.
            bench.offer(0);
            steps_of(|| assert!(!bench.offer(1).is_empty()))
        };
        assert_eq!(steps(1_000), steps(10));
    }

    #[test]
    fn a_failing_job_is_load_until_its_cleanup_has_ended() {
        for (is_cleaned_up, launched) in [(false, 2), (true, 1)] {
            let mut bench = bench(5, 0.0);
            let [failing, _] = [20, 2].map(|maps| bench.submit(maps, 0, near));
            bench.fail_job(failing);
            if is_cleaned_up {
                bench.clean_up();
            }
            // There are twenty slots. The failing job's maps would take all of them, the other
            // job's two maps a tenth. So the tracker gets maps for all of its four slots, or for
            // one.
            assert_eq!(bench.offer(0).len(), launched);
        }
    }

    #[test]
    fn no_more_than_a_trackers_slots_are_kept_free() {
        let mut bench = bench(5, 1.0);
        bench.submit(20, 1, near);
        let maps = |bench: &mut PolicyBench<Fifo>, tracker| {
            let launched = bench.offer(tracker);
            launched.iter().filter(|attempt| attempt.slot() == SlotKind::Map).count()
        };
        for tracker in 0..4 {
            assert_eq!(maps(&mut bench, tracker), 4);
            bench.offer(tracker);
        }
        assert_eq!(maps(&mut bench, 4), 1);
    }

    #[test]
    fn jobs_without_reduces_keep_no_slots_free() {
        assert_eq!(last(0, 0.2), 4);
    }

    #[test]
    fn three_trackers_are_too_few_to_keep_slots_free() {
        let mut bench = bench(3, 1.0);
        bench.submit(12, 1, near);
        let launched: Vec<usize> = (0..3).map(|tracker| bench.offer(tracker).len()).collect();
        assert_eq!(launched, [5, 4, 4]);
    }

    #[test]
    fn the_last_reduce_slot_is_kept_for_the_first_job() {
        for (padding, held) in [(0.2, [2, 2]), (0.0, [2, 3])] {
            let mut bench = bench(5, padding);
            let jobs = [2, 10].map(|reduces| bench.submit(1, reduces, |_| {}));
            bench.fill();
            assert_eq!(bench.held(SlotKind::Reduce, jobs), held, "{padding}");
        }
    }
}
