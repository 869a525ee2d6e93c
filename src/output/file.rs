//! A file of results: written aside, then put in its place at once.

use std::fs;
use std::io::Write as _;
use std::path::Path;

use tempfile::NamedTempFile;

use super::OutputError;

/// Begins a hidden file in a folder, which is made if need be.
pub(super) fn begin(folder: &Path) -> Result<NamedTempFile, OutputError> {
    let error = |source| OutputError::Write { path: folder.to_owned(), source };
    fs::create_dir_all(folder).map_err(error)?;
    let mut aside = tempfile::Builder::new();
    aside.prefix(".mumakil-");
    share(&mut aside);
    aside.tempfile_in(folder).map_err(error)
}

/// Writes a file; one that is there gives way to it.
///
/// # Errors
/// If it cannot be written.
pub fn write_file(folder: &Path, name: &str, content: &[u8]) -> Result<(), OutputError> {
    let path = folder.join(name);
    let error = |source| OutputError::Write { path: path.clone(), source };
    let mut aside = begin(folder)?;
    aside.write_all(content).map_err(error)?;
    aside.persist(&path).map(drop).map_err(|problem| error(problem.error))
}

/// Gives the file the permissions of any other, where it would be its owner's alone.
fn share(file: &mut tempfile::Builder<'_, '_>) {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        file.permissions(fs::Permissions::from_mode(0o666));
    }
    #[cfg(not(unix))]
    let _ = file;
}
