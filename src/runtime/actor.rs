//! The actor around a core: it feeds the core from its mailbox and carries its letters to the
//! clock.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

use actix::{Actor, Context, Handler, Message};

use super::clock::Clock;
use super::link::Link;
use crate::mapred::{Core, Msg, Outbox};
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
    pub(super) core: Box<dyn Core>,
    pub(super) link: Link,
    pub(super) clock: Clock,
    pub(super) outbox: Outbox,
}

impl CoreActor {
    pub(super) fn new(core: Box<dyn Core>, link: Link, clock: Clock) -> Self {
        Self { core, link, clock, outbox: Outbox::default() }
    }
}

impl Actor for CoreActor {
    type Context = Context<Self>;
}

impl Handler<Mail> for CoreActor {
    type Result = ();

    fn handle(&mut self, mail: Mail, _: &mut Self::Context) {
        let now = self.clock.now(mail.at);
        let Self { core, outbox, .. } = self;
        // An unwound core is never called again: the run is over.
        match catch_unwind(AssertUnwindSafe(|| core.handle(now, mail.msg, outbox))) {
            Ok(()) => self.clock.post(mail.at, now, &mut self.link, &mut self.outbox),
            Err(panic) => self.clock.abort(words(&*panic)),
        }
    }
}

/// Returns what a panic said.
fn words(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "a panic without words".to_owned())
}
