//! Estimates the time and disk space of a study: a few of its runs are done, the others are taken
//! to be alike.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use crate::plan::runs::Plan;
use crate::run::work::WorkStep;
use mumakil_core::mapred::StopReason;
use mumakil_run::emulation::{EmulationError, Options, Prepared};
use mumakil_run::output::{AsideFolder, OutputError, ReplacedFiles, RunFolder};
use mumakil_scenario::Registry;

/// At most so many runs are tried.
// Chosen: `study plan` should answer while the user waits; `limit` bounds it, too.
const MOST_SAMPLES: usize = 8;

/// The usual block of a disk.
// The block of ext4 and most other file systems.
const BLOCK: u64 = 4096;

/// The average time and space of the runs that were tried.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Forecast {
    /// How many were tried.
    pub samples: usize,
    /// Real seconds of one of them on average.
    pub seconds: f64,
    /// Real seconds of the longest.
    pub longest_s: f64,
    /// Bytes of one of them on average, as a disk gives them out.
    pub bytes: f64,
}

impl Plan {
    /// Chooses runs to try, evenly spread, with the first and the last, since sizes mostly grow
    /// from the one to the other.
    pub fn samples(runs: &[usize]) -> Vec<usize> {
        let last = runs.len().saturating_sub(1);
        let samples = runs.len().min(MOST_SAMPLES);
        (0..samples).map(|number| runs[number * last / (samples - 1).max(1)]).collect()
    }

    /// Does a few runs and returns their averages. After `limit` no further run is begun; one that
    /// is going on then is cut short and counts with its time so far. No results are kept.
    ///
    /// # Errors
    /// If the first cannot be done, or nothing can be written.
    pub fn forecast(
        &self,
        samples: &[usize],
        registry: &Registry,
        limit: Duration,
        mut tell: impl FnMut(WorkStep),
    ) -> Result<Forecast, EmulationError> {
        // This folder is never put in its place. Being hidden, it is removed at the end, also by
        // Ctrl-C.
        let room = std::env::temp_dir().join("mumakil-plan");
        let room = AsideFolder::create(&room, ReplacedFiles::Anything)?;
        let (began, mut all) = (now(), Forecast::default());
        for run in samples.iter().copied() {
            let left = limit.saturating_sub(began.elapsed());
            let is_first = all.samples == 0;
            if !is_first && left.is_zero() {
                break;
            }
            tell(WorkStep::Begun { run });
            let tried = self.sample(run, room.path(), registry, (!is_first).then_some(left));
            // Also for one that failed: the bar counts tries.
            tell(WorkStep::Done { run, warnings: Vec::new() });
            match tried {
                Ok((seconds, bytes, is_cut)) => {
                    all.samples += 1;
                    all.seconds += seconds;
                    all.longest_s = all.longest_s.max(seconds);
                    all.bytes += bytes as f64;
                    // The limit is reached, so no time is left for another.
                    if is_cut {
                        break;
                    }
                }
                // A failed run says nothing about the time of others; the study itself reports it
                // later.
                Err(error) if is_first || error.is_of_the_disk() => return Err(error),
                Err(_) => {}
            }
        }
        // At least one: if the first fails, the function has returned.
        all.seconds /= all.samples as f64;
        all.bytes /= all.samples as f64;
        Ok(all)
    }

    /// Does a run; returns its seconds and bytes, and whether it was cut short.
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

/// Returns the room of a folder on a disk, which gives out blocks.
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
