//! `mumakil study STUDY --on ENGINE`: Slurm or Kubernetes runs the study on other machines.
//!
//! ```text
//! here     study.json, study.resolved.yaml, files/…, bin/mumakil    the folder, ready for tasks
//! engine   sbatch array.sh   or   kubectl apply -f job.yaml         200 tasks
//! task     bin/mumakil study . --join --jobs 1                      takes runs until none is left
//! last     the task that ends last writes the report
//! ```
//! A task may be killed and restarted at any moment. If runs are missing at the end, the same
//! command submits them again.
//!
//! The command line knows this crate as an [`OtherMachines`]. `submit` has the options and what they do,
//! `engine` the trait of Slurm and Kubernetes, and `submitted` the note that stays in the folder.

mod engine;
mod kubernetes;
mod slurm;
mod submit;
mod submitted;

use std::path::Path;

use clap::builder::Resettable;
use clap::{ArgMatches, Args as _, FromArgMatches as _};

use mumakil_cli::failure::Failure;
use mumakil_cli::study::{ElsewhereStudy, OtherMachines, OtherProgress};
use mumakil_cli::{Chapter, Satellite};
use mumakil_scenario::Registry;

use self::submit::FleetOptions;
use self::submitted::SubmittedArray;

/// Returns what this crate adds to the program.
pub fn satellite() -> Satellite {
    Satellite {
        elsewhere: Some(&Fleet),
        chapters: vec![Chapter::new("fleet", include_str!("fleet.md"))],
        ..Satellite::default()
    }
}

/// The machines of Slurm and Kubernetes.
struct Fleet;

/// An example for the help of each command that does a study.
const EXAMPLES: [(&str, &str); 2] = [
    ("study", "mumakil study mine.yaml --on slurm --tasks 50 --time 2h --wait"),
    ("rank", "mumakil policy rank policies/ --on slurm --wait"),
];

impl OtherMachines for Fleet {
    fn options(&self, command: clap::Command) -> clap::Command {
        let mut help = command.get_after_help().map(|it| it.ansi().to_string()).unwrap_or_default();
        if let Some((_, example)) = EXAMPLES.iter().find(|(name, _)| *name == command.get_name()) {
            // The examples are the first paragraph.
            help = help.replacen("\n\n", &format!("\n  {example}\n\n"), 1);
        }
        // The comment on `FleetOptions` would replace the description of the command.
        let short = Resettable::from(command.get_about().cloned());
        let long = Resettable::from(command.get_long_about().cloned());
        FleetOptions::augment_args(command.after_help(help)).about(short).long_about(long)
    }

    fn run(
        &self,
        options: &ArgMatches,
        work: &ElsewhereStudy<'_>,
        registry: &Registry,
    ) -> Result<OtherProgress, Failure> {
        FleetOptions::from_arg_matches(options).expect("clap has read them").run(work, registry)
    }

    fn status(&self, folder: &Path) -> Result<Option<String>, Failure> {
        let submitted = SubmittedArray::read(folder)?;
        Ok(submitted.map(|submitted| match submitted.state() {
            Some(state) => state,
            None => format!("{}: nothing is in the queue any more", submitted.told()),
        }))
    }

    fn cancel(&self, folder: &Path) -> Result<Option<String>, Failure> {
        let submitted = SubmittedArray::read(folder)?.filter(|it| it.state().is_some());
        submitted.map(|submitted| submitted.cancel().map(|()| submitted.told())).transpose()
    }

    fn again(&self, folder: &Path) -> Result<Option<String>, Failure> {
        let submitted = SubmittedArray::read(folder)?;
        Ok(submitted.map(|it| format!("`{}` submits them again", it.command)))
    }
}
