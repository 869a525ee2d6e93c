//! A study in code: its runs, on two workers, and the mean of a metric in each cell.
//!
//! ```sh
//! cargo run --example study
//! ```

#![expect(clippy::print_stdout, reason = "an example prints what it finds")]

use std::error::Error;

use mumakil::runtime::Transport;
use mumakil::scenario::Draft;
use mumakil::study::{
    FolderAccess, NextRun, Plan, RunEffort, Store, StoreForm, Study, StudyManifest, conclude,
    write_manifest,
};

const STUDY: &str = "
name: example
cluster: {nodes: 10}
workload:
  jobs:
    - {name: index, user: carl, maps: 200, map_time: {log_normal: {mean: 20s, cv: 0.3}}}
    - {name: query, user: ann, submit: 1min, count: 3, every: 10s, maps: 4, map_time: 10s}
sweep: {scheduler: [fifo, fair], seeds: 3}
metrics: [mean(sojourn)]
";

fn main() -> Result<(), Box<dyn Error>> {
    let registry = mumakil::registry();
    let study = Study::of(Draft::of("example.yaml", STUDY)?)?;
    let plan = Plan::new(&study, &registry)?;

    let folder = tempfile::tempdir()?;
    let store = Store::of(folder.path())?;
    let claim = store.claim("example", FolderAccess::Alone, StoreForm::Folders)?;
    let runs = plan.distinct().into_iter().map(|run| Ok(NextRun::Run(run)));
    let effort =
        RunEffort { workers: 2, time_limit: None, transport: Transport::Bare, verify: false };
    plan.work(runs, &claim, &registry, effort, |_| {})?;
    store.refresh()?;

    // Tables, charts and the report are written as well; they are read from the runs alone.
    let manifest = StudyManifest::new(&study, &plan);
    write_manifest(&manifest, folder.path())?;
    let findings = conclude(&manifest, &store, folder.path())?.findings;
    let metric = &findings.metrics[0];
    for (cell, numbers) in manifest.cells.iter().zip(&metric.cells) {
        let labels: Vec<&str> = manifest.labels(cell).collect();
        let mean = numbers.map_or(f64::NAN, |numbers| numbers.mean.mean);
        println!(
            "{}: {} is {mean:.1} s over {} seeds",
            labels.join(", "),
            metric.text,
            cell.runs.len()
        );
    }
    Ok(())
}

#[test]
fn the_study_runs() {
    main().unwrap();
}
