//! This program as the launcher of a policy that is not trusted: it starts itself once more, takes
//! rights from that process, and there becomes the policy. Users do not call it.

use std::ffi::OsString;
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::process::{Command, ExitCode, ExitStatus};

use rustix::process::{Resource, Rlimit, Signal, getpid, kill_process, setrlimit};

use super::{failure, terminal};
use mumakil_base::units::Bytes;
use mumakil_external::sandbox;

/// Starts another program or becomes it, if this one was started as a launcher; returns `None` if it
/// was not.
pub(super) fn become_policy() -> Option<ExitCode> {
    let arguments: Vec<OsString> = std::env::args_os().skip(1).collect();
    let is_inside = match arguments.first()?.to_str()? {
        sandbox::LAUNCH => false,
        sandbox::INSIDE => true,
        _ => return None,
    };
    let ended = read(&arguments[1..], is_inside)
        .ok_or_else(|| "a sandbox is made by Mumakil alone".to_owned());
    let ended = ended.and_then(|sandboxed| match is_inside {
        false => sandboxed.launch(),
        true => sandboxed.enter(),
    });
    Some(ended.unwrap_or_else(|why| {
        terminal::warn(&why);
        ExitCode::from(failure::INPUT)
    }))
}

/// The arguments of a launcher.
struct Sandboxed<'a> {
    memory: u64,
    processor: u64,
    /// Whether this process is the first of its own processes; the launcher does not know it.
    own_processes: bool,
    command: &'a [OsString],
}

fn read(arguments: &[OsString], is_inside: bool) -> Option<Sandboxed<'_>> {
    let end = arguments.iter().position(|word| word == "--")?;
    let words: Vec<&str> =
        arguments[..end].iter().map(|word| word.to_str()).collect::<Option<_>>()?;
    let [memory, processor, own @ ..] = &words[..] else { return None };
    let own_processes = match (is_inside, own) {
        (false, []) => false,
        (true, [own]) => own.parse().ok()?,
        _ => return None,
    };
    let (memory, processor) = (memory.parse().ok()?, processor.parse().ok()?);
    Some(Sandboxed { memory, processor, own_processes, command: &arguments[end + 1..] })
}

impl Sandboxed<'_> {
    fn launch(&self) -> Result<ExitCode, String> {
        let ended = sandbox::launch(self.command, self.memory, self.processor)
            .map_err(|error| format!("no sandbox can be made: {error}"))?;
        if ended.is_heavy {
            let most = Bytes::new(self.memory);
            terminal::warn(&format!("it was ended, since it had more memory than {most}"));
        }
        Ok(end_like(ended.status))
    }

    /// Becomes the policy. Without a command, prints which parts of the sandbox the system has.
    fn enter(&self) -> Result<ExitCode, String> {
        let Self { memory, processor, own_processes, command } = *self;
        let parts = sandbox::enter(command, memory, processor, own_processes)
            .map_err(|error| format!("no sandbox can be made: {error}"))?;
        let Some((program, arguments)) = command.split_first() else {
            let parts = serde_json::to_string(&parts).map_err(|error| error.to_string())?;
            return match terminal::print_file(&parts) {
                Ok(()) => Ok(ExitCode::SUCCESS),
                Err(error) => Err(error.to_string()),
            };
        };
        let error = Command::new(program).args(arguments).exec();
        Err(format!("`{}` cannot be started: {error}", program.display()))
    }
}

/// Ends this process as another one has ended, with its code or by its signal.
fn end_like(status: ExitStatus) -> ExitCode {
    if let Some(signal) = status.signal().and_then(Signal::from_named_raw) {
        // It is not this program that is wrong.
        let none = Rlimit { current: Some(0), maximum: Some(0) };
        let _ = setrlimit(Resource::Core, none);
        let _ = kill_process(getpid(), signal);
    }
    let code = status.code().or(status.signal().map(|signal| 128 + signal)).unwrap_or(1);
    ExitCode::from(u8::try_from(code).unwrap_or(1))
}
