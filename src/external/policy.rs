//! The adapter between the JobTracker and a policy in another process. It sends only the changes
//! since its last message, and carries out the answers.

use std::collections::BTreeSet;

use super::dialogue::Dialogue;
use super::options::ExternalOptions;
use super::protocol::{
    Answer, Cluster, Counts, Question, Submitted, Want, WireAction, WireAttempt, WireFromPolicy,
    WireHello, WireLaunched, WireNews, WireOrder, WireOwnReason, WireReason, WireStanding,
    WireToPolicy, WireWhy,
};
use super::words::kept;
use mumakil_base::units::{SimSpan, SimTime};
use mumakil_core::mapred::{
    AttemptId, Complaint, Job, JobChange, JobEvent, JobId, JobState, MapReach, Offer, OptionFacts,
    Orders, PerSlot, Policy, PolicyNeeds, PolicySite, Reason, RunEndHook, Scheduler, Setting,
    SlotKind, SlotShare, SlotStanding, TrackerId, TrueDurations, View,
};

/// The reason that is recorded for an order to which the policy gives no reason.
const UNSAID: Reason = Reason::Other("its policy gave no reason");

/// A policy that runs as another process.
#[derive(Default)]
pub struct External {
    options: ExternalOptions,
    /// The dialogue with the process; `None` before the run begins.
    dialogue: Option<Dialogue>,
    wishes: WireHello,
    truth: Option<TrueDurations>,
    /// The number of questions so far.
    asked: u64,
    /// The news that the next question will contain, each with its instant in microseconds.
    news: Vec<(u64, WireNews)>,
    /// The counts of each job as they were last sent, by job number.
    told: Vec<SentCounts>,
    /// The jobs that may have changed since the last question, each once.
    changed: Vec<JobId>,
    /// The jobs with waiting tasks.
    waiting: PerSlot<BTreeSet<JobId>>,
    cluster: Cluster,
    /// The slots of each tracker as they were last sent.
    slots: Vec<[u32; 2]>,
}

/// A job, the number of its waiting maps with input on a tracker, and the number of those with
/// input on the tracker or in its rack.
type NearMaps = (u32, u32, u32);

/// The counts of a job as they were last sent to the policy.
#[derive(Clone, Copy, Debug, Default)]
struct SentCounts {
    counts: Option<Counts>,
    /// Whether the job is in `External::changed`.
    is_noted: bool,
}

impl Policy for External {
    const NAME: &'static str = "external";
    const ABOUT: &'static str = "a policy that is another process, in any language";
    type Options = ExternalOptions;

    fn settle(options: &mut ExternalOptions, site: &PolicySite<'_>) -> Vec<Complaint> {
        options.settle(site.folder)
    }

    fn facts(options: &ExternalOptions) -> OptionFacts<'_> {
        OptionFacts { heeds_bytes: false, title: Some(options.called()), ..OptionFacts::default() }
    }

    fn new(options: ExternalOptions) -> Self {
        Self { options, ..Self::default() }
    }
}

impl Scheduler for External {
    fn begin(&mut self, setting: &Setting<'_>) -> Result<Option<RunEndHook>, String> {
        let name = self.options.called();
        let blame = |words: String| format!("`{name}`: {words}");
        let (dialogue, wishes, end) = Dialogue::begin(&self.options, setting)?;
        if wishes.tick_us == Some(0) {
            return Err(blame("`tick_us` is 0, and time would stand still".to_owned()));
        }
        // The clock counts microseconds in 64 bits, so an instant after a longer tick may not fit.
        let longest = SimSpan::LONGEST.as_micros();
        if let Some(tick) = wishes.tick_us.filter(|tick| longest < *tick) {
            let words = format!("`tick_us` is {tick}, above the most, {longest} (100 years)");
            return Err(blame(words));
        }
        let slots = setting.topology.nodes().map(|(_, node)| node.slots);
        self.slots = slots.map(|slots| [slots.map, slots.reduce]).collect();
        (self.wishes, self.dialogue) = (wishes, Some(dialogue));
        Ok(Some(end))
    }

    fn needs(&self) -> PolicyNeeds {
        PolicyNeeds {
            truth: self.wants(Want::Truth),
            progress: self.wants(Want::Progress),
            reports: self.wants(Want::Progress),
            full_trackers: self.wants(Want::AllOffers),
            tick_every: self.wishes.tick_us.map(SimSpan::from_micros),
            ..PolicyNeeds::default()
        }
    }

    fn foresee(&mut self, truth: &TrueDurations) {
        self.truth = Some(truth.clone());
    }

    fn inherit(&mut self, suspended: &[(AttemptId, TrackerId)]) -> bool {
        let all = suspended.iter().map(|(attempt, tracker)| ((*attempt).into(), tracker.0));
        match self.exchange(None, &WireToPolicy::Inherit(all.collect())) {
            WireFromPolicy::Inherit(takes) => takes,
            _ => self.fail(None, "it did not answer `inherit` with `inherit`"),
        }
    }

    fn job_changed(&mut self, view: &View<'_>, event: &JobEvent) {
        let JobEvent { job: id, change } = *event;
        let at = view.now().as_micros();
        match change {
            JobChange::Submitted => {
                let Some(job) = view.job(id) else { return };
                self.news.push((at, WireNews::Submitted(self.submitted(job))));
            }
            JobChange::Altered { .. } => {
                let Some(job) = view.job(id) else { return };
                let (pool, priority) = (job.spec().pool.to_string(), job.priority() as u32);
                self.news.push((at, WireNews::Altered { job: id.0, pool, priority }));
                return;
            }
            JobChange::Initialised => self.news.push((at, WireNews::Initialised { job: id.0 })),
            JobChange::Running => self.news.push((at, WireNews::Running { job: id.0 })),
            JobChange::Attempt(attempt, state) if self.wants(Want::Attempts) => {
                self.news.push((
                    at,
                    WireNews::Attempt { job: id.0, attempt: attempt.into(), state: state.into() },
                ));
            }
            // These changes are not sent as news, but they may change the counts of the job, so
            // `note` follows below.
            JobChange::Attempt(..) | JobChange::SlowTasks => {}
            JobChange::Ended(outcome) => {
                self.news.push((at, WireNews::Ended { job: id.0, outcome: outcome.into() }));
                self.forget(id);
                return;
            }
        }
        self.note(id);
    }

    fn patience(&self, _: &View<'_>) -> SimSpan {
        // A day, if the policy gives no time. A time that is too long does no harm: a stall is just
        // reported late. So a time above the longest span is shortened to it.
        let patience = self.wishes.patience_us.map(SimSpan::from_micros);
        patience.map_or(SimSpan::from_secs(24 * 60 * 60), |patience| patience.min(SimSpan::LONGEST))
    }

    fn tick(&mut self, orders: &mut Orders<'_>) {
        let now = orders.view().now();
        // Do this before the question, so that the question contains the changed counts.
        self.look(&orders.view());
        let question = self.question(&orders.view());
        for deed in self.ask(now, WireToPolicy::Tick(question)) {
            if let Some(deed) = self.order(orders, deed) {
                let words = format!("nothing can be launched with time alone: {deed:?}");
                self.fail(Some(now), &words);
            }
        }
    }

    fn offer(&mut self, offer: &mut Offer<'_>) {
        // A job may have waiting tasks but none to launch on this tracker, since each has failed on
        // it. This shows only when the job is asked to launch one. Later orders of the answer may
        // rely on that launch, so ask the policy again without this job.
        let mut unlaunchable = PerSlot::<Vec<u32>>::default();
        while let Some((job, kind)) = self.offer_but(offer, &unlaunchable)
            // If the policy names this job again, although it knows that the job can launch nothing
            // here, end the offer.
            && !unlaunchable[kind].contains(&job.0)
        {
            unlaunchable[kind].push(job.0);
        }
    }
}

impl External {
    fn wants(&self, want: Want) -> bool {
        self.wishes.wants.contains(&want)
    }

    /// Offers the free slots to all jobs except those in `unlaunchable`. Returns the job and the
    /// kind of the first launch that gives nothing; the rest of the answer is then dropped.
    fn offer_but(
        &mut self,
        offer: &mut Offer<'_>,
        unlaunchable: &PerSlot<Vec<u32>>,
    ) -> Option<(JobId, SlotKind)> {
        let now = offer.view().now();
        self.look(&offer.view());
        let free = SlotKind::BOTH.map(|kind| offer.free(kind));
        let (near, not_here, has_some) = self.reachable(offer, free, unlaunchable);
        // A policy that wants all offers was asked before the launch that gave nothing. Ask it
        // again only if some task is left to launch.
        let is_first = SlotKind::BOTH.iter().all(|kind| unlaunchable[*kind].is_empty());
        let is_wanted = is_first && self.wants(Want::AllOffers);
        // Do not ask if no task could be launched, since a question takes real time.
        if !has_some && !is_wanted {
            return None;
        }
        let progress = match self.wants(Want::Progress) {
            true => progress(offer),
            false => Vec::new(),
        };
        let tracker = Some(offer.tracker().0);
        let slots = self.new_slots(offer);
        let question = self.question(&offer.view());
        let free = Some(free);
        let question = Question { tracker, slots, free, near, not_here, progress, ..question };
        let mut deeds = self.ask(now, WireToPolicy::Offer(question)).into_iter();
        let unlaunchable = deeds.find_map(|deed| self.play(offer, deed));
        // After a launch that gives nothing, the rest of the answer is dropped. The policy has
        // already counted the launches in it, so send it the true counts again.
        for deed in deeds {
            if let WireAction::Map { job, .. } | WireAction::Reduce { job, .. } = deed {
                let job = self.known(&offer.view(), now, job);
                self.resend_counts(job);
            }
        }
        unlaunchable
    }

    /// Returns the slots of the tracker if the policy knows other ones.
    fn new_slots(&mut self, offer: &Offer<'_>) -> Option<[u32; 2]> {
        let slots = SlotKind::BOTH.map(|kind| offer.slots(kind));
        let known = self.slots.get_mut(offer.tracker().index())?;
        (std::mem::replace(known, slots) != slots).then_some(slots)
    }

    /// Makes the next question contain a job's counts, even if they are unchanged: the policy has
    /// counted its own orders, but some of them may launch nothing or be dropped.
    fn resend_counts(&mut self, job: JobId) {
        self.note(job);
        self.told[job.index()].counts = None;
    }

    // ---- what the policy gets ----

    fn submitted(&self, job: &Job) -> Submitted {
        let times = |truth: &TrueDurations, kind: SlotKind| {
            let all = 0..job.tasks(kind).total();
            all.map(|index| truth.task(job, kind, index).as_micros()).collect()
        };
        let truth = self.truth.as_ref();
        let truth_us = truth.map(|truth| SlotKind::BOTH.map(|kind| times(truth, kind)));
        Submitted { truth_us, ..Submitted::of(job) }
    }

    /// Notes that a job may have changed.
    fn note(&mut self, job: JobId) {
        if self.told.len() <= job.index() {
            self.told.resize(job.index() + 1, SentCounts::default());
        }
        let told = &mut self.told[job.index()];
        if !std::mem::replace(&mut told.is_noted, true) {
            self.changed.push(job);
        }
    }

    fn forget(&mut self, job: JobId) {
        SlotKind::BOTH.into_iter().for_each(|kind| _ = self.waiting[kind].remove(&job));
        if let Some(told) = self.told.get_mut(job.index()) {
            told.counts = None;
        }
    }

    /// Collects the counts that have changed since the last question.
    fn look(&mut self, view: &View<'_>) {
        for id in std::mem::take(&mut self.changed) {
            self.told[id.index()].is_noted = false;
            // Skip ended jobs: the policy knows of their ends, and `forget` has dropped their
            // counts.
            let Some(job) = view.job(id).filter(|job| !matches!(job.state(), JobState::Ended(_)))
            else {
                continue;
            };
            let counts = counts(job);
            for (kind, pending) in SlotKind::BOTH.into_iter().zip(counts.pending) {
                match pending {
                    0 => self.waiting[kind].remove(&id),
                    _ => self.waiting[kind].insert(id),
                };
            }
            let told = self.told[id.index()].counts.replace(counts);
            // If nothing was sent about a job yet, the policy assumes zeros.
            if told.unwrap_or(Counts { job: id.0, ..Counts::default() }) != counts {
                self.news.push((view.now().as_micros(), WireNews::Counts(counts)));
            }
        }
    }

    /// Returns the jobs with input near a tracker, the jobs that can launch nothing on it, and
    /// whether any job has a waiting task for a free slot.
    fn reachable(
        &self,
        offer: &mut Offer<'_>,
        free: [u32; 2],
        unlaunchable: &PerSlot<Vec<u32>>,
    ) -> (Vec<NearMaps>, [Vec<u32>; 2], bool) {
        let (mut near, mut not_here, mut has_some) = (Vec::new(), unlaunchable.clone(), false);
        for (kind, free) in SlotKind::BOTH.into_iter().zip(free).filter(|(_, free)| 0 < *free) {
            for &job in self.waiting[kind].iter().filter(|job| !unlaunchable[kind].contains(&job.0))
            {
                has_some = true;
                // Tell the policy now that a launch of this job would give nothing here.
                if !offer.suits(job, kind, 1) || !offer.fits(job, kind) {
                    not_here[kind].push(job.0);
                } else if kind == SlotKind::Map {
                    // Count only up to the free slots: more maps cannot be launched, and each takes
                    // a look-up.
                    let [node, rack] = offer.near_maps(job, free);
                    if 0 < rack {
                        near.push((job.0, node, rack));
                    }
                }
            }
        }
        (near, [not_here.map, not_here.reduce], has_some)
    }

    fn question(&mut self, view: &View<'_>) -> Question {
        self.asked += 1;
        let cluster = Cluster {
            trackers: view.trackers(),
            slots: SlotKind::BOTH.map(|kind| view.capacity(kind)),
            occupied: SlotKind::BOTH.map(|kind| view.occupied(kind)),
            unfinished: SlotKind::BOTH.map(|kind| view.unfinished(kind)),
            heartbeat_us: view.heartbeat_interval().as_micros(),
        };
        let was = std::mem::replace(&mut self.cluster, cluster);
        Question {
            number: self.asked,
            now_us: view.now().as_micros(),
            // Leave the cluster out if it is unchanged, as in most heartbeats.
            cluster: (was != cluster).then_some(cluster),
            news: std::mem::take(&mut self.news),
            ..Question::default()
        }
    }

    // ---- what the policy answers ----

    fn ask(&mut self, now: SimTime, question: WireToPolicy) -> Vec<WireAction> {
        match self.exchange(Some(now), &question) {
            // A wrong number shows that the policy has answered a question late or twice.
            WireFromPolicy::Answer(Answer { number, deeds }) if number == self.asked => deeds,
            WireFromPolicy::Answer(Answer { number, .. }) => {
                let words = format!("it answered question {number}, and was asked {}", self.asked);
                self.fail(Some(now), &words)
            }
            _ => self.fail(Some(now), "it did not answer a question with `answer`"),
        }
    }

    fn exchange(&mut self, now: Option<SimTime>, what: &WireToPolicy) -> WireFromPolicy {
        match &mut self.dialogue {
            Some(dialogue) => dialogue.exchange(now, what),
            None => self.fail(now, "it has not begun"),
        }
    }

    /// Carries out an order at an offer. If the order is a launch that gives nothing, returns its
    /// job and kind.
    fn play(&mut self, offer: &mut Offer<'_>, deed: WireAction) -> Option<(JobId, SlotKind)> {
        let now = offer.view().now();
        let (job, kind, reach, why) = match deed {
            WireAction::Map { job, reach, why } => (job, SlotKind::Map, reach.into(), why),
            WireAction::Reduce { job, why } => (job, SlotKind::Reduce, MapReach::Any, why),
            // A refusal goes only into the record of decisions; it has no other effect.
            WireAction::Refuse { job, kind, why } => {
                let id = self.known(&offer.view(), now, job);
                offer.refuse(id, kind.into(), reason(Some(why)));
                return None;
            }
            order => {
                if let Some(order) = self.order(&mut offer.orders(), order) {
                    self.fail(Some(now), &format!("nobody knows what this is: {order:?}"));
                }
                return None;
            }
        };
        let id = self.known(&offer.view(), now, job);
        let word = kind.word();
        // The JobTracker would simply launch nothing. But this mistake in the policy's counting
        // should show at once.
        if offer.view().job(id).is_none_or(|job| job.pending(kind) == 0) {
            let words = format!(
                "it launches a {word} of job {job}, of which none waits: there are as many as `pending` of \
                 its `counts` says, less those launched since"
            );
            self.fail(Some(now), &words);
        }
        if offer.free(kind) == 0 {
            let tracker = offer.tracker();
            let words = format!(
                "it launches a {word} on {tracker}, where no {word} slot is free: there are as many \
                 as `free` of the offer says, less those taken since"
            );
            self.fail(Some(now), &words);
        }
        let launched = match kind {
            SlotKind::Map => offer.launch_map(id, reach, reason(why)),
            SlotKind::Reduce => offer.launch_reduce(id, reason(why)),
        };
        self.resend_counts(id);
        let Some(launched) = launched else { return Some((id, kind)) };
        if self.wants(Want::Attempts) {
            self.news.push((
                now.as_micros(),
                WireNews::Launched(WireLaunched {
                    job: id.0,
                    attempt: launched.attempt.into(),
                    tracker: offer.tracker().0,
                    locality: launched.locality.map(Into::into),
                }),
            ));
        }
        None
    }

    /// Carries out an order about an attempt; returns any other order unchanged.
    fn order<'o>(&mut self, orders: &mut Orders<'o>, deed: WireAction) -> Option<WireAction> {
        let (act, WireOrder { attempt, why }): (fn(&mut Orders<'o>, _, _), _) = match deed {
            WireAction::Kill(order) => (Orders::kill, order),
            WireAction::Suspend(order) => (Orders::suspend, order),
            WireAction::Resume(order) => (Orders::resume, order),
            WireAction::Checkpoint(order) => (Orders::checkpoint, order),
            other => return Some(other),
        };
        // The policy may not know yet that the attempt has ended, so check only its job.
        let (view, now) = (orders.view(), orders.view().now());
        self.known(&view, now, attempt.0);
        act(orders, attempt.into(), reason(why));
        None
    }

    /// Returns the id of the job with this number; ends the run if no such job has arrived.
    fn known(&self, view: &View<'_>, now: SimTime, job: u32) -> JobId {
        let id = JobId(job);
        if view.job(id).is_none() {
            let words = format!(
                "it names job {job}, which has not arrived: there are those of which `submitted` was told"
            );
            self.fail(Some(now), &words);
        }
        id
    }

    /// Ends the run because the policy has broken the protocol.
    fn fail(&self, now: Option<SimTime>, words: &str) -> ! {
        match &self.dialogue {
            Some(dialogue) => dialogue.fail(now, words),
            None => panic!("`{}`: {words}", self.options.called()),
        }
    }
}

fn counts(job: &Job) -> Counts {
    let each = |count: &dyn Fn(SlotKind) -> u32| SlotKind::BOTH.map(count);
    Counts {
        job: job.id().0,
        pending: each(&|kind| job.pending(kind)),
        running: each(&|kind| job.tasks(kind).running()),
        done: each(&|kind| job.tasks(kind).finished()),
        homeless: job.has_homeless_maps(),
    }
}

fn progress(offer: &Offer<'_>) -> Vec<(WireAttempt, f32)> {
    let view = offer.view();
    let reports = view.reports(offer.tracker()).iter();
    reports.map(|report| (report.attempt.into(), report.progress)).collect()
}

fn reason(why: Option<WireWhy>) -> Reason {
    let holding = |WireStanding { held, share, min_share }: WireStanding| SlotStanding {
        held,
        share: share.map(SlotShare::of),
        min_share,
    };
    match why {
        None => UNSAID,
        Some(WireWhy::Words(words)) => Reason::Other(kept(&words)),
        Some(WireWhy::Coded(why)) => match why {
            WireReason::InLine { place } => Reason::InLine(place),
            WireReason::InLineFar { place } => Reason::InLineFar(place),
            WireReason::Waited { waited_us } => Reason::Waited(SimSpan::from_micros(waited_us)),
            WireReason::Share(held) => Reason::Share(holding(held)),
            WireReason::Sample {} => Reason::Sample,
            WireReason::EndsFirst {} => Reason::EndsFirst,
            WireReason::Delay { waited_us } => Reason::Delay(SimSpan::from_micros(waited_us)),
            WireReason::GroupLimit(held) => Reason::GroupLimit(holding(held)),
            WireReason::OverShare(held) => Reason::OverShare(holding(held)),
            WireReason::Other(WireOwnReason { words, held, share, min_share }) => {
                Reason::Measured(kept(&words), holding(WireStanding { held, share, min_share }))
            }
        },
    }
}
