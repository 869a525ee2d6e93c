//! The numbers of tasks of a SWIM job, derived from its bytes, and its entry in a list.

use super::record::SwimJob;
use mumakil_base::units::{Bytes, Count};
use mumakil_scenario::workload::JobEntry;

/// The bytes that a reduce fetches unless the scenario sets them. Chosen after Hive, whose default
/// was a reduce for each gigabyte of input (`hive.exec.reducers.bytes.per.reducer`).
const BYTES_PER_REDUCE: Bytes = Bytes::from_mib(1_024);

/// The numbers of tasks of a job.
pub(super) struct TaskCounts {
    pub(super) maps: u64,
    pub(super) reduces: u64,
}

impl TaskCounts {
    /// Returns a map for each started block, and a reduce for each started `per_reduce` bytes.
    pub(super) fn of(job: &SwimJob, block: Bytes, per_reduce: Option<Bytes>) -> Self {
        let per_reduce = per_reduce.unwrap_or(BYTES_PER_REDUCE);
        Self {
            // `FileInputFormat` makes one split even of an empty file.
            maps: job.input.get().div_ceil(block.get()).max(1),
            reduces: job.shuffle.get().div_ceil(per_reduce.get()),
        }
    }

    /// Returns a job with these numbers of tasks.
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
