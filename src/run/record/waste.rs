//! The useful and wasted slot time of each job, and the cost of its stragglers, for `jobs.csv` and
//! `summary.json`.
//!
//! *Slot time* is the number of slots that an attempt holds times how long it holds them, as seen
//! by its tracker. Setup tasks, cleanup tasks and the removal of outputs count too. Slot time is
//! *useful* if the attempt succeeded or saved its work, and wasted for one of these reasons:
//!
//! - `failed`: the attempt failed;
//! - `speculative`: another attempt of its task was faster;
//! - `lost`: its tracker or its output was lost, perhaps after its success, so the task ran again;
//! - `preempted`: it was killed for another reason, and its job succeeded or still runs;
//! - `killed`: its job failed or was killed, and no other reason applies.
//!
//! An attempt that still runs when the run stops is `unfinished`. Useful, wasted and unfinished
//! slot time add up to all slot time that was held; the invariant checker compares the sum with its
//! own count.
//!
//! The *straggling* of a job is its sojourn divided by the sojourn that it would have had without
//! stragglers. Without them, each task begins as it did and takes no longer than the median task of
//! its job and kind. The last map and the last reduce then end earlier, and the sojourn is shorter
//! by the sum of both differences. A task lasts from the first start of an attempt to the end of
//! the successful attempt; for a reduce, the time before the maps were done does not count. Other
//! tasks might also begin earlier, but that is ignored, so with several waves the true cost is
//! higher.

use std::collections::BTreeMap;
use std::mem;
use std::ops::{Index, IndexMut};

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use super::summary::rounded;
use super::{BookedAttempt, RunBooks};
use mumakil_base::dense::grown;
use mumakil_base::units::{SimSpan, SimTime};
use mumakil_base::worded;
use mumakil_core::mapred::{
    AttemptFact, AttemptId, Event, Fact, JobFact, JobId, LedgerFact, MemberFact, Outcome, PerSlot,
    Reason, Role, SlotKind, TaskId, TaskKind, TrackerFact, TrackerId,
};
use mumakil_results::tables::{JobRow, SlotMillis};

/// Adds up slot time by the fates of attempts.
#[derive(Debug, Default)]
pub(super) struct Waste {
    jobs: Vec<Option<Box<WasteAccount>>>,
    open: BTreeMap<AttemptId, OpenFate>,
    /// How often each tracker has died or was declared lost.
    losses: Vec<u32>,
}

worded! {
    /// The fate of an attempt, which classifies its slot time.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum AttemptFate {
        /// It succeeded, or its work was saved.
        Useful = "useful",
        /// It failed.
        Failed = "failed",
        /// Another attempt of its task was faster.
        Speculative = "speculative",
        /// It was lost with its tracker, or its output was lost.
        Lost = "lost",
        /// It was killed though its job went on.
        Preempted = "preempted",
        /// Its job failed or was killed.
        Killed = "killed",
        /// It had not ended when the run stopped.
        Unfinished = "unfinished",
    }
}

/// A value for each fate of attempts.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PerFate<T>([T; 7]);

/// The slot time of a job, by fate.
#[derive(Debug, Default)]
struct WasteAccount {
    /// The slot time of each fate, in slots times microseconds.
    // Hundreds of attempts may each last a century: the sum needs 128 bits.
    sums: PerFate<u128>,
    /// The number of speculative attempts.
    second_attempts: u32,
    /// The number of speculative attempts that succeeded.
    won: u32,
    /// The number of attempts that failed or were lost.
    harmed: u32,
    maps_done: Option<SimTime>,
    /// Its tasks; emptied when the job ends.
    tasks: PerSlot<Vec<WasteTask>>,
    ended: Option<Outcome>,
    stragglers: Option<Stragglers>,
}

/// The cost of stragglers to a job.
#[derive(Clone, Copy, Debug)]
struct Stragglers {
    /// How much earlier the last map and the last reduce would have ended without stragglers.
    of: PerSlot<SimSpan>,
    /// The job's sojourn divided by its sojourn without stragglers.
    ratio: f64,
}

/// The state of a map or reduce.
#[derive(Clone, Copy, Debug, Default)]
struct WasteTask {
    first_start: Option<SimTime>,
    end: Option<SimTime>,
    /// The number of the successful attempt, and its slot time in slots times microseconds.
    winner: Option<(u32, u64)>,
}

/// The fate of an attempt that is still in the books, as far as it is known.
#[derive(Debug, Default)]
struct OpenFate {
    /// How often its tracker had been lost before the attempt was assigned.
    losses: u32,
    is_beaten: bool,
    is_saved: bool,
    /// Whether it was given up with its tracker, so that nobody uses what it saves.
    is_given_up: bool,
    fate: Option<AttemptFate>,
}

/// Useful and wasted slot time in `summary.json`, in seconds times slots.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WasteSummary {
    /// All slot time that was held.
    pub held_s: f64,
    /// The slot time by the fate of the attempts.
    pub by_fate: PerFate<f64>,
    /// The share of useful slot time in the slot time of attempts that have ended; `None` if that
    /// is zero.
    pub goodput: Option<f64>,
    /// How many speculative attempts were launched: second attempts of running tasks.
    pub second_attempts: u64,
    /// How many of the speculative attempts succeeded.
    pub second_attempts_won: u64,
    /// How many attempts failed or were lost; not in the file.
    pub attempts_harmed: u64,
}

impl AttemptFate {
    /// The fates of attempts whose slot time was wasted.
    pub const IN_VAIN: [Self; 5] =
        [Self::Failed, Self::Speculative, Self::Lost, Self::Preempted, Self::Killed];
}

impl<T> Index<AttemptFate> for PerFate<T> {
    type Output = T;

    fn index(&self, fate: AttemptFate) -> &T {
        &self.0[fate as usize]
    }
}

impl<T> IndexMut<AttemptFate> for PerFate<T> {
    fn index_mut(&mut self, fate: AttemptFate) -> &mut T {
        &mut self.0[fate as usize]
    }
}

impl PerFate<u128> {
    fn sum(&self, fates: &[AttemptFate]) -> u128 {
        fates.iter().map(|&fate| self[fate]).sum()
    }
}

impl Waste {
    /// Takes an event that `books` already include.
    pub(super) fn see(&mut self, event: &Event, books: &RunBooks) {
        match event.fact {
            Fact::Job(job, ref fact) => self.see_job(event.at, job, fact, books),
            Fact::Ledger(attempt, tracker, fact) => {
                self.see_ledger(attempt, tracker, fact, books);
            }
            Fact::Attempt(attempt, _, AttemptFact::Started { role: Role::Work, .. }) => {
                // On a scaled clock this event may come before the assignment.
                self.open.entry(attempt).or_default();
                if let Some(task) = self.task(attempt.task) {
                    // A task's time includes its lost attempts: the job had to wait for them too.
                    task.first_start.get_or_insert(event.at);
                }
            }
            Fact::Attempt(attempt, _, AttemptFact::Saved) => {
                self.note(attempt, |open| open.is_saved = true);
            }
            // One loss may count twice, at the tracker's death and when the JobTracker notices it.
            // It only matters whether the count has grown since an assignment.
            Fact::Member(tracker, MemberFact::Lost) | Fact::Tracker(tracker, TrackerFact::Down) => {
                *grown(&mut self.losses, tracker.index()) += 1;
            }
            Fact::Attempt(..)
            | Fact::Member(..)
            | Fact::Tracker(..)
            | Fact::World(_)
            | Fact::Pool(..)
            | Fact::Span(..) => {}
        }
        for (id, attempt) in &books.closed {
            self.close(*id, attempt);
        }
    }

    fn see_job(&mut self, at: SimTime, job: JobId, fact: &JobFact, books: &RunBooks) {
        match *fact {
            JobFact::Submitted(ref spec) => {
                let tasks = |count| vec![WasteTask::default(); count as usize];
                *grown(&mut self.jobs, job.index()) = Some(Box::new(WasteAccount {
                    tasks: PerSlot { map: tasks(spec.maps), reduce: tasks(spec.reduces) },
                    ..WasteAccount::default()
                }));
            }
            JobFact::MapsDone => {
                if let Some(account) = self.account(job) {
                    account.maps_done = Some(at);
                }
            }
            JobFact::Ended(outcome) => self.end_job(job, outcome, books),
            JobFact::BegunAnew => self.begin_anew(job),
            JobFact::Initialised
            | JobFact::Running
            | JobFact::Altered(_)
            | JobFact::Refused { .. }
            | JobFact::Sized(..)
            | JobFact::SubmissionRefused(_) => {}
        }
    }

    fn see_ledger(
        &mut self,
        attempt: AttemptId,
        tracker: TrackerId,
        fact: LedgerFact,
        books: &RunBooks,
    ) {
        match fact {
            LedgerFact::Assigned { role: Role::Work, speculative, .. } => {
                // Note the losses so far: a loss of the tracker before this assignment does not
                // concern the attempt.
                let losses = self.losses_of(tracker);
                self.open.entry(attempt).or_default().losses = losses;
                if let Some(account) = self.account(attempt.job()).filter(|_| speculative) {
                    account.second_attempts += 1;
                }
            }
            LedgerFact::Learned { state, .. } => {
                // Other states, such as running or unclean, leave the fate open.
                if let Some(verdict) = state.outcome() {
                    self.judge(attempt, verdict, books);
                }
            }
            LedgerFact::Ordered { reason: Reason::LostRace(_), .. } => {
                self.note(attempt, |open| open.is_beaten = true);
            }
            LedgerFact::Ordered { reason: Reason::TrackerLost, .. } => {
                self.note(attempt, |open| open.is_given_up = true);
            }
            LedgerFact::Assigned { role: Role::TaskCleanup, .. }
            | LedgerFact::Ordered { .. }
            | LedgerFact::Spared { .. } => {}
        }
    }

    fn note(&mut self, attempt: AttemptId, note: impl FnOnce(&mut OpenFate)) {
        if let Some(open) = self.open.get_mut(&attempt) {
            note(open);
        }
    }

    fn losses_of(&self, tracker: TrackerId) -> u32 {
        self.losses.get(tracker.index()).copied().unwrap_or(0)
    }

    fn account(&mut self, job: JobId) -> Option<&mut WasteAccount> {
        self.jobs.get_mut(job.index())?.as_deref_mut()
    }

    /// Returns a map or reduce; `None` if its job has ended.
    fn task(&mut self, id: TaskId) -> Option<&mut WasteTask> {
        let tasks = &mut self.account(id.job)?.tasks[id.slot()];
        tasks.get_mut(id.index as usize).filter(|_| id.is_work())
    }

    /// Takes the JobTracker's verdict on an attempt.
    fn judge(&mut self, id: AttemptId, verdict: Outcome, books: &RunBooks) {
        // A second verdict on an attempt makes its success void, as when a map's tracker was lost.
        let open = self.open.get(&id).filter(|open| open.fate.is_none());
        let Some((open, attempt)) = open.zip(books.attempt_or_closed(id)) else {
            return self.lose_output(id, verdict);
        };
        let ended = attempt.ending.map(|ending| ending.at);
        let has_kept_work = open.is_saved && !open.is_given_up && ended.is_some();
        let fate = match verdict {
            Outcome::Succeeded => AttemptFate::Useful,
            Outcome::Failed => AttemptFate::Failed,
            Outcome::Killed if has_kept_work => AttemptFate::Useful,
            // The job still runs, so a kill without another reason is a preemption by the policy.
            Outcome::Killed => self.why_killed(open, attempt, AttemptFate::Preempted),
        };
        self.note(id, |open| open.fate = Some(fate));
        if verdict == Outcome::Succeeded {
            if let Some(task) = self.task(id.task) {
                task.end = ended;
            }
            let is_second = attempt.grant.is_some_and(|grant| grant.speculative);
            if let Some(account) = self.account(id.job()).filter(|_| is_second) {
                account.won += 1;
            }
        }
    }

    fn why_killed(
        &self,
        open: &OpenFate,
        attempt: &BookedAttempt,
        else_: AttemptFate,
    ) -> AttemptFate {
        // Check this first: a loser's tracker may die before the kill arrives, but the attempt was
        // already beaten.
        if open.is_beaten {
            AttemptFate::Speculative
        } else if open.losses < self.losses_of(attempt.tracker) {
            AttemptFate::Lost
        } else {
            else_
        }
    }

    /// Moves the slot time of a successful attempt from useful to lost, if its output is lost.
    fn lose_output(&mut self, attempt: AttemptId, verdict: Outcome) {
        // If the same success is reported again, as after a restart of the JobTracker, no output
        // was lost.
        if verdict == Outcome::Succeeded {
            return;
        }
        let Some(task) = self.task(attempt.task) else { return };
        // If another attempt has succeeded since, this attempt was already counted as lost.
        let Some((_, held)) = task.winner.take_if(|(number, _)| *number == attempt.number) else {
            return;
        };
        task.end = None;
        if let Some(account) = self.account(attempt.job()) {
            account.sums[AttemptFate::Useful] -= u128::from(held);
            account.sums[AttemptFate::Lost] += u128::from(held);
            account.harmed += 1;
        }
    }

    fn open_of(&self, id: JobId) -> Vec<AttemptId> {
        // Ids are ordered by job first, so a job's attempts are one range, from its first map to
        // its last cleanup.
        let all = TaskId { job: id, kind: TaskKind::Map, index: 0 }.attempt(0)..=TaskId {
            job: id,
            kind: TaskKind::Cleanup,
            index: u32::MAX,
        }
        .attempt(u32::MAX);
        self.open.range(all).map(|(attempt, _)| *attempt).collect()
    }

    /// Marks the open attempts of a job as lost.
    fn begin_anew(&mut self, id: JobId) {
        for attempt in self.open_of(id) {
            self.note(attempt, |open| {
                // The JobTracker forgot the job, so the work of these attempts is done again.
                open.fate.get_or_insert(AttemptFate::Lost);
            });
        }
    }

    /// Ends a job: gives each of its open attempts a fate, and moves the useful slot time of a
    /// failed job to `killed`.
    fn end_job(&mut self, id: JobId, outcome: Outcome, books: &RunBooks) {
        // The JobTracker gives no verdicts after the end of a job, so decide the fates now.
        for id in self.open_of(id) {
            let Some(attempt) = books.attempt_or_closed(id) else { continue };
            let fate = self.why_killed(&self.open[&id], attempt, AttemptFate::Killed);
            self.note(id, |open| {
                open.fate.get_or_insert(fate);
            });
        }
        let sojourn = books.job(id).and_then(super::BookedJob::sojourn);
        let Some(account) = self.account(id) else { return };
        account.ended = Some(outcome);
        if outcome == Outcome::Succeeded {
            account.stragglers = sojourn.map(|sojourn| account.stragglers(sojourn));
        } else {
            // The work of a failed job was useless, even the work of preempted attempts.
            for fate in [AttemptFate::Useful, AttemptFate::Preempted] {
                account.sums[AttemptFate::Killed] += mem::take(&mut account.sums[fate]);
            }
        }
        // Only the cost of stragglers needed the tasks; dropping the tasks bounds memory by the
        // running jobs.
        account.tasks = PerSlot::default();
    }

    /// Adds an attempt that is closed to its job's account. The removal of its output may have held
    /// a slot after the verdict; this slot time has the same fate.
    fn close(&mut self, id: AttemptId, attempt: &BookedAttempt) {
        let OpenFate { fate, is_saved, .. } = self.open.remove(&id).unwrap_or_default();
        // All slots are released, so the instant does not matter.
        let held = attempt.held(SimTime::ZERO);
        if fate == Some(AttemptFate::Useful)
            && !is_saved
            && let Some(task) = self.task(id.task)
        {
            task.winner = Some((id.number, held));
        }
        self.enter(id, held, fate.unwrap_or(AttemptFate::Unfinished));
    }

    fn enter(&mut self, attempt: AttemptId, held: u64, fate: AttemptFate) {
        let Some(account) = self.account(attempt.job()) else { return };
        account.harmed += u32::from(matches!(fate, AttemptFate::Failed | AttemptFate::Lost));
        // If the job ended before this attempt, `end_job` has already moved the job's earlier sums.
        let is_in_vain = account.ended.is_some_and(|outcome| outcome != Outcome::Succeeded);
        let fate = match fate {
            AttemptFate::Useful | AttemptFate::Preempted if is_in_vain => AttemptFate::Killed,
            other => other,
        };
        account.sums[fate] += u128::from(held);
    }

    /// Completes all accounts at the end of the run, and returns the sums.
    pub(super) fn finish(&mut self, books: &RunBooks, ended: SimTime) -> WasteSummary {
        for (id, attempt) in books.open() {
            let fate = self.open.remove(&id).and_then(|open| open.fate);
            // If the run stops early, count slots up to its last instant, as utilisation does.
            self.enter(id, attempt.held(ended), fate.unwrap_or(AttemptFate::Unfinished));
        }
        WasteSummary::of(self.jobs.iter().flatten())
    }

    /// Adds the account of a job to its row.
    pub(super) fn add(&self, job: JobId, row: &mut JobRow) {
        if let Some(Some(account)) = self.jobs.get(job.index()) {
            account.add(row);
        }
    }
}

impl WasteAccount {
    fn stragglers(&self, sojourn: SimSpan) -> Stragglers {
        let span = |task: &WasteTask, kind| {
            let first = task.first_start?;
            let begins = match kind {
                SlotKind::Map => first,
                // A reduce that starts early waits for the maps; that wait does not make it a
                // straggler.
                SlotKind::Reduce => first.max(self.maps_done.unwrap_or(first)),
            };
            // If maps are lost late, `maps_done` may lie after the end of a reduce: its span is
            // then zero.
            Some((begins, task.end?.max(begins)))
        };
        let of = |kind| {
            let spans = self.tasks[kind].iter().filter_map(|task| span(task, kind));
            delay_by_stragglers(&spans.collect::<Vec<_>>())
        };
        let of = PerSlot { map: of(SlotKind::Map), reduce: of(SlotKind::Reduce) };
        // At least a microsecond, since the ratio divides by it.
        let without = sojourn.saturating_sub(of.map + of.reduce).max(SimSpan::from_micros(1));
        Stragglers { of, ratio: sojourn.as_secs_f64() / without.as_secs_f64() }
    }

    fn add(&self, row: &mut JobRow) {
        // Each sum is truncated to milliseconds: the columns of a row may differ from their total
        // by a few milliseconds.
        let sum = |fates: &[AttemptFate]| Some(SlotMillis(millis(self.sums.sum(fates))));
        let straggling = |kind| self.stragglers.map(|all| all.of[kind].as_millis());
        row.held_ms = sum(&AttemptFate::ALL);
        row.useful_ms = sum(&[AttemptFate::Useful]);
        row.wasted_ms = sum(&AttemptFate::IN_VAIN);
        row.failed_ms = sum(&[AttemptFate::Failed]);
        row.speculative_ms = sum(&[AttemptFate::Speculative]);
        row.lost_ms = sum(&[AttemptFate::Lost]);
        row.preempted_ms = sum(&[AttemptFate::Preempted]);
        row.killed_ms = sum(&[AttemptFate::Killed]);
        row.unfinished_ms = sum(&[AttemptFate::Unfinished]);
        row.second_attempts = Some(self.second_attempts);
        row.second_attempts_won = Some(self.won);
        row.map_straggling_ms = straggling(SlotKind::Map);
        row.reduce_straggling_ms = straggling(SlotKind::Reduce);
        row.straggling = self.stragglers.map(|all| rounded(all.ratio));
    }
}

/// Returns whole milliseconds, at most as many as a cell holds.
fn millis(micros: u128) -> u64 {
    u64::try_from(micros / 1_000).unwrap_or(u64::MAX)
}

impl WasteSummary {
    fn of<'a>(accounts: impl Iterator<Item = &'a Box<WasteAccount>> + Clone) -> Self {
        let sum = |fates: &[AttemptFate]| {
            // Add up integers, so that the order of jobs cannot change the last digit.
            let micros: u128 = accounts.clone().map(|account| account.sums.sum(fates)).sum();
            rounded(micros as f64 / 1e6)
        };
        let by_fate = PerFate(AttemptFate::ALL.map(|fate| sum(&[fate])));
        let (useful, wasted) = (by_fate[AttemptFate::Useful], sum(&AttemptFate::IN_VAIN));
        let count =
            |of: fn(&WasteAccount) -> u32| accounts.clone().map(|all| u64::from(of(all))).sum();
        Self {
            held_s: sum(&AttemptFate::ALL),
            by_fate,
            // Unfinished slot time is neither useful nor wasted, so it does not count.
            goodput: (0.0 < useful + wasted).then(|| rounded(useful / (useful + wasted))),
            second_attempts: count(|account| account.second_attempts),
            second_attempts_won: count(|account| account.won),
            attempts_harmed: count(|account| account.harmed),
        }
    }
}

impl Serialize for WasteSummary {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut map = to.serialize_map(None)?;
        map.serialize_entry("held_s", &self.held_s)?;
        for fate in AttemptFate::ALL {
            map.serialize_entry(&format!("{}_s", fate.word()), &self.by_fate[fate])?;
            // In `summary.json`, `goodput` comes right after the useful time.
            if fate == AttemptFate::Useful {
                map.serialize_entry("goodput", &self.goodput)?;
            }
        }
        map.serialize_entry("second_attempts", &self.second_attempts)?;
        map.serialize_entry("second_attempts_won", &self.second_attempts_won)?;
        map.end()
    }
}

/// Returns how much earlier the last task would have ended if no task had taken longer than the
/// median task. Each task keeps its start.
fn delay_by_stragglers(spans: &[(SimTime, SimTime)]) -> SimSpan {
    let took = |(from, to): &(SimTime, SimTime)| to.saturating_since(*from);
    let mut times: Vec<SimSpan> = spans.iter().map(took).collect();
    times.sort_unstable();
    // The lower and the upper median, which are equal for an odd number of tasks.
    let [Some(low), Some(high)] =
        [times.len().saturating_sub(1), times.len()].map(|it| times.get(it / 2))
    else {
        return SimSpan::ZERO;
    };
    let median = SimSpan::from_micros((low.as_micros() + high.as_micros()) / 2);
    let last = spans.iter().map(|(_, to)| *to).max().unwrap_or(SimTime::ZERO);
    // Tasks faster than the median keep their time.
    let ends = spans.iter().map(|span| span.0 + took(span).min(median)).max();
    last.saturating_since(ends.unwrap_or(last))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::tests::stream::{Stream, again, map, reduce};
    use mumakil_core::mapred::{AttemptState, JobSpec, Order};

    /// Returns the accounts of a stream and their sums.
    fn waste(stream: &Stream) -> (Waste, WasteSummary) {
        let (mut waste, mut books) = (Waste::default(), RunBooks::new(SimTime::ZERO));
        for event in &stream.events {
            books.enter(event);
            waste.see(event, &books);
        }
        let summary = waste.finish(&books, stream.now);
        (waste, summary)
    }

    fn of_job(waste: &Waste, job: usize) -> [u128; 7] {
        waste.jobs[job].as_ref().unwrap().sums.0.map(|sum| sum / 1_000_000)
    }

    trait Whole {
        fn ends(self, attempt: AttemptId, tracker: u32, state: AttemptState) -> Self;
    }

    impl Whole for Stream {
        /// Adds that an attempt ends on its tracker, and that the JobTracker learns of it.
        fn ends(self, attempt: AttemptId, tracker: u32, state: AttemptState) -> Self {
            let outcome = state.outcome().unwrap();
            self.end(attempt, tracker, outcome).learn(attempt, tracker, state, (0, 0))
        }
    }

    use AttemptState::{Failed, Killed, Succeeded};

    /// Two trackers, and a job of two maps and a reduce, whose first map has begun.
    fn begun() -> Stream {
        let stream = Stream::default().up(0, 4, 1).up(1, 4, 1).submit(JobSpec::bare(0, 2, 1));
        stream.assign(map(0, 0), 0, (1, 1)).start(map(0, 0), 0)
    }

    #[test]
    fn each_cause_has_its_own_sum() {
        let other = again(map(0, 0));
        let stream = begun()
            .at(5_000)
            .grant(other, 1, (2, 1), |grant| grant.speculative = true)
            .start(other, 1)
            .at(8_000)
            .ends(other, 1, Succeeded)
            .order(map(0, 0), 0, Order::Kill, Reason::LostRace(other))
            .at(10_000)
            .ends(map(0, 0), 0, Killed)
            .assign(map(0, 1), 0, (1, 0))
            .start_in(2, map(0, 1), 0)
            .at(11_000)
            .ends(map(0, 1), 0, Failed)
            .assign(again(map(0, 1)), 0, (1, 0))
            .start(again(map(0, 1)), 0)
            .at(15_000)
            .ends(again(map(0, 1)), 0, Killed)
            .assign(map(0, 1).task.attempt(2), 0, (1, 0))
            .start(map(0, 1).task.attempt(2), 0)
            .at(21_000)
            .fact(Fact::Member(TrackerId(0), MemberFact::Lost))
            .learn(map(0, 1).task.attempt(2), 0, Killed, (0, 1))
            .at(22_000)
            .end(map(0, 1).task.attempt(2), 0, Outcome::Killed)
            .assign(map(0, 1).task.attempt(3), 1, (1, 0))
            .start(map(0, 1).task.attempt(3), 1)
            .at(30_000)
            .ends(map(0, 1).task.attempt(3), 1, Succeeded)
            .fact(Fact::Job(JobId(0), JobFact::MapsDone));
        let (waste, summary) = waste(&stream);
        // 3 s and 8 s are useful. The failed attempt held two slots for 1 s, the loser one slot for
        // 10 s, the killed attempt one slot for 4 s. The lost attempt held one slot for 7 s,
        // including 1 s after its loss.
        assert_eq!(of_job(&waste, 0), [11, 2, 10, 7, 4, 0, 0]);
        assert_eq!((summary.second_attempts, summary.second_attempts_won), (1, 1));
        assert_eq!((summary.held_s, summary.goodput), (34.0, Some(rounded(11.0 / 34.0))));
    }

    #[test]
    fn the_slot_time_of_thousands_of_centuries_fits() {
        const CENTURY: u64 = 36_500 * 86_400_000;
        // Six thousand maps last a century each: 1.9 x 10^19 microseconds are more than 64 bits hold.
        let begun = Stream::default().up(0, 6_000, 1).submit(JobSpec::bare(0, 6_000, 0));
        let start = |stream: Stream, number| {
            stream.assign(map(0, number), 0, (1, 1)).start(map(0, number), 0)
        };
        let end = |stream: Stream, number| stream.ends(map(0, number), 0, Succeeded);
        let run = (0..6_000).fold((0..6_000).fold(begun, start).at(CENTURY), end);
        let (_, summary) = waste(&run);
        assert_eq!(summary.held_s, 6_000.0 * CENTURY as f64 / 1e3);
    }

    #[test]
    fn a_map_whose_output_is_lost_was_of_no_use() {
        let stream = begun()
            .at(7_000)
            .ends(map(0, 0), 0, Succeeded)
            .fact(Fact::Member(TrackerId(0), MemberFact::Lost))
            .learn(map(0, 0), 0, Killed, (0, 2));
        assert_eq!(of_job(&waste(&stream).0, 0), [0, 0, 0, 7, 0, 0, 0]);
    }

    #[test]
    fn all_that_a_job_did_that_fails_was_in_vain() {
        let stream = begun()
            .at(7_000)
            .ends(map(0, 0), 0, Succeeded)
            .assign(map(0, 1), 0, (1, 0))
            .start(map(0, 1), 0)
            .at(9_000)
            .ends(map(0, 1), 0, Failed)
            .assign(reduce(0, 0), 1, (1, 0))
            .start(reduce(0, 0), 1)
            .at(12_000)
            .job_ended(0, Outcome::Failed)
            .at(13_000)
            .ends(reduce(0, 0), 1, Killed);
        assert_eq!(of_job(&waste(&stream).0, 0), [0, 2, 0, 0, 0, 7 + 4, 0]);
    }

    #[test]
    fn attempts_at_the_end_are_unfinished_and_no_time_passes_while_suspended() {
        let stream = begun().at(4_000).suspend(map(0, 0), 0).at(9_000).resume(map(0, 0), 0);
        let (waste, summary) = waste(&stream.at(12_000));
        assert_eq!(of_job(&waste, 0), [0, 0, 0, 0, 0, 0, 7]);
        assert_eq!(summary.goodput, None, "no attempt has ended");
    }

    fn span((from, to): (u64, u64)) -> (SimTime, SimTime) {
        (SimTime::from_micros(from * 1_000_000), SimTime::from_micros(to * 1_000_000))
    }

    #[test]
    fn stragglers_cost_what_the_phase_ends_later_than_with_median_tasks() {
        let cost = |spans: &[(u64, u64)]| {
            let spans: Vec<_> = spans.iter().copied().map(span).collect();
            delay_by_stragglers(&spans).as_secs_f64()
        };
        // Three tasks of 10 s and one of 40 s: without the straggler the last task ends at 20 s.
        assert_eq!(cost(&[(0, 10), (0, 40), (0, 10), (10, 20)]), 20.0);
        // The median is 15 s, between 10 s and 20 s: the last task would end at 15 s.
        assert_eq!(cost(&[(0, 10), (0, 20)]), 5.0);
        assert_eq!(cost(&[(0, 10), (5, 15), (9, 19)]), 0.0, "no task is slow");
        assert_eq!(cost(&[]), 0.0);
    }

    #[test]
    fn straggling_is_the_sojourn_over_that_without_stragglers() {
        // The maps take 10 s and 30 s. The reduce begins early and works for 5 s after the maps.
        let stream = begun()
            .assign(map(0, 1), 1, (2, 0))
            .start(map(0, 1), 1)
            .assign(reduce(0, 0), 1, (1, 0))
            .start(reduce(0, 0), 1)
            .at(10_000)
            .ends(map(0, 0), 0, Succeeded)
            .at(30_000)
            .ends(map(0, 1), 1, Succeeded)
            .fact(Fact::Job(JobId(0), JobFact::MapsDone))
            .at(35_000)
            .ends(reduce(0, 0), 1, Succeeded)
            .at(40_000)
            .job_ended(0, Outcome::Succeeded);
        let (waste, _) = waste(&stream);
        let cost = waste.jobs[0].as_ref().unwrap().stragglers.unwrap();
        // The median map takes 20 s: without the straggler the job takes 10 s less than its 40 s.
        assert_eq!((cost.of.map, cost.of.reduce), (SimSpan::from_secs(10), SimSpan::ZERO));
        assert_eq!(cost.ratio, 40.0 / 30.0);
    }
}
