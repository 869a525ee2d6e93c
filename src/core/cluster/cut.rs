//! A partition of the network: nodes that are cut off from all others for a time.

use std::collections::BTreeSet;

use super::TrackerId;
use mumakil_base::units::SimTime;

/// Nodes that are cut off for a time: they reach each other, but no other machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NetworkCut {
    /// When the cut begins.
    pub from: SimTime,
    /// When the cut ends; at this instant it no longer holds.
    pub until: SimTime,
    /// The nodes that are cut off. The JobTracker's machine is never cut off.
    pub nodes: BTreeSet<TrackerId>,
}

impl NetworkCut {
    /// Returns whether the cut holds at an instant.
    pub fn holds(&self, at: SimTime) -> bool {
        // The end is not part of the cut: a message that leaves at that instant arrives.
        self.from <= at && at < self.until
    }

    /// Returns whether the cut lies between two machines; `None` stands for the JobTracker.
    pub fn parts(&self, one: Option<TrackerId>, other: Option<TrackerId>) -> bool {
        let is_in = |machine: Option<TrackerId>| machine.is_some_and(|id| self.nodes.contains(&id));
        // Two nodes on the same side of the cut reach each other.
        is_in(one) != is_in(other)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mumakil_base::units::SimSpan;

    #[test]
    fn a_cut_lies_between_its_nodes_and_all_others_for_its_time() {
        let at = |secs| SimTime::ZERO + SimSpan::from_secs(secs);
        let cut =
            NetworkCut { from: at(2), until: at(5), nodes: [TrackerId(1), TrackerId(2)].into() };
        assert_eq!([1, 2, 4, 5].map(|secs| cut.holds(at(secs))), [false, true, true, false]);
        let [job_tracker, zero, one, two] =
            [None, Some(TrackerId(0)), Some(TrackerId(1)), Some(TrackerId(2))];
        assert!(cut.parts(one, zero) && cut.parts(job_tracker, two));
        assert!(!cut.parts(one, two) && !cut.parts(zero, job_tracker));
    }
}
