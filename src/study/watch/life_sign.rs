//! Signs of life: reports that a process writes about itself while it works on a study.
//!
//! The signs show users the progress; no result depends on a sign. `sign_files` keeps the signs in
//! files.
//!
//! A killed process cannot report its end, so its last sign is not enough to know its state:
//! ```text
//! the sign reports the end of the process                 -> ended
//! the sign's lock is held                                 -> at work
//! the lock is free, and the process ran on this machine   -> gone: it was killed
//! the process ran on another machine, whose locks may be
//! invisible here                                          -> at work for 90 s, then silent
//! ```

use std::time::Duration;

use chrono::{DateTime, SecondsFormat, Utc};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::watch::pace::StudyPace;

/// The time between two signs of a process.
// Chosen: often enough for a watching user; one small file in ten seconds burdens no file system.
pub const EVERY: Duration = Duration::from_secs(10);

/// A process whose last sign is older than this may be dead: nine signs are missing, although
/// shared file systems show a new file within a minute.
pub(crate) const SILENT_AFTER: Duration = Duration::from_secs(90);

/// The largest number of slow runs that a sign lists.
// Chosen: ten runs show which values of the axes cost most, and the file stays small.
const MOST_SLOW: usize = 10;

/// An instant of wall-clock time, in milliseconds since 1970. It is written as text in the form of
/// RFC 3339, in UTC.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct WallInstant(i64);

/// A sign of life.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Life {
    /// The machine's name; `None` if the machine has no name.
    pub machine: Option<String>,
    /// The process id.
    pub pid: u32,
    /// The version of Mumakil.
    pub version: String,
    /// When the process began.
    pub began: WallInstant,
    /// When the process wrote the sign.
    pub seen: WallInstant,
    /// The number of runs to do, without the runs that other processes do.
    pub runs: u64,
    /// The number of these runs that are done.
    pub done: u64,
    /// The number of these runs that have failed in this process.
    pub failed: u64,
    /// The number of these runs that have not begun.
    pub left: u64,
    /// The recent number of runs that end in a minute; `None` before a run has ended.
    pub runs_a_minute: Option<f64>,
    /// The runs in progress.
    pub running: Vec<LiveRun>,
    /// The slowest runs of this process and of earlier processes, slowest first.
    pub slowest: Vec<SlowRun>,
    /// How the process ended; `None` while it works.
    pub ended: Option<End>,
    /// The error that stopped the process; `None` if no error did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// The number of ended runs at several times.
    #[serde(skip)]
    pace: StudyPace,
}

/// A run in progress.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LiveRun {
    /// Its name.
    pub run: String,
    /// Its description: `nodes 10, fair, seed 42`.
    pub what: String,
    /// When it began.
    pub since: WallInstant,
}

/// A run that has ended, with the time that it took.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SlowRun {
    /// Its name.
    pub run: String,
    /// Its description: `nodes 10, fair, seed 42`.
    pub what: String,
    /// The real time that it took, in seconds.
    pub took_s: f64,
}

/// How a process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum End {
    /// All its runs are done or have failed.
    #[serde(rename = "done")]
    Done,
    /// Ctrl-C or SIGTERM ended it.
    #[serde(rename = "told to end")]
    ToldToEnd,
    /// An error stopped it.
    #[serde(rename = "failed")]
    Failed,
}

/// The state of a sign's lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SignLock {
    /// The process holds it.
    Held,
    /// No process on this machine holds it. A process on another machine may hold it, if machines
    /// do not share locks.
    Free,
    /// The file system has no locks.
    Unknown,
}

/// The state of a process, judged by its sign.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum WriterState {
    /// It is at work.
    #[serde(rename = "at work")]
    AtWork,
    /// It has ended without a report: it was killed.
    #[serde(rename = "gone")]
    Gone,
    /// It runs on another machine and has written no sign for a long time.
    #[serde(rename = "silent")]
    Silent,
    /// It has ended, and reported how.
    #[serde(untagged)]
    Ended(End),
}

impl WallInstant {
    /// Returns the instant from milliseconds since 1970.
    pub fn of_millis(millis: i64) -> Self {
        Self(millis)
    }

    /// Returns the current instant.
    pub fn now() -> Self {
        Self(Utc::now().timestamp_millis())
    }

    /// Returns the time since an earlier instant; zero if `earlier` is later, since the clocks of
    /// machines differ.
    pub fn since(self, earlier: Self) -> Duration {
        Duration::from_millis(u64::try_from(self.0 - earlier.0).unwrap_or(0))
    }
}

impl Serialize for WallInstant {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let date = DateTime::<Utc>::from_timestamp_millis(self.0).unwrap_or_default();
        serializer.serialize_str(&date.to_rfc3339_opts(SecondsFormat::Millis, true))
    }
}

impl<'de> Deserialize<'de> for WallInstant {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let date = DateTime::parse_from_rfc3339(&text).map_err(de::Error::custom)?;
        Ok(Self(date.timestamp_millis()))
    }
}

impl Life {
    /// Returns the first sign of a process.
    pub fn begin(machine: Option<String>, pid: u32, now: WallInstant) -> Self {
        Self {
            machine,
            pid,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            began: now,
            seen: now,
            ..Self::default()
        }
    }

    /// Returns the name of the process's signs, which no other process uses.
    pub fn name(&self) -> String {
        let machine = self.machine.as_deref().unwrap_or("process");
        // Systems reuse process ids, so add the time when the process began.
        format!("{machine}-{}-{:x}", self.pid, self.began.0)
    }

    /// Sets the number of runs to do, and the number of these runs that are already done.
    pub fn has(&mut self, runs: u64, done: u64) {
        (self.runs, self.done, self.failed) = (runs, done, 0);
        self.count();
    }

    /// Notes that a run has begun.
    pub fn begins(&mut self, run: &str, what: String, now: WallInstant) {
        self.running.push(LiveRun { run: run.to_owned(), what, since: now });
        self.count();
    }

    /// Notes that a run is done.
    pub fn has_done(&mut self, run: &str, now: WallInstant) {
        self.done += 1;
        if let Some(LiveRun { run, what, since }) = self.take(run) {
            let took_s = now.since(since).as_secs_f64();
            self.knows_slow([SlowRun { run, what, took_s }]);
        }
        self.count();
    }

    /// Subtracts runs that other processes do from the number of runs to do.
    pub fn leaves(&mut self, runs: u64) {
        // Saturate: another process may report runs that this process had not counted.
        self.runs = self.runs.saturating_sub(runs);
        self.count();
    }

    /// Notes that a run has failed.
    pub fn has_failed(&mut self, run: &str) {
        self.failed += 1;
        self.take(run);
        self.count();
    }

    /// Adds runs, of this process or others, to the list of the slowest runs.
    pub fn knows_slow(&mut self, runs: impl IntoIterator<Item = SlowRun>) {
        self.slowest.extend(runs);
        self.slowest = slowest(std::mem::take(&mut self.slowest));
    }

    /// Sets the time and the rate of the next sign; `ended` is the number of runs that this process
    /// has ended so far.
    pub fn record_sign(&mut self, ended: u64, now: WallInstant) {
        self.seen = now;
        self.pace.note(now.since(self.began), ended);
        self.runs_a_minute = self.pace.per_minute();
    }

    /// Notes the end of the process, and drops its runs in progress.
    pub fn ends(&mut self, how: End, why: Option<String>) {
        (self.ended, self.why) = (Some(how), why);
        // A process that was told to end drops its unfinished runs; these runs have not failed.
        self.running.clear();
        self.count();
    }

    /// Returns the state of the process. `hold` is the state of its sign's lock; `is_here` says
    /// whether the process runs on this machine.
    pub fn writer_state(&self, hold: SignLock, is_here: bool, now: WallInstant) -> WriterState {
        match (self.ended, hold) {
            (Some(how), _) => WriterState::Ended(how),
            (None, SignLock::Held) => WriterState::AtWork,
            // On this machine the system frees the lock when the process ends, so a free lock
            // proves that the process has ended.
            (None, SignLock::Free) if is_here => WriterState::Gone,
            (None, SignLock::Free | SignLock::Unknown) if now.since(self.seen) <= SILENT_AFTER => {
                WriterState::AtWork
            }
            (None, SignLock::Free | SignLock::Unknown) => WriterState::Silent,
        }
    }

    fn take(&mut self, run: &str) -> Option<LiveRun> {
        let place = self.running.iter().position(|going| going.run == run)?;
        Some(self.running.remove(place))
    }

    fn count(&mut self) {
        let begun = self.done + self.failed + self.running.len() as u64;
        self.left = self.runs.saturating_sub(begun);
    }
}

/// Returns the slowest runs of the list, each run once, the slowest first.
pub(crate) fn slowest(mut runs: Vec<SlowRun>) -> Vec<SlowRun> {
    // Break ties by name, so that the list does not change from one sign to the next.
    runs.sort_by(|a, b| b.took_s.total_cmp(&a.took_s).then_with(|| a.run.cmp(&b.run)));
    let mut kept: Vec<SlowRun> = Vec::new();
    for run in runs {
        // Two processes may list the same run if one has taken over from the other.
        if kept.len() < MOST_SLOW && !kept.iter().any(|other| other.run == run.run) {
            kept.push(run);
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(secs: i64) -> WallInstant {
        WallInstant::of_millis(secs * 1_000)
    }

    fn life() -> Life {
        let mut life = Life::begin(Some("node-7".to_owned()), 4711, at(100));
        life.has(10, 4);
        life
    }

    #[test]
    fn every_run_is_done_or_failed_or_going_on_or_left() {
        let mut life = life();
        let counts = |life: &Life| [life.done, life.running.len() as u64, life.failed, life.left];
        assert_eq!(counts(&life), [4, 0, 0, 6]);
        life.begins("a", "nodes 2, seed 1".to_owned(), at(100));
        life.begins("b", "nodes 2, seed 2".to_owned(), at(103));
        assert_eq!(counts(&life), [4, 2, 0, 4]);
        life.has_done("b", at(110));
        life.has_failed("a");
        assert_eq!(counts(&life), [5, 0, 1, 4]);
        assert_eq!((&*life.slowest[0].what, life.slowest[0].took_s), ("nodes 2, seed 2", 7.0));
        life.begins("c", String::new(), at(110));
        life.ends(End::ToldToEnd, None);
        assert_eq!(counts(&life), [5, 0, 1, 4], "the run in progress is left");
    }

    #[test]
    fn a_sign_is_the_same_when_it_is_read() {
        let mut life = life();
        life.begins("a", "nodes 2".to_owned(), at(1_700_000_000));
        life.record_sign(30, at(220));
        assert_eq!(life.runs_a_minute, Some(15.0));
        let text = serde_json::to_string(&life).unwrap();
        assert!(text.contains(r#""since":"2023-11-14T22:13:20.000Z""#), "{text}");
        let read: Life = serde_json::from_str(&text).unwrap();
        assert_eq!(serde_json::to_string(&read).unwrap(), text);
    }

    #[test]
    fn the_slowest_are_few_and_each_is_there_once() {
        let run =
            |run: u32, took_s| SlowRun { run: format!("{run:02}"), what: String::new(), took_s };
        let mut runs: Vec<SlowRun> = (0..30).map(|number| run(number, f64::from(number))).collect();
        // The same run, done by two machines.
        runs.push(run(29, 50.0));
        let kept = slowest(runs);
        let told: Vec<(&str, f64)> = kept.iter().map(|slow| (&*slow.run, slow.took_s)).collect();
        assert_eq!(told[..2], [("29", 50.0), ("28", 28.0)]);
        assert_eq!(told.len(), 10);
    }

    #[test]
    fn a_killed_process_does_not_look_alive() {
        let mut life = life();
        let fate = |life: &Life, hold, is_here, secs| life.writer_state(hold, is_here, at(secs));
        life.record_sign(0, at(200));
        // The system frees the lock as soon as the process ends.
        assert_eq!(fate(&life, SignLock::Free, true, 201), WriterState::Gone);
        assert_eq!(
            fate(&life, SignLock::Held, true, 9_000),
            WriterState::AtWork,
            "it was suspended"
        );
        // A free lock on another machine does not prove that the process has ended. A held lock
        // proves that it lives.
        assert_eq!(fate(&life, SignLock::Free, false, 290), WriterState::AtWork);
        assert_eq!(fate(&life, SignLock::Free, false, 291), WriterState::Silent);
        assert_eq!(fate(&life, SignLock::Held, false, 291), WriterState::AtWork);
        assert_eq!(fate(&life, SignLock::Unknown, true, 291), WriterState::Silent);
        assert_eq!(fate(&life, SignLock::Unknown, true, 100), WriterState::AtWork, "slow clock");
        life.ends(End::Done, None);
        assert_eq!(fate(&life, SignLock::Held, true, 201), WriterState::Ended(End::Done));
    }
}
