//! What kept a job waiting, walked back from its end.
//!
//! A job ends when its cleanup has ended; that began when the last reduce was known to have ended; that
//! fetched until the last map was known to have ended, or got its slot when another reduce gave it up;
//! and so on. Each step leads from an instant to the attempt without which it would have been earlier,
//! and to the instant at which that was launched:
//!
//! - before a cleanup, the map or reduce that was known last to have ended;
//! - before a reduce that was launched when the maps were done, the reduce that had ended last, else the
//!   end of the maps; one that was launched before could not go on before that;
//! - before the end of the maps, and before a map, the map that had ended last;
//! - before another attempt of a task, the attempt before: its work is done again.
//!
//! All is in milliseconds, as tables have it. Truncated instants and spans may contradict each other by
//! one, and what comes from a run with mishaps by more, so that every bound is kept between those around
//! it: the stretches lie end to end whatever they are made of.

use super::part::{Part, Rule};
use crate::mapred::TaskKind;

/// A job's own instants, in milliseconds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Course {
    /// Its arrival.
    pub submitted: u64,
    /// When its splits were read.
    pub initialised: Option<u64>,
    /// When it gave its first tasks.
    pub running: Option<u64>,
    /// When its last map was known to have succeeded.
    pub maps_done: Option<u64>,
    /// When it ended, or when the run did.
    pub ended: u64,
    /// Whether it has maps or reduces at all.
    pub has_tasks: bool,
}

/// One of its attempts, in milliseconds.
#[derive(Clone, Debug, PartialEq)]
pub struct Try {
    /// What its task does.
    pub kind: TaskKind,
    /// The number of its task.
    pub task: u32,
    /// Its own number.
    pub number: u32,
    /// Whether another attempt of the task was running.
    pub is_second: bool,
    /// When the JobTracker decided to launch it.
    pub launched: u64,
    /// When it started.
    pub started: u64,
    /// When it had fetched the maps' output; of other attempts, when it started.
    pub fetched: u64,
    /// When it had sorted that; of other attempts, when it started.
    pub sorted: u64,
    /// When its work was done, before the commit.
    pub worked: u64,
    /// For how long it was stopped in between.
    pub suspended: u64,
    /// When the JobTracker knew that it had ended; if it never did, when the job or the run ended.
    pub heard: u64,
    /// Whether it came to nothing: it failed or was killed.
    pub is_vain: bool,
    /// When its output was lost, if it was.
    pub lost: Option<u64>,
    /// For how long the job had been passed over for want of input near, when it was launched.
    pub passed_over: Option<u64>,
}

/// A part of a job's time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stretch {
    /// What it went into.
    pub part: Part,
    /// From when.
    pub from: u64,
    /// To when.
    pub to: u64,
    /// By which rule, if it is a wait for a slot.
    pub rule: Option<Rule>,
}

impl Stretch {
    /// Returns how long it is.
    pub const fn ms(&self) -> u64 {
        self.to - self.from
    }
}

/// Returns what a job's time went into, from its arrival to its end; `orders` are the rules by which
/// policies put jobs in order, each with the instant from which on it holds, the first from the
/// beginning.
pub fn story(job: &Course, tries: &[Try], orders: &[(u64, Rule)]) -> Vec<Stretch> {
    let mut by_end: Vec<&Try> = tries.iter().collect();
    by_end.sort_by_key(|one| (one.heard, one.task, one.number));
    let mut walk = Walk { job, by_end, orders, at: job.ended.max(job.submitted), back: Vec::new() };
    walk.back_to_the_start();
    walk.back.reverse();
    walk.back
}

/// What an instant is the launch or the end of.
#[derive(Clone, Copy)]
enum Next<'t> {
    /// The job's end.
    End,
    /// The launch of an attempt.
    Launch(&'t Try),
    /// The end of the maps, as the JobTracker knew it.
    MapsDone,
}

/// A walk back in time.
struct Walk<'t> {
    job: &'t Course,
    /// The attempts in the order in which their ends were known.
    by_end: Vec<&'t Try>,
    orders: &'t [(u64, Rule)],
    /// The instant at which it is.
    at: u64,
    /// What lies behind it, the last first.
    back: Vec<Stretch>,
}

impl<'t> Walk<'t> {
    fn back_to_the_start(&mut self) {
        let mut next = Next::End;
        while self.job.submitted < self.at
            && let Some(step) = self.step(next)
        {
            next = step;
        }
        // What is left lies before the first map or reduce.
        let running = self.job.running.unwrap_or(u64::MAX);
        // Attempts of which no end was known by then have come to nothing.
        let in_vain = self.by_end.iter().filter(|one| is_work(one)).map(|one| one.launched);
        if let Some(first) = in_vain.min() {
            self.to(first.min(self.at), Part::Redone);
        }
        if running < self.at && self.job.has_tasks {
            self.wait(running, Part::FirstMapWait, None);
        }
        self.to(running.min(self.at), Part::Heartbeats);
        if let Some(setup) = self.last(|one| one.kind == TaskKind::Setup) {
            self.spend(setup, self.job.submitted);
        }
        let initialised = self.job.initialised.unwrap_or(u64::MAX);
        self.to(initialised.min(self.at), Part::Heartbeats);
        self.to(self.job.submitted, Part::Initialisation);
    }

    /// Goes back to the launch of the attempt that kept `next` waiting; returns none if there was none.
    fn step(&mut self, next: Next<'t>) -> Option<Next<'t>> {
        let maps_done = self.job.maps_done.filter(|done| *done <= self.at);
        match next {
            Next::End => {
                let last = self.last(|one| one.kind != TaskKind::Setup)?;
                self.to(last.heard, Part::Heartbeats);
                self.run(last)
            }
            Next::Launch(again) if 0 < again.number && self.before(again).is_some() => {
                let first = self.before(again)?;
                // A second attempt beside a slow one was wanted when it was launched.
                let wanted = if again.is_second { again.launched } else { first.ended_for_good() };
                let floor = self.floor(again.kind, maps_done);
                self.wait(wanted.max(floor), waited_for(again.kind), again.passed_over);
                // What was lost had been done: the job went on with its other work until that was over, and
                // from then on until somebody noticed.
                let other =
                    first.lost.and_then(|_| self.last(|it| it.kind == again.kind && !it.is_vain));
                if let Some(other) = other.filter(|other| floor <= other.heard) {
                    self.to(other.heard, Part::Redone);
                    return self.run(other);
                }
                self.to(first.launched.max(floor), Part::Redone);
                Some(if first.launched <= floor && 0 < floor {
                    Next::MapsDone
                } else {
                    Next::Launch(first)
                })
            }
            Next::Launch(one) => match one.kind {
                TaskKind::Setup => None,
                TaskKind::Cleanup => {
                    let last = self.last(is_work)?;
                    self.to(last.heard, Part::Heartbeats);
                    self.run(last)
                }
                TaskKind::Reduce => {
                    let after = maps_done.unwrap_or(0);
                    let own = self.last(|it| it.kind == TaskKind::Reduce && after < it.heard);
                    match (own, maps_done) {
                        (Some(own), _) => {
                            self.wait(own.heard, Part::ReduceWait, None);
                            self.run(own)
                        }
                        (None, Some(done)) => {
                            self.wait(done, Part::ReduceWait, None);
                            Some(Next::MapsDone)
                        }
                        (None, None) => {
                            self.wait(self.job.running?, Part::ReduceWait, None);
                            None
                        }
                    }
                }
                TaskKind::Map => {
                    let of_maps = |it: &Try| it.kind == TaskKind::Map;
                    let first = self.by_end.iter().filter(|it| of_maps(it));
                    let first = first.map(|it| it.launched).min().unwrap_or(0).min(self.at);
                    let own = self.last(of_maps);
                    let since = own.map_or(first, |own| own.heard.max(first));
                    self.wait(since, Part::MapWait, one.passed_over);
                    match own {
                        Some(own) => self.run(own),
                        None => {
                            let passed_over = one.passed_over.filter(|_| one.launched == first);
                            self.wait(self.job.running?, Part::FirstMapWait, passed_over);
                            None
                        }
                    }
                }
            },
            Next::MapsDone => {
                let last = self.last(|one| one.kind == TaskKind::Map)?;
                self.to(last.heard, Part::Heartbeats);
                self.run(last)
            }
        }
    }

    /// Goes back to the launch of an attempt, or to where it could not have gone on before.
    fn run(&mut self, one: &'t Try) -> Option<Next<'t>> {
        let maps_done = self.job.maps_done.filter(|done| *done <= self.at);
        let floor = self.floor(one.kind, maps_done);
        self.spend(one, floor);
        match one.launched < floor {
            true => Some(Next::MapsDone),
            false => Some(Next::Launch(one)),
        }
    }

    /// Returns the instant before which attempts of a kind could not go on: of reduces the end of the
    /// maps.
    fn floor(&self, kind: TaskKind, maps_done: Option<u64>) -> u64 {
        maps_done.filter(|_| kind == TaskKind::Reduce).unwrap_or(0)
    }

    /// Goes back through an attempt, to its launch or to `floor` if that is later.
    fn spend(&mut self, one: &Try, floor: u64) {
        let had_been_done = 0 < one.number && self.before(one).is_some_and(|it| it.lost.is_some());
        if one.is_vain || had_been_done {
            return self.to(one.launched.max(floor), Part::Redone);
        }
        let is_early = one.launched < floor && one.kind == TaskKind::Reduce;
        let [fetching, work] = match one.kind {
            TaskKind::Setup => [Part::Setup; 2],
            TaskKind::Cleanup => [Part::Cleanup; 2],
            TaskKind::Map => [Part::Mapping; 2],
            TaskKind::Reduce if is_early => [Part::FetchingBehindMaps, Part::Reducing],
            TaskKind::Reduce => [Part::Fetching, Part::Reducing],
        };
        let floored = |instant: u64| instant.max(floor);
        self.to(floored(one.worked), Part::Heartbeats);
        self.to(floored(one.worked.saturating_sub(one.suspended)), Part::Suspended);
        self.to(floored(one.sorted), work);
        self.to(floored(one.fetched), Part::Sorting);
        self.to(floored(one.started), fetching);
        self.to(floored(one.launched), Part::Heartbeats);
    }

    /// Goes back to an instant, unless it is there already, through what went into this part.
    fn to(&mut self, instant: u64, part: Part) {
        self.stretch(instant, part, None);
    }

    /// Goes back through a wait for a slot, of which the end was a wait for a node near the input.
    fn wait(&mut self, since: u64, part: Part, passed_over: Option<u64>) {
        if let Some(passed_over) = passed_over {
            let from = self.at.saturating_sub(passed_over).max(since);
            self.stretch(from, part, Some(Rule::LocalityDelay));
        }
        for (from, order) in self.orders.iter().rev() {
            self.stretch(since.max(*from), part, Some(*order));
        }
    }

    fn stretch(&mut self, from: u64, part: Part, rule: Option<Rule>) {
        let from = from.max(self.job.submitted);
        if from < self.at {
            self.back.push(Stretch { part, from, to: self.at, rule });
            self.at = from;
        }
    }

    /// Returns the attempt of a kind that was known last to have ended, and was launched before now.
    fn last(&self, is_meant: impl Fn(&Try) -> bool) -> Option<&'t Try> {
        let known = self.by_end.partition_point(|one| one.heard <= self.at);
        let mut known = self.by_end[..known].iter().rev().copied();
        known.find(|one| is_meant(one) && one.launched < self.at)
    }

    /// Returns the attempt of the same task before another.
    fn before(&self, again: &Try) -> Option<&'t Try> {
        let is_before = |one: &&&Try| {
            one.kind == again.kind && one.task == again.task && one.number < again.number
        };
        let before = self.by_end.iter().filter(is_before).max_by_key(|one| one.number).copied();
        before.filter(|one| one.launched < self.at)
    }
}

impl Try {
    /// Returns when its work was known to be in vain.
    fn ended_for_good(&self) -> u64 {
        self.lost.unwrap_or(self.heard)
    }
}

fn is_work(one: &Try) -> bool {
    matches!(one.kind, TaskKind::Map | TaskKind::Reduce)
}

/// Returns the wait of a task of a kind for its slot.
const fn waited_for(kind: TaskKind) -> Part {
    match kind {
        TaskKind::Map => Part::MapWait,
        TaskKind::Reduce => Part::ReduceWait,
        TaskKind::Setup | TaskKind::Cleanup => Part::Heartbeats,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// A job that arrives at 0, is read at 1 s, set up until 5 s and ends at `ended` seconds; its maps are
    /// done at `maps_done`.
    fn course(maps_done: Option<u64>, ended: u64) -> Course {
        Course {
            submitted: 0,
            initialised: Some(1_000),
            running: Some(5_000),
            maps_done: maps_done.map(|at| at * 1_000),
            ended: ended * 1_000,
            has_tasks: true,
        }
    }

    /// An attempt that is launched, starts a second later, works to `worked` and is heard of a second
    /// after; all in seconds.
    fn one(kind: TaskKind, task: u32, launched: u64, worked: u64) -> Try {
        let (started, worked) = ((launched + 1) * 1_000, worked * 1_000);
        Try {
            kind,
            task,
            number: 0,
            is_second: false,
            launched: launched * 1_000,
            started,
            fetched: started,
            sorted: started,
            worked,
            suspended: 0,
            heard: worked + 1_000,
            is_vain: false,
            lost: None,
            passed_over: None,
        }
    }

    fn setup() -> Try {
        one(TaskKind::Setup, 0, 2, 4)
    }

    /// Returns the parts in seconds, in the order of time.
    fn told(job: &Course, tries: &[Try]) -> Vec<(Part, u64)> {
        let stretches = story(job, tries, &[(0, Rule::HeadOfLine)]);
        assert_whole(job, &stretches);
        let mut parts: Vec<(Part, u64)> = Vec::new();
        for stretch in stretches {
            match parts.last_mut() {
                Some((part, ms)) if *part == stretch.part => *ms += stretch.ms(),
                _ => parts.push((stretch.part, stretch.ms())),
            }
        }
        parts.into_iter().map(|(part, ms)| (part, ms / 1_000)).collect()
    }

    fn assert_whole(job: &Course, stretches: &[Stretch]) {
        let ends = stretches.iter().fold(job.submitted, |at, stretch| {
            assert!(stretch.from == at && at < stretch.to, "{stretches:?}");
            stretch.to
        });
        assert_eq!(ends, job.ended.max(job.submitted), "{stretches:?}");
    }

    use Part as P;
    use TaskKind::{Cleanup, Map, Reduce};

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

    /// The second map gets the slot of another job at 30 s, ten seconds after the first was known to have
    /// ended; the third is of no consequence.
    #[test]
    fn between_waves_it_waits_for_slots() {
        let tries = [setup(), one(Map, 0, 5, 19), one(Map, 1, 30, 40), one(Map, 2, 6, 9)];
        let parts = told(&course(Some(41), 41), &tries);
        let parts: Vec<_> = parts.into_iter().skip(3).collect();
        let expected = [
            (P::Heartbeats, 2),
            (P::Mapping, 13),
            (P::Heartbeats, 1),
            (P::MapWait, 10),
            (P::Heartbeats, 1),
            (P::Mapping, 9),
            (P::Heartbeats, 1),
        ];
        assert_eq!(parts, expected);
    }

    /// The first of its maps is launched at 10 s, the last at 30 s, before any has ended.
    #[test]
    fn the_first_slot_and_further_ones_are_told_apart() {
        let tries = [setup(), one(Map, 0, 10, 45), one(Map, 1, 30, 50)];
        let parts = told(&course(Some(51), 51), &tries);
        assert_eq!(parts[4..6], [(P::FirstMapWait, 5), (P::MapWait, 20)]);
    }

    #[test]
    fn an_early_reduce_fetches_behind_the_maps_and_a_late_one_waits() {
        let reduce = |launched, fetched: u64, sorted: u64, worked| Try {
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

    /// The second reduce gets the slot of the first.
    #[test]
    fn waves_of_reduces_follow_one_another() {
        let tries = [setup(), one(Map, 0, 5, 19), one(Reduce, 0, 20, 30), one(Reduce, 1, 33, 40)];
        let parts = told(&course(Some(20), 41), &tries);
        let end = [
            (P::Reducing, 9),
            (P::Heartbeats, 1),
            (P::ReduceWait, 2),
            (P::Heartbeats, 1),
            (P::Reducing, 6),
            (P::Heartbeats, 1),
        ];
        assert_eq!(parts[parts.len() - 6..], end);
    }

    #[test]
    fn what_failed_or_was_lost_is_done_again() {
        let again = |launched, worked| Try { number: 1, ..one(Map, 0, launched, worked) };
        let failed = told(&course(Some(41), 41), &[setup(), one(Map, 0, 6, 19), again(25, 40)]);
        let parts = [(P::FirstMapWait, 1), (P::Redone, 14), (P::MapWait, 5)];
        assert_eq!(failed[4..7], parts, "it failed at 20 s");
        let lost = Try { lost: Some(30_000), ..one(Map, 0, 6, 19) };
        let lost = told(&course(Some(41), 41), &[setup(), lost, again(33, 40)]);
        // Done from 6 s to 20 s, lost at 30 s and wanted then, again from 33 s to the end.
        let first =
            [(P::FirstMapWait, 1), (P::Heartbeats, 1), (P::Mapping, 12), (P::Heartbeats, 1)];
        assert_eq!((&lost[4..8], lost[8]), (&first[..], (P::Redone, 10)));
        assert_eq!(lost[9..11], [(P::MapWait, 3), (P::Redone, 8)]);
        // Another map ran meanwhile, to 28 s: only from there on the loss keeps the job waiting.
        let gone = Try { lost: Some(30_000), ..one(Map, 0, 6, 19) };
        let tries = [setup(), gone, one(Map, 1, 21, 27), again(33, 40)];
        let lost = told(&course(Some(41), 41), &tries);
        let redone: u64 = lost.iter().filter(|part| part.0 == P::Redone).map(|part| part.1).sum();
        assert_eq!(redone, 2 + 8);
        // Of another task: it held the slot that the map then got.
        let vain = Try { is_vain: true, ..one(Map, 1, 6, 19) };
        let vain = told(&course(Some(41), 41), &[setup(), vain, one(Map, 0, 25, 40)]);
        assert_eq!(vain[4..7], [(P::FirstMapWait, 1), (P::Redone, 14), (P::MapWait, 5)]);
        let faster = Try { is_second: true, ..again(25, 40) };
        let slow = one(Map, 0, 6, 40);
        let faster = told(&course(Some(41), 41), &[setup(), slow, faster]);
        assert_eq!(faster[4..6], [(P::FirstMapWait, 1), (P::Redone, 19)], "the slow one ran");
    }

    #[test]
    fn a_wait_ends_with_that_for_a_near_node() {
        let map = Try { passed_over: Some(3_000), ..one(Map, 0, 15, 20) };
        let stretches = story(&course(Some(21), 21), &[setup(), map], &[(0, Rule::Share)]);
        let waits = stretches.iter().filter(|stretch| stretch.part == P::FirstMapWait);
        let waits: Vec<_> = waits.map(|wait| (wait.rule, wait.ms())).collect();
        assert_eq!(waits, [(Some(Rule::Share), 7_000), (Some(Rule::LocalityDelay), 3_000)]);
    }

    #[test]
    fn time_in_which_it_was_stopped_stands_alone() {
        let map = Try { suspended: 6_000, ..one(Map, 0, 5, 20) };
        let parts = told(&course(Some(21), 21), &[setup(), map]);
        assert_eq!(parts[4..6], [(P::Mapping, 8), (P::Suspended, 6)]);
    }

    #[test]
    fn a_job_that_got_nothing_waited() {
        let killed = Course { ended: 60_000, ..course(None, 0) };
        assert_eq!(told(&killed, &[setup()]).last(), Some(&(P::FirstMapWait, 55)));
        let unread = Course { initialised: None, running: None, ..killed };
        assert_eq!(told(&unread, &[]), [(P::Initialisation, 60)]);
        let empty = Course { has_tasks: false, ..course(None, 30) };
        assert_eq!(told(&empty, &[setup()]).last(), Some(&(P::Heartbeats, 26)));
    }

    fn any_try() -> impl Strategy<Value = Try> {
        let kinds = [TaskKind::Setup, Map, Reduce, Cleanup];
        let instants = prop::array::uniform6(0u64..100);
        let extras = (prop::option::of(0u64..100), prop::option::of(0u64..100), any::<bool>());
        (prop::sample::select(kinds.to_vec()), 0u32..3, 0u32..3, instants, extras).prop_map(
            |(kind, task, number, instants, (lost, passed_over, is_second))| {
                let [launched, started, fetched, sorted, worked, heard] = instants;
                let suspended = started / 3;
                Try {
                    kind,
                    task,
                    number,
                    is_second,
                    launched,
                    started,
                    fetched,
                    sorted,
                    worked,
                    suspended,
                    heard,
                    is_vain: number == 1,
                    lost,
                    passed_over,
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
            let [submitted, initialised, running, maps_done, ended] = instants;
            let job = Course {
                submitted: submitted.unwrap_or(0),
                initialised,
                running,
                maps_done,
                ended: ended.unwrap_or(50),
                has_tasks: true,
            };
            assert_whole(&job, &story(&job, &tries, &[(0, Rule::Order), (20, Rule::Share)]));
        }
    }
}
