//! What ran where and when: a lane for each slot, a bar for each attempt.
//!
//! What is too small to see is not drawn one by one: attempts narrower than the grain of the
//! drawing are merged into cells, whose colour is the fuller the busier their slots were. The
//! grain is the finest that keeps the drawing to [`MOST`] marks. Where slots are too many, several
//! share a lane, and then all of it is cells.

use std::collections::BTreeMap;

use maud::{Markup, html};

use super::legend::Key;
use super::scale::{Axis, Ends, Extent, Scale};
use super::sheet::{Area, Caption, Drawing, MARGIN, Sheet, WIDTH};
use super::text::{At, SIZE, shorten, tip, width};
use super::unit::Unit;
use crate::mapred::{Outcome, SlotKind};

/// More marks than this make a drawing slow.
const MOST: usize = 8_000;

/// More lanes than this cannot be told apart.
const LANES: usize = 300;

/// Names of racks and slots are cut at this length.
const LONGEST: f64 = 110.0;

/// A chart of attempts in their slots.
#[derive(Clone, Debug)]
pub struct Gantt {
    /// What it is about.
    pub caption: Caption,
    /// Time.
    pub x: Axis,
    /// The slots from the top down, those of a group together.
    pub rows: Vec<GanttRow>,
    /// The attempts, in any order.
    pub bars: Vec<GanttBar>,
}

/// A slot.
#[derive(Clone, Debug)]
pub struct GanttRow {
    /// The rack of its node.
    pub group: String,
    /// Its node; slots of a node stand together.
    pub node: String,
    /// Whether it is for maps or reduces.
    pub kind: SlotKind,
}

/// An attempt.
#[derive(Clone, Debug)]
pub struct GanttBar {
    /// The number of its slot in the rows.
    pub row: usize,
    /// When it starts.
    pub start: f64,
    /// When it ends.
    pub end: f64,
    /// Whether it is a map or a reduce.
    pub kind: SlotKind,
    /// How it ended; `None` if it was still running.
    pub outcome: Option<Outcome>,
    /// How long it was suspended in between.
    pub suspended: f64,
    /// Its name.
    pub label: String,
}

/// How a mark looks, in the order in which they are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Look {
    Map,
    Reduce,
    KilledMap,
    KilledReduce,
    Failed,
}

impl Look {
    const ALL: [Self; 5] =
        [Self::Map, Self::Reduce, Self::KilledMap, Self::KilledReduce, Self::Failed];

    fn of(bar: &GanttBar) -> Self {
        match (bar.outcome, bar.kind) {
            (Some(Outcome::Failed), _) => Self::Failed,
            (Some(Outcome::Killed), SlotKind::Map) => Self::KilledMap,
            (Some(Outcome::Killed), SlotKind::Reduce) => Self::KilledReduce,
            (_, SlotKind::Map) => Self::Map,
            (_, SlotKind::Reduce) => Self::Reduce,
        }
    }

    const fn class(self) -> &'static str {
        match self {
            Self::Map => "c-0 area",
            Self::Reduce => "c-4 area",
            Self::KilledMap => "c-0 lost",
            Self::KilledReduce => "c-4 lost",
            Self::Failed => "c-ink area",
        }
    }

    const fn name(self) -> &'static str {
        match self {
            Self::Map => "map",
            Self::Reduce => "reduce",
            Self::KilledMap => "map, killed",
            Self::KilledReduce => "reduce, killed",
            Self::Failed => "failed",
        }
    }
}

/// Attempts that were merged: how much of the cell they fill, and how many of them begin in it.
#[derive(Clone, Copy, Debug, Default)]
struct Cell {
    filled: f64,
    begun: usize,
}

/// Where a cell is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Spot {
    look: Look,
    lane: usize,
    column: usize,
}

/// Neighbouring cells of one look that are about equally busy.
#[derive(Clone, Copy, Debug)]
struct Run {
    spot: Spot,
    columns: usize,
    /// How busy, in fifths.
    level: u8,
    begun: usize,
}

/// What is drawn: single attempts, and runs of cells of merged ones.
struct Marks<'a> {
    single: Vec<&'a GanttBar>,
    merged: Vec<Run>,
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
    /// Returns the chart. An attempt whose times are no numbers, or in no row, is left out.
    pub fn draw(&self) -> Drawing {
        let mut extent = Extent::default();
        let sane = |bar: &&GanttBar| {
            let known = extent.see(&self.x, bar.start) & extent.see(&self.x, bar.end);
            known && bar.start <= bar.end && bar.row < self.rows.len()
        };
        let mut bars: Vec<&GanttBar> = self.bars.iter().filter(sane).collect();
        bars.sort_by(|a, b| {
            let order = (Look::of(a), a.row).cmp(&(Look::of(b), b.row));
            order.then(a.start.total_cmp(&b.start)).then_with(|| a.label.cmp(&b.label))
        });
        let x = Scale::new(&self.x, extent, Ends::Exact, 8);
        let mut sheet = Sheet::new(&self.caption);
        sheet.legend(&keys(&bars));
        let plot = self.lanes(&mut sheet, x);
        let marks = plot.marks(&bars);
        self.draw_marks(&mut sheet, &plot, &marks);
        if bars.is_empty() {
            sheet.nothing(&plot.area);
        }
        let merged: usize = marks.merged.iter().map(|run| run.begun).sum();
        if 0 < merged {
            let count = |count: usize| Unit::Count.text(count as f64);
            sheet.note(&format!(
                "{} of {} attempts are too short to draw and merged: the fuller the colour, the busier.",
                count(merged),
                count(bars.len())
            ));
        }
        if 1 < plot.shared {
            sheet.note(&format!("Each lane holds {} slots.", plot.shared));
        }
        note_suspended(&mut sheet, &bars);
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

    /// Returns the names of the slots where lanes are high enough for them, or else of the nodes where
    /// theirs are, and in which lane the middle of each is.
    fn labels(&self, lane: f64) -> Vec<(f64, String)> {
        let is_high = |lanes: usize| SIZE + 1.0 <= lane * lanes as f64;
        if is_high(1) {
            let name = |row: &GanttRow| format!("{} {}", row.node, row.kind.word());
            return self
                .rows
                .iter()
                .enumerate()
                .map(|(i, row)| (i as f64 + 0.5, name(row)))
                .collect();
        }
        let mut first = 0;
        let nodes = self.rows.chunk_by(|a, b| (&a.group, &a.node) == (&b.group, &b.node));
        let labels = nodes.map(|slots| {
            let middle = first as f64 + slots.len() as f64 / 2.0;
            first += slots.len();
            is_high(slots.len()).then(|| (middle, slots[0].node.clone()))
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
        for look in Look::ALL {
            let single = || marks.single.iter().filter(|bar| Look::of(bar) == look);
            let merged = || marks.merged.iter().filter(|run| run.spot.look == look);
            if single().next().is_none() && merged().next().is_none() {
                continue;
            }
            sheet.add(html! { g class=(look.class()) {
                @for run in merged() {
                    @let left = plot.area.left + run.spot.column as f64 * marks.grain;
                    @let right = left + run.columns as f64 * marks.grain;
                    // Even a single short attempt can be seen.
                    @let opacity = At(0.2 + 0.16 * f64::from(run.level));
                    rect x=(At(left)) y=(At(plot.lane_top(run.spot.lane)))
                        width=(At(right.min(plot.area.right) - left)) height=(height)
                        opacity=(opacity) shape-rendering="crispEdges" {
                        (tip(&format!("{}: {} begin here", look.name(), run.begun)))
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
        let end = match bar.outcome {
            Some(Outcome::Succeeded) => "succeeded",
            Some(Outcome::Failed) => "failed",
            Some(Outcome::Killed) => "killed",
            None => "still running",
        };
        let text = |value| self.x.unit.text(value);
        let GanttRow { group, node, kind } = &self.rows[bar.row];
        let (from, to) = (text(bar.start), text(bar.end));
        let suspended = match bar.suspended {
            span if 0.0 < span => format!(", suspended for {} of it", text(span)),
            _ => String::new(),
        };
        let slot = kind.word();
        format!("{} on {group} {node} {slot}: {from} to {to}{suspended}, {end}", bar.label)
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
        Marks { single, merged: runs(&cells), grain }
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
            let spot = Spot { look: Look::of(bar), lane: bar.row / self.shared, column };
            let cell = cells.entry(spot).or_default();
            cell.filled += inside.max(0.0) / (grain * self.shared as f64);
            cell.begun += usize::from(begin <= left);
        }
    }
}

/// Returns the cells with their neighbours.
fn runs(cells: &BTreeMap<Spot, Cell>) -> Vec<Run> {
    let mut runs: Vec<Run> = Vec::new();
    for (spot, cell) in cells {
        let level = (cell.filled * 5.0).round().clamp(0.0, 5.0) as u8;
        let next = |run: &&mut Run| {
            let Spot { look, lane, column } = run.spot;
            *spot == Spot { look, lane, column: column + run.columns } && run.level == level
        };
        if let Some(run) = runs.last_mut().filter(next) {
            run.columns += 1;
            run.begun += cell.begun;
        } else {
            runs.push(Run { spot: *spot, columns: 1, level, begun: cell.begun });
        }
    }
    runs
}

/// Says how many attempts were suspended. When they were is not known, so that it cannot be drawn.
fn note_suspended(sheet: &mut Sheet, bars: &[&GanttBar]) {
    let suspended = bars.iter().filter(|bar| 0.0 < bar.suspended).count();
    if 0 < suspended {
        let (were, bars) =
            if suspended == 1 { ("was", "its bar runs") } else { ("were", "their bars run") };
        sheet.note(&format!(
            "{} of the attempts {were} suspended in between; {bars} on over that time.",
            Unit::Count.text(suspended as f64)
        ));
    }
}

/// Returns the keys of the looks in use.
fn keys(bars: &[&GanttBar]) -> Vec<Key> {
    let looks = Look::ALL.into_iter();
    let used = looks.filter(|look| bars.iter().any(|bar| Look::of(bar) == *look));
    used.map(|look| {
        let sign = html! {
            g class=(look.class()) { rect y="-6" width="28" height="12" {} }
        };
        Key::sign(look.name(), sign)
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gantt(rows: usize, bars: Vec<GanttBar>) -> String {
        let row = |i| GanttRow {
            group: format!("r{}", i / 4),
            node: format!("n{}", i / 2),
            kind: SlotKind::Map,
        };
        let chart = Gantt {
            caption: Caption::default(),
            x: Axis::linear("Time", Unit::Seconds),
            rows: (0..rows).map(row).collect(),
            bars,
        };
        chart.draw().inline()
    }

    fn bar(row: usize, start: f64, end: f64) -> GanttBar {
        let outcome = Some(Outcome::Succeeded);
        let label = "m_1".to_owned();
        GanttBar { row, start, end, kind: SlotKind::Map, outcome, suspended: 0.0, label }
    }

    #[test]
    fn an_attempt_tells_what_it_was() {
        let svg = gantt(1, vec![bar(0, 0.0, 90.0)]);
        assert!(svg.contains("m_1 on r0 n0 map: 0 s to 1 min 30 s, succeeded"), "{svg}");
        assert!(!svg.contains("merged") && !svg.contains("suspended"));
    }

    #[test]
    fn suspended_attempts_are_told() {
        let paused = GanttBar { suspended: 20.0, ..bar(0, 0.0, 90.0) };
        let svg = gantt(1, vec![paused, bar(0, 90.0, 99.0)]);
        assert!(svg.contains("0 s to 1 min 30 s, suspended for 20 s of it, succeeded"), "{svg}");
        assert!(svg.contains("1 of the attempts was suspended in between; its bar runs on"));
    }

    #[test]
    fn slots_are_named_where_there_is_room_or_else_nodes() {
        for (rows, names) in [(30, [true, false]), (48, [false, true]), (100, [false, false])] {
            let svg = gantt(rows, vec![bar(0, 0.0, 9.0)]);
            let has = [">n7 map</text>", ">n7</text>"].map(|name| svg.contains(name));
            assert_eq!(has, names, "{rows} rows");
        }
    }

    #[test]
    fn attempts_too_narrow_to_see_are_merged_and_counted() {
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
    fn slots_share_lanes_where_they_are_too_many() {
        let bars = (0..1_000).map(|row| bar(row, 0.0, 10.0)).collect();
        let svg = gantt(1_000, bars);
        assert!(svg.contains("Each lane holds 4 slots."));
        assert!(svg.contains("1,000 of 1,000 attempts are too short"));
    }

    #[test]
    fn an_attempt_without_a_place_is_left_out() {
        let svg = gantt(1, vec![bar(7, 0.0, 1.0), bar(0, 2.0, 1.0), bar(0, f64::NAN, 1.0)]);
        assert!(svg.contains("Nothing to show"), "{svg}");
    }
}
