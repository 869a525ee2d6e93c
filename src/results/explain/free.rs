//! How long a slot had been free before an attempt got it.
//!
//! Tables do not say how many slots a tracker has, so this module takes the largest number of slots
//! that were ever held on the tracker at once. A heartbeat brings at least one task to a tracker
//! with a free slot, unless the policy refuses the slot. So a tracker with `n` slots is full after
//! `n` heartbeats.

use indexmap::IndexMap;

use mumakil_core::cluster::{PerSlot, SlotKind};

/// The spans in which all slots of a tracker were held.
#[derive(Debug, Default)]
pub(super) struct TrackerSlots {
    changes: PerSlot<Vec<(u64, i64)>>,
    full: PerSlot<FullSpans>,
}

#[derive(Debug, Default)]
struct FullSpans {
    slots: u64,
    /// The beginnings and ends in milliseconds, in the order of time.
    spans: Vec<(u64, u64)>,
}

/// All trackers, by the names of their nodes.
pub(super) type SlotsByNode = IndexMap<String, TrackerSlots>;

impl TrackerSlots {
    /// Records that `slots` slots were held from one millisecond to another.
    pub(super) fn held(&mut self, kind: SlotKind, (from, to): (u64, u64), slots: u32) {
        self.changes[kind].extend([(from, i64::from(slots)), (to, -i64::from(slots))]);
    }

    /// Computes when the tracker was full, after all calls of [`held`](Self::held).
    pub(super) fn settle(&mut self) {
        for kind in SlotKind::BOTH {
            let mut changes = std::mem::take(&mut self.changes[kind]);
            // At the same instant ends come before beginnings: the slot passes from one attempt to
            // the next.
            changes.sort_unstable();
            let running = changes.iter().scan(0, |level, (at, change)| {
                *level += change;
                Some((*at, *level))
            });
            let levels: Vec<(u64, i64)> = running.collect();
            let slots = levels.iter().map(|(_, level)| *level).max().unwrap_or(0);
            // The tracker is full while it holds as many slots as it ever held at once.
            let pairs = levels.windows(2).filter(|pair| pair[0].1 == slots);
            let spans = pairs.map(|pair| (pair[0].0, pair[1].0)).collect();
            self.full[kind] = FullSpans { slots: slots.max(0) as u64, spans };
        }
    }

    /// Returns two instants for a slot that an attempt got at `given`. The slot was free from the
    /// first instant on. From the second instant on, heartbeats alone may explain its wait; they
    /// come every `interval` milliseconds. Both instants are at most `given`. Returns `None` if no
    /// attempt ever started on the tracker.
    pub(super) fn free(&self, kind: SlotKind, given: u64, interval: u64) -> Option<(u64, u64)> {
        // If no attempt ever started, the number of slots is unknown.
        if SlotKind::BOTH.into_iter().all(|kind| self.full[kind].slots == 0) {
            return None;
        }
        let FullSpans { slots, spans } = &self.full[kind];
        let before = spans.partition_point(|(from, _)| *from < given);
        // The slot has been free since the tracker was last full, or since the beginning.
        let free = before.checked_sub(1).map_or(0, |place| spans[place].1.min(given));
        // If each heartbeat brings one task, filling all slots takes as many heartbeats as there
        // are slots. A wait of at most so many intervals is due to the heartbeats; a longer wait
        // has another reason, too.
        Some((free, given.saturating_sub(slots * interval).max(free)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Both slots are held from 5 s to 9 s, and from 30 s to 35 s.
    #[test]
    fn a_slot_is_free_from_when_not_all_were_held() {
        let mut tracker = TrackerSlots::default();
        for span in [(0, 9_000), (5_000, 20_000), (20_000, 40_000), (30_000, 35_000)] {
            tracker.held(SlotKind::Map, span, 1);
        }
        tracker.settle();
        let free = |given| tracker.free(SlotKind::Map, given, 3_000).unwrap();
        // The slot is given at 12 s and had been free since 9 s: two heartbeats of 3 s cover the
        // whole wait.
        assert_eq!(free(12_000), (9_000, 9_000));
        assert_eq!(free(29_000), (9_000, 23_000));
        // Before the tracker was ever full, the slot has been free since the beginning.
        assert_eq!(free(4_000), (0, 0));
        assert_eq!(free(7_000), (7_000, 7_000), "both slots were held");
        assert_eq!(tracker.free(SlotKind::Reduce, 7_000, 3_000), Some((0, 7_000)));
        assert_eq!(TrackerSlots::default().free(SlotKind::Map, 7_000, 3_000), None);
    }
}
