//! The folders of runs that the user names. A run in a pack is named like a folder,
//! `out/study/runs/ID`, and is unpacked into a temporary folder while it is read.

use std::path::{Path, PathBuf};

use super::failure::Failure;
use super::interrupt;
use super::progress::RunBar;
use mumakil_run::output::{AsideFolder, OutputError, Packs, ReplacedFiles, RunPlace};

/// Folders of runs. The unpacked ones exist until this value is dropped.
pub(super) struct Folders {
    pub(super) paths: Vec<PathBuf>,
    /// The temporary folder of the unpacked runs; it is removed when this is dropped.
    _unpacked: Option<AsideFolder>,
}

impl Folders {
    /// Finds the folders that the user has named, and unpacks packed runs. A folder that is not
    /// found keeps its path, for the error message.
    pub(super) fn of(named: &[PathBuf]) -> Result<Self, Failure> {
        let (mut paths, mut unpacked) = (Vec::new(), None);
        for (place, path) in named.iter().enumerate() {
            let Some(run) = (!path.exists()).then(|| packed(path)).transpose()?.flatten() else {
                paths.push(path.clone());
                continue;
            };
            if unpacked.is_none() {
                interrupt::guard(&RunBar::default(), "interrupted");
                let room = std::env::temp_dir().join("mumakil-unpacked");
                unpacked = Some(AsideFolder::create(&room, ReplacedFiles::Anything)?);
            }
            let room = unpacked.as_ref().expect("it was made above").path().join(place.to_string());
            // Keep the last part of the path, since the output uses it as the run's name.
            let folder = room.join(path.file_name().unwrap_or_default());
            run.copy_into(&folder)?;
            paths.push(folder);
        }
        Ok(Self { paths, _unpacked: unpacked })
    }
}

/// Returns the run of a folder that does not exist, from a pack beside it; `None` if no pack has
/// it.
fn packed(folder: &Path) -> Result<Option<RunPlace>, OutputError> {
    let (Some(runs), Some(id)) = (folder.parent(), folder.file_name()) else { return Ok(None) };
    // The parent folder is missing, too: the caller reports the path that the user typed.
    let Ok(entries) = std::fs::read_dir(runs) else { return Ok(None) };
    let names = entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned());
    let mut packs = Packs::default();
    packs.refresh(runs, &names.collect::<Vec<_>>())?;
    Ok(packs.get(&id.to_string_lossy()).map(RunPlace::Packed))
}
