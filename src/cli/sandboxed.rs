//! This program as the launcher of a policy that is not trusted: it takes rights from itself, and
//! then becomes the policy. Users do not call it.

use std::ffi::OsString;
use std::process::{Command, ExitCode};

use super::failure;
use super::terminal;
use crate::external::sandbox;

/// Becomes another program, if this one was started as a launcher; returns only if it was not, or
/// cannot.
pub(super) fn become_policy() -> Option<ExitCode> {
    let mut arguments = std::env::args_os().skip(1);
    if arguments.next()? != sandbox::LAUNCH {
        return None;
    }
    let mut number = || arguments.next()?.to_str()?.parse::<u64>().ok();
    let limits = number().zip(number());
    let command: Vec<OsString> = arguments.skip(1).collect();
    let why = match (limits, command.split_first()) {
        (Some((memory, processor)), Some((program, rest))) => {
            match sandbox::enter(&command, memory, processor) {
                Ok(()) => launch(program, rest),
                Err(error) => format!("no sandbox can be made: {error}"),
            }
        }
        _ => "a sandbox is made by Mumakil alone".to_owned(),
    };
    terminal::warn(&why);
    Some(ExitCode::from(failure::INPUT))
}

#[cfg(unix)]
fn launch(program: &OsString, arguments: &[OsString]) -> String {
    use std::os::unix::process::CommandExt as _;
    let error = Command::new(program).args(arguments).exec();
    format!("`{}` cannot be started: {error}", program.display())
}
