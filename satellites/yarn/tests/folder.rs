//! The settings of a folder with Hadoop's files.

use std::path::Path;

use crate::settings::{HadoopProperties, YarnPolicy, YarnSettings};

impl YarnSettings {
    /// Reads `yarn-site.xml` in a folder, and the file of the queues that its scheduler needs; the
    /// error begins with the name of the file.
    pub(crate) fn read(folder: &Path) -> Result<Self, String> {
        let text = |name: &str| std::fs::read_to_string(folder.join(name)).unwrap();
        let properties = |name: &str| {
            HadoopProperties::parse(&text(name)).map_err(|message| format!("{name}: {message}"))
        };
        let mut site = properties("yarn-site.xml")?;
        let class = site.get("yarn.resourcemanager.scheduler.class").cloned().unwrap_or_default();
        let policy = match class.rsplit('.').next() {
            Some("FifoScheduler") => YarnPolicy::Fifo,
            Some("FairScheduler") => YarnPolicy::Fair,
            _ => YarnPolicy::Capacity,
        };
        let mut xml = String::new();
        let mut queues = "capacity-scheduler.xml";
        match policy {
            YarnPolicy::Fifo => {}
            YarnPolicy::Fair => {
                queues = "fair-scheduler.xml";
                xml = text(queues);
            }
            YarnPolicy::Capacity => site.extend(properties(queues)?),
        }
        Self::of(policy, &HadoopProperties::new(site), &xml).map_err(|(key, message)| {
            format!("{}: {message}", if key == "file" { queues } else { "yarn-site.xml" })
        })
    }
}
