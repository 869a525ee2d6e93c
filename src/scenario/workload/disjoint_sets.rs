//! Which of the numbers from zero belong together.

/// Disjoint sets of numbers: each leads to a smaller one of its set, and at last to the first of it.
pub(super) struct DisjointSets(Vec<usize>);

impl DisjointSets {
    /// Returns so many numbers, each a set by itself.
    pub(super) fn new(count: usize) -> Self {
        Self((0..count).collect())
    }

    /// Returns the first number of a set, by one of it.
    pub(super) fn first(&mut self, mut of: usize) -> usize {
        while self.0[of] != of {
            // Path halving: later searches take half as many steps.
            self.0[of] = self.0[self.0[of]];
            of = self.0[of];
        }
        of
    }

    /// Makes one set of two, by a number of each.
    pub(super) fn join(&mut self, one: usize, other: usize) {
        let (one, other) = (self.first(one), self.first(other));
        // The smaller number stays the first: families and chains keep the order of the file.
        self.0[one.max(other)] = one.min(other);
    }
}
