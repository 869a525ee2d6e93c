//! Heat maps: a value for each pair of names, shown as a colour. If the number fits into its cell,
//! it is shown too.

use maud::{Markup, html};

use super::category::Groups;
use super::doubted::cross;
use super::drawing::{Caption, ChartSheet, Drawing, MARGIN, PlotArea};
use super::palette::shade;
use super::scale::{AxisScale, ChartAxis, Extent, ScaleEnds};
use super::text::{Coordinate, LEADING, SIZE, fit, shorten, tip, width};

/// The greatest length of a row's name, in units of the drawing; longer names are cut.
// Chosen: a fifth of the width, which leaves most of it to the cells.
const LONGEST: f64 = 150.0;

/// The width and height of the bar of colours in the legend.
const BAR: (f64, f64) = (260.0, 14.0);

/// A heat map: a value for each column and row.
#[derive(Clone, Debug)]
pub struct Heat {
    /// The title and the texts around it.
    pub caption: Caption,
    /// The title of the columns.
    pub x: String,
    /// The title of the rows.
    pub y: String,
    /// The names of the columns, from left to right.
    pub columns: Vec<String>,
    /// The names of the rows, from top to bottom.
    pub rows: Vec<String>,
    /// The axis of the values.
    pub value: ChartAxis,
    /// The values, row by row; a value that is not a number leaves its cell empty.
    pub values: Vec<Vec<f64>>,
}

impl Heat {
    /// Returns the chart.
    pub fn draw(&self) -> Drawing {
        Drawing::in_both_widths(|width| self.draw_at(width))
    }

    fn draw_at(&self, width: f64) -> Drawing {
        let mut extent = Extent::default();
        for row in self.values.iter().take(self.rows.len()) {
            for value in row.iter().take(self.columns.len()) {
                extent.see(&self.value, *value);
            }
        }
        let scale = AxisScale::new(&self.value, extent, ScaleEnds::Round, 4);
        let mut sheet = ChartSheet::new(&self.caption, width);
        self.legend(&mut sheet, &scale);
        let area = self.names(&mut sheet);
        self.cells(&mut sheet, &scale, &area);
        let groups = Groups::new(&area, self.columns.len(), 1);
        sheet.names(&area, &groups, &self.columns, &self.x);
        sheet.nothing_if(extent.is_empty(), &area);
        extent.notes(&self.value).for_each(|note| sheet.note(&note));
        sheet.finish()
    }

    /// Draws the title of the values, and the bar of colours with its ticks.
    fn legend(&self, sheet: &mut ChartSheet, scale: &AxisScale) {
        let id = sheet.id.clone();
        let (left, top) = (MARGIN, sheet.below + 10.0);
        let title = fit(&scale.title, 380.0);
        let bar = left + width(&title) + 24.0;
        // The bar is shorter than an axis, so a label that would touch the one before it is left out.
        let mut free_from = f64::NEG_INFINITY;
        let labelled = scale.ticks.iter().filter_map(|tick| {
            let (at, label) = (bar + scale.place(tick.value) * BAR.0, tick.label.as_ref()?);
            let fits = free_from <= at - width(label) / 2.0;
            free_from = if fits { at + width(label) / 2.0 + 6.0 } else { free_from };
            Some((at, label, fits))
        });
        let ticks: Vec<(f64, &String, bool)> = labelled.collect();
        sheet.add(html! {
            defs { linearGradient id={ (id) "-shades" } {
                // Use twice as many stops as the colour scale has, so that the gradient follows the
                // scale.
                @for i in 0..=20 {
                    stop offset={ (5 * i) "%" } stop-color=(shade(f64::from(i) / 20.0).0) {}
                }
            } }
            text class="c-soft" x=(Coordinate(left)) y=(Coordinate(top + 12.0)) { (title) }
            rect x=(Coordinate(bar)) y=(Coordinate(top)) width=(Coordinate(BAR.0)) height=(Coordinate(BAR.1))
                fill={ "url(#" (id) "-shades)" } {}
            @for (at, label, fits) in ticks {
                path class="thin c-soft" d={ "M" (Coordinate(at)) " " (Coordinate(top + BAR.1)) "v4" } {}
                @if fits {
                    text class="c-soft" text-anchor="middle" x=(Coordinate(at))
                        y=(Coordinate(top + BAR.1 + LEADING)) { (label) }
                }
            }
        });
        sheet.below = top + BAR.1 + LEADING + 10.0;
    }

    /// Writes the names of the rows; returns the area of the cells.
    fn names(&self, sheet: &mut ChartSheet) -> PlotArea {
        // Chosen: all rows together are about half as high as the chart is wide, with limits for
        // the height of a row.
        let height = (360.0 / self.rows.len().max(1) as f64).clamp(3.0, 34.0);
        let every = ((SIZE + 2.0) / height).ceil().max(1.0) as usize;
        let names: Vec<(usize, String)> = self
            .rows
            .iter()
            .enumerate()
            .step_by(every)
            .map(|(row, name)| (row, shorten(name, LONGEST)))
            .collect();
        let widest = names.iter().map(|(_, name)| width(name)).fold(0.0, f64::max);
        let top = sheet.below + LEADING + 10.0;
        let bottom = top + height * self.rows.len().max(1) as f64;
        let area =
            PlotArea { left: MARGIN + widest + 8.0, right: sheet.width - MARGIN, top, bottom };
        let title = fit(&self.y, sheet.room());
        sheet.add(html! {
            text class="c-soft" x=(Coordinate(MARGIN)) y=(Coordinate(sheet.below + LEADING - 4.0)) { (title) }
            @for (row, name) in &names {
                text text-anchor="end" x=(Coordinate(area.left - 8.0))
                    y=(Coordinate(top + (*row as f64 + 0.5) * height + 5.0)) { (name) }
            }
        });
        sheet.below = bottom;
        area
    }

    fn cells(&self, sheet: &mut ChartSheet, scale: &AxisScale, area: &PlotArea) {
        let size = (
            area.width() / self.columns.len().max(1) as f64,
            area.height() / self.rows.len().max(1) as f64,
        );
        for (row, values) in self.values.iter().enumerate().take(self.rows.len()) {
            for (column, value) in values.iter().enumerate().take(self.columns.len()) {
                if self.value.shows(*value) {
                    let left = area.left + column as f64 * size.0;
                    let top = area.top + row as f64 * size.1;
                    let heading = format!("{}, {}", self.rows[row], self.columns[column]);
                    sheet.add(self.cell(*value, scale, &heading, (left, top), size));
                    if self.caption.doubted.has((row, column)) {
                        // In the corner, where no number is written.
                        sheet.add(cross((left + size.0 - 10.0, top + 9.0)));
                    }
                }
            }
        }
    }

    fn cell(
        &self,
        value: f64,
        scale: &AxisScale,
        heading: &str,
        (left, top): (f64, f64),
        (wide, high): (f64, f64),
    ) -> Markup {
        let (shade, dark) = shade(scale.place(value));
        let text = self.value.unit.text(value);
        // A number that does not fit its cell is shown only when a reader points at the cell.
        let written = width(&text) + 6.0 < wide && SIZE + 3.0 < high;
        // Cells are drawn slightly smaller, so that gaps separate them; small cells have no gaps.
        let gap = if wide.min(high) < 8.0 { 0.0 } else { 1.0 };
        let style = if dark { "fill:#000" } else { "fill:#fff" };
        html! {
            rect x=(Coordinate(left)) y=(Coordinate(top)) width=(Coordinate(wide - gap)) height=(Coordinate(high - gap))
                fill=(shade) { (tip(&format!("{heading}: {text}"))) }
            @if written {
                text text-anchor="middle" pointer-events="none" style=(style)
                    x=(Coordinate(left + wide / 2.0)) y=(Coordinate(top + high / 2.0 + 5.0)) { (text) }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::unit::AxisUnit;
    use super::*;

    fn heat(columns: usize, values: &[f64]) -> String {
        let name = |i: usize| format!("n{i}");
        let rows = values.len().div_ceil(columns);
        let chart = Heat {
            caption: Caption::default(),
            x: "Nodes".to_owned(),
            y: "Scheduler".to_owned(),
            columns: (0..columns).map(name).collect(),
            rows: (0..rows).map(name).collect(),
            value: ChartAxis::linear("Node-local", AxisUnit::Share),
            values: values.chunks(columns).map(<[f64]>::to_vec).collect(),
        };
        chart.draw().inline()
    }

    #[test]
    fn a_value_is_printed_where_it_fits() {
        assert!(heat(3, &[0.25, 0.5, 1.0]).contains("pointer-events=\"none\""));
        assert!(!heat(60, &[0.5; 60]).contains("pointer-events=\"none\""));
    }

    /// On the logarithmic bar 0.9 and 1 are so near that their labels would touch.
    #[test]
    fn labels_of_the_bar_do_not_touch() {
        let chart = Heat {
            caption: Caption::default(),
            x: "Scenario".to_owned(),
            y: "Policy".to_owned(),
            columns: vec!["a".to_owned(), "b".to_owned()],
            rows: vec!["c".to_owned()],
            value: ChartAxis::log("Ratio", AxisUnit::Ratio),
            values: vec![vec![0.91, 2.84]],
        };
        let svg = chart.draw().inline();
        assert!(svg.contains(">0.9×<") && !svg.contains(">1×<"), "{svg}");
    }

    #[test]
    fn a_cell_without_a_number_is_empty() {
        let svg = heat(2, &[0.25, f64::NAN]);
        assert!(svg.contains("n0, n0: 25 %") && !svg.contains("n0, n1"), "{svg}");
        assert!(svg.contains("Not drawn: 1 value without a result."));
    }
}
