//! A checked expression, ready to be evaluated: names are resolved, and filters and types are
//! known.

use super::function::Function;
use super::known_words::SelectedWord;
use super::needs::ExprNeeds;
use super::quantity::{KeyKind, NamedQuantity, QuantityShape, QuantitySource, RowKey};
use super::space::Runs;
use crate::tables::{AttemptRow, CellValue, JobRow, TableRow};
use mumakil_base::expression::{Operation, Operator, Spanned, Unit};

/// The kind of a term's value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct TermType {
    pub(super) shape: QuantityShape,
    /// Whether it is a condition, whose value is 1 or 0.
    pub(super) truth: bool,
    pub(super) unit: Unit,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Term {
    pub(super) kind: TermKind,
    pub(super) of: TermType,
    /// The text of the term in a verdict.
    pub(super) label: String,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum TermKind {
    Constant(f64),
    /// The cell's value on an axis, as a number.
    Axis(usize, AxisPick),
    Quantity(&'static NamedQuantity, Selection),
    Aggregate {
        how: Aggregate,
        of: Box<Term>,
        /// Whether the values of all seeds are aggregated together.
        pooled: bool,
    },
    /// One number for each value of `by`.
    Curve {
        how: CurveFold,
        points: Vec<CurvePoint>,
    },
    /// The seconds from an instant until a condition first holds.
    Until {
        condition: Box<Term>,
        from: f64,
    },
    /// A value that is computed separately for each job, task or instant.
    Apply(Element, Vec<Term>),
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct CurvePoint {
    /// The value of `by` at this point, such as `maps=1..25`.
    pub(super) name: String,
    pub(super) x: Option<f64>,
    pub(super) term: Term,
}

/// The values of an axis that a quantity uses.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum AxisPick {
    /// The value of the current cell.
    Free,
    /// The value of the current cell, which must be among these indices.
    Among(Vec<usize>),
    Fixed(usize),
}

/// The runs and rows that a quantity uses.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Selection {
    /// The choice on each axis.
    pub(super) cell: Vec<AxisPick>,
    pub(super) rows: Vec<Filter>,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Filter {
    pub(super) key: &'static RowKey,
    /// The tests; at least one must accept the cell.
    pub(super) tests: Vec<FilterTest>,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum FilterTest {
    Is(Spanned<String>),
    /// A range that includes both ends.
    Within(f64, f64),
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Aggregate {
    Mean,
    Quantile(f64),
    Min,
    Max,
    Sum,
    Count,
    Deviation,
    Jain,
    Any,
    All,
    Share,
}

/// How a curve becomes one value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum CurveFold {
    Aggregate(Aggregate),
    Rising,
    Falling,
    Monotone,
    Slope,
    Linear,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Element {
    Operation(Operation),
    Absolute,
    Root,
    Function(&'static Function),
}

impl Filter {
    /// Returns whether the filter accepts the cell of a row.
    pub(super) fn fits(&self, cell: CellValue<'_>) -> bool {
        // Tables have milliseconds, but expressions have seconds.
        let scale = if self.key.kind == KeyKind::Time { 1e-3 } else { 1.0 };
        self.tests.iter().any(|test| match (test, cell) {
            (FilterTest::Is(word), CellValue::Text(text)) => word.item == text,
            // A word may be a number, such as the pool `1`. An empty cell equals no word.
            (FilterTest::Is(word), _) => {
                cell.number().is_some_and(|number| word.item.parse() == Ok(number))
            }
            (FilterTest::Within(low, high), _) => {
                cell.number().is_some_and(|number| (*low..=*high).contains(&(number * scale)))
            }
        })
    }

    /// Returns the interval of a filter with a single range; `None` for other filters.
    pub(super) fn window(&self) -> Option<(f64, f64)> {
        match self.tests[..] {
            [FilterTest::Within(low, high)] => Some((low, high)),
            _ => None,
        }
    }
}

/// How the number of a term depends on the runs of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Scatter {
    /// The number depends on no run.
    None,
    /// Each run has a number of its own.
    EachSeed,
    /// All runs together have one number.
    Joint,
}

impl Selection {
    /// Returns the cell whose runs are read when the term is evaluated in `cell`.
    pub(super) fn of(&self, cell: &[usize]) -> Vec<usize> {
        let values = cell.iter().zip(&self.cell).map(|(own, pick)| match pick {
            AxisPick::Fixed(place) => *place,
            AxisPick::Free | AxisPick::Among(_) => *own,
        });
        values.collect()
    }
}

impl Term {
    /// Returns whether the study has the cells that the term reads. Two points of a curve are
    /// enough.
    pub(super) fn is_there(&self, runs: &dyn Runs, cell: &[usize]) -> bool {
        match &self.kind {
            TermKind::Constant(_) | TermKind::Axis(..) => true,
            TermKind::Quantity(_, selection) => runs.has(&selection.of(cell)),
            TermKind::Aggregate { of, .. } | TermKind::Until { condition: of, .. } => {
                of.is_there(runs, cell)
            }
            TermKind::Curve { points, .. } => {
                let there = points.iter().filter(|point| point.term.is_there(runs, cell));
                // Two points make a trend. A curve with a single point needs only this point.
                points.len().min(2) <= there.count()
            }
            TermKind::Apply(_, parts) => parts.iter().all(|part| part.is_there(runs, cell)),
        }
    }

    /// Returns how the term's number depends on the runs. Only a number with [`Scatter::EachSeed`]
    /// has a confidence interval.
    pub(super) fn scatter(&self) -> Scatter {
        let most = |parts: &mut dyn Iterator<Item = &Self>| {
            parts.map(Self::scatter).max().unwrap_or(Scatter::None)
        };
        // Comparisons and trends use the means over the seeds.
        let joint = |of: Scatter| if of == Scatter::None { of } else { Scatter::Joint };
        match &self.kind {
            TermKind::Constant(_) | TermKind::Axis(..) => Scatter::None,
            TermKind::Aggregate { pooled: true, .. } => Scatter::Joint,
            TermKind::Quantity(..) | TermKind::Aggregate { .. } | TermKind::Until { .. } => {
                Scatter::EachSeed
            }
            TermKind::Curve { how, points } => {
                let of = most(&mut points.iter().map(|point| &point.term));
                if matches!(how, CurveFold::Aggregate(_) | CurveFold::Slope) {
                    of
                } else {
                    joint(of)
                }
            }
            TermKind::Apply(element, parts) => {
                let of = most(&mut parts.iter());
                if element.compares() { joint(of) } else { of }
            }
        }
    }

    /// Returns the indices of the axes on which the term uses only fixed values, never the cell's
    /// own. `axes` is the number of all axes.
    pub(super) fn chosen(&self, axes: usize) -> Vec<usize> {
        let (mut fixed, mut free) = (vec![false; axes], vec![false; axes]);
        self.leaves(&mut |leaf| match leaf {
            TermKind::Quantity(_, selection) => {
                for (axis, pick) in selection.cell.iter().enumerate() {
                    let is_fixed = matches!(pick, AxisPick::Fixed(_));
                    fixed[axis] |= is_fixed;
                    free[axis] |= !is_fixed;
                }
            }
            // This number is the cell's own value on the axis, so it changes with the cell.
            TermKind::Axis(axis, _) => free[*axis] = true,
            _ => {}
        });
        // If the axis is fixed for some quantities and free for others, the cell still matters.
        (0..axes).filter(|axis| fixed[*axis] && !free[*axis]).collect()
    }

    /// Returns whether the term can never be above 1. This holds for shares of a whole and for
    /// differences of shares. Sums, ratios and deviations of shares may be above 1.
    pub(super) fn is_at_most_whole(&self) -> bool {
        match &self.kind {
            TermKind::Quantity(quantity, _) => quantity.unit == Unit::SHARE,
            TermKind::Aggregate { how: Aggregate::Share, .. } => true,
            TermKind::Curve { how: CurveFold::Aggregate(how), points } => match how {
                Aggregate::Share => true,
                Aggregate::Mean | Aggregate::Quantile(_) | Aggregate::Min | Aggregate::Max => {
                    points.iter().all(|point| point.term.is_at_most_whole())
                }
                _ => false,
            },
            TermKind::Apply(
                Element::Absolute
                | Element::Operation(
                    Operation::Negate | Operation::Binary(Operator::Minus | Operator::Times),
                ),
                parts,
            ) => parts.iter().all(Self::is_at_most_whole),
            _ => false,
        }
    }

    /// Returns whether the term combines several cells.
    pub(super) fn spans_cells(&self) -> bool {
        let mut seen: Option<&[AxisPick]> = None;
        let mut spans = false;
        self.leaves(&mut |leaf| {
            if let TermKind::Quantity(_, selection) = leaf {
                spans |= *seen.get_or_insert(&selection.cell) != selection.cell;
            }
        });
        spans
    }

    /// Calls `see` with every term that has no parts.
    pub(super) fn leaves<'t>(&'t self, see: &mut impl FnMut(&'t TermKind)) {
        match &self.kind {
            leaf @ (TermKind::Constant(_) | TermKind::Axis(..) | TermKind::Quantity(..)) => {
                see(leaf)
            }
            TermKind::Aggregate { of, .. } | TermKind::Until { condition: of, .. } => {
                of.leaves(see)
            }
            TermKind::Curve { points, .. } => {
                points.iter().for_each(|point| point.term.leaves(see))
            }
            TermKind::Apply(_, parts) => parts.iter().for_each(|part| part.leaves(see)),
        }
    }

    /// Returns the words by which the term selects rows.
    pub(super) fn words(&self) -> Vec<SelectedWord<'_>> {
        let mut words = Vec::new();
        self.leaves(&mut |leaf| {
            let TermKind::Quantity(_, selection) = leaf else { return };
            for Filter { key, tests } in &selection.rows {
                words.extend(tests.iter().filter_map(|test| match test {
                    FilterTest::Is(Spanned { span, item }) => {
                        Some(SelectedWord { key: key.name, word: item, span: span.clone() })
                    }
                    FilterTest::Within(..) => None,
                }));
            }
        });
        words
    }

    /// Returns the tables, histograms and numbers that the term reads.
    pub(super) fn needs(&self) -> ExprNeeds {
        let mut needs = ExprNeeds::default();
        self.leaves(&mut |leaf| {
            if let TermKind::Quantity(quantity, selection) = leaf {
                quantity.needs(selection, &mut needs);
            }
        });
        needs
    }
}

impl NamedQuantity {
    fn needs(&self, selection: &Selection, needs: &mut ExprNeeds) {
        match self.source {
            QuantitySource::Summary(path)
            | QuantitySource::SummaryOrZero(path)
            | QuantitySource::SummaryIfCounted(path) => {
                needs.numbers.insert(path);
                return;
            }
            QuantitySource::Histogram(name) => {
                needs.histograms.insert(name);
                return;
            }
            QuantitySource::ReduceTime => {
                needs.tables.insert(AttemptRow::FILE);
            }
            // A step function ends with the run, and only the summary has the end of the run.
            QuantitySource::Series(_) => {
                needs.numbers.insert("virtual_s");
            }
            QuantitySource::Job(_)
            | QuantitySource::Locality(_)
            | QuantitySource::Attempt(_)
            | QuantitySource::Node(_) => {}
        }
        // `jobs.csv` is always needed: arrivals say which jobs count after the warm-up, and names
        // pair the jobs of different runs.
        needs.tables.extend(self.table().into_iter().chain([JobRow::FILE]));
        needs.columns.extend(self.record);
        needs.tables.extend(selection.rows.iter().map(|filter| filter.key.file));
    }
}
