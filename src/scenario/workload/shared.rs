//! Rules for the jobs of one list: each has its own name, and jobs that read the same file agree on
//! its blocks. The rules are the same for lists in a scenario, in a file and in a trace.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use super::jobs::JobEntry;
use mumakil_base::units::Bytes;

/// The names of all jobs of a list that were read so far, including the names that `count` makes.
#[derive(Debug, Default)]
pub struct TakenNames {
    /// How many jobs share each name, by `count`.
    counts: FxHashMap<Box<str>, u32>,
    /// The lowest number of names such as `a-7`, for each part before the dash.
    numbered: FxHashMap<String, u32>,
}

impl TakenNames {
    /// Adds the name of a job.
    ///
    /// # Errors
    /// If no job can have this name, or another job has it already.
    pub fn take(&mut self, job: &JobEntry) -> Result<(), String> {
        let (name, count) = (&job.name, job.count.get());
        if name.is_empty() {
            return Err("a job's name has at least one letter".to_owned());
        }
        if self.counts.contains_key(name.as_str()) {
            return Err(format!("another job is called `{name}` already"));
        }
        let copy = copy(name);
        if let Some((of, number)) = copy
            && self.counts.get(of).is_some_and(|&count| 1 < count && number <= count)
        {
            return Err(format!(
                "the jobs of `{of}` have a count, and one of them is called `{name}`"
            ));
        }
        // The same conflict the other way round: `a-2` came before `a` with its count.
        if let Some(number) =
            self.numbered.get(name).filter(|&&number| 1 < count && number <= count)
        {
            return Err(format!(
                "`{name}` has a count, and there is a job `{name}-{number}` already"
            ));
        }
        if let Some((of, number)) = copy {
            let lowest = self.numbered.entry(of.to_owned()).or_insert(number);
            *lowest = number.min(*lowest);
        }
        self.counts.insert(name.as_str().into(), count);
        Ok(())
    }
}

/// If a name looks like a copy, returns the name that is copied and the copy's number.
pub(crate) fn copy(name: &str) -> Option<(&str, u32)> {
    let (of, text) = name.rsplit_once('-')?;
    let number: u32 = text.parse().ok()?;
    // `a-07` and `a-0` are ordinary names: no count makes them.
    (0 < number && number.to_string() == text).then_some((of, number))
}

/// The hint for [`file_clashes`].
pub const ONE_SIZE: &str =
    "a file has blocks of one size: mend `maps` or `input`, or name another file";

/// Returns the jobs that split a file differently from the first job that reads it, each with the
/// conflict.
///
/// Map *i* reads block *i* of its file, and the blocks of a file have one size. So jobs that share
/// a file split it alike; each may read any length from the beginning. A single map may read less
/// than one of the cluster's blocks, as in traces: such a map does not show the block size of the
/// file.
pub fn file_clashes(jobs: &[JobEntry], block: Bytes) -> Vec<(usize, String)> {
    let reads = |job: &JobEntry| Some((job.map_count(block), job.input(block)?, job.split(block)));
    // The last map may read a tenth more than a block, by Hadoop's rule for splits.
    let fits_into = |bytes: Bytes, block: Bytes| bytes.get() * 10 <= block.get() * 11;
    let mut first: BTreeMap<&str, (&str, Bytes)> = BTreeMap::new();
    for job in jobs {
        // A single map does not show how large the blocks of its file are.
        if let (Some(file), Some((2.., _, split))) = (&job.file, reads(job)) {
            first.entry(file).or_insert((&job.name, split));
        }
    }
    let mut clashes = Vec::new();
    for (number, job) in jobs.iter().enumerate() {
        let Some(file) = &job.file else { continue };
        let Some((maps, input, split)) = reads(job) else { continue };
        // Skip files that only single maps read, each a part of the first block.
        let Some(&(other, blocks)) = first.get(file.as_str()) else { continue };
        // A single map may read any part of the first block.
        let (fits, split) = match maps {
            1 => (fits_into(input, blocks.max(block)), input),
            _ => (split == blocks || fits_into(split.max(blocks), block), split),
        };
        if !fits {
            let message = format!(
                "each map of `{}` reads {split} of `{file}`, but each of `{other}` reads {blocks}",
                job.name
            );
            clashes.push((number, message));
        }
    }
    clashes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn taken(jobs: &str) -> Vec<Result<(), String>> {
        let jobs: Vec<JobEntry> = serde_yaml::from_str(jobs).unwrap();
        let mut names = TakenNames::default();
        jobs.iter().map(|job| names.take(job)).collect()
    }

    #[test]
    fn a_copy_has_a_name_of_its_own_whichever_comes_first() {
        let refused = |jobs| taken(jobs).iter().map(Result::is_err).collect::<Vec<_>>();
        assert_eq!(
            refused("[{name: a, count: 2}, {name: a-2}, {name: a-3}]"),
            [false, true, false]
        );
        assert_eq!(refused("[{name: a-2}, {name: a, count: 2}]"), [false, true]);
        assert_eq!(refused("[{name: a-3}, {name: a, count: 2}]"), [false, false]);
        assert_eq!(refused("[{name: a-01}, {name: a-0}, {name: a, count: 2}]"), [false; 3]);
        assert_eq!(refused("[{name: a-1}, {name: a}, {name: a}]"), [false, false, true]);
    }

    #[test]
    fn parts_of_the_clusters_blocks_do_not_clash() {
        let clashes = |jobs: &str| {
            let jobs: Vec<JobEntry> = serde_yaml::from_str(jobs).unwrap();
            file_clashes(&jobs, Bytes::from_mib(64)).len()
        };
        let job = |name: &str, maps, mib| {
            format!("{{name: {name}, maps: {maps}, input: {mib}MiB, file: f}}")
        };
        let two = |a: &str, b: &str| clashes(&format!("[{a}, {b}]"));
        assert_eq!(two(&job("a", 2, 70), &job("b", 2, 128)), 0);
        assert_eq!(two(&job("a", 2, 70), &job("b", 1, 64)), 0);
        assert_eq!(two(&job("a", 2, 70), &job("b", 2, 200)), 1);
        assert_eq!(two(&job("a", 2, 200), &job("b", 4, 400)), 0);
        assert_eq!(two(&job("a", 2, 200), &job("b", 4, 200)), 1);
    }
}
