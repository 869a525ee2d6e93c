//! Evaluates a plan to numbers: one for each seed.
//!
//! A term with one number for each run is computed for every seed. Two of these terms are compared
//! only once, by their means over the seeds. A term with many numbers for each run is read,
//! combined and aggregated seed by seed, so that only one run's numbers are in memory.

use std::cell::RefCell;

use super::plan::{Aggregate, CurveFold, CurvePoint, Element, Selection, Term, TermKind};
use super::quantity::{NamedQuantity, QuantityShape};
use super::read::{JobNumbers, read};
use super::space::{Runs, Space};
use super::value::{Evaluated, NoNumber, Value, combine, settling};
use mumakil_base::expression::{ComparisonSign, Operation};
use mumakil_base::statistics::{LinearFit, mean};

/// Evaluates plans.
pub(super) struct Evaluator<'r> {
    pub(super) space: &'r Space,
    pub(super) runs: &'r dyn Runs,
    names: RefCell<JobNumbers>,
}

impl<'r> Evaluator<'r> {
    pub(super) fn new(space: &'r Space, runs: &'r dyn Runs) -> Self {
        Self { space, runs, names: RefCell::default() }
    }

    /// Returns the number of a term in a cell, for each of these seeds.
    pub(super) fn numbers(
        &self,
        term: &Term,
        cell: &[usize],
        seeds: &[usize],
    ) -> Evaluated<Vec<f64>> {
        let each = |number: f64| vec![number; seeds.len()];
        let numbers = match &term.kind {
            TermKind::Constant(number) => each(*number),
            TermKind::Axis(axis, _) => {
                let value = &self.space.axes[*axis].values[cell[*axis]];
                each(value.number.map_or(f64::NAN, |(number, _)| number))
            }
            TermKind::Aggregate { how, of, pooled: true } => each(self.pooled(*how, of, cell)?),
            TermKind::Curve { how, points } => self.curve(*how, points, cell, seeds)?,
            TermKind::Apply(element, parts) => {
                let found = parts.iter().map(|part| self.numbers(part, cell, seeds));
                let parts = found.collect::<Evaluated<Vec<_>>>()?;
                // Compare the means, once: seed by seed, a close comparison would hold for some
                // seeds and not for others.
                if element.compares() {
                    let means: Vec<f64> = parts.iter().filter_map(|part| mean(part)).collect();
                    return Ok(each(element.compute(&means).map_err(NoNumber::Undefined)?));
                }
                let found = (0..seeds.len()).map(|seed| {
                    let numbers: Vec<f64> = parts.iter().map(|part| part[seed]).collect();
                    element.compute(&numbers).map_err(NoNumber::Undefined)
                });
                found.collect::<Evaluated<_>>()?
            }
            TermKind::Quantity(..) | TermKind::Aggregate { .. } | TermKind::Until { .. } => {
                seeds.iter().map(|seed| self.number(term, cell, *seed)).collect::<Evaluated<_>>()?
            }
        };
        match numbers.iter().all(|number| number.is_finite()) {
            true => Ok(numbers),
            // Report a division by zero or a missing quantity: such a number cannot be compared
            // with a bound.
            false => Err(NoNumber::Undefined(format!("{} is not a number", term.label))),
        }
    }

    /// Returns the number of a term in the run of one seed.
    fn number(&self, term: &Term, cell: &[usize], seed: usize) -> Evaluated<f64> {
        match &term.kind {
            TermKind::Aggregate { how, of, .. } => {
                let value = self.value(of, cell, seed)?;
                how.of(&value).ok_or_else(|| nothing(term))
            }
            TermKind::Until { condition, from } => {
                let never = || NoNumber::Undefined("never".to_owned());
                if let TermKind::Apply(element @ Element::Operation(Operation::Within(_)), parts) =
                    &condition.kind
                {
                    let found = parts.iter().map(|part| self.value(part, cell, seed));
                    let parts = found.collect::<Evaluated<Vec<_>>>()?;
                    let settled = settling(element, &parts, *from).map_err(NoNumber::Undefined)?;
                    return settled.ok_or_else(never);
                }
                match self.value(condition, cell, seed)? {
                    Value::Steps(steps) => steps.until(*from).ok_or_else(never),
                    _ => Err(nothing(term)),
                }
            }
            _ => match self.value(term, cell, seed)? {
                Value::One(number) => Ok(number),
                _ => Err(nothing(term)),
            },
        }
    }

    pub(super) fn value(&self, term: &Term, cell: &[usize], seed: usize) -> Evaluated<Value> {
        match &term.kind {
            TermKind::Quantity(quantity, selection) => self.read(quantity, selection, cell, seed),
            TermKind::Apply(element, parts) if term.of.shape != QuantityShape::One => {
                let found = parts.iter().map(|part| self.value(part, cell, seed));
                let parts = found.collect::<Evaluated<Vec<_>>>()?;
                combine(element, &parts).map_err(NoNumber::Undefined)
            }
            _ => Ok(Value::One(self.numbers(term, cell, &[seed])?[0])),
        }
    }

    fn read(
        &self,
        quantity: &NamedQuantity,
        selection: &Selection,
        cell: &[usize],
        seed: usize,
    ) -> Evaluated<Value> {
        let cell = selection.of(cell);
        // If the quantity fixes the value of an axis, the study may lack the resulting cell.
        if !self.runs.has(&cell) {
            return Err(NoNumber::Undefined("the study leaves this cell out".to_owned()));
        }
        let run = self.runs.run(&cell, seed)?;
        read(quantity, selection, run, &mut self.names.borrow_mut())
    }

    /// Aggregates the values of the runs of all seeds together.
    fn pooled(&self, how: Aggregate, of: &Term, cell: &[usize]) -> Evaluated<f64> {
        let mut pool: Option<Value> = None;
        for seed in 0..self.runs.seeds() {
            let value = self.value(of, cell, seed)?;
            match (&mut pool, value) {
                (None, value) => pool = Some(value),
                // Keys may now repeat; aggregates only look at the numbers.
                (Some(Value::Keyed(items)), Value::Keyed(more)) => items.extend(more),
                (Some(Value::Samples(all)), Value::Samples(more)) => {
                    all.add(more).map_err(|_| {
                        NoNumber::Undefined("the histograms cannot be added".to_owned())
                    })?;
                }
                _ => return Err(NoNumber::Undefined("what is over time is not pooled".to_owned())),
            }
        }
        pool.and_then(|pool| how.of(&pool))
            .ok_or_else(|| NoNumber::Undefined(format!("there is no {}", of.label)))
    }

    /// Returns the numbers of a curve. Trends use the means over the seeds; all other aggregates
    /// are computed for each seed. Points that the study leaves out are skipped.
    fn curve(
        &self,
        how: CurveFold,
        points: &[CurvePoint],
        cell: &[usize],
        seeds: &[usize],
    ) -> Evaluated<Vec<f64>> {
        let points: Vec<&CurvePoint> =
            points.iter().filter(|point| point.term.is_there(self.runs, cell)).collect();
        let found = points.iter().map(|point| self.numbers(&point.term, cell, seeds));
        let curve = found.collect::<Evaluated<Vec<_>>>()?;
        let means: Vec<f64> = curve.iter().filter_map(|numbers| mean(numbers)).collect();
        let line = |ys: &[f64]| {
            let xs = points.iter().map(|point| point.x.unwrap_or(f64::NAN));
            let points: Vec<(f64, f64)> = xs.zip(ys.iter().copied()).collect();
            LinearFit::through(&points)
                .map(|line| (line, points))
                .ok_or_else(|| NoNumber::Undefined("one point makes no line".to_owned()))
        };
        let each = |number: f64| Ok(vec![number; seeds.len()]);
        let truth = |holds: bool| each(f64::from(u8::from(holds)));
        let by_seed = |seed: usize| curve.iter().map(|numbers| numbers[seed]).collect::<Vec<_>>();
        match how {
            CurveFold::Rising => truth(climbs(&means, ComparisonSign::AtMost)),
            CurveFold::Falling => truth(climbs(&means, ComparisonSign::AtLeast)),
            CurveFold::Monotone => truth(
                climbs(&means, ComparisonSign::AtMost) || climbs(&means, ComparisonSign::AtLeast),
            ),
            CurveFold::Linear => {
                line(&means).and_then(|(line, at)| each(line.largest_deviation(&at)))
            }
            CurveFold::Slope => {
                (0..seeds.len()).map(|seed| Ok(line(&by_seed(seed))?.0.slope)).collect()
            }
            CurveFold::Aggregate(how) => (0..seeds.len())
                .map(|seed| {
                    how.of_numbers(&by_seed(seed))
                        .ok_or_else(|| NoNumber::Undefined("too few points".to_owned()))
                })
                .collect(),
        }
    }
}

/// Returns whether every neighbouring pair fulfils `step`, and the two ends differ.
fn climbs(values: &[f64], step: ComparisonSign) -> bool {
    let ends = [values.first(), values.last()];
    // A level curve neither rises nor falls.
    let moves = matches!(ends, [Some(a), Some(b)] if !ComparisonSign::Equal.holds(*a, *b));
    moves && values.windows(2).all(|pair| step.holds(pair[0], pair[1]))
}

fn nothing(term: &Term) -> NoNumber {
    NoNumber::Undefined(format!("there is no {}: nothing was chosen", term.label))
}
