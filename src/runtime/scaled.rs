//! The scaled drive: virtual time is wall time times a factor.
//!
//! A pacer, on a thread of its own, holds the timers and delivers each message when the wall says
//! so. Actors run on several threads, the JobTracker on one of its own, so queueing and the cost
//! of deciding are real. All that an actor leaves goes to the pacer in one parcel, letters and
//! events together, so events reach the recorder in an order in which causes precede effects.
//!
//! Tokio's timers know whole milliseconds, which at 600x are 0.6 s; so the pacer sleeps only while
//! the next message is far away and else watches the clock. How late a message reaches its core, in
//! virtual time, is the clock's *lag*: what the pacer, the mailbox and a busy thread add together.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::{Duration, Instant};

use actix::{Actor, Addr, Arbiter, System};
use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, TryRecvError, unbounded};
use hdrhistogram::Histogram;

use super::actor::{Body, CoreActor, Mail};
use super::clock::Clock;
use super::link::{Link, Links};
use super::timers::Timers;
use super::{Cast, Ending, EventSink, Opening, RunStats};
use crate::mapred::{Address, Core, Event, Letter, Msg, Outbox, Stop};
use crate::units::{SimSpan, SimTime};

/// The pacer sleeps only if the next message is further away than this: waking takes as long.
const NAP: Duration = Duration::from_micros(200);

/// An actor's handle of the pacer.
#[derive(Clone)]
pub(super) struct ScaledClock {
    wall: Wall,
    pacer: Sender<Parcel>,
}

/// Wall time as virtual time.
#[derive(Clone)]
struct Wall {
    /// The beginning of virtual time, set once all actors are there.
    origin: Arc<OnceLock<Instant>>,
    factor: f64,
}

/// What an actor leaves after a message.
enum Parcel {
    Posts { lag: SimSpan, letters: Vec<(SimTime, Address, Msg)>, events: Vec<Event> },
    End(Ending),
}

impl Wall {
    fn new(factor: f64) -> Self {
        Self { origin: Arc::default(), factor }
    }

    #[expect(clippy::disallowed_methods, reason = "the scaled clock is paced by the wall")]
    fn now(&self) -> SimTime {
        let micros =
            self.origin.get_or_init(Instant::now).elapsed().as_secs_f64() * self.factor * 1e6;
        SimTime::from_micros(micros as u64)
    }

    /// Returns how long the wall takes until an instant: at most an hour, then one looks again.
    fn until(&self, time: SimTime) -> Duration {
        let virtual_secs = time.saturating_since(self.now()).as_secs_f64();
        Duration::from_secs_f64((virtual_secs / self.factor).min(3_600.0))
    }
}

impl ScaledClock {
    /// Lets an actor handle a message that was due at `due`, and takes over what it leaves.
    pub(super) fn run(&self, due: SimTime, msg: Msg, body: &mut Body) {
        let now = self.wall.now().max(due);
        let mut outbox = Outbox::default();
        let mut letters = Vec::new();
        let post = |at, letter: Letter| letters.push((at, letter.to, letter.msg));
        if let Err(words) = body.handle(now, msg, &mut outbox, post) {
            return self.end(Ending::Panicked(words));
        }
        let (lag, events) = (now.saturating_since(due), outbox.events);
        self.send(Parcel::Posts { lag, letters, events });
        if let Some(stop) = outbox.stop {
            self.end(Ending::Stopped(stop));
        }
    }

    fn end(&self, ending: Ending) {
        self.send(Parcel::End(ending));
    }

    fn send(&self, parcel: Parcel) {
        // A pacer that has gone has ended the run; what comes after is not part of it.
        let _ = self.pacer.send(parcel);
    }
}

/// Runs the cores against the wall clock, `factor` times as fast, until one of them stops the run
/// or `until` is reached.
pub fn run_scaled(
    cast: Cast,
    links: Links,
    opening: Opening,
    events: Box<dyn EventSink>,
    until: SimTime,
    factor: f64,
) -> (RunStats, Ending) {
    let links = Arc::new(links);
    let (pacer, parcels) = unbounded();
    let wall = Wall::new(factor);
    let clock = ScaledClock { wall: wall.clone(), pacer };
    let cores = thread::available_parallelism().map_or(2, usize::from);
    System::new().block_on(async {
        let own = Arbiter::new();
        let shared: Vec<Arbiter> =
            (0..cores.saturating_sub(1).max(2)).map(|_| Arbiter::new()).collect();
        let start = |arbiter: &Arbiter, address: Address, core: Box<dyn Core>| {
            let (links, clock) = (links.clone(), clock.clone());
            CoreActor::start_in_arbiter(&arbiter.handle(), move |_| {
                let body = Body::new(core, Link::new(links, address));
                CoreActor::new(Rc::new(RefCell::new(body)), Clock::Scaled(clock))
            })
        };
        let actors = cast.into_cores().map(|(address, core)| {
            let arbiter = match address {
                Address::JOB_TRACKER => &own,
                other => &shared[other.index() % shared.len()],
            };
            start(arbiter, address, core)
        });
        let actors = actors.collect();
        let pacer = Pacer::new(wall, actors, events, until);
        let pacing = thread::spawn(move || pacer.run(opening, &parcels));
        let result = pacing.join();
        for arbiter in shared.into_iter().chain([own]) {
            arbiter.stop();
            // A thread that panicked has told the pacer.
            let _ = arbiter.join();
        }
        result.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

/// The thread that makes time pass.
struct Pacer {
    wall: Wall,
    timers: Timers<(Address, Msg)>,
    /// By address.
    actors: Vec<Addr<CoreActor>>,
    events: Box<dyn EventSink>,
    until: SimTime,
    messages: u64,
    lag: Histogram<u64>,
}

impl Pacer {
    fn new(
        wall: Wall,
        actors: Vec<Addr<CoreActor>>,
        events: Box<dyn EventSink>,
        until: SimTime,
    ) -> Self {
        let lag = Histogram::new(3).expect("three digits are within the crate's limits");
        Self { wall, timers: Timers::default(), actors, events, until, messages: 0, lag }
    }

    fn run(mut self, opening: Opening, parcels: &Receiver<Parcel>) -> (RunStats, Ending) {
        for (time, to, msg) in opening {
            self.timers.push(time, (to, msg));
        }
        let ending = loop {
            if let Err(ending) = self.take_parcels(parcels).and_then(|()| self.deliver_due()) {
                break ending;
            }
        };
        let end = self.wall.now().min(self.until);
        (RunStats { end, messages: self.messages, lag: Some(self.lag) }, ending)
    }

    /// Takes what actors have left, and waits for more if nothing is due soon.
    fn take_parcels(&mut self, parcels: &Receiver<Parcel>) -> Result<(), Ending> {
        let due = self.timers.next_time().unwrap_or(SimTime::NEVER).min(self.until);
        let wait = self.wall.until(due);
        if NAP < wait {
            self.events.flush();
            match parcels.recv_timeout(wait - NAP) {
                Ok(parcel) => self.take(parcel)?,
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Err(Ending::Stopped(Stop::Stalled)),
            }
        }
        let mut is_idle = wait <= NAP;
        loop {
            match parcels.try_recv() {
                Ok(parcel) => self.take(parcel)?,
                Err(TryRecvError::Empty) => break,
                Err(TryRecvError::Disconnected) => return Err(Ending::Stopped(Stop::Stalled)),
            }
            is_idle = false;
        }
        if is_idle {
            // Watching the clock must not keep the actors from their core.
            thread::yield_now();
        }
        Ok(())
    }

    fn take(&mut self, parcel: Parcel) -> Result<(), Ending> {
        match parcel {
            Parcel::Posts { lag, letters, mut events } => {
                // A histogram that grows takes any value; one that saturates would hide the worst.
                self.lag.record(lag.as_micros()).expect("the histogram grows");
                for (time, to, msg) in letters {
                    self.timers.push(time, (to, msg));
                }
                self.events.take(&mut events);
                if self.events.is_broken() { Err(Ending::SinkBroke) } else { Ok(()) }
            }
            Parcel::End(ending) => Err(ending),
        }
    }

    /// Delivers what the wall says is due.
    fn deliver_due(&mut self) -> Result<(), Ending> {
        let now = self.wall.now();
        if self.until <= now {
            return Err(Ending::Stopped(Stop::TimeUp));
        }
        while self.timers.next_time().is_some_and(|due| due <= now) {
            let Some((at, (to, msg))) = self.timers.pop() else { break };
            self.messages += u64::from(msg.counts());
            self.actors[to.index()].do_send(Mail { at, msg });
        }
        Ok(())
    }
}
