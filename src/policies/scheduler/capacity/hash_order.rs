//! The order in which a Java `HashMap` lists names.
//!
//! Hadoop keeps the queues in such maps, and serves equal queues at first in the order of a map.
//! This is the order of Java 8 and later, on which Hadoop 1.2.1 was measured. Java 6 and 7 spread
//! the hash in another way, so the order may be another one there.

/// Sorts items, each with its name, as a map lists them in which they were put in their present
/// order. The map's table has `table` places.
pub(super) fn sort<T>(items: &mut [(&str, T)], table: usize) {
    // Items in the same place of the table are listed in the order in which they were put there.
    items.sort_by_key(|(name, _)| spread(hash(name)) as usize & (table - 1));
}

/// Returns the size of the table of a map with this many items, if they came one by one: at least
/// 16, and at most three quarters full.
pub(super) fn grown(items: usize) -> usize {
    (items.div_ceil(3) * 4).next_power_of_two().max(16)
}

/// Returns the size of the table of a map that got all its items from another map at once.
pub(super) fn copied(items: usize) -> usize {
    // `HashMap.putMapEntries` of Java 8: the power of two that is no less than 4/3 of the items,
    // plus one, cut off to a whole number.
    (items * 4 / 3 + 1).next_power_of_two()
}

/// `String.hashCode`.
fn hash(name: &str) -> u32 {
    name.encode_utf16().fold(0, |hash: u32, unit| hash.wrapping_mul(31).wrapping_add(unit.into()))
}

/// `HashMap.hash` of Java 8.
fn spread(hash: u32) -> u32 {
    hash ^ (hash >> 16)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listed<'n>(names: &[&'n str], table: usize) -> Vec<&'n str> {
        let mut names: Vec<(&str, ())> = names.iter().map(|name| (*name, ())).collect();
        sort(&mut names, table);
        names.into_iter().map(|(name, ())| name).collect()
    }

    /// A program in Java printed these orders.
    #[test]
    fn names_are_in_the_order_of_a_hash_map() {
        let names = ["production", "default", "research", "Z\u{fc}rich"];
        let expected = ["default", "production", "Z\u{fc}rich", "research"];
        assert_eq!(listed(&names, grown(4)), expected);
        // Thirteen names need a table of 32.
        let names: Vec<String> = ('a'..='m').rev().map(|last| format!("queue-{last}")).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let last = listed(&names, grown(13)).concat().replace("queue-", "");
        assert_eq!(last, "ihkjedgfacbml");
    }

    #[test]
    fn tables_are_powers_of_two() {
        assert_eq!([1, 12, 13, 24, 25].map(grown), [16, 16, 32, 32, 64]);
        assert_eq!([1, 2, 3, 5, 6, 12].map(copied), [2, 4, 8, 8, 16, 32]);
    }
}
