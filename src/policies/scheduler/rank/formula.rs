//! A rank: an expression that is checked and made ready for a job.
//!
//! ```text
//! age / remaining_maps    ->    age, remaining_maps, over        a list of steps on a stack
//! ```

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use super::facts::{FACTS, RankFact, RankFlow, RankedJob, Surroundings};
use super::record::JobRecord;
use mumakil_base::expression::{
    ExprComplaint, Operand, Operation, Syntax, SyntaxNode, Unit, parse,
};
use mumakil_core::mapred::{KnownJob, PerSlot, TaskTimeSum};

/// A number for each job, as an expression.
#[derive(Clone, Debug)]
pub struct RankFormula {
    text: String,
    steps: Vec<FormulaStep>,
    unit: Unit,
    pub(super) flows: RankFlow,
}

/// Begins the names of the job that would lose a slot, in `preemption_when`.
pub(super) const VICTIM: &str = "victim.";

/// A step of the computation on a stack of numbers.
#[derive(Clone, Debug)]
enum FormulaStep {
    Constant(f64),
    Fact(&'static RankFact),
    /// As `Fact`, of the job that would lose a slot.
    OfVictim(&'static RankFact),
    /// An operation on this many numbers.
    Operation(Operation, usize),
    Apply(&'static RankFunction),
}

/// A function that a rank may call.
#[derive(Debug)]
pub(super) struct RankFunction {
    /// Its name.
    pub name: &'static str,
    /// The names of its arguments.
    pub arguments: &'static [&'static str],
    /// Its description.
    pub about: &'static str,
    unit: FunctionUnit,
    compute: fn(&[f64]) -> f64,
}

/// Returns the names in a rank with their meanings, then those of another job, then the functions.
pub(super) fn vocabulary() -> Vec<(String, &'static str)> {
    let names = FACTS.iter().map(|fact| (fact.name.to_owned(), fact.about));
    let of_victim = "in `preemption_when`: the same of the job that would lose a slot";
    let functions = FUNCTIONS.iter().map(|function| {
        (format!("{}({})", function.name, function.arguments.join(", ")), function.about)
    });
    names.chain([(format!("{VICTIM}NAME"), of_victim)]).chain(functions).collect()
}

/// The units that a function takes and returns.
#[derive(Clone, Copy, Debug)]
enum FunctionUnit {
    /// A plain number for a plain number.
    Plain,
    /// All arguments have one unit, which is that of the result; the first is a condition, if
    /// `chooses`.
    Same { chooses: bool },
    /// The root of the argument's unit.
    Root,
}

const SAME: FunctionUnit = FunctionUnit::Same { chooses: false };

/// All functions.
pub(super) const FUNCTIONS: &[RankFunction] = &[
    function(
        "if",
        &["condition", "then", "else"],
        "`then` where the condition holds, otherwise `else`",
        FunctionUnit::Same { chooses: true },
        |x| if x[0] == 0.0 { x[2] } else { x[1] },
    ),
    function("min", &["a", "b"], "the smaller number", SAME, |x| x[0].min(x[1])),
    function("max", &["a", "b"], "the larger number", SAME, |x| x[0].max(x[1])),
    function("abs", &["x"], "the number without its sign", SAME, |x| x[0].abs()),
    function("sqrt", &["x"], "the square root", FunctionUnit::Root, |x| x[0].sqrt()),
    function("exp", &["x"], "e to the power of x", FunctionUnit::Plain, |x| x[0].exp()),
    function("ln", &["x"], "the natural logarithm", FunctionUnit::Plain, |x| x[0].ln()),
];

const fn function(
    name: &'static str,
    arguments: &'static [&'static str],
    about: &'static str,
    unit: FunctionUnit,
    compute: fn(&[f64]) -> f64,
) -> RankFunction {
    RankFunction { name, arguments, about, unit, compute }
}

impl RankFormula {
    /// Reads an expression.
    ///
    /// # Errors
    /// If it is no expression, a name is unknown, or units do not fit.
    pub fn of(text: &str) -> Result<Self, ExprComplaint> {
        let mut steps = Vec::new();
        let unit = compile(&parse(text)?, &mut steps)?;
        let facts = steps.iter().filter_map(|step| match step {
            FormulaStep::Fact(fact) | FormulaStep::OfVictim(fact) => Some(fact),
            _ => None,
        });
        let flows = facts.map(|fact| fact.flows).max().unwrap_or(RankFlow::Never);
        Ok(Self { text: text.to_owned(), steps, unit, flows })
    }

    pub(super) fn has_victim(&self) -> bool {
        self.steps.iter().any(|step| matches!(step, FormulaStep::OfVictim(_)))
    }

    /// Returns the first name of a number that no job has when it arrives; `None` if there is none.
    pub(in crate::scheduler) fn late_fact(&self) -> Option<&'static str> {
        self.steps.iter().find_map(|step| match step {
            FormulaStep::Fact(fact) if fact.is_early => None,
            FormulaStep::Fact(fact) | FormulaStep::OfVictim(fact) => Some(fact.name),
            _ => None,
        })
    }

    pub(in crate::scheduler) fn is_time(&self) -> bool {
        self.unit.fits(Unit::TIME)
    }

    /// Computes the number of a job that has just arrived, or of which a sample has run; `took` is
    /// how long the tasks of all jobs took.
    pub(in crate::scheduler) fn of_new(
        &self,
        known: &KnownJob<'_>,
        took: &PerSlot<TaskTimeSum>,
        stack: &mut Vec<f64>,
    ) -> f64 {
        let KnownJob { view, job, kind, sample } = *known;
        let around = Surroundings::new(view, kind, took, 0);
        let record = JobRecord::sampled(kind, sample);
        self.compute(&RankedJob { job, record: &record, around: &around }, None, stack)
    }

    pub(super) fn holds(
        &self,
        job: &RankedJob<'_>,
        victim: &RankedJob<'_>,
        stack: &mut Vec<f64>,
    ) -> bool {
        let number = self.compute(job, Some(victim), stack);
        number != 0.0 && !number.is_nan()
    }

    /// Computes the number of a job; `stack` is empty room.
    pub(super) fn compute(
        &self,
        job: &RankedJob<'_>,
        victim: Option<&RankedJob<'_>>,
        stack: &mut Vec<f64>,
    ) -> f64 {
        stack.clear();
        for step in &self.steps {
            let taken = match step {
                FormulaStep::Constant(_) | FormulaStep::Fact(_) | FormulaStep::OfVictim(_) => 0,
                FormulaStep::Operation(_, parts) => *parts,
                FormulaStep::Apply(function) => function.arguments.len(),
            };
            let left = stack.len() - taken;
            let number = match step {
                FormulaStep::Constant(number) => *number,
                FormulaStep::Fact(fact) => (fact.read)(job),
                FormulaStep::OfVictim(fact) => victim.map_or(f64::NAN, fact.read),
                FormulaStep::Operation(operation, _) => operation.compute(&stack[left..]),
                FormulaStep::Apply(function) => (function.compute)(&stack[left..]),
            };
            stack.truncate(left);
            stack.push(number);
        }
        stack.pop().unwrap_or(f64::NAN)
    }
}

/// Adds the steps that compute an expression. Returns its unit.
fn compile(node: &SyntaxNode, steps: &mut Vec<FormulaStep>) -> Result<Unit, ExprComplaint> {
    let complain = |what: String| ExprComplaint::new(node.span.clone(), what);
    match &node.item {
        Syntax::Literal(literal) => {
            steps.push(FormulaStep::Constant(literal.value));
            Ok(literal.unit)
        }
        Syntax::Name { name, filters } => {
            if let Some(filter) = filters.first() {
                let what = "a rank has no filters: each of its numbers is of one job";
                return Err(ExprComplaint::new(filter.key.span.clone(), what));
            }
            let of_victim = name.strip_prefix(VICTIM);
            let bare = of_victim.unwrap_or(name);
            let Some(fact) = FACTS.iter().find(|fact| fact.name == bare) else {
                let unknown = complain(format!("unknown name `{name}`"));
                let prefix = if of_victim.is_some() { VICTIM } else { "" };
                let known: Vec<String> =
                    FACTS.iter().map(|fact| format!("{prefix}{}", fact.name)).collect();
                return Err(unknown.nearest(name, known.iter().map(String::as_str)));
            };
            let step = if of_victim.is_some() { FormulaStep::OfVictim } else { FormulaStep::Fact };
            steps.push(step(fact));
            Ok(fact.unit)
        }
        Syntax::Call { name, arguments, settings } => {
            let Some(function) = FUNCTIONS.iter().find(|function| function.name == name.item)
            else {
                let unknown = complain(format!("unknown function `{}`", name.item));
                return Err(unknown.nearest(&name.item, FUNCTIONS.iter().map(|one| one.name)));
            };
            if arguments.len() != function.arguments.len() || !settings.is_empty() {
                let names = function.arguments.join(", ");
                return Err(complain(format!("write `{}({names})`", function.name)));
            }
            let compiled = arguments.iter().map(|argument| compile(argument, steps));
            let units = compiled.collect::<Result<Vec<Unit>, _>>()?;
            let unit = function.unit.of(&units).ok_or_else(|| {
                complain(format!("the units of `{}` do not fit together", function.name))
            })?;
            steps.push(FormulaStep::Apply(function));
            Ok(unit)
        }
        Syntax::Operation(operation, parts) => {
            let part = |node| {
                let unit = compile(node, steps)?;
                Ok(Operand { node, unit, constant: None, is_at_most_whole: false })
            };
            let operands = parts.iter().map(part).collect::<Result<Vec<_>, ExprComplaint>>()?;
            steps.push(FormulaStep::Operation(operation.clone(), parts.len()));
            operation.unit(&operands)
        }
    }
}

impl FunctionUnit {
    fn of(self, units: &[Unit]) -> Option<Unit> {
        match self {
            Self::Plain => units.iter().all(|unit| unit.is_plain()).then_some(Unit::PLAIN),
            Self::Same { chooses } => {
                let same = &units[usize::from(chooses)..];
                same.iter().all(|unit| unit.fits(same[0])).then(|| same[0])
            }
            Self::Root => units[0].power(0.5),
        }
    }
}

/// Two formulas are equal if their texts are.
impl PartialEq for RankFormula {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl fmt::Display for RankFormula {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Serialize for RankFormula {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(&self.text)
    }
}

impl<'de> Deserialize<'de> for RankFormula {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let text = String::deserialize(from)?;
        Self::of(&text).map_err(|complaint| {
            let place = complaint.column(&text);
            de::Error::custom(format!("{complaint} (at character {place})"))
        })
    }
}

impl JsonSchema for RankFormula {
    fn schema_name() -> Cow<'static, str> {
        "RankFormula".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "title": "an expression, such as `age / remaining_maps`", "type": "string" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn complaint(text: &str) -> String {
        RankFormula::of(text).unwrap_err().to_string()
    }

    #[test]
    fn a_rank_knows_facts_functions_and_units() {
        for (text, flows) in [
            ("-submitted", RankFlow::Never),
            ("age / remaining_maps", RankFlow::Always),
            ("-remaining_maps * map_time - remaining_reduces * reduce_time", RankFlow::Always),
            ("priority + age / 10min", RankFlow::Always),
            ("if(running < 3, 1, 0)", RankFlow::Never),
            ("min(age, 1h) ^ 2", RankFlow::Always),
            ("sqrt(maps) + exp(-running)", RankFlow::Never),
            ("1s ^ -1 * age", RankFlow::Always),
            ("-attained", RankFlow::Served),
            ("attained / age", RankFlow::Always),
            ("if(waited > 5min, 1000000, 0) - remaining", RankFlow::Always),
        ] {
            assert_eq!(RankFormula::of(text).map(|formula| formula.flows), Ok(flows), "{text}");
        }
    }

    #[test]
    fn settings_that_do_not_fit_are_refused() {
        for (text, what) in [
            ("ages", "unknown name `ages`; did you mean `age`?"),
            ("victim.ages", "unknown name `victim.ages`; did you mean `victim.age`?"),
            ("age[class=small]", "a rank has no filters: each of its numbers is of one job"),
            ("age + maps", "`+` between a time (`age`) and a plain number (`maps`)"),
            (
                "age < 3",
                "`<` between a time (`age`) and a plain number (`3`); write `3s` or `3min`",
            ),
            ("maps ^ age", "`age` is a time: no exponent"),
            ("age ^ 0.5", "a time has only whole powers that are written out"),
            ("max(age)", "write `max(a, b)`"),
            ("if(age, maps, age)", "the units of `if` do not fit together"),
            ("minn(maps, maps)", "unknown function `minn`; did you mean `min`?"),
            ("", "the expression ends too early: expected a number, a quantity or a call"),
        ] {
            assert_eq!(complaint(text), what, "{text}");
        }
    }
}
