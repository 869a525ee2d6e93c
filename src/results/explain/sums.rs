//! The explanation of a job: the parts of its time, added up by cause and rule, and the holders of
//! the slots that it waited for.

use std::collections::BTreeMap;

use super::away::without_job_tracker;
use super::holders::Span;
use super::order::ordered;
use super::part::{SojournPart, WaitRule};
use super::story::StoryPart;
use super::{HolderTime, JobToExplain, RunToExplain, SlotHolders, ruled, story};

/// The explanation of a job's time.
#[derive(Clone, Debug, PartialEq)]
pub struct ExplainedJob {
    /// The index of the job among the jobs of the run.
    pub place: usize,
    /// Milliseconds from its arrival to its end, or to the end of the run.
    pub sojourn_ms: u64,
    /// Milliseconds that the job would have taken without other jobs and faults. A wait for slots
    /// counts in proportion to the slots that the job itself held meanwhile.
    pub undelayed_ms: u64,
    /// Its sojourn, added up by cause and rule, in the usual order of the causes.
    pub sums: Vec<PartSum>,
    /// The parts of its time, in the order of time.
    pub stretches: Vec<StoryPart>,
}

/// The sum of all parts with the same cause and rule in the time of a job, or of all jobs.
#[derive(Clone, Debug, PartialEq)]
pub struct PartSum {
    /// The cause.
    pub part: SojournPart,
    /// The rule of the waits for slots; `None` if it is unknown or the cause is no such wait.
    pub rule: Option<WaitRule>,
    /// The length in milliseconds.
    pub ms: u64,
    /// The slots times milliseconds that all jobs held in that time.
    pub held: u64,
    /// The part of `held` that the waiting job itself held.
    pub own: u64,
    /// The jobs that held most slot time; empty before [`ExplainedJob::name_holders`].
    pub jobs: Vec<HolderTime>,
}

impl ExplainedJob {
    /// Explains the job with index `place`. The cost is that of sorting its attempts and refusals.
    pub fn of(told: &RunToExplain, place: usize, holders: &SlotHolders) -> Self {
        let job = &told.jobs[place];
        // The order matters: an absence overrides refusals, and the policy's order explains only
        // the remaining waits.
        let parts = ruled(story(&job.row, job.ended, &job.tries), &job.refusals);
        let stretches = ordered(without_job_tracker(parts, &told.absences), job, told, holders);
        let sum = |(key, spans): (StretchKey, Vec<Span>)| sum(key, &spans, job, holders);
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

    /// Finds the jobs that held the slots for which the job waited.
    pub fn name_holders(&mut self, holders: &SlotHolders) {
        let mut spans = by_key(&self.stretches);
        for sum in &mut self.sums {
            if let Some((kind, spans)) = sum.part.slot().zip(spans.remove(&(sum.part, sum.rule))) {
                sum.jobs = holders.jobs(kind, &spans);
            }
        }
    }

    /// Returns the cause of most of a span, with the jobs that held the slots during it; `None` if
    /// the span lies outside the job's time.
    pub fn mostly(
        &self,
        (from, to): Span,
        told: &RunToExplain,
        holders: &SlotHolders,
    ) -> Option<PartSum> {
        let job = &told.jobs[self.place];
        let cut = self.stretches.iter().map(|one| StoryPart {
            from: one.from.clamp(from, to),
            to: one.to.clamp(from, to),
            // Find the order anew: over the whole wait, other jobs may have held most slots.
            rule: one.rule.filter(|rule| !rule.is_order()),
            ..*one
        });
        let clipped = cut.filter(|one| one.from < one.to).collect();
        let stretches = ordered(clipped, job, told, holders);
        let (key, spans) = by_key(&stretches).into_iter().max_by_key(|(_, spans)| length(spans))?;
        let mut sum = sum(key, &spans, job, holders);
        sum.jobs = sum.part.slot().map(|kind| holders.jobs(kind, &spans)).unwrap_or_default();
        Some(sum)
    }

    /// Returns the groups that held most of the slots during the waits of a sum.
    pub fn groups(&self, sum: &PartSum, holders: &SlotHolders) -> Vec<HolderTime> {
        let meant =
            self.stretches.iter().filter(|one| (one.part, one.rule) == (sum.part, sum.rule));
        let spans: Vec<Span> = meant.map(|one| (one.from, one.to)).collect();
        sum.part.slot().map(|kind| holders.groups(kind, &spans)).unwrap_or_default()
    }

    /// Returns whether the parts cover the time from the job's arrival to its end without gaps, and
    /// the sums add up to the same time.
    pub fn is_whole(&self, job: &JobToExplain) -> bool {
        let submitted = job.row.submit_ms;
        let mut at = submitted;
        let is_row = self.stretches.iter().all(|stretch| {
            let follows = stretch.from == at && stretch.from < stretch.to;
            at = stretch.to;
            follows
        });
        let sum: u64 = self.sums.iter().map(|sum| sum.ms).sum();
        is_row && at == job.ended.max(submitted) && sum == at - submitted
    }

    /// Returns the sojourn divided by the time that the job would have taken without other jobs and
    /// faults.
    pub fn times_undelayed(&self) -> f64 {
        // A job that only waited would have taken no time; use 1 ms, so that the ratio is finite.
        self.sojourn_ms as f64 / self.undelayed_ms.max(1) as f64
    }

    /// Returns the sums over all jobs, with the jobs that held most slot time during the waits.
    pub fn whole(all: &[Self], holders: &SlotHolders) -> Vec<PartSum> {
        // Add up `own` job by job: the sum over all waits no longer distinguishes a job's own
        // slots.
        let mut own: BTreeMap<StretchKey, u64> = BTreeMap::new();
        for sum in all.iter().flat_map(|one| &one.sums) {
            *own.entry((sum.part, sum.rule)).or_default() += sum.own;
        }
        by_key(all.iter().flat_map(|one| &one.stretches))
            .into_iter()
            .map(|(key, waits)| {
                let (part, rule) = key;
                let held = part.slot().map(|kind| holders.in_all(kind, &waits));
                let (held, jobs) = held.unwrap_or_default();
                PartSum { part, rule, ms: length(&waits), held, own: own[&key], jobs }
            })
            .collect()
    }
}

impl PartSum {
    /// Returns the share of this time that the job would have taken without other jobs and faults.
    /// For a wait for slots, this is the share of slots that the job itself held. If other jobs
    /// came first, it is the share of all held slots; if the job was refused, of all slots of the
    /// cluster.
    fn undelayed(&self, told: &RunToExplain) -> f64 {
        if !self.part.is_delay() && !self.is_admission() {
            return 1.0;
        }
        // A suspension, a loss and a wait for admission count as 0: they would not have happened
        // without other jobs and faults.
        let Some(kind) = self.part.slot() else { return 0.0 };
        let of = match self.rule.is_none_or(WaitRule::is_order) {
            true => self.held,
            false => told.slots[kind].saturating_mul(self.ms).max(self.held),
        };
        self.own as f64 / of.max(1) as f64
    }

    /// Returns the slots times milliseconds that were held by jobs which `jobs` does not list.
    pub fn held_by_others(&self) -> u64 {
        self.held.saturating_sub(self.jobs.iter().map(|(_, slot_ms)| slot_ms).sum())
    }

    /// Returns whether the job waited because of other jobs or faults.
    pub fn is_delay(&self) -> bool {
        (self.part.is_delay() && self.rule != Some(WaitRule::OwnTasks)) || self.is_admission()
    }

    /// Returns whether the job waited to be initialised, since other jobs were in the cluster.
    fn is_admission(&self) -> bool {
        self.part == SojournPart::Initialisation && self.rule == Some(WaitRule::Limit)
    }
}

/// The key by which parts are added up.
type StretchKey = (SojournPart, Option<WaitRule>);

/// Adds up the spans of one cause and rule in a job's time; the holders are not yet named.
fn sum(
    (part, rule): StretchKey,
    spans: &[Span],
    job: &JobToExplain,
    holders: &SlotHolders,
) -> PartSum {
    let held = part.slot().map_or(0, |kind| holders.all(kind, spans));
    let own = part.slot().map_or(0, |kind| holders.of_job(kind, job.row.job, spans));
    PartSum { part, rule, ms: length(spans), held, own, jobs: Vec::new() }
}

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
