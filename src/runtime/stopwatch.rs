//! How long a policy's decisions take, by the wall clock, and whether a panic is the policy's
//! fault.
//!
//! The stopwatch wraps the policy, so neither the policy nor the JobTracker knows of it. Reading
//! the clock costs as much as a simple policy's decision, so in long runs only some decisions are
//! timed.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::time::Instant;

use hdrhistogram::Histogram;
use parking_lot::Mutex;

use mumakil_core::mapred::{Offer, Scheduler, Wrapper};

/// The number of decisions at the start of a run that are all timed; later, one in [`STRIDE`] is
/// timed.
// Chosen: short runs are timed in full, and in long runs reading the clock costs 1/32 as much.
const ALL_OF: u64 = 10_000;
const STRIDE: u64 = 32;

/// The measurements of the stopwatch.
#[derive(Debug)]
pub struct StopwatchReadings {
    /// How long offers took, in nanoseconds. After the first 10,000 offers, one in 32 is timed and
    /// counts as 32 offers.
    pub decision_time: Histogram<u64>,
    /// Whether the policy panicked.
    pub panicked: bool,
}

/// A policy with a stopwatch.
pub struct Stopwatch {
    policy: Box<dyn Scheduler>,
    seen: Arc<Mutex<StopwatchReadings>>,
    offers: u64,
}

impl Stopwatch {
    /// Returns the policy with a stopwatch, and the stopwatch's readings.
    pub fn new(policy: Box<dyn Scheduler>) -> (Self, Arc<Mutex<StopwatchReadings>>) {
        let decision_time = Histogram::new(3).expect("three digits are within the crate's limits");
        let seen = Arc::new(Mutex::new(StopwatchReadings { decision_time, panicked: false }));
        (Self { policy, seen: seen.clone(), offers: 0 }, seen)
    }

    /// Returns a policy that replaces this one later, under the same stopwatch.
    pub fn successor(&self, policy: Box<dyn Scheduler>) -> Self {
        Self { policy, seen: self.seen.clone(), offers: 0 }
    }
}

impl Wrapper for Stopwatch {
    fn inner(&self) -> &dyn Scheduler {
        &*self.policy
    }

    /// Calls the policy; if it panics, notes that and lets the panic go on.
    fn pass<R>(&mut self, ask: impl FnOnce(&mut dyn Scheduler) -> R) -> R {
        let policy = &mut *self.policy;
        catch_unwind(AssertUnwindSafe(|| ask(policy))).unwrap_or_else(|panic| {
            self.seen.lock().panicked = true;
            resume_unwind(panic)
        })
    }

    fn offer_inner(&mut self, offer: &mut Offer<'_>) {
        self.offers += 1;
        // A timed offer counts for the untimed ones around it, so that the shares in the histogram
        // stay true.
        let stands_for = if self.offers <= ALL_OF { 1 } else { STRIDE };
        let ask = |policy: &mut dyn Scheduler| {
            policy.offer(offer);
            // Checked inside of `pass`, so that a policy that launches too many tasks counts as
            // panicking.
            offer.assert_fits();
        };
        if !self.offers.is_multiple_of(stands_for) {
            return self.pass(ask);
        }
        let start = wall_clock();
        self.pass(ask);
        let nanos = u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX);
        let mut seen = self.seen.lock();
        seen.decision_time.record_n(nanos, stands_for).expect("the histogram grows");
    }
}

#[expect(clippy::disallowed_methods, reason = "what a decision really costs is the point")]
fn wall_clock() -> Instant {
    Instant::now()
}

#[cfg(test)]
mod tests {
    use super::*;
    use mumakil_base::units::SimSpan;
    use mumakil_core::mapred::{
        JobId, MapReach, Orders, PerSlot, PolicyBench, PolicyNeeds, Precedence, PrecedenceBy,
        Reason,
    };

    /// Launches a map of the first job at every offer, and panics when a test says so.
    #[derive(Default)]
    struct Simple {
        panics: bool,
        overfills: bool,
    }

    impl Scheduler for Simple {
        fn needs(&self) -> PolicyNeeds {
            PolicyNeeds {
                progress: true,
                full_trackers: true,
                reading: true,
                tick_every: Some(SimSpan::from_secs(7)),
                ..PolicyNeeds::default()
            }
        }

        fn precedence(&self) -> Precedence {
            Precedence::of_jobs(PrecedenceBy::Size)
        }

        fn tick(&mut self, _: &mut Orders<'_>) {
            assert!(!self.panics, "no time for this");
        }

        fn offer(&mut self, offer: &mut Offer<'_>) {
            assert!(!self.panics, "no slot for anybody");
            offer.launch_map(JobId(0), MapReach::Any, Reason::Other("simple"));
            if self.overfills {
                offer.launch_map(JobId(0), MapReach::Any, Reason::Other("one more"));
            }
        }
    }

    fn bench(policy: Simple) -> (PolicyBench<Stopwatch>, Arc<Mutex<StopwatchReadings>>) {
        let (policy, seen) = Stopwatch::new(Box::new(policy));
        (PolicyBench::new(policy, 1, PerSlot { map: 1, reduce: 1 }), seen)
    }

    #[test]
    fn the_policy_answers_through_the_stopwatch() {
        let (mut bench, seen) = bench(Simple::default());
        assert_eq!(bench.policy.needs(), Simple::default().needs());
        assert_eq!(bench.policy.precedence(), Precedence::of_jobs(PrecedenceBy::Size));
        let job = bench.submit(1, 0, |_| {});
        assert_eq!(bench.tick().offer(0).len(), 1);
        assert_eq!(bench.running(0)[0].job(), job);
        assert!(!seen.lock().panicked);
    }

    #[test]
    fn of_many_decisions_one_in_thirty_two_stands_for_all() {
        let (mut bench, seen) = bench(Simple::default());
        bench.submit(0, 1, |_| {});
        let mut timed_after = |offers: u64| {
            for _ in 0..offers {
                bench.offer(0);
            }
            seen.lock().decision_time.len()
        };
        assert_eq!(timed_after(ALL_OF), ALL_OF, "each of the first");
        // Strides are counted from the very first decision.
        assert_eq!(timed_after(STRIDE - ALL_OF % STRIDE - 1), ALL_OF);
        assert_eq!(timed_after(1), ALL_OF + STRIDE);
        assert_eq!(timed_after(10 * STRIDE), ALL_OF + 11 * STRIDE);
    }

    #[test]
    fn a_policy_that_panics_is_found_out_and_its_words_go_on() {
        type Act = fn(&mut PolicyBench<Stopwatch>);
        let acts: [(Act, &str); 2] = [
            (|bench| _ = bench.offer(0), "no slot for anybody"),
            (|bench| _ = bench.tick(), "no time for this"),
        ];
        for (act, words) in acts {
            let (mut bench, seen) = bench(Simple { panics: true, ..Simple::default() });
            let panic = catch_unwind(AssertUnwindSafe(|| act(&mut bench))).unwrap_err();
            assert_eq!(panic.downcast_ref::<&str>(), Some(&words));
            assert!(seen.lock().panicked);
            assert_eq!(seen.lock().decision_time.len(), 0, "it has not decided");
        }
    }

    #[test]
    #[cfg(debug_assertions)]
    fn a_policy_that_fills_more_slots_than_are_free_is_blamed_itself() {
        let (mut bench, seen) = bench(Simple { overfills: true, ..Simple::default() });
        bench.submit(2, 0, |_| {});
        let panic = catch_unwind(AssertUnwindSafe(|| bench.offer(0))).unwrap_err();
        let words = panic.downcast_ref::<String>().unwrap();
        assert!(words.contains("it gives 2 map slots of ") && words.ends_with("only 1 are free"));
        assert!(seen.lock().panicked);
    }
}
