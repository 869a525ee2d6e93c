//! The job injector: it submits jobs when they are due, and ends the run when all have ended.
//!
//! It stands for the clients. A job with predecessors is due some time after the last of them has
//! ended; all others at an instant of their own.

use std::sync::Arc;

use super::Workload;
use crate::mapred::{Address, Core, JobId, JobSpec, Msg, Outbox, Stop};
use crate::units::{SimSpan, SimTime};

/// A job and what it waits for.
#[derive(Clone, Debug)]
pub struct Arrival {
    /// The job.
    pub spec: Arc<JobSpec>,
    /// When it is submitted: after the beginning, or after the last of its predecessors.
    pub delay: SimSpan,
    /// The jobs that must have ended before.
    pub after: Vec<JobId>,
}

/// The job injector.
pub struct JobInjector {
    /// By number.
    arrivals: Vec<Arrival>,
    /// For each job, how many of its predecessors have not ended.
    awaited: Vec<u32>,
    /// For each job, the jobs that wait for it.
    followers: Vec<Vec<JobId>>,
    /// Jobs without predecessors, the next one last.
    timed: Vec<JobId>,
    /// Jobs that have not ended.
    left: usize,
    /// When each job with predecessors is due, once they have all ended.
    ready: Vec<(SimTime, JobId)>,
}

impl JobInjector {
    /// Returns an injector that has submitted nothing yet. It starts with [`Msg::Arrive`].
    pub fn new(workload: Workload) -> Self {
        let arrivals = workload.arrivals;
        let mut followers = vec![Vec::new(); arrivals.len()];
        for arrival in &arrivals {
            for before in &arrival.after {
                followers[before.index()].push(arrival.spec.id);
            }
        }
        let mut timed: Vec<JobId> =
            arrivals.iter().filter(|a| a.after.is_empty()).map(|a| a.spec.id).collect();
        timed.sort_by_key(|id| std::cmp::Reverse((arrivals[id.index()].delay, *id)));
        Self {
            awaited: arrivals.iter().map(|arrival| arrival.after.len() as u32).collect(),
            left: arrivals.len(),
            arrivals,
            followers,
            timed,
            ready: Vec::new(),
        }
    }

    fn arrive(&mut self, now: SimTime, out: &mut Outbox) {
        while let Some(id) = self.timed.pop_if(|id| due(&self.arrivals, *id) <= now) {
            self.submit(id, out);
        }
        let mut waiting = std::mem::take(&mut self.ready);
        waiting.retain(|(at, id)| {
            if *at <= now {
                self.submit(*id, out);
            }
            now < *at
        });
        self.ready = waiting;
        if let Some(id) = self.timed.last() {
            let wait = due(&self.arrivals, *id).saturating_since(now);
            out.plan(wait, Address::INJECTOR, Msg::Arrive);
        }
        if self.left == 0 {
            out.stop = Some(Stop::Done);
        }
    }

    fn submit(&self, id: JobId, out: &mut Outbox) {
        let spec = self.arrivals[id.index()].spec.clone();
        out.send(Address::JOB_TRACKER, Msg::Submit(spec));
    }

    /// Notes that a job has ended, however it did: those that wait for it wait no more.
    fn job_ended(&mut self, now: SimTime, id: JobId, out: &mut Outbox) {
        self.left -= 1;
        for follower in std::mem::take(&mut self.followers[id.index()]) {
            self.awaited[follower.index()] -= 1;
            if self.awaited[follower.index()] == 0 {
                let delay = self.arrivals[follower.index()].delay;
                self.ready.push((now + delay, follower));
                out.plan(delay, Address::INJECTOR, Msg::Arrive);
            }
        }
        if self.left == 0 {
            out.stop = Some(Stop::Done);
        }
    }

    /// Ends the run if nothing is left that would arrive by itself.
    fn stalled(&self, out: &mut Outbox) {
        if self.timed.is_empty() && self.ready.is_empty() {
            out.stop = Some(Stop::Stalled);
        }
    }
}

/// Returns when a job without predecessors is due.
fn due(arrivals: &[Arrival], id: JobId) -> SimTime {
    SimTime::ZERO + arrivals[id.index()].delay
}

impl Core for JobInjector {
    fn handle(&mut self, now: SimTime, msg: Msg, out: &mut Outbox) {
        match msg {
            Msg::Arrive => self.arrive(now, out),
            Msg::JobEnded(id, _) => {
                self.job_ended(now, id, out);
            }
            Msg::Stalled => self.stalled(out),
            _ => {}
        }
    }
}
