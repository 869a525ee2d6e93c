//! `resources.csv`, and how much of the cluster's memory and cores attempts hold.
//!
//! An attempt holds what its job asks for from its start to the end of its work, suspended or not.
//! Only clusters that count memory or cores have these numbers.

use std::mem;
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

/// The shares of memory and of cores that attempts hold; `None` for what is not counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct ResourceShares {
    /// The share of memory.
    pub memory: Option<f64>,
    /// The share of cores.
    pub cores: Option<f64>,
}

/// Memory and cores over time.
pub(super) type ResourceAreas = [LevelArea; 2];

/// The memory and cores of a node, of which `pool` holds more or less; without a pool, the node itself
/// comes or goes.
pub(super) struct ResourceChange {
    pub(super) tracker: TrackerId,
    pub(super) pool: Option<Arc<str>>,
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
    there: ResourceAreas,
    held: ResourceAreas,
    /// The holdings of pools, and those last written.
    pools: IndexMap<Arc<str>, (ResourceAreas, [u64; 2])>,
}

impl ResourceChange {
    /// Returns the change by an event; `None` if it changes nothing.
    pub(super) fn of(event: &Event, books: &RunBooks, topology: &Topology) -> Option<Self> {
        let (tracker, is_more, pool, amounts) = match event.fact {
            Fact::Tracker(it, TrackerFact::Up(_)) => (it, true, None, topology.amounts(it)),
            Fact::Tracker(it, TrackerFact::Down) => (it, false, None, topology.amounts(it)),
            Fact::Attempt(id, tracker, fact) if id.task.is_work() => {
                let is_more = match fact {
                    AttemptFact::Started { role: Role::Work, .. } => true,
                    AttemptFact::Ended { role: Role::Work, .. } => false,
                    _ => return None,
                };
                let spec = &books.job(id.job())?.spec;
                let asked = spec.demand(id.slot(), topology.counted());
                (tracker, is_more, Some(spec.pool.clone()), asked)
            }
            _ => return None,
        };
        Some(Self { tracker, pool, is_more, amounts: amounts.parts() })
    }

    pub(super) fn enter(&self, at: SimTime, areas: &mut ResourceAreas) {
        for (area, amount) in areas.iter_mut().zip(self.amounts) {
            let change = if self.is_more { u64::saturating_add } else { u64::saturating_sub };
            area.set(at, change(area.level, amount));
        }
    }
}

impl ResourceShares {
    pub(super) fn of(held: &ResourceAreas, there: &ResourceAreas, until: SimTime) -> Self {
        let [memory, cores] =
            [0, 1].map(|one| share(held[one].until(until), there[one].until(until)));
        Self { memory, cores }
    }
}

impl ResourceTally {
    /// Returns a tally of a cluster, which writes `resources.csv` every `step` if there is a folder.
    pub(super) fn create(
        topology: Arc<Topology>,
        folder: Option<&Path>,
        step: SimSpan,
    ) -> Result<Self, RecordError> {
        let table = folder.map(TableWriter::create).transpose()?;
        let (step, due) = (step.max(SimSpan::from_millis(1)), SimTime::ZERO);
        let (there, held, pools) = Default::default();
        Ok(Self { topology, table, step, due, up: Vec::new(), there, held, pools })
    }

    /// Returns the shares of the cluster that attempts held: those of a pool, or of all.
    pub(super) fn shares(&self, pool: Option<&str>, until: SimTime) -> ResourceShares {
        let held = match pool {
            Some(pool) => self.pools.get(pool).map(|(held, _)| held),
            None => Some(&self.held),
        };
        held.map(|held| ResourceShares::of(held, &self.there, until)).unwrap_or_default()
    }

    fn write(&mut self, at: SimTime) -> Result<(), RecordError> {
        let Some(table) = &mut self.table else { return Ok(()) };
        for (pool, (held, written)) in &mut self.pools {
            let now @ [memory_bytes, cores] = [held[0].level, held[1].level];
            if mem::replace(written, now) != now {
                let pool = (&**pool).into();
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
        if let Some(pool) = &change.pool {
            change.enter(event.at, &mut self.held);
            change.enter(event.at, &mut self.pools.entry(pool.clone()).or_default().0);
        } else if mem::replace(grown(&mut self.up, change.tracker.index()), change.is_more)
            != change.is_more
        {
            change.enter(event.at, &mut self.there);
        }
        Ok(())
    }

    fn finish(&mut self, end: &RunEnd<'_>) -> Result<(), RecordError> {
        self.write(self.due.min(end.run.ended))?;
        self.table.as_mut().map_or(Ok(()), TableWriter::finish)
    }
}
