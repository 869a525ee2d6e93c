//! The records of Rumen's traces: all data that the history of a Hadoop cluster has about its jobs.
//!
//! A trace is a sequence of JSON objects, one for each job, and a topology file is one object. The
//! structs here have Rumen's attributes under Rumen's names, of its older and its newer releases.
//! Times are milliseconds since the epoch, sizes bytes. An unknown value is `None`: in the file it
//! is −1, null, or no attribute at all.
//!
//! An attempt that ends a little before it begins can be read, since the clocks of machines differ
//! and the published traces have such attempts. It is noted as suspicious, like a task of more than
//! a year. A time that differing clocks do not explain makes the job broken, such as one long before
//! the job's submission.

use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer, Serialize};

use super::attempt::{LoggedAttempt, LoggedOutcome, LoggedTask};
use mumakil_base::units::SimSpan;
use mumakil_core::mapred::Priority;
use mumakil_core::trace::json::{self, count, nullable};
use mumakil_core::trace::{FirstFew, Framing, Record, RecordFault, clip};

/// Reads how a job ended. Rumen calls a job `RUNNING` whose end it could not read.
fn ended<'de, D: Deserializer<'de>>(from: D) -> Result<Option<LoggedOutcome>, D::Error> {
    #[derive(Deserialize)]
    #[serde(rename_all = "SCREAMING_SNAKE_CASE")]
    enum JobOutcome {
        Success,
        Failed,
        Killed,
        Running,
    }
    Ok(Option::<JobOutcome>::deserialize(from)?.and_then(|outcome| match outcome {
        JobOutcome::Success => Some(LoggedOutcome::Success),
        JobOutcome::Failed => Some(LoggedOutcome::Failed),
        JobOutcome::Killed => Some(LoggedOutcome::Killed),
        JobOutcome::Running => None,
    }))
}

/// The latest time in a trace, and the longest duration, in milliseconds: a hundred years.
const LATEST_MS: u64 = SimSpan::LONGEST.as_millis();

/// A job.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct LoggedJob {
    /// The id, such as `job_200904211745_0002`.
    #[serde(rename = "jobID")]
    pub job_id: String,
    /// The user who submitted the job.
    pub user: Option<String>,
    /// The name of the job.
    pub job_name: Option<String>,
    /// The queue to which the job was submitted.
    pub queue: Option<String>,
    /// The priority of the job: in Rumen's traces its last one, in a log its first.
    pub priority: Option<LoggedPriority>,
    /// Its later priorities, in a log alone: each holds from about this millisecond on.
    #[serde(skip)]
    pub priority_changes: Vec<(u64, LoggedPriority)>,
    /// The language of the job's code.
    #[serde(rename = "jobtype")]
    pub job_type: Option<RumenJobType>,
    /// How the job ended.
    #[serde(deserialize_with = "ended")]
    pub outcome: Option<LoggedOutcome>,
    /// When the job was submitted.
    #[serde(with = "count")]
    pub submit_time: Option<u64>,
    /// When the setup of the job began.
    #[serde(with = "count")]
    pub launch_time: Option<u64>,
    /// When the job ended.
    #[serde(with = "count")]
    pub finish_time: Option<u64>,
    /// The milliseconds to subtract from `submit_time`.
    #[serde(deserialize_with = "nullable")]
    pub relative_time: i64,
    /// How many maps the job has; in some traces more than are logged.
    #[serde(with = "count")]
    pub total_maps: Option<u32>,
    /// How many reduces the job has.
    #[serde(with = "count")]
    pub total_reduces: Option<u32>,
    /// The maps of the job, in the order of the file, which may differ from the order of ids.
    #[serde(deserialize_with = "nullable")]
    pub map_tasks: Vec<LoggedTask>,
    /// The reduces of the job.
    #[serde(deserialize_with = "nullable")]
    pub reduce_tasks: Vec<LoggedTask>,
    /// The setup and cleanup tasks of the job.
    #[serde(deserialize_with = "nullable")]
    pub other_tasks: Vec<LoggedTask>,
    /// The durations of successful map attempts, one distribution for each distance to the input:
    /// on its node, in its rack, in another rack, and unknown.
    #[serde(rename = "successfulMapAttemptCDFs", deserialize_with = "nullable")]
    pub successful_map_attempt_cdfs: Vec<LoggedCdf>,
    /// The durations of failed map attempts, by the same distances.
    #[serde(rename = "failedMapAttemptCDFs", deserialize_with = "nullable")]
    pub failed_map_attempt_cdfs: Vec<LoggedCdf>,
    /// The durations of successful reduce attempts.
    #[serde(rename = "successfulReduceAttemptCDF")]
    pub successful_reduce_attempt_cdf: Option<LoggedCdf>,
    /// The durations of failed reduce attempts.
    #[serde(rename = "failedReduceAttemptCDF")]
    pub failed_reduce_attempt_cdf: Option<LoggedCdf>,
    /// The shares of maps that succeeded at their first attempt, their second, and so on.
    pub mapper_tries_to_succeed: Option<Vec<f64>>,
    /// The share of maps that never succeeded.
    #[serde(deserialize_with = "nullable")]
    pub failed_mapper_fraction: f64,
    /// The heap of the job's tasks, in megabytes.
    #[serde(with = "count")]
    pub heap_megabytes: Option<u32>,
    /// The memory that a map of this job asks for, in megabytes.
    #[serde(rename = "jobMapMB", with = "count")]
    pub job_map_mb: Option<u32>,
    /// The memory that a reduce of this job asks for, in megabytes.
    #[serde(rename = "jobReduceMB", with = "count")]
    pub job_reduce_mb: Option<u32>,
    /// The memory of a map slot, in megabytes.
    #[serde(rename = "clusterMapMB", with = "count")]
    pub cluster_map_mb: Option<u32>,
    /// The memory of a reduce slot, in megabytes.
    #[serde(rename = "clusterReduceMB", with = "count")]
    pub cluster_reduce_mb: Option<u32>,
    /// The work for each byte that a map reads. No trace has it.
    #[serde(with = "count")]
    pub computons_per_map_input_byte: Option<u64>,
    /// The work for each byte that a map writes.
    #[serde(with = "count")]
    pub computons_per_map_output_byte: Option<u64>,
    /// The work for each byte that a reduce reads.
    #[serde(with = "count")]
    pub computons_per_reduce_input_byte: Option<u64>,
    /// The work for each byte that a reduce writes.
    #[serde(with = "count")]
    pub computons_per_reduce_output_byte: Option<u64>,
    /// The ids of jobs that wait for this one.
    #[serde(deserialize_with = "nullable")]
    pub direct_dependant_jobs: Vec<String>,
    /// The configuration of the job, in newer traces.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "BTreeMap::is_empty")]
    pub job_properties: BTreeMap<String, String>,
}

/// The priority of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[expect(missing_docs, reason = "the names say all")]
pub enum LoggedPriority {
    VeryLow,
    Low,
    Normal,
    High,
    VeryHigh,
}

impl From<LoggedPriority> for Priority {
    fn from(logged: LoggedPriority) -> Self {
        match logged {
            LoggedPriority::VeryLow => Self::VeryLow,
            LoggedPriority::Low => Self::Low,
            LoggedPriority::Normal => Self::Normal,
            LoggedPriority::High => Self::High,
            LoggedPriority::VeryHigh => Self::VeryHigh,
        }
    }
}

/// The language of a job's code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[expect(missing_docs, reason = "the names are Rumen's")]
pub enum RumenJobType {
    Java,
    Pig,
    Streaming,
    Pipes,
    Overall,
}

/// A distribution of durations, in milliseconds.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct LoggedCdf {
    /// The number of durations. If it is zero, Rumen writes the extremes of a 64-bit number as
    /// minimum and maximum.
    pub number_values: u64,
    /// The shortest duration; below zero if an attempt ended before it began.
    pub minimum: i64,
    /// The longest duration.
    pub maximum: i64,
    /// The quantiles in between, by rising rank.
    #[serde(deserialize_with = "nullable")]
    pub rankings: Vec<LoggedRanking>,
}

/// A quantile of a distribution.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LoggedRanking {
    /// The rank, from 0 to 1.
    pub relative_ranking: f64,
    /// The duration, in milliseconds.
    pub datum: i64,
}

impl LoggedJob {
    /// Returns all known times of the job.
    fn times(&mut self) -> impl Iterator<Item = &mut u64> {
        let own = [&mut self.submit_time, &mut self.launch_time, &mut self.finish_time];
        let tasks = self.map_tasks.iter_mut().chain(&mut self.reduce_tasks);
        let of_tasks = tasks.chain(&mut self.other_tasks).flat_map(|task| {
            let own = [&mut task.start_time, &mut task.finish_time];
            let of_attempts = task.attempts.iter_mut().flat_map(|attempt| {
                let LoggedAttempt { start_time, finish_time, shuffle_finished, .. } = attempt;
                [start_time, finish_time, shuffle_finished, &mut attempt.sort_finished]
            });
            own.into_iter().chain(of_attempts)
        });
        own.into_iter().chain(of_tasks).flatten()
    }

    /// Returns the distributions of durations, without empty ones.
    fn cdfs(&self) -> impl Iterator<Item = &LoggedCdf> {
        let maps = self.successful_map_attempt_cdfs.iter().chain(&self.failed_map_attempt_cdfs);
        let reduces = self.successful_reduce_attempt_cdf.iter();
        let all = maps.chain(reduces).chain(&self.failed_reduce_attempt_cdf);
        // An empty distribution has the extremes of 64 bits as its bounds, which are no durations.
        all.filter(|cdf| 0 < cdf.number_values)
    }

    /// Returns a complaint about an impossible time or duration, if there is one.
    fn find_impossible_time(&mut self) -> Option<String> {
        let submitted = self.submitted();
        if let Some(time) = self.times().map(|time| *time).chain(submitted).max()
            && LATEST_MS < time
        {
            return Some(format!("a time of {time} ms, more than a hundred years after 1970"));
        }
        let mut times = self.cdfs().flat_map(|cdf: &LoggedCdf| -> Vec<i64> {
            let inner = cdf.rankings.iter().map(|ranking| ranking.datum);
            inner.chain([cdf.minimum, cdf.maximum]).collect()
        });
        let time = times.find(|time| LATEST_MS < time.unsigned_abs())?;
        Some(format!("a duration of {time} ms, more than a hundred years"))
    }

    /// Returns a complaint about a time that its job cannot have had, with the id of the job, task or
    /// attempt that has it; `None` if all times may be true.
    fn contradictory_time(&self) -> Option<(&str, String)> {
        let known = |time: Option<u64>| time.filter(|time| 0 < *time);
        let (submitted, ended) = (known(self.submit_time), known(self.finish_time));
        let of_tasks = self.tasks().flat_map(|task| {
            let own = (&task.task_id, [task.start_time, None, None, task.finish_time]);
            let tries = task.attempts.iter().map(|one| {
                let phases = [one.shuffle_finished, one.sort_finished];
                (&one.attempt_id, [one.start_time, phases[0], phases[1], one.finish_time])
            });
            tries.chain([own])
        });
        let own = (&self.job_id, [self.launch_time, None, None, self.finish_time]);
        of_tasks.chain([own]).find_map(|(id, times)| {
            let [start, .., finish] = times.map(known);
            let what = times.into_iter().filter_map(known).find_map(|time| match (submitted, ended) {
                (Some(at), _) if time + CLOCKS_MS < at => {
                    Some(format!("at {time} ms, but its job was submitted at {at} ms"))
                }
                (Some(at), _) if at + A_YEAR_MS < time => Some(format!(
                    "at {time} ms, but its job was submitted at {at} ms, more than a year before"
                )),
                (_, Some(end)) if end + CLOCKS_MS < time => {
                    Some(format!("at {time} ms, but its job ended at {end} ms"))
                }
                _ => None,
            });
            Some((id.as_str(), what.or_else(|| {
                let (start, finish) = start.zip(finish)?;
                let is_so = finish + CLOCKS_MS < start;
                is_so.then(|| format!("from {start} ms back to {finish} ms"))
            })?))
        })
    }

    /// Returns the job, which was read from this text, if it can be true.
    ///
    /// # Errors
    /// If it has no id, or a time that cannot be.
    pub fn checked(mut self, text: &[u8]) -> Result<Self, RecordFault> {
        if self.job_id.is_empty() {
            return Err(RecordFault::new("the object has no jobID"));
        }
        if let Some(what) = self.find_impossible_time() {
            return Err(RecordFault::new(what).of(self.job()));
        }
        if let Some((id, what)) = self.contradictory_time() {
            // The first line that names the id; an id may have escapes, and then it is not found.
            let at = memchr::memmem::find(text, id.as_bytes()).unwrap_or(0);
            let fault = RecordFault::new(format!("{} ran {what}", clip(id))).at(at);
            return Err(fault.hint(LENIENT).of(self.job()));
        }
        for task in self.tasks() {
            if task.task_id.is_empty() {
                return Err(RecordFault::new("a task has no taskID").of(self.job()));
            }
            if task.attempts.iter().any(|attempt| attempt.attempt_id.is_empty()) {
                let what = format!("an attempt of {} has no attemptID", clip(&task.task_id));
                return Err(RecordFault::new(what).of(self.job()));
            }
        }
        Ok(self)
    }

    /// Returns all tasks, setup and cleanup included.
    pub fn tasks(&self) -> impl Iterator<Item = &LoggedTask> {
        self.map_tasks.iter().chain(&self.reduce_tasks).chain(&self.other_tasks)
    }
}

impl Record for LoggedJob {
    const NAME: &'static str = "job of a Rumen trace";
    const FRAMING: Framing = Framing::Object(Some("jobID"));
    const TIME_UNIT: &'static str = "ms";

    fn parse(object: &[u8], unknown: &mut FirstFew<String>) -> Result<Self, RecordFault> {
        json::parse::<Self>(object, unknown)?.checked(object)
    }

    fn job(&self) -> Option<&str> {
        Some(&self.job_id)
    }

    fn submitted(&self) -> Option<u64> {
        let submitted = self.submit_time?;
        Some(submitted.saturating_add_signed(self.relative_time.saturating_neg()))
    }

    fn implied(&self) -> u64 {
        // Tasks that are not logged are made up, so a short file could stand for any number of
        // tasks.
        let implied = |total: Option<u32>, logged: &[LoggedTask]| {
            u64::from(total.unwrap_or(0)).saturating_sub(logged.len() as u64)
        };
        implied(self.total_maps, &self.map_tasks) + implied(self.total_reduces, &self.reduce_tasks)
    }

    fn suspicious(&self) -> Option<String> {
        let spans = self.tasks().flat_map(|task| {
            let own = (&task.task_id, task.start_time, task.finish_time);
            let tries = task.attempts.iter().map(|a| (&a.attempt_id, a.start_time, a.finish_time));
            tries.chain([own])
        });
        let own = (&self.job_id, self.launch_time, self.finish_time);
        let (mut backwards, mut endless) = (Vec::new(), Vec::new());
        for (id, start, finish) in spans.chain([own]) {
            let Some((start, finish)) = start.zip(finish) else { continue };
            if finish < start {
                backwards.push(id);
            } else if 0 < start && A_YEAR_MS < finish - start {
                // A start of 0 means that the start is unknown; counted from 0 every task would
                // take decades.
                endless.push(id);
            }
        }
        match (backwards.as_slice(), endless.as_slice()) {
            ([], []) => None,
            ([], [first]) => Some(format!("{} takes more than a year", clip(first))),
            ([], [first, others @ ..]) => {
                let (first, others) = (clip(first), others.len());
                Some(format!("{first} and {others} more take more than a year"))
            }
            ([first], _) => Some(format!("{} ends before it begins", clip(first))),
            ([first, others @ ..], _) => {
                let (first, others) = (clip(first), others.len());
                Some(format!("{first} and {others} more end before they begin"))
            }
        }
    }
}

/// The longest time of a task that is not suspicious, in milliseconds. Chosen: more than any job
/// takes, but less than the time that a wrong epoch or unit gives.
const A_YEAR_MS: u64 = 365 * 86_400 * 1_000;

/// By how much the clocks of a cluster's machines may differ, in milliseconds. Chosen: the clocks in
/// published traces differ by seven minutes, and mistakes of a time zone begin at an hour.
const CLOCKS_MS: u64 = 3_600 * 1_000;

const LENIENT: &str = "mend the time, or leave broken jobs out with `--lenient` or `lenient: true`";

#[cfg(test)]
mod tests {
    use super::super::attempt::TaskType;
    use super::*;
    use mumakil_core::trace::{Records, Strictness};
    use mumakil_scenario::workload::format::TraceJob as _;

    fn pass(text: &str, strictness: Strictness) -> Records<LoggedJob> {
        Records::from_reader("t", std::io::Cursor::new(text.to_owned()), strictness).unwrap()
    }

    fn read(text: &str) -> Result<Vec<LoggedJob>, String> {
        let jobs = pass(text, Strictness::Strict);
        jobs.collect::<Result<_, _>>().map_err(|error| error.to_string())
    }

    fn written(job: &LoggedJob) -> String {
        let mut text = Vec::new();
        job.write_to(&mut text).unwrap();
        String::from_utf8(text).unwrap()
    }

    const OLDER: &str = include_str!("../../../tests/fuzz/seeds/rumen/older.json");
    const NEWER: &str = include_str!("../../../tests/fuzz/seeds/rumen/newer.json");

    #[test]
    fn a_job_that_runs_in_a_trace_has_no_outcome() {
        let running = OLDER.replace(r#""outcome":"SUCCESS""#, r#""outcome":"RUNNING""#);
        assert_eq!(read(&running).unwrap()[0].outcome, None);
        let unknown = read(&running.replace("RUNNING", "RUNS")).unwrap_err();
        assert!(unknown.contains("`FAILED`, `KILLED`, `RUNNING`"), "{unknown}");
    }

    #[test]
    fn an_older_trace_is_read_whole() {
        let mut jobs = pass(OLDER, Strictness::Strict);
        let job = jobs.next().unwrap().unwrap();
        assert_eq!(job.job_id, "job_200904211745_0002");
        assert_eq!(job.outcome, Some(LoggedOutcome::Success));
        assert_eq!((job.job_name, job.queue), (None, None));
        assert_eq!((job.total_maps, job.heap_megabytes), (Some(1), None));
        assert_eq!(job.computons_per_map_input_byte, None);
        let task = &job.map_tasks[0];
        assert_eq!(task.task_type, Some(TaskType::Map));
        assert_eq!(task.preferred_locations[0].layers, ["194\\.6", "node1"]);
        let attempt = &task.attempts[0];
        assert_eq!(attempt.host_name.as_deref(), Some("/194\\.6/node1"));
        assert_eq!((attempt.hdfs_bytes_read, attempt.hdfs_bytes_written), (Some(53_639), None));
        assert_eq!(job.successful_map_attempt_cdfs[0].rankings[0].datum, 3_912);
        assert_eq!(job.mapper_tries_to_succeed, Some(vec![1.0]));
        assert!(jobs.next().is_none());
        assert_eq!(jobs.notes().unknown.count, 0, "{:?}", jobs.notes());
    }

    #[test]
    fn a_newer_trace_is_read_whole() {
        let mut jobs = pass(NEWER, Strictness::Strict);
        let job = jobs.next().unwrap().unwrap();
        assert_eq!(job.job_properties["mapreduce.job.maps"], "1");
        assert_eq!((job.job_map_mb, job.cluster_reduce_mb), (Some(1_024), None));
        assert_eq!(job.reduce_tasks, []);
        let attempt = &job.map_tasks[0].attempts[0];
        assert_eq!(attempt.clock_splits, [226, 226]);
        assert_eq!(attempt.resource_usage_metrics.unwrap().heap_usage, Some(512));
        assert!(jobs.next().is_none());
        assert_eq!(jobs.notes().unknown.count, 0, "{:?}", jobs.notes());
    }

    #[test]
    fn written_yaml_reads_back_the_same() {
        for text in [OLDER, NEWER, r#"{"jobID":"j","failedMapperFraction":0.043478260869565216}"#] {
            for job in read(text).unwrap() {
                assert_eq!(read(&written(&job)).unwrap(), [job]);
            }
        }
    }

    #[test]
    fn unknown_numbers_are_written_as_rumen_writes_them() {
        let job = read(r#"{"jobID":"j","totalMaps":null}"#).unwrap().remove(0);
        let text = written(&job);
        assert!(text.contains(r#""submitTime":-1,"#), "{text}");
        assert!(text.contains(r#""totalMaps":-1,"#), "{text}");
        assert!(!text.contains("jobProperties"), "{text}");
        assert!(text.ends_with("}\n") && text.lines().count() == 1);
    }

    #[test]
    fn unknown_attributes_are_counted() {
        let text = r#"{"jobID": "j", "mood": "good", "mapTasks": [{"taskID": "t", "hue": {"a": [1]}}, {"taskID": "u", "hue": 1}]}"#;
        let mut jobs = pass(text, Strictness::Strict);
        assert!(jobs.by_ref().all(|job| job.is_ok()));
        assert_eq!(jobs.notes().unknown.count, 3);
        assert_eq!(jobs.notes().unknown.first, ["mood", "hue"]);
    }

    #[test]
    fn an_attempt_that_ends_before_it_begins_is_suspicious() {
        let text = r#"{"jobID": "j"}
            {"jobID": "k", "mapTasks": [{"taskID": "t", "attempts": [
                {"attemptID": "a", "startTime": 5, "finishTime": 4},
                {"attemptID": "b", "startTime": 5, "finishTime": 3},
                {"attemptID": "c", "startTime": 5, "finishTime": -1}]}]}"#;
        let mut jobs = pass(text, Strictness::Strict);
        assert_eq!(jobs.by_ref().filter(Result::is_ok).count(), 2);
        let [suspicion] = jobs.notes().suspicious.first.as_slice() else { panic!("one job") };
        assert_eq!(suspicion.job.as_deref(), Some("k"));
        assert_eq!(suspicion.place.line, 2);
        assert_eq!(suspicion.what, "a and 1 more end before they begin");
    }

    #[test]
    fn a_map_of_more_than_a_year_is_suspicious() {
        let text = r#"{"jobID": "j", "mapTasks": [{"taskID": "t", "startTime": 0,
            "finishTime": 1297228032218}, {"taskID": "u", "startTime": 5,
            "finishTime": 1297228032218}]}"#;
        let mut jobs = pass(text, Strictness::Strict);
        assert!(jobs.by_ref().all(|job| job.is_ok()));
        assert_eq!(jobs.notes().suspicious.first[0].what, "u takes more than a year");
    }

    /// Returns a job of one map, submitted at 10^12 ms, and ended 10 s later.
    fn logged(start: u64, finish: u64) -> String {
        format!(
            "{{\"jobID\": \"j_1\", \"submitTime\": 1000000000000, \"finishTime\": 1000000010000,\n\n\n\
                 \"mapTasks\": [{{\"taskID\": \"t_m_0\", \"attempts\": [{{\"attemptID\": \"a_0\", \
                 \"startTime\": {start}, \"finishTime\": {finish}}}]}}]}}\n"
        )
    }

    #[test]
    fn a_time_that_its_job_cannot_have_is_a_broken_record() {
        let (begin, hour, year) = (1_000_000_000_000, 3_600_000, 365 * 86_400_000);
        let of = |start, finish| read(&logged(start, finish)).map(drop);
        for (start, finish) in [
            (begin + 1_000, begin + 9_000),
            // Clocks of machines differ, and published traces have such times.
            (begin - hour, begin + 10_000 + hour),
            (begin + 9_000, begin + 1_000),
            (0, begin + 9_000),
        ] {
            assert_eq!(of(start, finish), Ok(()), "{start} to {finish}");
        }
        for (start, finish, what) in [
            (2_147_483_648, begin, "at 2147483648 ms, but its job was submitted at"),
            (begin - hour - 1, begin, "but its job was submitted at 1000000000000 ms"),
            (begin, begin + 10_001 + hour, "but its job ended at 1000000010000 ms"),
            (begin, begin + year + 1, "more than a year before"),
            (begin + hour + 9_000, begin + 8_000, "back to 1000000008000 ms"),
        ] {
            let error = of(start, finish).unwrap_err();
            assert!(
                error.starts_with("t:4: job") && error.contains("a_0 ran ") && error.contains(what),
                "{error}"
            );
            assert!(error.contains("lenient"), "{error}");
        }
        let text = logged(begin, begin + year).replace("j_1", "k_1");
        let (ids, errors) = lenient(&(text + &logged(begin, begin)));
        assert_eq!((ids, errors.len()), (vec!["j_1".to_owned()], 1));
    }

    #[test]
    fn a_time_without_end_is_refused() {
        let after = "more than a hundred years after 1970";
        for (attributes, what) in [
            (
                r#""finishTime": 9223372036854775807"#,
                format!("time of 9223372036854775807 ms, {after}"),
            ),
            (r#""submitTime": 1, "relativeTime": -9223372036854775808"#, {
                format!("time of 9223372036854775808 ms, {after}")
            }),
            (
                r#""mapTasks": [{"taskID": "t", "attempts": [
                    {"attemptID": "a", "sortFinished": 3153600000001}]}]"#,
                format!("time of 3153600000001 ms, {after}"),
            ),
            (
                r#""successfulReduceAttemptCDF": {"numberValues": 1,
                    "minimum": -9223372036854775808, "maximum": 1}"#,
                "duration of -9223372036854775808 ms, more than a hundred years".to_owned(),
            ),
        ] {
            let error = read(&format!(r#"{{"jobID": "j", {attributes}}}"#)).unwrap_err();
            assert_eq!(error, format!("t:1: job \"j\": a {what}"));
        }
        let empty = r#"{"jobID": "j", "failedReduceAttemptCDF": {"numberValues": 0,
            "minimum": 9223372036854775807, "maximum": -9223372036854775808}}"#;
        assert!(read(empty).is_ok(), "Rumen writes an empty distribution like this");
    }

    /// Returns the ids of the jobs of a lenient pass, and the errors of broken jobs.
    fn lenient(text: &str) -> (Vec<String>, Vec<String>) {
        let mut jobs = pass(text, Strictness::Lenient);
        let ids = jobs.by_ref().map(|job| job.unwrap().job_id).collect();
        (ids, jobs.notes().skipped.first.iter().map(ToString::to_string).collect())
    }

    #[test]
    fn a_missing_bracket_takes_no_other_job_with_it() {
        let text = "{\"jobID\": \"a\"}\n{\"jobID\": \"b\", \"mapTasks\": [{}]\n{\"jobID\": \"c\"}\n\
                    {\"jobID\": \"d\", \"jobProperties\": {\n{\"jobID\": \"e\"}\n{\"jobID\": \"f\"}";
        let (ids, errors) = lenient(text);
        assert_eq!(ids, ["a", "c", "e", "f"]);
        assert_eq!(
            errors,
            [
                "t:2: job \"b\": the file ends in the middle of this object",
                "t:5: job \"d\": jobProperties: EOF while parsing an object (byte 96)",
            ]
        );
    }

    #[test]
    fn a_stray_quote_takes_no_other_job_with_it() {
        let text =
            "{\"jobID\": \"a\"\",\n \"mapTasks\": [\n  {\"taskID\": \"t\"}]}\n{\"jobID\": \"b\"}\n";
        let (ids, errors) = lenient(text);
        assert_eq!(ids, ["b"]);
        assert_eq!(errors, ["t:1: job \"a\": expected `,` or `}` (byte 14)"]);
    }

    #[test]
    fn an_object_in_the_first_column_need_not_be_a_job() {
        let text =
            "{\"jobID\": \"a\", \"mapTasks\": [\n{\"taskID\": \"t\"}\n]}\n{\"jobID\": \"b\"}";
        assert_eq!(lenient(text).0, ["a", "b"]);
    }

    #[test]
    fn mistakes_of_an_object_are_named() {
        for (text, message) in [
            ("{}", "t:1: the object has no jobID"),
            (
                "{\"jobID\": \"j\",\n \"totalMaps\": -2}",
                "t:2: job \"j\": totalMaps: invalid value: integer `-2`, \
                 expected a whole number, or -1 where it is unknown (byte 31)",
            ),
            (
                "{\"totalMaps\": 1.5, \"jobID\": \"j\"}",
                "t:1: job \"j\": totalMaps: invalid type: floating point `1.5`, \
                 expected a whole number, or -1 where it is unknown (byte 17)",
            ),
            (
                r#"{"jobID": "j", "submitTime": 9223372036854775808}"#,
                "t:1: job \"j\": submitTime: invalid value: integer `9223372036854775808`, \
                 expected a whole number, or -1 where it is unknown (byte 48)",
            ),
            (
                r#"{"jobID": "j", "priority": "URGENT"}"#,
                "t:1: job \"j\": priority: unknown name `URGENT`, expected one of `VERY_LOW`, \
                 `LOW`, `NORMAL`, `HIGH`, `VERY_HIGH` (byte 35)",
            ),
            (
                r#"{"jobID": "j", "mapTasks": [{"taskID": "t", "attempts": [{"startTime": "x"}]}]}"#,
                "t:1: job \"j\": mapTasks[0].attempts[0].startTime: invalid type: text \"x\", \
                 expected a whole number, or -1 where it is unknown (byte 74)",
            ),
            (
                r#"{"jobID": "j", "jobID": "k"}"#,
                "t:1: job \"j\": duplicate field `jobID` (byte 22)",
            ),
            (r#"{"jobID": "j" "user": 1}"#, "t:1: job \"j\": expected `,` or `}` (byte 15)"),
            (r#"{"jobID": "j", "mapTasks": [{}]}"#, "t:1: job \"j\": a task has no taskID"),
            (
                r#"{"jobID": "j", "mapTasks": [{"taskID": "t", "attempts": [{}]}]}"#,
                "t:1: job \"j\": an attempt of t has no attemptID",
            ),
            (
                "{\"jobID\": \"j\"}\n{\"jobID\": \"j\"}",
                "t:2: job \"j\": another job before it has the same id",
            ),
        ] {
            assert_eq!(read(text).unwrap_err(), message);
        }
    }

    #[test]
    fn a_lenient_pass_goes_on_after_a_broken_object() {
        let text =
            "{\"jobID\": \"a\"}\n{\"jobID\": [1}}\n{\"jobID\": \"b\"} ?\n{\"jobID\": \"c\"}\n";
        let mut jobs = pass(text, Strictness::Lenient);
        let ids: Vec<String> = jobs.by_ref().map(|job| job.unwrap().job_id).collect();
        assert_eq!(ids, ["a", "b", "c"]);
        assert_eq!(jobs.notes().skipped.count, 2);
    }
}
