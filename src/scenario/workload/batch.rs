//! Traces of other clusters' batch jobs: lines of numbers and words, read as far as jobs and tasks
//! go.
//!
//! ```text
//! swf       the Parallel Workloads Archive: a job in each line
//! alibaba   batch_task.csv: a task of a job in each line, with its number of instances
//! google    task_events of 2011: an event of a task in each line
//!            line ─► TaskedJob, by its id ─► fields of a job in a list ─► the checks of all lists
//! ```
//! Each is a list of jobs once it is read: a smaller trace is written as Mumakil's own table.

mod alibaba;
mod google;
mod swf;

use std::path::Path;
use std::sync::Arc;

use indexmap::IndexMap;
use serde_yaml::{Mapping, Value};

use super::format::{Format, FormatContents, ReadJobs, SeeJob, Trace};
use super::list::{ListReader, write_table};
use mumakil_base::units::tell::counted;
use mumakil_base::units::{Bytes, SimSpan};
use mumakil_core::trace::{
    FirstFew, Framing, Record, RecordFault, Records, Strictness, TextPlace, TraceError,
};

/// The formats of such traces.
pub(in crate::workload) static FORMATS: [BatchFormat; 6] = [
    swf::JOBS,
    google::TASKS,
    google::JOBS,
    google::COLLECTIONS,
    alibaba::TASKS,
    alibaba::INSTANCES,
];

/// A format of such traces, or of files beside them that do not hold the tasks.
pub(in crate::workload) struct BatchFormat {
    name: &'static str,
    known_by: &'static str,
    /// The attributes of a JSON object in this format.
    attributes: &'static [&'static str],
    has_line: fn(&str) -> bool,
    read: ReadJobs,
}

impl Format for BatchFormat {
    fn name(&self) -> &'static str {
        self.name
    }

    fn known_by(&self) -> &'static str {
        self.known_by
    }

    fn has_attribute(&self, name: &str) -> bool {
        self.attributes.contains(&name)
    }

    fn has_line(&self, line: &[u8]) -> bool {
        (self.has_line)(&String::from_utf8_lossy(line))
    }

    fn contents(&self) -> FormatContents {
        FormatContents::List { read: self.read, write: |jobs, to| write_table(jobs, to) }
    }
}

/// A line of such a trace, whatever its columns are.
struct BatchLine(String);

impl Record for BatchLine {
    const NAME: &'static str = "line of a trace of batch jobs";
    const FRAMING: Framing = Framing::Line;

    fn parse(line: &[u8], _: &mut FirstFew<String>) -> Result<Self, RecordFault> {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let line = str::from_utf8(line)
            .map_err(|_| RecordFault::new("the line is not a text in UTF-8"))?;
        Ok(Self(line.to_owned()))
    }
}

/// A job of such a trace, as far as its lines have been read.
#[derive(Debug)]
struct TaskedJob {
    /// The place of its first line.
    place: TextPlace,
    /// When it was submitted, in microseconds.
    submit: u64,
    // A million jobs have few users and pools.
    user: Option<Arc<str>>,
    pool: Option<Arc<str>>,
    memory: Option<Bytes>,
    /// How long each map and each reduce took, in microseconds.
    maps: Vec<u64>,
    reduces: Vec<u64>,
}

/// The jobs of a trace, by their ids, in the order of their first lines.
type TaskedJobs = IndexMap<String, TaskedJob>;

/// The most tasks of a trace that are kept.
// Chosen: a scenario has no more tasks either.
const MOST_TASKS: usize = 100_000_000;

impl TaskedJob {
    fn new(place: TextPlace, submit: u64) -> Self {
        Self {
            place,
            submit,
            user: None,
            pool: None,
            memory: None,
            maps: Vec::new(),
            reduces: Vec::new(),
        }
    }

    /// Returns the fields of the job in a list.
    fn fields(self, name: &str, first: u64) -> Mapping {
        let Self { submit, user, pool, memory, maps, reduces, .. } = self;
        let span = |micros: u64| Value::from(SimSpan::from_micros(micros).to_string());
        let mut fields = Mapping::new();
        let mut put = |field: &str, value: Value| fields.insert(field.into(), value);
        put("name", name.into());
        put("submit", span(submit.saturating_sub(first)));
        for (field, text) in [("user", user), ("pool", pool)] {
            text.map(|text| put(field, (&*text).into()));
        }
        if let Some(memory) = memory {
            put("map_memory", memory.to_string().into());
        }
        put("maps", (maps.len() as u64).into());
        put("reduces", (reduces.len() as u64).into());
        // The times hold all that a task did, reading and fetching too.
        put("input", "0B".into());
        let all = |times: &[u64]| match times {
            [first, rest @ ..] if rest.iter().all(|time| time == first) => span(*first),
            _ => times.iter().map(|time| span(*time)).collect(),
        };
        put("map_time", all(&maps));
        if !reduces.is_empty() {
            put("reduce_time", all(&reduces));
            put("shuffle_time", "0s".into());
            put("sort_time", "0s".into());
        }
        fields
    }
}

/// Reads a trace of batch jobs. `read_line` reads a line into the jobs; its error says what is wrong
/// with the line.
fn read(
    format: &'static dyn Format,
    path: &Path,
    block: Bytes,
    strictness: Strictness,
    see: &mut SeeJob<'_>,
    mut read_line: impl FnMut(&str, TextPlace, &mut TaskedJobs) -> Result<(), String>,
) -> Result<Trace, TraceError> {
    let mut lines = Records::<BatchLine>::open(path, strictness)?;
    let mut jobs = TaskedJobs::new();
    let mut broken = FirstFew::default();
    while let Some(BatchLine(line)) = lines.next().transpose()? {
        if let Err(what) = read_line(line.trim(), lines.place(), &mut jobs) {
            let error = lines.unusable(None, what);
            if strictness == Strictness::Strict {
                return Err(error);
            }
            broken.add(error);
        }
    }
    for job in jobs.values_mut() {
        // A job of reduces alone is one of maps alone, for Hadoop.
        if job.maps.is_empty() {
            job.maps.append(&mut job.reduces);
        }
    }
    let empty = jobs.values().filter(|job| job.maps.is_empty()).count() as u64;
    jobs.retain(|_, job| !job.maps.is_empty());
    // Most traces are sorted, and sorting takes memory.
    if !jobs.values().is_sorted_by_key(|job| job.submit) {
        jobs.sort_by(|_, one, _, other| one.submit.cmp(&other.submit));
    }
    let first = jobs.values().next().map_or(0, |job| job.submit);
    let mut reader = ListReader::new(format, path, block, strictness, see);
    reader.pass_on();
    // The taker of the jobs needs memory as well, so free that of jobs that were passed on.
    jobs.reverse();
    while let Some((name, job)) = jobs.pop() {
        reader.add(job.place, Some(&name), Ok(job.fields(&name, first)))?;
        if jobs.len().is_multiple_of(1 << 16) {
            jobs.shrink_to_fit();
        }
    }
    let mut trace = reader.end(lines)?;
    trace.skipped.append(broken);
    if 0 < empty {
        trace.notes.push(format!("left out {}: no task ran to its end", counted(empty, "job")));
    }
    Ok(trace)
}

/// Returns the error for a file that belongs to a trace, but does not hold its tasks.
fn elsewhere(path: &Path, what: &str, hint: &'static str) -> TraceError {
    TraceError::Unusable { what: format!("{}: {what}", path.display()), hint: hint.into() }
}

/// Adds tasks of one length to a job, unless they are too many.
fn add(tasks: &mut Vec<u64>, count: u64, micros: u64) -> Result<(), String> {
    let all = usize::try_from(count).ok().and_then(|count| tasks.len().checked_add(count));
    match all.filter(|all| *all <= MOST_TASKS.min(1_000_000)) {
        Some(all) => {
            if tasks.is_empty() {
                // Most jobs have a few tasks, all in one line.
                tasks.reserve_exact(all);
            }
            tasks.resize(all, micros);
            Ok(())
        }
        None => Err(format!("{count} tasks are more than a job can have")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::format::Formats;
    use crate::workload::jobs::JobEntry;

    const ARCHIVE: &str = include_str!("../../../tests/fuzz/seeds/batch/archive.swf");
    const TASKS_2018: &str = include_str!("../../../tests/fuzz/seeds/batch/tasks-2018.csv");
    const TASKS_2017: &str = include_str!("../../../tests/fuzz/seeds/batch/tasks-2017.csv");
    const EVENTS: &str = include_str!("../../../tests/fuzz/seeds/batch/events-of-tasks.csv");

    fn read(text: &str) -> Result<(&'static str, Vec<JobEntry>, Vec<String>), String> {
        let folder = tempfile::TempDir::new().unwrap();
        let path = folder.path().join("t");
        std::fs::write(&path, text).unwrap();
        let block = Bytes::from_mib(64);
        let read = Trace::read(&path, block, Strictness::Strict, &Formats::builtin());
        let folder = format!("{}/", folder.path().display());
        let trace = read.map_err(|error| error.to_string().replace(&folder, ""))?;
        Ok((trace.format.name(), trace.entries(block), trace.notes))
    }

    /// Returns each job in a line: name, submission, maps with their times, reduces.
    fn told(text: &str) -> Vec<String> {
        let job = |job: &JobEntry| {
            let times = |times: &Option<mumakil_core::mapred::TaskTimes>| {
                times
                    .as_ref()
                    .map(|times| serde_yaml::to_string(times).unwrap())
                    .unwrap_or_default()
            };
            let [maps, reduces] = [times(&job.map_time), times(&job.reduce_time)];
            let of = |count: u32, times: &str| {
                format!("{count} x {}", times.trim().replace("- ", "").replace('\n', " "))
            };
            let counts = [job.maps.unwrap().get(), job.reduces.get()];
            let mut told = format!("{} {} {}", job.name, job.submit, of(counts[0], &maps));
            if 0 < counts[1] {
                told += &format!(", {}", of(counts[1], &reduces));
            }
            told
        };
        read(text).unwrap().1.iter().map(job).collect()
    }

    #[test]
    fn a_processor_of_the_archive_is_a_map() {
        assert_eq!(told(ARCHIVE), ["job1 0s 4 x 1min", "job2 30s 8 x 5min", "job4 90s 1 x 20s"]);
        let (format, jobs, notes) = read(ARCHIVE).unwrap();
        assert_eq!(format, "the Standard Workload Format");
        assert_eq!((jobs[1].user.as_str(), jobs[1].pool.as_deref()), ("user4", Some("queue2")));
        assert_eq!(
            (jobs[0].map_memory, jobs[1].map_memory),
            (Bytes::from_mib(2), Bytes::from_mib(4))
        );
        assert_eq!(notes, ["left out 1 job: no task ran to its end"]);
    }

    #[test]
    fn tasks_of_alibaba_become_maps_and_reduces() {
        let jobs = ["j_2 0s 1 x 220s", "j_1 20s 3 x 1min, 2 x 29s", "j_4 320s 1 x 10s"];
        assert_eq!(told(TASKS_2018), jobs);
        assert_eq!(told(TASKS_2017), ["7 0s 5 x 1min 1min 1min 30s 30s"]);
    }

    #[test]
    fn tasks_of_google_run_from_their_schedule_to_their_end() {
        assert_eq!(told(EVENTS), ["job6221861800 0s 2 x 30s 40s"], "the second was evicted once");
        let (_, jobs, notes) = read(EVENTS).unwrap();
        assert_eq!((jobs[0].user.as_str(), notes.len()), ("ann=", 1));
    }

    #[test]
    fn other_files_of_such_traces_are_told_what_to_do() {
        for (text, what) in [
            ("0,,3418309,0,ann=,3,hash=,hash=\n", "name a file of task_events"),
            ("{\"time\": 1, \"collection_id\": 2}\n", "make a table of its jobs"),
            (
                "i_1,M1,j_1,1,Terminated,10,20,m_1,1,1,50,60,0.1,0.2\n",
                "name the batch_task.csv beside it",
            ),
        ] {
            let told = read(text).unwrap_err();
            assert!(told.contains(what), "{told}");
        }
    }

    #[test]
    fn a_broken_line_is_told_with_its_number() {
        let job = "1 0 10 60 4 55 2048 4 120 -1 1 3 1 -1 1 1 -1 -1";
        for (line, what) in [
            ("1 2 3", "t:2: 3 columns, expected 18"),
            (job, "t:2: another job 1 before"),
            (
                "2 0 10 6O 4 55 2048 4 120 -1 1 3 1 -1 1 1 -1 -1",
                "t:2: column 4, `6O`, is not a number",
            ),
            ("2 -1 10 60 4 55 2048 4 120 -1 1 3 1 -1 1 1 -1 -1", "t:2: column 2, the submission"),
        ] {
            let told = read(&format!("{job}\n{line}\n")).unwrap_err();
            assert!(told.starts_with(what), "{told}");
        }
    }

    #[test]
    fn a_task_that_ends_before_it_starts_is_a_broken_record() {
        let alibaba =
            "M1,1.0,j_1,1,Terminated,10,20,100.0,0.3\nM2,1.0,j_1,1,Terminated,10,9,100.0,0.3\n";
        let google = "10,,1,0,,1,ann=,2,0,0.1,0.1,0.1,\n9,,1,0,,4,ann=,2,0,0.1,0.1,0.1,\n";
        for (text, what) in [
            (alibaba, "t:2: it ends at 9 s, before its start at 10 s"),
            (google, "t:2: it ends before 10 µs, its start"),
        ] {
            let told = read(text).unwrap_err();
            assert!(told.starts_with(what), "{told}");
        }
    }
}
