//! Tasks of a Rumen trace and their attempts.

use serde::de::DeserializeOwned;
use serde::de::value::{Error as ValueError, StrDeserializer};
use serde::{Deserialize, Serialize};

use mumakil_core::mapred;
use mumakil_core::trace::json::{count, nullable};

/// A task of a job.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct LoggedTask {
    /// The id, such as `task_200904211745_0002_m_000010`.
    #[serde(rename = "taskID")]
    pub task_id: String,
    /// The type of the task.
    pub task_type: Option<TaskType>,
    /// How the task ended.
    pub task_status: Option<LoggedOutcome>,
    /// When the task began.
    #[serde(with = "count")]
    pub start_time: Option<u64>,
    /// When the task ended.
    #[serde(with = "count")]
    pub finish_time: Option<u64>,
    /// The bytes that the task read.
    #[serde(with = "count")]
    pub input_bytes: Option<u64>,
    /// How many records the task read.
    #[serde(with = "count")]
    pub input_records: Option<u64>,
    /// The bytes that the task wrote.
    #[serde(with = "count")]
    pub output_bytes: Option<u64>,
    /// How many records the task wrote.
    #[serde(with = "count")]
    pub output_records: Option<u64>,
    /// The number of maps of its job, in older traces.
    #[serde(with = "count", skip_serializing_if = "Option::is_none")]
    pub number_maps: Option<u32>,
    /// The number of reduces of its job, in older traces.
    #[serde(with = "count", skip_serializing_if = "Option::is_none")]
    pub number_reduces: Option<u32>,
    /// The attempts of the task.
    #[serde(deserialize_with = "nullable")]
    pub attempts: Vec<LoggedAttempt>,
    /// The racks or hosts with the input of a map.
    #[serde(deserialize_with = "nullable")]
    pub preferred_locations: Vec<LoggedLocation>,
}

impl LoggedTask {
    /// Returns the latest time that is known of it.
    pub fn latest(&self) -> Option<u64> {
        let of_attempts = self.attempts.iter().filter_map(|attempt| {
            let LoggedAttempt { start_time, shuffle_finished, sort_finished, .. } = attempt;
            [*start_time, *shuffle_finished, *sort_finished, attempt.finish_time].into_iter().max()
        });
        of_attempts.chain([self.start_time, self.finish_time]).max().flatten()
    }

    /// Returns whether it sets a job up or cleans up after it.
    pub fn is_service(&self) -> bool {
        matches!(self.task_type, Some(TaskType::Setup | TaskType::Cleanup))
    }
}

/// The type of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[expect(missing_docs, reason = "the names say all")]
pub enum TaskType {
    Map,
    Reduce,
    Setup,
    Cleanup,
}

/// An attempt at a task. Its counters are Hadoop's, under Hadoop's names.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[expect(missing_docs, reason = "the counters' names say all")]
pub struct LoggedAttempt {
    /// The id, such as `attempt_200904211745_0002_m_000010_0`.
    #[serde(rename = "attemptID")]
    pub attempt_id: String,
    /// How the attempt ended.
    pub result: Option<LoggedOutcome>,
    /// When the attempt began.
    #[serde(with = "count")]
    pub start_time: Option<u64>,
    /// When the attempt ended.
    #[serde(with = "count")]
    pub finish_time: Option<u64>,
    /// When a reduce attempt had all its input.
    #[serde(with = "count")]
    pub shuffle_finished: Option<u64>,
    /// When a reduce attempt had sorted its input.
    #[serde(with = "count")]
    pub sort_finished: Option<u64>,
    /// Whether it ended because its tracker was lost; only a history tells.
    #[serde(skip)]
    pub is_lost: bool,
    /// The host on which it ran: `/rack/host`, in some traces with escaped dots.
    pub host_name: Option<String>,
    /// The host on which it ran, as layers.
    pub location: Option<LoggedLocation>,
    #[serde(with = "count")]
    pub hdfs_bytes_read: Option<u64>,
    #[serde(with = "count")]
    pub hdfs_bytes_written: Option<u64>,
    #[serde(with = "count")]
    pub file_bytes_read: Option<u64>,
    #[serde(with = "count")]
    pub file_bytes_written: Option<u64>,
    #[serde(with = "count")]
    pub map_input_records: Option<u64>,
    #[serde(with = "count")]
    pub map_input_bytes: Option<u64>,
    #[serde(with = "count")]
    pub map_output_bytes: Option<u64>,
    #[serde(with = "count")]
    pub map_output_records: Option<u64>,
    #[serde(with = "count")]
    pub combine_input_records: Option<u64>,
    #[serde(with = "count")]
    pub reduce_input_groups: Option<u64>,
    #[serde(with = "count")]
    pub reduce_input_records: Option<u64>,
    #[serde(with = "count")]
    pub reduce_shuffle_bytes: Option<u64>,
    #[serde(with = "count")]
    pub reduce_output_records: Option<u64>,
    #[serde(with = "count")]
    pub spilled_records: Option<u64>,
    /// The milliseconds that each twelfth of the attempt's progress took. This field and the next
    /// ones are only in newer traces.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "Vec::is_empty")]
    pub clock_splits: Vec<i64>,
    /// The milliseconds of processor time for each twelfth.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "Vec::is_empty")]
    pub cpu_usages: Vec<i64>,
    /// The virtual memory in each twelfth, in kilobytes.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "Vec::is_empty")]
    pub vmem_kbytes: Vec<i64>,
    /// The physical memory in each twelfth, in kilobytes.
    #[serde(deserialize_with = "nullable", skip_serializing_if = "Vec::is_empty")]
    pub phys_mem_kbytes: Vec<i64>,
    /// The total resources that the attempt used.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resource_usage_metrics: Option<ResourceUsage>,
}

/// The resources that an attempt used: milliseconds of processor time, bytes of memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[expect(missing_docs, reason = "the names say all")]
pub struct ResourceUsage {
    #[serde(with = "count")]
    pub cumulative_cpu_usage: Option<u64>,
    #[serde(with = "count")]
    pub virtual_memory_usage: Option<u64>,
    #[serde(with = "count")]
    pub physical_memory_usage: Option<u64>,
    #[serde(with = "count")]
    pub heap_usage: Option<u64>,
}

/// A rack or a host in the topology.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct LoggedLocation {
    /// The rack and the host, the broader first.
    #[serde(deserialize_with = "nullable")]
    pub layers: Vec<String>,
}

/// How a job, a task or an attempt ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[expect(missing_docs, reason = "the names say all")]
pub enum LoggedOutcome {
    Success,
    Failed,
    Killed,
}

/// Returns a value by its name in logs and traces; `None` if no value has the name.
pub fn named<T: DeserializeOwned>(name: &str) -> Option<T> {
    // Newer logs name the setup and the cleanup of a job `JOB_SETUP` and `JOB_CLEANUP`.
    let name = name.strip_prefix("JOB_").unwrap_or(name);
    T::deserialize(StrDeserializer::<ValueError>::new(name)).ok()
}

impl From<LoggedOutcome> for mapred::Outcome {
    fn from(outcome: LoggedOutcome) -> Self {
        match outcome {
            LoggedOutcome::Success => Self::Succeeded,
            LoggedOutcome::Failed => Self::Failed,
            LoggedOutcome::Killed => Self::Killed,
        }
    }
}
