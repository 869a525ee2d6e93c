//! The settings of `capacity-scheduler.xml`, and those of the preemption monitor.

use std::collections::BTreeMap;

use crate::size::{SizeCalculator, SizeLimits, YarnSize};

/// The settings of the capacity scheduler.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct CapacitySettings {
    /// All properties of the file, by name.
    pub(crate) properties: BTreeMap<String, String>,
    pub(crate) calculator: SizeCalculator,
    pub(crate) preemption: Option<CapacityPreemptionSettings>,
    /// The largest container, as it is set, whatever nodes there are.
    pub(crate) maximum: YarnSize,
    pub(crate) minimum: YarnSize,
    /// How many offers an application misses before it takes a container in the rack.
    pub(crate) node_locality_delay: i32,
    /// Whether a container in the rack ends the wait for locality.
    pub(crate) resets_after_rack: bool,
    /// Whether an application may give up a reservation for a container on another node.
    pub(crate) continues_looking: bool,
}

/// The settings of the preemption monitor.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct CapacityPreemptionSettings {
    pub(crate) interval_ms: u64,
    pub(crate) max_wait_before_kill_ms: u64,
    pub(crate) total_per_round: f32,
    pub(crate) max_ignored: f64,
    pub(crate) natural_termination: f64,
    pub(crate) is_observer: bool,
}

impl CapacitySettings {
    const PREFIX: &str = "yarn.scheduler.capacity.";

    /// Reads the properties of the file; the error names the one that is wrong.
    pub(crate) fn new(
        properties: BTreeMap<String, String>,
        limits: SizeLimits,
        preemption: Option<CapacityPreemptionSettings>,
    ) -> Result<Self, String> {
        let mut settings = Self {
            properties,
            preemption,
            maximum: limits.maximum,
            minimum: limits.minimum,
            ..Self::default()
        };
        let calculator = settings.properties.get(&format!("{}resource-calculator", Self::PREFIX));
        if calculator.is_some_and(|class| class.trim().ends_with(".DominantResourceCalculator")) {
            settings.calculator = SizeCalculator::Dominant;
        }
        settings.node_locality_delay = settings.get("node-locality-delay", 0)?;
        settings.resets_after_rack = settings.is_on("rack-locality-full-reset", true);
        settings.continues_looking = settings.is_on("reservations-continue-look-all-nodes", true);
        Ok(settings)
    }

    /// Returns a setting by its name after the common prefix, or the default; the error names the
    /// setting.
    pub(crate) fn get<T: std::str::FromStr>(&self, name: &str, default: T) -> Result<T, String> {
        let key = format!("{}{name}", Self::PREFIX);
        self.properties.get(&key).map_or(Ok(default), |text| {
            text.trim().parse().map_err(|_| format!("`{key}`: `{text}` is no number"))
        })
    }

    /// Returns the names of the queues below one; none if it is a leaf.
    pub(crate) fn children(&self, path: &str) -> Vec<&str> {
        let list = self.properties.get(&format!("{}{path}.queues", Self::PREFIX));
        let names = list.map_or("", String::as_str).split(',').map(str::trim);
        names.filter(|name| !name.is_empty()).collect()
    }

    pub(crate) fn is_on(&self, name: &str, default: bool) -> bool {
        let value = self.properties.get(&format!("{}{name}", Self::PREFIX));
        value.map_or(default, |text| text.trim().eq_ignore_ascii_case("true"))
    }
}
