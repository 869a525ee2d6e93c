//! A session: a run that people watch, hold up and meddle with, and the scenario that it comes to.
//!
//! A session *is* a scenario. A deed at a pause becomes an entry of it, and the run is repeated:
//! ```text
//! paused at 10 s; the user stops node-2
//!   -> the first scenario, with {at: 10000001us, stop: node-2}
//!   -> the old run is given up (`LiveRequest::Leave`), a new one runs to 10 s (`LiveRequest::To`)
//!   -> its events up to 10 s are compared with the old ones
//!        the same: paused at 10 s again    other ones: the deed is taken back
//! ```
//! To go back in time, the session repeats the same scenario up to an earlier instant.
//!
//! The run has a thread of its own, which calls the session by a `SceneWatcher`; the web server and the
//! console hold the [`Session`]. A channel of one place holds the newest picture: a slow browser
//! misses some.

use std::mem;
use std::sync::Arc;
use std::time::{Duration, Instant};

use hyper::body::Bytes;
use parking_lot::{Condvar, Mutex, MutexGuard};
use serde::Serialize;
use tokio::sync::watch;

use super::gate::{Gate, GateTurn, LiveRequest, LiveStep, Speed};
use super::holdings::AskedPolicy;
use super::picture::{Frame, HoldReason, JobStory, LivePicture, PageLayout};
use super::user_action::{TimedDeed, UserAction, before, with};
use super::what_if::{WhatIfRow, WhatIfs};
use crate::emulation::{Prepared, WrapPolicy};
use crate::mapred::Event;
use crate::record::RunPast;
use crate::runtime::ClockPace;
use crate::scenario::{Registry, Scenario, Warning};
use crate::units::{SimSpan, SimTime};

/// The least time between two pictures: thirty a second, which looks smooth.
const PICTURE: Duration = Duration::from_micros(33_333);

/// The page shows this many lines of the session's log.
const LOG: usize = 30;

/// Why something cannot be done.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum SessionRefusal {
    /// It does not go with what the session does at the moment.
    #[error("{0}")]
    Untimely(&'static str),
    /// It does not go with the scenario.
    #[error("{0}")]
    Wrong(String),
}

const REPEATING: SessionRefusal =
    SessionRefusal::Untimely("the past is being repeated: wait until it is done");

/// The state of the session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum SessionPhase {
    /// Stands still.
    Paused,
    /// Goes on at its speed.
    Running,
    /// Goes on as fast as the machine to some instant or step.
    Going,
    /// Repeats what was, to an instant.
    Repeating,
    /// The run is over.
    Ended,
    /// The session is over.
    Finished,
}

/// A picture of the run and the state of the session, as the browser gets them.
#[derive(Serialize)]
struct SentPicture<'a> {
    number: u64,
    phase: SessionPhase,
    now_us: u64,
    speed: Option<f64>,
    /// How many jobs the scenario has.
    all_jobs: u64,
    /// Which run of the session this is.
    scene: u64,
    log: Vec<&'a LogLine>,
    outlooks: Vec<WhatIfRow<'a>>,
    #[serde(flatten)]
    frame: Frame,
}

/// A line of the log.
#[derive(Clone, Debug, Serialize)]
struct LogLine {
    at_us: u64,
    text: String,
}

/// A run that is to be played.
#[derive(Clone)]
pub struct LiveScene {
    /// The scenario.
    pub prepared: Arc<Prepared>,
    /// The instant up to which it runs as fast as it can; `None` for a run that begins paused.
    to: Option<SimTime>,
    /// The past that the run must repeat up to there.
    same: Option<Box<RunBefore>>,
}

/// The run as it was before a deed.
#[derive(Clone)]
struct RunBefore {
    past: RunPast,
    /// Whether the run was over: that may cut an instant short, which has more events in a run that goes
    /// on.
    is_over: bool,
    prepared: Arc<Prepared>,
    words: String,
}

/// A changed list of deeds, and the scenario with them. It holds the lock of the session.
struct DeedsMade<'s> {
    state: MutexGuard<'s, SessionState>,
    done: Vec<TimedDeed>,
    prepared: Arc<Prepared>,
    warnings: Vec<Warning>,
    /// The phase before.
    stood: SessionPhase,
}

/// How the session is to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SessionEnd {
    /// The session goes on.
    Open,
    /// It ends when the run does.
    AtEnd,
    /// At once.
    Now,
}

struct SessionState {
    gate: Gate,
    picture: LivePicture,
    past: RunPast,
    prepared: Arc<Prepared>,
    /// The deeds done to the first scenario so far.
    done: Vec<TimedDeed>,
    /// The past that the run must repeat.
    same: Option<Box<RunBefore>>,
    next: Option<LiveScene>,
    phase: SessionPhase,
    scene: u64,
    number: u64,
    wants_holdings: bool,
    log: Vec<LogLine>,
    outlooks: WhatIfs,
    /// The warnings that the user has read.
    warned: Vec<Warning>,
    last: SessionEnd,
}

/// Two futures with the same past, to be played and compared.
pub struct TwoFutures {
    number: u64,
    /// The instant up to which both must be the same.
    pub until: SimTime,
    /// The scenario without the deed, and with it.
    pub prepared: [Arc<Prepared>; 2],
    /// Their names.
    pub names: [String; 2],
}

/// A session.
pub struct Session {
    registry: Registry,
    /// The scenario before the first deed.
    first: Scenario,
    state: Mutex<SessionState>,
    turned: Condvar,
    pictures: watch::Sender<Bytes>,
    layout: Bytes,
    began: Instant,
}

impl Session {
    /// Begins a session, paused at the beginning of a run. The user has read `warnings` already.
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
            wants_holdings: true,
            log: Vec::new(),
            outlooks: WhatIfs::default(),
            warned: warnings,
            last: SessionEnd::Open,
        };
        let (pictures, _) = watch::channel(Bytes::new());
        let (state, turned) = (Mutex::new(state), Condvar::new());
        let session = Self { registry, first, state, turned, pictures, layout, began: now() };
        session.show(&mut session.state.lock());
        Arc::new(session)
    }

    /// Returns the first scene.
    pub fn scene(&self) -> LiveScene {
        LiveScene { prepared: self.state.lock().prepared.clone(), to: None, same: None }
    }

    /// Begins a scene; returns the pace that holds its run up.
    pub fn begin(self: &Arc<Self>, scene: &LiveScene) -> Box<dyn ClockPace> {
        let mut state = self.state.lock();
        let speed = state.gate.speed();
        let wish = match (state.last, scene.to) {
            // The user has left since the last run was given up.
            (SessionEnd::Now, _) => LiveRequest::Leave,
            (_, Some(to)) => LiveRequest::To(to),
            (SessionEnd::AtEnd, None) => LiveRequest::End,
            (SessionEnd::Open, None) => LiveRequest::Pause,
        };
        state.gate = Gate::new(wish, speed);
        state.picture = picture(&scene.prepared);
        state.past = RunPast::open(scene.same.as_ref().map(|before| &before.past));
        state.prepared = scene.prepared.clone();
        state.same.clone_from(&scene.same);
        state.scene += 1;
        state.phase =
            if scene.to.is_some() { SessionPhase::Repeating } else { SessionPhase::Paused };
        Box::new(SceneWatcher { session: self.clone(), shown: self.began })
    }

    /// Returns what is put around the policies of its runs, so that the picture has their shares.
    pub fn around(self: &Arc<Self>) -> WrapPolicy {
        let session = self.clone();
        Box::new(move |policy| Box::new(AskedPolicy { policy, session: session.clone() }))
    }

    /// Lets a policy tell the picture how its pools stand, once for each picture that is made.
    pub(super) fn weigh(&self, tell: impl FnOnce(&mut LivePicture)) {
        let mut state = self.state.lock();
        if mem::take(&mut state.wants_holdings) {
            tell(&mut state.picture);
        }
    }

    /// The run has ended by itself. Waits until the user goes back in time or does something, and
    /// returns that scene; returns `None` when the session is to end.
    pub fn end(&self, words: &str) -> Option<LiveScene> {
        let mut state = self.state.lock();
        if state.next.is_some() {
            // The user turned to another scene while this run came to its end: do not log an end.
            return state.next.take();
        }
        state.gate.end();
        state.log(words.to_owned());
        // The run may end before the pause up to which it had to repeat: compare what there is.
        if !state.takes_back() {
            state.phase = SessionPhase::Ended;
            self.show(&mut state);
        }
        // A deed that is being prepared is waited for.
        while state.next.is_none()
            // While `prepare` works on a deed the phase is `Repeating`: it leaves a next scene or
            // settles.
            && (state.last == SessionEnd::Open || state.phase == SessionPhase::Repeating)
        {
            self.turned.wait(&mut state);
        }
        state.next.take()
    }

    /// The run was given up: returns the next scene, or nothing if the session is over.
    pub fn given_up(&self) -> Option<LiveScene> {
        self.state.lock().next.take()
    }

    /// The session is over.
    pub fn finish(&self) {
        let mut state = self.state.lock();
        state.phase = SessionPhase::Finished;
        self.show(&mut state);
    }

    // ---- what people ask ----

    /// Returns the layout of the page, which does not change, as JSON.
    pub fn layout(&self) -> Bytes {
        self.layout.clone()
    }

    /// Returns the newest picture, as JSON, and those that follow.
    pub fn pictures(&self) -> watch::Receiver<Bytes> {
        self.pictures.subscribe()
    }

    /// Returns why a slot is held.
    pub fn why(&self, node: u32, slot: u32) -> Option<HoldReason> {
        self.state.lock().picture.why(node, slot)
    }

    /// Returns what is known of a job.
    pub fn job(&self, job: u32) -> Option<JobStory> {
        self.state.lock().picture.job(job)
    }

    /// Returns the scenario that repeats the session.
    pub fn scenario(&self) -> (String, String) {
        let scenario = &self.state.lock().prepared.scenario;
        (scenario.name.to_string(), scenario.to_yaml())
    }

    // ---- what people want ----

    /// Stands still.
    ///
    /// # Errors
    /// If the past is being repeated.
    pub fn pause(&self) -> Result<(), SessionRefusal> {
        self.want(LiveRequest::Pause)
    }

    /// Goes on.
    ///
    /// # Errors
    /// If the run is over, or the past is being repeated.
    pub fn run(&self) -> Result<(), SessionRefusal> {
        self.want(LiveRequest::Run)
    }

    /// Goes on to the next of something.
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
            // A pause after the end asks for nothing: the page may send one just as the run ends.
            SessionPhase::Ended | SessionPhase::Finished => return Ok(()),
            SessionPhase::Paused | SessionPhase::Running | SessionPhase::Going => {}
        }
        state.phase = match wish {
            LiveRequest::Run => SessionPhase::Running,
            // The run may be within an instant. The gate lets the rest of it through, and
            // `SceneWatcher::wait` sets the phase when the run really stands.
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

    /// Goes to an instant, forth or back.
    ///
    /// # Errors
    /// If the past is being repeated, or if the run was over before the instant.
    pub fn go(&self, to: SimTime) -> Result<(), SessionRefusal> {
        {
            let mut state = self.state.lock();
            state.must_be_open()?;
            // Actors cannot run backwards, so an earlier instant is reached by running all of it
            // again.
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

    /// Goes to the end, and ends the session there.
    pub fn close(&self) {
        let mut state = self.state.lock();
        // A user who has left at once must not be made to wait for the end.
        if state.last == SessionEnd::Open {
            state.last = SessionEnd::AtEnd;
        }
        let phase = state.phase;
        // A repetition comes to rest by `settle`, which looks at `last`: do not disturb it here.
        if phase != SessionPhase::Repeating {
            self.settle(&mut state, phase);
        }
    }

    /// Ends the session where it is.
    pub fn leave(&self) {
        let mut state = self.state.lock();
        state.last = SessionEnd::Now;
        state.next = None;
        state.gate.want(LiveRequest::Leave);
        self.turned.notify_all();
    }

    /// Does something to the cluster, a microsecond from now. This may take long, where jobs are many.
    ///
    /// # Errors
    /// If the session does not stand still, or if it does not go with the scenario.
    pub fn act(&self, deed: UserAction) -> Result<(), SessionRefusal> {
        let words = deed.words();
        // One microsecond, the smallest step of the clock: nothing of the past can see the deed.
        let mut made = self.prepare(|state, done| {
            done.push((state.gate.now() + SimSpan::from_micros(1), deed));
            Ok(())
        })?;
        let state = &mut *made.state;
        state.log(words.clone());
        state.warn(made.warnings);
        state.done = made.done;
        // A run that has not begun has no past that a deed could change, and no instant to go to.
        let to = state.gate.position();
        let same = to.map(|_| {
            // `begin` opens another past for the new run, so the old one need not be copied.
            let past = mem::replace(&mut state.past, RunPast::open(None));
            let is_over = made.stood == SessionPhase::Ended;
            Box::new(RunBefore { past, is_over, prepared: state.prepared.clone(), words })
        });
        self.switch_to(state, LiveScene { prepared: made.prepared, to, same });
        Ok(())
    }

    /// Takes back what was done last, and goes to where one was, or to before it was done.
    ///
    /// # Errors
    /// If the session does not stand still, or if nothing was done.
    pub fn undo(&self) -> Result<(), SessionRefusal> {
        let mut last = SimTime::ZERO;
        let mut made = self.prepare(|_, done| {
            let Some((at, _)) = done.pop() else {
                return Err(SessionRefusal::Untimely("nothing was done that could be taken back"));
            };
            last = at;
            Ok(())
        })?;
        let state = &mut *made.state;
        state.log("the last deed is taken back".to_owned());
        state.done = made.done;
        // The user may stand before the deed after going back: stay there, and never go forward.
        let to = state.gate.position().map(|now| now.min(before(last)));
        self.switch_to(state, LiveScene { prepared: made.prepared, to, same: None });
        Ok(())
    }

    /// Prepares what comes without a deed and what would come of it, a microsecond from now; the session
    /// stays where it is.
    ///
    /// # Errors
    /// As [`Self::act`], or if another deed is looked into already.
    pub fn foresee(&self, deed: UserAction) -> Result<TwoFutures, SessionRefusal> {
        let words = deed.words();
        let DeedsMade { mut state, done, prepared, warnings, stood } =
            self.prepare(|state, done| {
                done.push((state.gate.now() + SimSpan::from_micros(1), deed));
                Ok(())
            })?;
        let state = &mut *state;
        let now = state.gate.now();
        let began = state.outlooks.begin(now, words.clone());
        let told =
            began.ok_or(SessionRefusal::Untimely("another deed is looked into: wait for it"));
        // A look that is refused leaves nothing in the log.
        if told.is_ok() {
            state.warn(warnings);
        }
        // A run that is over may have been cut short within its last instant, so compare only up to
        // there.
        let until =
            if stood == SessionPhase::Ended { Some(now) } else { done.last().map(|(at, _)| *at) };
        let futures = told.map(|number| TwoFutures {
            number,
            until: until.unwrap_or(now),
            prepared: [state.prepared.clone(), prepared],
            names: ["as it is".to_owned(), words],
        });
        self.settle(state, stood);
        futures
    }

    /// Notes how much of two futures is played, from 0 to 1.
    pub fn foreseen(&self, futures: &TwoFutures, done: f64) {
        let mut state = self.state.lock();
        state.outlooks.go_on(futures.number, done);
        self.show(&mut state);
    }

    /// Notes the page that compares two futures, or why there is none.
    pub fn set_what_if_page(&self, futures: &TwoFutures, page: Result<String, String>) {
        let mut state = self.state.lock();
        state.outlooks.end(futures.number, page);
        self.show(&mut state);
    }

    /// Returns the page that compares two futures.
    pub fn what_if_page(&self, number: u64) -> Option<Bytes> {
        self.state.lock().outlooks.page(number)
    }

    /// Prepares the first scenario with other deeds in it. Meanwhile pictures are still served, but
    /// deeds, steps and runs are refused.
    fn prepare(
        &self,
        change: impl FnOnce(&SessionState, &mut Vec<TimedDeed>) -> Result<(), SessionRefusal>,
    ) -> Result<DeedsMade<'_>, SessionRefusal> {
        let (done, stood) = {
            let mut state = self.state.lock();
            state.must_stand()?;
            let mut done = state.done.clone();
            change(&state, &mut done)?;
            // The lock is open below: in this phase other deeds and steps are refused meanwhile.
            let stood = mem::replace(&mut state.phase, SessionPhase::Repeating);
            self.show(&mut state);
            (done, stood)
        };
        // Without the lock: to read and draw a large workload takes seconds, and the page stays
        // alive.
        let made = with(&self.first, &done, &self.registry);
        let mut state = self.state.lock();
        // The user left in the meantime: the run's thread ends and would not play another scene.
        if state.last == SessionEnd::Now {
            return Err(SessionRefusal::Untimely("the session is over"));
        }
        match made {
            Ok((prepared, warnings)) => {
                Ok(DeedsMade { state, done, prepared: Arc::new(prepared), warnings, stood })
            }
            Err(refusal) => {
                self.settle(&mut state, stood);
                Err(refusal)
            }
        }
    }

    /// Returns to a phase, unless the session is to go to its end.
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

    /// Gives the run up for another scene.
    fn switch_to(&self, state: &mut SessionState, scene: LiveScene) {
        state.switch_to(scene);
        self.show(state);
        self.turned.notify_all();
    }

    /// Makes a picture of the present state and gives it to all browsers.
    fn show(&self, state: &mut SessionState) {
        state.number += 1;
        // The policy may answer with its shares at its next offer; the next picture shows them.
        state.wants_holdings = true;
        let sent = SentPicture {
            number: state.number,
            phase: state.phase,
            now_us: state.gate.now().as_micros(),
            speed: state.gate.speed().factor(),
            all_jobs: state.prepared.jobs(),
            scene: state.scene,
            log: state.log.iter().rev().take(LOG).collect(),
            outlooks: state.outlooks.rows(),
            frame: state.picture.frame(),
        };
        self.pictures.send_replace(json(&sent));
    }
}

impl SessionState {
    fn log(&mut self, text: String) {
        let at_us = self.gate.now().as_micros();
        self.log.push(LogLine { at_us, text });
        // Cut seldom and by many lines: to remove the first line each time would move all others.
        if 2 * LOG < self.log.len() {
            self.log.drain(..LOG);
        }
    }

    /// Logs warnings that are new to the user.
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

    /// Compares the repeated past with the first one. If the last deed has changed it, logs that,
    /// takes the deed back and plans the run without it.
    fn takes_back(&mut self) -> bool {
        let Some(same) = self.same.take() else { return false };
        let RunBefore { past, is_over, prepared, words } = *same;
        // A run that was over may have stopped within an instant. Its events need only be the
        // beginning of the new ones.
        let parted = match is_over {
            true => self.past.parts_before(&past),
            false => self.past.parts_from(&past),
        };
        let Some(parted) = parted else { return false };
        self.log(format!(
            "{words}: this would have changed what had happened by {parted} already, so it is taken \
             back"
        ));
        // The deed to take back is the last of the list: no other could be added while this was
        // repeated.
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

/// Holds up the run of a scene, and sees what happens there.
struct SceneWatcher {
    session: Arc<Session>,
    /// When the last picture was made.
    shown: Instant,
}

impl SceneWatcher {
    /// Makes a picture if the last one is old.
    fn show(&mut self, state: &mut SessionState, wall: Instant) {
        if PICTURE <= wall.saturating_duration_since(self.shown) {
            // Add a whole period, so that pictures keep their rate; but after a long hold-up make
            // one picture and not all the missed ones.
            let missed = wall.checked_sub(PICTURE).unwrap_or(wall);
            self.shown = missed.max(self.shown + PICTURE);
            self.session.show(state);
        }
    }

    /// Returns the time to the next picture.
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

    fn wait(&mut self, at: SimTime) -> bool {
        // `self.show` borrows all of `self` below, so the guard must borrow another handle.
        let session = self.session.clone();
        let mut state = session.state.lock();
        loop {
            let wall = now();
            match state.gate.ask(at, wall.saturating_duration_since(session.began)) {
                GateTurn::Go => {
                    self.show(&mut state, wall);
                    return true;
                }
                GateTurn::Leave => return false,
                GateTurn::Wait(wait) => {
                    self.show(&mut state, wall);
                    // Wake for the next picture at the latest: time goes on between two distant
                    // messages.
                    session.turned.wait_for(&mut state, wait.min(self.rest(wall)));
                }
                GateTurn::Stand => {
                    // The next turn of the loop answers `Leave`, since another scene is wanted now.
                    if state.takes_back() {
                        continue;
                    }
                    session.settle(&mut state, SessionPhase::Paused);
                    // Set no phase in this loop: a deed that is being prepared has set its own.
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
    LivePicture::new(&prepared.topology, scenario.policies().map(|choice| choice.name.clone()))
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
    use crate::emulation::{EmulationError, Options};
    use crate::mapred::{Fact, JobFact, JobId};
    use crate::scenario;

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
        let registry = Registry::builtin();
        let scenario = scenario::parse("two.yaml", text, &[], &registry).unwrap().scenario;
        Prepared::new(scenario, &registry).unwrap()
    }

    fn secs(secs: u64) -> SimTime {
        SimTime::ZERO + SimSpan::from_secs(secs)
    }

    /// A session whose runs are played on a thread of their own.
    struct Played(Arc<Session>, Option<thread::JoinHandle<()>>);

    impl Played {
        fn new(text: &str) -> Self {
            let session =
                Session::new(prepared(text), Vec::new(), Registry::builtin(), Speed::MOST);
            let of = session.clone();
            let play = move || {
                let registry = Registry::builtin();
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

        /// Waits until it stands, in a scene; returns the state's phase and instant.
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

        /// Goes to an instant of a scene, and waits until it stands there.
        fn goes(&self, scene: u64, to: SimTime) {
            self.0.go(to).unwrap();
            while self.0.state.lock().gate.now() < to {
                thread::yield_now();
            }
            assert_eq!(self.stands(scene), (SessionPhase::Paused, to));
        }

        /// Waits until the run of a scene is over; returns when.
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

    /// A session whose runs nobody plays.
    fn idle() -> Arc<Session> {
        Session::new(prepared(TWO_JOBS), Vec::new(), Registry::builtin(), Speed::MOST)
    }

    fn job_c() -> UserAction {
        UserAction::Submit(serde_yaml::from_str("{name: c, maps: 1, map_time: 5s}").unwrap())
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

    #[test]
    fn who_leaves_between_two_runs_has_left() {
        let session = idle();
        let scene = session.scene();
        session.leave();
        let mut hand = session.begin(&scene);
        assert!(!hand.wait(SimTime::ZERO));
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

    #[test]
    fn two_futures_have_one_past_and_leave_the_session_where_it_is() {
        let played = Played::new(TWO_JOBS);
        let session = &played.0;
        played.stands(1);
        played.goes(1, secs(30));
        let futures = session.foresee(UserAction::Scheduler("fair".into())).unwrap();
        assert_eq!(futures.until, secs(30) + SimSpan::from_micros(1));
        let later = |future: usize| futures.prepared[future].scenario.later.len();
        assert_eq!((later(0), later(1)), (0, 1));
        assert_eq!(futures.names[1], "fair takes over");
        assert_eq!(played.stands(1), (SessionPhase::Paused, secs(30)));
        assert!(session.foresee(job_c()).is_err(), "one at a time");
        session.set_what_if_page(&futures, Ok("page".to_owned()));
        assert_eq!(session.what_if_page(1), Some("page".into()));
        assert!(session.foresee(job_c()).is_ok());
    }

    /// Mumak's run is over within an instant, whose rest is never played.
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
        // Back, and the deed is taken back.
        session.undo().unwrap();
        assert_eq!(played.stands(3), (SessionPhase::Paused, secs(30)));
        assert!(session.state.lock().prepared.scenario.faults.is_empty());
    }

    #[test]
    fn what_would_have_changed_the_past_is_taken_back() {
        let played = Played::new(TWO_JOBS);
        let session = &played.0;
        played.stands(1);
        played.goes(1, secs(30));
        // As if something else had happened before.
        let other = Event { at: secs(29), fact: Fact::Job(JobId(0), JobFact::Running) };
        session.state.lock().past.add(&other);
        session.act(UserAction::Stop(0)).unwrap();
        assert_eq!(played.stands(3), (SessionPhase::Paused, secs(30)));
        assert!(played.last_words().contains("so it is taken back"), "{}", played.last_words());
        assert!(session.state.lock().prepared.scenario.faults.is_empty());
        assert_eq!(
            session.undo().unwrap_err().to_string(),
            "nothing was done that could be taken back"
        );
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
