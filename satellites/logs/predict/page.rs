//! The content of a prediction: sections for the terminal, and with charts a page.

use std::path::Path;

use super::errors::{PARTS, error, error_of};
use super::{Prediction, sides};
use mumakil_base::units::tell::{percent, span};
use mumakil_compare::JobPair;
use mumakil_draw::chart::{
    AxisUnit, Caption, ChartAxis, Drawing, ScatterPlot, ScatterPoint, ScatterSeries, SeriesLook,
};
use mumakil_draw::page::{HtmlPage, PageBlock, PageCell, PageColumn, PageTable, Section};
use mumakil_results::expect::with_plus;

/// The most rows in the table of jobs.
// Chosen: a browser sorts a thousand rows without a delay, but not a million.
const MOST_JOBS: usize = 1_000;

/// Returns the sections without charts and the cluster.
pub(super) fn sections(prediction: &Prediction<'_>) -> Vec<Section> {
    let notes = prediction.doubts().into_iter().map(|doubt| format!("{doubt}.")).collect();
    let mut short = vec![
        PageBlock::Text(format!("{}.", prediction.story())),
        PageBlock::Table(sizes(prediction)),
        PageBlock::Sentences(notes),
    ];
    let what_if = prediction.what_if.as_ref();
    short.extend(
        what_if.map(|what_if| PageBlock::Text(format!("{}.", what_if.sentence(prediction)))),
    );
    vec![
        Section::new("In short", short),
        Section::new("By queue and user", vec![PageBlock::Table(sides::means(prediction))]),
        Section::new("Job by job", vec![PageBlock::Table(jobs(prediction))]),
    ]
}

pub(super) fn of(log: &Path, prediction: &Prediction<'_>) -> HtmlPage {
    let mut sections = sections(prediction);
    let charts = [vec![scatter(prediction)], sides::timelines(prediction)].map(PageBlock::Charts);
    sections.insert(1, Section::new("Logged and predicted", charts.into()));
    sections.push(Section::new("The cluster", vec![PageBlock::Table(cluster(prediction))]));
    HtmlPage {
        title: format!("Prediction of {}", log.display()),
        subtitle: "A log, and its replay on the cluster that it shows".to_owned(),
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
