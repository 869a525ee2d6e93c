//! The report on the published experiments: a table for programs, and a page for readers.

use std::fs;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::VerdictTally;
use mumakil_base::files::REPORT;
use mumakil_draw::page::{
    Headline, HtmlPage, Judgement, PageBlock, PageCell, PageColumn, PageTable, Section,
};
use mumakil_results::expect::{Figure, GapClass};
use mumakil_run::output::report::verdicts;
use mumakil_run::output::{OutputError, write_file};
use mumakil_study::Teeth;
use mumakil_study::{Concluded, charts};
use mumakil_study::{StudyManifest, store};

/// The file with the table of verdicts. A folder with this file is known to be a report of Mumakil.
const VERDICTS: &str = "verdicts.json";

/// The verdicts, the worst first. An experiment gets the worst verdict of its expectations.
const JUDGEMENTS: [Judgement; 6] = [
    Judgement::Fails,
    Judgement::KnownGap,
    Judgement::Undecided,
    Judgement::Holds,
    Judgement::Reported,
    Judgement::Skipped,
];

/// An experiment and its outcome.
#[derive(Debug)]
pub struct RepeatedExperiment {
    /// Its id.
    pub id: String,
    /// The subject.
    pub what: String,
    /// The published results, as a whole.
    pub published: String,
    /// The outcome of each of its files.
    pub files: Vec<FileOutcome>,
}

/// The outcome of a file of an experiment.
#[derive(Debug)]
pub enum FileOutcome {
    /// The file was not run, for this reason.
    Skipped(String),
    /// The file was run.
    Run {
        /// The study and its runs.
        sheet: Box<StudyManifest>,
        /// The results.
        concluded: Box<Concluded>,
        /// The effects of its sabotages; `None` if they were not tried.
        teeth: Option<Teeth>,
    },
}

/// A row of the table of verdicts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct VerdictRow {
    /// The experiment.
    pub id: String,
    /// The expectation, or the subject of the experiment.
    pub expectation: String,
    /// The published value.
    pub published: String,
    /// The measured value.
    pub measured: String,
    /// The verdict.
    pub verdict: Judgement,
    /// The class of a known gap; `None` for any other verdict, or if the gap has no class.
    pub gap_class: Option<GapClass>,
    /// The published numbers, each beside the measured number.
    #[serde(skip_deserializing)]
    pub figures: Vec<Figure>,
}

/// A sabotage of an experiment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SabotageRow {
    /// The experiment.
    pub id: String,
    /// The name of the sabotage, or else its settings.
    pub sabotage: String,
    /// Whether every expectation fails that should fail.
    pub noticed: bool,
    /// The expectations that fail.
    pub by: Vec<String>,
}

impl RepeatedExperiment {
    /// Returns one row for the whole experiment. It shows the measured value of the only row, or
    /// how many rows have each verdict.
    pub fn summary(&self) -> VerdictRow {
        let rows = self.rows();
        let tally = VerdictTally::of(&rows);
        let (measured, gap_class) = match &rows[..] {
            [row] => (row.ours(), row.gap_class),
            _ => (tally.to_string(), None),
        };
        let found = JUDGEMENTS.into_iter().find(|judgement| 0 < tally.count(*judgement));
        let verdict = found.unwrap_or(Judgement::Skipped);
        let (expectation, published) = (self.what.clone(), self.published.clone());
        let (id, figures) = (self.id.clone(), Vec::new());
        VerdictRow { id, expectation, published, measured, verdict, gap_class, figures }
    }

    /// Returns what the sabotages of its files did.
    pub fn teeth(&self) -> impl Iterator<Item = &Teeth> {
        self.files.iter().filter_map(|file| match file {
            FileOutcome::Run { teeth, .. } => teeth.as_ref(),
            FileOutcome::Skipped(_) => None,
        })
    }

    /// Returns a row for each sabotage.
    pub fn sabotages(&self) -> Vec<SabotageRow> {
        let outcomes = self.teeth().flat_map(|teeth| &teeth.sabotages).map(|outcome| SabotageRow {
            id: self.id.clone(),
            sabotage: outcome.what.clone(),
            noticed: outcome.is_noticed(),
            by: outcome.by.clone(),
        });
        outcomes.collect()
    }

    /// Returns the experiment's rows in the table; at least one.
    pub fn rows(&self) -> Vec<VerdictRow> {
        let row = |expectation: &str, published: &str, measured: &str, verdict| VerdictRow {
            id: self.id.clone(),
            expectation: expectation.to_owned(),
            published: published.to_owned(),
            measured: measured.to_owned(),
            verdict,
            gap_class: None,
            figures: Vec::new(),
        };
        let mut rows = Vec::new();
        for file in &self.files {
            match file {
                FileOutcome::Skipped(why) => {
                    rows.push(row(&self.what, &self.published, why, Judgement::Skipped));
                }
                FileOutcome::Run { sheet, concluded, .. } => {
                    let verdicts = &concluded.findings.verdicts;
                    let judged = self::verdicts(&sheet.expect, verdicts);
                    let found = judged.iter().zip(verdicts).zip(&sheet.expect);
                    rows.extend(found.map(|((found, verdict), expected)| {
                        // If an expectation has no published number of its own, show the published
                        // results of the whole experiment.
                        let published = found.published.as_ref().unwrap_or(&self.published);
                        let measured = found.measured.as_deref().unwrap_or_default();
                        let gap = expected.known_gap.as_ref();
                        // An expectation that holds has no gap, even if its file still explains a
                        // gap.
                        let gap = gap.filter(|_| found.judgement == Judgement::KnownGap);
                        let gap_class = gap.and_then(|gap| gap.class);
                        let row = row(&found.expectation, published, measured, found.judgement);
                        VerdictRow { gap_class, figures: verdict.figures.clone(), ..row }
                    }));
                }
            }
        }
        // An experiment without expectations must still appear in the table.
        if rows.is_empty() {
            let nothing = "it expects nothing";
            rows.push(row(&self.what, &self.published, nothing, Judgement::Reported));
        }
        rows
    }
}

impl VerdictRow {
    /// Returns the verdict in words; a known gap has its class added.
    pub fn verdict_text(&self) -> String {
        let class = self.gap_class.map(|class| format!(" ({})", class.word()));
        self.verdict.word().to_owned() + &class.unwrap_or_default()
    }

    /// Returns the text for the column of measured values: the numbers of the figures, or the
    /// measured value if there are no figures.
    pub fn ours(&self) -> String {
        match &self.figures[..] {
            [] => self.measured.clone(),
            [one] => one.compared(),
            several => several.iter().map(Figure::told).collect::<Vec<_>>().join(", "),
        }
    }
}

/// Writes the report of all experiments: `verdicts.json` and `report.html`.
///
/// # Errors
/// If a file cannot be written.
pub fn report(repeated: &[RepeatedExperiment], folder: &Path) -> Result<(), OutputError> {
    let rows: Vec<VerdictRow> = repeated.iter().flat_map(RepeatedExperiment::rows).collect();
    let mut text = serde_json::to_string_pretty(&rows).expect("texts are JSON");
    text.push('\n');
    write_file(folder, VERDICTS, text.as_bytes())?;
    write_file(folder, REPORT, page(repeated, &rows).html().as_bytes())
}

/// Checks that the report may be written into a folder. Apart from hidden files, the folder must be
/// empty, or have an earlier report, or have only folders of experiments, as after an interrupted
/// run.
///
/// # Errors
/// If the folder has other files, or cannot be read.
pub fn check(folder: &Path) -> Result<(), OutputError> {
    // An interrupted run leaves no table, but folders named after experiments.
    if fs::read(folder.join(VERDICTS))
        .is_ok_and(|text| serde_json::from_slice::<Vec<VerdictRow>>(&text).is_ok())
        || store::visible(folder)?.iter().all(|name| store::check(&folder.join(name), name).is_ok())
    {
        return Ok(());
    }
    let why = "it has something else than the papers' experiments; choose another folder";
    Err(OutputError::Foreign { path: folder.to_owned(), why: why.to_owned() })
}

fn page(repeated: &[RepeatedExperiment], rows: &[VerdictRow]) -> HtmlPage {
    let tally = VerdictTally::of(rows);
    let headline = |verdict, label: &str| Headline {
        label: label.to_owned(),
        value: tally.count(verdict).to_string(),
        note: if verdict == Judgement::KnownGap { tally.classes() } else { String::new() },
    };
    let headlines = PageBlock::Headlines(vec![
        headline(Judgement::Holds, "hold"),
        headline(Judgement::Fails, "fail"),
        headline(Judgement::KnownGap, "known gaps"),
        headline(Judgement::Undecided, "undecided"),
        headline(Judgement::Reported, "reported"),
        headline(Judgement::Skipped, "skipped"),
    ]);
    let verdicts = Section::new("Verdicts", vec![headlines, PageBlock::Table(overview(rows))]);
    HtmlPage {
        title: "The papers' experiments".to_owned(),
        subtitle: "Published values, and those that Mumakil measures".to_owned(),
        gist: vec![format!("{tally}.")],
        sections: [verdicts].into_iter().chain(repeated.iter().map(section)).collect(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
    }
}

/// Returns a row for each experiment.
pub fn summary(repeated: &[RepeatedExperiment]) -> PageTable {
    let rows = repeated.iter().map(|experiment| {
        let row = experiment.summary();
        let (ours, verdict) = (row.ours(), row.verdict_text());
        [row.id, row.expectation, row.published, ours, verdict].map(PageCell::text).into()
    });
    PageTable {
        caption: String::new(),
        columns: ["id", "what", "published", "ours", "verdict"].map(PageColumn::text).into(),
        rows: rows.collect(),
    }
}

/// Returns a row for each published number, and a row for each verdict without published numbers.
pub fn overview(rows: &[VerdictRow]) -> PageTable {
    let mut table = PageTable {
        caption: "Published values, and ours".to_owned(),
        // The verdict stands before long texts: narrow screens cut tables on the right.
        columns: ["id", "verdict", "what", "published", "ours", "difference"]
            .map(PageColumn::text)
            .into(),
        rows: Vec::new(),
    };
    for row in rows {
        let verdict = row.verdict_text();
        let mut line = |what: &str, published: &str, ours: &str, difference: &str| {
            let cells = [&row.id, &verdict, what, published, ours, difference];
            table.rows.push(cells.map(PageCell::text).into());
        };
        for figure in &row.figures {
            let names = [&*row.expectation, &figure.what].into_iter();
            let what = names.filter(|name| !name.is_empty()).collect::<Vec<_>>().join(": ");
            line(&what, &figure.published.text, &figure.told(), &figure.difference());
        }
        if row.figures.is_empty() {
            line(&row.expectation, &row.published, &row.measured, "");
        }
    }
    table
}

/// Returns the section of the page about an experiment.
fn section(experiment: &RepeatedExperiment) -> Section {
    let mut blocks = Vec::new();
    if !experiment.published.is_empty() {
        blocks.push(PageBlock::Text(format!("Published: {}.", experiment.published)));
    }
    for file in &experiment.files {
        match file {
            FileOutcome::Skipped(why) => blocks.push(PageBlock::Text(format!("Skipped: {why}."))),
            FileOutcome::Run { sheet, concluded, teeth } => {
                let judged = verdicts(&sheet.expect, &concluded.findings.verdicts);
                blocks.push(PageBlock::Verdicts(judged));
                blocks.extend(teeth.as_ref().map(of_teeth));
                blocks.extend(charts(&concluded.pictures));
            }
        }
    }
    Section::new(format!("{}: {}", experiment.id, experiment.what), blocks)
}

/// Returns the sentences about the sabotages of a file.
fn of_teeth(teeth: &Teeth) -> PageBlock {
    let sentences =
        teeth.sabotages.iter().map(|outcome| match (&outcome.missed[..], &outcome.by[..]) {
            ([], by) => format!("Sabotage: {}. It breaks: {}.", outcome.what, by.join("; ")),
            (missed, _) => {
                format!(
                    "Sabotage not noticed: {}. It holds still: {}.",
                    outcome.what,
                    missed.join("; ")
                )
            }
        });
    let names = teeth.toothless.iter();
    let toothless =
        names.map(|name| format!("Toothless, as it holds under every sabotage: {name}."));
    PageBlock::Sentences(sentences.chain(toothless).collect())
}

#[cfg(test)]
mod tests {
    use tempfile::TempDir;

    use super::*;
    use mumakil_results::expect::{PublishedNumber, Unit};

    fn skipped(files: usize) -> RepeatedExperiment {
        RepeatedExperiment {
            id: "MK-19".to_owned(),
            what: "a trace".to_owned(),
            published: "55 min".to_owned(),
            files: (0..files).map(|_| FileOutcome::Skipped("no trace".to_owned())).collect(),
        }
    }

    #[test]
    fn several_verdicts_are_counted_and_one_is_told_itself() {
        assert_eq!(skipped(1).summary().measured, "no trace");
        assert_eq!(skipped(2).summary().measured, "2 skipped");
        let nothing = skipped(0).summary();
        assert_eq!((nothing.verdict, &*nothing.published), (Judgement::Reported, "55 min"));
    }

    #[test]
    fn the_overview_has_a_line_for_each_published_number() {
        let figure = |what: &str, published: &str, ours| Figure {
            what: what.to_owned(),
            published: PublishedNumber::parse(published).unwrap(),
            ours: Some(ours),
            unit: Unit::SHARE,
        };
        let row = VerdictRow {
            expectation: "locality rises".to_owned(),
            verdict: Judgement::KnownGap,
            gap_class: Some(GapClass::Model),
            figures: vec![figure("w1=0s", "5 %", 0.048), figure("w1=1s", "68 %", 0.9)],
            ..skipped(1).rows().remove(0)
        };
        let shown = |row: &VerdictRow| {
            let lines = overview(std::slice::from_ref(row)).rows;
            let line = |line: Vec<PageCell>| {
                line.into_iter().map(|cell| cell.shown).collect::<Vec<_>>().join("|")
            };
            lines.into_iter().map(line).collect::<Vec<_>>()
        };
        assert_eq!(
            shown(&row),
            [
                "MK-19|known gap (model)|locality rises: w1=0s|5 %|4.8 %|-0.2 points",
                "MK-19|known gap (model)|locality rises: w1=1s|68 %|90.0 %|+22.0 points",
            ]
        );
        assert_eq!(row.ours(), "4.8 %, 90.0 %");
        assert_eq!(shown(&skipped(1).rows()[0]), ["MK-19|skipped|a trace|55 min|no trace|"]);
    }

    /// Returns whether the report may be written beside these files.
    fn is_ours(files: &[(&str, &str)]) -> bool {
        let room = TempDir::new().unwrap();
        for (name, text) in files {
            let path = room.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        match check(room.path()) {
            Ok(()) => true,
            Err(error) => {
                assert!(matches!(error, OutputError::Foreign { .. }), "{error}");
                false
            }
        }
    }

    #[test]
    fn a_report_is_written_where_nothing_is_but_experiments() {
        let study = ("MK-19/study.json", r#"{"study": "MK-19"}"#);
        assert!(is_ours(&[]) && is_ours(&[(".mumakil-half", "")]));
        // Interrupted within an experiment, before its first run.
        assert!(is_ours(&[study, ("DS-F1/.lock", "")]));
        assert!(!is_ours(&[("report.html", "mine")]));
        assert!(!is_ours(&[study, ("report.html", "mine")]));
        assert!(!is_ours(&[("notes/today.txt", "mine")]));
        assert!(!is_ours(&[("other/study.json", r#"{"study": "MK-19"}"#)]));
    }

    #[test]
    fn a_report_replaces_an_earlier_one() {
        let room = TempDir::new().unwrap();
        report(&[skipped(1)], room.path()).unwrap();
        fs::write(room.path().join("notes.txt"), "mine").unwrap();
        check(room.path()).unwrap();
        fs::write(room.path().join(VERDICTS), "mine").unwrap();
        assert!(check(room.path()).is_err());
        check(&room.path().join("none")).unwrap();
    }
}
