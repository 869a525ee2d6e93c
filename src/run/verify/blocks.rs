//! Derives from the facts which nodes can serve a block. They are the nodes that had the block at
//! first and have not lost it, and the nodes that got a copy later.
//!
//! A map may look for its block before or after another event of the same instant. So there are two
//! answers: the nodes that were possibly readable, and whether at least one was certainly readable.

use std::collections::BTreeMap;

use super::{Check, InvariantBreach};
use mumakil_base::dense::grown;
use mumakil_base::units::SimTime;
use mumakil_core::cluster::Hdfs;
use mumakil_core::mapred::{AttemptId, Block, Incident, Input, JobId, TrackerId};

#[derive(Debug, Default)]
pub(super) struct Blocks {
    /// The initial places of blocks; `None` if unknown.
    files: Option<Hdfs>,
    /// Whether any machine has been off or has lost a disk.
    is_struck: bool,
    machines: Vec<CheckedMachine>,
    /// Copies that were made during the run, including copies removed at the current instant.
    copies: BTreeMap<Block, Vec<CheckedCopy>>,
}

#[derive(Clone, Debug, Default)]
struct CheckedMachine {
    /// Whether its tracker was ever up; until then its machine counts as on.
    is_there: bool,
    /// When the machine went off; `None` while it is on.
    off: Option<SimTime>,
    /// When the machine last came on again; `None` if it never did.
    on: Option<SimTime>,
    /// The instants at which the content of its disks was lost.
    lost: Vec<SimTime>,
    /// The number of re-replications because of this machine that have begun and not ended.
    copyings: u32,
}

#[derive(Clone, Copy, Debug)]
struct CheckedCopy {
    tracker: TrackerId,
    made: SimTime,
    removed: Option<SimTime>,
}

/// The nodes from which a block could be read at an instant.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Sources {
    pub(super) possible: Vec<TrackerId>,
    /// Whether at least one of the possible nodes was certainly readable.
    pub(super) is_sure: bool,
    /// Whether at least one node that had the block at first was certainly not readable.
    pub(super) is_struck: bool,
}

impl CheckedMachine {
    /// Returns whether the machine was possibly on at an instant, and whether it certainly was.
    fn was_on(&self, at: SimTime) -> [bool; 2] {
        // A machine that goes off at this very instant may go off after the read, so it was
        // possibly on.
        let was_off = self.is_there && self.off.is_some_and(|off| off < at);
        [!was_off, self.off.is_none() && self.on.is_none_or(|on| on < at)]
    }

    /// Returns whether the machine possibly kept its disks from `since` until `at`, and whether it
    /// certainly did.
    fn has_kept(&self, since: SimTime, at: SimTime) -> [bool; 2] {
        let mut lost = self.lost.iter().filter(|lost| since <= **lost);
        // A loss at this very instant may come after the read: the disks were possibly kept, but
        // not certainly.
        [lost.clone().all(|lost| *lost == at), lost.next().is_none()]
    }
}

impl Blocks {
    /// Returns the blocks of a file system before any loss or copy.
    pub(super) fn of(files: Hdfs) -> Self {
        Self { files: Some(files), ..Self::default() }
    }

    /// Returns the nodes from which a map could read its block at an instant. Returns `None` while
    /// no machine has been off or has lost a disk, or if no node is known to have the block.
    pub(super) fn sources(
        &self,
        input: &Input,
        job: JobId,
        map: u32,
        at: SimTime,
    ) -> Option<Sources> {
        // While all machines are well, maps read from their usual nodes, which needs no check.
        let files = self.files.as_ref().filter(|_| self.is_struck)?;
        let mut first = Vec::new();
        input.locate(map, files, &mut first);
        if first.is_empty() {
            return None;
        }
        // A machine without incidents is on and has kept its disks.
        let unknown = CheckedMachine::default();
        let machine = |tracker: TrackerId| self.machines.get(tracker.index()).unwrap_or(&unknown);
        let mut sources = Sources::default();
        for tracker in first {
            let machine = machine(tracker);
            let [may, does] = both(machine.was_on(at), machine.has_kept(SimTime::ZERO, at));
            sources.add(tracker, may, does);
            sources.is_struck |= !may;
        }
        let later = self.copies.get(&input.block(job, map)).into_iter().flatten();
        for CheckedCopy { tracker, made, removed } in later {
            let is_there = [removed.is_none_or(|gone| gone == at), removed.is_none() && *made < at];
            let machine = machine(*tracker);
            let is_read = both(machine.was_on(at), machine.has_kept(*made, at));
            let [may, does] = both(is_there, is_read);
            sources.add(*tracker, may, does);
        }
        Some(sources)
    }

    /// Records that a tracker's machine exists and is on.
    pub(super) fn note_power_on(&mut self, tracker: TrackerId) {
        let machine = self.at(tracker);
        (machine.is_there, machine.off) = (true, None);
    }

    /// Records an incident on a machine.
    pub(super) fn befall(&mut self, tracker: TrackerId, incident: Incident, check: &mut Check<'_>) {
        let (at, machine) = (check.at, self.at(tracker));
        match incident {
            Incident::MachineOn => (machine.off, machine.on) = (None, Some(at)),
            Incident::MachineOff => {
                machine.off = Some(at);
                self.is_struck = true;
            }
            Incident::DiskLost => {
                machine.lost.push(at);
                self.is_struck = true;
            }
            Incident::CopyingBegins { .. } => machine.copyings += 1,
            // A re-replication may begin before another ends, but each end needs a beginning.
            Incident::CopyingEnds { .. } => match machine.copyings.checked_sub(1) {
                Some(left) => machine.copyings = left,
                None => check.breach(InvariantBreach::CopyingEndedUnbegun { tracker }),
            },
            _ => {}
        }
    }

    /// Records that a copy was made or removed.
    pub(super) fn copy(&mut self, block: Block, tracker: TrackerId, is_there: bool, at: SimTime) {
        let copies = self.copies.entry(block).or_default();
        // Keep removed copies for the rest of their instant: a read may come before the removal.
        copies.retain(|copy| copy.removed.is_none_or(|removed| removed == at));
        if is_there {
            copies.push(CheckedCopy { tracker, made: at, removed: None });
        } else {
            (copies.iter_mut())
                .filter(|copy| copy.tracker == tracker && copy.removed.is_none())
                .for_each(|copy| copy.removed = Some(at));
        }
    }

    fn at(&mut self, tracker: TrackerId) -> &mut CheckedMachine {
        grown(&mut self.machines, tracker.index())
    }
}

impl Sources {
    fn add(&mut self, tracker: TrackerId, may: bool, does: bool) {
        if may {
            self.possible.push(tracker);
        }
        self.is_sure |= does;
    }

    /// Checks the node from which a map reads.
    pub(super) fn check(&self, attempt: AttemptId, from: Option<TrackerId>, check: &mut Check<'_>) {
        match from {
            Some(tracker) => {
                let has_it = self.possible.contains(&tracker);
                check.that(has_it, || InvariantBreach::ReadFromStranger { attempt, tracker });
            }
            None => check.that(!self.is_sure, || InvariantBreach::FoundNobody { attempt }),
        }
    }
}

fn both([a, b]: [bool; 2], [c, d]: [bool; 2]) -> [bool; 2] {
    [a && c, b && d]
}
