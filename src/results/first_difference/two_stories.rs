//! One job in two runs: the parts of its time side by side, and the point at which its stories part,
//! in words for terminals and pages.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::{DifferenceForm, GivenSlot, JobDifference, is_same_job};
use crate::explain::{
    ExplainedJob, JobToExplain, RunToExplain, SlotHolders, SojournPart, WaitRule,
};
use crate::tables::{ReadError, Results};
use mumakil_base::units::tell::{percent, span};

/// A run beside another one.
#[derive(Debug)]
pub struct NamedRun {
    /// Its name in sentences.
    pub name: String,
    /// Its jobs and attempts.
    pub told: RunToExplain,
    /// The holders of its slots.
    pub holders: SlotHolders,
}

impl NamedRun {
    /// Names a run.
    pub fn new(name: impl Into<String>, told: RunToExplain) -> Self {
        Self { name: name.into(), holders: told.holders(), told }
    }
}

/// The indices of a job among the jobs of each of two runs.
pub type PlacePair = [usize; 2];

/// Returns the jobs that two runs have, those whose times differ most first. Of each, the difference
/// is its sojourn in the second run minus that in the first, in milliseconds.
pub fn differing_jobs(runs: &[NamedRun; 2]) -> Vec<(PlacePair, i64)> {
    let [one, other] = runs.each_ref().map(|run| &run.told.jobs);
    let pair = |(place, job): (usize, &JobToExplain)| {
        // Jobs are in the order of their numbers.
        let twin = other.binary_search_by_key(&job.row.job, |twin| twin.row.job).ok()?;
        let jobs = [job, &other[twin]];
        let [took, takes] = jobs.map(|job| job.ended.saturating_sub(job.row.submit_ms));
        let is_same =
            is_same_job(jobs.map(|job| &job.row)) && !jobs.iter().any(|job| job.is_refused());
        is_same.then_some(([place, twin], takes as i64 - took as i64))
    };
    let mut all: Vec<(PlacePair, i64)> = one.iter().enumerate().filter_map(pair).collect();
    // The sort is stable: equal differences stay in the order of the jobs' numbers.
    all.sort_by_key(|(_, by)| Reverse(by.unsigned_abs()));
    all
}

/// Returns the cause whose times differ most in the direction of the whole difference, with its
/// difference in milliseconds; `None` if the job takes as long in both runs.
pub fn above_all(both: &[ExplainedJob; 2]) -> Option<(SojournPart, i64)> {
    let [one, other] = both.each_ref().map(|one| one.sojourn_ms);
    let changes = both_parts(both).into_iter();
    let changes = changes.map(|(part, [one, other])| (part, other as i64 - one as i64));
    let same_way = changes.filter(|(_, by)| if one < other { 0 < *by } else { *by < 0 });
    same_way.max_by_key(|(_, by)| by.unsigned_abs()).filter(|_| one != other)
}

/// Returns the length of each cause of a job's time in both runs, in the order of a story.
pub fn both_parts(both: &[ExplainedJob; 2]) -> BTreeMap<SojournPart, [u64; 2]> {
    let mut parts: BTreeMap<SojournPart, [u64; 2]> = BTreeMap::new();
    for (run, one) in both.iter().enumerate() {
        one.sums.iter().for_each(|sum| parts.entry(sum.part).or_default()[run] += sum.ms);
    }
    parts
}

/// Returns the job's share of the slots that were held in a part of its time.
fn own_share(job: &ExplainedJob, part: SojournPart) -> String {
    let of_part = job.sums.iter().filter(|sum| sum.part == part);
    let (own, held) = of_part.fold((0, 0), |(own, held), sum| (own + sum.own, held + sum.held));
    percent(own as f64 / held.max(1) as f64)
}

/// A job's stories in two runs.
#[derive(Debug)]
pub struct TwoStories<'r> {
    runs: &'r [NamedRun; 2],
    /// The job's time in each run.
    pub both: [ExplainedJob; 2],
    /// The point at which the stories part; `None` if the job gets every slot in time and each task
    /// runs as long.
    pub parting: Option<JobDifference>,
    /// The milliseconds up to which a difference is no parting.
    pub little: u64,
}

/// The point at which two stories part, in words.
#[derive(Clone, Debug)]
pub struct PartingWords {
    /// The slot or task, and by how much it differs.
    pub headline: String,
    /// For each run its name, the time of the slot or task, its attempt, and the reason for it.
    pub slots: Vec<Vec<String>>,
    /// Of the run in which a slot comes later: the job that got the next slot, and the cause of the
    /// wait meanwhile.
    pub meanwhile: Vec<String>,
}

impl PartingWords {
    /// Returns all in one sentence, for pages.
    pub fn sentence(&self) -> String {
        let slots = self.slots.iter().map(|slot| format!("{}: {}", slot[0], slot[1..].join(", ")));
        let all = std::iter::once(self.headline.clone()).chain(slots);
        all.chain(self.meanwhile.iter().cloned()).collect::<Vec<_>>().join("; ")
    }
}

impl<'r> TwoStories<'r> {
    /// Reads a job's stories from the tables of two runs.
    ///
    /// # Errors
    /// If the attempts of the runs cannot be read.
    pub fn read(
        runs: &'r [NamedRun; 2],
        results: [&dyn Results; 2],
        places: PlacePair,
    ) -> Result<Self, ReadError> {
        let both = [0, 1].map(|run| {
            let NamedRun { told, holders, .. } = &runs[run];
            let mut one = ExplainedJob::of(told, places[run], holders);
            one.name_holders(holders);
            one
        });
        // All times differ a little. A tenth of the whole difference is chosen: where that much has
        // been lost, the rest mostly follows. Less than a second is left to heartbeats.
        let little = (both[0].sojourn_ms.abs_diff(both[1].sojourn_ms) / 10).max(1_000);
        let rows = [0, 1].map(|run| &runs[run].told.jobs[places[run]].row);
        let parting = JobDifference::find(results, rows, little)?;
        Ok(Self { runs, both, parting, little })
    }

    /// Returns the job in each run.
    pub fn jobs(&self) -> [&'r JobToExplain; 2] {
        [0, 1].map(|run| &self.runs[run].told.jobs[self.both[run].place])
    }

    /// Returns the rule that explains most of a wait in each run, in words.
    pub fn rules(&self, part: SojournPart) -> String {
        let rules = self.both.each_ref().map(|one| {
            let of_part = one.sums.iter().filter(|sum| sum.part == part);
            of_part.max_by_key(|sum| sum.ms).and_then(|sum| sum.rule)
        });
        // The rule says the same of both runs, but hides how much others had.
        if rules == [Some(WaitRule::OwnTasks); 2] {
            let [one, other] = self.both.each_ref().map(|one| own_share(one, part));
            return format!("its own tasks had {one} of the held slots, then {other}");
        }
        if rules[0] == rules[1] {
            return rules[0].map_or_else(String::new, |rule| rule.word().to_owned());
        }
        let told = rules
            .into_iter()
            .zip(self.runs)
            .filter_map(|(rule, run)| Some(format!("{}: {}", run.name, rule?.word())));
        told.collect::<Vec<_>>().join("; ")
    }

    /// Returns the milliseconds from the job's arrival to a slot, or those for which a task ran;
    /// `None` if the job never got the slot.
    fn length(&self, parting: &JobDifference, run: usize) -> Option<u64> {
        let slot = parting.given[run].as_ref()?;
        match parting.form {
            DifferenceForm::LaterSlot { .. } => {
                Some(slot.at.saturating_sub(self.jobs()[run].row.submit_ms))
            }
            DifferenceForm::LongerTask => slot.length(),
        }
    }

    /// Says where the stories part.
    pub fn parting_words(&self) -> PartingWords {
        PartingWords { headline: self.headline(), slots: self.slots(), meanwhile: self.meanwhile() }
    }

    fn headline(&self) -> String {
        let Some(parting) = &self.parting else {
            let little = seconds(self.little);
            return format!("no slot comes later and no task runs longer by more than {little}");
        };
        let JobDifference { kind, later, form, given } = parting;
        let (kind, later) = (kind.word(), &self.runs[*later].name);
        let lengths = [0, 1].map(|run| self.length(parting, run));
        let by = lengths[0].zip(lengths[1]).map(|(one, other)| seconds(one.abs_diff(other)));
        match (form, by) {
            (DifferenceForm::LaterSlot { number, .. }, Some(by)) => {
                format!("they part at its {kind} slot {number}, which comes {by} later in {later}")
            }
            (DifferenceForm::LaterSlot { number, .. }, None) => {
                format!("they part at its {kind} slot {number}, which never comes in {later}")
            }
            (DifferenceForm::LongerTask, by) => {
                let task = given[0].as_ref().map_or(0, |slot| slot.task);
                let by = by.unwrap_or_default();
                format!("they part at its {kind} {task}, which takes {by} longer in {later}")
            }
        }
    }

    fn slots(&self) -> Vec<Vec<String>> {
        let Some(parting) = &self.parting else { return Vec::new() };
        let row = |run: usize| {
            let name = self.runs[run].name.clone();
            let Some(slot) = &parting.given[run] else { return vec![name, "never".to_owned()] };
            let took = self.length(parting, run).map_or_else(String::new, seconds);
            let took = match parting.form {
                DifferenceForm::LaterSlot { .. } => format!("{took} after its arrival"),
                DifferenceForm::LongerTask => took,
            };
            let attempt = format!("{} {} on {}", parting.kind.word(), slot.task, slot.node);
            vec![name, took, attempt, slot.reason.to_string()]
        };
        vec![row(0), row(1)]
    }

    fn meanwhile(&self) -> Vec<String> {
        let Some(parting) = &self.parting else { return Vec::new() };
        let DifferenceForm::LaterSlot { instead, .. } = &parting.form else { return Vec::new() };
        let later = parting.later;
        let NamedRun { name, told, holders } = &self.runs[later];
        let mut lines = Vec::new();
        if let Some(GivenSlot { job, task, node, reason, .. }) = instead {
            let (kind, other) = (parting.kind.word(), told.name_of(*job));
            let reason = if reason.is_empty() { String::new() } else { format!(", {reason}") };
            lines.push(format!(
                "in {name} job {job} ({other}) got the next slot: {kind} {task} on {node}{reason}"
            ));
        }
        let JobToExplain { row, ended, .. } = self.jobs()[later];
        let since =
            |run| self.length(parting, run).map(|since| row.submit_ms.saturating_add(since));
        let from = since(1 - later).unwrap_or(row.submit_ms).min(*ended);
        let to = since(later).unwrap_or(*ended).clamp(from, *ended);
        if let Some(sum) = self.both[later].mostly((from, to), told, holders) {
            lines.push(format!("meanwhile {}", sum.line(told, to - from)));
        }
        lines
    }
}

fn seconds(ms: u64) -> String {
    span(ms as f64 / 1e3)
}
