//! Charts of how busy rows (such as nodes) were over time, for more bars than can be drawn one by
//! one. Each row and interval has a cell in the colour of its largest holder; the strength of the
//! colour shows how much was held.
//!
//! Every bar is counted in the cell in which it begins, and adds its time to each cell that it
//! crosses. Bars are added one at a time, so that any number of bars needs little memory.

use std::collections::BTreeMap;

use maud::html;

use super::drawing::{Caption, ChartSheet, Drawing};
use super::gantt::{BAR_SIGN, BarOwner, owner_keys};
use super::lanes::{GanttRow, Lanes};
use super::palette::small_mark_colour;
use super::scale::{ChartAxis, Extent};
use super::text::tip;
use super::timed::WholeTimes;
use super::unit::AxisUnit;

/// The number of intervals of the time axis. Chosen: a cell is then a few pixels wide.
const COLUMNS: usize = 240;

/// The most lanes; a reader could not distinguish more. Each lane then has a height of 3 units.
const LANES: usize = 180;

/// The names of the levels of a cell. The level is the share of the capacity that was held.
const LEVELS: [&str; 5] = [
    "up to a fifth",
    "up to two fifths",
    "up to three fifths",
    "up to four fifths",
    "over four fifths",
];

/// A chart of how busy rows were over time.
#[derive(Clone, Debug)]
pub struct Density {
    /// The title and the texts around it.
    pub caption: Caption,
    /// The time axis.
    pub x: ChartAxis,
    /// The rows from top to bottom; the rows of a group are consecutive.
    pub rows: Vec<GanttRow>,
    /// The word for the units of a row's capacity, in the plural, such as `slots`.
    pub held: String,
    /// The capacity of each row.
    pub capacity: Vec<f64>,
    /// The word for the bars, in the plural, such as `attempts`.
    pub bars_are: String,
    /// The owners of the bars, in the order of the legend.
    pub owners: Vec<BarOwner>,
    /// Sentences under the chart.
    pub notes: Vec<String>,
    cells: DensityCells,
}

/// The cells of all lanes and intervals.
#[derive(Clone, Debug)]
struct DensityCells {
    until: f64,
    shared: usize,
    /// The number of bars that begin in each cell, lane by lane.
    begun: Vec<u64>,
    /// The time for which each owner's bars lie in each cell, in seconds.
    busy: Vec<BTreeMap<usize, f64>>,
}

impl Density {
    /// Returns an empty chart of these rows, from zero to `until` seconds.
    pub fn new(rows: Vec<GanttRow>, capacity: Vec<f64>, until: f64) -> Self {
        let shared = rows.len().div_ceil(LANES).max(1);
        let cells = rows.len().div_ceil(shared).max(1) * COLUMNS;
        Self {
            caption: Caption::default(),
            x: ChartAxis::linear("Time", AxisUnit::Seconds),
            rows,
            held: String::new(),
            capacity,
            bars_are: String::new(),
            owners: Vec::new(),
            notes: Vec::new(),
            cells: DensityCells {
                // If the run took no time, use a small span: this avoids a division by zero.
                until: if until.is_finite() { until.max(1e-3) } else { 1.0 },
                shared,
                begun: vec![0; cells],
                busy: vec![BTreeMap::new(); cells],
            },
        }
    }

    /// Adds a bar of an owner. A bar is left out if its row does not exist or its times are not
    /// numbers.
    pub fn add(&mut self, row: usize, owner: usize, start: f64, end: f64) {
        let is_number = start.is_finite() && end.is_finite() && start <= end;
        if is_number && row < self.rows.len() {
            self.cells.add(row, owner, start, end);
        }
    }

    /// Returns how many bars were added.
    fn count(&self) -> u64 {
        self.cells.begun.iter().sum()
    }

    /// Returns the chart.
    pub fn draw(&self) -> Drawing {
        let DensityCells { until, shared, begun, .. } = &self.cells;
        let extent = Extent::default().include(&self.x, 0.0).include(&self.x, *until);
        let timed = WholeTimes::new(&self.x, extent);
        let paths = self.paths(&timed);
        let mut sheet = ChartSheet::wide(&self.caption);
        let is_used = |owner| self.cells.busy.iter().any(|by| by.contains_key(&owner));
        sheet.legend(&owner_keys(&self.owners, is_used, |colour| {
            html! { path class={ "bars " (colour) } d=(BAR_SIGN) {} }
        }));
        let lanes = Lanes { rows: &self.rows, shared: *shared };
        let area = lanes.draw(&mut sheet, &timed.x);
        let begun: Vec<String> = begun.chunks(COLUMNS).map(label).collect();
        let marks = html! {
            g data-columns=(COLUMNS) data-begun=(begun.join("|")) data-bars-are=(self.bars_are) {
                @for ((owner, level), d) in &paths {
                    path class={ "bars full-" (level) " " (self.colour(*owner)) } d=(d) {
                        (tip(&format!(
                            "{}; {} of the {} held", self.mostly(*owner), LEVELS[*level], self.held
                        )))
                    }
                }
            }
        };
        sheet.add(timed.plot(&area, &lanes, marks));
        sheet.nothing_if(self.count() == 0, &area);
        self.explain(&mut sheet);
        sheet.finish()
    }

    fn explain(&self, sheet: &mut ChartSheet) {
        let DensityCells { until, shared, .. } = &self.cells;
        let rows = if *shared == 1 { "a node" } else { &*format!("{shared} nodes") };
        sheet.note(&format!(
            "A cell is {rows} for {}: its colour is that of whoever held most, the fuller the more of \
             the {} were held. All {} {} are in it.",
            self.x.unit.text(until / COLUMNS as f64),
            self.held,
            AxisUnit::Count.text(self.count() as f64),
            self.bars_are,
        ));
        self.notes.iter().for_each(|note| sheet.note(note));
    }

    fn colour(&self, owner: usize) -> String {
        self.owners
            .get(owner)
            .map_or_else(|| "c-soft".to_owned(), |owner| small_mark_colour(owner.look))
    }

    fn mostly(&self, owner: usize) -> String {
        self.owners.get(owner).map_or_else(String::new, |owner| format!("mostly {}", owner.name))
    }

    /// Returns the cells as paths: one for each pair of largest holder and level.
    fn paths(&self, timed: &WholeTimes) -> BTreeMap<(usize, usize), String> {
        let DensityCells { until, shared, busy, .. } = &self.cells;
        let interval = until / COLUMNS as f64;
        let at = |column: usize| timed.whole * column as u64 / COLUMNS as u64;
        let mut paths: BTreeMap<(usize, usize), String> = BTreeMap::new();
        for (lane, cells) in busy.chunks(COLUMNS).enumerate() {
            let rows = lane * shared..((lane + 1) * shared).min(self.capacity.len());
            let room = self.capacity.get(rows).map_or(0.0, |all| all.iter().sum()) * interval;
            let looks: Vec<_> = cells.iter().map(|by| look(by, room)).collect();
            let mut column = 0;
            // Equal neighbours are one rectangle, which keeps the page small.
            for alike in looks.chunk_by(|a, b| a == b) {
                let to = column + alike.len();
                if let Some(look) = alike[0] {
                    let (from, to) = (at(column), at(to));
                    *paths.entry(look).or_default() += &WholeTimes::mark(from, lane, to - from);
                }
                column = to;
            }
        }
        paths
    }
}

/// Returns the owner that held most of a cell, and the cell's level. The level is the index in
/// [`LEVELS`] of the share of the cell's capacity that all owners held. Returns `None` for an empty
/// cell.
fn look(by: &BTreeMap<usize, f64>, room: f64) -> Option<(usize, usize)> {
    // If two owners held equally much, the first owner counts.
    let most = by.iter().rev().max_by(|a, b| a.1.total_cmp(b.1))?;
    let held: f64 = by.values().sum();
    // A row without a known capacity counts as full while anything is held.
    let share = if 0.0 < room { held / room } else { 1.0 };
    // Allow for rounding errors of sums: a share of exactly a fifth must not count as more.
    Some((*most.0, ((share * LEVELS.len() as f64 - 1e-9).max(0.0) as usize).min(LEVELS.len() - 1)))
}

/// Returns the numbers as text, with equal neighbours together: `0x17 3 1x2`.
fn label(numbers: &[u64]) -> String {
    let parts = numbers.chunk_by(|a, b| a == b).map(|alike| match alike.len() {
        1 => alike[0].to_string(),
        length => format!("{}x{length}", alike[0]),
    });
    parts.collect::<Vec<_>>().join(" ")
}

impl DensityCells {
    fn add(&mut self, row: usize, owner: usize, start: f64, end: f64) {
        let interval = self.until / COLUMNS as f64;
        // The end of the run falls into the last column, not into a column beyond.
        let column = |time: f64| ((time / interval).max(0.0) as usize).min(COLUMNS - 1);
        let lane = row / self.shared * COLUMNS;
        let (first, last) = (column(start), column(end));
        self.begun[lane + first] += 1;
        for column in first..=last {
            let from = column as f64 * interval;
            let inside = (end.min(from + interval) - start.max(from)).max(0.0);
            // A bar that took no time counts in the cell in which it begins.
            if 0.0 < inside || column == first {
                *self.busy[lane + column].entry(owner).or_default() += inside;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::palette::SeriesLook;
    use super::*;

    fn density(rows: usize, until: f64) -> Density {
        let row =
            |i| GanttRow { group: "r".to_owned(), owner: format!("n{i}"), ..GanttRow::default() };
        let owner = |(number, name): (usize, &str)| BarOwner {
            name: name.to_owned(),
            look: SeriesLook(number),
        };
        Density {
            held: "slots".to_owned(),
            bars_are: "attempts".to_owned(),
            owners: ["ann", "bob"].into_iter().enumerate().map(owner).collect(),
            ..Density::new((0..rows).map(row).collect(), vec![2.0; rows], until)
        }
    }

    /// Returns the sum of all numbers in the drawing's `data-begun`.
    fn sum_told(svg: &str) -> u64 {
        let label = svg.split_once("data-begun=\"").unwrap().1.split_once('"').unwrap().0;
        let number = |part: &str| {
            let (number, times) = part.split_once('x').unwrap_or((part, "1"));
            number.parse::<u64>().unwrap() * times.parse::<u64>().unwrap()
        };
        label.split(['|', ' ']).map(number).sum()
    }

    #[test]
    fn a_cell_is_of_whoever_held_most_and_as_full_as_all_of_it() {
        // There are two slots. In the first second 1.0 of 2 is held, 0.6 by bob and 0.4 by ann; in
        // the next second 0.4 of 2 is held by ann.
        let mut chart = density(1, 240.0);
        for (owner, start, end) in [(0, 0.0, 0.4), (1, 0.4, 1.0), (0, 1.0, 1.4)] {
            chart.add(0, owner, start, end);
        }
        let timed = WholeTimes::new(
            &chart.x,
            Extent::default().include(&chart.x, 0.0).include(&chart.x, 240.0),
        );
        let paths: Vec<_> = chart.paths(&timed).into_iter().collect();
        let mark = |from: u64| WholeTimes::mark(from, 0, 1_000);
        assert_eq!(paths, [((0, 0), mark(1_000)), ((1, 2), mark(0))]);
    }

    #[test]
    fn a_full_cell_is_at_the_highest_level() {
        let by = |held| BTreeMap::from([(0, held)]);
        assert_eq!(look(&by(2.0), 2.0), Some((0, 4)));
        assert_eq!(look(&by(0.0), 2.0), Some((0, 0)));
        assert_eq!(look(&by(1.6), 2.0), Some((0, 3)));
        assert_eq!(look(&BTreeMap::new(), 2.0), None);
    }

    #[test]
    fn many_places_share_lanes_and_say_so() {
        let mut chart = density(400, 100.0);
        (0..400).for_each(|row| chart.add(row, 0, 1.0, 2.0));
        let svg = chart.draw().inline();
        assert!(svg.contains("A cell is 3 nodes for 417 ms"), "{svg}");
        assert_eq!(sum_told(&svg), 400);
    }

    #[test]
    fn equal_neighbours_are_told_once() {
        assert_eq!(label(&[0, 0, 0, 7, 1, 1]), "0x3 7 1x2");
    }

    proptest! {
        #[test]
        fn no_bar_is_lost(
            rows in 1usize..400, until in 1.0f64..1e6,
            bars in prop::collection::vec((0usize..400, 0usize..3, 0.0f64..1.1, 0.0f64..0.5), 0..300),
        ) {
            let mut chart = density(rows, until);
            let mut added = 0;
            for (row, owner, start, length) in bars {
                chart.add(row, owner, start * until, (start + length) * until);
                added += u64::from(row < rows);
            }
            prop_assert_eq!(sum_told(&chart.draw().inline()), added);
        }
    }
}
