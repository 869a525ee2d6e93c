//! `aria`: slots for deadlines (Verma, Cherkasova and Campbell: ARIA, ICAC 2011).
//!
//! A job has a profile: how many tasks it has, and the mean and the longest time of its maps, of the
//! shuffles of its reduces, and of the rest of its reduces. The reduces of the first wave fetch most
//! while maps run, so of their shuffles only a part counts (the *first* shuffle); those of later waves
//! take the whole time (the *typical* shuffle). From these, bounds follow on how long the job takes with
//! some slots of each kind, and so the fewest slots with which it ends by its deadline:
//!
//! ```text
//! time  = A / map slots + B / reduce slots + C
//! lower:  A = maps * mean map                  B = reduces * (mean shuffle + mean reduce)
//!         C = mean first shuffle - mean shuffle
//! upper:  A = (maps - 1) * mean map            B = (reduces - 1) * (mean shuffle + mean reduce)
//!         C = longest map + longest first shuffle + longest shuffle - mean shuffle + longest reduce
//! fewest: map slots = (A + √(A B)) / (time - C)    reduce slots = (B + √(A B)) / (time - C)
//! ```
//! Once the maps have ended, all shuffles are typical ones.
//!
//! Jobs with fewer slots than they need come first, the earliest deadline first of all. Slots that no
//! job needs go to all jobs in the same order, unless they are kept. The needs of a job are computed anew
//! whenever one of its tasks begins or ends, for the tasks that are left and the time that is left.
//!
//! The profile is that of the true times of the job's tasks, as if it had run before on the whole
//! cluster. There its reduces had fetched all but the outputs of the last wave of maps when these ended;
//! if reduces begin only after all maps (`slow_start: 1`), the first shuffle is a typical one.

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use mumakil_base::mutated;
use mumakil_base::units::{SimSpan, SimTime};
use mumakil_base::with_defaults;
use mumakil_core::mapred::{
    Complaint, Job, JobChange, JobEvent, JobId, Offer, OptionFacts, PerSlot, Policy, PolicyNeeds,
    PolicySite, Precedence, PrecedenceBy, Reason, Scheduler, SlotKind, TrueDurations, View,
};
use mumakil_policies::scheduler::shared::delay::{Delay, DelaySpec};
use mumakil_policies::scheduler::shared::line::move_entry;

with_defaults! {
    /// The options of `aria`.
    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
    #[serde(default, deny_unknown_fields)]
    pub struct AriaOptions {
        /// The bound that must keep the deadline.
        pub bound: DeadlineBound = DeadlineBound::Average,
        /// Whether jobs also get slots that no job needs for its deadline.
        pub spare: bool = true,
        /// How long jobs wait for their input. Without this, they do not wait.
        pub delay: DelaySpec = DelaySpec::NONE,
    }
}

/// A bound on how long a job takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum DeadlineBound {
    /// No order of tasks is faster.
    Lower,
    /// The mean of both, nearest to measured times in the paper.
    #[default]
    Average,
    /// No order of tasks is slower.
    Upper,
}

/// Gives each job the slots that it needs for its deadline.
#[derive(Debug)]
pub struct Aria {
    bound: DeadlineBound,
    spare: bool,
    /// The jobs that could use a slot, in the order in which they are asked.
    lines: PerSlot<BTreeSet<AriaTurn>>,
    jobs: FxHashMap<JobId, ProfiledJob>,
    truth: Option<TrueDurations>,
    delay: Delay,
}

/// A job's position: whether it has the slots that it needs, its deadline, its arrival and its number.
type AriaTurn = (bool, SimTime, SimTime, JobId);

/// A job with its profile.
#[derive(Debug, Default)]
struct ProfiledJob {
    profile: JobProfile,
    places: PerSlot<Option<AriaTurn>>,
}

/// The times of a job's tasks, in seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct JobProfile {
    map: TaskProfile,
    shuffle: TaskProfile,
    /// The rest of a reduce.
    reduce: TaskProfile,
    /// The part of a shuffle that is left to the first wave of reduces when the maps have ended.
    first: f64,
}

/// The times of one phase of a job's tasks, in seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct TaskProfile {
    mean: f64,
    longest: f64,
}

impl TaskProfile {
    fn of(count: u32, time: impl Fn(u32) -> SimSpan) -> Self {
        let times = (0..count).map(|index| time(index).as_secs_f64());
        let (sum, longest) =
            times.fold((0.0, 0.0_f64), |(sum, longest), time| (sum + time, longest.max(time)));
        Self { mean: sum / f64::from(count.max(1)), longest }
    }
}

impl JobProfile {
    /// Returns the profile of a job that has run before on so many map slots.
    fn of(truth: &TrueDurations, job: &Job, map_slots: u32) -> Self {
        let [maps, reduces] = SlotKind::BOTH.map(|kind| job.tasks(kind).total());
        let last_wave = maps - maps.saturating_sub(1) / map_slots.max(1) * map_slots;
        let overlaps =
            mutated!(job.slow_start() < 1.0 && 0 < maps, "aria/no-first-shuffle" => false);
        Self {
            map: TaskProfile::of(maps, |map| truth.task(job, SlotKind::Map, map)),
            shuffle: TaskProfile::of(reduces, |reduce| truth.shuffle(job, reduce)),
            reduce: TaskProfile::of(reduces, |reduce| {
                truth.task(job, SlotKind::Reduce, reduce) - truth.shuffle(job, reduce)
            }),
            first: if overlaps { f64::from(last_wave) / f64::from(maps) } else { 1.0 },
        }
    }

    /// Returns the work of the maps, that of the reduces, and the fixed time in a bound, if so many
    /// tasks are left.
    fn parts(self, left: PerSlot<u32>, bound: DeadlineBound) -> [f64; 3] {
        let Self { map, shuffle, reduce, first } = self;
        let [maps, reduces] = SlotKind::BOTH.map(|kind| f64::from(left[kind]));
        let has = |count: f64| count.min(1.0);
        // Without maps there is no first shuffle, and each wave has a typical one.
        let [first, hidden] =
            [first, 1.0].map(|part| if maps == 0.0 { 0.0 } else { part * has(reduces) });
        let each = shuffle.mean + reduce.mean;
        let longest = reduce.longest + shuffle.longest;
        let lower = [maps * map.mean, reduces * each, (first - hidden) * shuffle.mean];
        let upper = [
            (maps - has(maps)) * map.mean,
            (reduces - has(reduces)) * each,
            has(maps) * map.longest + has(reduces) * longest + first * shuffle.longest
                - hidden * shuffle.mean,
        ];
        match bound {
            DeadlineBound::Lower => lower,
            DeadlineBound::Average => [0, 1, 2].map(|part| (lower[part] + upper[part]) / 2.0),
            DeadlineBound::Upper => upper,
        }
    }
}

/// Returns the fewest slots of each kind with which so many tasks end within a time, in seconds. If no
/// number of slots suffices, returns the largest number.
fn fewest_slots(
    profile: JobProfile,
    left: PerSlot<u32>,
    within: f64,
    bound: DeadlineBound,
) -> PerSlot<u32> {
    let [maps, reduces, fixed] = profile.parts(left, bound);
    let time = within - fixed;
    let both = (maps * reduces).sqrt();
    PerSlot::of(|kind| {
        let work = if kind == SlotKind::Map { maps } else { reduces };
        match left[kind] {
            0 => 0,
            _ if time <= 0.0 => u32::MAX,
            _ => {
                let slots = mutated!((work + both) / time, "aria/halves" => work * 2.0 / time);
                // A task more than the mean's worth of work needs a slot in any case.
                (slots.ceil() as u32).max(1)
            }
        }
    })
}

/// Returns when a job should end; `None` without a deadline.
fn deadline(job: &Job) -> Option<SimTime> {
    Some(job.submitted_at() + job.spec().deadline?)
}

impl Aria {
    /// Returns the slots of each kind that a job needs; none without a deadline.
    fn needed(&self, job: &Job, now: SimTime) -> PerSlot<u32> {
        let Some(deadline) = deadline(job) else { return PerSlot::default() };
        let profile = self.jobs.get(&job.id()).map(|known| known.profile).unwrap_or_default();
        let left = PerSlot::of(|kind| {
            job.tasks(kind).total() - mutated!(job.tasks(kind).finished(), "aria/whole-job" => 0)
        });
        let now = mutated!(now, "aria/whole-time" => job.submitted_at());
        fewest_slots(profile, left, deadline.saturating_since(now).as_secs_f64(), self.bound)
    }

    fn place(&mut self, view: &View<'_>, id: JobId) {
        let job = view.job(id).filter(|job| job.is_running());
        let needed = job.map_or(PerSlot::default(), |job| self.needed(job, view.now()));
        let Some(known) = self.jobs.get_mut(&id) else { return };
        for kind in SlotKind::BOTH {
            let waiting = job.filter(|job| 0 < job.pending(kind));
            let place = waiting.and_then(|job| {
                let has_enough = mutated!(needed[kind] <= job.tasks(kind).running(),
                    "aria/deadlines-alone" => false);
                let deadline = mutated!(
                    deadline(job).unwrap_or(SimTime::NEVER),
                    "aria/by-arrival" => job.submitted_at(),
                );
                (self.spare || !has_enough).then_some((
                    has_enough,
                    deadline,
                    job.submitted_at(),
                    id,
                ))
            });
            let was = std::mem::replace(&mut known.places[kind], place);
            move_entry(&mut self.lines[kind], was, place);
        }
    }
}

impl Scheduler for Aria {
    fn needs(&self) -> PolicyNeeds {
        PolicyNeeds { truth: true, reports: false, ..PolicyNeeds::default() }
    }

    fn foresee(&mut self, truth: &TrueDurations) {
        self.truth = Some(truth.clone());
    }

    fn precedence(&self) -> Precedence {
        Precedence::of_jobs(PrecedenceBy::Own)
    }

    fn patience(&self, view: &View<'_>) -> SimSpan {
        self.delay.patience(view)
    }

    fn withheld(&self, view: &View<'_>, say: &mut dyn FnMut(JobId, SlotKind, Reason)) {
        if self.spare {
            return;
        }
        for job in view.running_jobs() {
            for kind in SlotKind::BOTH {
                let is_placed =
                    self.jobs.get(&job.id()).is_some_and(|known| known.places[kind].is_some());
                if !is_placed && 0 < job.pending(kind) {
                    let reason = "it has the slots that it needs for its deadline";
                    say(job.id(), kind, Reason::Other(reason));
                }
            }
        }
    }

    fn job_changed(&mut self, view: &View<'_>, event: &JobEvent) {
        self.delay.job_changed(view, event);
        match event.change {
            JobChange::Running => {
                let job = view.job(event.job);
                let known = self.truth.as_ref().zip(job);
                let slots = view.capacity(SlotKind::Map);
                let profile =
                    known.map(|(truth, job)| JobProfile::of(truth, job, slots)).unwrap_or_default();
                self.jobs.insert(event.job, ProfiledJob { profile, ..ProfiledJob::default() });
                self.place(view, event.job);
            }
            JobChange::Ended(_) => {
                self.place(view, event.job);
                self.jobs.remove(&event.job);
            }
            _ => self.place(view, event.job),
        }
    }

    fn offer(&mut self, offer: &mut Offer<'_>) {
        self.delay.begin(&offer.view());
        for kind in SlotKind::BOTH {
            while 0 < offer.free(kind) {
                let Self { lines, delay, .. } = self;
                let mut line = (0..).zip(&lines[kind]);
                let launched = line.find_map(|(place, (.., job))| {
                    delay.launch(offer, *job, kind, Reason::InLine(place))
                });
                let Some(launched) = launched else { break };
                self.place(&offer.view(), launched.job());
            }
        }
    }
}

impl Policy for Aria {
    const NAME: &'static str = "aria";
    const ABOUT: &'static str =
        "the slots that a job needs for its deadline, by a profile of its true times";
    const GROUP: &'static str = "by deadline";
    type Options = AriaOptions;

    fn settle(options: &mut AriaOptions, site: &PolicySite<'_>) -> Vec<Complaint> {
        let without = site.jobs.iter().any(|job| !job.has_deadline);
        let message = "jobs without a deadline get no slot: no slot is needed for one";
        let hint = "give all jobs a `deadline`, or leave `spare: false` out";
        let stalls = !options.spare && without;
        stalls.then(|| Complaint::stall(&["spare"], message, hint)).into_iter().collect()
    }

    fn facts(options: &AriaOptions) -> OptionFacts<'_> {
        options.delay.facts()
    }

    fn new(AriaOptions { bound, spare, delay }: AriaOptions) -> Self {
        let (lines, jobs) = (PerSlot::default(), FxHashMap::default());
        Self { bound, spare, lines, jobs, truth: None, delay: Delay::new(&delay) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mumakil_base::theory::TaskBag;
    use mumakil_core::mapred::ExpectedJob;
    use proptest::prelude::*;

    fn times(mean: f64, longest: f64) -> TaskProfile {
        TaskProfile { mean, longest }
    }

    #[test]
    fn jobs_without_a_deadline_are_told_if_no_slot_is_spare() {
        let told = |spare, has_deadline| {
            let has_tasks = PerSlot { map: true, reduce: false };
            let job = ExpectedJob::new("ann", None, has_tasks, PerSlot::default());
            let site = PolicySite {
                jobs: vec![ExpectedJob { has_deadline, ..job }],
                ..PolicySite::unknown()
            };
            Aria::settle(&mut AriaOptions { spare, ..AriaOptions::default() }, &site)
        };
        assert!(told(false, false)[0].message.starts_with("jobs without a deadline get no slot"));
        assert_eq!([told(true, false), told(false, true)], [[], []]);
    }

    #[test]
    fn without_reduces_the_slots_are_those_of_a_bag_of_tasks() {
        let profile = JobProfile { map: times(10.0, 20.0), ..JobProfile::default() };
        let left = PerSlot { map: 101, reduce: 0 };
        let slots = fewest_slots(profile, left, 120.0, DeadlineBound::Upper);
        assert_eq!(slots, PerSlot { map: 10, reduce: 0 });
        let bag = TaskBag { tasks: 101.0, slots: 1.0, longest: 2.0 };
        assert_eq!(bag.slots_for(12.0).unwrap(), 10.0);
        assert_eq!(fewest_slots(profile, left, 20.0, DeadlineBound::Upper).map, u32::MAX);
        assert_eq!(fewest_slots(profile, left, 101.0, DeadlineBound::Lower).map, 10);
    }

    /// Maps of 10 to 20 s, shuffles of 4 to 6 s, the rest of reduces 20 to 30 s, and a quarter of the
    /// shuffle left when the maps have ended: the sums of section 4.1 of the paper.
    #[test]
    fn the_first_shuffle_counts_once_and_typical_ones_in_each_wave() {
        let profile = JobProfile {
            map: times(10.0, 20.0),
            shuffle: times(4.0, 6.0),
            reduce: times(20.0, 30.0),
            first: 0.25,
        };
        let left = PerSlot { map: 40, reduce: 10 };
        let parts = |left, bound| profile.parts(left, bound);
        assert_eq!(parts(left, DeadlineBound::Lower), [400.0, 240.0, -3.0]);
        assert_eq!(parts(left, DeadlineBound::Upper), [390.0, 216.0, 20.0 + 1.5 + 2.0 + 30.0]);
        assert_eq!(parts(left, DeadlineBound::Average), [395.0, 228.0, 25.25]);
        let reduces = PerSlot { map: 0, reduce: 10 };
        assert_eq!(parts(reduces, DeadlineBound::Lower), [0.0, 240.0, 0.0]);
        assert_eq!(parts(reduces, DeadlineBound::Upper), [0.0, 216.0, 36.0]);
        // (400 + √(400 × 240)) / 70 and (240 + √(400 × 240)) / 70.
        let slots = fewest_slots(profile, left, 67.0, DeadlineBound::Lower);
        assert_eq!(slots, PerSlot { map: 11, reduce: 8 });
    }

    proptest! {
        /// The slots keep the bound, and no other numbers of slots that keep it are fewer by more
        /// than rounding.
        #[test]
        fn the_slots_are_the_fewest_that_keep_the_bound(
            (maps, reduces) in (2_u32..200, 2_u32..50),
            (map_mean, reduce_mean, shuffle_mean) in (1.0..60.0, 1.0..100.0, 0.0..20.0),
            (of_map, of_reduce, first) in (1.0..3.0, 1.0..3.0, 0.0..1.0),
            slack in 1.1..20.0,
        ) {
            let profile = JobProfile {
                map: times(map_mean, map_mean * of_map),
                shuffle: times(shuffle_mean, shuffle_mean * of_map),
                reduce: times(reduce_mean, reduce_mean * of_reduce),
                first,
            };
            let left = PerSlot { map: maps, reduce: reduces };
            let [maps, reduces, fixed] = profile.parts(left, DeadlineBound::Upper);
            let within = fixed * slack;
            let takes = |slots: PerSlot<f64>| maps / slots.map + reduces / slots.reduce + fixed;
            let slots = fewest_slots(profile, left, within, DeadlineBound::Upper);
            prop_assert!(takes(PerSlot::of(|kind| f64::from(slots[kind]))) <= within);
            let sum = f64::from(slots.map) + f64::from(slots.reduce);
            // With as many slots less two in all, no division keeps the bound.
            let fewer = sum - 2.0;
            for step in 1..200 {
                let map = fewer * f64::from(step) / 200.0;
                let slots = PerSlot { map, reduce: fewer - map };
                prop_assert!(fewer <= 0.0 || within < takes(slots) * 1.000_001);
            }
        }
    }
}
