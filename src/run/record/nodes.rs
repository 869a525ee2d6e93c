//! `nodes.csv`: the work of each node, and the bytes that came to it.

use std::path::Path;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::expenses::{ExpenseTally, Expenses};
use super::resources::{ResourceAreas, ResourceChange};
use super::summary::LevelArea;
use super::table::TableWriter;
use super::{BookedAttempt, NodeLabel, RecordError, ResourceShares, RunBooks, RunEnd, Watcher};
use mumakil_base::dense::grown;
use mumakil_base::units::SimTime;
use mumakil_core::cluster::{RackId, Topology};
use mumakil_core::mapred::{
    AttemptId, CopyMade, Event, Fact, JobFact, Locality, Outcome, PerSlot, SlotKind, TaskKind,
    TrackerFact, TrackerId, WorldFact,
};
use mumakil_results::tables::{NodeRow, SlotMillis};

/// Writes `nodes.csv` at the end of the run.
struct Nodes {
    table: TableWriter<NodeRow>,
    labels: Arc<[NodeLabel]>,
    topology: Arc<Topology>,
    nodes: Vec<NodeTally>,
    /// Where the successful maps of each job ran; `None` once the job has ended.
    outputs: Vec<Option<Box<MapPlaces>>>,
}

/// The work of one node.
#[derive(Debug, Default)]
struct NodeTally {
    row: NodeRow,
    /// Its slots at its first start; `None` before that.
    first: Option<PerSlot<u32>>,
    there: PerSlot<LevelArea>,
    held: PerSlot<LevelArea>,
    memory_and_cores: [ResourceAreas; 2],
}

/// How much output the successful maps of a job left on each node and in each rack, by
/// [`JobSpec::output_weight`](mumakil_core::mapred::JobSpec::output_weight).
#[derive(Debug, Default)]
struct MapPlaces {
    all: u64,
    nodes: FxHashMap<TrackerId, u64>,
    racks: FxHashMap<RackId, u64>,
}

/// Creates `nodes.csv`.
pub fn nodes_table(
    folder: &Path,
    labels: Arc<[NodeLabel]>,
    topology: Arc<Topology>,
) -> Result<Box<dyn Watcher>, RecordError> {
    let counts = (!topology.counted().are_only_slots()).then_some("by_node");
    let costs = ExpenseTally::has_expenses(&topology).then_some("expenses");
    let keys: Vec<&str> = counts.into_iter().chain(costs).collect();
    let table = TableWriter::with(folder, &keys)?;
    let nodes = labels.iter().map(|_| NodeTally::default()).collect();
    Ok(Box::new(Nodes { table, labels, topology, nodes, outputs: Vec::new() }))
}

impl Nodes {
    fn node(&mut self, tracker: TrackerId) -> &mut NodeTally {
        &mut self.nodes[tracker.index()]
    }

    fn slots_change(&mut self, at: SimTime, tracker: TrackerId, slots: PerSlot<u32>) {
        let node = self.node(tracker);
        for kind in SlotKind::BOTH {
            node.there[kind].set(at, slots[kind].into());
        }
    }

    /// Counts an attempt that is closed.
    fn close(&mut self, id: AttemptId, attempt: &BookedAttempt, books: &RunBooks) {
        let outcome = attempt.outcome();
        let tracker = attempt.tracker;
        let row = &mut self.node(tracker).row;
        row.attempts += 1;
        row.failed += u32::from(outcome == Some(Outcome::Failed));
        row.killed += u32::from(outcome == Some(Outcome::Killed));
        let Some(job) = books.job(id.task.job).filter(|_| outcome == Some(Outcome::Succeeded))
        else {
            return;
        };
        match id.task.kind {
            TaskKind::Map => {
                let distance = attempt.grant.and_then(|grant| grant.locality);
                if let (Some(input), Some(distance)) = (&job.spec.input, distance) {
                    let read = match distance {
                        Locality::Node => &mut row.input_node_bytes,
                        Locality::Rack => &mut row.input_rack_bytes,
                        Locality::OffRack => &mut row.input_off_rack_bytes,
                    };
                    *read += input.bytes(id.task.index, job.spec.maps).get();
                }
                // Without reduces nothing is fetched.
                if 0 < job.spec.reduces && job.ended.is_none() {
                    let rack = self.topology.rack(tracker);
                    let places = grown(&mut self.outputs, id.task.job.index());
                    let weight = job.spec.output_weight(id.task.index) as i64;
                    places.get_or_insert_default().add(tracker, rack, weight);
                }
            }
            TaskKind::Reduce => {
                let bytes = job.spec.reduce.shuffle.of(id.task.index).get();
                let rack = self.topology.rack(tracker);
                let places = self.outputs.get(id.task.job.index()).and_then(Option::as_deref);
                let [node, rack, off_rack] =
                    places.unwrap_or(&MapPlaces::default()).parts(bytes, tracker, rack);
                let row = &mut self.node(tracker).row;
                row.shuffle_node_bytes += node;
                row.shuffle_rack_bytes += rack;
                row.shuffle_off_rack_bytes += off_rack;
            }
            TaskKind::Setup | TaskKind::Cleanup => {}
        }
    }
}

impl NodeTally {
    fn row(self, label: &NodeLabel, ended: SimTime) -> NodeRow {
        let millis = |area: &LevelArea| SlotMillis((area.until(ended) / 1_000) as u64);
        let first = self.first.unwrap_or_default();
        let [there, resources] = &self.memory_and_cores;
        let ResourceShares { memory, cores } = ResourceShares::of(resources, there, ended);
        NodeRow {
            node: label.node.as_str().into(),
            rack: label.rack.as_str().into(),
            group: label.group.as_str().into(),
            map_slots: first.map,
            reduce_slots: first.reduce,
            map_slot_ms: millis(&self.there.map),
            map_busy_ms: millis(&self.held.map),
            reduce_slot_ms: millis(&self.there.reduce),
            reduce_busy_ms: millis(&self.held.reduce),
            memory_share: memory,
            cores_share: cores,
            ..self.row
        }
    }
}

impl MapPlaces {
    fn add(&mut self, node: TrackerId, rack: RackId, weight: i64) {
        let change = |all: &mut u64| *all = all.saturating_add_signed(weight);
        change(&mut self.all);
        change(self.nodes.entry(node).or_default());
        change(self.racks.entry(rack).or_default());
    }

    /// Returns how many of a reduce's bytes come from its own node, from other nodes of its rack,
    /// and from other racks.
    fn parts(&self, bytes: u64, node: TrackerId, rack: RackId) -> [u64; 3] {
        let [on_node, in_rack] = [self.nodes.get(&node), self.racks.get(&rack)]
            .map(|weight| u128::from(weight.copied().unwrap_or_default()));
        // On a scaled clock the end of a job may be known before that of its last reduce. Then its
        // maps are forgotten, and all bytes count as far.
        let of = |weight: u128| (u128::from(bytes) * weight / u128::from(self.all.max(1))) as u64;
        let (node, near) = (of(on_node), of(in_rack));
        [node, near.saturating_sub(node), bytes.saturating_sub(near)]
    }
}

impl Watcher for Nodes {
    fn see(&mut self, event: &Event, books: &RunBooks) -> Result<(), RecordError> {
        match event.fact {
            Fact::Tracker(tracker, TrackerFact::Up(slots)) => {
                self.slots_change(event.at, tracker, slots);
                self.node(tracker).first.get_or_insert(slots);
            }
            Fact::Tracker(tracker, TrackerFact::Down) => {
                self.slots_change(event.at, tracker, PerSlot::default());
            }
            Fact::World(WorldFact::Copy {
                tracker,
                made: Some(CopyMade { bytes, distance }),
                ..
            }) => {
                let row = &mut self.node(tracker).row;
                match distance {
                    Some(Locality::Node | Locality::Rack) => row.copies_rack_bytes += bytes.get(),
                    Some(Locality::OffRack) | None => row.copies_off_rack_bytes += bytes.get(),
                }
            }
            Fact::Job(job, JobFact::Ended(_)) => {
                if let Some(places) = self.outputs.get_mut(job.index()) {
                    *places = None;
                }
            }
            _ => {}
        }
        if let Some(change) = ResourceChange::of(event, books, &self.topology) {
            let [there, held] = &mut self.node(change.tracker).memory_and_cores;
            // A tracker that restarts brings nothing new.
            if change.pool.is_none() {
                there.iter_mut().for_each(|area| area.set(event.at, 0));
            }
            change.enter(event.at, if change.pool.is_none() { there } else { held });
        }
        if let Some(shift) = books.shift {
            let held = &mut self.node(shift.tracker).held[shift.task.slot()];
            held.add(event.at, shift.slots);
        }
        for (id, attempt) in &books.closed {
            if id.task.is_work() && attempt.has_work() {
                self.close(*id, attempt, books);
            }
        }
        // The map runs again elsewhere, and reduces fetch from there.
        if let Some((map, tracker)) = books.lost {
            let rack = self.topology.rack(tracker);
            let of = books.job(map.job());
            let weight = of.map_or(0, |job| job.spec.output_weight(map.task.index) as i64);
            if let Some(Some(places)) = self.outputs.get_mut(map.job().index()) {
                places.add(tracker, rack, -weight);
            }
        }
        Ok(())
    }

    fn finish(&mut self, end: &RunEnd<'_>) -> Result<(), RecordError> {
        for (id, attempt) in end.books.open() {
            if id.task.is_work() && attempt.ending.is_some() {
                self.close(id, attempt, end.books);
            }
        }
        let nodes = std::mem::take(&mut self.nodes);
        for ((node, label), id) in nodes.into_iter().zip(&*self.labels).zip(0..) {
            let of_node = end.expenses.map(|tally| tally.of_node(TrackerId(id), end.run.ended));
            let Expenses { energy_kwh, cost } = of_node.unwrap_or_default();
            self.table.row(&NodeRow { energy_kwh, cost, ..node.row(label, end.run.ended) })?;
        }
        self.table.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reduce_fetches_from_where_the_maps_ran_and_from_where_they_ran_again() {
        let (here, near, far) = (TrackerId(0), TrackerId(1), TrackerId(2));
        let (rack, other) = (RackId(0), RackId(1));
        let mut places = MapPlaces::default();
        for (node, rack, maps) in [(here, rack, 1), (near, rack, 2), (far, other, 5)] {
            (0..maps).for_each(|_| places.add(node, rack, 1));
        }
        assert_eq!(places.parts(800, here, rack), [100, 200, 500]);
        assert_eq!(places.parts(801, far, other), [500, 0, 301]);
        // The map of `here` is lost, and runs again on `far`.
        places.add(here, rack, -1);
        places.add(far, other, 1);
        assert_eq!(places.parts(800, here, rack), [0, 200, 600]);
        assert_eq!(MapPlaces::default().parts(7, here, rack), [0, 0, 7]);
    }
}
