//! Steps of policies, by which tests tell how their work grows.
//!
//! A step is a question to the view, a task asked for, or one of many in a walk, a sort or a sum. Seconds
//! would depend on the machine, steps do not. Only tests count them; elsewhere this is nothing.

#[cfg(test)]
use std::cell::Cell;

#[cfg(test)]
thread_local! {
    static TAKEN: Cell<u64> = const { Cell::new(0) };
}

/// Counts a step.
#[inline(always)]
pub(crate) fn step() {
    #[cfg(test)]
    TAKEN.with(|taken| taken.set(taken.get() + 1));
}

/// Returns how many steps something takes.
#[cfg(test)]
pub(crate) fn steps_of(act: impl FnOnce()) -> u64 {
    let before = TAKEN.get();
    act();
    TAKEN.get() - before
}
