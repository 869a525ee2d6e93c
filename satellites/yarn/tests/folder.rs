//! The settings of a folder with Hadoop's files.

use std::path::Path;

use crate::YarnSettings;
use crate::settings::{HadoopProperties, QueueFile, SettingMistake};

/// The property that names the scheduler.
const CLASS: &str = "yarn.resourcemanager.scheduler.class";

impl YarnSettings {
    /// Reads `yarn-site.xml` in a folder, and the file of the queues that its scheduler needs; the
    /// error begins with the name of the file.
    pub(crate) fn read(folder: &Path) -> Result<Self, String> {
        let text = |name: &str| std::fs::read_to_string(folder.join(name)).unwrap();
        let properties = |name: &str| {
            HadoopProperties::parse(&text(name)).map_err(|message| format!("{name}: {message}"))
        };
        let site = properties("yarn-site.xml")?;
        let class = site.0.get(CLASS).map_or("CapacityScheduler", String::as_str);
        let name =
            format!("{}-scheduler.xml", if class.contains("Fair") { "fair" } else { "capacity" });
        let fair;
        let queues = match class.rsplit('.').next() {
            Some("FifoScheduler") => QueueFile::Fifo,
            Some("FairScheduler") => {
                fair = text(&name);
                QueueFile::Fair(&fair)
            }
            _ => QueueFile::Capacity(properties(&name)?.0),
        };
        Self::of(&site, queues).map_err(|mistake| match mistake {
            SettingMistake::Queues(message) => format!("{name}: {message}"),
            SettingMistake::Site(message) => format!("yarn-site.xml: {message}"),
        })
    }
}
