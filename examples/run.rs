//! Runs a scenario under two policies, and reads the results: the summary, and a row for each job.
//!
//! ```sh
//! cargo run --example run
//! ```

#![expect(clippy::print_stdout, reason = "an example prints what it finds")]

use std::error::Error;

use mumakil::emulation::{Options, emulate};
use mumakil::output::results::RunResults;
use mumakil::scenario;
use mumakil::tables::JobRow;

const SCENARIO: &str = "
cluster: {nodes: 10}
workload:
  jobs:
    - {name: index, user: carl, maps: 200, map_time: 20s}
    - {name: query, user: ann, submit: 1min, count: 3, every: 10s, maps: 4, map_time: 10s}
";

fn main() -> Result<(), Box<dyn Error>> {
    let registry = mumakil::registry();
    for policy in ["fifo", "fair"] {
        // Settings lie over the text, as `--set` lies over a file.
        let settings = [format!("scheduler={policy}")];
        let scenario = scenario::parse("example", SCENARIO, &settings, &registry)?.scenario;
        let folder = tempfile::tempdir()?;
        let options = Options { folder: Some(folder.path().to_owned()), ..Options::default() };
        let summary = emulate(&scenario, &registry, options)?.summary;
        let jobs: Vec<JobRow> = RunResults::new(folder.path()).all()?;

        println!("{policy}: {} jobs succeeded", summary.jobs_succeeded);
        for job in jobs {
            println!("  {:8} took {:5.1} s", job.name, job.sojourn_s().unwrap_or(f64::NAN));
        }
    }
    Ok(())
}

#[test]
fn both_policies_run() {
    main().unwrap();
}
