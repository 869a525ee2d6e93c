//! "Did you mean …?": the known name that is nearest to an unknown one.

use strsim::osa_distance;

/// Returns the candidate with the fewest changes of letters (added, dropped, replaced, swapped with
/// their neighbour), if these are few for the name's length; `None` if no candidate is so near.
pub fn nearest<'c>(name: &str, candidates: impl IntoIterator<Item = &'c str>) -> Option<&'c str> {
    let name = simple(name);
    // A long text is no misspelt name, and its distances would take long.
    if name.chars().count() > 64 {
        return None;
    }
    candidates
        .into_iter()
        .map(|candidate| (osa_distance(&name, &simple(candidate)), candidate))
        .filter(|(changes, candidate)| {
            let letters = candidate.chars().count();
            // Names of one length that begin alike are nearer: `fare` means `fair`.
            let begin = candidate.get(..letters.div_ceil(2)).unwrap_or(candidate);
            let begins_alike = name.len() == candidate.len() && name.starts_with(&simple(begin));
            // Chosen: one change in three letters. The second condition keeps names of one letter
            // from being near to everything.
            *changes <= (letters / 3).max(1 + usize::from(begins_alike)) && *changes < letters
        })
        .min_by_key(|(changes, _)| *changes)
        .map(|(_, candidate)| candidate)
}

/// Returns a name in lower case with `_` for each dash: case and dashes are mixed up most often. Hadoop's
/// `FairScheduler` is called `fair` here.
fn simple(name: &str) -> String {
    let name = name.to_lowercase().replace('-', "_");
    let short = name.strip_suffix("scheduler").filter(|short| !short.is_empty());
    short.unwrap_or(&name).trim_end_matches('_').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_name_is_offered_if_it_is_near() {
        let names = ["map_slots", "reduce_slots", "nodes", "racks"];
        assert_eq!(nearest("map_slotz", names), Some("map_slots"));
        assert_eq!(nearest("mapSlots", names), Some("map_slots"));
        assert_eq!(nearest("Reduce-Slots", names), Some("reduce_slots"));
        assert_eq!(nearest("ndoes", names), Some("nodes"));
        assert_eq!(nearest("colour", names), None);
        let policies = ["fifo", "fair", "fair-skip", "capacity"];
        assert_eq!(nearest("fare", policies), Some("fair"));
        assert_eq!(nearest("CapacityScheduler", policies), Some("capacity"));
        assert_eq!(nearest("x", ["a", "b"]), None);
    }
}
