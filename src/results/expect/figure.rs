//! Figures: published numbers, each with our measured number.

use serde::{Serialize, Serializer};

use super::eval::Evaluator;
use super::plan::{Element, Term, TermKind};
use super::published::{Published, PublishedNumber};
use super::space::{Runs, Space};
use super::value::if_defined;
use super::verdict::cells;
use crate::tables::ReadError;
use mumakil_base::expression::{Operation, Operator, Unit};
use mumakil_base::statistics::mean;
use mumakil_base::units::tell::significant;

/// A published number, and our number.
#[derive(Clone, Debug, PartialEq)]
pub struct Figure {
    /// The name of this number among several; empty if it is the only one.
    pub what: String,
    /// The published number.
    pub published: PublishedNumber,
    /// Our measured number, if there is one.
    pub ours: Option<f64>,
    /// The unit of both numbers.
    pub unit: Unit,
}

/// The reason why published numbers cannot be compared with measured numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Misfit {
    /// The index of the wrong number in the list, if one is wrong.
    pub place: Option<usize>,
    /// The complaint.
    pub message: String,
    /// How to correct it.
    pub hint: String,
}

impl Figure {
    /// Returns our number in words; a dash if there is none.
    pub fn told(&self) -> String {
        self.ours.map_or("–".to_owned(), |ours| self.unit.show(ours))
    }

    /// Returns how our number differs from the published one, in words: by a factor, or for shares
    /// by percentage points. The text is empty if we have no number.
    pub fn difference(&self) -> String {
        let Some(ours) = self.ours else { return String::new() };
        // For shares, "9 points more" says more than "1.1 times 90 %".
        if let Some(ratio) = self.ratio().filter(|_| !self.unit.share) {
            return format!("{} ×", significant(ratio, 3));
        }
        let difference = ours - self.published.value;
        let [text] = self.unit.show_differences([difference]);
        with_plus(text, difference)
    }

    /// Returns our number and how it differs, in words.
    pub fn compared(&self) -> String {
        match self.difference() {
            difference if difference.is_empty() => self.told(),
            difference => format!("{} ({difference})", self.told()),
        }
    }

    /// Returns our number divided by the published one; `None` if there is no sensible ratio.
    fn ratio(&self) -> Option<f64> {
        let ratio = self.ours? / self.published.value;
        // Numbers of different signs, or a zero, have no sensible ratio.
        (ratio.is_finite() && 0.0 < ratio).then_some(ratio)
    }
}

/// Puts a plus before a printed difference that is above zero, unless it is rounded to zero.
pub fn with_plus(text: String, difference: f64) -> String {
    let is_above = 0.0 < difference && text.contains(|c: char| ('1'..='9').contains(&c));
    if is_above { format!("+{text}") } else { text }
}

/// The form of a figure in files.
impl Serialize for Figure {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Facts<'a> {
            what: &'a str,
            published: f64,
            ours: Option<f64>,
            unit: String,
            difference: Option<f64>,
            ratio: Option<f64>,
        }
        let facts = Facts {
            what: &self.what,
            published: self.published.value,
            ours: self.ours,
            unit: self.unit.sign(),
            difference: self.ours.map(|ours| ours - self.published.value),
            ratio: self.ratio(),
        };
        facts.serialize(to)
    }
}

/// Returns a figure for each published number about a term.
pub(super) fn figures(
    term: &Term,
    space: &Space,
    runs: &dyn Runs,
    published: &Published,
) -> Result<Vec<Figure>, ReadError> {
    let seeds: Vec<usize> = (0..runs.seeds()).collect();
    let evaluator = Evaluator::new(space, runs);
    let mut figures = Vec::new();
    for FigureSpot { what, cell, term, published } in
        spots(term, space, published).unwrap_or_default()
    {
        let defined = match term.is_there(runs, &cell) {
            true => if_defined(evaluator.numbers(term, &cell, &seeds))?,
            false => None,
        };
        let ours = defined.and_then(|numbers| mean(&numbers));
        // If the published number is in per cent, our number is shown in per cent too.
        let unit = term.of.unit.or(published.unit);
        figures.push(Figure { what, published, ours, unit });
    }
    Ok(figures)
}

/// Checks that each published number can be compared with a number of the term.
pub(super) fn check(term: &Term, space: &Space, published: &Published) -> Result<(), Misfit> {
    spots(term, space, published).map(drop)
}

/// A published number, and the term that measures our number.
struct FigureSpot<'t> {
    what: String,
    cell: Vec<usize>,
    term: &'t Term,
    published: PublishedNumber,
}

/// Pairs each published number with the term that measures it. Published words have no pair.
fn spots<'t>(
    term: &'t Term,
    space: &Space,
    source: &Published,
) -> Result<Vec<FigureSpot<'t>>, Misfit> {
    let parts = measured(term);
    let (axes, cells) = cells(term, space);
    let count = cells.len() * parts.len();
    let is_text = matches!(source, Published::One(_)) && source.number().is_none();
    if parts.is_empty() && !is_text {
        let message =
            "a number was published, but this expectation measures no single number".to_owned();
        return Err(Misfit { place: None, message, hint: hint(&parts, count) });
    }
    let numbers = match source {
        Published::Each(numbers) if numbers.len() != count => {
            let given = numbers.len();
            let message =
                format!("a list of {given} was published, but {count} numbers are measured");
            return Err(Misfit { place: None, message, hint: hint(&parts, count) });
        }
        Published::Each(numbers) => numbers.clone(),
        // A single number applies to every cell, but not to both sides of a comparison.
        Published::One(_) => match source.number() {
            None => return Ok(Vec::new()),
            Some(_) if parts.len() != 1 => {
                let message = format!("one number was published, but {} are measured", parts.len());
                return Err(Misfit { place: None, message, hint: hint(&parts, count) });
            }
            Some(number) => vec![Some(number); count],
        },
    };
    let places = cells.iter().flat_map(|cell| parts.iter().map(move |part| (cell, part)));
    let mut spots = Vec::new();
    for (place, ((cell, FigurePart { name, term }), published)) in places.zip(numbers).enumerate() {
        let Some(published) = published else { continue };
        if !published.unit.fits(term.of.unit) {
            let (own, other) = (published.unit.word(), term.of.unit.word());
            let message = format!("`{}` is {own}, and `{}` is {other}", published.text, term.label);
            let hint = "say it in words, or in the unit of what is measured".to_owned();
            let place = matches!(source, Published::Each(_)).then_some(place);
            return Err(Misfit { place, message, hint });
        }
        let cell_name = space.describe(cell, &axes);
        let part_name = if 1 < parts.len() { *name } else { "" };
        let names = [&*cell_name, part_name].into_iter().filter(|name| !name.is_empty());
        let what = names.collect::<Vec<_>>().join(", ");
        spots.push(FigureSpot { what, cell: cell.clone(), term, published });
    }
    Ok(spots)
}

fn hint(parts: &[FigurePart<'_>], count: usize) -> String {
    let labels: Vec<String> = parts.iter().map(|part| format!("`{}`", part.name)).collect();
    match (&labels[..], count / labels.len().max(1)) {
        ([], _) => "say it in words: no single number is measured here".to_owned(),
        (labels, 1) => format!("say it in words, or give a list: of {}", labels.join(", ")),
        (labels, cells) => {
            format!(
                "say it in words, or give a list: for each of {cells} cells {}",
                labels.join(", ")
            )
        }
    }
}

/// A part of a term that measures a number, with its name if there are several parts.
struct FigurePart<'t> {
    name: &'t str,
    term: &'t Term,
}

impl<'t> FigurePart<'t> {
    fn of(term: &'t Term) -> Self {
        Self { name: &term.label, term }
    }
}

/// Returns the measured parts of a term. A number has one part, the term itself; the parts of a
/// condition are the terms that it compares, or the points of its curve. Bounds and results of
/// theory are not measured.
fn measured(term: &Term) -> Vec<FigurePart<'_>> {
    if !term.of.truth {
        return vec![FigurePart::of(term)];
    }
    match &term.kind {
        TermKind::Apply(Element::Operation(Operation::Binary(_) | Operation::Not), parts) => {
            parts.iter().flat_map(measured).collect()
        }
        TermKind::Apply(element, parts) if element.compares() => {
            let parts: Vec<&Term> = parts.iter().filter(|part| is_measured(part)).collect();
            // Only one side is measured, so the published number belongs to the whole of this side.
            if let [one] = parts[..] {
                return vec![FigurePart::of(one)];
            }
            // `80 % * a <= b <= 90 % * a` has two measured numbers, `a` and `b`.
            let mut sides: Vec<&Term> = Vec::new();
            for side in parts.into_iter().map(without_slack) {
                // A range names the same side twice, but its number was published once.
                if !sides.contains(&side) {
                    sides.push(side);
                }
            }
            sides.into_iter().map(FigurePart::of).collect()
        }
        TermKind::Curve { points, .. } => {
            points.iter().map(|point| FigurePart { name: &point.name, term: &point.term }).collect()
        }
        _ => Vec::new(),
    }
}

/// Returns a side of a comparison without a constant factor or summand: `1.05 * x` is `x` with
/// slack.
fn without_slack(term: &Term) -> &Term {
    let TermKind::Apply(Element::Operation(Operation::Binary(operator)), parts) = &term.kind else {
        return term;
    };
    match (operator, &parts[..]) {
        (Operator::Times, [slack, of]) if !is_measured(slack) => of,
        (Operator::Times | Operator::Over | Operator::Plus | Operator::Minus, [of, slack])
            if !is_measured(slack) =>
        {
            of
        }
        _ => term,
    }
}

fn is_measured(term: &Term) -> bool {
    let mut found = false;
    term.leaves(&mut |leaf| found |= matches!(leaf, TermKind::Quantity(..)));
    found
}
