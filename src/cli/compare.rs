//! `mumakil compare`: runs, or studies, side by side.
//!
//! ```text
//! compare out/fifo out/fair       two runs      their metrics, and job by job
//! compare out/before out/after    two studies   their metrics, in the cells of both
//!   side   reads a run or a study: its metrics by cell
//!   page   sections for the terminal; with charts the page of --out
//! ```
//! Only the folders are read; nothing is run again. `explain A B` says why two runs differ.

mod page;
mod side;

use std::collections::BTreeSet;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use self::side::ComparedSide;
use super::failure::Failure;
use super::lines::TerminalLines;
use super::open::OpenOption;
use super::packed::Folders;
use super::table::lines_of;
use super::{Program, file, terminal};
use mumakil_base::files::{RESOLVED, STUDY, SUMMARY};
use mumakil_base::units::tell::listed;
use mumakil_results::tables::{AttemptRow, ReadError, TableRow};
use mumakil_run::output::results::RunResults;
use mumakil_scenario::Registry;

/// Compare runs, or studies, with each other
///
/// Runs are compared by their metrics, and job by job where the names agree; studies by each metric
/// in the cells that all of them have. All are compared with the first.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  mumakil compare out/quickstart-42 out/quickstart-43
  mumakil compare out/fifo out/fair out/hfsp --out policies.html
  mumakil compare out/study-before out/study-after

Exit codes:
  0  done, whatever the results are
  2  a folder is neither a run nor a study, or they cannot be compared")]
pub(super) struct CompareArguments {
    /// The folders of two or more runs, or of two or more studies
    #[arg(value_name = "DIR", required = true, num_args = 2..)]
    folders: Vec<PathBuf>,
    /// Also write the comparison as a page with charts
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Replace the page if it exists
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    open: OpenOption,
}

/// The most rows of a table on a terminal; the page of `--out` has more.
const MOST_ROWS: usize = 40;

/// The kind of results in a folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FolderKind {
    Run,
    Study,
}

impl CompareArguments {
    pub(super) fn run(self, program: &Program) -> Result<(), Failure> {
        let registry = &program.registry;
        // Refuse an existing page now, before the results are read: that may take long.
        if let Some(out) = self.out.as_ref().filter(|out| !self.force && out.exists()) {
            return Err(file::exists(out));
        }
        let found = Folders::of(&self.folders)?;
        let read = match kind_of_all(&found.paths)? {
            FolderKind::Run => ComparedSide::of_run,
            FolderKind::Study => ComparedSide::of_study,
        };
        let folders = found.paths.iter().zip(names(&self.folders));
        let sides: Vec<_> =
            folders.map(|(folder, name)| read(folder, name)).collect::<Result<_, _>>()?;
        warn_of_models(&sides);
        let mut lines = of_sides(&sides)?;
        if let Some(out) = &self.out {
            let page = page::page(registry, &sides)?.html();
            file::write(out, self.force, |to| to.write_all(page.as_bytes()))?;
            self.open.show(out);
            lines.line(format!("wrote {}", out.display()));
        }
        Ok(terminal::print(&lines)?)
    }
}

/// Returns the lines about some sides.
fn of_sides(sides: &[ComparedSide]) -> Result<TerminalLines, Failure> {
    let gist =
        page::gist(sides).into_iter().map(|sentence| TerminalLines::of(format!("  {sentence}")));
    Ok(gist.sum::<TerminalLines>() + lines_of(&page::sections(sides)?, MOST_ROWS))
}

/// Warns if results are of several models.
fn warn_of_models(sides: &[ComparedSide]) {
    let models = sides
        .iter()
        .map(|ComparedSide { model: (version, model), .. }| format!("{model} (Mumakil {version})"));
    let models: BTreeSet<String> = models.collect();
    if 1 < models.len() {
        terminal::warn(&format!(
            "these are results of the models {}: what differs may come from the programs",
            listed(models, "and")
        ));
    }
}

/// Compares runs, each with its folder and its name. Returns lines and a page.
pub(super) fn of_runs(
    registry: &Registry,
    runs: &[(&Path, &str)],
) -> Result<(TerminalLines, String), Failure> {
    let mut sides = Vec::new();
    for (folder, name) in runs {
        sides.push(ComparedSide::of_run(folder, (*name).to_owned())?);
    }
    Ok((of_sides(&sides)?, page::page(registry, &sides)?.html()))
}

/// Returns the common kind of some folders; an error if their kinds differ.
fn kind_of_all(folders: &[PathBuf]) -> Result<FolderKind, Failure> {
    let first = kind_of(&folders[0])?;
    for folder in &folders[1..] {
        let other = kind_of(folder)?;
        if other != first {
            return Err(Failure::input(format!(
                "{} is {}, but {} is {}; compare runs with runs and studies with studies",
                folders[0].display(),
                first.words(),
                folder.display(),
                other.words()
            )));
        }
    }
    Ok(first)
}

/// Checks that a folder has the results of a run.
pub(super) fn expect_run(folder: &Path) -> Result<(), Failure> {
    match kind_of(folder)? {
        FolderKind::Run => Ok(()),
        FolderKind::Study => Err(Failure::input(format!(
            "{} is a study; name the folder of one of its runs",
            folder.display()
        ))),
    }
}

/// Returns an error if a run's folder lacks the table of attempts. `use_of_it` tells the user what
/// the table is needed for.
pub(super) fn expect_tasks(folder: &Path, use_of_it: &str) -> Result<(), Failure> {
    if folder.join(AttemptRow::FILE).exists() {
        return Ok(());
    }
    Err(Failure::input(format!(
        "{} has no {}\n   = {use_of_it}: run it with `--set record.tasks=true`",
        folder.display(),
        AttemptRow::FILE
    )))
}

/// The most folders named in a hint.
// Chosen: `out` may hold hundreds of runs.
const MOST_HINTS: usize = 5;

fn kind_of(folder: &Path) -> Result<FolderKind, Failure> {
    FolderKind::of(folder).ok_or_else(|| {
        let shown = folder.display();
        if !folder.exists() {
            return Failure::input(format!(
                "there is no folder {shown}\n   = name one with results, such as out/NAME-SEED"
            ));
        }
        let what = if folder.is_dir() { "holds neither a run nor a study" } else { "is no folder" };
        let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
        let paths = entries.map(|entry| entry.path());
        let mut below: Vec<PathBuf> = paths.filter(|path| FolderKind::of(path).is_some()).collect();
        below.sort();
        let below = below.iter().take(MOST_HINTS).map(|path| format!("`{}`", path.display()));
        let hint = match below.collect::<Vec<_>>().join(", ") {
            none if none.is_empty() => none,
            below => format!("\n   = it has {below}"),
        };
        Failure::input(format!("{shown} {what}{hint}"))
    })
}

impl FolderKind {
    /// Returns the kind of results in a folder; `None` if it has none.
    fn of(folder: &Path) -> Option<Self> {
        let has = |name: &str| folder.join(name).is_file();
        // Look for a study first: its folder has a summary, too.
        match has(STUDY) {
            true => Some(Self::Study),
            false => (has(RESOLVED) && has(SUMMARY)).then_some(Self::Run),
        }
    }

    const fn words(self) -> &'static str {
        match self {
            Self::Run => "a run",
            Self::Study => "a study",
        }
    }
}

/// Returns the names of the folders, or their paths if two names are equal.
pub(super) fn names(folders: &[PathBuf]) -> Vec<String> {
    let own: Vec<String> = (folders.iter())
        .map(|folder| folder.file_name().unwrap_or_default().to_string_lossy().into_owned())
        .collect();
    match own.iter().enumerate().all(|(place, name)| !own[..place].contains(name)) {
        true => own,
        false => folders.iter().map(|folder| folder.display().to_string()).collect(),
    }
}

/// Checks that the files of a run's folder are as the run wrote them.
pub(super) fn check(folder: &Path) -> Result<(), Failure> {
    RunResults::new(folder).check(None).map_err(unreadable)
}

/// Returns the failure for an unreadable file: invalid input, since the user has named its folder.
pub(super) fn unreadable(error: ReadError) -> Failure {
    if let ReadError::Changed { .. } = error {
        let next = "bring the file back as it was, or remove the folder and run it again";
        return Failure::input(format!("{error}\n   = {next}"));
    }
    Failure::Input(anyhow::Error::new(error))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use tempfile::TempDir;

    use super::*;

    /// Makes folders with empty files in them.
    fn room(files: &[&str]) -> TempDir {
        let room = TempDir::new().unwrap();
        for file in files {
            let path = room.path().join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        }
        room
    }

    fn complaint(room: &TempDir, folders: &[&str]) -> String {
        let folders: Vec<PathBuf> = folders.iter().map(|name| room.path().join(name)).collect();
        let Failure::Input(error) = kind_of_all(&folders).unwrap_err() else { panic!() };
        error.to_string().replace(&format!("{}/", room.path().display()), "")
    }

    #[test]
    fn only_what_is_alike_is_compared() {
        let room =
            room(&["s/study.json", "r/scenario.resolved.yaml", "r/summary.json", "x/thesis"]);
        assert_eq!(complaint(&room, &["r", "x"]), "x holds neither a run nor a study");
        assert!(complaint(&room, &["y", "r"]).starts_with("there is no folder y\n"));
        assert_eq!(
            complaint(&room, &["r", "s"]),
            "r is a run, but s is a study; compare runs with runs and studies with studies"
        );
    }

    #[test]
    fn folders_are_called_by_what_tells_them_apart() {
        let named =
            |folders: &[&str]| names(&folders.iter().map(PathBuf::from).collect::<Vec<_>>());
        assert_eq!(named(&["out/a", "out/b/"]), ["a", "b"]);
        assert_eq!(named(&["one/a", "two/a"]), ["one/a", "two/a"]);
    }
}
