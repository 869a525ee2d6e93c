//! A kind of chart: the properties by which it is checked and drawn.

use super::Picture;
use super::canvas::Canvas;
use mumakil_results::expect::{Expr, ExprComplaint, ExprNeeds, ExprPlan, Space, capital, in_words};
use mumakil_results::tables::ReadError;

/// A kind of chart, with the options of one entry in `charts:`.
pub(super) trait ChartKind {
    /// Returns the properties that all charts of the kind share.
    fn nature(&self) -> ChartTraits;

    /// Returns the chart's expressions with their names; the name of a single expression is empty.
    fn expressions(&self) -> Vec<(&str, &str)>;

    /// Draws the chart.
    fn draw(&self, canvas: &Canvas<'_>) -> Result<Picture, ReadError>;

    /// Returns a description of the chart, for readers.
    fn description(&self) -> String {
        let expressions = self.expressions();
        expressions.iter().map(|(_, text)| *text).collect::<Vec<_>>().join(", ")
    }

    /// Returns a title for the chart.
    fn in_words(&self) -> String {
        let expressions = self.expressions();
        match &expressions[..] {
            [] => capital(&self.description()),
            all => all.iter().map(|(_, text)| in_words(text)).collect::<Vec<_>>().join("; "),
        }
    }

    /// Returns the data that the chart reads of every run, in addition to the data of its
    /// expressions.
    fn needs(&self) -> ExprNeeds {
        ExprNeeds::default()
    }

    /// Returns whether the chart shows all values of the compared axis side by side.
    fn compares(&self) -> bool {
        false
    }

    /// Returns whether the horizontal axis has labels. If a chart of this kind has `by` but not
    /// `over`, the axis of `by` becomes the horizontal axis.
    fn stands_over_labels(&self) -> bool {
        false
    }
}

/// The properties of every chart of a kind.
#[derive(Clone, Copy, Debug)]
pub(super) struct ChartTraits {
    /// The name of the kind, for readers.
    pub(super) word: &'static str,
    /// The things that a reader looks for in it.
    pub(super) look_for: &'static str,
    /// The kind of the chart's expressions; `None` if the chart has no expressions.
    pub(super) shows: Option<ExpressionKind>,
    /// The use of the horizontal axis (`over`).
    pub(super) over: AxisUse,
    /// The use of the axis that makes several lines, bars or boxes (`by`).
    pub(super) by: AxisUse,
    /// Whether the chart has an axis of values, which may be logarithmic.
    pub(super) has_log: bool,
    /// The positions of published points; `None` if the chart shows no published points.
    pub(super) published: Option<PointPositions>,
}

impl ChartTraits {
    /// Returns the traits of a kind of such expressions, with what most kinds have.
    pub(super) const fn new(
        word: &'static str,
        look_for: &'static str,
        shows: ExpressionKind,
    ) -> Self {
        let (over, by) = (AxisUse::Optional, AxisUse::Optional);
        Self { word, look_for, shows: Some(shows), over, by, has_log: true, published: None }
    }
}

/// The positions of published points.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PointPositions {
    /// At the labels of groups, side by side.
    Labels,
    /// At numbers of the horizontal axis.
    Axis,
    /// At values of the chart's expressions: a point is a share of the sample.
    Values,
}

/// The kind of a chart's expressions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ExpressionKind {
    /// One number for each run.
    Metric,
    /// Many numbers for each run, one for each job or task.
    Sample,
    /// A histogram for each run.
    Histogram,
}

/// The use that a kind of chart makes of an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AxisUse {
    /// The axis must not be given.
    Unused,
    /// The axis may be given.
    Optional,
    /// The axis must be given.
    Needed,
    /// The axis must be given, and its values must be numbers of one unit.
    NeededNumbers,
}

impl ExpressionKind {
    /// Parses an expression of this kind.
    pub(super) fn plan(self, text: &str, space: &Space) -> Result<ExprPlan, ExprComplaint> {
        let expr = Expr::parse(text)?;
        match self {
            Self::Metric => expr.metric(space),
            Self::Sample | Self::Histogram => expr.sample(space),
        }
    }
}
