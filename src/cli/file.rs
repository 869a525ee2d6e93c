//! The file that a command writes for its `--out`.

use std::io;
use std::path::Path;

use super::failure::Failure;
use super::interrupt;
use super::progress::RunBar;
use mumakil_base::disk::File;
use mumakil_run::output::{AsideFile, OutputError, ReplacedFiles};

/// Writes a file; `fill` writes its content. An existing file is replaced only with `force`.
pub fn write(
    target: &Path,
    force: bool,
    fill: impl FnOnce(&mut File) -> io::Result<()>,
) -> Result<(), Failure> {
    interrupt::guard(&RunBar::default(), ", nothing was written");
    let over = if force { ReplacedFiles::Anything } else { ReplacedFiles::Nothing };
    let failure = |error| match error {
        OutputError::Exists { .. } => exists(target),
        OutputError::Write { source, .. } => cannot(target, source),
        error => error.into(),
    };
    // Hide the file until it is whole: an interrupted command leaves the old file as it was.
    let mut aside = AsideFile::create(target, over).map_err(failure)?;
    fill(aside.file()).map_err(|error| cannot(target, error))?;
    aside.put().map(drop).map_err(failure)
}

/// Returns the failure for a file that exists already.
pub fn exists(target: &Path) -> Failure {
    Failure::input(format!("{} exists already (--force replaces it)", target.display()))
}

/// Returns the failure for a file that cannot be written.
pub fn cannot(target: &Path, error: io::Error) -> Failure {
    let kind = error.kind();
    let error = anyhow::Error::new(error).context(format!("cannot write {}", target.display()));
    // If the path names a folder, or no file can have the name, the user has made a mistake; other
    // errors come from the system.
    match kind {
        io::ErrorKind::InvalidInput | io::ErrorKind::IsADirectory => Failure::Input(error),
        _ => Failure::Environment(error),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::Write as _;

    use super::*;

    #[test]
    fn a_file_is_replaced_only_by_force() {
        let room = tempfile::TempDir::new().unwrap();
        let target = room.path().join("deep/page.html");
        let put = |text: &str, force| write(&target, force, |to| to.write_all(text.as_bytes()));
        put("1", false).unwrap();
        assert!(matches!(put("2", false), Err(Failure::Input(_))));
        assert_eq!(fs::read_to_string(&target).unwrap(), "1");
        put("3", true).unwrap();
        assert_eq!(fs::read_to_string(&target).unwrap(), "3");
        assert_eq!(fs::read_dir(room.path().join("deep")).unwrap().count(), 1);
        let folder = write(&room.path().join("deep"), true, |_| Ok(()));
        assert!(matches!(folder, Err(Failure::Input(_))), "{folder:?}");
    }
}
