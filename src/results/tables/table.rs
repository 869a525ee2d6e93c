//! Tables in a run's folder. Each table declares its columns once.

use std::ops::Range;

use super::cell::{CellKind, CellValue, TableCell};
use super::line::CellTexts;

/// A row of a table; the macro [`table!`](crate::table) makes these types.
pub trait TableRow: Sized + 'static {
    /// The name of the table's file.
    const FILE: &'static str;
    /// The description of the table.
    const ABOUT: &'static str;
    /// The columns, in the order of the file.
    const COLUMNS: &'static [Column<Self>];

    /// Reads a row from its cells.
    ///
    /// # Errors
    /// If the text of a cell does not fit its column.
    fn read(cells: Cells<'_>) -> Result<Self, String>;
}

/// A column of a table.
#[derive(Debug)]
pub struct Column<R> {
    /// Its name and description, and its use in expectations.
    pub info: ColumnInfo,
    /// Returns the value of this column in a row.
    pub value: fn(&R) -> CellValue<'_>,
}

/// A column's name, kind and meaning.
#[derive(Clone, Copy, Debug)]
pub struct ColumnInfo {
    /// Its name in the heading. Names of columns with times end in `_ms`.
    pub name: &'static str,
    /// Its description.
    pub about: &'static str,
    /// The kind of its values.
    pub kind: CellKind,
    /// Whether its cells may be empty.
    pub may_be_empty: bool,
    /// The name by which expectations use its numbers as a quantity, if there is one.
    pub quantity: Option<&'static str>,
    /// The key with which expectations choose rows by this column, if there is one.
    pub key: Option<&'static str>,
    /// The key of `record` that adds the column to the table; `None` if it is always there.
    pub record: Option<&'static str>,
}

/// The description of a table.
#[derive(Clone, Debug)]
pub struct TableInfo {
    /// The name of its file.
    pub file: &'static str,
    /// Its description.
    pub about: &'static str,
    /// Its columns.
    pub columns: Vec<ColumnInfo>,
}

impl TableInfo {
    /// Returns the description of a table.
    pub fn of<R: TableRow>() -> Self {
        let columns = R::COLUMNS.iter().map(|column| column.info).collect();
        Self { file: R::FILE, about: R::ABOUT, columns }
    }
}

impl ColumnInfo {
    /// Returns whether the column holds times in milliseconds.
    pub fn is_time(&self) -> bool {
        self.name.ends_with("_ms")
    }
}

/// The cells of a row of a file.
#[derive(Debug)]
pub struct Cells<'a> {
    row: &'a CellTexts,
    /// The index of each column in the file; `None` for a missing column that may be empty.
    places: &'a [Option<usize>],
    next: Range<usize>,
}

impl<'a> Cells<'a> {
    pub(super) fn new(row: &'a CellTexts, places: &'a [Option<usize>]) -> Self {
        Self { row, places, next: 0..places.len() }
    }

    /// Reads the cell of the next column. `column` is the name of this column, for errors.
    ///
    /// # Errors
    /// If the text of the cell does not fit the column.
    pub fn next<T: TableCell>(&mut self, column: &str) -> Result<T, String> {
        let place = self.next.next().and_then(|column| self.places[column]);
        // A missing column reads as an empty cell; only columns that may be empty can be missing.
        let text = place.and_then(|place| self.row.get(place)).unwrap_or_default();
        T::read(text).map_err(|expected| format!("column `{column}`: `{text}` is not {expected}"))
    }
}

/// Declares the rows of a table: the file, and for each column its name, type and description.
/// `quantity` makes the column a quantity in expectations; `key` lets expectations choose rows by
/// it; `record` names the key of `record` without which the table does not have the column.
///
/// ```
/// mumakil_results::table! {
///     /// How often each node was struck.
///     "strikes.csv" pub struct StrikeRow {
///         /// The node.
///         node: mumakil_results::tables::CellText,
///         /// How often.
///         times: u32,
///     }
/// }
/// ```
#[macro_export]
macro_rules! table {
    (
        $(#[doc = $story:literal])*
        $(#[derive($($Trait:ident),*)])?
        $file:literal $visibility:vis struct $Row:ident {
            $(
                $(#[doc = $about:literal])*
                $(#[quantity = $quantity:literal])?
                $(#[key = $key:literal])?
                $(#[record = $record:literal])?
                $column:ident: $Type:ty,
            )*
        }
    ) => {
        $(#[doc = $story])*
        #[derive(Clone, Debug, PartialEq, $($($Trait),*)?)]
        $visibility struct $Row {
            $($(#[doc = $about])* pub $column: $Type,)*
        }

        impl $crate::tables::TableRow for $Row {
            const FILE: &'static str = $file;
            const ABOUT: &'static str = concat!($($story),*).trim_ascii();
            const COLUMNS: &'static [$crate::tables::Column<Self>] = &[$(
                $crate::tables::Column {
                    info: $crate::tables::ColumnInfo {
                        name: stringify!($column),
                        about: concat!($($about),*).trim_ascii(),
                        kind: <$Type as $crate::tables::TableCell>::KIND,
                        may_be_empty: <$Type as $crate::tables::TableCell>::MAY_BE_EMPTY,
                        quantity: [$(Some($quantity),)? None][0],
                        key: [$(Some($key),)? None][0],
                        record: [$(Some($record),)? None][0],
                    },
                    value: |row: &Self| $crate::tables::TableCell::value(&row.$column),
                },
            )*];

            fn read(mut cells: $crate::tables::Cells<'_>) -> Result<Self, String> {
                Ok(Self { $($column: cells.next(stringify!($column))?,)* })
            }
        }
    };
}
