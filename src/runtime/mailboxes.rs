//! The virtual drive: through mailboxes, as fast as the machine.
//!
//! Exactly one message is on its way at any moment: when an actor has handled it, what the actor
//! leaves goes to the clock, and the clock at once delivers what is due next. So time moves when all
//! actors are idle, the order of events is that of the queue, and no task of the clock's own has to
//! be woken in between.
//!
//! An actor's own clockwork (a heartbeat that is due, say) is no message and needs no mailbox: the
//! clock winds it off in place, while everybody is idle, and goes on.

use std::cell::{OnceCell, RefCell};
use std::rc::Rc;

use actix::{Actor, Addr, System};

use super::actor::{Clock, CoreActor, Delivery};
use super::drive::{Agenda, Body, Drive, Seats};
use super::{Ending, Play, RunStats};
use crate::mapred::Message;
use crate::units::SimTime;

/// Runs the cores on the virtual clock, on this thread, until one of them stops the run or its time
/// is up.
pub fn run_virtual(play: Play) -> (RunStats, Ending) {
    let Play { cast, links, opening, events, until } = play;
    let clock = Rc::new(VirtualClock {
        agenda: RefCell::new(Agenda::new(opening, events, until)),
        seats: OnceCell::new(),
    });
    let system = System::new();
    system.block_on(async {
        clock.seats.get_or_init(|| Seats::new(cast, links, &clock));
        clock.deliver_next();
    });
    // Stopping is how every run ends; what it means is in the agenda.
    let _ = system.run();
    clock.agenda.borrow().result()
}

/// The clock of a run that is as fast as the machine.
struct VirtualClock {
    agenda: RefCell<Agenda>,
    /// Set before the first message.
    seats: OnceCell<Seats<Rc<Self>>>,
}

/// An actor, and what it is made of: its mailbox feeds that, and so does its own clockwork.
struct Player<M: Message> {
    actor: Addr<CoreActor<M, Rc<VirtualClock>>>,
    body: Rc<RefCell<Body<M>>>,
}

impl VirtualClock {
    /// Delivers the next message; what is due before it and is no message happens at once.
    fn deliver_next(self: &Rc<Self>) {
        let seats = self.seats.get().expect("everybody is seated before the first message");
        loop {
            let next = self.agenda.borrow_mut().next();
            let Some((at, mail)) = next else { return System::current().stop() };
            let is_message = mail.counts();
            seats.deliver(self, at, mail);
            if is_message {
                return;
            }
        }
    }
}

impl Drive for Rc<VirtualClock> {
    type Seat<M: Message> = Player<M>;

    fn seat<M: Message>(&self, body: Body<M>) -> Player<M> {
        let body = Rc::new(RefCell::new(body));
        Player { actor: CoreActor::new(body.clone(), self.clone()).start(), body }
    }

    fn deliver<M: Message>(&self, player: &Player<M>, at: SimTime, msg: M) {
        if msg.counts() {
            player.actor.do_send(Delivery { at, msg });
        } else {
            self.agenda.borrow_mut().step(at, msg, &mut player.body.borrow_mut());
        }
    }
}

impl Clock for Rc<VirtualClock> {
    fn run<M: Message>(&self, due: SimTime, msg: M, body: &RefCell<Body<M>>) {
        self.agenda.borrow_mut().step(due, msg, &mut body.borrow_mut());
        self.deliver_next();
    }
}
