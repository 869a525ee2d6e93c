//! A disk that fails, for tests: only in builds with debug assertions.

use std::io;
use std::path::{Path, PathBuf};

use parking_lot::Mutex;

/// A folder in which disk operations fail until this value is dropped. Other tests of the process
/// use other folders.
pub struct Failing(PathBuf);

struct Plan {
    below: PathBuf,
    /// How many operations succeed first.
    good: usize,
    /// How many operations fail after these.
    bad: usize,
    /// The path at which the first operation failed.
    failed: Option<PathBuf>,
}

static PLANS: Mutex<Vec<Plan>> = Mutex::new(Vec::new());

impl Failing {
    /// Lets `good` operations succeed and the next `bad` ones fail.
    pub fn new(below: &Path, good: usize, bad: usize) -> Self {
        if !cfg!(debug_assertions) {
            panic!("a disk fails only with debug assertions");
        }
        let below = below.to_owned();
        PLANS.lock().push(Plan { below: below.clone(), good, bad, failed: None });
        Self(below)
    }

    /// Returns the path at which the first operation failed; `None` if none has.
    pub fn failed(&self) -> Option<PathBuf> {
        let plans = PLANS.lock();
        plans.iter().find(|plan| plan.below == self.0).and_then(|plan| plan.failed.clone())
    }
}

impl Drop for Failing {
    fn drop(&mut self) {
        PLANS.lock().retain(|plan| plan.below != self.0);
    }
}

pub(super) fn ask(path: &Path) -> io::Result<()> {
    let mut plans = PLANS.lock();
    let Some(plan) = plans.iter_mut().find(|plan| path.starts_with(&plan.below)) else {
        return Ok(());
    };
    if 0 < plan.good {
        plan.good -= 1;
        return Ok(());
    }
    if plan.bad == 0 {
        return Ok(());
    }
    plan.bad -= 1;
    plan.failed.get_or_insert_with(|| path.to_owned());
    Err(io::Error::new(io::ErrorKind::StorageFull, "no room, says a test"))
}
