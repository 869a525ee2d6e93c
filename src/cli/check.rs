//! `mumakil check`: says what is wrong with scenarios, and runs none.

use std::path::{Path, PathBuf};

use super::failure::Failure;
use super::source::{self, Overrides};
use super::story::counted;
use super::terminal;
use crate::emulation::Prepared;
use crate::scenario::{Loaded, Registry, Warning};

/// Check scenarios without running them
///
/// All mistakes of a file are reported together, each with its place.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  mumakil check mine.yaml
  mumakil check scenarios/*.yaml
  mumakil check quickstart --set scheduler=fifo")]
pub(super) struct Arguments {
    /// Files, or names of scenarios that Mumakil brings
    #[arg(value_name = "SCENARIO", required = true)]
    scenarios: Vec<PathBuf>,
    /// Put a value over the scenarios', such as cluster.nodes=50
    #[arg(long = "set", value_name = "PATH=VALUE")]
    sets: Vec<String>,
}

/// Reads a scenario and the files that it names.
fn prepare(
    path: &Path,
    overrides: Overrides,
    registry: &Registry,
) -> Result<(Prepared, Vec<Warning>), Failure> {
    let Loaded { scenario, warnings } = source::load(path, overrides, registry)?;
    Ok((Prepared::new(scenario)?, warnings))
}

impl Arguments {
    pub(super) fn run(self, registry: &Registry) -> Result<(), Failure> {
        let mut wrong = 0;
        for path in &self.scenarios {
            let overrides = Overrides { sets: self.sets.clone(), ..Overrides::default() };
            match prepare(path, overrides, registry) {
                Ok((prepared, warnings)) => {
                    warnings.iter().for_each(|warning| terminal::warn(warning));
                    prepared.workload.left_out.iter().for_each(|part| terminal::warn(part));
                    terminal::print(&format!(
                        "{}: fine   {} · {} · {}\n",
                        path.display(),
                        counted(prepared.topology.len().into(), "tracker"),
                        counted(prepared.jobs(), "job"),
                        prepared.scenario.scheduler.name
                    ))?;
                }
                Err(failure) => {
                    failure.print();
                    wrong += 1;
                }
            }
        }
        if wrong == 0 { Ok(()) } else { Err(Failure::Told) }
    }
}
