//! Tables as Parquet, for runs with millions of attempts.
//!
//! A column of whole numbers becomes one of 64-bit integers, one of `true` and `false` of booleans,
//! any other of texts; what is empty in the CSV is null. The table is read twice: once to see what
//! its columns are.

use std::path::Path;
use std::sync::Arc;

use parquet::basic::{Compression, LogicalType, Repetition, Type as Physical};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::Type;

use crate::disk::File;

/// Rows that are in memory at a time.
const ROWS: usize = 1 << 16;

/// Why a table could not be written as Parquet.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ParquetTableError {
    /// The table cannot be read.
    #[error("cannot read the table")]
    Read(#[from] csv::Error),
    /// The file cannot be written.
    #[error("cannot write the Parquet file")]
    Write(#[from] ParquetError),
    /// The file cannot be created.
    #[error("cannot create the Parquet file")]
    Create(#[from] std::io::Error),
}

/// What is in a column.
#[derive(Clone, Copy, Debug)]
enum Kind {
    Number,
    Truth,
    Text,
}

impl Kind {
    fn holds(self, cell: &str) -> bool {
        match self {
            _ if cell.is_empty() => true,
            Self::Number => cell.parse::<i64>().is_ok(),
            Self::Truth => matches!(cell, "true" | "false"),
            Self::Text => true,
        }
    }
}

/// Writes a table, such as `tasks.csv`, as a Parquet file.
///
/// # Errors
/// If either cannot be read or written.
pub fn write_parquet(table: &Path, to: &Path) -> Result<(), ParquetTableError> {
    let names: Vec<String> =
        csv::Reader::from_path(table)?.headers()?.iter().map(str::to_owned).collect();
    let kinds = kinds(table, names.len())?;
    let fields = names.iter().zip(&kinds).map(|(name, kind)| {
        let (physical, logical) = match kind {
            Kind::Number => (Physical::INT64, None),
            Kind::Truth => (Physical::BOOLEAN, None),
            Kind::Text => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
        };
        let field = Type::primitive_type_builder(name, physical);
        let field = field.with_repetition(Repetition::OPTIONAL).with_logical_type(logical);
        field.build().map(Arc::new)
    });
    let fields = fields.collect::<Result<Vec<_>, _>>()?;
    let schema = Type::group_type_builder("table").with_fields(fields).build()?;
    let properties = WriterProperties::builder().set_compression(Compression::UNCOMPRESSED).build();
    let mut writer =
        SerializedFileWriter::new(File::create(to)?, Arc::new(schema), Arc::new(properties))?;
    let mut rows = csv::Reader::from_path(table)?.into_records();
    loop {
        let chunk = rows.by_ref().take(ROWS).collect::<Result<Vec<_>, _>>()?;
        if chunk.is_empty() {
            break;
        }
        let mut group = writer.next_row_group()?;
        for (place, kind) in kinds.iter().enumerate() {
            let cells = || chunk.iter().map(|row| row.get(place).unwrap_or_default());
            let there: Vec<i16> = cells().map(|cell| i16::from(!cell.is_empty())).collect();
            let full = || cells().filter(|cell| !cell.is_empty());
            let Some(mut column) = group.next_column()? else { break };
            match kind {
                Kind::Number => {
                    let values: Vec<i64> = full().filter_map(|cell| cell.parse().ok()).collect();
                    column.typed::<Int64Type>().write_batch(&values, Some(&there), None)?;
                }
                Kind::Truth => {
                    let values: Vec<bool> = full().map(|cell| cell == "true").collect();
                    column.typed::<BoolType>().write_batch(&values, Some(&there), None)?;
                }
                Kind::Text => {
                    let values: Vec<ByteArray> = full().map(ByteArray::from).collect();
                    column.typed::<ByteArrayType>().write_batch(&values, Some(&there), None)?;
                }
            }
            column.close()?;
        }
        group.close()?;
    }
    writer.close()?;
    Ok(())
}

/// Returns for each column the first kind that holds all that is in it.
fn kinds(table: &Path, columns: usize) -> Result<Vec<Kind>, csv::Error> {
    let mut possible = vec![vec![Kind::Number, Kind::Truth, Kind::Text]; columns];
    let mut row = csv::StringRecord::new();
    let mut reader = csv::Reader::from_path(table)?;
    while reader.read_record(&mut row)? {
        for (kinds, cell) in possible.iter_mut().zip(&row) {
            kinds.retain(|kind| kind.holds(cell));
        }
    }
    Ok(possible.into_iter().map(|kinds| kinds[0]).collect())
}

#[cfg(test)]
mod tests {
    use parquet::file::reader::{FileReader, SerializedFileReader};

    use super::*;

    /// Returns the rows of a table that has been a file of Parquet.
    fn read_back(csv: &str) -> Vec<String> {
        let room = tempfile::tempdir().unwrap();
        let (table, file) = (room.path().join("t.csv"), room.path().join("t.parquet"));
        std::fs::write(&table, csv).unwrap();
        write_parquet(&table, &file).unwrap();
        let reader = SerializedFileReader::new(std::fs::File::open(&file).unwrap()).unwrap();
        reader.get_row_iter(None).unwrap().map(|row| row.unwrap().to_string()).collect()
    }

    #[test]
    fn numbers_texts_and_nothing_come_back() {
        assert_eq!(
            read_back("job,name,ms\n0,a,12\n1,b,\n2,,7\n"),
            [
                "{job: 0, name: \"a\", ms: 12}",
                "{job: 1, name: \"b\", ms: null}",
                "{job: 2, name: null, ms: 7}",
            ]
        );
    }

    #[test]
    fn truths_are_booleans_and_other_words_are_not() {
        assert_eq!(
            read_back("a,b\ntrue,true\n,maybe\nfalse,false\n"),
            ["{a: true, b: \"true\"}", "{a: null, b: \"maybe\"}", "{a: false, b: \"false\"}"]
        );
    }
}
