//! `report.html`: a run on one page.
//!
//! Made of the run's own files, which it reads row by row, and of what is known of the scenario.
//! What was not recorded is left out, and what would be too much to draw says so. No wall clock has
//! a part in it: the same scenario and seed give the same page.
//!
//! The page is not among the files of the digest, and so can name it. It says nothing that those
//! files do not say; a better chart in a later version then leaves a run the name that it had.

mod attempts;
mod charts;
mod jobs;
mod slots;
#[cfg(test)]
mod tests;
mod verdicts;
mod warnings;

use self::attempts::{Attempts, MOST_ATTEMPTS, MOST_SLOTS};
use self::slots::Slots;
use super::RESOLVED;
use super::chart::{Caption, Drawing, Sample, Unit, style};
use super::page::{Cell, Chart, Column, Number, Page, Part, Section, Table};
use super::results::RunResults;
use crate::cluster::Topology;
use crate::expect::{ReadError, Verdict};
use crate::mapred::PerSlot;
use crate::record::{Place, Summary};
use crate::scenario::Scenario;

pub use charts::distribution;
pub use jobs::{JobRow, SIZES, locality_by_size, read_jobs, sojourns_by_class};
pub use verdicts::verdicts;

/// The table of jobs has so many rows.
const MOST_JOBS: usize = 1_000;

/// What a report is made of.
#[derive(Clone, Copy, Debug)]
pub struct RunReport<'a> {
    /// What was run.
    pub scenario: &'a Scenario,
    /// The nodes of its cluster.
    pub topology: &'a Topology,
    /// What outputs call them.
    pub places: &'a [Place],
    /// The run in numbers.
    pub summary: &'a Summary,
    /// The run's files.
    pub results: &'a RunResults,
    /// What became of the scenario's expectations.
    pub verdicts: &'a [Verdict],
    /// What is to be thought of before the results are trusted.
    pub warnings: &'a [String],
    /// The name of the files' bytes, where another run could have the same.
    pub digest: Option<&'a str>,
}

impl RunReport<'_> {
    /// Returns the page.
    ///
    /// # Errors
    /// If the run's files cannot be read.
    pub fn page(&self) -> Result<Page, ReadError> {
        let (scenario, summary) = (self.scenario, self.summary);
        let jobs = read_jobs(self.results)?;
        let sections = [
            ("In short", self.in_short(&jobs)),
            ("Expectations", self.expectations()),
            ("Sojourn", self.sojourn(&jobs)),
            ("Slots", self.slots(&jobs)?),
            ("Locality", charted(charts::locality(&locality_by_size(&jobs)))),
            ("Latency", self.latency()?),
            ("Jobs", vec![Part::Table(table(&jobs))]),
            ("How to repeat it", self.repeat()),
        ];
        let section =
            |(title, parts): (&str, Vec<Part>)| Section { title: title.to_owned(), parts };
        Ok(Page {
            title: summary.scenario.clone(),
            subtitle: format!(
                "{} · {} nodes · {} jobs · seed {} · clock {}",
                summary.policy,
                count(summary.nodes),
                count(jobs.len() as f64),
                summary.seed,
                scenario.clock
            ),
            style: style(),
            sections: sections.into_iter().filter(|of| !of.1.is_empty()).map(section).collect(),
            footer: format!("Made by Mumakil {}", summary.version),
        })
    }

    fn in_short(&self, jobs: &[JobRow]) -> Vec<Part> {
        let mut parts = Vec::new();
        if !self.scenario.description.is_empty() {
            parts.push(Part::Text(self.scenario.description.clone()));
        }
        if let Some(experiment) = &self.scenario.experiment {
            let published = match experiment.published.as_str() {
                "" => String::new(),
                published => format!(" Published: {published}"),
            };
            let (id, what) = (&experiment.id, &experiment.what);
            parts.push(Part::Text(format!("Repeats {id}: {what}.{published}")));
        }
        parts.push(Part::Numbers(numbers(self.summary)));
        let mut warnings = self.warnings.to_vec();
        warnings.extend(warnings::warnings(jobs, self.summary.virtual_s));
        if !warnings.is_empty() {
            parts.push(Part::Warnings(warnings));
        }
        parts
    }

    fn expectations(&self) -> Vec<Part> {
        match self.verdicts {
            [] => Vec::new(),
            found => vec![Part::Verdicts(verdicts(&self.scenario.expect, found))],
        }
    }

    fn sojourn(&self, jobs: &[JobRow]) -> Vec<Part> {
        let mut classes = sojourns_by_class(jobs);
        // In the scenario's order; those that only jobs name come after.
        let place = |class: &str| self.scenario.classes.get_index_of(class).unwrap_or(usize::MAX);
        classes.sort_by(|a, _, b, _| place(a).cmp(&place(b)));
        if classes.is_empty() {
            return Vec::new();
        }
        let caption = Caption {
            id: "sojourn".to_owned(),
            title: "How long jobs take".to_owned(),
            description: "The distribution of the jobs' sojourn times, by class.".to_owned(),
        };
        let several = 1 < classes.len();
        let sample = |(class, values): (&&str, &Vec<f64>)| Sample {
            name: if several { charts::name_of(class).to_owned() } else { String::new() },
            values: values.clone(),
        };
        let distribution =
            distribution(caption, "Sojourn time", classes.iter().map(sample).collect());
        charted([distribution].into_iter().chain(several.then(|| charts::boxes(&classes))))
    }

    fn slots(&self, jobs: &[JobRow]) -> Result<Vec<Part>, ReadError> {
        let Summary { map_slots, reduce_slots, virtual_s, .. } = *self.summary;
        let mut parts = Vec::new();
        if self.scenario.record.timeline {
            let capacity = PerSlot { map: map_slots, reduce: reduce_slots };
            let slots = Slots { jobs, capacity, until: virtual_s };
            parts.extend(charted(slots.draw(self.results)?));
        }
        if !self.scenario.record.tasks {
            return Ok(parts);
        }
        let tasks = |job: &JobRow| [job.maps, job.reduces, job.failed, job.killed].map(u64::from);
        let attempts: u64 = jobs.iter().flat_map(tasks).sum();
        let too_many = [
            (map_slots + reduce_slots, MOST_SLOTS, "slots"),
            (attempts, MOST_ATTEMPTS, "attempts"),
        ];
        if let Some((all, most, what)) = too_many.into_iter().find(|(all, most, _)| most < all) {
            parts.push(Part::Text(format!(
                "What ran where and when is not drawn: there are {} {what}, more than {}. \
                 `tasks.csv` has all of it, and so has the trace of `mumakil run --perfetto`.",
                count(all as f64),
                count(most as f64)
            )));
            return Ok(parts);
        }
        let (topology, places) = (self.topology, self.places);
        let attempts = Attempts { jobs, topology, places, until: virtual_s * 1e3 };
        parts.extend(charted([attempts.draw(self.results)?]));
        Ok(parts)
    }

    fn latency(&self) -> Result<Vec<Part>, ReadError> {
        if !self.scenario.record.histograms {
            return Ok(Vec::new());
        }
        Ok(charted(charts::latencies(self.results)?))
    }

    fn repeat(&self) -> Vec<Part> {
        let promise = match self.digest {
            Some(digest) => format!(
                "In the folder of this report; it gives the same bytes, whose digest is `{digest}`."
            ),
            None => "In the folder of this report; on a scaled clock no run is like another, but \
                     with `--clock virtual` they are."
                .to_owned(),
        };
        vec![Part::Code(format!("mumakil run {RESOLVED}")), Part::Text(promise)]
    }
}

/// Returns the charts, if there are any.
fn charted(drawings: impl IntoIterator<Item = Drawing>) -> Vec<Part> {
    let chart = |drawing: Drawing| Chart { svg: drawing.inline(), caption: String::new() };
    let charts: Vec<Chart> = drawings.into_iter().map(chart).collect();
    if charts.is_empty() { Vec::new() } else { vec![Part::Charts(charts)] }
}

fn numbers(summary: &Summary) -> Vec<Number> {
    let seconds = |value: Option<f64>| value.map(|value| Unit::Seconds.text(value));
    let share = |value: Option<f64>| value.map(|value| Unit::Share.text(value));
    let locality = &summary.locality;
    let beyond = [("rack", locality.rack), ("off-rack", locality.off_rack)]
        .map(|(word, part)| share(part).map_or_else(String::new, |part| format!("{word} {part}")));
    let slots = |slots: u64| format!("of {} slots", count(slots as f64));
    let numbers = [
        ("Jobs", Some(count(summary.jobs as f64)), outcomes(summary)),
        ("Mean sojourn", seconds(summary.mean_sojourn_s), String::new()),
        ("Median sojourn", seconds(summary.median_sojourn_s), String::new()),
        ("95th percentile", seconds(summary.p95_sojourn_s), "of sojourn".to_owned()),
        ("Mean wait", seconds(summary.mean_wait_s), "for the first slot".to_owned()),
        ("Makespan", seconds(summary.makespan_s), String::new()),
        ("Node-local maps", share(locality.node), beyond.join(", ")),
        ("Map slots held", share(summary.slot_utilisation.map), slots(summary.map_slots)),
        ("Reduce slots held", share(summary.slot_utilisation.reduce), slots(summary.reduce_slots)),
        ("Attempts", Some(count(summary.attempts as f64)), tasks(summary)),
    ];
    let number = |(label, value, note): (&str, Option<String>, String)| {
        Some(Number { label: label.to_owned(), value: value?, note })
    };
    numbers.into_iter().filter_map(number).collect()
}

fn outcomes(summary: &Summary) -> String {
    let Summary { jobs, jobs_succeeded, jobs_failed, jobs_killed, .. } = *summary;
    if jobs_succeeded == jobs {
        return "all succeeded".to_owned();
    }
    let left = jobs - jobs_succeeded - jobs_failed - jobs_killed;
    let parts = [
        (jobs_succeeded, "succeeded"),
        (jobs_failed, "failed"),
        (jobs_killed, "killed"),
        (left, "left"),
    ];
    let some = parts.into_iter().filter(|(jobs, _)| 0 < *jobs);
    some.map(|(jobs, word)| format!("{} {word}", count(jobs as f64))).collect::<Vec<_>>().join(", ")
}

fn tasks(summary: &Summary) -> String {
    format!("of {} maps, {} reduces", count(summary.maps as f64), count(summary.reduces as f64))
}

fn table(jobs: &[JobRow]) -> Table {
    let caption = match jobs.len() {
        all @ MOST_JOBS.. if MOST_JOBS < all => {
            format!("The first {} jobs; the rest is in jobs.csv", count(MOST_JOBS as f64))
        }
        _ => "All jobs".to_owned(),
    };
    let texts = ["Name", "Pool", "Class"].map(Column::text);
    let numbers =
        ["Maps", "Reduces", "Submitted", "Wait", "Sojourn", "Node-local", "Attempts lost"];
    let columns = texts.into_iter().chain(numbers.map(|title| Column::number(title, None)));
    Table {
        caption,
        columns: columns.chain([Column::text("Outcome")]).collect(),
        rows: jobs.iter().take(MOST_JOBS).map(row).collect(),
    }
}

fn row(job: &JobRow) -> Vec<Cell> {
    let number = |number: u32| Cell::number(number.into(), count(number));
    let seconds = |value: Option<f64>| {
        value.map_or_else(Cell::unknown, |value| Cell::number(value, Unit::Seconds.text(value)))
    };
    let maps: f64 = job.local.iter().sum();
    let local = match job.local[0] / maps {
        share if share.is_finite() => Cell::number(share, Unit::Share.text(share)),
        _ => Cell::unknown(),
    };
    vec![
        Cell::text(&job.name),
        Cell::text(&job.pool),
        Cell::text(&job.class),
        number(job.maps),
        number(job.reduces),
        seconds(Some(job.submit)),
        seconds(job.wait),
        seconds(job.sojourn),
        local,
        number(job.failed + job.killed),
        Cell::text(&job.outcome),
    ]
}

fn count(count: impl Into<f64>) -> String {
    Unit::Count.text(count.into())
}
