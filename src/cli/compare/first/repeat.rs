//! A run in a folder, repeated up to where it parts from another, to hear who contended for the slot.

use std::collections::BTreeSet;
use std::path::Path;

use super::launches::{Launch, Nodes, Place};
use crate::cli::failure::Failure;
use crate::cli::source::{self, Overrides};
use crate::emulation::{Heard, HeardOffer, Listening, Prepared};
use crate::files::RESOLVED;
use crate::mapred::{AttemptId, Contender, JobId, Lineup, SlotKind, TaskId, TrackerId};
use crate::scenario::{ClockSpec, Registry};
use crate::units::{SimSpan, SimTime};

/// A run that was repeated.
pub(super) struct Repeated {
    heard: Heard,
    /// The number of each tracker among the names of the nodes.
    nodes: Vec<u32>,
}

/// Who contended for a slot in an offer.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Contest {
    /// The millisecond of the offer.
    pub(super) at: u64,
    /// Who contended; `None` if the policy does not tell.
    pub(super) lineup: Option<Lineup>,
    /// What got the slot.
    pub(super) winner: Option<AttemptId>,
}

/// Repeats the run in a folder, and listens to the offers to some nodes from a millisecond on. A run
/// that cannot be repeated says why.
pub(super) fn repeat(
    folder: &Path,
    registry: &Registry,
    from: u64,
    (nodes, wanted): (&Nodes, &BTreeSet<u32>),
) -> Result<Result<Repeated, &'static str>, Failure> {
    let resolved = folder.join(RESOLVED);
    let scenario = source::load(&resolved, Overrides::default(), registry)?.scenario;
    if scenario.clock != ClockSpec::Virtual {
        return Ok(Err("it ran on the scaled clock, on which no run is repeated"));
    }
    let prepared = Prepared::new(scenario, registry)?;
    let number = |name: &str| nodes.get_index_of(name).map_or(u32::MAX, |number| number as u32);
    let names: Vec<u32> = prepared.labels().iter().map(|label| number(&label.node)).collect();
    let trackers = (0..).zip(&names).filter(|(_, name)| wanted.contains(name));
    let interval = prepared.scenario.hadoop.heartbeat_interval(prepared.topology.len());
    let from = SimTime::ZERO + SimSpan::from_millis(from);
    let listening = Listening {
        from,
        // Long enough for each tracker to ask.
        until: from + interval * 2,
        trackers: trackers.map(|(tracker, _)| TrackerId(tracker)).collect(),
    };
    let heard = prepared.listen(registry, listening)?;
    Ok(Ok(Repeated { heard, nodes: names }))
}

impl Repeated {
    /// Returns what was launched and in which microsecond, in the order in which this was decided.
    pub(super) fn launches(&self) -> Vec<(Place, u64)> {
        let place = |(at, attempt, tracker): &(SimTime, AttemptId, TrackerId)| {
            let place = Place {
                at: at.as_millis(),
                job: attempt.job().0,
                kind: attempt.task.kind,
                task: attempt.task.index,
                attempt: attempt.number,
                node: self.nodes[tracker.index()],
            };
            (place, at.as_micros())
        };
        self.heard.launches.iter().map(place).collect()
    }

    /// Returns whether the run has launched the same in a millisecond.
    pub(super) fn agrees(&self, at: u64, launches: &[Launch]) -> bool {
        let there = |place: &Place| place.at == at;
        let recorded = launches.iter().map(|launch| launch.place).filter(there);
        let recorded: BTreeSet<Place> = recorded.collect();
        let again = self.launches().into_iter().map(|(place, _)| place).filter(there);
        again.collect::<BTreeSet<_>>() == recorded
    }

    /// Returns the offer at which this was launched, and how many tasks it had brought before.
    pub(super) fn offer_of(&self, launch: &Launch) -> Option<(&HeardOffer, usize)> {
        let Place { at, job, kind, task, attempt, node } = launch.place;
        let task = TaskId { job: JobId(job), kind, index: task };
        let attempt = task.attempt(attempt);
        let here = self.offers_to(node).filter(|offer| offer.at.as_millis() == at);
        { here }.find_map(|offer| {
            let place = offer.launched.iter().position(|other| *other == attempt)?;
            Some((offer, place))
        })
    }

    /// Returns who contended for a slot of a kind in the first offer to a node, after it had brought as
    /// much as another run's offer had before the two part.
    pub(super) fn contest(
        &self,
        node: u32,
        kind: SlotKind,
        (other, before): (&HeardOffer, usize),
    ) -> Option<Result<Contest, String>> {
        let offer = self.offers_to(node).next()?;
        let had = &other.launched[..before];
        let same = offer.launched.iter().take_while(|attempt| had.contains(attempt)).count();
        Some(Contest::of(offer, kind, same))
    }

    fn offers_to(&self, node: u32) -> impl Iterator<Item = &HeardOffer> {
        self.heard.offers.iter().filter(move |offer| self.nodes[offer.tracker.index()] == node)
    }
}

impl Contest {
    /// Returns the place of the contender that got the slot.
    pub(super) fn winner_place(&self) -> Option<usize> {
        let job = self.winner?.job();
        let takes = |one: &Contender| one.refusal.is_none() && one.job == job;
        self.lineup.as_ref()?.contenders.iter().position(takes)
    }

    /// Returns who contended for the next slot of a kind after an offer had brought so many tasks; why that
    /// is not known, if the policy was not asked for that slot.
    pub(super) fn of(offer: &HeardOffer, kind: SlotKind, launched: usize) -> Result<Self, String> {
        let mut later = offer.launched.iter().enumerate().skip(launched);
        let winner = later.find(|(_, attempt)| attempt.slot() == kind);
        let until = winner.map_or(offer.launched.len(), |(place, _)| place);
        // What was told last before the slot was given; of one that was not given, what was told last.
        let of_kind = offer.lineups.iter().filter(|lineup| lineup.kind == kind);
        let told = { of_kind }.rfind(|lineup| lineup.launched <= until);
        let is_given = told.is_some_and(|lineup| {
            offer.launched[lineup.launched..until].iter().any(|attempt| attempt.slot() == kind)
        });
        if is_given {
            return Err(format!("the policy gives no further {} slot in this offer", kind.word()));
        }
        Ok(Self {
            at: offer.at.as_millis(),
            lineup: told.cloned(),
            winner: winner.map(|(_, attempt)| *attempt),
        })
    }
}
