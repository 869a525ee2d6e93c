//! The properties of a kind of chart: enough to check it and to draw it.

use super::Picture;
use super::canvas::Canvas;
use mumakil_results::expect::{Expr, ExprComplaint, ExprNeeds, ExprPlan, Space, capital, in_words};
use mumakil_results::tables::ReadError;

/// A kind of chart, as an entry of a study has it.
pub(super) trait ChartKind {
    /// Returns the traits that all charts of the kind share.
    fn nature(&self) -> ChartTraits;

    /// Returns its expressions with their names; one alone has an empty one.
    fn expressions(&self) -> Vec<(&str, &str)>;

    /// Draws it.
    fn draw(&self, canvas: &Canvas<'_>) -> Result<Picture, ReadError>;

    /// Returns what it shows, in words.
    fn description(&self) -> String {
        let expressions = self.expressions();
        expressions.iter().map(|(_, text)| *text).collect::<Vec<_>>().join(", ")
    }

    /// Returns it as a title.
    fn in_words(&self) -> String {
        let expressions = self.expressions();
        match &expressions[..] {
            [] => capital(&self.description()),
            all => all.iter().map(|(_, text)| in_words(text)).collect::<Vec<_>>().join("; "),
        }
    }

    /// Returns what it reads of every run beside its expressions.
    fn needs(&self) -> ExprNeeds {
        ExprNeeds::default()
    }

    /// Returns whether it shows all values of the compared axis beside each other.
    fn compares(&self) -> bool {
        false
    }

    /// Returns whether it stands over the labels of an axis. If there is only `by`, that axis then
    /// lies under it.
    fn stands_over_labels(&self) -> bool {
        false
    }
}

/// The properties of every chart of a kind.
#[derive(Clone, Copy, Debug)]
pub(super) struct ChartTraits {
    /// Its name for people.
    pub(super) word: &'static str,
    /// The kind of expressions that it shows; `None` if it has none.
    pub(super) shows: Option<ExpressionKind>,
    /// Its use of the axis that lies on the page.
    pub(super) over: AxisUse,
    /// Its use of the axis that makes several lines, bars or boxes.
    pub(super) by: AxisUse,
    /// Whether it has an axis of values, which may be logarithmic.
    pub(super) has_log: bool,
    /// The positions of published points; `None` if it shows none.
    pub(super) published: Option<PointPositions>,
}

/// The positions of published points.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PointPositions {
    /// The names of groups, side by side.
    Labels,
    /// The numbers of the axis that lies on the page.
    Axis,
    /// The values of its expressions: a point is a share of the sample.
    Values,
}

/// The kind of a chart's expressions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ExpressionKind {
    /// One number of each run.
    Metric,
    /// Many numbers of each run, each of a job or a task.
    Sample,
    /// A histogram of each run.
    Histogram,
}

/// A use that a kind of chart makes of an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AxisUse {
    /// Nothing: to name one is a mistake.
    Unused,
    /// It is shown if there is one.
    Optional,
    /// There is no chart without one.
    Needed,
    /// There is none without one, and its values are numbers of one unit.
    NeededNumbers,
}

impl ExpressionKind {
    /// Returns what an expression means.
    pub(super) fn plan(self, text: &str, space: &Space) -> Result<ExprPlan, ExprComplaint> {
        let expr = Expr::parse(text)?;
        match self {
            Self::Metric => expr.metric(space),
            Self::Sample | Self::Histogram => expr.sample(space),
        }
    }
}
