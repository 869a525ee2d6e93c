//! The virtual drive: messages go through mailboxes, as fast as the machine allows.
//!
//! Exactly one message is under way at any moment: when an actor has handled it, the actor's
//! letters go to the clock, and the clock at once delivers the next message. So time moves only
//! when all actors are idle, and the order of events is the order of the queue. The clock needs no
//! task of its own, which would have to be woken.
//!
//! An actor's own timer (a heartbeat that is due, say) is no message and needs no mailbox: the
//! clock passes it to the core directly, while all actors are idle, and goes on.

use std::cell::{OnceCell, RefCell};
use std::rc::Rc;

use actix::{Actor, Addr, System};

use super::actor::{ActorClock, CoreActor, Delivery};
use super::drive::{Agenda, CoreSeats, Drive, SeatedCore, caught};
use super::{Ending, RunPlan, RunStats};
use mumakil_base::units::SimTime;
use mumakil_core::mapred::Message;

/// Runs the cores on the virtual clock, on this thread, until a core stops the run or the run's
/// time is up.
pub fn run_virtual(mut play: RunPlan) -> (RunStats, Ending) {
    let agenda = Agenda::new(&mut play);
    let RunPlan { cast, links, .. } = play;
    let clock = Rc::new(VirtualClock { agenda: RefCell::new(agenda), seats: OnceCell::new() });
    // On this thread alone: with several threads, the order of messages would depend on the
    // machine.
    let system = System::new();
    system.block_on(async {
        clock.seats.get_or_init(|| CoreSeats::new(cast, links, &clock));
        clock.deliver_next();
    });
    // Every run ends by stopping the system; the agenda knows why the run ended.
    let _ = system.run();
    let (mut agenda, seats) = (clock.agenda.borrow_mut(), clock.seats.get());
    let seats = seats.expect("the cores got their seats before the first message");
    agenda.flush_job_tracker(&mut seats.job_tracker.body.borrow_mut());
    agenda.result()
}

/// The clock of a run that goes as fast as the machine allows.
struct VirtualClock {
    agenda: RefCell<Agenda>,
    /// Set before the first message.
    seats: OnceCell<CoreSeats<Rc<Self>>>,
}

/// An actor and its core: messages reach the core through the mailbox, timers directly.
struct MailboxActor<M: Message> {
    actor: Addr<CoreActor<M, Rc<VirtualClock>>>,
    body: Rc<RefCell<SeatedCore<M>>>,
}

impl VirtualClock {
    /// Delivers the next message, after the timers that are due before it.
    fn deliver_next(self: &Rc<Self>) {
        let seats = self.seats.get().expect("the cores get their seats before the first message");
        loop {
            let mut agenda = self.agenda.borrow_mut();
            let (next, at) = (agenda.next(&seats.job_tracker.body), agenda.now());
            // The borrow must end before the message is delivered, since a core then adds to the
            // agenda.
            drop(agenda);
            let Some(mail) = next else { return System::current().stop() };
            let is_message = mail.effect().counts;
            seats.deliver(self, at, &mail);
            // The actor calls this again when it has handled the message.
            if is_message {
                return;
            }
        }
    }

    fn step<M: Message>(&self, at: SimTime, msg: &M, body: &RefCell<SeatedCore<M>>) {
        let step = || self.agenda.borrow_mut().step(at, msg, &mut body.borrow_mut());
        if let Err(ending) = caught(step) {
            self.agenda.borrow_mut().end(ending);
        }
    }
}

impl Drive for Rc<VirtualClock> {
    type Seat<M: Message> = MailboxActor<M>;

    fn seat<M: Message>(&self, body: SeatedCore<M>) -> MailboxActor<M> {
        let body = Rc::new(RefCell::new(body));
        MailboxActor { actor: CoreActor::new(body.clone(), self.clone()).start(), body }
    }

    fn deliver<M: Message>(&self, player: &MailboxActor<M>, at: SimTime, msg: &M) {
        if msg.effect().counts {
            player.actor.do_send(Delivery { at, msg: msg.clone() });
        } else {
            self.step(at, msg, &player.body);
        }
    }
}

impl ActorClock for Rc<VirtualClock> {
    fn run<M: Message>(&self, due: SimTime, msg: &M, body: &RefCell<SeatedCore<M>>) {
        self.step(due, msg, body);
        self.deliver_next();
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
        let (stats, _) = run_virtual(play);
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
        let (stats, ending) = run_virtual(play);
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
        let (stats, ending) = run_virtual(play);
        assert_eq!((stats.messages, ending), (2, Ending::Stopped(StopReason::Done)));
        assert_eq!(seen(&facts), [0, 1]);
    }

    #[test]
    fn a_message_after_the_end_of_time_is_not_delivered_and_one_at_it_is() {
        let mut play = RunPlan { until: ms(5), ..play(0) };
        play.opening = vec![(ms(5), call(0)), (ms(5) + MS, call(1))];
        let (stats, ending) = run_virtual(play);
        assert_eq!(ending, Ending::Stopped(StopReason::TimeUp));
        assert_eq!((stats.messages, stats.end), (1, ms(5)));
    }
}
