//! Concludes a study: makes its result files from its manifest and its runs.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use crate::conclude::differing_job::differing_job;
use crate::conclude::findings::{CellNumbers, FindingsError, StudyFindings};
use crate::conclude::gist::gist;
use crate::conclude::study_runs::StudyRuns;
use crate::conclude::usual::usual;
use crate::conclude::{merged, tables};
use crate::draw::{ChartMaterial, Picture, draw};
use crate::plan::manifest::{StudyManifest, read_manifest};
use crate::run::store::{CHARTS, RUNS, Store, clear};
use mumakil_base::files::{LATENCY, REPORT, STUDY, SUMMARY};
use mumakil_base::statistics::{Band, Estimate};
use mumakil_base::units::tell::{self, count, counted, significant};
use mumakil_compare::{RatioVerdict, shown_ratios};
use mumakil_draw::page::{Headline, HtmlPage, PageBlock, PageCell, PageColumn, PageTable, Section};
use mumakil_results::expect::{Unit, in_words};
use mumakil_run::output::report::verdicts;
use mumakil_run::output::{OutputError, write_file, write_json};

/// The file with a row for each cell.
pub const CELLS: &str = "cells.csv";
/// The file with a row for each comparison; a study without `compare` has no such file.
pub const COMPARISONS: &str = "comparisons.csv";

/// The largest number of outlying seeds that the report warns of.
// Chosen: the user has to try a command for each.
const MOST_ODDITIES: usize = 5;

/// A reason why a study has no results.
#[derive(Debug, thiserror::Error)]
pub enum ConcludeError {
    /// The numbers cannot be made.
    #[error(transparent)]
    Findings(#[from] FindingsError),
    /// A file cannot be written.
    #[error(transparent)]
    Output(#[from] OutputError),
}

/// The results of a study.
#[derive(Debug)]
pub struct Concluded {
    /// The numbers and the verdicts.
    pub findings: StudyFindings,
    /// The charts.
    pub pictures: Vec<Picture>,
}

/// Writes the files of a study whose runs are all done: tables, charts, the report.
///
/// The same manifest and runs give the same bytes. The folder must have the manifest already
/// ([`write_manifest`]). If runs failed, `sheet` must not have their cells.
pub fn conclude(
    sheet: &StudyManifest,
    store: &Store,
    folder: &Path,
) -> Result<Concluded, ConcludeError> {
    let runs = StudyRuns::new(sheet, store);
    let findings = StudyFindings::of(sheet, &runs)?;
    let specs = match &sheet.charts[..] {
        [] => usual(sheet),
        own => own.to_vec(),
    };
    let (study, space) = (&*sheet.study, sheet.space());
    let against = sheet.against;
    let marked = findings.marked(sheet);
    let material = ChartMaterial {
        study,
        space,
        against,
        runs: &runs,
        measured: &|text, cell| {
            let metric = findings.metrics.iter().find(|metric| metric.text == text)?;
            Some(metric.numbers[runs.place(cell)?].clone())
        },
        marked: &marked,
        is_overloaded: &|cell| runs.place(cell).is_some_and(|place| findings.is_overloaded(place)),
    };
    let pictures = draw(&specs, &material).map_err(FindingsError::from)?;
    let story = differing_job(sheet, &runs).map_err(FindingsError::from)?;
    let mut files = vec![
        ("runs.csv", tables::runs(sheet, &findings)),
        (CELLS, tables::cells(sheet, &findings)),
        (REPORT, page(sheet, &findings, &pictures, story).html().into_bytes()),
    ];
    if sheet.compare.is_some() {
        files.push((COMPARISONS, tables::comparisons(sheet, &findings)));
    }
    if let Some(log) = merged::log(sheet, &runs).map_err(FindingsError::from)? {
        files.push((LATENCY, log));
    }
    for (name, content) in &files {
        write_file(folder, name, content)?;
    }
    let charts: Vec<String> = (1..=pictures.len()).map(|place| format!("{place:02}.svg")).collect();
    for (name, picture) in charts.iter().zip(&pictures) {
        write_file(&folder.join(CHARTS), name, picture.drawing.svg().as_bytes())?;
    }
    // Remove result files that the study had before it was edited: they would be taken for current
    // results.
    clear(folder, |name| {
        [COMPARISONS, LATENCY].contains(&name) && !files.iter().any(|(written, _)| *written == name)
    })?;
    clear(&folder.join(CHARTS), |name| {
        name.ends_with(".svg") && !charts.iter().any(|chart| chart == name)
    })?;
    // Write the summary last: other processes take a folder with a summary for complete.
    write_file(folder, SUMMARY, &tables::summary(sheet, &findings))?;
    Ok(Concluded { findings, pictures })
}

/// Writes a study's manifest into its folder. Removes the summary of another manifest first: a
/// summary must always belong to the manifest beside it, even if this study is never finished.
pub fn write_manifest(sheet: &StudyManifest, folder: &Path) -> Result<(), OutputError> {
    let summary = folder.join(SUMMARY);
    if summary.exists() && !read_manifest(folder).is_ok_and(|other| other == *sheet) {
        fs::remove_file(&summary)
            .map_err(|source| OutputError::Write { path: summary.clone(), source })?;
    }
    write_json(folder, STUDY, sheet)
}

/// Returns the report as a page; `story` has the sentences about the job that differs most.
fn page(
    sheet: &StudyManifest,
    findings: &StudyFindings,
    pictures: &[Picture],
    story: Vec<String>,
) -> HtmlPage {
    let mut sections = vec![Section::new("In short", in_short(sheet, findings))];
    if !findings.verdicts.is_empty() {
        let verdicts = verdicts(&sheet.expect, &findings.verdicts);
        sections.push(Section::new("Expectations", vec![PageBlock::Verdicts(verdicts)]));
    }
    if !pictures.is_empty() {
        sections.push(Section::new("Charts", charts(pictures)));
    }
    if !findings.comparisons.is_empty() {
        sections.push(Section::new("Compared", compared(sheet, findings)));
    }
    if !story.is_empty() {
        let story = vec![PageBlock::Sentences(story)];
        sections.push(Section::new("The job that differs most", story));
    }
    sections.push(Section::new("Numbers", vec![PageBlock::Table(cells(sheet, findings))]));
    let repeat = "mumakil study DIR   # the folder of this page, wherever it is now".to_owned();
    sections.push(Section::new("How to repeat it", vec![PageBlock::Code(repeat)]));
    HtmlPage {
        title: sheet.study.clone(),
        subtitle: format!("A study of {} runs", sheet.runs().count()),
        gist: gist(sheet, findings),
        sections,
        version: sheet.version.clone(),
    }
}

/// Returns the charts; a chart with published numbers is followed by a table of the published and
/// the measured numbers.
pub fn charts(pictures: &[Picture]) -> Vec<PageBlock> {
    let mut blocks = Vec::new();
    // Charts without published numbers stand side by side; a chart with published numbers ends the
    // row, so that its table comes next.
    for run in pictures.chunk_by(|a, b| a.figures.is_empty() && b.figures.is_empty()) {
        blocks.push(PageBlock::Charts(run.iter().map(|picture| picture.drawing.clone()).collect()));
        let tables = run.iter().filter(|picture| !picture.figures.is_empty());
        blocks.extend(tables.map(|picture| PageBlock::Table(figures(picture))));
    }
    blocks
}

fn figures(picture: &Picture) -> PageTable {
    let rows = picture.figures.iter().map(|figure| {
        let difference = figure.difference();
        vec![
            PageCell::text(figure.what.clone()),
            PageCell::number(figure.published.value, figure.published.text.clone()),
            PageCell { value: figure.ours, ..PageCell::text(figure.told()) },
            PageCell::text(difference),
        ]
    });
    PageTable::new(
        format!("{}: published and ours", picture.drawing.title()),
        [
            PageColumn::text("Of"),
            PageColumn::number("Published"),
            PageColumn::number("Ours"),
            PageColumn::text("Difference"),
        ],
        rows,
    )
}

fn headline(label: &str, value: usize, note: String) -> Headline {
    Headline { label: label.to_owned(), value: value.to_string(), note }
}

fn in_short(sheet: &StudyManifest, findings: &StudyFindings) -> Vec<PageBlock> {
    let axes = sheet.axes.iter().map(|axis| format!("{} × {}", axis.values.len(), axis.short()));
    let mut blocks = Vec::new();
    if !sheet.description.is_empty() {
        blocks.push(PageBlock::Text(sheet.description.clone()));
    }
    let mut headlines = vec![
        headline("Cells", sheet.cells.len(), axes.collect::<Vec<_>>().join(", ")),
        headline("Seeds", sheet.seeds.len(), "in each cell".to_owned()),
        headline("Runs", sheet.runs().count(), String::new()),
    ];
    let found = &findings.comparisons;
    if !found.is_empty() {
        let open = found.iter().filter(|one| one.pair.verdict == RatioVerdict::Undecided).count();
        headlines.push(headline("Comparisons", found.len(), format!("{open} undecided")));
    }
    blocks.push(PageBlock::Headlines(headlines));
    let warnings = findings.warnings(sheet);
    if !warnings.is_empty() {
        blocks.push(PageBlock::Warnings(warnings));
    }
    blocks
}

/// Returns the comparisons, and the outlying seeds to look at.
fn compared(sheet: &StudyManifest, findings: &StudyFindings) -> Vec<PageBlock> {
    let mut blocks = vec![PageBlock::Table(comparisons(sheet, findings))];
    let oddities = findings.oddities();
    let leads = oddities.iter().take(MOST_ODDITIES).map(|oddity| {
        // Do not link to the runs: a run may be in a pack, and the report must have the same bytes
        // either way.
        let runs: Vec<String> = oddity.runs.iter().map(|(_, run)| run_path(run)).collect();
        let compare = format!("`mumakil compare {}`", runs.join(" "));
        format!("{}; in the folder of this page {compare} shows both runs", oddity.text)
    });
    if !oddities.is_empty() {
        blocks.push(PageBlock::Warnings(leads.collect()));
    }
    if MOST_ODDITIES < oddities.len() {
        let more = count((oddities.len() - MOST_ODDITIES) as u64);
        let told = format!("… and {more} more seeds that stand apart, in `{COMPARISONS}`.");
        blocks.push(PageBlock::Text(told));
    }
    blocks
}

/// Returns the path of a run's folder, relative to the study's folder.
pub fn run_path(run: &str) -> String {
    format!("{RUNS}/{run}/")
}

fn cells(sheet: &StudyManifest, findings: &StudyFindings) -> PageTable {
    let axes = sheet.axes.iter().map(|axis| {
        if axis.is_numeric() {
            PageColumn::number(axis.short())
        } else {
            PageColumn::text(axis.short())
        }
    });
    let metrics = findings.metrics.iter().flat_map(|metric| {
        let mean = PageColumn::number(in_words(&metric.text)).over(&metric.text);
        [mean, PageColumn::text("95 % interval").over(&metric.text)]
    });
    let space = sheet.space();
    let rows = sheet.cells.iter().enumerate().map(|(number, cell)| {
        let labels = space.axes.iter().zip(&cell.values).map(|(axis, value)| {
            let value = &axis.values[*value];
            PageCell {
                value: value.number.map(|(number, _)| number),
                ..PageCell::text(&value.label)
            }
        });
        let numbers = findings.metrics.iter().flat_map(|metric| {
            let numbers: Vec<f64> = metric.numbers[number].iter().flatten().copied().collect();
            // As on charts: no reader expects a share above one, or a time below zero.
            let found = metric.cells[number].map(|CellNumbers { mean, .. }| Estimate {
                band: mean.band.map(|band| band.drawn(&numbers, metric.unit == Unit::SHARE)),
                ..mean
            });
            band(found, sheet.seeds.len(), |numbers| metric.unit.show_together(numbers))
        });
        labels.chain(numbers).collect()
    });
    PageTable::new("Means over the seeds of each cell", axes.chain(metrics), rows)
        .without_empty_columns()
}

fn comparisons(sheet: &StudyManifest, findings: &StudyFindings) -> PageTable {
    let axes = sheet.axes.iter().enumerate().filter(|(axis, _)| Some(*axis) != sheet.compare);
    let others = axes.map(|(_, axis)| PageColumn::text(axis.short()));
    let columns = [PageColumn::text("Metric")].into_iter().chain(others).chain([
        PageColumn::text("Compared"),
        // The verdict stands early: narrow screens cut tables on the right.
        PageColumn::number("Ratio"),
        PageColumn::text("95 % interval").over("ratio"),
        PageColumn::text("Which is"),
        PageColumn::number("Difference"),
        PageColumn::text("95 % interval").over("difference"),
        PageColumn::number("p"),
    ]);
    let seeds = sheet.seeds.len();
    // Times of a metric stand below one another: they have one unit.
    let mut largest: BTreeMap<&str, f64> = BTreeMap::new();
    for found in &findings.comparisons {
        let Some(Estimate { mean, band, .. }) = found.pair.difference else { continue };
        let ends = band.map_or([mean; 2], |Band { low, high }| [low, high]);
        let known = largest.entry(&found.metric).or_default();
        *known = tell::largest(ends.into_iter().chain([mean, *known]));
    }
    let rows = findings.comparisons.iter().map(|found| {
        let metric = findings.metrics.iter().find(|metric| metric.text == found.metric);
        let unit = metric.map_or(Unit::PLAIN, |metric| metric.unit);
        let texts = [&found.metric].into_iter().chain(&found.cell).cloned().map(PageCell::text);
        let compared = PageCell::text(format!("{} against {}", found.other, found.base));
        let largest = largest.get(&*found.metric).copied().unwrap_or_default();
        let difference = band(found.pair.difference, seeds, |numbers| {
            unit.show_differences_in_column(numbers, largest)
        });
        let ratio = band(found.pair.ratio, seeds, shown_ratios);
        let p = found.pair.p.map_or_else(PageCell::default, |p| {
            let told = if p < 0.001 { "< 0.001".to_owned() } else { significant(p, 2) };
            PageCell::number(p, told)
        });
        let words = match (found.pair.verdict, found.pair.more_seeds) {
            (RatioVerdict::Undecided, Some(more)) => {
                format!("undecided, about {} more", counted(more as u64, "seed"))
            }
            (verdict, _) => verdict.word().to_owned(),
        };
        let verdict = PageCell::text(match found.unsuccessful {
            [0, 0] => words,
            [base, other] => {
                format!("{words}; {} and {} unsuccessful", counted(other, "job"), count(base))
            }
        });
        texts.chain([compared]).chain(ratio).chain([verdict]).chain(difference).chain([p]).collect()
    });
    PageTable::new("Differences, and geometric means of ratios, paired by seed", columns, rows)
        .without_empty_columns()
}

/// Returns the cells of an estimate: the mean, its interval, and the count of seeds if some seeds
/// lack the number.
fn band(
    of: Option<Estimate>,
    seeds: usize,
    show: impl Fn([f64; 3]) -> [String; 3],
) -> [PageCell; 2] {
    let Some(Estimate { mean, band, n }) = of else {
        return [PageCell::unknown(), PageCell::default()];
    };
    // One seed has no interval: show the mean with the digits that a mean without an interval
    // needs.
    let Band { low, high } = band.unwrap_or(Band { low: mean, high: mean });
    let [shown, low, high] = show([mean, low, high]);
    let interval = band.map(|_| format!("{low} to {high}"));
    let few = (n < seeds).then(|| format!("({n} of {seeds} seeds)"));
    let words: Vec<String> = interval.into_iter().chain(few).collect();
    [PageCell::number(mean, shown), PageCell::text(words.join(" "))]
}
