//! The threads that initialise jobs: they read the splits of the jobs that were admitted.
//!
//! In Hadoop the poller only chooses jobs, and hands them to these threads. Each thread serves some
//! of the queues. It looks for jobs at intervals of its own, as long as the poller's; its phase has
//! nothing to do with the poller's, since both have run for a long time. So a job waits first for
//! the poller and then for the thread, before its setup task may run. A thread that finds jobs
//! reads them one after another, one job of each queue in turn, until there are no more; then it
//! sleeps for an interval.
//!
//! In Mumak there are no such threads: the poller's jobs are read at once.

use std::collections::BTreeSet;

use super::lines::QueueTurn;
use super::node::QueueId;
use mumakil_base::dense::grown;
use mumakil_base::random::{Dice as _, Purpose, stream};
use mumakil_base::units::{SimSpan, SimTime};
use mumakil_core::mapred::{JobId, JobState, Orders};

/// The threads, and the jobs that were handed to them.
#[derive(Debug, Default)]
pub(super) struct Readers {
    /// The time for which an idle thread sleeps.
    every: SimSpan,
    /// The threads; none if jobs are read at once.
    threads: Vec<ReaderThread>,
    /// The thread of each queue and its place among the thread's queues, by the queue's number.
    serves: Vec<(usize, usize)>,
}

#[derive(Debug, Default)]
struct ReaderThread {
    /// The jobs that wait for it in each of its queues.
    queues: Vec<BTreeSet<QueueTurn>>,
    /// The queue whose turn is next.
    next: usize,
    /// The job that it reads, or will read when it looks for jobs next.
    reading: Option<JobId>,
    /// An instant at which it begins to sleep.
    slept_at: SimTime,
}

impl Readers {
    /// Returns the threads for the leaves in `queues`, which are in the order in which Hadoop lists
    /// them: at most `most` threads, which sleep for `every`. Draws their phases.
    pub(super) fn new(queues: &[QueueId], most: u32, every: SimSpan, seed: u64) -> Self {
        let number = queues.len().min(most as usize).max(1);
        let of_thread = queues.len() / number;
        let mut readers = Self { every, ..Self::default() };
        readers.threads.resize_with(number, ReaderThread::default);
        for (subject, thread) in (1..).zip(&mut readers.threads) {
            // Subject 0 is the JobTracker's own phase, which is the poller's as well.
            let micros = every.as_micros().max(1);
            let phase = stream(seed, Purpose::Uptime, subject).below(micros.into());
            thread.slept_at = SimTime::from_micros(phase as u64);
        }
        for (place, queue) in queues.iter().enumerate() {
            // Each thread gets as many neighbouring queues as the others; the rest goes, queue by
            // queue, to the threads of the first queues.
            let rest = place.checked_sub(number * of_thread);
            let thread = rest.unwrap_or(place) / of_thread.max(1);
            let queues = &mut readers.threads[thread].queues;
            *grown(&mut readers.serves, queue.index()) = (thread, queues.len());
            queues.push(BTreeSet::new());
        }
        readers
    }

    pub(super) fn hand_over(
        &mut self,
        jobs: impl IntoIterator<Item = (QueueId, QueueTurn)>,
        orders: &mut Orders<'_>,
    ) {
        for (queue, turn) in jobs {
            if self.threads.is_empty() {
                orders.read(turn.2, SimSpan::ZERO);
                continue;
            }
            let (thread, place) = self.serves[queue.index()];
            self.threads[thread].queues[place].insert(turn);
        }
        let now = orders.view().now();
        for thread in self.threads.iter_mut().filter(|thread| thread.reading.is_none()) {
            let after = thread.next_look(now, self.every).saturating_since(now);
            thread.take_next(after, orders);
        }
    }

    /// Lets the thread that has read a job read its next one.
    pub(super) fn go_on(&mut self, job: JobId, orders: &mut Orders<'_>) {
        let thread = self.threads.iter_mut().find(|thread| thread.reading == Some(job));
        let Some(thread) = thread else { return };
        thread.reading = None;
        thread.take_next(SimSpan::ZERO, orders);
        if thread.reading.is_none() {
            thread.slept_at = orders.view().now();
        }
    }
}

impl ReaderThread {
    fn next_look(&self, now: SimTime, every: SimSpan) -> SimTime {
        let slept = now.saturating_since(self.slept_at).as_micros();
        let rounds = slept.div_ceil(every.as_micros().max(1));
        self.slept_at + every * rounds
    }

    fn take_next(&mut self, after: SimSpan, orders: &mut Orders<'_>) {
        let queues = self.queues.len();
        while let Some(turn) = (0..queues).find_map(|more| {
            let place = (self.next + more) % queues;
            let turn = self.queues[place].pop_first();
            self.next = if turn.is_some() { (place + 1) % queues } else { self.next };
            turn
        }) {
            // A job that was killed, or initialised under another policy, takes no time.
            let job = turn.2;
            if orders.view().job(job).is_some_and(|job| job.state() == JobState::Submitted) {
                self.reading = Some(job);
                return orders.read(job, after);
            }
        }
        // After its sleep it begins with its first queue again.
        self.next = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the thread of each queue.
    fn threads(queues: u32, most: u32) -> Vec<usize> {
        let queues: Vec<QueueId> = (1..=queues).map(QueueId).collect();
        let readers = Readers::new(&queues, most, SimSpan::from_secs(3), 1);
        queues.iter().map(|queue| readers.serves[queue.index()].0).collect()
    }

    #[test]
    fn queues_are_divided_among_the_threads_as_in_hadoop() {
        assert_eq!(threads(1, 5), [0]);
        assert_eq!(threads(3, 5), [0, 1, 2]);
        assert_eq!(threads(7, 5), [0, 1, 2, 3, 4, 0, 1]);
        // Two queues for each thread; the last two go to the threads of the first two queues.
        assert_eq!(threads(8, 3), [0, 0, 1, 1, 2, 2, 0, 0]);
    }

    #[test]
    fn a_thread_looks_at_each_interval_since_it_fell_asleep() {
        let at = |millis: u64| SimTime::from_micros(millis * 1_000);
        let thread = ReaderThread { slept_at: at(1_000), ..ReaderThread::default() };
        let looks = [0, 1_000, 1_001, 4_000, 4_001]
            .map(|now| thread.next_look(at(now), SimSpan::from_secs(3)).as_millis());
        assert_eq!(looks, [1_000, 1_000, 4_000, 4_000, 7_000]);
    }

    #[test]
    fn threads_have_phases_of_their_own() {
        let queues: Vec<QueueId> = (1..=5).map(QueueId).collect();
        let phases = |seed| {
            let readers = Readers::new(&queues, 5, SimSpan::from_secs(3), seed);
            readers.threads.iter().map(|thread| thread.slept_at.as_millis()).collect::<Vec<_>>()
        };
        assert_eq!(phases(1), phases(1));
        let mut all = [phases(1), phases(2)].concat();
        assert!(all.iter().all(|phase| *phase < 3_000), "{all:?}");
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), 10, "{all:?}");
    }
}
