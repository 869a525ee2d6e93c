//! `resources.csv`, and how much of the cluster's memory and cores attempts hold.
//!
//! An attempt holds what its job's tasks ask for from its start to the end of its work, suspended or
//! not. Only clusters that count memory or cores have these numbers.

use std::path::Path;
use std::sync::Arc;

use indexmap::IndexMap;
use serde::Serialize;

use super::summary::{LevelArea, share};
use super::table::TableWriter;
use super::{RecordError, RunBooks, RunEnd, Watcher};
use mumakil_base::dense::grown;
use mumakil_base::units::{SimSpan, SimTime};
use mumakil_core::cluster::Topology;
use mumakil_core::mapred::{AttemptFact, Event, Fact, Role, TrackerFact, TrackerId};
use mumakil_results::tables::ResourceRow;

/// The shares of memory and of cores that attempts hold. A number is `None` if it is not counted, or
/// if there is none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct ResourceShares {
    /// The share of memory.
    pub memory: Option<f64>,
    /// The share of cores.
    pub cores: Option<f64>,
}

/// Memory and cores that are there, and that attempts hold, over time.
#[derive(Debug, Default)]
pub(super) struct ResourceAreas {
    there: [LevelArea; 2],
    held: [LevelArea; 2],
}

/// A change of what is there or held on a node.
pub(super) struct ResourceChange {
    pub(super) tracker: TrackerId,
    /// The pool whose attempts hold more or less; `None` if the node itself changes.
    pool: Option<String>,
    is_more: bool,
    amounts: [u64; 2],
}

/// Counts memory and cores, and writes `resources.csv`.
#[derive(Debug)]
pub(super) struct ResourceTally {
    topology: Arc<Topology>,
    table: Option<TableWriter<ResourceRow>>,
    step: SimSpan,
    /// When changes are written next.
    due: SimTime,
    /// The nodes whose trackers run.
    up: Vec<bool>,
    all: ResourceAreas,
    /// The pools, each with the amounts that were last written.
    pools: IndexMap<String, (ResourceAreas, [u64; 2])>,
}

impl ResourceChange {
    /// Returns the change by an event; `None` if it changes nothing.
    pub(super) fn of(event: &Event, books: &RunBooks, topology: &Topology) -> Option<Self> {
        let (tracker, pool, is_more, amounts) = match event.fact {
            Fact::Tracker(tracker, TrackerFact::Up(_)) => {
                (tracker, None, true, topology.amounts(tracker))
            }
            Fact::Tracker(tracker, TrackerFact::Down) => {
                (tracker, None, false, topology.amounts(tracker))
            }
            Fact::Attempt(
                id,
                tracker,
                ref fact @ (AttemptFact::Started { role: Role::Work, .. }
                | AttemptFact::Ended { role: Role::Work, .. }),
            ) if id.task.is_work() => {
                let spec = &books.job(id.job())?.spec;
                let is_more = matches!(fact, AttemptFact::Started { .. });
                let asked = spec.demand(id.slot(), topology.counted());
                (tracker, Some(spec.pool.to_string()), is_more, asked)
            }
            _ => return None,
        };
        Some(Self { tracker, pool, is_more, amounts: amounts.parts() })
    }

    /// Returns whether the areas of a node show already that it came or went.
    pub(super) fn is_known_in(&self, of_node: &ResourceAreas) -> bool {
        self.pool.is_none() && self.is_more == (0 < of_node.there[0].level)
    }
}

impl ResourceAreas {
    /// Enters a change.
    pub(super) fn change(&mut self, at: SimTime, change: &ResourceChange) {
        let areas = if change.pool.is_some() { &mut self.held } else { &mut self.there };
        for (area, amount) in areas.iter_mut().zip(change.amounts) {
            let level = match change.is_more {
                true => area.level.saturating_add(amount),
                false => area.level.saturating_sub(amount),
            };
            area.set(at, level);
        }
    }

    /// Returns the shares until an instant of what is there in `of`.
    pub(super) fn shares(&self, of: &Self, until: SimTime) -> ResourceShares {
        let [memory, cores] =
            [0, 1].map(|one| share(self.held[one].until(until), of.there[one].until(until)));
        ResourceShares { memory, cores }
    }
}

impl ResourceTally {
    /// Returns a tally of a cluster, which writes `resources.csv` every `step` if there is a folder.
    pub(super) fn create(
        topology: Arc<Topology>,
        folder: Option<&Path>,
        step: SimSpan,
    ) -> Result<Self, RecordError> {
        Ok(Self {
            topology,
            table: folder.map(TableWriter::create).transpose()?,
            step: step.max(SimSpan::from_millis(1)),
            due: SimTime::ZERO,
            up: Vec::new(),
            all: ResourceAreas::default(),
            pools: IndexMap::new(),
        })
    }

    /// Returns the shares of the cluster that attempts held.
    pub(super) fn shares(&self, until: SimTime) -> ResourceShares {
        self.all.shares(&self.all, until)
    }

    /// Returns the shares that the attempts of a pool held.
    pub(super) fn of_pool(&self, pool: &str, until: SimTime) -> ResourceShares {
        self.pools.get(pool).map(|(areas, _)| areas.shares(&self.all, until)).unwrap_or_default()
    }

    /// Writes what has changed up to the last multiple of the step.
    fn write(&mut self, at: SimTime) -> Result<(), RecordError> {
        let Some(table) = &mut self.table else { return Ok(()) };
        for (pool, (areas, written)) in &mut self.pools {
            let [memory_bytes, cores] = [0, 1].map(|one| areas.held[one].level);
            if std::mem::replace(written, [memory_bytes, cores]) != [memory_bytes, cores] {
                let pool = pool.as_str().into();
                table.row(&ResourceRow { time_ms: at.as_millis(), pool, memory_bytes, cores })?;
            }
        }
        Ok(())
    }
}

impl Watcher for ResourceTally {
    fn see(&mut self, event: &Event, books: &RunBooks) -> Result<(), RecordError> {
        if self.due < event.at {
            self.write(self.due)?;
            let micros = event.at.as_micros().next_multiple_of(self.step.as_micros());
            self.due = SimTime::from_micros(micros);
        }
        let Some(change) = ResourceChange::of(event, books, &self.topology) else { return Ok(()) };
        if change.pool.is_none() {
            // A tracker that comes back without having gone brings nothing new.
            let was =
                std::mem::replace(grown(&mut self.up, change.tracker.index()), change.is_more);
            if was == change.is_more {
                return Ok(());
            }
        }
        if let Some(pool) = &change.pool {
            if !self.pools.contains_key(pool) {
                self.pools.insert(pool.clone(), Default::default());
            }
            self.pools[pool].0.change(event.at, &change);
        }
        self.all.change(event.at, &change);
        Ok(())
    }

    fn finish(&mut self, end: &RunEnd<'_>) -> Result<(), RecordError> {
        self.write(self.due.min(end.run.ended))?;
        self.table.as_mut().map_or(Ok(()), TableWriter::finish)
    }
}
