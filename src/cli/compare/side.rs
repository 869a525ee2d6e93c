//! Tables side by side: a column for each run or study, and for all but the first also the change
//! from the first.

use crate::cli::lines::TerminalLines;
use crate::cli::table::{Align, table};
use crate::expect::Unit;
use crate::page::{PageCell, PageColumn, PageTable};
use crate::units::tell;

/// A table that compares runs or studies.
#[derive(Clone, Debug)]
pub(super) struct SideBySideTable {
    /// Its title.
    pub(super) caption: String,
    /// The headings of the columns that identify a row.
    pub(super) keys: Vec<String>,
    /// The names of the runs or studies, in their order.
    pub(super) names: Vec<String>,
    /// The rows.
    pub(super) rows: Vec<SideRow>,
}

/// A row: one number for each run or study.
#[derive(Clone, Debug)]
pub(super) struct SideRow {
    /// The texts that identify the row, one for each key.
    pub(super) keys: Vec<String>,
    /// The unit of the numbers.
    pub(super) unit: Unit,
    /// The numbers, one for each run or study; `None` if missing.
    pub(super) values: Vec<Option<f64>>,
}

/// The change of a number from the number of the first run or study.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Difference {
    /// The ratio to the first number.
    Times(f64),
    /// For shares: the difference, as a part of the whole.
    Points(f64),
}

impl SideBySideTable {
    /// Returns the lines for a terminal.
    pub(super) fn lines(&self) -> TerminalLines {
        let others = self.names[1..].iter().flat_map(|name| [name.as_str(), "change"]);
        let heading = self.keys.iter().chain(&self.names[..1]).map(String::as_str).chain(others);
        let mut rows = vec![heading.map(str::to_owned).collect()];
        rows.extend(self.rows.iter().map(SideRow::texts));
        let numbers = 2 * self.names.len() - 1;
        let columns = [vec![Align::Left; self.keys.len()], vec![Align::Right; numbers]].concat();
        table(&rows, &columns)
    }

    /// Returns the table for a page.
    pub(super) fn table(&self) -> PageTable {
        let numbers = self.names.iter().enumerate().flat_map(|(place, name)| {
            let change = (0 < place).then(|| PageColumn::number("change", None));
            [PageColumn::number(name, None)].into_iter().chain(change)
        });
        PageTable {
            caption: self.caption.clone(),
            columns: self.keys.iter().map(PageColumn::text).chain(numbers).collect(),
            rows: self.rows.iter().map(SideRow::cells).collect(),
        }
    }
}

impl SideRow {
    fn texts(&self) -> Vec<String> {
        self.cells().into_iter().map(|cell| cell.shown).collect()
    }

    fn cells(&self) -> Vec<PageCell> {
        let mut cells: Vec<PageCell> = self.keys.iter().map(PageCell::text).collect();
        for (place, value) in self.values.iter().enumerate() {
            cells.push(PageCell::maybe(*value, |value| self.shown(value)));
            if 0 < place {
                cells.push(self.change(*value).map_or_else(PageCell::unknown, Difference::cell));
            }
        }
        cells
    }

    fn shown(&self, value: f64) -> String {
        // A whole number without a unit is a count: group its thousands, `1,234`.
        let is_count = self.unit == Unit::PLAIN && 0.0 <= value && value.fract() == 0.0;
        if is_count { tell::count(value as u64) } else { self.unit.show(value) }
    }

    /// Returns the change of a value from the first; `None` if one of the two is missing, or if
    /// the first is zero, for then there is no ratio.
    fn change(&self, value: Option<f64>) -> Option<Difference> {
        let (first, value) = (self.values[0]?, value?);
        // Show a share from 2 % to 4 % as "+2 points": "2.00×" would mislead.
        if self.unit.share {
            return Some(Difference::Points(value - first));
        }
        let times = value / first;
        // A division by zero gives no finite number: show no change then.
        times.is_finite().then_some(Difference::Times(times))
    }
}

impl Difference {
    fn cell(self) -> PageCell {
        match self {
            Self::Times(times) => PageCell::number(times, ratio(times)),
            Self::Points(points) => PageCell::number(points, more_points(points)),
        }
    }
}

/// Prints the difference of a share: `-3.8 points`. A difference that rounds to zero has no sign.
fn more_points(share: f64) -> String {
    let told = tell::points(share.abs());
    let sign = match share < 0.0 {
        _ if told.starts_with("0.0 ") => "",
        true => "-",
        false => "+",
    };
    format!("{sign}{told}")
}

/// Prints a ratio: `0.93×`.
pub(super) fn ratio(times: f64) -> String {
    format!("{times:.2}×")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(key: &str, unit: Unit, values: [Option<f64>; 2]) -> SideRow {
        SideRow { keys: vec![key.to_owned()], unit, values: values.to_vec() }
    }

    #[test]
    fn times_are_told_by_their_ratio_and_shares_by_their_difference() {
        let side = SideBySideTable {
            caption: String::new(),
            keys: vec!["metric".to_owned()],
            names: vec!["fifo".to_owned(), "fair".to_owned()],
            rows: vec![
                row("mean sojourn", Unit::TIME, [Some(80.0), Some(60.0)]),
                row("node-local", Unit::SHARE, [Some(0.95), Some(0.912)]),
                row("rack-local", Unit::SHARE, [Some(0.05), Some(0.0499999)]),
                row("failed", Unit::PLAIN, [Some(0.0), Some(0.0)]),
                row("killed", Unit::PLAIN, [Some(0.0), Some(2_000.0)]),
                row("makespan", Unit::TIME, [None, Some(9.0)]),
            ],
        };
        assert_eq!(
            side.lines().bare(),
            "  metric               fifo         fair        change
  mean sojourn   1 min 20 s   1 min 00 s         0.75×
  node-local         95.0 %       91.2 %   -3.8 points
  rack-local          5.0 %        5.0 %    0.0 points
  failed                  0            0             –
  killed                  0        2,000             –
  makespan                –        9.0 s             –
"
        );
        let table = side.table();
        assert_eq!(table.rows[0][3], PageCell::number(0.75, "0.75×"));
        assert_eq!(table.columns.len(), table.rows[0].len());
    }
}
