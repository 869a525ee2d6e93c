//! Tables for tests: a test writes only the columns that matter.

use super::{CellKind, TableRow};

/// Returns a table with all its columns: columns that `text` lacks are empty, or zero if they must
/// not be empty.
pub fn complete<R: TableRow>(text: &str) -> String {
    let mut lines = text.lines().map(|line| line.trim().replace(' ', ""));
    let heading = lines.next().unwrap_or_default();
    let lacks = |name: &str| heading.split(',').all(|column| column != name);
    let more = R::COLUMNS.iter().map(|column| column.info).filter(|info| lacks(info.name));
    let (mut names, mut cells) = (String::new(), String::new());
    for info in more {
        names += &format!(",{}", info.name);
        cells += ",";
        cells += match info.kind {
            _ if info.may_be_empty => "",
            CellKind::Words(words) => words[0],
            CellKind::Flag => "false",
            _ => "0",
        };
    }
    let rows = lines.map(|line| format!("{line}{cells}"));
    std::iter::once(format!("{heading}{names}")).chain(rows).collect::<Vec<_>>().join("\n")
}
