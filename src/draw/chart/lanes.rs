//! The rows of a plot over time, with their names: each row in a lane of its own, or several rows
//! in one lane.

use maud::{Markup, html};

use super::drawing::{ChartSheet, MARGIN, PlotArea};
use super::scale::AxisScale;
use super::text::{Coordinate, SIZE, clean, shorten, width};

/// The height of all lanes together, if there are many lanes.
// Chosen: a chart of many lanes still fits a screen.
const HEIGHT: f64 = 540.0;

/// The greatest length of a name of a group or row, in units of the drawing; longer names are cut.
const LONGEST: f64 = 110.0;

/// A row, such as `rack-0`, `node-3`, `map`.
#[derive(Clone, Debug, Default)]
pub struct GanttRow {
    /// The group of owners, such as a rack.
    pub group: String,
    /// The owner, such as a node; rows of an owner are consecutive.
    pub owner: String,
    /// Its name among the rows of its owner; may be empty.
    pub name: String,
    /// Whether its background is shaded.
    pub is_shaded: bool,
}

/// The lanes of the rows.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lanes<'a> {
    pub(super) rows: &'a [GanttRow],
    /// The number of rows that share a lane.
    pub(super) shared: usize,
}

impl GanttRow {
    /// Returns its full name.
    fn label(&self) -> String {
        let cleaned = [&self.group, &self.owner, &self.name].map(|part| clean(part));
        let parts: Vec<String> = cleaned.into_iter().filter(|part| !part.is_empty()).collect();
        parts.join(" ")
    }
}

/// Returns a text without the characters that separate texts for the page's script.
pub(super) fn part(text: &str) -> String {
    // `|` separates the names, and `@` begins a bar's true time.
    clean(text).replace('|', "/").replace('@', " ")
}

impl Lanes<'_> {
    /// Returns the number of lanes; at least one.
    pub(super) fn count(&self) -> usize {
        self.rows.len().div_ceil(self.shared).max(1)
    }

    /// Returns the names of the lanes, separated by `|`.
    pub(super) fn label(&self) -> String {
        let names = self.rows.chunks(self.shared).map(|rows| match rows {
            [one] => part(&one.label()),
            [first, .., last] => format!("{} to {}", part(&first.label()), part(&last.label())),
            [] => String::new(),
        });
        names.collect::<Vec<_>>().join("|")
    }

    /// Draws the names of the rows and the axis; returns the area of the lanes.
    pub(super) fn draw(&self, sheet: &mut ChartSheet, x: &AxisScale) -> PlotArea {
        // A lane is at least 1.8 units high, since lower lanes merge, and at most as high as a name
        // needs.
        let lane = (HEIGHT / self.count() as f64).clamp(1.8, 20.0);
        // A lane that several rows share has no single name.
        let labels = if self.shared == 1 { self.labels(lane) } else { Vec::new() };
        let widest = |names: &mut dyn Iterator<Item = &str>| {
            names.map(|name| width(&shorten(name, LONGEST)) + 8.0).fold(0.0, f64::max)
        };
        let groups = widest(&mut self.rows.iter().map(|row| row.group.as_str()));
        let names = widest(&mut labels.iter().map(|(_, name)| name.as_str()));
        let top = sheet.below + 6.0;
        let area = PlotArea {
            left: MARGIN + groups + names,
            right: sheet.width - 2.0 * MARGIN,
            top,
            bottom: top + lane * self.count() as f64,
        };
        sheet.add(self.ground(&area, lane));
        sheet.x_axis(x, &area);
        sheet.add(html! {
            @for (lanes, name) in labels {
                text class="c-soft" text-anchor="end" x=(Coordinate(area.left - 8.0))
                    y=(Coordinate(area.top + lanes * lane + 5.0)) { (shorten(&name, LONGEST)) }
            }
        });
        sheet.add(self.groups(&area, lane));
        area
    }

    /// Returns the background of the shaded rows.
    fn ground(&self, area: &PlotArea, lane: f64) -> Markup {
        if self.shared != 1 {
            return Markup::default();
        }
        let (mut d, mut first) = (String::new(), 0);
        for rows in self.rows.chunk_by(|a, b| a.is_shaded == b.is_shaded) {
            if rows[0].is_shaded {
                let (top, height) = (area.top + first as f64 * lane, rows.len() as f64 * lane);
                d += &format!(
                    "M{} {}H{}v{}H{}Z",
                    Coordinate(area.left),
                    Coordinate(top),
                    Coordinate(area.right),
                    Coordinate(height),
                    Coordinate(area.left)
                );
            }
            first += rows.len();
        }
        html! { @if !d.is_empty() { path class="c-grid tint" d=(d) {} } }
    }

    /// Returns the labels beside the lanes, each with the position of its middle, counted in lanes
    /// from the top. The labels are the names of rows if a lane is high enough. Otherwise they are
    /// the names of owners if the lanes of each owner together are high enough. If neither fits,
    /// there are no labels.
    fn labels(&self, lane: f64) -> Vec<(f64, String)> {
        let is_high = |lanes: usize| SIZE + 1.0 <= lane * lanes as f64;
        if is_high(1) {
            let names = self.rows.iter().map(|row| format!("{} {}", row.owner, row.name));
            return names.enumerate().map(|(i, name)| (i as f64 + 0.5, name)).collect();
        }
        let mut first = 0;
        let owners = self.rows.chunk_by(|a, b| (&a.group, &a.owner) == (&b.group, &b.owner));
        let labels = owners.map(|rows| {
            let middle = first as f64 + rows.len() as f64 / 2.0;
            first += rows.len();
            is_high(rows.len()).then(|| (middle, rows[0].owner.clone()))
        });
        // Write all names or none: a missing name would seem to have a meaning.
        labels.collect::<Option<_>>().unwrap_or_default()
    }

    /// Returns the names of the groups beside their first lanes, and lines between groups.
    fn groups(&self, area: &PlotArea, lane: f64) -> Markup {
        let mut first = 0;
        let mut free = f64::NEG_INFINITY;
        let mut texts = Vec::new();
        let mut lines = String::new();
        let (from, to) = (Coordinate(MARGIN), Coordinate(area.right));
        for group in self.rows.chunk_by(|a, b| a.group == b.group) {
            let top = area.top + (first / self.shared) as f64 * lane;
            if 0 < first {
                lines += &format!("M{from} {}H{to}", Coordinate(top));
            }
            // Leave out the name of a small group if it would overlap the name above.
            if free <= top {
                let y = top + lane.min(SIZE) / 2.0 + 6.0;
                texts.push((y, shorten(&group[0].group, LONGEST)));
                free = top + SIZE + 2.0;
            }
            first += group.len();
        }
        html! {
            path class="thin c-grid" d=(lines) {}
            @for (y, name) in texts { text x=(Coordinate(MARGIN)) y=(Coordinate(y)) { (name) } }
        }
    }
}
