//! Aligned columns for a terminal.

/// On which side a column's cells begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Align {
    /// Texts.
    Left,
    /// Numbers.
    Right,
}

/// Returns rows as lines of aligned columns, indented by two.
pub(super) fn table(rows: &[Vec<String>], columns: &[Align]) -> String {
    let width = |column: usize| {
        rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max()
    };
    let widths: Vec<usize> = (0..columns.len()).map(|column| width(column).unwrap_or(0)).collect();
    let line = |row: &Vec<String>| {
        let cells =
            row.iter().zip(columns).zip(&widths).map(|((cell, align), width)| match align {
                Align::Left => format!("{cell:<width$}"),
                Align::Right => format!("{cell:>width$}"),
            });
        format!("  {}", cells.collect::<Vec<_>>().join("   ")).trim_end().to_owned() + "\n"
    };
    rows.iter().map(line).collect()
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
            table(&rows, &[Align::Left, Align::Right]),
            "  name      s\n  a        10\n  longer    9\n"
        );
    }
}
