//! How long a message travels, and whether it arrives.
//!
//! The JobTracker is in the first rack. Heartbeats and their replies may be lost, doubled or late;
//! the few calls of a job's client always arrive, since the transport repeats them.

use std::sync::Arc;

use rand::RngExt;

use mumakil_base::random::{ChaCha8Rng, Dist, Purpose, stream};
use mumakil_base::units::{Fraction, SimSpan, SimTime};
use mumakil_core::cluster::{NetworkCut, NetworkSpec, PodId, RackId, Topology};
use mumakil_core::mapred::{Letter, Mail, TrackerId};

/// The network that messages travel through: its latencies, faults and cuts.
#[derive(Clone, Debug)]
pub struct Links {
    /// The seed of the random streams of all senders.
    pub seed: u64,
    /// How long a message takes within a rack.
    pub latency: Dist<SimSpan>,
    /// How long a message takes between racks.
    pub cross_rack: Dist<SimSpan>,
    /// For each tracker, whether it is in another rack than the JobTracker.
    pub is_away: Vec<bool>,
    /// How long a message takes between pods.
    pub cross_pod: Dist<SimSpan>,
    /// For each tracker, whether it is in another pod than the JobTracker.
    pub is_far: Vec<bool>,
    /// The share of heartbeats and replies that never arrive.
    pub loss: Fraction,
    /// The share of heartbeats and replies that arrive twice.
    pub duplication: Fraction,
    /// The share of heartbeats and replies that are late.
    pub late: Fraction,
    /// The extra delay of heartbeats and replies that are late.
    pub late_by: Dist<SimSpan>,
    /// The cuts of the network: a message across a cut is lost if it leaves while the cut holds.
    pub cuts: Vec<Arc<NetworkCut>>,
}

impl Links {
    /// Returns the links of a cluster without faults.
    pub fn new(seed: u64, network: &NetworkSpec, topology: &Topology) -> Self {
        let trackers = topology.nodes().map(|(_, node)| node.rack != RackId(0));
        let pods = network.pods.as_ref().and_then(|pods| pods.latency.as_ref());
        Self {
            seed,
            latency: network.latency.clone(),
            cross_rack: network.cross_rack.clone(),
            is_away: trackers.collect(),
            // Without a latency of their own, pods are as far apart as racks.
            cross_pod: pods.unwrap_or(&network.cross_rack).clone(),
            is_far: topology.nodes().map(|(id, _)| topology.pod(id) != PodId(0)).collect(),
            loss: Fraction::ZERO,
            duplication: Fraction::ZERO,
            late: Fraction::ZERO,
            late_by: Dist::Constant(SimSpan::ZERO),
            cuts: Vec::new(),
        }
    }

    fn place(&self, of: Address) -> LinkPlace {
        let is_in = |others: &[bool]| matches!(of, Address::Tracker(id) if others[id.index()]);
        LinkPlace { is_far: is_in(&self.is_far), is_away: is_in(&self.is_away) }
    }

    /// Returns whether messages may be lost, doubled or late at random.
    fn is_faulty(&self) -> bool {
        // If all shares are zero, draw nothing for these faults: latencies must be drawn as in a
        // run without them.
        [self.loss, self.duplication, self.late].iter().any(|share| *share > Fraction::ZERO)
    }
}

/// The sender or receiver of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Address {
    JobTracker,
    Injector,
    Tracker(TrackerId),
    Fabric,
    FaultInjector,
    NameNode,
    MapOutputs,
}

impl Address {
    fn of(mail: &Mail) -> Self {
        match mail {
            Mail::JobTracker(_) => Self::JobTracker,
            Mail::Injector(_) => Self::Injector,
            Mail::Tracker(id, _) => Self::Tracker(*id),
            Mail::Fabric(_) => Self::Fabric,
            Mail::FaultInjector(_) => Self::FaultInjector,
            Mail::NameNode(_) => Self::NameNode,
            Mail::MapOutputs(_) => Self::MapOutputs,
        }
    }

    /// Returns the number of the random stream for the sender's messages; `None` if they take no
    /// time.
    fn stream(self) -> Option<u64> {
        match self {
            Self::JobTracker => Some(0),
            Self::Injector => Some(1),
            Self::Tracker(id) => Some(u64::from(id.0) + 2),
            // Fabric, fault injector and map outputs are no machines: their messages take no time
            // and are never lost. The NameNode is treated in the same way.
            Self::Fabric | Self::FaultInjector | Self::NameNode | Self::MapOutputs => None,
        }
    }

    /// Returns the node of the sender or receiver; `None` for the JobTracker's machine.
    fn machine(self) -> Option<TrackerId> {
        match self {
            Self::Tracker(id) => Some(id),
            Self::JobTracker
            | Self::Injector
            | Self::Fabric
            | Self::FaultInjector
            | Self::NameNode
            | Self::MapOutputs => None,
        }
    }

    fn is_tracker(self) -> bool {
        matches!(self, Self::Tracker(_))
    }
}

/// The network as one sender uses it, with a random stream of its own if one is needed.
#[derive(Debug)]
pub struct Link {
    links: Arc<Links>,
    pub(super) from: Address,
    /// Where the sender is.
    place: LinkPlace,
    /// Whether messages may be lost, doubled or late at random.
    is_faulty: bool,
    rng: Option<Box<ChaCha8Rng>>,
}

/// The position of a machine relative to the JobTracker: whether it is in another pod, and whether
/// it is in another rack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct LinkPlace {
    is_far: bool,
    is_away: bool,
}

impl Link {
    pub(super) fn new(links: Arc<Links>, from: Address) -> Self {
        let latencies = [&links.latency, &links.cross_rack, &links.cross_pod];
        let draws = latencies.iter().any(|latency| !latency.is_constant());
        let is_faulty = links.is_faulty();
        // Make a generator only if it is used: thousands of trackers would each carry 320 unused
        // bytes.
        let rng = (from.stream())
            .filter(|_| draws || is_faulty)
            .map(|subject| Box::new(stream(links.seed, Purpose::Link, subject)));
        Self { place: links.place(from), links, from, is_faulty, rng }
    }

    /// Returns how long a letter that is written now takes to arrive: first its second copy, then
    /// the letter itself; `None` for a copy or letter that does not arrive.
    pub(super) fn delays(&mut self, now: SimTime, letter: &Letter) -> [Option<SimSpan>; 2] {
        let Letter { after, travels, ref mail } = *letter;
        // A timer or a matter of physics does not use the network.
        if !travels {
            return [None, Some(after)];
        }
        let to = Address::of(mail);
        // Look for a cut at the instant when the message leaves, which may be later than now.
        if self.is_cut(now + after, to) {
            return [None, None];
        }
        let (mut copy, mut late) = (None, SimSpan::ZERO);
        // Only heartbeats and replies: a client's calls are repeated until they arrive.
        if self.is_faulty && (self.from.is_tracker() || to.is_tracker()) {
            // The order of these draws must never change, as a run must be the same with the same
            // seed.
            if self.happens(self.links.loss) {
                return [None, None];
            }
            if self.happens(self.links.duplication) {
                copy = Some(after + self.latency(to));
            }
            late = self.lateness();
        }
        [copy, Some(after + late + self.latency(to))]
    }

    /// Returns whether a message that leaves at this instant is lost at a cut.
    fn is_cut(&self, at: SimTime, to: Address) -> bool {
        let (from, to) = (self.from.machine(), to.machine());
        self.links.cuts.iter().any(|cut| cut.holds(at) && cut.parts(from, to))
    }

    /// Returns the extra delay of a message. Draws nothing if no message can be late.
    fn lateness(&mut self) -> SimSpan {
        if self.links.late == Fraction::ZERO || !self.happens(self.links.late) {
            return SimSpan::ZERO;
        }
        let by = &self.links.late_by;
        self.rng.as_mut().map_or(SimSpan::ZERO, |rng| by.sample(&mut **rng))
    }

    fn happens(&mut self, share: Fraction) -> bool {
        self.rng.as_mut().is_some_and(|rng| rng.random::<f64>() < share.get())
    }

    fn latency(&mut self, to: Address) -> SimSpan {
        let Links { latency, cross_rack, cross_pod, .. } = &*self.links;
        let (here, there) = (self.place, self.links.place(to));
        // Every message that travels begins or ends at the JobTracker's machine, so comparing both
        // ends with it is enough.
        let latency = match (here.is_far != there.is_far, here.is_away != there.is_away) {
            (true, _) => cross_pod,
            (false, true) => cross_rack,
            (false, false) => latency,
        };
        match (latency, &mut self.rng) {
            (Dist::Constant(span), _) => *span,
            (drawn, Some(rng)) => drawn.sample(&mut **rng),
            (Dist::Drawn(_), None) => unreachable!("who sends over the network has a stream"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{MS, beat, call, remark, tell};
    use super::*;
    use mumakil_base::random::Shape;

    const NEAR: Address = Address::Tracker(TrackerId(0));
    const AWAY: Address = Address::Tracker(TrackerId(1));

    const FAR: Address = Address::Tracker(TrackerId(2));

    /// Links of three trackers, one beside the JobTracker, one in another rack and one in another
    /// pod: 1 ms inside of a rack, 3 ms between racks, 7 ms between pods.
    fn links() -> Links {
        Links {
            seed: 42,
            latency: Dist::Constant(MS),
            cross_rack: Dist::Constant(MS * 3),
            is_away: vec![false, true, true],
            cross_pod: Dist::Constant(MS * 7),
            is_far: vec![false, false, true],
            loss: Fraction::ZERO,
            duplication: Fraction::ZERO,
            late: Fraction::ZERO,
            late_by: Dist::Constant(SimSpan::ZERO),
            cuts: Vec::new(),
        }
    }

    fn link(links: &Links, from: Address) -> Link {
        Link::new(Arc::new(links.clone()), from)
    }

    /// Sends a letter that leaves after 10 ms; returns the delay of each copy that arrives.
    fn send(link: &mut Link, mail: Mail) -> Vec<SimSpan> {
        let letter = Letter { after: MS * 10, travels: true, mail };
        link.delays(SimTime::ZERO, &letter).into_iter().flatten().collect()
    }

    /// Returns the stream from which a sender's delays are drawn.
    fn draws(sender: u64) -> ChaCha8Rng {
        stream(42, Purpose::Link, sender)
    }

    #[test]
    fn a_letter_takes_what_its_sender_keeps_it_and_the_latency_between_their_racks() {
        let links = links();
        for (from, mail, travels) in [
            (Address::Injector, call(0), 1),
            (Address::JobTracker, remark(0), 1),
            (Address::JobTracker, tell(0, 0), 1),
            (Address::JobTracker, tell(1, 0), 3),
            (NEAR, call(0), 1),
            (AWAY, call(0), 3),
            (AWAY, remark(0), 3),
            (Address::JobTracker, tell(2, 0), 7),
            (FAR, call(0), 7),
        ] {
            let expected = [MS * (10 + travels)];
            assert_eq!(send(&mut link(&links, from), mail.clone()), expected, "{from:?}: {mail:?}");
        }
    }

    #[test]
    fn plans_and_physics_do_not_travel() {
        let lossy = Links { loss: Fraction::of(1.0), ..links() };
        for (from, mail) in [(AWAY, beat(1, 0)), (AWAY, call(0)), (Address::Fabric, tell(1, 0))] {
            let letter = Letter { after: MS * 10, travels: false, mail };
            let delays = link(&lossy, from).delays(SimTime::ZERO, &letter);
            assert_eq!(delays, [None, Some(MS * 10)], "{from:?}");
        }
    }

    #[test]
    fn heartbeats_and_replies_are_lost_in_their_share() {
        let lossy = Links { loss: Fraction::of(0.2), ..links() };
        let (mut tracker, mut rng) = (link(&lossy, AWAY), draws(3));
        let mut lost = 0;
        for _ in 0..10_000 {
            let is_lost = rng.random::<f64>() < 0.2;
            if !is_lost {
                let _is_doubled = rng.random::<f64>();
            }
            assert_eq!(send(&mut tracker, call(0)).is_empty(), is_lost);
            lost += u32::from(is_lost);
        }
        // Four standard deviations of 40.
        assert!((1_840..2_160).contains(&lost), "{lost}");
        let mut job_tracker = link(&lossy, Address::JobTracker);
        let lost = (0..10_000).filter(|_| send(&mut job_tracker, tell(0, 0)).is_empty()).count();
        assert!((1_840..2_160).contains(&lost), "{lost}");
    }

    #[test]
    fn a_doubled_letter_travels_twice() {
        let latency = Dist::Drawn(Shape::Uniform { from: MS * 2, to: MS * 4 });
        let doubling =
            Links { duplication: Fraction::of(0.3), cross_rack: latency.clone(), ..links() };
        let (mut tracker, mut rng) = (link(&doubling, AWAY), draws(3));
        let mut doubled = 0;
        for _ in 0..10_000 {
            let _is_lost = rng.random::<f64>();
            let copies = if rng.random::<f64>() < 0.3 { 2 } else { 1 };
            let expected: Vec<_> =
                (0..copies).map(|_| MS * 10 + latency.sample(&mut rng)).collect();
            assert_eq!(send(&mut tracker, call(0)), expected);
            doubled += copies - 1;
        }
        // Four standard deviations of 46.
        assert!((2_816..3_184).contains(&doubled), "{doubled}");
    }

    #[test]
    fn a_share_of_the_letters_is_late_and_may_be_overtaken() {
        let late_by = Dist::Drawn(Shape::Uniform { from: MS * 100, to: MS * 200 });
        let late = Links { late: Fraction::of(0.3), late_by: late_by.clone(), ..links() };
        let (mut tracker, mut rng) = (link(&late, AWAY), draws(3));
        let mut overtaken = 0;
        for _ in 0..10_000 {
            let (_is_lost, _is_doubled) = (rng.random::<f64>(), rng.random::<f64>());
            let is_late = rng.random::<f64>() < 0.3;
            let by = if is_late { late_by.sample(&mut rng) } else { SimSpan::ZERO };
            assert_eq!(send(&mut tracker, call(0)), [MS * 13 + by]);
            overtaken += u32::from(is_late);
        }
        assert!((2_816..3_184).contains(&overtaken), "{overtaken}");
        assert_eq!(send(&mut link(&late, Address::Injector), call(0)), [MS * 11]);
    }

    #[test]
    fn messages_across_a_cut_are_lost_while_it_holds() {
        let at = |millis| SimTime::ZERO + MS * millis;
        // The letter of `send` leaves after 10 ms.
        for (from, until, gets_through) in [(5, 10, true), (10, 11, false), (11, 20, true)] {
            let cut = NetworkCut { from: at(from), until: at(until), nodes: [TrackerId(1)].into() };
            let parted = Links { cuts: vec![Arc::new(cut)], ..links() };
            for (from, mail) in [(AWAY, call(0)), (Address::JobTracker, tell(1, 0))] {
                let arrived = !send(&mut link(&parted, from), mail.clone()).is_empty();
                assert_eq!(arrived, gets_through, "{mail:?} with {parted:?}");
            }
            for (from, mail) in [(FAR, call(0)), (Address::JobTracker, tell(0, 0))] {
                assert_eq!(send(&mut link(&parted, from), mail).len(), 1);
            }
        }
    }

    #[test]
    fn messages_of_clients_are_neither_lost_nor_doubled() {
        let one = Fraction::of(1.0);
        let faulty = Links { loss: one, duplication: one, ..links() };
        assert_eq!(send(&mut link(&faulty, Address::Injector), call(0)).len(), 1);
        assert_eq!(send(&mut link(&faulty, Address::JobTracker), remark(0)).len(), 1);
    }

    #[test]
    fn every_sender_draws_from_a_stream_of_its_own() {
        let latency = Dist::Drawn(Shape::Uniform { from: MS, to: MS * 1_000 });
        let links = Links { latency: latency.clone(), cross_rack: latency.clone(), ..links() };
        let senders = [(Address::JobTracker, 0), (Address::Injector, 1), (NEAR, 2), (AWAY, 3)];
        for (from, sender) in senders {
            let expected = MS * 10 + latency.sample(&mut draws(sender));
            assert_eq!(send(&mut link(&links, from), call(0)), [expected], "{from:?}");
        }
    }

    #[test]
    fn where_nothing_is_drawn_there_is_no_stream() {
        assert!(link(&links(), AWAY).rng.is_none());
        let lossy = Links { loss: Fraction::of(0.1), ..links() };
        assert!(link(&lossy, AWAY).rng.is_some());
        assert!(link(&lossy, Address::Fabric).rng.is_none());
    }
}
