//! The scaled drive: virtual time is wall time times a factor.
//!
//! A pacer, on the caller's thread, holds the timers and delivers each message when the wall clock
//! reaches its time. The JobTracker runs on a thread of its own and the other actors on several
//! more, so queueing and the cost of decisions are real. An actor sends all its letters and events
//! to the pacer in one parcel, so the recorder gets causes before their effects.
//!
//! Tokio's timers count whole milliseconds, which at 600x are 0.6 s; so the pacer sleeps only while
//! the next message is far away, and polls the clock otherwise. The clock's *lag* is how late a
//! message reaches its core, in virtual time: the sum of the delays of pacer, mailbox and busy
//! threads.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::{Duration, Instant};

use actix::{Actor, Addr, Arbiter, Handler, MessageResult, System, SystemRunner};
use crossbeam_channel::{Receiver, Sender, unbounded};
use hdrhistogram::Histogram;

use super::actor::{ActorClock, CoreActor, Delivery};
use super::drive::{Agenda, Drive, SeatedCore, caught};
use super::{DrivenProtocol, Ending, RunPlan, RunStats, SenderLink};
use mumakil_base::units::{SimSpan, SimTime};
use mumakil_core::protocol::{CoreOutbox, IdleState, Message, RunStop};

/// The pacer sleeps only if the next message is further away than this: waking up takes as long.
const NAP: Duration = Duration::from_micros(200);

/// Runs the cores on the wall clock, `factor` times as fast, until a core stops the run or the
/// run's time is up.
pub fn run_scaled<P: DrivenProtocol>(
    mut play: RunPlan<P>,
    factor: f64,
) -> (RunStats, Ending<P::Stall>) {
    let agenda = Agenda::new(&mut play);
    let RunPlan { cast, links, until, .. } = play;
    // The arbiters, which are actix's threads, belong to the system of this thread.
    let system = System::new();
    // Unbounded: an actor that had to wait for room in the channel could wait for ever.
    let (pacer, parcels) = unbounded();
    let wall = Wall::new(factor);
    let end =
        Arc::new(SharedEnd { until, is_closed: AtomicBool::new(false), broke: OnceLock::new() });
    let clock =
        ScaledClock { wall: wall.clone(), end: end.clone(), pacer, is_over: Cell::default() };
    let threads = Threads::start(clock);
    let pacer = Pacer {
        wall,
        seats: P::seat(cast, links, &threads),
        threads: &threads,
        end: &end,
        agenda,
        parcels,
        under_way: 0,
        lag: Histogram::new(3).expect("three digits are within the crate's limits"),
    };
    let (stats, ending) = pacer.run(&system);
    // An actor may still have been at work when the run ended. Wait for it: its panic counts.
    drop(threads);
    let broke = end.broke.get().cloned().filter(|_| matches!(ending, Ending::Stopped(_)));
    (stats, broke.unwrap_or(ending))
}

/// How the run ends, as the actors and the pacer share it.
struct SharedEnd<S> {
    until: SimTime,
    /// Whether the pacer has ended the run.
    is_closed: AtomicBool,
    /// How the first panic of a core ends the run.
    broke: OnceLock<Ending<S>>,
}

/// The wall clock in virtual time.
#[derive(Clone)]
struct Wall {
    /// The wall time at which virtual time begins, set once all actors are ready.
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

    /// Returns how much wall time is left until an instant: at most an hour, after which the caller
    /// looks again.
    fn until(&self, time: SimTime) -> Duration {
        let virtual_secs = time.saturating_since(self.now()).as_secs_f64();
        // An infinite wait would overflow the duration.
        Duration::from_secs_f64((virtual_secs / self.factor).min(3_600.0))
    }
}

/// An actor's connection to the pacer.
struct ScaledClock<P: DrivenProtocol> {
    wall: Wall,
    end: Arc<SharedEnd<P::Stall>>,
    pacer: Sender<ActorOutput<P>>,
    /// Whether the actor has found that the run is over: the actor itself or the pacer has ended
    /// it.
    is_over: Cell<bool>,
}

/// The letters, events and measures that an actor sends to the pacer after a message.
struct ActorOutput<P: DrivenProtocol> {
    lag: SimSpan,
    letters: Vec<(SimTime, P::Mail)>,
    events: Vec<P::Event>,
    ending: Option<Ending<P::Stall>>,
    /// When the message was handled, and whether it may have moved a slot or a job.
    handled: (SimTime, bool),
    calm: Option<IdleState>,
}

// Not derived: the protocol itself need not be clonable.
impl<P: DrivenProtocol> Clone for ScaledClock<P> {
    fn clone(&self) -> Self {
        let Self { wall, end, pacer, is_over } = self;
        let (wall, end, pacer) = (wall.clone(), end.clone(), pacer.clone());
        Self { wall, end, pacer, is_over: is_over.clone() }
    }
}

impl<P: DrivenProtocol> ActorClock<P> for ScaledClock<P> {
    fn run<M: Message<Protocol = P>>(
        &self,
        due: SimTime,
        msg: &M,
        body: &RefCell<SeatedCore<P, M>>,
    ) {
        // A core must not get a message before it is due, however the wall clock is rounded.
        let now = self.wall.now().max(due);
        // Messages that were in the mailbox at the end of the run are not part of the run. Look
        // after reading the clock: the pacer closes the run first and then reads when it ended, so
        // no core has handled a message later than that.
        if self.is_over.get() || self.end.until < now || self.end.is_closed.load(Ordering::SeqCst) {
            return;
        }
        let handled = (now, msg.effect().moves);
        let mut outbox = CoreOutbox::default();
        let mut letters = Vec::new();
        let ending = match caught(|| {
            let mut body = body.borrow_mut();
            body.handle(now, msg, &mut outbox);
            body.carry(now, &mut outbox, |at, mail| letters.push((at, mail)))
        }) {
            Ok(ending) => ending,
            Err(ending) => {
                // The pacer may no longer take this actor's parcels.
                self.end.broke.get_or_init(|| ending.clone());
                // The core has stopped half-way: its letters and events may contradict each other.
                outbox = CoreOutbox::default();
                letters.clear();
                Some(ending)
            }
        };
        let CoreOutbox { events, calm, .. } = outbox;
        let lag = now.saturating_since(due);
        let ends = ending.is_some();
        let sent = self.pacer.send(ActorOutput { lag, letters, events, ending, handled, calm });
        // Messages that are still in the mailbox are not part of the run.
        self.is_over.set(ends || sent.is_err());
    }
}

/// Asks the head for the events that it has held back, at the end of the run.
struct HearOut<P: DrivenProtocol> {
    /// The instant at which the run has ended.
    at: SimTime,
    over: P::Head,
}

impl<P: DrivenProtocol> actix::Message for HearOut<P> {
    type Result = Vec<P::Event>;
}

impl<P: DrivenProtocol> Handler<HearOut<P>> for CoreActor<P, P::Head, ScaledClock<P>> {
    type Result = MessageResult<HearOut<P>>;

    fn handle(&mut self, HearOut { at, over }: HearOut<P>, _: &mut Self::Context) -> Self::Result {
        let mut out = CoreOutbox::default();
        let broke = &self.clock.end.broke;
        // A core that has panicked must not be called again.
        if broke.get().is_none()
            && let Err(ending) = caught(|| self.body.borrow_mut().handle(at, &over, &mut out))
        {
            broke.get_or_init(|| ending);
        }
        MessageResult(out.events)
    }
}

/// The threads of the actors, the head's first. Dropping this value ends them.
struct Threads<P: DrivenProtocol> {
    arbiters: Vec<Arbiter>,
    clock: ScaledClock<P>,
    /// How many actors have got one of the shared threads.
    seated: Cell<usize>,
}

impl<P: DrivenProtocol> Threads<P> {
    fn start(clock: ScaledClock<P>) -> Self {
        // If the number of cores is unknown, assume two.
        let cores = thread::available_parallelism().map_or(2, usize::from);
        // Two threads for the trackers even on a small machine: trackers must run concurrently.
        let count = 1 + cores.saturating_sub(1).max(2);
        let arbiters = (0..count).map(|_| Arbiter::new()).collect();
        Self { arbiters, clock, seated: Cell::default() }
    }

    fn thread_of(&self, link: &P::Link) -> &Arbiter {
        let (own, shared) = self.arbiters.split_first().expect("there are at least three");
        if link.is_of_head() {
            return own;
        }
        // Deal the trackers out in turn, so that all threads get equally many.
        let number = self.seated.replace(self.seated.get() + 1);
        &shared[number % shared.len()]
    }
}

impl<P: DrivenProtocol> Drop for Threads<P> {
    fn drop(&mut self) {
        for arbiter in &self.arbiters {
            arbiter.stop();
        }
        for arbiter in self.arbiters.drain(..) {
            // The pacer knows of a core's panic already.
            let _ = arbiter.join();
        }
    }
}

impl<P: DrivenProtocol> Drive<P> for Threads<P> {
    type Seat<M: Message<Protocol = P>> = Addr<CoreActor<P, M, ScaledClock<P>>>;

    fn seat<M: Message<Protocol = P>>(&self, body: SeatedCore<P, M>) -> Self::Seat<M> {
        let (thread, clock) = (self.thread_of(&body.link).handle(), self.clock.clone());
        CoreActor::start_in_arbiter(&thread, move |_| {
            CoreActor::new(Rc::new(RefCell::new(body)), clock)
        })
    }

    fn deliver<M: Message<Protocol = P>>(&self, actor: &Self::Seat<M>, at: SimTime, msg: &M) {
        actor.do_send(Delivery { at, msg: msg.clone() });
    }
}

/// The pacer makes time pass: it delivers each message when the message is due by the wall clock.
struct Pacer<'a, P: DrivenProtocol> {
    wall: Wall,
    threads: &'a Threads<P>,
    end: &'a SharedEnd<P::Stall>,
    seats: P::Seats<Threads<P>>,
    agenda: Agenda<P>,
    parcels: Receiver<ActorOutput<P>>,
    /// The number of messages that were delivered and whose parcels have not come back.
    under_way: u64,
    lag: Histogram<u64>,
}

impl<P: DrivenProtocol> Pacer<'_, P> {
    fn run(mut self, system: &SystemRunner) -> (RunStats, Ending<P::Stall>) {
        while !self.agenda.is_over() {
            self.agenda.check_wall_clock();
            self.deliver_due();
            // A message that is being handled may lead to more messages.
            if self.under_way == 0 && self.agenda.has_nothing_to_come() {
                self.agenda.end(Ending::Stopped(RunStop::Stalled(Box::default())));
            }
            self.take_parcels();
        }
        // From here on actors find that the run is over, and their parcels are lost.
        drop(self.parcels);
        self.end.is_closed.store(true, Ordering::SeqCst);
        self.agenda.reach(self.wall.now());
        if let Some(at) = self.agenda.stopped_at()
            && let Some(over) = P::over()
        {
            let told = system.block_on(P::head(&self.seats).send(HearOut { at, over }));
            // The head does not answer if it has panicked since.
            self.agenda.take_over(&mut told.unwrap_or_default(), None);
        }
        let (stats, ending) = self.agenda.result();
        (RunStats { lag: Some(self.lag), ..stats }, ending)
    }

    /// Delivers the messages that are due by the wall clock.
    fn deliver_due(&mut self) {
        let now = self.wall.now();
        // Deliver only up to the instant that was read above: otherwise a fast run would never get
        // to its parcels.
        while let Some((at, mail)) = self.agenda.next_due(now) {
            self.under_way += 1;
            P::deliver(&self.seats, self.threads, at, &mail);
        }
    }

    /// Takes the parcels of actors, and waits for more if no message is due soon.
    fn take_parcels(&mut self) {
        // Parcels wake the pacer as well, so it never sleeps past a message that an actor has just
        // planned.
        let wait = self.wall.until(self.agenda.wakes_at()).min(self.agenda.patience());
        let mut is_idle = wait <= NAP;
        if !is_idle && !self.agenda.is_over() {
            // No message is due soon: use the time to hand on the events that were held back.
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
            // Polling the clock must not keep the actors from the processor.
            thread::yield_now();
        }
    }

    fn take(&mut self, parcel: ActorOutput<P>) {
        let ActorOutput { lag, letters, mut events, ending, handled: (now, moved), calm } = parcel;
        self.under_way -= 1;
        // The histogram grows to take any value: a saturating one would hide the largest.
        self.lag.record(lag.as_micros()).expect("the histogram grows");
        self.agenda.post(letters);
        self.agenda.take_over(&mut events, ending);
        self.agenda.settle(now, moved, calm);
    }
}

#[cfg(test)]
mod tests {
    use std::thread::ThreadId;

    use parking_lot::Mutex;

    use super::super::testing::{MS, beat, call, called, core, links, ms, play, remark, see, seen};
    use super::super::testing::{job_tracker, tell, told, witness};
    use super::*;
    use mumakil_core::mapred::{Core, StopReason, ToTracker};

    fn factor(factor: f64) -> impl Fn(RunPlan) -> (RunStats, Ending) {
        move |play| run_scaled(play, factor)
    }

    /// Lets at least this much wall time pass.
    fn hold_up(wall: Duration) {
        let (_nobody, nothing) = unbounded::<()>();
        let _ = nothing.recv_timeout(wall);
    }

    #[test]
    fn a_wall_that_has_not_been_looked_at_begins_at_zero() {
        let wall = Wall::new(1e-6);
        assert_eq!(wall.now(), SimTime::ZERO);
    }

    #[test]
    fn the_wall_waits_for_an_hour_at_most_and_not_for_the_past() {
        let wall = Wall::new(10.0);
        assert_eq!(wall.until(SimTime::NEVER), Duration::from_secs(3_600));
        assert_eq!(wall.until(SimTime::ZERO), Duration::ZERO);
        let left = wall.until(SimTime::ZERO + SimSpan::from_secs(10_000));
        assert!(left <= Duration::from_secs(1_000), "a tenth of it: {left:?}");
    }

    #[test]
    fn virtual_time_is_wall_time_times_the_factor() {
        let wall = Wall::new(100.0);
        wall.now();
        hold_up(Duration::from_millis(20));
        assert!(ms(2_000) <= wall.now(), "{}", wall.now());
    }

    #[test]
    fn nothing_is_handled_before_it_is_due() {
        let mut play = play(1);
        let early = Arc::new(Mutex::new(0));
        let count = early.clone();
        play.cast.job_tracker = job_tracker(move |msg, out| {
            *count.lock() += u32::from(out.now < ms(called(&msg).into()));
        });
        play.opening = (0..200).map(|number| (ms(number), call(number as u32))).collect();
        let (stats, _) = factor(50.0)(play);
        assert_eq!((*early.lock(), stats.messages), (0, 200));
    }

    #[test]
    fn the_job_tracker_has_a_thread_of_its_own_and_trackers_share_several() {
        let threads = Arc::new(Mutex::new(Vec::<(u32, ThreadId)>::new()));
        let mut play = play(0);
        let note = |number| {
            let threads = threads.clone();
            move || threads.lock().push((number, thread::current().id()))
        };
        let of_job_tracker = note(0);
        play.cast.job_tracker = job_tracker(move |_, _| of_job_tracker());
        let tracker = |id: u32| -> Box<dyn Core<Msg = ToTracker>> {
            let of_tracker = note(id + 1);
            core(move |_, _| of_tracker())
        };
        play.cast.trackers = (0..8).map(tracker).collect();
        play.links = links(8);
        play.opening = (0..8).map(|id| (ms(1), tell(id, 0))).collect();
        play.opening.push((ms(1), call(0)));
        factor(1_000.0)(play);
        let mut threads = threads.lock().clone();
        threads.sort_by_key(|(number, _)| *number);
        let (own, shared) = threads.split_first().unwrap();
        assert_eq!((own.0, shared.len()), (0, 8));
        assert!(shared.iter().all(|(_, thread)| *thread != own.1));
        assert!(shared.iter().any(|(_, thread)| *thread != shared[0].1));
    }

    #[test]
    fn causes_are_told_before_effects() {
        const ALL: u32 = 300;
        let (events, facts) = witness();
        let mut play = RunPlan { events, ..play(3) };
        // A number goes round three trackers, whatever threads they are on.
        let tracker = |id: u32| -> Box<dyn Core<Msg = ToTracker>> {
            core(move |msg: ToTracker, out| {
                see(out, told(&msg));
                if told(&msg) + 1 < ALL {
                    out.send(tell((id + 1) % 3, told(&msg) + 1));
                }
            })
        };
        play.cast.trackers = (0..3).map(tracker).collect();
        play.opening = vec![(ms(1), tell(0, 0))];
        factor(1_000.0)(play);
        assert_eq!(seen(&facts), (0..ALL).collect::<Vec<_>>());
    }

    #[test]
    fn lag_is_how_late_messages_reach_a_core_that_is_busy() {
        let mut play = play(1);
        play.cast.job_tracker = job_tracker(|msg, _| {
            if called(&msg) == 0 {
                hold_up(Duration::from_millis(20));
            }
        });
        play.opening = vec![(ms(1), call(0)), (ms(1), call(1)), (ms(1), beat(0, 0))];
        let (stats, _) = factor(1_000.0)(play);
        let lag = stats.lag.expect("a scaled run has some");
        assert_eq!(lag.len(), 3, "timers count, as they may be late, too");
        // Twenty milliseconds are twenty virtual seconds; the histogram keeps three digits.
        assert!(19_900_000 <= lag.max(), "{}", lag.max());
    }

    #[test]
    fn a_run_that_ends_while_mailboxes_are_full_leaves_the_rest_unhandled() {
        let (begins, begun) = unbounded();
        let (ends, ended) = unbounded();
        let handled = Arc::new(Mutex::new(0));
        let mut play = play(0);
        let count = handled.clone();
        play.cast.job_tracker = job_tracker(move |_, _| {
            *count.lock() += 1;
            let _ = begins.send(());
            // Busy until the pacer knows, too, that the run is over.
            let _ = ended.recv();
            hold_up(Duration::from_millis(500));
        });
        let tracker = |_| -> Box<dyn Core<Msg = ToTracker>> {
            core(|msg: ToTracker, out| {
                for number in 0..told(&msg) {
                    out.send(call(number));
                }
                out.send(remark(0));
            })
        };
        play.cast.trackers = (0..50).map(tracker).collect();
        play.links = links(50);
        let mut remarks = 0;
        play.cast.injector = core(move |_, out| {
            remarks += 1;
            // Every tracker's calls were sent before its remark.
            if remarks == 50 {
                let _ = begun.recv();
                out.stop = Some(StopReason::Done);
                let _ = ends.send(());
            }
        });
        play.opening = (0..50).map(|id| (ms(1), tell(id, 200))).collect();
        let (stats, ending) = factor(1_000.0)(play);
        assert_eq!(ending, Ending::Stopped(StopReason::Done));
        assert_eq!(stats.messages, 50 + 50 * 200 + 50, "all were in their mailboxes");
        assert_eq!(*handled.lock(), 1);
    }

    #[test]
    fn the_last_message_of_all_is_not_older_than_what_was_heard() {
        let heard = Arc::new(Mutex::new(Vec::new()));
        let mut play = RunPlan { until: ms(1_000), ..play(0) };
        let (last, mut calls) = (heard.clone(), 0);
        play.cast.job_tracker = core(move |_, out| {
            last.lock().push(out.now);
            calls += 1;
            if calls == 1 {
                // Ten virtual seconds: the end of the run comes while the second call waits.
                hold_up(Duration::from_millis(10));
            }
        });
        play.opening = vec![(ms(1), call(0)), (ms(1), call(1))];
        let (stats, ending) = factor(1_000.0)(play);
        assert_eq!((stats.end, ending), (ms(1_000), Ending::Stopped(StopReason::TimeUp)));
        let heard = heard.lock();
        assert!(heard.is_sorted() && heard.last() == Some(&ms(1_000)), "{heard:?}");
    }

    #[test]
    fn messages_sent_as_the_run_ends_reach_nobody() {
        let mut play = play(9);
        let tracker = |_| -> Box<dyn Core<Msg = ToTracker>> {
            core(|_, out| {
                out.stop = Some(StopReason::Done);
                out.send_after(MS, call(0));
            })
        };
        play.cast.trackers = (0..9).map(tracker).collect();
        play.cast.job_tracker = job_tracker(|_, _| panic!("a message after the end of the run"));
        play.opening = (0..9).map(|id| (ms(1), tell(id, 0))).collect();
        let (_, ending) = factor(1_000.0)(play);
        assert_eq!(ending, Ending::Stopped(StopReason::Done));
    }
}
