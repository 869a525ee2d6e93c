//! The progress of a phase in time: a timer plans its end, or the fabric sends the rates of its
//! flows.
//!
//! A part of a phase that shares resources is a flow. Its timer is planned when the fabric sends
//! the flow's rate, and again whenever the rate changes. A shuffle that shares resources is a flow
//! while there is output to fetch, with a timer for the instant at which no output is left. A
//! shuffle that shares nothing fetches available outputs and waits for more; it gets a timer only
//! when all maps have ended.
//!
//! The process of a reduce has two threads, as in Hadoop 0.20. One asks every second which maps have
//! ended. The other fetches what is known; if that is nothing, it sleeps for five seconds. When it
//! has fetched everything, it waits for the other thread, which ends with its next question.
//!
//! On a slow node, a phase that shares nothing has the pace of the cores, disks or connection that
//! it uses. A phase that shares resources gets its pace from the fabric, which knows which machines
//! are slow.

use std::sync::Arc;

use super::{Attempt, AttemptStep};
use crate::cluster::{Demand, Speeds};
use crate::mapred::cost::{FetchLoop, NodeResource, PhaseEffort};
use crate::mapred::event::AttemptState;
use crate::mapred::heartbeat::{AttemptPhase, MapsDone, Missing};
use crate::mapred::ids::AttemptId;
use crate::mapred::task_tracker::phase_progress::at_pace;
use crate::mapred::unfetched::Unfetched;
use mumakil_base::units::{SimSpan, SimTime};

/// The flow of an attempt, as the fabric knows it.
#[derive(Debug)]
pub(super) struct AttemptFlow {
    number: u32,
    /// Its rate if nothing else used the resources.
    alone: f64,
}

/// The fetching of a reduce. Amounts of output are given as the times that fetching them takes
/// undisturbed.
#[derive(Debug, Default)]
pub(super) struct ReduceFetching {
    shuffle: PhaseEffort,
    sort: PhaseEffort,
    fetch_loop: FetchLoop,
    /// The amount fetched by the instant `since`, if the shuffle shares nothing.
    done: SimSpan,
    /// When it last began to fetch, or ran out of outputs to fetch; in the future while it sleeps
    /// and knows of outputs.
    pub(super) since: SimTime,
    /// The amount of output that can be fetched or has been fetched, from maps that have ended.
    available: SimSpan,
    /// Whether all maps have ended.
    is_complete: bool,
    /// Whether it has fetched everything and only waits for its last question.
    is_ending: bool,
    /// How many maps' outputs it can fetch or has fetched, as its tracker last learned.
    known: u32,
    /// How many of these it knew before it last went to sleep.
    known_before: u32,
    /// The outputs that are out of reach; `None` if there are none.
    missing: Option<Box<Unfetched>>,
}

impl Attempt {
    /// Goes on with the rest of the phase, after `wait`.
    pub(super) fn go_on(&mut self, now: SimTime, wait: SimSpan) -> AttemptStep {
        match self.phase {
            AttemptPhase::Shuffle if self.shares_fetching() => self.fetch_what_is_there(now, wait),
            AttemptPhase::Shuffle => self.fetch_the_rest(now),
            AttemptPhase::Start
            | AttemptPhase::Work
            | AttemptPhase::Sort
            | AttemptPhase::Reduce
            | AttemptPhase::Commit
            | AttemptPhase::Save => {
                let (part, demand, _) = self.under_way();
                let shares = demand.is_some();
                self.continue_part(now, wait, part, shares)
            }
        }
    }

    /// Goes on with a part of the phase. If the part shares resources, it waits first and then
    /// begins its flow.
    fn continue_part(
        &mut self,
        now: SimTime,
        wait: SimSpan,
        part: SimSpan,
        shares: bool,
    ) -> AttemptStep {
        let begins = now + wait;
        if !shares {
            let pace = self.own_pace();
            self.course.go_on(begins, part, pace);
            AttemptStep::After(wait + at_pace(part, pace))
        } else if wait.is_zero() {
            // The part stands still until the fabric sends the flow's rate, later in this instant.
            self.course.go_on(begins, part, 0.0);
            AttemptStep::Flow
        } else {
            // The wait is a part without work; the flow begins at its end.
            self.course.go_on(begins, SimSpan::ZERO, 1.0);
            AttemptStep::After(wait)
        }
    }

    /// Returns three facts about the current part of the phase: how much of it is left, the
    /// resources that it shares, and the resource of the node that it uses.
    fn under_way(&self) -> (SimSpan, Option<&Demand>, NodeResource) {
        let whole = self.course.left();
        let usual = if self.phase == AttemptPhase::Shuffle {
            NodeResource::Network
        } else {
            NodeResource::Cores
        };
        let Some(effort) = self.effort(self.phase).filter(|effort| !effort.parts.is_empty()) else {
            return (whole, None, usual);
        };
        let (left, part) = effort.under_way(self.course.done());
        // The attempt may fail or hang before the end of the part.
        (
            left.min(whole),
            part.and_then(|part| part.demand.as_ref()),
            part.map_or(usual, |part| part.by),
        )
    }

    /// Returns the pace of the current part if the part shares nothing.
    fn own_pace(&self) -> f64 {
        let Speeds { cpu, disk, network } = self.speeds();
        match self.under_way().2 {
            NodeResource::Cores => cpu,
            NodeResource::Disk => disk,
            NodeResource::Network => network,
            NodeResource::Patience => 1.0,
        }
    }

    /// Goes on at the node's new speeds.
    pub(in super::super) fn take_speeds(
        &mut self,
        now: SimTime,
        speeds: Arc<Speeds>,
    ) -> AttemptStep {
        let was = self.speeds();
        self.speeds = Some(speeds);
        let is_running = self.state == AttemptState::Running;
        match self.phase {
            AttemptPhase::Shuffle if !self.shares_fetching() => {
                if let Some(fetching) = self.fetching.as_mut().filter(|_| is_running) {
                    // The outputs so far were fetched at the old speed.
                    fetching.settle(now, was.network);
                }
                // A task process that has failed waits for its tracker, whatever its node's speed.
                if is_running && self.timer.is_some() && !self.has_thrown() {
                    self.fetch_the_rest(now)
                } else {
                    AttemptStep::Nothing
                }
            }
            // The timers of a commit and of a checkpoint do not depend on later speeds.
            AttemptPhase::Commit | AttemptPhase::Save => AttemptStep::Nothing,
            // Nothing to do here: a flow gets its pace from the fabric, and a suspended attempt
            // reads the speeds when it resumes.
            _ if !is_running || self.flow.is_some() || self.timer.is_none() => AttemptStep::Nothing,
            _ if self.has_thrown() || self.is_ending_shuffle() => AttemptStep::Nothing,
            _ => {
                self.course.settle(now);
                self.course.set_pace(self.own_pace());
                // The part may not have begun yet, if the attempt still waits for its memory.
                let waits = self.course.since().saturating_since(now);
                self.ends_after(waits)
            }
        }
    }

    /// Returns the effort of a phase; `None` for a phase that cannot share resources.
    pub(super) fn effort(&self, phase: AttemptPhase) -> Option<&PhaseEffort> {
        match phase {
            AttemptPhase::Shuffle => Some(&self.fetching.as_ref()?.shuffle),
            AttemptPhase::Sort => Some(&self.fetching.as_ref()?.sort),
            AttemptPhase::Work | AttemptPhase::Reduce => Some(&self.work),
            AttemptPhase::Start | AttemptPhase::Commit | AttemptPhase::Save => None,
        }
    }

    /// Begins a flow with this number, and returns the resources that the flow uses; `None` if the
    /// current part shares nothing.
    pub(in super::super) fn begin_flow(&mut self, number: u32) -> Option<Demand> {
        // The timer that led here has fired. The next one is set when the fabric sends the flow's
        // rate.
        self.timer = None;
        let demand = self.under_way().1.cloned()?;
        self.flow = Some(Box::new(AttemptFlow { number, alone: demand.alone }));
        Some(demand)
    }

    /// Returns the number of its flow; `None` without a flow.
    pub(in super::super) fn flow(&self) -> Option<u32> {
        self.flow.as_ref().map(|flow| flow.number)
    }

    /// Forgets its flow, and returns its number.
    pub(in super::super) fn leave_flow(&mut self) -> Option<u32> {
        self.flow.take().map(|flow| flow.number)
    }

    /// Goes on at the new rate of its flow.
    pub(in super::super) fn take_rate(&mut self, now: SimTime, rate: f64) -> AttemptStep {
        let Some(flow) = &self.flow else { return AttemptStep::Nothing };
        self.course.settle(now);
        self.course.set_pace(rate / flow.alone);
        self.flow_ends()
    }

    fn flow_ends(&self) -> AttemptStep {
        self.ends_after(SimSpan::ZERO)
    }

    fn ends_after(&self, wait: SimSpan) -> AttemptStep {
        self.course.lasts().map_or(AttemptStep::Nothing, |lasts| AttemptStep::After(wait + lasts))
    }

    // ---- shuffles ----

    /// Returns whether it fetches the outputs of maps, or will fetch them.
    pub(in super::super) fn fetches(&self) -> bool {
        matches!(self.phase, AttemptPhase::Start | AttemptPhase::Shuffle)
            && self.is_reduce()
            && !self.hangs()
            && !self.has_thrown()
            && !self.is_ending_shuffle()
            && !self.has_ended()
    }

    /// Notes how many maps have ended. The process learns of their outputs, except for missing
    /// ones, with its next question, and fetches them once it does not sleep.
    pub(in super::super) fn learn_maps(
        &mut self,
        now: SimTime,
        mut maps: MapsDone,
        missing: &[Missing],
    ) -> AttemptStep {
        if !self.fetches() {
            return AttemptStep::Nothing;
        }
        let all = self.span_of(AttemptPhase::Shuffle);
        let is_running = self.phase == AttemptPhase::Shuffle && self.state == AttemptState::Running;
        let misses_some =
            self.fetching.as_deref().is_some_and(|it| !missing.is_empty() || it.missing.is_some());
        // A missing output matters only if it is not fetched yet. Usually no output is missing;
        // then skip the count.
        let fetched = if misses_some { self.maps_fetched(now, maps.total) } else { 0 };
        let network = self.speeds().network;
        let (began, is_flowing) = (self.phase_began, self.flow.is_some());
        let Some(fetching) = &mut self.fetching else { return AttemptStep::Nothing };
        let asks = next_poll(began, now, fetching.fetch_loop.poll);
        if misses_some {
            let unfetched = fetching.missing.get_or_insert_default();
            unfetched.hear(asks, maps.job, missing, fetched);
            maps.done = unfetched.at_hand(maps.done);
            if unfetched.is_empty() {
                fetching.missing = None;
            }
        }
        let share =
            if maps.total == 0 { 1.0 } else { f64::from(maps.done) / f64::from(maps.total) };
        let whole = fetching.shuffle.alone;
        let there = SimSpan::from_micros((whole.as_micros() as f64 * share) as u64);
        // A reduce that will fail or hang during its shuffle needs only the outputs up to that
        // point.
        let is_enough = all < whole && !all.is_zero() && all <= there;
        let is_complete = maps.done == maps.total || is_enough;
        // The end of the shuffle is already planned; planning it again would only delay it to the
        // next poll. An output that is lost after the reduce has fetched everything does not matter.
        if fetching.is_complete && (is_complete || is_running && fetching.has_all(now, network)) {
            return AttemptStep::Nothing;
        }
        let mut begins = asks;
        if is_running {
            if !is_flowing {
                begins = fetching.wakes(asks, network);
            }
            if fetching.since <= now {
                fetching.known_before = fetching.known;
            }
            // Until the process asks again and is awake, it can fetch only the outputs that it
            // already knows.
            fetching.begin_at(begins, network);
            self.course.settle(now);
        }
        fetching.known = maps.done;
        // A reduce keeps an output that it has fetched, even if the map's output is lost.
        let fetched = if fetching.shares() { self.course.done() } else { fetching.done };
        fetching.available = if is_complete { all } else { there.max(fetched) };
        if is_running && is_complete && fetching.fetch_loop.is_after_maps {
            // Until the reduce hears of the last map, time passes that the log counts as well.
            let passed = fetching.since.saturating_since(maps.over_at.max(began));
            fetching.done = fetching.done.max(passed.min(all));
        }
        fetching.is_complete = is_complete;
        if is_running {
            // After a resumption, the wait for its memory may be longer than the wait for the next
            // poll.
            let next = self.go_on(now, begins.max(self.course.since()) - now);
            self.pass(now, next)
        } else {
            AttemptStep::Nothing
        }
    }

    /// Returns whether it can only go on when more maps have ended.
    pub(super) fn waits_for_maps(&self) -> bool {
        self.phase == AttemptPhase::Shuffle
            && !self.fetching.as_deref().is_some_and(|it| it.is_complete)
    }

    /// Returns how many of `total` outputs it has fetched.
    fn maps_fetched(&mut self, now: SimTime, total: u32) -> u32 {
        let Some(fetching) = self.fetching.as_ref().filter(|_| self.phase == AttemptPhase::Shuffle)
        else {
            return 0;
        };
        let all = fetching.shuffle.alone;
        // A shuffle that takes no time has fetched all known outputs as soon as its wait is over.
        if all.is_zero() {
            return if fetching.since <= now { fetching.known } else { fetching.known_before };
        }
        let fetched = if fetching.shares() {
            if self.timer.is_some() {
                self.course.settle(now);
            }
            self.course.done()
        } else if fetching.fetch_loop.is_after_maps {
            fetching.available
        } else {
            fetching.fetched(now, self.speeds().network)
        };
        let share = fetched.as_micros() as f64 / all.as_micros() as f64;
        // Add a little: times are rounded down to microseconds, and this must not make a fetched
        // output count as missing.
        (share * f64::from(total) + 1e-3) as u32
    }

    /// Makes the tries for missing outputs that are due by now. Returns the outputs that the reduce
    /// complains about, one entry for each complaint, and whether the reduce gives up.
    pub(in super::super) fn try_fetches(&mut self, now: SimTime) -> (Vec<AttemptId>, bool) {
        if !self.fetches() {
            return (Vec::new(), false);
        }
        let unfetched = self.fetching.as_mut().and_then(|it| it.missing.as_mut());
        let Some(unfetched) = unfetched else { return (Vec::new(), false) };
        if self.phase != AttemptPhase::Shuffle || self.state != AttemptState::Running {
            // An attempt that is not running does not try to fetch, so these tries are put off and
            // not failures.
            unfetched.wait(now);
            return (Vec::new(), false);
        }
        unfetched.try_again(now, self.job.maps)
    }

    /// Notes that no output is left to fetch now.
    pub(super) fn end_fetching(&mut self, now: SimTime) {
        if self.phase == AttemptPhase::Shuffle
            && let Some(fetching) = &mut self.fetching
        {
            fetching.since = now;
        }
    }

    /// Returns how long a shuffle as a flow, which has just fetched everything, still waits for its
    /// process's last question; `None` if it ends now. The wait of a shuffle that shares nothing is
    /// planned with its end.
    pub(super) fn last_poll(&mut self, now: SimTime) -> Option<SimSpan> {
        let is_shuffle = self.phase == AttemptPhase::Shuffle;
        let breaks = self.break_in(self.phase).is_some();
        let fetching = self.fetching.as_mut().filter(|_| is_shuffle && !breaks)?;
        if !fetching.shares() || std::mem::replace(&mut fetching.is_ending, true) {
            return None;
        }
        let ends = fetching.fetch_loop.ends(self.phase_began, now);
        Some(ends - now).filter(|wait| !wait.is_zero())
    }

    /// Returns whether it is in its shuffle, has fetched everything as a flow, and only waits for
    /// its process's last question.
    fn is_ending_shuffle(&self) -> bool {
        let is_shuffle = self.phase == AttemptPhase::Shuffle;
        is_shuffle && self.fetching.as_ref().is_some_and(|fetching| fetching.is_ending)
    }

    fn shares_fetching(&self) -> bool {
        self.fetching.as_ref().is_some_and(|fetching| fetching.shares())
    }

    /// Fetches the available outputs as a flow; ends the shuffle if no output is left. Outputs that
    /// become available while the flow runs join it at once, without waiting for the process's next
    /// poll.
    fn fetch_what_is_there(&mut self, now: SimTime, wait: SimSpan) -> AttemptStep {
        let Some(fetching) = &self.fetching else { return AttemptStep::Nothing };
        let there = fetching.available.saturating_sub(self.course.done());
        if self.flow.is_some() {
            // The flow keeps its rate: more output does not change how the link is shared.
            self.course.go_on(now, there, self.course.pace());
            return self.flow_ends();
        }
        // It has fetched all available outputs, and goes on when it learns that more maps have
        // ended.
        if there.is_zero() && !fetching.is_complete {
            self.timer = None;
            self.course.go_on(now, SimSpan::ZERO, 1.0);
            return AttemptStep::Nothing;
        }
        self.continue_part(now, wait, there, !there.is_zero())
    }

    /// Plans the end of a shuffle that shares nothing, if all maps have ended.
    fn fetch_the_rest(&mut self, now: SimTime) -> AttemptStep {
        // Cancel an end that was planned before, since an output may have been lost since then.
        self.timer = None;
        let all = self.span_of(AttemptPhase::Shuffle);
        let Some(ReduceFetching { is_complete: true, done, since, fetch_loop, .. }) =
            self.fetching.as_deref()
        else {
            return AttemptStep::Nothing;
        };
        self.course.go_on(*since, self.course.left(), 1.0);
        let left = all.saturating_sub(*done);
        let fetched = now.max(*since) + at_pace(left, self.speeds().network);
        // A reduce that fails while it fetches does not wait for its last question.
        let ends = match self.break_in(AttemptPhase::Shuffle) {
            None => fetch_loop.ends(self.phase_began, fetched),
            Some(_) => fetched,
        };
        AttemptStep::After(ends - now)
    }
}

impl ReduceFetching {
    /// Returns the fetching of a reduce that has fetched nothing.
    pub(super) fn new(shuffle: PhaseEffort, sort: PhaseEffort, fetch_loop: FetchLoop) -> Self {
        Self { shuffle, sort, fetch_loop, ..Self::default() }
    }

    /// Returns whether the shuffle shares resources.
    fn shares(&self) -> bool {
        self.shuffle.parts.iter().any(|part| part.demand.is_some())
    }

    /// Returns whether the attempt's `course` has the progress of the shuffle.
    pub(super) fn is_told_by_course(&self) -> bool {
        self.shares() && !self.shuffle.alone.is_zero()
    }

    /// Returns the share that has been fetched at an instant, for a shuffle that shares nothing.
    pub(super) fn share(&self, at: SimTime, pace: f64) -> f64 {
        if self.shuffle.alone.is_zero() {
            f64::from(u8::from(self.is_complete))
        } else if self.fetch_loop.is_after_maps {
            // A logged time does not depend on the outputs, so their number tells the progress.
            self.available.as_secs_f64() / self.shuffle.alone.as_secs_f64()
        } else {
            self.fetched(at, pace).as_secs_f64() / self.shuffle.alone.as_secs_f64()
        }
    }

    /// Returns the amount that has been fetched at an instant, by a connection at this pace (1 is
    /// its usual speed).
    fn fetched(&self, at: SimTime, pace: f64) -> SimSpan {
        if self.fetch_loop.is_after_maps && !self.is_complete {
            return self.done;
        }
        let passed = at.saturating_since(self.since).as_micros() as f64;
        let ran = SimSpan::from_micros((passed * pace) as u64);
        (self.done + ran).min(self.available.max(self.done))
    }

    /// Returns how long the process sleeps when it has nothing to fetch.
    pub(super) fn sleep(&self) -> SimSpan {
        self.fetch_loop.sleep
    }

    /// Adds the amount fetched up to an instant.
    pub(super) fn settle(&mut self, at: SimTime, pace: f64) {
        let idle = self.idle_from(pace);
        self.done = self.fetched(at, pace);
        // A process without outputs to fetch sleeps on as before.
        self.since = self.since.max(at.min(idle));
    }

    /// Lets it fetch more outputs from an instant on.
    fn begin_at(&mut self, at: SimTime, pace: f64) {
        self.done = self.fetched(at, pace);
        self.since = self.since.max(at);
    }

    /// Returns the instant from which the process has nothing more to fetch. A flow ends there
    /// itself.
    fn idle_from(&self, pace: f64) -> SimTime {
        let left =
            if self.shares() { SimSpan::ZERO } else { self.available.saturating_sub(self.done) };
        self.since + at_pace(left, pace)
    }

    /// Returns whether it has fetched everything by an instant, if all maps have ended.
    fn has_all(&self, at: SimTime, pace: f64) -> bool {
        self.is_ending || (!self.shares() && self.idle_from(pace) <= at)
    }

    /// Returns when the process begins to fetch outputs that it learns of at the instant `asks`.
    fn wakes(&self, asks: SimTime, pace: f64) -> SimTime {
        let (idle, sleep) = (self.idle_from(pace), self.fetch_loop.sleep);
        if sleep.is_zero() || asks < idle {
            return asks.max(self.since);
        }
        // It wakes after each sleep, and sleeps again unless it knows of an output by then. Its
        // questions take a little time, so one that it asks as it wakes comes too late.
        let slept = (asks - idle).as_micros() / sleep.as_micros();
        idle + sleep * (slept + 1)
    }
}

impl FetchLoop {
    /// Returns when a shuffle that began at `first` ends if it has fetched everything at `fetched`:
    /// with the next question, as the thread that asks ends only then.
    fn ends(self, first: SimTime, fetched: SimTime) -> SimTime {
        if self.sleep.is_zero() || self.poll.is_zero() {
            return fetched;
        }
        let asked = (fetched - first).as_micros() / self.poll.as_micros();
        first + self.poll * (asked + 1)
    }
}

/// Returns when a process that asks every `poll` since the instant `first` asks next; that may be
/// `now`.
pub(super) fn next_poll(first: SimTime, now: SimTime, poll: SimSpan) -> SimTime {
    // With `poll: 0s` tasks get answers at once; this also avoids a division by zero below.
    if poll.is_zero() {
        return now;
    }
    let asked = (now - first).as_micros().div_ceil(poll.as_micros());
    first + poll * asked
}
