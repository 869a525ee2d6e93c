//! `report.html`: a run on one page.
//!
//! The page is made from the scenario and from the run's own files, read row by row. It leaves out
//! charts of tables that were not recorded. With too many attempts for a bar each, a chart shows
//! how busy each node was. The same scenario and seed give the same page, since the page shows no
//! wall-clock time.
//!
//! ```text
//! SECTIONS:  "Slots" ─ slots::blocks    ─ timeline.csv ─┐
//!                    ├ faults::blocks   ─ faults.csv   ─┼ blocks ─ Section ─ HtmlPage
//!                    └ attempts::blocks ─ tasks.csv    ─┘
//! ```
//!
//! To add a chart, add a file here that makes blocks from the run's results, and list it in
//! `SECTIONS`.
//!
//! The digest does not cover the page. So the page can show the digest, and a better chart in a
//! later version does not change the digest of a run.

mod arrivals;
mod attempts;
mod by_pool;
mod faults;
mod gist;
mod headlines;
mod in_short;
mod job_groups;
mod latency;
mod locality;
mod nodes;
mod repeat;
mod resources;
mod slots;
mod slowdown;
mod sojourn;
mod table;
#[cfg(test)]
mod tests;
mod verdicts;
mod warnings;
mod waste;
mod why;

use std::cell::OnceCell;

use super::results::RunResults;
use crate::record::{NodeLabel, Summary};
use mumakil_base::units::tell::counted;
use mumakil_core::cluster::Topology;
use mumakil_draw::chart::{AxisUnit, Drawing};
use mumakil_draw::page::{HtmlPage, PageBlock, Section};
use mumakil_results::expect::ExpectationVerdict;
use mumakil_results::explain::RunToExplain;
use mumakil_results::tables::{ReadError, RunJobs};
use mumakil_scenario::{Registry, Scenario};

pub use job_groups::JobGroups;
pub use slots::{LOOK_FOR_SLOTS, SlotsDrawing, slots_over_time};
pub use sojourn::distribution;
pub use verdicts::verdicts;

/// The input of the page's blocks.
struct ReportSource<'a> {
    run: &'a RunReport<'a>,
    /// The run's jobs.
    jobs: RunJobs,
    /// The groups of jobs that the page distinguishes, and their colours.
    parties: JobGroups,
    /// The run as it is explained, once its attempts have been read.
    explained: OnceCell<RunToExplain>,
    /// The causes of the jobs' times, in sentences, once the run has been explained.
    causes: OnceCell<Vec<String>>,
    /// The second at which charts over time end.
    until: f64,
}

/// Blocks of the page; empty if their table was not recorded.
type ReportBlocks = Result<Vec<PageBlock>, ReadError>;

/// A function that makes blocks of the page.
type Make = fn(&ReportSource<'_>) -> ReportBlocks;

/// The sections of the page from top to bottom: title and blocks. Empty sections are left out.
const SECTIONS: [(&str, &[Make]); 9] = [
    ("In short", &[in_short::blocks, by_pool::blocks]),
    ("Expectations", &[verdicts::blocks]),
    ("Sojourn", &[sojourn::blocks, arrivals::blocks, slowdown::blocks]),
    (
        "Slots",
        &[
            slots::blocks,
            resources::blocks,
            faults::blocks,
            attempts::blocks,
            nodes::blocks,
            waste::blocks,
        ],
    ),
    ("Locality", &[locality::blocks]),
    ("Latency", &[latency::blocks]),
    ("Why jobs took so long", &[why::blocks]),
    ("Jobs", &[table::blocks]),
    ("How to repeat it", &[repeat::blocks]),
];

/// The input of a report.
#[derive(Clone, Copy, Debug)]
pub struct RunReport<'a> {
    /// The scenario.
    pub scenario: &'a Scenario,
    /// The known policies. The report asks the scenario's policy for the slots that it guarantees
    /// to pools.
    pub registry: &'a Registry,
    /// The nodes of the scenario's cluster.
    pub topology: &'a Topology,
    /// The names of the nodes in output files.
    pub labels: &'a [NodeLabel],
    /// The run in numbers.
    pub summary: &'a Summary,
    /// The run's files.
    pub results: &'a RunResults,
    /// The verdicts on the scenario's expectations.
    pub verdicts: &'a [ExpectationVerdict],
    /// Doubts that a reader should know before trusting the results.
    pub warnings: &'a [String],
    /// The digest of the result files; `None` on a scaled clock, where no other run has the same
    /// digest.
    pub digest: Option<&'a str>,
}

impl RunReport<'_> {
    /// Returns the report as a page.
    pub fn page(&self) -> Result<HtmlPage, ReadError> {
        let (scenario, summary) = (self.scenario, self.summary);
        let jobs = RunJobs::read(self.results)?;
        // All charts of the page share these groups, so that a pool has the same colour in every
        // chart.
        let parties = JobGroups::of([&jobs.all[..]]).with_classes(&jobs.all);
        let until = slots::end_of_charts(self, &jobs)?;
        let (explained, causes) = (OnceCell::new(), OnceCell::new());
        let source = ReportSource { run: self, jobs, parties, explained, causes, until };
        let mut sections = Vec::new();
        for (title, makes) in SECTIONS {
            let mut blocks: Vec<PageBlock> = Vec::new();
            for make in makes {
                for block in make(&source)? {
                    match (blocks.last_mut(), block) {
                        // All consecutive charts of a section stand side by side, even if several
                        // functions made them.
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
            gist: gist::sentences(&source),
            sections,
            version: summary.run.version.clone(),
        })
    }
}

/// Returns one block with all charts side by side; no block if there are no charts.
fn charted(drawings: impl IntoIterator<Item = Drawing>) -> Vec<PageBlock> {
    let drawings: Vec<Drawing> = drawings.into_iter().collect();
    // An empty block would still show the title of its section.
    if drawings.is_empty() { Vec::new() } else { vec![PageBlock::Charts(drawings)] }
}

fn count(count: impl Into<f64>) -> String {
    AxisUnit::Count.text(count.into())
}
