//! Positions in a sorted set.

use std::collections::BTreeSet;

/// Moves an entry of a sorted set from one position to another; `None` means outside the set.
pub fn move_entry<P: Ord>(line: &mut BTreeSet<P>, from: Option<P>, to: Option<P>) {
    if from != to {
        if let Some(from) = from {
            line.remove(&from);
        }
        line.extend(to);
    }
}
