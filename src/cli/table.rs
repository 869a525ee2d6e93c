//! Aligned columns for a terminal.

use comfy_table::{CellAlignment, ContentArrangement, Table, presets};

use super::lines::{TerminalLines, plain};
use super::terminal;

/// The side to which a column is aligned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Align {
    /// Texts.
    Left,
    /// Numbers.
    Right,
}

/// Returns rows as lines of aligned columns, indented by two and at most as wide as the terminal.
pub(super) fn table(rows: &[Vec<String>], columns: &[Align]) -> TerminalLines {
    let mut table = Table::new();
    *table.style_mut() = presets::NOTHING;
    table.set_content_arrangement(ContentArrangement::Dynamic);
    if let Some(width) = terminal::width() {
        table.set_width(width);
    }
    table.add_rows(rows.iter().map(|row| cells(row)));
    for (column, align) in table.column_iter_mut().zip(columns) {
        column.set_padding((2, 1));
        column.set_cell_alignment(match align {
            Align::Left => CellAlignment::Left,
            Align::Right => CellAlignment::Right,
        });
    }
    lines(&table)
}

/// Returns the cells of a row with control characters escaped: a line end in a name would look like
/// another row.
pub(super) fn cells(row: &[String]) -> Vec<String> {
    row.iter().map(|cell| plain(cell).into_owned()).collect()
}

/// Returns the lines of a table.
pub(super) fn lines(table: &Table) -> TerminalLines {
    table.trim_fmt().lines().map(TerminalLines::of).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_begin_and_numbers_end_together() {
        let rows = [["name", "s"], ["a", "10"], ["longer", "9"]];
        let rows: Vec<Vec<String>> =
            rows.iter().map(|row| row.iter().map(ToString::to_string).collect()).collect();
        assert_eq!(
            table(&rows, &[Align::Left, Align::Right]).bare(),
            "  name      s\n  a        10\n  longer    9\n"
        );
    }

    #[test]
    fn wide_letters_take_two_columns() {
        let rows = [["節點", "1"], ["node", "2"]];
        let rows = rows.map(|row| row.map(str::to_owned).to_vec());
        let table = table(&rows, &[Align::Left, Align::Right]);
        assert_eq!(table.bare(), "  節點   1\n  node   2\n");
    }
}
