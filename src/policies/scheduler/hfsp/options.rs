//! The options of `hfsp`, and its rules. A variant sets all rules; an option replaces one of them.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::scheduler::estimator::{Estimator, SizeError};
use crate::scheduler::shared::allocations::{PoolBy, misnamed};
use crate::scheduler::shared::delay::DelaySpec;
use crate::scheduler::shared::line::{Measure, MeasuredTurn};
use crate::scheduler::shared::share::weight;
use crate::scheduler::shared::suspensions::{SlotTaking, SuspendedSpec};
use crate::scheduler::shared::taking::Victim;
use mumakil_base::mutated;
use mumakil_base::units::{Count, Factor, Fraction, SimSpan};
use mumakil_core::mapred::{AutoSpan, Complaint, Job, JobId, PolicySite};

/// The options of `hfsp`. The variant sets those that are not given.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct HfspOptions {
    /// Sets all options that are not given.
    pub variant: HfspVariant,
    /// How the size of a job is estimated: `uniform` in `paper-2015`, otherwise `mean`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub estimator: Option<Estimator>,
    /// Makes estimates wrong on purpose.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<SizeError>,
    /// How many maps, and how many reduces, the sample of a job has: 5, in `hadoop` 2.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sample: Option<Count<0, 10_000>>,
    /// The share of the cluster's slots in which samples run before anything else: all slots in
    /// `paper-2013`, half in `paper-2015`, none in `hadoop`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub training_slots: Option<Fraction>,
    /// After a reduce of a sample has worked for this long, its length is estimated from its
    /// progress: 1min, in `hadoop` never.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reduce_time_out: Option<SimSpan>,
    /// Until its sample is measured, a job counts as this many times its first guess: 1 unless
    /// given. With `inf`, all measured jobs come first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub confidence: Option<Confidence>,
    /// How jobs are served: by `projected-finish`, in `hadoop` `virtual-work`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub order: Option<HfspOrder>,
    /// In which order jobs that should have ended, by the virtual cluster or their estimates, are
    /// served before all others: `in-turn` unless given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub late: Option<LateOrder>,
    /// How fast time passes in the virtual cluster: 1, in `hadoop` half as fast.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub aging: Option<Factor>,
    /// By what weight jobs share the virtual cluster: `equal` unless given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub weights: Option<Weights>,
    /// How a job that should be served gets slots that other jobs hold: `eager`, in `hadoop`
    /// `wait`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub preemption: Option<SlotTaking>,
    /// As `preemption`, for maps: the same as `preemption` in `paper-2013`, otherwise `wait`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub map_preemption: Option<SlotTaking>,
    /// The attempts that are never preempted: `training`, in `paper-2013` `sample`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spared: Option<SparedAttempts>,
    /// Which attempt loses its slot: `largest-job` in `paper-2013`, `last-job` in `paper-2015`,
    /// `last-job-oldest` in `hadoop`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub victims: Option<Victims>,
    /// How many attempts may be suspended on one tracker. `most` is 4; `few` is 2 in `paper-2013`
    /// and 3 in `paper-2015`.
    // With the papers' variants, running attempts are suspended unless the options say otherwise.
    #[schemars(extend("x-only-if" = [
        {"preemption": [null, "eager"], "map_preemption": "eager"},
        {"preemption": "eager", "map_preemption": "eager", "variant": {"not": "hadoop"}},
    ]))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suspended: Option<SuspendedSpec>,
    /// How long jobs wait for their input: `auto` in `paper-2013`, not at all in `hadoop`. In
    /// `paper-2015`, unless given, as many offers pass a job over as there are trackers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delay: Option<DelaySpec>,
}

/// Where the papers and the published source differ.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum HfspVariant {
    /// The first paper: maps are preempted as well, and the largest job loses slots first.
    #[serde(rename = "paper-2013")]
    Paper2013,
    /// The later paper: maps are not preempted, the youngest tasks of the last job lose slots
    /// first, fetching is part of a job's size, and jobs wait for their input a number of times.
    #[default]
    #[serde(rename = "paper-2015")]
    Paper2015,
    /// The authors' source: jobs are ordered by their virtual work left, without preemption and
    /// delay, aging at half the pace.
    #[serde(rename = "hadoop")]
    Hadoop,
}

/// Which tasks of a job are its sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SampledTasks {
    /// The tasks that it launches first, however long they take.
    First,
    /// The tasks that are measured first, whenever they were launched: a task that takes long
    /// delays nothing, and is left out of the mean.
    Any,
}

/// The work that is subtracted from a job's size when the size is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Discount {
    /// The work that the sample has really done.
    Sample,
    /// The work that the job has done in the virtual cluster.
    VirtualWork,
    /// Nothing: the job starts anew in the virtual cluster, so its work there is done twice.
    Nothing,
}

/// The measure by which jobs are served: the smallest value first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum HfspOrder {
    /// The time at which the job ends in the virtual cluster, or has ended there.
    ProjectedFinish,
    /// The same, but a job comes first once it needs all its slots to end when it ends there. Not
    /// of the papers.
    GuardedFinish,
    /// The job's work that is left in the virtual cluster; jobs that have ended there come first.
    VirtualWork,
    /// The real work of the job that is left (SRPT).
    RemainingWork,
}

/// In which order jobs are served that should have ended, but have not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LateOrder {
    /// One after another, as they should have ended.
    #[default]
    InTurn,
    /// The job first that holds the fewest slots for its weight.
    Shared,
    /// The job first that has had the least slot time.
    LeastAttained,
}

/// How the slots of the virtual cluster are dealt.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::scheduler) enum VirtualSlots {
    /// Whole slots in turn, the job with the fewest tasks first. With more jobs than slots the
    /// largest jobs have no slot, and may starve; a note among the events says when this is so.
    #[default]
    SmallestFirst,
    /// Whole slots in turn, in the order in which jobs came. With more jobs than slots
    /// the latest jobs have no slot.
    OldestFirst,
    /// To each job its exact share, down to fractions of a slot.
    Parts,
}

/// By what weight jobs share the virtual cluster.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Weights {
    /// All jobs have the same weight.
    Equal,
    /// By priority: 4, 2, 1, ½ and ¼.
    Priority,
    /// A number for each pool, 1 for pools that are not named.
    Pools(BTreeMap<String, Factor>),
}

/// The weights that pools may have. A sum of weights has about 16 digits, so the smallest weight
/// keeps four digits when it is added to the largest.
const WEIGHTS: RangeInclusive<f64> = 1e-6..=1e6;

impl Weights {
    /// Returns a warning that lists pools with a weight but no job, and pools with jobs but no
    /// weight: a name may be misspelt. Returns `None` unless there are pools of both sorts.
    pub(super) fn unknown_names(&self, site: &PolicySite<'_>) -> Option<Complaint> {
        let Self::Pools(pools) = self else { return None };
        let found: BTreeSet<&str> =
            site.jobs.iter().map(|job| PoolBy::Pool.of_expected(job)).collect();
        let idle = pools.keys().map(String::as_str).filter(|name| !found.contains(name));
        let strange = found.iter().copied().filter(|name| !pools.contains_key(*name));
        let hint = "a pool that is not named here weighs 1";
        misnamed(idle, strange)
            .map(|message| Complaint::warning(&["weights", "pools"], message, hint))
    }

    pub(super) fn of(&self, job: &Job) -> f64 {
        match self {
            Self::Equal => 1.0,
            Self::Priority => weight(job.priority(), None),
            Self::Pools(pools) => pools.get(&*job.spec().pool).map_or(1.0, |factor| factor.get()),
        }
    }
}

/// The attempts that are never preempted, whichever job lacks slots.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SparedAttempts {
    /// The attempts of a job's sample, until its size is estimated.
    Sample,
    /// All attempts of a job until its size is estimated.
    Training,
}

/// When the reduces of a job join the virtual cluster, which gives them their place in the order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ReduceArrival {
    /// With the job's maps, when the job begins.
    WithMaps,
    /// When the job's maps are done, as a job of their own. Before that, its reduces can only
    /// fetch, and get only slots that no other job wants.
    MapsDone,
}

/// Which attempt of the jobs that hold too many slots gives up its slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Victims {
    /// The youngest of the largest job, by the estimated sizes.
    LargestJob,
    /// The youngest of the job that is last in order.
    LastJob,
    /// The one with the lowest number of the job that is last in order.
    LastJobOldest,
    /// The youngest attempt, whichever job it belongs to.
    Youngest,
}

impl Victims {
    /// Sorts attempts of which those of the last job come first, its youngest before all others.
    pub(super) fn sort(
        self,
        victims: &mut [Victim<MeasuredTurn>],
        size: impl Fn(JobId) -> Measure,
    ) {
        match self {
            Self::LastJob => {}
            Self::Youngest => victims.sort_by_key(|one| (one.ran, one.attempt)),
            Self::LargestJob => mutated!(
                victims.sort_by_key(|one| Reverse(size(one.attempt.job()))),
                "hfsp/smallest" => victims.sort_by_key(|one| size(one.attempt.job())),
            ),
            // The published source walks a job's attempts by id, so the oldest attempts go first.
            Self::LastJobOldest => victims.sort_by_key(|one| (Reverse(one.turn), one.attempt)),
        }
    }
}

/// A factor of at least 1, or `inf`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Confidence(f64);

mumakil_base::text_form! {
    Confidence,
    name: "Confidence",
    expected: "a number of at least 1, or `inf`",
    pattern: r"^\s*([1-9]\d*(\.\d+)?|inf)\s*$",
    parse: |text| text.trim().parse().ok().filter(|times| 1.0 <= *times).map(Confidence),
    print: |confidence, f| write!(f, "{}", confidence.0),
    write: |self, to| match self.0 {
        f64::INFINITY => to.serialize_str("inf"),
        times => to.serialize_f64(times),
    },
}

/// The options, completed by the variant.
#[derive(Clone, Debug)]
pub(in crate::scheduler) struct HfspRules {
    pub(super) estimator: Estimator,
    pub(super) error: Option<SizeError>,
    pub(super) sample: u32,
    pub(super) sampled: SampledTasks,
    pub(super) training_slots: f64,
    pub(super) reduce_time_out: Option<SimSpan>,
    pub(super) shuffle_counts: bool,
    pub(super) skew_counts: bool,
    pub(super) confidence: f64,
    pub(super) recent_tasks: Option<usize>,
    pub(super) discount: Discount,
    pub(super) order: HfspOrder,
    pub(super) late: LateOrder,
    pub(super) aging: f64,
    pub(in crate::scheduler) virtual_slots: VirtualSlots,
    pub(super) weights: Weights,
    pub(super) preemption: SlotTaking,
    pub(super) map_preemption: SlotTaking,
    pub(super) spared: SparedAttempts,
    pub(super) reduces_arrive: ReduceArrival,
    pub(super) victims: Victims,
    pub(super) suspended: SuspendedSpec,
    /// How long jobs wait for their input; `None`: until as many offers have passed them over as
    /// there are trackers.
    pub(super) delay: Option<DelaySpec>,
}

impl HfspOrder {
    /// Returns whether the order depends on the real work that jobs have left.
    pub(super) fn heeds_left(self) -> bool {
        matches!(self, Self::GuardedFinish | Self::RemainingWork)
    }
}

impl HfspRules {
    /// Returns whether the order, its patience or its notes need the virtual cluster.
    pub(super) fn simulate(&self) -> bool {
        self.order != HfspOrder::RemainingWork
            || self.late == LateOrder::LeastAttained
            || self.discount == Discount::VirtualWork
            || self.virtual_slots != VirtualSlots::Parts
    }
}

impl HfspRules {
    /// Returns the rules that both papers share.
    fn of_papers() -> Self {
        let wait = AutoSpan::Auto;
        Self {
            estimator: Estimator::Mean,
            error: None,
            // 2013, section 3.2.1: five tasks are accurate enough; 2015 has the same default.
            sample: 5,
            sampled: SampledTasks::First,
            // 2013, section 4.1: all slots of the cluster.
            training_slots: 1.0,
            // The papers' Δ is 60 s.
            reduce_time_out: Some(SimSpan::from_secs(60)),
            shuffle_counts: false,
            skew_counts: false,
            // The papers' experiments use ξ = 1.
            confidence: 1.0,
            recent_tasks: None,
            // 2013, section 3.2.1: "discounted by the amount of work done by tasks
            // scheduled in the Training module".
            discount: Discount::Sample,
            order: HfspOrder::ProjectedFinish,
            late: LateOrder::InTurn,
            aging: 1.0,
            // Round robin, beginning with the jobs that have few tasks (2013, section 3.1; 2015,
            // section 3.3).
            virtual_slots: VirtualSlots::SmallestFirst,
            weights: Weights::Equal,
            // Eager preemption: tasks are suspended, in 2013 maps as well as reduces.
            preemption: SlotTaking::Eager,
            map_preemption: SlotTaking::Eager,
            spared: SparedAttempts::Sample,
            reduces_arrive: ReduceArrival::MapsDone,
            // 2013, section 3.3: tasks of jobs "sorted in decreasing order of their size".
            victims: Victims::LargestJob,
            suspended: SuspendedSpec::FEW,
            // 2013, section 3.1: "the same timeout mechanism" as the original delay scheduler. The
            // paper gives no times, so these are the times of `fair`.
            delay: Some(DelaySpec { w1: wait, w2: wait, ..DelaySpec::NONE }),
        }
    }

    fn of_variant(variant: HfspVariant) -> Self {
        match variant {
            // The first guess uses "recently executed jobs" (section 3.1). The paper gives no
            // number, so this one is chosen.
            HfspVariant::Paper2013 => Self {
                recent_tasks: Some(100),
                // Section 3.2.1: the times of reduces follow "the available information on the skew
                // of Reduce task input size distribution". By then all maps are done, so their
                // outputs are known.
                skew_counts: true,
                ..Self::of_papers()
            },
            HfspVariant::Paper2015 => Self {
                // Section 4.1: "we use a uniform distribution to perform the fitting". The first
                // paper uses "first order statistics", which are the mean.
                estimator: Estimator::Uniform,
                // The text says that the slots for training are limited. It gives no number, so
                // this one is chosen.
                training_slots: 0.5,
                shuffle_counts: true,
                discount: Discount::VirtualWork,
                // Section 3.4: maps are short, so a job waits until they end.
                map_preemption: SlotTaking::Wait,
                // This follows the source that the authors published, since the paper's text does
                // not say.
                spared: SparedAttempts::Training,
                // Section 3.4: of the job that is tagged for suspension the "tasks that have been
                // launched last", since these use the least memory. Slots are given to jobs in
                // order (section 3.1), so the last job is the first to hold more than its slots.
                victims: Victims::LastJob,
                // A single threshold: each attempt that resumes makes room for another one.
                suspended: SuspendedSpec { most: Count::of(4), few: Count::of(3) },
                // Section 3.1: non-local tasks are postponed "for a fixed amount of attempts". The
                // paper gives no number. As many attempts as trackers are chosen: a block with three
                // copies is then on one of the trackers in 95 of 100 cases, on any cluster.
                delay: None,
                ..Self::of_papers()
            },
            HfspVariant::Hadoop => Self {
                // `trainer.min-maps` and `trainer.completed-tasks.map.num-completed` are 2.
                sample: 2,
                // The source measures whichever tasks end first, not those that were launched
                // first.
                sampled: SampledTasks::Any,
                // `train-map-slots` and `train-reduce-slots` are 0.
                training_slots: 0.0,
                // `sojourn-trainer.reduce.time` is the largest integer.
                reduce_time_out: None,
                // The source multiplies the measured length by all tasks, including those that have
                // ended.
                discount: Discount::Nothing,
                order: HfspOrder::VirtualWork,
                // The source lets half of the real time pass in the virtual cluster.
                aging: 0.5,
                // The source deals slots in the order of job ids.
                virtual_slots: VirtualSlots::OldestFirst,
                // The source's default is the class NoPreemption; its class that suspends attempts
                // was not published.
                preemption: SlotTaking::Wait,
                map_preemption: SlotTaking::Wait,
                // The source preempts no attempt of a job in training.
                spared: SparedAttempts::Training,
                reduces_arrive: ReduceArrival::WithMaps,
                // The source walks the last job's attempts by id.
                victims: Victims::LastJobOldest,
                // `delay.enabled` is false.
                delay: Some(DelaySpec::NONE),
                ..Self::of_papers()
            },
        }
    }
}

impl HfspOptions {
    /// Returns complaints about options that are valid YAML but do not fit together.
    pub(super) fn complaints(&self) -> Vec<Complaint> {
        let mut complaints = Vec::new();
        if self.aging.is_some_and(|aging| aging.get() == 0.0) {
            let message =
                "`aging` is above zero: at 0 nobody would ever be served first for having waited";
            complaints.push(Complaint::error(&["aging"], message, "1 is as fast as time"));
        }
        if let Some(Weights::Pools(pools)) = &self.weights {
            for (pool, weight) in pools {
                let (message, hint) = if WEIGHTS.contains(&weight.get()) {
                    continue;
                } else if weight.get() == 0.0 {
                    (
                        "a weight is above zero: at 0 no job of the pool would ever have its turn",
                        "1 is as much as others",
                    )
                } else {
                    (
                        "a weight is from 0.000001 to 1,000,000: beyond, the smaller ones are lost \
                         when weights are added",
                        "only the ratio of weights counts: 1 is as much as others",
                    )
                };
                complaints.push(Complaint::error(&["weights", "pools", pool], message, hint));
            }
        }
        complaints.extend(self.suspended.and_then(|spec| spec.complaint(&["suspended", "few"])));
        let rules = self.rules();
        let takes =
            [rules.preemption, rules.map_preemption].iter().any(|how| *how != SlotTaking::Wait);
        if rules.late != LateOrder::InTurn && takes {
            let message = "late jobs that share would take each other's slots to and fro";
            let hint = "set `preemption: wait`, or `late: in-turn`";
            complaints.push(Complaint::error(&["late"], message, hint));
        }
        let is_unmeasured = rules.sample == 0 && rules.estimator.needs_sample();
        if is_unmeasured && rules.error.is_some() {
            let message = "`error` needs an estimate: without a sample no size is ever estimated";
            let hint = "give `sample` a number above zero, or `estimator: oracle` with this error";
            complaints.push(Complaint::error(&["error"], message, hint));
        } else if is_unmeasured {
            let message =
                "without a sample no size is ever measured, only guessed by the number of tasks";
            let hint = "`estimator: oracle` needs no sample";
            complaints.push(Complaint::warning(&["sample"], message, hint));
        }
        complaints
    }

    /// Returns the options, completed by the variant.
    pub(in crate::scheduler) fn rules(&self) -> HfspRules {
        let base = HfspRules::of_variant(self.variant);
        // Some variants never preempt maps, whatever `preemption` is.
        let spares_maps = base.map_preemption == SlotTaking::Wait;
        let preemption = self.preemption.unwrap_or(base.preemption);
        let maps = if spares_maps { SlotTaking::Wait } else { preemption };
        HfspRules {
            estimator: self.estimator.clone().unwrap_or(base.estimator),
            error: self.error.clone(),
            sample: self.sample.map_or(base.sample, Count::get),
            training_slots: self.training_slots.map_or(base.training_slots, Fraction::get),
            reduce_time_out: self.reduce_time_out.or(base.reduce_time_out),
            confidence: self.confidence.map_or(base.confidence, |Confidence(times)| times),
            order: self.order.unwrap_or(base.order),
            late: self.late.unwrap_or(base.late),
            aging: self.aging.map_or(base.aging, Factor::get),
            weights: self.weights.clone().unwrap_or(base.weights),
            preemption,
            map_preemption: self.map_preemption.unwrap_or(maps),
            spared: self.spared.unwrap_or(base.spared),
            victims: self.victims.unwrap_or(base.victims),
            suspended: self.suspended.unwrap_or(base.suspended),
            delay: self.delay.clone().or(base.delay),
            ..base
        }
    }
}
