//! Which line of Hadoop a run of `capacity` follows: the three differ in much.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The line of Hadoop whose rules hold.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Rules {
    /// Those of the scenario's line.
    #[default]
    #[serde(rename = "auto")]
    Auto,
    /// One task a heartbeat, reduce or map, wherever its input is.
    #[serde(rename = "0.20")]
    V20,
    /// One reduce and one map a heartbeat, wherever its input is.
    #[serde(rename = "0.21")]
    V21,
    /// As many maps as there are slots, but only one without input in the rack, for which its job
    /// has waited; and one reduce. A user gets no more than its limit, even if slots stay idle.
    #[serde(rename = "1.x")]
    V1,
}
