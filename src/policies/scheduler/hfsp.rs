//! `hfsp`: the Hadoop Fair Sojourn Protocol (Pastorelli et al., 2013 and 2015).
//!
//! Jobs are served one after another, in the order in which processor sharing would end them. So
//! each job ends about as early as if all jobs shared the cluster, and most jobs end much earlier.
//! Maps and reduces are scheduled separately. For each kind, a [`VirtualCluster`] computes when
//! sharing would end each job, a [`Trainer`] estimates how large the jobs are, and a [`JobLine`]
//! keeps their order.
//!
//! A slot goes first to the samples of new jobs, then to the jobs in order. A job uses the slot to
//! resume an attempt that is suspended on the tracker, or to launch a task that may run on this
//! node. If a job lacks slots that jobs behind it hold, attempts of the jobs behind are suspended
//! or killed, or the job waits. Only as many attempts are preempted as slots are lacking. An
//! attempt that measures a job's size is never preempted. A tracker on which too many attempts are
//! suspended suspends no more, and jobs wait there.
//!
//! A reduce may start when few maps of its job are done. It then waits for the other maps, and
//! holds a slot that another task could use. So in the papers the reduces of a job are a job of
//! their own, which arrives when the maps are done; reduces launched earlier rank last.
//!
//! [`JobLine`]: super::shared::line::JobLine
//! [`Trainer`]: self::trainer::Trainer

mod options;
mod phase;
mod trainer;
mod virtual_cluster;

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;

use self::options::HfspRules;
pub(super) use self::options::VirtualSlots;
pub use self::options::{
    Confidence, HfspOptions, HfspOrder, HfspVariant, LateOrder, SparedAttempts, Victims, Weights,
};
use self::phase::{Phase, SuspendedHere};
use super::estimator::{Estimates, Estimator};
use super::rank::JobRecord;
use super::shared::delay::{Delay, NO_DELAY};
use super::shared::line::{Measure, MeasuredTurn};
use super::shared::suspensions::{SlotTaking, Suspensions, is_suspendable};
use super::shared::taking::{Taking, Victim, victims};
use mumakil_base::mutated;
use mumakil_base::units::SimSpan;
use mumakil_core::mapred::{
    AttemptId, AttemptState, Complaint, JobChange, JobEvent, JobId, JobSize, Offer, OptionFacts,
    Outcome, PerSlot, Policy, PolicyNeeds, PolicySite, Precedence, PrecedenceBy, Preemption,
    Report, RunEndHook, SayRank, Scheduler, Setting, SlotKind, TrackerId, TrueDurations, View,
};

/// The state of the scheduler.
#[derive(Debug)]
pub struct Hfsp {
    rules: HfspRules,
    phases: PerSlot<Phase>,
    estimates: Estimates,
    delay: Delay,
    suspended: Suspensions,
    doomed: BTreeSet<AttemptId>,
    /// How long the attempts of each job have held slots; empty unless late jobs are served by it.
    records: FxHashMap<JobId, JobRecord>,
}

impl Policy for Hfsp {
    const NAME: &'static str = "hfsp";
    const ABOUT: &'static str =
        "by size: first the job that would end first under equal sharing, with preemption";
    const GROUP: &'static str = "by size";
    type Options = HfspOptions;

    fn settle(options: &mut HfspOptions, site: &PolicySite<'_>) -> Vec<Complaint> {
        let mut complaints = options.complaints();
        complaints.extend(options.weights.as_ref().and_then(|weights| weights.unknown_names(site)));
        complaints
    }

    fn facts(options: &HfspOptions) -> OptionFacts<'_> {
        let estimator = options.estimator.as_ref().and_then(Estimator::named);
        let delay = options.delay.as_ref().unwrap_or(&NO_DELAY);
        OptionFacts { estimator, heeds_bytes: true, ..delay.facts() }
    }

    fn new(options: HfspOptions) -> Self {
        Self::with(options.rules())
    }
}

impl Hfsp {
    pub(super) fn with(rules: HfspRules) -> Self {
        Self {
            phases: PerSlot::of(|kind| Phase::new(kind, &rules)),
            estimates: Estimates::new(rules.estimator.clone(), rules.error.clone()),
            // The text of 2015 knows only local and non-local tasks, so a job that was passed over
            // may launch anywhere.
            delay: match &rules.delay {
                None => {
                    mutated!(Delay::by_skips(None, 0), "hfsp/attempts" => Delay::new(&NO_DELAY))
                }
                Some(delay) => Delay::new(mutated!(delay, "hfsp/attempts" => &NO_DELAY)),
            },
            suspended: Suspensions::new(rules.suspended),
            doomed: BTreeSet::new(),
            records: FxHashMap::default(),
            rules,
        }
    }

    fn means(&self, kind: SlotKind) -> SlotTaking {
        let HfspRules { preemption, map_preemption, .. } = self.rules;
        match kind {
            SlotKind::Map => mutated!(map_preemption, "hfsp/map-preemption" => preemption),
            SlotKind::Reduce => mutated!(preemption, "hfsp/kills" => SlotTaking::Kill),
        }
    }

    fn refresh(&mut self, view: &View<'_>, id: JobId) {
        let Some(job) = view.job(id) else { return };
        for kind in SlotKind::BOTH {
            // These still count as running in the JobTracker, but hold no slots.
            let is_own = |attempt: &&AttemptId| attempt.job() == id && attempt.slot() == kind;
            let doomed = self.doomed.iter().filter(is_own).count() as u32;
            let stopped = self.suspended.of(id, kind);
            let lost = mutated!(stopped + doomed, "hfsp/doomed" => stopped, "hfsp/held" => doomed);
            self.phases[kind].count(view, job, lost, &mut self.estimates);
        }
    }

    fn serve(&mut self, offer: &mut Offer<'_>, kind: SlotKind) {
        // Use free slots first, since taking a slot from another job harms that job.
        while 0 < offer.free(kind) && self.fill(offer, kind) {}
        let Some(how) = self.means(kind).preemption() else { return };
        while self.suspended.have_room(offer, how) && self.make_room(offer, kind, how) {}
    }

    fn fill(&mut self, offer: &mut Offer<'_>, kind: SlotKind) -> bool {
        let Self { phases, delay, .. } = self;
        let mut began = phases[kind].samples().find_map(|claim| claim.begin(offer, kind, delay));
        // The lookup may rank all jobs, so it waits until no sample uses the slot.
        let here = if began.is_none() { self.suspended_here(offer, kind) } else { None };
        // The lookup borrowed all of `self`, so borrow the fields again.
        let Self { phases, delay, .. } = self;
        let mut from = Some(Measure::FIRST);
        while began.is_none()
            && let Some(rank) = from
        {
            // Ask the jobs that have a rank. If all of them decline, rank more jobs.
            began =
                phases[kind].in_line(here, rank).find_map(|claim| claim.begin(offer, kind, delay));
            from = phases[kind].ranked_before();
            if began.is_none() {
                phases[kind].rank_more();
            }
        }
        began.inspect(|attempt| self.note_begun(offer, *attempt)).is_some()
    }

    /// Preempts an attempt for the first job that lacks a slot and can use it here.
    fn make_room(&mut self, offer: &mut Offer<'_>, kind: SlotKind, how: Preemption) -> bool {
        let here = self.suspended_here(offer, kind);
        // If no job claims a slot, even after all are ranked, there is no reason to preempt.
        while self.phases[kind].claims(here).next().is_none() {
            if !self.phases[kind].rank_more() {
                return false;
            }
        }
        let victims = self.victims(offer, kind, how);
        let Self { phases, delay, .. } = self;
        let phase = &phases[kind];
        let spare = offer.view().capacity(kind).saturating_sub(phase.line.held());
        let taking = Taking { kind, how, spare, victims };
        let mut claims = phase.claims(here);
        let taken = taking.take(offer, delay, |_| claims.next(), |_, _, _| true);
        // The iterator borrows the phases, which are about to change.
        drop(claims);
        let Some((attempt, victim)) = taken else { return false };
        self.note_begun(offer, attempt);
        let now = offer.view().now();
        self.record(victim.job(), |record| record.stops(victim, now));
        match how {
            Preemption::Suspend => self.suspended.note(victim, offer.tracker()),
            Preemption::Kill | Preemption::Checkpoint => _ = self.doomed.insert(victim),
        }
        self.refresh(&offer.view(), victim.job());
        true
    }

    /// Returns the attempts that could lose their slots here, the first one first.
    fn victims(
        &mut self,
        offer: &Offer<'_>,
        kind: SlotKind,
        how: Preemption,
    ) -> Vec<Victim<MeasuredTurn>> {
        let phase = &self.phases[kind];
        let mut reports: Vec<&Report> = self.suspended.preemptable(offer, kind, how).collect();
        reports.retain(|report| !phase.needs(report.attempt));
        if reports.is_empty() {
            return Vec::new();
        }
        // The search for a victim begins at the last job, so all jobs must be ranked.
        self.phases[kind].rank_all();
        let phase = &self.phases[kind];
        let view = offer.view();
        let placed = reports
            .into_iter()
            .filter_map(|report| Some((phase.line.place(report.attempt.job())?, report)));
        let is_spared = |job| how == Preemption::Suspend && !is_suspendable(&view, job);
        let mut victims = victims(placed, phase.givers(is_spared));
        mutated!(
            self.rules.victims.sort(&mut victims, |job| phase.size_of(job)),
            "hfsp/first-victim" => victims.sort_by_key(|one| one.turn),
        );
        victims
    }

    /// Returns the suspended attempt here whose job ranks first.
    fn suspended_here(&mut self, offer: &Offer<'_>, kind: SlotKind) -> Option<SuspendedHere> {
        if self.suspended.on(offer.tracker()).next().is_some() {
            // They are resumed in the order of their jobs.
            self.phases[kind].rank_all();
        }
        self.suspended.first_on(offer, kind, |job| self.phases[kind].line.place(job))
    }

    fn record(&mut self, job: JobId, note: impl FnOnce(&mut JobRecord)) {
        if self.rules.late == LateOrder::LeastAttained {
            note(self.records.entry(job).or_default());
        }
    }

    fn note_begun(&mut self, offer: &Offer<'_>, attempt: AttemptId) {
        let (was_suspended, now) = (self.suspended.forget(attempt), offer.view().now());
        // Only a new attempt may join a sample; a resumed attempt was launched long ago.
        if !was_suspended {
            self.phases[attempt.slot()].trainer.launched(attempt);
        }
        self.record(attempt.job(), |record| match was_suspended {
            true => record.resumes(attempt, now),
            false => record.launches(attempt, now),
        });
        self.refresh(&offer.view(), attempt.job());
    }
}

impl Scheduler for Hfsp {
    fn precedence(&self) -> Precedence {
        Precedence::of_jobs(PrecedenceBy::Size)
    }

    fn inherit(&mut self, suspended: &[(AttemptId, TrackerId)]) -> bool {
        suspended.iter().for_each(|(attempt, tracker)| self.suspended.note(*attempt, *tracker));
        true
    }

    fn begin(&mut self, setting: &Setting<'_>) -> Result<Option<RunEndHook>, String> {
        self.estimates.begin(setting).map(|()| None)
    }

    fn needs(&self) -> PolicyNeeds {
        // Hadoop offers only free slots, but preemption needs trackers without free slots.
        let makes_room = SlotKind::BOTH.iter().any(|kind| self.means(*kind) != SlotTaking::Wait);
        let full_trackers = makes_room || self.rules.reduce_time_out.is_some();
        PolicyNeeds { truth: self.estimates.are_true(), full_trackers, ..PolicyNeeds::default() }
    }

    fn foresee(&mut self, truth: &TrueDurations) {
        self.estimates.foresee(truth);
    }

    fn job_changed(&mut self, view: &View<'_>, event: &JobEvent) {
        self.delay.job_changed(view, event);
        let id = event.job;
        match event.change {
            // As in the published source, a job is added when it can launch tasks, after its setup.
            JobChange::Submitted | JobChange::Initialised => {}
            JobChange::SlowTasks => self.refresh(view, id),
            JobChange::Altered { .. } => {
                let Some(job) = view.job(id) else { return };
                for kind in SlotKind::BOTH {
                    self.phases[kind].weigh(view, job);
                }
            }
            JobChange::Running => {
                let Some(job) = view.job(id) else { return };
                for kind in SlotKind::BOTH {
                    self.phases[kind].enter(view, job, &mut self.estimates);
                }
                self.refresh(view, id);
            }
            JobChange::Attempt(attempt, state) => {
                use AttemptState as S;
                // In any other state the attempt never resumes.
                if !matches!(state, S::Unassigned | S::Running | S::Suspended) {
                    self.suspended.forget(attempt);
                }
                if let Some(outcome) = state.outcome() {
                    self.record(id, |record| {
                        record.ends(attempt, view.now(), outcome == Outcome::Succeeded);
                    });
                    mutated!(self.doomed.remove(&attempt), "hfsp/doomed-for-ever" => false);
                    let estimates = &mut self.estimates;
                    self.phases[attempt.slot()].ended(view, attempt, outcome, estimates);
                }
                self.refresh(view, id);
            }
            JobChange::Ended(_) => {
                self.suspended.forget_job(id);
                self.doomed.retain(|attempt| attempt.job() != id);
                self.estimates.job_over(id);
                self.records.remove(&id);
                for kind in SlotKind::BOTH {
                    self.phases[kind].remove(view, id);
                }
            }
        }
    }

    fn patience(&self, view: &View<'_>) -> SimSpan {
        let phases =
            SlotKind::BOTH.into_iter().filter(|kind| self.means(*kind) != SlotTaking::Wait);
        // A job that comes to the front as time passes may preempt attempts.
        let ages =
            phases.map(|kind| self.phases[kind].cluster.ages()).max().unwrap_or(SimSpan::ZERO);
        self.delay.patience(view) + ages
    }

    fn sizes(&self, job: JobId, say: &mut dyn FnMut(SlotKind, JobSize)) {
        for kind in SlotKind::BOTH {
            if let Some(size) = self.phases[kind].size(job) {
                say(kind, size);
            }
        }
    }

    fn ranking(&mut self, view: &View<'_>, kind: SlotKind, say: SayRank<'_>) {
        self.phases[kind].settle(view, &self.records);
        self.phases[kind].rank_all();
        for claim in self.phases[kind].claims(None) {
            say(claim.turn.1, &[self.phases[kind].number(claim)]);
        }
    }

    fn offer(&mut self, offer: &mut Offer<'_>) {
        for kind in SlotKind::BOTH {
            // The report may change the sizes of jobs and so their order.
            self.phases[kind].look(&offer.view(), offer.tracker(), &mut self.estimates);
            if let Some(note) = self.phases[kind].settle(&offer.view(), &self.records) {
                offer.note(note);
            }
        }
        // Hadoop does not ask a policy for full trackers, so no time passes with them.
        if SlotKind::BOTH.iter().any(|kind| 0 < offer.free(*kind)) {
            self.delay.begin(&offer.view());
        }
        for kind in SlotKind::BOTH {
            self.serve(offer, kind);
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_yaml::with::singleton_map_recursive;

    use super::*;
    use mumakil_core::mapred::{Input, Order, PolicyBench, TaskId, TaskKind};

    /// In the virtual cluster the first job has two of three slots, at half the speed of real time.
    /// The jobs begin with 240 s and 180 s of work; after 130 s, 110 s and 115 s are left.
    #[test]
    fn by_virtual_work_time_alone_changes_the_order() {
        let options = HfspOptions { variant: HfspVariant::Hadoop, ..HfspOptions::default() };
        let mut bench = PolicyBench::new(Hfsp::new(options), 3, PerSlot { map: 1, reduce: 0 });
        let [larger, smaller] = [4, 3].map(|maps| bench.submit(maps, 0, |_| {}));
        assert_eq!(bench.offer(0)[0].job(), smaller);
        assert_eq!(bench.at(130.0).offer(1)[0].job(), larger, "only time has passed");
    }

    /// Two trackers of one slot; the input of the job's only map is on the second one. By the text of
    /// 2015 the job lets as many offers pass as there are trackers, however fast they come; by that
    /// of 2013 it waits for a time.
    #[test]
    fn by_the_later_paper_attempts_are_counted_and_not_time() {
        let passed = |options: &str, seconds: f64| {
            let options = serde_yaml::from_str(options).unwrap();
            let mut bench = PolicyBench::new(Hfsp::new(options), 2, PerSlot { map: 1, reduce: 0 });
            bench.submit(2, 0, |spec| spec.input = Some(Input::on_trackers([1, 1])));
            let mut offers = (0..100).map(|round| f64::from(round) * seconds);
            offers.position(|at| !bench.at(at).offer(0).is_empty())
        };
        assert_eq!(passed("{}", 0.01), Some(2), "two trackers");
        assert_eq!(passed("{}", 60.0), Some(2));
        // The second map is no sample, so the job is asked twice for each slot.
        assert_eq!(passed("{sample: 1}", 0.01), Some(2), "each slot counts once");
        assert_eq!(passed("{delay: {w1: 6s}}", 2.0), Some(3), "a time was asked for");
        assert_eq!(passed("{variant: hadoop}", 2.0), Some(0));
        assert_ne!(passed("{variant: paper-2013}", 0.01), Some(2));
    }

    /// The only tracker has two slots of each kind. Half of the maps are done, and both reduces wait for
    /// the others.
    #[test]
    fn reduces_that_wait_for_maps_are_not_spared_as_a_sample() {
        for variant in ["paper-2013", "paper-2015"] {
            let options = serde_yaml::from_str(&format!("{{variant: {variant}}}")).unwrap();
            let mut bench = PolicyBench::new(Hfsp::new(options), 1, PerSlot { map: 2, reduce: 2 });
            let early = bench.submit(2, 2, |_| {});
            bench.fill().end_first(early, SlotKind::Map, 1);
            bench.fill();
            assert_eq!(bench.held(SlotKind::Reduce, [early]), [2]);
            let late = bench.at(10.0).submit(0, 2, |_| {});
            let begun = bench.at(13.0).offer(0);
            assert!(begun.iter().all(|attempt| attempt.job() == late), "{variant}: {begun:?}");
            let orders = bench.carry_out();
            let suspended =
                orders.iter().filter(|(id, order)| (id.job(), *order) == (early, Order::Suspend));
            assert_eq!(suspended.count(), 2, "{variant}: {orders:?}");
        }
    }

    #[test]
    fn an_error_needs_an_estimate() {
        let complaints = |options: &str| {
            let options = serde_yaml::Deserializer::from_str(options);
            let options: HfspOptions = singleton_map_recursive::deserialize(options).unwrap();
            let complaints = options.complaints();
            complaints.into_iter().map(|one| (one.is_warning, one.path)).collect::<Vec<_>>()
        };
        let refused = complaints("{sample: 0, error: {uniform: 0.5}}");
        assert_eq!(refused.len(), 1);
        assert!(!refused[0].0, "an error and no warning");
        assert!(complaints("{sample: 0, estimator: oracle, error: {uniform: 0.5}}").is_empty());
        assert!(complaints("{sample: 5, error: {uniform: 0.5}}").is_empty());
        assert!(complaints("{sample: 0}")[0].0, "only a warning");
    }

    /// Returns a reduce that has run for `ran` seconds, of a job with this rank. The jobs behind its
    /// job give up `behind` slots before its job does.
    fn victim(job: u32, rank: f64, ran: u64, behind: u32) -> Victim<MeasuredTurn> {
        let task = TaskId { job: JobId(job), kind: TaskKind::Reduce, index: 0 };
        Victim {
            attempt: task.attempt(0),
            ran: SimSpan::from_secs(ran),
            turn: (Measure(rank), JobId(job)),
            behind,
        }
    }

    /// The large job has waited for long, and ranks before the middle one. If one slot is lacking,
    /// the last job gives it up. If more slots are lacking, attempts of several jobs may be
    /// preempted, and the rule decides.
    #[test]
    fn the_victim_is_of_the_largest_job_or_the_last_or_the_youngest() {
        let last_first = [victim(3, 30.0, 70, 0), victim(2, 20.0, 80, 2), victim(1, 10.0, 50, 4)];
        let sizes = [0.0, 900.0, 300.0, 500.0].map(Measure);
        let chosen_for = |turn: MeasuredTurn, lacking: u32, rule: Victims| {
            let mut victims = last_first.to_vec();
            rule.sort(&mut victims, |job| sizes[job.index()]);
            let (kind, how) = (SlotKind::Reduce, Preemption::Suspend);
            let taking = Taking { kind, how, spare: 0, victims };
            taking.able(turn, lacking).next().map(|victim| victim.attempt.job().0)
        };
        let chosen = |lacking, rule| chosen_for((Measure(5.0), JobId(9)), lacking, rule);
        use Victims as V;
        for rule in [V::LargestJob, V::LastJob, V::LastJobOldest, V::Youngest] {
            assert_eq!(chosen(1, rule), Some(3), "{rule:?}: the last job suffices");
        }
        assert_eq!(chosen(5, V::LargestJob), Some(1), "900 s of work");
        assert_eq!(chosen(3, V::LargestJob), Some(3), "500 s of work against 300 s");
        assert_eq!(chosen(5, V::LastJob), Some(3));
        let paper = HfspOptions { variant: HfspVariant::Paper2015, ..HfspOptions::default() };
        assert_eq!(chosen(5, paper.rules().victims), Some(3), "of the job that is tagged");
        assert_eq!(chosen(5, V::Youngest), Some(1), "it has run for only 50 s");
        assert_eq!(chosen_for((Measure(40.0), JobId(9)), 5, V::Youngest), None);
    }
}
