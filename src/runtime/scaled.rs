//! The scaled drive: virtual time is wall time times a factor.
//!
//! A pacer, on the caller's thread, holds the timers and delivers each message when the wall says
//! so. Actors run on several others, the JobTracker on one of its own, so queueing and the cost
//! of deciding are real. All that an actor leaves goes to the pacer in one parcel, letters and
//! events together, so events reach the recorder in an order in which causes precede effects.
//!
//! Tokio's timers know whole milliseconds, which at 600x are 0.6 s; so the pacer sleeps only while
//! the next message is far away and else watches the clock. How late a message reaches its core, in
//! virtual time, is the clock's *lag*: what the pacer, the mailbox and a busy thread add together.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::{Duration, Instant};

use actix::{Actor, Addr, Arbiter, System};
use crossbeam_channel::{Receiver, Sender, unbounded};
use hdrhistogram::Histogram;

use super::actor::{Clock, CoreActor, Delivery};
use super::drive::{Agenda, Body, Drive, Seats};
use super::link::Address;
use super::{Ending, Play, RunStats};
use crate::mapred::{Event, Mail, Message, Outbox, Stop};
use crate::units::{SimSpan, SimTime};

/// The pacer sleeps only if the next message is further away than this: waking takes as long.
const NAP: Duration = Duration::from_micros(200);

/// Runs the cores against the wall clock, `factor` times as fast, until one of them stops the run
/// or its time is up.
pub fn run_scaled(play: Play, factor: f64) -> (RunStats, Ending) {
    let Play { cast, links, opening, events, until } = play;
    // Arbiters belong to a system; this thread's is theirs.
    let _system = System::new();
    let (pacer, parcels) = unbounded();
    let wall = Wall::new(factor);
    let threads =
        Threads::start(ScaledClock { wall: wall.clone(), pacer, is_over: Cell::default() });
    let pacer = Pacer {
        wall,
        seats: Seats::new(cast, links, &threads),
        threads: &threads,
        agenda: Agenda::new(opening, events, until),
        parcels,
        under_way: 0,
        lag: Histogram::new(3).expect("three digits are within the crate's limits"),
    };
    pacer.run()
}

/// Wall time as virtual time.
#[derive(Clone)]
struct Wall {
    /// The beginning of virtual time, set once all actors are there.
    origin: Arc<OnceLock<Instant>>,
    factor: f64,
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

/// An actor's handle of the pacer.
#[derive(Clone)]
struct ScaledClock {
    wall: Wall,
    pacer: Sender<Parcel>,
    /// Whether the actor has found that the pacer has gone.
    is_over: Cell<bool>,
}

/// What an actor leaves after a message.
struct Parcel {
    lag: SimSpan,
    letters: Vec<(SimTime, Mail)>,
    events: Vec<Event>,
    ending: Option<Ending>,
}

impl Clock for ScaledClock {
    fn run<M: Message>(&self, due: SimTime, msg: M, body: &RefCell<Body<M>>) {
        if self.is_over.get() {
            return;
        }
        let now = self.wall.now().max(due);
        let mut outbox = Outbox::default();
        let mut letters = Vec::new();
        let post = |at, mail| letters.push((at, mail));
        let ending = body.borrow_mut().handle(now, msg, &mut outbox, post);
        let (lag, events) = (now.saturating_since(due), outbox.events);
        let sent = self.pacer.send(Parcel { lag, letters, events, ending });
        // A pacer that has gone has ended the run; what is left in the mailbox is not part of it.
        self.is_over.set(sent.is_err());
    }
}

/// The threads of the actors, the JobTracker's first. Dropped, they end.
struct Threads {
    arbiters: Vec<Arbiter>,
    clock: ScaledClock,
    /// How many actors have a thread that they may share.
    seated: Cell<usize>,
}

impl Threads {
    fn start(clock: ScaledClock) -> Self {
        let cores = thread::available_parallelism().map_or(2, usize::from);
        let count = 1 + cores.saturating_sub(1).max(2);
        let arbiters = (0..count).map(|_| Arbiter::new()).collect();
        Self { arbiters, clock, seated: Cell::default() }
    }

    fn thread_of(&self, address: Address) -> &Arbiter {
        let (own, shared) = self.arbiters.split_first().expect("there are at least three");
        if address == Address::JobTracker {
            return own;
        }
        let number = self.seated.replace(self.seated.get() + 1);
        &shared[number % shared.len()]
    }
}

impl Drop for Threads {
    fn drop(&mut self) {
        for arbiter in &self.arbiters {
            arbiter.stop();
        }
        for arbiter in self.arbiters.drain(..) {
            // What panics in a core has been told to the pacer.
            let _ = arbiter.join();
        }
    }
}

impl Drive for Threads {
    type Seat<M: Message> = Addr<CoreActor<M, ScaledClock>>;

    fn seat<M: Message>(&self, body: Body<M>) -> Self::Seat<M> {
        let (thread, clock) = (self.thread_of(body.address()).handle(), self.clock.clone());
        CoreActor::start_in_arbiter(&thread, move |_| {
            CoreActor::new(Rc::new(RefCell::new(body)), clock)
        })
    }

    fn deliver<M: Message>(&self, actor: &Self::Seat<M>, at: SimTime, msg: M) {
        actor.do_send(Delivery { at, msg });
    }
}

/// What makes time pass.
struct Pacer<'a> {
    wall: Wall,
    threads: &'a Threads,
    seats: Seats<Threads>,
    agenda: Agenda,
    parcels: Receiver<Parcel>,
    /// Messages that were delivered and whose parcels have not come back.
    under_way: u64,
    lag: Histogram<u64>,
}

impl Pacer<'_> {
    fn run(mut self) -> (RunStats, Ending) {
        while !self.agenda.is_over() {
            self.deliver_due();
            if self.under_way == 0 && self.agenda.has_nothing_to_come() {
                self.agenda.end(Ending::Stopped(Stop::Stalled));
            }
            self.take_parcels();
        }
        // From here on actors find that the run is over, and what comes from them is lost.
        drop(self.parcels);
        self.agenda.reach(self.wall.now());
        let (stats, ending) = self.agenda.result();
        (RunStats { lag: Some(self.lag), ..stats }, ending)
    }

    /// Delivers what the wall says is due.
    fn deliver_due(&mut self) {
        let now = self.wall.now();
        while let Some((at, mail)) = self.agenda.next_due(now) {
            self.under_way += 1;
            self.seats.deliver(self.threads, at, mail);
        }
    }

    /// Takes what actors have left, and waits for more if nothing is due soon.
    fn take_parcels(&mut self) {
        let wait = self.wall.until(self.agenda.wakes_at());
        let mut is_idle = wait <= NAP;
        if !is_idle && !self.agenda.is_over() {
            self.agenda.flush();
            if let Ok(parcel) = self.parcels.recv_timeout(wait - NAP) {
                self.take(parcel);
            }
        }
        while !self.agenda.is_over()
            && let Ok(parcel) = self.parcels.try_recv()
        {
            self.take(parcel);
            is_idle = false;
        }
        if is_idle {
            // Watching the clock must not keep the actors from their core.
            thread::yield_now();
        }
    }

    fn take(&mut self, Parcel { lag, letters, mut events, ending }: Parcel) {
        self.under_way -= 1;
        // A histogram that grows takes any value; one that saturates would hide the worst.
        self.lag.record(lag.as_micros()).expect("the histogram grows");
        self.agenda.post(letters);
        self.agenda.take_over(&mut events, ending);
    }
}
