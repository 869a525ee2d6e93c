//! What this machine holds: the fastest scaled clock, and how many heartbeats its JobTracker answers.
//!
//! A factor *holds* if of all messages one in a hundred is late by less than a tenth of the heartbeat
//! interval, and if at least half of the heartbeats that are due are answered: a machine that does not
//! come to deliver its messages is not late with those. Which factor is the largest only trying tells:
//! short runs of a busy cluster, twice as fast each time until one does not hold, then in between
//! (`Bounds`).
//!
//! The JobTracker's curve is made on the virtual clock, twice for each size: once with the service time
//! that scenarios have by default, during which it is measured what the core of the JobTracker really
//! takes for a heartbeat, and once with that. What actors and threads add is the lag above, not this.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use hdrhistogram::Histogram;
use parking_lot::Mutex;
use serde::Serialize;

use super::{EmulationError, Options, Prepared, two_digits};
use crate::mapred::{Core, Event, Fact, Outbox, ToJobTracker, TrackerFact};
use crate::record::{Books, End, RecordError, Watcher};
use crate::runtime::Cast;
use crate::scenario::{self, ClockSpec, Registry, Scenario};
use crate::units::{SimSpan, SimTime};

/// The heartbeat interval of all these runs.
pub const HEARTBEAT: SimSpan = SimSpan::from_secs(3);
/// The lag that is too large: a tenth of the interval.
pub const TOO_LATE: SimSpan = SimSpan::from_millis(300);

/// How long a run on a scaled clock takes, in real seconds, if the factor is not so small that more is
/// needed for the two heartbeats of each tracker without which it would say nothing.
const TRIAL_S: f64 = 0.5;
/// How long the runs of the curve are: a queue that grows all the time has become long by then.
const CURVE: SimSpan = SimSpan::from_secs(120);
/// The sizes of the curve: with 1 ms for each heartbeat, 3,000 nodes keep a JobTracker busy.
const CURVE_NODES: [u32; 5] = [500, 1_000, 2_000, 3_000, 4_000];

/// What this machine holds.
#[derive(Clone, Debug, Serialize)]
pub struct Calibration {
    /// The interval, in seconds.
    pub heartbeat_s: f64,
    /// The largest factor at each size.
    pub clocks: Vec<Held>,
    /// The heartbeats of the JobTracker at each size; fewer sizes if the time was up.
    pub job_tracker: Vec<Point>,
}

/// The largest factor at a size.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Held {
    /// Nodes of the cluster.
    pub nodes: u32,
    /// The largest factor that held, rounded down to two digits; none if none did.
    pub factor: Option<f64>,
    /// How late one message in a hundred was then, or later, in seconds of virtual time.
    pub p99_lag_s: Option<f64>,
    /// How many runs it took to find out.
    pub runs: u32,
    /// Whether the search came to its end before the time was up.
    pub is_complete: bool,
}

/// The heartbeats of a JobTracker at a size.
#[derive(Clone, Debug, Serialize)]
pub struct Point {
    /// Nodes of the cluster.
    pub nodes: u32,
    /// As scenarios have it by default.
    pub modelled: Service,
    /// With what it really takes.
    pub real: Service,
}

/// How heartbeats fare.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Service {
    /// What each takes the JobTracker, in seconds.
    pub service_s: f64,
    /// How long one waits at the JobTracker until it is served, on average.
    pub mean_wait_s: f64,
    /// The round trip of one in a hundred, or longer.
    pub p99_round_trip_s: f64,
}

/// A run that is about to begin.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Step {
    /// Nodes of the cluster.
    pub nodes: u32,
    /// The factor of its clock, if that is not the virtual one.
    pub factor: Option<f64>,
}

/// Finds out what this machine holds with clusters of these sizes, and begins no more runs after so much
/// real time. Each run is told before it begins.
///
/// # Errors
/// If a run fails, which is a fault of the emulator.
pub fn calibrate(
    sizes: &[u32],
    patience: Duration,
    registry: &Registry,
    mut tell: impl FnMut(Step),
) -> Result<Calibration, EmulationError> {
    let end = now() + patience;
    // Each size may have as much of what is left as the next ones, and the curve as much as a size.
    let share = |parts: usize| {
        let now = now();
        now + end.saturating_duration_since(now) / u32::try_from(parts).unwrap_or(u32::MAX)
    };
    let mut clocks = Vec::new();
    for (number, &nodes) in sizes.iter().enumerate() {
        let end = share(sizes.len() - number + 1);
        let lag = |factor| {
            tell(Step { nodes, factor: Some(factor) });
            lag(nodes, factor, registry)
        };
        clocks.push(search(nodes, || now() < end, lag)?);
    }
    let mut job_tracker = Vec::new();
    for nodes in CURVE_NODES {
        if now() < end {
            tell(Step { nodes, factor: None });
            job_tracker.push(point(nodes, registry)?);
        }
    }
    Ok(Calibration { heartbeat_s: HEARTBEAT.as_secs_f64(), clocks, job_tracker })
}

/// What is known of the largest factor that holds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Bounds {
    /// The largest that did.
    holds: Option<f64>,
    /// The smallest that did not.
    fails: Option<f64>,
}

impl Bounds {
    /// Where the search begins, and where it gives up.
    const FIRST: f64 = 16.0;
    const LEAST: f64 = 0.5;
    const MOST: f64 = 100_000.0;
    /// How close to each other the two have to be.
    const CLOSE: f64 = 1.1;

    /// Returns which factor to try next; none if enough is known.
    fn next(self) -> Option<f64> {
        let next = match (self.holds, self.fails) {
            (None, None) => Self::FIRST,
            (Some(holds), None) => holds * 2.0,
            (None, Some(fails)) => fails / 2.0,
            (Some(holds), Some(fails)) if holds * Self::CLOSE < fails => (holds * fails).sqrt(),
            (Some(_), Some(_)) => return None,
        };
        (Self::LEAST..=Self::MOST).contains(&next).then_some(next)
    }
}

/// Searches the largest factor that holds, by the p99 of the lag that each has; none is a machine that
/// did not keep up at all. What does not hold is tried once more: a moment of another program's is not
/// the limit of a machine.
fn search<E>(
    nodes: u32,
    may_go_on: impl Fn() -> bool,
    mut lag: impl FnMut(f64) -> Result<Option<SimSpan>, E>,
) -> Result<Held, E> {
    let mut held = Held { nodes, factor: None, p99_lag_s: None, runs: 0, is_complete: false };
    let mut bounds = Bounds::default();
    while let Some(factor) = bounds.next() {
        let mut good = None;
        for _ in 0..2 {
            if !may_go_on() {
                return Ok(held);
            }
            held.runs += 1;
            good = lag(factor)?.filter(|lag| *lag < TOO_LATE);
            if good.is_some() {
                break;
            }
        }
        if let Some(lag) = good {
            bounds.holds = Some(factor);
            held.factor = Some(two_digits(factor));
            held.p99_lag_s = Some(lag.as_secs_f64());
        } else {
            bounds.fails = Some(factor);
        }
    }
    held.is_complete = true;
    Ok(held)
}

/// Returns the p99 of the lag of a run; none if fewer than half of the heartbeats came that should have.
fn lag(nodes: u32, factor: f64, registry: &Registry) -> Result<Option<SimSpan>, EmulationError> {
    let until = SimSpan::ceil_from_secs(TRIAL_S * factor).max(HEARTBEAT * 2);
    let scenario = Scenario { clock: ClockSpec::Scaled(factor), ..busy(nodes, until, registry)? };
    let run = Prepared::new(scenario, registry)?.emulate(registry, Options::default())?;
    let due = f64::from(nodes) * until.as_secs_f64() / HEARTBEAT.as_secs_f64();
    let keeps_up = due / 2.0 <= run.summary.heartbeats as f64;
    let lag = run.lag.filter(|_| keeps_up);
    Ok(lag.map(|lag| SimSpan::from_micros(lag.value_at_quantile(0.99))))
}

/// Returns a cluster whose slots are taken all the time: every 10 s comes a job with as many maps as end
/// in that time on two slots a node.
fn busy(nodes: u32, until: SimSpan, registry: &Registry) -> Result<Scenario, EmulationError> {
    let jobs = until.as_micros().div_ceil(10_000_000) + 1;
    let yaml = format!(
        "
hadoop: {{heartbeat: 3s, heartbeat_fuzz: 200ms}}
cluster: {{nodes: {nodes}, map_slots: 2}}
workload: {{jobs: [{{name: stream, count: {jobs}, every: 10s, maps: {nodes}, map_time: 20s}}]}}
"
    );
    let mut scenario = scenario::parse("calibrate", &yaml, &[], registry)?.scenario;
    scenario.until = Some(until);
    Ok(scenario)
}

/// Returns how heartbeats fare at a size, as modelled and with what they really take.
fn point(nodes: u32, registry: &Registry) -> Result<Point, EmulationError> {
    let mut scenario = busy(nodes, CURVE, registry)?;
    let costs = scenario.cluster.jobtracker.clone();
    let (modelled, really) = serve(scenario.clone(), registry)?;
    let each = SimSpan::ceil_from_secs(really);
    scenario.cluster.jobtracker.per_heartbeat = each;
    // What was measured has tasks and jobs in it.
    scenario.cluster.jobtracker.per_task = SimSpan::ZERO;
    scenario.cluster.jobtracker.per_job = SimSpan::ZERO;
    let (real, _) = serve(scenario, registry)?;
    Ok(Point {
        nodes,
        modelled: Service { service_s: costs.per_heartbeat.as_secs_f64(), ..modelled },
        real: Service { service_s: really, ..real },
    })
}

/// Runs a scenario; returns how heartbeats fared, and how many seconds each really took the JobTracker.
fn serve(scenario: Scenario, registry: &Registry) -> Result<(Service, f64), EmulationError> {
    let (trips, nanos) = (Arc::new(Mutex::new(Trips::new())), Arc::new(AtomicU64::new(0)));
    let options = Options { watchers: vec![Box::new(Heard(trips.clone()))], ..Options::default() };
    let timed = |cast: Cast| {
        let core = Timed { core: cast.job_tracker, nanos: nanos.clone() };
        Cast { job_tracker: Box::new(core), ..cast }
    };
    Prepared::new(scenario, registry)?.emulate_as(registry, options, timed)?;
    let trips = trips.lock();
    let served = trips.round_trips.len().max(1) as f64;
    let service = Service {
        service_s: 0.0,
        mean_wait_s: trips.waited.as_secs_f64() / served,
        p99_round_trip_s: trips.round_trips.value_at_quantile(0.99) as f64 * 1e-6,
    };
    Ok((service, nanos.load(Ordering::Relaxed) as f64 * 1e-9 / served))
}

/// The JobTracker with a stopwatch. All that it does is for heartbeats, or belongs to what they bring
/// about; to read the clock adds some 0.05 µs to each message.
struct Timed {
    core: Box<dyn Core<Msg = ToJobTracker>>,
    nanos: Arc<AtomicU64>,
}

impl Core for Timed {
    type Msg = ToJobTracker;

    fn handle(&mut self, at: SimTime, msg: &ToJobTracker, out: &mut Outbox) {
        let start = now();
        self.core.handle(at, msg, out);
        let nanos = u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX);
        self.nanos.fetch_add(nanos, Ordering::Relaxed);
    }
}

/// What became of heartbeats.
#[derive(Debug)]
struct Trips {
    /// In microseconds.
    round_trips: Histogram<u64>,
    waited: SimSpan,
}

impl Trips {
    fn new() -> Self {
        let round_trips = Histogram::new(3).expect("three digits are within the crate's limits");
        Self { round_trips, waited: SimSpan::ZERO }
    }
}

/// Hears them.
struct Heard(Arc<Mutex<Trips>>);

impl Watcher for Heard {
    fn see(&mut self, event: &Event, _: &Books) -> Result<(), RecordError> {
        if let Fact::Tracker(_, TrackerFact::Heartbeat { rtt, queued }) = event.fact {
            let mut trips = self.0.lock();
            trips.round_trips.record(rtt.as_micros()).expect("the histogram grows");
            trips.waited += queued;
        }
        Ok(())
    }

    fn hears_heartbeats(&self) -> bool {
        true
    }

    fn finish(&mut self, _: &End<'_>) -> Result<(), RecordError> {
        Ok(())
    }
}

#[expect(clippy::disallowed_methods, reason = "what the machine really takes is the point")]
fn now() -> Instant {
    Instant::now()
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::convert::Infallible;

    use super::*;

    /// Searches on a machine that is late by as much as it is at this factor, for so many runs.
    fn found(runs: u32, lag: impl Fn(f64) -> f64) -> Held {
        let left = Cell::new(runs);
        let late = |factor| {
            left.set(left.get() - 1);
            let lag = lag(factor);
            Ok::<_, Infallible>(lag.is_finite().then(|| SimSpan::ceil_from_secs(lag)))
        };
        let Ok(held) = search(100, || 0 < left.get(), late);
        held
    }

    #[test]
    fn the_largest_factor_is_found_to_a_tenth() {
        // Late by so much that this is the limit.
        for limit in [0.7, 5.0, 16.0, 17.0, 300.0, 12_345.0] {
            let held = found(1_000, |factor| 0.3 / limit * factor);
            let factor = held.factor.unwrap();
            assert!(held.is_complete && held.p99_lag_s.unwrap() < 0.3, "{held:?}");
            assert!(factor <= limit && limit / 1.1 / 1.1 <= factor, "{limit}: {held:?}");
            assert!(held.runs <= 25, "{held:?}");
        }
    }

    #[test]
    fn a_machine_that_holds_nothing_or_everything_ends_the_search() {
        let nothing = found(1_000, |_| f64::INFINITY);
        assert_eq!((nothing.factor, nothing.runs, nothing.is_complete), (None, 12, true));
        let everything = found(1_000, |_| 0.0);
        assert_eq!((everything.factor, everything.runs), (Some(65_000.0), 13));
    }

    #[test]
    fn a_moment_of_anothers_is_not_the_limit() {
        let runs = Cell::new(0);
        let held = found(1_000, |factor| {
            runs.set(runs.get() + 1);
            // The second run is disturbed.
            if runs.get() == 2 { 9.0 } else { factor * 1e-3 }
        });
        assert_eq!(held.factor, Some(270.0));
    }

    #[test]
    fn a_search_without_time_says_what_it_has_seen() {
        let held = found(3, |factor| factor * 1e-6);
        assert_eq!((held.factor, held.runs, held.is_complete), (Some(64.0), 3, false));
        assert_eq!(found(0, |factor| factor).factor, None);
    }

    #[test]
    fn a_small_cluster_keeps_up_with_a_slow_clock() {
        // What a machine that is busy with other tests holds is anybody's guess; that the runs are
        // such as say something is not.
        let registry = Registry::builtin();
        assert!(lag(2, 12.0, &registry).unwrap().is_some());
    }

    #[test]
    fn heartbeats_wait_for_a_service_that_is_modelled_and_hardly_for_a_real_one() {
        let point = point(100, &Registry::builtin()).unwrap();
        let Point { modelled, real, .. } = point;
        assert_eq!(modelled.service_s, 1e-3);
        assert!(0.0 < real.service_s && real.service_s < 1e-3, "{real:?}");
        assert!(real.mean_wait_s < modelled.mean_wait_s, "{real:?} {modelled:?}");
        assert!(real.p99_round_trip_s < modelled.p99_round_trip_s, "{real:?} {modelled:?}");
    }
}
