//! Tables as Parquet, for runs with millions of attempts.
//!
//! A column of whole numbers becomes one of 64-bit integers, any other a column of texts; what is
//! empty in the CSV is null. The table is read twice: once to see what its columns are.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use parquet::basic::{Compression, LogicalType, Repetition, Type as Physical};
use parquet::data_type::{ByteArray, ByteArrayType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::Type;

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

/// Writes a table, such as `tasks.csv`, as a Parquet file.
///
/// # Errors
/// If either cannot be read or written.
pub fn write_parquet(table: &Path, to: &Path) -> Result<(), ParquetTableError> {
    let names: Vec<String> =
        csv::Reader::from_path(table)?.headers()?.iter().map(str::to_owned).collect();
    let are_numbers = numbers(table, names.len())?;
    let fields = names.iter().zip(&are_numbers).map(|(name, is_number)| {
        let (physical, logical) = match is_number {
            true => (Physical::INT64, None),
            false => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
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
        for (place, is_number) in are_numbers.iter().enumerate() {
            let cells = || chunk.iter().map(|row| row.get(place).unwrap_or_default());
            let there: Vec<i16> = cells().map(|cell| i16::from(!cell.is_empty())).collect();
            let full = || cells().filter(|cell| !cell.is_empty());
            let Some(mut column) = group.next_column()? else { break };
            if *is_number {
                let values: Vec<i64> = full().filter_map(|cell| cell.parse().ok()).collect();
                column.typed::<Int64Type>().write_batch(&values, Some(&there), None)?;
            } else {
                let values: Vec<ByteArray> = full().map(ByteArray::from).collect();
                column.typed::<ByteArrayType>().write_batch(&values, Some(&there), None)?;
            }
            column.close()?;
        }
        group.close()?;
    }
    writer.close()?;
    Ok(())
}

/// Returns for each column whether all that is in it is a whole number.
fn numbers(table: &Path, columns: usize) -> Result<Vec<bool>, csv::Error> {
    let mut are_numbers = vec![true; columns];
    let mut row = csv::StringRecord::new();
    let mut reader = csv::Reader::from_path(table)?;
    while reader.read_record(&mut row)? {
        for (is_number, cell) in are_numbers.iter_mut().zip(&row) {
            *is_number &= cell.is_empty() || cell.parse::<i64>().is_ok();
        }
    }
    Ok(are_numbers)
}

#[cfg(test)]
mod tests {
    use parquet::file::reader::{FileReader, SerializedFileReader};

    use super::*;

    #[test]
    fn numbers_texts_and_nothing_come_back() {
        let room = tempfile::tempdir().unwrap();
        let (table, file) = (room.path().join("t.csv"), room.path().join("t.parquet"));
        std::fs::write(&table, "job,name,ms\n0,a,12\n1,b,\n2,,7\n").unwrap();
        write_parquet(&table, &file).unwrap();
        let reader = SerializedFileReader::new(File::open(&file).unwrap()).unwrap();
        let rows: Vec<String> =
            reader.get_row_iter(None).unwrap().map(|row| row.unwrap().to_string()).collect();
        assert_eq!(
            rows,
            [
                "{job: 0, name: \"a\", ms: 12}",
                "{job: 1, name: \"b\", ms: null}",
                "{job: 2, name: null, ms: 7}",
            ]
        );
    }
}
