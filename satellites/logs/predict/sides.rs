//! The log and its replay beside each other, by queue and by user: jobs over time, and mean sojourns.

use indexmap::IndexMap;

use super::{OtherSettings, Prediction};
use mumakil_base::statistics::{mean, quantile};
use mumakil_base::units::tell::{counted, percent, span};
use mumakil_compare::{ChangeColumn, JobPair, JobPairs, SideRow, SideTable};
use mumakil_draw::chart::{AxisUnit, Caption, ChartAxis, Drawing, SeriesLook, Stack, StackLayer};
use mumakil_draw::page::{PageCell, PageColumn, PageTable};
use mumakil_results::expect::{Unit, with_plus};
use mumakil_results::tables::JobRow;

/// The sides, as charts and columns name them.
const SIDES: [&str; 2] = ["logged", "predicted"];

/// The sides of a second run, likewise.
pub(super) const SETTINGS: [&str; 2] = ["as it was", "with the settings"];

/// A way to group jobs.
#[derive(Clone, Copy)]
struct JobGrouping {
    word: &'static str,
    of: fn(&JobRow) -> &str,
}

const GROUPINGS: [JobGrouping; 2] = [
    JobGrouping { word: "queue", of: |row| &row.pool },
    JobGrouping { word: "user", of: |row| &row.user },
];

impl JobGrouping {
    /// Returns the groups of jobs, those with the most jobs first; none if there is one alone.
    fn groups<'p, 'a>(self, jobs: &'p [JobPair<'a>]) -> IndexMap<&'a str, Vec<&'p JobPair<'a>>> {
        let mut groups: IndexMap<&str, Vec<&JobPair<'_>>> = IndexMap::new();
        for job in jobs {
            groups.entry((self.of)(job.rows[1])).or_default().push(job);
        }
        groups.sort_by(|a, of_a, b, of_b| of_b.len().cmp(&of_a.len()).then_with(|| a.cmp(b)));
        if groups.len() < 2 { IndexMap::new() } else { groups }
    }
}

/// Returns the jobs over time, logged and predicted, for each grouping; all of them if there are no
/// groups.
pub(super) fn timelines(prediction: &Prediction<'_>) -> Vec<Drawing> {
    let jobs = &prediction.jobs;
    let first = [0, 1]
        .map(|side| jobs.iter().map(|job| job.rows[side].submit_ms).min().unwrap_or_default());
    let ends = jobs.iter().flat_map(|job| [0, 1].map(|side| until(job, side, first)));
    let last = ends.fold(0.0, f64::max);
    let mut drawn = Vec::new();
    for grouping in GROUPINGS {
        let mut groups = grouping.groups(jobs);
        let mut by = format!(", by {}", grouping.word);
        if groups.is_empty() {
            if grouping.word == "user" && !drawn.is_empty() {
                continue;
            }
            groups.insert("all jobs", jobs.iter().collect());
            by.clear();
        }
        drawn.extend([0, 1].map(|side| {
            let layers = groups.iter().enumerate().map(|(look, (name, jobs))| StackLayer {
                name: (*name).to_owned(),
                look: SeriesLook(look),
                steps: unfinished(jobs, side, first),
                ..StackLayer::default()
            });
            Stack {
                caption: Caption {
                    id: format!("jobs-{}-{}", grouping.word, SIDES[side]),
                    title: format!("Jobs that have not ended, {}{by}", SIDES[side]),
                    description: format!(
                        "How many jobs had come and not ended over time, as {}.",
                        SIDES[side]
                    ),
                    look_for: "heights that differ from the chart beside it",
                    ..Caption::default()
                },
                x: ChartAxis::linear("Time", AxisUnit::Seconds),
                y: ChartAxis::linear("Jobs", AxisUnit::Count),
                layers: layers.collect(),
                capacity: None,
                waiting: None,
                until: last,
            }
            .draw()
        }));
        if by.is_empty() {
            break;
        }
    }
    drawn
}

/// Returns the second at which a job ends on a side.
fn until(job: &JobPair<'_>, side: usize, first: [u64; 2]) -> f64 {
    (job.rows[side].submit_ms - first[side] + job.took[side]) as f64 / 1e3
}

/// Returns how many of some jobs have come and not ended, from each second on at which that changes.
fn unfinished(jobs: &[&JobPair<'_>], side: usize, first: [u64; 2]) -> Vec<(f64, f64)> {
    let mut changes: Vec<(f64, f64)> = Vec::with_capacity(2 * jobs.len());
    for job in jobs {
        let end = until(job, side, first);
        changes.extend([(end - job.took[side] as f64 / 1e3, 1.0), (end, -1.0)]);
    }
    changes.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut now = 0.0;
    for (_, change) in &mut changes {
        now += *change;
        *change = now;
    }
    changes
}

/// Returns the sojourns as they were replayed and with other settings: of all jobs, and the mean of each
/// group. A mean has the band that the error of the replay gives.
pub(super) fn changes(pairs: &JobPairs<'_>, what_if: &OtherSettings) -> SideTable {
    let all = pairs.0.iter().collect::<Vec<_>>();
    let mut rows = vec![
        change("mean", &all, mean),
        change("median", &all, |values| quantile(values, 0.5)),
        change("95th percentile", &all, |values| quantile(values, 0.95)),
    ];
    for grouping in GROUPINGS {
        let groups = grouping.groups(&pairs.0).into_iter();
        rows.extend(
            groups.map(|(name, of)| change(&format!("mean, {} {name}", grouping.word), &of, mean)),
        );
    }
    for (place, row) in rows.iter_mut().enumerate() {
        let band = row.values[1].zip(what_if.bands.mean).filter(|_| ![1, 2].contains(&place));
        row.notes = vec![PageCell::text(band.map_or_else(String::new, |(mean, band)| {
            format!("{} to {}", span(mean * band.low), span(mean * band.high))
        }))];
    }
    SideTable {
        caption: format!("Sojourns of {}", counted(all.len() as u64, "job")),
        keys: vec![PageColumn::text("of")],
        sides: SETTINGS.map(str::to_owned).into(),
        changes: &[ChangeColumn::Difference, ChangeColumn::Ratio],
        rows,
        notes: vec![PageColumn::text("by the error")],
    }
}

/// Returns a number of some jobs on both sides.
fn change(name: &str, jobs: &[&JobPair<'_>], of: fn(&[f64]) -> Option<f64>) -> SideRow {
    let sides = [0, 1].map(|side| jobs.iter().map(|job| job.took[side] as f64 / 1e3).collect());
    SideRow::new(name, Unit::TIME, sides.map(|side: Vec<f64>| of(&side)).into())
}

/// Returns the mean sojourns of all jobs and of the groups that judge, logged and predicted.
pub(super) fn means(prediction: &Prediction<'_>) -> PageTable {
    let jobs = prediction.judges();
    let mut columns = vec![PageColumn::text("of"), PageColumn::number("jobs")];
    columns.extend(SIDES.map(PageColumn::number));
    columns.push(PageColumn::number("error"));
    let all = [("all".to_owned(), jobs.iter().collect::<Vec<_>>())];
    let groups = GROUPINGS.into_iter().flat_map(|grouping| {
        let named = grouping.groups(jobs).into_iter();
        named.map(move |(name, jobs)| (format!("{} {name}", grouping.word), jobs))
    });
    let rows = all.into_iter().chain(groups).map(|(name, jobs)| {
        let [logged, predicted] = [0, 1].map(|side| {
            mean(&jobs.iter().map(|job| job.took[side] as f64 / 1e3).collect::<Vec<_>>())
        });
        let error = logged.zip(predicted).map(|(logged, predicted)| predicted / logged - 1.0);
        let mut row =
            vec![PageCell::text(name), PageCell::number(jobs.len() as f64, jobs.len().to_string())];
        row.extend([logged, predicted].map(|mean| PageCell::maybe(mean, span)));
        row.push(PageCell::maybe(error, |error| with_plus(percent(error), error)));
        row
    });
    PageTable::new("Mean sojourns of the jobs that judge", columns, rows)
}
