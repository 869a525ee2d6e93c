//! Jobs that outnumber the slots, of one weight: the first in turn have a slot each, and whoever ends
//! leaves it to the next.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use mumakil_core::mapred::step;

/// Who has a slot, and when each of them ends. A key says who it is, and goes before a larger one.
#[derive(Debug)]
pub(super) struct Line<K: Ord> {
    /// Instants are not negative, and so their bits have their order.
    ends: BinaryHeap<Reverse<(u64, K)>>,
}

impl<K: Ord + Copy> Line<K> {
    /// Returns a line whose first have their slots from an instant on, each with the work that is left.
    pub(super) fn new(now: f64, first: impl Iterator<Item = (K, f64)>) -> Self {
        Self { ends: first.map(|(key, left)| Reverse(((now + left).to_bits(), key))).collect() }
    }

    /// Returns who ends next, and when, if anybody does.
    pub(super) fn next(&self) -> Option<(f64, K)> {
        let next = self.ends.peek().map(|Reverse((at, key))| (f64::from_bits(*at), *key));
        next.filter(|(at, _)| at.is_finite())
    }

    /// Ends the next one, whose slot goes to another one of whom so much is left.
    pub(super) fn end_next(&mut self, key: K, left: f64) {
        step();
        if let Some(mut next) = self.ends.peek_mut() {
            let at = f64::from_bits(next.0.0);
            // It sinks to its place when it is let go.
            *next = Reverse(((at + left).to_bits(), key));
        }
    }

    /// Returns who has a slot now, and when they would end.
    pub(super) fn into_ends(self) -> impl Iterator<Item = (K, f64)> {
        self.ends.into_iter().map(|Reverse((at, key))| (key, f64::from_bits(at)))
    }
}
