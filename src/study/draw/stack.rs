//! `stack`: the pools, users or jobs that hold the slots over time.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Picture;
use super::canvas::Canvas;
use super::kind::{AxisUse, ChartKind, ChartTraits};
use mumakil_core::mapred::{PromisedSlots, SlotKind};
use mumakil_draw::chart::Caption;
use mumakil_results::expect::ExprNeeds;
use mumakil_results::tables::{ReadError, RunJobs, SlotsRow, TableRow};
use mumakil_run::output::report::{JobGroups, LOOK_FOR_SLOTS, SlotsDrawing, slots_over_time};

/// A kind of slots.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum StackedSlots {
    /// The slots of maps.
    Map,
    /// The slots of reduces.
    Reduce,
}

impl StackedSlots {
    fn kind(self) -> SlotKind {
        match self {
            Self::Map => SlotKind::Map,
            Self::Reduce => SlotKind::Reduce,
        }
    }
}

pub(super) struct SlotStack<'c>(pub(super) &'c StackedSlots);

impl ChartKind for SlotStack<'_> {
    fn nature(&self) -> ChartTraits {
        ChartTraits {
            word: "stacked chart",
            look_for: LOOK_FOR_SLOTS,
            shows: None,
            over: AxisUse::Unused,
            by: AxisUse::Unused,
            has_log: false,
            published: None,
        }
    }

    fn expressions(&self) -> Vec<(&str, &str)> {
        Vec::new()
    }

    fn description(&self) -> String {
        format!("slots that {}s hold", self.0.kind().word())
    }

    fn needs(&self) -> ExprNeeds {
        let mut needs = ExprNeeds::default();
        needs.tables.insert(SlotsRow::FILE);
        needs
    }

    /// Draws the run with the first seed: slots over time have no mean over several runs.
    fn draw(&self, canvas: &Canvas<'_>) -> Result<Picture, ReadError> {
        let runs = canvas.material.runs;
        if !runs.has(canvas.cell) {
            return Ok(canvas.nothing());
        }
        let run = runs.run(canvas.cell, 0)?;
        // Also read the first cell's jobs, so that a pool has the same colour on the charts of all
        // cells.
        let first = vec![0; canvas.cell.len()];
        let mut jobs = Vec::new();
        for cell in [&first[..], canvas.cell] {
            if runs.has(cell) {
                jobs.push(RunJobs::read(runs.run(cell, 0)?)?);
            }
        }
        let parties = JobGroups::of(jobs.iter().map(|jobs| &jobs.all[..]));
        let caption = Caption { description: String::new(), ..canvas.caption.clone() };
        let what = SlotsDrawing { kind: self.0.kind(), caption, until: None };
        Ok(slots_over_time(run, &parties, PromisedSlots::new(), what)?.into())
    }
}
