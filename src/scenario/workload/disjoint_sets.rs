//! Disjoint sets of the numbers from zero (union-find).

/// Disjoint sets: each number leads to a smaller number of its set, and finally to the smallest.
pub(super) struct DisjointSets(Vec<usize>);

impl DisjointSets {
    /// Returns `count` numbers, each in a set of its own.
    pub(super) fn new(count: usize) -> Self {
        Self((0..count).collect())
    }

    /// Returns the smallest number in the set of a number.
    pub(super) fn first(&mut self, mut of: usize) -> usize {
        while self.0[of] != of {
            // Path halving: later searches take half as many steps.
            self.0[of] = self.0[self.0[of]];
            of = self.0[of];
        }
        of
    }

    /// Joins the sets of two numbers.
    pub(super) fn join(&mut self, one: usize, other: usize) {
        let (one, other) = (self.first(one), self.first(other));
        // The smaller number stays the first, so that families and chains keep the order of the
        // file.
        self.0[one.max(other)] = one.min(other);
    }
}
