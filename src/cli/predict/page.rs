//! The page about a prediction.

use std::path::Path;

use super::errors::{ErrorSizes, JudgedJob};
use super::{Prediction, signed};
use crate::chart::{
    AxisUnit, Caption, ChartAxis, Drawing, ScatterPlot, ScatterPoint, ScatterSeries, SeriesLook,
};
use crate::expect::Unit;
use crate::page::{HtmlPage, PageBlock, PageCell, PageColumn, PageTable, Section};
use crate::units::tell::percent;

/// The most rows in the table of jobs.
// Chosen: a browser sorts a thousand rows without a delay, but not a million.
const MOST_JOBS: usize = 1_000;

pub(super) fn of(log: &Path, prediction: &Prediction) -> HtmlPage {
    let mut short = vec![PageBlock::Text(format!("{}.", prediction.story()))];
    short.extend(prediction.doubts().into_iter().map(|doubt| PageBlock::Text(format!("{doubt}."))));
    short.push(PageBlock::Table(sizes(prediction)));
    short.extend(
        prediction
            .what_if
            .as_ref()
            .map(|what_if| PageBlock::Text(format!("{}.", what_if.tell(prediction)))),
    );
    HtmlPage {
        title: format!("Prediction of {}", log.display()),
        subtitle: "A log, and its replay on the cluster that it shows".to_owned(),
        sections: vec![
            Section::new("In short", short),
            Section::new(
                "Logged and predicted",
                vec![PageBlock::Charts(vec![scatter(prediction)])],
            ),
            Section::new("Job by job", vec![PageBlock::Table(jobs(prediction))]),
            Section::new("The cluster", vec![PageBlock::Table(cluster(prediction))]),
        ],
        version: env!("CARGO_PKG_VERSION").to_owned(),
    }
}

fn sizes(prediction: &Prediction) -> PageTable {
    let row = |(name, of): (&str, ErrorSizes)| {
        let cells = [of.mean, of.median, of.p90, of.worst];
        let cells = cells.map(|share| PageCell::number(share, percent(share)));
        [PageCell::text(name)].into_iter().chain(cells).collect()
    };
    let numbers = ["Mean", "Median", "p90", "Worst"].map(|name| PageColumn::number(name, None));
    PageTable {
        caption: "The error of the prediction, as a share of each job's logged sojourn".to_owned(),
        columns: [PageColumn::text("Part")].into_iter().chain(numbers).collect(),
        rows: prediction.sizes().into_iter().map(row).collect(),
    }
}

fn scatter(prediction: &Prediction) -> Drawing {
    let series = |name: &str, look: usize, jobs: &[JudgedJob]| ScatterSeries {
        name: name.to_owned(),
        look: SeriesLook(look),
        points: jobs
            .iter()
            .map(|job| ScatterPoint {
                name: job.name.clone(),
                x: job.logged.sojourn as f64 / 1e3,
                y: job.predicted.sojourn as f64 / 1e3,
            })
            .collect(),
    };
    let held_back =
        (!prediction.held_back.is_empty()).then(|| series("held back", 0, &prediction.held_back));
    let behind = usize::from(held_back.is_some());
    let calibrating = series("show the cluster", behind, &prediction.calibrating);
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

fn jobs(prediction: &Prediction) -> PageTable {
    let time = |millis: u64| {
        let seconds = millis as f64 / 1e3;
        PageCell::number(seconds, Unit::TIME.show(seconds))
    };
    let share = |share: f64| format!("{} %", signed(share * 100.0));
    let row = |job: &JudgedJob| {
        let parts = (0..3).map(|part| PageCell::maybe(job.error_of(part), share));
        let own = [
            PageCell::text(&job.name),
            time(job.logged.sojourn),
            time(job.predicted.sojourn),
            PageCell::number(job.error(), share(job.error())),
        ];
        own.into_iter().chain(parts).collect()
    };
    let worst = prediction.worst_first();
    let numbers = ["Logged", "Predicted", "Error", "Wait", "Map phase", "Reduce phase"]
        .map(|name| PageColumn::number(name, None));
    PageTable {
        caption: match worst.len() {
            all if MOST_JOBS < all => format!("The {MOST_JOBS} largest of {all} errors"),
            _ => "Jobs that judge, the largest error first".to_owned(),
        },
        columns: [PageColumn::text("Job")].into_iter().chain(numbers).collect(),
        rows: worst.into_iter().take(MOST_JOBS).map(row).collect(),
    }
}

fn cluster(prediction: &Prediction) -> PageTable {
    let cluster = &prediction.reading.cluster;
    let rows = cluster.settings.iter().map(|setting| {
        let cells = [setting.path, &setting.value, &setting.sure.to_string(), &setting.reason];
        cells.map(PageCell::text).into()
    });
    PageTable {
        caption: format!("What {} jobs of the log show", cluster.jobs),
        columns: ["Setting", "Value", "How sure", "Reason"].map(PageColumn::text).into(),
        rows: rows.collect(),
    }
}
