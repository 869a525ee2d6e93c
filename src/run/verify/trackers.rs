//! Checks the slots of trackers and the attempts in them.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use super::blocks::Blocks;
use super::{Check, InvariantBreach};
use mumakil_base::dense::grown;
use mumakil_base::units::SimTime;
use mumakil_core::mapred::{
    AttemptFact, AttemptId, Incident, MemberFact, Outcome, PerSlot, Role, TrackerFact, TrackerId,
};

/// The true state of all trackers.
#[derive(Debug, Default)]
pub(super) struct CheckedTrackers {
    all: Vec<CheckedTracker>,
    held: HeldArea,
    /// The blocks on the machines of the trackers.
    pub(super) blocks: Blocks,
}

/// The integral of the held slots over time.
#[derive(Debug, Default)]
struct HeldArea {
    level: u64,
    since: SimTime,
    /// The integral until `since`, in slots times microseconds.
    sum: u128,
}

impl HeldArea {
    fn change(&mut self, at: SimTime, by: i64) {
        self.sum = self.until(at);
        self.since = self.since.max(at);
        self.level = self.level.saturating_add_signed(by);
    }

    fn until(&self, at: SimTime) -> u128 {
        self.sum + u128::from(at.saturating_since(self.since).as_micros()) * u128::from(self.level)
    }
}

#[derive(Clone, Debug, Default)]
struct CheckedTracker {
    up: bool,
    /// Whether the JobTracker counts it as a member of the cluster.
    joined: bool,
    /// Whether the JobTracker has blacklisted it, so that it may get no tasks.
    blacklisted: bool,
    /// Whether the JobTracker has graylisted it because it had more failures than other trackers.
    graylisted: bool,
    /// How often the JobTracker has declared it lost.
    losses: u32,
    slots: PerSlot<u32>,
    held: PerSlot<u32>,
    /// The attempts that have started and not ended.
    here: BTreeMap<(AttemptId, Role), PresentAttempt>,
    /// Attempts that must end, since another attempt of their task has succeeded. Each has the
    /// number of heartbeat replies that the tracker has got since.
    losers: BTreeMap<AttemptId, u32>,
    /// Attempts that must start here. Each has the number of heartbeat replies that the tracker has
    /// got since while it was idle.
    starters: BTreeMap<AttemptId, u32>,
    /// The instants at which the content of its local disks was lost.
    gone: Vec<SimTime>,
}

/// The number of heartbeat replies by which a tracker must have carried out an order. The first
/// reply may have been sent before the order. The second reply brings the order. By the third reply
/// the tracker must have carried out the order.
const REPLIES: u32 = 3;

#[derive(Clone, Copy, Debug, Default)]
struct PresentAttempt {
    slots: u32,
    suspended: bool,
    commit_pending: bool,
}

impl CheckedTrackers {
    /// Returns whether the JobTracker counts the tracker as a member of the cluster.
    pub(super) fn joined(&self, tracker: TrackerId) -> bool {
        self.all.get(tracker.index()).is_some_and(|tracker| tracker.joined)
    }

    /// Returns whether the tracker is blacklisted, so that it may get no tasks.
    pub(super) fn blacklisted(&self, tracker: TrackerId) -> bool {
        self.all.get(tracker.index()).is_some_and(|tracker| tracker.blacklisted)
    }

    /// Returns how often the JobTracker has declared the tracker lost.
    pub(super) fn losses(&self, tracker: TrackerId) -> u32 {
        self.all.get(tracker.index()).map_or(0, |tracker| tracker.losses)
    }

    /// Returns the slot time that was held until `at`, in slots times microseconds.
    pub(super) fn slot_time(&self, at: SimTime) -> u128 {
        self.held.until(at)
    }

    /// Expects an attempt that has lost the race to end by the third reply to its tracker.
    pub(super) fn expect_end(&mut self, attempt: AttemptId, tracker: TrackerId) {
        // If the tracker is declared lost or dies before the third reply, this list is cleared.
        self.at(tracker).losers.insert(attempt, 0);
    }

    /// Expects an assigned attempt to start by the third reply that its tracker gets while idle.
    pub(super) fn expect_start(&mut self, attempt: AttemptId, tracker: TrackerId) {
        self.at(tracker).starters.insert(attempt, 0);
    }

    /// Stops expecting the start or the end of an attempt.
    pub(super) fn forget(&mut self, attempt: AttemptId, tracker: TrackerId) {
        let known = self.at(tracker);
        known.losers.remove(&attempt);
        known.starters.remove(&attempt);
    }

    /// Returns how often a tracker has lost the content of its disks so far.
    pub(super) fn disk_losses(&self, tracker: TrackerId) -> usize {
        self.all.get(tracker.index()).map_or(0, |tracker| tracker.gone.len())
    }

    /// Returns whether an output on a tracker, made after `times` losses of its disks, still
    /// existed at an instant.
    pub(super) fn kept(&self, tracker: TrackerId, times: usize, at: SimTime) -> bool {
        let gone = self.all.get(tracker.index()).and_then(|tracker| tracker.gone.get(times));
        gone.is_none_or(|gone| at <= *gone)
    }

    /// Checks a fact of a tracker about itself.
    pub(super) fn see(&mut self, tracker: TrackerId, fact: TrackerFact, check: &mut Check<'_>) {
        let known = self.at(tracker);
        match fact {
            TrackerFact::Heartbeat { rtt, queued } => {
                check.that(known.up, || InvariantBreach::HeartbeatWhileDown { tracker });
                check.that(queued <= rtt, || InvariantBreach::QueuedTooLong { tracker });
                // A tracker obeys a reply at once, so an attempt that it had to kill must have
                // ended by now. Report only one loser for each heartbeat: a tracker that forgets
                // one order usually forgets all.
                if let Some(attempt) = overdue(&mut known.losers) {
                    check.breach(InvariantBreach::LoserForgotten { attempt, tracker });
                }
                // A tracker whose slots are taken may delay a launch until they are free.
                if known.here.is_empty()
                    && let Some(attempt) = overdue(&mut known.starters)
                {
                    check.breach(InvariantBreach::LaunchForgotten { attempt, tracker });
                }
            }
            TrackerFact::Up(slots) => {
                check.that(!known.up, || InvariantBreach::UpTwice { tracker });
                (known.up, known.slots) = (true, slots);
                self.blocks.note_power_on(tracker);
            }
            TrackerFact::Down => {
                check.that(known.up, || InvariantBreach::DownTwice { tracker });
                // A dying tracker must end its attempts first, or their slots would stay counted as
                // held.
                if let Some((&(left, _), _)) = known.here.first_key_value() {
                    check.breach(InvariantBreach::DownWithAttempts { tracker, left });
                }
                known.here.clear();
                known.losers.clear();
                known.starters.clear();
                // A TaskTracker clears its local disks when it starts, so the outputs on them are
                // lost.
                known.gone.push(check.at);
                // A tracker that dies frees all its slots at once; its attempts send no more facts.
                let held: u32 = [known.held.map, known.held.reduce].iter().sum();
                (known.up, known.held) = (false, PerSlot::default());
                self.held.change(check.at, -i64::from(held));
            }
        }
    }

    /// Checks a fact of the JobTracker about a tracker.
    pub(super) fn check_believed_counts(
        &mut self,
        tracker: TrackerId,
        fact: MemberFact,
        check: &mut Check<'_>,
    ) {
        let known = self.at(tracker);
        match fact {
            MemberFact::Joined => {
                check.that(!known.joined, || InvariantBreach::JoinedTwice { tracker });
                known.joined = true;
            }
            MemberFact::Lost => {
                check.that(known.joined, || InvariantBreach::LostUnjoined { tracker });
                known.joined = false;
                known.losses += 1;
                // Hadoop drops the orders of a tracker that it declares lost.
                known.losers.clear();
                known.starters.clear();
            }
            MemberFact::Blacklisted => {
                check.that(!known.blacklisted, || InvariantBreach::BlacklistedTwice { tracker });
                known.blacklisted = true;
            }
            MemberFact::Forgiven => {
                check.that(known.blacklisted, || InvariantBreach::ForgivenInVain { tracker });
                known.blacklisted = false;
            }
            MemberFact::Graylisted => {
                check.that(!known.graylisted, || InvariantBreach::GraylistedTwice { tracker });
                known.graylisted = true;
            }
            MemberFact::OffGraylist => {
                check.that(known.graylisted, || InvariantBreach::OffGraylistInVain { tracker });
                known.graylisted = false;
            }
            MemberFact::Noted(_) => {}
        }
    }

    /// Checks a fact of a tracker about an attempt.
    pub(super) fn worked(
        &mut self,
        attempt: AttemptId,
        tracker: TrackerId,
        fact: AttemptFact,
        check: &mut Check<'_>,
    ) {
        let known = self.at(tracker);
        match fact {
            AttemptFact::Started { role, slots } => {
                if role == Role::Work {
                    known.starters.remove(&attempt);
                }
                check.that(known.up, || InvariantBreach::StartedWhileDown { attempt, tracker });
                // `jobs` reports a second start as a breach; here it must not take slots twice.
                if let Entry::Vacant(place) = known.here.entry((attempt, role)) {
                    place.insert(PresentAttempt { slots, ..PresentAttempt::default() });
                    known.take(tracker, attempt, slots, check);
                    self.held.change(check.at, i64::from(slots));
                }
            }
            AttemptFact::CommitPending => {
                let here = known.here.get_mut(&(attempt, Role::Work));
                let works = here.filter(|here| !here.suspended && !here.commit_pending);
                match works {
                    Some(here) => here.commit_pending = true,
                    None => check.breach(InvariantBreach::CommitPendingIdle { attempt, tracker }),
                }
            }
            AttemptFact::Saved => {
                let here = known.here.get(&(attempt, Role::Work));
                let works = here.is_some_and(|here| !here.suspended);
                check.that(works, || InvariantBreach::SavedIdle { attempt, tracker });
            }
            AttemptFact::Suspended => {
                let here = known.here.get_mut(&(attempt, Role::Work));
                match here.filter(|here| !here.suspended) {
                    Some(here) => {
                        here.suspended = true;
                        let slots = here.slots;
                        known.held[attempt.slot()] -= slots;
                        self.held.change(check.at, -i64::from(slots));
                    }
                    None => check.breach(InvariantBreach::SuspendedIdle { attempt, tracker }),
                }
            }
            AttemptFact::Resumed => {
                let here = known.here.get_mut(&(attempt, Role::Work));
                match here.filter(|here| here.suspended) {
                    Some(here) => {
                        here.suspended = false;
                        let slots = here.slots;
                        known.take(tracker, attempt, slots, check);
                        self.held.change(check.at, i64::from(slots));
                    }
                    None => check.breach(InvariantBreach::ResumedUnsuspended { attempt, tracker }),
                }
            }
            AttemptFact::FetchFailed { .. } => {
                let here = known.here.get(&(attempt, Role::Work));
                let fetches = here.is_some_and(|here| !here.suspended && !here.commit_pending);
                check.that(fetches, || InvariantBreach::ComplainedIdle { attempt, tracker });
            }
            AttemptFact::Ended { role, outcome, .. } => {
                if role == Role::Work {
                    known.losers.remove(&attempt);
                    known.starters.remove(&attempt);
                }
                match known.here.remove(&(attempt, role)) {
                    // A suspended attempt has already released its slots.
                    Some(here) if !here.suspended => {
                        known.held[attempt.slot()] -= here.slots;
                        self.held.change(check.at, -i64::from(here.slots));
                    }
                    Some(_) => {}
                    // The launch was cancelled, or the tracker could not carry it out.
                    None => check.that(outcome != Outcome::Succeeded, || {
                        InvariantBreach::EndedUnstarted { attempt, tracker, outcome }
                    }),
                }
            }
            AttemptFact::Opened { .. } => {}
        }
    }

    /// Records an incident on a machine.
    pub(super) fn befall(&mut self, tracker: TrackerId, incident: Incident, check: &mut Check<'_>) {
        if incident == Incident::DiskLost {
            self.at(tracker).gone.push(check.at);
        }
        self.blocks.befall(tracker, incident, check);
    }

    fn at(&mut self, tracker: TrackerId) -> &mut CheckedTracker {
        grown(&mut self.all, tracker.index())
    }
}

impl CheckedTracker {
    /// Takes slots for an attempt. Each attempt in `here` that is not suspended has taken its
    /// slots, so releases need no check.
    fn take(&mut self, tracker: TrackerId, attempt: AttemptId, taken: u32, check: &mut Check<'_>) {
        let kind = attempt.slot();
        let slots = self.slots[kind];
        self.held[kind] += taken;
        check.that(self.held[kind] <= slots, || InvariantBreach::SlotOverCommitted {
            attempt,
            tracker,
            kind,
            slots,
        });
    }
}

/// Counts a reply for each expected attempt. Removes and returns an overdue attempt, if there is
/// one.
// Counts start at zero, so an attempt is overdue at the third reply.
fn overdue(expected: &mut BTreeMap<AttemptId, u32>) -> Option<AttemptId> {
    expected.values_mut().for_each(|replies| *replies += 1);
    let attempt = *expected.iter().find(|(_, replies)| REPLIES <= **replies)?.0;
    expected.remove(&attempt);
    Some(attempt)
}
