//! The jobs of two runs, and one of them in both: the parts of its time side by side, and the point
//! at which its stories part.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::first_slot::{FirstSlot, GivenSlot, PartedSlots};
use crate::job_difference::JobDifference;
use crate::job_pairs::{JobPair, JobPairs};
use crate::side_table::{ChangeColumn, SideRow, SideTable};
use mumakil_base::units::tell::{percent, span};
use mumakil_draw::page::{PageCell, PageColumn};
use mumakil_results::expect::Unit;
use mumakil_results::explain::{
    ExplainedJob, JobToExplain, RunToExplain, SlotHolders, SojournPart, WaitRule,
};
use mumakil_results::tables::{JobRow, ReadError, Results};

/// A run beside another one.
pub struct ExplainedRun<'r> {
    /// Its name in sentences.
    pub name: String,
    /// Its tables.
    pub results: &'r dyn Results,
    /// Its jobs and attempts.
    pub tables: RunToExplain,
    /// The holders of its slots.
    pub holders: SlotHolders,
}

/// Two runs that are explained.
pub struct RunPair<'r>(pub [ExplainedRun<'r>; 2]);

/// A job's stories in two runs.
pub struct TwoStories<'r> {
    runs: &'r [ExplainedRun<'r>; 2],
    /// The job's time in each run.
    pub both: [ExplainedJob; 2],
    /// The point at which the stories part; `None` if the job gets every slot in time and each task
    /// runs as long.
    parting: Option<JobDifference>,
    /// The milliseconds up to which a difference is no parting.
    little: u64,
}

impl<'r> ExplainedRun<'r> {
    /// Names a run.
    pub fn new(name: impl Into<String>, results: &'r dyn Results, tables: RunToExplain) -> Self {
        Self { name: name.into(), results, holders: tables.holders(), tables }
    }

    /// Explains the job at an index.
    pub fn explain(&self, place: usize) -> ExplainedJob {
        let mut explained = ExplainedJob::of(&self.tables, place, &self.holders);
        explained.name_holders(&self.holders);
        explained
    }
}

impl<'r> RunPair<'r> {
    /// Returns the names of the runs.
    pub fn names(&self) -> [&str; 2] {
        self.0.each_ref().map(|run| run.name.as_str())
    }

    /// Returns the jobs that both runs have, those whose times differ most first.
    pub fn jobs(&self) -> JobPairs<'_> {
        let mut pairs = JobPairs::of(self.0.each_ref().map(|run| {
            let with_time = run.tables.jobs.iter().map(|job| {
                let took = job.ended.saturating_sub(job.row.submit_ms);
                (&job.row, (!job.is_refused()).then_some(took))
            });
            with_time.collect()
        }));
        pairs.0.retain(|pair| is_same_job(pair.rows));
        pairs.most_first()
    }

    /// Returns the first slot that goes to another job; `None` if there is none, or if the runs have
    /// different jobs: then it says nothing about their policies.
    pub fn first_slot(&self) -> Result<Option<FirstSlot>, ReadError> {
        let [one, other] = self.0.each_ref().map(|run| &run.tables.jobs);
        let mut twins = one.iter().zip(other);
        let have_same = one.len() == other.len()
            && twins.all(|(one, other)| is_same_job([&one.row, &other.row]));
        if !have_same {
            return Ok(None);
        }
        FirstSlot::find(self.0.each_ref().map(|run| run.results))
    }

    /// Returns the cause whose times differ most in the direction of a job's whole difference, with
    /// its difference in milliseconds; `None` if the job takes as long in both runs.
    pub fn above_all(&self, pair: &JobPair<'_>) -> Option<(SojournPart, i64)> {
        let explained = [0, 1].map(|run| {
            let ExplainedRun { tables, holders, .. } = &self.0[run];
            ExplainedJob::of(tables, pair.places[run], holders)
        });
        let parts = both_parts(&explained).into_iter();
        let changes = parts.map(|(part, [one, other])| (part, other as i64 - one as i64));
        let same_way = changes.filter(|(_, by)| 0 < by.signum() * pair.by().signum());
        same_way.max_by_key(|(_, by)| by.unsigned_abs())
    }

    /// Says how long a job takes in both runs, and what makes most of the difference.
    pub fn sentence(&self, pair: &JobPair<'_>) -> String {
        let [one, two] =
            [0, 1].map(|run| format!("{} in {}", seconds(pair.took[run]), self.names()[run]));
        let cause = self.above_all(pair).map_or_else(String::new, |(part, by)| {
            let more = if 0 < by { "more" } else { "less" };
            format!(", above all {} {more} of {}", seconds(by.unsigned_abs()), part.word())
        });
        let longer = if 0 < pair.by() { "longer" } else { "shorter" };
        format!("{one}, {two}, {} {longer}{cause}", seconds(pair.by().unsigned_abs()))
    }

    /// Reads the stories of the job at these indices.
    pub fn stories(&'r self, places: [usize; 2]) -> Result<TwoStories<'r>, ReadError> {
        let both = [0, 1].map(|run| self.0[run].explain(places[run]));
        // All times differ a little. A tenth of the whole difference is chosen: where that much has
        // been lost, the rest mostly follows. Less than a second is left to heartbeats.
        let little = (both[0].sojourn_ms.abs_diff(both[1].sojourn_ms) / 10).max(1_000);
        let rows = [0, 1].map(|run| &self.0[run].tables.jobs[places[run]].row);
        let results = self.0.each_ref().map(|run| run.results);
        let parting = JobDifference::find(results, rows, little)?;
        Ok(TwoStories { runs: &self.0, both, parting, little })
    }
}

/// Returns whether two jobs have one name and equally many tasks.
pub fn is_same_job([a, b]: [&JobRow; 2]) -> bool {
    (&a.name, a.maps, a.reduces) == (&b.name, b.maps, b.reduces)
}

/// Returns the length of each cause of a job's time in both runs, in the order of a story.
fn both_parts(both: &[ExplainedJob; 2]) -> BTreeMap<SojournPart, [u64; 2]> {
    let mut parts: BTreeMap<SojournPart, [u64; 2]> = BTreeMap::new();
    for (run, one) in both.iter().enumerate() {
        one.sums.iter().for_each(|sum| parts.entry(sum.part).or_default()[run] += sum.ms);
    }
    parts
}

impl<'r> TwoStories<'r> {
    /// Returns the job in each run.
    pub fn jobs(&self) -> [&'r JobToExplain; 2] {
        [0, 1].map(|run| &self.runs[run].tables.jobs[self.both[run].place])
    }

    /// Returns the parts of the job's time in both runs, in the order of its story.
    pub fn table(&self, caption: String) -> SideTable {
        let row = |name: &str, both: [u64; 2], why: String| SideRow {
            notes: vec![PageCell::text(why)],
            ..SideRow::new(name, Unit::TIME, both.map(|ms| Some(ms as f64 / 1e3)).into())
        };
        let both = both_parts(&self.both).into_iter();
        let parts = both.map(|(part, both)| row(part.word(), both, self.rules(part)));
        let whole = self.both.each_ref().map(|one| one.sojourn_ms);
        SideTable {
            caption,
            keys: vec![PageColumn::text("")],
            sides: self.runs.each_ref().map(|run| run.name.clone()).into(),
            changes: &[ChangeColumn::Difference],
            notes: vec![PageColumn::text("")],
            rows: parts.chain([row("sojourn", whole, String::new())]).collect(),
        }
    }

    /// Returns the rule that explains most of a wait in each run, in words.
    fn rules(&self, part: SojournPart) -> String {
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
        let ruled = rules.into_iter().zip(self.runs);
        let of_runs =
            ruled.filter_map(|(rule, run)| Some(format!("{}: {}", run.name, rule?.word())));
        of_runs.collect::<Vec<_>>().join("; ")
    }

    /// Returns where the stories part.
    pub fn parted(&self) -> PartedSlots {
        let Some(parting) = &self.parting else {
            let little = seconds(self.little);
            let same = format!("no slot comes later and no task runs longer by more than {little}");
            return PartedSlots::new(same, Default::default(), Vec::new());
        };
        let JobDifference { kind, later, number, given, .. } = parting;
        let (kind, later) = (kind.word(), &self.runs[*later].name);
        let lengths = self.lengths(parting);
        let by = lengths[0].zip(lengths[1]).map(|(one, other)| seconds(one.abs_diff(other)));
        let caption = match (number, by) {
            (Some(number), Some(by)) => {
                format!("they part at its {kind} slot {number}, which comes {by} later in {later}")
            }
            (Some(number), None) => {
                format!("they part at its {kind} slot {number}, which never comes in {later}")
            }
            (None, by) => {
                let task = given[0].as_ref().map_or(0, |slot| slot.task);
                let by = by.unwrap_or_default();
                format!("they part at its {kind} {task}, which takes {by} longer in {later}")
            }
        };
        let row = |run: usize| {
            let name = self.runs[run].name.clone();
            let Some(slot) = &given[run] else { return vec![name, "never".to_owned()] };
            let length = lengths[run].map_or_else(String::new, seconds);
            let took =
                if number.is_some() { format!("{length} after its arrival") } else { length };
            let attempt = format!("{kind} {} on {}", slot.task, slot.node);
            vec![name, took, attempt, slot.reason.to_string()]
        };
        PartedSlots::new(caption, [row(0), row(1)], self.meanwhile(parting))
    }

    fn lengths(&self, parting: &JobDifference) -> [Option<u64>; 2] {
        [0, 1].map(|run| parting.length(run, &self.jobs()[run].row))
    }

    /// Returns the job that got the next slot, and the cause of the wait meanwhile, of the run in
    /// which a slot comes later.
    fn meanwhile(&self, parting: &JobDifference) -> Vec<String> {
        let JobDifference { kind, later, number: Some(_), instead, .. } = parting else {
            return Vec::new();
        };
        let ExplainedRun { name, tables, holders, .. } = &self.runs[*later];
        let mut lines = Vec::new();
        if let Some(GivenSlot { job, task, node, reason, .. }) = instead {
            let (kind, other) = (kind.word(), tables.name_of(*job));
            let reason = if reason.is_empty() { String::new() } else { format!(", {reason}") };
            lines.push(format!(
                "in {name} job {job} ({other}) got the next slot: {kind} {task} on {node}{reason}"
            ));
        }
        let JobToExplain { row, ended, .. } = self.jobs()[*later];
        let since =
            self.lengths(parting).map(|since| since.map(|ms| row.submit_ms.saturating_add(ms)));
        let from = since[1 - later].unwrap_or(row.submit_ms).min(*ended);
        let to = since[*later].unwrap_or(*ended).clamp(from, *ended);
        if let Some(sum) = self.both[*later].mostly((from, to), tables, holders) {
            lines.push(format!("meanwhile {}", sum.line(tables, to - from)));
        }
        lines
    }

    /// Returns the parting as JSON; `null` if there is none.
    pub fn parting_json(&self) -> Value {
        let Some(JobDifference { kind, later, number, given, instead }) = &self.parting else {
            return Value::Null;
        };
        let slot = |run: usize, slot: &Option<GivenSlot>| {
            let tables = &self.runs[run].tables;
            slot.as_ref().map(|slot| slot.to_json(|job| tables.name_of(job)))
        };
        json!({
            "kind": kind.word(),
            "later_in": self.runs[*later].name,
            "number": number,
            "given": [slot(0, &given[0]), slot(1, &given[1])],
            "instead": slot(*later, instead),
        })
    }
}

/// Returns the job's share of the slots that were held in a part of its time.
fn own_share(job: &ExplainedJob, part: SojournPart) -> String {
    let of_part = job.sums.iter().filter(|sum| sum.part == part);
    let (own, held) = of_part.fold((0, 0), |(own, held), sum| (own + sum.own, held + sum.held));
    percent(own as f64 / held.max(1) as f64)
}

fn seconds(ms: u64) -> String {
    span(ms as f64 / 1e3)
}
