//! An expression that makes sense: every name is found, every filter in its place, every type known.

use super::function::Function;
use super::quantity::{KeyKind, Quantity, RowKey, Shape, Source};
use super::source::{Needs, Table};
use super::syntax::{Comparison, Operator};
use super::unit::Unit;

/// What kind of value a term has.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Type {
    pub(super) shape: Shape,
    /// Whether it holds or not, which is told by 1 and 0.
    pub(super) truth: bool,
    pub(super) unit: Unit,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Term {
    pub(super) kind: Kind,
    pub(super) of: Type,
    /// What it is called in a verdict.
    pub(super) label: String,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Kind {
    Constant(f64),
    /// The number of the cell's value on an axis.
    Axis(usize, Pick),
    Quantity(&'static Quantity, Selection),
    Aggregate {
        how: Aggregate,
        of: Box<Term>,
        /// Whether the values of all seeds are thrown together.
        pooled: bool,
    },
    /// One number for each value that `by` goes through.
    Curve {
        how: Fold,
        points: Vec<Point>,
    },
    /// How long after an instant a condition holds for the first time.
    Until {
        condition: Box<Term>,
        from: f64,
    },
    /// What is computed for each job, task or instant alone.
    Apply(Element, Vec<Term>),
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Point {
    pub(super) x: Option<f64>,
    pub(super) term: Term,
}

/// Which values of an axis a quantity is of.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Pick {
    /// That of the cell at hand.
    Free,
    /// That of the cell at hand, which must be among these.
    Among(Vec<usize>),
    Fixed(usize),
}

/// Which runs and rows a quantity is of.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Selection {
    /// For each axis.
    pub(super) cell: Vec<Pick>,
    pub(super) rows: Vec<Filter>,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Filter {
    pub(super) key: &'static RowKey,
    /// One of these must fit.
    pub(super) tests: Vec<Test>,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Test {
    Is(String),
    /// Both ends belong to it.
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

/// What becomes of a curve.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Fold {
    Aggregate(Aggregate),
    Rising,
    Falling,
    Monotone,
    Slope,
    Linear,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Element {
    Negate,
    Not,
    Absolute,
    Root,
    Binary(Operator),
    Compare(Vec<Comparison>),
    Within { band: f64, relative: bool },
    Function(&'static Function),
}

impl Filter {
    /// Returns whether a cell of a table fits.
    pub(super) fn fits(&self, text: &str) -> bool {
        let scale = if self.key.kind == KeyKind::Time { 1e-3 } else { 1.0 };
        let number = || text.parse().ok().map(|number: f64| number * scale);
        self.tests.iter().any(|test| match test {
            Test::Is(word) => word == text,
            Test::Within(low, high) => {
                number().is_some_and(|number| (*low..=*high).contains(&number))
            }
        })
    }
}

impl Filter {
    /// Returns the interval that it chooses, if it is one.
    pub(super) fn window(&self) -> Option<(f64, f64)> {
        match self.tests[..] {
            [Test::Within(low, high)] => Some((low, high)),
            _ => None,
        }
    }
}

impl Term {
    /// Calls `see` with every term that has no parts.
    pub(super) fn leaves<'t>(&'t self, see: &mut impl FnMut(&'t Kind)) {
        match &self.kind {
            leaf @ (Kind::Constant(_) | Kind::Axis(..) | Kind::Quantity(..)) => see(leaf),
            Kind::Aggregate { of, .. } | Kind::Until { condition: of, .. } => of.leaves(see),
            Kind::Curve { points, .. } => points.iter().for_each(|point| point.term.leaves(see)),
            Kind::Apply(_, parts) => parts.iter().for_each(|part| part.leaves(see)),
        }
    }

    /// Returns what it reads.
    pub(super) fn needs(&self) -> Needs {
        let mut needs = Needs::default();
        self.leaves(&mut |leaf| {
            if let Kind::Quantity(quantity, selection) = leaf {
                quantity.needs(selection, &mut needs);
            }
        });
        needs
    }
}

/// The columns that say which job a row is of, and whether it is counted.
pub(super) const JOB: [&str; 3] = ["job", "name", "submit_ms"];
/// The columns that say which attempt a row is of.
pub(super) const ATTEMPT: [&str; 4] = ["job", "kind", "task", "attempt"];
/// The columns that say when and of what a row of the timeline is.
pub(super) const CHANGE: [&str; 3] = ["time_ms", "kind", "job"];
/// How long a job takes alone.
pub(super) const ALONE: [&str; 3] = ["job", "name", "alone_ms"];

impl Quantity {
    fn needs(&self, selection: &Selection, needs: &mut Needs) {
        let table = match self.source {
            Source::Summary(path) => {
                needs.numbers.insert(path);
                return;
            }
            Source::Histogram(name) => {
                needs.histograms.insert(name);
                return;
            }
            Source::Job(..) | Source::Locality(_) => None,
            Source::Slowdown => Some((Table::Alone, &ALONE[..])),
            Source::Attempt(..) | Source::ReduceTime => Some((Table::Tasks, &ATTEMPT[..])),
            Source::Series(_) => Some((Table::Timeline, &CHANGE[..])),
        };
        if let Source::Series(_) = self.source {
            needs.numbers.insert("virtual_s");
        }
        needs.add_columns(Table::Jobs, JOB);
        if let Some((table, columns)) = table {
            needs.add_columns(table, columns.iter().copied());
        }
        for (table, column) in self.columns() {
            needs.add_columns(table, [column]);
        }
        for filter in &selection.rows {
            needs.add_columns(filter.key.table, [filter.key.column]);
        }
    }

    /// Returns the columns whose numbers it is made of.
    pub(super) fn columns(&self) -> Vec<(Table, &'static str)> {
        let both = |table, to, from: Option<_>| {
            [Some(to), from].into_iter().flatten().map(|column| (table, column)).collect()
        };
        match self.source {
            Source::Summary(_) | Source::Histogram(_) => Vec::new(),
            Source::Job(to, from) => both(Table::Jobs, to, from),
            Source::Slowdown => both(Table::Jobs, "sojourn_ms", None),
            Source::Locality(_) => {
                super::quantity::LOCALITIES.map(|column| (Table::Jobs, column)).to_vec()
            }
            Source::ReduceTime => both(Table::Tasks, "finish_ms", Some("start_ms")),
            Source::Attempt(to, from) => {
                let mut columns = both(Table::Tasks, to, from);
                if self.shape == Shape::Tasks {
                    columns.push((Table::Tasks, "outcome"));
                }
                columns
            }
            Source::Series(column) => both(Table::Timeline, column, None),
        }
    }
}
