//! Delay scheduling: a job without input on the node lets others go first for a while.
//!
//! A job begins at the level of nodes: it launches maps only on nodes with their input. After a
//! while it may launch maps in the racks of its input, and later anywhere. Each launch sets the
//! level anew: a job that launches on a node with its input waits for nodes with its input again.
//!
//! A job's patience is measured in time, or in the number of times that it was passed over. A job's
//! waiting time grows only after an offer that has passed the job over, until the next offer. So a
//! job that no offer asks does not grow impatient.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::long_tasks::LongTasks;
use mumakil_base::dense::grown;
use mumakil_base::mutated;
use mumakil_base::units::{Bytes, Count, SimSpan, SimTime};
use mumakil_base::with_defaults;
use mumakil_core::mapred::{
    AutoSpan, DelayedNames, Job, JobChange, JobEvent, JobId, Launched, Locality, MapReach, Offer,
    OptionFacts, Reason, SlotKind, TrackerId, View,
};

/// The longest wait that `auto` gives.
// `MAX_AUTOCOMPUTED_LOCALITY_DELAY` of Hadoop's FairScheduler.
const LONGEST_AUTO: SimSpan = SimSpan::from_secs(15);

/// How many offers are kept before the waiting times of all jobs are added up.
// Chosen: 128 KiB of instants. Adding up visits every job, so it should be rare.
const REMEMBERED: usize = 16_384;

/// A number of times that a job is passed over.
// Chosen: a thousand trackers need a month for so many offers, so the largest number means "never".
pub type SkipRule = Count<0, 1_000_000_000>;

/// How long jobs wait for their input.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct DelaySpec {
    /// How long a job is passed over before it may launch in a rack with its input. `auto` is one
    /// and a half heartbeat intervals, at most 15 s.
    pub w1: AutoSpan,
    /// How much longer a job is passed over before it may launch anywhere. `auto` is as in `w1`.
    pub w2: AutoSpan,
    /// Spreads long tasks over the nodes. A job whose maps take longer than this, or have not ended
    /// yet, gets no slot on a node that runs more long maps than the average node.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub long_task: Option<SimSpan>,
    /// How long a job's reduces are passed over outside of the rack that has most of its maps'
    /// output.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reduces: Option<SimSpan>,
    /// How long a job's maps are passed over on nodes that have not copied its `cached_file`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cached_file: Option<SimSpan>,
    /// The jobs of these pools have waits of their own, by the names of their pools.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub pools: BTreeMap<String, OwnDelay>,
    /// These jobs have waits of their own, by their names; they count before those of pools.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub jobs: BTreeMap<String, OwnDelay>,
}

/// No job waits.
pub static NO_DELAY: DelaySpec = DelaySpec::NONE;

/// How long some jobs wait for their input.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OwnDelay {
    /// As `w1` of all jobs.
    pub w1: AutoSpan,
    /// As `w2` of all jobs.
    pub w2: AutoSpan,
}

impl DelaySpec {
    /// No job waits.
    pub const NONE: Self = Self {
        w1: AutoSpan::Fixed(SimSpan::ZERO),
        w2: AutoSpan::Fixed(SimSpan::ZERO),
        long_task: None,
        reduces: None,
        cached_file: None,
        pools: BTreeMap::new(),
        jobs: BTreeMap::new(),
    };

    /// Returns the facts about options in which only these names may interest others: no bytes that
    /// reduces fetch.
    pub fn facts(&self) -> OptionFacts<'_> {
        let [jobs, pools] =
            [&self.jobs, &self.pools].map(|own| own.keys().map(String::as_str).collect());
        let delayed = DelayedNames { jobs, pools };
        OptionFacts { delayed, heeds_bytes: false, ..OptionFacts::default() }
    }
}

/// By default no job waits.
impl Default for DelaySpec {
    fn default() -> Self {
        Self::NONE
    }
}

/// The measure of a job's patience.
#[derive(Clone, Copy, Debug)]
enum DelayMeasure {
    /// The time for which a job waits for nodes, then for racks.
    Time(AutoSpan, AutoSpan),
    /// How often a job is passed over for nodes, then for racks. `None` is the number of trackers.
    Skips(Option<u64>, u64),
    /// How often a job is passed over for racks: this factor times its remaining maps or times the
    /// trackers, whichever are fewer. If `None`, the factor is the share of trackers that hold
    /// input of the job.
    Chances(Option<f64>),
}

/// The state of delay scheduling, for all jobs.
#[derive(Debug)]
pub struct Delay {
    rules: DelayRules,
    /// The waiting of each job that was asked and has not ended, by the job's number.
    jobs: Vec<Option<DelayState>>,
    long_tasks: Option<LongTasks>,
    /// How long reduces wait for a rack, and since when those of each job do.
    reduces: Option<SimSpan>,
    reduces_wait: FxHashMap<JobId, SimTime>,
    /// How long maps wait for a node with their job's cached file; and for each job with such a file,
    /// the nodes that have it, and since when its maps wait.
    cached_file: Option<SimSpan>,
    files: FxHashMap<JobId, CachedFile>,
}

#[derive(Debug, Default)]
struct CachedFile {
    /// The trackers that the job has used, which have copied the file.
    on: BTreeSet<TrackerId>,
    /// Since when its maps wait for one of these; `None` if they do not.
    waits_since: Option<SimTime>,
}

/// The rules that derive, from a job's waiting, how far from its input the job may launch.
#[derive(Debug)]
struct DelayRules {
    patience: DelayMeasure,
    /// How long a job waits for nodes, then for racks: in microseconds, or as a number of times.
    limits: [u64; 2],
    /// The pools and jobs with waits of their own, in microseconds; empty if there are none.
    own: OwnDelays,
    offers: OfferTimes,
    /// The number of map slots that were offered so far.
    slots: u64,
}

/// The waits of pools and jobs that have their own.
#[derive(Debug, Default)]
struct OwnDelays {
    pools: BTreeMap<String, OwnDelay>,
    jobs: BTreeMap<String, OwnDelay>,
    auto: SimSpan,
}

impl OwnDelays {
    fn is_empty(&self) -> bool {
        self.pools.is_empty() && self.jobs.is_empty()
    }

    fn limits(&self, delay: &OwnDelay) -> [u64; 2] {
        [delay.w1, delay.w2].map(|wait| wait.or(self.auto).as_micros())
    }

    fn of(&self, job: &Job) -> Option<[u64; 2]> {
        let spec = job.spec();
        let [job, pool] = [self.jobs.get(&*spec.name), self.pools.get(&*spec.pool)];
        let own = mutated!(job.or(pool), "delay/pool-before-job" => pool.or(job));
        own.map(|own| self.limits(own))
    }

    fn longest(&self, usual: [u64; 2]) -> [u64; 2] {
        let all = self.pools.values().chain(self.jobs.values()).map(|own| self.limits(own));
        all.fold(usual, |longest, own| [0, 1].map(|level| longest[level].max(own[level])))
    }
}

/// The start times of the last offers; several may be equal.
///
/// A job is often passed over in thousands of offers in a row. It then waits from the start of the
/// first of these offers to the start of the offer after the last. So each job keeps only the first
/// and the last offer, and each offer in between costs one comparison.
#[derive(Debug, Default)]
struct OfferTimes {
    count: u64,
    /// When each of the remembered offers began: the last one is the current offer.
    begun: Vec<SimTime>,
}

/// An offer that has passed jobs over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PassedOffer {
    /// When the offer began.
    pub at: SimTime,
    /// When the next offer began; `None` if it has not.
    pub until: Option<SimTime>,
    /// Whether the offer let jobs launch anywhere, without waiting for their input.
    pub anywhere: bool,
}

with_defaults! {
    /// The state of one job: its level, and how long it has waited.
    #[derive(Clone, Copy, Debug)]
    struct DelayState {
        level: Locality = Locality::Node,
        /// How long (in microseconds) or how often the job has been passed over, not counting the
        /// current series of offers in a row that have passed it over.
        waited: u64,
        /// The number of the last offer that passed the job over, from 1; 0 if no series is open.
        passed_in: u64,
        /// When the current series of offers began; each of them has passed the job over.
        passing_since: SimTime,
        /// When an offer first passed the job over, although it had a map to launch, after its last
        /// launch of a map; `None` before that.
        since: Option<SimTime>,
        /// When the job was last passed over while it had to stay near its input.
        held_back_at: SimTime,
        /// The number of the last offer that passed the job over or launched a map of it, from 1. In
        /// that offer, `pass_over` does nothing more for the job.
        seen_in: u64,
        /// The number of the last map slot that passed the job over, from 1.
        skipped_in: u64,
    }
}

impl OfferTimes {
    fn begin(&mut self, now: SimTime) {
        self.count += 1;
        self.begun.push(now);
    }

    /// Returns when an offer began; for the number of the next offer, the current one.
    fn began(&self, number: u64) -> SimTime {
        // The first offers may be forgotten, so count back from the last one.
        let back = self.count.saturating_sub(number) as usize;
        self.begun[self.begun.len() - 1 - back]
    }

    fn are_many(&self) -> bool {
        REMEMBERED <= self.begun.len()
    }
}

impl DelayState {
    /// Returns the length of the current series up to the start of the last offer, in microseconds.
    fn passing(&self, offers: &OfferTimes) -> u64 {
        // Offers are numbered from 1; 0 means that no series is open.
        if self.passed_in == 0 {
            return 0;
        }
        let end = self.passed_in + mutated!(1, "delay/until-asked" => 0);
        offers.began(end).saturating_since(self.passing_since).as_micros()
    }

    /// Counts the time from this offer to the next one as waiting time of the job. Does nothing if
    /// this offer has already passed the job over or launched a map of it.
    fn pass_over(&mut self, now: SimTime, offers: &OfferTimes) {
        // An offer may ask once for each slot, but time passes only once.
        if self.seen_in == offers.count {
            return;
        }
        self.seen_in = offers.count;
        // If the previous offer passed the job over as well, the current series simply goes on.
        let goes_on = self.passed_in + 1 == offers.count && offers.began(offers.count) == now;
        if self.passed_in == 0 || !goes_on {
            self.waited += self.passing(offers);
            self.passing_since = now;
        }
        self.passed_in = offers.count;
    }

    /// Returns the state of the job after it has launched a map at this locality.
    fn launched(self, level: Locality, offers: &OfferTimes) -> Self {
        let level = mutated!(
            level,
            "delay/level-forgotten" => Locality::Node,
            "delay/never-stricter" => level.max(self.level),
        );
        let waited = mutated!(0, "delay/wait-kept" => self.waited + self.passing(offers));
        let new = Self { level, waited, seen_in: offers.count, ..Self::default() };
        if self.passed_in == 0 || self.passed_in != offers.count {
            return new;
        }
        // The job still waits from the start of this offer to the next one.
        let passing_since = self.passing_since.max(offers.began(offers.count));
        Self { passed_in: offers.count, passing_since, ..new }
    }

    /// Adds up the time that has passed, so that only the last offer needs to be remembered.
    fn add_up(&mut self, offers: &OfferTimes) {
        self.waited += self.passing(offers);
        if self.passed_in == offers.count {
            self.passing_since = self.passing_since.max(offers.began(offers.count));
        } else {
            // The time of the series is added up, so its offers may be forgotten.
            self.passed_in = 0;
        }
    }
}

impl Delay {
    /// Returns a delay that is measured in time.
    pub fn new(spec: &DelaySpec) -> Self {
        let mut delay = Self::with(DelayMeasure::Time(spec.w1, spec.w2), spec.long_task);
        (delay.reduces, delay.cached_file) = (spec.reduces, spec.cached_file);
        (delay.rules.own.pools, delay.rules.own.jobs) = (spec.pools.clone(), spec.jobs.clone());
        delay
    }

    /// Returns a delay that is measured in the number of slots for which a job is passed over: for
    /// nodes, then for racks. For nodes, `None` is the number of trackers.
    pub fn by_skips(node: Option<u64>, rack: u64) -> Self {
        Self::with(DelayMeasure::Skips(node, rack), None)
    }

    /// Returns the delay of Hadoop 1.x: a job without input in the rack is passed over `factor`
    /// times the number of its remaining maps or of the trackers, whichever is smaller. If `None`,
    /// the factor is the share of trackers that hold input of the job.
    pub fn by_chances(factor: Option<f64>) -> Self {
        Self::with(DelayMeasure::Chances(factor), None)
    }

    fn with(patience: DelayMeasure, long_task: Option<SimSpan>) -> Self {
        Self {
            rules: DelayRules {
                patience,
                limits: [0, 0],
                own: OwnDelays::default(),
                offers: OfferTimes::default(),
                slots: 0,
            },
            jobs: Vec::new(),
            long_tasks: long_task.map(LongTasks::new),
            reduces: None,
            reduces_wait: FxHashMap::default(),
            cached_file: None,
            files: FxHashMap::default(),
        }
    }

    /// Changes how long jobs are passed over for nodes and for racks, from the next offer on;
    /// `None` keeps a value.
    ///
    /// Has an effect only on a delay that is measured in time.
    pub fn adjust(&mut self, waits: [Option<SimSpan>; 2]) {
        if let DelayMeasure::Time(w1, w2) = &mut self.rules.patience {
            for (wait, new) in [w1, w2].into_iter().zip(waits) {
                *wait = new.map_or(*wait, AutoSpan::Fixed);
            }
        }
    }

    /// Returns how long a job has been passed over since its last launch of a map. Only for a delay
    /// that is measured in time.
    pub fn waited(&self, job: JobId) -> SimSpan {
        let known = self.jobs.get(job.index()).and_then(Option::as_ref);
        SimSpan::from_micros(known.map_or(0, |job| self.rules.waited_by(job)))
    }

    /// Notes an event of a job; to be called with every event.
    pub fn job_changed(&mut self, view: &View<'_>, event: &JobEvent) {
        if let JobChange::Ended(_) = event.change {
            self.reduces_wait.remove(&event.job);
            self.files.remove(&event.job);
            if let Some(waiting) = self.jobs.get_mut(event.job.index()) {
                *waiting = None;
            }
        }
        if let Some(long_tasks) = &mut self.long_tasks {
            long_tasks.job_changed(view, event);
        }
    }

    /// Begins an offer. For jobs that the last offer passed over, the waiting time of that offer
    /// ends now.
    pub fn begin(&mut self, view: &View<'_>) {
        let rules = &mut self.rules;
        let now = view.now();
        if let DelayMeasure::Time(w1, w2) = rules.patience {
            // Hadoop counts in whole milliseconds.
            let interval = view.heartbeat_interval().as_millis();
            // Hadoop's heartbeat interval grows with the cluster.
            let auto = mutated!(interval * 3 / 2, "delay/auto-once" => interval);
            let longest = mutated!(LONGEST_AUTO, "delay/auto-unbounded" => SimSpan::LONGEST);
            let auto = SimSpan::from_millis(auto).min(longest);
            rules.limits = [w1, w2].map(|wait| wait.or(auto).as_micros());
            rules.own.auto = auto;
        // The number for `Chances` depends on the job; `reach` computes it.
        } else if let DelayMeasure::Skips(node, rack) = rules.patience {
            rules.limits = [node.unwrap_or_else(|| view.trackers().into()), rack];
        }
        rules.offers.begin(now);
        rules.slots += 1;
        if rules.offers.are_many() {
            self.jobs.iter_mut().flatten().for_each(|job| job.add_up(&rules.offers));
            rules.offers.begun = vec![now];
        }
    }

    /// Returns how long jobs may still wait for their input: zero if no job waits, otherwise for
    /// ever. There is no finite bound, since the waiting depends on which trackers make offers and
    /// when.
    pub fn patience(&self, view: &View<'_>) -> SimSpan {
        // In two intervals every tracker that is alive has made an offer.
        let lately = view.heartbeat_interval() * 2;
        let maps_wait =
            self.jobs.iter().enumerate().any(|(id, waiting): (usize, &Option<DelayState>)| {
                let Some(waiting) = waiting else { return false };
                let job = view.job(JobId(id as u32));
                let has_map = job.is_some_and(|job| 0 < job.pending(SlotKind::Map));
                has_map && view.now().saturating_since(waiting.held_back_at) <= lately
            });
        let of_maps = if maps_wait { SimSpan::LONGEST } else { SimSpan::ZERO };
        let others = [self.reduces, self.cached_file].map(Option::unwrap_or_default);
        of_maps.max(others[0]).max(others[1])
    }

    /// Launches a task of a kind: a map as [`Delay::launch_map`] does, or a reduce, which waits for
    /// no input.
    pub fn launch(
        &mut self,
        offer: &mut Offer<'_>,
        job: JobId,
        kind: SlotKind,
        reason: Reason,
    ) -> Option<Launched> {
        match kind {
            SlotKind::Map => self.launch_map(offer, job, 1, false, reason),
            SlotKind::Reduce => self.launch_reduce(offer, job, 1, reason),
        }
    }

    /// Launches a reduce of a job, which takes several slots perhaps, unless the job's reduces wait
    /// for a node nearer to the output of its maps.
    pub fn launch_reduce(
        &mut self,
        offer: &mut Offer<'_>,
        job: JobId,
        slots: u32,
        reason: Reason,
    ) -> Option<Launched> {
        let Some(patience) = self.reduces else {
            return offer.launch_wide_reduce(job, slots, reason);
        };
        let now = offer.view().now();
        let [here, most] = offer.outputs_near(job);
        let has_reduce = offer.view().job(job).is_some_and(|job| 0 < job.pending(SlotKind::Reduce));
        let is_far = mutated!(here < most, "places/fewest" => most <= here);
        if is_far && has_reduce {
            let since = *self.reduces_wait.entry(job).or_insert(now);
            if waits(offer, job, SlotKind::Reduce, since, patience) {
                return None;
            }
        }
        let launched = offer.launch_wide_reduce(job, slots, reason);
        if mutated!(launched.is_some(), "places/wait-kept" => false) {
            self.reduces_wait.remove(&job);
        }
        launched
    }

    /// Returns whether a job's maps wait for a node that has the file which all of them read.
    fn waits_for_file(&mut self, offer: &mut Offer<'_>, job: JobId) -> bool {
        let Some(patience) = self.cached_file else { return false };
        let Some(file) = self.files.get_mut(&job) else { return false };
        let view = offer.view();
        let now = view.now();
        let has_map = view.job(job).is_some_and(|job| 0 < job.pending(SlotKind::Map));
        let has_file = mutated!(file.on.contains(&offer.tracker()), "cache/forgotten" => false);
        if has_file || !has_map {
            return false;
        }
        let since = *file.waits_since.get_or_insert(now);
        waits(offer, job, SlotKind::Map, since, patience)
    }

    /// Notes that a tracker copies the file of a job, if the job has one and its maps would wait.
    fn note_copy(&mut self, offer: &Offer<'_>, id: JobId) {
        if self.cached_file.is_some()
            && offer.view().job(id).is_some_and(|job: &Job| job.spec().cached_file != Bytes::ZERO)
        {
            let file = self.files.entry(id).or_default();
            file.on.insert(offer.tracker());
            file.waits_since = mutated!(None, "cache/wait-kept" => file.waits_since);
        }
    }

    /// Launches a map of a job, which takes several slots perhaps, as near to its input as the delay
    /// asks, or passes the job over (`None`). With `anywhere` the job need not wait for its input.
    pub fn launch_map(
        &mut self,
        offer: &mut Offer<'_>,
        job: JobId,
        slots: u32,
        anywhere: bool,
        reason: Reason,
    ) -> Option<Launched> {
        if !anywhere && self.waits_for_file(offer, job) {
            return None;
        }
        // A job waits for its input only where one of its maps has room; this call notes the refusal.
        if mutated!(!offer.fits(job, SlotKind::Map), "delay/without-room" => false) {
            return offer.launch_wide_map(job, slots, MapReach::Node, reason);
        }
        let view = offer.view();
        let now = view.now();
        let crowds = |long: &LongTasks| long.crowds(&view, job, offer.tracker());
        let is_blocked = self.long_tasks.as_ref().is_some_and(crowds);
        let Self { rules, jobs, long_tasks, .. } = self;
        let waiting = grown(jobs, job.index()).get_or_insert_default();
        let known = view.job(job);
        let reach = if anywhere { MapReach::Any } else { rules.reach(&view, known, waiting) };
        let has_map = known.is_some_and(|job| 0 < job.pending(SlotKind::Map));
        let reason = match waiting.since {
            // The time that the job has waited explains the launch better than the policy's reason.
            Some(since) if rules.make_wait() => Reason::Waited(now.saturating_since(since)),
            _ => reason,
        };
        let launched = (!is_blocked).then(|| offer.launch_wide_map(job, slots, reach, reason));
        if let Some(launched) = launched.flatten() {
            // If no node holds the map's input, the job may then launch anywhere, as in Hadoop.
            let level = launched.locality.unwrap_or(Locality::OffRack);
            *waiting = waiting.launched(level, &rules.offers);
            rules.slots += mutated!(1, "delay/skips-by-heartbeat" => 0);
            if let Some(long_tasks) = long_tasks {
                long_tasks.launched(now, offer.tracker(), launched);
            }
            self.note_copy(offer, job);
            return Some(launched);
        }
        // Messages should not say that a job without maps has waited.
        waiting.since = waiting.since.or(has_map.then_some(now));
        // For `patience`: it may launch later merely because time passes.
        if reach != MapReach::Any {
            waiting.held_back_at = now;
        }
        match rules.patience {
            DelayMeasure::Time(..) => waiting.pass_over(now, &rules.offers),
            // A policy may ask a job twice for one slot, which counts once.
            DelayMeasure::Skips(..) if waiting.skipped_in == rules.slots => {}
            DelayMeasure::Skips(..) | DelayMeasure::Chances(_) => waiting.waited += 1,
        }
        waiting.skipped_in = rules.slots;
        if is_blocked {
            offer.refuse(job, SlotKind::Map, Reason::LongTasks);
        } else if reach != MapReach::Any {
            let since = waiting.since.unwrap_or(now);
            offer.refuse(job, SlotKind::Map, Reason::Delay(now.saturating_since(since)));
        }
        None
    }

    /// Notes offers that passed a job over while it had no map to launch. The effect is as if
    /// [`Delay::launch_map`] had been called in each of these offers. The last of them may be the
    /// current offer or the offer before it.
    ///
    /// Only for a delay that is measured in time.
    pub fn note_passes<'p>(&mut self, job: JobId, passes: impl Iterator<Item = &'p PassedOffer>) {
        let mut passes = passes.peekable();
        if passes.peek().is_none() {
            return;
        }
        let DelayRules { limits, own, offers, .. } = &self.rules;
        // The job's pool is not known here; the bound decides only how long the policy has patience.
        let [node, rack] = own.longest(*limits);
        let waiting = grown(&mut self.jobs, job.index()).get_or_insert_default();
        // How long a job at its level waits before it may launch anywhere.
        let limit = [node + rack, rack, 0][waiting.level as usize];
        // The length of the current series does not change before the last of these offers.
        let passing = waiting.passing(offers);
        for PassedOffer { at, until, anywhere } in passes {
            if !anywhere && waiting.waited + passing < limit {
                waiting.held_back_at = *at;
            }
            match until {
                Some(until) => waiting.waited += until.saturating_since(*at).as_micros(),
                None => waiting.pass_over(*at, offers),
            }
        }
    }
}

impl DelayRules {
    fn make_wait(&self) -> bool {
        let is_timed = self.limits != [0, 0] || !self.own.is_empty();
        matches!(self.patience, DelayMeasure::Chances(_)) || is_timed
    }

    fn waited_by(&self, job: &DelayState) -> u64 {
        job.waited + job.passing(&self.offers)
    }

    fn reach(&self, view: &View<'_>, job: Option<&Job>, waiting: &DelayState) -> MapReach {
        // As in Hadoop, a job with a map whose input no node holds may launch anywhere.
        let Some(job) =
            job.filter(|job| mutated!(!job.has_homeless_maps(), "delay/no-input-waits" => true))
        else {
            return MapReach::Any;
        };
        let waited = match self.patience {
            // The job was passed over for this slot already, which counts for the next slot only.
            DelayMeasure::Skips(..) if waiting.skipped_in == self.slots => {
                waiting.waited.saturating_sub(1)
            }
            _ => mutated!(
                self.waited_by(waiting),
                "delay/by-age" => view.now().saturating_since(job.submitted_at()).as_micros(),
            ),
        };
        let [node, rack] = match self.patience {
            // Hadoop 1.x treats the node and its rack alike.
            DelayMeasure::Chances(factor) => [0, chances(view, job, factor)],
            DelayMeasure::Time(..) if !self.own.is_empty() => {
                self.own.of(job).unwrap_or(self.limits)
            }
            DelayMeasure::Time(..) | DelayMeasure::Skips(..) => self.limits,
        };
        let [node, rack] = mutated!([node, rack], "delay/swapped" => [rack, node]);
        let in_rack = mutated!(
            rack,
            "delay/rack-at-once" => 0,
            "delay/rack-waits-w1" => node,
            "delay/rack-waits-both" => node + rack,
        );
        let anywhere = mutated!(
            node + rack,
            "delay/no-rack-level" => node,
            "delay/w2-from-the-start" => rack,
        );
        match waiting.level {
            Locality::Node if mutated!(waited < node, "delay/one-later" => waited <= node) => {
                MapReach::Node
            }
            Locality::Node if waited < anywhere => MapReach::Rack,
            Locality::Rack if waited < in_rack => MapReach::Rack,
            Locality::OffRack if mutated!(false, "delay/off-rack-waits" => waited < rack) => {
                MapReach::Rack
            }
            Locality::Node | Locality::Rack | Locality::OffRack => MapReach::Any,
        }
    }
}

/// Returns whether a job that has waited for another node since an instant still does, and notes
/// then why it gets no slot here.
fn waits(
    offer: &mut Offer<'_>,
    job: JobId,
    kind: SlotKind,
    since: SimTime,
    patience: SimSpan,
) -> bool {
    let waited = offer.view().now().saturating_since(since);
    let waits = waited < patience;
    if waits {
        offer.refuse(job, kind, Reason::Delay(waited));
    }
    waits
}

/// Returns how often a job is passed over by trackers that have none of its input in their racks.
fn chances(view: &View<'_>, job: &Job, factor: Option<f64>) -> u64 {
    let (maps, trackers) = (job.tasks(SlotKind::Map), f64::from(view.trackers().max(1)));
    // Hadoop's bound is `min(maps - finishedMaps, trackers) * waitFactor`.
    let left = f64::from(maps.total() - maps.finished()).min(trackers);
    // Hadoop's rule if `mapreduce.job.locality.wait.factor` is not set.
    let factor = factor.unwrap_or((f64::from(job.input_nodes()) / trackers).min(1.0));
    // Hadoop counts the current offer too and compares with `>`, to the same effect.
    (left * factor) as u64
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;
    use mumakil_core::cluster::{CountedResources, Node};
    use mumakil_core::mapred::{Input, PerSlot, PolicyBench, Scheduler, SlotKind};

    /// A policy that offers every free map slot to the jobs in the order of their numbers.
    struct InTurn(Delay);

    impl Scheduler for InTurn {
        fn job_changed(&mut self, view: &View<'_>, event: &JobEvent) {
            self.0.job_changed(view, event);
        }

        fn offer(&mut self, offer: &mut Offer<'_>) {
            self.0.begin(&offer.view());
            let jobs: Vec<JobId> =
                offer.running_jobs().map(mumakil_core::mapred::Job::id).collect();
            while 0 < offer.free(SlotKind::Map) {
                let mut launch = |job| self.0.launch_map(offer, job, 1, false, Reason::Sample);
                if !jobs.iter().any(|job| launch(*job).is_some()) {
                    break;
                }
            }
        }
    }

    /// Returns four trackers of two map slots each. Jobs wait ten seconds for nodes, then five for
    /// racks.
    fn bench() -> PolicyBench<InTurn> {
        let [w1, w2] = [10, 5].map(|secs| AutoSpan::Fixed(SimSpan::from_secs(secs)));
        let delay = Delay::new(&DelaySpec { w1, w2, ..DelaySpec::NONE });
        PolicyBench::new(InTurn(delay), 4, PerSlot { map: 2, reduce: 0 })
    }

    fn jobs(attempts: &[Launched]) -> Vec<u32> {
        attempts.iter().map(|attempt| attempt.job().0).collect()
    }

    #[test]
    fn a_job_waits_for_its_node_and_then_takes_the_rack() {
        let mut bench = bench();
        bench.submit(2, 0, |spec| spec.input = Some(Input::on_trackers([0, 0])));
        for second in [0.0, 3.0, 6.0, 9.0] {
            assert_eq!(bench.at(second).offer(1), [], "{second} s");
        }
        assert_eq!(bench.at(9.5).offer(0).len(), 2, "a job need not wait for its node");
        // The launch on its node restarts the wait.
        bench.submit(1, 0, |spec| spec.input = Some(Input::on_trackers([0])));
        assert_eq!(bench.at(10.0).offer(1), []);
        assert_eq!(bench.at(19.9).offer(1), []);
        assert_eq!(jobs(&bench.at(20.0).offer(1)), [1]);
    }

    #[test]
    fn a_node_without_memory_for_a_map_uses_up_no_patience() {
        let [w1, w2] = [10, 5].map(|secs| AutoSpan::Fixed(SimSpan::from_secs(secs)));
        let delay = Delay::new(&DelaySpec { w1, w2, ..DelaySpec::NONE });
        let node = |gib: u64| Node {
            memory: Bytes::new(gib << 30),
            ..Node::plain(0, PerSlot { map: 2, reduce: 0 })
        };
        let nodes = vec![node(4), node(1), node(4)];
        let mut bench = PolicyBench::on_nodes(InTurn(delay), nodes, CountedResources::Memory);
        let job = bench.submit(2, 0, |spec| {
            spec.input = Some(Input::on_trackers([0, 0]));
            spec.memory.map = Bytes::new(2 << 30);
        });
        (0..20).for_each(|second| _ = bench.at(f64::from(second)).offer(1));
        assert_eq!(bench.at(20.0).offer(2), [], "{job} has waited for nothing yet");
        assert_eq!(bench.at(30.0).offer(2).len(), 2);
    }

    #[test]
    fn a_job_that_launched_in_the_rack_waits_for_no_node_again() {
        let mut bench = bench();
        bench.submit(4, 0, |spec| spec.input = Some(Input::on_trackers([0, 0, 0, 1])));
        bench.at(0.0).offer(1);
        // The job has launched on node 1, so it waits for the nodes of its input.
        assert_eq!(bench.at(1.0).offer(2), []);
        assert_eq!(bench.at(11.0).offer(2).len(), 2, "the second map need not wait again");
    }

    #[test]
    fn time_passes_only_for_whom_the_last_offer_has_passed_over() {
        let mut bench = bench();
        bench.submit(2, 0, |spec| spec.input = Some(Input::on_trackers([0, 0])));
        bench.at(0.0).offer(1);
        // A full tracker makes no offer, so the time until the next offer does not count for any
        // job.
        let full = bench.submit(2, 0, |spec| spec.input = Some(Input::on_trackers([2, 2])));
        bench.at(1.0).offer(2);
        assert_eq!(bench.held(SlotKind::Map, [full]), [2]);
        bench.at(2.0).offer(2);
        assert_eq!(bench.at(30.0).offer(1), [], "the job has waited for two seconds");
        assert_eq!(bench.at(37.9).offer(1), []);
        assert_eq!(bench.at(38.0).offer(1).len(), 2);
    }

    #[test]
    fn of_two_offers_at_one_instant_the_second_passes_over_a_job_that_the_first_has_served() {
        let mut bench = bench();
        bench.submit(2, 0, |spec| spec.input = Some(Input::on_trackers([1, 0])));
        assert_eq!(bench.at(1.0).offer(1).len(), 1);
        assert_eq!(bench.at(1.0).offer(2), []);
        assert_eq!(bench.at(10.9).offer(2), []);
        assert_eq!(bench.at(11.0).offer(2).len(), 1, "the job has waited for ten seconds");
    }

    #[test]
    fn a_policy_that_may_launch_anywhere_at_once_says_so() {
        let delay = Delay::new(&DelaySpec::NONE);
        let mut bench = PolicyBench::new(InTurn(delay), 4, PerSlot { map: 2, reduce: 0 });
        bench.submit(1, 0, |spec| spec.input = Some(Input::on_trackers([0])));
        assert_eq!(bench.at(0.0).offer(3).len(), 1);
    }

    #[test]
    fn chances_are_a_part_of_the_maps_that_are_left_and_come_back_with_input_near() {
        let slots = PerSlot { map: 1, reduce: 0 };
        let mut bench = PolicyBench::with_racks(
            InTurn(Delay::by_chances(Some(0.5))),
            &[0, 1, 2, 3, 4, 5],
            slots,
        );
        let job = bench.submit(6, 0, |spec| spec.input = Some(Input::on_trackers([0; 6])));
        for chance in 0..3 {
            assert_eq!(bench.offer(1), [], "{chance} of half of six");
        }
        assert_eq!(bench.offer(1).len(), 1);
        assert_eq!(bench.offer(2).len(), 1, "a far launch does not restart the wait");
        bench.end_first(job, SlotKind::Map, 2);
        assert_eq!(bench.offer(0).len(), 1);
        for chance in 0..2 {
            assert_eq!(bench.offer(1), [], "{chance} of half of the four that are not done");
        }
        assert_eq!(bench.offer(1).len(), 1);
    }

    #[test]
    fn skips_are_counted_instead_of_time() {
        let mut bench =
            PolicyBench::new(InTurn(Delay::by_skips(Some(3), 0)), 4, PerSlot { map: 2, reduce: 0 });
        bench.submit(1, 0, |spec| spec.input = Some(Input::on_trackers([0])));
        for _ in 0..3 {
            assert_eq!(bench.at(0.0).offer(1), []);
        }
        assert_eq!(bench.at(0.0).offer(1).len(), 1);
    }

    /// All trackers but the last one are far from the input of all jobs.
    #[test]
    fn pools_and_jobs_may_have_waits_of_their_own() {
        let spec: DelaySpec = serde_yaml::from_str(
            "{w1: 0s, w2: 0s, pools: {ads: {w1: 10s, w2: 0s}}, jobs: {job-2: {w1: 20s, w2: 0s}}}",
        )
        .unwrap();
        let policy = InTurn(Delay::new(&spec));
        let mut bench = PolicyBench::new(policy, 4, PerSlot { map: 1, reduce: 0 });
        let [usual, of_pool, of_job] = ["web", "ads", "ads"].map(|pool| {
            bench.submit(1, 0, |job| {
                job.pool = pool.into();
                job.input = Some(Input::on_trackers([3]));
            })
        });
        assert_eq!(bench.at(1.0).offer(0)[0].job(), usual);
        assert_eq!(bench.at(2.0).offer(1), []);
        assert_eq!(bench.at(11.0).offer(1), [], "it was first passed over at two seconds");
        assert_eq!(bench.at(12.5).offer(1)[0].job(), of_pool);
        assert_eq!(bench.at(21.0).offer(2), []);
        assert_eq!(bench.at(30.0).offer(2), [], "the offer of its pool's other job did not count");
        assert_eq!(bench.at(31.0).offer(2)[0].job(), of_job);
    }

    proptest! {
        /// Compares with a model that adds up the time at every offer.
        #[test]
        fn time_passes_as_if_it_were_added_up_with_every_offer(
            happenings in vec((0..6_u8, 0..4_u64), 1..80),
        ) {
            let (mut offers, mut waiting) = (OfferTimes::default(), DelayState::default());
            let (mut now, mut waited, mut seen_in) = (SimTime::ZERO, 0, 0);
            let mut passed_at = None;
            for (what, micros) in happenings {
                now += SimSpan::from_micros(micros);
                match what {
                    0 => {
                        waiting = waiting.launched(Locality::Node, &offers);
                        (waited, seen_in) = (0, offers.count);
                    }
                    1 if 0 < offers.count => waiting.add_up(&offers),
                    2 => {
                        waiting.pass_over(now, &offers);
                        if seen_in != offers.count {
                            (seen_in, passed_at) = (offers.count, Some(now));
                        }
                    }
                    3.. => {
                        let passed = passed_at.take().map_or(SimSpan::ZERO, |at| now - at);
                        waited += passed.as_micros();
                        offers.begin(now);
                        // Most random events pass the job over at the same instant.
                        if what < 5 {
                            waiting.pass_over(now, &offers);
                            (seen_in, passed_at) = (offers.count, Some(now));
                        }
                    }
                    _ => {}
                }
                prop_assert_eq!(waiting.waited + waiting.passing(&offers), waited);
            }
        }
    }
}
