//! `--json`, `--csv` and `--markdown`: results for other programs and texts.

use std::path::Path;

use serde::Serialize;
use serde_json::{Map, Value, json};

use super::failure::Failure;
use super::lines::TerminalLines;
use super::table::markdown;
use super::terminal;
use mumakil_base::files::SUMMARY;
use mumakil_draw::page::PageTable;
use mumakil_results::tables::{CellValue, write_line};
use mumakil_run::output::read_json;

#[derive(Clone, Copy, Debug, Default, clap::Args)]
#[group(multiple = false)]
#[expect(missing_docs, reason = "clap would show them as those of the command")]
pub struct PrintedForm {
    /// Print JSON
    #[arg(long, conflicts_with = "quiet")]
    pub json: bool,
    /// Print the tables as CSV
    #[arg(long, conflicts_with = "quiet")]
    pub csv: bool,
    /// Print the tables in Markdown
    #[arg(long, conflicts_with = "quiet")]
    pub markdown: bool,
}

impl PrintedForm {
    /// Prints tables; returns whether a form is given. Of results in a folder, JSON has the summary.
    pub fn print(self, folder: Option<&Path>, tables: &[PageTable]) -> Result<bool, Failure> {
        match (self, folder) {
            (Self { json: true, .. }, Some(folder)) => {
                let mut summary: Map<String, Value> = read_json(&folder.join(SUMMARY))?;
                summary.insert("folder".to_owned(), folder.display().to_string().into());
                print_json(&summary)?;
            }
            (Self { json: true, .. }, None) => {
                print_json(&tables.iter().map(as_json).collect::<Value>())?;
            }
            (Self { csv: true, .. }, _) => {
                terminal::print_file(&tables.iter().map(csv).collect::<Vec<_>>().join("\n"))?;
            }
            (Self { markdown: true, .. }, _) => {
                let lines = tables.iter().map(|table| markdown(table) + TerminalLines::of(""));
                terminal::print(&lines.sum())?;
            }
            _ => return Ok(false),
        }
        Ok(true)
    }
}

/// Returns a value as indented JSON.
pub fn as_text(value: &impl Serialize) -> String {
    serde_json::to_string_pretty(value).expect("texts and numbers are JSON")
}

/// Prints a value as indented JSON.
pub fn print_json(value: &impl Serialize) -> Result<(), Failure> {
    Ok(terminal::print_file(&(as_text(value) + "\n"))?)
}

/// Returns a table as an object: its caption, and an object for each row. Numbers are in the units of
/// metrics: seconds, bytes, shares.
fn as_json(table: &PageTable) -> Value {
    let rows = table.rows.iter().map(|row| {
        let cells = table.columns.iter().zip(row).map(|(column, cell)| {
            let text = (!column.is_number).then(|| cell.shown.clone().into());
            let value = cell.value.map(Value::from).or(text);
            (column.title.clone(), value.unwrap_or_default())
        });
        Value::from(cells.collect::<Map<_, _>>())
    });
    json!({"caption": table.caption, "rows": rows.collect::<Vec<_>>()})
}

fn csv(table: &PageTable) -> String {
    let mut text = Vec::new();
    write_line(table.columns.iter().map(|it| CellValue::Text(&it.title)), &mut text);
    for row in &table.rows {
        let cells = row.iter().zip(&table.columns).map(|(cell, column)| match cell.value {
            Some(number) => CellValue::Decimal(number),
            None if column.is_number => CellValue::Empty,
            None => CellValue::Text(&cell.shown),
        });
        write_line(cells, &mut text);
    }
    String::from_utf8_lossy(&text).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use mumakil_draw::page::{PageCell, PageColumn};

    fn table() -> PageTable {
        let columns = [PageColumn::text("job"), PageColumn::number("mean(sojourn)")];
        let rows = [
            vec![PageCell::text("a, \"b\""), PageCell::number(1.5, "1.5 s")],
            vec![PageCell::text("c"), PageCell::unknown()],
        ];
        PageTable::new("In numbers", columns, rows)
    }

    #[test]
    fn numbers_have_no_units_and_unknown_ones_are_null() {
        let table = as_json(&table());
        assert_eq!(table["rows"][0]["mean(sojourn)"], 1.5);
        assert_eq!(table["rows"][1], json!({"job": "c", "mean(sojourn)": null}));
    }

    #[test]
    fn a_cell_with_a_comma_is_quoted() {
        assert_eq!(csv(&table()), "job,mean(sojourn)\n\"a, \"\"b\"\"\",1.5\nc,\n");
    }
}
