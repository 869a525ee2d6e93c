//! The files that a policy may read: its own, and those of the system that any program needs.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

/// The folders and files of the system that any program may read, as far as they exist.
const SYSTEM: [&str; 35] = [
    "/usr",
    "/lib",
    "/lib32",
    "/lib64",
    "/bin",
    "/sbin",
    "/opt",
    "/nix",
    "/etc/alternatives",
    "/etc/crypto-policies",
    "/etc/gai.conf",
    "/etc/ld.so.cache",
    "/etc/ld.so.preload",
    "/etc/locale.alias",
    "/etc/localtime",
    "/etc/os-release",
    "/etc/pki/tls/openssl.cnf",
    "/etc/ssl/openssl.cnf",
    "/etc/timezone",
    "/dev/null",
    "/dev/random",
    "/dev/urandom",
    "/proc/cpuinfo",
    "/proc/meminfo",
    "/proc/self/cgroup",
    "/proc/self/fd",
    "/proc/self/limits",
    "/proc/self/maps",
    "/proc/self/mountinfo",
    "/proc/self/stat",
    "/proc/self/statm",
    "/proc/self/status",
    "/proc/self/task",
    "/proc/sys/vm/overcommit_memory",
    "/sys/devices/system",
];
/// The beginnings of the names in `/etc` under which systems keep files of interpreters.
const INTERPRETERS: [&str; 4] = ["java", "python3", "julia", "R"];
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

/// The files that a policy may read.
pub(super) struct ReadableFiles {
    /// Files, and folders with all that is in them; none lies in another.
    pub(super) whole: Vec<PathBuf>,
    /// Folders whose names may be listed.
    pub(super) listed: Vec<PathBuf>,
}

impl ReadableFiles {
    /// Returns what a command needs: the system's files, the program's, and those that are named.
    pub(super) fn of(command: &[OsString]) -> Self {
        let mut whole: Vec<PathBuf> = SYSTEM.iter().map(PathBuf::from).collect();
        let of_interpreter = |name: &str| INTERPRETERS.iter().any(|one| name.starts_with(one));
        whole.extend(fs::read_dir("/etc").into_iter().flatten().flatten().filter_map(|entry| {
            of_interpreter(&entry.file_name().to_string_lossy()).then(|| entry.path())
        }));
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
            if let Some(link) = found.find(|path| path.is_file()) {
                // Its modules lie beside the program, or beside a link to it.
                for hop in hops(link) {
                    whole.extend(installed_in(&hop));
                    whole.push(hop);
                }
            }
        }
        let mut listed = Vec::new();
        for file in command.iter().map(PathBuf::from).filter(|path| path.is_file()) {
            let file = std::path::absolute(&file).unwrap_or(file);
            // An interpreter looks into the folder of its script for modules.
            listed.extend(file.parent().map(Path::to_owned));
            whole.extend(hops(file));
        }
        Self { whole: outermost(whole), listed }
    }
}

/// Returns the paths that exist and lie in no other one.
fn outermost(mut paths: Vec<PathBuf>) -> Vec<PathBuf> {
    paths.retain(|path| path.is_absolute() && path.exists());
    paths.sort();
    let mut outer: Vec<PathBuf> = Vec::new();
    for path in paths {
        if !outer.iter().any(|folder| path.starts_with(folder)) {
            outer.push(path);
        }
    }
    outer
}

/// Returns a file, and what it is a link to, step by step.
fn hops(file: PathBuf) -> Vec<PathBuf> {
    let mut all = vec![file];
    // Chosen: the system itself follows 40 links.
    while let Some(to) =
        all.last().and_then(|link| Some(link.parent()?.join(link.read_link().ok()?)))
        && all.len() <= 40
    {
        all.push(to);
    }
    all.extend(all[0].canonicalize());
    all
}

/// Returns the folder in which a program is installed, with its modules; `None` if it stands alone.
fn installed_in(program: &Path) -> Option<PathBuf> {
    let folder = program.parent().filter(|folder| folder.ends_with("bin"))?.parent()?;
    let is_all =
        folder.parent().is_none() || env::var_os("HOME").is_some_and(|home| home == *folder);
    (!is_all).then(|| folder.to_owned())
}
