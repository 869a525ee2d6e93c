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
mod numbers;
mod slots;
mod table;
#[cfg(test)]
mod tests;
mod verdicts;
mod warnings;

use self::attempts::{Attempts, MOST_ATTEMPTS, MOST_SLOTS};
use self::slots::Slots;
use super::results::RunResults;
use crate::chart::{Caption, Drawing, Sample, Unit, style};
use crate::cluster::Topology;
use crate::expect::{ReadError, Verdict};
use crate::files::RESOLVED;
use crate::mapred::PerSlot;
use crate::page::{Chart, Page, Part, Section};
use crate::record::{Place, Summary};
use crate::scenario::Scenario;
use crate::units::tell::counted;

pub use charts::distribution;
pub use jobs::{JobRow, SIZES, locality_by_size, read_jobs, sojourns_by_class};
pub use slots::slots_over_time;
pub use verdicts::verdicts;

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
            ("Jobs", vec![Part::Table(table::jobs(&jobs))]),
            ("How to repeat it", self.repeat()),
        ];
        let section =
            |(title, parts): (&str, Vec<Part>)| Section { title: title.to_owned(), parts };
        Ok(Page {
            title: summary.scenario.clone(),
            subtitle: format!(
                "{} · {} · {} · seed {} · clock {}",
                summary.policy,
                counted(u64::from(summary.nodes), "node"),
                counted(jobs.len() as u64, "job"),
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
            parts.push(Part::Text(format!("Repeats {}: {}", experiment.id, experiment.what)));
            if !experiment.published.is_empty() {
                parts.push(Part::Text(format!("Published: {}", experiment.published)));
            }
        }
        parts.push(Part::Numbers(numbers::numbers(self.summary)));
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
        if self.scenario.record.tasks {
            parts.extend(self.attempts(jobs)?);
        }
        Ok(parts)
    }

    fn attempts(&self, jobs: &[JobRow]) -> Result<Vec<Part>, ReadError> {
        let Summary { map_slots, reduce_slots, virtual_s, .. } = *self.summary;
        let tasks = |job: &JobRow| [job.maps, job.reduces, job.failed, job.killed].map(u64::from);
        let attempts: u64 = jobs.iter().flat_map(tasks).sum();
        for (all, most, what) in
            [(map_slots + reduce_slots, MOST_SLOTS, "slots"), (attempts, MOST_ATTEMPTS, "attempts")]
        {
            if most < all {
                return Ok(vec![Part::Text(format!(
                    "What ran where and when is not drawn: there are {} {what}, more than {}. \
                     `tasks.csv` has all of it, and so has the trace of `mumakil run --perfetto`.",
                    count(all as f64),
                    count(most as f64)
                ))]);
            }
        }
        let (topology, places) = (self.topology, self.places);
        let attempts = Attempts { jobs, topology, places, until: virtual_s * 1e3 };
        Ok(charted([attempts.draw(self.results)?]))
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

fn count(count: impl Into<f64>) -> String {
    Unit::Count.text(count.into())
}
