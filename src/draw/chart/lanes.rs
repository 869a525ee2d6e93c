//! Rows of a plot over time, their names beside them: each in a lane of its own, or several in one.

use maud::{Markup, html};

use super::drawing::{ChartSheet, MARGIN, PlotArea, WIDTH};
use super::scale::AxisScale;
use super::text::{Coordinate, SIZE, clean, shorten, width};

/// The height of all lanes together, if there are many.
// Chosen: a chart of many lanes still fits a screen.
const HEIGHT: f64 = 540.0;

/// The longest name of a group or row; longer ones are cut.
const LONGEST: f64 = 110.0;

/// A row: `rack-0`, `node-3`, `map`.
#[derive(Clone, Debug, Default)]
pub struct GanttRow {
    /// The group of owners, such as a rack.
    pub group: String,
    /// The owner, such as a node; rows of an owner stand together.
    pub owner: String,
    /// Its name under its owner; may be empty.
    pub name: String,
    /// Whether it stands out from the others by its ground.
    pub is_shaded: bool,
}

/// Rows in lanes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lanes<'a> {
    pub(super) rows: &'a [GanttRow],
    /// How many rows share a lane.
    pub(super) shared: usize,
}

impl GanttRow {
    /// Returns its whole name.
    fn told(&self) -> String {
        let parts = [&self.group, &self.owner, &self.name].map(|part| clean(part));
        let parts: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
        parts.join(" ")
    }
}

/// Returns a text without the signs that separate several texts for the page's script.
pub(super) fn part(text: &str) -> String {
    // `|` separates the names, and `@` begins a bar's true time.
    clean(text).replace('|', "/").replace('@', " ")
}

impl Lanes<'_> {
    /// Returns how many lanes there are; at least one.
    pub(super) fn count(&self) -> usize {
        self.rows.len().div_ceil(self.shared).max(1)
    }

    /// Returns the names of the lanes, parted by bars.
    pub(super) fn told(&self) -> String {
        let name = |rows: &[GanttRow]| match rows {
            [one] => part(&one.told()),
            [first, .., last] => format!("{} to {}", part(&first.told()), part(&last.told())),
            [] => String::new(),
        };
        self.rows.chunks(self.shared).map(name).collect::<Vec<_>>().join("|")
    }

    /// Draws the names of the rows and the axis; returns where the lanes are.
    pub(super) fn draw(&self, sheet: &mut ChartSheet, x: &AxisScale) -> PlotArea {
        // At least 1.8 units, below which lanes run together; at most what a name needs.
        let lane = (HEIGHT / self.count() as f64).clamp(1.8, 20.0);
        // Lanes that several rows share have no one name.
        let labels = if self.shared == 1 { self.labels(lane) } else { Vec::new() };
        let widest = |names: &mut dyn Iterator<Item = &str>| {
            names.map(|name| width(&shorten(name, LONGEST)) + 8.0).fold(0.0, f64::max)
        };
        let groups = widest(&mut self.rows.iter().map(|row| row.group.as_str()));
        let names = widest(&mut labels.iter().map(|(_, name)| name.as_str()));
        let top = sheet.below + 6.0;
        let area = PlotArea {
            left: MARGIN + groups + names,
            right: WIDTH - 2.0 * MARGIN,
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

    /// The ground of the rows that stand out.
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

    /// Returns the names of the rows where lanes are high enough for them, or else of the owners where
    /// theirs are, and in which lane the middle of each is.
    fn labels(&self, lane: f64) -> Vec<(f64, String)> {
        let is_high = |lanes: usize| SIZE + 1.0 <= lane * lanes as f64;
        if is_high(1) {
            let name = |row: &GanttRow| format!("{} {}", row.owner, row.name);
            let rows = self.rows.iter().enumerate();
            return rows.map(|(i, row)| (i as f64 + 0.5, name(row))).collect();
        }
        let mut first = 0;
        let owners = self.rows.chunk_by(|a, b| (&a.group, &a.owner) == (&b.group, &b.owner));
        let labels = owners.map(|rows| {
            let middle = first as f64 + rows.len() as f64 / 2.0;
            first += rows.len();
            is_high(rows.len()).then(|| (middle, rows[0].owner.clone()))
        });
        // All of them or none: a gap would seem to say something.
        labels.collect::<Option<_>>().unwrap_or_default()
    }

    /// The names of the groups beside their first lanes, and lines between them.
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
            // A small group whose name would overlap the one above goes without.
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
