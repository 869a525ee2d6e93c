//! The end of a study: a table of its cells, its verdicts, and its failures.

use std::path::Path;
use std::time::{Duration, Instant};

use crate::failure::Failure;
use crate::lines::TerminalLines;
use crate::table::{Align, table};
use crate::verdicts;
use mumakil_base::files::REPORT;
use mumakil_base::shell::quoted_path;
use mumakil_base::statistics::{Band, Estimate};
use mumakil_base::units::tell::{self, counted};
use mumakil_results::expect::Unit;
use mumakil_results::tables::ReadError;
use mumakil_run::output::OutputError;
use mumakil_study::{
    self as study, CELLS, COMPARISONS, ComparisonOddity, ConcludeError, FAILED, FindingsError,
    Store, StudyFindings, StudyManifest, run_path,
};

/// The most cells printed.
// Chosen to fit on a screen, like the next two numbers; the report and the tables have everything.
const MOST_CELLS: usize = 40;

/// The most comparisons printed.
const MOST_SENTENCES: usize = 12;
/// The largest number of outlying seeds printed.
const MOST_ODDITIES: usize = 3;

/// The work that this process did on the study.
pub(crate) struct StudyOutcome {
    pub(super) runs: usize,
    /// The number of runs in the part that was asked for.
    pub(super) mine: usize,
    pub(super) real: Duration,
    pub(super) workers: usize,
}

/// Returns the lines about a study's results.
pub(crate) fn tell(sheet: &StudyManifest, findings: &StudyFindings) -> TerminalLines {
    let mut lines = TerminalLines::default();
    let about = format!(
        "   {} · {} · {}",
        counted(sheet.cells.len() as u64, "cell"),
        counted(sheet.seeds.len() as u64, "seed"),
        counted(sheet.runs().count() as u64, "run"),
    );
    lines.bold(&sheet.study, about);
    study::gist(sheet, findings).iter().for_each(|line| lines.line(format!("  {line}")));
    lines += cells(sheet, findings);
    let warnings = findings.warnings(sheet);
    warnings.iter().for_each(|warning| lines.line(format!("  warning  {warning}")));
    lines += compared(findings);
    lines + verdicts::tell(&sheet.expect, &findings.verdicts)
}

fn cells(sheet: &StudyManifest, findings: &StudyFindings) -> TerminalLines {
    let mut rows = vec![Vec::new()];
    rows[0].extend(sheet.axes.iter().map(|axis| axis.short().to_owned()));
    rows[0].extend(findings.metrics.iter().map(|metric| metric.text.clone()));
    for (number, cell) in sheet.cells.iter().enumerate().take(MOST_CELLS) {
        let metrics = findings.metrics.iter().map(|metric| match metric.cells[number] {
            None => "–".to_owned(),
            Some(found) => estimate(found.mean, sheet.seeds.len(), metric.unit),
        });
        rows.push(sheet.labels(cell).map(str::to_owned).chain(metrics).collect());
    }
    let axes =
        sheet.axes.iter().map(|axis| if axis.is_numeric() { Align::Right } else { Align::Left });
    let columns: Vec<Align> = axes.chain(findings.metrics.iter().map(|_| Align::Right)).collect();
    let mut lines = table(&rows, &columns);
    if MOST_CELLS < sheet.cells.len() {
        let more = (sheet.cells.len() - MOST_CELLS) as u64;
        lines.line(format!("  … and {} more in {CELLS}", tell::count(more)));
    }
    lines
}

/// Returns lines with the comparisons in words, and with the outlying seeds.
fn compared(findings: &StudyFindings) -> TerminalLines {
    let mut lines = TerminalLines::default();
    let all = &findings.comparisons;
    for of_metric in all[..all.len().min(MOST_SENTENCES)].chunk_by(|a, b| a.metric == b.metric) {
        lines.line(format!("  compared {}", of_metric[0].metric));
        of_metric.iter().for_each(|one| lines.line(format!("    {}", one.words)));
    }
    if MOST_SENTENCES < all.len() {
        let more = tell::count((all.len() - MOST_SENTENCES) as u64);
        lines.line(format!("    … and {more} more in {COMPARISONS}"));
    }
    let oddities = findings.oddities();
    for ComparisonOddity { text, runs } in oddities.iter().take(MOST_ODDITIES) {
        let runs: Vec<String> = runs.iter().map(|(_, run)| run_path(run)).collect();
        lines.line(format!("  warning  {text}; see {}", runs.join(" and ")));
    }
    if MOST_ODDITIES < oddities.len() {
        let more = counted((oddities.len() - MOST_ODDITIES) as u64, "seed");
        lines.line(format!("  warning  {more} more stand apart, see {COMPARISONS}"));
    }
    lines
}

/// Returns a mean with its interval; also the number of seeds with a value, if some seeds have
/// none.
fn estimate(Estimate { mean, band, n }: Estimate, seeds: usize, unit: Unit) -> String {
    // Give the interval's ends the digits of the mean: `3.42 ± 0.08`.
    let parts = band.map_or([0.0; 2], |Band { low, high }| [high - mean, mean - low]);
    let [shown, up, down] = unit.show_together([mean, parts[0], parts[1]]);
    let band = band.map(|_| match up == down {
        true => format!(" ± {up}"),
        false => format!(" +{up} −{down}"),
    });
    let few = (n < seeds).then(|| format!(" ({n} of {seeds} seeds)"));
    shown + &band.unwrap_or_default() + &few.unwrap_or_default()
}

/// Returns the failure that lists the failed runs, and the command that repeats them.
pub(super) fn failed(
    failed: &[&str],
    store: &Store,
    has_rest: bool,
) -> Result<Failure, OutputError> {
    const SHOWN: usize = 10;
    let told = study::failed::read(store)?;
    let mut text = format!("{} failed; the others are kept", counted(failed.len() as u64, "run"));
    if has_rest {
        let report = store.folder().join(REPORT);
        text += &format!(", and {} is of the combinations without failures", report.display());
    }
    for run in failed.iter().take(SHOWN) {
        let file = study::failed::path(store, run);
        text += &format!("\n  {}", told.get(*run).map_or("a run", String::as_str));
        text += &format!("\n    repeat it with `mumakil run {}`", quoted_path(&file));
    }
    if SHOWN < failed.len() {
        let more = tell::count((failed.len() - SHOWN) as u64);
        text += &format!("\n  … and {more} more in {}", store.folder().join(FAILED).display());
    }
    Ok(Failure::run(text))
}

/// Returns the failure of a run with unreadable results, for example after a loss of power, or of a
/// run that is not the one that the study has done.
pub(super) fn unreadable(error: ReadError) -> Failure {
    let next = format!("{} and start the study again", removal(error.folder()));
    match error {
        ReadError::Changed { .. } => Failure::input(format!("{error}\n   = {next}")),
        error => {
            let is_damaged = matches!(error, ReadError::Row { .. });
            let words = format!("a run cannot be read; {next}");
            let error = anyhow::Error::new(error).context(words);
            if is_damaged { Failure::Input(error) } else { Failure::Environment(error) }
        }
    }
}

/// Returns what a user has to do to remove the run in a folder. The folder of a packed run is not
/// there: it is in the file of the pack.
fn removal(folder: &Path) -> String {
    let Some(pack) = folder.ancestors().find(|path| path.is_file()) else {
        return format!("remove {}", folder.display());
    };
    // A file of a run may be in a folder of the run, such as its histograms.
    let first = folder.strip_prefix(pack).ok().and_then(|inside| inside.iter().next());
    let run = first.unwrap_or_default().to_string_lossy();
    // The pack of this run alone.
    if pack.file_stem().is_some_and(|stem| *stem == *run) {
        return format!("remove {}", pack.display());
    }
    let (typed, pack) = (quoted_path(pack), pack.display());
    format!("take it out with `zip -d {typed} '{run}/*'`, or remove {pack} with all its runs,")
}

impl From<ConcludeError> for Failure {
    fn from(error: ConcludeError) -> Self {
        match error {
            ConcludeError::Output(error) => error.into(),
            ConcludeError::Findings(FindingsError::Read(error)) => unreadable(error),
            ConcludeError::Findings(error) => Self::Input(anyhow::Error::new(error)),
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "users wait by the wall clock")]
pub(super) fn now() -> Instant {
    Instant::now()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_damaged_table_is_bad_input_and_an_unreadable_one_is_the_systems() {
        let path = Path::new("runs/1/jobs.csv");
        let damaged = unreadable(ReadError::row(path, 2, "broken"));
        assert!(matches!(damaged, Failure::Input(_)), "{damaged:?}");
        let source = std::io::Error::other("broken");
        let unread = unreadable(ReadError::Read { path: path.to_owned(), source });
        assert!(matches!(unread, Failure::Environment(_)), "{unread:?}");
    }

    #[test]
    fn a_packed_run_is_removed_from_its_pack() {
        let room = tempfile::TempDir::new().unwrap();
        let at = |path: &str| room.path().join(path).display().to_string();
        std::fs::write(at("whole.zip"), "").unwrap();
        let removal = |path: &str| removal(&room.path().join(path));
        assert_eq!(removal("40bc"), format!("remove {}", at("40bc")));
        std::fs::write(at("40bc.zip"), "").unwrap();
        assert_eq!(removal("40bc.zip/40bc/jobs.csv"), format!("remove {}", at("40bc.zip")));
        let zip = at("whole.zip");
        for inside in ["whole.zip/40bc", "whole.zip/40bc/histograms"] {
            assert_eq!(
                removal(inside),
                format!(
                    "take it out with `zip -d {zip} '40bc/*'`, or remove {zip} with all its runs,"
                )
            );
        }
    }

    #[test]
    fn an_interval_is_told_as_it_lies_and_missing_seeds_are_told() {
        let told = |band, n| estimate(Estimate { mean: 10.0, band, n }, 3, Unit::TIME);
        assert_eq!(told(Some(Band { low: 9.0, high: 11.0 }), 3), "10.0 s ± 1.0 s");
        assert_eq!(told(Some(Band { low: 9.0, high: 13.0 }), 3), "10.0 s +3.0 s −1.0 s");
        assert_eq!(told(Some(Band { low: 9.5, high: 72.0 }), 3), "10 s +1 min 02 s −1 s");
        assert_eq!(told(None, 1), "10.0 s (1 of 3 seeds)");
    }
}
