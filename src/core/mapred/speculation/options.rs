//! The settings of second attempts: a rule by its name, or with its options.

use crate::cluster::SlotKind;

use schemars::{JsonSchema, json_schema};
use serde::de::value::StrDeserializer;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::json;

use mumakil_base::units::{Count, Factor, Fraction, SimSpan};
use mumakil_base::{forms, with_defaults};

/// Whether slow tasks get a second attempt, and by which rule they are found.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Speculation {
    /// No task gets a second attempt.
    #[default]
    Off,
    /// Slow tasks are found by this rule.
    By(Rule),
}

/// How slow tasks are found.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Rule {
    /// As in Hadoop 0.20 and 1.x: a task whose progress is far below the average of its job's
    /// tasks.
    #[serde(rename = "hadoop-0.20")]
    Hadoop020(Hadoop020Options),
    /// As in Hadoop 0.21: a task whose progress rate is far below the mean of its job's tasks, the
    /// one with the longest time left first; not on slow nodes, and not too many.
    #[serde(rename = "hadoop-0.21")]
    Hadoop021(Hadoop021Options),
    /// LATE, after Zaharia et al. (OSDI 2008): of the tasks with the lowest progress rates the one
    /// with the longest time left first; not on slow nodes, and not too many.
    Late(LateOptions),
}

with_defaults! {
    /// The options of `hadoop-0.20`.
    #[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
    #[serde(default, deny_unknown_fields)]
    pub struct Hadoop020Options {
        /// Whether maps get second attempts.
        pub maps: bool = true,
        /// Whether reduces get second attempts.
        pub reduces: bool = true,
        /// How long ago the job must have been initialised before a task can be slow.
        pub after: SimSpan = LAG,
        /// How far the task's progress must be below the average of all tasks of the job and kind.
        // TaskInProgress.java: `SPECULATIVE_GAP = 0.2`.
        pub gap: Fraction = Fraction::of(0.2),
    }
}

with_defaults! {
    /// The options of `hadoop-0.21`.
    #[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
    #[serde(default, deny_unknown_fields)]
    pub struct Hadoop021Options {
        /// Whether maps get second attempts.
        pub maps: bool = true,
        /// Whether reduces get second attempts.
        pub reduces: bool = true,
        /// How long an attempt must have run before its task can be slow.
        pub after: SimSpan = LAG,
        /// How many standard deviations the task's progress rate must be below the mean.
        // `mapreduce.job.speculative.slowtaskthreshold`, `.slownodethreshold` and
        // `.speculativecap`.
        pub slow_task: Factor = Factor::ONE,
        /// How many standard deviations a node's mean task time must be above the mean of all nodes for
        /// the node to get no second attempts.
        pub slow_node: Factor = Factor::ONE,
        /// The share of a job's running tasks of a kind that may have second attempts at once, if that
        /// is more than `always` and than `always_of_slots`.
        pub cap: Fraction = Fraction::of(0.1),
        /// The number of second attempts that a job may always have.
        // JobInProgress.java: `MIN_SPEC_CAP` and `MIN_SLOTS_CAP`.
        pub always: Count<0, 1_000_000> = Count::of(10),
        /// The number of second attempts that a job may always have, as a share of the cluster's slots.
        pub always_of_slots: Fraction = Fraction::of(0.01),
    }
}

with_defaults! {
    /// The options of `late`.
    #[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
    #[serde(default, deny_unknown_fields)]
    pub struct LateOptions {
        /// Whether maps get second attempts.
        pub maps: bool = true,
        /// Whether reduces get second attempts.
        pub reduces: bool = true,
        /// How long an attempt must have run before its task can be slow.
        pub after: SimSpan = LAG,
        /// SlowTaskThreshold: a task is slow if its progress rate is among this share of the lowest
        /// of its job and kind.
        // Zaharia et al. find 25th percentiles and a cap of 10 % to work well.
        pub slow_task: Fraction = Fraction::of(0.25),
        /// SlowNodeThreshold: nodes among this share of those with the least work get no second
        /// attempts.
        pub slow_node: Fraction = Fraction::of(0.25),
        /// SpeculativeCap: the second attempts that may run at once, as a share of the cluster's slots
        /// of the kind.
        pub cap: Fraction = Fraction::of(0.1),
    }
}

/// Hadoop's `SPECULATIVE_LAG`, which LATE uses, too.
// TaskInProgress.java: `SPECULATIVE_LAG = 60 * 1000`.
const LAG: SimSpan = SimSpan::from_secs(60);

/// Hadoop's values.
/// Hadoop's values.
/// The values that the paper recommends.
impl Speculation {
    /// Returns the rule by which slow tasks are found; `None` if tasks get no second attempts.
    pub fn rule(self) -> Option<Rule> {
        match self {
            Self::Off => None,
            Self::By(rule) => Some(rule),
        }
    }
}

impl Rule {
    /// Returns whether tasks of a kind get second attempts.
    pub fn covers(self, kind: SlotKind) -> bool {
        let (maps, reduces) = match self {
            Self::Hadoop020(Hadoop020Options { maps, reduces, .. })
            | Self::Hadoop021(Hadoop021Options { maps, reduces, .. })
            | Self::Late(LateOptions { maps, reduces, .. }) => (maps, reduces),
        };
        match kind {
            SlotKind::Map => maps,
            SlotKind::Reduce => reduces,
        }
    }

    /// Returns whether the rule compares progress rates, and not progress itself.
    pub fn compares_rates(self) -> bool {
        match self {
            Self::Hadoop020(_) => false,
            Self::Hadoop021(_) | Self::Late(_) => true,
        }
    }

    /// Returns how long an attempt must have run before its task can be slow.
    pub fn after(self) -> SimSpan {
        match self {
            Self::Hadoop020(Hadoop020Options { after, .. })
            | Self::Hadoop021(Hadoop021Options { after, .. })
            | Self::Late(LateOptions { after, .. }) => after,
        }
    }
}

impl Serialize for Speculation {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Off => to.serialize_str("off"),
            Self::By(rule) => serde_yaml::with::singleton_map::serialize(rule, to),
        }
    }
}

/// The names of the rules, so that the message about a misspelt name lists them.
#[derive(Deserialize)]
enum RuleName {
    #[serde(rename = "off")]
    Off,
    #[serde(rename = "hadoop-0.20")]
    Hadoop020,
    #[serde(rename = "hadoop-0.21")]
    Hadoop021,
    #[serde(rename = "late")]
    Late,
}

forms! {
    Speculation,
    expected: "`off`, `hadoop-0.20`, `hadoop-0.21` or `late`, or one of these with its options",
    // Read as an enum, so that the message for an unknown name lists the known ones.
    text: |name| Ok(match RuleName::deserialize(StrDeserializer::new(name))? {
        RuleName::Off => Speculation::Off,
        RuleName::Hadoop020 => Speculation::By(Rule::Hadoop020(Hadoop020Options::default())),
        RuleName::Hadoop021 => Speculation::By(Rule::Hadoop021(Hadoop021Options::default())),
        RuleName::Late => Speculation::By(Rule::Late(LateOptions::default())),
    }),
    // Options that are left out have the values of `Default`, so a rule may be a name with one
    // option.
    map: |map| Rule::deserialize(map).map(Speculation::By),
    schema: "Speculation", |schemas| {
        let names = json!({ "enum": ["off", "hadoop-0.20", "hadoop-0.21", "late"] });
        let rule = schemas.subschema_for::<Rule>();
        json_schema!({ "anyOf": [names, rule] })
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(yaml: &str) -> Result<Speculation, String> {
        serde_yaml::from_str(yaml).map_err(|error: serde_yaml::Error| error.to_string())
    }

    #[test]
    fn a_rule_is_a_name_or_a_name_with_its_options() {
        assert_eq!(read("off"), Ok(Speculation::Off));
        assert_eq!(read("late"), read("{late: {}}"));
        let Ok(Speculation::By(rule)) = read("{hadoop-0.21: {maps: false, slow_task: 2}}") else {
            panic!("it is a rule");
        };
        assert!(!rule.covers(SlotKind::Map) && rule.covers(SlotKind::Reduce));
        for wrong in ["latest", "{late: {gap: 1}}", "{off: {}}", "1"] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_rule_reads_back_as_written() {
        for yaml in ["off\n", "late:\n  maps: true\n  reduces: false\n"] {
            let rule = read(yaml).unwrap();
            let written = serde_yaml::to_string(&rule).unwrap();
            assert!(written.starts_with(yaml), "{written}");
            assert_eq!(read(&written), Ok(rule));
        }
    }
}
