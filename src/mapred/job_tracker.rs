//! The JobTracker: it serves heartbeats one after another and decides who runs what.
//!
//! A heartbeat that finds it busy waits in line; what serving one takes is modelled, so the line
//! grows when the cluster is too large for one JobTracker. Within a heartbeat the order is
//! Hadoop's: reports, then one setup or cleanup task or else the policy, then kills, then leaves
//! to commit.
//!
//! A heartbeat that it has answered already gets the same answer again and changes nothing.

#[cfg(test)]
mod tests;

use std::collections::VecDeque;
use std::sync::Arc;

use super::ledger::Ledger;
use super::refusals::{REMEMBERED_FOR, Refusals};
use super::{
    AttemptId, AttemptState, Call, CommitPending, Core, Directive, Event, Fact, Hadoop, Heartbeat,
    Incident, JobId, LONGEST_PROBE, Mail, MapsDone, Missing, Offer, Orders, Outbox, Outcome,
    PerSlot, Reason, Recovery, Reply, Report, Scheduler, SlotKind, Speculation, Status, Stop,
    TaskKind, ToInjector, ToJobTracker, ToTracker, TrackerId, View,
};
use crate::cluster::{Hdfs, JobTrackerSpec, Topology};
use crate::random::mumak::Stories;
use crate::units::{SimSpan, SimTime};

/// So many jobs that are held back can be named in each heartbeat interval: that takes microseconds, as does
/// a heartbeat.
const WITHHELD_AT_ONCE: u64 = 100;

/// The JobTracker.
pub struct JobTracker {
    ledger: Ledger,
    scheduler: Box<dyn Scheduler>,
    spec: JobTrackerSpec,
    /// Heartbeats that wait, with the instants of their arrival.
    line: VecDeque<(SimTime, Heartbeat)>,
    busy_until: SimTime,
    /// Jobs whose splits wait to be read.
    unread: VecDeque<JobId>,
    /// Jobs whose splits are being read.
    reading: u32,
    /// When it looks again whether anything moves.
    reviews_at: SimTime,
    /// When it next asks which jobs are held back.
    asks_withheld_at: SimTime,
    has_clockwork: bool,
    /// Whether the policy asks how far attempts are, or slow ones are looked for.
    reads_progress: bool,
    /// Whether the policy says which splits are read; if not, they are read as jobs arrive.
    reads_on_order: bool,
    /// Until when its process stands still; what comes meanwhile waits.
    stands_until: SimTime,
    /// What has come meanwhile, but for heartbeats: these wait in the line.
    held: Vec<ToJobTracker>,
    /// What its process does. If it is gone, heartbeats find nobody.
    process: Process,
    /// How often its process has died: what an earlier one planned is nobody's.
    deaths: u32,
    /// Whether the policy's own time is planned.
    has_tick: bool,
    /// The policies to come, each as it is when it begins.
    successors: VecDeque<Box<dyn Scheduler>>,
    /// The instant of the last message.
    heard_at: SimTime,
}

/// What its process does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Process {
    /// It works.
    Works,
    /// It stands still.
    Still,
    /// It has died.
    Gone,
}

impl JobTracker {
    /// Returns a JobTracker that knows no tracker and no job.
    pub fn new(
        hadoop: Hadoop,
        topology: Arc<Topology>,
        hdfs: Hdfs,
        spec: JobTrackerSpec,
        scheduler: Box<dyn Scheduler>,
    ) -> Self {
        let reads_on_order = hadoop.is_mumak() && scheduler.orders_reading();
        Self {
            reads_progress: reads_progress(&*scheduler, &hadoop),
            ledger: Ledger::new(hadoop, topology, hdfs),
            reads_on_order,
            scheduler,
            spec,
            line: VecDeque::new(),
            busy_until: SimTime::ZERO,
            unread: VecDeque::new(),
            reading: 0,
            reviews_at: SimTime::ZERO,
            asks_withheld_at: SimTime::ZERO,
            has_clockwork: false,
            stands_until: SimTime::ZERO,
            held: Vec::new(),
            process: Process::Works,
            deaths: 0,
            has_tick: false,
            successors: VecDeque::new(),
            heard_at: SimTime::ZERO,
        }
    }

    /// Lets it draw what traces leave open of attempts, as Mumak does with this seed; without this,
    /// trackers draw it.
    pub fn draw_as_mumak(&mut self, seed: u64) {
        self.ledger.stories = Some(Stories::new(seed, self.ledger.topology.len()));
    }

    /// Lets it add up how far the maps of jobs are, for those who [ask](ToJobTracker::AskLoad) how
    /// busy the cluster is. This costs a look-up for each map in every heartbeat.
    pub fn follow_maps(&mut self) {
        self.ledger.follows_maps = true;
    }

    /// Gives it the policies that take over, one each time that its process dies to be started again or
    /// that it is told to [change](ToJobTracker::ChangePolicy). If they are used up it goes on with the
    /// last.
    pub fn succeed_policy_by(&mut self, policies: impl IntoIterator<Item = Box<dyn Scheduler>>) {
        self.successors.extend(policies);
    }

    /// Lets it do without being told how far attempts are, if nobody asks for it; returns whether it does.
    /// Trackers may be [brief](super::Manner::is_brief) then, as long as its process does not forget what
    /// they have said.
    pub fn forgo_progress(&mut self) -> bool {
        let mut policies = self.successors.iter().chain([&self.scheduler]);
        let asks = self.ledger.follows_maps
            || self.ledger.hadoop.speculation != Speculation::Off
            || policies.any(|policy| policy.reads_reports() || policy.reads_progress());
        self.ledger.knows_progress = asks;
        !asks
    }

    /// Lets it keep why jobs with something to launch get nothing, and tell it: what is still open when the
    /// run is [over](ToJobTracker::Over), then.
    pub fn keep_refusals(&mut self) {
        self.ledger.refusals = Some(Refusals::default());
    }

    // ---- its process ----

    fn pause(&mut self, now: SimTime, span: SimSpan, out: &mut Outbox) {
        match self.process {
            Process::Works => self.note_process(now, Process::Still, out),
            Process::Still => {}
            // There is nobody to stand still.
            Process::Gone => return,
        }
        self.stand_still(now, span, out);
    }

    fn note_process(&mut self, now: SimTime, state: Process, out: &mut Outbox) {
        self.process = state;
        let incident = match state {
            Process::Works => Incident::Back,
            Process::Still => Incident::Pauses,
            Process::Gone => Incident::Gone,
        };
        out.emit(now, Fact::Incident { tracker: None, incident });
    }

    /// Stands still for a while.
    fn stand_still(&mut self, now: SimTime, span: SimSpan, out: &mut Outbox) {
        self.stands_until = self.stands_until.max(now + span);
        self.busy_until = self.busy_until.max(self.stands_until);
        out.plan(span, ToJobTracker::Wake);
    }

    /// Dies: it forgets all but what lies on disks, and goes on with that only if it is to recover.
    fn die(&mut self, now: SimTime, span: SimSpan, recovers: bool, out: &mut Outbox) {
        if self.process == Process::Gone {
            // Its books are as it left them; it is only back later, with the policy of its last start.
            self.follow_policy(now, out);
            return self.stand_still(now, span, out);
        }
        // Whoever stood still does so no more.
        self.stands_until = now;
        self.note_process(now, Process::Gone, out);
        for (_, heartbeat) in self.line.drain(..) {
            refuse(&heartbeat, out);
        }
        self.unread.clear();
        self.reading = 0;
        self.deaths += 1;
        match self.ledger.hadoop.recovery().filter(|_| recovers) {
            Some(Recovery::Replay) => self.ledger.keep_history(now, out),
            Some(Recovery::Resubmit) => self.ledger.keep_submissions(now, out),
            None => self.ledger.fail_all(now, out),
        }
        self.follow_policy(now, out);
        self.busy_until = now;
        self.stand_still(now, span, out);
    }

    /// Goes on with the next policy, which knows nothing yet.
    fn follow_policy(&mut self, now: SimTime, out: &mut Outbox) {
        let Some(policy) = self.successors.pop_front() else { return };
        self.scheduler = policy;
        self.reads_progress = reads_progress(&*self.scheduler, &self.ledger.hadoop);
        self.ledger.changes.clear();
        let halted = self.ledger.halted();
        if !halted.is_empty() && !self.scheduler.inherit(&halted) {
            for (attempt, _) in halted {
                self.ledger.doom(now, attempt, Reason::PolicyChanged, out);
            }
        }
    }

    /// Lets another policy take over, which hears of all jobs.
    fn change_policy(&mut self, now: SimTime, out: &mut Outbox) {
        out.emit(now, Fact::PolicyChanged);
        self.follow_policy(now, out);
        // Who is gone hears of them when it is back.
        if self.process != Process::Gone {
            self.ledger.introduce_jobs(now);
        }
        self.ledger.moved_at = now;
        if !self.has_tick {
            self.plan_tick(out);
        }
    }

    /// Begins as a process that knows nothing but what is to be recovered.
    fn recover(&mut self, now: SimTime, out: &mut Outbox) {
        for job in self.ledger.recover(now) {
            if !self.reads_on_order {
                self.unread.push_back(job);
            }
        }
        self.read_splits(now, out);
    }

    /// Goes on with what has come meanwhile.
    fn wake(&mut self, now: SimTime, out: &mut Outbox) {
        if now < self.stands_until || self.process == Process::Works {
            return;
        }
        if self.process == Process::Gone {
            self.recover(now, out);
        }
        self.note_process(now, Process::Works, out);
        self.ledger.moved_at = now;
        for msg in std::mem::take(&mut self.held) {
            self.tell_policy(now, None);
            self.take(now, &msg, out);
        }
    }

    // ---- jobs ----

    fn read_splits(&mut self, now: SimTime, out: &mut Outbox) {
        while self.reading < self.spec.init_threads.get() {
            let Some(job) = self.unread.pop_front() else { break };
            if self.spec.init.is_zero() && self.ledger.hadoop.is_mumak() {
                // A heartbeat of this very instant may find the job running.
                self.tell_policy(now, None);
                self.ledger.initialise(now, job, out);
                continue;
            }
            self.reading += 1;
            out.plan(self.spec.init, ToJobTracker::Initialised(job, self.deaths));
        }
    }

    /// Tells the policy what has changed, by a heartbeat or else.
    fn tell_policy(&mut self, now: SimTime, heard: Option<TrackerId>) {
        if self.ledger.changes.is_empty() {
            return;
        }
        let mut changes = std::mem::take(&mut self.ledger.changes);
        let view = View { now, heard, ledger: &self.ledger };
        for event in changes.drain(..) {
            self.scheduler.job_changed(&view, &event);
        }
        self.ledger.changes = changes;
    }

    // ---- heartbeats ----

    fn queue_up(&mut self, now: SimTime, heartbeat: &Heartbeat, out: &mut Outbox) {
        if self.line.is_empty() && self.busy_until <= now {
            return self.serve(now, now, now, heartbeat, out);
        }
        if self.line.is_empty() {
            self.plan_next(now, out);
        }
        self.line.push_back((now, heartbeat.clone()));
    }

    fn plan_next(&self, now: SimTime, out: &mut Outbox) {
        out.plan(self.busy_until.saturating_since(now), ToJobTracker::Serve(self.deaths));
    }

    fn serve_next(&mut self, now: SimTime, out: &mut Outbox) {
        let Some((arrived, heartbeat)) = self.line.pop_front() else { return };
        // On a scaled clock the message that it is free comes late. It has worked since it was free, or
        // every service would be longer by that, and heartbeats would queue for no reason of theirs.
        let begins = self.busy_until.max(arrived).min(now);
        self.serve(now, begins, arrived, &heartbeat, out);
        if !self.line.is_empty() {
            self.plan_next(now, out);
        }
    }

    /// Serves a heartbeat; its service `begins` now or has begun already.
    fn serve(
        &mut self,
        now: SimTime,
        begins: SimTime,
        arrived: SimTime,
        heartbeat: &Heartbeat,
        out: &mut Outbox,
    ) {
        let Call { tracker: id, number: call, .. } = heartbeat.call();
        let queued = now - arrived;
        let Some(last_id) = self.admit(now, heartbeat, out) else {
            let tracker = &self.ledger.trackers[id.index()];
            let disallowed = tracker.is_excluded();
            let answer = if tracker.is_registered {
                tracker.answer.message()
            } else {
                let reinit = !disallowed;
                let reply = Reply { call, reinit, disallowed, queued, ..Reply::default() };
                ToTracker::Reply(Arc::new(reply))
            };
            self.busy_until = begins + self.spec.per_heartbeat;
            let after = self.busy_until.saturating_since(now);
            return out.send_after(after, Mail::Tracker(id, answer));
        };

        let tracker = &mut self.ledger.trackers[id.index()];
        tracker.seen_before = std::mem::replace(&mut tracker.last_seen, now);
        self.ledger.forgive_in_time(now, id, out);
        let mut commits = Vec::new();
        if let Heartbeat::Full(status) = heartbeat {
            self.take_status(now, status, &mut commits, out);
        }
        self.ledger.look_for_slow_tasks(now);
        self.tell_policy(now, Some(id));

        let tracker = &self.ledger.trackers[id.index()];
        let has_room = |kind| tracker.occupied[kind] < tracker.slots[kind];
        let has_room = PerSlot { map: has_room(SlotKind::Map), reduce: has_room(SlotKind::Reduce) };
        let may_get_tasks = tracker.is_active() && !self.ledger.is_recovering();
        let is_offered = has_room.map || has_room.reduce || self.scheduler.wants_full_trackers();
        let (mut directives, looks) = if is_offered && may_get_tasks {
            self.launch(now, id, has_room, out)
        } else {
            (Vec::new(), 0)
        };
        let span = self.spec.per_heartbeat
            + self.spec.per_task * directives.len() as u64
            + self.spec.per_job * u64::from(looks);

        directives.append(&mut self.ledger.trackers[id.index()].orders);
        directives.extend(commits.into_iter().map(Directive::Commit));
        if !directives.is_empty() {
            self.ledger.moved_at = now;
        }
        // Who has no news fetches nothing.
        let reports: &[Report] = match heartbeat {
            Heartbeat::Full(status) => &status.reports,
            Heartbeat::AsBefore(_) => &[],
        };
        let (maps, missing) = self.maps_wanted(id, reports, &directives);
        // Reduces that work and cannot fetch something will complain of it.
        let complains =
            |report: &Report| report.wants_maps && report.state == AttemptState::Running;
        if missing.iter().any(|missing| !missing.is_lost)
            && reports.iter().any(complains)
            && !self.ledger.hadoop.is_mumak()
        {
            self.ledger.moved_at = now;
        }
        let interval = self.ledger.heartbeat_interval();
        self.busy_until = begins + span;
        let answer = &mut self.ledger.trackers[id.index()].answer;
        let nothing_follows = directives.is_empty() && maps.is_empty() && missing.is_empty();
        let is_as_before = heartbeat.call().last_reply.is_some() && interval == answer.interval;
        let number = last_id.wrapping_add(1);
        (answer.call, answer.id) = (call, number);
        (answer.interval, answer.queued) = (interval, queued);
        if nothing_follows && is_as_before {
            answer.reply = None;
        } else {
            // Filled in place unless the last one is still on its way.
            let reply = Arc::make_mut(answer.reply.get_or_insert_default());
            *reply = Reply {
                call,
                id: number,
                interval,
                reinit: false,
                disallowed: false,
                directives,
                maps,
                missing,
                queued,
            };
        }
        let mail = Mail::Tracker(id, answer.message());
        out.send_after(self.busy_until.saturating_since(now), mail);
        if self.reviews_at <= now {
            self.review(now, out);
        }
    }

    /// Takes what a tracker says of its slots and its attempts; notes who asks for leave to commit.
    fn take_status(
        &mut self,
        now: SimTime,
        status: &Status,
        commits: &mut Vec<AttemptId>,
        out: &mut Outbox,
    ) {
        let id = status.call.tracker;
        self.ledger.set_health(now, id, status.is_unhealthy, out);
        self.ledger.set_occupied(id, status.occupied);
        let mut known = std::mem::take(&mut self.ledger.trackers[id.index()].reports);
        if known.len() != status.reports.len() {
            self.ledger.moved_at = now;
        }
        for (place, report) in status.reports.iter().enumerate() {
            let is_the_same = |last: &Report| last.says_no_less_than(report);
            // Nearly all are, and in the same place: then nobody looks at the others.
            if !known.get(place).is_some_and(is_the_same) && !known.iter().any(is_the_same) {
                let is_known =
                    |last: &Report| last.attempt == report.attempt && last.state == report.state;
                if !known.iter().any(is_known) {
                    self.ledger.moved_at = now;
                }
                self.take_report(now, id, report, commits, out);
            }
            if self.reads_progress && report.attempt.task.is_work() {
                self.ledger.note_progress(now, report.attempt, report.progress);
            }
            if self.ledger.follows_maps && report.attempt.task.kind == TaskKind::Map {
                self.ledger.follow_map(report);
            }
        }
        for failed in &status.failed_fetches {
            self.ledger.complain(now, *failed, out);
        }
        known.clone_from(&status.reports);
        self.ledger.trackers[id.index()].reports = known;
    }

    /// Looks whether anything moves, and plans when to look again. Before everybody has spoken again
    /// after the last change there is nothing to see, so a busy cluster is hardly looked at.
    fn review(&mut self, now: SimTime, out: &mut Outbox) {
        let interval = self.ledger.heartbeat_interval();
        self.reviews_at = now + interval;
        self.note_withheld(now, out);
        if now < self.ledger.moved_at + interval {
            return;
        }
        let view = View { now, heard: None, ledger: &self.ledger };
        // What a policy does when time passes it does with a tick, and the next one may see it.
        let ticks = self.scheduler.tick_every().unwrap_or_default() * 2;
        let mut patience = (self.scheduler.patience(&view) + ticks).max(self.ledger.slowness());
        if self.ledger.follows_maps {
            // A probe that was on its way when the last thing changed knows nothing of it; the one after
            // it does, and may find room for the next job.
            patience = patience.max(LONGEST_PROBE * 2);
        }
        out.calm = self.ledger.calm(patience);
    }

    /// Notes which jobs are held back without being asked, if that is kept. Where a thousand jobs wait, to
    /// name them all costs more than the heartbeats in between, and none waits for seconds only: so the more
    /// there were, the later it asks again, though before they are forgotten.
    fn note_withheld(&mut self, now: SimTime, out: &mut Outbox) {
        if now < self.asks_withheld_at {
            return;
        }
        // Policies see the rest of the books meanwhile.
        let Some(mut refusals) = self.ledger.refusals.take() else { return };
        let view = View { now, heard: None, ledger: &self.ledger };
        let mut named = 0;
        self.scheduler.withheld(&view, &mut |job, kind, reason| {
            named += 1;
            if view.job(job).is_some_and(|job| 0 < job.pending(kind)) {
                refusals.note(now, job, kind, reason);
            }
        });
        refusals.sweep(now, out);
        self.ledger.refusals = Some(refusals);
        let rest = self.ledger.heartbeat_interval() * (named / WITHHELD_AT_ONCE);
        self.asks_withheld_at = now + rest.min(REMEMBERED_FOR);
    }

    /// Decides whether a heartbeat is new; returns the number of the reply before it.
    fn admit(&mut self, now: SimTime, heartbeat: &Heartbeat, out: &mut Outbox) -> Option<u16> {
        let Call { tracker: id, number, last_reply } = heartbeat.call();
        let tracker = &self.ledger.trackers[id.index()];
        // Calls rise for as long as a machine lives: this one was answered, or has been overtaken. A
        // process that has been started anew would not know that, and take what a tracker said long ago
        // for what it says now; Hadoop's never hears of it, since there a call ends with its connection.
        if number <= tracker.answer.call || tracker.is_excluded() {
            return None;
        }
        match (last_reply, heartbeat) {
            (Some(last), Heartbeat::Full(status)) if tracker.rejoins && tracker.is_registered => {
                self.ledger.rejoin(now, id, &status.reports, out);
                Some(last)
            }
            (None, Heartbeat::Full(status)) => {
                if tracker.is_registered {
                    // It has started anew before it was missed: what it ran is gone.
                    self.ledger.lose_tracker(now, id, out);
                }
                if status.restarted {
                    self.ledger.forgive_all(now, id, out);
                }
                self.ledger.register(now, id, status.slots, out);
                Some(u16::MAX)
            }
            (Some(last), _)
                if tracker.is_registered && !tracker.rejoins && tracker.answer.id == last =>
            {
                Some(last)
            }
            _ => None,
        }
    }

    /// Applies what a tracker says of an attempt.
    fn take_report(
        &mut self,
        now: SimTime,
        tracker: TrackerId,
        report: &Report,
        commits: &mut Vec<AttemptId>,
        out: &mut Outbox,
    ) {
        use AttemptState as S;
        let attempt = report.attempt;
        let Some(record) = self.ledger.find_try(attempt).filter(|t| t.is_on(tracker)) else {
            if matches!(report.state, S::Unassigned | S::Running | S::Suspended | S::CommitPending)
            {
                // Nobody needs it: its job is over, or it was given up for lost.
                self.ledger.trackers[tracker.index()].orders.push(Directive::Kill(attempt));
            }
            return;
        };
        let is_cleaner = record.cleaner.is_some();
        let was = record.state;
        match report.state {
            S::Unassigned | S::Running | S::Suspended => {
                if record.is_active() && was != S::CommitPending {
                    record.state = report.state;
                }
            }
            S::CommitPending => {
                let still_counts = self.ledger.hadoop.commit_pending != CommitPending::NotCounted;
                if self.ledger.wait_for_commit(now, attempt, still_counts, out) {
                    commits.push(attempt);
                }
            }
            // What the removal of an attempt's output ends in, the attempt ends in.
            S::Succeeded | S::Failed | S::FailedUnclean | S::Killed | S::KilledUnclean
                if is_cleaner =>
            {
                let outcome =
                    if was == S::FailedUnclean { Outcome::Failed } else { Outcome::Killed };
                self.ledger.lose(now, attempt, outcome, out);
            }
            S::Succeeded => self.ledger.succeed(now, attempt, out),
            S::FailedUnclean | S::KilledUnclean if self.ledger.cleans_up_after(attempt) => {
                self.ledger.leave_unclean(now, attempt, report.state, out);
            }
            S::Failed | S::FailedUnclean => {
                self.ledger.lose(now, attempt, Outcome::Failed, out);
            }
            S::Killed | S::KilledUnclean => {
                self.ledger.lose(now, attempt, Outcome::Killed, out);
            }
        }
    }

    /// Launches what is to run on a tracker with a free slot; returns also how many times the
    /// policy looked at a job.
    fn launch(
        &mut self,
        now: SimTime,
        tracker: TrackerId,
        has_room: PerSlot<bool>,
        out: &mut Outbox,
    ) -> (Vec<Directive>, u32) {
        for kind in SlotKind::BOTH {
            if has_room[kind]
                && let Some(launch) = self.ledger.launch_service(now, tracker, kind, out)
            {
                return (vec![Directive::Launch(launch)], 0);
            }
        }
        let mut offer = Offer {
            now,
            ledger: &mut self.ledger,
            tracker,
            out,
            directives: Vec::new(),
            taken: PerSlot::default(),
            freed: PerSlot::default(),
            looks: 0,
            looks_take_time: self.spec.per_job != SimSpan::ZERO,
            lineups: None,
        };
        self.scheduler.offer(&mut offer);
        (offer.directives, offer.looks)
    }

    /// Returns how far the maps are that reduces on the tracker fetch from, each job once, and what of
    /// it they cannot fetch.
    ///
    /// In Hadoop a tracker asks for itself as soon as it has a new reduce, in Mumak never.
    fn maps_wanted(
        &self,
        tracker: TrackerId,
        reports: &[Report],
        directives: &[Directive],
    ) -> (Vec<MapsDone>, Vec<Missing>) {
        let asks_at_once = !self.ledger.hadoop.is_mumak();
        let launched = directives.iter().filter_map(|directive| match directive {
            Directive::Launch(launch) if asks_at_once && launch.is_reduce() => Some(launch.attempt),
            Directive::Launch(_)
            | Directive::Kill(_)
            | Directive::Suspend(_)
            | Directive::Resume(_)
            | Directive::Commit(_) => None,
        });
        let fetching = reports.iter().filter(|report| report.wants_maps);
        let mut wanted: Vec<MapsDone> = Vec::new();
        let mut missing = Vec::new();
        for job in fetching.map(|report| report.attempt).chain(launched).map(|id| id.job()) {
            let job = self.ledger.known(job);
            // Reduces of a job that has failed wait for ever, if nobody kills them.
            if job.is_running() && wanted.iter().all(|maps| maps.job != job.id()) {
                let (done, total) = (job.maps_over(), job.tasks(SlotKind::Map).total());
                wanted.push(MapsDone { job: job.id(), done, total });
                self.ledger.name_missing(job, tracker, &mut missing);
            }
        }
        (wanted, missing)
    }

    // ---- clockwork ----

    fn wind_clockwork(&mut self, out: &mut Outbox) {
        if std::mem::replace(&mut self.has_clockwork, true) {
            return;
        }
        self.plan_expiry(out);
        self.plan_tick(out);
    }

    fn plan_expiry(&self, out: &mut Outbox) {
        let third = SimSpan::from_micros(self.ledger.hadoop.expiry.as_micros().div_ceil(3).max(1));
        out.plan(third, ToJobTracker::Expire);
    }

    fn plan_tick(&mut self, out: &mut Outbox) {
        let every = self.scheduler.tick_every();
        self.has_tick = every.is_some();
        if let Some(span) = every {
            out.plan(span, ToJobTracker::Tick);
        }
    }

    /// Gives up trackers that have been silent for too long, and launches that came to nothing.
    fn expire(&mut self, now: SimTime, out: &mut Outbox) {
        let expiry = self.ledger.hadoop.expiry;
        for index in 0..self.ledger.trackers.len() {
            let tracker = &self.ledger.trackers[index];
            if tracker.is_registered && expiry < now.saturating_since(tracker.last_seen) {
                self.ledger.lose_tracker(now, TrackerId(index as u32), out);
            }
        }
        self.ledger.expire_launches(now, out);
        self.tell_policy(now, None);
        // With nobody left there are no heartbeats after which it would look.
        self.review(now, out);
        self.plan_expiry(out);
        if cfg!(debug_assertions) {
            self.ledger.assert_whole(now);
        }
    }

    fn tick(&mut self, now: SimTime, out: &mut Outbox) {
        let mut orders = Orders { now, ledger: &mut self.ledger, out };
        self.scheduler.tick(&mut orders);
        let to_read = std::mem::take(&mut self.ledger.to_read);
        if self.reads_on_order {
            self.unread.extend(to_read);
            self.read_splits(now, out);
        }
        self.plan_tick(out);
    }

    /// Asserts what must hold between two messages, of what these events tell of.
    fn assert_sound(&mut self, now: SimTime, events: &[Event]) {
        let earlier = std::mem::replace(&mut self.heard_at, now);
        assert!(earlier <= now, "{now}: the JobTracker was at {earlier} before");
        assert!(self.ledger.changes.is_empty(), "{now}: the policy has not heard of everything");
        let (reading, threads) = (self.reading, self.spec.init_threads.get());
        assert!(reading <= threads, "{now}: {reading} jobs are being read by {threads} threads");
        let is_busy = reading == threads;
        assert!(is_busy || self.unread.is_empty(), "{now}: a job waits though a thread is idle");
        self.ledger.assert_touched(now, events);
    }
}

/// Returns whether it is noted how far attempts are.
fn reads_progress(policy: &dyn Scheduler, hadoop: &Hadoop) -> bool {
    policy.reads_progress() || hadoop.speculation != Speculation::Off
}

/// Says to a heartbeat that nobody listens, as the machine does for a process that is gone.
fn refuse(heartbeat: &Heartbeat, out: &mut Outbox) {
    let Call { tracker, number, .. } = heartbeat.call();
    out.affect(Mail::Tracker(tracker, ToTracker::Refused(number)));
}

impl Core for JobTracker {
    type Msg = ToJobTracker;

    fn handle(&mut self, now: SimTime, msg: &ToJobTracker, out: &mut Outbox) {
        use ToJobTracker as M;
        self.wind_clockwork(out);
        let stands_still = now < self.stands_until;
        if !stands_still {
            // What waits was there before, be the message that wakes it first or last of this instant.
            self.wake(now, out);
        }
        match msg {
            M::Heartbeat(heartbeat) if self.process == Process::Gone => refuse(heartbeat, out),
            // The world does not wait.
            M::Heartbeat(_)
            | M::Darkness(_)
            | M::DiskLost(_)
            | M::Spoilt(_)
            | M::Replicas(_)
            | M::Cut(_)
            | M::Pause(_)
            | M::Restart(_)
            | M::RestartAndRecover(_)
            | M::ChangePolicy
            | M::Wake
            | M::Over => self.take(now, msg, out),
            _ if stands_still => self.held.push(msg.clone()),
            _ => self.take(now, msg, out),
        }
        self.tell_policy(now, None);
        if cfg!(debug_assertions) {
            self.assert_sound(now, &out.events);
        }
    }
}

impl JobTracker {
    fn take(&mut self, now: SimTime, msg: &ToJobTracker, out: &mut Outbox) {
        match msg {
            ToJobTracker::Heartbeat(heartbeat) => self.queue_up(now, heartbeat, out),
            ToJobTracker::Serve(life) | ToJobTracker::Initialised(_, life)
                if *life != self.deaths => {}
            ToJobTracker::Serve(_) => self.serve_next(now, out),
            ToJobTracker::Submit(spec) => {
                let job = spec.id;
                self.ledger.submit(now, spec.clone(), out);
                if !self.reads_on_order {
                    self.unread.push_back(job);
                }
                self.read_splits(now, out);
            }
            ToJobTracker::Initialised(job, _) => {
                self.reading -= 1;
                self.ledger.initialise(now, *job, out);
                self.read_splits(now, out);
            }
            ToJobTracker::AskLoad(jobs) => {
                out.send(ToInjector::Load(Arc::new(self.ledger.load(jobs))));
            }
            ToJobTracker::Darkness(tracker) => self.ledger.darken(*tracker),
            ToJobTracker::DiskLost(tracker) => self.ledger.spoil(*tracker),
            ToJobTracker::Replicas(files) => self.ledger.files = files.clone(),
            ToJobTracker::Spoilt(map) => self.ledger.spoil_output(**map),
            ToJobTracker::Exclude(tracker) => self.ledger.exclude(now, *tracker, out),
            ToJobTracker::Include(tracker) => self.ledger.include(now, *tracker, out),
            ToJobTracker::Pause(span) => self.pause(now, *span, out),
            ToJobTracker::Restart(span) => self.die(now, *span, false, out),
            ToJobTracker::RestartAndRecover(span) => self.die(now, *span, true, out),
            ToJobTracker::ChangePolicy => self.change_policy(now, out),
            ToJobTracker::Wake => self.wake(now, out),
            ToJobTracker::Cut(cut) => self.ledger.cut(now, cut.clone(), out),
            ToJobTracker::KillJob(job) => self.ledger.condemn(now, *job, Outcome::Killed, out),
            ToJobTracker::Expire => self.expire(now, out),
            // In Mumak a heartbeat takes one step from the tracker's clock to the JobTracker's answer;
            // here one message more, and those that are due before the tick come before it.
            ToJobTracker::Tick if self.ledger.hadoop.is_mumak() => {
                out.plan(SimSpan::ZERO, ToJobTracker::Tock);
            }
            ToJobTracker::Tick | ToJobTracker::Tock => self.tick(now, out),
            ToJobTracker::Start => {}
            ToJobTracker::Rest => out.stop = Some(Stop::Stalled(Box::new(self.ledger.stall()))),
            ToJobTracker::Over => {
                if let Some(refusals) = &mut self.ledger.refusals {
                    refusals.close(now, out);
                }
            }
        }
    }
}
