//! The scenario, with every value filled in.
//!
//! Users may write less; [`crate::load`] completes it. The comments on the fields are their
//! descriptions in the JSON Schema and in the reference.

use std::collections::BTreeMap;
use std::path::PathBuf;

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::classes::ClassRule;
use super::later::LaterChange;
use crate::fault::Fault;
use crate::workload::jobs::JobEntry;
use crate::workload::spec::WorkloadSpec;
use mumakil_base::units::SimSpan;
use mumakil_base::{text_form, with_defaults};
use mumakil_core::cluster::ClusterSpec;
use mumakil_core::mapred::{
    AutoSpan, ExpectedJob, Hadoop, PolicyProgram, PolicySite, SchedulerChoice, Speculation,
};
use mumakil_core::trace::TraceFile;
use mumakil_results::expect::{Expectation, ExprNeeds};
use mumakil_results::tables::{AttemptRow, NodeRow, SlotsRow};
use mumakil_yaml as yaml;

/// A scenario of Mumakil: a cluster, the jobs that arrive there, the policy, and the outputs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    /// The scenario's name; its results go to `out/NAME-SEED`. Without this, it is the file's name.
    pub name: Name,
    /// The purpose of the scenario.
    #[serde(default)]
    pub description: String,
    /// The seed of all random numbers: the same seed gives the same results.
    #[serde(default = "seed")]
    pub seed: u64,
    /// How time passes: `virtual` as fast as it can be computed, always with the same results;
    /// `600x` that many times as fast as real time.
    #[serde(default)]
    pub clock: ClockSpec,
    /// When a run ends at the latest. Without this, it ends when all jobs have ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<SimSpan>,
    /// The settings of the protocol, or just the name of a Hadoop version.
    pub hadoop: Hadoop,
    /// The machines, or just the name of a preset.
    pub cluster: ClusterSpec,
    /// The jobs that arrive, or just the name of a preset.
    pub workload: WorkloadSpec,
    /// The scheduling policy: its name, or its name with its options.
    #[serde(default)]
    pub scheduler: SchedulerChoice,
    /// Classes by which reports group jobs, each with a rule: `maps <= 2`, `reduces > 10`, `true`.
    /// A job is in the first that fits. Unless given, the classes of a trace are `small` with up to
    /// 2 maps, `medium` with up to 500 and `large`.
    #[serde(default)]
    #[schemars(with = "BTreeMap<String, ClassRule>")]
    pub classes: IndexMap<String, ClassRule>,
    /// Faults: what goes wrong, and when.
    #[serde(default, deserialize_with = "crate::fault::list")]
    #[schemars(schema_with = "crate::fault::list_schema")]
    pub faults: Vec<Fault>,
    /// Other changes during the run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub later: Vec<LaterChange>,
    /// The outputs of a run.
    #[serde(default)]
    pub record: RecordSpec,
    /// The folder of the scenario's file, from which relative paths start.
    #[serde(skip)]
    pub folder: PathBuf,
    /// The programs that its policies start, as its check has found them.
    #[serde(skip)]
    pub programs: Vec<PolicyProgram>,
    /// The published experiment that this repeats.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub experiment: Option<Experiment>,
    /// Expectations of the results: expressions such as `mean(sojourn) < 15min`, each alone or in a
    /// mapping with further information.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub expect: Vec<Expectation>,
}

impl Scenario {
    /// Returns the scenario as YAML, with every value except the defaults of jobs, which may be
    /// many. Reading it gives an equal scenario.
    pub fn to_yaml(&self) -> String {
        serde_yaml::to_string(&yaml::write(self)).expect("a tree can be written as YAML")
    }

    /// Returns the files that the scenario names.
    pub fn files_mut(&mut self) -> impl Iterator<Item = &mut TraceFile> {
        self.keyed_files_mut().map(|(_, file)| file)
    }

    /// Returns the files that the scenario names, each with its key.
    pub fn keyed_files_mut(&mut self) -> impl Iterator<Item = (String, &mut TraceFile)> {
        let nodes =
            self.cluster.topology.as_mut().map(|file| ("cluster.topology".to_owned(), file));
        self.workload.files_mut().chain(nodes)
    }

    /// Returns the default class of a job: the first whose rule it fits.
    pub fn class_of(&self, maps: u32, reduces: u32) -> Option<&str> {
        let mut classes = self.classes.iter();
        classes.find(|(_, rule)| rule.fits(maps, reduces)).map(|(class, _)| class.as_str())
    }

    /// Returns the outputs that the run records. Second attempts are worth it only if they waste
    /// less than they save, so waste is recorded with them.
    pub fn outputs(&self) -> RecordSpec {
        let waste = self.record.waste || self.hadoop.speculation != Speculation::Off;
        // Without a lack of memory or cores, `explain` would not know what jobs waited for.
        let counts_room = self.record.tasks && !self.cluster.resources.are_only_slots();
        let decisions = self.record.decisions || counts_room;
        RecordSpec { waste, decisions, ..self.record.clone() }
    }

    /// Returns the policies of the run, in the order in which they take over.
    pub fn policies(&self) -> impl Iterator<Item = &SchedulerChoice> {
        let later = LaterChange::policies(&self.later).map(|(_, choice)| choice);
        std::iter::once(&self.scheduler).chain(later)
    }

    /// Returns the paths of faults and later changes that have a time, each with its time.
    pub fn due(&self) -> impl Iterator<Item = (String, SimSpan)> {
        let all = self.faults.iter().map(Fault::at).enumerate();
        let faults = all.filter_map(|(number, at)| Some((format!("faults[{number}]"), at?)));
        let later = self.later.iter().enumerate();
        faults.chain(later.map(|(number, later)| (format!("later[{number}]"), later.at)))
    }

    /// Returns the parts of the scenario that a policy may know when its options are checked.
    pub fn site(&self) -> PolicySite<'_> {
        let jobs = || {
            self.workload
                .all_listed()
                .chain(self.later.iter().filter_map(|later| later.submit.as_ref()))
        };
        // A job that changes its pool is expected in both pools.
        let moved = self.later.iter().filter_map(|later| {
            let change = later.change.as_ref()?;
            let pool = Some(change.pool.as_deref()?);
            Some(ExpectedJob { pool, ..jobs().find(|job| job.is_called(&change.job))?.expected() })
        });
        PolicySite {
            folder: &self.folder,
            line: self.hadoop.line,
            nodes: self.cluster.nodes.get(),
            slots: self.cluster.slots(),
            most_slots: self.cluster.most_slots(),
            jobs: jobs().map(JobEntry::expected).chain(moved).collect(),
        }
    }
}

with_defaults! {
    /// The outputs of a run.
    #[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
    #[serde(default, deny_unknown_fields)]
    pub struct RecordSpec {
        /// Every attempt, in `tasks.csv`.
        pub tasks: bool = true,
        /// Slots over time, in `timeline.csv`.
        pub timeline: bool = true,
        /// The work of each node, and the bytes that came to it, in `nodes.csv`.
        pub by_node: bool = true,
        /// Every event, one on each line, in `events.jsonl`. This file can be very large.
        pub events: bool = false,
        /// Distributions of latencies, in `histograms/` and `latency.hlog`.
        pub histograms: bool = true,
        /// The numbers and latencies of the run, in `metrics.prom`, as Prometheus reads them.
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        pub prometheus: bool = false,
        /// How long each job takes alone on the empty cluster, in `jobs.csv`, for slowdowns.
        pub alone: bool = false,
        /// How long chains of jobs take, at the first job of each in `jobs.csv`. `after` makes chains.
        pub chains: bool = false,
        /// Useful and wasted slot time of jobs, and the cost of their stragglers, in `jobs.csv`;
        /// always with `hadoop.speculation`.
        pub waste: bool = false,
        /// The parts of jobs in the energy and the cost of the run, in `jobs.csv`, where
        /// `cluster.watts` or `cluster.price` counts them.
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        pub expenses: bool = false,
        /// Refusals and orders of policies, with their reasons, in `decisions.csv`, and for
        /// `mumakil explain`.
        pub decisions: bool = false,
        /// How large `hfsp`, `fsp` and `srpt` estimated jobs to be, beside their sizes as they ran,
        /// in `jobs.csv`.
        // Left out of resolved scenarios while it is off, since most policies estimate nothing.
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        pub sizes: bool = false,
        /// The deadlines of jobs and by how much they were missed, in `jobs.csv`.
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        pub deadlines: bool = false,
        /// The slots and shares of the policy's pools over time, in `shares.csv`. The report then
        /// draws what each pool lacked of its share.
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        pub shares: bool = false,
        /// The run on one page, `report.html`.
        pub report: bool = true,
        /// The time between two samples of the timeline and the interval log; with `0s` every
        /// change.
        pub sample: SimSpan = SimSpan::from_secs(10),
        /// Jobs submitted before this time are left out of the summary and the histograms; the
        /// tables have them. With `auto` the run is made twice, and the first time finds it by the
        /// rule MSER-5.
        pub warm_up: AutoSpan = AutoSpan::Fixed(SimSpan::ZERO),
    }
}

impl RecordSpec {
    /// Returns each output that expressions may read: its key, its setting, and whether `needs`
    /// reads it.
    pub fn read_by(&mut self, needs: &ExprNeeds) -> [(&'static str, &mut bool, bool); 10] {
        [
            ("tasks", &mut self.tasks, needs.reads::<AttemptRow>()),
            ("timeline", &mut self.timeline, needs.reads::<SlotsRow>()),
            ("by_node", &mut self.by_node, needs.reads::<NodeRow>()),
            ("alone", &mut self.alone, needs.columns.contains("alone")),
            ("chains", &mut self.chains, needs.columns.contains("chains")),
            ("waste", &mut self.waste, needs.reads_waste()),
            ("expenses", &mut self.expenses, needs.columns.contains("expenses")),
            ("sizes", &mut self.sizes, needs.columns.contains("sizes")),
            ("deadlines", &mut self.deadlines, needs.columns.contains("deadlines")),
            ("histograms", &mut self.histograms, !needs.histograms.is_empty()),
        ]
    }
}

/// A scenario's name, which is also the name of a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Name(String);

impl Name {
    /// Returns a name; `None` if a character of it is not allowed, or it is empty or too long.
    pub fn new(name: &str) -> Option<Self> {
        // Chosen: `NAME-SEED` stays far below the 255 bytes that file systems allow for a folder.
        let fits = (1..=100).contains(&name.len())
            // A leading dot hides the folder, a leading
            // dash looks like an option to other programs.
            && !name.starts_with(['.', '-'])
            && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.'));
        fits.then(|| Self(name.to_owned()))
    }

    /// Returns the name that is most similar to a text, such as the name of a file.
    pub fn from_text(text: &str) -> Self {
        let letters = text.chars().take(100);
        let fit =
            letters.map(|c| if c.is_ascii_alphanumeric() || "-_.".contains(c) { c } else { '-' });
        let name: String = fit.collect();
        Self::new(name.trim_start_matches(['.', '-']))
            .unwrap_or_else(|| Self("scenario".to_owned()))
    }

    /// Returns the text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

text_form! {
    Name,
    name: "Name",
    expected: "a name of letters, digits, `-`, `_` and `.`, which begins with a letter, digit or `_`",
    pattern: r"^[A-Za-z0-9_][A-Za-z0-9._-]{0,99}$",
    parse: |text| Name::new(text),
    print: |name, f| f.write_str(&name.0),
    write: |self, to| to.serialize_str(&self.0),
}

/// How time passes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum ClockSpec {
    /// From event to event, as fast as they can be computed.
    #[default]
    Virtual,
    /// A number of times as fast as real time; above zero.
    Scaled(f64),
}

impl ClockSpec {
    fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        if text == "virtual" {
            return Some(Self::Virtual);
        }
        let digits = text.strip_suffix('x')?;
        // `parse` alone would accept `1e3`, `inf` and `-1` as well.
        let plain = digits.chars().all(|c| c.is_ascii_digit() || c == '.');
        let factor: f64 = digits.parse().ok().filter(|_| plain)?;
        (1e-3..=1e6).contains(&factor).then_some(Self::Scaled(factor))
    }
}

text_form! {
    ClockSpec,
    name: "Clock",
    expected: "`virtual`, or a speed from 0.001x to 1000000x, such as 600x",
    pattern: r"^\s*(virtual|\d+(\.\d+)?x)\s*$",
    parse: |text| ClockSpec::parse(text),
    print: |clock, f| match clock {
        ClockSpec::Virtual => f.write_str("virtual"),
        ClockSpec::Scaled(factor) => write!(f, "{factor}x"),
    },
    write: |self, to| to.collect_str(self),
}

/// The published experiment that a scenario or study repeats.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Experiment {
    /// The name of the experiment in the list of experiments, such as `DS-F2`.
    pub id: String,
    /// The subject of the experiment, in a few words.
    pub what: String,
    /// The published results.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub published: String,
    /// The most seeds of a cell for a quick look.
    #[serde(default = "quick_seeds")]
    pub quick_seeds: usize,
    /// Whether the published numbers are of the same seeds: then the means decide.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub same_seeds: bool,
    /// The environment variable with the folder of files that the experiment needs, or
    /// `VARIABLE/NAME`: the folder NAME in it or near it. Without it the experiment is skipped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub needs: Option<String>,
}

/// Two seeds show whether anything varies at all.
fn quick_seeds() -> usize {
    2
}

fn seed() -> u64 {
    42
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_fit_for_a_folder() {
        for name in ["fb2009-hfsp", "a.b_c", "7"] {
            assert_eq!(Name::new(name).unwrap().as_str(), name);
        }
        for name in ["", ".", "..", "a/b", "-x", "ä", "a b"] {
            assert_eq!(Name::new(name), None, "{name:?}");
            assert!(Name::new(Name::from_text(name).as_str()).is_some(), "{name:?}");
        }
    }

    #[test]
    fn clocks_read_back_as_printed() {
        for text in ["virtual", "600x", "0.5x"] {
            assert_eq!(text.parse::<ClockSpec>().unwrap().to_string(), text);
        }
        for text in ["", "600", "x", "-1x", "0x", "1e9x", "infx", "nanx", "real"] {
            assert!(text.parse::<ClockSpec>().is_err(), "{text:?}");
        }
    }
}
