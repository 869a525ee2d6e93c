//! The nodes that have a block and can be read, by the facts: nodes that had it at first and have
//! not lost it, and nodes that got a copy since.
//!
//! An event at the instant of a question may come before it or after it, so there are two answers: the nodes
//! that could have been read then, and whether one surely could.

use std::collections::BTreeMap;

use super::{Check, InvariantBreach};
use mumakil_base::dense::grown;
use mumakil_base::units::SimTime;
use mumakil_core::cluster::Hdfs;
use mumakil_core::mapred::{AttemptId, Block, Incident, Input, JobId, TrackerId};

#[derive(Debug, Default)]
pub(super) struct Blocks {
    /// Where blocks were at first, if it is known.
    files: Option<Hdfs>,
    /// Whether anything has befallen a machine.
    is_struck: bool,
    machines: Vec<CheckedMachine>,
    /// Copies that were made later, including copies removed at this very instant.
    copies: BTreeMap<Block, Vec<CheckedCopy>>,
}

#[derive(Clone, Debug, Default)]
struct CheckedMachine {
    /// Whether it was ever up. A node that has yet to join counts as on.
    is_there: bool,
    /// Since when it is off, if it is, or on again.
    off: Option<SimTime>,
    on: Option<SimTime>,
    /// When what lay on its disks was gone.
    lost: Vec<SimTime>,
    /// How many copyings have begun because of it and not ended.
    copyings: u32,
}

#[derive(Clone, Copy, Debug)]
struct CheckedCopy {
    tracker: TrackerId,
    made: SimTime,
    removed: Option<SimTime>,
}

/// The nodes with a block that could be read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Sources {
    pub(super) possible: Vec<TrackerId>,
    /// Whether one of them surely could.
    pub(super) is_sure: bool,
    /// Whether one of the nodes that had it at first surely could not be read.
    pub(super) is_struck: bool,
}

impl CheckedMachine {
    /// Returns whether it could be on at an instant, and whether it surely was.
    fn was_on(&self, at: SimTime) -> [bool; 2] {
        // Off at the very instant of the question may mean after it, so that does not count as off.
        let was_off = self.is_there && self.off.is_some_and(|off| off < at);
        [!was_off, self.off.is_none() && self.on.is_none_or(|on| on < at)]
    }

    /// Returns whether it could keep what it had since then, and whether it surely did.
    fn has_kept(&self, since: SimTime, at: SimTime) -> [bool; 2] {
        let mut lost = self.lost.iter().filter(|lost| since <= **lost);
        // A loss at the instant of the question may come after it: it could, but not surely did.
        [lost.clone().all(|lost| *lost == at), lost.next().is_none()]
    }
}

impl Blocks {
    /// Returns the blocks of a file system that nothing has befallen yet.
    pub(super) fn of(files: Hdfs) -> Self {
        Self { files: Some(files), ..Self::default() }
    }

    /// Returns the nodes that a map could read its block from at an instant. Returns `None` as long
    /// as no machine had trouble, or if no node is known to have the block.
    pub(super) fn sources(
        &self,
        input: &Input,
        job: JobId,
        map: u32,
        at: SimTime,
    ) -> Option<Sources> {
        // Without trouble maps read where the topology says, which other checks cover.
        let files = self.files.as_ref().filter(|_| self.is_struck)?;
        let mut first = Vec::new();
        input.locate(map, files, &mut first);
        if first.is_empty() {
            return None;
        }
        // A machine without news is on and has kept everything.
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

    /// Notes that a tracker's machine is there, and on.
    pub(super) fn note_power_on(&mut self, tracker: TrackerId) {
        let machine = self.at(tracker);
        (machine.is_there, machine.off) = (true, None);
    }

    /// Notes what has befallen a machine.
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
            // A copying may be cut short by another one, but never end without having begun.
            Incident::CopyingEnds { .. } => match machine.copyings.checked_sub(1) {
                Some(left) => machine.copyings = left,
                None => check.breach(InvariantBreach::CopyingEndedUnbegun { tracker }),
            },
            _ => {}
        }
    }

    /// Notes that a copy is there, or is no more.
    pub(super) fn copy(&mut self, block: Block, tracker: TrackerId, is_there: bool, at: SimTime) {
        let copies = self.copies.entry(block).or_default();
        // Removed copies stay for the rest of their instant, as a question may come before the
        // removal.
        copies.retain(|copy| copy.removed.is_none_or(|removed| removed == at));
        if is_there {
            copies.push(CheckedCopy { tracker, made: at, removed: None });
        } else {
            let is_it = |copy: &&mut CheckedCopy| copy.tracker == tracker && copy.removed.is_none();
            copies.iter_mut().filter(is_it).for_each(|copy| copy.removed = Some(at));
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

    /// Checks where a map reads.
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
