//! Traces as files of jobs: read whatever their format, reshaped, written as another.
//!
//! A [`Trace`] keeps each job as its file has it, so that a sample of a trace is as exact as the
//! trace. Between formats every job goes by way of a [`JobEntry`]; what a format cannot say is
//! found by reading back what was made ([`converted`]).

mod reshape;

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use super::hosts::Hosts;
use super::list::{self, List};
use super::{JobEntry, Swim, TakenNames, rumen, sls};
use crate::cluster::Topology;
use crate::trace::rumen::LoggedJob;
use crate::trace::sls::SlsJob;
use crate::trace::swim::SwimJob;
use crate::trace::{
    FirstFew, Format, Notes, Place, Record, Records, Strictness, Suspicion, TraceError, recognise,
};
use crate::units::{Bytes, SimSpan};

pub use reshape::{Folding, ReshapeError, Scaling};

/// A file of jobs.
#[derive(Debug)]
pub struct Trace {
    /// Its format.
    pub format: Format,
    /// Its jobs, in the order of the file.
    pub jobs: Vec<TraceJob>,
    /// Records that were left out because they are broken.
    pub skipped: FirstFew<TraceError>,
    /// Records that were kept though something is wrong with them.
    pub suspicious: FirstFew<Suspicion>,
}

/// A job as its file has it.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "each holds what its name says")]
pub enum TraceJob {
    Swim(SwimJob),
    Rumen(Box<LoggedJob>),
    Sls(Box<SlsJob>),
    Own(Box<JobEntry>),
}

impl Trace {
    /// Reads a file of jobs. `block` is the size of a block.
    ///
    /// # Errors
    /// If it cannot be read, is no file of jobs, or with what is wrong in it.
    pub fn read(path: &Path, block: Bytes, strictness: Strictness) -> Result<Self, TraceError> {
        let (format, how) = (recognise(path)?, (block, strictness));
        match format {
            Format::Swim => Self::of(format, Records::open(path, strictness)?, how, TraceJob::Swim),
            Format::RumenJobs => Self::of(format, Records::open(path, strictness)?, how, |job| {
                TraceJob::Rumen(Box::new(job))
            }),
            Format::SlsJobs => Self::of(format, Records::open(path, strictness)?, how, |job| {
                TraceJob::Sls(Box::new(job))
            }),
            Format::JobTable | Format::JobList => {
                let List { jobs, skipped, suspicious, .. } = List::read(path, block, strictness)?;
                let jobs = jobs.into_iter().map(|job| TraceJob::Own(Box::new(job))).collect();
                Ok(Self { format, jobs, skipped, suspicious })
            }
            found => {
                Err(TraceError::OtherFormat { path: path.to_owned(), found, expected: "jobs" })
            }
        }
    }

    /// Draws the jobs of a file for the generator of the SLS, as a scenario with this seed would.
    ///
    /// # Errors
    /// As [`Trace::read`].
    pub fn draw(path: &Path, seed: u64) -> Result<Self, TraceError> {
        let (found, _) = sls::generated(path, seed)?;
        let jobs = found.jobs.into_iter().map(|job| TraceJob::Own(Box::new(job))).collect();
        let (skipped, suspicious) = (FirstFew::default(), FirstFew::default());
        Ok(Self { format: Format::SlsSynth, jobs, skipped, suspicious })
    }

    fn of<T: Record>(
        format: Format,
        mut records: Records<T>,
        (block, strictness): (Bytes, Strictness),
        job: impl Fn(T) -> TraceJob,
    ) -> Result<Self, TraceError> {
        let mut jobs = Vec::new();
        let mut unusable = FirstFew::default();
        let mut names = TakenNames::default();
        while let Some(record) = records.next().transpose()? {
            let (job, number) = (job(record), jobs.len() as u64 + 1);
            let entry = job.entry(number, block);
            match entry.and_then(|entry| entry.iter().try_for_each(|entry| names.take(entry))) {
                Ok(()) => jobs.push(job),
                Err(what) => {
                    let error = records.unusable(Some(&job.name(number)), what);
                    if strictness == Strictness::Strict {
                        return Err(error);
                    }
                    unusable.add(error);
                }
            }
        }
        let Notes { mut skipped, suspicious, .. } = records.into_notes();
        skipped.append(unusable);
        Ok(Self { format, jobs, skipped, suspicious })
    }

    /// Returns the jobs as a scenario would list them, without those that have no task.
    pub fn entries(&self, block: Bytes) -> Vec<JobEntry> {
        // What cannot be run has been left out when the file was read.
        let entry = |(number, job): (u64, &TraceJob)| job.entry(number, block).ok().flatten();
        let mut entries: Vec<JobEntry> = (1..).zip(&self.jobs).filter_map(entry).collect();
        if self.format == Format::RumenJobs {
            // Rumen's times are those of a clock on a wall. A run counts from the first job.
            let first = entries.iter().map(|entry| entry.submit).min().unwrap_or_default();
            for entry in &mut entries {
                entry.submit = entry.submit.saturating_sub(first);
            }
        }
        entries
    }

    /// Makes SWIM's gaps fit the times again.
    fn mend_gaps(&mut self) {
        let mut last = 0;
        for job in &mut self.jobs {
            if let TraceJob::Swim(job) = job {
                job.gap_s = job.submit_s.saturating_sub(last);
                last = job.submit_s;
            }
        }
    }

    /// Writes the jobs.
    ///
    /// # Errors
    /// If they cannot be written.
    pub fn write_to(&self, mut to: impl io::Write) -> io::Result<()> {
        let mut own = Vec::new();
        for job in &self.jobs {
            match job {
                TraceJob::Swim(job) => job.write_to(&mut to)?,
                TraceJob::Rumen(job) => job.write_to(&mut to)?,
                TraceJob::Sls(job) => job.write_to(&mut to)?,
                TraceJob::Own(job) => own.push(JobEntry::clone(job)),
            }
        }
        match self.format {
            Format::JobTable => list::write_table(&own, to),
            Format::JobList => list::write_yaml(&own, to),
            _ => Ok(()),
        }
    }
}

/// Returns jobs in another format, and what that cannot say of them: fields, and of how many jobs.
pub fn converted(
    entries: &[JobEntry],
    format: Format,
    block: Bytes,
) -> (Trace, BTreeMap<String, u64>) {
    let is_own = matches!(format, Format::JobTable | Format::JobList);
    let mut copies: Vec<JobEntry> = match is_own {
        true => entries.to_vec(),
        false => entries.iter().flat_map(JobEntry::copies).collect(),
    };
    copies.sort_by_key(|job| if is_own { SimSpan::ZERO } else { job.submit });
    let make = |entry: &JobEntry| match format {
        Format::Swim => TraceJob::Swim(Swim::job_of(entry, block)),
        Format::RumenJobs => TraceJob::Rumen(Box::new(rumen::job_of(entry, block))),
        Format::SlsJobs => TraceJob::Sls(Box::new(sls::job_of(entry, block))),
        _ => TraceJob::Own(Box::new(entry.clone())),
    };
    let jobs: Vec<TraceJob> = copies.iter().map(make).collect();
    let mut lost = BTreeMap::new();
    if !is_own {
        for (said, job) in JobEntry::said(&copies).zip(&jobs) {
            let back = job.entry(0, block).ok().flatten();
            let back = back.map(|entry| entry.fields()).unwrap_or_default();
            for (field, _) in said.iter().filter(|(field, value)| back.get(field) != Some(value)) {
                let field = field.as_str().unwrap_or_default();
                *lost.entry(field.to_owned()).or_insert(0) += 1;
            }
        }
    }
    let (skipped, suspicious) = (FirstFew::default(), FirstFew::default());
    let mut trace = Trace { format, jobs, skipped, suspicious };
    trace.mend_gaps();
    (trace, lost)
}

impl TraceJob {
    /// Returns the name of the job, which is the `number`th of its file.
    fn name(&self, number: u64) -> String {
        match self {
            Self::Swim(job) => job.id.clone(),
            Self::Rumen(job) => job.job_id.clone(),
            Self::Sls(job) => job.id.clone().unwrap_or_else(|| format!("job-{number}")),
            Self::Own(job) => job.name.clone(),
        }
    }

    /// Returns the job as a scenario would list it, if there is anything to run.
    fn entry(&self, number: u64, block: Bytes) -> Result<Option<JobEntry>, String> {
        match self {
            Self::Swim(job) => Swim::entry_of(job, block).map(Some),
            Self::Rumen(job) => rumen::entry_of(job),
            Self::Sls(job) => {
                let mut job = job.clone();
                // There are no nodes that its hosts could be.
                job.tasks.iter_mut().for_each(|task| task.host = None);
                let nowhere = Topology::from_nodes(Vec::new());
                sls::entry(&job, &self.name(number), Place::START, &mut Hosts::new(&nowhere))
            }
            Self::Own(job) => match job.faults(block).into_iter().next() {
                Some((_, message)) => Err(message),
                None => Ok(Some(JobEntry::clone(job))),
            },
        }
    }

    /// Returns when the job is submitted.
    pub fn submit(&self) -> SimSpan {
        let millis = |millis: u64| SimSpan::from_millis(millis.min(SimSpan::LONGEST.as_millis()));
        match self {
            Self::Swim(job) => SimSpan::from_secs(job.submit_s),
            Self::Rumen(job) => millis(job.submitted().unwrap_or(0)),
            Self::Sls(job) => millis(job.start_ms.unwrap_or(0).max(0) as u64),
            Self::Own(job) => job.submit,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use tempfile::TempDir;

    use super::*;

    pub(super) const BLOCK: Bytes = Bytes::from_mib(128);

    pub(super) fn read(text: &[u8]) -> Trace {
        let folder = TempDir::new().unwrap();
        let path = folder.path().join("trace");
        fs::write(&path, text).unwrap();
        Trace::read(&path, BLOCK, Strictness::Strict).unwrap()
    }

    /// Returns a trace in another format, as its file reads, and what that cannot say.
    fn through(trace: &Trace, format: Format) -> (Trace, Vec<String>) {
        let (made, lost) = converted(&trace.entries(BLOCK), format, BLOCK);
        let mut text = Vec::new();
        made.write_to(&mut text).unwrap();
        let read = read(&text);
        assert_eq!(read.jobs, made.jobs);
        (read, lost.into_keys().collect())
    }

    pub(super) const SWIM: &[u8] =
        b"a\t5\t5\t1000\t0\t7\tin\nb\t9\t4\t134217729\t3000000000\t9\tin\n";
    pub(super) const RUMEN: &[u8] = include_bytes!("../../tests/fuzz/seeds/rumen/older.json");

    #[test]
    fn a_swim_trace_goes_through_every_list_and_back() {
        let trace = read(SWIM);
        for format in [Format::JobTable, Format::JobList] {
            let (list, lost) = through(&trace, format);
            assert!(lost.is_empty());
            let (back, lost) = through(&list, Format::Swim);
            assert_eq!((back.jobs, lost), (trace.jobs.clone(), vec![]));
        }
    }

    #[test]
    fn a_rumen_trace_keeps_times_and_sizes_through_a_list() {
        let trace = read(RUMEN);
        let (first, _) = through(&trace, Format::JobTable);
        let (rumen, lost) = through(&first, Format::RumenJobs);
        assert_eq!(lost, Vec::<String>::new());
        let (again, _) = through(&rumen, Format::JobTable);
        assert_eq!(again.jobs, first.jobs);
        let TraceJob::Rumen(job) = &rumen.jobs[0] else { panic!("Rumen's") };
        assert_eq!(job.map_tasks[0].attempts[0].hdfs_bytes_read, Some(53_639));
    }

    #[test]
    fn a_time_that_nobody_knows_stays_unknown() {
        let list = read(
            b"name,pool,maps,input,reduces,map_memory,reduce_memory\n\
            a,q,2,0,1,1GiB,1GiB\n",
        );
        let (rumen, lost) = through(&list, Format::RumenJobs);
        assert_eq!(lost, Vec::<String>::new());
        assert_eq!(through(&rumen, Format::JobTable).0.jobs, list.jobs);
    }

    #[test]
    fn the_generator_of_the_sls_is_drawn_and_converted() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fuzz/seeds/sls/synth-newer.json");
        let draw = |seed| Trace::draw(Path::new(path), seed).unwrap();
        assert_eq!(draw(7).jobs, draw(7).jobs);
        assert_ne!(draw(7).jobs, draw(8).jobs);
        let (list, _) = through(&draw(7), Format::JobTable);
        assert_eq!(list.jobs, draw(7).jobs);
    }

    #[test]
    fn what_a_format_cannot_say_is_told() {
        let list = read(
            b"name,after,count,maps,map_time,user,reduces,reduce_time\n\
              a,,2,2,\"[1s, 2s]\",ann,1,3s\nb,[a],,1,1500us,,,\n",
        );
        let (sls, lost) = through(&list, Format::SlsJobs);
        // Three jobs come of it; a time of microseconds is cut.
        assert_eq!(sls.jobs.len(), 3);
        assert_eq!(lost, ["after", "map_time", "reduce_time"]);
        let (_, lost) = through(&list, Format::Swim);
        assert_eq!(lost, ["after", "map_time", "reduce_time", "reduces", "user"]);
    }

    #[test]
    fn jobs_of_a_clock_on_the_wall_come_as_long_after_the_first_as_they_did() {
        let job = |id: &str, submit: u64| {
            format!(
                r#"{{"jobID": "{id}", "submitTime": {submit}, "totalMaps": 1, "mapTasks": [
                     {{"taskID": "t_m_0", "taskType": "MAP"}}]}}"#
            )
        };
        let text = job("a", 1_297_228_032_218) + &job("b", 1_297_228_039_218);
        let trace = read(text.as_bytes());
        for format in [Format::Swim, Format::SlsJobs, Format::JobTable, Format::RumenJobs] {
            let (made, _) = converted(&trace.entries(BLOCK), format, BLOCK);
            let submits: Vec<SimSpan> = made.jobs.iter().map(TraceJob::submit).collect();
            assert_eq!(submits, [SimSpan::ZERO, SimSpan::from_secs(7)], "{format}");
        }
    }
}
