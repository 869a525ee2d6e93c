//! Where signs of life are kept: `at-work/`, a file for each part of a study.
//!
//! A sign is replaced as a whole, and who writes it holds the lock of the latest one, which goes with
//! its process. To look at it keeps nobody from work: the next sign is another file.

use std::fs::{self, File};
use std::io::{Read, Write};
use std::path::Path;

use super::life::{Hold, Life, Slow};
use super::store::{AT_WORK, clear, visible};
use super::{Fate, Shard, Stamp};
use mumakil_run::output::{AsideFile, OutputError, Over, lock_of, machine};

/// A sign of life, and what becomes of who gave it.
#[derive(Clone, Debug)]
pub struct Sign {
    /// What it says.
    pub life: Life,
    /// What becomes of the process.
    pub fate: Fate,
}

/// Writes a sign of life into a study's folder; returns the lock that says that it is ours.
///
/// # Errors
/// If it cannot be written.
pub fn write_sign(folder: &Path, life: &Life) -> Result<Option<File>, OutputError> {
    let target = folder.join(AT_WORK).join(name(life.shard()));
    let mut aside = AsideFile::create(&target, Over::Anything)?;
    let mut text = serde_json::to_string_pretty(life).expect("names and numbers are JSON");
    text.push('\n');
    let written = aside.file().write_all(text.as_bytes());
    written.map_err(|source| OutputError::Write { path: target, source })?;
    Ok(aside.put_locked()?.1)
}

/// Returns the signs in a study's folder, in the order of the parts. What is no sign of a version
/// like ours, or is gone by now, is left out.
///
/// # Errors
/// If the folder cannot be read.
pub fn signs(folder: &Path, now: Stamp) -> Result<Vec<Sign>, OutputError> {
    let (folder, here) = (folder.join(AT_WORK), machine());
    let mut signs = Vec::new();
    for name in visible(&folder)? {
        let Some((life, hold)) = read(&folder.join(name)) else { continue };
        let is_here = here.is_some() && life.machine == here;
        let fate = life.fate(hold, is_here, now);
        signs.push(Sign { life, fate });
    }
    signs.sort_by_key(|sign| (sign.life.of, sign.life.part));
    Ok(signs)
}

/// Takes over from who worked in a study's folder before, and returns the runs that took longest
/// there: of the same part, or, if nobody else is at work, of all parts, whose signs are removed.
///
/// # Errors
/// If the folder cannot be read, or a sign not be removed.
pub fn take_over(folder: &Path, shard: Shard) -> Result<Vec<Slow>, OutputError> {
    let (folder, own) = (folder.join(AT_WORK), name(shard));
    let mut slow = Vec::new();
    for name in visible(&folder)? {
        if name == own || shard == Shard::WHOLE {
            slow.extend(read(&folder.join(name)).into_iter().flat_map(|(life, _)| life.slowest));
        }
    }
    if shard == Shard::WHOLE {
        clear(&folder, |name| name.ends_with(".json") && name != own)?;
    }
    Ok(slow)
}

fn read(path: &Path) -> Option<(Life, Hold)> {
    if path.extension().is_none_or(|ending| ending != "json") {
        return None;
    }
    let (mut file, mut text) = (fs::File::open(path).ok()?, String::new());
    file.read_to_string(&mut text).ok()?;
    let life = serde_json::from_str(&text).ok()?;
    let hold = match lock_of(&file) {
        Some(true) => Hold::Held,
        Some(false) => Hold::Free,
        None => Hold::Unknown,
    };
    Some((life, hold))
}

fn name(shard: Shard) -> String {
    match shard {
        Shard::WHOLE => "whole.json".to_owned(),
        Shard { index, count } => format!("{}-of-{count}.json", index + 1),
    }
}

#[cfg(test)]
mod tests {
    use tempfile::TempDir;

    use super::*;
    use crate::study::End;

    fn life(part: usize, of: usize) -> Life {
        let shard = Shard { index: part - 1, count: of };
        Life::begin(shard, machine(), 1, Stamp::of_millis(0))
    }

    fn slow(run: &str) -> Slow {
        Slow { run: run.to_owned(), what: String::new(), took_s: 1.0 }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn who_holds_no_lock_any_more_is_gone() {
        let room = TempDir::new().unwrap();
        let fate = || {
            let signs = signs(room.path(), Stamp::of_millis(0)).unwrap();
            signs.iter().map(|sign| sign.fate).collect::<Vec<_>>()
        };
        assert_eq!(fate(), []);
        let first = write_sign(room.path(), &life(1, 1)).unwrap();
        assert_eq!(fate(), [Fate::AtWork]);
        // The next sign is another file; who looked at the first holds up nobody.
        let seen = File::open(room.path().join("at-work/whole.json")).unwrap();
        assert_eq!(lock_of(&seen), Some(true));
        let second = write_sign(room.path(), &life(1, 1)).unwrap();
        drop(first);
        assert_eq!((fate(), lock_of(&seen)), (vec![Fate::AtWork], Some(false)));
        drop(second);
        assert_eq!(fate(), [Fate::Gone]);
        let mut last = life(1, 1);
        last.ends(End::Done, None);
        write_sign(room.path(), &last).unwrap();
        assert_eq!(fate(), [Fate::Ended(End::Done)]);
    }

    #[test]
    fn a_part_takes_over_from_itself_and_the_whole_from_all() {
        let room = TempDir::new().unwrap();
        for (part, run) in [(1, "a"), (2, "b")] {
            let mut life = life(part, 2);
            life.knows_slow([slow(run)]);
            write_sign(room.path(), &life).unwrap();
        }
        fs::write(room.path().join("at-work/notes.txt"), "mine").unwrap();
        fs::write(room.path().join("at-work/3-of-9.json"), "half").unwrap();
        let runs = |slow: Vec<Slow>| slow.into_iter().map(|slow| slow.run).collect::<Vec<_>>();
        let second = Shard { index: 1, count: 2 };
        assert_eq!(runs(take_over(room.path(), second).unwrap()), ["b"]);
        assert_eq!(signs(room.path(), Stamp::of_millis(0)).unwrap().len(), 2);
        let mut all = runs(take_over(room.path(), Shard::WHOLE).unwrap());
        all.sort_unstable();
        assert_eq!(all, ["a", "b"]);
        assert_eq!(visible(&room.path().join(AT_WORK)).unwrap(), ["notes.txt"]);
    }
}
