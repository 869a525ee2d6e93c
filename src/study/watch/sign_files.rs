//! Keeps signs of life in files: `at-work/` has a file for each process.
//!
//! Each new sign is a new file that replaces the last one. The process holds a lock on its newest
//! file, and the system frees the lock when the process ends. A reader cannot block a process,
//! since the next sign is another file.

use std::fs::{self, File};
use std::io::{Read, Write};
use std::path::Path;

use crate::run::store::{AT_WORK, clear, visible};
use crate::watch::life_sign::{Life, SILENT_AFTER, SignLock, SlowRun, WallInstant, WriterState};
use mumakil_base::files;
use mumakil_run::output::{AsideFile, OutputError, ReplacedFiles, lock_of, machine};

/// A sign of life, and the state of its process.
#[derive(Clone, Debug)]
pub struct LifeSign {
    /// The content of the sign.
    pub life: Life,
    /// The state of the process.
    pub fate: WriterState,
}

/// The file name, without extension, of the sign of a process that has a study's folder for itself.
pub const ALONE: &str = "whole";

/// Writes a sign of life into a study's folder, under a name. Returns the locked file, or `None` if
/// the file could not be locked. The process counts as living while it keeps the file open.
pub fn write_sign(folder: &Path, name: &str, life: &Life) -> Result<Option<File>, OutputError> {
    let target = folder.join(AT_WORK).join(file(name));
    let mut aside = AsideFile::create(&target, ReplacedFiles::Anything)?;
    let mut text = serde_json::to_string_pretty(life).expect("names and numbers are JSON");
    text.push('\n');
    let written = aside.file().write_all(text.as_bytes());
    written.map_err(|source| OutputError::Write { path: target, source })?;
    Ok(aside.put_locked()?.1)
}

/// Returns the signs in a study's folder, in the order in which their processes began. Skips files
/// that cannot be read as signs, such as signs of other versions.
pub fn signs(folder: &Path, now: WallInstant) -> Result<Vec<LifeSign>, OutputError> {
    let folder = folder.join(AT_WORK);
    let mut signs = Vec::new();
    for name in visible(&folder)? {
        let Some((life, hold)) = read(&folder.join(name)) else { continue };
        let fate = life.writer_state(hold, is_here(&life), now);
        signs.push(LifeSign { life, fate });
    }
    // Sort, so that the list does not jump while a user watches: the order of a folder's entries
    // may vary.
    signs.sort_by_key(|LifeSign { life, .. }| (life.began, life.machine.clone(), life.pid));
    Ok(signs)
}

/// Returns the state of the process whose sign a claim names. If the sign cannot be read, the age
/// of the claim decides.
pub(crate) fn writer_state_of(
    folder: &Path,
    name: &str,
    claim: &Path,
    now: WallInstant,
) -> WriterState {
    if let Some((life, hold)) = read(&folder.join(AT_WORK).join(file(name))) {
        return life.writer_state(hold, is_here(&life), now);
    }
    // `metadata` would fail: the claim is a link whose target does not exist.
    let made = fs::symlink_metadata(claim).and_then(|about| about.modified());
    match made.map(|made| made.elapsed().unwrap_or_default()) {
        Ok(age) if age <= SILENT_AFTER => WriterState::AtWork,
        _ => WriterState::Silent,
    }
}

/// Removes the signs of all processes that worked in a study's folder before, and returns their
/// slowest runs.
pub fn take_over(folder: &Path) -> Result<Vec<SlowRun>, OutputError> {
    let (folder, own) = (folder.join(AT_WORK), file(ALONE));
    let mut slow = Vec::new();
    for name in visible(&folder)? {
        slow.extend(read(&folder.join(name)).into_iter().flat_map(|(life, _)| life.slowest));
    }
    clear(&folder, |name| name.ends_with(".json") && name != own)?;
    Ok(slow)
}

/// Returns whether a sign comes from a process on this machine.
fn is_here(life: &Life) -> bool {
    // A sign from a machine without a name may come from any machine.
    life.machine.is_some() && life.machine == machine()
}

fn read(path: &Path) -> Option<(Life, SignLock)> {
    if path.extension().is_none_or(|ending| ending != "json") {
        return None;
    }
    let (mut file, mut text) = (files::open_own(path).ok()?, String::new());
    file.read_to_string(&mut text).ok()?;
    let life = serde_json::from_str(&text).ok()?;
    let hold = match lock_of(&file) {
        Some(true) => SignLock::Held,
        Some(false) => SignLock::Free,
        None => SignLock::Unknown,
    };
    Some((life, hold))
}

fn file(name: &str) -> String {
    format!("{name}.json")
}

/// Frees the lock of a sign, as the end of its process does. To close the file is not enough: a
/// program that another test is starting at this moment has a copy of it until it runs.
#[cfg(test)]
pub(crate) fn end_of_writer(sign: Option<File>) {
    sign.expect("the file system has locks").unlock().expect("the lock was held");
}

#[cfg(test)]
mod tests {
    use tempfile::TempDir;

    use super::*;
    use crate::watch::life_sign::End;

    fn life(pid: u32) -> Life {
        Life::begin(machine(), pid, WallInstant::of_millis(0))
    }

    fn slow(run: &str) -> SlowRun {
        SlowRun { run: run.to_owned(), what: String::new(), took_s: 1.0 }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_process_without_its_lock_is_gone() {
        let room = TempDir::new().unwrap();
        let fate = || {
            let signs = signs(room.path(), WallInstant::of_millis(0)).unwrap();
            signs.iter().map(|sign| sign.fate).collect::<Vec<_>>()
        };
        assert_eq!(fate(), []);
        let first = write_sign(room.path(), ALONE, &life(1)).unwrap();
        assert_eq!(fate(), [WriterState::AtWork]);
        // A reader has the first sign open. The next sign is another file, so the reader does not
        // block the process.
        let seen = File::open(room.path().join("at-work/whole.json")).unwrap();
        assert_eq!(lock_of(&seen), Some(true));
        let second = write_sign(room.path(), ALONE, &life(1)).unwrap();
        end_of_writer(first);
        assert_eq!((fate(), lock_of(&seen)), (vec![WriterState::AtWork], Some(false)));
        end_of_writer(second);
        assert_eq!(fate(), [WriterState::Gone]);
        let mut last = life(1);
        last.ends(End::Done, None);
        write_sign(room.path(), ALONE, &last).unwrap();
        assert_eq!(fate(), [WriterState::Ended(End::Done)]);
    }

    #[cfg(unix)]
    #[test]
    fn a_named_pipe_is_no_sign_of_life() {
        let room = TempDir::new().unwrap();
        std::fs::create_dir(room.path().join(AT_WORK)).unwrap();
        let pipe = room.path().join(AT_WORK).join("whole.json");
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        let (told, tells) = crossbeam_channel::bounded(1);
        let folder = room.path().to_owned();
        std::thread::spawn(move || {
            let found = signs(&folder, WallInstant::of_millis(0)).map(|signs| signs.len());
            told.send(found.ok())
        });
        let found = tells.recv_timeout(std::time::Duration::from_secs(10));
        assert_eq!(found, Ok(Some(0)), "the pipe has no writer, so opening it waits for ever");
    }

    #[test]
    fn a_process_that_is_alone_takes_over_from_all() {
        let room = TempDir::new().unwrap();
        for (pid, run) in [(1, "a"), (2, "b")] {
            let mut life = life(pid);
            life.knows_slow([slow(run)]);
            write_sign(room.path(), &life.name(), &life).unwrap();
        }
        assert_eq!(signs(room.path(), WallInstant::of_millis(0)).unwrap().len(), 2);
        fs::write(room.path().join("at-work/notes.txt"), "mine").unwrap();
        fs::write(room.path().join("at-work/3-of-9.json"), "half").unwrap();
        let slow = take_over(room.path()).unwrap().into_iter();
        let mut runs: Vec<String> = slow.map(|slow| slow.run).collect();
        runs.sort_unstable();
        assert_eq!(runs, ["a", "b"]);
        assert_eq!(visible(&room.path().join(AT_WORK)).unwrap(), ["notes.txt"]);
    }

    #[test]
    fn a_claim_without_a_sign_is_believed_while_it_is_young() {
        let room = TempDir::new().unwrap();
        let claim = room.path().join("claim");
        fs::write(&claim, "").unwrap();
        let fate = || writer_state_of(room.path(), "", &claim, WallInstant::now());
        assert_eq!(fate(), WriterState::AtWork);
        let old = std::time::SystemTime::UNIX_EPOCH;
        File::options().write(true).open(&claim).unwrap().set_modified(old).unwrap();
        assert_eq!(fate(), WriterState::Silent);
    }
}
