//! Values that a reader should doubt, such as those of an overloaded cluster: a cross lies over each.

use maud::{Markup, html};

use super::curve::Dot;
use super::legend::LegendKey;
use super::palette::outlined;
use super::text::Coordinate;

/// Values of a chart that a reader should doubt.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DoubtedValues {
    /// The reason in a word, for the legend, such as `overloaded`.
    pub word: String,
    /// The values in words, a sentence below the chart.
    pub note: String,
    /// The values: the index of a line and of its point, of a series and a group of bars, or of a
    /// row and a column. Other kinds of charts show only the note.
    pub values: Vec<(usize, usize)>,
}

impl DoubtedValues {
    pub(super) fn has(&self, value: (usize, usize)) -> bool {
        self.values.contains(&value)
    }

    /// Returns the legend key of crosses; `None` without any.
    pub(super) fn key(&self) -> Option<LegendKey> {
        (!self.values.is_empty()).then(|| LegendKey::sign(&self.word, cross((14.0, 0.0))))
    }
}

/// Returns a cross over a value: visible on any colour.
pub(super) fn cross((x, y): Dot) -> Markup {
    html! {
        g class="doubt" pointer-events="none"
            transform={ "translate(" (Coordinate(x)) " " (Coordinate(y)) ")" } {
            (outlined("M-6-6L6 6M-6 6L6-6"))
        }
    }
}
