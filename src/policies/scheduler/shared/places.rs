//! Places in a line that is kept in order.

use std::collections::BTreeSet;

/// Moves a job or pool from its place in a line, if it has one, to another, if it gets one.
pub fn move_place<P: Ord>(line: &mut BTreeSet<P>, from: Option<P>, to: Option<P>) {
    if from != to {
        if let Some(from) = from {
            line.remove(&from);
        }
        line.extend(to);
    }
}
