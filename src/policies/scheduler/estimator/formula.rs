//! An estimator that is a formula: `{formula: {maps: "tasks * task_time"}}`.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, de};

use crate::scheduler::rank::{FACTS, RankFormula};
use mumakil_base::units::SimSpan;
use mumakil_base::units::tell::listed;
use mumakil_core::mapred::{JobId, KnownJob, PerSlot, SizeEstimator, SlotKind, TaskTimeSum};

/// The work of jobs as formulas.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SizeFormulas {
    /// The work of all maps of a job, and of its reduces without a formula of their own.
    pub maps: SizeFormula,
    /// The work of all reduces of a job.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reduces: Option<SizeFormula>,
}

/// A time in the language of ranks, of numbers that a job has when it arrives.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(transparent)]
pub struct SizeFormula(RankFormula);

impl<'de> Deserialize<'de> for SizeFormula {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let formula = RankFormula::deserialize(from)?;
        if let Some(name) = formula.late_fact() {
            let facts = FACTS.iter().filter(|fact| fact.is_early);
            let early = listed(facts.map(|fact| fact.name.to_owned()), "and");
            return Err(de::Error::custom(format!(
                "`{name}` is of a job that runs, and sizes are estimated before: there are {early}"
            )));
        }
        if !formula.is_time() {
            return Err(de::Error::custom(
                "a size is a time, the work of all tasks together, such as `tasks * task_time`",
            ));
        }
        Ok(Self(formula))
    }
}

impl JsonSchema for SizeFormula {
    fn schema_name() -> Cow<'static, str> {
        "SizeFormula".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let title = "a time as an expression, such as `tasks * task_time`";
        json_schema!({ "title": title, "type": "string" })
    }
}

#[derive(Debug)]
pub(super) struct FormulaEstimator {
    formulas: PerSlot<SizeFormula>,
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
        let work = self.formulas[known.kind].0.of_new(known, &self.took, &mut self.stack);
        // A size that is no number is unknown, and a job of unknown size comes last.
        if work.is_nan() { f64::INFINITY } else { work.max(0.0) }
    }
}
