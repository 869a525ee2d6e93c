//! Reads and writes a list of jobs in a file of its own.
//!
//! A table has a job in each row and the fields of [`JobEntry`] as columns, in any order; an empty
//! cell leaves the field out. Cells are written as in a scenario: `3s`, `128MiB`, `[1s, 2s]`,
//! `{log_normal: {mean: 20s, cv: 0.2}}`. Names, users, pools, classes and files are taken
//! literally, without surrounding blanks; a cell that begins with a quote is a JSON string. A list
//! in YAML has the content of a scenario's `jobs:`.

use std::borrow::Cow;
use std::io;

use rustc_hash::FxHashMap;
use serde_yaml::{Mapping, Value};

use super::columns::{MappedColumn, TableColumn, columns};
use super::record::{ListEntry, Row};
use mumakil_base::units::SimSpan;
use mumakil_core::trace::{
    FirstFew, LARGEST_ENTRY, LONGEST_LINE, Record, Records, Strictness, Suspicion, TextPlace,
    TraceError,
};
use mumakil_scenario::workload::exchange::PackedJobs;
use mumakil_scenario::workload::format::{SeeJob, Trace, TraceToRead};
use mumakil_scenario::workload::{
    FEWER_TASKS, JobEntry, LatestSubmission, MOST_JOBS, ONE_SIZE, TakenNames, file_clashes,
    in_order, too_many_tasks,
};
use mumakil_yaml::{self as yaml, YamlProblem};

/// The columns whose cells are texts: YAML must not turn a user `12` into a number or a pool `null`
/// into nothing.
const TEXTS: [&str; 5] = ["name", "user", "pool", "class", "file"];

/// A mistake in a job: its field, the message, and a hint.
pub(crate) struct JobFlaw {
    field: String,
    pub(super) message: String,
    hint: Option<Cow<'static, str>>,
}

impl JobFlaw {
    pub(super) fn new(field: impl Into<String>, message: impl Into<String>) -> Self {
        Self { field: field.into(), message: message.into(), hint: None }
    }

    pub(super) fn hint(self, hint: &'static str) -> Self {
        Self { hint: Some(hint.into()), ..self }
    }
}

#[cfg(test)]
impl JobFlaw {}

impl From<YamlProblem> for JobFlaw {
    fn from(problem: YamlProblem) -> Self {
        let hint = problem.hint.map(Cow::Owned);
        Self { field: problem.path.to_string(), message: problem.message, hint }
    }
}

/// Reads a table. With `mapping`, some of its columns have other names than the fields that they hold.
/// Jobs without a name are numbered.
///
/// # Errors
/// If the file cannot be read or has mistakes; the error names them.
pub fn read_table(
    file: TraceToRead<'_>,
    mut rows: Records<Row>,
    mapping: &[MappedColumn],
    see: &mut SeeJob<'_>,
) -> Result<Trace, TraceError> {
    let mut reader = ListReader::new(file, see);
    let header = rows.next().transpose()?;
    // The header decides the separator of all rows: a row may have commas in its cells.
    let separator = header.as_ref().map_or(b',', Row::separator);
    let header = header.map_or_else(Vec::new, |row| row.cells(separator));
    let columns =
        columns(&header, mapping).map_err(|fault| reader.error(rows.place(), None, fault))?;
    let named = columns.iter().find(|column| column.field == "name");
    if !columns.iter().any(|column| matches!(&*column.field, "after" | "file")) {
        reader.pass_on();
    }
    let mut number = 0;
    while let Some(row) = rows.next().transpose()? {
        number += 1;
        let cells = row.cells(separator);
        // The name of the job, only for messages in case that the row is broken.
        let name = named.and_then(|column| cells.get(column.place)).map(String::as_str);
        let mut fields = fields(&header, &columns, &cells);
        if let (None, Ok(fields)) = (named, &mut fields) {
            fields.insert("name".into(), format!("job{number}").into());
        }
        reader.add(rows.place(), name, fields)?;
    }
    reader.end(rows)
}

/// Reads a list in YAML.
///
/// # Errors
/// As [`read_table`].
pub fn read_yaml(
    file: TraceToRead<'_>,
    mut entries: Records<ListEntry>,
    see: &mut SeeJob<'_>,
) -> Result<Trace, TraceError> {
    let mut reader = ListReader::new(file, see);
    while let Some(entry) = entries.next().transpose()? {
        let name = entry.fields.get("name").and_then(Value::as_str).map(str::to_owned);
        reader.add(entries.place(), name.as_deref(), Ok(entry.fields))?;
    }
    reader.end(entries)
}

/// Returns the fields of a job from its row.
fn fields(
    header: &[String],
    columns: &[TableColumn],
    cells: &[String],
) -> Result<Mapping, JobFlaw> {
    if header.len() != cells.len() {
        let message = format!("{} cells in {} columns", cells.len(), header.len());
        return Err(JobFlaw::new("", message)
            .hint("put a cell with a comma in it into quotes, without a blank before them"));
    }
    let mut fields = Mapping::new();
    for TableColumn { place, field, unit } in columns {
        let parsed = match cells[*place].as_str() {
            // An empty cell leaves the field to its default; an empty text is written `""`.
            "" => continue,
            text if !TEXTS.contains(&field.as_str()) => serde_yaml::from_str(text)
                .map(|value: Value| match unit {
                    Some(unit) => in_unit(&value, unit),
                    None => value,
                })
                .map_err(|error| error.to_string()),
            text if text.starts_with('"') => {
                serde_json::from_str(text).map(Value::String).map_err(|error| error.to_string())
            }
            text => Ok(Value::String(text.to_owned())),
        };
        let value = parsed.map_err(|message| JobFlaw::new(field, message))?;
        fields.insert(field.as_str().into(), value);
    }
    Ok(fields)
}

/// Returns a value in which bare numbers have this unit.
fn in_unit(value: &Value, unit: &str) -> Value {
    match value {
        Value::Number(number) => Value::String(format!("{number}{unit}")),
        Value::Sequence(list) => list.iter().map(|value| in_unit(value, unit)).collect(),
        other => other.clone(),
    }
}

/// Reads the jobs of a file one by one, and checks each job against the earlier ones.
pub(crate) struct ListReader<'s> {
    file: TraceToRead<'s>,
    /// Takes the jobs.
    see: &'s mut SeeJob<'s>,
    /// Whether each job is passed on at once, since it depends on no other.
    passes_on: bool,
    /// The jobs that are passed on at the end, when those that they depend on are known.
    jobs: Vec<JobEntry>,
    /// The position of each of them in the file.
    places: Vec<TextPlace>,
    names: TakenNames,
    /// The latest submission so far of a job without `after`.
    last: SimSpan,
    /// The numbers of jobs and of their tasks so far, with all copies.
    total: u64,
    tasks: u64,
    latest: LatestSubmission,
    skipped: FirstFew<TraceError>,
    suspicious: FirstFew<Suspicion>,
}

impl<'s> ListReader<'s> {
    pub(crate) fn new(file: TraceToRead<'s>, see: &'s mut SeeJob<'s>) -> Self {
        Self {
            file,
            see,
            passes_on: false,
            jobs: Vec::new(),
            places: Vec::new(),
            names: TakenNames::default(),
            last: SimSpan::ZERO,
            total: 0,
            tasks: 0,
            latest: LatestSubmission::default(),
            skipped: FirstFew::default(),
            suspicious: FirstFew::default(),
        }
    }

    /// Passes each job on at once, for a list in which no job follows another or shares its file.
    pub(crate) fn pass_on(&mut self) {
        self.passes_on = true;
    }

    fn error(&self, place: TextPlace, job: Option<&str>, fault: JobFlaw) -> TraceError {
        let JobFlaw { field, message, hint } = fault;
        let what = if field.is_empty() { message } else { format!("{field}: {message}") };
        TraceError::malformed(self.file.path, place, job, &what, hint)
    }

    /// Adds a job. A broken job is an error; with lenient reading it is left out.
    pub(crate) fn add(
        &mut self,
        place: TextPlace,
        name: Option<&str>,
        fields: Result<Mapping, JobFlaw>,
    ) -> Result<(), TraceError> {
        match fields.and_then(|fields| self.job(fields)) {
            Ok(job) => {
                self.note_backward_time(place, &job);
                if self.passes_on {
                    (self.see)(Box::new(job));
                } else {
                    self.jobs.push(job);
                    self.places.push(place);
                }
                Ok(())
            }
            Err(fault) => {
                let error = self.error(place, name, fault);
                if self.file.strictness == Strictness::Strict {
                    return Err(error);
                }
                self.skipped.add(error);
                Ok(())
            }
        }
    }

    fn job(&mut self, fields: Mapping) -> Result<JobEntry, JobFlaw> {
        let fields = Value::Mapping(fields);
        let job: JobEntry = yaml::read_whole(&fields).map_err(|problem| {
            let one = problem.path.get(&fields).and_then(Value::as_str);
            // A usual mistake in a table: `after` needs a list, but a single name looks natural in
            // a cell.
            match one.filter(|_| problem.path == yaml::Path::of("after")) {
                Some(name) => problem.hint(format!("write `[{name}]`")),
                None => problem,
            }
        })?;
        if let Some((field, message)) = job.faults(self.file.block).into_iter().next() {
            return Err(JobFlaw::new(field, message));
        }
        let copies = job.count.get();
        let latest = self.latest.with(&job);
        if latest.is_too_late() {
            return Err(JobFlaw::new("submit", "the jobs come over more than 100,000 years"));
        }
        if MOST_JOBS < self.total + u64::from(copies) {
            return Err(JobFlaw::new("count", format!("more than {MOST_JOBS} jobs in all")));
        }
        let tasks = self.tasks.saturating_add(job.tasks(self.file.block));
        if let Some(message) = too_many_tasks(tasks) {
            let field = if 1 < copies { "count" } else { "maps" };
            return Err(JobFlaw::new(field, message).hint(FEWER_TASKS));
        }
        // This check comes last, so that a job that is left out for another reason takes no name.
        self.names.take(&job).map_err(|message| JobFlaw::new("name", message))?;
        (self.latest, self.total) = (latest, self.total + u64::from(copies));
        self.tasks = tasks;
        Ok(job)
    }

    /// Notes a job that is submitted before an earlier one in the file, if neither has `after`.
    fn note_backward_time(&mut self, place: TextPlace, job: &JobEntry) {
        if !job.after.is_empty() {
            return;
        }
        if job.submit < self.last {
            let what = format!("submitted {} before a job above it", self.last - job.submit);
            self.suspicious.add(Suspicion { place, job: Some(job.name.clone()), what });
        }
        self.last = self.last.max(job.submit);
    }

    /// Checks the jobs against each other.
    pub(crate) fn end<T: Record>(mut self, records: Records<T>) -> Result<Trace, TraceError> {
        let clashes = file_clashes(&self.jobs, self.file.block).into_iter();
        // Check files before `after`: if a job is left out for its file, the jobs that follow it
        // are left out, too.
        let flaws =
            clashes.map(|(number, message)| (number, JobFlaw::new("file", message).hint(ONE_SIZE)));
        self.leave_out(flaws.collect())?;
        self.leave_out(self.never_due())?;
        let sha256 = records.sha256().map(str::to_owned);
        self.skipped.append(records.into_notes().skipped);
        let Self { file, jobs, skipped, suspicious, see, .. } = self;
        jobs.into_iter().for_each(|job| see(Box::new(job)));
        Ok(Trace { skipped, suspicious, sha256, ..Trace::of_jobs(file.format, Vec::new()) })
    }

    /// Returns the jobs that are never due: they wait for missing jobs, or for each other.
    fn never_due(&self) -> Vec<(usize, JobFlaw)> {
        let places: FxHashMap<&str, usize> =
            self.jobs.iter().enumerate().map(|(place, job)| (job.name.as_str(), place)).collect();
        // The number `nowhere` stands for all missing jobs. It follows itself, so that jobs that
        // name a missing job are never due.
        let nowhere = self.jobs.len();
        let place = |name: &String| places.get(name.as_str()).copied().unwrap_or(nowhere);
        let mut follows: Vec<Vec<usize>> =
            self.jobs.iter().map(|job| job.after.iter().map(place).collect()).collect();
        follows.push(vec![nowhere]);
        let mut waits = vec![true; follows.len()];
        for job in in_order(&follows) {
            waits[job] = false;
        }
        let fault = |number: usize| {
            let missing = self.jobs[number].after.iter().find(|name| place(name) == nowhere);
            let message = match missing {
                Some(name) => format!("there is no job `{name}`"),
                None => "the job waits for itself, or for jobs that never come".to_owned(),
            };
            (missing.is_none(), number, JobFlaw::new("after", message))
        };
        let mut faults: Vec<_> = (0..nowhere).filter(|job| waits[*job]).map(fault).collect();
        // Jobs that name a missing job come first: strict reading stops at the first mistake, and
        // the other mistakes may only follow from it.
        faults.sort_by_key(|(follows, number, _)| (*follows, *number));
        faults.into_iter().map(|(_, number, fault)| (number, fault)).collect()
    }

    /// Leaves out broken jobs; with strict reading, returns the first of them as an error.
    fn leave_out(&mut self, faults: Vec<(usize, JobFlaw)>) -> Result<(), TraceError> {
        let mut stays = vec![true; self.jobs.len()];
        for (number, fault) in faults {
            let error = self.error(self.places[number], Some(&self.jobs[number].name), fault);
            if self.file.strictness == Strictness::Strict {
                return Err(error);
            }
            self.skipped.add(error);
            stays[number] = false;
        }
        let mut of_jobs = stays.iter();
        self.jobs.retain(|_| of_jobs.next() == Some(&true));
        let mut of_places = stays.iter();
        self.places.retain(|_| of_places.next() == Some(&true));
        Ok(())
    }
}

/// Writes jobs as a table, with the columns that at least one job fills.
pub fn write_table(jobs: &PackedJobs, mut to: impl io::Write) -> io::Result<()> {
    // Without `name` the file would not be recognised as a table.
    let named = JobEntry::field_names().iter().filter(|field| **field == "name" || jobs.say(field));
    let columns: Vec<&str> = named.copied().collect();
    to.write_all(&row(columns.iter().map(|column| (*column).to_owned()))?)?;
    for fields in jobs.entries() {
        let row = row(columns.iter().map(|column| {
            fields.get(*column).map(|value| cell(column, value)).unwrap_or_default()
        }))?;
        // A job with a list of a million times may be longer than the longest line that the reader
        // accepts.
        refuse_above(LONGEST_LINE, row.len(), &fields)?;
        to.write_all(&row)?;
    }
    Ok(())
}

fn row(cells: impl Iterator<Item = String>) -> io::Result<Vec<u8>> {
    let mut row = csv::Writer::from_writer(Vec::new());
    row.write_record(cells)?;
    row.into_inner().map_err(|error| io::Error::other(error.to_string()))
}

/// Refuses to write a job that is too long to be read back.
fn refuse_above(most: usize, length: usize, job: &Mapping) -> io::Result<()> {
    if length <= most {
        return Ok(());
    }
    let (name, most) = (job.get("name").and_then(Value::as_str).unwrap_or_default(), most >> 20);
    let what =
        format!("the job `{name}` is larger than {most} MiB, the largest that can be read back");
    Err(io::Error::new(io::ErrorKind::InvalidInput, what))
}

/// Writes jobs as a list in YAML, without fields that have their defaults.
pub fn write_yaml(jobs: &PackedJobs, mut to: impl io::Write) -> io::Result<()> {
    for fields in jobs.entries() {
        // Write the job as a list of one entry, which begins with a dash.
        let entry = serde_yaml::to_string(&[&fields]).map_err(io::Error::other)?;
        refuse_above(LARGEST_ENTRY, entry.len(), &fields)?;
        to.write_all(entry.as_bytes())?;
    }
    Ok(())
}

/// Returns the text of a value for a cell of a table.
fn cell(column: &str, value: &Value) -> String {
    match value {
        Value::String(text) if TEXTS.contains(&column) => {
            let is_plain = text.trim() == text && !text.contains(char::is_control);
            // A reader drops a byte order mark at the beginning of a row.
            if text.is_empty() || text.starts_with(['"', '\u{feff}']) || !is_plain {
                serde_json::to_string(text).unwrap_or_default()
            } else {
                text.clone()
            }
        }
        value => flow(value),
    }
}

/// Returns a value as YAML on one line.
fn flow(value: &Value) -> String {
    match value {
        Value::Sequence(items) => {
            format!("[{}]", items.iter().map(flow).collect::<Vec<_>>().join(", "))
        }
        Value::Mapping(fields) => {
            let pairs = fields.iter().map(|(key, value)| format!("{}: {}", flow(key), flow(value)));
            format!("{{{}}}", pairs.collect::<Vec<_>>().join(", "))
        }
        Value::String(text) if is_plain(text) => text.clone(),
        Value::String(text) => quoted(text),
        value => serde_yaml::to_string(value).unwrap_or_default().trim_end().to_owned(),
    }
}

/// Returns whether a text needs no quotes: YAML reads it back as the same text.
fn is_plain(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphanumeric())
        && text.chars().all(|c| c.is_ascii_alphanumeric() || "_-./".contains(c))
        // `1e3`, `true` or `null` would be read back as something else.
        && matches!(serde_yaml::from_str(text), Ok(Value::String(read)) if read == text)
}

/// Returns a text in quotes, with every character escaped that YAML could take for the end of a
/// line.
fn quoted(text: &str) -> String {
    let escaped = text.chars().map(|c| match c {
        '"' | '\\' => format!("\\{c}"),
        ' '..='~' => c.to_string(),
        _ => format!("\\U{:08X}", u32::from(c)),
    });
    format!("\"{}\"", escaped.collect::<String>())
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;
    use std::path::Path;

    use super::*;
    use crate::list::format::{JOB_LIST, JOB_TABLE};
    use mumakil_base::units::Bytes;
    use mumakil_scenario::workload::format::Format;

    fn to_read(
        format: &'static Format,
        path: &'static str,
        strictness: Strictness,
    ) -> TraceToRead<'static> {
        TraceToRead { format, path: Path::new(path), block: Bytes::from_mib(64), strictness }
    }

    fn table(text: &str, strictness: Strictness) -> Result<Trace, String> {
        let rows = Records::from_reader("t.csv", Cursor::new(text.to_owned()), strictness).unwrap();
        let file = to_read(&JOB_TABLE, "t.csv", strictness);
        Trace::collected(|see| read_table(file, rows, &[], see)).map_err(|error| error.to_string())
    }

    fn yaml(text: &str) -> Result<Trace, String> {
        let strictness = Strictness::Strict;
        let rows =
            Records::from_reader("t.yaml", Cursor::new(text.to_owned()), strictness).unwrap();
        let file = to_read(&JOB_LIST, "t.yaml", strictness);
        Trace::collected(|see| read_yaml(file, rows, see)).map_err(|error| error.to_string())
    }

    fn packed(jobs: &[JobEntry]) -> PackedJobs {
        PackedJobs::of(jobs, Bytes::from_mib(64))
    }

    #[test]
    fn jobs_of_a_year_are_not_taken_for_a_chain() {
        // Together their times are more than 100,000 years, but no job waits for another.
        let job = |number: u32| format!("j{number},30000d,1\n");
        let jobs: String = (0..1_300).map(job).collect();
        let read = table(&format!("name,submit,maps\n{jobs}"), Strictness::Strict);
        assert_eq!(read.unwrap().jobs.len(), 1_300);
        let chain = |number: u32| format!("c{number},30000d,1,[j0]\n");
        let jobs: String = (0..1_300).map(chain).collect();
        let error = table(&format!("name,submit,maps,after\nj0,,1,\n{jobs}"), Strictness::Strict);
        assert!(error.map(drop).unwrap_err().contains("over more than 100,000 years"));
    }

    #[test]
    fn a_file_lists_no_more_tasks_than_memory_holds() {
        let jobs = |count| format!("name,maps,map_time,count\na,1,1s,1\nb,10000000,1s,{count}\n");
        assert!(table(&jobs(9), Strictness::Strict).is_ok());
        let error = table(&jobs(1_000_000), Strictness::Strict).map(drop).unwrap_err();
        assert!(error.starts_with("t.csv:3: job \"b\": count: 10000000000001 tasks"), "{error}");
        assert!(error.contains("hint: lower `count`"), "{error}");
        let error = yaml("- {name: b, maps: 10000000, map_time: 1s, count: 11}").map(drop);
        assert!(error.unwrap_err().contains("110000000 tasks are more than 100000000"));
    }

    const ALL: &str = r#"
- name: "first, \"of\" all"
  submit: 1500ms
  count: 2
  every: 3us
  user: "007"
  pool: ""
  class: " small"
  priority: very_high
  maps: 2
  reduces: 1
  input: 129MiB
  file: /logs/2009
  shuffle: 1kB
  output: 7B
  map_time: [1s, 200us]
  shuffle_time: {uniform: {from: 1s, to: 2s}}
  sort_time: 0s
  reduce_time: {empirical: {cdf: [[1s, 0.25], [2s, 1.0]]}}
  reduce_rate: 6MB/s
  noise: {log_normal: {mean: 1.0, cv: 0.30000000000000004}}
  penalty: {rack: 1.5, off_rack: 3.0}
  map_memory: 1GiB
  reduce_memory: 300B
- name: "\uFEFFnext"
  after: ["first, \"of\" all"]
  input: 1GiB
  map_rate: 9MB/s
"#;

    #[test]
    fn a_list_reads_back_as_written() {
        let jobs = yaml(ALL).unwrap().into_own();
        assert_eq!(jobs.len(), 2);
        let mut text = Vec::new();
        write_table(&packed(&jobs), &mut text).unwrap();
        let text = String::from_utf8(text).unwrap();
        assert_eq!(text.lines().count(), 3, "{text}");
        assert!(text.contains(r#","[1s, 200us]","#), "{text}");
        assert_eq!(table(&text, Strictness::Strict).unwrap().into_own(), jobs);
        let mut text = Vec::new();
        write_yaml(&packed(&jobs), &mut text).unwrap();
        assert_eq!(yaml(str::from_utf8(&text).unwrap()).unwrap().into_own(), jobs);
    }

    #[test]
    fn a_table_says_what_it_needs() {
        let list = table("maps,name\n3,a\n,b\n", Strictness::Lenient).unwrap();
        assert_eq!((list.jobs.len(), list.skipped.count), (1, 1));
        assert!(list.sha256.is_some());
        assert_eq!(list.into_own()[0].maps.map(|maps| maps.get()), Some(3));
    }

    #[test]
    fn mistakes_of_a_job_are_named() {
        for (text, message) in [
            ("maps\n3\n", "t.csv:1: no column `name`\n  hint: begin with a header"),
            (
                "name,mapz\n",
                "t.csv:1: unknown column `mapz` (did you mean `maps`?)\n  hint: the columns are the \
                 fields of a job, such as `submit`, or `submit_ms` for bare numbers; `mumakil trace \
                 convert --columns submit_ms=COLUMN,…` reads other tables",
            ),
            ("name,maps,maps\n", "t.csv:1: two columns `maps`"),
            (
                "name,maps\na,1,2\n",
                "t.csv:2: job \"a\": 3 cells in 2 columns\n  hint: put a cell with a comma in it into quotes, without a blank before them",
            ),
            (
                "name,maps,map_time\na,1,10 parsecs\n",
                "t.csv:2: job \"a\": map_time: invalid value: text \"10 parsecs\", expected a \
                 duration with a unit, such as 3s, 200ms, 10min or 1h 30min",
            ),
            (
                "name,maps,map_time\na,1,1s\nb,2,[1s]\n",
                "t.csv:3: job \"b\": map_time: there are 1 times for the 2 maps of the job `b`",
            ),
            (
                "name,maps,after\na,1,\nb,1,a\n",
                "t.csv:3: job \"b\": after: invalid type: text \"a\", expected a list\n  hint: write `[a]`",
            ),
            ("name\na\n", "t.csv:2: job \"a\": the job `a` has neither `maps` nor `input`"),
            (
                "name,maps\na,1\na,1\n",
                "t.csv:3: job \"a\": name: another job is called `a` already",
            ),
            ("name,maps,after\na,1,[b]\n", "t.csv:2: job \"a\": after: there is no job `b`"),
            (
                "name,maps,after\na,1,[b]\nb,1,[a]\n",
                "t.csv:2: job \"a\": after: the job waits for itself, or for jobs that never come",
            ),
            (
                "name,maps,count\na,1,2\na-1,1,\n",
                "t.csv:3: job \"a-1\": name: the jobs of `a` have a count, and one of them is \
                 called `a-1`",
            ),
            (
                "name,maps,input,file\na,2,2GiB,f\nb,4,2GiB,f\n",
                "t.csv:3: job \"b\": file: each map of `b` reads 512MiB of `f`, but each of `a` \
                 reads 1GiB\n  hint: a file has blocks of one size: mend `maps` or `input`, or name \
                 another file",
            ),
        ] {
            assert_eq!(table(text, Strictness::Strict).unwrap_err(), message);
        }
    }

    #[test]
    fn jobs_that_follow_one_that_is_left_out_are_left_out_too() {
        let text = "name,maps,after\na,,\nb,1,[a]\nc,1,[b]\nd,1,\n";
        let list = table(text, Strictness::Lenient).unwrap();
        assert_eq!((list.jobs.len(), list.skipped.count), (1, 3));
        assert_eq!(list.into_own()[0].name, "d");
    }

    #[test]
    fn blanks_and_other_separators_change_nothing() {
        let plain =
            table("name,maps,after\na,1,\nb,3,[a]\n", Strictness::Strict).unwrap().into_own();
        for text in
            ["\"name\", maps, after\na, 1,\nb, 3, [a]\n", "name;maps;after\na;1;\nb;3;[a]\n"]
        {
            assert_eq!(table(text, Strictness::Strict).unwrap().into_own(), plain, "{text}");
        }
    }

    #[test]
    fn a_job_that_comes_before_the_one_above_it_is_odd() {
        let text = "name,maps,submit,after\na,1,9s,\nb,1,2s,[a]\nc,1,5s,\n";
        let odd = table(text, Strictness::Strict).unwrap().suspicious;
        let said: Vec<_> =
            odd.first.iter().map(|odd| (odd.place.line, odd.what.as_str())).collect();
        assert_eq!(said, [(4, "submitted 4s before a job above it")]);
    }

    #[test]
    fn a_list_that_could_not_be_read_is_not_written() {
        let times = "  - 123456789us\n".repeat(100_000);
        let jobs =
            yaml(&format!("- name: a\n  maps: 100000\n  map_time:\n{times}")).unwrap().into_own();
        let error = write_table(&packed(&jobs), io::sink()).unwrap_err().to_string();
        assert_eq!(error, "the job `a` is larger than 1 MiB, the largest that can be read back");
        write_yaml(&packed(&jobs), io::sink()).unwrap();
    }
}
