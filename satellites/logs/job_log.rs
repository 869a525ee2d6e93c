//! A logged job that is put together from the events of a log, in any order.

use indexmap::IndexMap;
use roxmltree::{Document, Node};

use mumakil_core::trace::RecordFault;
use mumakil_traces::rumen::{
    LoggedAttempt, LoggedJob, LoggedLocation, LoggedPriority, LoggedTask, RumenJobType, TaskType,
    pool, property, success,
};

/// A job of which some events have been read.
#[derive(Default)]
pub(super) struct JobLog {
    pub(super) job: LoggedJob,
    /// Its tasks, in the order in which the log names them first.
    tasks: IndexMap<String, LoggedTask>,
}

impl JobLog {
    /// Returns a task by its id; a new one if it was not named before.
    pub(super) fn task(&mut self, id: &str, kind: Option<TaskType>) -> &mut LoggedTask {
        // The usual event is of the task of the last one.
        let place = match self.tasks.last() {
            Some((last, _)) if last == id => self.tasks.len() - 1,
            _ => self.tasks.get_index_of(id).unwrap_or_else(|| {
                let task = LoggedTask { task_id: id.to_owned(), ..LoggedTask::default() };
                self.tasks.insert_full(id.to_owned(), task).0
            }),
        };
        let task = &mut self.tasks[place];
        task.task_type = kind.or(task.task_type);
        task
    }

    /// Returns an attempt by the ids of its task and its own.
    pub(super) fn attempt(
        &mut self,
        task: &str,
        kind: Option<TaskType>,
        id: &str,
    ) -> &mut LoggedAttempt {
        let attempts = &mut self.task(task, kind).attempts;
        let known = attempts.iter().rposition(|attempt| attempt.attempt_id == id);
        let place = known.unwrap_or_else(|| {
            attempts.push(LoggedAttempt { attempt_id: id.to_owned(), ..LoggedAttempt::default() });
            attempts.len() - 1
        });
        &mut attempts[place]
    }

    /// Notes the job's priority from now on. The log has no time for it: it holds from the latest
    /// time that the log has told before.
    pub(super) fn prioritise(&mut self, priority: LoggedPriority) {
        let last = self.job.priority_changes.last().map(|(_, last)| *last).or(self.job.priority);
        match last {
            None => self.job.priority = Some(priority),
            Some(last) if last != priority => {
                let now = self.latest();
                self.job.priority_changes.push((now, priority));
            }
            Some(_) => {}
        }
    }

    /// Returns the latest time that was told, in milliseconds.
    fn latest(&self) -> u64 {
        let own = [self.job.submit_time, self.job.launch_time, self.job.finish_time];
        self.tasks.values().map(LoggedTask::latest).chain(own).max().flatten().unwrap_or(0)
    }

    /// Reads the job's configuration, as XML.
    pub(super) fn configure(&mut self, xml: &[u8]) -> Result<(), String> {
        let text = String::from_utf8_lossy(xml);
        let document =
            Document::parse(&text).map_err(|error| format!("its configuration: {error}"))?;
        let of = |property: Node<'_, '_>, name| {
            let child = property.children().find(|child| child.has_tag_name(name))?;
            Some(child.text()?.trim().to_owned())
        };
        let properties = document.root_element().children();
        for property in properties.filter(|child| child.has_tag_name("property")) {
            if let Some((name, value)) = of(property, "name").zip(of(property, "value")) {
                self.job.job_properties.insert(name, value);
            }
        }
        Ok(())
    }

    /// Returns the job, which was read from this text.
    pub(super) fn into_job(self, text: &[u8]) -> Result<LoggedJob, RecordFault> {
        let Self { mut job, tasks } = self;
        if job.job_id.is_empty() {
            return Err(RecordFault::new("the log names no job"));
        }
        let settings = &job.job_properties;
        let mib = |limit, options| {
            settings_mib(property(settings, limit))
                .or_else(|| property(settings, options).and_then(heap))
        };
        // Rumen heeds the options of the process alone; a limit says it better.
        job.job_map_mb = mib(
            ["mapreduce.map.memory.mb", "mapred.job.map.memory.mb"],
            ["mapred.child.java.opts", "mapreduce.map.java.opts"],
        );
        job.job_reduce_mb = mib(
            ["mapreduce.reduce.memory.mb", "mapred.job.reduce.memory.mb"],
            ["mapred.child.java.opts", "mapreduce.reduce.java.opts"],
        );
        job.heap_megabytes = settings.get("mapred.child.java.opts").and_then(|text| heap(text));
        if let Some(pool) = pool(&job).map(str::to_owned) {
            job.queue = Some(pool);
        }
        for mut task in tasks.into_values() {
            sum_up(&mut task);
            let of_kind = match task.task_type {
                Some(TaskType::Map) => &mut job.map_tasks,
                Some(TaskType::Reduce) => &mut job.reduce_tasks,
                _ => &mut job.other_tasks,
            };
            of_kind.push(task);
        }
        // Rumen takes each job that it reads from a log for one in Java.
        job.job_type = Some(RumenJobType::Java);
        job.compute_distributions();
        job.checked(text)
    }
}

fn settings_mib(setting: Option<&str>) -> Option<u32> {
    // Hadoop writes -1 for a limit that is not set.
    setting?.parse().ok().filter(|mib| 0 < *mib)
}

/// Returns the heap that the options of a Java process grant, in MiB, as Rumen reads it.
fn heap(options: &str) -> Option<u32> {
    let size = options.split_whitespace().rev().find_map(|option| option.strip_prefix("-Xmx"))?;
    let digits = size.trim_end_matches(|letter: char| letter.is_ascii_alphabetic());
    let number: u64 = digits.parse().ok()?;
    let mib = match size[digits.len()..].to_ascii_lowercase().as_str() {
        "g" => number.checked_mul(1024)?,
        "m" => number,
        "k" => number >> 10,
        "" => number >> 20,
        _ => return None,
    };
    u32::try_from(mib).ok()
}

/// Returns the place `/rack/host` as its layers.
pub(super) fn location(place: &str) -> LoggedLocation {
    let layers = place.split('/').filter(|layer| !layer.is_empty());
    LoggedLocation { layers: layers.map(str::to_owned).collect() }
}

/// Notes the host on which an attempt ran: its name, or `/rack/host`.
pub(super) fn note_host(attempt: &mut LoggedAttempt, host: String) {
    attempt.location = Some(location(&host)).filter(|at| 1 < at.layers.len());
    attempt.host_name = Some(host);
}

/// Notes a counter of an attempt by its name.
pub(super) fn count_in(attempt: &mut LoggedAttempt, name: &[u8], value: u64) {
    let usage = &mut attempt.resource_usage_metrics;
    let field = match name {
        b"HDFS_BYTES_READ" => &mut attempt.hdfs_bytes_read,
        b"HDFS_BYTES_WRITTEN" => &mut attempt.hdfs_bytes_written,
        b"FILE_BYTES_READ" => &mut attempt.file_bytes_read,
        b"FILE_BYTES_WRITTEN" => &mut attempt.file_bytes_written,
        b"MAP_INPUT_RECORDS" => &mut attempt.map_input_records,
        b"MAP_INPUT_BYTES" => &mut attempt.map_input_bytes,
        b"MAP_OUTPUT_BYTES" => &mut attempt.map_output_bytes,
        b"MAP_OUTPUT_RECORDS" => &mut attempt.map_output_records,
        b"COMBINE_INPUT_RECORDS" => &mut attempt.combine_input_records,
        b"REDUCE_INPUT_GROUPS" => &mut attempt.reduce_input_groups,
        b"REDUCE_INPUT_RECORDS" => &mut attempt.reduce_input_records,
        b"REDUCE_SHUFFLE_BYTES" => &mut attempt.reduce_shuffle_bytes,
        b"REDUCE_OUTPUT_RECORDS" => &mut attempt.reduce_output_records,
        b"SPILLED_RECORDS" => &mut attempt.spilled_records,
        b"CPU_MILLISECONDS" => &mut usage.get_or_insert_default().cumulative_cpu_usage,
        b"VIRTUAL_MEMORY_BYTES" => &mut usage.get_or_insert_default().virtual_memory_usage,
        b"PHYSICAL_MEMORY_BYTES" => &mut usage.get_or_insert_default().physical_memory_usage,
        b"COMMITTED_HEAP_BYTES" => &mut usage.get_or_insert_default().heap_usage,
        _ => return,
    };
    *field = Some(value);
}

/// Takes the task's own bytes and records from the attempt that succeeded.
fn sum_up(task: &mut LoggedTask) {
    let Some(done) = success(task).filter(|_| !task.is_service()) else { return };
    let is_map = task.task_type == Some(TaskType::Map);
    let [input, inputs, output, outputs] = match is_map {
        true => [
            done.hdfs_bytes_read,
            done.map_input_records,
            done.file_bytes_written,
            done.map_output_records,
        ],
        false => [
            done.reduce_shuffle_bytes,
            done.reduce_input_records,
            done.hdfs_bytes_written,
            done.reduce_output_records,
        ],
    };
    (task.input_bytes, task.input_records) = (input, inputs);
    (task.output_bytes, task.output_records) = (output, outputs);
}
