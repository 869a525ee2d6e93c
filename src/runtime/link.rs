//! How long a message travels, and whether it arrives.
//!
//! The JobTracker stands in the first rack. Heartbeats and their replies may be lost or doubled;
//! the few calls of a job's client are retried below the protocol until they are through.

use std::sync::Arc;

use rand::RngExt;

use crate::cluster::{NetworkSpec, RackId, Topology};
use crate::mapred::{Address, Letter};
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
    /// For each address, whether it stands in another rack than the JobTracker.
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
            is_away: [false, false].into_iter().chain(trackers).collect(),
            loss: Fraction::ZERO,
            duplication: Fraction::ZERO,
        }
    }

    fn is_faulty(&self) -> bool {
        self.loss > Fraction::ZERO || self.duplication > Fraction::ZERO
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
        let rng = (draws || links.is_faulty())
            .then(|| Box::new(stream(links.seed, Purpose::Link, from.index() as u64)));
        Self { links, from, rng }
    }

    /// Calls `arrive` with the delay of every copy of a letter that gets through.
    pub(super) fn carry(&mut self, letter: Letter, mut arrive: impl FnMut(SimSpan, Letter)) {
        if !letter.travels {
            return arrive(letter.after, letter);
        }
        let between_machines = self.from.as_tracker().is_some() || letter.to.as_tracker().is_some();
        if between_machines && self.links.is_faulty() {
            if self.happens(self.links.loss) {
                return;
            }
            if self.happens(self.links.duplication) {
                let copy = Letter { msg: letter.msg.clone(), ..letter };
                arrive(copy.after + self.latency(copy.to), copy);
            }
        }
        arrive(letter.after + self.latency(letter.to), letter);
    }

    fn happens(&mut self, share: Fraction) -> bool {
        self.rng.as_mut().is_some_and(|rng| rng.random::<f64>() < share.get())
    }

    fn latency(&mut self, to: Address) -> SimSpan {
        let is_away = |address: Address| self.links.is_away[address.index()];
        let crosses = is_away(self.from) != is_away(to);
        let latency = if crosses { &self.links.cross_rack } else { &self.links.latency };
        match (latency, &mut self.rng) {
            (Dist::Constant(span), _) => *span,
            (drawn, Some(rng)) => drawn.sample(&mut **rng),
            (Dist::Drawn(_), None) => unreachable!("a drawn latency has its stream"),
        }
    }
}
