//! The slots of the trackers, and the attempts in them.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use super::blocks::Blocks;
use super::{Check, InvariantBreach};
use mumakil_base::dense::grown;
use mumakil_base::units::SimTime;
use mumakil_core::mapred::{
    AttemptFact, AttemptId, Incident, MemberFact, Outcome, PerSlot, Role, TrackerFact, TrackerId,
};

/// All trackers, as they themselves would tell.
#[derive(Debug, Default)]
pub(super) struct CheckedTrackers {
    all: Vec<CheckedTracker>,
    held: HeldArea,
    /// The blocks on their machines.
    pub(super) blocks: Blocks,
}

/// The slots that are held, over time.
#[derive(Debug, Default)]
struct HeldArea {
    level: u64,
    since: SimTime,
    /// Slots times microseconds.
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
    /// Whether the JobTracker counts on it.
    joined: bool,
    /// Whether it may get no tasks.
    blacklisted: bool,
    /// Whether it is noted to be worse than the others.
    graylisted: bool,
    /// How often the JobTracker has given it up.
    losses: u32,
    slots: PerSlot<u32>,
    held: PerSlot<u32>,
    /// The attempts that have started and not ended.
    here: BTreeMap<(AttemptId, Role), PresentAttempt>,
    /// Attempts that are to end, since others of their tasks have won, with the replies to heartbeats
    /// that the tracker has had since.
    losers: BTreeMap<AttemptId, u32>,
    /// Attempts that are to start here, with the replies since while there was nothing else to do.
    starters: BTreeMap<AttemptId, u32>,
    /// When what lay on its disks was gone.
    gone: Vec<SimTime>,
}

/// How many replies a tracker may get before it must have obeyed an order: the first may have been
/// on its way already, the second brings the order, and by the third it must be done.
const REPLIES: u32 = 3;

#[derive(Clone, Copy, Debug, Default)]
struct PresentAttempt {
    slots: u32,
    suspended: bool,
    commit_pending: bool,
}

impl CheckedTrackers {
    /// Returns whether the JobTracker counts on the tracker.
    pub(super) fn joined(&self, tracker: TrackerId) -> bool {
        self.all.get(tracker.index()).is_some_and(|tracker| tracker.joined)
    }

    /// Returns whether the tracker may get no tasks.
    pub(super) fn blacklisted(&self, tracker: TrackerId) -> bool {
        self.all.get(tracker.index()).is_some_and(|tracker| tracker.blacklisted)
    }

    /// Returns how often the JobTracker has given the tracker up.
    pub(super) fn losses(&self, tracker: TrackerId) -> u32 {
        self.all.get(tracker.index()).map_or(0, |tracker| tracker.losses)
    }

    /// Returns for how long slots were held until then: slots times microseconds.
    pub(super) fn slot_time(&self, at: SimTime) -> u128 {
        self.held.until(at)
    }

    /// Notes that an attempt has lost: one reply may be on its way, the next one ends it.
    pub(super) fn expect_end(&mut self, attempt: AttemptId, tracker: TrackerId) {
        // A tracker that is lost or dies before its third reply is excused: its list is cleared.
        self.at(tracker).losers.insert(attempt, 0);
    }

    /// Notes that an attempt was assigned: a tracker with nothing else to do starts it.
    pub(super) fn expect_start(&mut self, attempt: AttemptId, tracker: TrackerId) {
        self.at(tracker).starters.insert(attempt, 0);
    }

    /// Notes that neither the start nor the end of an attempt is awaited any more.
    pub(super) fn forget(&mut self, attempt: AttemptId, tracker: TrackerId) {
        let known = self.at(tracker);
        known.losers.remove(&attempt);
        known.starters.remove(&attempt);
    }

    /// Returns how often a tracker has lost the content of its disks so far.
    pub(super) fn disk_losses(&self, tracker: TrackerId) -> usize {
        self.all.get(tracker.index()).map_or(0, |tracker| tracker.gone.len())
    }

    /// Returns whether an output on a tracker, made after so many losses, was still there at an
    /// instant.
    pub(super) fn kept(&self, tracker: TrackerId, times: usize, at: SimTime) -> bool {
        let gone = self.all.get(tracker.index()).and_then(|tracker| tracker.gone.get(times));
        gone.is_none_or(|gone| at <= *gone)
    }

    /// Checks what a tracker says of itself.
    pub(super) fn see(&mut self, tracker: TrackerId, fact: TrackerFact, check: &mut Check<'_>) {
        let known = self.at(tracker);
        match fact {
            TrackerFact::Heartbeat { rtt, queued } => {
                check.that(known.up, || InvariantBreach::HeartbeatWhileDown { tracker });
                check.that(queued <= rtt, || InvariantBreach::QueuedTooLong { tracker });
                // A tracker obeys a reply at once, so a loser that it had to kill must have ended
                // by now. One finding a heartbeat: a tracker that forgets one order mostly forgets
                // all.
                if let Some(attempt) = overdue(&mut known.losers) {
                    check.breach(InvariantBreach::LoserForgotten { attempt, tracker });
                }
                // A tracker whose slots are taken may let a launch wait as long as they are.
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
                // A TaskTracker that starts removes what it finds on its local disks, so outputs
                // are gone.
                known.gone.push(check.at);
                // A tracker that dies frees all that it held at once; its attempts say nothing
                // more.
                let held: u32 = [known.held.map, known.held.reduce].iter().sum();
                (known.up, known.held) = (false, PerSlot::default());
                self.held.change(check.at, -i64::from(held));
            }
        }
    }

    /// Checks what the JobTracker makes of a tracker.
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
                // Hadoop drops the orders of a tracker that it gives up.
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

    /// Checks what a tracker did with an attempt.
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
                // A second start is a breach that `jobs` reports; here it must not take the slots
                // twice.
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
                    // A suspended attempt has given its slots up already.
                    Some(here) if !here.suspended => {
                        known.held[attempt.slot()] -= here.slots;
                        self.held.change(check.at, -i64::from(here.slots));
                    }
                    Some(_) => {}
                    // A launch that was taken back, or that the tracker could not carry out.
                    None => check.that(outcome != Outcome::Succeeded, || {
                        InvariantBreach::EndedUnstarted { attempt, tracker, outcome }
                    }),
                }
            }
            AttemptFact::Opened { .. } => {}
        }
    }

    /// Notes an incident on a machine.
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
    /// Takes slots for the attempt. Every attempt here that is not suspended holds its own, so the
    /// count can be lowered without looking.
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

/// Counts a reply for each expected attempt. Returns one that has had too many, and forgets it.
// Starts at zero, so the third reply is the first that is too many.
fn overdue(expected: &mut BTreeMap<AttemptId, u32>) -> Option<AttemptId> {
    expected.values_mut().for_each(|replies| *replies += 1);
    let attempt = *expected.iter().find(|(_, replies)| REPLIES <= **replies)?.0;
    expected.remove(&attempt);
    Some(attempt)
}
