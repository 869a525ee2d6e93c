//! A plot whose marks have whole units of time as coordinates. So the page's script can zoom by
//! changing the visible window, and can read times from the marks.

use maud::{Markup, html};

use super::drawing::PlotArea;
use super::lanes::Lanes;
use super::scale::{AxisScale, ChartAxis, Extent, ScaleEnds};
use super::text::Coordinate;

/// The number of units in a second: a unit is a millisecond, unless the times are too far apart.
// Tables use milliseconds, so no time is rounded.
const PER_SECOND: f64 = 1_000.0;

/// The most units of a plot. Chosen: browsers compute with single precision, so finer units would
/// not be more precise.
const MOST: f64 = 1e9;

/// Times as whole numbers of units since the first time.
#[derive(Clone, Debug)]
pub(super) struct WholeTimes {
    pub(super) x: AxisScale,
    first: f64,
    per_second: f64,
    /// The length of the time axis in units.
    pub(super) whole: u64,
}

impl WholeTimes {
    pub(super) fn new(axis: &ChartAxis, extent: Extent) -> Self {
        let x = AxisScale::new(axis, extent, ScaleEnds::Exact, 8);
        let (first, last) = x.ends();
        let per_second = PER_SECOND.min(MOST / (last - first));
        // The plot is at least one unit long: a viewBox without width is not drawn.
        Self { x, first, per_second, whole: ((last - first) * per_second).round().max(1.0) as u64 }
    }

    /// Returns a time in units.
    pub(super) fn at(&self, time: f64) -> u64 {
        (((time - self.first) * self.per_second).round().max(0.0) as u64).min(self.whole)
    }

    /// Returns a mark in a lane that begins at unit `from` and is `length` units long. It is an
    /// area, not a stroke: some printing programs cannot scale a stroke differently in x and y.
    pub(super) fn mark(from: u64, lane: usize, length: u64) -> String {
        format!("M{from} {lane}h{length}v.88h-{length}z")
    }

    /// Returns the plot with these marks; each lane is one unit high.
    pub(super) fn plot(&self, area: &PlotArea, lanes: &Lanes<'_>, marks: Markup) -> Markup {
        html! {
            svg class="time" x=(Coordinate(area.left)) y=(Coordinate(area.top)) width=(Coordinate(area.width()))
                height=(Coordinate(area.height())) preserveAspectRatio="none"
                viewBox={ "0 0 " (self.whole) " " (lanes.count()) }
                data-first=(self.first) data-per-second=(self.per_second)
                data-lanes=(lanes.label()) {
                // This rectangle catches the pointer where there is no mark.
                rect width=(self.whole) height=(lanes.count()) fill="none" pointer-events="all" {}
                (marks)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::unit::AxisUnit;
    use super::*;

    fn timed(times: [f64; 2]) -> WholeTimes {
        let axis = ChartAxis::linear("Time", AxisUnit::Seconds);
        let mut extent = Extent::default();
        times.iter().for_each(|time| _ = extent.see(&axis, *time));
        WholeTimes::new(&axis, extent)
    }

    #[test]
    fn times_are_whole_milliseconds() {
        let timed = timed([10.0, 100.0]);
        assert_eq!((timed.whole, timed.at(10.0), timed.at(14.4691)), (90_000, 0, 4_469));
    }

    #[test]
    fn a_thousand_years_are_a_billion_units() {
        let timed = timed([0.0, 3e10]);
        assert_eq!((timed.whole, timed.at(3e9)), (1_000_000_000, 100_000_000));
    }
}
