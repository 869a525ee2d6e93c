//! Brings the files that a study's scenarios name into the study's folder.
//!
//! ```text
//! study.yaml    names ../traces/fb.tsv
//! its folder    files/3f9a81c2…-fb.tsv -> /data/traces/fb.tsv    a link, or a copy
//! ```
//! The name in `files/` begins with the first digits of the file's SHA-256, so that a run can find
//! the file ([`files::kept`]). A file that has changed since the study was planned is refused.

use std::fs;
use std::io::{self, Write};
use std::path::Path;

use sha2::{Digest, Sha256};

use crate::plan::named_files::NamedFile;
use mumakil_base::disk;
use mumakil_base::files::{self, KEPT};
use mumakil_core::trace::{TraceError, hex};
use mumakil_run::output::{AsideFile, OutputError, ReplacedFiles};

/// The files that are copied into a study's folder. The other files get links, if the system has
/// links.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BroughtFiles {
    /// No file.
    Links,
    /// Files that lie on another file system than the folder.
    FromElsewhere,
    /// All files.
    All,
}

/// A reason why a file cannot be brought into the folder.
#[derive(Debug, thiserror::Error)]
pub enum BringError {
    /// The file cannot be read, or has changed.
    #[error(transparent)]
    File(#[from] TraceError),
    /// The copy or link cannot be written.
    #[error(transparent)]
    Output(#[from] OutputError),
}

/// Brings files into a study's folder, as copies or links.
pub(crate) fn bring(
    named: &[NamedFile],
    folder: &Path,
    which: BroughtFiles,
) -> Result<(), BringError> {
    for file in named {
        let called = file.pinned().path;
        // A path without a file name cannot be kept; the run that reads it fails with its own
        // message.
        let Some(name) = files::kept_name(&called, &file.sha256) else { continue };
        let target = folder.join(KEPT).join(name);
        let is_copied = match which {
            BroughtFiles::All => true,
            BroughtFiles::FromElsewhere => !same_device(&file.place, folder)
                .map_err(|source| TraceError::Read { path: file.place.clone(), source })?,
            BroughtFiles::Links => !cfg!(unix),
        };
        // If a link is wanted, an existing copy is enough. If a copy is wanted, an existing link is
        // not.
        let is_there = fs::symlink_metadata(&target)
            .is_ok_and(|found| if is_copied { found.is_file() } else { target.exists() });
        if is_there {
            continue;
        }
        if is_copied {
            copy(file, &target)?;
        } else {
            link(&file.place, &target)
                .map_err(|source| OutputError::Write { path: target, source })?;
        }
    }
    Ok(())
}

/// Copies a file with its permissions; returns an error if its content has changed.
fn copy(file: &NamedFile, target: &Path) -> Result<(), BringError> {
    let unread = |source| TraceError::Read { path: file.place.clone(), source };
    let unwritten = |source| OutputError::Write { path: target.to_owned(), source };
    let mut from = files::open(&file.place).map_err(unread)?;
    // Write a hidden file first: a half-written copy would be taken for a whole one.
    let mut aside = AsideFile::create(target, ReplacedFiles::Anything)?;
    let (mut hash, mut buffer) = (Sha256::new(), vec![0; 1 << 16]);
    loop {
        let count = io::Read::read(&mut from, &mut buffer).map_err(unread)?;
        if count == 0 {
            break;
        }
        hash.update(&buffer[..count]);
        aside.file().write_all(&buffer[..count]).map_err(unwritten)?;
    }
    let found = hex(&hash.finalize());
    if !found.eq_ignore_ascii_case(&file.sha256) {
        let (path, expected) = (file.place.clone(), file.sha256.clone());
        return Err(TraceError::Changed { path, expected, found }.into());
    }
    let rights = from.metadata().map_err(unread)?.permissions();
    aside.permit(rights).map_err(unwritten)?;
    Ok(aside.put().map(drop)?)
}

/// Makes a link to a file. Replaces a broken link, and keeps anything else that has the link's
/// name.
fn link(place: &Path, target: &Path) -> io::Result<()> {
    let parent = target.parent().expect("it is in a folder");
    disk::create_dir_all(parent)?;
    // Make the path absolute: a relative link would start from `files/`, not from the user's
    // folder.
    let place = fs::canonicalize(place)?;
    // Ignore a link that another process of the same study has just made. A broken link is old, so
    // replace it.
    disk::change(target, || match symlink(&place, target) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists && !target.exists() => {
            fs::remove_file(target)?;
            symlink(&place, target)
        }
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        done => done,
    })
}

#[cfg(unix)]
fn symlink(place: &Path, target: &Path) -> io::Result<()> {
    std::os::unix::fs::symlink(place, target)
}

#[cfg(not(unix))]
fn symlink(place: &Path, target: &Path) -> io::Result<()> {
    fs::copy(place, target).map(drop)
}

/// Returns whether two paths lie on the same file system; `false` where the system cannot tell.
#[cfg(unix)]
fn same_device(one: &Path, other: &Path) -> io::Result<bool> {
    use std::os::unix::fs::MetadataExt;
    Ok(fs::metadata(one)?.dev() == fs::metadata(other)?.dev())
}

#[cfg(not(unix))]
fn same_device(_: &Path, _: &Path) -> io::Result<bool> {
    Ok(false)
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use tempfile::TempDir;

    use super::*;
    use mumakil_core::trace::sha256_of;

    /// Returns a temporary folder with a file and a study's folder in it, the path of the study's
    /// folder, and the entry of the file.
    fn room() -> (TempDir, PathBuf, NamedFile) {
        let room = TempDir::new().unwrap();
        let place = room.path().join("jobs.csv");
        fs::write(&place, "one").unwrap();
        let study = room.path().join("study");
        fs::create_dir(&study).unwrap();
        let sha256 = sha256_of(&place).unwrap();
        let file = NamedFile { name: "far/jobs.csv".into(), path: None, sha256, place };
        (room, study, file)
    }

    /// Returns the place where a study keeps a file, found by name and hash.
    fn kept(study: &Path, file: &NamedFile) -> PathBuf {
        let kept = files::kept(study, &file.name, &file.sha256).unwrap();
        assert_eq!(kept, study.join(KEPT).join(format!("{}-jobs.csv", &file.sha256[..16])));
        // A search from a folder inside the study's folder finds the same place.
        assert_eq!(
            files::kept(&study.join("runs/1"), &file.name, &file.sha256),
            Some(kept.clone())
        );
        kept
    }

    #[test]
    fn reachable_files_are_linked_until_they_are_to_be_copied() {
        let (_room, study, file) = room();
        let named = [file.clone()];
        let is_link = || fs::symlink_metadata(kept(&study, &file)).unwrap().is_symlink();
        bring(&named, &study, BroughtFiles::Links).unwrap();
        assert_eq!(is_link(), cfg!(unix));
        // The file and the study lie on the same file system.
        bring(&named, &study, BroughtFiles::FromElsewhere).unwrap();
        assert_eq!(is_link(), cfg!(unix));
        bring(&named, &study, BroughtFiles::All).unwrap();
        assert!(!is_link());
        bring(&named, &study, BroughtFiles::Links).unwrap();
        assert!(!is_link(), "copy kept");
        assert_eq!(fs::read_to_string(kept(&study, &file)).unwrap(), "one");
    }

    #[test]
    fn changed_files_are_not_brought() {
        let (_room, study, file) = room();
        fs::write(&file.place, "two").unwrap();
        let refused = bring(&[file], &study, BroughtFiles::All).unwrap_err();
        assert!(refused.to_string().contains("has changed: its SHA-256 is"), "{refused}");
        assert_eq!(fs::read_dir(study.join(KEPT)).unwrap().count(), 0);
    }

    #[cfg(unix)]
    #[test]
    fn a_program_that_is_copied_may_be_run() {
        use std::os::unix::fs::PermissionsExt;
        let (_room, study, file) = room();
        fs::set_permissions(&file.place, fs::Permissions::from_mode(0o755)).unwrap();
        bring(std::slice::from_ref(&file), &study, BroughtFiles::All).unwrap();
        let rights = fs::metadata(kept(&study, &file)).unwrap().permissions();
        assert_eq!(rights.mode() & 0o777, 0o755);
    }

    #[cfg(unix)]
    #[test]
    fn a_link_that_leads_nowhere_gives_way() {
        let (_room, study, file) = room();
        fs::create_dir(study.join(KEPT)).unwrap();
        let target = study.join(KEPT).join(files::kept_name(&file.name, &file.sha256).unwrap());
        symlink(Path::new("/nowhere/jobs.csv"), &target).unwrap();
        bring(std::slice::from_ref(&file), &study, BroughtFiles::Links).unwrap();
        assert_eq!(fs::read_to_string(kept(&study, &file)).unwrap(), "one");
    }
}
