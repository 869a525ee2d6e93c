//! What was where and when: rows over time, and bars in them.
//!
//! What is too small to see is not drawn one by one: bars narrower than the grain of the drawing
//! are merged into cells, whose colour is the fuller the busier their rows were. The grain is the
//! finest that keeps the drawing to [`MOST`] marks. Where rows are too many, several share a lane,
//! and then all of it is cells.

use std::collections::BTreeMap;

use maud::{Markup, html};

use super::legend::Key;
use super::palette::colour;
use super::scale::{Axis, Ends, Extent, Scale};
use super::sheet::{Area, Caption, Drawing, MARGIN, Sheet, WIDTH};
use super::text::{At, SIZE, shorten, tip, width};
use super::unit::Unit;

/// More marks than this make a drawing slow.
const MOST: usize = 8_000;

/// More lanes than this cannot be told apart.
const LANES: usize = 300;

/// Names of groups and rows are cut at this length.
const LONGEST: f64 = 110.0;

/// A chart of bars in rows over time.
#[derive(Clone, Debug)]
pub struct Gantt {
    /// What it is about.
    pub caption: Caption,
    /// Time.
    pub x: Axis,
    /// What the rows are, in the plural: `slots`.
    pub rows_are: String,
    /// What the bars are, in the plural: `attempts`.
    pub bars_are: String,
    /// The rows from the top down, those of a group together.
    pub rows: Vec<GanttRow>,
    /// How bars look, in the order in which they are drawn.
    pub styles: Vec<GanttStyle>,
    /// The bars, in any order.
    pub bars: Vec<GanttBar>,
    /// Sentences that stand under it.
    pub notes: Vec<String>,
}

/// A row: `rack-0`, `node-3`, `map`.
#[derive(Clone, Debug)]
pub struct GanttRow {
    /// What it belongs to in the large.
    pub group: String,
    /// What it belongs to in the small; rows of an owner stand together.
    pub owner: String,
    /// What it is there.
    pub name: String,
}

/// A bar.
#[derive(Clone, Debug)]
pub struct GanttBar {
    /// The number of its row.
    pub row: usize,
    /// The number of its style.
    pub style: usize,
    /// When it starts.
    pub start: f64,
    /// When it ends.
    pub end: f64,
    /// Its name.
    pub label: String,
    /// What else is said of it, such as how it ended.
    pub remark: String,
}

/// How the bars of a sort look.
#[derive(Clone, Debug)]
pub struct GanttStyle {
    /// What they are.
    pub name: String,
    /// Their colour.
    pub paint: Paint,
}

/// A colour of bars.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Paint {
    /// The colour of the series of this number.
    Full(usize),
    /// The same, pale within an edge: for what came to nothing.
    Pale(usize),
    /// The colour of the text.
    Ink,
}

impl Paint {
    fn class(self) -> String {
        match self {
            Self::Full(series) => format!("{} area", colour(series)),
            Self::Pale(series) => format!("{} lost", colour(series)),
            Self::Ink => "c-ink area".to_owned(),
        }
    }
}

/// Bars that were merged: how much of the cell they fill, and how many of them begin in it.
#[derive(Clone, Copy, Debug, Default)]
struct Cell {
    filled: f64,
    begun: usize,
}

/// Where a cell is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Spot {
    style: usize,
    lane: usize,
    column: usize,
}

/// Neighbouring cells of one style that are about equally busy.
#[derive(Clone, Copy, Debug)]
struct Stretch {
    spot: Spot,
    columns: usize,
    /// How busy, in fifths.
    level: u8,
    begun: usize,
}

/// What is drawn: single bars, and stretches of cells of merged ones.
struct Marks<'a> {
    single: Vec<&'a GanttBar>,
    merged: Vec<Stretch>,
    grain: f64,
}

/// Where rows and times are.
struct Plot {
    x: Scale,
    area: Area,
    /// How many rows share a lane.
    shared: usize,
    lane: f64,
}

impl Gantt {
    /// Returns the chart. A bar whose times are no numbers, or without a row or a style, is left out.
    pub fn draw(&self) -> Drawing {
        let mut extent = Extent::default();
        let sane = |bar: &&GanttBar| {
            let known = extent.see(&self.x, bar.start) & extent.see(&self.x, bar.end);
            let is_placed = bar.row < self.rows.len() && bar.style < self.styles.len();
            known && bar.start <= bar.end && is_placed
        };
        let mut bars: Vec<&GanttBar> = self.bars.iter().filter(sane).collect();
        bars.sort_by(|a, b| {
            let order = (a.style, a.row).cmp(&(b.style, b.row));
            order.then(a.start.total_cmp(&b.start)).then_with(|| a.label.cmp(&b.label))
        });
        let x = Scale::new(&self.x, extent, Ends::Exact, 8);
        let mut sheet = Sheet::new(&self.caption);
        sheet.legend(&self.keys(&bars));
        let plot = self.lanes(&mut sheet, x);
        let marks = plot.marks(&bars);
        self.draw_marks(&mut sheet, &plot, &marks);
        if bars.is_empty() {
            sheet.nothing(&plot.area);
        }
        let merged: usize = marks.merged.iter().map(|stretch| stretch.begun).sum();
        if 0 < merged {
            let count = |count: usize| Unit::Count.text(count as f64);
            sheet.note(&format!(
                "{} of {} {} are too short to draw and merged: the fuller the colour, the busier.",
                count(merged),
                count(bars.len()),
                self.bars_are
            ));
        }
        if 1 < plot.shared {
            sheet.note(&format!("Each lane holds {} {}.", plot.shared, self.rows_are));
        }
        self.notes.iter().for_each(|note| sheet.note(note));
        extent.notes(&self.x).for_each(|note| sheet.note(&note));
        sheet.finish()
    }

    /// Draws the names of the rows and the axis.
    fn lanes(&self, sheet: &mut Sheet, x: Scale) -> Plot {
        let shared = self.rows.len().div_ceil(LANES).max(1);
        let lanes = self.rows.len().div_ceil(shared).max(1);
        let lane = (540.0 / lanes as f64).clamp(1.8, 20.0);
        let labels = if shared == 1 { self.labels(lane) } else { Vec::new() };
        let widest = |names: &mut dyn Iterator<Item = &str>| {
            names.map(|name| width(&shorten(name, LONGEST)) + 8.0).fold(0.0, f64::max)
        };
        let groups = widest(&mut self.rows.iter().map(|row| row.group.as_str()));
        let names = widest(&mut labels.iter().map(|(_, name)| name.as_str()));
        let top = sheet.below + 6.0;
        let area = Area {
            left: MARGIN + groups + names,
            right: WIDTH - 2.0 * MARGIN,
            top,
            bottom: top + lane * lanes as f64,
        };
        let plot = Plot { x, area, shared, lane };
        sheet.x_axis(&plot.x, &plot.area);
        sheet.add(html! {
            @for (lane, name) in labels {
                text class="c-soft" text-anchor="end" x=(At(area.left - 8.0))
                    y=(At(area.top + lane * plot.lane + 5.0)) { (shorten(&name, LONGEST)) }
            }
        });
        sheet.add(self.groups(&plot));
        plot
    }

    /// Returns the names of the rows where lanes are high enough for them, or else of the owners where
    /// theirs are, and in which lane the middle of each is.
    fn labels(&self, lane: f64) -> Vec<(f64, String)> {
        let is_high = |lanes: usize| SIZE + 1.0 <= lane * lanes as f64;
        if is_high(1) {
            let name = |row: &GanttRow| format!("{} {}", row.owner, row.name);
            return self
                .rows
                .iter()
                .enumerate()
                .map(|(i, row)| (i as f64 + 0.5, name(row)))
                .collect();
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
    fn groups(&self, plot: &Plot) -> Markup {
        let mut first = 0;
        let mut free = f64::NEG_INFINITY;
        let mut texts = Vec::new();
        let mut lines = String::new();
        let (from, to) = (At(MARGIN), At(plot.area.right));
        for group in self.rows.chunk_by(|a, b| a.group == b.group) {
            let top = plot.top(first);
            if 0 < first {
                lines += &format!("M{from} {}H{to}", At(top));
            }
            if free <= top {
                texts.push((
                    top + plot.lane.min(SIZE) / 2.0 + 6.0,
                    shorten(&group[0].group, LONGEST),
                ));
                free = top + SIZE + 2.0;
            }
            first += group.len();
        }
        html! {
            path class="thin c-grid" d=(lines) {}
            @for (y, name) in texts { text x=(At(MARGIN)) y=(At(y)) { (name) } }
        }
    }

    fn draw_marks(&self, sheet: &mut Sheet, plot: &Plot, marks: &Marks<'_>) {
        let gap = if 6.0 < plot.lane { 1.5 } else { 0.0 };
        let height = At(plot.lane - gap);
        for (number, style) in self.styles.iter().enumerate() {
            let single = || marks.single.iter().filter(|bar| bar.style == number);
            let merged = || marks.merged.iter().filter(|stretch| stretch.spot.style == number);
            if single().next().is_none() && merged().next().is_none() {
                continue;
            }
            sheet.add(html! { g class=(style.paint.class()) {
                @for stretch in merged() {
                    @let left = plot.area.left + stretch.spot.column as f64 * marks.grain;
                    @let right = left + stretch.columns as f64 * marks.grain;
                    // Even a single short bar can be seen.
                    @let opacity = At(0.2 + 0.16 * f64::from(stretch.level));
                    rect x=(At(left)) y=(At(plot.lane_top(stretch.spot.lane)))
                        width=(At(right.min(plot.area.right) - left)) height=(height)
                        opacity=(opacity) shape-rendering="crispEdges" {
                        (tip(&format!("{}: {} begin here", style.name, stretch.begun)))
                    }
                }
                @for bar in single() {
                    @let (left, right) = plot.span(bar);
                    rect x=(At(left)) y=(At(plot.top(bar.row))) width=(At(right - left))
                        height=(height) { (tip(&self.told(bar))) }
                }
            } });
        }
    }

    fn told(&self, bar: &GanttBar) -> String {
        let text = |value| self.x.unit.text(value);
        let GanttRow { group, owner, name } = &self.rows[bar.row];
        let (from, to) = (text(bar.start), text(bar.end));
        let remark = match &*bar.remark {
            "" => String::new(),
            remark => format!(", {remark}"),
        };
        format!("{} on {group} {owner} {name}: {from} to {to}{remark}", bar.label)
    }

    /// Returns the keys of the styles in use.
    fn keys(&self, bars: &[&GanttBar]) -> Vec<Key> {
        let styles = self.styles.iter().enumerate();
        let used = styles.filter(|(number, _)| bars.iter().any(|bar| bar.style == *number));
        used.map(|(_, style)| {
            let sign = html! {
                g class=(style.paint.class()) { rect y="-6" width="28" height="12" {} }
            };
            Key::sign(&style.name, sign)
        })
        .collect()
    }
}

impl Plot {
    fn lane_top(&self, lane: usize) -> f64 {
        self.area.top + lane as f64 * self.lane
    }

    fn top(&self, row: usize) -> f64 {
        self.lane_top(row / self.shared)
    }

    fn span(&self, bar: &GanttBar) -> (f64, f64) {
        (self.area.x(self.x.place(bar.start)), self.area.x(self.x.place(bar.end)))
    }

    /// Returns the marks of the finest grain, from one unit up, that are few enough.
    fn marks<'a>(&self, bars: &[&'a GanttBar]) -> Marks<'a> {
        let mut grain = 1.0;
        loop {
            let marks = self.marks_of(grain, bars);
            if marks.single.len() + marks.merged.len() <= MOST {
                return marks;
            }
            grain *= 2.0;
        }
    }

    fn marks_of<'a>(&self, grain: f64, bars: &[&'a GanttBar]) -> Marks<'a> {
        let mut single = Vec::new();
        let mut cells = BTreeMap::new();
        for bar in bars {
            let (left, right) = self.span(bar);
            if self.shared == 1 && grain <= right - left {
                single.push(*bar);
            } else {
                self.merge(bar, grain, &mut cells);
            }
        }
        Marks { single, merged: stretches(&cells), grain }
    }

    fn merge(&self, bar: &GanttBar, grain: f64, cells: &mut BTreeMap<Spot, Cell>) {
        let (left, right) = self.span(bar);
        let (left, right) = (left - self.area.left, right - self.area.left);
        // What begins at the right end belongs to the last column.
        let last = ((self.area.width() / grain).ceil() as usize).max(1) - 1;
        let column = |x: f64| ((x / grain) as usize).min(last);
        for column in column(left)..=column(right) {
            let begin = column as f64 * grain;
            let inside = right.min(begin + grain) - left.max(begin);
            let spot = Spot { style: bar.style, lane: bar.row / self.shared, column };
            let cell = cells.entry(spot).or_default();
            cell.filled += inside.max(0.0) / (grain * self.shared as f64);
            cell.begun += usize::from(begin <= left);
        }
    }
}

/// Returns the cells with their neighbours.
fn stretches(cells: &BTreeMap<Spot, Cell>) -> Vec<Stretch> {
    let mut stretches: Vec<Stretch> = Vec::new();
    for (spot, cell) in cells {
        let level = (cell.filled * 5.0).round().clamp(0.0, 5.0) as u8;
        let next = |stretch: &&mut Stretch| {
            let Spot { style, lane, column } = stretch.spot;
            *spot == Spot { style, lane, column: column + stretch.columns }
                && stretch.level == level
        };
        if let Some(stretch) = stretches.last_mut().filter(next) {
            stretch.columns += 1;
            stretch.begun += cell.begun;
        } else {
            stretches.push(Stretch { spot: *spot, columns: 1, level, begun: cell.begun });
        }
    }
    stretches
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gantt(rows: usize, bars: Vec<GanttBar>) -> String {
        let row = |i| GanttRow {
            group: format!("r{}", i / 4),
            owner: format!("n{}", i / 2),
            name: "map".to_owned(),
        };
        let chart = Gantt {
            caption: Caption::default(),
            x: Axis::linear("Time", Unit::Seconds),
            rows_are: "slots".to_owned(),
            bars_are: "attempts".to_owned(),
            rows: (0..rows).map(row).collect(),
            styles: vec![GanttStyle { name: "map".to_owned(), paint: Paint::Full(0) }],
            bars,
            notes: vec!["A note.".to_owned()],
        };
        chart.draw().inline()
    }

    fn bar(row: usize, start: f64, end: f64) -> GanttBar {
        let (label, remark) = ("m_1".to_owned(), "succeeded".to_owned());
        GanttBar { row, style: 0, start, end, label, remark }
    }

    #[test]
    fn a_bar_tells_what_it_is_and_where() {
        let svg = gantt(1, vec![bar(0, 0.0, 90.0)]);
        assert!(svg.contains("m_1 on r0 n0 map: 0 s to 1 min 30 s, succeeded"), "{svg}");
        assert!(!svg.contains("merged") && svg.contains("A note."));
        let silent = GanttBar { remark: String::new(), ..bar(0, 0.0, 90.0) };
        assert!(gantt(1, vec![silent]).contains("0 s to 1 min 30 s</title>"));
    }

    #[test]
    fn rows_are_named_where_there_is_room_or_else_owners() {
        for (rows, names) in [(30, [true, false]), (48, [false, true]), (100, [false, false])] {
            let svg = gantt(rows, vec![bar(0, 0.0, 9.0)]);
            let has = [">n7 map</text>", ">n7</text>"].map(|name| svg.contains(name));
            assert_eq!(has, names, "{rows} rows");
        }
    }

    #[test]
    fn bars_too_narrow_to_see_are_merged_and_counted() {
        let mut bars: Vec<GanttBar> =
            (0..5_000).map(|i| bar(0, f64::from(i), f64::from(i) + 1.0)).collect();
        bars.push(bar(1, 0.0, 5_000.0));
        let svg = gantt(2, bars);
        assert!(svg.contains("5,000 of 5,001 attempts are too short"), "{}", svg.len());
        assert!(svg.matches("<rect").count() < 1_000);
    }

    #[test]
    fn a_crowded_chart_stays_small() {
        let bars = (0..40_000).map(|i| {
            let start = f64::from(i % 200);
            bar(i as usize / 200, start, start + 0.9)
        });
        let svg = gantt(200, bars.collect());
        assert!(svg.matches("<rect").count() <= MOST + 5, "{}", svg.matches("<rect").count());
        assert!(svg.contains("40,000 of 40,000 attempts are too short"));
    }

    #[test]
    fn rows_share_lanes_where_they_are_too_many() {
        let bars = (0..1_000).map(|row| bar(row, 0.0, 10.0)).collect();
        let svg = gantt(1_000, bars);
        assert!(svg.contains("Each lane holds 4 slots."));
        assert!(svg.contains("1,000 of 1,000 attempts are too short"));
    }

    #[test]
    fn a_bar_without_a_place_is_left_out() {
        let unknown = GanttBar { style: 1, ..bar(0, 0.0, 1.0) };
        let svg =
            gantt(1, vec![bar(7, 0.0, 1.0), bar(0, 2.0, 1.0), bar(0, f64::NAN, 1.0), unknown]);
        assert!(svg.contains("Nothing to show"), "{svg}");
    }
}
