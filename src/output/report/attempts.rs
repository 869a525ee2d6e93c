//! What ran where and when, from `tasks.csv`: attempts in the slots of their nodes.
//!
//! The table does not say which slot of its node an attempt had, and nobody cares: it is shown on
//! the lowest lane that is free. A suspended attempt keeps its lane, so that a node can have more
//! lanes than slots.

use indexmap::IndexMap;
use rustc_hash::FxHashMap;

use super::jobs::JobRow;
use crate::chart::{Axis, Caption, Drawing, Gantt, GanttBar, GanttRow, Unit};
use crate::cluster::Topology;
use crate::expect::{ReadError, Results, Row, Table};
use crate::mapred::{Outcome, PerSlot, SlotKind};
use crate::record::Place;

const COLUMNS: [&str; 9] =
    ["job", "kind", "task", "attempt", "node", "start_ms", "finish_ms", "outcome", "suspended_ms"];

/// More attempts than this are not read into memory.
pub(super) const MOST_ATTEMPTS: u64 = 200_000;

/// More slots than this cannot be told apart.
pub(super) const MOST_SLOTS: u64 = 2_000;

/// What the chart is made of, beside the table.
pub(super) struct Attempts<'a> {
    pub(super) jobs: &'a [JobRow],
    pub(super) topology: &'a Topology,
    /// What outputs call the nodes.
    pub(super) places: &'a [Place],
    /// When the run ended, in milliseconds.
    pub(super) until: f64,
}

/// An attempt; times are in milliseconds.
struct Attempt {
    node: usize,
    slot: SlotKind,
    start: f64,
    end: f64,
    outcome: Option<Outcome>,
    suspended: f64,
    label: String,
}

impl Attempts<'_> {
    pub(super) fn draw(&self, results: &dyn Results) -> Result<Drawing, ReadError> {
        let mut attempts = self.read(results)?;
        // Of an instant the table's order holds.
        attempts.sort_by(|a, b| a.start.total_cmp(&b.start));
        let mut ends: Vec<PerSlot<Vec<f64>>> = self.idle();
        let lanes: Vec<usize> = attempts
            .iter()
            .map(|attempt| take_lane(&mut ends[attempt.node][attempt.slot], attempt))
            .collect();
        let (rows, first) = self.rows(&ends);
        let bar = |(attempt, lane): (Attempt, usize)| GanttBar {
            row: first[attempt.node][attempt.slot] + lane,
            start: attempt.start / 1e3,
            end: attempt.end / 1e3,
            kind: attempt.slot,
            outcome: attempt.outcome,
            suspended: attempt.suspended / 1e3,
            label: attempt.label,
        };
        let caption = Caption {
            id: "attempts".to_owned(),
            title: "What ran where and when".to_owned(),
            description: "The attempts of each slot over time, rack by rack and node by node."
                .to_owned(),
        };
        let x = Axis::linear("Time", Unit::Seconds);
        let bars = attempts.into_iter().zip(lanes).map(bar).collect();
        Ok(Gantt { caption, x, rows, bars }.draw())
    }

    fn read(&self, results: &dyn Results) -> Result<Vec<Attempt>, ReadError> {
        let names: FxHashMap<u32, &str> =
            self.jobs.iter().map(|job| (job.id, job.name.as_str())).collect();
        let nodes: FxHashMap<&str, usize> = self
            .places
            .iter()
            .enumerate()
            .map(|(node, place)| (place.node.as_str(), node))
            .collect();
        let mut attempts = Vec::new();
        results.rows(Table::Tasks, &COLUMNS, &mut |row| {
            // What never started was nowhere.
            if let (Some(node), Some(start)) = (nodes.get(row.text(4)), row.number(5)?) {
                let name = names.get(&row.id(0)?).copied().unwrap_or("a job");
                attempts.push(self.attempt(row, *node, start, name)?);
            }
            Ok(())
        })?;
        Ok(attempts)
    }

    fn attempt(
        &self,
        row: &Row<'_>,
        node: usize,
        start: f64,
        name: &str,
    ) -> Result<Attempt, String> {
        let (kind, task, number) = (row.text(1), row.text(2), row.text(3));
        // Setup and cleanup have a task for each kind of slot.
        let slot = match (kind, task) {
            ("map", _) | ("setup" | "cleanup", "0") => SlotKind::Map,
            _ => SlotKind::Reduce,
        };
        let again = if number == "0" { String::new() } else { format!(", attempt {number}") };
        Ok(Attempt {
            node,
            slot,
            start,
            end: row.number(6)?.unwrap_or(self.until).max(start),
            outcome: match row.text(7) {
                "succeeded" => Some(Outcome::Succeeded),
                "failed" => Some(Outcome::Failed),
                "killed" => Some(Outcome::Killed),
                _ => None,
            },
            suspended: row.number(8)?.unwrap_or_default(),
            label: format!("{name} {kind} {task}{again}"),
        })
    }

    /// Returns the lanes of each node, one for each of its slots.
    fn idle(&self) -> Vec<PerSlot<Vec<f64>>> {
        let lanes = |slots: u32| vec![0.0; slots as usize];
        let nodes = self.topology.nodes();
        nodes
            .map(|(_, node)| PerSlot {
                map: lanes(node.slots.map),
                reduce: lanes(node.slots.reduce),
            })
            .collect()
    }

    /// Returns the rows of the chart, rack by rack, and where those of each node begin.
    fn rows(&self, lanes: &[PerSlot<Vec<f64>>]) -> (Vec<GanttRow>, Vec<PerSlot<usize>>) {
        let mut racks: IndexMap<&str, Vec<usize>> = IndexMap::new();
        for (node, place) in self.places.iter().enumerate() {
            racks.entry(&place.rack).or_default().push(node);
        }
        let mut rows = Vec::new();
        let mut first = vec![PerSlot::default(); lanes.len()];
        for (rack, nodes) in racks {
            for node in nodes {
                for kind in SlotKind::BOTH {
                    first[node][kind] = rows.len();
                    let row = GanttRow {
                        group: rack.to_owned(),
                        node: self.places[node].node.clone(),
                        kind,
                    };
                    rows.extend(vec![row; lanes[node][kind].len()]);
                }
            }
        }
        (rows, first)
    }
}

/// Takes the lowest lane that is free for an attempt, or a new one.
fn take_lane(ends: &mut Vec<f64>, attempt: &Attempt) -> usize {
    let lane = ends.iter().position(|end| *end <= attempt.start).unwrap_or(ends.len());
    if lane == ends.len() {
        ends.push(0.0);
    }
    ends[lane] = attempt.end;
    lane
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attempts_that_overlap_have_lanes_of_their_own() {
        let attempt = |start, end| Attempt {
            node: 0,
            slot: SlotKind::Map,
            start,
            end,
            outcome: None,
            suspended: 0.0,
            label: String::new(),
        };
        let mut ends = vec![0.0];
        let attempts = [attempt(0.0, 5.0), attempt(2.0, 3.0), attempt(3.0, 9.0), attempt(5.0, 6.0)];
        let lanes = attempts.iter().map(|attempt| take_lane(&mut ends, attempt));
        assert_eq!(lanes.collect::<Vec<_>>(), [0, 1, 1, 0]);
    }
}
