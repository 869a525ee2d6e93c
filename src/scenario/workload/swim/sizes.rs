//! How many tasks a job of a SWIM trace has, and the job that a scenario would list, by its bytes.

use super::record::SwimJob;
use crate::workload::jobs::JobEntry;
use mumakil_base::units::{Bytes, Count};

/// The bytes that a reduce fetches unless the scenario says otherwise. Chosen; Hive's default was a
/// reduce for each gigabyte of input (`hive.exec.reducers.bytes.per.reducer`).
const BYTES_PER_REDUCE: Bytes = Bytes::from_mib(1_024);

/// How many tasks a job has.
pub(super) struct TaskCounts {
    pub(super) maps: u64,
    pub(super) reduces: u64,
}

impl TaskCounts {
    /// Returns a map for each block that is begun, and a reduce for each so many bytes.
    pub(super) fn of(job: &SwimJob, block: Bytes, per_reduce: Option<Bytes>) -> Self {
        let per_reduce = per_reduce.unwrap_or(BYTES_PER_REDUCE);
        Self {
            // `FileInputFormat` makes one split of an empty file as well.
            maps: job.input.get().div_ceil(block.get()).max(1),
            reduces: job.shuffle.get().div_ceil(per_reduce.get()),
        }
    }

    /// Returns a job that has so many.
    pub(super) fn entry(&self, job: &SwimJob) -> Result<JobEntry, String> {
        let Self { maps, reduces } = *self;
        let count = |tasks: u64| u32::try_from(tasks).ok().and_then(Count::new);
        Ok(JobEntry {
            maps: Some(count(maps).ok_or_else(|| format!("{maps} maps are too many"))?),
            reduces: count(reduces).ok_or_else(|| format!("{reduces} reduces are too many"))?,
            input: Some(job.input),
            shuffle: job.shuffle,
            output: job.output,
            file: job.input_path.clone().filter(|path| !path.is_empty()),
            ..JobEntry::named(&job.id)
        })
    }
}
