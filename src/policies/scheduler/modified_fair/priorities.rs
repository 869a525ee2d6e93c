//! Job priorities that follow locality (section 3.5): a job rises if its map is nearer to its input
//! than the map before.
//!
//! The paper describes this in two ways that differ. In its text, the priority moves by as many
//! levels as the locality of the job's map differs from the locality of the map before. If the
//! locality stays the same, a job with priority very high or very low moves one level inwards.
//! Table 3 differs in three points: a job whose locality improves from off-rack to node falls; a
//! job with priority very high or very low keeps it if the locality stays the same; and a priority
//! that would leave the scale moves inwards. The text fits the purpose that the section states, so
//! it is the default.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use mumakil_base::mutated;
use mumakil_core::mapred::Priority::{
    High as H, Low as L, Normal as N, VeryHigh as Vh, VeryLow as Vl,
};
use mumakil_core::mapred::{Locality, Priority};

/// How priorities follow locality.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PriorityAdjustment {
    /// As in the paper's text.
    #[default]
    Text,
    /// As in the paper's table 3.
    Table,
    /// Not at all.
    Off,
}

// Sorted by the numbers of `Priority`, with which levels are computed.
const LEVELS: [Priority; 5] = [Vh, H, N, L, Vl];

/// Table 3, by the localities of the map before and of the new map, and by priority.
// Copied as printed, including rows that contradict the text.
const TABLE: [[[Priority; 5]; 3]; 3] = [
    [[Vh, H, N, L, Vl], [H, N, L, Vl, L], [N, L, Vl, Vl, L]],
    [[H, Vh, H, N, L], [Vh, H, N, L, Vl], [H, N, L, Vl, L]],
    [[H, N, L, Vl, L], [H, Vh, H, N, L], [Vh, H, N, L, Vl]],
];

impl PriorityAdjustment {
    /// Returns a job's priority after a map at `now`, whose map before was at `before`.
    pub(super) fn after(self, priority: Priority, before: Locality, now: Locality) -> Priority {
        let (from, to) = mutated!((before, now), "mfair/priority-backwards" => (now, before));
        match self {
            Self::Text => by_text(priority, from as usize, to as usize),
            Self::Table => TABLE[from as usize][to as usize][priority as usize],
            Self::Off => priority,
        }
    }
}

fn by_text(priority: Priority, before: usize, now: usize) -> Priority {
    match priority {
        // "A minor adjustment … for the balance of fairness": no job stays at an end of the scale.
        Vh if before == now => mutated!(H, "mfair/stays-very-high" => Vh),
        Vl if before == now => mutated!(L, "mfair/stays-very-low" => Vl),
        _ => {
            let from = mutated!(before, "mfair/one-level-up" => before.min(now + 1));
            let to = mutated!(now, "mfair/one-level-down" => now.min(before + 1));
            // A priority cannot leave the scale: it stays at the end.
            LEVELS[(priority as usize + to).saturating_sub(from).min(LEVELS.len() - 1)]
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOCALITIES: [Locality; 3] = [Locality::Node, Locality::Rack, Locality::OffRack];

    /// Returns the new priority for each of the five old ones.
    fn after(how: PriorityAdjustment, before: Locality, now: Locality) -> [Priority; 5] {
        LEVELS.map(|priority| how.after(priority, before, now))
    }

    #[test]
    fn the_text_moves_a_priority_with_the_locality_and_never_lets_it_rest_at_an_end() {
        let [node, rack, off] = LOCALITIES;
        for same in LOCALITIES {
            assert_eq!(after(PriorityAdjustment::Text, same, same), [H, H, N, L, L]);
        }
        for (before, now, expected) in [
            (node, rack, [H, N, L, Vl, Vl]),
            (rack, off, [H, N, L, Vl, Vl]),
            (node, off, [N, L, Vl, Vl, Vl]),
            (rack, node, [Vh, Vh, H, N, L]),
            (off, rack, [Vh, Vh, H, N, L]),
            (off, node, [Vh, Vh, Vh, H, N]),
        ] {
            let found = after(PriorityAdjustment::Text, before, now);
            assert_eq!(found, expected, "{before:?} to {now:?}");
        }
    }

    #[test]
    fn the_table_has_nine_rows() {
        let [node, rack, off] = LOCALITIES;
        for (before, now, expected) in [
            (node, node, [Vh, H, N, L, Vl]),
            (node, rack, [H, N, L, Vl, L]),
            (node, off, [N, L, Vl, Vl, L]),
            (rack, node, [H, Vh, H, N, L]),
            (rack, rack, [Vh, H, N, L, Vl]),
            (rack, off, [H, N, L, Vl, L]),
            (off, node, [H, N, L, Vl, L]),
            (off, rack, [H, Vh, H, N, L]),
            (off, off, [Vh, H, N, L, Vl]),
        ] {
            let found = after(PriorityAdjustment::Table, before, now);
            assert_eq!(found, expected, "{before:?} to {now:?}");
        }
    }

    #[test]
    fn text_and_table_agree_but_for_the_ends_and_the_way_from_off_the_rack_to_the_node() {
        for (before, now) in LOCALITIES.iter().flat_map(|a| LOCALITIES.map(|b| (*a, b))) {
            if (before, now) == (Locality::OffRack, Locality::Node) {
                continue;
            }
            for priority in [H, N, L] {
                let both = [PriorityAdjustment::Text, PriorityAdjustment::Table]
                    .map(|how| how.after(priority, before, now));
                assert_eq!(both[0], both[1], "{priority:?}, {before:?} to {now:?}");
            }
        }
    }

    #[test]
    fn switched_off_nothing_moves() {
        for before in LOCALITIES {
            assert_eq!(after(PriorityAdjustment::Off, before, Locality::Node), LEVELS);
        }
    }
}
