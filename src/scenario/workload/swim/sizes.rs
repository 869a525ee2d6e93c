//! How many tasks a job of a SWIM trace has, and the job that a scenario would list, by its bytes.

use super::record::SwimJob;
use crate::workload::jobs::JobEntry;
use mumakil_base::units::{Bytes, Count};

/// The most that a job reads, shuffles or writes, however it is scaled.
/// What a reduce fetches unless the scenario says otherwise.
const BYTES_PER_REDUCE: Bytes = Bytes::from_mib(1_024);

/// What a job reads, shuffles and writes.
pub(super) struct Sizes {
    pub(super) input: Bytes,
    pub(super) shuffle: Bytes,
    pub(super) output: Bytes,
}

/// How many tasks a job has.
pub(super) struct Tasks {
    pub(super) maps: u64,
    pub(super) reduces: u64,
}

impl Sizes {
    /// Returns a map for each block that is begun, and a reduce for each so many bytes.
    pub(super) fn tasks(&self, block: Bytes, per_reduce: Option<Bytes>) -> Tasks {
        let per_reduce = per_reduce.unwrap_or(BYTES_PER_REDUCE);
        Tasks {
            maps: self.input.get().div_ceil(block.get()).max(1),
            reduces: self.shuffle.get().div_ceil(per_reduce.get()),
        }
    }

    /// Returns a job of these sizes.
    pub(super) fn entry(
        &self,
        job: &SwimJob,
        Tasks { maps, reduces }: Tasks,
    ) -> Result<JobEntry, String> {
        let count = |tasks: u64| u32::try_from(tasks).ok().and_then(Count::new);
        Ok(JobEntry {
            maps: Some(count(maps).ok_or_else(|| format!("{maps} maps are too many"))?),
            reduces: count(reduces).ok_or_else(|| format!("{reduces} reduces are too many"))?,
            input: Some(self.input),
            shuffle: self.shuffle,
            output: self.output,
            file: job.input_path.clone().filter(|path| !path.is_empty()),
            ..JobEntry::named(&job.id)
        })
    }
}
