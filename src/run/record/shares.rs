//! `shares.csv`: the slots and shares of the policy's pools over time.

use std::path::Path;

use super::table::TableWriter;
use super::{RecordError, RunBooks, RunEnd, Watcher};
use mumakil_core::mapred::{Event, Fact, SlotShare};
use mumakil_results::tables::ShareRow;

/// Writes `shares.csv`.
struct Shares {
    table: TableWriter<ShareRow>,
}

/// Creates `shares.csv`.
pub fn shares_table(folder: &Path) -> Result<Box<dyn Watcher>, RecordError> {
    Ok(Box::new(Shares { table: TableWriter::create(folder)? }))
}

impl Watcher for Shares {
    fn see(&mut self, event: &Event, _: &RunBooks) -> Result<(), RecordError> {
        let Fact::Pool(pool, kind, standing) = &event.fact else { return Ok(()) };
        self.table.row(&ShareRow {
            time_ms: event.at.as_millis(),
            kind: *kind,
            pool: (&**pool).into(),
            held: standing.held,
            share: standing.share.map(SlotShare::slots),
            min_share: standing.min_share,
        })
    }

    fn finish(&mut self, _: &RunEnd<'_>) -> Result<(), RecordError> {
        self.table.finish()
    }
}
