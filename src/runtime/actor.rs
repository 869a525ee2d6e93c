//! The actor around a core: it feeds the core from its mailbox and hands what the core leaves to
//! the clock.

use std::any::Any;
use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;

use actix::{Actor, Context, Handler, Message};

use super::clock::Clock;
use super::link::Link;
use crate::mapred::{Core, Letter, Msg, Outbox};
use crate::units::SimTime;

/// A message in a mailbox.
#[derive(Message)]
#[rtype(result = "()")]
pub(super) struct Mail {
    /// When it was due.
    pub(super) at: SimTime,
    pub(super) msg: Msg,
}

/// An actor that runs a core.
pub(super) struct CoreActor {
    body: Rc<RefCell<Body>>,
    clock: Clock,
}

/// What an actor is made of. Its mailbox feeds it, and so does its own clockwork.
pub(super) struct Body {
    core: Box<dyn Core>,
    link: Link,
}

impl Body {
    pub(super) fn new(core: Box<dyn Core>, link: Link) -> Self {
        Self { core, link }
    }

    /// Lets the core handle a message and carries the letters that it leaves: `post` gets each with
    /// the instant of its arrival. Its other wishes are in `out`.
    ///
    /// # Errors
    /// With its words, if anything of this panics. It is never called again: the run is over.
    pub(super) fn handle(
        &mut self,
        now: SimTime,
        msg: Msg,
        out: &mut Outbox,
        mut post: impl FnMut(SimTime, Letter),
    ) -> Result<(), String> {
        catch_unwind(AssertUnwindSafe(|| {
            self.core.handle(now, msg, out);
            for letter in out.letters.drain(..) {
                self.link.carry(letter, |delay, letter| post(now + delay, letter));
            }
        }))
        .map_err(|panic| words(&*panic))
    }
}

impl CoreActor {
    pub(super) fn new(body: Rc<RefCell<Body>>, clock: Clock) -> Self {
        Self { body, clock }
    }
}

impl Actor for CoreActor {
    type Context = Context<Self>;
}

impl Handler<Mail> for CoreActor {
    type Result = ();

    fn handle(&mut self, Mail { at, msg }: Mail, _: &mut Self::Context) {
        self.clock.run(at, msg, &self.body);
    }
}

/// Returns what a panic said.
fn words(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "a panic without words".to_owned())
}
