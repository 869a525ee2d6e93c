//! Since when a slot had been free when an attempt got it.
//!
//! A tracker has as many slots as were ever held on it at a time: tables do not say how many it has. A
//! heartbeat brings at least one task to a tracker with a free slot, unless a policy refuses, so that after
//! as many heartbeats as it has slots each of them has been given.

use indexmap::IndexMap;

use mumakil_core::cluster::{PerSlot, SlotKind};

/// When all slots of a tracker were held.
#[derive(Debug, Default)]
pub(super) struct TrackerSlots {
    changes: PerSlot<Vec<(u64, i64)>>,
    full: PerSlot<FullSpans>,
}

#[derive(Debug, Default)]
struct FullSpans {
    slots: u64,
    /// From when to when, in order.
    spans: Vec<(u64, u64)>,
}

/// All trackers, by the names of their nodes.
pub(super) type SlotsByNode = IndexMap<String, TrackerSlots>;

impl TrackerSlots {
    /// Notes that so many slots were held from an instant to another.
    pub(super) fn held(&mut self, kind: SlotKind, (from, to): (u64, u64), slots: u32) {
        self.changes[kind].extend([(from, i64::from(slots)), (to, -i64::from(slots))]);
    }

    /// Finds out when it was full, once all is noted.
    pub(super) fn settle(&mut self) {
        for kind in SlotKind::BOTH {
            let mut changes = std::mem::take(&mut self.changes[kind]);
            // At one instant what ends comes first: then the slot is given on.
            changes.sort_unstable();
            let levels = changes.iter().scan(0, |level, (at, change)| {
                *level += change;
                Some((*at, *level))
            });
            let levels: Vec<(u64, i64)> = levels.collect();
            let slots = levels.iter().map(|(_, level)| *level).max().unwrap_or(0);
            // Full means as many as were ever held at once.
            let pairs = levels.windows(2).filter(|pair| pair[0].1 == slots);
            let spans = pairs.map(|pair| (pair[0].0, pair[1].0)).collect();
            self.full[kind] = FullSpans { slots: slots.max(0) as u64, spans };
        }
    }

    /// Returns since when a slot was free that was given at an instant, and by when heartbeats of
    /// this interval would have brought a task; neither is later than the instant. Returns `None`
    /// if nothing ever started on the tracker.
    pub(super) fn free(&self, kind: SlotKind, given: u64, interval: u64) -> Option<(u64, u64)> {
        // Without any attempt that started, the number of slots is unknown, and so is when one was
        // free.
        if SlotKind::BOTH.into_iter().all(|kind| self.full[kind].slots == 0) {
            return None;
        }
        let FullSpans { slots, spans } = &self.full[kind];
        let before = spans.partition_point(|(from, _)| *from < given);
        // Free since the end of the last time that all slots were held, or since the beginning.
        let free = before.checked_sub(1).map_or(0, |place| spans[place].1.min(given));
        // One task a heartbeat fills all slots in as many heartbeats. So much is the protocol's own
        // wait; a longer one has another reason.
        Some((free, given.saturating_sub(slots * interval).max(free)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of two slots both are held from 5 s to 9 s, and again from 30 s on.
    #[test]
    fn a_slot_is_free_from_when_not_all_were_held() {
        let mut tracker = TrackerSlots::default();
        for span in [(0, 9_000), (5_000, 20_000), (20_000, 40_000), (30_000, 35_000)] {
            tracker.held(SlotKind::Map, span, 1);
        }
        tracker.settle();
        let free = |given| tracker.free(SlotKind::Map, given, 3_000).unwrap();
        // Given at 12 s, two heartbeats of 3 s would have brought it from 6 s on.
        assert_eq!(free(12_000), (9_000, 9_000));
        assert_eq!(free(29_000), (9_000, 23_000));
        // Before it was ever full it was free since the beginning.
        assert_eq!(free(4_000), (0, 0));
        assert_eq!(free(7_000), (7_000, 7_000), "none was free");
        assert_eq!(tracker.free(SlotKind::Reduce, 7_000, 3_000), Some((0, 7_000)));
        assert_eq!(TrackerSlots::default().free(SlotKind::Map, 7_000, 3_000), None);
    }
}
