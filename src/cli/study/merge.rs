//! `mumakil study merge`: the parts of a study, done on several machines, become one.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::{AtWork, outcome};
use crate::cli::failure::Failure;
use crate::cli::progress::Bar;
use crate::cli::{terminal, verdicts};
use crate::disk;
use crate::files::REPORT;
use crate::output::OutputError;
use crate::study::{
    Concluded, End, Shard, Share, Sheet, Stamp, Store, conclude, failed, read_sheet, signs,
    write_sheet,
};
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
        let at_work = AtWork::default();
        at_work.guard(&Bar::new());
        let store = Store::of(&self.out);
        let _claim = store.claim(&sheet.study, Share::Alone)?;
        // What is copied is known to be of this study, should it not be all of it yet.
        write_sheet(&sheet, &self.out)?;
        let _signs = at_work.begin(self.out.clone(), Shard::WHOLE)?;
        for part in &self.parts {
            at_work.knows_slow(signs(part, Stamp::now())?);
        }
        let merged = self.merge(&sheet, &store, &at_work);
        if let Err(failure) = &merged {
            // That it failed is told anyway.
            let _ = at_work.ends(End::Failed, Some(failure.words()));
        }
        merged
    }

    /// Copies the runs and concludes.
    fn merge(&self, sheet: &Sheet, store: &Store, at_work: &AtWork) -> Result<(), Failure> {
        let parts: Vec<Store> = self.parts.iter().map(|part| Store::of(part)).collect();
        let (mut missing, mut failed) = (0, Vec::new());
        let told = parts.iter().map(|part| Ok((part, failed::read(part)?)));
        let told = told.collect::<Result<Vec<_>, OutputError>>()?;
        for id in sheet.runs().filter(|id| !store.has(id)) {
            if let Some(part) = parts.iter().find(|part| part.has(id)) {
                copy(part, store, id)?;
                failed::forget(store, id);
            } else if let Some((part, _)) = told.iter().find(|(_, told)| told.contains_key(id)) {
                if part.folder() != store.folder() {
                    failed::copy(part, store, id)?;
                }
                if !failed.contains(&id) {
                    failed.push(id);
                }
            } else {
                missing += 1;
            }
        }
        failed::forget_all_but(store, &failed)?;
        let runs = sheet.runs().count();
        at_work.has(runs, runs - missing as usize - failed.len())?;
        if 0 < missing {
            let mut words = format!(
                "{} of {} missing; do the other parts, or all of it with `mumakil study`",
                counted(missing, "run"),
                sheet.runs().count()
            );
            if !failed.is_empty() {
                let failures = outcome::failed(&failed, store, false)?.words();
                words += &format!("\n  {}", failures.replace('\n', "\n  "));
            }
            return Err(Failure::run(words));
        }
        if !failed.is_empty() {
            let rest = sheet.without(&failed);
            if let Some(rest) = &rest {
                conclude(rest, store, &self.out)?;
            }
            at_work.ends(End::Done, None)?;
            return Err(outcome::failed(&failed, store, rest.is_some())?);
        }
        let Concluded { findings, .. } = conclude(sheet, store, &self.out)?;
        at_work.ends(End::Done, None)?;
        let wrote = terminal::wrote(&self.out, REPORT);
        terminal::print(&(outcome::tell(sheet, &findings) + wrote))?;
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
