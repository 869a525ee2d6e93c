//! A table of numbers: a column for each side, and behind all but the first their change from it.

use mumakil_base::units::tell;
use mumakil_draw::page::{PageCell, PageColumn, PageTable};
use mumakil_results::expect::{Unit, with_plus};

/// A table that puts sides beside each other.
#[derive(Clone, Debug, Default)]
pub struct SideTable {
    /// Its title; may be empty.
    pub caption: String,
    /// The columns that identify a row.
    pub keys: Vec<PageColumn>,
    /// The names of the sides, in their order.
    pub sides: Vec<String>,
    /// The columns behind each side but the first.
    pub changes: &'static [ChangeColumn],
    /// The last columns.
    pub notes: Vec<PageColumn>,
    /// The rows.
    pub rows: Vec<SideRow>,
}

/// A row: a number for each side.
#[derive(Clone, Debug)]
pub struct SideRow {
    /// A cell for each key.
    pub keys: Vec<PageCell>,
    /// The unit of the numbers.
    pub unit: Unit,
    /// A number for each side; `None` if it has none.
    pub values: Vec<Option<f64>>,
    /// A cell for each note.
    pub notes: Vec<PageCell>,
}

/// How a number of one side differs from that of the first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChangeColumn {
    /// The ratio, or for shares the difference: "2.00×" for 2 % and 4 % would mislead.
    Change,
    /// The difference.
    Difference,
    /// The ratio.
    Ratio,
}

impl SideTable {
    /// Returns the table for a page or a terminal.
    pub fn page_table(&self) -> PageTable {
        let titles = self.sides.iter().enumerate().flat_map(|(place, name)| {
            let behind = if place == 0 { &[][..] } else { self.changes };
            [name.as_str()].into_iter().chain(behind.iter().map(|it| it.title()))
        });
        let numbers = titles.map(PageColumn::number);
        // Times below one another have one unit.
        let times = self.rows.iter().filter(|row| row.unit == Unit::TIME);
        let values = tell::largest(times.clone().flat_map(SideRow::numbers));
        let differences = tell::largest(times.flat_map(SideRow::differences));
        PageTable::new(
            self.caption.clone(),
            self.keys.iter().cloned().chain(numbers).chain(self.notes.clone()),
            self.rows.iter().map(|row| row.cells(self.changes, [values, differences])),
        )
    }
}

impl SideRow {
    /// Returns a row that one text identifies.
    pub fn new(key: impl Into<String>, unit: Unit, values: Vec<Option<f64>>) -> Self {
        Self { keys: vec![PageCell::text(key)], unit, values, notes: Vec::new() }
    }

    fn numbers(&self) -> impl Iterator<Item = f64> {
        self.values.iter().flatten().copied()
    }

    fn differences(&self) -> impl Iterator<Item = f64> {
        let first = self.values[0];
        self.values[1..].iter().filter_map(move |value| Some((*value)? - first?))
    }

    /// Returns the cells; `largest` has the largest time and the largest difference of times.
    fn cells(&self, changes: &[ChangeColumn], largest: [f64; 2]) -> Vec<PageCell> {
        let mut cells = self.keys.clone();
        for (place, value) in self.values.iter().enumerate() {
            cells.push(PageCell::maybe(*value, |value| self.shown(value, largest[0])));
            if 0 < place {
                let both = self.values[0].zip(*value);
                cells.extend(changes.iter().map(|change| {
                    let cell = both.and_then(|both| self.change(*change, both, largest[1]));
                    cell.unwrap_or_else(PageCell::unknown)
                }));
            }
        }
        cells.extend(self.notes.iter().cloned());
        cells
    }

    fn shown(&self, value: f64, largest: f64) -> String {
        // A whole number without a unit is a count: group its thousands, `1,234`.
        match self.unit == Unit::PLAIN && 0.0 <= value && value.fract() == 0.0 {
            true => tell::count(value as u64),
            false if self.unit == Unit::TIME => self.unit.show_in_column(value, largest),
            false => self.unit.show(value),
        }
    }

    /// Returns the change from the first number to another; `None` without a ratio, as of zero.
    fn change(
        &self,
        change: ChangeColumn,
        (first, other): (f64, f64),
        largest: f64,
    ) -> Option<PageCell> {
        let by = other - first;
        match change {
            ChangeColumn::Change if self.unit.share => {
                Some(PageCell::number(by, with_plus(tell::points(by), by)))
            }
            ChangeColumn::Difference => Some(PageCell::number(by, longer(by, largest))),
            ChangeColumn::Change | ChangeColumn::Ratio => {
                let times = other / first;
                times.is_finite().then(|| PageCell::number(times, ratio(times)))
            }
        }
    }
}

impl ChangeColumn {
    const fn title(self) -> &'static str {
        match self {
            Self::Change => "change",
            Self::Difference => "difference",
            Self::Ratio => "ratio",
        }
    }
}

/// Prints a ratio: `0.93×`.
pub fn ratio(times: f64) -> String {
    format!("{times:.2}×")
}

/// Prints a difference of times with its sign, `+12.0 s`, for a column with this largest difference.
pub fn longer(seconds: f64, largest: f64) -> String {
    with_plus(Unit::TIME.show_in_column(seconds, largest), seconds)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the texts of a row's cells.
    fn texts(unit: Unit, values: [Option<f64>; 2]) -> Vec<String> {
        let table = SideTable {
            keys: vec![PageColumn::text("metric")],
            sides: ["fifo", "fair"].map(str::to_owned).into(),
            changes: &[ChangeColumn::Change, ChangeColumn::Difference],
            rows: vec![SideRow::new("m", unit, values.into())],
            ..SideTable::default()
        };
        let mut table = table.page_table();
        assert_eq!(table.columns.len(), table.rows[0].len());
        table.rows.remove(0).into_iter().skip(1).map(|cell| cell.shown).collect()
    }

    #[test]
    fn times_have_a_ratio_and_shares_a_difference() {
        let (time, share, plain) = (Unit::TIME, Unit::SHARE, Unit::PLAIN);
        for (unit, values, shown) in [
            (time, [Some(80.0), Some(60.0)], ["1 min 20 s", "1 min 00 s", "0.75×", "-20.0 s"]),
            (time, [None, Some(9.0)], ["–", "9.0 s", "–", "–"]),
            (time, [Some(2.0), Some(2.0)], ["2.0 s", "2.0 s", "1.00×", "0 s"]),
            (share, [Some(0.95), Some(0.912)], ["95.0 %", "91.2 %", "-3.8 points", "-0.0 s"]),
            (share, [Some(0.05), Some(0.0499999)], ["5.0 %", "5.0 %", "0.0 points", "0.0 s"]),
            (plain, [Some(0.0), Some(2_000.0)], ["0", "2,000", "–", "+33 min 20 s"]),
        ] {
            // A difference of shares or counts has no column of its own.
            let last = if unit == time { 4 } else { 3 };
            assert_eq!(texts(unit, values)[..last], shown[..last], "{values:?}");
        }
    }
}
