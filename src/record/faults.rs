//! `faults.csv`: what befell machines and the JobTracker's process, a row for each change, in the order
//! of time. A run in which nothing does has no such file.
//!
//! The speeds are those from then on, of what they usually are. The blocks and bytes are those that are
//! copied again because of the node.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::Serialize;

use super::incident::Details;
use super::table::Table;
use super::{Books, End, NodeLabel, RecordError, Watcher};
use crate::cluster::Speeds;
use crate::files;
use crate::mapred::{Event, Fact, Incident, WorldFact};

const HEADING: &[&str] =
    &["at_ms", "node", "rack", "what", "cpu", "disk", "network", "attempt", "blocks", "bytes"];

/// Writes `faults.csv`.
#[derive(Debug)]
pub(super) struct Faults {
    folder: PathBuf,
    labels: Arc<[NodeLabel]>,
    /// Created with the first row.
    table: Option<Table>,
}

/// A row, in the order of the heading.
#[derive(Serialize)]
struct Row<'a> {
    at_ms: u64,
    node: &'a str,
    rack: &'a str,
    what: &'a str,
    cpu: Option<f64>,
    disk: Option<f64>,
    network: Option<f64>,
    attempt: Option<String>,
    blocks: Option<u32>,
    bytes: Option<u64>,
}

impl Faults {
    /// Returns the table of a folder, which is not there yet.
    pub(super) fn new(folder: &Path, labels: Arc<[NodeLabel]>) -> Self {
        Self { folder: folder.to_owned(), labels, table: None }
    }
}

impl Watcher for Faults {
    fn see(&mut self, event: &Event, _: &Books) -> Result<(), RecordError> {
        let Fact::World(WorldFact::Incident { tracker, incident }) = event.fact else {
            return Ok(());
        };
        let what = Details::of(incident);
        let label = tracker.map(|tracker| &self.labels[tracker.index()]);
        let table = match &mut self.table {
            Some(table) => table,
            None => self.table.insert(Table::create(&self.folder, files::FAULTS, HEADING)?),
        };
        table.row(Row {
            at_ms: event.at.as_millis(),
            node: label.map_or(Incident::OF_JOBTRACKER, |label| &label.node),
            rack: label.map_or("", |label| &label.rack),
            what: incident.words(),
            cpu: what.speeds.map(|Speeds { cpu, .. }| cpu),
            disk: what.speeds.map(|Speeds { disk, .. }| disk),
            network: what.speeds.map(|Speeds { network, .. }| network),
            attempt: what.attempt.map(|attempt| attempt.to_string()),
            blocks: what.copies.map(|(blocks, _)| blocks),
            bytes: what.copies.map(|(_, bytes)| bytes.get()),
        })
    }

    fn finish(&mut self, _: &End<'_>) -> Result<(), RecordError> {
        self.table.as_mut().map_or(Ok(()), Table::finish)
    }
}
