//! `STUDY` on the command line: a file, a name, or the folder of a study's results.

use std::path::{Path, PathBuf};

use crate::failure::Failure;
use mumakil_base::files::{STUDY, STUDY_RESOLVED};
use mumakil_base::shell::{quoted, quoted_path};
use mumakil_core::mapred::ProgramPermit;
use mumakil_scenario::Registry;
use mumakil_study::BringError;

/// Returns the file or name of a study, and the folder of its results if that is known already.
pub(super) fn find(
    study: PathBuf,
    out: Option<PathBuf>,
) -> Result<(PathBuf, Option<PathBuf>), Failure> {
    let file = study.join(STUDY_RESOLVED);
    if file.is_file() {
        return Ok((file, out.or(Some(study))));
    }
    // A folder without results may have the name of a bundled study: take that study.
    let is_name =
        study.to_str().is_some_and(|name| mumakil_scenario::Starter::find(name).is_some());
    if is_name || !study.is_dir() {
        return Ok((study, out));
    }
    let shown = study.display();
    Err(Failure::input(match study.join(STUDY).is_file() {
        true => format!(
            "{shown} has a study's results, but no {STUDY_RESOLVED}, which says how to go on; start it \
             with the study's file: `mumakil study STUDY.yaml --out {}`",
            quoted_path(&study)
        ),
        false => format!(
            "{shown} is a folder without a study: there is no {STUDY_RESOLVED} in it; give the file of a \
             study, or the folder of its results"
        ),
    }))
}

/// Returns the registry for a study from [`find`]. If the study comes from a folder of results, no
/// program that it names is started unless the user trusts it: the results may be somebody else's.
pub(super) fn registry(study: &Path, registry: &Registry) -> Registry {
    let mut registry = registry.clone();
    if study.ends_with(STUDY_RESOLVED) && !registry.permit().is_trusting() {
        registry.permit_programs(ProgramPermit::Refused(
            "results may be somebody else's, so `--external` is needed to start their programs",
        ));
    }
    registry
}

/// Returns the command line of this process, in a form that can be typed again.
pub fn command() -> String {
    let mut words = std::env::args_os().map(|word| word.to_string_lossy().into_owned());
    let path = words.next().unwrap_or_default();
    let program = Path::new(&path).file_name().unwrap_or_default().to_string_lossy();
    let words = std::iter::once(program.into_owned()).chain(words);
    words.map(|word| quoted(&word)).collect::<Vec<_>>().join(" ")
}

impl From<BringError> for Failure {
    fn from(error: BringError) -> Self {
        match error {
            BringError::File(error) => error.into(),
            BringError::Output(error) => error.into(),
        }
    }
}
