//! The content of a prediction: sections for the terminal, and with charts a page.

use std::path::Path;

use super::errors::{PARTS, error, error_of};
use super::{OtherSettings, Prediction, REPLAY, WHAT_IF, sides};
use mumakil_base::files::REPORT;
use mumakil_base::units::tell::{percent, span};
use mumakil_compare::{ChangeColumn, JobPair};
use mumakil_draw::chart::{
    AxisUnit, Caption, ChartAxis, Drawing, EcdfSample, ScatterPlot, ScatterPoint, ScatterSeries,
    SeriesLook,
};
use mumakil_draw::page::{HtmlPage, PageBlock, PageCell, PageColumn, PageTable, Section};
use mumakil_results::expect::with_plus;
use mumakil_run::output::report::distribution;

/// The most rows in the table of jobs.
// Chosen: a browser sorts a thousand rows without a delay, but not a million.
const MOST_JOBS: usize = 1_000;

/// How many jobs that change are shown.
const MOST_CHANGES: usize = 10;

/// Returns the sections without charts and the cluster.
pub(super) fn sections(prediction: &Prediction<'_>) -> Vec<Section> {
    let notes = prediction.doubts().into_iter().map(|doubt| format!("{doubt}.")).collect();
    let short = vec![
        PageBlock::Text(format!("{}.", prediction.story())),
        PageBlock::Table(sizes(prediction)),
        PageBlock::Sentences(notes),
    ];
    let (means, jobs) = (sides::means(prediction), jobs(prediction));
    let other = prediction.what_if.as_ref().filter(|what_if| !what_if.is_same);
    let what_if =
        other.map(|what_if| Section::new("What if", settings_blocks(prediction, what_if)));
    [Section::new("In short", short)]
        .into_iter()
        .chain(what_if)
        .chain([
            Section::new("By queue and user", vec![PageBlock::Table(means)]),
            Section::new("Job by job", vec![PageBlock::Table(jobs)]),
        ])
        .collect()
}

/// Returns what the other settings change, in sentences, and how far a replay is from the log.
pub(super) fn gist(prediction: &Prediction<'_>) -> Vec<String> {
    let what_if = prediction.what_if.as_ref().map(|what_if| what_if.sentence(prediction));
    let error = prediction.sizes().into_iter().next().map(|(_, sizes)| {
        let [mean, worst] = [sizes.mean, sizes.worst].map(percent);
        format!("The replay of the log misses a job's sojourn by {mean} in the mean, and by {worst} at most")
    });
    what_if.into_iter().chain(error).map(|sentence| sentence + ".").collect()
}

/// Returns the sojourns as they were and with the other settings: numbers, and the jobs that change
/// most.
fn settings_blocks(prediction: &Prediction<'_>, what_if: &OtherSettings) -> Vec<PageBlock> {
    let pairs = what_if.pairs(prediction);
    let numbers = sides::changes(&pairs, what_if).page_table();
    let mut most = pairs.changes().most_first();
    most.0.truncate(MOST_CHANGES);
    let columns = &[ChangeColumn::Difference, ChangeColumn::Ratio];
    let most = most.table("The jobs that change most", sides::SETTINGS, columns).page_table();
    vec![PageBlock::Table(numbers), PageBlock::Table(most)]
}

/// Draws the sojourns of the jobs as they were and with the other settings, beside links to both runs.
fn settings_charts(prediction: &Prediction<'_>, what_if: &OtherSettings) -> Vec<PageBlock> {
    let pairs = what_if.pairs(prediction);
    let samples = [0, 1].map(|side| EcdfSample {
        name: sides::SETTINGS[side].to_owned(),
        values: pairs.0.iter().map(|job| job.took[side] as f64 / 1e3).collect(),
        look: SeriesLook(side),
        published: Vec::new(),
    });
    let caption = Caption {
        id: "what-if".to_owned(),
        title: "How long jobs take".to_owned(),
        description: "The distribution of sojourn times, as it was and with the settings."
            .to_owned(),
        look_for: "the curve furthest left: with it jobs are faster",
        ..Caption::default()
    };
    vec![
        PageBlock::Charts(vec![distribution(caption, "Sojourn time", samples.into())]),
        PageBlock::Links(vec![
            ("Report of the replay", format!("{REPLAY}/{REPORT}")),
            ("Report of the run with the settings", format!("{WHAT_IF}/{REPORT}")),
        ]),
    ]
}

pub(super) fn of(log: &Path, prediction: &Prediction<'_>) -> HtmlPage {
    let mut sections = sections(prediction);
    let charts = [vec![scatter(prediction)], sides::timelines(prediction)].map(PageBlock::Charts);
    if let Some(what_if) = prediction.what_if.as_ref().filter(|what_if| !what_if.is_same) {
        sections[1].blocks.extend(settings_charts(prediction, what_if));
    }
    let place = sections.len() - 2;
    sections.insert(place, Section::new("Logged and predicted", charts.into()));
    sections.push(Section::new("The cluster", vec![PageBlock::Table(cluster(prediction))]));
    HtmlPage {
        title: format!("Prediction of {}", log.file_name().unwrap_or_default().display()),
        subtitle: "A log, and its replay on the cluster that it shows".to_owned(),
        gist: gist(prediction),
        sections,
        version: env!("CARGO_PKG_VERSION").to_owned(),
    }
}

fn sizes(prediction: &Prediction<'_>) -> PageTable {
    let rows = prediction.sizes().into_iter().map(|(name, of)| {
        let sizes = [of.mean, of.median, of.p90, of.worst];
        let cells = sizes.map(|share| PageCell::number(share, percent(share)));
        [PageCell::text(name)].into_iter().chain(cells).collect()
    });
    let numbers = ["mean", "median", "p90", "worst"].map(PageColumn::number);
    PageTable::new(
        "The error, as a share of each job's logged sojourn",
        [PageColumn::text("of the")].into_iter().chain(numbers),
        rows,
    )
}

fn scatter(prediction: &Prediction<'_>) -> Drawing {
    let series = |name: &str, look: usize, jobs: &[JobPair<'_>]| ScatterSeries {
        name: name.to_owned(),
        look: SeriesLook(look),
        points: jobs
            .iter()
            .map(|job| ScatterPoint {
                name: job.name().to_owned(),
                x: job.took[0] as f64 / 1e3,
                y: job.took[1] as f64 / 1e3,
            })
            .collect(),
    };
    let (calibrating, rest) = prediction.jobs.split_at(prediction.calibrating);
    let held_back = (!rest.is_empty()).then(|| series("held back", 0, rest));
    let behind = usize::from(held_back.is_some());
    let calibrating = series("show the cluster", behind, calibrating);
    ScatterPlot {
        caption: Caption {
            id: "scatter".to_owned(),
            title: "Sojourn of each job, logged and predicted".to_owned(),
            description: "Each job's predicted sojourn over its logged one.".to_owned(),
            look_for: "points off the line: these jobs are predicted badly",
            ..Caption::default()
        },
        x: ChartAxis::log("logged", AxisUnit::Seconds),
        y: ChartAxis::log("predicted", AxisUnit::Seconds),
        series: held_back.into_iter().chain([calibrating]).collect(),
        diagonal: Some("as logged".to_owned()),
        notes: Vec::new(),
    }
    .draw()
}

fn jobs(prediction: &Prediction<'_>) -> PageTable {
    let mut jobs = prediction.worst_first();
    let caption = match jobs.0.len() {
        all if MOST_JOBS < all => format!("The {MOST_JOBS} largest of {all} errors"),
        _ => "Jobs that judge, the largest error first".to_owned(),
    };
    jobs.0.truncate(MOST_JOBS);
    let mut table = jobs.table(caption, ["logged", "predicted"], &[]);
    let notes = ["error"].into_iter().chain(PARTS).map(PageColumn::number);
    table.notes = [PageColumn::text("replays")].into_iter().chain(notes).collect();
    for (row, job) in table.rows.iter_mut().zip(&jobs.0) {
        let parts = (0..PARTS.len()).map(|part| error_of(job, part));
        let errors = [Some(error(job))].into_iter().chain(parts);
        let range = prediction.replayed.ranges.get(job.name()).map_or_else(String::new, |range| {
            let [least, most] = range.map(|took| span(took as f64 / 1e3));
            format!("{least} to {most}")
        });
        let errors = errors.map(|error| PageCell::maybe(error, signed));
        row.notes = [PageCell::text(range)].into_iter().chain(errors).collect();
    }
    table.page_table()
}

/// Prints a share in per cent, with its sign.
fn signed(share: f64) -> String {
    // A share that rounds to zero has no sign.
    let text = percent(share);
    with_plus(if text == "-0.0 %" { percent(0.0) } else { text }, share)
}

fn cluster(prediction: &Prediction<'_>) -> PageTable {
    let cluster = &prediction.reading.cluster;
    let rows = cluster.settings.iter().map(|setting| {
        let cells = [setting.path, &setting.value, setting.sure.word(), &setting.reason];
        cells.map(PageCell::text).into()
    });
    PageTable::new(
        format!("What {} jobs of the log show", cluster.jobs),
        ["Setting", "Value", "How sure", "Reason"].map(PageColumn::text),
        rows,
    )
}
