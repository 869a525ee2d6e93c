//! Charts as SVG: data in, markup out, one style for all of them.
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
//! A page that holds drawings defines [`style`] once. Nothing here reads or writes a file, and the
//! same data gives the same bytes.
//!
//! All of them keep to these rules:
//! - Colour is never the only sign: lines carry markers, areas are hatched, dashes mean
//!   theory; a second line of the same colour has dots between its dashes. Hollow marks are what
//!   others have published.
//! - Every mark says its value when pointed at; legends stand above the plot, never on data.
//! - Values that cannot be drawn (not a number, or not positive on a logarithmic axis) are left out, and
//!   so are those that would be too small to see; the chart then says so in a note.
//! - Nothing in the data makes them panic.

mod bars;
mod boxes;
mod category;
mod curve;
mod density;
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
pub use drawing::{Caption, Drawing};
pub use ecdf::{Ecdf, EcdfSample};
pub use gantt::{BarFate, BarOwner, Gantt, GanttBar};
pub use heat::Heat;
pub use lanes::GanttRow;
pub use lines::{LinePoint, LineSeries, ReferenceLine, ValueLines};
pub use palette::{SeriesLook, SeriesStyles, style};
pub use percentiles::{Curve, Percentiles};
pub use ratios::{Ratio, RatioSeries, Ratios};
pub use scale::{ChartAxis, Spacing};
pub use stack::{Stack, StackLayer};
pub use unit::AxisUnit;
