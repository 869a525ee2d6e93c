//! The order in which a Java `HashMap` lists names.
//!
//! Hadoop keeps the queues in such maps, and serves equal queues at first in the order of a map.
//! The order is that of the places in the map's table. Java 8 spreads hashes over the places in
//! another way than Java 6 and 7, and lists names of one place in the order in which they came;
//! Java 6 lists the latest first, and turns them over each time the table grows.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The version of Java whose maps order the queues.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum JavaMaps {
    /// Java 6 with 0.20, Java 8 with 1.x, as 1.2.1 was measured on it.
    #[default]
    #[serde(rename = "auto")]
    Auto,
    /// Java 6.
    #[serde(rename = "java-6")]
    Java6,
    /// Java 8 and later.
    #[serde(rename = "java-8")]
    Java8,
}

pub(super) const FIRST: usize = 16;

impl JavaMaps {
    /// Sorts items, each with its name, as a map lists them in which they were put one by one, in
    /// their present order. The map's table has `table` places at first.
    pub(super) fn sort<T: Copy>(self, items: &mut [(&str, T)], table: usize) {
        let mut places: Vec<Vec<(&str, T)>> = vec![Vec::new(); table];
        for (count, item) in (1..).zip(&*items) {
            self.put(&mut places, *item);
            // The table is at most three quarters full.
            if 3 * places.len() < 4 * count {
                let mut larger = vec![Vec::new(); 2 * places.len()];
                places.into_iter().flatten().for_each(|item| self.put(&mut larger, item));
                places = larger;
            }
        }
        items.iter_mut().zip(places.into_iter().flatten()).for_each(|(to, item)| *to = item);
    }

    fn put<'n, T>(self, places: &mut [Vec<(&'n str, T)>], item: (&'n str, T)) {
        let hash = item.0.encode_utf16().fold(0, |hash: u32, unit| {
            // `String.hashCode`.
            hash.wrapping_mul(31).wrapping_add(unit.into())
        });
        let mask = places.len() - 1;
        match self {
            // `HashMap.hash` of Java 6, and `addEntry`, which puts an entry before the others.
            Self::Java6 => {
                let hash = hash ^ (hash >> 20) ^ (hash >> 12);
                places[(hash ^ (hash >> 7) ^ (hash >> 4)) as usize & mask].insert(0, item);
            }
            Self::Java8 | Self::Auto => places[(hash ^ (hash >> 16)) as usize & mask].push(item),
        }
    }

    /// Returns the size of the table of a map that gets this many items from another map at once.
    pub(super) fn copied(self, items: usize) -> usize {
        // The constructor of Java 6 and `putMapEntries` of Java 8: the power of two that is no less
        // than 4/3 of the items, plus one, cut off to a whole number.
        let table = (items * 4 / 3 + 1).next_power_of_two();
        if self == Self::Java6 { table.max(FIRST) } else { table }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listed<'n>(java: JavaMaps, names: &[&'n str]) -> Vec<&'n str> {
        let mut names: Vec<(&str, ())> = names.iter().map(|name| (*name, ())).collect();
        java.sort(&mut names, FIRST);
        names.into_iter().map(|(name, ())| name).collect()
    }

    /// Programs in Java printed these orders, those of Java 6 with a table built by its rules.
    #[test]
    fn names_are_in_the_order_of_a_hash_map() {
        let names = ["production", "default", "research", "Z\u{fc}rich"];
        let expected = ["default", "production", "Z\u{fc}rich", "research"];
        assert_eq!(listed(JavaMaps::Java8, &names), expected);
        let expected = ["default", "Z\u{fc}rich", "research", "production"];
        assert_eq!(listed(JavaMaps::Java6, &names), expected);
        // Thirteen names need a table of 32.
        let names: Vec<String> = ('a'..='m').rev().map(|last| format!("queue-{last}")).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        for (java, last) in [(JavaMaps::Java8, "ihkjedgfacbml"), (JavaMaps::Java6, "lmedgfihkjacb")]
        {
            assert_eq!(listed(java, &names).concat().replace("queue-", ""), last);
        }
        // Two names of one place change their order as the table grows.
        let names: Vec<String> = (0..60).map(|i| format!("pool{}", i * 7_919 % 1_000)).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let expected = "595 436 380 919 433 109 246 866 598 869 760 623 489 922 383 626 112 28 975 \
                        218 193 190 352 84 676 355 732 679 31 299 570 517 514 221 841 704 165 838 \
                        464 785 788 461 408 327 137 947 271 542 274 894 3 0 545 56 813 707 757 302 \
                        950 651";
        assert_eq!(listed(JavaMaps::Java6, &names).join(" ").replace("pool", ""), expected);
    }

    #[test]
    fn tables_are_powers_of_two() {
        let copied = |java: JavaMaps| [1, 2, 3, 5, 6, 12, 13].map(|items| java.copied(items));
        assert_eq!(copied(JavaMaps::Java8), [2, 4, 8, 8, 16, 32, 32]);
        assert_eq!(copied(JavaMaps::Java6), [16, 16, 16, 16, 16, 32, 32]);
    }
}
