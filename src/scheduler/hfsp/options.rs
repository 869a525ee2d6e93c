//! The options of `hfsp`: a variant sets them together, and each can be set alone.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{self, Unexpected};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::suspensions::Limits;
use crate::mapred::{Auto, Complaint};
use crate::scheduler::part::delay::DelaySpec;
use crate::scheduler::part::estimator::{Family, SizeError};
use crate::units::{Count, Factor, Fraction, SimSpan};

/// The options of `hfsp`. What is not given is as the variant has it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct HfspOptions {
    /// Sets all options that are not given.
    pub variant: Variant,
    /// How the size of a job is estimated from a sample of its tasks.
    pub estimator: Family,
    /// Makes estimates wrong on purpose: {uniform: α} or {log-normal: σ}.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<SizeError>,
    /// How many maps, and how many reduces, are the sample of a job: 5, in `hadoop` 2.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sample: Option<Count<0, 10_000>>,
    /// Which of its tasks are the sample of a job: the `first` that it launches, or `any`, those that
    /// are measured first: `first`, in `hadoop` `any`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sampled: Option<Sampled>,
    /// The share of the cluster's slots in which samples run before anything else: all in
    /// `paper-2013`, half in `paper-2015`, none in `hadoop`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub training_slots: Option<Fraction>,
    /// When a reduce of a sample has reduced for this long, its length is estimated from its
    /// progress, before it ends: 1min, in `hadoop` never.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reduce_time_out: Option<SimSpan>,
    /// Whether fetching and merging are part of the size of reduces, as in `paper-2015`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shuffle_counts: Option<bool>,
    /// Until its sample is measured, a job counts as this many times its first guess: 1 unless
    /// given. With `inf`, all measured jobs come first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub confidence: Option<Confidence>,
    /// The guess of a task's length before any task has ended: 1min unless given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_guess: Option<SimSpan>,
    /// Whether the work of the sample is subtracted from a job's size when the size is known, as in
    /// the papers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub discount: Option<bool>,
    /// What decides which job is served first: `projected-finish`, in `hadoop` `virtual-work`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub order: Option<Order>,
    /// How fast time passes in the virtual cluster: 1, in `hadoop` half as fast.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub aging: Option<Factor>,
    /// Whether jobs share the virtual cluster by priority, with the weights 4, 2, 1, ½ and ¼: not
    /// unless given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub weights: Option<bool>,
    /// How a job that should be served gets slots that others hold: `eager`, in `hadoop` `wait`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub preemption: Option<Means>,
    /// The same for maps: as `preemption` in `paper-2013`, else `wait`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub map_preemption: Option<Means>,
    /// Which attempt loses its slot, of the jobs that hold too many: `largest-job` in `paper-2013`,
    /// `youngest` in `paper-2015`, `largest-job-oldest` in `hadoop`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub victims: Option<Victims>,
    /// How many attempts may be suspended on one tracker. `most` is 4; `few` is 2 in `paper-2013`
    /// and 3 in `paper-2015`. The papers give no numbers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suspended: Option<SuspendedSpec>,
    /// How long jobs wait for their input: `auto`, in `hadoop` not at all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delay: Option<DelaySpec>,
}

/// Where the papers and the published source differ.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Variant {
    /// The first paper (2013): maps are preempted as well, and the largest job loses slots first.
    #[serde(rename = "paper-2013")]
    Paper2013,
    /// The later paper (2015): maps are waited for, the youngest tasks lose slots first, and
    /// fetching is part of a job's size.
    #[default]
    #[serde(rename = "paper-2015")]
    Paper2015,
    /// The source that its authors published: jobs are ordered by the work that is left in the
    /// virtual cluster, there is no preemption unless asked for, no delay, and aging at half the
    /// pace.
    #[serde(rename = "hadoop")]
    Hadoop,
}

/// Which of its tasks are the sample of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Sampled {
    /// The first that it launches, however long they take.
    First,
    /// Those that are measured first, whenever they were launched: one that takes long delays
    /// nothing, and is left out of the mean.
    Any,
}

/// What decides who is served first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Order {
    /// The time at which the job ends in the virtual cluster, or has ended there.
    ProjectedFinish,
    /// The work that is left of the job in the virtual cluster. Jobs that have ended there come
    /// first, in the order in which they ended.
    VirtualWork,
    /// The work that is really left of the job (SRPT); of its true size if the estimator is
    /// `oracle`.
    RemainingWork,
}

/// How a job that should be served gets slots that others hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Means {
    /// Attempts of other jobs are suspended, and resumed later.
    Eager,
    /// It waits until they end.
    Wait,
    /// Attempts of other jobs are killed, and run again.
    Kill,
}

/// Which of the attempts that hold too many slots gives its slot up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Victims {
    /// One of the job that is last in line: the youngest first.
    LargestJob,
    /// The youngest attempt, whichever job it belongs to.
    Youngest,
    /// One of the job that is last in line: the one with the lowest number first.
    LargestJobOldest,
}

/// A factor of at least 1, or `inf`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Confidence(f64);

impl Serialize for Confidence {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        if self.0.is_finite() { to.serialize_f64(self.0) } else { to.serialize_str("inf") }
    }
}

impl<'de> Deserialize<'de> for Confidence {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct ConfidenceVisitor;
        impl de::Visitor<'_> for ConfidenceVisitor {
            type Value = Confidence;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number of at least 1, or `inf`")
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<Confidence, E> {
                match text {
                    "inf" => Ok(Confidence(f64::INFINITY)),
                    _ => Err(E::invalid_value(Unexpected::Str(text), &self)),
                }
            }
            fn visit_u64<E: de::Error>(self, number: u64) -> Result<Confidence, E> {
                self.visit_f64(number as f64)
            }
            fn visit_f64<E: de::Error>(self, number: f64) -> Result<Confidence, E> {
                match number {
                    1.0.. => Ok(Confidence(number)),
                    _ => Err(E::invalid_value(Unexpected::Float(number), &self)),
                }
            }
        }
        from.deserialize_any(ConfidenceVisitor)
    }
}

impl JsonSchema for Confidence {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> Cow<'static, str> {
        "Confidence".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "anyOf": [{ "type": "number", "minimum": 1 }, { "const": "inf" }] })
    }
}

/// How many attempts may be suspended on one tracker.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SuspendedSpec {
    /// With this many suspended attempts, no more are suspended on the tracker.
    pub most: Count<1, 1_000>,
    /// When the number has fallen to this, attempts are suspended there again. It is less than
    /// `most`.
    pub few: Count<0, 1_000>,
}

/// The options with all that the variant adds.
#[derive(Clone, Debug)]
pub(super) struct Rules {
    pub(super) estimator: Family,
    pub(super) error: Option<SizeError>,
    pub(super) sample: u32,
    pub(super) sampled: Sampled,
    pub(super) training_slots: f64,
    pub(super) reduce_time_out: Option<SimSpan>,
    pub(super) shuffle_counts: bool,
    pub(super) confidence: f64,
    pub(super) first_guess: SimSpan,
    pub(super) discount: bool,
    pub(super) order: Order,
    pub(super) aging: f64,
    pub(super) weights: bool,
    pub(super) preemption: Means,
    pub(super) map_preemption: Means,
    pub(super) victims: Victims,
    pub(super) suspended: Limits,
    pub(super) delay: DelaySpec,
}

impl Rules {
    /// Returns what the papers have in common.
    fn of_papers() -> Self {
        let wait = Auto::Auto;
        Self {
            estimator: Family::Mean,
            error: None,
            sample: 5,
            sampled: Sampled::First,
            training_slots: 1.0,
            reduce_time_out: Some(SimSpan::from_secs(60)),
            shuffle_counts: false,
            confidence: 1.0,
            first_guess: SimSpan::from_secs(60),
            discount: true,
            order: Order::ProjectedFinish,
            aging: 1.0,
            weights: false,
            preemption: Means::Eager,
            map_preemption: Means::Eager,
            victims: Victims::LargestJob,
            suspended: Limits { most: 4, few: 2 },
            delay: DelaySpec { w1: wait, w2: wait, long_task: None },
        }
    }

    fn of_variant(variant: Variant) -> Self {
        match variant {
            Variant::Paper2013 => Self::of_papers(),
            Variant::Paper2015 => Self {
                // The text says that it is limited and gives no number.
                training_slots: 0.5,
                shuffle_counts: true,
                map_preemption: Means::Wait,
                victims: Victims::Youngest,
                suspended: Limits { most: 4, few: 3 },
                ..Self::of_papers()
            },
            Variant::Hadoop => Self {
                sample: 2,
                sampled: Sampled::Any,
                training_slots: 0.0,
                reduce_time_out: None,
                discount: false,
                order: Order::VirtualWork,
                aging: 0.5,
                preemption: Means::Wait,
                map_preemption: Means::Wait,
                victims: Victims::LargestJobOldest,
                delay: DelaySpec::NONE,
                ..Self::of_papers()
            },
        }
    }
}

impl HfspOptions {
    /// Returns what is wrong with options that can be read.
    pub(super) fn complaints(&self) -> Vec<Complaint> {
        let complain = |path: &[&str], message: &str, hint: &str| Complaint {
            path: path.iter().map(|key| (*key).to_owned()).collect(),
            message: message.to_owned(),
            hint: hint.to_owned(),
            is_warning: false,
        };
        let mut complaints = Vec::new();
        if self.aging.is_some_and(|aging| aging.get() == 0.0) {
            let message =
                "`aging` is above zero: at 0 nobody would ever be served first for having waited";
            complaints.push(complain(&["aging"], message, "1 is as fast as time"));
        }
        if self.suspended.is_some_and(|spec| spec.most.get() <= spec.few.get()) {
            let message =
                "`few` is below `most`: with so few suspended attempts others may be again";
            complaints.push(complain(
                &["suspended", "few"],
                message,
                "one less than `most` is the most",
            ));
        }
        let is_unmeasured = self.rules().sample == 0 && self.estimator != Family::Oracle;
        if is_unmeasured {
            let message =
                "without a sample no size is ever measured, only guessed by the number of tasks";
            let hint = "`estimator: oracle` needs no sample";
            complaints.push(Complaint { is_warning: true, ..complain(&["sample"], message, hint) });
        }
        complaints
    }

    /// Returns the options with all that the variant adds.
    pub(super) fn rules(&self) -> Rules {
        let base = Rules::of_variant(self.variant);
        // Maps are spared by some variants, whatever is done to reduces.
        let spares_maps = base.map_preemption == Means::Wait;
        let preemption = self.preemption.unwrap_or(base.preemption);
        let maps = if spares_maps { Means::Wait } else { preemption };
        Rules {
            estimator: self.estimator,
            error: self.error,
            sample: self.sample.map_or(base.sample, Count::get),
            sampled: self.sampled.unwrap_or(base.sampled),
            training_slots: self.training_slots.map_or(base.training_slots, Fraction::get),
            reduce_time_out: self.reduce_time_out.or(base.reduce_time_out),
            shuffle_counts: self.shuffle_counts.unwrap_or(base.shuffle_counts),
            confidence: self.confidence.map_or(base.confidence, |Confidence(times)| times),
            first_guess: self.first_guess.unwrap_or(base.first_guess),
            discount: self.discount.unwrap_or(base.discount),
            order: self.order.unwrap_or(base.order),
            aging: self.aging.map_or(base.aging, Factor::get),
            weights: self.weights.unwrap_or(base.weights),
            preemption,
            map_preemption: self.map_preemption.unwrap_or(maps),
            victims: self.victims.unwrap_or(base.victims),
            suspended: self.suspended.map_or(base.suspended, |spec| Limits {
                most: spec.most.get(),
                few: spec.few.get(),
            }),
            delay: self.delay.clone().unwrap_or(base.delay),
        }
    }
}
