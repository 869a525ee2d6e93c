//! Traces of other clusters' batch jobs: lists of columns, without headings, for one reader.
//!
//! ```text
//! the Parallel Workloads Archive    a job in each line: its processors are maps
//! Alibaba's batch_task.csv          a task of a job in each line, with its number of instances
//! Google's task_events of 2011      an event of a task in each line
//!            line ─► TaskedJob, by its id ─► fields of a job in a list ─► the checks of all lists
//! ```
//! To read another trace of this kind, add its columns to [`FORMATS`]. Each is a list of jobs once it
//! is read: it is written as Mumakil's own table.

use std::sync::Arc;

use indexmap::IndexMap;
use rustc_hash::{FxHashMap, FxHashSet};
use serde_yaml::{Mapping, Value};

use crate::list::{ListReader, write_table};
use mumakil_base::units::tell::counted;
use mumakil_base::units::{Bytes, SimSpan};
use mumakil_core::trace::{
    FirstFew, Framing, Record, RecordFault, Records, Strictness, TextPlace, TraceError, clip,
};
use mumakil_scenario::workload::format::{Format, FormatContents, SeeJob, Trace, TraceToRead};

/// The columns of such a trace, counted from 0.
pub(crate) struct BatchFormat {
    pub(crate) format: Format,
    /// The separator of columns; `None` for blanks.
    separator: Option<char>,
    width: usize,
    /// The columns that are numbers in every line. A number below zero is unknown, as is an empty
    /// cell in another column.
    numbers: &'static [usize],
    /// The column that has one of these words in every line, if there is one.
    word: Option<(usize, &'static [&'static str])>,
    /// The id of the job, and what stands before it in the job's name.
    job: (usize, &'static str),
    user: Option<(usize, &'static str)>,
    pool: Option<(usize, &'static str)>,
    /// The memory of a task in kibibytes: the first of these columns that is above zero.
    memory: &'static [usize],
    /// The number of tasks: the first of these columns that is above zero.
    tasks: &'static [usize],
    time: TaskTime,
    /// A microsecond in the units of all times.
    micros: f64,
    fact: Option<&'static str>,
}

/// The columns that tell how long tasks took.
enum TaskTime {
    /// A line is a whole job: when it was submitted, and how long its tasks took.
    Took { submit: usize, time: usize },
    /// A line is a task, whose name says whether it is a reduce. It ran if its word is `Terminated`.
    Between { start: usize, end: usize, name: Option<usize> },
    /// A line is an event of a task, by its word.
    Event { at: usize, task: usize },
}

const NUMBERS: [usize; 18] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17];
const STATUS: &[&str] = &["Ready", "Waiting", "Running", "Terminated", "Failed", "Cancelled"];
const EVENTS: &[&str] = &["0", "1", "2", "3", "4", "5", "6", "7", "8"];
const OF_ALIBABA: &str = "a job is submitted when its first task starts, and has no order of tasks but maps \
    before reduces";

/// The tasks of batch jobs of 2018: task, instances, job, type, status, start, end, plan.
const ALIBABA: BatchFormat = BatchFormat {
    format: format_of::<3>("Alibaba's batch tasks", "Alibaba's `batch_task.csv`"),
    separator: Some(','),
    width: 9,
    numbers: &[],
    word: Some((4, STATUS)),
    job: (2, ""),
    user: None,
    pool: None,
    memory: &[],
    tasks: &[1],
    time: TaskTime::Between { start: 5, end: 6, name: Some(0) },
    micros: 1e6,
    fact: Some(OF_ALIBABA),
};

/// The formats of such traces.
pub(crate) static FORMATS: [BatchFormat; 4] = [
    BatchFormat {
        format: format_of::<0>(
            "the Standard Workload Format",
            "the Standard Workload Format (18 numbers)",
        ),
        separator: None,
        width: NUMBERS.len(),
        numbers: &NUMBERS,
        word: None,
        job: (0, "job"),
        user: Some((11, "user")),
        pool: Some((14, "queue")),
        memory: &[6, 9],
        tasks: &[4, 7],
        time: TaskTime::Took { submit: 1, time: 3 },
        micros: 1e6,
        fact: Some("a processor of a job is a map here: the maps of a job need not run at once"),
    },
    // Time, missing, job, task, machine, event, user, class, priority, processors, memory, disk, …
    BatchFormat {
        format: format_of::<1>("Google's events of tasks", "Google's `task_events` of 2011"),
        separator: Some(','),
        width: 13,
        numbers: &[0, 2],
        word: Some((5, EVENTS)),
        job: (2, "job"),
        user: Some((6, "")),
        pool: None,
        memory: &[],
        tasks: &[],
        time: TaskTime::Event { at: 0, task: 3 },
        micros: 1.0,
        fact: None,
    },
    // Create, modify, job, task, instances, status, plan.
    BatchFormat {
        format: format_of::<2>("Alibaba's batch tasks of 2017", ""),
        width: 8,
        word: Some((5, STATUS)),
        tasks: &[4],
        time: TaskTime::Between { start: 0, end: 1, name: None },
        ..ALIBABA
    },
    ALIBABA,
];

/// Returns the format whose columns have this place in [`FORMATS`].
const fn format_of<const PLACE: usize>(name: &'static str, known_by: &'static str) -> Format {
    Format {
        known_by,
        has_line: |line| FORMATS[PLACE].has_line(line),
        ..Format::new(
            name,
            FormatContents::List {
                read: |file, see| read(&FORMATS[PLACE], file, see),
                write: |jobs, to| write_table(jobs, to),
            },
        )
    }
}

impl BatchFormat {
    fn has_line(&self, line: &[u8]) -> bool {
        let line = String::from_utf8_lossy(line);
        // The archive's traces begin with comments.
        self.separator.is_none() && line.starts_with(';') || self.check(&self.cells(&line)).is_ok()
    }

    fn cells<'l>(&self, line: &'l str) -> Vec<&'l str> {
        match self.separator {
            Some(separator) => line.split(separator).map(str::trim).collect(),
            None => line.split_ascii_whitespace().collect(),
        }
    }

    /// Returns what is wrong with the cells of a line.
    fn check(&self, cells: &[&str]) -> Result<(), String> {
        let width = self.width;
        if cells.len() != width {
            return Err(format!("{} columns, expected {width}", cells.len()));
        }
        if let Some((column, words)) = self.word
            && !words.contains(&cells[column])
        {
            let column = column + 1;
            return Err(format!("column {column} is none of {}", words.join(", ")));
        }
        if cells[self.job.0].is_empty() {
            return Err("no job".to_owned());
        }
        self.numbers.iter().try_for_each(|column| match cells[*column] {
            "" => Err(format!("column {} is empty", column + 1)),
            _ => number(cells, *column).map(drop),
        })
    }
}

/// Returns the number in a column; `None` if it is unknown.
fn number(cells: &[&str], column: usize) -> Result<Option<f64>, String> {
    let cell = cells[column];
    if cell.is_empty() {
        return Ok(None);
    }
    // Chosen: a float is exact up to this.
    const MOST: f64 = 1e15;
    let number =
        cell.parse::<f64>().ok().filter(|number| number.abs() <= MOST).ok_or_else(|| {
            format!("column {}, `{}`, is not a number up to 10^15", column + 1, clip(cell))
        })?;
    Ok(Some(number).filter(|number| 0.0 <= *number))
}

/// Returns the first number above zero in these columns.
fn above_zero(cells: &[&str], columns: &[usize]) -> Result<Option<f64>, String> {
    for column in columns {
        if let Some(found) = number(cells, *column)?.filter(|number| 0.0 < *number) {
            return Ok(Some(found));
        }
    }
    Ok(None)
}

/// A line of such a trace, whatever its columns are.
struct BatchLine(String);

impl Record for BatchLine {
    const NAME: &'static str = "line of a trace of batch jobs";
    const FRAMING: Framing = Framing::Line;

    fn parse(line: &[u8], _: &mut FirstFew<String>) -> Result<Self, RecordFault> {
        let line = str::from_utf8(line.strip_suffix(b"\r").unwrap_or(line))
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

/// When each task that still runs was scheduled, by its job and its number.
type RunningTasks = FxHashMap<(String, String), u64>;

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

    /// Follows a task from its schedule to its end, by Google's number of an event.
    fn follow(
        &mut self,
        running: &mut RunningTasks,
        task: (String, String),
        event: &str,
        at: u64,
    ) -> Result<(), String> {
        match event {
            "0" => self.submit = self.submit.min(at),
            "1" => _ = running.insert(task, at),
            "4" => {
                if let Some(since) = running.remove(&task) {
                    let took = at.checked_sub(since);
                    let since = SimSpan::from_micros(since);
                    let took = took.ok_or_else(|| format!("it ends before {since}, its start"))?;
                    add(&mut self.maps, 1, took)?;
                }
            }
            // The task is evicted, fails, is killed or lost: it may be scheduled again.
            "2" | "3" | "5" | "6" => _ = running.remove(&task),
            _ => {}
        }
        Ok(())
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

/// The jobs of a trace that is being read.
struct BatchReader {
    columns: &'static BatchFormat,
    jobs: TaskedJobs,
    running: RunningTasks,
    /// The names of users and pools.
    names: FxHashSet<Arc<str>>,
}

/// The time of events after the end of the trace.
const AFTER_THE_END: &str = "9223372036854775807";

impl BatchReader {
    fn read_line(&mut self, line: &str, place: TextPlace) -> Result<(), String> {
        let columns = self.columns;
        if line.is_empty() || line.starts_with(';') {
            return Ok(());
        }
        let cells = columns.cells(line);
        if let TaskTime::Event { at, .. } = columns.time
            && cells.get(at) == Some(&AFTER_THE_END)
        {
            return Ok(());
        }
        columns.check(&cells)?;
        let micros = |column: usize| {
            let time = number(&cells, column)?;
            Ok::<_, String>(time.map(|time| (time * columns.micros).round() as u64))
        };
        let id = cells[columns.job.0];
        let name = format!("{}{id}", columns.job.1);
        let begun = match columns.time {
            TaskTime::Took { submit, .. } => micros(submit)?
                .ok_or_else(|| format!("column {}, the submission, is unknown", submit + 1))?,
            TaskTime::Between { start, end, .. } => {
                // Empty cells are unknown, as for a task that never started.
                let known = [start, end].into_iter().chain(columns.tasks.iter().copied());
                if known.into_iter().any(|column| cells[column].is_empty()) {
                    return Ok(());
                }
                micros(start)?.ok_or("the start is below zero")?
            }
            TaskTime::Event { at, .. } => micros(at)?.ok_or("the time is below zero")?,
        };
        let [user, pool] = [columns.user, columns.pool].map(|text| self.text(&cells, text));
        if matches!(columns.time, TaskTime::Took { .. }) && self.jobs.contains_key(&name) {
            return Err(format!("another job {id} before"));
        }
        let memory = above_zero(&cells, columns.memory)?;
        let count = above_zero(&cells, columns.tasks)?;
        let job = self.jobs.entry(name).or_insert_with(|| TaskedJob::new(place, begun));
        job.user = job.user.take().or(user);
        job.pool = job.pool.take().or(pool);
        job.memory = memory.map(|kib| Bytes::new((kib * 1_024.0).min(1e15) as u64));
        let word = columns.word.map_or("", |(column, _)| cells[column]);
        match columns.time {
            TaskTime::Took { time, .. } => match (count, micros(time)?) {
                (Some(count), Some(took)) => add(&mut job.maps, count as u64, took),
                _ => Ok(()),
            },
            TaskTime::Between { end, name, .. } => {
                job.submit = job.submit.min(begun);
                let is_reduce = name.is_some_and(|name| cells[name].starts_with(['R', 'J']));
                let tasks = if is_reduce { &mut job.reduces } else { &mut job.maps };
                let took = between(begun, micros(end)?.unwrap_or(0))?;
                match took.filter(|_| word == "Terminated") {
                    Some(took) => add(tasks, count.unwrap_or(0.0) as u64, took),
                    None => Ok(()),
                }
            }
            TaskTime::Event { task, .. } => {
                let task = (id.to_owned(), cells[task].to_owned());
                job.follow(&mut self.running, task, word, begun)
            }
        }
    }

    /// Returns the text in a column with its prefix; a million jobs have few of them.
    fn text(&mut self, cells: &[&str], of: Option<(usize, &str)>) -> Option<Arc<str>> {
        let (column, prefix) = of?;
        let cell = cells[column];
        if cell.is_empty() || cell.starts_with('-') {
            return None;
        }
        let text = format!("{prefix}{cell}");
        if let Some(known) = self.names.get(text.as_str()) {
            return Some(known.clone());
        }
        let new: Arc<str> = text.into();
        self.names.insert(new.clone());
        Some(new)
    }
}

/// Returns how long a task took; `None` for one that has not ended, whose end is 0.
fn between(start: u64, end: u64) -> Result<Option<u64>, String> {
    if 0 < end && end < start {
        let [start, end] = [start, end].map(SimSpan::from_micros);
        return Err(format!("it ends at {end}, before its start at {start}"));
    }
    Ok(end.checked_sub(start))
}

fn read(
    columns: &'static BatchFormat,
    file: TraceToRead<'_>,
    see: &mut SeeJob<'_>,
) -> Result<Trace, TraceError> {
    let mut lines = Records::<BatchLine>::open(file.path, file.strictness)?;
    let mut reader = BatchReader {
        columns,
        jobs: TaskedJobs::new(),
        running: FxHashMap::default(),
        names: FxHashSet::default(),
    };
    let mut broken = FirstFew::default();
    while let Some(BatchLine(line)) = lines.next().transpose()? {
        if let Err(what) = reader.read_line(line.trim(), lines.place()) {
            let error = lines.unusable(None, what);
            if file.strictness == Strictness::Strict {
                return Err(error);
            }
            broken.add(error);
        }
    }
    let mut jobs = reader.jobs;
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
    let mut reader = ListReader::new(file, see);
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
    trace.facts.extend(columns.fact.map(str::to_owned));
    trace.skipped.append(broken);
    if 0 < empty {
        trace.notes.push(format!("left out {}: no task ran to its end", counted(empty, "job")));
    }
    Ok(trace)
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
    use mumakil_scenario::workload::JobEntry;

    const ARCHIVE: &str = include_str!("../../tests/fuzz/seeds/batch/archive.swf");
    const TASKS_2018: &str = include_str!("../../tests/fuzz/seeds/batch/tasks-2018.csv");
    const TASKS_2017: &str = include_str!("../../tests/fuzz/seeds/batch/tasks-2017.csv");
    const EVENTS: &str = include_str!("../../tests/fuzz/seeds/batch/events-of-tasks.csv");

    fn read(text: &str) -> Result<(&'static str, Vec<JobEntry>, Vec<String>), String> {
        let folder = tempfile::TempDir::new().unwrap();
        let path = folder.path().join("t");
        std::fs::write(&path, text).unwrap();
        let block = Bytes::from_mib(64);
        let read = Trace::read(&path, block, Strictness::Strict, &crate::formats());
        let folder = format!("{}/", folder.path().display());
        let trace = read.map_err(|error| error.to_string().replace(&folder, ""))?;
        Ok((trace.format.name, trace.entries(block), trace.notes))
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
            (alibaba, "t:2: it ends at 9s, before its start at 10s"),
            (google, "t:2: it ends before 10us, its start"),
        ] {
            let told = read(text).unwrap_err();
            assert!(told.starts_with(what), "{told}");
        }
    }
}
