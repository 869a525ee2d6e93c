//! Aligned columns for a terminal.

use comfy_table::{CellAlignment, ContentArrangement, Table, presets};

use super::lines::{TerminalLines, plain};
use super::terminal;
use mumakil_base::units::tell::count;
use mumakil_draw::page::{Headline, PageBlock, PageTable, Section};

/// The side to which a column is aligned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Align {
    /// Texts.
    Left,
    /// Numbers.
    Right,
}

/// Returns rows as lines of aligned columns, indented by two and at most as wide as the terminal.
pub fn table(rows: &[Vec<String>], columns: &[Align]) -> TerminalLines {
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

/// Returns the content of a page as lines, without charts and commands. A table has at most `most`
/// rows.
pub fn lines_of(sections: &[Section], most: usize) -> TerminalLines {
    let mut lines = TerminalLines::default();
    for (number, Section { title, blocks }) in sections.iter().enumerate() {
        // The first section needs no title, and a table has its own.
        if 0 < number && !matches!(blocks[..], [PageBlock::Table(_), ..]) {
            lines.end();
            lines.bold(title, "");
        }
        for block in blocks {
            if !lines.is_empty() && matches!(block, PageBlock::Table(_)) {
                lines.end();
            }
            lines += lines_of_block(block, most);
        }
    }
    lines
}

fn lines_of_block(block: &PageBlock, most: usize) -> TerminalLines {
    let mut lines = TerminalLines::default();
    match block {
        PageBlock::Table(table) => lines = lines_of_table(table, most),
        PageBlock::Headlines(headlines) => {
            for Headline { label, value, note } in headlines {
                let note = if note.is_empty() { String::new() } else { format!(" ({note})") };
                lines.bold(format!("  {label} {value}"), note);
            }
        }
        PageBlock::Text(text) => lines.line(format!("  {text}")),
        PageBlock::Warnings(all) | PageBlock::Sentences(all) => {
            let all = all.iter().flat_map(|text| text.lines());
            all.for_each(|line| lines.line(format!("  {line}")));
        }
        PageBlock::Verdicts(_)
        | PageBlock::Charts(_)
        | PageBlock::Key(_)
        | PageBlock::Code(_)
        | PageBlock::Links(_) => {}
    }
    lines
}

/// Returns a page's table in Markdown.
pub fn markdown(PageTable { columns, rows, .. }: &PageTable) -> TerminalLines {
    let mut table = Table::new();
    *table.style_mut() = presets::ASCII_MARKDOWN;
    table.set_content_arrangement(ContentArrangement::Disabled);
    table.set_header(columns.iter().map(|column| &column.title));
    table.add_rows(rows.iter().map(|row| {
        // `|` would end a cell.
        cells(&row.iter().map(|cell| cell.shown.replace('|', "\\|")).collect::<Vec<_>>())
    }));
    lines(&table)
}

/// Returns a page's table as lines, with its caption and at most `most` of its rows.
pub fn lines_of_table(table: &PageTable, most: usize) -> TerminalLines {
    let PageTable { caption, columns, rows } = table;
    let mut lines = TerminalLines::default();
    if !caption.is_empty() {
        lines.bold(caption, "");
    }
    if rows.is_empty() {
        return lines;
    }
    let heading = columns.iter().map(|column| column.title.clone()).collect();
    let first = rows.iter().take(most);
    let shown = first.map(|row| row.iter().map(|cell| cell.shown.clone()).collect());
    let all: Vec<Vec<String>> = [heading].into_iter().chain(shown).collect();
    let align = columns.iter().map(|it| if it.is_number { Align::Right } else { Align::Left });
    lines += self::table(&all, &align.collect::<Vec<_>>());
    if most < rows.len() {
        lines.line(format!("  … and {} more", count((rows.len() - most) as u64)));
    }
    lines
}

/// Returns the cells of a row with control characters escaped: a line end in a name would look like
/// another row.
pub fn cells(row: &[String]) -> Vec<String> {
    row.iter().map(|cell| plain(cell).into_owned()).collect()
}

/// Returns the lines of a table.
pub fn lines(table: &Table) -> TerminalLines {
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
