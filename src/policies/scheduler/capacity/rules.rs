//! The Hadoop version whose rules `capacity` follows: the three versions differ in many ways.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::hash_order::{FIRST, JavaMaps};
use mumakil_core::mapred::HadoopLine;

/// The version of Hadoop whose rules hold.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Rules {
    /// The version in `hadoop.line`.
    #[default]
    #[serde(rename = "auto")]
    Auto,
    /// One task in each heartbeat, a reduce or a map, wherever its input is.
    #[serde(rename = "0.20")]
    V20,
    /// One reduce and one map in each heartbeat, wherever the input is.
    #[serde(rename = "0.21")]
    V21,
    /// In each heartbeat as many maps as there are free slots, one of them with its input outside
    /// the rack after its job has waited, and one reduce. A user gets no more slots than its limit.
    #[serde(rename = "1.x")]
    V1,
}

impl Rules {
    /// Returns the rules of the capacity scheduler of a version. Mumak has the rules of 0.21.
    pub(super) const fn of(line: HadoopLine) -> Self {
        match line {
            HadoopLine::V020 => Self::V20,
            HadoopLine::V021 | HadoopLine::Mumak => Self::V21,
            HadoopLine::V1 => Self::V1,
        }
    }

    /// Sorts queues side by side, each with its name, as the version lists them at first: in this
    /// order it serves equal queues, and gives queues to threads. They must be in the order of their
    /// declaration.
    pub(super) fn sort<T: Copy>(self, java: JavaMaps, queues: &mut [(&str, T)]) {
        let java = match (java, self) {
            (JavaMaps::Auto, Self::V20) => JavaMaps::Java6,
            (JavaMaps::Auto, _) => JavaMaps::Java8,
            _ => java,
        };
        match self {
            Self::Auto | Self::V21 => queues.sort_by_key(|(name, _)| *name),
            Self::V20 => {
                // `CapacityTaskScheduler` puts the sorted names of `QueueManager` into a map.
                queues.sort_by_key(|(name, _)| *name);
                java.sort(queues, FIRST);
            }
            Self::V1 => {
                // `QueueManager` copies a map of the queues into another; `CapacityTaskScheduler`
                // puts these into a third, and those into a fourth.
                for table in [FIRST, java.copied(queues.len()), FIRST, FIRST] {
                    java.sort(queues, table);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_queues_are_at_first_in_the_order_of_the_version() {
        // These names collide in a table of 16, and not all of them in one of 32.
        let declared =
            ["q52", "q51", "q50", "q49", "q48", "q47", "q46", "q45", "q34", "q23", "q12", "q4"];
        let order_of = |rules: Rules, java| {
            let mut queues = declared.map(|name| (name, ()));
            rules.sort(java, &mut queues);
            queues.map(|(name, ())| name)
        };
        let order = |rules| order_of(rules, JavaMaps::Auto);
        // A program in Java printed this order.
        let expected =
            ["q46", "q4", "q45", "q34", "q23", "q12", "q48", "q47", "q49", "q51", "q50", "q52"];
        assert_eq!(order(Rules::V1), expected);
        let by_name = {
            let mut names = declared;
            names.sort_unstable();
            names
        };
        assert_eq!(order(Rules::V21), by_name);
        // By the places in the table, and by name within a place.
        let expected =
            ["q46", "q12", "q23", "q34", "q4", "q45", "q48", "q47", "q49", "q51", "q50", "q52"];
        assert_eq!(order_of(Rules::V20, JavaMaps::Java8), expected);
        let expected =
            ["q12", "q23", "q52", "q50", "q4", "q51", "q48", "q47", "q49", "q34", "q46", "q45"];
        assert_eq!(order(Rules::V20), expected, "0.20 is of Java 6");
        assert_eq!(order_of(Rules::V1, JavaMaps::Java6), expected);
    }
}
