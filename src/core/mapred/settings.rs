//! The settings of Hadoop that each job may set for itself.
//!
//! In Hadoop these are properties of the job, and the cluster has only their defaults. So the
//! ledger asks the job for them, never [`Hadoop`].

use crate::cluster::PerSlot;
use crate::mapred::hadoop::{AttemptLimit, Hadoop, TrackerFailureLimit};
use mumakil_base::units::Fraction;

/// The settings that a job sets itself. For all others it has the cluster's.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct JobSettings {
    /// The share of its maps that must have ended before its reduces start.
    pub slow_start: Option<Fraction>,
    /// How many attempts of a task may fail before the task is given up.
    pub attempts: PerSlot<Option<AttemptLimit>>,
    /// The share of its tasks that may fail without failing the job.
    pub failures: PerSlot<Option<Fraction>>,
    /// How many of its attempts may fail on a tracker before it avoids the tracker.
    pub tracker_failures: Option<TrackerFailureLimit>,
    /// Whether its slow tasks get second attempts.
    pub speculation: PerSlot<Option<bool>>,
}

/// The settings that hold for a job: its own, and the cluster's where it sets none.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EffectiveSettings {
    /// The share of its maps that must have ended before its reduces start.
    pub slow_start: Fraction,
    /// How many attempts of a task may fail before the task is given up. A setup or cleanup task
    /// has the number of the slot in which it runs.
    pub attempts: PerSlot<u32>,
    /// The share of its tasks that may fail without failing the job.
    pub failures: PerSlot<Fraction>,
    /// How many of its attempts may fail on a tracker before it avoids the tracker.
    pub tracker_failures: u32,
    /// Whether its slow tasks get second attempts; never without a rule that finds them.
    pub speculation: PerSlot<bool>,
}

impl JobSettings {
    /// Returns the settings that hold for the job on a cluster.
    pub fn on(&self, hadoop: &Hadoop) -> EffectiveSettings {
        let usual = PerSlot { map: hadoop.map_failures, reduce: hadoop.reduce_failures };
        let rule = hadoop.speculation.rule();
        EffectiveSettings {
            slow_start: self.slow_start.unwrap_or(hadoop.slow_start),
            attempts: PerSlot::of(|kind| self.attempts[kind].unwrap_or(hadoop.max_attempts).get()),
            failures: PerSlot::of(|kind| self.failures[kind].unwrap_or(usual[kind])),
            tracker_failures: self.tracker_failures.unwrap_or(hadoop.tracker_failures).get(),
            // The cluster has the rule by which slow tasks are found; without one, none is slow.
            speculation: PerSlot::of(|kind| {
                rule.is_some_and(|rule| self.speculation[kind].unwrap_or(rule.covers(kind)))
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mapred::hadoop::HadoopLine;
    use crate::mapred::speculation::{LateOptions, Rule, Speculation};
    use mumakil_base::units::Count;

    fn hadoop() -> Hadoop {
        Hadoop::of(HadoopLine::V020)
    }

    fn both<T>(map: T, reduce: T) -> PerSlot<T> {
        PerSlot { map, reduce }
    }

    #[test]
    fn settings_a_job_lacks_are_the_clusters() {
        let (own, usual) = (JobSettings::default(), JobSettings::default().on(&hadoop()));
        assert_eq!(usual.attempts, PerSlot { map: 4, reduce: 4 });
        assert_eq!(usual.slow_start, hadoop().slow_start);
        let settings = JobSettings {
            slow_start: Some(Fraction::of(0.5)),
            attempts: PerSlot { map: None, reduce: Some(Count::of(2)) },
            tracker_failures: Some(Count::of(7)),
            ..own
        };
        let settings = settings.on(&hadoop());
        assert_eq!(settings.slow_start, Fraction::of(0.5));
        assert_eq!(settings.attempts, PerSlot { map: 4, reduce: 2 });
        assert_eq!((settings.tracker_failures, settings.failures), (7, usual.failures));
    }

    #[test]
    fn a_job_takes_part_in_speculation_only_by_a_rule_of_the_cluster() {
        let wishes = JobSettings { speculation: both(Some(true), None), ..JobSettings::default() };
        assert_eq!(wishes.on(&hadoop()).speculation, both(false, false));
        let late = LateOptions { maps: false, ..LateOptions::default() };
        let hadoop = Hadoop { speculation: Speculation::By(Rule::Late(late)), ..hadoop() };
        assert_eq!(JobSettings::default().on(&hadoop).speculation, both(false, true));
        assert_eq!(wishes.on(&hadoop).speculation, both(true, true));
        let none = JobSettings { speculation: both(None, Some(false)), ..wishes };
        assert_eq!(none.on(&hadoop).speculation, both(false, false));
    }
}
