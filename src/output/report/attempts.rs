//! What ran where and when, from `tasks.csv`: attempts in the slots of their nodes.
//!
//! The table does not say which slot of its node an attempt had, and nobody cares: it is shown on
//! the lowest lane that is free. A suspended attempt keeps its lane, so that a node can have more
//! lanes than slots.

use indexmap::IndexMap;
use rustc_hash::FxHashMap;

use super::jobs::JobRow;
use super::{RunReport, charted, count};
use crate::chart::{Axis, Caption, Drawing, Gantt, GanttBar, GanttRow, GanttStyle, Paint, Unit};
use crate::cluster::Topology;
use crate::expect::{ReadError, Results, Row, Table};
use crate::files::TASKS;
use crate::mapred::{Outcome, PerSlot, SlotKind};
use crate::page::Block;
use crate::record::{NodeLabel, Summary};

const COLUMNS: [&str; 9] =
    ["job", "kind", "task", "attempt", "node", "start_ms", "finish_ms", "outcome", "suspended_ms"];

/// More attempts than this are not read into memory.
const MOST_ATTEMPTS: u64 = 200_000;

/// More slots than this cannot be told apart.
const MOST_SLOTS: u64 = 2_000;

/// What the chart is made of, beside the table.
struct Attempts<'a> {
    jobs: &'a [JobRow],
    topology: &'a Topology,
    /// What outputs call the nodes.
    labels: &'a [NodeLabel],
    /// When the run ended, in milliseconds.
    until: f64,
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

/// How an attempt looks, in the order in which they are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Look {
    Map,
    Reduce,
    KilledMap,
    KilledReduce,
    Failed,
}

impl Look {
    const ALL: [Self; 5] =
        [Self::Map, Self::Reduce, Self::KilledMap, Self::KilledReduce, Self::Failed];

    fn of(attempt: &Attempt) -> Self {
        match (attempt.outcome, attempt.slot) {
            (Some(Outcome::Failed), _) => Self::Failed,
            (Some(Outcome::Killed), SlotKind::Map) => Self::KilledMap,
            (Some(Outcome::Killed), SlotKind::Reduce) => Self::KilledReduce,
            (Some(Outcome::Succeeded) | None, SlotKind::Map) => Self::Map,
            (Some(Outcome::Succeeded) | None, SlotKind::Reduce) => Self::Reduce,
        }
    }

    fn style(self) -> GanttStyle {
        // Blue and orange, which everybody tells apart.
        const MAP: usize = 0;
        const REDUCE: usize = 4;
        let (name, paint) = match self {
            Self::Map => ("map", Paint::Full(MAP)),
            Self::Reduce => ("reduce", Paint::Full(REDUCE)),
            Self::KilledMap => ("map, killed", Paint::Pale(MAP)),
            Self::KilledReduce => ("reduce, killed", Paint::Pale(REDUCE)),
            Self::Failed => ("failed", Paint::Ink),
        };
        GanttStyle { name: name.to_owned(), paint }
    }
}

pub(super) fn blocks(run: &RunReport<'_>, jobs: &[JobRow]) -> Result<Vec<Block>, ReadError> {
    if !run.scenario.record.tasks {
        return Ok(Vec::new());
    }
    let Summary { map_slots, reduce_slots, virtual_s, .. } = *run.summary;
    let tasks = |job: &JobRow| [job.maps, job.reduces, job.failed, job.killed].map(u64::from);
    let attempts: u64 = jobs.iter().flat_map(tasks).sum();
    for (all, most, what) in
        [(map_slots + reduce_slots, MOST_SLOTS, "slots"), (attempts, MOST_ATTEMPTS, "attempts")]
    {
        if most < all {
            return Ok(vec![Block::Text(format!(
                "What ran where and when is not drawn: there are {} {what}, more than {}. \
                 `{TASKS}` has all of it, and so has the trace of `mumakil run --perfetto`.",
                count(all as f64),
                count(most as f64)
            ))]);
        }
    }
    let (topology, labels) = (run.topology, run.labels);
    let attempts = Attempts { jobs, topology, labels, until: virtual_s * 1e3 };
    Ok(charted([attempts.draw(run.results)?]))
}

impl Attempts<'_> {
    fn draw(&self, results: &dyn Results) -> Result<Drawing, ReadError> {
        let mut attempts = self.read(results)?;
        // Of an instant the table's order holds.
        attempts.sort_by(|a, b| a.start.total_cmp(&b.start));
        let mut ends: Vec<PerSlot<Vec<f64>>> = self.idle();
        let lanes: Vec<usize> = attempts
            .iter()
            .map(|attempt| take_lane(&mut ends[attempt.node][attempt.slot], attempt))
            .collect();
        let (rows, first) = self.rows(&ends);
        let suspended = attempts.iter().filter(|attempt| 0.0 < attempt.suspended).count();
        let bar = |(attempt, lane): (Attempt, usize)| GanttBar {
            row: first[attempt.node][attempt.slot] + lane,
            style: Look::of(&attempt) as usize,
            start: attempt.start / 1e3,
            end: attempt.end / 1e3,
            remark: remark(&attempt),
            label: attempt.label,
        };
        let caption = Caption {
            id: "attempts".to_owned(),
            title: "What ran where and when".to_owned(),
            description: "The attempts of each slot over time, rack by rack and node by node."
                .to_owned(),
        };
        let x = Axis::linear("Time", Unit::Seconds);
        let chart = Gantt {
            caption,
            x,
            rows_are: "slots".to_owned(),
            bars_are: "attempts".to_owned(),
            rows,
            styles: Look::ALL.map(Look::style).into(),
            bars: attempts.into_iter().zip(lanes).map(bar).collect(),
            notes: note_suspended(suspended).into_iter().collect(),
        };
        Ok(chart.draw())
    }

    fn read(&self, results: &dyn Results) -> Result<Vec<Attempt>, ReadError> {
        let names: FxHashMap<u32, &str> =
            self.jobs.iter().map(|job| (job.id, job.name.as_str())).collect();
        let nodes: FxHashMap<&str, usize> = self
            .labels
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
            ("map" | "map-cleanup", _) | ("setup" | "cleanup", "0") => SlotKind::Map,
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
        for (node, place) in self.labels.iter().enumerate() {
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
                        owner: self.labels[node].node.clone(),
                        name: kind.word().to_owned(),
                    };
                    rows.extend(vec![row; lanes[node][kind].len()]);
                }
            }
        }
        (rows, first)
    }
}

/// Returns what became of an attempt, as its bar tells it.
fn remark(attempt: &Attempt) -> String {
    let end = match attempt.outcome {
        Some(Outcome::Succeeded) => "succeeded",
        Some(Outcome::Failed) => "failed",
        Some(Outcome::Killed) => "killed",
        None => "still running",
    };
    match attempt.suspended {
        span if 0.0 < span => {
            format!("suspended for {} of it, {end}", Unit::Seconds.text(span / 1e3))
        }
        _ => end.to_owned(),
    }
}

/// Says how many attempts were suspended. When they were is not known, so that it cannot be drawn.
fn note_suspended(attempts: usize) -> Option<String> {
    let (were, bars) = match attempts {
        0 => return None,
        1 => ("was", "its bar runs"),
        _ => ("were", "their bars run"),
    };
    let attempts = count(attempts as f64);
    Some(format!(
        "{attempts} of the attempts {were} suspended in between; {bars} on over that time."
    ))
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
    fn suspended_attempts_are_told() {
        let attempt = Attempt {
            node: 0,
            slot: SlotKind::Map,
            start: 0.0,
            end: 90e3,
            outcome: Some(Outcome::Succeeded),
            suspended: 20e3,
            label: String::new(),
        };
        assert_eq!(remark(&attempt), "suspended for 20 s of it, succeeded");
        let never = Attempt { suspended: 0.0, ..attempt };
        assert_eq!(remark(&never), "succeeded");
        assert_eq!(note_suspended(0), None);
        let one = note_suspended(1).unwrap();
        assert!(one.starts_with("1 of the attempts was suspended in between; its bar runs on"));
    }

    #[test]
    fn looks_are_numbered_as_they_are_listed() {
        for (number, look) in Look::ALL.into_iter().enumerate() {
            assert_eq!(look as usize, number);
        }
    }

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
