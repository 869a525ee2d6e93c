//! The explanation of a job: its stretches, added up by part and rule, and the holders of the slots it waited for.

use std::collections::BTreeMap;

use super::away::without_job_tracker;
use super::holders::Span;
use super::order::ordered;
use super::part::{SojournPart, WaitRule};
use super::story::StoryPart;
use super::{HolderTime, SlotHolders, ToldJob, ToldRun, ruled, story};

/// A job's time.
#[derive(Clone, Debug, PartialEq)]
pub struct ExplainedJob {
    /// Its place among the jobs of the run.
    pub place: usize,
    /// From its arrival to its end, or to that of the run.
    pub sojourn_ms: u64,
    /// How long it would have taken without others and mishaps. Of waits for slots it keeps the
    /// share that the job itself held meanwhile.
    pub undelayed_ms: u64,
    /// Its sojourn by parts, in the order in which these follow one another.
    pub sums: Vec<PartSum>,
    /// In the order of time.
    pub stretches: Vec<StoryPart>,
}

/// A part of a job's time, or of that of all jobs, by one rule.
#[derive(Clone, Debug, PartialEq)]
pub struct PartSum {
    /// The part.
    pub part: SojournPart,
    /// By which rule, if it is a wait for a slot.
    pub rule: Option<WaitRule>,
    /// How long.
    pub ms: u64,
    /// Slots times milliseconds that all jobs held in that time.
    pub held: u64,
    /// Of these, those that the waiting jobs held themselves.
    pub own: u64,
    /// The jobs that held most, with how much; empty unless that was asked for.
    pub jobs: Vec<HolderTime>,
}

impl ExplainedJob {
    /// Explains a job; costs as much as it has attempts and refusals, sorted.
    pub fn of(told: &ToldRun, place: usize, holders: &SlotHolders) -> Self {
        let job = &told.jobs[place];
        // In this order: an absence overrides refusals, and the policy's order explains only what
        // is left.
        let stretches = ruled(story(&job.row, job.ended, &job.tries), &job.refusals);
        let stretches = without_job_tracker(stretches, &told.absences);
        let stretches = ordered(stretches, job, told, holders);
        let sum = |((part, rule), spans): (StretchKey, Vec<Span>)| {
            let ms = length(&spans);
            let held = part.slot().map_or(0, |kind| holders.all(kind, &spans));
            let own = part.slot().map_or(0, |kind| holders.of_job(kind, job.row.job, &spans));
            PartSum { part, rule, ms, held, own, jobs: Vec::new() }
        };
        let sums: Vec<PartSum> = by_key(&stretches).into_iter().map(sum).collect();
        let ms = |sum: &PartSum| (sum.ms as f64 * sum.undelayed(told)).round() as u64;
        Self {
            place,
            sojourn_ms: stretches.iter().map(StoryPart::ms).sum(),
            undelayed_ms: sums.iter().map(ms).sum(),
            sums,
            stretches,
        }
    }

    /// Finds out who held the slots for which the job waited.
    pub fn name_holders(&mut self, holders: &SlotHolders) {
        let mut spans = by_key(&self.stretches);
        for sum in &mut self.sums {
            if let Some((kind, spans)) = sum.part.slot().zip(spans.remove(&(sum.part, sum.rule))) {
                sum.jobs = holders.jobs(kind, &spans);
            }
        }
    }

    /// Returns the groups that held most of the slots for which the job waited in such a sum.
    pub fn groups(&self, sum: &PartSum, holders: &SlotHolders) -> Vec<HolderTime> {
        let is_meant = |one: &&StoryPart| (one.part, one.rule) == (sum.part, sum.rule);
        let spans = self.stretches.iter().filter(is_meant).map(|one| (one.from, one.to));
        let spans: Vec<Span> = spans.collect();
        sum.part.slot().map(|kind| holders.groups(kind, &spans)).unwrap_or_default()
    }

    /// Returns whether the stretches lie end to end from the job's arrival to its end, and the sums
    /// add up to the same time.
    pub fn is_whole(&self, job: &ToldJob) -> bool {
        let submitted = job.row.submit_ms;
        let mut at = submitted;
        let follows = |stretch: &StoryPart| {
            let follows = stretch.from == at && stretch.from < stretch.to;
            at = stretch.to;
            follows
        };
        let is_row = self.stretches.iter().all(follows);
        let sum: u64 = self.sums.iter().map(|sum| sum.ms).sum();
        is_row && at == job.ended.max(submitted) && sum == at - submitted
    }

    /// Returns how many times as long it took as it would have without others and mishaps.
    pub fn times_undelayed(&self) -> f64 {
        // A job that only waited has no time of its own; the ratio stays finite.
        self.sojourn_ms as f64 / self.undelayed_ms.max(1) as f64
    }

    /// Adds up what all jobs waited for, and who held slots then.
    pub fn whole(all: &[Self], holders: &SlotHolders) -> Vec<PartSum> {
        // Added up per job: in the sum over all waits a job's own slots are no longer told apart.
        let mut own: BTreeMap<StretchKey, u64> = BTreeMap::new();
        for sum in all.iter().flat_map(|one| &one.sums) {
            *own.entry((sum.part, sum.rule)).or_default() += sum.own;
        }
        let sum = |(key, waits): (StretchKey, Vec<Span>)| {
            let (part, rule) = key;
            let held = part.slot().map(|kind| holders.in_all(kind, &waits));
            let (held, jobs) = held.unwrap_or_default();
            PartSum { part, rule, ms: length(&waits), held, own: own[&key], jobs }
        };
        by_key(all.iter().flat_map(|one| &one.stretches)).into_iter().map(sum).collect()
    }
}

impl PartSum {
    /// Returns the share of it that the job would have taken without others and mishaps. For a wait
    /// for slots this is the share that the job itself held: of all held slots if others came
    /// first, of all slots if it was refused.
    fn undelayed(&self, told: &ToldRun) -> f64 {
        if !self.part.is_delay() {
            return 1.0;
        }
        // A suspension or a loss would not have happened to the job alone.
        let Some(kind) = self.part.slot() else { return 0.0 };
        let of = match self.rule.is_none_or(WaitRule::is_order) {
            true => self.held,
            false => told.slots[kind].saturating_mul(self.ms).max(self.held),
        };
        self.own as f64 / of.max(1) as f64
    }

    /// Returns what was held by jobs that are not named.
    pub fn held_by_others(&self) -> u64 {
        self.held.saturating_sub(self.jobs.iter().map(|(_, slot_ms)| slot_ms).sum())
    }

    /// Returns whether the job waited there for others, or by mishap.
    pub fn is_delay(&self) -> bool {
        self.part.is_delay() && self.rule != Some(WaitRule::OwnTasks)
    }
}

/// The key by which stretches are added up.
type StretchKey = (SojournPart, Option<WaitRule>);

fn by_key<'s>(
    stretches: impl IntoIterator<Item = &'s StoryPart>,
) -> BTreeMap<StretchKey, Vec<Span>> {
    let mut spans: BTreeMap<StretchKey, Vec<Span>> = BTreeMap::new();
    for one in stretches {
        spans.entry((one.part, one.rule)).or_default().push((one.from, one.to));
    }
    spans
}

fn length(spans: &[Span]) -> u64 {
    spans.iter().map(|(from, to)| to - from).sum()
}
