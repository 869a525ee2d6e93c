//! The transport alone: how many messages a second the actors and the bare drive carry.
//!
//! Trivial cores exchange heartbeats, replies and task ends for one virtual hour, at 100, 1,000 and
//! 10,000 trackers, as actors and under the bare drive. For comparison, loops do the same work with
//! boxed closures in a binary heap, as simulators usually do; with plain enums in a binary heap;
//! and with plain enums in the clock's calendar queue, which is the practical limit.
//!
//! The last numbers tell whether one run would be faster on two cores. Trackers on two threads
//! could run independently for as long as the smallest latency of a link, since no message arrives
//! sooner. Then the threads would have to wait for each other. The bench measures the work between
//! two such waits, and the cost of a wait.

#![expect(clippy::disallowed_methods, clippy::print_stdout, reason = "a bench prints wall times")]

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::hint;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::Instant;

use mumakil::cluster::TrackerId;
use mumakil::mapred::{
    Core, Heartbeat, HeartbeatCall, Mail, Outbox, Reply, StopReason, ToInjector, ToJobTracker,
    ToTracker, TrackerStatus,
};
use mumakil::random::Dist;
use mumakil::runtime::{
    Ending, Links, RunCores, RunPlan, RunStats, Timers, Transport, run_virtual,
};
use mumakil::units::{Fraction, SimSpan, SimTime};

const HOUR: SimTime = SimTime::from_micros(3_600_000_000);
const INTERVAL: SimSpan = SimSpan::from_secs(3);
const LATENCY: SimSpan = SimSpan::from_micros(200);
const SERVICE: SimSpan = SimSpan::from_millis(1);
const TASK: SimSpan = SimSpan::from_secs(35);
const SLOTS: u32 = 4;

/// A core that answers every heartbeat.
struct Answering;

impl Core for Answering {
    type Msg = ToJobTracker;

    fn handle(&mut self, msg: &ToJobTracker, out: &mut Outbox) {
        if let ToJobTracker::Heartbeat(heartbeat) = msg {
            let reply = Arc::new(Reply { interval: INTERVAL, ..Reply::default() });
            out.send_after(
                SERVICE,
                Mail::Tracker(heartbeat.call().tracker, ToTracker::Reply(reply)),
            );
        }
    }
}

/// A core that sends heartbeats and lets tasks end.
struct Beating {
    id: TrackerId,
    status: Arc<TrackerStatus>,
}

impl Core for Beating {
    type Msg = ToTracker;

    fn handle(&mut self, msg: &ToTracker, out: &mut Outbox) {
        let own = |msg| Mail::Tracker(self.id, msg);
        match msg {
            ToTracker::PowerOn => {
                let phase = SimSpan::from_micros(u64::from(self.id.0) * 997 % 3_000_000);
                out.plan(phase, own(ToTracker::Beat(0)));
                for slot in 0..SLOTS {
                    out.plan(TASK, own(ToTracker::PhaseEnds(u64::from(slot))));
                }
            }
            ToTracker::Beat(_) => {
                out.send(ToJobTracker::Heartbeat(Heartbeat::Full(self.status.clone())))
            }
            ToTracker::Reply(reply) => out.plan(reply.interval, own(ToTracker::Beat(0))),
            ToTracker::PhaseEnds(slot) => out.plan(TASK, own(ToTracker::PhaseEnds(*slot))),
            other => unreachable!("no core sends {other:?}"),
        }
    }
}

struct Silent;

impl Core for Silent {
    type Msg = ToInjector;

    fn handle(&mut self, _: &ToInjector, _: &mut Outbox) {}
}

/// Runs the trivial cores under a drive of the virtual clock.
fn cores(trackers: u32, run: impl Fn(RunPlan) -> (RunStats, Ending)) -> u64 {
    let tracker = |index| -> Box<dyn Core<Msg = ToTracker>> {
        let id = TrackerId(index);
        Box::new(Beating {
            id,
            status: Arc::new(TrackerStatus {
                call: HeartbeatCall { tracker: id, ..HeartbeatCall::default() },
                ..TrackerStatus::default()
            }),
        })
    };
    let cast = RunCores {
        job_tracker: Box::new(Answering),
        injector: Box::new(Silent),
        trackers: (0..trackers).map(tracker).collect(),
        fabric: None,
        nature: None,
        name_node: None,
        map_outputs: None,
    };
    let links = Links {
        seed: 1,
        latency: Dist::Constant(LATENCY),
        cross_rack: Dist::Constant(LATENCY),
        is_away: vec![false; trackers as usize],
        cross_pod: Dist::Constant(LATENCY),
        is_far: vec![false; trackers as usize],
        loss: Fraction::ZERO,
        duplication: Fraction::ZERO,
        late: Fraction::ZERO,
        late_by: Dist::Constant(SimSpan::ZERO),
        cuts: Vec::new(),
    };
    let start = |index| (SimTime::ZERO, Mail::Tracker(TrackerId(index), ToTracker::PowerOn));
    let opening = (0..trackers).map(start).collect();
    let (events, time_limit, outlasts) = (Box::new(()), None, false);
    let play =
        RunPlan { cast, links, opening, events, until: HOUR, time_limit, outlasts, pace: None };
    let (stats, ending) = run(play);
    assert_eq!(ending, Ending::Stopped(StopReason::TimeUp));
    stats.messages
}

/// A step of the loops without actors.
#[derive(Clone, Copy)]
enum Step {
    Beat(u32),
    Status(u32),
    Reply(u32),
    TaskEnds(u32),
}

/// Returns the step that follows, its delay, and the number of messages (0 or 1) for which `step`
/// counts.
fn follow(step: Step) -> (Step, SimSpan, u64) {
    match step {
        Step::Beat(id) => (Step::Status(id), LATENCY, 0),
        Step::Status(id) => (Step::Reply(id), SERVICE + LATENCY, 1),
        Step::Reply(id) => (Step::Beat(id), INTERVAL, 1),
        Step::TaskEnds(id) => (Step::TaskEnds(id), TASK, 1),
    }
}

fn opening(trackers: u32) -> impl Iterator<Item = (SimTime, Step)> {
    (0..trackers).flat_map(|id| {
        let beat = SimTime::from_micros(u64::from(id) * 997 % 3_000_000);
        std::iter::once((beat, Step::Beat(id)))
            .chain((0..SLOTS).map(move |_| (SimTime::ZERO + TASK, Step::TaskEnds(id))))
    })
}

/// An event in a binary heap, ordered by time, then by the order of pushes.
struct Event<E> {
    time: SimTime,
    sequence: u64,
    held: E,
}

impl<E> Event<E> {
    fn key(&self) -> u128 {
        u128::from(self.time.as_micros()) << 64 | u128::from(self.sequence)
    }
}

impl<E> PartialEq for Event<E> {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}
impl<E> Eq for Event<E> {}
impl<E> PartialOrd for Event<E> {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
impl<E> Ord for Event<E> {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.key().cmp(&other.key())
    }
}

/// Runs a binary heap of events: `hold` turns a step into an event's content, and `run` returns the
/// step that follows.
fn heap_loop<E>(
    trackers: u32,
    hold: impl Fn(Step) -> E,
    run: impl Fn(E) -> (Step, SimSpan, u64),
) -> u64 {
    let mut heap = BinaryHeap::new();
    let (mut sequence, mut messages) = (0, 0);
    let mut push = |heap: &mut BinaryHeap<Reverse<Event<E>>>, time, step| {
        heap.push(Reverse(Event { time, sequence, held: hold(step) }));
        sequence += 1;
    };
    for (time, step) in opening(trackers) {
        push(&mut heap, time, step);
    }
    while let Some(Reverse(event)) = heap.pop() {
        if HOUR < event.time {
            break;
        }
        let (next, delay, counts) = run(event.held);
        messages += counts;
        push(&mut heap, event.time + delay, next);
    }
    messages
}

/// Runs the loop with boxed closures, in which simulators usually hold their events.
fn boxed_loop(trackers: u32) -> u64 {
    type Closure = Box<dyn FnOnce() -> (Step, SimSpan, u64)>;
    heap_loop(trackers, |step| -> Closure { Box::new(move || follow(step)) }, |event| event())
}

/// Runs the loop with plain steps, to compare with the calendar queue.
fn plain_loop(trackers: u32) -> u64 {
    heap_loop(trackers, |step| step, follow)
}

fn calendar_loop(trackers: u32) -> u64 {
    calendar_steps(trackers).0
}

/// Returns the number of messages, and the number of time steps. A time step lasts at least the
/// latency of a message.
fn calendar_steps(trackers: u32) -> (u64, u64) {
    let mut timers = Timers::default();
    for (time, step) in opening(trackers) {
        timers.push(time, step);
    }
    let (mut messages, mut steps, mut step_ends) = (0, 0, SimTime::ZERO);
    while let Some(time) = timers.next_time().filter(|time| *time <= HOUR)
        && let Some(step) = timers.pop()
    {
        if step_ends <= time {
            step_ends = time + LATENCY;
            steps += 1;
        }
        let (next, delay, counts) = follow(step);
        messages += counts;
        timers.push(time + delay, next);
    }
    (messages, steps)
}

/// Returns the time in seconds that two idle threads take to wait for each other.
fn meeting() -> f64 {
    const MEETINGS: u32 = 200_000;
    let (here, there) = (AtomicU32::new(0), AtomicU32::new(0));
    let wait_for = |other: &AtomicU32, number| {
        while other.load(Ordering::Acquire) < number {
            hint::spin_loop();
        }
    };
    let start = Instant::now();
    thread::scope(|scope| {
        scope.spawn(|| {
            for number in 1..=MEETINGS {
                there.store(number, Ordering::Release);
                wait_for(&here, number);
            }
        });
        for number in 1..=MEETINGS {
            here.store(number, Ordering::Release);
            wait_for(&there, number);
        }
    });
    start.elapsed().as_secs_f64() / f64::from(MEETINGS)
}

/// Returns the shortest time of `repeats` repeats, in seconds, and the messages of one repeat.
fn time(repeats: u32, run: impl Fn() -> u64) -> (f64, u64) {
    let mut best = f64::INFINITY;
    let mut messages = 0;
    for _ in 0..repeats {
        let start = Instant::now();
        messages = run();
        best = best.min(start.elapsed().as_secs_f64());
    }
    (best, messages)
}

fn main() {
    println!(
        "transport: heartbeats every 3 s and {SLOTS} tasks of 35 s a tracker, one virtual hour"
    );
    println!(
        "trackers   messages      actors          bare    boxed heap    plain heap      calendar"
    );
    for (trackers, repeats) in [(100, 20), (1_000, 5), (10_000, 1)] {
        let (actors, messages) =
            time(repeats, || cores(trackers, |play| run_virtual(play, Transport::Actors)));
        let (bare, _) =
            time(repeats, || cores(trackers, |play| run_virtual(play, Transport::Bare)));
        let (boxed, _) = time(repeats, || boxed_loop(trackers));
        let (plain, _) = time(repeats, || plain_loop(trackers));
        let (calendar, same) = time(repeats, || calendar_loop(trackers));
        assert_eq!(messages, same, "all loops do the same work");
        let rate = |secs: f64| messages as f64 / secs / 1e6;
        println!(
            "{trackers:>8} {messages:>10} {:>7.2} M/s {:>9.2} M/s {:>9.2} M/s {:>9.2} M/s {:>9.2} M/s   \
             actors take {:.2}x the boxed heap's time, {:.2}x the calendar's",
            rate(actors),
            rate(bare),
            rate(boxed),
            rate(plain),
            rate(calendar),
            actors / boxed,
            actors / calendar,
        );
    }
    let meeting = meeting();
    for trackers in [1_000, 10_000] {
        let (messages, steps) = calendar_steps(trackers);
        let (bare, _) = time(1, || cores(trackers, |play| run_virtual(play, Transport::Bare)));
        // At best, both halves of the work take equally long, and no other cost grows.
        let at_best = bare / (bare / 2.0 + meeting * steps as f64);
        println!(
            "two cores, {trackers:>6} trackers: {:4.1} messages in a step of {} us, {:.2} us of work; two \
             threads meet in {:.2} us; so at best {at_best:.2} times as fast",
            messages as f64 / steps as f64,
            LATENCY.as_micros(),
            bare / steps as f64 * 1e6,
            meeting * 1e6,
        );
    }
}
