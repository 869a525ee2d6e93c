//! The language in which scenarios and studies say what to measure and what to expect.
//!
//! ```text
//! mean(sojourn) < 15min
//! 8min <= mean(sojourn, scheduler=hfsp) <= 10min
//! share(sojourn[scheduler=hfsp] <= sojourn[scheduler=fair] + 10s) >= 80 %
//! min(locality.node, by=class[small, medium, large]) >= 97 %
//! rising(locality.node, by=maps[1..25, 26..100, 101..500])
//! until(slots[pool=b, kind=map] / map_slots within 5 points of 50 %, from=57s) <= 30s
//! p99(heartbeat_rtt) < 50ms
//! locality.node within 10 points of sticky_locality(jobs=concurrent, replicas=3, slots=4)
//! ```
//!
//! A *quantity* is one number for a run (`makespan`), one number for each job (`sojourn`), task or
//! attempt, a step function of time (`slots`), or a histogram. *Filters* choose rows and runs. A
//! filter in brackets applies to one quantity; a filter in a call applies to all quantities inside
//! the call. Arithmetic can combine two runs that have the same seed; it pairs their jobs by name.
//! *Aggregates* turn many numbers into one. The setting `by=` repeats an expression for each value
//! of an axis of the study, or for each class, pool or size of jobs. Functions of plain numbers
//! include [closed forms](mumakil_base::theory).
//!
//! ```text
//! mean(sojourn) < 15min
//!   token, parse   a tree (syntax): Compare(mean(sojourn), <, 15min)
//!   check          a plan: names are known, sojourn and 15min are both times
//!   read, eval     numbers (value), one for each seed: 712 s, 731 s, 698 s
//!   verdict        their mean is below 15 min: the expectation holds
//! ```

mod check;
mod eval;
mod expectation;
mod figure;
mod function;
mod gap;
mod known_words;
mod needs;
mod plan;
mod published;
mod quantity;
mod read;
mod space;
#[cfg(test)]
mod tests;
mod value;
mod verdict;
mod words;

use std::fmt;

use hdrhistogram::Histogram;

use crate::tables::ReadError;
use mumakil_base::expression::{SyntaxNode, parse};

pub use mumakil_base::expression::{ExprComplaint, Unit};

pub use expectation::Expectation;
pub use figure::{Figure, Misfit, with_plus};
pub use function::{FUNCTIONS, Function};
pub use gap::{GapClass, KnownGap};
pub use known_words::KnownWords;
pub use needs::ExprNeeds;
pub use published::{Published, PublishedNumber};
pub use space::{Runs, Space, SpaceAxis, SpaceValue, combinations};
pub use verdict::{ExpectationVerdict, VerdictState};
pub use words::{capital, in_words};

/// Returns the name of each quantity, what it is in words, such as `a number for each job`, and its
/// description.
pub fn quantities() -> impl Iterator<Item = (&'static str, &'static str, &'static str)> {
    quantity::QUANTITIES.iter().map(|quantity| (quantity.name, quantity.word(), &*quantity.about))
}

/// A parsed expression.
#[derive(Clone, Debug, PartialEq)]
pub struct Expr(SyntaxNode);

/// An expression that was checked against the axes of a study, and can be evaluated.
#[derive(Clone, Debug)]
pub struct ExprPlan {
    term: plan::Term,
    space: Space,
}

impl Expr {
    /// Parses a text.
    ///
    /// # Errors
    /// If the text is not an expression. Names are not checked here.
    pub fn parse(text: &str) -> Result<Self, ExprComplaint> {
        parse(text).map(Self)
    }

    /// Checks the expression as an expectation, which is a condition or a number to report. If the
    /// study compares the values of an axis, each quantity must choose one of these values.
    ///
    /// # Errors
    /// If a name is unknown in this study, or types or units do not fit.
    pub fn expectation(&self, space: &Space) -> Result<ExprPlan, ExprComplaint> {
        self.plan(space, check::ExprPurpose::Expectation)
    }

    /// Checks the expression as a metric, which is a number for each cell. A quantity may fix the
    /// value of an axis. For example, `mean(sojourn[scheduler=hfsp]) /
    /// mean(sojourn[scheduler=fair])` is computed seed by seed, and is the same in all cells that
    /// differ only in `scheduler`.
    ///
    /// # Errors
    /// If a name is unknown in this study, or types or units do not fit.
    pub fn metric(&self, space: &Space) -> Result<ExprPlan, ExprComplaint> {
        self.plan(space, check::ExprPurpose::Metric)
    }

    /// Checks the expression as a sample, which a chart shows for each run: a number for each job
    /// or task, a histogram, or one number. Like a metric, a sample may choose values of an axis.
    ///
    /// # Errors
    /// If a name is unknown in this study, or types or units do not fit.
    pub fn sample(&self, space: &Space) -> Result<ExprPlan, ExprComplaint> {
        self.plan(space, check::ExprPurpose::Sample)
    }

    fn plan(&self, space: &Space, purpose: check::ExprPurpose) -> Result<ExprPlan, ExprComplaint> {
        let term = check::check(&self.0, space, purpose)?;
        Ok(ExprPlan { term, space: space.clone() })
    }
}

/// Prints a text that parses to an equal expression.
impl fmt::Display for Expr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl ExprPlan {
    /// Returns the tables, histograms and numbers that the expression reads from each run.
    pub fn needs(&self) -> ExprNeeds {
        self.term.needs()
    }

    /// Returns whether the expression is a condition rather than a number.
    pub fn is_condition(&self) -> bool {
        self.term.of.truth
    }

    /// Returns whether the expression is a histogram rather than a number.
    pub fn is_histogram(&self) -> bool {
        self.term.of.shape == quantity::QuantityShape::Samples
    }

    /// Returns whether the expression is a step function of time.
    pub fn is_over_time(&self) -> bool {
        self.term.of.shape == quantity::QuantityShape::Series
    }

    /// Returns the indices of the axes on which the expression uses only fixed values, never the
    /// cell's own; so its number is the same in all cells that differ only on these axes.
    pub fn chosen(&self) -> Vec<usize> {
        self.term.chosen(self.space.axes.len())
    }

    /// Returns the unit of the expression's number.
    pub fn unit(&self) -> Unit {
        self.term.of.unit
    }

    /// Returns the expression's number for each seed of a cell; `None` for a run without such a
    /// number.
    pub fn measure(&self, runs: &dyn Runs, cell: &[usize]) -> Result<Vec<Option<f64>>, ReadError> {
        let evaluator = eval::Evaluator::new(&self.space, runs);
        (0..runs.seeds())
            .map(|seed| {
                let numbers = value::if_defined(evaluator.numbers(&self.term, cell, &[seed]))?;
                Ok(numbers.and_then(|numbers| numbers.first().copied()))
            })
            .collect()
    }

    /// Returns the expression's numbers in one run: one for each job or task that has a number.
    pub fn values(
        &self,
        runs: &dyn Runs,
        cell: &[usize],
        seed: usize,
    ) -> Result<Vec<f64>, ReadError> {
        let value = eval::Evaluator::new(&self.space, runs).value(&self.term, cell, seed);
        Ok(value::if_defined(value)?.map_or_else(Vec::new, |value| value.numbers()))
    }

    /// Returns the expression's histogram in one run; `None` if the expression is not a histogram.
    pub fn histogram(
        &self,
        runs: &dyn Runs,
        cell: &[usize],
        seed: usize,
    ) -> Result<Option<Histogram<u64>>, ReadError> {
        let value = eval::Evaluator::new(&self.space, runs).value(&self.term, cell, seed);
        Ok(match value::if_defined(value)? {
            Some(value::Value::Samples(histogram)) => Some(histogram),
            _ => None,
        })
    }

    /// Checks that published numbers can be compared with the numbers that the expression measures.
    ///
    /// # Errors
    /// If a published number has another unit, or there are too few or too many published numbers.
    pub fn check_published(&self, published: &Published) -> Result<(), Misfit> {
        figure::check(&self.term, &self.space, published)
    }

    /// Judges the expectation to which this expression belongs, and pairs published numbers with
    /// measured numbers.
    pub fn verdict(
        &self,
        runs: &dyn Runs,
        of: &Expectation,
    ) -> Result<ExpectationVerdict, ReadError> {
        let figures = match &of.published {
            Some(published) => figure::figures(&self.term, &self.space, runs, published)?,
            None => Default::default(),
        };
        Ok(ExpectationVerdict { figures, ..self.judge(runs, of.known_gap.is_some())? })
    }

    /// Judges the expression in every cell to which it applies.
    pub fn judge(&self, runs: &dyn Runs, known_gap: bool) -> Result<ExpectationVerdict, ReadError> {
        verdict::judge(&self.term, &self.space, runs, known_gap)
    }
}
