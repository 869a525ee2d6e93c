//! A test bench for policies: a test submits jobs, offers trackers, ends tasks and sets the time,
//! and looks at the launches.
//!
//! Only the policy is tested, so everything takes effect at once, and a tracker's report is always
//! true. Trackers are in one rack by default, and reduces need not wait for maps.

use std::sync::Arc;

pub use super::steps::steps_of;
use super::{Offer, Orders, PolicyReload, Scheduler, View};
use crate::cluster::{Hdfs, Node, PerSlot, Placement, RackId, SlotKind, Topology, TrackerId};
use crate::mapred::event::{Fact, JobFact, Outcome};
use crate::mapred::hadoop::Hadoop;
use crate::mapred::heartbeat::Directive;
use crate::mapred::ids::{AttemptId, JobId};
use crate::mapred::ledger::Ledger;
use crate::mapred::outbox::Outbox;
use crate::mapred::reason::{Reason, SlotShare, SlotStanding};
use crate::mapred::settings::JobSettings;
use crate::mapred::spec::{Input, JobAlteration, JobSpec, MapCost, Priority, ReduceCost, Split};
use mumakil_base::random::Dist;
use mumakil_base::units::{Bytes, Factor, Fraction, Rate, SimSpan, SimTime};

/// A policy, and the cluster that it works for.
pub struct Bench<P> {
    pub policy: P,
    ledger: Ledger,
    jobs: u32,
    out: Outbox,
    /// The attempts that run on each tracker.
    running: Vec<Vec<AttemptId>>,
}

impl<P: Scheduler> Bench<P> {
    /// Returns a cluster of `trackers` trackers in one rack, which have all joined.
    pub fn new(policy: P, trackers: u32, slots: PerSlot<u32>) -> Self {
        Self::with_racks(policy, &vec![0; trackers as usize], slots)
    }

    /// Returns a cluster of trackers in these racks, which have all joined.
    pub fn with_racks(policy: P, racks: &[u32], slots: PerSlot<u32>) -> Self {
        let line = include_str!("../../../../scenarios/hadoop/0.20.yaml");
        let plain: Hadoop = serde_yaml::from_str(line).unwrap();
        let hadoop = Hadoop {
            setup_cleanup: false,
            slow_start: Fraction::ZERO,
            task_cleanup: false,
            ..plain
        };
        let node = |rack: &u32| Node::plain(*rack, slots);
        let topology = Arc::new(Topology::from_nodes(racks.iter().map(node).collect()));
        let hdfs = Hdfs::new(1, topology.clone(), 1, Placement::Random);
        let (mut ledger, mut out) = (Ledger::new(hadoop, topology, hdfs), Outbox::default());
        for id in 0..racks.len() as u32 {
            ledger.register(TrackerId(id), slots, &mut out);
        }
        let running = vec![Vec::new(); racks.len()];
        Self { policy, ledger, jobs: 0, out, running }
    }

    /// Sets the time to this many seconds.
    pub fn at(&mut self, secs: f64) -> &mut Self {
        self.out.now = SimTime::ZERO + SimSpan::ceil_from_secs(secs);
        self
    }

    fn tell(&mut self) {
        for event in std::mem::take(&mut self.ledger.changes) {
            let view = View { now: self.out.now, heard: None, ledger: &self.ledger };
            self.policy.job_changed(&view, &event);
        }
    }

    /// Submits a job of `maps` maps and `reduces` reduces, after `tell` has changed its settings.
    /// Its tasks may be launched at once.
    pub fn job(&mut self, maps: u32, reduces: u32, tell: impl FnOnce(&mut JobSpec)) -> JobId {
        let mut spec = JobSpec::bare(self.jobs, maps, reduces);
        tell(&mut spec);
        let id = spec.id;
        self.jobs += 1;
        self.ledger.submit(Arc::new(spec), &mut self.out);
        self.tell();
        self.ledger.initialise(id, &mut self.out);
        self.tell();
        id
    }

    /// Submits a job of a pool.
    pub fn job_of(&mut self, pool: &str, maps: u32, reduces: u32) -> JobId {
        self.job(maps, reduces, |spec| spec.pool = pool.into())
    }

    /// Gives a job another priority or another pool.
    pub fn alter(&mut self, job: JobId, priority: Option<Priority>, pool: Option<&str>) {
        let alteration = JobAlteration { job, priority, pool: pool.map(Into::into) };
        self.ledger.alter(&Arc::new(alteration), &mut self.out);
        self.tell();
    }

    /// Lets the policy read its pools or queues again.
    pub fn reload(&mut self, options: PolicyReload) {
        let view = View { now: self.out.now, heard: None, ledger: &self.ledger };
        self.policy.reload(&view, &options);
    }

    /// Calls the policy's tick.
    pub fn tick(&mut self) -> &mut Self {
        let Self { ledger, out, .. } = self;
        self.policy.tick(&mut Orders { ledger, out });
        self.tell();
        self
    }

    /// Returns the holdings of the policy's pools, each as `pool: held of share, at least so many`.
    pub fn holdings(&self, kind: SlotKind) -> Vec<String> {
        let mut told = Vec::new();
        let view = View { now: self.out.now, ledger: &self.ledger, heard: None };
        self.policy.holdings(&view, kind, &mut |name, SlotStanding { held, share, min_share }| {
            let share = share.map_or(f64::NAN, SlotShare::slots);
            told.push(format!("{name}: {held} of {share}, at least {min_share}"));
        });
        told
    }

    /// Returns the jobs with a task to launch that the policy holds back, and why.
    pub fn withheld(&self) -> Vec<(JobId, SlotKind, Reason)> {
        let mut told = Vec::new();
        let view = View { now: self.out.now, ledger: &self.ledger, heard: None };
        self.policy.withheld(&view, &mut |job, kind, reason| {
            if view.job(job).is_some_and(|job| 0 < job.pending(kind)) {
                told.push((job, kind, reason));
            }
        });
        told
    }

    /// Returns the refusals since the first call of this function, each with its code.
    pub fn refused(&mut self) -> Vec<(JobId, SlotKind, &'static str)> {
        let mut out = Outbox::at(self.out.now);
        self.ledger.refusals.get_or_insert_default().close(&mut out);
        let told = out.events.into_iter().filter_map(|event| match event.fact {
            Fact::Job(job, JobFact::Refused { kind, reason, .. }) => {
                Some((job, kind, reason.code()))
            }
            _ => None,
        });
        told.collect()
    }

    /// Offers a tracker to the policy; returns the launches.
    pub fn beat(&mut self, tracker: u32) -> Vec<AttemptId> {
        self.offer(tracker)
    }

    fn offer(&mut self, tracker: u32) -> Vec<AttemptId> {
        let (id, own) = (TrackerId(tracker), &self.running[tracker as usize]);
        let mut occupied = PerSlot::default();
        for attempt in own {
            occupied[attempt.slot()] += self.ledger.attempt(*attempt).map_or(0, |it| it.slots);
        }
        self.ledger.set_occupied(id, occupied);
        let mut offer = Offer {
            ledger: &mut self.ledger,
            tracker: id,
            out: &mut self.out,
            directives: Vec::new(),
            taken: PerSlot::default(),
            freed: PerSlot::default(),
            looks: 0,
            looks_take_time: true,
        };
        self.policy.offer(&mut offer);
        let directives = offer.directives.iter();
        let launched: Vec<AttemptId> = directives
            .filter_map(|directive| match directive {
                Directive::Launch(launch) => Some(launch.attempt),
                _ => None,
            })
            .collect();
        self.running[tracker as usize].extend(&launched);
        self.tell();
        launched
    }

    /// Offers every tracker, one after another, until the policy launches nothing.
    pub fn fill(&mut self) -> &mut Self {
        for tracker in 0..self.running.len() as u32 {
            while !self.beat(tracker).is_empty() {}
        }
        self
    }

    /// Ends an attempt with an outcome.
    pub fn end(&mut self, attempt: AttemptId, outcome: Outcome) {
        self.running.iter_mut().for_each(|own| own.retain(|other| *other != attempt));
        match outcome {
            Outcome::Succeeded => self.ledger.succeed(attempt, &mut self.out),
            _ => self.ledger.lose(attempt, outcome, &mut self.out),
        }
        self.tell();
    }

    /// Lets this many attempts of a job and kind succeed, the first ones first.
    pub fn succeed(&mut self, job: JobId, kind: SlotKind, attempts: usize) {
        let mut all: Vec<AttemptId> = self.running.iter().flatten().copied().collect();
        all.retain(|attempt| attempt.job() == job && attempt.slot() == kind);
        all.sort_unstable();
        for attempt in all.into_iter().take(attempts) {
            self.end(attempt, Outcome::Succeeded);
        }
    }

    /// Carries out the kills that the policy has ordered; returns the killed attempts. As at a
    /// tracker, an order for an attempt that has ended meanwhile has no effect.
    pub fn kill(&mut self) -> Vec<AttemptId> {
        let orders = self.ledger.trackers.iter_mut().flat_map(|it| std::mem::take(&mut it.orders));
        let mut killed: Vec<AttemptId> = orders
            .filter_map(|order| match order {
                Directive::Kill(attempt) => Some(attempt),
                _ => None,
            })
            .collect();
        killed.retain(|attempt| {
            let is_running = self.running.iter().flatten().any(|other| other == attempt);
            if is_running {
                self.end(*attempt, Outcome::Killed);
            }
            is_running
        });
        killed
    }

    /// Fails a job, which then waits for its cleanup.
    pub fn fail(&mut self, job: JobId) {
        self.ledger.hadoop.setup_cleanup = true;
        self.ledger.end_early(job, Outcome::Failed, &mut self.out);
        self.tell();
    }

    /// Runs the cleanup of the first job that waits for it, which ends the job.
    pub fn clean_up(&mut self) {
        let (tracker, kind) = (TrackerId(0), SlotKind::Map);
        let launch = self.ledger.launch_service(tracker, kind, &mut self.out);
        self.end(launch.expect("a job has failed").attempt, Outcome::Succeeded);
    }

    /// Returns the running attempts of a tracker, in the order of launching.
    pub fn running(&self, tracker: u32) -> Vec<AttemptId> {
        self.running[tracker as usize].clone()
    }

    /// Returns how many attempts of a kind each job runs.
    pub fn held<const N: usize>(&self, kind: SlotKind, jobs: [JobId; N]) -> [usize; N] {
        let all = || self.running.iter().flatten().filter(|attempt| attempt.slot() == kind);
        jobs.map(|job| all().filter(|attempt| attempt.job() == job).count())
    }
}

#[doc(hidden)]
impl JobSpec {
    /// Returns a job whose tasks read nothing and take no time, for tests to change.
    pub fn bare(id: u32, maps: u32, reduces: u32) -> Self {
        let noise = Dist::Constant(Factor::ONE);
        Self {
            id: JobId(id),
            name: format!("job-{id}").into(),
            user: "ann".into(),
            pool: "research".into(),
            names_pool: true,
            class: "small".into(),
            priority: Priority::Normal,
            suspendable: true,
            maps,
            reduces,
            input: None,
            map: MapCost {
                time: None,
                rate: None,
                noise: noise.clone(),
                rack_penalty: Factor::ONE,
                off_rack_penalty: Factor::ONE,
                output: Bytes::ZERO,
            },
            reduce: ReduceCost {
                shuffle_time: None,
                shuffle: Bytes::ZERO.into(),
                sort_time: SimSpan::ZERO.into(),
                time: None,
                rate: None,
                noise,
                output: Bytes::ZERO.into(),
            },
            memory: PerSlot::default(),
            settings: JobSettings::default(),
            traced: None,
        }
    }
}

#[doc(hidden)]
impl Node {
    /// Returns a plain node.
    pub fn plain(rack: u32, slots: PerSlot<u32>) -> Self {
        Self {
            rack: RackId(rack),
            slots,
            cores: 4,
            speed: Factor::ONE,
            memory: Bytes::from_mib(1_024),
            disk: Rate::from_mb_per_s(100),
            swap: None,
        }
    }
}

/// Returns an input for maps, each with its split on one of these trackers.
pub fn input_on<const N: usize>(holders: [u32; N]) -> Option<Input> {
    let split = |on| Split { bytes: Bytes::new(1), holders: [TrackerId(on)].into() };
    Some(Input::Splits(holders.map(split).into()))
}
