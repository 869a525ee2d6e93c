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
//! A *quantity* is one number a run (`makespan`), one for each job (`sojourn`), task or attempt, a
//! step function of time (`slots`) or a histogram. *Filters* choose rows and runs: in brackets for
//! one quantity, in a call for all inside. Arithmetic pairs jobs by their names, also across runs
//! of the same seed. *Aggregates* make one number of many; with `by=` they go through an axis of
//! the study, or through classes, pools or sizes of jobs. Functions of plain numbers are [closed
//! forms](mumakil_base::theory) among others.
//!
//! ```text
//! mean(sojourn) < 15min
//!   token, parse   a tree (syntax): Compare(mean(sojourn), <, 15min)
//!   check          a plan: names found, 15min is a time as sojourn is, filters in their place
//!   read, eval     numbers (value), one for each seed: 712 s, 731 s, 698 s
//!   verdict        their mean is below: it holds
//! ```

mod check;
mod complaint;
mod eval;
mod expectation;
mod figure;
mod function;
mod gap;
mod needs;
mod parse;
mod plan;
mod published;
mod quantity;
mod read;
mod space;
mod syntax;
#[cfg(test)]
mod tests;
mod token;
mod unit;
mod value;
mod verdict;
mod words;

use std::fmt;

use hdrhistogram::Histogram;

use crate::tables::ReadError;

pub use complaint::ExprComplaint;
pub use expectation::Expectation;
pub use figure::{Figure, Misfit};
pub use function::{FUNCTIONS, Function};
pub use gap::{GapClass, KnownGap};
pub use needs::ExprNeeds;
pub use published::{Published, PublishedNumber};
pub use space::{Runs, Space, SpaceAxis, SpaceValue, combinations};
pub use unit::Unit;
pub use verdict::{ExpectationVerdict, VerdictState};
pub use words::{capital, in_words};

/// Returns for each quantity its name, the things that have a number each, and its description.
pub fn quantities() -> impl Iterator<Item = (&'static str, &'static str, &'static str)> {
    let told = |quantity: &'static quantity::NamedQuantity| {
        (quantity.name, quantity.shape.word(), &*quantity.about)
    };
    quantity::QUANTITIES.iter().map(told)
}

/// An expression as it was written.
#[derive(Clone, Debug, PartialEq)]
pub struct Expr(syntax::SyntaxNode);

/// An expression that makes sense in a study.
#[derive(Clone, Debug)]
pub struct ExprPlan {
    term: plan::Term,
    space: Space,
}

impl Expr {
    /// Parses a text.
    ///
    /// # Errors
    /// If it is no expression; names are not looked at.
    pub fn parse(text: &str) -> Result<Self, ExprComplaint> {
        parse::parse(text).map(Self)
    }

    /// Plans it as an expectation: it holds or not, or is a number to report. Where the study
    /// compares, each quantity must be of one of the values compared.
    ///
    /// # Errors
    /// If it makes no sense in this study.
    pub fn expectation(&self, space: &Space) -> Result<ExprPlan, ExprComplaint> {
        self.plan(space, check::ExprPurpose::Expectation)
    }

    /// Plans it as a metric: a number of every cell. Of an axis it may choose one value for a
    /// quantity: `mean(sojourn[scheduler=hfsp]) / mean(sojourn[scheduler=fair])` is computed seed by seed,
    /// and is the same in all cells that differ in `scheduler` alone.
    ///
    /// # Errors
    /// If it makes no sense in this study.
    pub fn metric(&self, space: &Space) -> Result<ExprPlan, ExprComplaint> {
        self.plan(space, check::ExprPurpose::Metric)
    }

    /// Plans it as what a chart shows of each run: a number for each job or task, a histogram, or
    /// one number; it may choose values as a metric may.
    ///
    /// # Errors
    /// If it makes no sense in this study.
    pub fn sample(&self, space: &Space) -> Result<ExprPlan, ExprComplaint> {
        self.plan(space, check::ExprPurpose::Sample)
    }

    fn plan(&self, space: &Space, purpose: check::ExprPurpose) -> Result<ExprPlan, ExprComplaint> {
        let term = check::check(&self.0, space, purpose)?;
        Ok(ExprPlan { term, space: space.clone() })
    }
}

/// Prints a text that parses to the same.
impl fmt::Display for Expr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl ExprPlan {
    /// Returns what it reads of every run.
    pub fn needs(&self) -> ExprNeeds {
        self.term.needs()
    }

    /// Returns the words by which it chooses jobs, each with its key: `user` and `ann`.
    pub fn words(&self) -> Vec<(&'static str, &str)> {
        self.term.words()
    }

    /// Returns whether it holds or not, rather than being a number.
    pub fn is_condition(&self) -> bool {
        self.term.of.truth
    }

    /// Returns whether it is a histogram rather than a number.
    pub fn is_histogram(&self) -> bool {
        self.term.of.shape == quantity::QuantityShape::Samples
    }

    /// Returns whether it is over time rather than one number or one for each job or task.
    pub fn is_over_time(&self) -> bool {
        self.term.of.shape == quantity::QuantityShape::Series
    }

    /// Returns the axes on which it has fixed every value itself: it is the same for all values of
    /// a cell there.
    pub fn chosen(&self) -> Vec<usize> {
        self.term.chosen(self.space.axes.len())
    }

    /// Returns the unit of its number.
    pub fn unit(&self) -> Unit {
        self.term.of.unit
    }

    /// Returns its number in a cell for each seed; `None` where the run has none.
    ///
    /// # Errors
    /// If what a run has left cannot be read.
    pub fn measure(&self, runs: &dyn Runs, cell: &[usize]) -> Result<Vec<Option<f64>>, ReadError> {
        let evaluator = eval::Evaluator::new(&self.space, runs);
        let of_seed = |seed| {
            let numbers = value::if_defined(evaluator.numbers(&self.term, cell, &[seed]))?;
            Ok(numbers.and_then(|numbers| numbers.first().copied()))
        };
        (0..runs.seeds()).map(of_seed).collect()
    }

    /// Returns its numbers of one run: of each job or task that has one, in the order of their names.
    ///
    /// # Errors
    /// If what the run has left cannot be read.
    pub fn values(
        &self,
        runs: &dyn Runs,
        cell: &[usize],
        seed: usize,
    ) -> Result<Vec<f64>, ReadError> {
        let value = eval::Evaluator::new(&self.space, runs).value(&self.term, cell, seed);
        Ok(value::if_defined(value)?.map_or_else(Vec::new, |value| value.numbers()))
    }

    /// Returns its histogram of one run, if it is one.
    ///
    /// # Errors
    /// If what the run has left cannot be read.
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

    /// Checks that what was published can stand beside what it measures.
    ///
    /// # Errors
    /// If a published number is of another unit, or there are too few or too many of them.
    pub fn check_published(&self, published: &Published) -> Result<(), Misfit> {
        figure::check(&self.term, &self.space, published)
    }

    /// Judges an expectation, of whose expression it is the plan, and sets what was published beside
    /// what was measured.
    ///
    /// # Errors
    /// If what a run has left cannot be read.
    pub fn verdict(
        &self,
        runs: &dyn Runs,
        of: &Expectation,
    ) -> Result<ExpectationVerdict, ReadError> {
        let figures = |published| figure::figures(&self.term, &self.space, runs, published);
        let figures = of.published.as_ref().map(figures).transpose()?.unwrap_or_default();
        Ok(ExpectationVerdict { figures, ..self.judge(runs, of.known_gap.is_some())? })
    }

    /// Judges it in every cell that it is about.
    ///
    /// # Errors
    /// If what a run has left cannot be read.
    pub fn judge(&self, runs: &dyn Runs, known_gap: bool) -> Result<ExpectationVerdict, ReadError> {
        verdict::judge(&self.term, &self.space, runs, known_gap)
    }
}
