//! Changes that users and administrators make while the cluster runs: a job gets another priority or
//! pool, a running attempt is ended by hand.
//!
//! As in Hadoop, a request that comes too early or too late has no effect: it names a job that has
//! not arrived or has ended, or a task without a running attempt.

use std::sync::Arc;

use super::Ledger;
use crate::mapred::event::{Fact, JobFact};
use crate::mapred::job::{JobChange, JobState};
use crate::mapred::message::HandEnd;
use crate::mapred::outbox::Outbox;
use crate::mapred::reason::Reason;
use crate::mapred::spec::JobAlteration;

impl Ledger {
    /// Changes the priority or the pool of a job. Its tasks go on.
    pub(crate) fn alter(&mut self, alteration: &Arc<JobAlteration>, out: &mut Outbox) {
        let id = alteration.job;
        let Some(Some(job)) = self.jobs.get_mut(id.index()) else { return };
        let was = job.priority();
        let is_new = alteration.priority.is_some_and(|priority| priority != was)
            || alteration.pool.as_ref().is_some_and(|pool| Some(&**pool) != job.spec.named_pool());
        if !is_new || matches!(job.state, JobState::Ended(_)) {
            return;
        }
        // This changes a copy: the workload's own list of jobs stays as it was submitted.
        let spec = Arc::make_mut(&mut job.spec);
        spec.priority = alteration.priority.unwrap_or(was);
        if let Some(pool) = &alteration.pool {
            (spec.pool, spec.names_pool) = (pool.clone(), true);
        }
        out.emit(Fact::Job(id, JobFact::Altered(alteration.clone())));
        self.change(out.now, id, JobChange::Altered { priority: was });
    }

    /// Ends the running attempts of a task by hand.
    pub(crate) fn end_task(&mut self, HandEnd { task, fails }: HandEnd, out: &mut Outbox) {
        let Some(Some(job)) = self.jobs.get_mut(task.job.index()) else { return };
        let Some(known) = job.task(task) else { return };
        let numbers = known.tries.iter().map(|attempt| attempt.number);
        let running: Vec<u32> = numbers
            .filter(|number| {
                let attempt = known.tries.iter().find(|attempt| attempt.number == *number);
                attempt.is_some_and(|attempt| attempt.is_active() && !attempt.is_kill_ordered)
            })
            .collect();
        for number in running {
            let attempt = task.attempt(number);
            let reason = if fails { Reason::FailedByHand } else { Reason::KilledByHand };
            self.order_end(attempt, reason, out);
            self.known_try(attempt).fails_if_killed = fails;
        }
    }
}
