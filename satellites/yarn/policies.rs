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

use crate::message::{MasterId, PlaceId};
use crate::scheduler::asks::NodePlaces;
use crate::scheduler::books::{ClusterBooks, NodeEntry};
use crate::settings::{HadoopProperties, QueueFile, SettingMistake, YarnSettings};
use crate::size::YarnSize;
use mumakil_base::nearest::nearest;
use mumakil_core::mapred::{Complaint, Offer, OptionFacts, Policy, PolicySite, Scheduler};
use mumakil_core::trace::TraceFile;

/// The options of a scheduler of YARN.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct YarnPolicyOptions {
    /// Hadoop's file of the queues: `fair-scheduler.xml` or `capacity-scheduler.xml`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<PathBuf>,
    /// Hadoop's `yarn-site.xml`, with the sizes of containers and the scheduler's own settings.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub site: Option<PathBuf>,
    /// Queues below the root, with their weights (`yarn-fair`) or capacities in percent
    /// (`yarn-capacity`); an easier way than a file.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub queues: BTreeMap<String, f64>,
    /// Properties by Hadoop's names, such as `yarn.scheduler.fair.preemption: true`; they go over
    /// those of the files.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(with = "BTreeMap<String, serde_json::Value>")]
    pub properties: BTreeMap<String, Value>,
    /// The text of `fair-scheduler.xml`, in place of `file`.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub xml: String,
}

/// The beginning of the names of `capacity-scheduler.xml`.
const CAPACITY: &str = "yarn.scheduler.capacity.";
const SITE_CLASS: &str = "yarn.resourcemanager.scheduler.class";

/// The properties that have an effect, outside of `capacity-scheduler.xml`.
const SITE_NAMES: [&str; 29] = [
    SITE_CLASS,
    "yarn.scheduler.minimum-allocation-mb",
    "yarn.scheduler.minimum-allocation-vcores",
    "yarn.scheduler.maximum-allocation-mb",
    "yarn.scheduler.maximum-allocation-vcores",
    "yarn.scheduler.increment-allocation-mb",
    "yarn.scheduler.increment-allocation-vcores",
    "yarn.scheduler.fair.update-interval-ms",
    "yarn.scheduler.fair.assignmultiple",
    "yarn.scheduler.fair.max.assign",
    "yarn.scheduler.fair.locality.threshold.node",
    "yarn.scheduler.fair.locality.threshold.rack",
    "yarn.scheduler.fair.locality-delay-node-ms",
    "yarn.scheduler.fair.locality-delay-rack-ms",
    "yarn.scheduler.fair.continuous-scheduling-enabled",
    "yarn.scheduler.fair.continuous-scheduling-sleep-ms",
    "yarn.scheduler.fair.preemption",
    "yarn.scheduler.fair.preemption.cluster-utilization-threshold",
    "yarn.scheduler.fair.preemptionInterval",
    "yarn.scheduler.fair.waitTimeBeforeKill",
    "yarn.scheduler.fair.sizebasedweight",
    "yarn.scheduler.fair.user-as-default-queue",
    "yarn.scheduler.fair.allow-undeclared-pools",
    "yarn.resourcemanager.scheduler.monitor.enable",
    "yarn.resourcemanager.monitor.capacity.preemption.monitoring_interval",
    "yarn.resourcemanager.monitor.capacity.preemption.max_wait_before_kill",
    "yarn.resourcemanager.monitor.capacity.preemption.total_preemption_per_round",
    "yarn.resourcemanager.monitor.capacity.preemption.max_ignored_over_capacity",
    "yarn.resourcemanager.monitor.capacity.preemption.natural_termination_factor",
];

/// The last parts of the names of `capacity-scheduler.xml` that have an effect.
const CAPACITY_NAMES: [&str; 13] = [
    "queues",
    "capacity",
    "maximum-capacity",
    "minimum-user-limit-percent",
    "user-limit-factor",
    "maximum-applications",
    "maximum-am-resource-percent",
    "resource-calculator",
    "node-locality-delay",
    "rack-locality-full-reset",
    "reservations-continue-look-all-nodes",
    "disable_preemption",
    // It asks for what is always so here: every queue is open.
    "state",
];

/// Returns whether a property has an effect under a scheduler.
fn has_effect(policy: YarnPolicy, name: &str) -> bool {
    match name.strip_prefix(CAPACITY) {
        Some(rest) => {
            policy == YarnPolicy::Capacity
                && rest.rsplit('.').next().is_some_and(|last| CAPACITY_NAMES.contains(&last))
        }
        None if name.starts_with("yarn.scheduler.fair.") => {
            policy == YarnPolicy::Fair && SITE_NAMES.contains(&name)
        }
        None => SITE_NAMES.contains(&name),
    }
}

/// The schedulers of YARN.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum YarnPolicy {
    Fifo,
    Fair,
    Capacity,
}

impl YarnPolicy {
    /// Returns the scheduler with this name in scenarios.
    pub(crate) fn named(name: &str) -> Self {
        match name {
            YarnFifoPolicy::NAME => Self::Fifo,
            YarnFairPolicy::NAME => Self::Fair,
            _ => Self::Capacity,
        }
    }

    /// Returns the name of its class in Hadoop.
    const fn class(self) -> &'static str {
        match self {
            Self::Fifo => "FifoScheduler",
            Self::Fair => "FairScheduler",
            Self::Capacity => "CapacityScheduler",
        }
    }

    /// Returns the words of a run that waits for ever for the container of a master.
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
    /// Puts the content of the files in place of their names, and returns what is wrong with them.
    fn read_files(
        &mut self,
        policy: YarnPolicy,
        folder: &Path,
    ) -> Result<Vec<Complaint>, Complaint> {
        let mut found = Vec::new();
        let own: Vec<String> = self.properties.keys().cloned().collect();
        for name in own.iter().filter(|name| !has_effect(policy, name)) {
            let known = SITE_NAMES.iter().copied();
            let hint = nearest(name, known).map_or_else(
                || "leave it out".to_owned(),
                |near| format!("did you mean `{near}`?"),
            );
            found.push(Complaint::error(&["properties", name], "it has no effect here", hint));
        }
        let site = self.site.take().map(|file| ("site", file, true));
        let is_properties = policy == YarnPolicy::Capacity;
        let queues = self.file.take().map(|file| ("file", file, is_properties));
        for (key, file, is_properties) in [site, queues].into_iter().flatten() {
            let file = TraceFile::from(file).find(folder);
            let text = std::fs::read_to_string(&file).map_err(|why| {
                let message = format!("cannot read {}: {why}", file.display());
                Complaint::error(&[key], message, "a relative path begins in the scenario's folder")
            })?;
            if !is_properties {
                self.xml = text;
                continue;
            }
            let HadoopProperties(read) = HadoopProperties::parse(&text).map_err(|message| {
                let message = format!("{}: {message}", file.display());
                Complaint::error(&[key], message, "mend the file")
            })?;
            let (heard, idle): (Vec<_>, Vec<_>) =
                read.into_iter().partition(|(name, _)| has_effect(policy, name));
            if let Some((first, _)) = idle.first() {
                let message =
                    format!("{} has {} properties without effect", file.display(), idle.len());
                let hint = format!("such as `{first}`: see `mumakil help yarn`");
                found.push(Complaint::warning(&[key], message, hint));
            }
            for (name, value) in heard {
                if name == SITE_CLASS {
                    let is_same = value.rsplit('.').next() == Some(policy.class());
                    let message = format!("{} chooses {value}", file.display());
                    let hint = "`scheduler` in the scenario decides";
                    found.extend((!is_same).then(|| Complaint::warning(&[key], message, hint)));
                    continue;
                }
                self.properties.entry(name).or_insert(value.into());
            }
        }
        Ok(found)
    }

    /// Returns the scheduler; the error names the option that is wrong. The options have no files any
    /// more.
    pub(crate) fn settings(
        &self,
        policy: YarnPolicy,
    ) -> Result<YarnSettings, (&'static str, String)> {
        let mut properties: BTreeMap<String, String> = BTreeMap::new();
        for (name, value) in &self.properties {
            let text = match value {
                Value::String(text) => text.trim().to_owned(),
                Value::Bool(is_on) => is_on.to_string(),
                Value::Number(number) => number.to_string(),
                _ => {
                    return Err(("properties", format!("`{name}`: a value is a text or a number")));
                }
            };
            properties.insert(name.clone(), text);
        }
        let site = HadoopProperties(properties.clone());
        let mut xml = self.xml.clone();
        let queues = match policy {
            YarnPolicy::Fifo => QueueFile::Fifo,
            YarnPolicy::Fair => {
                if xml.is_empty() {
                    let queues = self.queues.iter().map(|(name, weight)| {
                        format!("<queue name=\"{name}\"><weight>{weight}</weight></queue>")
                    });
                    xml = format!("<allocations>{}</allocations>", queues.collect::<String>());
                }
                QueueFile::Fair(&xml)
            }
            YarnPolicy::Capacity => {
                properties.retain(|name, _| name.starts_with(CAPACITY));
                let of_root = format!("{CAPACITY}root");
                let lists = format!("{of_root}.queues");
                if !self.queues.is_empty() {
                    let names: Vec<&str> = self.queues.keys().map(String::as_str).collect();
                    properties.insert(lists, names.join(","));
                    let capacities = self.queues.iter();
                    properties.extend(capacities.map(|(name, percent)| {
                        (format!("{of_root}.{name}.capacity"), percent.to_string())
                    }));
                } else if !properties.contains_key(&lists) {
                    // As in the file that Hadoop brings.
                    properties.insert(lists, "default".to_owned());
                    properties.insert(format!("{of_root}.default.capacity"), "100".to_owned());
                }
                QueueFile::Capacity(properties)
            }
        };
        YarnSettings::of(&site, queues).map_err(|mistake| match mistake {
            SettingMistake::Site(message) => ("properties", message),
            SettingMistake::Queues(message) if !self.queues.is_empty() => ("queues", message),
            SettingMistake::Queues(message) => ("file", message),
        })
    }

    /// Reads the files, and checks that all settings fit and that each job's queue takes it.
    fn settle(&mut self, policy: YarnPolicy, site: &PolicySite<'_>) -> Vec<Complaint> {
        let (file, content) = (self.file.clone(), self.xml.clone());
        let has_queues = policy != YarnPolicy::Fifo;
        if !has_queues && (file.is_some() || !content.is_empty() || !self.queues.is_empty()) {
            let message = "FIFO has no queues";
            return vec![Complaint::error(&[], message, "leave out `file`, `xml` and `queues`")];
        }
        if !self.queues.is_empty() && (file.is_some() || !content.is_empty()) {
            let message = "the queues stand in a file already";
            return vec![Complaint::error(&["queues"], message, "keep one of both")];
        }
        let mut found = match self.read_files(policy, site.folder) {
            Ok(found) => found,
            Err(complaint) => return vec![complaint],
        };
        let settings = match self.settings(policy) {
            Ok(settings) => settings,
            Err((key, message)) => {
                let named = file.filter(|_| key == "file").map(|it| format!("{}: ", it.display()));
                let message = format!("{}{message}", named.unwrap_or_default());
                let key = if key == "file" && !content.is_empty() { "xml" } else { key };
                found.push(Complaint::error(
                    &[key],
                    message,
                    "Hadoop's ResourceManager does not start with it",
                ));
                return found;
            }
        };
        found.extend(refused_queues(settings, site));
        found
    }
}

/// Returns the queues of jobs that the scheduler would refuse, each with the reason.
fn refused_queues(settings: YarnSettings, site: &PolicySite<'_>) -> Vec<Complaint> {
    let YarnSettings { limits, mut scheduler } = settings;
    let places = NodePlaces { host: PlaceId(1), rack: PlaceId(2) };
    let node = NodeEntry::new("any".to_owned(), places, YarnSize::UNBOUNDED);
    let mut books = ClusterBooks::new(vec![node], limits);
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

/// Implements a policy by its options alone: the ResourceManager of a run has the scheduler.
macro_rules! yarn_policies {
    ($($(#[$about:meta])* $Policy:ident, $name:literal, $about_it:literal, $which:expr;)*) => {$(
        $(#[$about])*
        #[derive(Debug)]
        pub(crate) struct $Policy;

        impl Scheduler for $Policy {
            // No slot is ever offered.
            fn offer(&mut self, _: &mut Offer<'_>) {}
        }

        impl Policy for $Policy {
            const NAME: &'static str = $name;
            const ABOUT: &'static str = $about_it;
            type Options = YarnPolicyOptions;

            fn settle(options: &mut Self::Options, site: &PolicySite<'_>) -> Vec<Complaint> {
                options.settle($which, site)
            }

            fn facts(_: &Self::Options) -> OptionFacts<'_> {
                OptionFacts { heeds_bytes: false, ..OptionFacts::default() }
            }

            fn new(_: Self::Options) -> Self {
                Self
            }
        }
    )*};
}

yarn_policies! {
    /// YARN's FIFO scheduler.
    YarnFifoPolicy, "yarn-fifo", "YARN: applications by number, as many containers as fit.",
        YarnPolicy::Fifo;
    /// YARN's fair scheduler.
    YarnFairPolicy, "yarn-fair",
        "YARN: queues by weight, their applications in turn; the most needy first.",
        YarnPolicy::Fair;
    /// YARN's capacity scheduler.
    YarnCapacityPolicy, "yarn-capacity",
        "YARN: queues with capacities, which may borrow what others leave; Hadoop's default.",
        YarnPolicy::Capacity;
}
