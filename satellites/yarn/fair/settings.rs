//! The settings of the fair scheduler, from `fair-scheduler.xml` and `yarn-site.xml`.
//!
//! Numbers with a fraction are 32-bit floats, as Hadoop reads them: 0.7 of 20 nodes is less than
//! 14.

use std::collections::BTreeMap;

use super::order::FairPolicy;
use crate::settings::HadoopProperties;
use crate::size::YarnSize;
use mumakil_base::units::SimSpan;

/// The settings of a queue.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct FairQueueSettings {
    pub(crate) weight: f32,
    pub(crate) min: YarnSize,
    pub(crate) max: YarnSize,
    pub(crate) max_running: i32,
    pub(crate) max_master_share: f32,
    pub(crate) policy: FairPolicy,
    /// Milliseconds below the minimum share, and below the fair share, before it may preempt.
    pub(crate) timeouts_ms: [u64; 2],
    pub(crate) threshold: f32,
    /// Whether it has queues below it, or is said to be a parent.
    pub(crate) is_parent: bool,
}

impl FairQueueSettings {
    /// Returns these for a queue below another one, from which time-outs and thresholds come.
    pub(crate) const fn below(self, above: &Self) -> Self {
        Self { timeouts_ms: above.timeouts_ms, threshold: above.threshold, ..self }
    }
}

impl Default for FairQueueSettings {
    fn default() -> Self {
        Self {
            weight: 1.0,
            min: YarnSize::NONE,
            max: YarnSize::UNBOUNDED,
            max_running: i32::MAX,
            max_master_share: 0.5,
            policy: FairPolicy::Fair,
            timeouts_ms: [u64::MAX; 2],
            threshold: 0.5,
            is_parent: false,
        }
    }
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
    pub(crate) preempts: bool,
    /// The least share of the cluster that must be in use before a queue preempts.
    pub(crate) preemption_utilization: f32,
    pub(crate) preemption_interval_ms: u64,
    pub(crate) wait_before_kill_ms: u64,
    pub(crate) size_based_weight: bool,
    /// Whether a job without a queue of its own goes to that of its user.
    pub(crate) user_as_default_queue: bool,
    /// Whether a queue that the file does not name is made.
    pub(crate) allow_undeclared: bool,
}

impl FairSettings {
    /// Returns the settings of `yarn-site.xml`, without queues; the error names the property.
    pub(crate) fn of(site: &HadoopProperties) -> Result<Self, String> {
        let sleep = site.interval("yarn.scheduler.fair.continuous-scheduling-sleep-ms", 5)?;
        Ok(Self {
            queues: Vec::new(),
            default: FairQueueSettings::default(),
            user_max_running: BTreeMap::new(),
            user_max_running_default: i32::MAX,
            update_interval: site.interval("yarn.scheduler.fair.update-interval-ms", 500)?,
            assign_multiple: site.is_on("yarn.scheduler.fair.assignmultiple", false),
            max_assign: site.get("yarn.scheduler.fair.max.assign", -1)?,
            locality_threshold: [
                site.get("yarn.scheduler.fair.locality.threshold.node", -1.0)?,
                site.get("yarn.scheduler.fair.locality.threshold.rack", -1.0)?,
            ],
            locality_delay_ms: [
                site.get("yarn.scheduler.fair.locality-delay-node-ms", -1)?,
                site.get("yarn.scheduler.fair.locality-delay-rack-ms", -1)?,
            ],
            continuous: site
                .is_on("yarn.scheduler.fair.continuous-scheduling-enabled", false)
                .then_some(sleep),
            preempts: site.is_on("yarn.scheduler.fair.preemption", false),
            preemption_utilization: site
                .get("yarn.scheduler.fair.preemption.cluster-utilization-threshold", 0.8)?,
            preemption_interval_ms: site
                .get::<u32>("yarn.scheduler.fair.preemptionInterval", 5_000)?
                .into(),
            wait_before_kill_ms: site
                .get::<u32>("yarn.scheduler.fair.waitTimeBeforeKill", 15_000)?
                .into(),
            size_based_weight: site.is_on("yarn.scheduler.fair.sizebasedweight", false),
            user_as_default_queue: site.is_on("yarn.scheduler.fair.user-as-default-queue", true),
            allow_undeclared: site.is_on("yarn.scheduler.fair.allow-undeclared-pools", true),
        })
    }
}
