//! A scheduler with its settings, from Hadoop's own files.
//!
//! ```text
//! yarn-site.xml            which scheduler, and its limits
//! fair-scheduler.xml       queues under the fair scheduler
//! capacity-scheduler.xml   queues under the capacity scheduler
//! ```
//!
//! The content of a file is checked when it is read: an error names the file, the line where there is
//! one, and the key.

mod fair_queues;
mod properties;

use std::collections::BTreeMap;

use crate::capacity::YarnCapacity;
use crate::capacity::settings::{CapacityPreemptionSettings, CapacitySettings};
use crate::fair::YarnFair;
use crate::fair::settings::{FairPreemptionSettings, FairSettings};
use crate::fifo::YarnFifo;
use crate::scheduler::YarnScheduler;
use crate::size::{SizeLimits, YarnSize};
use mumakil_base::units::SimSpan;
pub(crate) use properties::HadoopProperties;

/// A scheduler, and the sizes that it gives to containers.
pub struct YarnSettings {
    pub(crate) limits: SizeLimits,
    pub(crate) scheduler: Box<dyn YarnScheduler>,
}

/// A scheduler of Hadoop, with the content of the file of its queues.
#[derive(Clone, Debug)]
pub(crate) enum QueueFile<'t> {
    /// FIFO has no queues.
    Fifo,
    /// The text of `fair-scheduler.xml`.
    Fair(&'t str),
    /// The properties of `capacity-scheduler.xml`.
    Capacity(BTreeMap<String, String>),
}

/// A mistake in Hadoop's files.
#[derive(Debug)]
pub(crate) enum SettingMistake {
    /// In the file of the queues.
    Queues(String),
    /// In `yarn-site.xml`.
    Site(String),
}

impl YarnSettings {
    /// Returns the settings of a scheduler with the properties of `yarn-site.xml`.
    pub(crate) fn of(
        site: &HadoopProperties,
        queues: QueueFile<'_>,
    ) -> Result<Self, SettingMistake> {
        let limits = limits(site).map_err(SettingMistake::Site)?;
        let scheduler: Box<dyn YarnScheduler> = match queues {
            QueueFile::Fifo => Box::new(YarnFifo::default()),
            QueueFile::Fair(text) => {
                let mut settings = fair_settings(site).map_err(SettingMistake::Site)?;
                fair_queues::read(text, &mut settings).map_err(SettingMistake::Queues)?;
                Box::new(YarnFair::new(settings))
            }
            QueueFile::Capacity(properties) => {
                let preemption = capacity_preemption(site).map_err(SettingMistake::Site)?;
                let settings = CapacitySettings::new(properties, limits, preemption);
                let scheduler = settings.and_then(YarnCapacity::new);
                Box::new(scheduler.map_err(SettingMistake::Queues)?)
            }
        };
        Ok(Self { limits, scheduler })
    }
}

fn limits(site: &HadoopProperties) -> Result<SizeLimits, String> {
    let default = SizeLimits::default();
    let limits = SizeLimits {
        minimum: size(site, "minimum", default.minimum)?,
        maximum: size(site, "maximum", default.maximum)?,
        increment: size(site, "increment", default.increment)?,
    };
    let one = YarnSize::new(1, 1);
    if !one.fits_in(limits.minimum) || !one.fits_in(limits.increment) {
        return Err("the smallest container and the steps must be at least 1".to_owned());
    }
    if !limits.minimum.fits_in(limits.maximum) {
        let SizeLimits { minimum, maximum, .. } = limits;
        return Err(format!("the smallest container has {minimum}, the largest {maximum}"));
    }
    Ok(limits)
}

fn size(site: &HadoopProperties, which: &str, default: YarnSize) -> Result<YarnSize, String> {
    let memory = site.get(&format!("yarn.scheduler.{which}-allocation-mb"), default.memory)?;
    let cores = site.get(&format!("yarn.scheduler.{which}-allocation-vcores"), default.cores)?;
    Ok(YarnSize::new(memory, cores))
}

fn fair_settings(site: &HadoopProperties) -> Result<FairSettings, String> {
    let site = site.below("yarn.scheduler.fair.");
    let sleep = SimSpan::from_millis(site.get("continuous-scheduling-sleep-ms", 5)?);
    let preemption = FairPreemptionSettings {
        utilization: site.get("preemption.cluster-utilization-threshold", 0.8)?,
        interval_ms: site.get("preemptionInterval", 5_000)?,
        wait_before_kill_ms: site.get("waitTimeBeforeKill", 15_000)?,
    };
    Ok(FairSettings {
        update_interval: SimSpan::from_millis(site.get("update-interval-ms", 500)?),
        assign_multiple: site.is_on("assignmultiple", false),
        max_assign: site.get("max.assign", -1)?,
        locality_threshold: [
            site.get("locality.threshold.node", -1.0)?,
            site.get("locality.threshold.rack", -1.0)?,
        ],
        locality_delay_ms: [
            site.get("locality-delay-node-ms", -1)?,
            site.get("locality-delay-rack-ms", -1)?,
        ],
        continuous: site.is_on("continuous-scheduling-enabled", false).then_some(sleep),
        preemption: site.is_on("preemption", false).then_some(preemption),
        size_based_weight: site.is_on("sizebasedweight", false),
        user_as_default_queue: site.is_on("user-as-default-queue", true),
        allow_undeclared: site.is_on("allow-undeclared-pools", true),
        ..FairSettings::default()
    })
}

fn capacity_preemption(
    site: &HadoopProperties,
) -> Result<Option<CapacityPreemptionSettings>, String> {
    let is_on = site.is_on("yarn.resourcemanager.scheduler.monitor.enable", false);
    let site = site.below("yarn.resourcemanager.monitor.capacity.preemption.");
    let settings = CapacityPreemptionSettings {
        interval_ms: site.get("monitoring_interval", 3_000)?,
        max_wait_before_kill_ms: site.get("max_wait_before_kill", 15_000)?,
        total_per_round: site.get("total_preemption_per_round", 0.1)?,
        max_ignored: site.get("max_ignored_over_capacity", 0.1)?,
        natural_termination: site.get("natural_termination_factor", 0.2)?,
        is_observer: site.is_on("observe_only", false),
    };
    Ok(is_on.then_some(settings))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    /// Returns the message of a folder that is wrong, from the name of the file on.
    fn mistake(site: &[(&str, &str)], capacity: &[(&str, &str)]) -> String {
        let folder = tempfile::tempdir().unwrap();
        for (file, properties) in [("yarn-site.xml", site), ("capacity-scheduler.xml", capacity)] {
            let lines = properties.iter().map(|(name, value)| {
                format!("<property><name>{name}</name><value>{value}</value></property>")
            });
            let text = format!("<configuration>{}</configuration>", lines.collect::<String>());
            fs::write(folder.path().join(file), text).unwrap();
        }
        let error = YarnSettings::read(folder.path()).err().expect("it is wrong");
        let start = error.find("yarn-site").or_else(|| error.find("capacity-s"));
        error[start.expect("the file is named")..].to_owned()
    }

    #[test]
    fn capacities_must_add_up_and_lie_below_their_maximum() {
        let queues = |a, max| {
            let name = |name| format!("yarn.scheduler.capacity.root.{name}");
            let [list, of_a, of_b, max_a] =
                ["queues", "a.capacity", "b.capacity", "a.maximum-capacity"].map(name);
            mistake(&[], &[(&list, "a,b"), (&of_a, a), (&of_b, "50"), (&max_a, max)])
        };
        assert_eq!(
            queues("40", "100"),
            "capacity-scheduler.xml: the capacities below queue `root` add up to 90, not 100"
        );
        assert_eq!(
            queues("50", "30"),
            "capacity-scheduler.xml: queue `root.a`: a capacity of 50 with a maximum of 30"
        );
        assert!(queues("many", "100").ends_with("root.a.capacity`: `many` is no number"));
    }

    #[test]
    fn the_smallest_container_is_no_larger_than_the_largest() {
        let message = mistake(&[("yarn.scheduler.minimum-allocation-mb", "9000")], &[]);
        assert!(message.starts_with("yarn-site.xml: the smallest container has 9000 MiB"));
    }
}
