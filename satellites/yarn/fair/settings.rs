//! The settings of the fair scheduler, from `fair-scheduler.xml` and `yarn-site.xml`.
//!
//! Numbers with a fraction are 32-bit floats, as Hadoop reads them: 0.7 of 20 nodes is less than
//! 14.

use std::collections::BTreeMap;

use super::order::FairPolicy;
use crate::size::YarnSize;
use mumakil_base::units::SimSpan;

/// The settings of a queue; what is absent comes from the defaults or from the parent.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct FairQueueSettings {
    pub(crate) weight: Option<f32>,
    pub(crate) min: Option<YarnSize>,
    pub(crate) max: Option<YarnSize>,
    pub(crate) max_running: Option<i32>,
    pub(crate) max_master_share: Option<f32>,
    pub(crate) policy: Option<FairPolicy>,
    /// Milliseconds below the minimum share, and below the fair share, before it may preempt.
    pub(crate) timeouts_ms: [Option<u64>; 2],
    pub(crate) threshold: Option<f32>,
    /// Whether it has queues below it, or is said to be a parent.
    pub(crate) is_parent: bool,
}

/// The settings of the fair scheduler.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct FairSettings {
    /// The queues by their full names, in the order of the file.
    pub(crate) queues: Vec<(String, FairQueueSettings)>,
    /// The settings of queues that do not say otherwise.
    pub(crate) default: FairQueueSettings,
    pub(crate) user_max_running: BTreeMap<String, i32>,
    pub(crate) user_max_running_default: i32,
    pub(crate) update_interval: SimSpan,
    pub(crate) assign_multiple: bool,
    /// How many containers a node gets at an offer; no limit if not positive.
    pub(crate) max_assign: i32,
    /// Shares of the nodes, for the host and for the rack; negative for no delay.
    pub(crate) locality_threshold: [f32; 2],
    /// Milliseconds, for the host and for the rack; negative for no delay.
    pub(crate) locality_delay_ms: [i64; 2],
    /// The interval of continuous scheduling; `None` if nodes are offered at heartbeats alone.
    pub(crate) continuous: Option<SimSpan>,
    pub(crate) preemption: Option<FairPreemptionSettings>,
    pub(crate) size_based_weight: bool,
    /// Whether a job without a queue of its own goes to that of its user.
    pub(crate) user_as_default_queue: bool,
    /// Whether a queue that the file does not name is made.
    pub(crate) allow_undeclared: bool,
}

/// The settings of preemption.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct FairPreemptionSettings {
    /// The least share of the cluster that must be in use.
    pub(crate) utilization: f32,
    pub(crate) interval_ms: u64,
    pub(crate) wait_before_kill_ms: u64,
}

impl Default for FairSettings {
    fn default() -> Self {
        Self {
            queues: Vec::new(),
            default: FairQueueSettings {
                weight: Some(1.0),
                min: Some(YarnSize::NONE),
                max: Some(YarnSize::UNBOUNDED),
                max_running: Some(i32::MAX),
                max_master_share: Some(0.5),
                policy: Some(FairPolicy::Fair),
                timeouts_ms: [Some(u64::MAX); 2],
                threshold: Some(0.5),
                is_parent: false,
            },
            user_max_running: BTreeMap::new(),
            user_max_running_default: i32::MAX,
            update_interval: SimSpan::from_millis(500),
            assign_multiple: false,
            max_assign: -1,
            locality_threshold: [-1.0; 2],
            locality_delay_ms: [-1; 2],
            continuous: None,
            preemption: None,
            size_based_weight: false,
            user_as_default_queue: true,
            allow_undeclared: true,
        }
    }
}
