//! The Hadoop version whose rules `capacity` follows: the three versions differ in many ways.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

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
    /// In each heartbeat as many maps as there are free slots, and one reduce. Only one of the maps
    /// may have its input outside the rack, and only after its job has waited. A user gets no more
    /// slots than its limit, even if slots stay idle.
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
}
