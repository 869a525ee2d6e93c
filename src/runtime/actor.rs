//! The actor around a core: it passes the messages of its mailbox to the core.

use std::cell::RefCell;
use std::rc::Rc;

use actix::{Actor, Context, Handler};

use super::DrivenProtocol;
use super::drive::SeatedCore;
use mumakil_base::units::SimTime;
use mumakil_core::protocol::Message;

/// The clock of a drive, as an actor uses it.
pub(super) trait ActorClock<P: DrivenProtocol>: Unpin + 'static {
    /// Lets the core handle a message that was due at `due`, and collects the core's letters and
    /// events.
    fn run<M: Message<Protocol = P>>(
        &self,
        due: SimTime,
        msg: &M,
        body: &RefCell<SeatedCore<P, M>>,
    );
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
pub(super) struct CoreActor<P: DrivenProtocol, M, C> {
    pub(super) body: Rc<RefCell<SeatedCore<P, M>>>,
    pub(super) clock: C,
}

impl<P: DrivenProtocol, M, C> CoreActor<P, M, C> {
    pub(super) fn new(body: Rc<RefCell<SeatedCore<P, M>>>, clock: C) -> Self {
        Self { body, clock }
    }
}

// actix gives an actor's mailbox 16 places, but `do_send` does not wait for a free one.
impl<P: DrivenProtocol, M: Message<Protocol = P>, C: ActorClock<P>> Actor for CoreActor<P, M, C> {
    type Context = Context<Self>;
}

impl<P: DrivenProtocol, M: Message<Protocol = P>, C: ActorClock<P>> Handler<Delivery<M>>
    for CoreActor<P, M, C>
{
    type Result = ();

    fn handle(&mut self, Delivery { at, msg }: Delivery<M>, _: &mut Self::Context) {
        self.clock.run(at, &msg, &self.body);
    }
}
