//! A session: a run that users watch, pause and change, and the scenario that repeats it.
//!
//! A session *is* a scenario. An action at a pause becomes an entry of the scenario, and the run is
//! repeated:
//! ```text
//! paused at 10 s; the user stops node-2
//!   -> the first scenario, with {at: 10000001us, stop: node-2}
//!   -> the old run is abandoned (`LiveRequest::Leave`), a new one runs to 10 s (`LiveRequest::To`)
//!   -> its events up to 10 s are compared with the old ones
//!        equal: paused at 10 s again       different: the action is taken back
//! ```
//! To go back in time, the session repeats the same scenario up to an earlier instant.
//!
//! The run has a thread of its own, which calls the session through a `SceneWatcher`; the web
//! server and the console hold the [`Session`]. Pictures go through a channel that holds only the
//! newest one, so a slow browser misses some of them.

use std::mem;
use std::sync::Arc;
use std::time::{Duration, Instant};

use hyper::body::Bytes;
use parking_lot::{Condvar, Mutex};
use serde::Serialize;
use tokio::sync::watch;

use super::gate::{Gate, GateTurn, LiveRequest, LiveStep, Speed};
use super::history::HistoryPoints;
use super::picture::{Frame, HoldReason, JobStory, LivePicture, PageGrouping, PageLayout};
use crate::user_action::{TimedAction, UserAction, before, with};
use mumakil_base::units::{SimSpan, SimTime};
use mumakil_core::mapred::Event;
use mumakil_run::emulation::Prepared;
use mumakil_run::record::RunPast;
use mumakil_runtime::{ClockPace, WatchedJobTracker};
use mumakil_scenario::{Registry, Scenario, Warning};

/// The least real time between two pictures: thirty pictures a second look smooth.
const PICTURE: Duration = Duration::from_micros(33_333);

/// The number of log lines that the page shows.
const LOG: usize = 30;

/// A reason to refuse a request of the user.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum SessionRefusal {
    /// The request is impossible in the current phase of the session.
    #[error("{0}")]
    Untimely(&'static str),
    /// The request does not fit the scenario.
    #[error("{0}")]
    Wrong(String),
}

const REPEATING: SessionRefusal =
    SessionRefusal::Untimely("the past is being repeated: wait until it is done");

/// The state of the session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum SessionPhase {
    /// The run is paused.
    Paused,
    /// The run goes on at the set speed.
    Running,
    /// The run goes on as fast as possible, to an instant or a step.
    Going,
    /// The past is being repeated, up to an instant.
    Repeating,
    /// The run is over.
    Ended,
    /// The session is over.
    Finished,
}

/// A picture of the run and the state of the session, as sent to browsers.
#[derive(Serialize)]
struct SentPicture<'a> {
    number: u64,
    phase: SessionPhase,
    now_us: u64,
    speed: Option<f64>,
    /// The number of jobs in the scenario.
    all_jobs: u64,
    /// The number of this run in the session.
    scene: u64,
    log: Vec<&'a LogLine>,
    /// Where the results are, or why there are none, after the session.
    farewell: Option<&'a str>,
    /// Whether the server has the report.
    has_report: bool,
    #[serde(flatten)]
    frame: Frame,
}

/// A line of the log.
#[derive(Clone, Debug, Serialize)]
struct LogLine {
    at_us: u64,
    text: String,
}

/// A run of the session: its scenario, and how far the run goes at first.
#[derive(Clone)]
pub struct LiveScene {
    /// The scenario of the run.
    pub prepared: Arc<Prepared>,
    /// The instant up to which the run goes as fast as possible; `None` for a run that begins
    /// paused.
    to: Option<SimTime>,
    /// The earlier run whose events this run must repeat up to `to`; `None` if there is none.
    same: Option<Box<RunBefore>>,
}

/// The run before an action.
#[derive(Clone)]
struct RunBefore {
    past: RunPast,
    /// Whether the run was over. Such a run may have stopped in the middle of an instant; its
    /// repetition then has more events in that instant.
    is_over: bool,
    prepared: Arc<Prepared>,
    words: String,
}

/// The way in which the session is to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SessionEnd {
    /// The session goes on.
    Open,
    /// The session ends when the run does.
    AtEnd,
    /// The session ends at once.
    Now,
}

struct SessionState {
    gate: Gate,
    picture: LivePicture,
    past: RunPast,
    prepared: Arc<Prepared>,
    done: Vec<TimedAction>,
    /// The past that the current run must repeat; `None` if it need not repeat any.
    same: Option<Box<RunBefore>>,
    next: Option<LiveScene>,
    phase: SessionPhase,
    scene: u64,
    number: u64,
    log: Vec<LogLine>,
    farewell: Option<String>,
    /// The report, after the session.
    report: Option<Bytes>,
    /// The warnings that the user has seen.
    warned: Vec<Warning>,
    last: SessionEnd,
}

/// A session, shared by the run's thread, the web server and the console.
pub struct Session {
    registry: Registry,
    /// The scenario before the first action.
    first: Scenario,
    state: Mutex<SessionState>,
    turned: Condvar,
    pictures: watch::Sender<Bytes>,
    /// The session has one reference, and each listening browser another.
    watchers: Arc<()>,
    layout: Bytes,
    began: Instant,
}

impl Session {
    /// Returns a session, paused before its run begins. The user has seen `warnings` already.
    pub fn new(
        prepared: Prepared,
        warnings: Vec<Warning>,
        registry: Registry,
        speed: Speed,
    ) -> Arc<Self> {
        let policies = registry.names().map(ToOwned::to_owned).collect();
        let layout = json(&PageLayout::of(&prepared, policies));
        let prepared = Arc::new(prepared);
        let first = prepared.scenario.clone();
        let state = SessionState {
            gate: Gate::new(LiveRequest::Pause, speed),
            picture: picture(&prepared),
            past: RunPast::open(None),
            prepared,
            done: Vec::new(),
            same: None,
            next: None,
            phase: SessionPhase::Paused,
            scene: 0,
            number: 0,
            log: Vec::new(),
            farewell: None,
            report: None,
            warned: warnings,
            last: SessionEnd::Open,
        };
        let (pictures, _) = watch::channel(Bytes::new());
        let (state, turned) = (Mutex::new(state), Condvar::new());
        let watchers = Arc::new(());
        let session =
            Self { registry, first, state, turned, pictures, watchers, layout, began: now() };
        session.show(&mut session.state.lock());
        Arc::new(session)
    }

    /// Returns the first scene.
    pub fn scene(&self) -> LiveScene {
        LiveScene { prepared: self.state.lock().prepared.clone(), to: None, same: None }
    }

    /// Begins a scene; returns the pace that controls its run.
    pub fn begin(self: &Arc<Self>, scene: &LiveScene) -> Box<dyn ClockPace> {
        let mut state = self.state.lock();
        // The gate of the first scene is open to requests before the run begins; it keeps them.
        if 0 < state.scene {
            let wish = match (state.last, scene.to) {
                // The user has left since the last run was abandoned.
                (SessionEnd::Now, _) => LiveRequest::Leave,
                (_, Some(to)) => LiveRequest::To(to),
                (SessionEnd::AtEnd, None) => LiveRequest::End,
                (SessionEnd::Open, None) => LiveRequest::Pause,
            };
            state.gate = Gate::new(wish, state.gate.speed());
            state.phase =
                if scene.to.is_some() { SessionPhase::Repeating } else { SessionPhase::Paused };
        }
        state.picture = picture(&scene.prepared);
        state.past = RunPast::open(scene.same.as_ref().map(|before| &before.past));
        state.prepared = scene.prepared.clone();
        state.same.clone_from(&scene.same);
        state.scene += 1;
        Box::new(SceneWatcher { session: self.clone(), shown: self.began })
    }

    /// Notes that the run has ended by itself. Waits until the user goes back in time or takes an
    /// action, and returns the scene to play next; `None` when the session ends.
    pub fn end(&self, words: &str) -> Option<LiveScene> {
        let mut state = self.state.lock();
        if state.next.is_some() {
            // The user chose another scene while this run was ending: do not log its end.
            return state.next.take();
        }
        state.gate.end();
        state.log(words.to_owned());
        // The answers are those of an earlier instant, and there is no JobTracker to ask any more.
        state.picture.forget_answers();
        // The run may end before the instant up to which it repeats the past: compare the events so
        // far.
        if !state.takes_back() {
            state.phase = SessionPhase::Ended;
            self.show(&mut state);
        }
        // Wait for the next scene, or for the end of the session.
        while state.next.is_none()
            // Go on waiting while `act` works on an action (phase `Repeating`): either a next
            // scene follows, or `settle` changes the phase.
            && (state.last == SessionEnd::Open || state.phase == SessionPhase::Repeating)
        {
            self.turned.wait(&mut state);
        }
        state.next.take()
    }

    /// Returns the next scene after a run was abandoned; `None` if the session is over.
    pub fn given_up(&self) -> Option<LiveScene> {
        self.state.lock().next.take()
    }

    /// Shows on the page that the session is over, and in words what is left of it. The report, if
    /// there is one, is a page of its own.
    pub fn finish(&self, words: String, report: Option<String>) {
        let mut state = self.state.lock();
        state.farewell = Some(words);
        state.report = report.map(Bytes::from);
        state.phase = SessionPhase::Finished;
        self.show(&mut state);
    }

    // ---- queries ----

    /// Returns the layout of the page, which does not change, as JSON.
    pub fn layout(&self) -> Bytes {
        self.layout.clone()
    }

    /// Returns the newest picture, as JSON, and all that follow.
    pub fn pictures(&self) -> watch::Receiver<Bytes> {
        self.pictures.subscribe()
    }

    /// Returns a token that a browser holds while it listens for pictures.
    pub(super) fn watch(&self) -> Arc<()> {
        self.watchers.clone()
    }

    /// Returns the number of browsers that listen for pictures.
    pub fn watchers(&self) -> usize {
        Arc::strong_count(&self.watchers) - 1
    }

    /// Returns the report; `None` before the end of the session, and if there is none.
    pub(super) fn report(&self) -> Option<Bytes> {
        self.state.lock().report.clone()
    }

    /// Returns the reason why a slot is held; `None` if it is free or does not exist.
    pub fn why(&self, node: u32, slot: u32) -> Option<HoldReason> {
        self.state.lock().picture.why(node, slot)
    }

    /// Returns the details of a job; `None` if it does not exist.
    pub fn job(&self, job: u32) -> Option<JobStory> {
        self.state.lock().picture.job(job)
    }

    /// Returns the slots held and the waiting tasks over the time so far.
    pub(super) fn history(&self, by: PageGrouping) -> HistoryPoints {
        let mut state = self.state.lock();
        let now = state.gate.now();
        state.picture.history(now, by)
    }

    /// Returns the name and the YAML of the scenario that repeats the session.
    pub fn scenario(&self) -> (String, String) {
        let scenario = &self.state.lock().prepared.scenario;
        (scenario.name.to_string(), scenario.to_yaml())
    }

    // ---- requests ----

    /// Pauses the run.
    ///
    /// # Errors
    /// If the past is being repeated.
    pub fn pause(&self) -> Result<(), SessionRefusal> {
        self.want(LiveRequest::Pause)
    }

    /// Goes on with the run at the set speed.
    ///
    /// # Errors
    /// If the run is over, or the past is being repeated.
    pub fn run(&self) -> Result<(), SessionRefusal> {
        self.want(LiveRequest::Run)
    }

    /// Goes on to the next event of a kind.
    ///
    /// # Errors
    /// As [`Self::run`].
    pub fn step(&self, step: LiveStep) -> Result<(), SessionRefusal> {
        self.want(LiveRequest::Step(step))
    }

    /// Sets the speed.
    pub fn set_speed(&self, speed: Speed) {
        let mut state = self.state.lock();
        state.gate.set_speed(speed);
        self.show(&mut state);
        self.turned.notify_all();
    }

    fn want(&self, wish: LiveRequest) -> Result<(), SessionRefusal> {
        let mut state = self.state.lock();
        state.must_be_open()?;
        match state.phase {
            SessionPhase::Repeating => return Err(REPEATING),
            SessionPhase::Ended | SessionPhase::Finished if wish != LiveRequest::Pause => {
                return Err(SessionRefusal::Untimely(
                    "the run is over: go back to an earlier instant",
                ));
            }
            // Ignore a pause after the end: the page may send one just as the run ends.
            SessionPhase::Ended | SessionPhase::Finished => return Ok(()),
            SessionPhase::Paused | SessionPhase::Running | SessionPhase::Going => {}
        }
        state.phase = match wish {
            LiveRequest::Run => SessionPhase::Running,
            // The run may be within an instant. The gate lets the rest of that instant pass, and
            // `SceneWatcher::wait` sets the phase when the run is really paused.
            LiveRequest::Pause => state.phase,
            LiveRequest::To(_) | LiveRequest::Step(_) | LiveRequest::End | LiveRequest::Leave => {
                SessionPhase::Going
            }
        };
        state.gate.want(wish);
        self.show(&mut state);
        self.turned.notify_all();
        Ok(())
    }

    /// Goes to an instant, forward or back.
    ///
    /// # Errors
    /// If the past is being repeated, or if the run has ended before the instant.
    pub fn go(&self, to: SimTime) -> Result<(), SessionRefusal> {
        {
            let mut state = self.state.lock();
            state.must_be_open()?;
            // Actors cannot run backwards, so reach an earlier instant by running from the
            // beginning.
            let is_back = state.gate.position().is_some_and(|now| to < now);
            if is_back
                && matches!(
                    state.phase,
                    SessionPhase::Paused
                        | SessionPhase::Running
                        | SessionPhase::Going
                        | SessionPhase::Ended
                )
            {
                let scene =
                    LiveScene { prepared: state.prepared.clone(), to: Some(to), same: None };
                self.switch_to(&mut state, scene);
                return Ok(());
            }
        }
        self.want(LiveRequest::To(to))
    }

    /// Goes to the end of the run, and ends the session there.
    pub fn close(&self) {
        let mut state = self.state.lock();
        // If the user has left already, do not wait for the end.
        if state.last == SessionEnd::Open {
            state.last = SessionEnd::AtEnd;
        }
        let phase = state.phase;
        // During a repetition do nothing here: its end calls `settle`, which looks at `last`.
        if phase != SessionPhase::Repeating {
            self.settle(&mut state, phase);
        }
    }

    /// Ends the session at the current instant.
    pub fn leave(&self) {
        let mut state = self.state.lock();
        state.last = SessionEnd::Now;
        state.next = None;
        state.gate.want(LiveRequest::Leave);
        self.turned.notify_all();
    }

    /// Takes an action on the cluster, a microsecond from now. This takes long if there are many
    /// jobs.
    ///
    /// # Errors
    /// If the run is not paused, or the action does not fit the scenario.
    pub fn act(&self, deed: UserAction) -> Result<(), SessionRefusal> {
        let words = deed.words();
        let (done, stood) = {
            let mut state = self.state.lock();
            state.must_stand()?;
            // Date the action one microsecond ahead, the clock's smallest step, so that it cannot
            // affect any past event.
            let mut done = state.done.clone();
            done.push((state.gate.now() + SimSpan::from_micros(1), deed));
            // The lock is released below; in this phase other actions and steps are refused.
            let stood = mem::replace(&mut state.phase, SessionPhase::Repeating);
            self.show(&mut state);
            (done, stood)
        };
        // Make the scenario without the lock: reading and drawing a large workload takes seconds,
        // and the page must stay responsive.
        let made = with(&self.first, &done, &self.registry);
        let mut locked = self.state.lock();
        let state = &mut *locked;
        // If the user has left in the meantime, stop here: the run's thread plays no other scene.
        if state.last == SessionEnd::Now {
            return Err(SessionRefusal::Untimely("the session is over"));
        }
        let (prepared, warnings) = made.inspect_err(|_| self.settle(state, stood))?;
        state.log(words.clone());
        state.warn(warnings);
        state.done = done;
        // A run that has not begun has no past for the action to change, and no instant to return
        // to.
        let to = state.gate.position();
        let same = to.map(|_| {
            // `begin` opens another past for the new run, so the old one is moved, not copied.
            let past = mem::replace(&mut state.past, RunPast::open(None));
            let is_over = stood == SessionPhase::Ended;
            Box::new(RunBefore { past, is_over, prepared: state.prepared.clone(), words })
        });
        self.switch_to(state, LiveScene { prepared: Arc::new(prepared), to, same });
        Ok(())
    }

    /// Sets the phase. If the session is to end with the run, an unfinished run goes to its end
    /// instead.
    fn settle(&self, state: &mut SessionState, phase: SessionPhase) {
        state.phase = match (state.last, phase) {
            (
                SessionEnd::AtEnd,
                SessionPhase::Paused | SessionPhase::Running | SessionPhase::Going,
            ) => {
                state.gate.want(LiveRequest::End);
                SessionPhase::Going
            }
            _ => phase,
        };
        self.show(state);
        self.turned.notify_all();
    }

    /// Abandons the run for another scene.
    fn switch_to(&self, state: &mut SessionState, scene: LiveScene) {
        state.switch_to(scene);
        self.show(state);
        self.turned.notify_all();
    }

    /// Makes a picture of the current state and sends it to all browsers.
    fn show(&self, state: &mut SessionState) {
        state.number += 1;
        let sent = SentPicture {
            number: state.number,
            phase: state.phase,
            now_us: state.gate.now().as_micros(),
            speed: state.gate.speed().factor(),
            all_jobs: state.prepared.jobs(),
            scene: state.scene,
            log: state.log.iter().rev().take(LOG).collect(),
            farewell: state.farewell.as_deref(),
            has_report: state.report.is_some(),
            frame: state.picture.frame(),
        };
        self.pictures.send_replace(json(&sent));
    }
}

impl SessionState {
    fn log(&mut self, text: String) {
        let at_us = self.gate.now().as_micros();
        self.log.push(LogLine { at_us, text });
        // Cut many lines at once: each cut moves all the lines that stay.
        if 2 * LOG < self.log.len() {
            self.log.drain(..LOG);
        }
    }

    /// Asks the JobTracker for its answers of the present instant.
    fn weigh(&mut self, job_tracker: &dyn WatchedJobTracker) {
        self.picture.weigh(self.gate.now(), job_tracker);
    }

    /// Logs warnings that the user has not seen.
    fn warn(&mut self, warnings: Vec<Warning>) {
        for warning in warnings {
            if !self.warned.contains(&warning) {
                self.log(format!("warning: {warning}"));
                self.warned.push(warning);
            }
        }
    }

    fn switch_to(&mut self, scene: LiveScene) {
        self.next = Some(scene);
        self.phase = SessionPhase::Repeating;
        self.gate.want(LiveRequest::Leave);
    }

    /// Compares the repeated past with the original. If the last action has changed the past, logs
    /// that, takes the action back and plans a run without it. Returns whether it did so.
    fn takes_back(&mut self) -> bool {
        let Some(same) = self.same.take() else { return false };
        let RunBefore { past, is_over, prepared, words } = *same;
        // A run that was over may have stopped in the middle of an instant, so it is enough if the
        // new events begin with the old ones.
        let parted = match is_over {
            true => self.past.parts_before(&past),
            false => self.past.parts_from(&past),
        };
        let Some(parted) = parted else { return false };
        self.log(format!(
            "{words}: this would have changed what had happened by {parted} already, so it is taken \
             back"
        ));
        // The action to take back is the last in the list: no action could be added during the
        // repetition.
        let to = self.done.pop().map(|(at, _)| before(at));
        self.switch_to(LiveScene { prepared, to, same: None });
        true
    }

    fn must_be_open(&self) -> Result<(), SessionRefusal> {
        match self.last {
            SessionEnd::Open => Ok(()),
            SessionEnd::AtEnd | SessionEnd::Now => {
                Err(SessionRefusal::Untimely("the session is being finished"))
            }
        }
    }

    fn must_stand(&self) -> Result<(), SessionRefusal> {
        self.must_be_open()?;
        match self.phase {
            SessionPhase::Paused | SessionPhase::Ended => Ok(()),
            SessionPhase::Running | SessionPhase::Going => {
                Err(SessionRefusal::Untimely("pause first"))
            }
            SessionPhase::Repeating => Err(REPEATING),
            SessionPhase::Finished => Err(SessionRefusal::Untimely("the session is over")),
        }
    }
}

/// Controls the run of a scene, and notes its events.
struct SceneWatcher {
    session: Arc<Session>,
    /// When the last picture was made.
    shown: Instant,
}

impl SceneWatcher {
    /// Makes a picture if the last one is too old.
    fn show(
        &mut self,
        state: &mut SessionState,
        wall: Instant,
        job_tracker: &dyn WatchedJobTracker,
    ) {
        if PICTURE <= wall.saturating_duration_since(self.shown) {
            // Add a whole period, so that pictures keep their rate; but after a long pause make one
            // picture, not all the missed ones.
            let missed = wall.checked_sub(PICTURE).unwrap_or(wall);
            self.shown = missed.max(self.shown + PICTURE);
            state.weigh(job_tracker);
            self.session.show(state);
        }
    }

    /// Returns the real time until the next picture is due.
    fn rest(&self, wall: Instant) -> Duration {
        PICTURE.saturating_sub(wall.saturating_duration_since(self.shown))
    }
}

impl ClockPace for SceneWatcher {
    fn see(&mut self, events: &[Event]) {
        let mut state = self.session.state.lock();
        let SessionState { gate, picture, past, .. } = &mut *state;
        for event in events {
            gate.see(event);
            picture.see(event);
            past.add(event);
        }
    }

    fn wait(&mut self, at: SimTime, job_tracker: &dyn WatchedJobTracker) -> bool {
        // `self.show` borrows all of `self` below, so lock through another handle.
        let session = self.session.clone();
        let mut state = session.state.lock();
        loop {
            let wall = now();
            match state.gate.ask(at, wall.saturating_duration_since(session.began)) {
                GateTurn::Go => {
                    self.show(&mut state, wall, job_tracker);
                    return true;
                }
                GateTurn::Leave => return false,
                GateTurn::Wait(wait) => {
                    self.show(&mut state, wall, job_tracker);
                    // Wake for the next picture at the latest: the time on the page advances even
                    // if the next message is far off.
                    session.turned.wait_for(&mut state, wait.min(self.rest(wall)));
                }
                GateTurn::Stand => {
                    // The next turn of the loop answers `Leave`, since another scene is wanted now.
                    if state.takes_back() {
                        continue;
                    }
                    // Other threads make pictures during the pause, and cannot ask the JobTracker.
                    state.weigh(job_tracker);
                    session.settle(&mut state, SessionPhase::Paused);
                    // Set no phase in this loop: an action in preparation has set its own.
                    while state.gate.stands() {
                        session.turned.wait(&mut state);
                    }
                }
            }
        }
    }
}

/// Returns the picture of a scenario's run before it begins.
fn picture(prepared: &Prepared) -> LivePicture {
    let scenario = &prepared.scenario;
    let policies = scenario.policies().map(|choice| choice.name.clone());
    LivePicture::new(&prepared.topology, scenario.hadoop.clone(), policies)
}

fn json(value: &impl Serialize) -> Bytes {
    serde_json::to_vec(value).expect("numbers and texts are JSON").into()
}

#[expect(clippy::disallowed_methods, reason = "who watches lives by the wall clock")]
fn now() -> Instant {
    Instant::now()
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;
    use mumakil_core::cluster::{PerSlot, SlotKind};
    use mumakil_core::mapred::{Fact, JobFact, JobId, SlotStanding, WaitingTasks};
    use mumakil_run::emulation::{EmulationError, Options};
    use mumakil_scenario as scenario;

    const TWO_JOBS: &str = "
name: two
cluster: {nodes: 3}
hadoop: {heartbeat: 3s}
workload:
  jobs:
    - {name: a, maps: 9, reduces: 2, map_time: 20s, reduce_time: 10s}
    - {name: b, maps: 4, map_time: 20s, submit: 5s}
";

    fn prepared(text: &str) -> Prepared {
        let registry = crate::testing::registry();
        let scenario = scenario::parse("two.yaml", text, &[], &registry).unwrap().scenario;
        Prepared::new(scenario, &registry).unwrap()
    }

    fn secs(secs: u64) -> SimTime {
        SimTime::ZERO + SimSpan::from_secs(secs)
    }

    /// A session whose runs are executed on a thread of their own.
    struct Played(Arc<Session>, Option<thread::JoinHandle<()>>);

    impl Played {
        fn new(text: &str) -> Self {
            let session =
                Session::new(prepared(text), Vec::new(), crate::testing::registry(), Speed::MOST);
            let of = session.clone();
            let play = move || {
                let registry = crate::testing::registry();
                let mut next = Some(of.scene());
                while let Some(scene) = next {
                    let options = Options { pace: Some(of.begin(&scene)), ..Options::default() };
                    next = match scene.prepared.emulate(&registry, options) {
                        Ok(_) => of.end("over"),
                        Err(EmulationError::GivenUp) => of.given_up(),
                        Err(error) => panic!("{error}"),
                    };
                }
            };
            Self(session, Some(thread::spawn(play)))
        }

        /// Waits until the run of a scene is paused; returns the phase and the instant.
        fn stands(&self, scene: u64) -> (SessionPhase, SimTime) {
            loop {
                {
                    let state = self.0.state.lock();
                    if state.scene == scene
                        && matches!(state.phase, SessionPhase::Paused | SessionPhase::Ended)
                    {
                        return (state.phase, state.gate.now());
                    }
                }
                thread::yield_now();
            }
        }

        /// Goes to an instant of a scene, and waits until the run is paused there.
        fn goes(&self, scene: u64, to: SimTime) {
            self.0.go(to).unwrap();
            while self.0.state.lock().gate.now() < to {
                thread::yield_now();
            }
            assert_eq!(self.stands(scene), (SessionPhase::Paused, to));
        }

        /// Waits until the run of a scene is over; returns the instant.
        fn ends(&self, scene: u64) -> SimTime {
            loop {
                match self.stands(scene) {
                    (SessionPhase::Ended, at) => return at,
                    _ => thread::yield_now(),
                }
            }
        }

        fn last_words(&self) -> String {
            self.0.state.lock().log.last().unwrap().text.clone()
        }
    }

    impl Drop for Played {
        fn drop(&mut self) {
            self.0.leave();
            if let Some(thread) = self.1.take() {
                let _ = thread.join();
            }
        }
    }

    /// A policy without pools.
    struct NoPools;

    impl WatchedJobTracker for NoPools {
        fn holdings(&self, _: SimTime, _: SlotKind, _: &mut dyn FnMut(&str, SlotStanding)) {}

        fn waiting(&self, _: JobId) -> PerSlot<WaitingTasks> {
            PerSlot::default()
        }
    }

    /// A session whose runs are never executed.
    fn idle() -> Arc<Session> {
        Session::new(prepared(TWO_JOBS), Vec::new(), crate::testing::registry(), Speed::MOST)
    }

    fn job_c() -> UserAction {
        UserAction::Submit(serde_yaml::from_str("{name: c, maps: 1, map_time: 5s}").unwrap())
    }

    #[test]
    fn a_request_before_the_run_begins_is_kept() {
        let session =
            Session::new(prepared(TWO_JOBS), Vec::new(), crate::testing::registry(), Speed::MOST);
        session.go(secs(10)).unwrap();
        let _pace = session.begin(&session.scene());
        let mut state = session.state.lock();
        assert_eq!(state.phase, SessionPhase::Going);
        assert_eq!(state.gate.ask(secs(9), Duration::ZERO), GateTurn::Go);
        assert_eq!(state.gate.ask(secs(11), Duration::ZERO), GateTurn::Stand);
    }

    #[test]
    fn a_run_that_is_to_pause_does_not_stand_before_its_instant_is_over() {
        let session = idle();
        session.run().unwrap();
        session.pause().unwrap();
        assert_eq!(session.state.lock().phase, SessionPhase::Running);
        assert_eq!(session.act(job_c()), Err(SessionRefusal::Untimely("pause first")));
    }

    #[test]
    fn a_session_that_is_being_finished_takes_nothing_more() {
        let session = idle();
        session.close();
        assert_eq!(session.state.lock().phase, SessionPhase::Going);
        let closed = Err(SessionRefusal::Untimely("the session is being finished"));
        assert_eq!(session.act(job_c()), closed);
        assert_eq!(session.go(secs(1)), closed);
        assert_eq!(session.pause(), closed);
    }

    /// Two pools, each with more maps than the six slots: all slots are due to the first until the
    /// second comes, then half. All slots are full from 5 s to 20 s, so that nobody asks the policy
    /// for a task.
    #[test]
    fn shares_are_those_of_the_instant_shown_after_a_jump_and_a_step() {
        let played = Played::new(
            "
name: two
cluster: {nodes: 3}
hadoop: {heartbeat: 3s, setup_cleanup: false}
scheduler: fair
workload:
  jobs:
    - {name: a, maps: 20, map_time: 20s, pool: a}
    - {name: b, maps: 20, map_time: 20s, pool: b, submit: 10s}
",
        );
        let shares = || {
            let pools = played.0.state.lock().picture.frame().pools;
            pools.iter().map(|pool| pool.share[0]).collect::<Vec<_>>()
        };
        played.stands(1);
        played.goes(1, secs(9));
        assert_eq!(shares(), [Some(6.0)]);
        played.goes(1, secs(14));
        assert_eq!(shares(), [Some(3.0); 2]);
        played.0.go(secs(9)).unwrap();
        assert_eq!(played.stands(2), (SessionPhase::Paused, secs(9)));
        assert_eq!(shares(), [Some(6.0)]);
        played.0.step(LiveStep::Decision).unwrap();
        while played.0.state.lock().gate.now() <= secs(9) {
            thread::yield_now();
        }
        played.stands(2);
        assert_eq!(shares(), [Some(3.0); 2]);
    }

    #[test]
    fn a_worker_that_leaves_between_two_runs_has_left() {
        let session = idle();
        let scene = session.scene();
        session.leave();
        let mut hand = session.begin(&scene);
        assert!(!hand.wait(SimTime::ZERO, &NoPools));
    }

    #[test]
    fn a_warning_is_told_once() {
        let played = Played::new(TWO_JOBS);
        let session = &played.0;
        played.stands(1);
        session.act(UserAction::Start(0)).unwrap();
        played.stands(2);
        assert!(played.last_words().contains("warning: "), "{}", played.last_words());
        session.act(job_c()).unwrap();
        played.stands(3);
        assert_eq!(played.last_words(), "the job c is submitted");
    }

    /// Mumak's run ends within an instant, and the rest of that instant is never run.
    #[test]
    fn a_mumak_that_is_over_goes_on_too() {
        let played = Played::new(&TWO_JOBS.replace("heartbeat: 3s", "line: mumak"));
        let session = &played.0;
        played.stands(1);
        session.go(secs(100_000)).unwrap();
        played.ends(1);
        session.act(job_c()).unwrap();
        played.stands(2);
        assert_eq!(played.last_words(), "the job c is submitted");
        session.run().unwrap();
        played.ends(2);
        assert_eq!(session.job(2).unwrap().row.ended, Some("succeeded"));
    }

    #[test]
    fn the_past_is_the_same_and_the_future_another() {
        let played = Played::new(TWO_JOBS);
        let session = &played.0;
        assert_eq!(played.stands(1), (SessionPhase::Paused, SimTime::ZERO));
        played.goes(1, secs(30));
        let before = session.state.lock().past.clone();
        session.act(UserAction::Stop(0)).unwrap();
        assert_eq!(played.stands(2), (SessionPhase::Paused, secs(30)));
        assert_eq!(before.parts_from(&session.state.lock().past), None);
        assert_eq!(played.last_words(), "node-1 is stopped");
        played.goes(2, secs(31));
        assert_eq!(session.state.lock().picture.frame().slots[0], super::super::picture::DOWN);
    }

    #[test]
    fn an_action_that_would_have_changed_the_past_is_taken_back() {
        let played = Played::new(TWO_JOBS);
        let session = &played.0;
        played.stands(1);
        played.goes(1, secs(30));
        // Pretend that the past had another event.
        let other = Event { at: secs(29), fact: Fact::Job(JobId(0), JobFact::Running) };
        session.state.lock().past.add(&other);
        session.act(UserAction::Stop(0)).unwrap();
        assert_eq!(played.stands(3), (SessionPhase::Paused, secs(30)));
        assert!(played.last_words().contains("so it is taken back"), "{}", played.last_words());
        assert!(session.state.lock().prepared.scenario.faults.is_empty());
    }

    #[test]
    fn a_run_that_is_over_goes_on_with_another_job() {
        let played = Played::new(TWO_JOBS);
        let session = &played.0;
        played.stands(1);
        assert!(session.act(UserAction::Stop(9)).unwrap_err().to_string().contains("node"));
        session.go(secs(100_000)).unwrap();
        let end = played.ends(1);
        assert!(session.run().is_err(), "it is over");
        session.act(job_c()).unwrap();
        assert_eq!(played.stands(2), (SessionPhase::Paused, end));
        session.step(LiveStep::JobEnd).unwrap();
        while session.state.lock().gate.now() <= end {
            thread::yield_now();
        }
        played.stands(2);
        assert_eq!(session.job(2).unwrap().row.ended, Some("succeeded"));
    }
}
