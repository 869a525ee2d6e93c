//! A sandbox for a policy that nobody trusts: it can compute and answer, and do nothing else.
//!
//! ```text
//! Mumakil ── starts ──► launcher: this program; it waits, and counts memory
//!   namespaces  ── starts ──► the same once more: limits itself, then becomes the policy
//!               it sees no other process, and no file that it may not read     Linux, if allowed
//!   limits      memory, processor time, open files                             every system
//!   Landlock    reads its own files and some of the system                     Linux 5.13
//!   seccomp     only the calls that computing needs                            x86-64, ARM64, RISC-V
//! ```
//! A process can take rights only from itself, so a launcher stands between: the same program with
//! other arguments. A policy that tries what seccomp forbids ends with a signal if no program would
//! try it: it is wrong, even if it could do without.

#[cfg(target_os = "linux")]
mod calls;
mod files;
#[cfg(target_os = "linux")]
mod spaces;

use std::env;
use std::ffi::OsString;
use std::io;
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::{Command, ExitStatus};

use rustix::process::{Resource, Rlimit, Signal, setrlimit};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use self::files::ReadableFiles;
use mumakil_base::units::{Bytes, SimSpan};
use mumakil_base::with_defaults;

with_defaults! {
    /// The limits of a policy that is not trusted. It cannot write files, use the network or start
    /// processes, and it reads only its own files and those of the system.
    #[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
    #[serde(default, deny_unknown_fields)]
    pub struct SandboxOptions {
        // Chosen: many times what a policy needs.
        /// The memory that it may use.
        pub memory: Bytes = Bytes::new(1 << 30),
        /// The processor time that it may use in a run.
        pub processor: SimSpan = SimSpan::from_secs(60),
        /// The processor time that it may use for an answer, as far as the system tells it.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub answer: Option<SimSpan> = None,
    }
}

/// The subcommand under which Mumakil is the launcher.
pub const LAUNCH: &str = "sandboxed";
/// The subcommand under which Mumakil becomes the policy.
pub const INSIDE: &str = "sandboxed-inside";
/// How many files a policy may have open. Chosen: an interpreter opens its modules one by one.
const OPEN_FILES: u64 = 256;

/// The parts of the sandbox that a system may lack.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SandboxParts {
    /// Whether the policy has processes, queues and shared memory of its own.
    pub processes: bool,
    /// Whether files that the policy may not read are out of sight.
    pub view: bool,
    /// Whether files that are not the policy's own are out of reach.
    pub landlock: bool,
    /// Whether signals and abstract sockets are out of reach even without seccomp.
    pub scope: bool,
    /// Whether the policy can make only the calls that computing needs.
    pub seccomp: bool,
}

impl SandboxParts {
    /// Returns the parts that this system has: the launcher makes a sandbox, and says what it is.
    pub fn of_system(launcher: &Path) -> Self {
        let options = SandboxOptions::default();
        let words = options.around(&[], launcher);
        let told = Command::new(&words[0]).args(&words[1..]).output();
        told.ok().and_then(|told| serde_json::from_slice(&told.stdout).ok()).unwrap_or_default()
    }

    /// Returns what a policy cannot do here, in words, and which parts this system lacks.
    pub fn words(self) -> String {
        let mut words = vec!["limits of memory and processor time"];
        words.push(match self.seccomp {
            true => "no file is written, no network, no further process",
            false => "this system has no seccomp, so files can be written, and the network is open",
        });
        words.push(match self.landlock {
            true => "only its own files are read",
            false => "this system has no Landlock, so all files can be read",
        });
        let missing = [
            (
                self.processes,
                "this system gives it no processes of its own, so it may heed its number",
            ),
            (self.view, "this system hides no files, so their sizes and times can be seen"),
            (
                self.scope || !self.landlock,
                "this system's Landlock (before Linux 6.12) does not know signals and abstract \
                 sockets, so only seccomp forbids them",
            ),
        ];
        words.extend(missing.iter().filter(|(is_there, _)| !is_there).map(|(_, words)| words));
        words.join("; ")
    }
}

impl SandboxOptions {
    /// Returns the command that starts another command in a sandbox; `launcher` is Mumakil.
    pub(super) fn around(self, command: &[String], launcher: &Path) -> Vec<String> {
        let own = [
            launcher.to_string_lossy().into_owned(),
            LAUNCH.to_owned(),
            self.memory.get().to_string(),
            self.processor.as_micros().div_ceil(1_000_000).to_string(),
            "--".to_owned(),
        ];
        own.into_iter().chain(command.iter().cloned()).collect()
    }
}

/// How a command in a sandbox has ended.
#[derive(Clone, Copy, Debug)]
pub struct SandboxEnd {
    /// Its exit code or signal.
    pub status: ExitStatus,
    /// Whether it was ended since it had more memory than it may.
    pub is_heavy: bool,
}

/// Starts a command in a sandbox, and waits until it ends. `memory` is in bytes, `processor` in
/// seconds.
///
/// # Errors
/// If the command cannot be started.
pub fn launch(command: &[OsString], memory: u64, processor: u64) -> io::Result<SandboxEnd> {
    let mut inside = Command::new(env::current_exe()?);
    let own_processes = kernel::own_processes().to_string();
    inside.args([INSIDE, &memory.to_string(), &processor.to_string(), &own_processes, "--"]);
    let mut child = inside.args(command).spawn()?;
    let is_heavy = kernel::outgrows(child.id(), memory);
    if is_heavy {
        child.kill()?;
    }
    let status = child.wait()?;
    // The first of its processes gets no signal from the system but the last one.
    let is_killed = status.signal() == Some(Signal::KILL.as_raw());
    // The clock of the limit and the one that is read here differ by less than a second.
    let is_out_of_time = kernel::children_seconds().is_some_and(|used| processor <= used + 1);
    let status = match is_killed && is_out_of_time && !is_heavy {
        true => ExitStatus::from_raw(Signal::XCPU.as_raw()),
        false => status,
    };
    Ok(SandboxEnd { status, is_heavy })
}

/// Takes the rights from this process that a policy does not need, before it becomes the policy
/// with this command. Returns which parts of the sandbox the system has.
///
/// # Errors
/// If a limit cannot be set. A system that lacks a part is no error.
pub fn enter(
    command: &[OsString],
    memory: u64,
    processor: u64,
    own_processes: bool,
) -> io::Result<SandboxParts> {
    let files = ReadableFiles::of(command);
    let view = own_processes && kernel::hide_others(&files);
    let limits = [
        // All memory that is a process's own, also what is mapped.
        (Resource::Data, memory),
        (Resource::Cpu, processor),
        (Resource::Nofile, OPEN_FILES),
        (Resource::Core, 0),
        // A pipe has no size, so that answers are not concerned.
        (Resource::Fsize, 0),
    ];
    for (resource, most) in limits {
        setrlimit(resource, Rlimit { current: Some(most), maximum: Some(most) })?;
    }
    let (landlock, scope) = kernel::read_only(&files);
    let seccomp = kernel::forbid()?;
    Ok(SandboxParts { processes: own_processes, view, landlock, scope, seccomp })
}

#[cfg(target_os = "linux")]
mod kernel {
    use std::fs;
    use std::path::PathBuf;

    use super::files::ReadableFiles;
    use landlock::{
        ABI, Access as _, AccessFs, LandlockStatus, Ruleset, RulesetAttr as _,
        RulesetCreatedAttr as _, RulesetStatus, Scope, path_beneath_rules,
    };
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    use rustix::process::{Pid, PidfdFlags, pidfd_open};

    /// How often the launcher counts the policy's memory: every 20 ms.
    const COUNT: Timespec = Timespec { tv_sec: 0, tv_nsec: 20_000_000 };

    pub(super) use super::calls::filter as forbid;
    pub(super) use super::spaces::own_processes;

    /// Leaves only the readable files in sight, and no right of root. Returns whether the system
    /// can hide files.
    pub(super) fn hide_others(files: &ReadableFiles) -> bool {
        super::spaces::new_root(&files.whole, &files.listed).is_ok()
    }

    /// Lets this thread read these files and folders and list these folders, and nothing else.
    /// Returns whether the system can do that, and whether it keeps back signals and sockets, too.
    pub(super) fn read_only(files: &ReadableFiles) -> (bool, bool) {
        super::spaces::drop_rights();
        let abi = ABI::V6;
        let rules = |paths: &[PathBuf], access| path_beneath_rules(paths.to_vec(), access);
        let restrict = || {
            let status = Ruleset::default()
                .handle_access(AccessFs::from_all(abi))?
                .scope(Scope::from_all(abi))?
                .create()?
                .add_rules(rules(&files.whole, AccessFs::from_read(abi)))?
                .add_rules(rules(&files.listed, AccessFs::ReadDir.into()))?
                .restrict_self()?;
            let scope = matches!(
                status.landlock,
                LandlockStatus::Available { effective_abi, .. } if ABI::V6 <= effective_abi
            );
            let is_enforced = status.ruleset != RulesetStatus::NotEnforced;
            Ok::<_, landlock::RulesetError>((is_enforced, is_enforced && scope))
        };
        restrict().unwrap_or((false, false))
    }

    /// Waits until a process has ended, or has more memory than it may; returns whether it has. The
    /// system's own limit counts only memory that could be written at the moment.
    pub(super) fn outgrows(process: u32, most: u64) -> bool {
        let pid = Pid::from_raw(process.cast_signed());
        // An old system gives nothing to wait for: its own limit must do.
        let Some(Ok(end)) = pid.map(|pid| pidfd_open(pid, PidfdFlags::empty())) else {
            return false;
        };
        while let Some(used) = memory(process) {
            if most < used {
                return true;
            }
            if poll(&mut [PollFd::new(&end, PollFlags::IN)], Some(&COUNT)) != Ok(0) {
                return false;
            }
        }
        false
    }

    /// Returns the memory in bytes that a process has for itself, with the tables of its pages;
    /// `None` if it has ended.
    fn memory(process: u32) -> Option<u64> {
        const COUNTED: [&str; 4] = ["RssAnon:", "RssShmem:", "VmSwap:", "VmPTE:"];
        let status = fs::read_to_string(format!("/proc/{process}/status")).ok()?;
        let of_line = |line: &str| {
            let rest = COUNTED.iter().find_map(|name| line.strip_prefix(name))?;
            rest.trim().strip_suffix(" kB")?.parse::<u64>().ok()
        };
        // A process that has ended, and that nobody has waited for, has no memory in its status.
        let kib: Vec<u64> = status.lines().filter_map(of_line).collect();
        (!kib.is_empty()).then(|| kib.iter().sum::<u64>() << 10)
    }

    /// Returns the processor time of the children that have ended, in seconds.
    pub(super) fn children_seconds() -> Option<u64> {
        let stat = fs::read_to_string("/proc/self/stat").ok()?;
        // The name may have spaces; behind it, the 14th and 15th numbers are these times, in
        // hundredths of a second.
        let (_, rest) = stat.rsplit_once(')')?;
        let times = rest.split_whitespace().skip(13).take(2);
        let ticks: u64 = times.map_while(|ticks| ticks.parse::<u64>().ok()).sum();
        Some(ticks / 100)
    }
}

#[cfg(not(target_os = "linux"))]
mod kernel {
    use std::io;

    use super::files::ReadableFiles;

    pub(super) fn own_processes() -> bool {
        false
    }

    pub(super) fn hide_others(_: &ReadableFiles) -> bool {
        false
    }

    pub(super) fn read_only(_: &ReadableFiles) -> (bool, bool) {
        (false, false)
    }

    pub(super) fn forbid() -> io::Result<bool> {
        Ok(false)
    }

    pub(super) fn outgrows(_: u32, _: u64) -> bool {
        false
    }

    pub(super) fn children_seconds() -> Option<u64> {
        None
    }
}
