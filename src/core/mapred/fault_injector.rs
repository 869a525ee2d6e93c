//! The fault injector: mishaps of machines, planned or random.
//!
//! The fault injector stands for everything that happens to machines from outside: power cuts,
//! wear, neighbours. A mishap lasts for a while, or for good. Several mishaps may hold at one
//! machine: it runs while none of them turns it off, and its speed is the speed that all of them
//! together leave. Trackers and the fabric get the state of machines, not the cause.
//!
//! The first messages of a run start the planned mishaps. A mishap that recurs at random plans its
//! next time when the last time ends, however long the run is. Each such mishap has its own random
//! stream, so that no other mishap changes its times. A mishap that is due while its machine is off
//! is missed. The next time is planned only when the machine is on again, so that no message is due
//! while a whole cluster is off.

use std::sync::Arc;

use crate::cluster::{Speeds, TrackerId};
use crate::mapred::event::{Fact, Incident};
use crate::mapred::message::{
    Mail, MishapId, ToFabric, ToFaultInjector, ToMapOutputs, ToNameNode, ToTracker,
};
use crate::mapred::outbox::{Core, Outbox};
use mumakil_base::random::{ChaCha8Rng, Dist};
use mumakil_base::units::{SimSpan, SimTime};

/// A mishap that strikes some nodes together.
#[derive(Debug)]
pub struct Mishap {
    /// The nodes that it strikes.
    pub nodes: Vec<TrackerId>,
    /// The harm that it does to them.
    pub harm: MishapHarm,
    /// How it recurs; `None` if it comes only as planned.
    pub rhythm: Option<MishapRhythm>,
}

/// The harm that a mishap does to a node.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum MishapHarm {
    /// The machine stops, until a `Start`.
    Stop,
    /// The machine starts; this ends an earlier `Stop`.
    Start,
    /// The machine is off until the mishap ends.
    Outage,
    /// The machine is not in the cluster until the mishap ends.
    Absence,
    /// The tracker's process is down until the mishap ends; the machine stays on.
    TrackerOutage,
    /// The machine is slower until the mishap ends.
    Slow(Speeds),
}

impl MishapHarm {
    /// Returns the id that messages give the mishap with this number.
    pub fn stroke(self, number: u32) -> MishapId {
        MishapId { number, is_power: !matches!(self, Self::Slow(_)) }
    }
}

/// How a mishap recurs.
#[derive(Debug)]
pub struct MishapRhythm {
    every: Dist<SimSpan>,
    /// How long the mishap lasts each time; `None` if it never ends, and so comes only once.
    lasts: Option<Dist<SimSpan>>,
    rng: ChaCha8Rng,
}

impl MishapRhythm {
    /// Returns a rhythm, and the time to its first mishap.
    ///
    /// If all gaps are equal, the first gap is only a random share of one, so that the nodes of a
    /// cluster are not all struck at once.
    pub fn begin(
        every: Dist<SimSpan>,
        lasts: Option<Dist<SimSpan>>,
        mut rng: ChaCha8Rng,
    ) -> (Self, SimSpan) {
        use rand::RngExt;
        // Random gaps need no such share: each node draws other gaps anyway.
        let first = match &every {
            Dist::Constant(span) => span.ceil_mul(rng.random()),
            Dist::Drawn(_) => every.sample(&mut rng),
        };
        (Self { every, lasts, rng }, first)
    }

    /// Draws how long the mishap lasts, unless it never ends, and the gap after it.
    fn next(&mut self) -> (Option<SimSpan>, SimSpan) {
        // Always make both draws, in this order: the rhythm must not depend on other mishaps of the
        // machine.
        let lasts = self.lasts.as_ref().map(|lasts| lasts.sample(&mut self.rng));
        (lasts, self.every.sample(&mut self.rng))
    }
}

/// The mishaps of a run, and the machines that they strike.
#[derive(Debug)]
pub struct FaultInjector {
    mishaps: Vec<Mishap>,
    /// The machines, by the number of their tracker.
    machines: Vec<Machine>,
    /// Whether there is a fabric, which needs the speeds of disks and wires.
    has_fabric: bool,
    /// Whether there is a NameNode, which needs to know which machines are off.
    has_name_node: bool,
    /// The gap that follows the end of each mishap, by the mishap's number; valid while the mishap
    /// holds.
    pauses: Vec<SimSpan>,
    /// The mishaps that were due while one of their machines was off, each with the next time at
    /// which it is due. They are planned again when the machine is on.
    missed: Vec<(u32, SimTime)>,
}

/// The mishaps that hold at a machine.
#[derive(Clone, Debug, Default)]
struct Machine {
    is_stopped: bool,
    outages: u32,
    absences: u32,
    tracker_outages: u32,
    /// The mishaps that slow it down, in the order in which they began.
    slow: Vec<(u32, Speeds)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum MachineState {
    On,
    /// The machine is on, but its tracker's process is down.
    WithoutTracker,
    Off,
    /// The machine is not in the cluster yet.
    Absent,
}

impl MachineState {
    fn is_powered(self) -> bool {
        matches!(self, Self::On | Self::WithoutTracker)
    }
}

impl Machine {
    fn state(&self) -> MachineState {
        if 0 < self.absences {
            MachineState::Absent
        } else if self.is_stopped || 0 < self.outages {
            MachineState::Off
        } else if 0 < self.tracker_outages {
            MachineState::WithoutTracker
        } else {
            MachineState::On
        }
    }

    fn speeds(&self) -> Speeds {
        self.slow.iter().fold(Speeds::USUAL, |all, (_, one)| all.and(*one))
    }
}

impl FaultInjector {
    /// Returns the injector of a cluster of `machines` machines, which are all on. A mishap's
    /// number is its position in the list.
    pub fn new(machines: u32, mishaps: Vec<Mishap>, has_fabric: bool) -> Self {
        Self {
            machines: vec![Machine::default(); machines as usize],
            pauses: vec![SimSpan::ZERO; mishaps.len()],
            mishaps,
            has_fabric,
            has_name_node: false,
            missed: Vec::new(),
        }
    }

    /// Makes the injector report to a NameNode which machines go off and come back.
    pub fn tell_name_node(mut self) -> Self {
        self.has_name_node = true;
        self
    }

    fn begin(&mut self, stroke: MishapId, out: &mut Outbox) {
        let number = stroke.number;
        let may_begin = self.may_begin(number);
        if let Some(rhythm) = &mut self.mishaps[number as usize].rhythm {
            let (lasts, pause) = rhythm.next();
            if !may_begin {
                return self.missed.push((number, out.now + pause));
            }
            self.pauses[number as usize] = pause;
            if let Some(lasts) = lasts {
                out.plan(lasts, Mail::FaultInjector(ToFaultInjector::Ends(stroke)));
            }
        }
        self.strike(number, true, out);
    }

    /// Returns whether the machines of a mishap are in the state that it needs: only a machine that
    /// is on can crash.
    fn may_begin(&self, number: u32) -> bool {
        let Mishap { nodes, harm, .. } = &self.mishaps[number as usize];
        !matches!(harm, MishapHarm::Outage | MishapHarm::TrackerOutage)
            || nodes.iter().all(|node| self.machines[node.index()].state() == MachineState::On)
    }

    /// Plans the next time of each missed mishap whose machines are on again. Times that lie in the
    /// past are missed, too.
    fn plan_missed(&mut self, out: &mut Outbox) {
        for (number, mut next) in std::mem::take(&mut self.missed) {
            if !self.may_begin(number) {
                self.missed.push((number, next));
                continue;
            }
            let Mishap { harm, rhythm, .. } = &mut self.mishaps[number as usize];
            // Draw the times in the past, too, so that all later times are as if the machine had
            // been on.
            while let Some(rhythm) = rhythm.as_mut().filter(|_| next < out.now) {
                next += rhythm.next().1;
            }
            let begins = ToFaultInjector::Begins(harm.stroke(number));
            out.plan(next.saturating_since(out.now), Mail::FaultInjector(begins));
        }
    }

    fn end(&mut self, stroke: MishapId, out: &mut Outbox) {
        let number = stroke.number;
        self.strike(number, false, out);
        // The gap was drawn when the mishap began; it starts now, at the mishap's end.
        if self.mishaps[number as usize].rhythm.is_some() {
            let pause = self.pauses[number as usize];
            out.plan(pause, Mail::FaultInjector(ToFaultInjector::Begins(stroke)));
        }
    }

    fn strike(&mut self, number: u32, begins: bool, out: &mut Outbox) {
        let Mishap { nodes, harm, .. } = &self.mishaps[number as usize];
        for node in nodes {
            let machine = &mut self.machines[node.index()];
            let (state, speeds) = (machine.state(), machine.speeds());
            // Count the causes: a node may be off for two causes at a time, and is on again when
            // both have ended.
            let count = |of: &mut u32| if begins { *of += 1 } else { *of -= 1 };
            match *harm {
                MishapHarm::Stop => machine.is_stopped = begins,
                MishapHarm::Start => machine.is_stopped = false,
                MishapHarm::Outage => count(&mut machine.outages),
                MishapHarm::Absence => count(&mut machine.absences),
                MishapHarm::TrackerOutage => count(&mut machine.tracker_outages),
                MishapHarm::Slow(speeds) if begins => machine.slow.push((number, speeds)),
                MishapHarm::Slow(_) => machine.slow.retain(|(by, _)| *by != number),
            }
            switch(*node, [state, machine.state()], out);
            if self.has_name_node {
                tell_name_node(*node, [state, machine.state()], out);
            }
            if machine.speeds() != speeds {
                slow_down(*node, machine.speeds(), self.has_fabric, out);
            }
        }
        // A missed mishap may wait for a machine that has just come on.
        if !self.missed.is_empty() {
            self.plan_missed(out);
        }
    }
}

/// Sends a machine's new state to the cores that need it, and emits the incident. A machine that
/// was absent before gets no incident, since its tracker reports that it has joined.
fn switch(node: TrackerId, [was, is]: [MachineState; 2], out: &mut Outbox) {
    use MachineState as S;
    if was == is {
        return;
    }
    let mut tell = |is_so: bool, incident| {
        if is_so {
            out.emit(Fact::befell(node, incident));
        }
    };
    tell(is == S::Off, Incident::MachineOff);
    tell(was == S::Off && is.is_powered(), Incident::MachineOn);
    tell(is == S::WithoutTracker, Incident::TrackerGone);
    tell(was == S::WithoutTracker && is == S::On, Incident::TrackerBack);
    let message = match is {
        S::On => Some(ToTracker::PowerOn),
        // If a machine comes on while its tracker is down, no process needs to be informed.
        S::WithoutTracker => (was == S::On).then_some(ToTracker::Crash),
        S::Off | S::Absent => was.is_powered().then_some(ToTracker::PowerOff),
    };
    if let Some(message) = message {
        out.affect(Mail::Tracker(node, message));
    }
    // Reduces fetch from the tracker's process, not from the machine: without the process the
    // outputs are out of reach.
    if was == S::On {
        out.affect(ToMapOutputs::Darkness(node));
    }
}

/// Tells the NameNode that a machine has gone off or come back, or that it is off when it should
/// join.
fn tell_name_node(node: TrackerId, [was, is]: [MachineState; 2], out: &mut Outbox) {
    match (was, is) {
        (MachineState::Absent, MachineState::Off) => out.affect(ToNameNode::JoinsOff(node)),
        (was, MachineState::Off) if was.is_powered() => out.affect(ToNameNode::Off(node)),
        (was, is) if !was.is_powered() && is.is_powered() => out.affect(ToNameNode::On(node)),
        // If only the tracker is down, the DataNode goes on, as it is another process.
        _ => {}
    }
}

/// Sets the speeds of a machine.
fn slow_down(node: TrackerId, speeds: Speeds, has_fabric: bool, out: &mut Outbox) {
    out.emit(Fact::befell(node, Incident::Speeds(speeds)));
    let speeds = Arc::new(speeds);
    out.affect(Mail::Tracker(node, ToTracker::Speeds(speeds.clone())));
    if has_fabric {
        out.affect(ToFabric::Speeds(node, speeds));
    }
}

impl Core for FaultInjector {
    type Msg = ToFaultInjector;

    fn handle(&mut self, msg: &ToFaultInjector, out: &mut Outbox) {
        match *msg {
            ToFaultInjector::Begins(stroke) => self.begin(stroke, out),
            ToFaultInjector::Ends(stroke) => self.end(stroke, out),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mapred::event::{Event, WorldFact};
    use crate::mapred::outbox::Letter;
    use mumakil_base::random::{Purpose, stream};

    const NODE: TrackerId = TrackerId(0);

    fn at(secs: u64) -> SimTime {
        SimTime::ZERO + SimSpan::from_secs(secs)
    }

    fn power(number: u32) -> MishapId {
        MishapId { number, is_power: true }
    }

    fn mishap(harm: MishapHarm) -> Mishap {
        Mishap { nodes: vec![NODE], harm, rhythm: None }
    }

    /// Returns the incidents of a node when these mishaps begin (`true`) and end.
    fn story(mishaps: Vec<Mishap>, steps: &[(u32, bool)]) -> Vec<&'static str> {
        let mut nature = FaultInjector::new(1, mishaps, false);
        let mut out = Outbox::default();
        for (number, begins) in steps {
            let step = if *begins { ToFaultInjector::Begins } else { ToFaultInjector::Ends };
            nature.handle(&step(power(*number)), &mut out);
        }
        let incident = |event: Event| match event.fact {
            Fact::World(WorldFact::Incident { incident, .. }) => incident.words(),
            other => unreachable!("nature says {other:?}"),
        };
        out.events.into_iter().map(incident).collect()
    }

    #[test]
    fn a_machine_is_off_until_the_last_outage_is_over() {
        let twice = || vec![mishap(MishapHarm::Outage), mishap(MishapHarm::Outage)];
        let steps = [(0, true), (1, true), (0, false), (1, false)];
        assert_eq!(story(twice(), &steps), ["machine off", "machine on"]);
    }

    #[test]
    fn nodes_stopped_by_hand_are_not_repaired_by_themselves() {
        let mishaps =
            || [MishapHarm::Stop, MishapHarm::Outage, MishapHarm::Start].map(mishap).into();
        let steps = [(0, true), (1, true), (1, false)];
        assert_eq!(story(mishaps(), &steps), ["machine off"]);
        let steps = [(0, true), (1, true), (1, false), (2, true)];
        assert_eq!(story(mishaps(), &steps), ["machine off", "machine on"]);
    }

    #[test]
    fn a_machine_that_is_stopped_before_it_joins_is_off_from_when_it_should_be_there() {
        let mishaps = || {
            [MishapHarm::Absence, MishapHarm::Stop, MishapHarm::Start, MishapHarm::Absence]
                .map(mishap)
                .into()
        };
        assert_eq!(story(mishaps(), &[(0, true), (0, false)]), [""; 0]);
        let steps = [(0, true), (3, true), (1, true), (0, false)];
        assert_eq!(story(mishaps(), &steps), [""; 0], "it is to join later still");
        let steps = [(0, true), (1, true), (0, false), (2, true)];
        assert_eq!(story(mishaps(), &steps), ["machine off", "machine on"]);
        let mut nature = FaultInjector::new(1, mishaps(), false).tell_name_node();
        let mut out = Outbox::default();
        for (number, begins) in steps {
            let step = if begins { ToFaultInjector::Begins } else { ToFaultInjector::Ends };
            nature.handle(&step(power(number)), &mut out);
        }
        let told = out.letters.iter().filter_map(|letter| match letter.mail {
            Mail::NameNode(ToNameNode::Off(_)) => Some("off"),
            Mail::NameNode(ToNameNode::JoinsOff(_)) => Some("joins off"),
            Mail::NameNode(ToNameNode::On(_)) => Some("on"),
            _ => None,
        });
        assert_eq!(told.collect::<Vec<_>>(), ["joins off", "on"]);
    }

    #[test]
    fn a_tracker_that_restarts_goes_with_its_machine() {
        let mishaps = || [MishapHarm::TrackerOutage, MishapHarm::Outage].map(mishap).into();
        assert_eq!(story(mishaps(), &[(0, true), (0, false)]), ["tracker gone", "tracker back"]);
        let steps = [(0, true), (1, true), (1, false), (0, false)];
        // The loss of the tracker is reported again when the machine comes on without it, since the
        // tracker may have died meanwhile.
        let all = ["tracker gone", "machine off", "machine on", "tracker gone", "tracker back"];
        assert_eq!(story(mishaps(), &steps), all);
    }

    #[test]
    fn two_reasons_for_slowness_multiply() {
        let slow = |cpu| mishap(MishapHarm::Slow(Speeds { cpu, ..Speeds::USUAL }));
        let mut nature = FaultInjector::new(1, vec![slow(0.5), slow(0.4)], true);
        let mut out = Outbox::default();
        for step in [
            ToFaultInjector::Begins(power(0)),
            ToFaultInjector::Begins(power(1)),
            ToFaultInjector::Ends(power(0)),
            ToFaultInjector::Ends(power(1)),
        ] {
            nature.handle(&step, &mut out);
        }
        let cpu = |letter: &Letter| match &letter.mail {
            Mail::Tracker(_, ToTracker::Speeds(speeds)) => Some(speeds.cpu),
            Mail::Fabric(ToFabric::Speeds(..)) => None,
            other => unreachable!("nature says {other:?}"),
        };
        let told: Vec<f64> = out.letters.iter().filter_map(cpu).collect();
        assert_eq!(told, [0.5, 0.2, 0.4, 1.0]);
        assert_eq!(out.letters.len(), 8, "the fabric hears of each as well");
    }

    /// A mishap: a crash after every ten seconds of work, repaired in three.
    fn crashing() -> (Mishap, SimSpan) {
        let secs = |secs| Dist::Constant(SimSpan::from_secs(secs));
        let rng = stream(1, Purpose::Mishap, 0);
        let (rhythm, first) = MishapRhythm::begin(secs(10), Some(secs(3)), rng);
        (Mishap { rhythm: Some(rhythm), ..mishap(MishapHarm::Outage) }, first)
    }

    #[test]
    fn recurring_faults_plan_their_next_time_when_they_are_over() {
        let (crashing, first) = crashing();
        assert!(first < SimSpan::from_secs(10), "the first time is a part of the others");
        let mut nature = FaultInjector::new(1, vec![crashing], false);
        let mut hear = |now, msg| {
            let mut out = Outbox::at(now);
            nature.handle(&msg, &mut out);
            let own = |letter: Letter| match letter.mail {
                Mail::FaultInjector(ToFaultInjector::Begins(_)) => {
                    Some((letter.after.as_secs_f64(), "begins"))
                }
                Mail::FaultInjector(ToFaultInjector::Ends(_)) => {
                    Some((letter.after.as_secs_f64(), "ends"))
                }
                _ => None,
            };
            out.letters.into_iter().filter_map(own).collect::<Vec<_>>()
        };
        assert_eq!(hear(at(5), ToFaultInjector::Begins(power(0))), [(3.0, "ends")]);
        assert_eq!(hear(at(8), ToFaultInjector::Ends(power(0))), [(10.0, "begins")]);
    }

    #[test]
    fn a_machine_that_is_off_does_not_crash_but_will_another_time() {
        let mishaps = vec![crashing().0, mishap(MishapHarm::Stop), mishap(MishapHarm::Start)];
        let mut nature = FaultInjector::new(1, mishaps, false);
        let mut out = Outbox::default();
        nature.handle(&ToFaultInjector::Begins(power(1)), &mut out);
        let before = out.letters.len();
        out.now = at(5);
        nature.handle(&ToFaultInjector::Begins(power(0)), &mut out);
        assert_eq!(out.letters.len(), before, "nothing will come of it while the machine is off");
        // It was due at 15 and 25 s, and missed; the next time is 35 s.
        out.now = at(28);
        nature.handle(&ToFaultInjector::Begins(power(2)), &mut out);
        let letter = out.letters.back().expect("the machine is on again");
        assert_eq!(letter.after, SimSpan::from_secs(7));
        assert!(matches!(
            letter.mail,
            Mail::FaultInjector(ToFaultInjector::Begins(MishapId { number: 0, .. }))
        ));
    }
}
