//! The actor around a core: it passes the messages of its mailbox to the core.

use std::cell::RefCell;
use std::rc::Rc;

use actix::{Actor, Context, Handler};

use super::drive::SeatedCore;
use mumakil_base::units::SimTime;
use mumakil_core::mapred::Message;

/// The clock of a drive, as an actor uses it.
pub(super) trait ActorClock: Unpin + 'static {
    /// Lets the core handle a message that was due at `due`, and collects the core's letters and
    /// events.
    fn run<M: Message>(&self, due: SimTime, msg: &M, body: &RefCell<SeatedCore<M>>);
}

/// A message in a mailbox.
#[derive(actix::Message)]
#[rtype(result = "()")]
pub(super) struct Delivery<M> {
    /// When the message was due.
    pub(super) at: SimTime,
    pub(super) msg: M,
}

/// An actor that runs a core.
pub(super) struct CoreActor<M, C> {
    pub(super) body: Rc<RefCell<SeatedCore<M>>>,
    pub(super) clock: C,
}

impl<M, C> CoreActor<M, C> {
    pub(super) fn new(body: Rc<RefCell<SeatedCore<M>>>, clock: C) -> Self {
        Self { body, clock }
    }
}

// actix gives an actor's mailbox 16 places, but `do_send` does not wait for a free one.
impl<M: Message, C: ActorClock> Actor for CoreActor<M, C> {
    type Context = Context<Self>;
}

impl<M: Message, C: ActorClock> Handler<Delivery<M>> for CoreActor<M, C> {
    type Result = ();

    fn handle(&mut self, Delivery { at, msg }: Delivery<M>, _: &mut Self::Context) {
        self.clock.run(at, &msg, &self.body);
    }
}
