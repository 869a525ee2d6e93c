//! The settings of `capacity-scheduler.xml` for all queues, and those of the preemption monitor.

use crate::settings::HadoopProperties;
use crate::size::{SizeCalculator, SizeLimits, YarnSize};
use mumakil_base::units::SimSpan;

/// The settings of the capacity scheduler.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct CapacitySettings {
    pub(crate) calculator: SizeCalculator,
    /// The largest container, as it is set, whatever nodes there are.
    pub(crate) maximum: YarnSize,
    pub(crate) minimum: YarnSize,
    /// How many offers an application misses before it takes a container in the rack.
    pub(crate) node_locality_delay: i32,
    /// Whether a container in the rack ends the wait for locality.
    pub(crate) resets_after_rack: bool,
    /// Whether an application may give up a reservation for a container on another node.
    pub(crate) continues_looking: bool,
    /// Whether the monitor runs.
    pub(crate) monitors: bool,
    pub(crate) monitor_interval: SimSpan,
    pub(crate) max_wait_before_kill_ms: u64,
    pub(crate) total_per_round: f32,
    pub(crate) max_ignored: f64,
    pub(crate) natural_termination: f64,
    /// Whether the monitor only looks.
    pub(crate) is_observer: bool,
}

impl CapacitySettings {
    /// Reads the properties; the error names the one that is wrong.
    pub(crate) fn of(site: &HadoopProperties, limits: SizeLimits) -> Result<Self, String> {
        let is_dominant = site
            .text(&of_queues("resource-calculator"))
            .is_some_and(|class| class.ends_with(".DominantResourceCalculator"));
        Ok(Self {
            calculator: match is_dominant {
                true => SizeCalculator::Dominant,
                false => SizeCalculator::Memory,
            },
            maximum: limits.maximum,
            minimum: limits.minimum,
            node_locality_delay: site.get(&of_queues("node-locality-delay"), 0)?,
            resets_after_rack: site.is_on(&of_queues("rack-locality-full-reset"), true),
            continues_looking: site.is_on(&of_queues("reservations-continue-look-all-nodes"), true),
            monitors: site.is_on("yarn.resourcemanager.scheduler.monitor.enable", false),
            monitor_interval: site.interval(&of_monitor("monitoring_interval"), 3_000)?,
            max_wait_before_kill_ms: site
                .get::<u32>(&of_monitor("max_wait_before_kill"), 15_000)?
                .into(),
            total_per_round: site.get(&of_monitor("total_preemption_per_round"), 0.1)?,
            max_ignored: site.get(&of_monitor("max_ignored_over_capacity"), 0.1)?,
            natural_termination: site.get(&of_monitor("natural_termination_factor"), 0.2)?,
            is_observer: site.is_on(&of_monitor("observe_only"), false),
        })
    }
}

fn of_queues(name: &str) -> String {
    format!("yarn.scheduler.capacity.{name}")
}

fn of_monitor(name: &str) -> String {
    format!("yarn.resourcemanager.monitor.capacity.preemption.{name}")
}
