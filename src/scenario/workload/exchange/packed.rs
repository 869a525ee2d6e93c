//! The jobs of a trace in little memory, on their way into another format.
//!
//! A job is kept as a line of JSON with the fields that differ from their defaults: that is a hundred
//! bytes or two, where the job itself takes some thousand. So a trace of a million jobs fits.

use std::collections::BTreeSet;

use memchr::memchr;
use serde_yaml::{Mapping, Value};

use crate::workload::jobs::JobEntry;
use mumakil_base::units::{Bytes, SimSpan};
use mumakil_yaml as yaml;

/// The jobs of a trace in little memory.
#[derive(Debug, Default)]
pub struct PackedJobs {
    /// The size of a block.
    pub(super) block: Bytes,
    /// The lines in pieces, since one growing piece would be copied, and need twice its memory then.
    lines: Vec<Vec<u8>>,
    pub(super) jobs: Vec<PackedJob>,
    /// The fields that at least one job says.
    said: BTreeSet<String>,
    pub(super) tasks: u64,
    /// The time from which submissions count.
    since: SimSpan,
}

/// A job: one of the copies of an entry.
#[derive(Clone, Copy, Debug)]
pub(super) struct PackedJob {
    pub(super) submit: SimSpan,
    /// The piece with the line of its entry, and where the line begins there.
    line: [u32; 2],
    /// Its number among the copies, from 0.
    copy: u32,
}

impl PackedJobs {
    /// Returns no jobs yet. `block` is the size of a block.
    pub fn new(block: Bytes) -> Self {
        Self { block, ..Self::default() }
    }

    /// Returns these jobs.
    pub fn of<'a>(entries: impl IntoIterator<Item = &'a JobEntry>, block: Bytes) -> Self {
        let mut packed = Self::new(block);
        entries.into_iter().for_each(|entry| packed.push(entry));
        packed
    }

    /// Adds the jobs of an entry.
    pub fn push(&mut self, entry: &JobEntry) {
        let fields = entry.said();
        let json = serde_json::to_vec(&fields).expect("memory can be written");
        let line = self.keep(json);
        for field in fields.keys().filter_map(Value::as_str) {
            if !self.said.contains(field) {
                self.said.insert(field.to_owned());
            }
        }
        self.tasks = self.tasks.saturating_add(entry.tasks(self.block));
        self.jobs.extend((0..entry.count.get()).map(|copy| PackedJob {
            submit: entry.submit + entry.every * u64::from(copy),
            line,
            copy,
        }));
    }

    /// Keeps a line. Returns the number of its piece, and where it begins there.
    fn keep(&mut self, mut line: Vec<u8>) -> [u32; 2] {
        // Chosen: large against a line, and small against the memory of a machine.
        const PIECE: usize = 1 << 20;
        line.push(b'\n');
        if self.lines.last().is_none_or(|piece| piece.capacity() < piece.len() + line.len()) {
            self.lines.push(Vec::with_capacity(PIECE.max(line.len())));
        }
        let number = self.lines.len() - 1;
        let piece = &mut self.lines[number];
        let begin = piece.len();
        piece.extend(line);
        [number as u32, begin as u32]
    }

    /// Sorts the jobs by their submission, and counts time from the first: with times since 1970, the
    /// first job would arrive after decades on an idle cluster.
    pub fn count_from_first(&mut self) {
        self.jobs.sort_by_key(|job| job.submit);
        self.since = self.jobs.first().map_or(SimSpan::ZERO, |first| first.submit);
        if self.jobs.iter().all(|job| job.submit == self.since) {
            self.said.remove("submit");
        }
    }

    /// Returns whether at least one job says a field.
    pub fn say(&self, field: &str) -> bool {
        self.said.contains(field)
    }

    /// Returns the fields of each entry, without those that have their defaults.
    pub fn entries(&self) -> impl Iterator<Item = Mapping> {
        self.jobs.iter().filter(|job| job.copy == 0).map(|job| self.fields(*job))
    }

    fn fields(&self, job: PackedJob) -> Mapping {
        let [piece, begin] = job.line;
        let rest = &self.lines[piece as usize][begin as usize..];
        let end = memchr(b'\n', rest).expect("each line has an end");
        let mut fields: Mapping = serde_json::from_slice(&rest[..end]).expect("it was written so");
        if !self.since.is_zero() {
            match fields.remove("submit") {
                Some(_) if job.submit == self.since => {}
                Some(_) => {
                    let submit = (job.submit - self.since).to_string();
                    fields.insert("submit".into(), submit.into());
                }
                None => {}
            }
        }
        fields
    }

    /// Returns the entries one by one, as a list has them.
    pub fn listed(&self) -> impl Iterator<Item = JobEntry> {
        self.jobs.iter().filter(|job| job.copy == 0).map(|job| self.entry(*job))
    }

    pub(super) fn job(&self, job: PackedJob) -> JobEntry {
        self.entry(job).copy(job.copy)
    }

    fn entry(&self, job: PackedJob) -> JobEntry {
        let fields = Value::Mapping(self.fields(job));
        yaml::read_whole(&fields).expect("it was an entry")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packed(jobs: &str) -> (Vec<JobEntry>, PackedJobs) {
        let jobs: Vec<JobEntry> = serde_yaml::from_str(jobs).unwrap();
        let packed = PackedJobs::of(&jobs, Bytes::from_mib(64));
        (jobs, packed)
    }

    #[test]
    fn a_job_comes_out_as_it_was_put_in() {
        let (jobs, packed) = packed(
            "[{name: a, maps: 3, map_time: [1s, 1ms, 2h], noise: {log_normal: {mean: 1, cv: 0.1}}}, \
             {name: \"b\\n\", after: [a], submit: 333ms, map_rate: 12MB/s, slow_start: 0.3333333333333333}]",
        );
        let out: Vec<JobEntry> = packed.jobs.iter().map(|job| packed.job(*job)).collect();
        assert_eq!(out, jobs);
        assert_eq!(packed.tasks, 3);
    }

    #[test]
    fn time_counts_from_the_first_job() {
        let (_, mut packed) = packed("[{name: b, submit: 9s}, {name: a, submit: 7s}]");
        packed.count_from_first();
        let jobs = packed.jobs.iter().map(|job| packed.job(*job));
        let told: Vec<String> = jobs.map(|job| format!("{} {}", job.name, job.submit)).collect();
        assert_eq!(told, ["a 0s", "b 2s"]);
    }
}
