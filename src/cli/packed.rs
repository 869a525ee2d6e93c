//! Runs that a user names by their folder, `out/study/runs/ID`, though they are in a pack there.
//! They are unpacked into a temporary folder while they are read.

use std::path::{Path, PathBuf};

use super::failure::Failure;
use super::interrupt;
use super::progress::RunBar;
use crate::output::{AsideFolder, OutputError, Packs, ReplacedFiles, RunPlace};

/// Folders of runs, some of which are there only as long as this is.
pub(super) struct Folders {
    /// Where each is.
    pub(super) paths: Vec<PathBuf>,
    /// Removed when dropped.
    _unpacked: Option<AsideFolder>,
}

impl Folders {
    /// Finds the folders that a user has named. One that is not found keeps its path, for the error message.
    pub(super) fn of(named: &[PathBuf]) -> Result<Self, Failure> {
        let (mut paths, mut unpacked) = (Vec::new(), None);
        for (place, path) in named.iter().enumerate() {
            let Some(run) = (!path.exists()).then(|| packed(path)).transpose()?.flatten() else {
                paths.push(path.clone());
                continue;
            };
            if unpacked.is_none() {
                interrupt::guard(&RunBar::new(), "interrupted");
                let room = std::env::temp_dir().join("mumakil-unpacked");
                unpacked = Some(AsideFolder::create(&room, ReplacedFiles::Anything)?);
            }
            let room = unpacked.as_ref().expect("it was made above").path().join(place.to_string());
            // Keep the last part of the path, by which the output names the run.
            let folder = room.join(path.file_name().unwrap_or_default());
            run.copy_into(&folder)?;
            paths.push(folder);
        }
        Ok(Self { paths, _unpacked: unpacked })
    }
}

/// Returns the run that would be in a folder, if a pack beside it has that.
fn packed(folder: &Path) -> Result<Option<RunPlace>, OutputError> {
    let (Some(runs), Some(id)) = (folder.parent(), folder.file_name()) else { return Ok(None) };
    // No such folder either: the caller reports the path that the user has typed.
    let Ok(entries) = std::fs::read_dir(runs) else { return Ok(None) };
    let names = entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned());
    let mut packs = Packs::default();
    packs.refresh(runs, &names.collect::<Vec<_>>())?;
    Ok(packs.get(&id.to_string_lossy()).map(RunPlace::Packed))
}
