//! Stacked layers over time: the slots that each pool holds, the number of its tasks that wait, and
//! its minimum share.
//!
//! Waiting tasks have a strip above the plot, over the same time, since there may be a thousand
//! times as many waiting tasks as slots. A minimum share is a dotted line at the height that the
//! layer of its pool should have, counted from the foot of the layer. If a layer does not reach its
//! line, its pool has less than its minimum share.

use std::fmt::Write as _;

use maud::{Markup, html};

use super::curve::{Dot, path, stairs};
use super::drawing::{Caption, ChartSheet, Drawing, PlotArea};
use super::legend::LegendKey;
use super::palette::{COLOURS, Hatches, SeriesLook, colour};
use super::scale::{AxisScale, ChartAxis, Extent, ScaleEnds, is_number};
use super::steps::ChartSteps;
use super::text::{Coordinate, tip};

/// Up to this many steps are drawn exactly. More steps are averaged over this many intervals.
/// Chosen: an interval is then little more than a pixel wide.
const INTERVALS: usize = 500;

/// A chart of stacked areas over time.
#[derive(Clone, Debug)]
pub struct Stack {
    /// The title and the texts around it.
    pub caption: Caption,
    /// The time axis.
    pub x: ChartAxis,
    /// The axis of the stacked values, such as map slots.
    pub y: ChartAxis,
    /// The layers, from bottom to top. If there are more layers than colours, the smallest layers
    /// are merged.
    pub layers: Vec<StackLayer>,
    /// The total capacity, drawn as a dashed line.
    pub capacity: Option<StackLayer>,
    /// The axis of the strip above, such as waiting maps; `None` leaves the strip out.
    pub waiting: Option<ChartAxis>,
    /// The end of the time axis.
    pub until: f64,
}

/// A layer: a value over time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StackLayer {
    /// The name.
    pub name: String,
    /// Its look.
    pub look: SeriesLook,
    /// Its steps: a time, and the value from then on. Before the first step the value is zero.
    pub steps: Vec<(f64, f64)>,
    /// The steps of the number of waiting tasks.
    pub waiting: Vec<(f64, f64)>,
    /// The minimum share, if there is one.
    pub promised: Option<f64>,
}

/// A layer, averaged over the drawn intervals.
struct Drawn {
    name: String,
    colour: String,
    key: LegendKey,
    fill: String,
    means: Vec<f64>,
    waiting: Vec<f64>,
    promised: Option<f64>,
}

/// The heights of the plot and of the strip above it.
const HEIGHT: (f64, f64) = (300.0, 76.0);

impl Stack {
    /// Returns the chart. Values below zero count as zero.
    pub fn draw(&self) -> Drawing {
        Drawing::in_both_widths(|width| self.draw_at(width))
    }

    fn draw_at(&self, width: f64) -> Drawing {
        let mut sheet = ChartSheet::new(&self.caption, width);
        let steps = |of: fn(&StackLayer) -> &Vec<(f64, f64)>| -> Vec<ChartSteps> {
            self.layers.iter().map(|layer| ChartSteps::new(of(layer))).collect()
        };
        let (held, waiting) = (steps(|layer| &layer.steps), steps(|layer| &layer.waiting));
        let capacity =
            self.capacity.as_ref().map(|layer| (&layer.name, ChartSteps::new(&layer.steps)));
        // All layers use the same intervals, so that they can be added up.
        let all = held.iter().chain(&waiting).chain(capacity.iter().map(|of| &of.1));
        let (edges, averaged) = self.edges(all);
        let [means, waiting] = [held, waiting]
            .map(|all| all.iter().map(|of| positive(of, &edges)).collect::<Vec<Vec<f64>>>());
        let id = sheet.id.clone();
        let drawn = self.choose(&means, &waiting, &edges, Hatches { id: &id });
        let capacity = capacity.map(|(name, steps)| (name, positive(&steps, &edges)));

        let mut time = Extent::default();
        edges.iter().for_each(|edge| _ = time.see(&self.x, *edge));
        let mut extent = Extent::default().include(&self.y, 0.0);
        let intervals = edges.len().saturating_sub(1);
        let totals = totals(drawn.iter().map(|layer| &layer.means), intervals);
        for value in totals.iter().chain(capacity.iter().flat_map(|(_, means)| means)) {
            extent = extent.include(&self.y, *value);
        }
        let promises = promises(&drawn, intervals);
        for (_, line) in &promises {
            let highest = line.iter().flatten().copied().fold(0.0, f64::max);
            extent = extent.include(&self.y, highest);
        }
        let x = AxisScale::new(&self.x, time, ScaleEnds::Exact, 8);
        let y = AxisScale::new(&self.y, extent, ScaleEnds::Round, 6);

        sheet.hatches(self.layers.iter().map(|layer| layer.look.0));
        let line = capacity.as_ref().map(|(name, _)| line_key(name, "line dash"));
        let promise = (!promises.is_empty()).then(|| line_key("minimum share", "line least"));
        let keys = drawn.iter().map(|layer| layer.key.clone()).chain(line).chain(promise);
        sheet.legend(&keys.collect::<Vec<_>>());
        let strip = self.strip(&drawn, intervals);
        // Both plots have the same room for labels, so that equal times are exactly above each
        // other.
        let widest =
            strip.iter().map(|(_, y)| ChartSheet::widest(y)).fold(ChartSheet::widest(&y), f64::max);
        if let Some((axis, y)) = strip {
            let area = sheet.strip(&x, &y, HEIGHT.1, widest);
            let plot = StackPlot { edges: &edges, x: x.clone(), y, area };
            plot.stacked(&mut sheet, &drawn, |layer| &layer.waiting, axis);
        }
        let area = sheet.axes_within(&x, &y, HEIGHT.0, widest);
        let plot = StackPlot { edges: &edges, x, y, area };
        plot.stacked(&mut sheet, &drawn, |layer| &layer.means, &self.y);
        for (layer, line) in &promises {
            sheet.add(plot.promise(layer, line, &self.y));
        }
        if let Some((name, means)) = &capacity {
            let line = path(&plot.outline(means));
            sheet.add(html! { path class="line dash" d=(line) { (tip(name)) } });
        }
        sheet.nothing_if(drawn.is_empty() || edges.len() < 2, &area);
        if let Some(interval) = averaged {
            sheet.note(&format!("Averaged over intervals of {}.", self.x.unit.text(interval)));
        }
        sheet.finish()
    }

    /// Returns the edges of the drawn intervals, and the length of an interval if steps are
    /// averaged.
    fn edges<'a>(&self, layers: impl Iterator<Item = &'a ChartSteps>) -> (Vec<f64>, Option<f64>) {
        let mut edges: Vec<f64> =
            layers.flat_map(|layer| &layer.steps).map(|step| step.0).collect();
        edges.sort_by(f64::total_cmp);
        let last =
            if is_number(self.until) { self.until } else { edges.last().copied().unwrap_or(0.0) };
        // Leave out steps after the end of the axis: they would widen the axis.
        edges.retain(|time| *time < last);
        edges.push(last);
        edges.dedup();
        if edges.len() <= INTERVALS {
            return (edges, None);
        }
        let first = edges[0];
        let interval = (last - first) / INTERVALS as f64;
        let edges = (0..=INTERVALS)
            .map(|i| if i == INTERVALS { last } else { first + interval * i as f64 });
        (edges.collect(), Some(interval))
    }

    /// Returns the axis and the scale of the strip of waiting tasks; `None` if no task ever waits.
    fn strip(&self, drawn: &[Drawn], intervals: usize) -> Option<(&ChartAxis, AxisScale)> {
        let axis = self.waiting.as_ref()?;
        let mut extent = Extent::default().include(axis, 0.0);
        let totals = totals(drawn.iter().map(|layer| &layer.waiting), intervals);
        // If no task ever waits, leave out the strip.
        if totals.iter().all(|total| *total == 0.0) {
            return None;
        }
        for total in totals {
            extent = extent.include(axis, total);
        }
        Some((axis, AxisScale::new(axis, extent, ScaleEnds::Round, 2)))
    }

    /// Returns the layers in their order; if there are more than eight layers, the smallest are
    /// merged into one layer on top.
    fn choose(
        &self,
        means: &[Vec<f64>],
        waiting: &[Vec<f64>],
        edges: &[f64],
        hatches: Hatches<'_>,
    ) -> Vec<Drawn> {
        let sizes: Vec<f64> = means.iter().map(|means| area_under(means, edges)).collect();
        let mut by_size: Vec<usize> = (0..means.len()).collect();
        // Sort by area, which readers see, then by index, so that the result is always the same.
        by_size.sort_by(|a, b| sizes[*b].total_cmp(&sizes[*a]).then(a.cmp(b)));
        let mut rest = by_size.split_off(by_size.len().min(COLOURS));
        // Restore the order of the layers, from bottom to top.
        by_size.sort_unstable();
        rest.sort_unstable();
        let own = by_size.into_iter().map(|layer| {
            let StackLayer { name, look: SeriesLook(number), promised, .. } = &self.layers[layer];
            Drawn {
                name: name.clone(),
                colour: colour(*number),
                key: LegendKey::area(name, *number, hatches),
                fill: hatches.fill(*number),
                means: means[layer].clone(),
                waiting: waiting[layer].clone(),
                promised: *promised,
            }
        });
        let mut drawn: Vec<Drawn> = own.collect();
        if !rest.is_empty() {
            let name = format!("others ({})", rest.len());
            let key = LegendKey::sign(
                &name,
                html! {
                    rect class="c-soft area edge" y="-7" width="28" height="14" {}
                },
            );
            let intervals = means.first().map_or(0, Vec::len);
            let [means, waiting] =
                [means, waiting].map(|of| totals(rest.iter().map(|layer| &of[*layer]), intervals));
            let (colour, fill) = ("c-soft".to_owned(), "currentColor".to_owned());
            drawn.push(Drawn { name, colour, key, fill, means, waiting, promised: None });
        }
        drawn
    }
}

/// The scales and the area of a plot.
struct StackPlot<'a> {
    edges: &'a [f64],
    x: AxisScale,
    y: AxisScale,
    area: PlotArea,
}

impl StackPlot<'_> {
    /// Draws the layers, stacked.
    fn stacked(
        &self,
        sheet: &mut ChartSheet,
        layers: &[Drawn],
        of: fn(&Drawn) -> &Vec<f64>,
        axis: &ChartAxis,
    ) {
        let mut below = vec![0.0; self.edges.len().saturating_sub(1)];
        for layer in layers {
            let above: Vec<f64> = below.iter().zip(of(layer)).map(|(a, b)| a + b).collect();
            sheet.add(self.layer(layer, of(layer), axis, (&below, &above)));
            below = above;
        }
    }

    fn layer(
        &self,
        layer: &Drawn,
        means: &[f64],
        axis: &ChartAxis,
        (below, above): (&[f64], &[f64]),
    ) -> Markup {
        let highest = means.iter().copied().fold(0.0, f64::max);
        // Do not draw a layer without height: its line would look like a value.
        if highest == 0.0 {
            return Markup::default();
        }
        let sum = area_under(means, self.edges);
        let whole = self.edges[self.edges.len() - 1] - self.edges[0];
        let text = |value| axis.unit.text(value);
        let label =
            format!("{}: mean {}, at most {}", layer.name, text(sum / whole), text(highest));
        let mut outline = self.outline(above);
        outline.extend(self.outline(below).into_iter().rev());
        html! {
            path class=(layer.colour) fill=(layer.fill) d={ (path(&outline)) "Z" } { (tip(&label)) }
        }
    }

    /// Draws the minimum share of a layer in the intervals in which it is in force.
    fn promise(&self, layer: &Drawn, line: &[Option<f64>], axis: &ChartAxis) -> Markup {
        let mut d = String::new();
        let mut before = None;
        for (interval, level) in self.edges.windows(2).zip(line) {
            let Some(level) = level else {
                before = None;
                continue;
            };
            let [from, to] = [interval[0], interval[1]].map(|time| self.area.x(self.x.place(time)));
            let y = self.area.y(self.y.place(*level));
            let _ = match before {
                Some(last) if f64::abs(y - last) < 0.05 => write!(d, "H{}", Coordinate(to)),
                // Do not join the pieces vertically: only the foot of the layer moves, not the
                // minimum share.
                _ => write!(d, "M{} {}H{}", Coordinate(from), Coordinate(y), Coordinate(to)),
            };
            before = Some(y);
        }
        let promised = axis.unit.text(layer.promised.unwrap_or_default());
        html! {
            path class="halo thread" d=(d) {}
            path class="line least" d=(d) {
                (tip(&format!("{}: minimum share {promised}", layer.name)))
            }
        }
    }

    /// Returns the staircase over all intervals, without points where the value does not change.
    fn outline(&self, means: &[f64]) -> Vec<Dot> {
        let at = |time: f64| self.area.x(self.x.place(time));
        let levels = self.edges.iter().zip(means);
        let mut places: Vec<Dot> =
            levels.map(|(time, mean)| (at(*time), self.area.y(self.y.place(*mean)))).collect();
        // A difference of a twentieth of a unit cannot be seen, and most neighbours are equal.
        places.dedup_by(|next, kept| (next.1 - kept.1).abs() < 0.05);
        if let (Some(last), Some(end)) = (places.last().copied(), self.edges.last()) {
            places.push((at(*end), last.1));
        }
        let mut corners = stairs(&places);
        corners.dedup();
        corners
    }
}

fn positive(steps: &ChartSteps, edges: &[f64]) -> Vec<f64> {
    steps.means(edges).into_iter().map(|mean| mean.max(0.0)).collect()
}

fn area_under(means: &[f64], edges: &[f64]) -> f64 {
    let spans = edges.windows(2).map(|interval| interval[1] - interval[0]);
    spans.zip(means).map(|(span, mean)| span * mean).sum()
}

fn line_key(name: &str, class: &str) -> LegendKey {
    LegendKey::sign(name, html! { path class=(class) d="M0 0H28" {} })
}

fn totals<'m>(layers: impl Iterator<Item = &'m Vec<f64>>, intervals: usize) -> Vec<f64> {
    let mut totals = vec![0.0; intervals];
    for means in layers {
        totals.iter_mut().zip(means).for_each(|(total, mean)| *total += mean);
    }
    totals
}

/// Returns the layers with a minimum share, and for each interval the height of its line above the
/// axis. A minimum share is in force while its layer holds slots or has waiting tasks.
fn promises(drawn: &[Drawn], intervals: usize) -> Vec<(&Drawn, Vec<Option<f64>>)> {
    let mut feet = vec![0.0; intervals];
    let mut promises = Vec::new();
    for layer in drawn {
        if let Some(promised) = layer.promised.filter(|promised| 0.0 < *promised) {
            // A pool without running and waiting tasks does not lack its minimum share.
            let line = (0..intervals).map(|i| {
                (0.0 < layer.means[i] || 0.0 < layer.waiting[i]).then_some(feet[i] + promised)
            });
            promises.push((layer, line.collect()));
        }
        feet.iter_mut().zip(&layer.means).for_each(|(foot, mean)| *foot += mean);
    }
    promises
}

#[cfg(test)]
mod tests {
    use super::super::unit::AxisUnit;
    use super::*;

    fn stack(layers: Vec<StackLayer>) -> String {
        let chart = Stack {
            caption: Caption::default(),
            x: ChartAxis::linear("Time", AxisUnit::Seconds),
            y: ChartAxis::linear("Map slots", AxisUnit::Count),
            layers,
            capacity: None,
            waiting: Some(ChartAxis::linear("Maps that wait", AxisUnit::Count)),
            until: 100.0,
        };
        chart.draw().inline()
    }

    fn layer(name: &str, steps: &[(f64, f64)]) -> StackLayer {
        StackLayer { name: name.to_owned(), steps: steps.to_vec(), ..StackLayer::default() }
    }

    #[test]
    fn waiting_jobs_have_a_strip_of_their_own_over_the_same_time() {
        let waiting = vec![(0.0, 900.0), (50.0, 0.0)];
        let svg = stack(vec![StackLayer { waiting, ..layer("one", &[(0.0, 4.0)]) }]);
        assert!(svg.contains("one: mean 450, at most 900"), "{svg}");
        assert!(svg.contains("one: mean 4, at most 4") && svg.contains("Maps that wait"), "{svg}");
        assert!(!stack(vec![layer("one", &[(0.0, 4.0)])]).contains("Maps that wait"));
    }

    #[test]
    fn a_promise_stands_on_the_foot_of_its_layer_while_there_is_need() {
        let drawn = |means: [f64; 3], waiting: [f64; 3], promised| Drawn {
            name: String::new(),
            colour: String::new(),
            key: LegendKey::sign("", Markup::default()),
            fill: String::new(),
            means: means.into(),
            waiting: waiting.into(),
            promised,
        };
        let layers = [
            drawn([4.0, 6.0, 6.0], [0.0; 3], None),
            drawn([2.0, 0.0, 0.0], [9.0, 9.0, 0.0], Some(5.0)),
        ];
        let promises = promises(&layers, 3);
        assert_eq!(promises.len(), 1);
        assert_eq!(promises[0].1, [Some(9.0), Some(11.0), None]);
    }

    #[test]
    fn a_promise_is_told() {
        let promised = StackLayer { promised: Some(5.0), ..layer("a", &[(0.0, 2.0)]) };
        let svg = stack(vec![promised]);
        assert!(svg.contains("a: minimum share 5") && svg.contains(">minimum share<"), "{svg}");
    }

    #[test]
    fn a_layer_tells_its_mean_and_peak() {
        let svg = stack(vec![layer("one", &[(0.0, 4.0), (50.0, 2.0)])]);
        assert!(svg.contains("one: mean 3, at most 4"), "{svg}");
        assert!(!svg.contains("Averaged"));
    }

    #[test]
    fn the_smallest_of_many_layers_are_merged() {
        let layers = (1..=10).map(|i| layer(&format!("j{i}"), &[(0.0, f64::from(i))])).collect();
        let svg = stack(layers);
        assert!(svg.contains("others (2): mean 3, at most 3"), "{svg}");
        assert!(svg.contains("j3: mean 3") && !svg.contains("j2: mean"));
    }

    #[test]
    fn a_layer_is_as_large_as_it_is_high_and_long() {
        let mut layers: Vec<StackLayer> =
            (1..=8).map(|i| layer(&format!("long {i}"), &[(0.0, 10.0)])).collect();
        layers.push(layer("burst", &[(40.0, 60.0), (41.0, 90.0), (42.0, 60.0), (43.0, 0.0)]));
        let svg = stack(layers);
        assert!(svg.contains("others (1): mean 2.1, at most 90"), "{svg}");
    }

    #[test]
    fn thousands_of_steps_are_averaged() {
        let steps: Vec<(f64, f64)> = (0..5_000).map(|i| (f64::from(i) / 50.0, 7.0)).collect();
        let svg = stack(vec![layer("one", &steps)]);
        assert!(svg.contains("Averaged over intervals of 200 ms."), "{svg}");
        assert!(svg.contains("one: mean 7, at most 7"));
    }
}
