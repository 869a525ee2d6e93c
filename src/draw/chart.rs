//! Charts as SVG, all in one style.
//!
//! Each kind of chart is a file with a struct of public fields and one method, `draw`:
//!
//! ```text
//! values ─ Extent: lowest, highest, how many cannot be drawn
//!             └ AxisScale: ends, ticks, value → place from 0 to 1
//!                  └ PlotArea: place → x and y in a ChartSheet: title, legend, plot, notes
//!                                                         └ Drawing: svg() or inline()
//! ```
//!
//! A page with drawings includes [`style`] once. Charts read and write no files, and the same data
//! gives the same bytes.
//!
//! All charts follow these rules:
//! - Colour is never the only distinction: lines have markers, areas are hatched; a second
//!   line of the same colour has dots between dashes. Hollow marks are published
//!   values, and a cross lies over values to doubt.
//! - Every mark shows its value when a reader points at it; legends are above the plot, never on
//!   data.
//! - Values that cannot be drawn (not a number, or not positive on a logarithmic axis) or seen (too
//!   small) are left out; a note says so.
//! - A chart never panics, whatever its data.

mod bars;
mod boxes;
mod category;
mod curve;
mod density;
mod doubted;
mod drawing;
mod ecdf;
mod gantt;
mod heat;
mod lanes;
mod legend;
mod lines;
mod palette;
mod percentiles;
mod published;
mod ratios;
mod scale;
mod scatter;
mod stack;
mod steps;
#[cfg(test)]
mod tests;
mod text;
mod tick;
mod timed;
mod unit;

pub use bars::{Arrangement, Bar, BarSeries, Bars};
pub use boxes::{BoxSeries, Boxes};
pub use density::Density;
pub use doubted::DoubtedValues;
pub use drawing::{Caption, Drawing};
pub use ecdf::{Ecdf, EcdfSample};
pub use gantt::{BarFate, BarOwner, Gantt, GanttBar};
pub use heat::Heat;
pub use lanes::GanttRow;
pub use lines::{LinePoint, LineSeries, ValueLines};
pub use palette::{SeriesLook, SeriesStyles, style};
pub use percentiles::{Curve, Percentiles};
pub use ratios::{Ratio, RatioSeries, Ratios};
pub use scale::{ChartAxis, Spacing};
pub use scatter::{ScatterPlot, ScatterPoint, ScatterSeries};
pub use stack::{Stack, StackLayer};
pub use unit::AxisUnit;
