//! The published experiments, and the files that repeat them.
//!
//! ```text
//! LIST   DS-F5-7  "IO-heavy jobs under FIFO, fair sharing and delay scheduling"
//! FILES  papers/delay-scheduling/DS-F5-7.yaml          experiment: {id: DS-F5-7, …}
//!        papers/delay-scheduling/DS-F5-7-fabric.yaml   experiment: {id: DS-F5-7, …}
//! report: a row for each expectation of both files
//! ```
//! The list names every experiment, even one without a file, so that a missing file is noticed.

mod command;
#[cfg(debug_assertions)]
mod mutants;
mod report;
mod tally;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use mumakil_cli::{Chapter, Command, CommandGroup, Satellite};
use mumakil_scenario::{Draft, ScenarioError};
use mumakil_yaml::YamlProblem;

pub use report::{
    FileOutcome, RepeatedExperiment, SabotageRow, VerdictRow, check, overview, report, summary,
};
pub use tally::VerdictTally;

/// Returns what this crate adds to the program.
pub fn satellite() -> Satellite {
    let papers =
        Command::of("papers", CommandGroup::CompareAndStudy, command::PapersArguments::run)
            .starts_runs();
    let ids = LIST.iter().map(|listed| listed.id).collect();
    Satellite {
        commands: vec![papers.names("ids", ids)],
        chapters: vec![
            Chapter::new("experiments", include_str!("experiments.md")),
            Chapter::new("findings", include_str!("findings.md")),
        ],
        ..Satellite::default()
    }
}

/// An experiment in the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ListedExperiment {
    /// Its id.
    pub id: &'static str,
    /// The subject.
    pub what: &'static str,
}

// The texts are compiled into the binary, so that `mumakil papers` runs without the repository.
macro_rules! experiments {
    ($($paper:literal { $($id:literal $what:literal [$($file:literal)*])* })*) => {
        /// All experiments, paper by paper.
        pub const LIST: &[ListedExperiment] =
            &[$($(ListedExperiment { id: $id, what: $what },)*)*];

        /// The files in the binary, by their paths below `scenarios/`.
        const FILES: &[(&str, &str)] =
            &[$($($((concat!($paper, "/", $file, ".yaml"), const {
                mumakil_bundled::text(concat!($paper, "/", $file, ".yaml"))
            }),)*)*)*];
    };
}

// For each paper its experiments, each with its id, its subject and its files.
experiments! {
    "papers/delay-scheduling" {
        "DS-F1" "task and job lengths of a Facebook-like generator" ["DS-F1"]
        "DS-3.2" "how soon new jobs have all their slots" ["DS-3.2"]
        "DS-F2" "locality by job size under naive fair sharing" ["DS-F2"]
        "DS-F3" "sticky slots against their bound" ["DS-F3"]
        "DS-3.5" "locality within D slots for data on a tenth of the nodes" ["DS-3.5"]
        "DS-EQ2" "locality for a skip count against its bound" ["DS-EQ2"]
        "DS-F4" "allocations to pools with minimum shares" ["DS-F4" "DS-F4-weights" "DS-F4-needy" "DS-F4-jobs" "DS-F4-deficit"]
        "DS-4.1" "locality at Facebook for a wait of 10 s" ["DS-4.1"]
        "DS-F5-7" "IO-heavy jobs under FIFO, fair sharing and delay scheduling" ["DS-F5-7" "DS-F5-7-fabric"]
        "DS-F8" "CPU-heavy jobs under FIFO, fair sharing and delay scheduling" ["DS-F8"]
        "DS-F9-10" "the mixed workload of table 3" ["DS-F9-10"]
        "DS-F11" "pools that start one after the other, and the bump" ["DS-F11"]
        "DS-F12" "locality and throughput in a closed loop of 60 jobs" ["DS-F12" "DS-F12-init"]
        "DS-F13-14" "sticky slots with 5 to 50 scan jobs" ["DS-F13-14"]
        "DS-F15" "locality against the wait" ["DS-F15"]
        "DS-5.4" "the scheduler's overhead" ["DS-5.4" "DS-5.4-full"]
        "DS-preempt" "minimum shares restored by killing" ["DS-preempt" "DS-preempt-fair" "DS-preempt-limits"]
        "DS-3.5.1" "long tasks and hot spots" ["DS-3.5.1-long" "DS-3.5.1-hot" "DS-3.5.1-spread"]
        "DS-A1" "worked example: what algorithm 1 compares" ["DS-A1"]
        "DS-A2" "worked example: what algorithm 2 counts" ["DS-A2"]
        "DS-A3" "worked example: the levels of algorithm 3 over racks" ["DS-A3" "DS-A3-waits" "DS-A3-levels"]
        "DS-line" "worked example: Hadoop's line of jobs" ["DS-line"]
        "DS-load" "worked example: the load of trackers in Hadoop's fair scheduler" ["DS-load"]
        "DS-6" "waiting for a cached file, and without slots" ["DS-6"]
    }
    "papers/hfsp" {
        "H-F1" "worked example: one server" ["H-F1"]
        "H-F2" "worked example: limited parallelism" ["H-F2" "H-F2-limits"]
        "H-phases" "maps and reduces apart" ["H-phases"]
        "H-size" "sizes from samples of tasks" ["H-size" "H-size-failed"]
        "H-train" "training: order, slots, precedence" ["H-train" "H-train-guess" "H-train-discount" "H-train-worth"]
        "H-F3-4" "FB2009 under FIFO, fair sharing and HFSP" ["H-F3-4" "H-F3-4-deficit" "H-F3-4-wait"]
        "H-FB10" "FB2010 under FIFO, fair sharing and HFSP" ["H-FB10"]
        "H-F5" "the scaling study" ["H-F5"]
        "H-F5-FB10" "the scaling study with FB2010" ["H-F5-FB10"]
        "H-F6" "wrong size estimates" ["H-F6" "H-F6-errors" "H-F6-late" "H-F6-whole"]
        "H-loc" "locality in FB2009" ["H-loc" "H-loc-attempts"]
        "H-F7" "preemption: eager, wait and kill" ["H-F7" "H-F7-resume"]
        "H-F8" "the cost of suspension" ["H-F8"]
        "H-eager" "eager preemption against waiting" ["H-eager"]
        "H-hyst" "falling back to wait, and returning" ["H-hyst"]
        "H-xi" "confidence during training" ["H-xi" "H-xi-delta" "H-xi-small"]
        "H-v1-v2" "the two papers' variants" ["H-v1-v2-maps" "H-v1-v2-victims"]
    }
    "papers/srt" {
        "S-order" "the order of reduces" ["S-order" "S-order-time" "S-order-shuffle"]
        "S-F3-7" "small and large jobs under fair sharing and SRT" ["S-F3-7" "S-F3-7-coupling"]
        "S-F8" "small jobs behind large ones" ["S-F8"]
        "S-F9-10" "SRT over the size of the cluster" ["S-F9-10"]
        "S-F11" "SRT in the capacity scheduler" ["S-F11"]
    }
    "papers/modified-fair" {
        "M-F4-5" "worked example: a line and fair sharing" ["M-F4-5"]
        "M-F6" "worked example: small jobs share a pool" ["M-F6"]
        "M-F7" "worked example: free slots by pending tasks" ["M-F7" "M-F7-load"]
        "M-F8-9" "worked example: the order of jobs and of pools" ["M-F8-9"]
        "M-EQ7-8" "worked example: delays that follow waits" ["M-EQ7-8"]
        "M-T3" "worked example: priorities that follow locality" ["M-T3"]
        "M-A" "the modified fair scheduler, experiment A" ["M-A"]
        "M-B" "the modified fair scheduler, experiment B" ["M-B"]
        "M-abl" "what each mechanism is worth" ["M-abl" "M-abl-A"]
    }
    "papers/late" {
        "L-het" "second attempts where nodes are not alike" ["L-het"]
        "L-strag" "second attempts where few nodes are very slow" ["L-strag"]
        "L-cap" "LATE over its cap" ["L-cap"]
        "L-waste" "slot time that crashes cost" ["L-waste"]
        "L-loss" "FB2009 while 1 % of the nodes crash an hour" ["L-loss"]
        "L-hfsp" "HFSP's sizes and order while nodes crash" ["L-hfsp"]
    }
    "papers/mumak" {
        "MK-19" "Mumak's 19-job trace in Mumak's own model" ["MK-19" "MK-19-stress"]
    }
    "papers/real-hadoop" {
        "RH" "a running Hadoop 1.2.1, job by job" ["RH-fifo" "RH-small"]
    }
    "findings" {
        "F-dominate" "does HFSP dominate fair sharing?" ["F-dominate"]
        "F-modified" "which mechanism made the modified fair scheduler fast?" ["F-modified"]
        "F-chains" "by what size should jobs of workflows be served?" ["F-chains"]
        "F-second" "second attempts beside preemption" ["F-second"]
        "F-waiting" "where does waiting for locality fail?" ["F-waiting"]
    }
}

/// A file of an experiment.
#[derive(Clone, Debug)]
pub struct ExperimentFile {
    /// Its path below the folder of experiments.
    pub path: PathBuf,
    /// Its text.
    pub text: String,
}

/// Returns the files of all experiments, from a folder or else from the binary.
///
/// # Errors
/// If the folder cannot be read.
pub fn files(folder: Option<&Path>) -> io::Result<Vec<ExperimentFile>> {
    let Some(folder) = folder else {
        return Ok(FILES
            .iter()
            .map(|(path, text)| ExperimentFile { path: path.into(), text: (*text).to_owned() })
            .collect());
    };
    let mut paths = Vec::new();
    list(folder, &mut paths)?;
    // Sort: `read_dir` has no order, and the report must not depend on the file system.
    paths.sort();
    let files = paths.into_iter();
    files.map(|path| Ok(ExperimentFile { text: fs::read_to_string(&path)?, path })).collect()
}

fn list(folder: &Path, paths: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            list(&path, paths)?;
        } else if path.extension().is_some_and(|extension| extension == "yaml") {
            paths.push(path);
        }
    }
    Ok(())
}

impl ExperimentFile {
    /// Returns the file as a draft. If `folder` is given, relative paths in the draft begin there.
    ///
    /// # Errors
    /// If the file is no YAML.
    pub fn draft(&self, folder: Option<&Path>) -> Result<Draft, ScenarioError> {
        let name = self.path.file_name().unwrap_or_default();
        let path = folder.map_or(self.path.clone(), |folder| folder.join(name));
        Draft::of(&path.display().to_string(), &self.text)
    }

    /// Returns the listed experiment that the file repeats; `None` if it repeats no experiment.
    ///
    /// # Errors
    /// If the file is no YAML, or its experiment is not in the list.
    pub fn listed(&self) -> Result<Option<ListedExperiment>, ScenarioError> {
        let draft = self.draft(None)?;
        let Some(id) = draft.experiment_id() else { return Ok(None) };
        let known = LIST.iter().find(|listed| listed.id == id).copied();
        known.map(Some).ok_or_else(|| {
            let at = mumakil_yaml::Path::of("experiment.id");
            let problem = YamlProblem::value(at, format!("`{id}` is no experiment of the list"))
                .nearest(&id, LIST.iter().map(|listed| listed.id));
            ScenarioError::invalid(vec![draft.finding(problem)])
        })
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use mumakil_results::expect::GapClass;
    use mumakil_study::Study;

    #[test]
    fn every_file_is_in_the_binary_and_belongs_to_the_list() {
        let scenarios = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios");
        let there =
            ["findings", "papers"].map(|folder| files(Some(&scenarios.join(folder))).unwrap());
        let there: Vec<&Path> = there
            .iter()
            .flatten()
            .map(|file| file.path.strip_prefix(&scenarios).unwrap())
            .collect();
        let embedded = files(None).unwrap();
        let mut names: Vec<&Path> = embedded.iter().map(|file| &*file.path).collect();
        names.sort_unstable();
        assert_eq!(names, there);
        for file in &embedded {
            let id = file.listed().unwrap().unwrap().id;
            let stem = file.path.file_stem().unwrap().to_string_lossy().into_owned();
            assert!(stem.starts_with(id), "{stem} repeats {id}");
        }
    }

    #[test]
    fn every_known_gap_has_a_class_and_none_is_of_the_model() {
        let mut gaps = 0;
        for file in files(None).unwrap() {
            let study = Study::of_any(file.draft(None).unwrap()).unwrap();
            for gap in study.expect.iter().filter_map(|expected| expected.known_gap.as_ref()) {
                gaps += 1;
                let class = gap.class;
                let is_fine = matches!(class, Some(GapClass::Published | GapClass::Setting));
                assert!(is_fine, "{}: {class:?}: {}", file.path.display(), gap.why);
            }
        }
        assert!(0 < gaps, "no gap found");
    }

    #[test]
    fn an_experiment_that_is_not_on_the_list_is_shown_where_it_stands() {
        let file = |text: &str| ExperimentFile { path: "x.yaml".into(), text: text.to_owned() };
        let error = file("name: a\nexperiment: {id: H-F55}").listed().unwrap_err().to_string();
        assert!(error.starts_with("`H-F55` is no experiment of the list"), "{error}");
        assert!(error.contains("x.yaml:2:18") && error.contains("did you mean `H-F5`?"), "{error}");
        assert!(file("experiment: [").listed().is_err());
        assert_eq!(file("name: a").listed().unwrap(), None);
    }
}
