//! `mumakil study merge`: puts together the parts of a study that several machines did.

use std::path::{Path, PathBuf};

use rustc_hash::FxHashSet;

use super::{AtWork, OtherMachines, outcome};
use crate::failure::Failure;
use crate::open::OpenOption;
use crate::progress::RunBar;
use crate::{Program, terminal, verdicts};
use mumakil_base::files::REPORT;
use mumakil_base::units::tell::counted;
use mumakil_run::output::OutputError;
use mumakil_study::{
    Concluded, End, FolderAccess, FolderClaim, Store, StoreForm, StudyManifest, WallInstant,
    conclude, failed, keep_as, read_manifest, signs, write_manifest,
};

/// Put the parts of a study together
///
/// The results are the same bytes as those of the whole study on one machine.
#[derive(Debug, Default, clap::Args)]
pub(crate) struct StudyMergeArguments {
    /// The folders of the parts
    #[arg(value_name = "DIR", required = true)]
    parts: Vec<PathBuf>,
    /// The folder for the results; may be one of the parts
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// How the merged runs are kept: each in a folder or in a ZIP file [default: packed in studies of
    /// more than 1,000 runs]
    #[arg(long, value_name = "FORM", value_parser = super::forms())]
    keep: Option<StoreForm>,
    /// Print nothing but errors
    #[arg(long, short)]
    quiet: bool,
    #[command(flatten)]
    open: OpenOption,
}

impl StudyMergeArguments {
    pub(super) fn run(self, program: &Program) -> Result<(), Failure> {
        let sheet = manifest_of(&self.parts[0])?;
        for part in &self.parts[1..] {
            // Compare whole manifests: parts planned by another version, or with other files, have
            // other runs.
            if manifest_of(part)? != sheet {
                return Err(Failure::input(format!(
                    "{} and {} are parts of different studies",
                    self.parts[0].display(),
                    part.display()
                )));
            }
        }
        let store = Store::of(&self.out)?;
        let form = self
            .keep
            .unwrap_or_else(|| StoreForm::usual(FolderAccess::Alone, sheet.runs().count()));
        let claim = store.claim(&sheet.study, FolderAccess::Alone, form)?;
        self.run_in(&sheet, &claim, program.elsewhere)
    }

    /// Puts the parts together in a claimed folder. Other machines may have the missing runs.
    fn run_in(
        &self,
        sheet: &StudyManifest,
        claim: &FolderClaim,
        elsewhere: Option<&dyn OtherMachines>,
    ) -> Result<(), Failure> {
        let at_work = AtWork::default();
        at_work.guard(&RunBar::default());
        // Write the manifest first: after an interrupted merge it tells which study the folder's
        // runs belong to.
        write_manifest(sheet, &self.out)?;
        let _signs = at_work.begin(self.out.clone(), FolderAccess::Alone)?;
        for part in &self.parts {
            keep_as(part, &self.out)?;
            at_work.knows_slow(signs(part, WallInstant::now())?);
        }
        let merged = self.merge(sheet, claim, &at_work, elsewhere);
        if let Err(failure) = &merged {
            // The caller reports the failure; an error in writing the sign does not matter beside
            // it.
            let _ = at_work.ends(End::Failed, Some(failure.words()));
        }
        merged
    }

    /// Copies the runs and writes the results.
    fn merge(
        &self,
        sheet: &StudyManifest,
        claim: &FolderClaim,
        at_work: &AtWork,
        elsewhere: Option<&dyn OtherMachines>,
    ) -> Result<(), Failure> {
        let store = &claim.store;
        let stores = self.parts.iter().map(|part| Store::of(part));
        let parts = stores.collect::<Result<Vec<_>, _>>()?;
        let (mut missing, mut failed, mut taken) = (0, Vec::new(), FxHashSet::default());
        let read = parts.iter().map(|part| Ok((part, failed::read(part)?)));
        let told = read.collect::<Result<Vec<_>, OutputError>>()?;
        for id in sheet.runs().filter(|id| !store.has(id)) {
            // Two cells may share a run: copy it once.
            if !taken.insert(id) {
                continue;
            }
            if let Some(run) = parts.iter().find_map(|part| part.find(id)) {
                // Check it here, where its place is the one that the user knows.
                run.check(Some(id)).map_err(outcome::unreadable)?;
                claim.take(id, &run)?;
                failed::forget(store, id);
            } else if let Some((part, _)) = told.iter().find(|(_, told)| told.contains_key(id)) {
                // No part has done the run, but this one has a note about its failure. Copy the
                // note, unless the results go into this part's own folder.
                if part.folder() != store.folder() {
                    failed::copy(part, store, id)?;
                }
                failed.push(id);
            } else {
                missing += 1;
            }
        }
        // Close the packs before `conclude` reads them: this writes their indexes.
        store.refresh()?;
        failed::keep_only(store, &failed)?;
        let runs = sheet.runs().count();
        at_work.has(runs, runs - missing as usize - failed.len())?;
        if 0 < missing {
            let again = elsewhere.map_or(Ok(None), |it| it.again(&self.out))?;
            let next = again.unwrap_or_else(|| {
                "do the other parts, or all of it with `mumakil study`".to_owned()
            });
            let (missing, all) = (counted(missing, "run"), sheet.runs().count());
            let mut words = format!("{missing} of {all} missing; {next}");
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
        if !self.quiet {
            let wrote = terminal::results_line(&self.out, REPORT);
            terminal::print(&(outcome::tell(sheet, &findings) + wrote))?;
        }
        self.open.show(&self.out.join(REPORT));
        verdicts::judge(&findings.verdicts)
    }
}

/// Writes the results of a study in a claimed folder, whose runs are all done or failed, unless other
/// machines still miss some.
pub fn conclude_all(
    claim: &FolderClaim,
    elsewhere: Option<&dyn OtherMachines>,
    quiet: bool,
) -> Result<(), Failure> {
    let out = claim.store.folder().to_owned();
    let sheet = manifest_of(&out)?;
    let parts = vec![out.clone()];
    StudyMergeArguments { parts, out, quiet, ..StudyMergeArguments::default() }
        .run_in(&sheet, claim, elsewhere)
}

/// Reads the manifest of a part; an unreadable one is invalid input, since the user has named the
/// folder.
fn manifest_of(part: &Path) -> Result<StudyManifest, Failure> {
    read_manifest(part).map_err(|error| Failure::Input(error.into()))
}
