//! Layers over time, one upon the other: who has how many slots.

use maud::{Markup, html};

use super::curve::{Dot, path, stairs};
use super::legend::Key;
use super::palette::{COLOURS, Hatches, colour};
use super::scale::{Axis, Ends, Extent, Scale, is_number};
use super::sheet::{Area, Caption, Drawing, Sheet};
use super::steps::Steps;
use super::text::tip;

/// Up to so many steps are drawn exactly; more are averaged over so many intervals.
const INTERVALS: usize = 500;

/// Areas over time, stacked.
#[derive(Clone, Debug)]
pub struct Stack {
    /// What it is about.
    pub caption: Caption,
    /// Time.
    pub x: Axis,
    /// What is shared, such as map slots.
    pub y: Axis,
    /// The layers, from the bottom up. The smallest are merged if there are more than colours.
    pub layers: Vec<Layer>,
    /// How much there is to share; drawn as a dashed line.
    pub capacity: Option<Layer>,
    /// When it ends.
    pub until: f64,
}

/// A value over time, under a name.
#[derive(Clone, Debug, PartialEq)]
pub struct Layer {
    /// The name.
    pub name: String,
    /// A time, and the value from then on; zero before the first.
    pub steps: Vec<(f64, f64)>,
}

/// A layer as it is drawn.
struct Drawn {
    name: String,
    colour: String,
    key: Key,
    fill: String,
    means: Vec<f64>,
}

impl Stack {
    /// Returns the chart. Values below zero count as zero.
    pub fn draw(&self) -> Drawing {
        self.draw_marked(None)
    }

    /// Returns the chart with an instant marked, under a name.
    pub fn draw_marked(&self, mark: Option<(f64, &str)>) -> Drawing {
        let mut sheet = Sheet::new(&self.caption);
        let layers: Vec<Steps> = self.layers.iter().map(|layer| Steps::new(&layer.steps)).collect();
        let capacity = self.capacity.as_ref().map(|layer| (&layer.name, Steps::new(&layer.steps)));
        let (edges, averaged) = self.edges(layers.iter().chain(capacity.iter().map(|of| &of.1)));
        let means: Vec<Vec<f64>> = layers.iter().map(|layer| positive(layer, &edges)).collect();
        let id = sheet.id.clone();
        let drawn = self.choose(&means, &edges, Hatches { id: &id });
        let capacity = capacity.map(|(name, steps)| (name, positive(&steps, &edges)));

        let mut time = Extent::default();
        let marked = mark.iter().map(|(at, _)| at);
        edges.iter().chain(marked).for_each(|edge| _ = time.see(&self.x, *edge));
        let mut extent = Extent::default().include(&self.y, 0.0);
        let totals = totals(&drawn, edges.len().saturating_sub(1));
        for value in totals.iter().chain(capacity.iter().flat_map(|(_, means)| means)) {
            extent = extent.include(&self.y, *value);
        }
        let x = Scale::new(&self.x, time, Ends::Exact, 8);
        let y = Scale::new(&self.y, extent, Ends::Round, 6);

        sheet.hatches(drawn.len().min(COLOURS));
        let line = capacity.as_ref().map(|(name, _)| {
            Key::sign(
                name,
                html! {
                    path class="line dash" d="M0 0H28" {}
                },
            )
        });
        let keys = drawn.iter().map(|layer| layer.key.clone()).chain(line);
        sheet.legend(&keys.collect::<Vec<_>>());
        let area = sheet.axes(&x, &y, 300.0);
        let plot = Plot { edges: &edges, x, y, area };
        let mut below = vec![0.0; edges.len().saturating_sub(1)];
        for layer in &drawn {
            let above: Vec<f64> = below.iter().zip(&layer.means).map(|(a, b)| a + b).collect();
            sheet.add(self.area(&plot, layer, &below, &above));
            below = above;
        }
        if let Some((name, means)) = &capacity {
            let line = path(&plot.outline(means));
            sheet.add(html! { path class="line dash" d=(line) { (tip(name)) } });
        }
        if let Some((at, name)) = mark {
            let at = plot.area.x(plot.x.place(at));
            let line = path(&[(at, plot.area.top), (at, plot.area.bottom)]);
            sheet.add(html! { path class="c-ink line" d=(line) { (tip(name)) } });
        }
        if drawn.is_empty() || edges.len() < 2 {
            sheet.nothing(&area);
        }
        if let Some((_, name)) = mark {
            sheet.note(&format!("The line across: {name}."));
        }
        if let Some(interval) = averaged {
            sheet.note(&format!("Averaged over intervals of {}.", self.x.unit.text(interval)));
        }
        sheet.finish()
    }

    /// Returns the times between which values are drawn, and how long the intervals are if they
    /// are not simply those of the steps.
    fn edges<'a>(&self, layers: impl Iterator<Item = &'a Steps>) -> (Vec<f64>, Option<f64>) {
        let mut edges: Vec<f64> =
            layers.flat_map(|layer| &layer.steps).map(|step| step.0).collect();
        edges.sort_by(f64::total_cmp);
        let last =
            if is_number(self.until) { self.until } else { edges.last().copied().unwrap_or(0.0) };
        edges.retain(|time| *time < last);
        edges.push(last);
        edges.dedup();
        if edges.len() <= INTERVALS {
            return (edges, None);
        }
        let first = edges[0];
        let interval = (last - first) / INTERVALS as f64;
        let edge = |i| if i == INTERVALS { last } else { first + interval * i as f64 };
        ((0..=INTERVALS).map(edge).collect(), Some(interval))
    }

    /// Returns the layers in their order; beyond eight the smallest are merged on top.
    fn choose(&self, means: &[Vec<f64>], edges: &[f64], hatches: Hatches<'_>) -> Vec<Drawn> {
        let sizes: Vec<f64> = means.iter().map(|means| area_under(means, edges)).collect();
        let mut by_size: Vec<usize> = (0..means.len()).collect();
        by_size.sort_by(|a, b| sizes[*b].total_cmp(&sizes[*a]).then(a.cmp(b)));
        let mut rest = by_size.split_off(by_size.len().min(COLOURS));
        by_size.sort_unstable();
        rest.sort_unstable();
        let own = by_size.into_iter().enumerate().map(|(number, layer)| {
            let name = self.layers[layer].name.clone();
            let key = Key::area(&name, number, hatches);
            let (colour, fill) = (colour(number), hatches.fill(number));
            Drawn { name, colour, key, fill, means: means[layer].clone() }
        });
        let mut drawn: Vec<Drawn> = own.collect();
        if !rest.is_empty() {
            let name = format!("others ({})", rest.len());
            let key = Key::sign(
                &name,
                html! {
                    rect class="c-soft area edge" y="-7" width="28" height="14" {}
                },
            );
            let mut sum = vec![0.0; means.first().map_or(0, Vec::len)];
            for layer in rest {
                sum.iter_mut().zip(&means[layer]).for_each(|(sum, mean)| *sum += mean);
            }
            let (colour, fill) = ("c-soft".to_owned(), "currentColor".to_owned());
            drawn.push(Drawn { name, colour, key, fill, means: sum });
        }
        drawn
    }

    fn area(&self, plot: &Plot<'_>, layer: &Drawn, below: &[f64], above: &[f64]) -> Markup {
        let highest = layer.means.iter().copied().fold(0.0, f64::max);
        if highest == 0.0 {
            return Markup::default();
        }
        let sum = area_under(&layer.means, plot.edges);
        let whole = plot.edges[plot.edges.len() - 1] - plot.edges[0];
        let text = |value| self.y.unit.text(value);
        let told = format!("{}: mean {}, at most {}", layer.name, text(sum / whole), text(highest));
        let mut outline = plot.outline(above);
        outline.extend(plot.outline(below).into_iter().rev());
        html! {
            path class=(layer.colour) fill=(layer.fill) d={ (path(&outline)) "Z" } { (tip(&told)) }
        }
    }
}

/// Where the values stand.
struct Plot<'a> {
    edges: &'a [f64],
    x: Scale,
    y: Scale,
    area: Area,
}

impl Plot<'_> {
    /// Returns the staircase over all intervals, without corners where nothing changes.
    fn outline(&self, means: &[f64]) -> Vec<Dot> {
        let at = |time: f64| self.area.x(self.x.place(time));
        let levels = self.edges.iter().zip(means);
        let mut places: Vec<Dot> =
            levels.map(|(time, mean)| (at(*time), self.area.y(self.y.place(*mean)))).collect();
        places.dedup_by(|next, kept| (next.1 - kept.1).abs() < 0.05);
        if let (Some(last), Some(end)) = (places.last().copied(), self.edges.last()) {
            places.push((at(*end), last.1));
        }
        let mut corners = stairs(&places);
        corners.dedup();
        corners
    }
}

fn positive(steps: &Steps, edges: &[f64]) -> Vec<f64> {
    steps.means(edges).into_iter().map(|mean| mean.max(0.0)).collect()
}

fn area_under(means: &[f64], edges: &[f64]) -> f64 {
    let spans = edges.windows(2).map(|interval| interval[1] - interval[0]);
    spans.zip(means).map(|(span, mean)| span * mean).sum()
}

fn totals(layers: &[Drawn], intervals: usize) -> Vec<f64> {
    (0..intervals).map(|i| layers.iter().map(|layer| layer.means[i]).sum()).collect()
}

#[cfg(test)]
mod tests {
    use super::super::unit::Unit;
    use super::*;

    fn stack(layers: Vec<Layer>) -> String {
        let chart = Stack {
            caption: Caption::default(),
            x: Axis::linear("Time", Unit::Seconds),
            y: Axis::linear("Map slots", Unit::Count),
            layers,
            capacity: None,
            until: 100.0,
        };
        chart.draw().inline()
    }

    fn layer(name: &str, steps: &[(f64, f64)]) -> Layer {
        Layer { name: name.to_owned(), steps: steps.to_vec() }
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
        let mut layers: Vec<Layer> =
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
