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

use crate::capacity::YarnCapacity;
use crate::fair::YarnFair;
use crate::fair::settings::FairSettings;
use crate::fault::LivenessLimits;
use crate::fifo::YarnFifo;
use crate::scheduler::YarnScheduler;
use crate::size::{SizeLimits, YarnSize};
pub(crate) use properties::HadoopProperties;

/// A scheduler, and the sizes that it gives to containers.
pub(crate) struct YarnSettings {
    pub(crate) limits: SizeLimits,
    pub(crate) liveness: LivenessLimits,
    pub(crate) scheduler: Box<dyn YarnScheduler>,
}

/// The schedulers of Hadoop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum YarnPolicy {
    Fifo,
    Fair,
    Capacity,
}

/// A mistake: the option of a scenario that has it, which is `file` for the file of the queues and
/// `properties` for `yarn-site.xml`, and what is wrong.
pub(crate) type SettingMistake = (&'static str, String);

impl YarnSettings {
    /// Returns a scheduler with the properties of `yarn-site.xml` and `capacity-scheduler.xml`, and
    /// with the text of `fair-scheduler.xml`.
    pub(crate) fn of(
        policy: YarnPolicy,
        site: &HadoopProperties,
        xml: &str,
    ) -> Result<Self, SettingMistake> {
        let limits = limits(site).map_err(|it| ("properties", it))?;
        let liveness = liveness(site).map_err(|it| ("properties", it))?;
        let scheduler: Box<dyn YarnScheduler> = match policy {
            YarnPolicy::Fifo => Box::new(YarnFifo::default()),
            YarnPolicy::Fair => {
                let mut settings = FairSettings::of(site).map_err(|it| ("properties", it))?;
                fair_queues::read(xml, &mut settings).map_err(|it| ("file", it))?;
                Box::new(YarnFair::new(settings))
            }
            YarnPolicy::Capacity => {
                Box::new(YarnCapacity::of(site, limits).map_err(|it| ("file", it))?)
            }
        };
        Ok(Self { limits, liveness, scheduler })
    }
}

fn liveness(site: &HadoopProperties) -> Result<LivenessLimits, String> {
    const CONTAINER: &str = "yarn.resourcemanager.rm.container-allocation.expiry-interval-ms";
    let default = LivenessLimits::default();
    Ok(LivenessLimits {
        master: site.interval("yarn.am.liveness-monitor.expiry-interval-ms", 600_000)?,
        container: site.interval(CONTAINER, 600_000)?,
        max_attempts: site.get("yarn.resourcemanager.am.max-attempts", default.max_attempts)?,
        ..default
    })
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
        assert!(queues("many", "100").contains("root.a.capacity`: `many` is not a number"));
    }

    #[test]
    fn the_smallest_container_is_no_larger_than_the_largest() {
        let message = mistake(&[("yarn.scheduler.minimum-allocation-mb", "9000")], &[]);
        assert!(message.starts_with("yarn-site.xml: the smallest container has 9000MiB"));
    }
}
