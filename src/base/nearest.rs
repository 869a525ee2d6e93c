//! "Did you mean …?": the known name nearest to one that is not known.

/// Returns the candidate that takes the fewest changes of letters, if they are few for its length.
pub fn nearest<'c>(name: &str, candidates: impl IntoIterator<Item = &'c str>) -> Option<&'c str> {
    let name = simple(name);
    // Long texts are no misspelt names, and their distance would take long.
    if name.len() > 64 {
        return None;
    }
    candidates
        .into_iter()
        .map(|candidate| (distance(&name, &simple(candidate)), candidate))
        .filter(|(changes, candidate)| {
            let letters = candidate.chars().count();
            *changes <= 1.max(letters / 3) && *changes < letters
        })
        .min_by_key(|(changes, _)| *changes)
        .map(|(_, candidate)| candidate)
}

/// Case, dashes and underscores are what people mix up first.
fn simple(name: &str) -> Vec<char> {
    name.to_lowercase().chars().map(|c| if c == '-' { '_' } else { c }).collect()
}

/// Returns how many letters must be added, dropped, replaced or swapped with their neighbour.
fn distance(a: &[char], b: &[char]) -> usize {
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let replaced = last[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut least = replaced.min(last[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                least = least.min(before[j - 2] + 1);
            }
            row.push(least);
        }
        before = std::mem::replace(&mut last, row);
    }
    last[b.len()]
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
        assert_eq!(nearest("x", ["a", "b"]), None);
    }
}
