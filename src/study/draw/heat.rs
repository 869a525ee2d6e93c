//! `heat`: a metric over two axes.

use super::Picture;
use super::canvas::Canvas;
use super::kind::{AxisUse, ChartKind, ChartTraits, ExpressionKind};
use mumakil_draw::chart::Heat;
use mumakil_results::tables::ReadError;

pub(super) struct HeatMap<'c>(pub(super) &'c str);

impl ChartKind for HeatMap<'_> {
    fn nature(&self) -> ChartTraits {
        ChartTraits {
            over: AxisUse::Needed,
            by: AxisUse::Needed,
            ..ChartTraits::new(
                "heat map",
                "the row or column along which the colour changes most",
                ExpressionKind::Metric,
            )
        }
    }

    fn expressions(&self) -> Vec<(&str, &str)> {
        vec![("", self.0)]
    }

    fn draw(&self, canvas: &Canvas<'_>) -> Result<Picture, ReadError> {
        let (columns, rows) = (canvas.values(canvas.over), canvas.values(canvas.by));
        let mut values = Vec::new();
        let mut overloaded = Vec::new();
        for (_, by) in &rows {
            let mut row = Vec::new();
            for (_, over) in &columns {
                let cell = canvas.at(&[*by, *over]);
                if canvas.is_overloaded(&canvas.asked[0], &cell) {
                    overloaded.push((values.len(), row.len()));
                }
                let bar = canvas.estimate(&canvas.asked[0], &cell)?;
                // NaN leaves the field empty, as for an excluded cell.
                row.push(bar.map_or(f64::NAN, |bar| bar.value));
            }
            values.push(row);
        }
        let chart = Heat {
            caption: canvas.crossed(overloaded),
            x: canvas.path(canvas.over),
            y: canvas.path(canvas.by),
            columns: columns.into_iter().map(|(label, _)| label).collect(),
            rows: rows.into_iter().map(|(label, _)| label).collect(),
            value: canvas.axis(),
            values,
        };
        Ok(chart.draw().into())
    }
}
