//! Splits a job's time by causes, walking back from its end.
//!
//! A job ends with its cleanup. The cleanup began when the JobTracker knew of the last reduce's
//! end. The last reduce either still fetched when the last map ended, or was launched later and
//! waited for a slot from then on. The walk goes on like this up to the job's arrival. Each step
//! goes from an event to the attempt that the event waited for, and to the launch of this attempt:
//!
//! - A cleanup waited for the map or reduce whose end the JobTracker learned of last.
//! - A reduce waited for the end of the maps. If it was launched later, it waited for a slot since
//!   then; if it was launched earlier, it could not finish fetching before then.
//! - The end of the maps waited for the map that ended last. This map waited for a slot since the
//!   job began to run, even if other tasks of the job got slots meanwhile.
//! - A further attempt of a task waited for the previous attempt, whose work is done again. If a
//!   node lost this work, the job first did its other work, and waited for the lost work only after
//!   that. For the time before, the walk goes along the other work.
//!
//! All times are milliseconds, as in the tables. Instants and spans are truncated, so they may
//! contradict each other by one millisecond, and by more in a run with faults. Each bound is
//! clamped between its neighbours, so that parts never overlap or leave gaps.

use super::part::{SojournPart, WaitRule};
use crate::tables::JobRow;
use mumakil_core::mapred::{TaskKind, step};

/// An attempt of a job, in milliseconds.
#[derive(Clone, Debug, PartialEq)]
pub struct JobAttempt {
    /// The kind of its task.
    pub kind: TaskKind,
    /// The number of its task.
    pub task: u32,
    /// The number of the attempt among the attempts of the task.
    pub number: u32,
    /// Whether it is speculative: it was launched while another attempt of the task was running.
    pub is_second: bool,
    /// When the JobTracker decided to launch it.
    pub launched: u64,
    /// When it started.
    pub started: u64,
    /// When a reduce had fetched the outputs of all maps; for other kinds, when the attempt
    /// started.
    pub fetched: u64,
    /// When a reduce had sorted these outputs; for other kinds, when the attempt started.
    pub sorted: u64,
    /// When its work was done, before the commit.
    pub worked: u64,
    /// The beginning and end of each suspension, in the order of time.
    pub stops: Vec<(u64, u64)>,
    /// When the JobTracker learned of its end. If the JobTracker never did, this is the end of the
    /// run for an unfinished job, else `u64::MAX`.
    pub heard: u64,
    /// Whether it failed or was killed.
    pub is_vain: bool,
    /// When the JobTracker learned that its output was lost, if it was.
    pub lost: Option<u64>,
    /// When the attempt or its output was lost with a node or disk, if that is known.
    pub gone: Option<u64>,
    /// How long its job had been skipped for lack of locality before this launch.
    pub passed_over: Option<u64>,
    /// When its slot became free before the launch.
    pub free: u64,
    /// The instant from which heartbeats alone may explain the slot's wait for the launch.
    pub served: u64,
}

/// A part of a job's time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StoryPart {
    /// Its cause.
    pub part: SojournPart,
    /// Its beginning in milliseconds.
    pub from: u64,
    /// Its end in milliseconds.
    pub to: u64,
    /// The rule of a wait for a slot; `None` if the rule is unknown or the part is no such wait.
    pub rule: Option<WaitRule>,
}

impl StoryPart {
    /// Returns a part without a rule.
    pub(super) const fn of(part: SojournPart, (from, to): (u64, u64)) -> Self {
        Self { part, from, to, rule: None }
    }

    /// Returns its length in milliseconds.
    pub const fn ms(&self) -> u64 {
        self.to - self.from
    }

    /// Cuts this part where `others` overlap it; `others` are in the order of time. An overlapped
    /// piece gets the cause and rule of the part that overlaps it.
    pub(super) fn cut(self, others: impl IntoIterator<Item = Self>) -> Vec<Self> {
        let mut pieces = Vec::new();
        let mut at = self.from;
        for other in others {
            // Clamp: others may begin before this part or overlap the previous one.
            let (from, to) = (other.from.clamp(at, self.to), other.to.clamp(at, self.to));
            if from < to {
                pieces.push(Self { from: at, to: from, ..self });
                pieces.push(Self { from, to, ..other });
                at = to;
            }
        }
        pieces.push(Self { from: at, ..self });
        pieces.retain(|piece| piece.from < piece.to);
        pieces
    }
}

/// Returns the parts of a job's time from its arrival to its end, or to the end of the run. A wait
/// for a slot gets a rule here only if the attempt's launch explains the wait.
pub fn story(job: &JobRow, ended: u64, tries: &[JobAttempt]) -> Vec<StoryPart> {
    let mut by_end: Vec<&JobAttempt> = tries.iter().collect();
    // If the JobTracker learned of several ends at one instant, sort them by task and number, so
    // that the result does not depend on the order of the table.
    by_end.sort_by_key(|one| (one.heard, one.task, one.number));
    let mut by_task = by_end.clone();
    by_task.sort_by_key(|one| one.place());
    let first = |kind| {
        let of_kind = tries.iter().filter(|one| one.kind == kind);
        of_kind.map(|one| one.launched).min()
    };
    let mut walk = BackwardWalk {
        job,
        useful: by_end.iter().copied().filter(|one| !one.is_vain).collect(),
        by_end,
        by_task,
        first_map: first(TaskKind::Map),
        first_reduce: first(TaskKind::Reduce),
        // A run may stop at the very instant of a submission: then the job's time is empty.
        at: ended.max(job.submit_ms),
        back: Vec::new(),
    };
    walk.back_to_the_start();
    walk.back.reverse();
    walk.back
}

/// The event at the current instant of the walk.
#[derive(Clone, Copy)]
enum WalkStep<'t> {
    /// The job's end.
    End,
    /// The launch of an attempt.
    Launch(&'t JobAttempt),
    /// The instant at which the JobTracker knew that all maps were done.
    MapsDone,
}

/// The previous attempt of a task, and its state when the next attempt was launched.
enum EarlierAttempt<'t> {
    /// The previous attempt still ran.
    Beside(&'t JobAttempt),
    /// The previous attempt had failed or was killed.
    Vain(&'t JobAttempt),
    /// The work of the previous attempt, `first`, was lost while the job had other work. `own` is
    /// the successful attempt whose end the JobTracker learned of last before it noticed the loss.
    Lost { first: &'t JobAttempt, own: &'t JobAttempt },
}

/// A walk back in time through the attempts of a job.
struct BackwardWalk<'t> {
    job: &'t JobRow,
    /// The attempts in the order in which the JobTracker learned of their ends.
    by_end: Vec<&'t JobAttempt>,
    /// Those of them that were not in vain.
    useful: Vec<&'t JobAttempt>,
    /// The attempts in the order of their [places](JobAttempt::place).
    by_task: Vec<&'t JobAttempt>,
    /// When the first map and the first reduce of the job were launched.
    first_map: Option<u64>,
    first_reduce: Option<u64>,
    /// The current instant in milliseconds.
    at: u64,
    /// The parts found so far, the last part first.
    back: Vec<StoryPart>,
}

impl<'t> BackwardWalk<'t> {
    fn back_to_the_start(&mut self) {
        let mut next = WalkStep::End;
        // The walk ends at the arrival at the latest.
        while self.job.submit_ms < self.at
            && let Some(step) = self.step(next)
        {
            next = step;
        }
        // The parts below cover the time before the job's first map or reduce. If the job never
        // ran, these parts are empty.
        let running = self.job.running_ms.unwrap_or(u64::MAX);
        // If the walk stopped after the job's first launch, the JobTracker did not know the ends of
        // earlier attempts: their work counts as done again.
        let in_vain = self.by_end.iter().filter(|one| is_work(one)).map(|one| one.launched);
        if let Some(first) = in_vain.min() {
            self.to(first.min(self.at), SojournPart::Redone);
        }
        if running < self.at && 0 < self.job.maps + self.job.reduces {
            self.to(running, SojournPart::FirstMapWait);
        }
        self.to(running.min(self.at), SojournPart::Heartbeats);
        if let Some(setup) = self.last(|one| one.kind == TaskKind::Setup) {
            self.spend(setup, self.job.submit_ms);
        }
        let initialised = self.job.initialised_ms.unwrap_or(u64::MAX);
        self.to(initialised.min(self.at), SojournPart::Heartbeats);
        self.to(self.job.submit_ms, SojournPart::Initialisation);
    }

    /// Goes back from `next` to the event for which `next` waited, and returns this event; `None`
    /// if the walk ends here.
    fn step(&mut self, next: WalkStep<'t>) -> Option<WalkStep<'t>> {
        let maps_done = self.job.maps_done_ms.filter(|done| *done <= self.at);
        // Check this first: a further attempt of a task waited for the previous attempt, whatever
        // its kind.
        if let WalkStep::Launch(again) = next
            && let Some(before) = self.before(again)
        {
            return self.again(again, before, maps_done);
        }
        match next {
            WalkStep::End => {
                // Usually this is the cleanup; for a job that did not end, it is the last known
                // attempt.
                let last = self.last(|one| one.kind != TaskKind::Setup)?;
                self.to(last.heard, SojournPart::Heartbeats);
                self.run(last)
            }
            WalkStep::Launch(one) => match one.kind {
                // Only the initialisation comes before a setup.
                TaskKind::Setup => None,
                TaskKind::Cleanup => {
                    let last = self.last(is_work)?;
                    self.to(last.heard, SojournPart::Heartbeats);
                    self.run(last)
                }
                TaskKind::Reduce => {
                    self.wait_of(one, maps_done.or(self.job.running_ms)?, SojournPart::ReduceWait);
                    maps_done.map(|_| WalkStep::MapsDone)
                }
                TaskKind::Map => {
                    // The waits before and after the launch of the job's first map have different
                    // causes.
                    let first = self.first_map.unwrap_or(0).min(self.at);
                    self.wait_of(one, first, SojournPart::MapWait);
                    let running = self.job.running_ms?;
                    if one.launched == first {
                        self.wait_of(one, running, SojournPart::FirstMapWait);
                    }
                    self.to(running, SojournPart::FirstMapWait);
                    None
                }
            },
            WalkStep::MapsDone => {
                let of_maps = |one: &JobAttempt| one.kind == TaskKind::Map;
                let last = self.last(|one| of_maps(one) && !one.is_vain);
                // If no map succeeded, because the job failed, take the last map of any outcome.
                let last = last.or_else(|| self.last(of_maps))?;
                self.to(last.heard, SojournPart::Heartbeats);
                self.run(last)
            }
        }
    }

    /// Goes back from the launch of a further attempt of a task to the launch of the previous one,
    /// or to the other work of the job.
    fn again(
        &mut self,
        again: &JobAttempt,
        before: EarlierAttempt<'t>,
        maps_done: Option<u64>,
    ) -> Option<WalkStep<'t>> {
        let floor = floor(again.kind, maps_done);
        let wait = |walk: &mut Self, first: &JobAttempt| {
            walk.wait_of(again, first.ended_for_good().max(floor), waited_for(again.kind));
        };
        let first = match before {
            // Until the JobTracker noticed the loss, the job had other work: its time counts as
            // that work.
            EarlierAttempt::Lost { first, own } => {
                wait(self, first);
                let gone = first.gone.unwrap_or(0).max(own.heard).max(floor);
                self.to(gone, SojournPart::Unnoticed);
                self.fetch(own.heard.max(floor));
                return self.run(own);
            }
            // A speculative attempt has no wait of its own: the first attempt already ran.
            EarlierAttempt::Beside(first) => {
                self.to(first.launched.max(floor), SojournPart::Redone);
                first
            }
            EarlierAttempt::Vain(first) => {
                wait(self, first);
                self.charge_lost_attempt(first, floor);
                first
            }
        };
        Some(match first.launched <= floor && 0 < floor {
            true => WalkStep::MapsDone,
            false => WalkStep::Launch(first),
        })
    }

    /// Goes back through an attempt to its launch, or to the end of the maps if a reduce was
    /// launched before that.
    fn run(&mut self, one: &'t JobAttempt) -> Option<WalkStep<'t>> {
        let maps_done = self.job.maps_done_ms.filter(|done| *done <= self.at);
        let floor = floor(one.kind, maps_done);
        self.spend(one, floor);
        match one.launched < floor {
            true => Some(WalkStep::MapsDone),
            false => Some(WalkStep::Launch(one)),
        }
    }

    /// Goes back through an attempt, to its launch or to `floor` if that is later.
    fn spend(&mut self, one: &JobAttempt, floor: u64) {
        if one.is_vain {
            return self.charge_lost_attempt(one, floor);
        }
        if matches!(self.before(one), Some(EarlierAttempt::Lost { .. })) {
            return self.to(one.launched.max(floor), SojournPart::Redone);
        }
        let is_early = one.launched < floor && one.kind == TaskKind::Reduce;
        let [fetching, work] = match one.kind {
            TaskKind::Setup => [SojournPart::Setup; 2],
            TaskKind::Cleanup => [SojournPart::Cleanup; 2],
            TaskKind::Map => [SojournPart::Mapping; 2],
            TaskKind::Reduce if is_early => {
                [SojournPart::FetchingBehindMaps, SojournPart::Reducing]
            }
            TaskKind::Reduce => [SojournPart::Fetching, SojournPart::Reducing],
        };
        let floored = |instant: u64| instant.max(floor);
        let first = self.back.len();
        self.to(floored(one.worked), SojournPart::Heartbeats);
        self.to(floored(one.sorted), work);
        self.to(floored(one.fetched), SojournPart::Sorting);
        self.to(floored(one.started), fetching);
        self.to(floored(one.launched), SojournPart::Heartbeats);
        // Take these parts off again, to cut the suspensions out of the whole attempt.
        let told = self.back.split_off(first);
        let stops = one.stops.iter().map(|stop| StoryPart::of(SojournPart::Suspended, *stop));
        self.back.extend(
            told.into_iter().flat_map(|stretch| stretch.cut(stops.clone()).into_iter().rev()),
        );
    }

    /// Goes back through an attempt whose work was lost, to its launch or to `floor` if that is
    /// later.
    fn charge_lost_attempt(&mut self, one: &JobAttempt, floor: u64) {
        let launched = one.launched.max(floor);
        if let Some(gone) = one.gone {
            self.to(gone.max(launched), SojournPart::Unnoticed);
        }
        self.to(launched, SojournPart::Redone);
    }

    /// Goes back to `instant`, through a time in which all maps seemed done: reduces fetched, or
    /// waited for slots.
    fn fetch(&mut self, instant: u64) {
        let first = self.first_reduce.unwrap_or(u64::MAX).min(self.at);
        let part =
            if first <= instant { SojournPart::FetchingBehindMaps } else { SojournPart::Fetching };
        self.to(first.max(instant), part);
        self.to(instant, SojournPart::ReduceWait);
    }

    /// Goes back to `instant`; the time on the way gets the cause `part`. Does nothing if the walk
    /// is already there.
    fn to(&mut self, instant: u64, part: SojournPart) {
        self.stretch(instant, part, None);
    }

    /// Goes back through the wait of an attempt for its slot. The last part of the wait may be for
    /// a node near the input, or for a heartbeat of the tracker whose slot was already free.
    fn wait_of(&mut self, one: &JobAttempt, since: u64, part: SojournPart) {
        if let Some(passed_over) = one.passed_over {
            let from = self.at.saturating_sub(passed_over).max(since);
            self.stretch(from, part, Some(WaitRule::LocalityDelay));
        }
        // `free` and `served` apply to the time right before the launch, so check that the walk is
        // there.
        if one.launched == self.at {
            self.stretch(one.served.max(since), part, Some(WaitRule::NextHeartbeat));
            self.stretch(one.free.max(since), part, Some(WaitRule::FreeSlot));
        }
        self.to(since, part);
    }

    fn stretch(&mut self, from: u64, part: SojournPart, rule: Option<WaitRule>) {
        // Never go back beyond the arrival.
        let from = from.max(self.job.submit_ms);
        if from < self.at {
            self.back.push(StoryPart { part, from, to: self.at, rule });
            self.at = from;
        }
    }

    /// Returns the matching attempt with the last end that the JobTracker knew at the current
    /// instant. Attempts launched at this instant or later do not count.
    fn last(&self, is_meant: impl Fn(&JobAttempt) -> bool) -> Option<&'t JobAttempt> {
        last_by(&self.by_end, self.at, |one| is_meant(one) && one.launched < self.at)
    }

    /// Returns the previous attempt of the same task, if there was one.
    fn before(&self, again: &JobAttempt) -> Option<EarlierAttempt<'t>> {
        // Most attempts are first attempts, which need no search.
        if again.number == 0 {
            return None;
        }
        let earlier = self.by_task.partition_point(|one| one.place() < again.place());
        let of_task = self.by_task[..earlier].iter().rev().copied();
        let first = of_task
            .inspect(|_| step())
            .take_while(|one| one.kind == again.kind && one.task == again.task)
            .find(|one| one.launched < again.launched)?;
        // A speculative attempt runs beside the previous one, which had not failed.
        if again.is_second {
            return Some(EarlierAttempt::Beside(first));
        }
        let own = last_by(&self.useful, first.ended_for_good(), |one| {
            one.kind == again.kind && one.launched < again.launched
        });
        let since = if first.lost.is_some() { Some(0) } else { first.gone };
        // If the output was lost, the attempt had delayed nothing before, so any other work counts.
        // If the attempt died with its node, other work counts only if it ended after the death.
        let own = own.zip(since).filter(|(own, since)| *since <= own.heard);
        Some(match own {
            Some((own, _)) => EarlierAttempt::Lost { first, own },
            None => EarlierAttempt::Vain(first),
        })
    }
}

/// Returns, of attempts in the order in which the JobTracker learned of their ends, the matching one
/// with the last end that it knew at `instant`.
fn last_by<'t>(
    by_end: &[&'t JobAttempt],
    instant: u64,
    is_meant: impl Fn(&JobAttempt) -> bool,
) -> Option<&'t JobAttempt> {
    let known = by_end.partition_point(|one| one.heard <= instant);
    by_end[..known].iter().rev().copied().inspect(|_| step()).find(|one| is_meant(one))
}

impl JobAttempt {
    /// Returns the attempt's place among those of its job: by task, then by number.
    fn place(&self) -> (TaskKind, u32, u32) {
        (self.kind, self.task, self.number)
    }

    /// Returns when the JobTracker learned that the attempt's output was lost. If the output was
    /// not lost, returns when the JobTracker learned of the attempt's end.
    fn ended_for_good(&self) -> u64 {
        self.lost.unwrap_or(self.heard)
    }
}

/// Returns the instant before which attempts of a kind cannot finish: the end of the maps for
/// reduces, else 0.
fn floor(kind: TaskKind, maps_done: Option<u64>) -> u64 {
    maps_done.filter(|_| kind == TaskKind::Reduce).unwrap_or(0)
}

fn is_work(one: &JobAttempt) -> bool {
    matches!(one.kind, TaskKind::Map | TaskKind::Reduce)
}

/// Returns the cause of the time in which a task of this kind waits for its slot.
const fn waited_for(kind: TaskKind) -> SojournPart {
    match kind {
        TaskKind::Map => SojournPart::MapWait,
        TaskKind::Reduce => SojournPart::ReduceWait,
        TaskKind::Setup | TaskKind::Cleanup => SojournPart::Heartbeats,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use mumakil_core::mapred::steps_of;

    /// A job that arrives at 0 s, is initialised at 1 s, ends its setup at 5 s, and ends at `ended`
    /// seconds. Its maps are done at `maps_done` seconds.
    fn course(maps_done: Option<u64>, ended: u64) -> JobRow {
        JobRow {
            maps: 1,
            initialised_ms: Some(1_000),
            running_ms: Some(5_000),
            maps_done_ms: maps_done.map(|at| at * 1_000),
            finish_ms: Some(ended * 1_000),
            ..JobRow::default()
        }
    }

    /// An attempt that starts a second after `launched` and works until `worked`; the JobTracker
    /// learns of its end a second later. All times are in seconds.
    fn one(kind: TaskKind, task: u32, launched: u64, worked: u64) -> JobAttempt {
        let (started, worked) = ((launched + 1) * 1_000, worked * 1_000);
        JobAttempt {
            kind,
            task,
            number: 0,
            is_second: false,
            launched: launched * 1_000,
            started,
            fetched: started,
            sorted: started,
            worked,
            stops: Vec::new(),
            heard: worked + 1_000,
            is_vain: false,
            lost: None,
            gone: None,
            passed_over: None,
            free: launched * 1_000,
            served: launched * 1_000,
        }
    }

    fn setup() -> JobAttempt {
        one(TaskKind::Setup, 0, 2, 4)
    }

    fn whole_story(job: &JobRow, tries: &[JobAttempt]) -> Vec<StoryPart> {
        story(job, job.finish_ms.unwrap(), tries)
    }

    /// Returns the parts in seconds, in the order of time.
    fn told(job: &JobRow, tries: &[JobAttempt]) -> Vec<(SojournPart, u64)> {
        let stretches = whole_story(job, tries);
        assert_whole(job, &stretches);
        let mut parts: Vec<(SojournPart, u64)> = Vec::new();
        for stretch in stretches {
            match parts.last_mut() {
                Some((part, ms)) if *part == stretch.part => *ms += stretch.ms(),
                _ => parts.push((stretch.part, stretch.ms())),
            }
        }
        parts.into_iter().map(|(part, ms)| (part, ms / 1_000)).collect()
    }

    fn assert_whole(job: &JobRow, stretches: &[StoryPart]) {
        let ends = stretches.iter().fold(job.submit_ms, |at, stretch| {
            assert!(stretch.from == at && at < stretch.to, "{stretches:?}");
            stretch.to
        });
        assert_eq!(ends, job.finish_ms.unwrap().max(job.submit_ms), "{stretches:?}");
    }

    use SojournPart as P;
    use TaskKind::{Cleanup, Map, Reduce};

    /// Many maps fail many times each, and one goes on until its time is explained to the start.
    #[test]
    fn the_work_of_an_explanation_grows_no_faster_than_sorting_its_attempts() {
        let work = |count: u32| {
            let attempts = (0..count).map(|number| JobAttempt {
                number,
                is_vain: number + 1 < count,
                ..one(Map, 0, 8 + 2 * u64::from(number), 9 + 2 * u64::from(number))
            });
            let tries: Vec<JobAttempt> = attempts.collect();
            let ended = 12 + 2 * u64::from(count);
            steps_of(|| assert!(!whole_story(&course(Some(ended - 1), ended), &tries).is_empty()))
        };
        let exponent = (work(4_000) as f64 / work(500) as f64).log(8.0);
        assert!(exponent < 1.2, "the work grows with the {exponent:.2}th power of the attempts");
    }

    #[test]
    fn a_job_alone_is_told_from_its_arrival_to_its_end() {
        let tries = [setup(), one(Map, 0, 8, 20), one(Cleanup, 0, 22, 25)];
        let parts = [
            (P::Initialisation, 1),
            (P::Heartbeats, 2),
            (P::Setup, 1),
            (P::Heartbeats, 1),
            (P::FirstMapWait, 3),
            (P::Heartbeats, 1),
            (P::Mapping, 11),
            (P::Heartbeats, 3),
            (P::Cleanup, 2),
            (P::Heartbeats, 1),
        ];
        assert_eq!(told(&course(Some(21), 26), &tries), parts);
    }

    /// The second map could have been launched with the first map, but had no slot until 30 s. The
    /// third map does not matter.
    #[test]
    fn a_map_of_a_later_wave_has_waited_for_its_slot_from_the_beginning() {
        let tries = [setup(), one(Map, 0, 5, 19), one(Map, 1, 30, 40), one(Map, 2, 6, 9)];
        let parts = told(&course(Some(41), 41), &tries);
        let expected = [
            (P::Heartbeats, 1),
            (P::MapWait, 25),
            (P::Heartbeats, 1),
            (P::Mapping, 9),
            (P::Heartbeats, 1),
        ];
        assert_eq!(parts[3..], expected);
    }

    /// The job's first map is launched at 10 s, and its last map at 30 s, before any map has ended.
    #[test]
    fn the_first_slot_and_further_ones_are_told_apart() {
        let tries = [setup(), one(Map, 0, 10, 45), one(Map, 1, 30, 50)];
        let parts = told(&course(Some(51), 51), &tries);
        assert_eq!(parts[4..6], [(P::FirstMapWait, 5), (P::MapWait, 20)]);
    }

    #[test]
    fn an_early_reduce_fetches_behind_the_maps_and_a_late_one_waits() {
        let reduce = |launched, fetched: u64, sorted: u64, worked| JobAttempt {
            fetched: fetched * 1_000,
            sorted: sorted * 1_000,
            ..one(Reduce, 0, launched, worked)
        };
        let maps = one(Map, 0, 5, 19);
        let early = told(&course(Some(20), 41), &[setup(), maps.clone(), reduce(8, 24, 26, 40)]);
        let end = [
            (P::Heartbeats, 1),
            (P::FetchingBehindMaps, 4),
            (P::Sorting, 2),
            (P::Reducing, 14),
            (P::Heartbeats, 1),
        ];
        assert_eq!(early[early.len() - 5..], end);
        let late = told(&course(Some(20), 61), &[setup(), maps, reduce(30, 44, 46, 60)]);
        let end = [
            (P::ReduceWait, 10),
            (P::Heartbeats, 1),
            (P::Fetching, 13),
            (P::Sorting, 2),
            (P::Reducing, 14),
            (P::Heartbeats, 1),
        ];
        assert_eq!(late[late.len() - 6..], end);
    }

    /// The second reduce gets the slot of the first reduce. With another slot it could have been
    /// launched at 20 s.
    #[test]
    fn a_reduce_of_a_later_wave_has_waited_for_its_slot_since_the_maps_were_done() {
        let tries = [setup(), one(Map, 0, 5, 19), one(Reduce, 0, 20, 30), one(Reduce, 1, 33, 40)];
        let parts = told(&course(Some(20), 41), &tries);
        let end = [
            (P::Mapping, 13),
            (P::Heartbeats, 1),
            (P::ReduceWait, 13),
            (P::Heartbeats, 1),
            (P::Reducing, 6),
            (P::Heartbeats, 1),
        ];
        assert_eq!(parts[parts.len() - 6..], end);
    }

    #[test]
    fn failed_and_lost_runs_are_done_again() {
        let again = |launched, worked| JobAttempt { number: 1, ..one(Map, 0, launched, worked) };
        let failed = told(&course(Some(41), 41), &[setup(), one(Map, 0, 6, 19), again(25, 40)]);
        let parts = [(P::FirstMapWait, 1), (P::Redone, 14), (P::MapWait, 5)];
        assert_eq!(failed[4..7], parts, "the first attempt failed at 20 s");
        let lost = JobAttempt { lost: Some(30_000), ..one(Map, 0, 6, 19) };
        let lost = told(&course(Some(41), 41), &[setup(), lost, again(33, 40)]);
        // The map runs from 6 s to 20 s, its output is lost at 30 s, and it runs again from 33 s to
        // the end.
        let end = [(P::Unnoticed, 10), (P::MapWait, 3), (P::Redone, 8)];
        let first =
            [(P::FirstMapWait, 1), (P::Heartbeats, 1), (P::Mapping, 12), (P::Heartbeats, 1)];
        assert_eq!((&lost[4..8], &lost[8..]), (&first[..], &end[..]));
        // Another map runs until 28 s; only then does the job begin to wait because of the loss.
        let gone = JobAttempt { lost: Some(30_000), ..one(Map, 0, 6, 19) };
        let tries = [setup(), gone, one(Map, 1, 21, 27), again(33, 40)];
        let lost = told(&course(Some(41), 41), &tries);
        let end = [
            (P::Mapping, 5),
            (P::Heartbeats, 1),
            (P::Unnoticed, 2),
            (P::MapWait, 3),
            (P::Redone, 8),
        ];
        assert_eq!(lost[lost.len() - 5..], end);
        // A failed attempt of another task delayed the job only by taking a slot.
        let vain = JobAttempt { is_vain: true, ..one(Map, 1, 6, 19) };
        let vain = told(&course(Some(41), 41), &[setup(), vain, one(Map, 0, 25, 40)]);
        assert_eq!(vain[4..6], [(P::FirstMapWait, 1), (P::MapWait, 19)]);
        let faster = JobAttempt { is_second: true, ..again(25, 40) };
        let slow = one(Map, 0, 6, 40);
        let faster = told(&course(Some(41), 41), &[setup(), slow, faster]);
        assert_eq!(faster[4..6], [(P::FirstMapWait, 1), (P::Redone, 19)], "the slow attempt ran");
    }

    /// The map's node is lost at 25 s; the JobTracker notices the loss at 30 s. A reduce that is
    /// launched at 22 s fetches outputs until the loss.
    #[test]
    fn before_its_node_went_the_job_went_on() {
        let lost = JobAttempt { lost: Some(30_000), gone: Some(25_000), ..one(Map, 0, 6, 19) };
        let again = JobAttempt { number: 1, ..one(Map, 0, 33, 40) };
        let tries = [setup(), lost, again, one(Reduce, 0, 22, 45)];
        let parts = told(&course(Some(41), 46), &tries);
        let end = [
            (P::Heartbeats, 1),
            (P::ReduceWait, 2),
            (P::Fetching, 3),
            (P::Unnoticed, 5),
            (P::MapWait, 3),
            (P::Redone, 8),
            (P::Reducing, 4),
            (P::Heartbeats, 1),
        ];
        assert_eq!(parts[parts.len() - 8..], end);
    }

    /// The map is launched at 6 s on a node that dies at 15 s; the JobTracker notices the death at
    /// 30 s.
    #[test]
    fn tasks_on_a_dead_node_are_waited_for_until_somebody_notices() {
        let dead = JobAttempt { is_vain: true, gone: Some(15_000), ..one(Map, 0, 6, 29) };
        let again = JobAttempt { number: 1, ..one(Map, 0, 33, 40) };
        let parts = told(&course(Some(41), 41), &[setup(), dead.clone(), again.clone()]);
        let first = [(P::FirstMapWait, 1), (P::Redone, 9), (P::Unnoticed, 15), (P::MapWait, 3)];
        assert_eq!(parts[4..8], first);
        // Another map ends at 28 s. The dead attempt delays the job only from then on.
        let parts = told(&course(Some(41), 41), &[setup(), dead, one(Map, 1, 6, 27), again]);
        let mut end = vec![(P::FirstMapWait, 1), (P::Heartbeats, 1), (P::Mapping, 20)];
        end.extend([(P::Heartbeats, 1), (P::Unnoticed, 2), (P::MapWait, 3), (P::Redone, 8)]);
        assert_eq!(parts[4..], end);
    }

    #[test]
    fn a_wait_ends_with_that_for_a_near_node() {
        let map = JobAttempt { passed_over: Some(3_000), ..one(Map, 0, 15, 20) };
        let stretches = whole_story(&course(Some(21), 21), &[setup(), map]);
        let waits = stretches.iter().filter(|stretch| stretch.part == P::FirstMapWait);
        let waits: Vec<_> = waits.map(|wait| (wait.rule, wait.ms())).collect();
        assert_eq!(waits, [(None, 7_000), (Some(WaitRule::LocalityDelay), 3_000)]);
    }

    /// The map is launched at 15 s into a slot that has been free since 9 s, on a tracker with a
    /// heartbeat every 2 s.
    #[test]
    fn a_slot_that_was_free_is_a_wait_for_its_heartbeat_and_before_that_nobody_knows() {
        let map = JobAttempt { free: 9_000, served: 13_000, ..one(Map, 0, 15, 20) };
        let stretches = whole_story(&course(Some(21), 21), &[setup(), map]);
        let waits = stretches.iter().filter(|stretch| stretch.part == P::FirstMapWait);
        let waits: Vec<_> = waits.map(|wait| (wait.rule, wait.ms())).collect();
        let expected = [
            (None, 4_000),
            (Some(WaitRule::FreeSlot), 4_000),
            (Some(WaitRule::NextHeartbeat), 2_000),
        ];
        assert_eq!(waits, expected);
    }

    #[test]
    fn time_in_which_it_was_stopped_stands_alone() {
        let stops = vec![(8_000, 12_000), (15_000, 17_000)];
        let map = JobAttempt { stops, ..one(Map, 0, 5, 20) };
        let parts = told(&course(Some(21), 21), &[setup(), map]);
        let expected = [
            (P::Mapping, 2),
            (P::Suspended, 4),
            (P::Mapping, 3),
            (P::Suspended, 2),
            (P::Mapping, 3),
        ];
        assert_eq!(parts[4..9], expected, "from 6 s to 20 s");
    }

    #[test]
    fn a_job_that_got_nothing_waited() {
        let killed = JobRow { finish_ms: Some(60_000), ..course(None, 0) };
        assert_eq!(told(&killed, &[setup()]).last(), Some(&(P::FirstMapWait, 55)));
        let unread = JobRow { initialised_ms: None, running_ms: None, ..killed };
        assert_eq!(told(&unread, &[]), [(P::Initialisation, 60)]);
        let empty = JobRow { maps: 0, ..course(None, 30) };
        assert_eq!(told(&empty, &[setup()]).last(), Some(&(P::Heartbeats, 26)));
    }

    fn any_try() -> impl Strategy<Value = JobAttempt> {
        let kinds = [TaskKind::Setup, Map, Reduce, Cleanup];
        let instants = prop::array::uniform6(0u64..100);
        let instant = || prop::option::of(0u64..100);
        let extras = (instant(), instant(), instant(), any::<bool>());
        (prop::sample::select(kinds.to_vec()), 0u32..3, 0u32..3, instants, extras).prop_map(
            |(kind, task, number, instants, (lost, gone, passed_over, is_second))| {
                let [launched, started, fetched, sorted, worked, heard] = instants;
                let stops = vec![(started, started + 3), (started + 5, started + 5 + fetched)];
                JobAttempt {
                    kind,
                    task,
                    number,
                    is_second,
                    launched,
                    started,
                    fetched,
                    sorted,
                    worked,
                    stops,
                    heard,
                    is_vain: number == 1,
                    lost,
                    gone,
                    passed_over,
                    free: launched / 2,
                    served: launched / 3 * 2,
                }
            },
        )
    }

    proptest! {
        #[test]
        fn the_parts_add_up_whatever_they_are_made_of(
            tries in prop::collection::vec(any_try(), 0..12),
            instants in prop::array::uniform5(prop::option::of(0u64..100)),
        ) {
            let [submitted, initialised_ms, running_ms, maps_done_ms, ended] = instants;
            let job = JobRow {
                maps: 1,
                submit_ms: submitted.unwrap_or(0),
                initialised_ms,
                running_ms,
                maps_done_ms,
                finish_ms: ended.or(Some(50)),
                ..JobRow::default()
            };
            assert_whole(&job, &whole_story(&job, &tries));
        }
    }
}
