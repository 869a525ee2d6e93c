//! `report.html`: a run on one page.
//!
//! Made of the run's own files, which it reads row by row, and of what is known of the scenario.
//! Tables that were not recorded are left out, and a chart of too many things says so. The same
//! scenario and seed give the same page, since no wall clock has a part in it.
//!
//! ```text
//! SECTIONS:  "Slots" ─ slots::blocks    ─ timeline.csv ─┐
//!                    ├ faults::blocks   ─ faults.csv   ─┼ blocks ─ Section ─ HtmlPage
//!                    └ attempts::blocks ─ tasks.csv    ─┘
//! ```
//!
//! A new chart is a new file here, which makes blocks of the run's results, and its line in
//! `SECTIONS`.
//!
//! The page is not among the files of the digest, and so can name it. It says nothing that those
//! files do not say; a better chart in a later version then leaves a run the name that it had.

mod attempts;
mod faults;
mod headlines;
mod in_short;
mod job_groups;
mod latency;
mod locality;
mod repeat;
mod slots;
mod sojourn;
mod table;
#[cfg(test)]
mod tests;
mod verdicts;
mod warnings;
mod waste;
mod why;

use super::results::RunResults;
use crate::record::{NodeLabel, Summary};
use mumakil_base::units::tell::counted;
use mumakil_core::cluster::Topology;
use mumakil_draw::chart::{AxisUnit, Drawing};
use mumakil_draw::page::{HtmlPage, PageBlock, Section};
use mumakil_results::expect::ExpectationVerdict;
use mumakil_results::tables::{ReadError, RunJobs};
use mumakil_scenario::{Registry, Scenario};

pub use job_groups::JobGroups;
pub use locality::{SIZES, locality_by_size};
pub use slots::{SlotsDrawing, slots_over_time};
pub use sojourn::distribution;
pub use verdicts::verdicts;

/// The material of the page's blocks.
struct ReportSource<'a> {
    run: &'a RunReport<'a>,
    /// The run's jobs.
    jobs: RunJobs,
    /// How the page tells them apart and colours them.
    parties: JobGroups,
}

/// Blocks of the page; none if what they would show was not recorded.
type ReportBlocks = Result<Vec<PageBlock>, ReadError>;

/// Makes blocks of the page.
type Make = fn(&ReportSource<'_>) -> ReportBlocks;

/// The page from top to bottom: the title of each section, and what is in it. A section in which
/// there is nothing is left out.
const SECTIONS: [(&str, &[Make]); 9] = [
    ("In short", &[in_short::blocks]),
    ("Expectations", &[verdicts::blocks]),
    ("Sojourn", &[sojourn::blocks]),
    ("Slots", &[slots::blocks, faults::blocks, attempts::blocks, waste::blocks]),
    ("Locality", &[locality::blocks]),
    ("Latency", &[latency::blocks]),
    ("Why jobs took so long", &[why::blocks]),
    ("Jobs", &[table::blocks]),
    ("How to repeat it", &[repeat::blocks]),
];

/// The material of a report.
#[derive(Clone, Copy, Debug)]
pub struct RunReport<'a> {
    /// The scenario.
    pub scenario: &'a Scenario,
    /// The policies, of which one says what it promises.
    pub registry: &'a Registry,
    /// The nodes of its cluster.
    pub topology: &'a Topology,
    /// Their names in outputs.
    pub labels: &'a [NodeLabel],
    /// The run in numbers.
    pub summary: &'a Summary,
    /// The run's files.
    pub results: &'a RunResults,
    /// The verdicts on the scenario's expectations.
    pub verdicts: &'a [ExpectationVerdict],
    /// Doubts that a reader should know before trusting the results.
    pub warnings: &'a [String],
    /// The name of the files' bytes, where another run could have the same.
    pub digest: Option<&'a str>,
}

impl RunReport<'_> {
    /// Returns the page.
    ///
    /// # Errors
    /// If the run's files cannot be read.
    pub fn page(&self) -> Result<HtmlPage, ReadError> {
        let (scenario, summary) = (self.scenario, self.summary);
        let jobs = RunJobs::read(self.results)?;
        // Made once for the page, so that a pool has the same colour in every chart.
        let parties = JobGroups::of([&jobs.all[..]]).with_classes(&jobs.all);
        let source = ReportSource { run: self, jobs, parties };
        let mut sections = Vec::new();
        for (title, makes) in SECTIONS {
            let mut blocks: Vec<PageBlock> = Vec::new();
            for make in makes {
                for block in make(&source)? {
                    match (blocks.last_mut(), block) {
                        // Charts of one section stand beside one another, even if several functions
                        // made them.
                        (Some(PageBlock::Charts(charts)), PageBlock::Charts(more)) => {
                            charts.extend(more)
                        }
                        (_, block) => blocks.push(block),
                    }
                }
            }
            if !blocks.is_empty() {
                sections.push(Section::new(title, blocks));
            }
        }
        Ok(HtmlPage {
            title: summary.run.scenario.clone(),
            subtitle: format!(
                "{} · {} · {} · seed {} · clock {}",
                summary.policies(),
                counted(u64::from(summary.run.nodes), "node"),
                counted(source.jobs.all.len() as u64, "job"),
                summary.run.seed,
                scenario.clock
            ),
            sections,
            version: summary.run.version.clone(),
        })
    }
}

/// Returns the charts beside one another, if there are any.
fn charted(drawings: impl IntoIterator<Item = Drawing>) -> Vec<PageBlock> {
    let drawings: Vec<Drawing> = drawings.into_iter().collect();
    // An empty block would still open its section, with nothing beneath the title.
    if drawings.is_empty() { Vec::new() } else { vec![PageBlock::Charts(drawings)] }
}

fn count(count: impl Into<f64>) -> String {
    AxisUnit::Count.text(count.into())
}
