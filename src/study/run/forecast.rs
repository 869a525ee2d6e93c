//! Estimates the time and disk space of a study: does a few of its runs, and assumes that the other
//! runs are alike.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use crate::plan::runs::Plan;
use crate::run::work::WorkStep;
use mumakil_core::mapred::StopReason;
use mumakil_run::emulation::{EmulationError, Options, Prepared};
use mumakil_run::output::{AsideFolder, OutputError, ReplacedFiles, RunFolder};
use mumakil_scenario::Registry;

/// The largest number of runs that are tried.
// Chosen: `study plan` should answer while the user waits. `limit` bounds the time, too.
const MOST_SAMPLES: usize = 8;

/// The usual size of a disk block, in bytes.
// The block size of ext4 and most other file systems.
const BLOCK: u64 = 4096;

/// The time and disk space of the tried runs.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Forecast {
    /// The number of tried runs.
    pub samples: usize,
    /// The average real time of a run, in seconds.
    pub seconds: f64,
    /// The real time of the longest run, in seconds.
    pub longest_s: f64,
    /// The average disk space of a run, in bytes of whole blocks.
    pub bytes: f64,
}

impl Plan {
    /// Returns the runs to try: evenly spread from the first to the last, since runs mostly grow in
    /// that order.
    pub fn samples(runs: &[usize]) -> Vec<usize> {
        let last = runs.len().saturating_sub(1);
        let samples = runs.len().min(MOST_SAMPLES);
        (0..samples).map(|number| runs[number * last / (samples - 1).max(1)]).collect()
    }

    /// Does a few runs and returns their averages. When `limit` is reached, the current run is cut
    /// short and counts with its time so far; the first run is never cut short. No results are
    /// kept.
    ///
    /// # Errors
    /// If the first run cannot be done, or results cannot be written.
    pub fn forecast(
        &self,
        samples: &[usize],
        registry: &Registry,
        limit: Duration,
        mut tell: impl FnMut(WorkStep),
    ) -> Result<Forecast, EmulationError> {
        // This folder never gets its final name. It stays hidden, and is removed at the end, also
        // after Ctrl-C.
        let folder = std::env::temp_dir().join("mumakil-plan");
        let room = AsideFolder::create(&folder, ReplacedFiles::Anything)?;
        let (began, mut all) = (now(), Forecast::default());
        for run in samples.iter().copied() {
            let left = limit.saturating_sub(began.elapsed());
            let is_first = all.samples == 0;
            if !is_first && left.is_zero() {
                break;
            }
            tell(WorkStep::Begun { run });
            let tried = self.sample(run, room.path(), registry, (!is_first).then_some(left));
            // Count a failed run as done, too: the progress bar counts the tried runs.
            tell(WorkStep::Done { run, warnings: Vec::new() });
            match tried {
                Ok((seconds, bytes, is_cut)) => {
                    all.samples += 1;
                    all.seconds += seconds;
                    all.longest_s = all.longest_s.max(seconds);
                    all.bytes += bytes as f64;
                    // The limit is reached, so no time is left for another run.
                    if is_cut {
                        break;
                    }
                }
                // A failed run says nothing about the time of other runs. The study itself reports
                // the failure later.
                Err(error) if is_first || error.is_disk_error() => return Err(error),
                Err(_) => {}
            }
        }
        // There is at least one sample: if the first run had failed, the function would have
        // returned.
        all.seconds /= all.samples as f64;
        all.bytes /= all.samples as f64;
        Ok(all)
    }

    /// Does a run; returns its real time in seconds, its disk space in bytes, and whether it was
    /// cut short.
    fn sample(
        &self,
        run: usize,
        room: &Path,
        registry: &Registry,
        time_limit: Option<Duration>,
    ) -> Result<(f64, u64, bool), EmulationError> {
        let folder = RunFolder::create(&room.join("sample"), false)?;
        let began = now();
        let prepared = Prepared::new(self.scenario(&self.runs[run]), registry)?;
        let options = Options { time_limit, ..Options::default() };
        let kept = prepared.fill(&folder, registry, options)?;
        let seconds = began.elapsed().as_secs_f64();
        let is_cut = kept.emulated.stop == StopReason::TimeLimit
            || kept.alone == Some(StopReason::TimeLimit);
        Ok((seconds, bytes_of(folder.path())?, is_cut))
    }
}

/// Returns the disk space of a folder, in bytes of whole blocks.
fn bytes_of(folder: &Path) -> Result<u64, OutputError> {
    let error = |source| OutputError::Read { path: folder.to_owned(), source };
    // The folder itself takes a block.
    let mut bytes = BLOCK;
    for entry in fs::read_dir(folder).map_err(error)? {
        let entry = entry.map_err(error)?;
        let about = entry.metadata().map_err(error)?;
        bytes += if about.is_dir() {
            bytes_of(&entry.path())?
        } else {
            about.len().next_multiple_of(BLOCK)
        };
    }
    Ok(bytes)
}

#[expect(clippy::disallowed_methods, reason = "what is measured is real time")]
fn now() -> Instant {
    Instant::now()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_are_spread_from_the_first_to_the_last() {
        let samples = |runs: usize| Plan::samples(&(0..runs).collect::<Vec<_>>());
        assert!(samples(0).is_empty());
        assert_eq!(samples(1), [0]);
        assert_eq!(samples(3), [0, 1, 2]);
        assert_eq!(samples(50), [0, 7, 14, 21, 28, 35, 42, 49]);
    }
}
