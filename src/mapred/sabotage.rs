//! Mistakes planted on purpose, in tests only, to see that the invariant checker finds them.

/// A mistake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sabotage {
    /// A tracker counts a slot that is freed twice.
    SlotFreedTwice,
    /// The JobTracker overlooks that the first map of the first job has succeeded.
    SuccessDropped,
    /// The JobTracker does not note that it has launched the first map of the first job.
    LaunchForgotten,
}

#[cfg(test)]
thread_local! {
    /// The mistake that runs on this thread make.
    pub(crate) static PLANTED: std::cell::Cell<Option<Sabotage>> =
        const { std::cell::Cell::new(None) };
}

impl Sabotage {
    /// Returns whether this mistake is to be made.
    #[cfg(test)]
    pub(super) fn is_planted(self) -> bool {
        PLANTED.get() == Some(self)
    }

    /// Returns that it is not: only tests plant mistakes.
    #[cfg(not(test))]
    pub(super) const fn is_planted(self) -> bool {
        false
    }
}
