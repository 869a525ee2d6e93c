//! Steps of policies, by which tests tell how their work grows.
//!
//! A step is a question to the view, a task asked for, or one of many in a walk, a sort or a sum. Seconds
//! would depend on the machine, steps do not. They are counted where there are debug
//! assertions, as in tests; elsewhere this is nothing.

use std::cell::Cell;

thread_local! {
    static TAKEN: Cell<u64> = const { Cell::new(0) };
}

/// Counts a step.
#[inline(always)]
pub fn step() {
    if cfg!(debug_assertions) {
        TAKEN.with(|taken| taken.set(taken.get() + 1));
    }
}

/// Returns how many steps something takes.
pub fn steps_of(act: impl FnOnce()) -> u64 {
    if !cfg!(debug_assertions) {
        panic!("steps are counted where there are debug assertions");
    }
    let before = TAKEN.get();
    act();
    TAKEN.get() - before
}
