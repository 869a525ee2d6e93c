//! The process groups of the policies that run now: none outlives Mumakil, however it ends.
//!
//! ```text
//! the run ends              `Process` is dropped, and ends its own group
//! Ctrl-C, SIGTERM, SIGHUP   `end_all`: no destructor runs when a signal ends the process
//! SIGKILL, a crash          the watchman's pipe closes, and it kills the groups in its last line
//! ```
//! The watchman is a shell with a group of its own. The system's own means, `PR_SET_PDEATHSIG` of
//! Linux, would end only the process itself and not its children, already when the *thread* ends
//! that has started it, and not on other systems.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::io::{self, Write as _};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, ChildStdin, Command, Stdio};

use parking_lot::Mutex;
use rustix::process::{Pid, Signal, kill_process_group};

/// The watchman reads lines with the numbers of all groups; each line replaces the one before.
/// Signals to the processes of Mumakil must not end it earlier than Mumakil.
const WATCHMAN: &str = "trap '' HUP INT TERM; groups=; while read -r line; do groups=$line; done; \
                        for group in $groups; do kill -s KILL -- \"-$group\"; done";

static RUNNING: Mutex<RunningGroups> =
    Mutex::new(RunningGroups { groups: BTreeSet::new(), watchman: None, is_over: false });

struct RunningGroups {
    groups: BTreeSet<u32>,
    /// The pipe to the watchman; `None` before the first group, and if there is no watchman.
    watchman: Option<ChildStdin>,
    /// Whether Mumakil is ending and no process may begin.
    is_over: bool,
}

/// Starts a process in a group of its own, which ends with Mumakil at the latest.
pub(super) fn start(command: &mut Command) -> io::Result<Child> {
    // Hold the lock for the whole time: `end_all` must not miss a process that begins.
    let mut running = RUNNING.lock();
    if running.is_over {
        return Err(io::Error::other("Mumakil is ending"));
    }
    if running.watchman.is_none() {
        // Without a shell, or with too many processes, policies still end with each signal but
        // SIGKILL.
        running.watchman = watchman().ok();
    }
    let child = command.process_group(0).spawn()?;
    running.groups.insert(child.id());
    running.tell_watchman();
    Ok(child)
}

/// Kills the group of a process, and waits for the process, so that it does not stay as a zombie.
pub(super) fn end(child: &mut Child) {
    kill(child.id());
    // Kill the process itself, in case the signal to the group failed. An error means that it has
    // ended.
    let _ = child.kill();
    {
        // Forget the group before the system may give its number to another process.
        let mut running = RUNNING.lock();
        running.groups.remove(&child.id());
        running.tell_watchman();
    }
    let _ = child.wait();
}

/// Kills all processes of policies. From now on, no policy can be started: Mumakil ends.
pub fn end_all() {
    let mut running = RUNNING.lock();
    running.is_over = true;
    running.groups.iter().copied().for_each(kill);
}

impl RunningGroups {
    fn tell_watchman(&mut self) {
        let Some(pipe) = &mut self.watchman else { return };
        let mut line = String::new();
        for group in &self.groups {
            let _ = write!(line, "{group} ");
        }
        line.push('\n');
        // Somebody has ended the watchman: the next policy gets another.
        if pipe.write_all(line.as_bytes()).is_err() {
            self.watchman = None;
        }
    }
}

fn watchman() -> io::Result<ChildStdin> {
    let mut shell = Command::new("/bin/sh");
    shell.args(["-c", WATCHMAN, "mumakil-watchman"]).env_clear().current_dir("/");
    // It must hold no pipe of Mumakil's own: their readers wait for the last holder.
    shell.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).process_group(0);
    shell.spawn()?.stdin.take().ok_or_else(|| io::Error::other("no pipe"))
}

fn kill(group: u32) {
    // An error means that the group has ended.
    if let Some(group) = Pid::from_raw(group.cast_signed()) {
        let _ = kill_process_group(group, Signal::KILL);
    }
}
