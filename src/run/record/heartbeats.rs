//! Counts of heartbeats, which the senders of events keep.
//!
//! By far most events are heartbeats, and most watchers only need to know how often each pair of
//! round-trip time and waiting time occurred. So a sender counts equal heartbeats together and
//! sends the counts to the writer. It also sends each heartbeat as an event if a watcher [wants
//! that](super::Watcher::hears_heartbeats).

use std::mem;

use mumakil_base::units::{SimSpan, SimTime};
use mumakil_core::mapred::{Event, Fact, TrackerFact};

/// The number of entries of the table of counts. Chosen: with constant latencies a run has a few
/// different heartbeats, and 64 entries take 1.5 KiB of a core's cache.
const PLACES: usize = 64;
/// The sender flushes after this many heartbeats. Chosen: the progress that a user sees should not
/// seem to stand still.
const AT_ONCE: u64 = 8_192;

/// A count of heartbeats with the same two spans.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AlikeHeartbeats {
    /// The number of such heartbeats.
    pub count: u64,
    /// The time from each heartbeat to its answer.
    pub rtt: SimSpan,
    /// The part of `rtt` for which each heartbeat waited for the JobTracker.
    pub queued: SimSpan,
}

/// The counts of heartbeats that were not sent yet.
#[derive(Debug)]
pub(super) struct Counter {
    /// A hash table of counts. If two different heartbeats have the same index, the later one takes
    /// the entry.
    places: Box<[AlikeHeartbeats; PLACES]>,
    /// Counts that lost their entry in `places` to another heartbeat.
    displaced: Vec<AlikeHeartbeats>,
    /// How many heartbeats were counted since the last [`take`](Self::take).
    pub(super) heard: u64,
    /// The instant of the last heartbeat.
    now: SimTime,
}

impl Default for Counter {
    fn default() -> Self {
        let places = Box::new([AlikeHeartbeats::default(); PLACES]);
        Self { places, displaced: Vec::new(), heard: 0, now: SimTime::ZERO }
    }
}

impl Counter {
    /// Counts an event if it is a heartbeat; returns whether it is one.
    pub(super) fn counts(&mut self, event: &Event) -> bool {
        let Fact::Tracker(_, TrackerFact::Heartbeat { rtt, queued }) = event.fact else {
            return false;
        };
        let place = &mut self.places[place(rtt, queued)];
        // An unused entry looks like a heartbeat with two spans of zero, so check the count too.
        if (place.rtt, place.queued) != (rtt, queued) || place.count == 0 {
            let before = mem::replace(place, AlikeHeartbeats { count: 0, rtt, queued });
            // Do not search `displaced` for an equal entry: entries may repeat, since watchers add
            // up the counts.
            if 0 < before.count {
                self.displaced.push(before);
            }
        }
        place.count += 1;
        self.heard += 1;
        self.now = event.at;
        true
    }

    /// Returns whether it is time to send the counts.
    pub(super) fn is_full(&self) -> bool {
        AT_ONCE <= self.heard
    }

    /// Returns the instant of the last heartbeat and all counts, and starts again from zero.
    pub(super) fn take(&mut self) -> (SimTime, Vec<AlikeHeartbeats>) {
        let mut beats = mem::take(&mut self.displaced);
        for place in &mut self.places[..] {
            if 0 < place.count {
                beats.push(mem::take(place));
            }
        }
        self.heard = 0;
        (self.now, beats)
    }
}

/// Returns the index of a heartbeat in the table: the upper bits of a product that depends on all
/// bits of both spans.
fn place(rtt: SimSpan, queued: SimSpan) -> usize {
    // 2^64 divided by the golden ratio (Knuth's multiplicative hashing): near numbers land far
    // apart.
    const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;
    // Both spans are mostly below 2^32 microseconds, so the rotation keeps them from overlapping.
    let mixed = rtt.as_micros().wrapping_add(queued.as_micros().rotate_left(32));
    (mixed.wrapping_mul(GOLDEN) >> (64 - PLACES.trailing_zeros())) as usize
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;
    use mumakil_core::mapred::{MemberFact, TrackerId};

    fn heartbeat(at: u64, rtt: u64, queued: u64) -> Event {
        let [rtt, queued] = [rtt, queued].map(SimSpan::from_micros);
        let fact = Fact::Tracker(TrackerId(0), TrackerFact::Heartbeat { rtt, queued });
        Event { at: SimTime::from_micros(at), fact }
    }

    #[test]
    fn other_messages_are_not_counted_as_heartbeats() {
        let mut counter = Counter::default();
        let event =
            Event { at: SimTime::ZERO, fact: Fact::Member(TrackerId(0), MemberFact::Joined) };
        assert!(!counter.counts(&event));
        assert_eq!(counter.take(), (SimTime::ZERO, Vec::new()));
    }

    #[test]
    fn equal_heartbeats_are_one_entry() {
        let mut counter = Counter::default();
        for at in 0..100 {
            assert!(counter.counts(&heartbeat(at, 1_400, 0)));
        }
        let (now, beats) = counter.take();
        assert_eq!(now, SimTime::from_micros(99));
        let rtt = SimSpan::from_micros(1_400);
        assert_eq!(beats, [AlikeHeartbeats { count: 100, rtt, queued: SimSpan::ZERO }]);
        assert_eq!(counter.heard, 0);
    }

    proptest! {
        /// Each heartbeat is counted exactly once, even if several different heartbeats share an
        /// entry.
        #[test]
        fn none_is_lost_and_none_counted_twice(
            kinds in prop::collection::vec((0u64..300, 0u64..5), 0..2_000)
        ) {
            let mut counter = Counter::default();
            let mut expected = BTreeMap::<_, u64>::new();
            for (rtt, queued) in kinds {
                counter.counts(&heartbeat(0, rtt, queued));
                *expected.entry((rtt, queued)).or_default() += 1;
            }
            let mut found = BTreeMap::<_, u64>::new();
            for AlikeHeartbeats { count, rtt, queued } in counter.take().1 {
                *found.entry((rtt.as_micros(), queued.as_micros())).or_default() += count;
            }
            prop_assert_eq!(found, expected);
        }
    }
}
