//! A sandbox for a policy that nobody trusts: it can compute and answer, and do nothing else.
//!
//! ```text
//! Mumakil ── starts ──► this program as a launcher: limits itself, then becomes the policy
//!   limits      memory, processor time, open files                     every system
//!   Landlock    reads its own files and those of the system; no other  Linux 5.13
//!   seccomp     no file to write, no network, no further process       Linux, x86-64 and ARM64
//! ```
//! A process can take rights only from itself, so a launcher stands between: the same program with
//! other arguments. A policy that tries what seccomp forbids ends with a signal: it is wrong, even if
//! it could do without.

use std::env;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

use rustix::process::{Resource, Rlimit, setrlimit};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use mumakil_base::units::{Bytes, SimSpan};

/// Why no calls are forbidden.
enum NoSeccomp {
    /// The system or the processor has none.
    Here,
    /// The system has refused it.
    #[cfg_attr(not(target_os = "linux"), expect(dead_code, reason = "only Linux can refuse it"))]
    Failed(io::Error),
}

/// The limits of a policy that is not trusted. It cannot write files, use the network or start
/// processes, and it reads only its own files and those of the system.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SandboxOptions {
    /// The memory that it may use.
    pub memory: Bytes,
    /// The processor time that it may use in a run.
    pub processor: SimSpan,
}

impl Default for SandboxOptions {
    fn default() -> Self {
        // Chosen: many times what a policy needs.
        Self { memory: Bytes::new(1 << 30), processor: SimSpan::from_secs(60) }
    }
}

/// The subcommand under which Mumakil is the launcher.
pub const LAUNCH: &str = "sandboxed";
/// How many files a policy may have open. Chosen: an interpreter opens its modules one by one.
const OPEN_FILES: u64 = 256;
/// The folders and files of the system that any program may read, as far as they exist.
const SYSTEM: [&str; 16] = [
    "/usr",
    "/lib",
    "/lib32",
    "/lib64",
    "/bin",
    "/sbin",
    "/etc",
    "/opt",
    "/nix",
    "/dev/null",
    "/dev/zero",
    "/dev/random",
    "/dev/urandom",
    "/proc/cpuinfo",
    "/proc/meminfo",
    "/sys/devices",
];
/// The variables with folders in which interpreters keep what they read.
const FOLDERS: [&str; 7] = [
    "VIRTUAL_ENV",
    "CONDA_PREFIX",
    "PYTHONHOME",
    "PYTHONPATH",
    "JULIA_DEPOT_PATH",
    "JULIA_PROJECT",
    "LD_LIBRARY_PATH",
];

/// A part of the sandbox that a system may lack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SandboxParts {
    /// Whether files that are not the policy's own are out of reach.
    pub landlock: bool,
    /// Whether the policy ends if it writes files, uses the network or starts processes.
    pub seccomp: bool,
}

impl SandboxParts {
    /// Returns the parts that this system has.
    pub fn of_system() -> Self {
        // A thread of its own: what it gives up is given up for good.
        let tried = std::thread::spawn(|| {
            let landlock = kernel::read_only(&[], &[]);
            Self { landlock, seccomp: kernel::forbid().is_ok() }
        });
        tried.join().unwrap_or(Self { landlock: false, seccomp: false })
    }

    /// Returns what a policy cannot do here, in words.
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

/// Takes the rights from this process that a policy does not need, before it becomes the policy
/// with this command. `memory` is in bytes, `processor` in seconds.
///
/// # Errors
/// If a limit cannot be set. A system that lacks Landlock or seccomp is no error.
pub fn enter(command: &[OsString], memory: u64, processor: u64) -> io::Result<()> {
    let limits = [
        // All memory that is a process's own, also what is mapped.
        (Resource::Data, memory),
        (Resource::Cpu, processor),
        (Resource::Nofile, OPEN_FILES),
        (Resource::Core, 0),
    ];
    for (resource, most) in limits {
        setrlimit(resource, Rlimit { current: Some(most), maximum: Some(most) })?;
    }
    let (whole, listed) = readable(command);
    kernel::read_only(&whole, &listed);
    kernel::forbid().or_else(|missing| match missing {
        NoSeccomp::Here => Ok(()),
        NoSeccomp::Failed(error) => Err(error),
    })
}

/// Returns the files and folders that a command may read, and the folders whose names it may list.
fn readable(command: &[OsString]) -> (Vec<PathBuf>, Vec<PathBuf>) {
    let mut whole: Vec<PathBuf> = SYSTEM.iter().map(PathBuf::from).collect();
    let mut listed = Vec::new();
    whole.push("/proc/self".into());
    for folder in FOLDERS.iter().filter_map(env::var_os) {
        whole.extend(env::split_paths(&folder));
    }
    if let Some(home) = env::var_os("HOME") {
        // Packages that the user has installed for Python.
        whole.push(Path::new(&home).join(".local/lib"));
    }
    if let Some(program) = command.first() {
        let folders = env::var_os("PATH").unwrap_or_default();
        let mut found = env::split_paths(&folders).map(|folder| folder.join(program));
        // A program may be a link; its modules lie beside the link, or beside the program.
        if let Some(link) = found.find(|path| path.is_file()) {
            let real = link.canonicalize().ok();
            whole.extend([Some(link), real].into_iter().flatten().filter_map(installed_in));
        }
    }
    for file in command.iter().map(PathBuf::from).filter(|path| path.is_file()) {
        // A script may have modules beside it: files with the same extension.
        let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty());
        if let (Some(folder), Some(extension)) = (folder, file.extension()) {
            listed.push(folder.to_owned());
            let beside =
                folder.read_dir().into_iter().flatten().flatten().map(|entry| entry.path());
            whole.extend(beside.filter(|path| path.extension() == Some(extension)));
        }
        whole.push(file);
    }
    (whole, listed)
}

/// Returns the folder in which a program is installed, with its modules; `None` if it stands alone.
fn installed_in(program: PathBuf) -> Option<PathBuf> {
    let folder = program.parent().filter(|folder| folder.ends_with("bin"))?.parent()?;
    let is_all =
        folder.parent().is_none() || env::var_os("HOME").is_some_and(|home| home == *folder);
    (!is_all).then(|| folder.to_owned())
}

#[cfg(target_os = "linux")]
mod kernel {
    use std::collections::BTreeMap;
    use std::io;
    use std::path::PathBuf;

    use super::NoSeccomp;
    use landlock::{
        ABI, Access as _, AccessFs, Ruleset, RulesetAttr as _, RulesetCreatedAttr as _,
        RulesetStatus, Scope, path_beneath_rules,
    };
    use seccompiler::SeccompCmpArgLen::Dword;
    use seccompiler::SeccompCmpOp::{self, MaskedEq, Ne};
    use seccompiler::{
        BpfProgram, SeccompAction, SeccompCondition, SeccompFilter, SeccompRule, TargetArch,
        apply_filter,
    };

    /// Lets this thread read these files and folders and list these folders, and nothing else.
    /// Returns whether the system can do that.
    pub(super) fn read_only(whole: &[PathBuf], listed: &[PathBuf]) -> bool {
        let abi = ABI::V6;
        let restrict = || {
            let status = Ruleset::default()
                .handle_access(AccessFs::from_all(abi))?
                .scope(Scope::from_all(abi))?
                .create()?
                .add_rules(path_beneath_rules(whole, AccessFs::from_read(abi)))?
                .add_rules(path_beneath_rules(listed, AccessFs::ReadDir))?
                .restrict_self()?;
            Ok::<_, landlock::RulesetError>(status.ruleset != RulesetStatus::NotEnforced)
        };
        restrict().unwrap_or(false)
    }

    /// Forbids calls that a policy does not need to this thread.
    pub(super) fn forbid() -> Result<(), NoSeccomp> {
        let Ok(arch) = TargetArch::try_from(std::env::consts::ARCH) else {
            return Err(NoSeccomp::Here);
        };
        let failed =
            |error: &dyn std::fmt::Display| NoSeccomp::Failed(io::Error::other(error.to_string()));
        for (action, calls) in [
            (SeccompAction::Errno(libc::ENOSYS as u32), absent()),
            (SeccompAction::Errno(libc::EACCES as u32), refused()),
            (SeccompAction::KillProcess, deadly()),
        ] {
            let filter = SeccompFilter::new(calls, SeccompAction::Allow, action, arch);
            let filter = filter.map_err(|error| failed(&error))?;
            let program = BpfProgram::try_from(filter).map_err(|error| failed(&error))?;
            apply_filter(&program).map_err(|error| failed(&error))?;
        }
        Ok(())
    }

    type Calls = BTreeMap<i64, Vec<SeccompRule>>;

    /// Returns the calls that this system seems not to have: programs use older ones instead.
    fn absent() -> Calls {
        // Their arguments lie in memory, where a filter cannot look.
        let calls = [libc::SYS_clone3, libc::SYS_openat2, libc::SYS_io_uring_setup];
        calls.into_iter().map(|call| (call, Vec::new())).collect()
    }

    /// Returns the calls that fail: a shell opens its terminal for writing when it begins.
    fn refused() -> Calls {
        let access = MaskedEq(libc::O_ACCMODE as u64);
        let writes = |flags| {
            [libc::O_WRONLY, libc::O_RDWR].map(|mode| one(flags, access.clone(), mode)).into()
        };
        let mut calls: Calls = [(libc::SYS_openat, writes(2))].into();
        #[cfg(target_arch = "x86_64")]
        calls.insert(libc::SYS_open, writes(1));
        calls
    }

    /// Returns the rule of calls with such an argument.
    fn one(argument: u8, compare: SeccompCmpOp, value: i32) -> SeccompRule {
        let value = u64::from(value.cast_unsigned());
        let condition = SeccompCondition::new(argument, Dword, compare, value);
        condition.and_then(|condition| SeccompRule::new(vec![condition])).expect("it is a rule")
    }

    /// Returns the calls with which a policy ends.
    fn deadly() -> Calls {
        let mut calls: Calls = [
            libc::SYS_ptrace,
            libc::SYS_process_vm_readv,
            libc::SYS_process_vm_writev,
            libc::SYS_setsid,
            libc::SYS_setpgid,
            libc::SYS_unshare,
            libc::SYS_setns,
            libc::SYS_mount,
            libc::SYS_bpf,
            libc::SYS_perf_event_open,
            libc::SYS_userfaultfd,
            libc::SYS_keyctl,
            libc::SYS_mkdirat,
            libc::SYS_mknodat,
            libc::SYS_unlinkat,
            libc::SYS_renameat2,
            libc::SYS_linkat,
            libc::SYS_symlinkat,
            libc::SYS_truncate,
            libc::SYS_ftruncate,
        ]
        .into_iter()
        .map(|call| (call, Vec::new()))
        .collect();
        // Names of users are looked up over a local socket, where that is possible.
        calls.insert(libc::SYS_socket, vec![one(0, Ne, libc::AF_UNIX)]);
        // A thread is no further process.
        let thread = libc::CLONE_THREAD;
        let is_process = one(0, MaskedEq(u64::from(thread.cast_unsigned())), 0);
        calls.insert(libc::SYS_clone, vec![is_process]);
        let creates = |flags| vec![one(flags, MaskedEq(libc::O_CREAT as u64), libc::O_CREAT)];
        calls.insert(libc::SYS_openat, creates(2));
        #[cfg(target_arch = "x86_64")]
        {
            calls.insert(libc::SYS_open, creates(1));
            let old = [
                libc::SYS_fork,
                libc::SYS_vfork,
                libc::SYS_creat,
                libc::SYS_mkdir,
                libc::SYS_mknod,
                libc::SYS_unlink,
                libc::SYS_rmdir,
                libc::SYS_rename,
                libc::SYS_renameat,
                libc::SYS_link,
                libc::SYS_symlink,
            ];
            calls.extend(old.into_iter().map(|call| (call, Vec::new())));
        }
        calls
    }
}

#[cfg(not(target_os = "linux"))]
mod kernel {
    use std::path::PathBuf;

    use super::NoSeccomp;

    pub(super) fn read_only(_: &[PathBuf], _: &[PathBuf]) -> bool {
        false
    }

    pub(super) fn forbid() -> Result<(), NoSeccomp> {
        Err(NoSeccomp::Here)
    }
}
