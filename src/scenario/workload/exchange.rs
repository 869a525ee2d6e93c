//! Traces as files of jobs: read in any format, and written in any format.
//!
//! ```text
//! file     -> recognise -> Trace       each job as its file has it
//! Trace    -> entries   -> JobEntry    as a scenario lists jobs
//! file     -> pass      -> TraceJob    one job after the other, in little memory
//! JobEntry -> PackedJobs -> convert    another format; each job is read back, which shows what is lost
//! ```
//!
//! Each format has its own type of jobs ([`TraceJob`]).

mod packed;

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use super::format::{Format, FormatContents, Formats, SeeJob, Trace, TraceJob, TraceToRead, other};
use super::jobs::JobEntry;
use super::shared::TakenNames;
use mumakil_base::units::{Bytes, SimSpan};
use mumakil_core::trace::{FirstFew, Notes, Record, Records, Strictness, TraceError};

pub use packed::PackedJobs;

impl TraceToRead<'_> {
    /// Reads the file.
    ///
    /// # Errors
    /// As [`Trace::read`].
    pub fn read(self) -> Result<Trace, TraceError> {
        Trace::collected(|see| self.pass(see))
    }

    /// Reads the file and gives each job to `see`, in the order of the file. The trace that is returned
    /// has no jobs.
    ///
    /// # Errors
    /// As [`Trace::read`].
    pub fn pass(self, see: &mut SeeJob<'_>) -> Result<Trace, TraceError> {
        match self.format.contents {
            FormatContents::Jobs(read) | FormatContents::List { read, .. } => read(self, see),
            FormatContents::Hosts(_) | FormatContents::Generator { .. } => {
                Err(other(self.path, self.format, "jobs"))
            }
        }
    }
}

impl Trace {
    /// Reads a file of jobs in one of these formats. `block` is the size of a block.
    ///
    /// # Errors
    /// If the file cannot be read, has mistakes, or holds no jobs; the error names the mistakes.
    pub fn read(
        path: &Path,
        block: Bytes,
        strictness: Strictness,
        formats: &Formats,
    ) -> Result<Self, TraceError> {
        TraceToRead { format: formats.recognise(path)?, path, block, strictness }.read()
    }

    /// Returns the trace of a pass, with the jobs that the pass gives.
    ///
    /// # Errors
    /// The error of the pass.
    pub fn collected(
        pass: impl FnOnce(&mut SeeJob<'_>) -> Result<Self, TraceError>,
    ) -> Result<Self, TraceError> {
        let mut jobs: Vec<Box<dyn TraceJob>> = Vec::new();
        let trace = pass(&mut |job| jobs.push(job))?;
        if trace.format.is_wall_clock {
            // Jobs of the same instant keep the order of the file.
            jobs.sort_by_key(|job| job.submit());
        }
        Ok(Self { jobs, ..trace })
    }

    /// Returns a trace of jobs of a file.
    pub fn of_jobs(format: &'static Format, jobs: Vec<Box<dyn TraceJob>>) -> Self {
        let (skipped, suspicious) = (FirstFew::default(), FirstFew::default());
        Self {
            format,
            jobs,
            skipped,
            suspicious,
            notes: Vec::new(),
            facts: Vec::new(),
            sha256: None,
        }
    }

    /// Reads a file whose records are jobs of another tool; `T` is the type of the records.
    ///
    /// # Errors
    /// If the file cannot be read or has mistakes; the error names them.
    pub fn of<T: Record + TraceJob + 'static>(
        file: TraceToRead<'_>,
        see: &mut SeeJob<'_>,
    ) -> Result<Self, TraceError> {
        let records = Records::<T>::open(file.path, file.strictness)?;
        Self::of_records(records, file, |job| see(Box::new(job)), |_| {})
    }

    /// Reads the jobs of a pass over a file, as [`Trace::of`]; `change` may change each of them before
    /// it is checked.
    ///
    /// # Errors
    /// As [`Trace::of`].
    pub fn of_records<T: Record + TraceJob + 'static>(
        mut records: Records<T>,
        file: TraceToRead<'_>,
        mut see: impl FnMut(T),
        mut change: impl FnMut(&mut T),
    ) -> Result<Self, TraceError> {
        let mut number = 0;
        let mut unusable = FirstFew::default();
        let mut names = TakenNames::default();
        while let Some(mut job) = records.next().transpose()? {
            change(&mut job);
            // Broken jobs are not counted, so that `entries` gives each job the same number, and
            // the same name if it is made from the number.
            number += 1;
            let entry = job.entry(number, file.block);
            // A job without tasks has no entry and takes no name.
            match entry.and_then(|entry| entry.iter().try_for_each(|entry| names.take(entry))) {
                Ok(()) => see(job),
                Err(what) => {
                    let error = records.unusable(Some(&job.name(number)), what);
                    number -= 1;
                    if file.strictness == Strictness::Strict {
                        return Err(error);
                    }
                    unusable.add(error);
                }
            }
        }
        let sha256 = records.sha256().map(str::to_owned);
        let Notes { mut skipped, suspicious, .. } = records.into_notes();
        skipped.append(unusable);
        Ok(Self { skipped, suspicious, sha256, ..Self::of_jobs(file.format, Vec::new()) })
    }

    /// Returns the jobs as a scenario would list them, without jobs that have no tasks.
    pub fn entries(&self, block: Bytes) -> Vec<JobEntry> {
        // Jobs that cannot be run are left out already when the file is read.
        let jobs = (1..).zip(&self.jobs);
        let mut entries: Vec<JobEntry> =
            jobs.filter_map(|(number, job)| job.entry(number, block).ok().flatten()).collect();
        // With times since 1970, the first job would arrive after decades on an idle cluster.
        if self.format.is_wall_clock {
            let first = entries.iter().map(|entry| entry.submit).min().unwrap_or_default();
            for entry in &mut entries {
                entry.submit = entry.submit.saturating_sub(first);
            }
        }
        entries
    }

    /// Returns the jobs of one of Mumakil's own lists; no jobs if the trace is of another tool.
    pub fn into_own(self) -> Vec<JobEntry> {
        // Each job is freed as soon as it is copied: a list may be large.
        self.jobs.into_iter().filter_map(|job| job.own().cloned()).collect()
    }

    /// Returns the jobs of one of Mumakil's own lists; no jobs if the trace is of another tool.
    pub fn own(&self) -> impl Iterator<Item = &JobEntry> {
        self.jobs.iter().filter_map(|job| job.own())
    }

    /// Writes the jobs.
    ///
    /// # Errors
    /// If the jobs cannot be written, or the format does not hold jobs.
    pub fn write_to(&self, mut to: impl io::Write) -> io::Result<()> {
        match self.format.contents {
            FormatContents::Jobs(_) => self.jobs.iter().try_for_each(|job| job.write_to(&mut to)),
            FormatContents::List { write, .. } => {
                // The size of a block decides nothing of what a list says.
                write(&PackedJobs::of(self.own(), Bytes::from_mib(64)), &mut to)
            }
            FormatContents::Hosts(_) | FormatContents::Generator { .. } => {
                let what = format!("{} hold no jobs that could be written", self.format);
                Err(io::Error::new(io::ErrorKind::Unsupported, what))
            }
        }
    }
}

/// Checks that a file of a format that lists tasks has room for the records of all tasks. A record of
/// Rumen takes about 400 bytes of memory once it is read again, and its text as many.
///
/// # Errors
/// If there are too many; the error says what to do.
pub fn check_listed(jobs: &PackedJobs, format: &'static Format) -> Result<(), String> {
    // Chosen: 4 GB, which a usual machine has.
    const MOST: u64 = 10_000_000;
    let tasks = jobs.tasks;
    match format.lists_tasks && MOST < tasks {
        true => Err(format!(
            "{tasks} tasks are more than {MOST}, and {format} have a record for each; convert a \
             part of the jobs, or write a list (`--to csv`)"
        )),
        false => Ok(()),
    }
}

/// Writes jobs in another format. Returns the fields that it cannot express, each with the number of
/// jobs that lose it.
///
/// # Errors
/// If the jobs cannot be written, or the format cannot hold jobs.
pub fn convert(
    jobs: &PackedJobs,
    format: &'static Format,
    to: &mut dyn io::Write,
) -> io::Result<BTreeMap<String, u64>> {
    let mut lost = BTreeMap::new();
    // Mumakil's own lists have every field, so nothing is lost. They keep their order, since times
    // need not be sorted with `after`.
    if let FormatContents::List { write, .. } = format.contents {
        write(jobs, to)?;
        return Ok(lost);
    }
    let target = format.target.ok_or_else(|| {
        io::Error::new(io::ErrorKind::Unsupported, format!("{format} are not written"))
    });
    let make = target?.make;
    // The files of other tools are sorted by time.
    let mut order = jobs.jobs.clone();
    order.sort_by_key(|job| job.submit);
    let mut last = SimSpan::ZERO;
    for packed in order {
        let entry = jobs.job(packed);
        let mut job = make(&entry, jobs.block);
        let back = job.entry(0, jobs.block).map_err(|what| {
            let what = format!("the job `{}` could not be read back: {what}", entry.name);
            io::Error::new(io::ErrorKind::InvalidInput, what)
        })?;
        // A job without tasks in this format loses all fields of its entry.
        let back = back.map(|entry| entry.fields()).unwrap_or_default();
        for (field, _) in
            entry.said().iter().filter(|(field, value)| back.get(field) != Some(value))
        {
            let field = field.as_str().unwrap_or_default();
            *lost.entry(field.to_owned()).or_insert(0) += 1;
        }
        let submit = job.submit();
        job.set_gap(submit.saturating_sub(last));
        last = submit;
        job.write_to(to)?;
    }
    Ok(lost)
}
