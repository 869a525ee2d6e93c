//! The bare drive: the virtual clock without actors.
//!
//! The virtual drive has one message under way at any moment, so a mailbox never holds two, and no
//! result depends on mailboxes. Here the clock passes each message to its core directly. Cores,
//! links, queue and results are the same, without the cost of sending to an actor and waking it.

use std::cell::RefCell;

use super::drive::{Agenda, CoreSeats, Drive, SeatedCore, caught};
use super::{Ending, RunPlan, RunStats};
use mumakil_base::units::SimTime;
use mumakil_core::mapred::Message;

/// Runs the cores on the virtual clock, on this thread and without actors, until a core stops the
/// run or the run's time is up.
pub fn run_bare(mut play: RunPlan) -> (RunStats, Ending) {
    let drive = BareDrive { agenda: RefCell::new(Agenda::new(&mut play)) };
    let seats = CoreSeats::new(play.cast, play.links, &drive);
    // Catch panics once around the whole loop, not around each message.
    let played = caught(|| {
        loop {
            let mut agenda = drive.agenda.borrow_mut();
            let Some(mail) = agenda.next(&seats.job_tracker) else { break };
            let at = agenda.now();
            // The borrow must end before the core's letters are added to the agenda.
            drop(agenda);
            seats.deliver(&drive, at, &mail);
        }
    });
    let mut agenda = drive.agenda.into_inner();
    // A policy or a core has panicked: the run ends with its message.
    if let Err(ending) = played {
        agenda.end(ending);
    }
    agenda.flush_job_tracker(&mut seats.job_tracker.borrow_mut());
    agenda.result()
}

struct BareDrive {
    agenda: RefCell<Agenda>,
}

impl Drive for BareDrive {
    type Seat<M: Message> = RefCell<SeatedCore<M>>;

    fn seat<M: Message>(&self, body: SeatedCore<M>) -> Self::Seat<M> {
        RefCell::new(body)
    }

    fn deliver<M: Message>(&self, body: &Self::Seat<M>, at: SimTime, msg: &M) {
        self.agenda.borrow_mut().step(at, msg, &mut body.borrow_mut());
    }
}
