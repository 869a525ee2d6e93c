//! A tracker's part of the load: work that would fill a tenth of all slots fills a tenth of each
//! tracker's slots.
//!
//! So a small load is spread over all trackers; without this rule it would fill the trackers that
//! ask first. [`room`] says how many tasks a tracker may launch, and [`next_kind`] says whether the
//! next task is a map or a reduce. Both count the tasks that the tracker has reported and, from
//! Hadoop 1.1 on, the tasks that the current heartbeat has launched so far ([`TrackerLoad`]).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use mumakil_base::mutated;
use mumakil_core::mapred::{HadoopLine, Offer, SlotKind};

/// Which tasks count for a tracker while its heartbeat is served.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TrackerLoad {
    /// `current` with Hadoop 1.x, `reported` with all other versions.
    #[default]
    Auto,
    /// Those that it has reported: up to 1.0. One heartbeat may fill all its slots.
    Reported,
    /// Also those that the heartbeat has launched so far: 1.1 and later.
    Current,
}

impl TrackerLoad {
    /// Returns the value with `auto` resolved for a version of Hadoop.
    pub fn settled(self, line: HadoopLine) -> Self {
        match self {
            Self::Auto if line.behaviour().load_counts_launches => Self::Current,
            // Up to 1.0 Hadoop ignores the tasks that it has just assigned.
            Self::Auto => Self::Reported,
            given => given,
        }
    }

    fn of(self, offer: &Offer<'_>, kind: SlotKind) -> u32 {
        match self {
            Self::Auto | Self::Reported => offer.occupied(kind),
            Self::Current => {
                offer.occupied(kind) + mutated!(offer.taken(kind), "load/reported-alone" => 0)
            }
        }
    }
}

/// Returns how many more tasks a tracker may launch before it has its part of `work` tasks. The
/// share `beyond` is added to the load; with 1 the tracker may fill all its slots.
pub fn room(
    offer: &Offer<'_>,
    kind: SlotKind,
    work: f64,
    beyond: f64,
    counted: TrackerLoad,
) -> u32 {
    // Without trackers the capacity is 0; `max` avoids a division by zero.
    let capacity = f64::from(offer.view().capacity(kind).max(1));
    let load = mutated!(beyond + work / capacity, "load/all-slots" => 1.0);
    // Round up as in Hadoop, so that even the smallest load gives each tracker one task.
    let part = f64::from(offer.slots(kind)) * load.min(1.0);
    let most = mutated!(part.ceil(), "load/rounded-down" => part.floor()) as u32;
    most.saturating_sub(counted.of(offer, kind))
}

/// Returns the kind of the next task, among the kinds that have a free slot and are open: the kind
/// with fewer tasks on the tracker, or map if both have equally many. `None` if neither kind has a
/// free slot and is open.
pub fn next_kind(
    offer: &Offer<'_>,
    counted: TrackerLoad,
    is_open: impl Fn(SlotKind) -> bool,
) -> Option<SlotKind> {
    let mut open = SlotKind::BOTH
        .into_iter()
        .filter(|kind: &SlotKind| 0 < offer.free(*kind) && is_open(*kind));
    match (open.next()?, open.next()) {
        (one, None) => Some(one),
        // Both kinds are open. Hadoop takes a map unless the tracker has more maps than reduces.
        _ if mutated!(
            counted.of(offer, SlotKind::Reduce) < counted.of(offer, SlotKind::Map),
            "load/maps-first" => false,
        ) =>
        {
            Some(SlotKind::Reduce)
        }
        _ => Some(SlotKind::Map),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_decides_unless_a_scenario_does() {
        use HadoopLine::{V1, V020};
        use TrackerLoad::{Auto, Current, Reported};
        let by_line = HadoopLine::ALL.map(|line| Auto.settled(line));
        assert_eq!(by_line, [Reported, Reported, Current, Reported]);
        assert_eq!((Reported.settled(V1), Current.settled(V020)), (Reported, Current));
    }
}
