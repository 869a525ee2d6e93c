//! An estimator that is a formula: `{formula: {maps: "tasks * task_time"}}`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::scheduler::rank::{FACTS, RankFormula};
use mumakil_base::units::SimSpan;
use mumakil_base::units::tell::listed;
use mumakil_core::mapred::{
    Complaint, JobId, KnownJob, PerSlot, SizeEstimator, SlotKind, TaskTimeSum,
};

/// The work of a job as a formula, in the language of ranks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SizeFormulas {
    /// The work of all maps of a job, and of its reduces without a formula of their own.
    pub maps: RankFormula,
    /// The work of all reduces of a job.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reduces: Option<RankFormula>,
}

impl SizeFormulas {
    /// Returns complaints about numbers that are no time, or that no job has when it arrives.
    pub(super) fn complaints(&self) -> Vec<Complaint> {
        let formulas = [("maps", Some(&self.maps)), ("reduces", self.reduces.as_ref())];
        let formulas = formulas.into_iter().filter_map(|(key, formula)| Some((key, formula?)));
        let complaint = |(key, formula): (&str, &RankFormula)| {
            if let Some(name) = formula.late_fact() {
                let message =
                    format!("`{name}` is of a job that runs, and sizes are estimated before");
                let early =
                    FACTS.iter().filter(|fact| fact.is_early).map(|fact| fact.name.to_owned());
                let hint = format!("a size may use {}", listed(early, "and"));
                return Some(Complaint::error(&[key], message, hint));
            }
            let is_time = formula.is_time();
            let message = "a size is a time: the work of all tasks together";
            (!is_time).then(|| Complaint::error(&[key], message, "such as `tasks * task_time`"))
        };
        formulas.filter_map(complaint).collect()
    }
}

/// Estimates sizes by formulas.
#[derive(Debug)]
pub(super) struct FormulaEstimator {
    formulas: PerSlot<RankFormula>,
    /// How long the tasks of all jobs took that have succeeded.
    took: PerSlot<TaskTimeSum>,
    stack: Vec<f64>,
}

impl FormulaEstimator {
    pub(super) fn new(SizeFormulas { maps, reduces }: SizeFormulas) -> Self {
        let reduces = reduces.unwrap_or_else(|| maps.clone());
        let formulas = PerSlot { map: maps, reduce: reduces };
        Self { formulas, took: PerSlot::default(), stack: Vec::new() }
    }
}

impl SizeEstimator for FormulaEstimator {
    fn task_done(&mut self, _: JobId, kind: SlotKind, took: SimSpan) {
        self.took[kind].add(took);
    }

    fn work(&mut self, known: &KnownJob<'_>) -> f64 {
        let work = self.formulas[known.kind].of_new(known, &self.took, &mut self.stack);
        // A size that is no number is unknown, and a job of unknown size comes last.
        if work.is_nan() { f64::INFINITY } else { work.max(0.0) }
    }
}
