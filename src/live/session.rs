//! A session: a run that people watch, hold up and meddle with, and the scenario that it comes to.
//!
//! A session *is* a scenario. What somebody does at a pause is written into it, a microsecond behind the
//! pause; the run is given up, and the new scenario runs as fast as the machine to where one was. Nothing
//! of what has happened can have changed then, and it is compared: if one event is another, what was
//! done is taken back. To go back in time is to run the same again, and not as far.
//!
//! The run has a thread, its sink and pace are told of it there (`Hand`); everybody else holds the
//! [`Session`]. The newest picture is in a channel that holds one: who is slow misses some.

use std::mem;
use std::sync::Arc;
use std::time::{Duration, Instant};

use hyper::body::Bytes;
use parking_lot::{Condvar, Mutex};
use serde::Serialize;
use serde_yaml::Value;
use tokio::sync::watch;

use super::gate::{Gate, Speed, Step, Turn, Wish};
use super::picture::{Frame, JobStory, Layout, Picture, Why};
use crate::cluster::TrackerId;
use crate::emulation::{EmulationError, Prepared};
use crate::mapred::Event;
use crate::record::Past;
use crate::runtime::Pace;
use crate::scenario::{Draft, Registry};
use crate::units::{SimSpan, SimTime};

/// Pictures come no faster than this: thirty a second.
const PICTURE: Duration = Duration::from_micros(33_333);

/// So many lines of the session's log are shown.
const LOG: usize = 30;

/// What somebody does to the cluster.
#[derive(Clone, Debug, PartialEq)]
pub enum Deed {
    /// A machine stops.
    Stop(u32),
    /// A machine that was stopped starts.
    Start(u32),
    /// A user kills a job.
    Kill(String),
    /// A job is submitted, written as in `workload.jobs`.
    Submit(Value),
    /// Another policy takes over.
    Scheduler(Value),
}

impl Deed {
    /// Returns the list of the scenario that it belongs to, and the entry there.
    fn entry(&self, at: SimTime) -> (&'static str, Value) {
        let node = |number: u32| TrackerId(number).to_string().into();
        let (list, key, value) = match self {
            Self::Stop(number) => ("faults", "stop", node(*number)),
            Self::Start(number) => ("faults", "start", node(*number)),
            Self::Kill(job) => ("faults", "kill", job.as_str().into()),
            Self::Submit(job) => ("later", "submit", job.clone()),
            Self::Scheduler(choice) => ("later", "scheduler", choice.clone()),
        };
        let at = Value::from(format!("{}us", at.as_micros()));
        let entry = [("at", at), (key, value)].map(|(key, value)| (Value::from(key), value));
        (list, Value::Mapping(entry.into_iter().collect()))
    }

    /// Returns what it is, for people.
    fn words(&self) -> String {
        match self {
            Self::Stop(number) => format!("{} is stopped", TrackerId(*number)),
            Self::Start(number) => format!("{} is started", TrackerId(*number)),
            Self::Kill(job) => format!("the job {job} is killed"),
            Self::Submit(job) => match job.get("name").and_then(Value::as_str) {
                Some(name) => format!("the job {name} is submitted"),
                None => "a job is submitted".to_owned(),
            },
            Self::Scheduler(choice) => {
                let options = || choice.as_mapping()?.keys().next()?.as_str();
                let name = choice.as_str().or_else(options).unwrap_or("another policy");
                format!("{name} takes over")
            }
        }
    }
}

/// Why something cannot be done.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// It does not go with what the session does at the moment.
    #[error("{0}")]
    Untimely(&'static str),
    /// It does not go with the scenario.
    #[error("{0}")]
    Wrong(String),
}

/// What the session does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Phase {
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

/// A picture with what the session is at.
#[derive(Serialize)]
struct Sent<'a> {
    number: u64,
    phase: Phase,
    now_us: u64,
    speed: Option<f64>,
    /// Which run of the session this is.
    scene: u64,
    log: Vec<&'a Line>,
    #[serde(flatten)]
    frame: Frame,
}

/// A line of the log.
#[derive(Clone, Debug, Serialize)]
struct Line {
    at_us: u64,
    text: String,
}

/// What is to be run.
#[derive(Clone)]
pub struct Scene {
    /// The scenario.
    pub prepared: Arc<Prepared>,
    /// How far it is to run as fast as it can, if it is to begin.
    to: Option<SimTime>,
    /// What must have been the same by then.
    same: Option<Box<Before>>,
}

/// What was before somebody did something.
#[derive(Clone)]
struct Before {
    prepared: Arc<Prepared>,
    past: Past,
    at: SimTime,
    words: String,
}

struct State {
    gate: Gate,
    picture: Picture,
    past: Past,
    prepared: Arc<Prepared>,
    /// What has been done to the scenario, each with the scenario before it.
    done: Vec<(SimTime, Arc<Prepared>)>,
    /// What must be the same when the run has been repeated.
    same: Option<Box<Before>>,
    next: Option<Scene>,
    phase: Phase,
    scene: u64,
    number: u64,
    log: Vec<Line>,
    /// Whether nobody wants anything any more, once the run is over.
    is_last: bool,
}

/// A session.
pub struct Session {
    registry: Registry,
    state: Mutex<State>,
    turned: Condvar,
    pictures: watch::Sender<Bytes>,
    layout: Bytes,
    began: Instant,
}

impl Session {
    /// Begins a session, paused at the beginning of a run.
    pub fn new(prepared: Prepared, registry: Registry, speed: Speed) -> Arc<Self> {
        let policies = registry.names().map(ToOwned::to_owned).collect();
        let layout = json(&Layout::of(&prepared, policies));
        let prepared = Arc::new(prepared);
        let state = State {
            gate: Gate::new(Wish::Pause, speed),
            picture: picture(&prepared),
            past: Past::open(),
            prepared,
            done: Vec::new(),
            same: None,
            next: None,
            phase: Phase::Paused,
            scene: 0,
            number: 0,
            log: Vec::new(),
            is_last: false,
        };
        let (pictures, _) = watch::channel(Bytes::new());
        let (state, turned) = (Mutex::new(state), Condvar::new());
        let session = Self { registry, state, turned, pictures, layout, began: now() };
        session.show(&mut session.state.lock());
        Arc::new(session)
    }

    /// Returns the first scene.
    pub fn scene(&self) -> Scene {
        Scene { prepared: self.state.lock().prepared.clone(), to: None, same: None }
    }

    /// Begins a scene; returns who holds its run up.
    pub fn begin(self: &Arc<Self>, scene: &Scene) -> Box<dyn Pace> {
        let mut state = self.state.lock();
        let speed = state.gate.speed();
        let wish = match (scene.to, state.is_last) {
            (Some(to), _) => Wish::To(to),
            (None, true) => Wish::End,
            (None, false) => Wish::Pause,
        };
        state.gate = Gate::new(wish, speed);
        state.picture = picture(&scene.prepared);
        state.past = Past::open();
        state.prepared = scene.prepared.clone();
        state.same.clone_from(&scene.same);
        state.scene += 1;
        state.phase = if scene.to.is_some() { Phase::Repeating } else { Phase::Paused };
        Box::new(Hand { session: self.clone(), shown: self.began })
    }

    /// The run has ended by itself: returns the next scene when somebody wants one, or
    /// nothing when nobody does any more.
    pub fn end(&self, words: &str) -> Option<Scene> {
        let mut state = self.state.lock();
        state.gate.end();
        if let Some(before) = state.same.take()
            && before.past.parts_from(&state.past).is_some()
        {
            take_back(&mut state, *before);
            return state.next.take();
        }
        state.log(words.to_owned());
        state.phase = Phase::Ended;
        self.show(&mut state);
        while state.next.is_none() && !state.is_last {
            self.turned.wait(&mut state);
        }
        state.next.take()
    }

    /// The run was given up: returns the next scene, or nothing if the session is over.
    pub fn given_up(&self) -> Option<Scene> {
        self.state.lock().next.take()
    }

    /// The session is over.
    pub fn finish(&self) {
        let mut state = self.state.lock();
        state.phase = Phase::Finished;
        self.show(&mut state);
    }

    // ---- what people ask ----

    /// Returns what does not move, as JSON.
    pub fn layout(&self) -> Bytes {
        self.layout.clone()
    }

    /// Returns the newest picture, as JSON, and those that follow.
    pub fn pictures(&self) -> watch::Receiver<Bytes> {
        self.pictures.subscribe()
    }

    /// Returns why a slot is held.
    pub fn why(&self, node: u32, slot: u32) -> Option<Why> {
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
    pub fn pause(&self) -> Result<(), Refusal> {
        self.want(Wish::Pause)
    }

    /// Goes on.
    ///
    /// # Errors
    /// If the run is over, or the past is being repeated.
    pub fn run(&self) -> Result<(), Refusal> {
        self.want(Wish::Run)
    }

    /// Goes on to the next of something.
    ///
    /// # Errors
    /// As [`Self::run`].
    pub fn step(&self, step: Step) -> Result<(), Refusal> {
        self.want(Wish::Step(step))
    }

    /// Sets the speed.
    pub fn set_speed(&self, speed: Speed) {
        let mut state = self.state.lock();
        state.gate.set_speed(speed);
        self.show(&mut state);
        self.turned.notify_all();
    }

    fn want(&self, wish: Wish) -> Result<(), Refusal> {
        let mut state = self.state.lock();
        match state.phase {
            Phase::Repeating => {
                return Err(Refusal::Untimely("the past is being repeated: wait until it is done"));
            }
            Phase::Ended | Phase::Finished if wish != Wish::Pause => {
                return Err(Refusal::Untimely("the run is over: go back to an earlier instant"));
            }
            Phase::Ended | Phase::Finished => return Ok(()),
            Phase::Paused | Phase::Running | Phase::Going => {}
        }
        state.phase = match wish {
            Wish::Run => Phase::Running,
            Wish::Pause | Wish::Leave => Phase::Paused,
            Wish::To(_) | Wish::Step(_) | Wish::End => Phase::Going,
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
    pub fn go(&self, to: SimTime) -> Result<(), Refusal> {
        {
            let mut state = self.state.lock();
            let is_back = state.gate.position().is_some_and(|now| to < now);
            if is_back
                && matches!(
                    state.phase,
                    Phase::Paused | Phase::Running | Phase::Going | Phase::Ended
                )
            {
                let scene = Scene { prepared: state.prepared.clone(), to: Some(to), same: None };
                self.turn_to(&mut state, scene);
                return Ok(());
            }
        }
        self.want(Wish::To(to))
    }

    /// Goes to the end, and ends the session there.
    pub fn close(&self) {
        let mut state = self.state.lock();
        state.is_last = true;
        if state.phase != Phase::Repeating {
            state.gate.want(Wish::End);
        }
        self.turned.notify_all();
    }

    /// Ends the session where it is.
    pub fn leave(&self) {
        let mut state = self.state.lock();
        state.is_last = true;
        state.next = None;
        state.gate.want(Wish::Leave);
        self.turned.notify_all();
    }

    /// Does something to the cluster, a microsecond from now.
    ///
    /// # Errors
    /// If the session does not stand still, or if it does not go with the scenario.
    pub fn act(&self, deed: &Deed) -> Result<(), Refusal> {
        let mut state = self.state.lock();
        state.must_stand()?;
        let position = state.gate.position();
        let at = state.gate.now() + SimSpan::from_micros(1);
        let prepared = Arc::new(with(&state.prepared, deed, at, &self.registry)?);
        let words = deed.words();
        let before = Before {
            prepared: state.prepared.clone(),
            past: mem::replace(&mut state.past, Past::open()),
            at: state.gate.now(),
            words: words.clone(),
        };
        let old = state.prepared.clone();
        state.done.push((at, old));
        state.log(words);
        let scene = Scene {
            prepared,
            to: position,
            // Of a run that has not begun nothing can have changed.
            same: position.map(|_| Box::new(before)),
        };
        self.turn_to(&mut state, scene);
        Ok(())
    }

    /// Takes back what was done last, and goes to where one was, or to before it was done.
    ///
    /// # Errors
    /// If the session does not stand still, or if nothing was done.
    pub fn undo(&self) -> Result<(), Refusal> {
        let mut state = self.state.lock();
        state.must_stand()?;
        let Some((at, prepared)) = state.done.pop() else {
            return Err(Refusal::Untimely("nothing was done that could be taken back"));
        };
        let before = SimTime::from_micros(at.as_micros().saturating_sub(1));
        let to = state.gate.position().map(|now| now.min(before));
        state.log("the last deed is taken back".to_owned());
        self.turn_to(&mut state, Scene { prepared, to, same: None });
        Ok(())
    }

    /// Gives the run up for another scene.
    fn turn_to(&self, state: &mut State, scene: Scene) {
        state.next = Some(scene);
        state.phase = Phase::Repeating;
        state.gate.want(Wish::Leave);
        self.show(state);
        self.turned.notify_all();
    }

    /// Makes a picture of what is.
    fn show(&self, state: &mut State) {
        state.number += 1;
        let sent = Sent {
            number: state.number,
            phase: state.phase,
            now_us: state.gate.now().as_micros(),
            speed: state.gate.speed().factor(),
            scene: state.scene,
            log: state.log.iter().rev().take(LOG).collect(),
            frame: state.picture.frame(),
        };
        self.pictures.send_replace(json(&sent));
    }
}

impl State {
    fn log(&mut self, text: String) {
        let at_us = self.gate.now().as_micros();
        self.log.push(Line { at_us, text });
        if 2 * LOG < self.log.len() {
            self.log.drain(..LOG);
        }
    }

    fn must_stand(&self) -> Result<(), Refusal> {
        match self.phase {
            Phase::Paused | Phase::Ended => Ok(()),
            Phase::Running | Phase::Going => Err(Refusal::Untimely("pause first")),
            Phase::Repeating => {
                Err(Refusal::Untimely("the past is being repeated: wait until it is done"))
            }
            Phase::Finished => Err(Refusal::Untimely("the session is over")),
        }
    }
}

/// Notes that what was done would have changed what had happened, and plans the run without it.
fn take_back(state: &mut State, before: Before) {
    let Before { prepared, past, at, words } = before;
    let parted = past.parts_from(&state.past).unwrap_or_default();
    state.done.pop();
    state.log(format!(
        "{words}: this would have changed what had happened by {parted} already, so it is taken back"
    ));
    state.next = Some(Scene { prepared, to: Some(at), same: None });
    state.phase = Phase::Repeating;
    state.gate.want(Wish::Leave);
}

/// Holds up the run of a scene, and sees what happens there.
struct Hand {
    session: Arc<Session>,
    /// When the last picture was made.
    shown: Instant,
}

impl Hand {
    /// Makes a picture if the last one is old.
    fn show(&mut self, state: &mut State, wall: Instant) {
        if PICTURE <= wall.saturating_duration_since(self.shown) {
            // In step with the wall, unless too far behind.
            let missed = wall.checked_sub(PICTURE).unwrap_or(wall);
            self.shown = missed.max(self.shown + PICTURE);
            self.session.show(state);
        }
    }

    /// Returns how long it is to the next picture.
    fn rest(&self, wall: Instant) -> Duration {
        PICTURE.saturating_sub(wall.saturating_duration_since(self.shown))
    }
}

impl Pace for Hand {
    fn see(&mut self, events: &[Event]) {
        let mut state = self.session.state.lock();
        let State { gate, picture, past, .. } = &mut *state;
        for event in events {
            gate.see(event);
            picture.see(event);
            past.add(event);
        }
    }

    fn wait(&mut self, at: SimTime) -> bool {
        let session = self.session.clone();
        let mut state = session.state.lock();
        loop {
            let wall = now();
            match state.gate.ask(at, wall.saturating_duration_since(session.began)) {
                Turn::Go => {
                    self.show(&mut state, wall);
                    return true;
                }
                Turn::Leave => return false,
                Turn::Wait(wait) => {
                    self.show(&mut state, wall);
                    session.turned.wait_for(&mut state, wait.min(self.rest(wall)));
                }
                Turn::Stand => {
                    if let Some(before) = state.same.take()
                        && before.past.parts_from(&state.past).is_some()
                    {
                        take_back(&mut state, *before);
                        continue;
                    }
                    if state.is_last {
                        state.gate.want(Wish::End);
                        continue;
                    }
                    state.phase = Phase::Paused;
                    session.show(&mut state);
                    session.turned.wait(&mut state);
                }
            }
        }
    }
}

/// Returns a scenario with a deed in it.
fn with(
    prepared: &Prepared,
    deed: &Deed,
    at: SimTime,
    registry: &Registry,
) -> Result<Prepared, Refusal> {
    let wrong = |error: &dyn std::fmt::Display| Refusal::Wrong(error.to_string());
    let scenario = &prepared.scenario;
    let mut tree: Value =
        serde_yaml::from_str(&scenario.to_yaml()).map_err(|error| wrong(&error))?;
    let (list, entry) = deed.entry(at);
    if let Some(root) = tree.as_mapping_mut() {
        let list = root.entry(list.into()).or_insert_with(|| Value::Sequence(Vec::new()));
        if let Some(list) = list.as_sequence_mut() {
            list.push(entry);
        }
    }
    let text = serde_yaml::to_string(&tree).map_err(|error| wrong(&error))?;
    // Named as if it lay beside the scenario, for what that names relative to itself.
    let file = scenario.folder.join("session.yaml").display().to_string();
    let draft = Draft::of(&file, &text).map_err(|error| wrong(&error))?;
    let loaded = draft.resolve(registry).map_err(|error| wrong(&error))?;
    Prepared::new(loaded.scenario, registry).map_err(|error: EmulationError| wrong(&error))
}

/// Returns the picture of a scenario's run before it begins.
fn picture(prepared: &Prepared) -> Picture {
    let scenario = &prepared.scenario;
    let mut later: Vec<_> = (scenario.later.iter())
        .filter_map(|later| Some((later.at, later.scheduler.as_ref()?.name.clone())))
        .collect();
    later.sort_by_key(|(at, _)| *at);
    let policies = [scenario.scheduler.name.clone()].into_iter();
    Picture::new(&prepared.topology, policies.chain(later.into_iter().map(|(_, name)| name)))
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
    use crate::emulation::Options;
    use crate::mapred::{Fact, JobId};
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
        fn new() -> Self {
            let session = Session::new(prepared(TWO_JOBS), Registry::builtin(), Speed::MOST);
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
        fn stands(&self, scene: u64) -> (Phase, SimTime) {
            loop {
                {
                    let state = self.0.state.lock();
                    if state.scene == scene && matches!(state.phase, Phase::Paused | Phase::Ended) {
                        return (state.phase, state.gate.now());
                    }
                }
                thread::yield_now();
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

    #[test]
    fn what_is_done_is_written_a_microsecond_behind_the_pause() {
        let registry = Registry::builtin();
        let at = secs(10) + SimSpan::from_micros(1);
        let first = with(&prepared(TWO_JOBS), &Deed::Stop(1), at, &registry).unwrap();
        let job = serde_yaml::from_str("{name: c, maps: 1, map_time: 5s}").unwrap();
        let second = with(&first, &Deed::Submit(job), at, &registry).unwrap();
        let third = with(&second, &Deed::Scheduler("fair".into()), at, &registry).unwrap();
        let yaml = third.scenario.to_yaml();
        assert!(yaml.contains("stop: node-2") && yaml.contains("at: 10000001us"), "{yaml}");
        assert_eq!((third.scenario.faults.len(), third.scenario.later.len()), (1, 2));
        for wrong in [Deed::Stop(7), Deed::Kill("x".to_owned()), Deed::Scheduler("none".into())] {
            assert!(with(&third, &wrong, at, &registry).is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn the_past_is_the_same_and_the_future_another() {
        let played = Played::new();
        let session = &played.0;
        assert_eq!(played.stands(1), (Phase::Paused, SimTime::ZERO));
        session.go(secs(30)).unwrap();
        while session.state.lock().gate.now() < secs(30) {
            thread::yield_now();
        }
        assert_eq!(played.stands(1), (Phase::Paused, secs(30)));
        let before = session.state.lock().past.clone();
        session.act(&Deed::Stop(0)).unwrap();
        assert_eq!(played.stands(2), (Phase::Paused, secs(30)));
        assert_eq!(before.parts_from(&session.state.lock().past), None);
        assert_eq!(played.last_words(), "node-1 is stopped");
        session.go(secs(31)).unwrap();
        while session.state.lock().gate.now() < secs(31) {
            thread::yield_now();
        }
        assert_eq!(session.state.lock().picture.frame().slots[0], super::super::picture::DOWN);
        // Back, and the deed is taken back.
        session.undo().unwrap();
        assert_eq!(played.stands(3), (Phase::Paused, secs(30)));
        assert!(session.state.lock().prepared.scenario.faults.is_empty());
    }

    #[test]
    fn what_would_have_changed_the_past_is_taken_back() {
        let played = Played::new();
        let session = &played.0;
        played.stands(1);
        session.go(secs(30)).unwrap();
        while session.state.lock().gate.now() < secs(30) {
            thread::yield_now();
        }
        played.stands(1);
        // As if something else had happened before.
        let other = Event { at: secs(29), fact: Fact::JobRunning(JobId(0)) };
        session.state.lock().past.add(&other);
        session.act(&Deed::Stop(0)).unwrap();
        assert_eq!(played.stands(3), (Phase::Paused, secs(30)));
        assert!(played.last_words().contains("so it is taken back"), "{}", played.last_words());
        assert!(session.state.lock().prepared.scenario.faults.is_empty());
        assert_eq!(
            session.undo().unwrap_err().to_string(),
            "nothing was done that could be taken back"
        );
    }

    #[test]
    fn a_run_that_is_over_goes_on_with_another_job() {
        let played = Played::new();
        let session = &played.0;
        played.stands(1);
        assert!(session.act(&Deed::Stop(9)).unwrap_err().to_string().contains("node"));
        session.go(secs(100_000)).unwrap();
        let end = loop {
            match played.stands(1) {
                (Phase::Ended, at) => break at,
                _ => thread::yield_now(),
            }
        };
        assert!(session.run().is_err(), "it is over");
        let job = serde_yaml::from_str("{name: c, maps: 1, map_time: 5s}").unwrap();
        session.act(&Deed::Submit(job)).unwrap();
        assert_eq!(played.stands(2), (Phase::Paused, end));
        session.step(Step::JobEnd).unwrap();
        while session.state.lock().gate.now() <= end {
            thread::yield_now();
        }
        played.stands(2);
        assert_eq!(session.job(2).unwrap().row.ended, Some("succeeded"));
    }
}
