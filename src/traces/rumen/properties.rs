//! The properties of a logged job's configuration that a run has as settings of the job: slow
//! start, attempts, failures and second attempts.
//!
//! Newer traces log the whole configuration of a job, with the defaults of its cluster. Values that
//! Hadoop would not accept are ignored.

use std::collections::BTreeMap;

use super::record::LoggedJob;
use mumakil_base::units::{Count, Fraction};
use mumakil_scenario::workload::JobEntry;

/// The names of a property in versions before 0.21 and since; the first that a configuration has
/// holds.
pub type PropertyNames = [&'static str; 2];

/// The class of the JobTracker's policy.
pub const POLICY: PropertyNames =
    ["mapred.jobtracker.taskScheduler", "mapreduce.jobtracker.taskscheduler"];
/// Whether trackers send extra heartbeats as attempts end.
pub const OUT_OF_BAND: PropertyNames = ["mapreduce.tasktracker.outofband.heartbeat"; 2];
const SLOW_START: PropertyNames =
    ["mapreduce.job.reduce.slowstart.completedmaps", "mapred.reduce.slowstart.completed.maps"];
const MAP_ATTEMPTS: PropertyNames = ["mapreduce.map.maxattempts", "mapred.map.max.attempts"];
const REDUCE_ATTEMPTS: PropertyNames =
    ["mapreduce.reduce.maxattempts", "mapred.reduce.max.attempts"];
const MAP_FAILURES: PropertyNames =
    ["mapreduce.map.failures.maxpercent", "mapred.max.map.failures.percent"];
const REDUCE_FAILURES: PropertyNames =
    ["mapreduce.reduce.failures.maxpercent", "mapred.max.reduce.failures.percent"];
const TRACKER_FAILURES: PropertyNames =
    ["mapreduce.job.maxtaskfailures.per.tracker", "mapred.max.tracker.failures"];
/// Whether maps get second attempts.
pub const MAP_SPECULATION: PropertyNames =
    ["mapreduce.map.speculative", "mapred.map.tasks.speculative.execution"];
/// Whether reduces get second attempts.
pub const REDUCE_SPECULATION: PropertyNames =
    ["mapreduce.reduce.speculative", "mapred.reduce.tasks.speculative.execution"];

/// Returns the value of a property, by the first of its names that is there.
pub fn property(properties: &BTreeMap<String, String>, names: PropertyNames) -> Option<&str> {
    names.iter().find_map(|name| properties.get(*name)).map(String::as_str)
}

/// Returns whether a configuration names the policy that orders when the splits of jobs are read.
pub fn reads_on_order(properties: &BTreeMap<String, String>) -> bool {
    property(properties, POLICY).is_some_and(|class| class.ends_with("CapacityTaskScheduler"))
}

/// Returns the fair scheduler's pool of a job, if its configuration names one: a log has only the
/// job's queue.
pub fn pool(job: &LoggedJob) -> Option<&str> {
    let setting = |name: &str| {
        job.job_properties.get(name).map(String::as_str).filter(|value| !value.is_empty())
    };
    setting("mapred.fairscheduler.pool").or_else(|| {
        setting(POLICY[0]).filter(|name| name.ends_with("FairScheduler"))?;
        match setting("mapred.fairscheduler.poolnameproperty") {
            // The fair scheduler's default is a pool for each user.
            None | Some("user.name") => job.user.as_deref(),
            Some(property) => setting(property),
        }
    })
}

/// Returns a job with the settings that its properties contain.
pub(super) fn with_settings(entry: JobEntry, properties: &BTreeMap<String, String>) -> JobEntry {
    let text = |names| property(properties, names);
    let percent = |names| Fraction::new(text(names)?.parse::<f64>().ok()? / 100.0);
    let whole = |names| text(names)?.parse().ok();
    let flag = |names| text(names)?.parse().ok();
    JobEntry {
        slow_start: text(SLOW_START).and_then(|text| Fraction::new(text.parse().ok()?)),
        map_attempts: whole(MAP_ATTEMPTS).and_then(Count::new),
        reduce_attempts: whole(REDUCE_ATTEMPTS).and_then(Count::new),
        map_failures: percent(MAP_FAILURES),
        reduce_failures: percent(REDUCE_FAILURES),
        tracker_failures: whole(TRACKER_FAILURES).and_then(Count::new),
        map_speculation: flag(MAP_SPECULATION),
        reduce_speculation: flag(REDUCE_SPECULATION),
        ..entry
    }
}

/// Returns the properties that contain the settings of a job.
pub(super) fn of(entry: &JobEntry) -> BTreeMap<String, String> {
    let percent = |share: Option<Fraction>| Some((share?.get() * 100.0).to_string());
    let settings = [
        (SLOW_START, entry.slow_start.map(|share| share.get().to_string())),
        (MAP_ATTEMPTS, entry.map_attempts.map(|most| most.get().to_string())),
        (REDUCE_ATTEMPTS, entry.reduce_attempts.map(|most| most.get().to_string())),
        (MAP_FAILURES, percent(entry.map_failures)),
        (REDUCE_FAILURES, percent(entry.reduce_failures)),
        (TRACKER_FAILURES, entry.tracker_failures.map(|most| most.get().to_string())),
        (MAP_SPECULATION, entry.map_speculation.map(|is_on| is_on.to_string())),
        (REDUCE_SPECULATION, entry.reduce_speculation.map(|is_on| is_on.to_string())),
    ];
    settings.into_iter().filter_map(|([name, _], text)| Some((name.to_owned(), text?))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(properties: &[(&str, &str)]) -> JobEntry {
        let owned = properties.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned()));
        with_settings(JobEntry::named("a"), &owned.collect())
    }

    #[test]
    fn settings_are_read_by_either_name_and_written_back() {
        let job = read(&[
            ("mapred.reduce.slowstart.completed.maps", "0.8"),
            ("mapreduce.map.maxattempts", "2"),
            ("mapred.max.map.failures.percent", "5"),
            ("mapred.map.tasks.speculative.execution", "false"),
        ]);
        assert_eq!(job.slow_start, Some(Fraction::of(0.8)));
        assert_eq!((job.map_attempts, job.reduce_attempts), (Some(Count::of(2)), None));
        assert_eq!(job.map_failures, Some(Fraction::of(0.05)));
        assert_eq!((job.map_speculation, job.reduce_speculation), (Some(false), None));
        assert_eq!(with_settings(JobEntry::named("a"), &of(&job)), job);
    }

    #[test]
    fn values_that_hadoop_would_not_accept_are_ignored() {
        let job = read(&[
            ("mapreduce.map.maxattempts", "0"),
            ("mapreduce.reduce.maxattempts", "${n}"),
            ("mapred.reduce.slowstart.completed.maps", "7"),
            ("mapreduce.map.speculative", "yes"),
        ]);
        assert_eq!(job, JobEntry::named("a"));
    }
}
