//! A run that is kept: its results, what it was and what it cost, in a folder.

use std::time::{Duration, Instant};

use super::{Emulated, EmulationError, Options, Prepared};
use crate::output::{Digest, Perf, RunFolder};
use crate::scenario::Registry;

/// A run whose results are in a folder.
#[derive(Debug)]
pub struct Kept {
    /// What it left beside its files.
    pub emulated: Emulated,
    /// The name of its files' bytes.
    pub digest: Digest,
    /// How long it took.
    pub real: Duration,
}

impl Prepared {
    /// Runs the scenario and fills a folder with what a run leaves; to commit it is the caller's.
    ///
    /// # Errors
    /// As [`super::emulate`], or if the folder cannot be written.
    pub fn fill(
        &self,
        folder: &RunFolder,
        registry: &Registry,
        options: Options,
    ) -> Result<Kept, EmulationError> {
        let began = now();
        let options = Options { folder: Some(folder.path().to_owned()), ..options };
        let emulated = self.emulate(registry, options)?;
        let real = began.elapsed();
        folder.write_scenario(&self.scenario.to_yaml())?;
        let digest = Digest::of(folder.path())?;
        Perf::new(real, emulated.summary.messages, &emulated.decision_time).write(folder)?;
        Ok(Kept { emulated, digest, real })
    }
}

#[expect(clippy::disallowed_methods, reason = "users wait by the wall clock")]
fn now() -> Instant {
    Instant::now()
}
