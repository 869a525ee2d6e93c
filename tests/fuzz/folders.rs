//! Properties of the readers of results: of a study's folder, of the files of its runs, of packs.
//!
//! The bytes are edits of a study that was done once, so that most of each file stays as it was:
//! ```text
//! file  place  removed  number  bytes      file  place  removed  …
//! 1     3      1        1       number     1     3      1
//! ```

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use mumakil::compare::{FirstSlot, JobPairs};
use mumakil::explain::ExplainedJob;
use mumakil::output::RunPlace;
use mumakil::output::results::{RecentSummaries, RunResults};
use mumakil::runtime::Transport;
use mumakil::scenario::Draft;
use mumakil::study::{
    FolderAccess, NextRun, Plan, RunEffort, Status, Store, StoreForm, Study, StudyManifest,
    WallInstant, conclude, read_manifest, write_manifest,
};
use mumakil::tables::{Results, RunJobs};
use parking_lot::Mutex;
use tempfile::TempDir;

const STUDY: &str = "
name: edited
sweep: {scheduler: [fifo, {fair: {preemption: true}}], seeds: 1}
compare: scheduler
metrics: [mean(sojourn), p95(sojourn), 'count(attempt.time[kind=map])', sum(wasted)]
charts: [{bars: mean(sojourn), by: scheduler}, {ecdf: sojourn, by: scheduler}, {stack: map}]
expect: ['mean(sojourn[scheduler=fair]) <= 10min']
cluster: {nodes: 3, racks: 2}
workload:
  jobs:
    - {name: a, maps: 7, reduces: 2, map_time: 20s, reduce_time: 10s, input: 448MiB}
    - {name: b, user: bob, count: 2, maps: 3, map_time: 5s, submit: 3s}
faults: [{at: 15s, stop: node-1}, {at: 20s, kill: b-2}]
record: {alone: true, decisions: true, waste: true}
";

/// A study's folder in which edits are tried, one after the other.
struct EditedStudy {
    folder: TempDir,
    /// The files that are edited, with the contents that the study wrote.
    files: Vec<(PathBuf, Vec<u8>)>,
}

/// Edits the files of a study whose runs have folders, and reads everything.
pub(crate) fn study(bytes: &[u8]) {
    static DONE: LazyLock<Mutex<EditedStudy>> =
        LazyLock::new(|| Mutex::new(EditedStudy::new(StoreForm::Folders)));
    DONE.lock().read_edited(bytes);
}

/// Edits the files of a study whose runs are in a pack, and reads everything.
pub(crate) fn pack(bytes: &[u8]) {
    static DONE: LazyLock<Mutex<EditedStudy>> =
        LazyLock::new(|| Mutex::new(EditedStudy::new(StoreForm::Packed)));
    DONE.lock().read_edited(bytes);
}

impl EditedStudy {
    fn new(form: StoreForm) -> Self {
        let registry = mumakil::registry();
        let draft = Draft::of("edited.yaml", STUDY).expect("YAML");
        let study = Study::of(draft).expect("a study");
        let plan = Plan::new(&study, &registry).expect("a plan");
        let folder = tempfile::tempdir().expect("a folder can be made");
        let root = folder.path();
        let store = Store::of(root).expect("an empty folder");
        let sheet = StudyManifest::new(&study, &plan);
        let claim = store.claim(&sheet.study, FolderAccess::Alone, form).expect("an empty folder");
        write_manifest(&sheet, root).expect("there is room");
        let runs = plan.distinct().into_iter().map(|run| Ok(NextRun::Run(run)));
        let (time_limit, transport) = (None, Transport::default());
        let effort = RunEffort { workers: 1, time_limit, transport, verify: false };
        plan.work(runs, &claim, &registry, effort, |_| {}).expect("the runs are done");
        store.refresh().expect("the folder is there");
        conclude(&sheet, &store, root).expect("all runs are done");
        let mut files = Vec::new();
        for path in files_below(root) {
            // The checksums of a run's files would refuse each edit before a reader sees it.
            if path.ends_with("perf.json") {
                fs::remove_file(&path).expect("it is there");
            } else {
                files.push((path.clone(), fs::read(&path).expect("it was written")));
            }
        }
        Self { folder, files }
    }

    fn read_edited(&mut self, mut bytes: &[u8]) {
        let mut edited = vec![None; self.files.len()];
        while let [file, a, b, c, removed, number, rest @ ..] = bytes {
            let (added, rest) = rest.split_at(usize::from(*number).min(rest.len()));
            let file = usize::from(*file) % self.files.len();
            let content = edited[file].get_or_insert_with(|| self.files[file].1.clone());
            let place = u32::from_be_bytes([0, *a, *b, *c]) as usize % (content.len() + 1);
            let end = (place + usize::from(*removed)).min(content.len());
            content.splice(place..end, added.iter().copied());
            bytes = rest;
        }
        for ((path, _), content) in self.files.iter().zip(&edited) {
            if let Some(content) = content {
                fs::write(path, content).expect("there is room");
            }
        }
        read_all(self.folder.path());
        // `conclude` may have written some of the others.
        for (path, content) in &self.files {
            fs::write(path, content).expect("there is room");
        }
    }
}

fn files_below(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let entries = fs::read_dir(folder).expect("it is there");
    let mut entries: Vec<_> = entries.map(|entry| entry.expect("it is there").path()).collect();
    entries.sort();
    for path in entries {
        if path.is_dir() { files.extend(files_below(&path)) } else { files.push(path) }
    }
    files
}

/// Reads a study's folder as the commands do. Each error must be told in few words.
fn read_all(root: &Path) {
    let short = |error: &dyn std::fmt::Display| {
        let words = error.to_string();
        assert!(words.len() < 20_000, "{words}");
    };
    let _ = Status::read(root, WallInstant::of_millis(0)).inspect_err(|error| short(error));
    let store = match Store::of(root) {
        Ok(store) => store,
        Err(error) => return short(&error),
    };
    let sheet = match read_manifest(root) {
        Ok(sheet) => sheet,
        Err(error) => return short(&error),
    };
    let _ = conclude(&sheet, &store, root).inspect_err(|error| short(error));
    let runs: Vec<RunResults> = sheet
        .runs()
        .filter_map(|id| store.find(id))
        .map(|place| {
            if let RunPlace::Packed(_) = place {
                let folder = root.join("unpacked");
                let _ = place.copy_into(&folder).inspect_err(|error| short(error));
                let _ = fs::remove_dir_all(folder);
            }
            RunResults::of(place, 0, RecentSummaries::new(1))
        })
        .collect();
    for run in &runs {
        let _ = run.check(None).inspect_err(|error| short(error));
        let _ = run.histograms(|_| true).inspect_err(|error| short(error));
        match run.told() {
            Ok(told) => {
                let holders = told.holders();
                for place in 0..told.jobs.len() {
                    let mut job = ExplainedJob::of(&told, place, &holders);
                    job.name_holders(&holders);
                    for sum in &job.sums {
                        short(&sum.line(&told, job.sojourn_ms));
                    }
                    let _ = (job.is_whole(&told.jobs[place]), job.times_undelayed());
                }
            }
            Err(error) => short(&error),
        }
    }
    for pair in runs.windows(2) {
        let pair: [&dyn Results; 2] = [&pair[0], &pair[1]];
        let _ = FirstSlot::find(pair).inspect_err(|error| short(error));
        let [Ok(one), Ok(other)] = pair.map(RunJobs::read) else { continue };
        let _ = (JobPairs::measured([&one, &other]).spreads(), one.sojourns_by_class());
    }
}
