//! `mumakil study cancel`: ends all processes that work on a study.

use std::path::PathBuf;

use super::status::is_of_a_study;
use crate::failure::Failure;
use crate::lines::TerminalLines;
use crate::{Program, terminal};
use mumakil_base::units::tell::counted;
use mumakil_run::output::machine;
use mumakil_study::{Status, WallInstant, WriterState};

/// End the work on a study
///
/// The study's tasks are cancelled in the queue to which they were submitted, and the processes of
/// this machine that work on it are ended, as by Ctrl-C. Finished runs stay, and the study
/// continues when it is started again.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  mumakil study cancel out/scaling-study

Exit codes:
  0  nobody works on it any more, or soon nobody will
  1  some process is on another machine and has to be ended there, or the queue refuses
  2  the folder has no study
  3  the folder cannot be read")]
pub(crate) struct StudyCancelArguments {
    /// The folder of the study's results
    #[arg(value_name = "DIR")]
    folder: PathBuf,
}

impl StudyCancelArguments {
    pub(super) fn run(self, program: &Program) -> Result<(), Failure> {
        is_of_a_study(&self.folder)?;
        let mut lines = TerminalLines::default();
        // Cancel the job in the queue first: otherwise the queue would restart a task that we end.
        let queued = program.elsewhere.map_or(Ok(None), |it| it.cancel(&self.folder))?;
        if let Some(job) = &queued {
            lines.line(format!("cancelled {job}"));
        }
        let status = Status::read(&self.folder, WallInstant::now())?;
        let (own, mut ended, mut elsewhere) = (machine(), 0, Vec::new());
        for life in status
            .processes
            .iter()
            .filter(|one| one.fate == WriterState::AtWork)
            .map(|one| &one.life)
        {
            if life.machine == own && end(life.pid) {
                ended += 1;
            } else if queued.is_none() {
                // Only a queue could end the processes on other machines. Without one, list them
                // for the user.
                let machine = life.machine.as_deref().unwrap_or("an unknown machine");
                elsewhere.push(format!("process {} on {machine}", life.pid));
            }
        }
        if 0 < ended {
            lines.line(format!("told {} here to end", counted(ended, "process")));
        }
        if !elsewhere.is_empty() {
            terminal::print(&lines)?;
            let those = elsewhere.join(", ");
            return Err(Failure::run(format!(
                "processes elsewhere go on, end them there: {those}"
            )));
        }
        if lines.is_empty() {
            lines.line("nobody works on it");
        }
        Ok(terminal::print(&lines)?)
    }
}

/// Sends a process the signal to end; returns whether that worked.
fn end(process: u32) -> bool {
    #[cfg(unix)]
    {
        use rustix::process::{Pid, Signal, kill_process};
        let pid = i32::try_from(process).ok().and_then(Pid::from_raw);
        pid.is_some_and(|pid| kill_process(pid, Signal::TERM).is_ok())
    }
    #[cfg(not(unix))]
    {
        let _ = process;
        false
    }
}
