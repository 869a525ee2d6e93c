//! The signs of life of this process, while it works on a study.
//!
//! ```text
//! 0 s     the first sign: the runs that it has to do   an error ends the study
//! 2 s     soon, for a user who looks at once           errors are ignored
//! 12 s …  every ten seconds                            errors are ignored
//! end     how it has ended                             an error ends the study
//! ```

use std::fs::File;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;

use crate::interrupt;
use crate::progress::RunBar;
use crate::ticker::Ticker;
use mumakil_run::output::{OutputError, machine};
use mumakil_study::{
    ALONE, EVERY, End, FolderAccess, Life, LifeSign, WallInstant, take_over, write_sign,
};

/// The time from the first sign to the second.
// Chosen: by then the first runs have begun, and short ones have ended.
const SOON: Duration = Duration::from_secs(2);

/// The signs of life of this process. The workers, the thread that writes the signs, and the signal
/// handler share them.
#[derive(Clone, Debug, Default)]
pub struct AtWork(Arc<Mutex<Option<LifeSigns>>>);

#[derive(Debug)]
struct LifeSigns {
    folder: PathBuf,
    /// The name of the signs, unique to the process.
    name: String,
    life: Life,
    /// The number of runs that have ended in this process.
    ended: u64,
    /// The locked file of the latest sign; the lock shows that the process lives.
    lock: Option<File>,
}

impl AtWork {
    /// Handles the signals that end the process, and writes a last sign before it ends.
    pub fn guard(&self, bar: &RunBar) {
        let at_work = self.clone();
        interrupt::guard_with(bar, "; start it again to go on", move || {
            drop(at_work.ends(End::ToldToEnd, None));
        });
    }

    /// Begins the signs for the study in a folder. They end when the returned value is dropped.
    pub fn begin(&self, folder: PathBuf, share: FolderAccess) -> Result<SignsOfLife, OutputError> {
        let mut life = Life::begin(machine(), std::process::id(), WallInstant::now());
        let name = match share {
            FolderAccess::Alone => {
                life.knows_slow(take_over(&folder)?);
                ALONE.to_owned()
            }
            FolderAccess::Together => life.name(),
        };
        // Write no sign yet: `has`, which knows the number of runs, writes the first.
        *self.0.lock() = Some(LifeSigns { folder, name: name.clone(), life, ended: 0, lock: None });
        let signing = self.clone();
        let _ticker = Ticker::new([SOON, EVERY], move || drop(signing.sign()));
        Ok(SignsOfLife { at_work: self.clone(), name, _ticker })
    }

    /// Sets the number of runs to do and how many are done, and writes a sign.
    pub fn has(&self, runs: usize, done: usize) -> Result<(), OutputError> {
        self.change(|voice| voice.life.has(runs as u64, done as u64));
        self.sign()
    }

    /// Adds the slow runs of other processes.
    pub fn knows_slow(&self, signs: Vec<LifeSign>) {
        let slow = signs.into_iter().flat_map(|sign| sign.life.slowest);
        self.change(|voice| voice.life.knows_slow(slow));
    }

    /// Notes that a run has begun.
    pub fn begins(&self, run: &str, what: String) {
        self.change(|voice| voice.life.begins(run, what, WallInstant::now()));
    }

    /// Notes that a run is done.
    pub fn has_done(&self, run: &str) {
        self.change(|voice| {
            voice.ended += 1;
            voice.life.has_done(run, WallInstant::now());
        });
    }

    /// Notes that a run has failed.
    pub fn has_failed(&self, run: &str) {
        self.change(|voice| {
            voice.ended += 1;
            voice.life.has_failed(run);
        });
    }

    /// Subtracts runs that other processes do from the runs of this process.
    pub fn leaves(&self, runs: usize) {
        self.change(|voice| voice.life.leaves(runs as u64));
    }

    /// Writes the last sign, which says how the process ended; only the first call has an effect.
    pub fn ends(&self, how: End, why: Option<String>) -> Result<(), OutputError> {
        let mut voice = self.0.lock();
        let Some(voice) = voice.as_mut().filter(|voice| voice.life.ended.is_none()) else {
            return Ok(());
        };
        voice.life.ends(how, why);
        voice.sign()
    }

    /// Changes the content of the next sign, unless the last sign is written.
    fn change(&self, how: impl FnOnce(&mut LifeSigns)) {
        if let Some(voice) = self.0.lock().as_mut().filter(|voice| voice.life.ended.is_none()) {
            how(voice);
        }
    }

    fn sign(&self) -> Result<(), OutputError> {
        match self.0.lock().as_mut().filter(|voice| voice.life.ended.is_none()) {
            Some(voice) => voice.sign(),
            None => Ok(()),
        }
    }
}

impl LifeSigns {
    fn sign(&mut self) -> Result<(), OutputError> {
        self.life.record_sign(self.ended, WallInstant::now());
        // The assignment drops the old lock after the new one is held, so readers always see a
        // lock.
        self.lock = write_sign(&self.folder, &self.name, &self.life)?;
        Ok(())
    }
}

/// Signs that are written until this value is dropped. Dropping writes a last sign, which says that
/// the work failed, unless a last sign is written already.
#[derive(Debug)]
pub struct SignsOfLife {
    at_work: AtWork,
    /// The name of the signs.
    pub name: String,
    _ticker: Ticker,
}

impl Drop for SignsOfLife {
    fn drop(&mut self) {
        let _ = self.at_work.ends(End::Failed, None);
    }
}
