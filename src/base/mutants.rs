//! Wrong versions of single mechanisms, each at its place in the source. A build with assertions has them, and one
//! may be chosen there by name; a program without assertions has neither them nor their names.
//!
//! ```
//! # let (size, left) = (3, 2);
//! use mumakil_base::mutated;
//!
//! let key = mutated!(left, "doc/by-size" => size, "doc/by-nothing" => 0);
//! # assert_eq!(key, 2);
//! ```

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, RwLock};

/// Whether any mutant is chosen: the answer is no wherever no experiment is judged.
static IS_ANY: AtomicBool = AtomicBool::new(false);
/// The chosen mutant.
static CHOSEN: RwLock<String> = RwLock::new(String::new());
/// Whether the chosen mutant's place was reached.
static IS_MET: AtomicBool = AtomicBool::new(false);
/// Held by the choice.
static CHOICE: Mutex<()> = Mutex::new(());

/// The first expression, or in its place the one whose mutant is chosen.
#[macro_export]
macro_rules! mutated {
    ($right:expr, $($name:literal => $wrong:expr),+ $(,)?) => {
        $(if $crate::mutants::mutant($name) { $wrong } else)+ { $right }
    };
}

/// Returns whether the mutant of this name is chosen: for [`mutated!`](crate::mutated) alone.
#[inline(always)]
pub fn mutant(name: &str) -> bool {
    cfg!(debug_assertions) && IS_ANY.load(Ordering::Relaxed) && is_chosen(name)
}

fn is_chosen(name: &str) -> bool {
    let is_chosen = *CHOSEN.read().expect("no writer panics") == name;
    if is_chosen {
        IS_MET.store(true, Ordering::Relaxed);
    }
    is_chosen
}

/// The choice of a mutant, for the whole process: a second choice waits until the first has ended.
#[derive(Debug)]
pub struct ChosenMutant(
    #[expect(dead_code, reason = "held until the choice ends")] MutexGuard<'static, ()>,
);

impl ChosenMutant {
    /// Chooses the mutant of this name.
    pub fn of(name: &str) -> Self {
        let choice = CHOICE.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        name.clone_into(&mut CHOSEN.write().expect("no writer panics"));
        IS_MET.store(false, Ordering::Relaxed);
        IS_ANY.store(true, Ordering::Relaxed);
        Self(choice)
    }

    /// Returns whether its place was reached.
    pub fn is_met(&self) -> bool {
        IS_MET.load(Ordering::Relaxed)
    }
}

impl Drop for ChosenMutant {
    fn drop(&mut self) {
        IS_ANY.store(false, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mutant_is_there_while_it_is_chosen() {
        let number = || mutated!(1, "doc/two" => 2, "doc/three" => 3);
        assert_eq!(number(), 1);
        let chosen = ChosenMutant::of("doc/three");
        assert!(!mutant("doc/four") && !chosen.is_met());
        assert!(number() == 3 && chosen.is_met());
        drop(chosen);
        assert_eq!(number(), 1);
    }
}
