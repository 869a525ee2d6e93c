//! The gate decides when a watched run may go on.
//!
//! It is a state machine without a clock of its own:
//! ```text
//! user    want(Run)            want(Step(Heartbeat))
//! run     ask(2.0 s, wall)     ask(2.1 s, wall)    see(heartbeat)    ask(2.1 s)    ask(2.4 s)
//! answer  Wait(30 ms), Go      Go                  -> wish: Pause    Go            Stand
//! ```
//! The gate pauses a run only between two instants, never between two messages of one instant, so
//! that an action at a pause comes after all events of the instant.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use mumakil_base::units::{SimSpan, SimTime};
use mumakil_core::mapred::{Event, Fact, JobFact, LedgerFact, TrackerFact, WorldFact};

/// The longest delay that a run makes up by hurrying; after a longer one the run goes on at the set
/// speed.
// Chosen: users notice a longer delay, but do not notice how a run makes up a shorter one.
const PATIENCE: Duration = Duration::from_millis(250);

/// The virtual seconds that pass in a real second; `None` for as many as the machine can.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Speed(Option<f64>);

impl Speed {
    /// As fast as the machine can.
    pub const MOST: Self = Self(None);
    // Chosen: at this speed a heartbeat interval of 3 s takes eight hours.
    const SLOWEST: f64 = 1e-4;
    // Chosen: no machine emulates a cluster faster; `max` means no limit.
    const FASTEST: f64 = 1e6;

    /// Returns the speed of a factor; `None` unless it is from a ten-thousandth to a million.
    pub fn new(factor: f64) -> Option<Self> {
        (Self::SLOWEST..=Self::FASTEST).contains(&factor).then_some(Self(Some(factor)))
    }

    /// Returns the speed as a factor; `None` for no limit.
    pub const fn factor(self) -> Option<f64> {
        self.0
    }
}

impl FromStr for Speed {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text.trim() == "max" {
            return Ok(Self::MOST);
        }
        let number = text.trim().trim_end_matches('x').trim().parse();
        number.ok().and_then(Self::new).ok_or_else(|| {
            format!(
                "expected a factor such as 60x or 0.1x, from {}x to {}x, or `max`",
                Self::SLOWEST,
                Self::FASTEST
            )
        })
    }
}

impl fmt::Display for Speed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(factor) => write!(f, "{factor}x"),
            None => f.write_str("max"),
        }
    }
}

/// The kind of event after which a run is to pause.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LiveStep {
    /// A tracker gets the reply to its heartbeat.
    Heartbeat,
    /// The JobTracker or its policy launches, kills, suspends or resumes an attempt.
    Decision,
    /// A job ends, or is refused.
    JobEnd,
}

impl LiveStep {
    fn is(self, fact: &Fact) -> bool {
        match self {
            Self::Heartbeat => matches!(fact, Fact::Tracker(_, TrackerFact::Heartbeat { .. })),
            Self::Decision => {
                matches!(
                    fact,
                    Fact::Ledger(_, _, LedgerFact::Assigned { .. } | LedgerFact::Ordered { .. })
                        | Fact::World(WorldFact::PolicyChanged | WorldFact::Reloaded)
                )
            }
            Self::JobEnd => {
                matches!(fact, Fact::Job(_, JobFact::Ended(_) | JobFact::SubmissionRefused(_)))
            }
        }
    }
}

/// A wish of the user for the run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum LiveRequest {
    /// To pause.
    Pause,
    /// To go on at the set speed.
    Run,
    /// To go on as fast as possible up to an instant, and pause there.
    To(SimTime),
    /// To go on as fast as possible up to the next event of a kind, and pause after it.
    Step(LiveStep),
    /// To go on to the end, as fast as possible.
    End,
    /// To abandon the run.
    Leave,
}

/// The gate's answer to a run that has a next message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GateTurn {
    /// Deliver the message.
    Go,
    /// Deliver the message after this real time.
    Wait(Duration),
    /// Hold the message back until the user wants something else.
    Stand,
    /// Abandon the run.
    Leave,
}

/// The gate of a run.
#[derive(Debug)]
pub struct Gate {
    wish: LiveRequest,
    speed: Speed,
    /// The instant of the last message; `None` before the first.
    at: Option<SimTime>,
    /// The current virtual time: at or after the last message, and before the next one.
    now: SimTime,
    /// The real time and the virtual instant from which the speed is counted; `None` until the next
    /// `ask`.
    since: Option<(Duration, SimTime)>,
}

impl Gate {
    /// Returns the gate of a run that has not begun.
    pub fn new(wish: LiveRequest, speed: Speed) -> Self {
        Self { wish, speed, at: None, now: SimTime::ZERO, since: None }
    }

    /// Returns the current virtual time.
    pub const fn now(&self) -> SimTime {
        self.now
    }

    /// Returns the current virtual time; `None` before the run has begun.
    pub fn position(&self) -> Option<SimTime> {
        self.at.map(|_| self.now)
    }

    /// Returns the speed that the user has set.
    pub const fn speed(&self) -> Speed {
        self.speed
    }

    /// Sets the request of the user.
    pub fn want(&mut self, wish: LiveRequest) {
        // Count the speed from now: the run must not catch up the time of a pause.
        self.wish = wish;
        self.since = None;
    }

    /// Sets the speed.
    pub fn set_speed(&mut self, speed: Speed) {
        self.speed = speed;
        self.since = None;
    }

    /// Returns whether the run is to pause; it then stands still until the user wants something
    /// else.
    pub fn stands(&self) -> bool {
        self.wish == LiveRequest::Pause
    }

    /// Notes that the run is over.
    pub fn end(&mut self) {
        self.want(LiveRequest::Pause);
    }

    /// Notes an event of the run, which may end a step that the user asked for.
    pub fn see(&mut self, event: &Event) {
        if let LiveRequest::Step(step) = self.wish
            && step.is(&event.fact)
        {
            self.want(LiveRequest::Pause);
        }
    }

    /// Returns the answer for a message that is due at `next`; `wall` is the real time.
    pub fn ask(&mut self, next: SimTime, wall: Duration) -> GateTurn {
        match self.wish {
            LiveRequest::Leave => return GateTurn::Leave,
            // Deliver the rest of an instant even after a request to pause.
            _ if self.at.is_some_and(|at| next <= at) => {}
            // Time reaches the wanted instant even if nothing happens then, so that the user can
            // act at that instant.
            LiveRequest::To(to) if to < next => {
                self.now = self.now.max(to);
                self.want(LiveRequest::Pause);
                return GateTurn::Stand;
            }
            LiveRequest::Pause => return GateTurn::Stand,
            LiveRequest::Run => {
                let wait = self.wait(next, wall);
                if !wait.is_zero() {
                    return GateTurn::Wait(wait);
                }
            }
            LiveRequest::To(_) | LiveRequest::Step(_) | LiveRequest::End => {}
        }
        self.at = Some(next);
        self.now = self.now.max(next);
        GateTurn::Go
    }

    /// Returns the real time to the next message, and advances the virtual time.
    fn wait(&mut self, next: SimTime, wall: Duration) -> Duration {
        let Speed(Some(factor)) = self.speed else { return Duration::ZERO };
        let (from, began) = *self.since.get_or_insert((wall, self.now));
        let left = next.saturating_since(began).as_secs_f64() / factor;
        let past = wall.saturating_sub(from);
        // The time to a distant message at a low speed may overflow: wait a day and ask again.
        let left = Duration::from_secs_f64(left.min(past.as_secs_f64() + 86_400.0));
        if past < left {
            let come = began + SimSpan::from_micros((past.as_secs_f64() * factor * 1e6) as u64);
            // Stay before the next message: `now` may reach its instant only when it is delivered.
            let before = SimTime::from_micros(next.as_micros().saturating_sub(1));
            self.now = self.now.max(come.min(before));
        } else if left + PATIENCE < past {
            // The machine is too slow, or the run was held up: count from here instead of catching
            // up.
            self.since = Some((wall, next));
        }
        left.saturating_sub(past)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mumakil_core::mapred::{JobId, Outcome, TrackerId};

    fn ms(millis: u64) -> SimTime {
        SimTime::ZERO + SimSpan::from_millis(millis)
    }

    fn wall(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    fn gate(wish: LiveRequest, speed: &str) -> Gate {
        Gate::new(wish, speed.parse().unwrap())
    }

    #[test]
    fn a_paused_run_stands_before_its_first_message() {
        let mut gate = gate(LiveRequest::Pause, "60x");
        assert_eq!(gate.ask(SimTime::ZERO, wall(0)), GateTurn::Stand);
        gate.want(LiveRequest::Step(LiveStep::JobEnd));
        assert_eq!(gate.ask(SimTime::ZERO, wall(0)), GateTurn::Go);
    }

    #[test]
    fn a_step_ends_behind_the_instant_of_what_it_waits_for() {
        let mut gate = gate(LiveRequest::Step(LiveStep::Heartbeat), "60x");
        assert_eq!(gate.ask(ms(1), wall(0)), GateTurn::Go);
        let ended = Fact::Job(JobId(0), JobFact::Ended(Outcome::Succeeded));
        gate.see(&Event { at: ms(1), fact: ended });
        assert_eq!(gate.ask(ms(2), wall(0)), GateTurn::Go, "no heartbeat");
        let (rtt, queued) = (SimSpan::ZERO, SimSpan::ZERO);
        let beat = Fact::Tracker(TrackerId(0), TrackerFact::Heartbeat { rtt, queued });
        gate.see(&Event { at: ms(2), fact: beat });
        assert_eq!(gate.ask(ms(2), wall(0)), GateTurn::Go, "the same instant");
        assert_eq!(gate.ask(ms(3), wall(0)), GateTurn::Stand);
        assert_eq!(gate.now(), ms(2));
    }

    #[test]
    fn at_sixty_times_a_minute_takes_a_second_and_time_is_seen_to_pass() {
        let mut gate = gate(LiveRequest::Run, "60x");
        assert_eq!(gate.ask(ms(60_000), wall(5_000)), GateTurn::Wait(wall(1_000)));
        assert_eq!(gate.ask(ms(60_000), wall(5_250)), GateTurn::Wait(wall(750)));
        assert_eq!(gate.now(), ms(15_000));
        gate.want(LiveRequest::Pause);
        assert_eq!(gate.ask(ms(60_000), wall(9_000)), GateTurn::Stand);
        assert_eq!(gate.now(), ms(15_000), "it stands in between");
        gate.want(LiveRequest::Run);
        assert_eq!(gate.ask(ms(60_000), wall(9_000)), GateTurn::Wait(wall(750)));
        assert_eq!(gate.ask(ms(60_000), wall(9_750)), GateTurn::Go);
        assert_eq!(gate.now(), ms(60_000));
    }

    #[test]
    fn a_machine_that_is_too_slow_does_not_run_after_what_is_lost() {
        let mut gate = gate(LiveRequest::Run, "1x");
        assert_eq!(gate.ask(ms(1_000), wall(0)), GateTurn::Wait(wall(1_000)));
        // The run is ten seconds late, but the next message is still a second away.
        assert_eq!(gate.ask(ms(1_000), wall(11_000)), GateTurn::Go);
        assert_eq!(gate.ask(ms(2_000), wall(11_000)), GateTurn::Wait(wall(1_000)));
    }

    #[test]
    fn to_go_to_an_instant_delivers_all_up_to_it_and_stands_there() {
        let mut gate = gate(LiveRequest::To(ms(10)), "1x");
        assert_eq!(gate.ask(ms(9), wall(0)), GateTurn::Go);
        assert_eq!(gate.ask(ms(10), wall(0)), GateTurn::Go);
        assert_eq!(gate.ask(ms(25), wall(0)), GateTurn::Stand);
        assert_eq!((gate.now(), gate.wish), (ms(10), LiveRequest::Pause));
    }

    #[test]
    fn as_fast_as_the_machine_nobody_waits_and_who_leaves_leaves_at_once() {
        let mut gate = gate(LiveRequest::Run, "max");
        assert_eq!(gate.ask(ms(1 << 40), wall(0)), GateTurn::Go);
        gate.want(LiveRequest::Leave);
        assert_eq!(gate.ask(ms(1 << 40), wall(0)), GateTurn::Leave);
    }

    #[test]
    fn a_speed_is_a_factor() {
        for (text, speed) in [("60x", Some(60.0)), ("0.5", Some(0.5)), ("max", None)] {
            assert_eq!(text.parse::<Speed>().unwrap().factor(), speed);
        }
        for text in ["", "0x", "-1", "fast", "NaN", "inf", "1e9x"] {
            assert!(text.parse::<Speed>().is_err(), "{text}");
        }
        assert_eq!("60x".parse::<Speed>().unwrap().to_string(), "60x");
    }

    #[test]
    fn the_slowest_wait_there_is_does_not_overflow() {
        let mut gate = gate(LiveRequest::Run, "0.0001x");
        let GateTurn::Wait(wait) = gate.ask(SimTime::NEVER, wall(7)) else { panic!() };
        assert_eq!(wait, Duration::from_secs(86_400));
    }
}
