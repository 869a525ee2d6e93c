//! `mumakil study merge`: the parts of a study, done on several machines, become one.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::outcome;
use crate::cli::failure::Failure;
use crate::cli::interrupt;
use crate::cli::progress::Bar;
use crate::cli::{terminal, verdicts};
use crate::disk;
use crate::files::REPORT;
use crate::output::OutputError;
use crate::study::{Concluded, Share, Sheet, Store, conclude, read_sheet, take_over, write_sheet};
use crate::units::tell::counted;

/// Put the parts of a study together
///
/// The results are the same bytes as those of the whole study on one machine.
#[derive(Debug, clap::Args)]
pub(in crate::cli) struct Arguments {
    /// The folders of the parts
    #[arg(value_name = "DIR", required = true)]
    parts: Vec<PathBuf>,
    /// The folder for the results; may be one of the parts
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
}

impl Arguments {
    pub(super) fn run(self) -> Result<(), Failure> {
        let sheet = sheet_of(&self.parts[0])?;
        for part in &self.parts[1..] {
            if sheet_of(part)? != sheet {
                return Err(Failure::input(format!(
                    "{} and {} are parts of different studies",
                    self.parts[0].display(),
                    part.display()
                )));
            }
        }
        interrupt::guard(&Bar::new(), "interrupted; start it again to go on");
        let store = Store::of(&self.out);
        let _claim = store.claim(&sheet.study, Share::Alone)?;
        // What is copied is known to be of this study, should it not be all of it yet.
        write_sheet(&sheet, &self.out)?;
        for part in &self.parts {
            take_over(part, &self.out)?;
        }
        let parts: Vec<Store> = self.parts.iter().map(|part| Store::of(part)).collect();
        let mut missing = 0;
        for id in sheet.runs().filter(|id| !store.has(id)) {
            match parts.iter().find(|part| part.has(id)) {
                Some(part) => copy(part, &store, id)?,
                None => missing += 1,
            }
        }
        if 0 < missing {
            return Err(Failure::run(format!(
                "{} of {} missing; do the other parts, or all of it with `mumakil study`",
                counted(missing, "run"),
                sheet.runs().count()
            )));
        }
        let Concluded { findings, .. } = conclude(&sheet, &store, &self.out)?;
        let wrote = terminal::wrote(&self.out, REPORT);
        terminal::print(&(outcome::tell(&sheet, &findings) + wrote))?;
        verdicts::judge(&findings.verdicts)
    }
}

/// What cannot be read in a folder that the user has named is wrong input.
fn sheet_of(part: &Path) -> Result<Sheet, Failure> {
    read_sheet(part).map_err(|error| Failure::Input(error.into()))
}

/// Copies a run from one store to another.
fn copy(from: &Store, to: &Store, id: &str) -> Result<(), OutputError> {
    let folder = to.begin(id)?;
    copy_all(&from.place(id), folder.path())?;
    folder.commit().map(drop)
}

/// Copies what is in a folder into another.
fn copy_all(from: &Path, to: &Path) -> Result<(), OutputError> {
    let unread = |source| OutputError::Read { path: from.to_owned(), source };
    for entry in fs::read_dir(from).map_err(unread)? {
        let entry = entry.map_err(unread)?;
        let (source, target) = (entry.path(), to.join(entry.file_name()));
        let unwritten = |source| OutputError::Write { path: target.clone(), source };
        if entry.file_type().map_err(unread)?.is_dir() {
            disk::create_dir(&target).map_err(unwritten)?;
            copy_all(&source, &target)?;
        } else {
            let mut open = fs::File::open(&source)
                .map_err(|why| OutputError::Read { path: source, source: why })?;
            let mut copy = disk::File::create(&target).map_err(unwritten)?;
            io::copy(&mut open, &mut copy).map_err(unwritten)?;
        }
    }
    Ok(())
}
