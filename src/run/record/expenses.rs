//! The expenses of a run: the energy and the price of its nodes, and the part of each job.
//!
//! A node takes power and costs money while its tracker runs, and more power for each slot that an
//! attempt holds. Jobs share all of it, idle time too, by the slot time that they held.

use std::sync::Arc;

use serde::Serialize;

use super::RunBooks;
use super::summary::{LevelArea, rounded};
use mumakil_base::dense::grown;
use mumakil_base::units::SimTime;
use mumakil_core::cluster::Topology;
use mumakil_core::mapred::{Event, Fact, JobId, TrackerFact, TrackerId};

/// An hour in microseconds.
const HOUR: f64 = 3.6e9;

/// Energy and cost; `None` for one that nobody counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Expenses {
    /// Energy in kWh.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub energy_kwh: Option<f64>,
    /// Cost, in the currency of the prices.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost: Option<f64>,
}

/// How long trackers ran, and who held their slots.
#[derive(Debug)]
pub(crate) struct ExpenseTally {
    topology: Arc<Topology>,
    /// For each node, whether its tracker runs, and how many of its slots are held.
    nodes: Vec<[LevelArea; 2]>,
    /// The slots that each job holds.
    jobs: Vec<LevelArea>,
}

impl Expenses {
    /// Returns what `part` of these is.
    fn times(self, part: f64) -> Self {
        let [energy_kwh, cost] =
            [self.energy_kwh, self.cost].map(|of| of.map(|of| rounded(of * part)));
        Self { energy_kwh, cost }
    }
}

impl ExpenseTally {
    /// Returns a tally; `None` if nobody counts what nodes cost.
    pub(super) fn new(topology: &Arc<Topology>) -> Option<Self> {
        Self::has_expenses(topology).then(|| Self {
            topology: topology.clone(),
            nodes: (0..topology.len()).map(|_| Default::default()).collect(),
            jobs: Vec::new(),
        })
    }

    /// Returns whether a node has a price or takes power.
    pub(super) fn has_expenses(topology: &Topology) -> bool {
        let mut nodes = (0..topology.len()).map(|id| topology.node(TrackerId(id)));
        nodes.any(|node| node.watts.is_some() || node.price.is_some())
    }

    pub(super) fn see(&mut self, event: &Event, books: &RunBooks) {
        if let Fact::Tracker(tracker, fact @ (TrackerFact::Up(_) | TrackerFact::Down)) = event.fact
        {
            let is_up = matches!(fact, TrackerFact::Up(_));
            self.nodes[tracker.index()][0].set(event.at, is_up.into());
        }
        if let Some(shift) = books.shift {
            self.nodes[shift.tracker.index()][1].add(event.at, shift.slots);
            grown(&mut self.jobs, shift.task.job.index()).add(event.at, shift.slots);
        }
    }

    /// Returns what a node has cost until an instant.
    pub(super) fn of_node(&self, id: TrackerId, until: SimTime) -> Expenses {
        self.unrounded(id, until).times(1.0)
    }

    fn unrounded(&self, id: TrackerId, until: SimTime) -> Expenses {
        let node = self.topology.node(id);
        let [up, busy] = [0, 1].map(|one| self.nodes[id.index()][one].until(until) as f64 / HOUR);
        Expenses {
            energy_kwh: (node.watts)
                .map(|watts| (watts.idle.get() * up + watts.slot.get() * busy) / 1e3),
            cost: node.price.map(|price| price.get() * up),
        }
    }

    /// Returns what all nodes have cost.
    pub(super) fn all(&self, until: SimTime) -> Expenses {
        self.sum(until).times(1.0)
    }

    fn sum(&self, until: SimTime) -> Expenses {
        let nodes: Vec<Expenses> =
            (0..self.topology.len()).map(|id| self.unrounded(TrackerId(id), until)).collect();
        Expenses {
            energy_kwh: nodes.iter().filter_map(|it| it.energy_kwh).reduce(|sum, one| sum + one),
            cost: nodes.iter().filter_map(|node| node.cost).reduce(|sum, one| sum + one),
        }
    }

    /// Returns the parts of these jobs, by the slot time that they held.
    pub(super) fn of_jobs(
        &self,
        jobs: impl Iterator<Item = JobId>,
        until: SimTime,
    ) -> Vec<Expenses> {
        let held: Vec<f64> = self.jobs.iter().map(|job| job.until(until) as f64).collect();
        // Without slot time there is nobody to pay, and nothing to divide by.
        let (sum, all) = (self.sum(until), held.iter().sum::<f64>().max(1.0));
        jobs.map(|id| sum.times(held.get(id.index()).unwrap_or(&0.0) / all)).collect()
    }
}
