//! The virtual drive: as fast as the machine allows, with or without mailboxes.
//!
//! Exactly one message is under way at any moment: time moves only when all cores are idle, and the
//! order of events is the order of the queue. So no executor is needed: the drive puts a message
//! into its actor's mailbox, and polls the actor until the mailbox is empty. Without actors
//! ([`Transport::Bare`]) the drive calls the core instead; no result depends on it.
//!
//! An actor's own timer (a heartbeat that is due, say) is no message and needs no mailbox.

use std::cell::RefCell;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context as PollContext, Waker};

use actix::dev::ContextFut;
use actix::{Addr, Context};

use super::actor::{ActorClock, CoreActor, Delivery};
use super::drive::{Agenda, Drive, SeatedCore, caught};
use super::{DrivenProtocol, Ending, RunPlan, RunStats, Transport};
use mumakil_base::units::SimTime;
use mumakil_core::protocol::Message;

/// Runs the cores on the virtual clock, on this thread, until a core stops the run or the run's
/// time is up.
pub fn run_virtual<P: DrivenProtocol>(
    mut play: RunPlan<P>,
    transport: Transport,
) -> (RunStats, Ending<P::Stall>) {
    let agenda = Rc::new(RefCell::new(Agenda::new(&mut play)));
    let drive = UnpacedDrive { agenda: UnpacedClock(agenda.clone()), transport };
    let seats = P::seat(play.cast, play.links, &drive);
    let head = P::head(&seats).body();
    // Catch panics once around the whole loop, not around each message.
    let played = caught(|| {
        loop {
            let mut agenda = agenda.borrow_mut();
            let Some(mail) = agenda.next(head) else { break };
            let at = agenda.now();
            // The borrow must end before the core's letters are added to the agenda.
            drop(agenda);
            P::deliver(&seats, &drive, at, &mail);
        }
    });
    let mut agenda = agenda.borrow_mut();
    // A policy or a core has panicked: the run ends with its message.
    if let Err(ending) = played {
        agenda.end(ending);
    }
    agenda.flush_head(&mut head.borrow_mut());
    agenda.result()
}

struct UnpacedDrive<P: DrivenProtocol> {
    agenda: UnpacedClock<P>,
    transport: Transport,
}

/// The clock of a run that goes as fast as the machine allows.
struct UnpacedClock<P: DrivenProtocol>(Rc<RefCell<Agenda<P>>>);

/// A core on the virtual clock.
enum UnpacedSeat<P: DrivenProtocol, M: Message<Protocol = P>> {
    Bare(RefCell<SeatedCore<P, M>>),
    Actor(Box<MailboxActor<P, M>>),
}

/// An actor and its core: messages reach the core through the mailbox, timers directly.
struct MailboxActor<P: DrivenProtocol, M: Message<Protocol = P>> {
    mailbox: Addr<CoreActor<P, M, UnpacedClock<P>>>,
    actor: RefCell<ActorFuture<P, M>>,
    body: Rc<RefCell<SeatedCore<P, M>>>,
}

/// An actor as a future, which handles the messages of its mailbox when it is polled.
type ActorFuture<P, M> =
    ContextFut<CoreActor<P, M, UnpacedClock<P>>, Context<CoreActor<P, M, UnpacedClock<P>>>>;

impl<P: DrivenProtocol, M: Message<Protocol = P>> UnpacedSeat<P, M> {
    fn body(&self) -> &RefCell<SeatedCore<P, M>> {
        match self {
            Self::Bare(body) => body,
            Self::Actor(actor) => &actor.body,
        }
    }
}

impl<P: DrivenProtocol> Drive<P> for UnpacedDrive<P> {
    type Seat<M: Message<Protocol = P>> = UnpacedSeat<P, M>;

    fn seat<M: Message<Protocol = P>>(&self, body: SeatedCore<P, M>) -> UnpacedSeat<P, M> {
        let body = RefCell::new(body);
        match self.transport {
            Transport::Bare => UnpacedSeat::Bare(body),
            Transport::Actors => {
                let body = Rc::new(body);
                let clock = UnpacedClock(self.agenda.0.clone());
                let actor = CoreActor::new(body.clone(), clock);
                let actor = Context::new().into_future(actor);
                let mailbox = actor.address();
                let actor = RefCell::new(actor);
                UnpacedSeat::Actor(Box::new(MailboxActor { mailbox, actor, body }))
            }
        }
    }

    fn deliver<M: Message<Protocol = P>>(&self, seat: &UnpacedSeat<P, M>, at: SimTime, msg: &M) {
        match seat {
            UnpacedSeat::Actor(actor) if msg.effect().counts => {
                actor.mailbox.do_send(Delivery { at, msg: msg.clone() });
                // Nothing wakes the actor: the drive polls it after each message.
                let mut polling = PollContext::from_waker(Waker::noop());
                let _ = Pin::new(&mut *actor.actor.borrow_mut()).poll(&mut polling);
            }
            _ => self.agenda.run(at, msg, seat.body()),
        }
    }
}

impl<P: DrivenProtocol> ActorClock<P> for UnpacedClock<P> {
    fn run<M: Message<Protocol = P>>(
        &self,
        due: SimTime,
        msg: &M,
        body: &RefCell<SeatedCore<P, M>>,
    ) {
        self.0.borrow_mut().step(due, msg, &mut body.borrow_mut());
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{
        MS, beat, call, called, core, ms, play, recall, remark, see, seen,
    };
    use super::super::testing::{job_tracker, tell, told, witness};
    use super::*;
    use mumakil_base::units::SimSpan;
    use mumakil_core::mapred::{Core, StopReason, ToTracker};

    #[test]
    fn at_one_instant_everybody_takes_turns_in_the_order_of_sending() {
        let (events, facts) = witness();
        let mut play = RunPlan { events, ..play(2) };
        play.cast.job_tracker = job_tracker(|msg, out| {
            see(out, called(&msg));
            if called(&msg) == 0 {
                // Without delay, but after the messages that were sent before.
                out.send(tell(0, 4));
                out.plan(SimSpan::ZERO, recall(5));
                out.send(remark(6));
            }
        });
        let tracker =
            |_| -> Box<dyn Core<Msg = ToTracker>> { core(|msg, out| see(out, told(&msg))) };
        play.cast.trackers = (0..2).map(tracker).collect();
        play.cast.injector = core(|_, out| see(out, 6));
        // Messages and timers in turn.
        play.opening =
            vec![(ms(1), call(0)), (ms(1), beat(1, 1)), (ms(1), tell(1, 2)), (ms(1), beat(0, 3))];
        let (stats, _) = run_virtual(play, Transport::Actors);
        assert_eq!(seen(&facts), [0, 1, 2, 3, 4, 5, 6]);
        assert_eq!((stats.messages, stats.end), (4, ms(1)));
    }

    #[test]
    fn time_goes_from_one_message_to_the_next_however_far_that_is() {
        const YEAR: SimSpan = SimSpan::from_secs(365 * 86_400);
        let mut play = play(0);
        play.cast.job_tracker = job_tracker(|msg, out| {
            assert_eq!(out.now, SimTime::ZERO + YEAR * u64::from(called(&msg)));
            if called(&msg) < 1_000 {
                out.plan(YEAR, recall(called(&msg) + 1));
            }
        });
        play.opening = vec![(SimTime::ZERO, recall(0))];
        let (stats, ending) = run_virtual(play, Transport::Actors);
        assert_eq!(ending, Ending::Stopped(StopReason::Stalled(Box::default())));
        assert_eq!(stats.end, SimTime::ZERO + YEAR * 1_000);
    }

    #[test]
    fn messages_after_the_end_are_not_delivered() {
        let (events, facts) = witness();
        let mut play = RunPlan { events, ..play(0) };
        play.cast.job_tracker = job_tracker(|msg, out| {
            see(out, called(&msg));
            out.stop = (called(&msg) == 1).then_some(StopReason::Done);
        });
        play.opening = [call(0), call(1), call(2), recall(3)].map(|mail| (ms(1), mail)).to_vec();
        let (stats, ending) = run_virtual(play, Transport::Actors);
        assert_eq!((stats.messages, ending), (2, Ending::Stopped(StopReason::Done)));
        assert_eq!(seen(&facts), [0, 1]);
    }

    #[test]
    fn a_message_after_the_end_of_time_is_not_delivered_and_one_at_it_is() {
        let mut play = RunPlan { until: ms(5), ..play(0) };
        play.opening = vec![(ms(5), call(0)), (ms(5) + MS, call(1))];
        let (stats, ending) = run_virtual(play, Transport::Actors);
        assert_eq!(ending, Ending::Stopped(StopReason::TimeUp));
        assert_eq!((stats.messages, stats.end), (1, ms(5)));
    }
}
