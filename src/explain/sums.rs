//! What is told of a job: its stretches, added up by part and rule, and who held what it waited for.

use std::collections::BTreeMap;

use super::away::without_job_tracker;
use super::part::{Part, Rule};
use super::story::{Course, Stretch};
use super::{Holders, Told, ToldJob, Waits, ruled, story};

/// A job's time.
#[derive(Clone, Debug, PartialEq)]
pub struct Explained {
    /// Its place among the jobs of the run.
    pub place: usize,
    /// From its arrival to its end, or to that of the run.
    pub sojourn_ms: u64,
    /// What it went into, in the order in which parts follow one another.
    pub sums: Vec<Sum>,
    /// In the order of time.
    pub stretches: Vec<Stretch>,
}

/// A part of a job's time, or of that of all jobs, by one rule.
#[derive(Clone, Debug, PartialEq)]
pub struct Sum {
    /// What it went into.
    pub part: Part,
    /// By which rule, if it is a wait for a slot.
    pub rule: Option<Rule>,
    /// How long.
    pub ms: u64,
    /// Who held the slots in that time, those first that held most.
    pub held: Vec<Held>,
}

/// Who held slots.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Held {
    /// The number of the job.
    pub job: u32,
    /// Slots times milliseconds.
    pub slot_ms: f64,
}

impl Explained {
    /// Explains a job; says who held slots if that is known.
    pub fn of(told: &Told, place: usize, holders: Option<&Holders>) -> Self {
        let job = &told.jobs[place];
        let stretches = story(&job.course, &job.tries, &told.orders);
        let stretches = ruled(stretches, &job.refusals);
        let stretches = without_job_tracker(stretches, &told.absences);
        let mut sums = Sums::default();
        for stretch in &stretches {
            let sum = sums.entry((stretch.part, stretch.rule)).or_default();
            sum.ms += stretch.ms();
            let (Some(holders), Some(kind)) = (holders, stretch.part.slot()) else { continue };
            for (job, slot_ms) in holders.between(kind, stretch.from, stretch.to) {
                *sum.held.entry(job).or_default() += slot_ms;
            }
        }
        Self {
            place,
            sojourn_ms: stretches.iter().map(Stretch::ms).sum(),
            sums: listed(sums),
            stretches,
        }
    }

    /// Returns whether the parts are the job's whole time: one after the other from its arrival to its end,
    /// and as long together as each for itself.
    pub fn is_whole(&self, job: &ToldJob) -> bool {
        let Course { submitted, ended, .. } = job.course;
        let mut at = submitted;
        let follows = |stretch: &Stretch| {
            let follows = stretch.from == at && stretch.from < stretch.to;
            at = stretch.to;
            follows
        };
        let is_row = self.stretches.iter().all(follows);
        let sum: u64 = self.sums.iter().map(|sum| sum.ms).sum();
        is_row && at == ended.max(submitted) && sum == at - submitted
    }

    /// Returns how long the job would have taken without waits for slots and without mishaps.
    pub fn undelayed_ms(&self) -> u64 {
        self.sums.iter().filter(|sum| !sum.part.is_delay()).map(|sum| sum.ms).sum()
    }

    /// Returns how many times as long as without those it took.
    pub fn times_undelayed(&self) -> f64 {
        self.sojourn_ms as f64 / self.undelayed_ms().max(1) as f64
    }

    /// Adds up what all jobs waited for, and who held slots then.
    pub fn whole(all: &[Self], holders: &Holders) -> Vec<Sum> {
        let mut stretches: BTreeMap<(Part, Option<Rule>), Vec<Span>> = BTreeMap::new();
        for one in all.iter().flat_map(|one| &one.stretches) {
            stretches.entry((one.part, one.rule)).or_default().push((one.from, one.to));
        }
        let sum = |((part, rule), waits): ((Part, _), Vec<Span>)| {
            let ms = waits.iter().map(|(from, to)| to - from).sum();
            let held = part.slot().map(|kind| holders.in_all(kind, &Waits::new(waits)).collect());
            Sum { part, rule, ms, held: ranked(held.unwrap_or_default()) }
        };
        stretches.into_iter().map(sum).collect()
    }
}

/// From an instant to another.
type Span = (u64, u64);

/// What is being added up.
type Sums = BTreeMap<(Part, Option<Rule>), Adding>;

/// A sum that grows: the time, and what each job held in it.
#[derive(Default)]
struct Adding {
    ms: u64,
    held: BTreeMap<u32, f64>,
}

fn listed(sums: Sums) -> Vec<Sum> {
    let sum = |((part, rule), Adding { ms, held })| Sum { part, rule, ms, held: ranked(held) };
    sums.into_iter().map(sum).collect()
}

/// Returns who held slots, those first that held most.
fn ranked(held: BTreeMap<u32, f64>) -> Vec<Held> {
    let mut all: Vec<Held> = held.into_iter().map(|(job, slot_ms)| Held { job, slot_ms }).collect();
    // A stable sort: of equals the order of the numbers holds.
    all.sort_by(|a, b| b.slot_ms.total_cmp(&a.slot_ms));
    all
}
