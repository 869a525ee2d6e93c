//! `faults.csv`: incidents on machines and on the JobTracker's process, in the order of time. A run
//! without incidents has no such file.
//!
//! Speeds are factors of the usual speeds and hold from the incident on. Blocks and bytes count the
//! copies that HDFS makes again because of the node.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::incident::IncidentDetails;
use super::table::TableWriter;
use super::{NodeLabel, RecordError, RunBooks, RunEnd, Watcher};
use mumakil_core::cluster::Speeds;
use mumakil_core::mapred::{Event, Fact, Incident, WorldFact};
use mumakil_results::tables::{CellText, FaultRow};

/// Writes `faults.csv`.
#[derive(Debug)]
pub(super) struct Faults {
    folder: PathBuf,
    labels: Arc<[NodeLabel]>,
    /// The table; `None` before the first row.
    table: Option<TableWriter<FaultRow>>,
}

impl Faults {
    /// Returns a writer of the table; the first row creates the file.
    pub(super) fn new(folder: &Path, labels: Arc<[NodeLabel]>) -> Self {
        Self { folder: folder.to_owned(), labels, table: None }
    }
}

impl Watcher for Faults {
    fn see(&mut self, event: &Event, _: &RunBooks) -> Result<(), RecordError> {
        let Fact::World(WorldFact::Incident { tracker, incident }) = event.fact else {
            return Ok(());
        };
        let what = IncidentDetails::of(incident);
        // An incident without a tracker concerns the JobTracker's process.
        let label = tracker.map(|tracker| &self.labels[tracker.index()]);
        let table = match &mut self.table {
            Some(table) => table,
            None => self.table.insert(TableWriter::create(&self.folder)?),
        };
        table.row(&FaultRow {
            at_ms: event.at.as_millis(),
            node: label.map_or(Incident::OF_JOBTRACKER, |label| &label.node).into(),
            rack: label.map_or("", |label| &label.rack).into(),
            what: incident.words().into(),
            cpu: what.speeds.map(|Speeds { cpu, .. }| cpu),
            disk: what.speeds.map(|Speeds { disk, .. }| disk),
            network: what.speeds.map(|Speeds { network, .. }| network),
            attempt: what
                .attempt
                .map_or_else(CellText::default, |attempt| attempt.to_string().into()),
            blocks: what.copies.map(|(blocks, _)| blocks),
            bytes: what.copies.map(|(_, bytes)| bytes.get()),
        })
    }

    fn finish(&mut self, _: &RunEnd<'_>) -> Result<(), RecordError> {
        self.table.as_mut().map_or(Ok(()), TableWriter::finish)
    }
}
