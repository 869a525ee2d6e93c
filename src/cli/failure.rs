//! Failures of a command, with the exit code for each kind.

use std::fmt::{self, Display};
use std::io;
use std::path::Path;
use std::process::ExitCode;

use super::lines::TerminalLines;
use super::terminal;
use mumakil_core::trace::TraceError;
use mumakil_run::emulation::EmulationError;
use mumakil_run::output::OutputError;
use mumakil_run::record::RecordError;
use mumakil_scenario::ScenarioError;
use mumakil_yaml::Finding;

/// The exit code of a failed run or a failed expectation.
// `cli` and `mumakil help exits` list the codes; scripts rely on them.
const RUN: u8 = 1;
/// The exit code of invalid input or an invalid command line.
pub const INPUT: u8 = 2;
/// The exit code if the system fails an operation, or if Mumakil has a bug.
const ENVIRONMENT: u8 = 3;

/// A reason why a command failed.
#[derive(Debug)]
pub enum Failure {
    /// The run failed.
    Run(anyhow::Error),
    /// The scenario or the command line is invalid.
    Input(anyhow::Error),
    /// The system refuses an operation.
    Environment(anyhow::Error),
    /// Mumakil has a bug.
    Bug {
        /// The panic's message.
        words: String,
        /// The place of the panic in the source.
        place: Option<String>,
    },
    /// The scenario's text has one or more mistakes.
    Findings(Vec<Finding>),
    /// All mistakes are printed already, file by file; the command only exits with the code of
    /// invalid input.
    Told,
}

impl Failure {
    /// Returns the failure of a run.
    pub fn run(message: impl Display + fmt::Debug + Send + Sync + 'static) -> Self {
        Self::Run(anyhow::Error::msg(message))
    }

    /// Returns the failure of invalid input.
    pub fn input(message: impl Display + fmt::Debug + Send + Sync + 'static) -> Self {
        Self::Input(anyhow::Error::msg(message))
    }

    /// Returns the failure of the machine.
    pub fn environment(message: impl Display + fmt::Debug + Send + Sync + 'static) -> Self {
        Self::Environment(anyhow::Error::msg(message))
    }

    /// Prints the failure, once, and returns its exit code.
    pub fn report(self) -> ExitCode {
        let code = match &self {
            Self::Run(_) => RUN,
            Self::Input(_) | Self::Findings(_) | Self::Told => INPUT,
            Self::Environment(_) | Self::Bug { .. } => ENVIRONMENT,
        };
        self.print();
        ExitCode::from(code)
    }

    /// Returns the failure as a single line.
    pub fn words(&self) -> String {
        match self {
            Self::Run(error) | Self::Input(error) | Self::Environment(error) => {
                format!("{error:#}")
            }
            Self::Bug { words, .. } => format!("a fault of Mumakil's own: {words}"),
            Self::Findings(findings) => {
                findings.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
            }
            Self::Told => String::new(),
        }
    }

    /// Prints the failure.
    pub fn print(&self) {
        match self {
            Self::Run(error) | Self::Input(error) | Self::Environment(error) => {
                let causes = error.chain().skip(1).map(|cause| format!("\n  caused by: {cause}"));
                terminal::error(&format!("{error}{}", causes.collect::<String>()));
            }
            Self::Bug { words, place } => {
                let place = place.as_deref().unwrap_or("an unknown place");
                terminal::error(&format!(
                    "a fault of Mumakil's own: {words}\n  at {place}\n\
                     Please report it, with the scenario and the command line. With \
                     RUST_BACKTRACE=1 there is more to report."
                ));
            }
            Self::Findings(findings) => {
                for (behind, finding) in (0..findings.len()).rev().zip(findings) {
                    let mut lines = TerminalLines::default();
                    for line in finding.lines() {
                        line.into_iter().for_each(|(style, part)| lines.part(style, part));
                        lines.end();
                    }
                    // Print an empty line between two mistakes, and none after the last.
                    if 0 < behind {
                        lines.end();
                    }
                    terminal::error_of(lines);
                }
            }
            Self::Told => {}
        }
    }
}

impl From<ScenarioError> for Failure {
    fn from(error: ScenarioError) -> Self {
        match error {
            ScenarioError::Invalid { findings } => Self::Findings(findings),
            error => Self::Input(error.into()),
        }
    }
}

impl From<TraceError> for Failure {
    fn from(error: TraceError) -> Self {
        Self::Input(error.into())
    }
}

impl From<OutputError> for Failure {
    fn from(error: OutputError) -> Self {
        match error {
            // These count as invalid input: the user can name another folder, use `--force`, or mend a file.
            // Other errors, such as a full disk, count as the environment's.
            OutputError::Exists { .. }
            | OutputError::Foreign { .. }
            | OutputError::Busy { .. }
            | OutputError::Damaged { .. } => Self::Input(error.into()),
            OutputError::Write { .. } | OutputError::Read { .. } => Self::Environment(error.into()),
        }
    }
}

impl From<RecordError> for Failure {
    fn from(error: RecordError) -> Self {
        Self::Environment(error.into())
    }
}

impl From<EmulationError> for Failure {
    fn from(error: EmulationError) -> Self {
        match error {
            EmulationError::Scenario(error) => error.into(),
            EmulationError::Unfit { .. } | EmulationError::Trace(_) => Self::Input(error.into()),
            EmulationError::Record(error) => error.into(),
            EmulationError::Output(error) => error.into(),
            EmulationError::ReadBack(error) => Self::Environment(error.into()),
            EmulationError::PolicyFailed { .. }
            | EmulationError::Policy { .. }
            | EmulationError::BeyondTime
            | EmulationError::GivenUp => Self::Run(error.into()),
            EmulationError::Bug { words } => Self::Bug { words, place: None },
        }
    }
}

/// A bare `io::Error` comes only from printing: errors of files carry their paths.
impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        // A job that cannot be written is a mistake of the user, whatever it is written to.
        super::file::cannot(Path::new("to stdout"), error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_damaged_file_is_bad_input_and_an_unreadable_one_is_the_systems() {
        let path = std::path::PathBuf::from("study.json");
        let source = serde_json::from_str::<u32>("{").unwrap_err();
        let damaged = OutputError::Damaged { path: path.clone(), source };
        assert!(matches!(Failure::from(damaged), Failure::Input(_)));
        let unread = OutputError::Read { path, source: io::Error::other("broken") };
        assert!(matches!(Failure::from(unread), Failure::Environment(_)));
    }
}
