//! A tracker's part of the load: as large a share of its slots as there is work for all slots.
//!
//! So little work is spread over all trackers, where it would fill the first ones that ask.
//! [`next_kind`] says in what order its slots are filled.

use crate::mapred::{Offer, SlotKind};

/// Returns how many tasks a tracker may take before it has its part of so much work, by what it has
/// reported. `beyond` is added to the load; with 1 it may take tasks to its last slot.
pub fn room(offer: &Offer<'_>, kind: SlotKind, work: f64, beyond: f64) -> u32 {
    let load = beyond + work / f64::from(offer.view().capacity(kind).max(1));
    let part = (f64::from(offer.slots(kind)) * load.min(1.0)).ceil() as u32;
    part.saturating_sub(offer.occupied(kind))
}

/// Returns the kind of slot to fill next: of those that are free and open, one kind is filled, then
/// the other, as the report's counts have it.
pub fn next_kind(offer: &Offer<'_>, is_open: impl Fn(SlotKind) -> bool) -> Option<SlotKind> {
    let is_open = |kind: &SlotKind| 0 < offer.free(*kind) && is_open(*kind);
    let mut open = SlotKind::BOTH.into_iter().filter(is_open);
    match (open.next()?, open.next()) {
        (one, None) => Some(one),
        _ if offer.occupied(SlotKind::Reduce) < offer.occupied(SlotKind::Map) => {
            Some(SlotKind::Reduce)
        }
        _ => Some(SlotKind::Map),
    }
}
