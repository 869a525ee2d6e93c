//! Failures of a command, each with the exit code that tells its kind.

use std::fmt::{self, Display};
use std::io;
use std::process::ExitCode;

use super::lines::TerminalLines;
use super::terminal;
use crate::emulation::EmulationError;
use crate::live::server::ServerError;
use crate::output::OutputError;
use crate::record::RecordError;
use crate::scenario::ScenarioError;
use crate::trace::TraceError;
use crate::yaml::Finding;

/// The exit code of a run that failed, or an expectation of it.
// The codes are listed in `cli` and in `mumakil help exits`; scripts rely on them.
const RUN: u8 = 1;
/// The exit code of bad input, and of a wrong command line.
pub(super) const INPUT: u8 = 2;
/// The exit code of faults that no change of the user's files can mend.
const ENVIRONMENT: u8 = 3;

/// Why a command did not do what it was asked to.
#[derive(Debug)]
pub(super) enum Failure {
    /// The run failed.
    Run(anyhow::Error),
    /// The scenario or the command line is wrong.
    Input(anyhow::Error),
    /// The system does not let us.
    Environment(anyhow::Error),
    /// Mumakil is wrong.
    Bug {
        /// The panic's message.
        words: String,
        /// Where, in the source.
        place: Option<String>,
    },
    /// The scenario's text is wrong, in one place or several.
    Findings(Vec<Finding>),
    /// Everything was printed already, scenario by scenario; only the exit code of bad input is
    /// left.
    Told,
}

impl Failure {
    /// Returns the failure of a run.
    pub(super) fn run(message: impl Display + fmt::Debug + Send + Sync + 'static) -> Self {
        Self::Run(anyhow::Error::msg(message))
    }

    /// Returns the failure of wrong input.
    pub(super) fn input(message: impl Display + fmt::Debug + Send + Sync + 'static) -> Self {
        Self::Input(anyhow::Error::msg(message))
    }

    /// Prints the failure, once, and returns its exit code.
    pub(super) fn report(self) -> ExitCode {
        let code = match &self {
            Self::Run(_) => RUN,
            Self::Input(_) | Self::Findings(_) | Self::Told => INPUT,
            Self::Environment(_) | Self::Bug { .. } => ENVIRONMENT,
        };
        self.print();
        ExitCode::from(code)
    }

    /// Returns it in a line.
    pub(super) fn words(&self) -> String {
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
    pub(super) fn print(&self) {
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
                    // An empty line between two findings, and none after the last.
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

impl From<ServerError> for Failure {
    fn from(error: ServerError) -> Self {
        Self::Environment(error.into())
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
            // The user has named the folder: another name or `--force` helps. A full disk is no
            // input.
            OutputError::Exists { .. } | OutputError::Foreign { .. } | OutputError::Busy { .. } => {
                Self::Input(error.into())
            }
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
            | EmulationError::GivenUp => Self::Run(error.into()),
            EmulationError::Bug { words } => Self::Bug { words, place: None },
        }
    }
}

/// Here only printing fails with a bare `io::Error`; errors of files have their paths.
impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::Environment(anyhow::Error::new(error).context("cannot write to stdout"))
    }
}
