//! Percentile plots of latencies: the axis gives each further nine the same room, so that the
//! rare, long ones can be seen.

use maud::{Markup, html};

use super::curve::{Dot, VERTICES, path, thin};
use super::legend::Key;
use super::palette::{colour, marker, stroke};
use super::scale::{Axis, Ends, Extent, Scale};
use super::sheet::{Area, Caption, Drawing, Sheet};
use super::text::tip;
use crate::units::tell::significant;

/// The percentiles of several histograms.
#[derive(Clone, Debug)]
pub struct Percentiles {
    /// What it is about.
    pub caption: Caption,
    /// What the histograms measure.
    pub y: Axis,
    /// The histograms, in the order of the legend.
    pub curves: Vec<Curve>,
}

/// The values of one histogram at rising shares.
#[derive(Clone, Debug)]
pub struct Curve {
    /// Its name.
    pub name: String,
    /// A share, 0 to 1, and the value that this share of the measurements does not exceed.
    pub points: Vec<(f64, f64)>,
}

impl Percentiles {
    /// Returns the chart. Its axis ends at the last share below 1; the largest value stands there.
    pub fn draw(&self) -> Drawing {
        let mut extent = Extent::default();
        let mut last = 0.0f64;
        for (share, value) in self.curves.iter().flat_map(|curve| &curve.points) {
            extent.see(&self.y, *value);
            last = if *share < 1.0 { last.max(*share) } else { last };
        }
        let x = Scale::nines(last);
        let y = Scale::new(&self.y, extent, Ends::Round, 6);

        let mut sheet = Sheet::new(&self.caption);
        let name = |(i, curve): (usize, &Curve)| Key::line(&curve.name, i, None);
        sheet.legend(&self.curves.iter().enumerate().map(name).collect::<Vec<_>>());
        let area = sheet.axes(&x, &y, 300.0);
        for (number, curve) in self.curves.iter().enumerate() {
            sheet.add(self.curve(number, curve, (&x, &y), &area));
        }
        if extent.is_empty() {
            sheet.nothing(&area);
        }
        extent.notes(&self.y).for_each(|note| sheet.note(&note));
        sheet.finish()
    }

    fn curve(&self, number: usize, curve: &Curve, (x, y): (&Scale, &Scale), area: &Area) -> Markup {
        let shown =
            |(share, value): &&(f64, f64)| (0.0..=1.0).contains(share) && self.y.shows(*value);
        let mut points: Vec<(f64, f64)> = curve.points.iter().filter(shown).copied().collect();
        points.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
        let place = |(share, value): (f64, f64)| (area.x(x.place(share)), area.y(y.place(value)));
        let places: Vec<Dot> = points.iter().copied().map(place).collect();
        // A marker for each tick of the axis: the first point that reaches it;
        // and one for the largest value.
        let at_tick = |share: f64| points.iter().find(|point| share <= point.0).copied();
        let mut marks: Vec<(f64, f64)> =
            x.ticks.iter().filter_map(|tick| at_tick(tick.value)).collect();
        marks.extend(points.last());
        marks.dedup();
        html! {
            g class=(colour(number)) {
                path class=(stroke(number)) d=(path(&thin(&places, VERTICES))) { (tip(&curve.name)) }
                g class="mark" {
                    @for mark in marks {
                        g {
                            (tip(&format!(
                                "{}: {} % at most {}",
                                curve.name,
                                significant(mark.0 * 100.0, 8),
                                self.y.unit.text(mark.1)
                            )))
                            (marker(number, place(mark).0, place(mark).1))
                        }
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::unit::Unit;
    use super::*;

    #[test]
    fn the_axis_has_as_many_nines_as_the_data() {
        let points = vec![(0.0, 1e-3), (0.5, 2e-3), (0.99, 0.1), (0.9995, 2.0), (1.0, 3.0)];
        let curves = vec![Curve { name: "fair".to_owned(), points }];
        let y = Axis::log("Round trip", Unit::Seconds);
        let svg = Percentiles { caption: Caption::default(), y, curves }.draw().inline();
        assert!(svg.contains(">99.9<") && !svg.contains(">99.99<"), "{svg}");
        assert!(svg.contains("fair: 99 % at most 100 ms"), "{svg}");
    }
}
