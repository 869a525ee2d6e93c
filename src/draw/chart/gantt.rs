//! Gantt charts: rows over time with bars in them, such as attempts on nodes.
//!
//! Every bar is drawn, and is wide enough to be seen. For too many bars,
//! [`Density`](super::Density) shows how busy each row was.
//!
//! Bars that differ only in their positions share a path. For the page's script, the path has the
//! texts of its bars in the same order. For readers without the script, it has one text that
//! describes all its bars together.

use std::collections::BTreeMap;

use maud::{Markup, html};

use super::drawing::{Caption, ChartSheet, Drawing};
use super::lanes::{GanttRow, Lanes, part};
use super::legend::LegendKey;
use super::palette::{SeriesLook, small_mark_colour};
use super::scale::{ChartAxis, Extent};
use super::text::{clean, tip};
use super::timed::WholeTimes;
use mumakil_base::worded;

/// The width of a bar is at least the whole time divided by this number: a pixel or two, so that a
/// reader can point at the bar.
const NARROWEST: u64 = 700;

/// The SVG path of the sign of bars in a legend.
pub(super) const BAR_SIGN: &str = "M0-6h28v12h-28z";

/// A chart of bars in rows over time.
#[derive(Clone, Debug)]
pub struct Gantt {
    /// The title and the texts around it.
    pub caption: Caption,
    /// The time axis, which is linear.
    pub x: ChartAxis,
    /// The rows from top to bottom; the rows of a group are consecutive.
    pub rows: Vec<GanttRow>,
    /// The meaning of shaded rows; empty if no row is shaded.
    pub shaded: String,
    /// The owners of the bars, in the order of the legend.
    pub owners: Vec<BarOwner>,
    /// The bars, in any order.
    pub bars: Vec<GanttBar>,
    /// Sentences under the chart.
    pub notes: Vec<String>,
}

/// The owner of bars, such as a pool, which gives the bars their colour.
#[derive(Clone, Debug, PartialEq)]
pub struct BarOwner {
    /// The name.
    pub name: String,
    /// The look of the bars. All looks from the ninth on share one colour.
    pub look: SeriesLook,
}

/// A bar: a span of time in a row.
#[derive(Clone, Debug)]
pub struct GanttBar {
    /// The index of its row.
    pub row: usize,
    /// The index of its owner.
    pub owner: usize,
    /// How it ended.
    pub fate: BarFate,
    /// The time at which it starts.
    pub start: f64,
    /// The time at which it ends.
    pub end: f64,
    /// A name that it may share with other bars, such as the name of the job.
    pub name: String,
    /// The number that distinguishes it from bars of the same name.
    pub number: String,
}

worded! {
    /// How the attempt of a bar ended.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    pub enum BarFate {
        /// It succeeded.
        Succeeded = "succeeded",
        /// It had not ended at the end of the run.
        Running = "still running",
        /// It was killed.
        Killed = "killed",
        /// It failed.
        Failed = "failed",
    }
}

impl BarFate {
    /// Returns the CSS class of bars of this colour and outcome.
    fn class(self, colour: &str) -> String {
        match self {
            Self::Succeeded | Self::Running => format!("bars {colour}"),
            Self::Killed => format!("bars pale {colour}"),
            Self::Failed => "bars c-ink".to_owned(),
        }
    }
}

/// Bars that differ only in their positions: the common path, and the text of each bar.
#[derive(Debug, Default)]
struct AlikeBars {
    path: String,
    label: String,
}

impl Gantt {
    /// Returns the chart. A bar is left out if its row or owner does not exist or its times are not
    /// numbers.
    pub fn draw(&self) -> Drawing {
        let axis = ChartAxis::linear(&*self.x.title, self.x.unit);
        let mut extent = Extent::default();
        let sane = self.bars.iter().filter(|bar| {
            let known = extent.see(&axis, bar.start) & extent.see(&axis, bar.end);
            let is_placed = bar.row < self.rows.len() && bar.owner < self.owners.len();
            known && bar.start <= bar.end && is_placed
        });
        let mut bars: Vec<&GanttBar> = sane.collect();
        // Sort by time within a row: where widened bars overlap, the page's script shows the later
        // bar.
        bars.sort_by(|a, b| {
            a.row.cmp(&b.row).then(a.start.total_cmp(&b.start)).then(a.end.total_cmp(&b.end))
        });
        let timed = WholeTimes::new(&axis, extent);
        let mut sheet = ChartSheet::wide(&self.caption);
        sheet.legend(&self.keys(&bars));
        let lanes = Lanes { rows: &self.rows, shared: 1 };
        let area = lanes.draw(&mut sheet, &timed.x);
        let alike = Self::alike(&bars, &timed);
        let marks = html! {
            @for ((owner, fate, name), AlikeBars { path, label }) in &alike {
                @let of = &self.owners[*owner];
                path class=(fate.class(&small_mark_colour(of.look))) d=(path) data-bars=(label)
                    data-fate=(fate.word()) { (tip(&of.label(name))) }
            }
        };
        let plot = timed.plot(&area, &lanes, marks);
        sheet.add(plot);
        sheet.nothing_if(bars.is_empty(), &area);
        self.notes.iter().for_each(|note| sheet.note(note));
        extent.notes(&axis).for_each(|note| sheet.note(&note));
        sheet.finish()
    }

    /// Returns the bars grouped by owner, outcome and name, in the order in which they are drawn.
    fn alike<'a>(
        bars: &[&'a GanttBar],
        timed: &WholeTimes,
    ) -> BTreeMap<(usize, BarFate, &'a str), AlikeBars> {
        let narrowest = (timed.whole / NARROWEST).max(1);
        let mut alike: BTreeMap<(usize, BarFate, &str), AlikeBars> = BTreeMap::new();
        for bar in bars {
            let (from, to) = (timed.at(bar.start), timed.at(bar.end));
            let AlikeBars { path, label } =
                alike.entry((bar.owner, bar.fate, bar.name.as_str())).or_default();
            let length = to - from;
            let drawn = length.max(narrowest);
            // A short bar is drawn wider than its time; move it left if it would leave the plot.
            let left = from.min(timed.whole.saturating_sub(drawn));
            path.push_str(&WholeTimes::mark(left, bar.row, drawn));
            if !label.is_empty() {
                label.push('|');
            }
            label.push_str(&part(&bar.number));
            // Only widened bars need their true times as text; the script reads other times from
            // the path.
            if drawn != length {
                label.push_str(&format!("@{from}+{length}"));
            }
        }
        alike
    }

    /// Returns the legend keys of the owners and outcomes that occur.
    fn keys(&self, bars: &[&GanttBar]) -> Vec<LegendKey> {
        let sign = |class: &str| html! { path class=(class) d=(BAR_SIGN) {} };
        let has = |fate: BarFate| bars.iter().any(|bar| bar.fate == fate);
        let is_used = |number| bars.iter().any(|bar| bar.owner == number);
        let mut keys = owner_keys(&self.owners, is_used, |colour| sign(&format!("bars {colour}")));
        if has(BarFate::Killed) {
            keys.push(LegendKey::sign("killed: pale", sign("bars pale c-soft")));
        }
        if has(BarFate::Failed) {
            keys.push(LegendKey::sign("failed", sign("bars c-ink")));
        }
        if self.rows.iter().any(|row| row.is_shaded) {
            let sign = html! { rect class="c-grid area" y="-7" width="28" height="14" {} };
            keys.push(LegendKey::sign(&self.shaded, sign));
        }
        keys
    }
}

impl BarOwner {
    /// Returns the text of a bar of this owner with this name.
    fn label(&self, name: &str) -> String {
        // If the name begins with the owner's name, as when each job is its own owner, leave the
        // owner out.
        let is_said = name == self.name || name.starts_with(&format!("{} ", self.name));
        if is_said { clean(name) } else { format!("{} ({})", clean(name), clean(&self.name)) }
    }
}

/// Returns the legend keys of the owners in use; all owners without a colour of their own share one
/// key.
pub(super) fn owner_keys(
    owners: &[BarOwner],
    is_used: impl Fn(usize) -> bool,
    sign: impl Fn(&str) -> Markup,
) -> Vec<LegendKey> {
    let used = || owners.iter().enumerate().filter(|(number, _)| is_used(*number));
    let own = used().filter(|(_, owner)| owner.look.has_own_colour());
    let mut keys: Vec<LegendKey> = own
        .map(|(_, owner)| LegendKey::sign(&owner.name, sign(&small_mark_colour(owner.look))))
        .collect();
    let others = used().filter(|(_, owner)| !owner.look.has_own_colour()).count();
    if 0 < others {
        keys.push(LegendKey::sign(&format!("others ({others})"), sign("c-soft")));
    }
    keys
}

#[cfg(test)]
mod tests {
    use super::super::unit::AxisUnit;
    use super::*;

    fn gantt(rows: usize, bars: Vec<GanttBar>) -> String {
        let row = |i| GanttRow {
            group: format!("r{}", i / 4),
            owner: format!("n{}", i / 2),
            name: "map".to_owned(),
            is_shaded: i % 2 == 1,
        };
        let owner = |(number, name): (usize, &str)| BarOwner {
            name: name.to_owned(),
            look: SeriesLook(number * 5),
        };
        let chart = Gantt {
            caption: Caption::default(),
            x: ChartAxis::linear("Time", AxisUnit::Seconds),
            rows: (0..rows).map(row).collect(),
            shaded: "reduce slots".to_owned(),
            owners: ["ann", "bob", "carl"].into_iter().enumerate().map(owner).collect(),
            bars,
            notes: vec!["A note.".to_owned()],
        };
        chart.draw().inline()
    }

    fn bar(row: usize, start: f64, end: f64) -> GanttBar {
        let (name, number) = ("sort map".to_owned(), row.to_string());
        GanttBar { row, owner: 0, fate: BarFate::Succeeded, start, end, name, number }
    }

    #[test]
    fn a_bar_is_in_milliseconds_in_its_row_and_has_the_colour_of_its_owner() {
        let svg = gantt(3, vec![bar(2, 4.469, 29.5), GanttBar { owner: 1, ..bar(0, 0.0, 90.0) }]);
        assert!(svg.contains("viewBox=\"0 0 90000 3\""), "{svg}");
        assert!(
            svg.contains("class=\"bars c-0\" d=\"M4469 2h25031v.88h-25031z\" data-bars=\"2\""),
            "{svg}"
        );
        assert!(
            svg.contains("class=\"bars c-5\" d=\"M0 0h90000v.88h-90000z\" data-bars=\"0\""),
            "{svg}"
        );
        assert!(svg.contains("sort map (bob)") && svg.contains("A note."));
    }

    #[test]
    fn a_bar_too_short_to_see_is_drawn_wider_and_tells_its_true_length() {
        let svg = gantt(1, vec![bar(0, 0.0, 700.0), bar(0, 699.999, 700.0)]);
        assert!(svg.contains("M699000 0h1000v.88h-1000z"), "{svg}");
        assert!(svg.contains("data-bars=\"0|0@699999+1\""), "{svg}");
    }

    #[test]
    fn killed_attempts_are_pale_and_failed_ones_black() {
        let of = |fate| gantt(1, vec![GanttBar { fate, ..bar(0, 0.0, 9.0) }]);
        assert!(of(BarFate::Killed).contains("bars pale c-0"));
        assert!(of(BarFate::Killed).contains(">killed: pale<"));
        assert!(
            of(BarFate::Failed).contains("bars c-ink") && of(BarFate::Failed).contains(">failed<")
        );
        assert!(
            !of(BarFate::Running).contains("failed") && !of(BarFate::Running).contains("killed")
        );
    }

    #[test]
    fn owners_behind_the_eighth_look_are_others() {
        let svg = gantt(1, vec![GanttBar { owner: 2, ..bar(0, 0.0, 9.0) }]);
        assert!(svg.contains("others (1)") && svg.contains("bars c-soft"), "{svg}");
        assert!(svg.contains("sort map (carl)"), "{svg}");
    }

    #[test]
    fn every_bar_is_there() {
        let bars: Vec<GanttBar> = (0..5_000)
            .map(|i| bar(i % 7, f64::from(i as u32) / 10.0, f64::from(i as u32) / 10.0 + 1e-4))
            .collect();
        let svg = gantt(7, bars);
        let label = svg.split("data-bars=\"").skip(1).map(|rest| rest.split_once('"').unwrap().0);
        assert_eq!(label.map(|label| label.split('|').count()).sum::<usize>(), 5_000);
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
    fn a_bar_without_a_place_is_left_out() {
        let unknown = GanttBar { owner: 3, ..bar(0, 0.0, 1.0) };
        let svg =
            gantt(1, vec![bar(7, 0.0, 1.0), bar(0, 2.0, 1.0), bar(0, f64::NAN, 1.0), unknown]);
        assert!(svg.contains("Nothing to show"), "{svg}");
    }
}
