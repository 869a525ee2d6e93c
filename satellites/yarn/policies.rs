//! `scheduler: yarn-fair` and its two siblings: their options, from the YAML to a scheduler.
//!
//! Settings have Hadoop's own names and stand in Hadoop's own files, or in the scenario. The check
//! of the options puts the content of the files in place of their names, so a resolved scenario
//! needs no files.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_yaml::Value;

use crate::message::MasterId;
use crate::scheduler::books::ClusterBooks;
use crate::settings::{HadoopProperties, SettingMistake, YarnPolicy, YarnSettings};
use mumakil_core::mapred::{Complaint, Offer, OptionFacts, Policy, PolicySite, Scheduler};
use mumakil_core::trace::TraceFile;

/// The options of a scheduler of YARN.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct YarnPolicyOptions {
    /// Hadoop's file of the queues: `fair-scheduler.xml` or `capacity-scheduler.xml`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) file: Option<PathBuf>,
    /// Hadoop's `yarn-site.xml`, with the sizes of containers and the scheduler's own settings.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) site: Option<PathBuf>,
    /// Queues below the root, with their weights (`yarn-fair`) or capacities in percent
    /// (`yarn-capacity`); an easier way than a file.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) queues: BTreeMap<String, f64>,
    /// Properties by Hadoop's names, such as `yarn.scheduler.fair.preemption: true`; they go over
    /// those of the files.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(with = "BTreeMap<String, serde_json::Value>")]
    pub(crate) properties: BTreeMap<String, Value>,
    /// The text of `fair-scheduler.xml`, in place of `file`.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(crate) xml: String,
}

const SITE_CLASS: &str = "yarn.resourcemanager.scheduler.class";

impl YarnPolicy {
    const ALL: [Self; 3] = [Self::Fifo, Self::Fair, Self::Capacity];

    /// Returns the scheduler with this name in scenarios.
    pub(crate) fn named(name: &str) -> Self {
        Self::ALL.into_iter().find(|it| it.name() == name).unwrap_or(Self::Capacity)
    }

    const fn name(self) -> &'static str {
        match self {
            Self::Fifo => "yarn-fifo",
            Self::Fair => "yarn-fair",
            Self::Capacity => "yarn-capacity",
        }
    }

    const fn about(self) -> &'static str {
        match self {
            Self::Fifo => "YARN: applications by number, as many containers as fit.",
            Self::Fair => {
                "YARN: queues by weight, their applications in turn; the most needy first."
            }
            Self::Capacity => {
                "YARN: queues with capacities, which may borrow what others leave; Hadoop's default."
            }
        }
    }

    /// Returns why the container of a master may never come.
    pub(crate) const fn stalled_master(self) -> &'static str {
        match self {
            Self::Fifo => "for a container for its master: no node has room",
            Self::Fair => {
                "for a container for its master: `maxAMShare` or `maxRunningApps` of its queue \
                 leaves no room, and YARN waits for ever"
            }
            Self::Capacity => {
                "for a container for its master: `maximum-am-resource-percent` of its queue leaves \
                 no room, and YARN waits for ever"
            }
        }
    }
}

impl YarnPolicyOptions {
    /// Puts the content of the files in place of their names, and returns the properties of each.
    fn read_files(
        &mut self,
        policy: YarnPolicy,
        folder: &Path,
    ) -> Result<Vec<FileProperties>, Complaint> {
        let mut all = Vec::new();
        for (key, file) in [("site", self.site.take()), ("file", self.file.take())] {
            let Some(path) = file.map(|file| TraceFile::from(file).find(folder)) else { continue };
            let name = path.display().to_string();
            let text = std::fs::read_to_string(&path).map_err(|why| {
                let message = format!("cannot read {name}: {why}");
                Complaint::error(&[key], message, "a relative path begins in the scenario's folder")
            })?;
            if key == "file" && policy == YarnPolicy::Fair {
                self.xml = text;
                continue;
            }
            let values = HadoopProperties::parse(&text).map_err(|message| {
                Complaint::error(&[key], format!("{name}: {message}"), "mend the file")
            })?;
            for (name, value) in &values {
                self.properties.entry(name.clone()).or_insert_with(|| value.as_str().into());
            }
            all.push((key, name, values));
        }
        Ok(all)
    }

    /// Returns all properties as texts, with those that `queues` stand for.
    fn texts(&self, policy: YarnPolicy) -> Result<HadoopProperties, SettingMistake> {
        let mut texts: BTreeMap<String, String> = BTreeMap::new();
        for (name, value) in &self.properties {
            let text = match value {
                Value::String(text) => text.clone(),
                Value::Bool(is_on) => is_on.to_string(),
                Value::Number(number) => number.to_string(),
                _ => {
                    return Err(("properties", format!("`{name}`: a value is a text or a number")));
                }
            };
            texts.insert(name.clone(), text);
        }
        let root = "yarn.scheduler.capacity.root";
        if policy == YarnPolicy::Capacity && !self.queues.is_empty() {
            let names: Vec<&str> = self.queues.keys().map(String::as_str).collect();
            texts.insert(format!("{root}.queues"), names.join(","));
            let capacities = self.queues.iter();
            texts.extend(
                capacities.map(|(name, percent)| {
                    (format!("{root}.{name}.capacity"), percent.to_string())
                }),
            );
        } else if policy == YarnPolicy::Capacity && !texts.contains_key(&format!("{root}.queues")) {
            // As in the file that Hadoop brings.
            texts.insert(format!("{root}.queues"), "default".to_owned());
            texts.insert(format!("{root}.default.capacity"), "100".to_owned());
        }
        Ok(HadoopProperties::new(texts))
    }

    /// Returns the scheduler, and the properties that have no effect on it; the error names the
    /// option that is wrong. The options have no files any more.
    pub(crate) fn settings(
        &self,
        policy: YarnPolicy,
    ) -> Result<(YarnSettings, Vec<IdleProperty>), SettingMistake> {
        let properties = self.texts(policy)?;
        let queues = self.queues.iter().map(|(name, weight)| {
            format!("<queue name=\"{name}\"><weight>{weight}</weight></queue>")
        });
        let xml = match self.xml.is_empty() {
            true => format!("<allocations>{}</allocations>", queues.collect::<String>()),
            false => self.xml.clone(),
        };
        match YarnSettings::of(policy, &properties, &xml) {
            Ok(settings) => Ok((settings, properties.idle())),
            Err(("file", message)) if !self.queues.is_empty() => Err(("queues", message)),
            Err(mistake) => Err(mistake),
        }
    }

    /// Reads the files, and checks that all settings fit and that each job's queue takes it.
    fn settle(&mut self, policy: YarnPolicy, site: &PolicySite<'_>) -> Vec<Complaint> {
        let (file, content) = (self.file.clone(), self.xml.clone());
        let has_file = file.is_some() || !content.is_empty();
        if policy == YarnPolicy::Fifo && (has_file || !self.queues.is_empty()) {
            let message = "FIFO has no queues";
            return vec![Complaint::error(&[], message, "leave out `file`, `xml` and `queues`")];
        }
        if !self.queues.is_empty() && has_file {
            let message = "the queues stand in a file already";
            return vec![Complaint::error(&["queues"], message, "keep one of both")];
        }
        let own = self.properties.clone();
        let files = match self.read_files(policy, site.folder) {
            Ok(files) => files,
            Err(complaint) => return vec![complaint],
        };
        let (settings, idle) = match self.settings(policy) {
            Ok(settings) => settings,
            Err((key, message)) => {
                let named = file.filter(|_| key == "file").map(|it| format!("{}: ", it.display()));
                let message = format!("{}{message}", named.unwrap_or_default());
                let key = if key == "file" && !content.is_empty() { "xml" } else { key };
                let hint = "Hadoop's ResourceManager does not start with it";
                return vec![Complaint::error(&[key], message, hint)];
            }
        };
        let mut found = Vec::new();
        for (name, likely) in idle {
            self.properties.remove(&name);
            if own.contains_key(&name) {
                let hint = likely
                    .map_or("leave it out".to_owned(), |near| format!("did you mean `{near}`?"));
                let path = ["properties", &name];
                found.push(Complaint::error(&path, "it has no effect here", hint));
            }
        }
        found.extend(files.iter().flat_map(|file| doubts(policy, file, &self.properties)));
        found.extend(refused_queues(settings, site));
        found
    }
}

/// A property without effect, and the name that was perhaps meant.
type IdleProperty = (String, Option<String>);

/// The properties of a file: the option that names it, its path, and the properties.
type FileProperties = (&'static str, String, BTreeMap<String, String>);

/// Returns what of a file has no effect: all but the properties that are left.
fn doubts(
    policy: YarnPolicy,
    (key, name, values): &FileProperties,
    left: &BTreeMap<String, Value>,
) -> Vec<Complaint> {
    let mut found = Vec::new();
    let mut idle = values.keys().filter(|it| !left.contains_key(*it) && *it != SITE_CLASS);
    if let Some(first) = idle.next() {
        let message = format!("{name} has {} properties without effect", 1 + idle.count());
        let hint = format!("such as `{first}`: see `mumakil help yarn`");
        found.push(Complaint::warning(&[key], message, hint));
    }
    if let Some(class) = values.get(SITE_CLASS)
        && !class.ends_with(&format!(".{policy:?}Scheduler"))
    {
        let message = format!("{name} chooses {class}");
        let hint = "`scheduler` in the scenario decides";
        found.push(Complaint::warning(&[key], message, hint));
    }
    found
}

/// Returns the queues of jobs that the scheduler would refuse, each with the reason.
fn refused_queues(settings: YarnSettings, site: &PolicySite<'_>) -> Vec<Complaint> {
    let YarnSettings { limits, mut scheduler, .. } = settings;
    let mut books = ClusterBooks::new(Vec::new(), limits);
    let mut queues: Vec<(&str, &str)> =
        site.jobs.iter().map(|job| (job.pool.unwrap_or(DEFAULT_QUEUE), job.user)).collect();
    queues.sort_unstable();
    queues.dedup();
    let mut found: Vec<Complaint> = Vec::new();
    for (queue, user) in queues {
        let app = books.add_app(MasterId(0), user.to_owned(), queue.to_owned(), None);
        match scheduler.submit(&mut books, app) {
            Ok(()) => scheduler.leave(&mut books, app),
            Err(why) => {
                let message = format!("{why}, but a job of `{user}` goes to `{queue}`");
                let hint =
                    "the real ResourceManager refuses such a job; name another queue as its `pool`";
                found.push(Complaint::error(&[], message, hint));
            }
        }
    }
    found
}

/// The queue of a job that names none.
pub(crate) const DEFAULT_QUEUE: &str = "default";

/// A policy of YARN: its options alone, as the ResourceManager of a run has the scheduler.
#[derive(Debug)]
pub(crate) struct YarnPolicyEntry<const WHICH: usize>;

impl<const WHICH: usize> Scheduler for YarnPolicyEntry<WHICH> {
    // No slot is ever offered.
    fn offer(&mut self, _: &mut Offer<'_>) {}
}

impl<const WHICH: usize> Policy for YarnPolicyEntry<WHICH> {
    const NAME: &'static str = YarnPolicy::ALL[WHICH].name();
    const ABOUT: &'static str = YarnPolicy::ALL[WHICH].about();
    type Options = YarnPolicyOptions;

    fn settle(options: &mut Self::Options, site: &PolicySite<'_>) -> Vec<Complaint> {
        options.settle(YarnPolicy::ALL[WHICH], site)
    }

    fn facts(_: &Self::Options) -> OptionFacts<'_> {
        OptionFacts { heeds_bytes: false, ..OptionFacts::default() }
    }

    fn new(_: Self::Options) -> Self {
        Self
    }
}
