//! `mumakil py`: a Python module that loads the results of Mumakil.
//!
//! The module is a single file: it lies beside the notebook that imports it, and fits the version
//! of Mumakil that wrote the results.

use std::io::Write as _;
use std::path::PathBuf;

use super::failure::Failure;
use super::lines::TerminalLines;
use super::{Program, file, terminal};
use mumakil_results::tables::{self, CellKind};

/// The module, without the types of the tables' columns.
const MODULE: &str = include_str!("py/mumakil.py");
const COLUMNS: &str = "= {}  # made of Mumakil's own tables";

/// Write a Python module that loads results and draws them
///
/// It loads runs and studies into frames of pandas or polars, whichever is there.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example:
  mumakil run quickstart && mumakil py
  python3 -c 'import mumakil; print(mumakil.load_run(\"out/quickstart-42\").jobs)'
  python3 mumakil.py out/quickstart-42 pictures")]
pub(super) struct PyArguments {
    /// Where to write it; `-` prints it
    #[arg(short, long, value_name = "FILE", default_value = "mumakil.py")]
    out: PathBuf,
    /// Replace the file if it exists
    #[arg(long)]
    force: bool,
}

impl PyArguments {
    pub(super) fn run(self, _: &Program) -> Result<(), Failure> {
        if self.out.as_os_str() == "-" {
            return Ok(terminal::print_file(&module())?);
        }
        file::write(&self.out, self.force, |to| to.write_all(module().as_bytes()))?;
        let wrote = format!("wrote {}", self.out.display());
        Ok(terminal::print(&TerminalLines::of(wrote))?)
    }
}

fn module() -> String {
    let mut columns = "= {\n".to_owned();
    for table in tables::all() {
        columns += &format!("    \"{}\": {{\n", table.file.trim_end_matches(".csv"));
        for column in table.columns {
            let kind = match column.kind {
                CellKind::Whole => "number",
                CellKind::SlotTime => "slot time",
                CellKind::Decimal => "decimal",
                CellKind::Flag => "flag",
                CellKind::Text | CellKind::Words(_) => "text",
            };
            columns += &format!("        \"{}\": \"{kind}\",  # {}\n", column.name, column.about);
        }
        columns += "    },\n";
    }
    // The columns come from the tables themselves, so module and tables cannot disagree.
    MODULE.replacen(COLUMNS, &(columns + "}"), 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_module_knows_each_column() {
        assert_eq!(MODULE.matches(COLUMNS).count(), 1);
        let module = module();
        let line = r#"        "sojourn_ms": "number",  # From its arrival to its end; empty for refused jobs."#;
        assert!(module.contains(line) && !module.contains(COLUMNS), "{module}");
    }
}
