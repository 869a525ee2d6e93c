//! `faults.csv`: what befell machines, a row for each change, in the order of time. A run in which
//! nothing does has no such file.
//!
//! The speeds are those from then on, of what they usually are.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::Serialize;

use super::table::Table;
use super::{Books, End, NodeLabel, RecordError, Watcher};
use crate::cluster::Speeds;
use crate::files;
use crate::mapred::{Event, Fact, Incident};

const HEADING: &[&str] = &["at_ms", "node", "rack", "what", "cpu", "disk", "network"];

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
}

impl Faults {
    /// Returns the table of a folder, which is not there yet.
    pub(super) fn new(folder: &Path, labels: Arc<[NodeLabel]>) -> Self {
        Self { folder: folder.to_owned(), labels, table: None }
    }
}

impl Watcher for Faults {
    fn see(&mut self, event: &Event, _: &Books) -> Result<(), RecordError> {
        let Fact::Incident { tracker, incident } = event.fact else { return Ok(()) };
        let speeds = match incident {
            Incident::Speeds(speeds) => Some(speeds),
            Incident::MachineOff
            | Incident::MachineOn
            | Incident::TrackerGone
            | Incident::TrackerBack
            | Incident::DiskLost => None,
        };
        let NodeLabel { node, rack } = &self.labels[tracker.index()];
        let table = match &mut self.table {
            Some(table) => table,
            None => self.table.insert(Table::create(&self.folder, files::FAULTS, HEADING)?),
        };
        table.row(Row {
            at_ms: event.at.as_millis(),
            node,
            rack,
            what: incident.words(),
            cpu: speeds.map(|Speeds { cpu, .. }| cpu),
            disk: speeds.map(|Speeds { disk, .. }| disk),
            network: speeds.map(|Speeds { network, .. }| network),
        })
    }

    fn finish(&mut self, _: &End<'_>) -> Result<(), RecordError> {
        self.table.as_mut().map_or(Ok(()), Table::finish)
    }
}
