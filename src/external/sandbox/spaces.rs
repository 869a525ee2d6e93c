//! A world of its own for a policy: of processes, of what processes share, and of files.
//!
//! ```text
//! launcher   unshare: users (if it is not root), processes, IPC
//!   child    number 1 of its processes; unshare: mounts
//!            a new root: an empty one, in which the readable files are mounted at their places
//! ```
//! A system may refuse each of these; then the score names what is missing.

use std::env;
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use rustix::fs::CWD;
use rustix::mount::{
    MountFlags, MountPropagationFlags, MoveMountFlags, OpenTreeFlags, UnmountFlags, mount,
    mount_change, move_mount, open_tree, unmount,
};
use rustix::process::{getegid, geteuid, pivot_root};
use rustix::thread::{CapabilitySet, CapabilitySets, UnshareFlags};

use mumakil_base::disk;

/// The folders over one of which the new root is mounted until it is the root.
const PLACES: [&str; 3] = ["/tmp", "/mnt", "/var"];

/// Gives the children of this process processes, queues and shared memory of their own. Returns
/// whether the system lets it.
pub(super) fn own_processes() -> bool {
    let (user, group) = (geteuid().as_raw(), getegid().as_raw());
    let own = UnshareFlags::NEWPID | UnshareFlags::NEWIPC;
    // Root needs no users of its own; others may do this only among users of their own.
    if unshare(own).is_ok() {
        return true;
    }
    if unshare(own | UnshareFlags::NEWUSER).is_err() {
        return false;
    }
    // Without these the child would have no rights over its mounts, which `new_root` notices.
    for (name, words) in [
        ("setgroups", "deny".to_owned()),
        ("uid_map", format!("0 {user} 1")),
        ("gid_map", format!("0 {group} 1")),
    ] {
        let _ = disk::write(&Path::new("/proc/self").join(name), words.as_bytes());
    }
    true
}

/// Leaves only these files in sight, each at its place.
pub(super) fn new_root(files: &[PathBuf], folders: &[PathBuf]) -> io::Result<()> {
    unshare(UnshareFlags::NEWNS)?;
    // Nothing that is mounted from here on is seen outside.
    mount_change("/", MountPropagationFlags::PRIVATE | MountPropagationFlags::REC)?;
    let here = env::current_dir()?;
    let place = PLACES.iter().map(Path::new).find(|place| place.is_dir());
    let place = place.ok_or(io::ErrorKind::NotFound)?;
    let seen = files.iter().filter(|path| !path.starts_with("/proc"));
    let seen = seen.map(|path| Ok((path, path.is_dir(), copy(path)?)));
    // Before the new root hides any.
    let seen = seen.collect::<io::Result<Vec<_>>>()?;
    let processes = copy(Path::new("/proc"))?;
    mount("none", place, "tmpfs", MountFlags::NOSUID | MountFlags::NODEV, None)?;
    let fill = || {
        for (path, is_folder, tree) in &seen {
            let inside = inside(place, path);
            match is_folder {
                true => disk::create_dir_all(&inside)?,
                false => {
                    disk::create_dir_all(inside.parent().unwrap_or(place))?;
                    disk::write(&inside, b"")?;
                }
            }
            attach(tree, &inside)?;
        }
        for folder in folders.iter().chain([&here]) {
            disk::create_dir_all(&inside(place, folder))?;
        }
        let own = place.join("proc");
        disk::create_dir_all(&own)?;
        let flags = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC;
        // A container may refuse its own processes: then those of the system are there, and
        // Landlock hides them.
        mount("proc", &own, "proc", flags, None).or_else(|_| attach(&processes, &own))?;
        env::set_current_dir(place)?;
        Ok(pivot_root(".", ".")?)
    };
    if let Err(error) = fill() {
        let _ = env::set_current_dir(&here);
        unmount(place, UnmountFlags::DETACH)?;
        return Err(error);
    }
    // Of the two that lie at the same place, the old root is the upper one.
    unmount(".", UnmountFlags::DETACH)?;
    env::set_current_dir(here)
}

/// Leaves this process, and the program that it becomes, no right of root but to other users' files:
/// Landlock says which.
pub(super) fn drop_rights() {
    let Ok(has) = rustix::thread::capabilities(None) else { return };
    let files = CapabilitySet::DAC_READ_SEARCH | CapabilitySet::DAC_OVERRIDE;
    let left = has.permitted & files;
    let sets =
        CapabilitySets { effective: left, permitted: left, inheritable: CapabilitySet::empty() };
    // To have fewer rights is always allowed.
    let _ = rustix::thread::set_capabilities(None, sets);
    // Otherwise a program that root starts would have all of them again.
    let _ = rustix::thread::set_no_new_privs(true);
}

#[expect(deprecated, reason = "it is safe for all flags but FILES, which is not used")]
fn unshare(what: UnshareFlags) -> io::Result<()> {
    Ok(rustix::thread::unshare(what)?)
}

/// Returns a copy of what is mounted at a path, to attach it elsewhere.
fn copy(path: &Path) -> io::Result<OwnedFd> {
    use OpenTreeFlags as Flags;
    let flags = Flags::OPEN_TREE_CLONE | Flags::OPEN_TREE_CLOEXEC | Flags::AT_RECURSIVE;
    Ok(open_tree(CWD, path, flags)?)
}

fn attach(tree: &OwnedFd, at: &Path) -> io::Result<()> {
    Ok(move_mount(tree, "", CWD, at, MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH)?)
}

fn inside(root: &Path, path: &Path) -> PathBuf {
    root.join(path.strip_prefix("/").unwrap_or(path))
}
