//! How long a message travels, and whether it arrives.
//!
//! The JobTracker stands in the first rack. Heartbeats and their replies may be lost or doubled;
//! the few calls of a job's client are retried below the protocol until they are through.

use std::sync::Arc;

use rand::RngExt;

use crate::cluster::{NetworkSpec, RackId, Topology};
use crate::mapred::{Letter, Mail, TrackerId};
use crate::random::{ChaCha8Rng, Dist, Purpose, stream};
use crate::units::{Fraction, SimSpan};

/// The network as messages see it.
#[derive(Clone, Debug)]
pub struct Links {
    /// Seeds the travels of every sender.
    pub seed: u64,
    /// How long a message takes inside of a rack.
    pub latency: Dist<SimSpan>,
    /// How long a message takes between racks.
    pub cross_rack: Dist<SimSpan>,
    /// For each tracker, whether it stands in another rack than the JobTracker.
    pub is_away: Vec<bool>,
    /// The share of heartbeats and replies that never arrive.
    pub loss: Fraction,
    /// The share of heartbeats and replies that arrive twice.
    pub duplication: Fraction,
}

impl Links {
    /// Returns the links of a cluster, without faults.
    pub fn new(seed: u64, network: &NetworkSpec, topology: &Topology) -> Self {
        let trackers = topology.nodes().map(|(_, node)| node.rack != RackId(0));
        Self {
            seed,
            latency: network.latency.clone(),
            cross_rack: network.cross_rack.clone(),
            is_away: trackers.collect(),
            loss: Fraction::ZERO,
            duplication: Fraction::ZERO,
        }
    }

    fn is_faulty(&self) -> bool {
        self.loss > Fraction::ZERO || self.duplication > Fraction::ZERO
    }
}

/// Who sends or receives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Address {
    JobTracker,
    Injector,
    Tracker(TrackerId),
    Fabric,
}

impl Address {
    fn of(mail: &Mail) -> Self {
        match mail {
            Mail::JobTracker(_) => Self::JobTracker,
            Mail::Injector(_) => Self::Injector,
            Mail::Tracker(id, _) => Self::Tracker(*id),
            Mail::Fabric(_) => Self::Fabric,
        }
    }

    /// Returns which random stream the travels of its messages come from, if they travel.
    fn stream(self) -> Option<u64> {
        match self {
            Self::JobTracker => Some(0),
            Self::Injector => Some(1),
            Self::Tracker(id) => Some(u64::from(id.0) + 2),
            // It is no machine: what it says is physics.
            Self::Fabric => None,
        }
    }

    fn is_tracker(self) -> bool {
        matches!(self, Self::Tracker(_))
    }
}

/// One sender's end of the network, with a random stream of its own where one is needed.
#[derive(Debug)]
pub(super) struct Link {
    links: Arc<Links>,
    from: Address,
    rng: Option<Box<ChaCha8Rng>>,
}

impl Link {
    pub(super) fn new(links: Arc<Links>, from: Address) -> Self {
        let draws = !links.latency.is_constant() || !links.cross_rack.is_constant();
        let rng = (from.stream())
            .filter(|_| draws || links.is_faulty())
            .map(|subject| Box::new(stream(links.seed, Purpose::Link, subject)));
        Self { links, from, rng }
    }

    pub(super) fn from(&self) -> Address {
        self.from
    }

    /// Calls `arrive` with the delay of every copy of a letter that gets through.
    pub(super) fn carry(&mut self, letter: Letter, mut arrive: impl FnMut(SimSpan, Mail)) {
        let Letter { after, travels, mail } = letter;
        if !travels {
            return arrive(after, mail);
        }
        let to = Address::of(&mail);
        if self.links.is_faulty() && (self.from.is_tracker() || to.is_tracker()) {
            if self.happens(self.links.loss) {
                return;
            }
            if self.happens(self.links.duplication) {
                arrive(after + self.latency(to), mail.clone());
            }
        }
        arrive(after + self.latency(to), mail);
    }

    fn happens(&mut self, share: Fraction) -> bool {
        self.rng.as_mut().is_some_and(|rng| rng.random::<f64>() < share.get())
    }

    fn latency(&mut self, to: Address) -> SimSpan {
        let is_away = |address| match address {
            Address::Tracker(id) => self.links.is_away[id.index()],
            Address::JobTracker | Address::Injector | Address::Fabric => false,
        };
        let crosses = is_away(self.from) != is_away(to);
        let latency = if crosses { &self.links.cross_rack } else { &self.links.latency };
        match (latency, &mut self.rng) {
            (Dist::Constant(span), _) => *span,
            (drawn, Some(rng)) => drawn.sample(&mut **rng),
            (Dist::Drawn(_), None) => unreachable!("who sends over the network has a stream"),
        }
    }
}
