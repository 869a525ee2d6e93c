//! `rank`: a policy that is a formula. A free slot goes to the job with the highest rank; among
//! equal ranks, to the job that arrived first.
//!
//! ```text
//! jobs: -submitted                   first come, first served
//! jobs: -remaining                   the fewest tasks left
//! jobs: -attained                    least attained service
//! jobs: age / remaining              highest response ratio
//! jobs: priority + age / 10min       priorities with ageing
//! ```
//! A rank whose facts change only with the job is computed when something happens to it. Another
//! rank is computed again for each tracker that offers a slot.
//!
//! With `preemption`, waiting jobs also take slots from jobs that rank below them ([`preempt`]).

mod facts;
mod formula;
mod preempt;
mod record;

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::ops::Bound;

use rustc_hash::FxHashMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub(super) use self::facts::FACTS;
use self::facts::{RankFlow, RankedJob, Surroundings};
pub use self::formula::RankFormula;
pub use self::preempt::VictimChoice;
pub(in crate::scheduler) use self::record::JobRecord;
use self::record::RankTurn;
use super::shared::delay::{Delay, DelaySpec};
use super::shared::line::{JobLine, Measure};
use super::shared::reduces::{Reduces, WithReduces};
use super::shared::suspensions::{SlotTaking, SuspendedSpec, Suspensions};
use mumakil_base::mutated;
use mumakil_base::units::{SimSpan, SimTime};
use mumakil_base::with_defaults;
use mumakil_core::mapred::{
    AttemptId, AttemptState, Complaint, JobChange, JobEvent, JobId, Offer, OptionFacts, Outcome,
    PerSlot, Policy, PolicyNeeds, PolicySite, Preemption, Reason, SayRank, Scheduler, SlotKind,
    TaskTimeSum, TrackerId, View,
};

/// For how long time alone may change ranks before a job takes a slot.
// Chosen: a formula does not say when its value will have changed enough, and Hadoop's longest wait
// is a day.
const LONGEST_WAIT: SimSpan = SimSpan::from_secs(24 * 60 * 60);

with_defaults! {
    /// The options of `rank`.
    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
    #[serde(default, deny_unknown_fields)]
    pub struct RankOptions {
        /// The rank of a job for a map, and for a reduce without a rank of its own. The highest comes
        /// first.
        pub jobs: RankFormula = RankFormula::of("-submitted").expect("a known name"),
        /// The rank of a job for a reduce.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub reduces: Option<RankFormula> = None,
        /// How long jobs wait for their input. Without this, they do not wait.
        pub delay: DelaySpec = DelaySpec::NONE,
        /// How a job gets slots that jobs hold which rank below it.
        pub preemption: SlotTaking = SlotTaking::Wait,
        /// A condition on the job that would take a slot; `victim.` begins the names of the one
        /// that would lose it.
        #[schemars(extend("x-only-if" = {"preemption": ["eager", "kill", "checkpoint"]}))]
        #[serde(skip_serializing_if = "Option::is_none")]
        pub preemption_when: Option<RankFormula> = None,
        /// Which attempt loses its slot first: `last-job` unless given.
        #[schemars(extend("x-only-if" = {"preemption": ["eager", "kill", "checkpoint"]}))]
        #[serde(skip_serializing_if = "Option::is_none")]
        pub victims: Option<VictimChoice> = None,
        /// How many attempts may be suspended on one tracker. Without this, `most` is 4 and `few` is 2.
        #[schemars(extend("x-only-if" = {"preemption": "eager"}))]
        #[serde(skip_serializing_if = "Option::is_none")]
        pub suspended: Option<SuspendedSpec> = None,
    }
}

/// Serves jobs by their rank.
#[derive(Debug)]
pub struct ByRank {
    formulas: PerSlot<RankFormula>,
    preemption: SlotTaking,
    when: Option<RankFormula>,
    victims: VictimChoice,
    /// The jobs in order; without preemption, only those that could use a slot.
    lines: PerSlot<JobLine<RankTurn>>,
    suspended: Suspensions,
    records: FxHashMap<JobId, JobRecord>,
    /// The jobs in line that hold slots of any kind.
    served: PerSlot<BTreeSet<JobId>>,
    /// How long the tasks of all jobs took that have succeeded.
    took: PerSlot<TaskTimeSum>,
    delay: Delay,
    reduces: Reduces,
    stack: Vec<f64>,
}

/// Returns a job's position by a formula; a value that is no number comes last.
fn turn(formula: &RankFormula, ranked: &RankedJob<'_>, stack: &mut Vec<f64>) -> RankTurn {
    let value = formula.compute(ranked, None, stack);
    // The sum makes zero and minus zero the same rank.
    let rank = Measure(if value.is_nan() { f64::NEG_INFINITY } else { value + 0.0 });
    let at = ranked.job.submitted_at();
    let arrived = mutated!(at, "rank/latest-first" => SimTime::ZERO + (SimTime::NEVER - at));
    (Reverse(rank), arrived, ranked.job.id())
}

impl Policy for ByRank {
    const NAME: &'static str = "rank";
    const ABOUT: &'static str = "the job with the highest rank first, by a formula of your own";
    type Options = WithReduces<RankOptions>;

    fn settle(options: &mut Self::Options, _: &PolicySite<'_>) -> Vec<Complaint> {
        let RankOptions { jobs, reduces, suspended, .. } = &options.own;
        let ranks = [("jobs", Some(jobs)), ("reduces", reduces.as_ref())];
        let with_victim =
            ranks.into_iter().filter(|(_, rank)| rank.is_some_and(|it| it.has_victim()));
        let complaints = with_victim.map(|(key, _)| {
            let message = "a rank is of one job: `victim.` stands only in `preemption_when`";
            Complaint::error(&[key], message, "leave `victim.` out")
        });
        let few = suspended.and_then(|spec| spec.complaint(&["suspended", "few"]));
        complaints.chain(few).collect()
    }

    fn facts(options: &Self::Options) -> OptionFacts<'_> {
        options.facts(&options.own.delay)
    }

    fn vocabulary() -> Vec<(String, &'static str)> {
        formula::vocabulary()
    }

    fn new(options: Self::Options) -> Self {
        let WithReduces { own: options, reduces } = options;
        let RankOptions { jobs, reduces: of_reduces, delay, preemption, .. } = options;
        let of_reduces =
            mutated!(of_reduces, "rank/reduces-as-maps" => None).unwrap_or_else(|| jobs.clone());
        let (lines, records, served, took) = Default::default();
        Self {
            formulas: PerSlot { map: jobs, reduce: of_reduces },
            preemption,
            when: options.preemption_when,
            victims: options.victims.unwrap_or_default(),
            lines,
            suspended: Suspensions::new(options.suspended.unwrap_or(SuspendedSpec::FEW)),
            records,
            served,
            took,
            delay: Delay::new(&delay),
            reduces: Reduces::new(&reduces),
            stack: Vec::new(),
        }
    }
}

impl ByRank {
    fn surroundings(&self, view: &View<'_>, kind: SlotKind) -> Surroundings {
        Surroundings::new(view, kind, &self.took, self.records.len() as u32)
    }

    /// Gives a job its positions for a kind of slot.
    fn place(&mut self, view: &View<'_>, id: JobId, kind: SlotKind) {
        let around = self.surroundings(view, kind);
        // A job that neither runs nor waits has no record and no position.
        let Some(record) = self.records.get(&id) else { return };
        self.served[kind].remove(&id);
        let Some(job) = view.job(id) else { return self.lines[kind].remove(id) };
        let pending = self.reduces.pending(job, kind);
        let holds = self.taking().is_some() && job.is_running();
        let running = if holds { job.tasks(kind).running() } else { 0 };
        let held = running.saturating_sub(record.stopped(kind));
        if pending == 0 && held == 0 {
            return self.lines[kind].remove(id);
        }
        if record.is_served() {
            self.served[kind].insert(id);
        }
        let ranked = RankedJob { job, record, around: &around };
        self.lines[kind].enter(turn(&self.formulas[kind], &ranked, &mut self.stack), pending, held);
    }

    fn place_for_both(&mut self, view: &View<'_>, id: JobId) {
        SlotKind::BOTH.into_iter().for_each(|kind| self.place(view, id, kind));
    }

    /// Computes the ranks again that change by themselves.
    fn refresh(&mut self, view: &View<'_>, kind: SlotKind) {
        let around = self.surroundings(view, kind);
        let Self { formulas, lines, records, served, stack, .. } = self;
        let again = |id: JobId| {
            let (job, record) = view.job(id).zip(records.get(&id))?;
            Some(turn(&formulas[kind], &RankedJob { job, record, around: &around }, stack))
        };
        match formulas[kind].flows {
            RankFlow::Never => {}
            RankFlow::Served => {
                let turns = served[kind].iter().copied().filter_map(again);
                turns.for_each(|turn| lines[kind].place_at(turn));
            }
            RankFlow::Always => lines[kind].renew(again),
        }
    }

    /// Gives a free slot to the first job that can use it. Returns whether there was such a job.
    fn fill(&mut self, offer: &mut Offer<'_>, kind: SlotKind) -> bool {
        let here = self.suspended_here(offer, kind);
        // A suspended attempt comes just before the new tasks of its job.
        let before = here.map_or(Bound::Unbounded, |(of_job, _)| Bound::Excluded(of_job));
        let reason = |_: &View<'_>, _, place| Reason::InLine(place);
        let attempt = {
            let Self { lines, delay, reduces, .. } = self;
            let line = lines[kind].waiting((Bound::Unbounded, before)).map(|(.., job)| job);
            match (reduces.launch_first(offer, kind, line.clone(), delay, reason), here) {
                (Some(launched), _) => launched.attempt,
                (None, Some((_, attempt))) => {
                    offer.resume(attempt, Reason::InLine(line.count() as u32));
                    attempt
                }
                (None, None) => return false,
            }
        };
        self.note_begun(offer, attempt);
        true
    }

    fn note_begun(&mut self, offer: &Offer<'_>, attempt: AttemptId) {
        let view = offer.view();
        let record = self.records.entry(attempt.job()).or_default();
        if self.suspended.forget(attempt) {
            record.resumes(attempt, view.now());
        } else {
            record.launches(attempt, view.now());
        }
        self.place_for_both(&view, attempt.job());
    }
}

impl Scheduler for ByRank {
    fn inherit(&mut self, suspended: &[(AttemptId, TrackerId)]) -> bool {
        if self.taking() != Some(Preemption::Suspend) {
            return false;
        }
        for (attempt, tracker) in suspended {
            self.suspended.note(*attempt, *tracker);
            self.records.entry(attempt.job()).or_default().enters(*attempt);
        }
        true
    }

    fn patience(&self, view: &View<'_>) -> SimSpan {
        let formulas = [&self.formulas.map, &self.formulas.reduce].into_iter().chain(&self.when);
        let flows = formulas.map(|formula| formula.flows).max() > Some(RankFlow::Never);
        let may_take = self.taking().is_some() && flows;
        let ages = if may_take { LONGEST_WAIT } else { SimSpan::ZERO };
        self.delay.patience(view) + ages
    }

    fn needs(&self) -> PolicyNeeds {
        let takes = self.taking().is_some();
        PolicyNeeds { reports: takes, full_trackers: takes, ..self.reduces.needs() }
    }

    fn job_changed(&mut self, view: &View<'_>, event: &JobEvent) {
        self.delay.job_changed(view, event);
        match event.change {
            JobChange::Running => _ = self.records.entry(event.job).or_default(),
            JobChange::Attempt(attempt, state) => self.attempt_changed(view, attempt, state),
            JobChange::Ended(_) => self.suspended.forget_job(event.job),
            _ => {}
        }
        self.place_for_both(view, event.job);
        if let JobChange::Ended(_) = event.change {
            self.records.remove(&event.job);
        }
    }

    fn ranking(&mut self, view: &View<'_>, kind: SlotKind, say: SayRank<'_>) {
        self.refresh(view, kind);
        for (Reverse(rank), submitted, job) in self.lines[kind].waiting(..) {
            say(job, &[("rank", rank.0), ("submitted", submitted.as_secs_f64())]);
        }
    }

    fn offer(&mut self, offer: &mut Offer<'_>) {
        // The delay's time passes only with offers of free slots, as without preemption.
        if SlotKind::BOTH.iter().any(|kind| 0 < offer.free(*kind)) {
            self.delay.begin(&offer.view());
        }
        for kind in SlotKind::BOTH {
            if 0 < offer.free(kind) {
                self.refresh(&offer.view(), kind);
            }
            // A job that is asked again would count as passed over twice.
            while 0 < offer.free(kind) && self.fill(offer, kind) {}
            self.preempt(offer, kind);
        }
    }
}

impl ByRank {
    fn attempt_changed(&mut self, view: &View<'_>, attempt: AttemptId, state: AttemptState) {
        use AttemptState as S;
        // In any other state the attempt never resumes, so it no longer counts as suspended.
        let was_suspended = !matches!(state, S::Unassigned | S::Running | S::Suspended)
            && self.suspended.forget(attempt);
        let Some(record) = self.records.get_mut(&attempt.job()) else { return };
        if let Some(outcome) = state.outcome() {
            let succeeded = outcome == Outcome::Succeeded;
            if let Some(took) = record.ends(attempt, view.now(), succeeded)
                && succeeded
            {
                self.took[attempt.slot()].add(took);
            }
        } else if was_suspended {
            // It had finished its work before the order came, and waits in its slot for its commit.
            record.goes_on(attempt, view.now());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mumakil_core::mapred::{PolicyBench, Priority};

    fn options(text: &str) -> WithReduces<RankOptions> {
        serde_yaml::from_str(text).unwrap()
    }

    /// Returns how many maps each of three jobs of 9, 3 and 6 maps holds on two trackers of two
    /// slots. They arrive ten seconds after one another; the second has a high priority.
    fn held(formula: &str) -> [usize; 3] {
        let policy = ByRank::new(options(&format!("{{jobs: '{formula}'}}")));
        let mut bench = PolicyBench::new(policy, 2, PerSlot { map: 2, reduce: 1 });
        let jobs = [(9, Priority::Normal), (3, Priority::High), (6, Priority::Normal)];
        let jobs = [0, 1, 2].map(|number| {
            let (maps, priority) = jobs[number];
            bench.at(10.0 * number as f64).submit(maps, 1, |spec| spec.priority = priority)
        });
        bench.at(30.0).fill();
        let held = bench.held(SlotKind::Map, [jobs[0], jobs[1], jobs[2]]);
        [held[0], held[1], held[2]]
    }

    #[test]
    fn the_highest_rank_comes_first() {
        for (formula, expected) in [
            ("-submitted", [4, 0, 0]),
            ("age", [4, 0, 0]),
            ("submitted", [0, 0, 4]),
            ("-remaining", [0, 3, 1]),
            ("priority", [1, 3, 0]),
            ("priority + age / 5s", [4, 0, 0]),
            ("-running", [2, 1, 1]),
            ("age / remaining", [1, 3, 0]),
            ("0 / 0", [4, 0, 0]),
            ("if(maps == 6, 0, 0 / 0)", [0, 0, 4]),
        ] {
            assert_eq!(held(formula), expected, "{formula}");
        }
    }

    #[test]
    fn reduces_may_have_a_rank_of_their_own() {
        for (text, expected) in
            [("{jobs: submitted}", [0, 2]), ("{jobs: submitted, reduces: -submitted}", [2, 0])]
        {
            let mut bench =
                PolicyBench::new(ByRank::new(options(text)), 2, PerSlot { map: 9, reduce: 1 });
            let jobs = [0.0, 1.0].map(|at| bench.at(at).submit(1, 2, |_| {}));
            bench.fill();
            assert_eq!(bench.held(SlotKind::Reduce, jobs)[..], expected, "{text}");
        }
    }

    #[test]
    fn service_and_times_are_those_of_ended_and_running_attempts() {
        let policy = ByRank::new(options("{jobs: -attained}"));
        let mut bench = PolicyBench::new(policy, 1, PerSlot { map: 2, reduce: 1 });
        let [first, second] = [0.0, 0.0].map(|at| bench.at(at).submit(9, 1, |_| {}));
        bench.fill();
        assert_eq!(bench.held(SlotKind::Map, [first, second]), [2, 0], "no attempt has run");
        bench.at(20.0).end_first(first, SlotKind::Map, 1);
        bench.fill();
        assert_eq!(bench.held(SlotKind::Map, [first, second]), [1, 1]);
        bench.at(30.0).end_first(second, SlotKind::Map, 1);
        bench.fill();
        assert_eq!(bench.held(SlotKind::Map, [first, second]), [1, 1], "50 s against 10 s");
    }
}
