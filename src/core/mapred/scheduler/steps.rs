//! Steps of policies, with which tests measure how the work of a policy grows.
//!
//! A step is a question to the view, a request for a task, or one item of a walk, a sort or a sum.
//! Seconds would depend on the machine; steps do not. Steps are counted only in builds with debug
//! assertions, such as tests.

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

/// Returns how many steps `act` takes.
pub fn steps_of(act: impl FnOnce()) -> u64 {
    if !cfg!(debug_assertions) {
        panic!("steps are counted where there are debug assertions");
    }
    let before = TAKEN.get();
    act();
    TAKEN.get() - before
}
