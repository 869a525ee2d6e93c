//! The verdict on an expectation: the cells in which it holds, and its numbers.
//!
//! An expectation may choose a value of an axis, or have `by` for the axis. Otherwise it must hold
//! for all values of the axis, and the verdict shows the worst cell. A comparison compares the
//! means over the seeds. If the 95 % interval of the paired differences reaches beyond the bound, the
//! verdict is open: more seeds would decide. With one seed, or with the same numbers for each, there
//! is no interval, and the numbers themselves decide.

use super::eval::Evaluator;
use super::plan::{AxisPick, Element, Scatter, Term, TermKind};
use super::space::{Runs, Space, combinations};
use super::value::{Evaluated, NoNumber};
use super::{Expectation, Figure};
use crate::tables::ReadError;
use crate::worded;
use mumakil_base::expression::{ComparisonSign, Operation, Operator, Unit};
use mumakil_base::statistics::{
    Band, Estimate, LEVEL, MOST_PAIRS, differences, interval, mean, pairs_to_decide,
    standard_deviation,
};
use mumakil_base::units::tell;

worded! {
    /// The outcome of an expectation.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum VerdictState {
        /// It holds.
        Holds = "holds",
        /// It does not hold.
        Fails = "fails",
        /// It does not hold, and the reason is known.
        KnownGap = "known_gap",
        /// The seeds are too few to tell.
        Undecided = "undecided",
        /// It is a number without a bound.
        Reported = "reported",
    }
}

/// The verdict on an expectation, with its numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct ExpectationVerdict {
    /// The outcome.
    pub state: VerdictState,
    /// The measured numbers, in words; for several cells, the numbers of the worst cell.
    pub measured: String,
    /// The worst cell, in words; empty if there is only one cell.
    pub worst: String,
    /// The number of cells in which it must hold.
    pub cells: usize,
    /// The number of further cells to which it applies, but which the study leaves out.
    pub left_out: usize,
    /// The number of cells in which it holds.
    pub held: usize,
    /// Whether it holds in each cell by the means alone.
    pub holds_by_means: bool,
    /// Whether it holds although it has a known gap. The gap can then be removed.
    pub gap_closed: bool,
    /// How many more seeds would decide the worst cell, if it is undecided and they are not very many.
    pub more_seeds: Option<usize>,
    /// The published numbers about it, each with our number.
    pub figures: Vec<Figure>,
}

impl ExpectationVerdict {
    /// Returns the outcome by the means alone, however open it is. What a wrong policy does to the same
    /// runs needs no other seeds to be seen.
    pub fn by_means(&self) -> VerdictState {
        match (self.state, self.holds_by_means) {
            (VerdictState::Undecided, true) => VerdictState::Holds,
            (VerdictState::Undecided, false) => VerdictState::Fails,
            (state, _) => state,
        }
    }

    /// Returns an expectation and its verdict, in the form of the result files.
    pub fn to_json(&self, expected: &Expectation) -> serde_json::Value {
        let mut json = serde_json::json!({
            "expectation": expected.that,
            "what": expected.what,
            "published": expected.published.as_ref().map(ToString::to_string),
            "figures": self.figures,
            "known_gap": expected.known_gap.as_ref().map(|gap| &gap.why),
            "gap_class": expected.known_gap.as_ref().and_then(|gap| gap.class),
            "verdict": self.state.word(),
            "measured": self.measured,
            "worst_cell": self.worst,
            "cells": self.cells,
            "left_out": self.left_out,
            "held": self.held,
        });
        if let Some(more) = self.more_seeds {
            json["more_seeds"] = more.into();
        }
        json
    }
}

/// The verdict on one cell.
struct CellVerdict {
    /// Whether it holds by the means.
    holds: bool,
    /// That the means are not sure, if so.
    doubt: Option<CellDoubt>,
    /// How clearly it holds, relative to the compared numbers; negative if it fails.
    margin: f64,
    measured: String,
}

/// Too few seeds to tell whether a comparison holds.
#[derive(Clone, Copy)]
struct CellDoubt {
    /// How many more would tell; `None` if they are very many.
    more: Option<usize>,
}

impl CellDoubt {
    /// Returns the doubt that needs more seeds.
    fn or(self, other: Self) -> Self {
        Self { more: self.more.zip(other.more).map(|(one, other)| one.max(other)) }
    }
}

impl CellVerdict {
    fn is_sure_to_hold(&self) -> bool {
        self.holds && self.doubt.is_none()
    }

    fn is_sure_to_fail(&self) -> bool {
        !self.holds && self.doubt.is_none()
    }

    /// Returns whether this is worse news than another cell.
    fn is_worse(&self, than: &Self) -> bool {
        // What fails is worse than what is open, and that than what holds.
        let rank = |cell: &Self| (cell.is_sure_to_hold(), !cell.is_sure_to_fail(), cell.margin);
        rank(self) < rank(than)
    }
}

/// Judges a term in every cell to which it applies.
pub(super) fn judge(
    term: &Term,
    space: &Space,
    runs: &dyn Runs,
    known_gap: bool,
) -> Result<ExpectationVerdict, ReadError> {
    let seeds: Vec<usize> = (0..runs.seeds()).collect();
    let judge = Judge { evaluator: Evaluator::new(space, runs), seeds };
    let (axes, mut cells) = cells(term, space);
    let all = cells.len();
    cells.retain(|cell| term.is_there(runs, cell));
    let left_out = all - cells.len();
    if !term.of.truth {
        return Ok(ExpectationVerdict { left_out, ..judge.report(term, &axes, &cells)? });
    }
    let mut worst: Option<(&[usize], CellVerdict)> = None;
    let (mut held, mut holds_by_means) = (0, true);
    for cell in &cells {
        let judged = judge.judge(term, cell)?;
        holds_by_means &= judged.holds;
        held += usize::from(judged.is_sure_to_hold());
        // Of equally bad cells, keep the first.
        if worst.as_ref().is_none_or(|(_, worst)| judged.is_worse(worst)) {
            worst = Some((cell, judged));
        }
    }
    let state = match &worst {
        Some((_, judged)) if judged.is_sure_to_hold() => VerdictState::Holds,
        // A gap is known if the means have it, however few seeds show it.
        Some((_, judged)) if judged.doubt.is_some() && (judged.holds || !known_gap) => {
            VerdictState::Undecided
        }
        // Without any cell the expectation fails: the study has left out all its cells.
        _ if known_gap => VerdictState::KnownGap,
        _ => VerdictState::Fails,
    };
    let (worst, measured, doubt) = match worst {
        Some((cell, judged)) => (space.describe(cell, &axes), judged.measured, judged.doubt),
        None => (String::new(), "the study leaves every such cell out".to_owned(), None),
    };
    Ok(ExpectationVerdict {
        state,
        measured,
        worst,
        cells: cells.len(),
        left_out,
        held,
        holds_by_means,
        gap_closed: known_gap && state == VerdictState::Holds,
        more_seeds: doubt.and_then(|doubt| doubt.more),
        figures: Vec::new(),
    })
}

/// Returns the axes on which the value of a term depends, and the cells in which to evaluate it.
pub(super) fn cells(term: &Term, space: &Space) -> (Vec<usize>, Vec<Vec<usize>>) {
    let mut free: Vec<Option<Vec<usize>>> = vec![None; space.axes.len()];
    let mut note = |axis: usize, pick: &AxisPick| {
        let places = match pick {
            AxisPick::Fixed(_) => return,
            AxisPick::Free => (0..space.axes[axis].values.len()).collect(),
            AxisPick::Among(places) => places.clone(),
        };
        match &mut free[axis] {
            // Several quantities choose values of this axis: keep the values that all of them
            // choose.
            Some(known) => known.retain(|place| places.contains(place)),
            unknown => *unknown = Some(places),
        }
    };
    term.leaves(&mut |leaf| match leaf {
        TermKind::Axis(axis, pick) => note(*axis, pick),
        TermKind::Quantity(quantity, selection) => {
            debug_assert_eq!(selection.cell.len(), space.axes.len(), "{}", quantity.name);
            (0..).zip(&selection.cell).for_each(|(axis, pick)| note(axis, pick));
        }
        TermKind::Constant(_) => {}
        TermKind::Aggregate { .. }
        | TermKind::Curve { .. }
        | TermKind::Until { .. }
        | TermKind::Apply(..) => {
            unreachable!("`leaves` visits only terms without parts")
        }
    });
    // On an axis that does not matter, any value gives the same number: take the first.
    let choices = free.iter().map(|places| places.clone().unwrap_or_else(|| vec![0]));
    let cells = combinations(&choices.collect::<Vec<_>>());
    let several = (0..space.axes.len())
        .filter(|axis| free[*axis].as_ref().is_some_and(|places| 1 < places.len()));
    (several.collect(), cells)
}

struct Judge<'r> {
    evaluator: Evaluator<'r>,
    seeds: Vec<usize>,
}

impl Judge<'_> {
    fn judge(&self, term: &Term, cell: &[usize]) -> Result<CellVerdict, ReadError> {
        match self.try_judge(term, cell) {
            Ok(judged) => Ok(judged),
            Err(NoNumber::Read(error)) => Err(error),
            Err(NoNumber::Undefined(why)) => {
                // A number that does not exist cannot meet a bound: this is the worst result.
                let margin = f64::NEG_INFINITY;
                Ok(CellVerdict { holds: false, doubt: None, margin, measured: why })
            }
        }
    }

    fn try_judge(&self, term: &Term, cell: &[usize]) -> Evaluated<CellVerdict> {
        match &term.kind {
            TermKind::Apply(Element::Operation(Operation::Binary(operator)), parts) => {
                let parts = parts.iter().map(|part| self.judge(part, cell));
                Ok(join(*operator, parts.collect::<Result<_, _>>()?))
            }
            TermKind::Apply(element, parts) if element.compares() => {
                self.compare(element, parts, cell)
            }
            _ => {
                let numbers = self.evaluator.numbers(term, cell, &self.seeds)?;
                let held = numbers.iter().filter(|number| **number != 0.0).count();
                // The margin is -1 if the term holds for no seed, and 1 if it holds for all seeds.
                let margin = 2.0 * held as f64 / numbers.len() as f64 - 1.0;
                let measured = match &term.kind {
                    TermKind::Curve { points, .. } => {
                        let all = points.iter().map(|point| &point.term);
                        let terms = all.filter(|term| term.is_there(self.evaluator.runs, cell));
                        self.tell(&terms.collect::<Vec<_>>(), cell)?.join(", ")
                    }
                    _ if term.scatter() == Scatter::EachSeed => {
                        format!("in {held} of {} seeds: {}", numbers.len(), term.label)
                    }
                    _ => term.label.clone(),
                };
                let holds = held == numbers.len();
                Ok(CellVerdict { holds, doubt: None, margin, measured })
            }
        }
    }

    /// Compares the means over the seeds.
    fn compare(&self, element: &Element, parts: &[Term], cell: &[usize]) -> Evaluated<CellVerdict> {
        let found = parts.iter().map(|part| self.evaluator.numbers(part, cell, &self.seeds));
        let numbers = found.collect::<Evaluated<Vec<_>>>()?;
        let means: Vec<f64> = numbers.iter().filter_map(|numbers| mean(numbers)).collect();
        let holds = element.compute(&means).map_err(NoNumber::Undefined)? != 0.0;
        let unit = parts.iter().fold(parts[0].of.unit, |unit, part| unit.or(part.of.unit));
        let mut measured = String::new();
        for (place, mean) in unit.show_compared(&means, element.signs()).iter().enumerate() {
            if 0 < place {
                measured += &format!(" {} ", element.sign(place - 1, unit));
            }
            measured += mean;
        }
        // Other terms have the same number for every seed, and so no interval.
        let is_sampled = parts.iter().map(Term::scatter).max() == Some(Scatter::EachSeed);
        let sampled = numbers.windows(2).filter(|_| is_sampled);
        let pairs: Vec<PairDifference> = sampled.filter_map(PairDifference::of).collect();
        // If both sides are equal with each seed, an interval from 0 to 0 says nothing more.
        if let [PairDifference { mean, band: Band { low, high }, n, .. }] = &pairs[..]
            && (*low != 0.0 || *high != 0.0)
        {
            let [mean, low, high] = unit.show_differences([*mean, *low, *high]);
            measured += &format!(" ({n} seeds: difference {mean}, 95 % from {low} to {high})");
        }
        let may_doubt = !self.evaluator.runs.are_all_seeds();
        let doubt = if may_doubt { doubt(element, &pairs) } else { None };
        if let Some(CellDoubt { more }) = doubt {
            let seeds = tell::counted(more.unwrap_or(MOST_PAIRS) as u64, "seed");
            measured += &match more {
                Some(_) => format!("; about {seeds} more would decide"),
                None => format!("; more than {seeds} would be needed"),
            };
        }
        // If it fails, the margin is how far the worst of neighbouring pairs breaks the order.
        let apart = means.windows(2).map(|pair| distance(pair[0], pair[1]));
        let margin = match holds {
            true => apart.fold(f64::INFINITY, f64::min),
            false => -apart.fold(0.0, f64::max),
        };
        Ok(CellVerdict { holds, doubt, margin, measured })
    }

    /// Tells the means of terms that are alike, such as the points of a curve.
    fn tell(&self, terms: &[&Term], cell: &[usize]) -> Evaluated<Vec<String>> {
        let Some(first) = terms.first() else { return Ok(Vec::new()) };
        let found = terms.iter().map(|term| self.evaluator.numbers(term, cell, &self.seeds));
        let numbers = found.collect::<Evaluated<Vec<_>>>()?;
        let means: Vec<f64> = numbers.iter().filter_map(|numbers| mean(numbers)).collect();
        Ok(match first.of.truth {
            true => means
                .iter()
                .map(|mean| if *mean == 1.0 { "holds" } else { "does not hold" }.to_owned())
                .collect(),
            false => {
                let signs = vec![ComparisonSign::Unequal; means.len()];
                first.of.unit.show_compared(&means, &signs)
            }
        })
    }

    /// Adds the interval to the number of a term that combines several cells, since such a term is
    /// a comparison.
    fn with_band(&self, term: &Term, cell: &[usize], told: Vec<String>) -> Evaluated<String> {
        let told = told.concat();
        if !term.spans_cells() || term.scatter() != Scatter::EachSeed {
            return Ok(told);
        }
        let numbers = self.evaluator.numbers(term, cell, &self.seeds)?;
        let Some(Estimate { mean, band: Some(Band { low, high }), n }) = interval(&numbers) else {
            return Ok(told);
        };
        let [_, low, high] = term.of.unit.show_together([mean, low, high]);
        Ok(format!("{told} ({n} seeds: 95 % from {low} to {high})"))
    }

    /// Returns the verdict on a number without a bound: its value in each cell.
    fn report(
        &self,
        term: &Term,
        axes: &[usize],
        cells: &[Vec<usize>],
    ) -> Result<ExpectationVerdict, ReadError> {
        let mut told = Vec::new();
        for cell in cells {
            let number =
                match self.tell(&[term], cell).and_then(|told| self.with_band(term, cell, told)) {
                    Ok(number) => number,
                    Err(NoNumber::Undefined(why)) => why,
                    Err(NoNumber::Read(error)) => return Err(error),
                };
            let place = self.evaluator.space.describe(cell, axes);
            told.push(if place.is_empty() { number } else { format!("{place}: {number}") });
        }
        Ok(ExpectationVerdict {
            state: VerdictState::Reported,
            measured: told.join("; "),
            worst: String::new(),
            cells: cells.len(),
            left_out: 0,
            held: 0,
            holds_by_means: true,
            gap_closed: false,
            more_seeds: None,
            figures: Vec::new(),
        })
    }
}

impl Element {
    /// Returns the signs of a comparison; nothing for other operations.
    fn signs(&self) -> &[ComparisonSign] {
        match self {
            Self::Operation(Operation::Compare(signs)) => signs,
            _ => &[],
        }
    }

    /// Returns the text between a part of a comparison and the next part, such as `<`.
    fn sign(&self, place: usize, unit: Unit) -> String {
        let written = match self {
            Self::Operation(Operation::Compare(signs)) => return signs[place].word().to_owned(),
            Self::Operation(Operation::Within(band)) => &band.item,
            _ => return String::new(),
        };
        let band = match unit {
            _ if written.percent => tell::percent(written.value),
            Unit::SHARE => tell::points(written.value),
            unit => unit.show(written.value),
        };
        format!("within {band} of")
    }
}

fn join(operator: Operator, parts: Vec<CellVerdict>) -> CellVerdict {
    let values: Vec<&str> = parts.iter().map(|part| &*part.measured).collect();
    let measured = values.join(&format!(" {} ", operator.word()));
    let margins = parts.iter().map(|part| part.margin);
    // The better side decides for "or", the worse side for "and".
    let (holds, is_sure, margin) = match operator {
        Operator::Or => (
            parts.iter().any(|part| part.holds),
            parts.iter().any(CellVerdict::is_sure_to_hold),
            margins.fold(f64::NEG_INFINITY, f64::max),
        ),
        _ => (
            parts.iter().all(|part| part.holds),
            parts.iter().any(CellVerdict::is_sure_to_fail),
            margins.fold(f64::INFINITY, f64::min),
        ),
    };
    let doubt = parts.iter().filter_map(|part| part.doubt).reduce(CellDoubt::or);
    CellVerdict { holds, doubt: doubt.filter(|_| !is_sure), margin, measured }
}

/// Returns the doubt about a comparison, if there is one and no part of the comparison is sure to fail.
fn doubt(element: &Element, pairs: &[PairDifference]) -> Option<CellDoubt> {
    let mut most = None;
    for (place, pair) in pairs.iter().enumerate() {
        let of_pair = match element {
            Element::Operation(Operation::Compare(signs)) => {
                Element::Operation(Operation::Compare(vec![signs[place]]))
            }
            other => other.clone(),
        };
        match pair.judge(&of_pair) {
            (false, None) => return None,
            (_, doubt) => most = most.into_iter().chain(doubt).reduce(CellDoubt::or),
        }
    }
    most
}

/// The difference of two numbers that are compared, over the seeds.
struct PairDifference {
    mean: f64,
    band: Band,
    n: usize,
    deviation: f64,
    /// The mean of the second number.
    right: f64,
}

impl PairDifference {
    /// Returns the difference of two numbers of each seed; `None` for fewer than two seeds.
    fn of(numbers: &[Vec<f64>]) -> Option<Self> {
        let all = differences(&numbers[0], &numbers[1]);
        let (Estimate { mean: centre, band, n }, right) = (interval(&all)?, mean(&numbers[1])?);
        Some(Self { mean: centre, band: band?, n, deviation: standard_deviation(&all)?, right })
    }

    /// Returns whether a comparison holds by the means, and whether it may turn within the interval.
    fn judge(&self, element: &Element) -> (bool, Option<CellDoubt>) {
        let holds = |difference: f64| {
            let numbers = [self.right + difference, self.right];
            element.compute(&numbers).is_ok_and(|truth| truth != 0.0)
        };
        let (state, Band { low, high }) = (holds(self.mean), self.band);
        // A comparison holds on one side of a bound, or around equality.
        let ends = [low, high, 0.0_f64.clamp(low, high)];
        let Some(turned) = ends.into_iter().find(|at| holds(*at) != state) else {
            return (state, None);
        };
        let (mut same, mut other) = (self.mean, turned);
        for _ in 0..60 {
            let middle = f64::midpoint(same, other);
            *if holds(middle) == state { &mut same } else { &mut other } = middle;
        }
        let needed = pairs_to_decide(other - self.mean, self.deviation, LEVEL);
        let more = needed.map(|needed| needed.saturating_sub(self.n).max(1));
        (state, Some(CellDoubt { more }))
    }
}

/// Returns the difference of two numbers, relative to the larger one.
fn distance(a: f64, b: f64) -> f64 {
    let size = f64::max(a.abs(), b.abs());
    if size == 0.0 { 0.0 } else { (a - b).abs() / size }
}
