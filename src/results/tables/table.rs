//! A table of a run's folder: its columns, told once.

use std::ops::Range;

use serde::ser::SerializeTuple;
use serde::{Serialize, Serializer};

use super::cell::{CellKind, CellValue, TableCell};

/// A row of a table; [`table!`](crate::table) makes such types.
pub trait TableRow: Sized + 'static {
    /// The name of the table's file.
    const FILE: &'static str;
    /// The description of the table.
    const ABOUT: &'static str;
    /// The columns, in their order.
    const COLUMNS: &'static [Column<Self>];

    /// Makes a row of its cells.
    ///
    /// # Errors
    /// If a cell holds what its column cannot.
    fn read(cells: Cells<'_>) -> Result<Self, String>;
}

/// A column of a table.
#[derive(Debug)]
pub struct Column<R> {
    /// Its name and description, and its use in expectations.
    pub info: ColumnInfo,
    /// Returns the cell of a row.
    pub value: fn(&R) -> CellValue<'_>,
}

/// A column's name, kind and meaning.
#[derive(Clone, Copy, Debug)]
pub struct ColumnInfo {
    /// Its name in the heading. A column of times ends in `_ms`.
    pub name: &'static str,
    /// Its description.
    pub about: &'static str,
    /// The kind of its values.
    pub kind: CellKind,
    /// Whether it may hold nothing.
    pub may_be_empty: bool,
    /// The quantity of expectations that its numbers are.
    pub quantity: Option<&'static str>,
    /// The key by which expectations choose rows by it.
    pub key: Option<&'static str>,
}

/// A table without its rows.
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
    /// Returns what is known of a table.
    pub fn of<R: TableRow>() -> Self {
        let columns = R::COLUMNS.iter().map(|column| column.info).collect();
        Self { file: R::FILE, about: R::ABOUT, columns }
    }
}

impl ColumnInfo {
    /// Returns whether it holds times.
    pub fn is_time(&self) -> bool {
        self.name.ends_with("_ms")
    }
}

/// The cells of a row as they stand in a file.
#[derive(Debug)]
pub struct Cells<'a> {
    record: &'a csv::StringRecord,
    /// Where each column stands; `None` for one that the file lacks and that may be empty.
    places: &'a [Option<usize>],
    next: Range<usize>,
}

impl<'a> Cells<'a> {
    pub(super) fn new(record: &'a csv::StringRecord, places: &'a [Option<usize>]) -> Self {
        Self { record, places, next: 0..places.len() }
    }

    /// Reads the cell of the next column, which has this name.
    ///
    /// # Errors
    /// If it holds what the column cannot.
    pub fn next<T: TableCell>(&mut self, column: &str) -> Result<T, String> {
        let place = self.next.next().and_then(|column| self.places[column]);
        // A missing column reads as an empty cell; `places` has let through only those that may be
        // empty.
        let text = place.and_then(|place| self.record.get(place)).unwrap_or_default();
        T::read(text).map_err(|expected| format!("column `{column}`: `{text}` is not {expected}"))
    }
}

/// A row as its cells, to be written.
#[derive(Debug)]
pub struct InCells<'a, R>(pub &'a R);

impl<R: TableRow> Serialize for InCells<'_, R> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut cells = to.serialize_tuple(R::COLUMNS.len())?;
        for column in R::COLUMNS {
            cells.serialize_element(&(column.value)(self.0))?;
        }
        cells.end()
    }
}

/// Declares the rows of a table: the file, and for each column its name, its type and what it means.
/// `quantity` makes its numbers a quantity of expectations, `key` lets expectations choose rows by it.
///
/// ```
/// mumakil_results::table! {
///     /// How often each node was struck.
///     "strikes.csv" pub struct StrikeRow {
///         /// The node.
///         node: mumakil_results::tables::Text,
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
