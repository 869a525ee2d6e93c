//! How long a policy thinks, by the wall clock, and whose fault a panic is.
//!
//! Wrapped around the policy so that neither it nor the JobTracker knows of it. To read the clock
//! costs as much as a simple policy's decision, so of many decisions only some are timed.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::time::Instant;

use hdrhistogram::Histogram;
use parking_lot::Mutex;

use crate::mapred::{JobEvent, Offer, Orders, Scheduler, Truth, View};
use crate::units::SimSpan;

/// So many decisions are timed one by one; of those after them, one in [`STRIDE`] for all of these.
const ALL_OF: u64 = 10_000;
const STRIDE: u64 = 8;

/// What the stopwatch has seen.
#[derive(Debug)]
pub struct Thinking {
    /// How long offers took to answer, in nanoseconds. After the first 10,000, one in eight is timed
    /// and counted for all eight.
    pub decision_time: Histogram<u64>,
    /// Whether the policy panicked.
    pub panicked: bool,
}

/// A policy with a stopwatch.
pub struct Stopwatch {
    policy: Box<dyn Scheduler>,
    seen: Arc<Mutex<Thinking>>,
    offers: u64,
}

impl Stopwatch {
    /// Returns the policy with a stopwatch, and where that can be read.
    pub fn new(policy: Box<dyn Scheduler>) -> (Self, Arc<Mutex<Thinking>>) {
        let decision_time = Histogram::new(3).expect("three digits are within the crate's limits");
        let seen = Arc::new(Mutex::new(Thinking { decision_time, panicked: false }));
        (Self { policy, seen: seen.clone(), offers: 0 }, seen)
    }

    /// Calls the policy; if it panics, notes so and lets the panic go on.
    fn call<R>(&mut self, ask: impl FnOnce(&mut dyn Scheduler) -> R) -> R {
        let policy = &mut *self.policy;
        catch_unwind(AssertUnwindSafe(|| ask(policy))).unwrap_or_else(|panic| {
            self.seen.lock().panicked = true;
            resume_unwind(panic)
        })
    }
}

impl Scheduler for Stopwatch {
    fn foresee(&mut self, truth: &Truth) {
        self.call(|policy| policy.foresee(truth));
    }

    fn wants_full_trackers(&self) -> bool {
        self.policy.wants_full_trackers()
    }

    fn job_changed(&mut self, view: &View<'_>, event: &JobEvent) {
        self.call(|policy| policy.job_changed(view, event));
    }

    fn tick_every(&self) -> Option<SimSpan> {
        self.policy.tick_every()
    }

    fn reads_progress(&self) -> bool {
        self.policy.reads_progress()
    }

    fn tick(&mut self, orders: &mut Orders<'_>) {
        self.call(|policy| policy.tick(orders));
    }

    fn offer(&mut self, offer: &mut Offer<'_>) {
        self.offers += 1;
        let stands_for = if self.offers <= ALL_OF { 1 } else { STRIDE };
        if !self.offers.is_multiple_of(stands_for) {
            return self.call(|policy| policy.offer(offer));
        }
        let start = wall_clock();
        self.call(|policy| policy.offer(offer));
        let nanos = u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX);
        let mut seen = self.seen.lock();
        seen.decision_time.record_n(nanos, stands_for).expect("the histogram grows");
    }
}

#[expect(clippy::disallowed_methods, reason = "what a decision really costs is the point")]
fn wall_clock() -> Instant {
    Instant::now()
}
