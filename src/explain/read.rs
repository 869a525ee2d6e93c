//! The jobs and attempts of a run, read from its tables.

use super::holders::Hold;
use super::part::Rule;
use super::refused::Refused;
use super::story::{Course, Try};
use crate::cluster::SlotKind;
use crate::expect::{ReadError, Results, Row, Table};
use crate::mapred::TaskKind;

const OF_JOBS: [&str; 13] = [
    "job",
    "name",
    "user",
    "pool",
    "class",
    "maps",
    "reduces",
    "submit_ms",
    "initialised_ms",
    "running_ms",
    "maps_done_ms",
    "finish_ms",
    "outcome",
];

const OF_TASKS: [&str; 17] = [
    "job",
    "kind",
    "task",
    "attempt",
    "slots",
    "launch_ms",
    "start_ms",
    "start_up_ms",
    "shuffle_ms",
    "sort_ms",
    "finish_ms",
    "heard_ms",
    "commit_ms",
    "suspended_ms",
    "outcome",
    "speculative",
    "waited_ms",
];

const OF_DECISIONS: [&str; 6] = ["what", "job", "kind", "from_ms", "to_ms", "code"];

/// What is known of a run.
#[derive(Clone, Debug)]
pub struct Told {
    /// Its jobs, in the order of their numbers.
    pub jobs: Vec<ToldJob>,
    /// The rules by which its policies put jobs in order, each with the millisecond from which on it
    /// holds; the first from the beginning.
    pub orders: Vec<(u64, Rule)>,
    /// What attempts held.
    pub holds: Vec<Hold>,
}

impl Told {
    /// Returns the job of a number.
    pub fn job(&self, id: u32) -> Option<&ToldJob> {
        place_of(&self.jobs, id).map(|place| &self.jobs[place])
    }
}

/// A job.
#[derive(Clone, Debug)]
pub struct ToldJob {
    /// Its number.
    pub id: u32,
    /// Its name.
    pub name: String,
    /// Its user.
    pub user: String,
    /// Its pool; may be empty.
    pub pool: String,
    /// How it ended, or `unfinished`.
    pub outcome: String,
    /// Its own instants.
    pub course: Course,
    /// Its attempts.
    pub tries: Vec<Try>,
    /// What it was refused, if that was recorded.
    pub refusals: Vec<Refused>,
}

/// Reads what a run has left. `policies` are their names, each with the millisecond from which on it
/// decided, `ended` the millisecond at which the run stopped, and
/// it may have recorded its decisions.
///
/// # Errors
/// If its tables cannot be read.
pub fn read(
    results: &dyn Results,
    policies: &[(u64, String)],
    ended: u64,
    has_decisions: bool,
) -> Result<Told, ReadError> {
    let orders = policies.iter().map(|(from, policy)| (*from, Rule::of_policy(policy)));
    let mut told = Told { jobs: Vec::new(), orders: orders.collect(), holds: Vec::new() };
    results.rows(Table::Jobs, &OF_JOBS, &mut |row| {
        told.jobs.push(job(row, ended)?);
        Ok(())
    })?;
    let Told { jobs, holds, .. } = &mut told;
    results.rows(Table::Tasks, &OF_TASKS, &mut |row| {
        let id = row.id(0)?;
        let unknown = || format!("job {id} is not in {}", Table::Jobs.file());
        let place = place_of(jobs, id).ok_or_else(unknown)?;
        attempt(row, &mut jobs[place], holds, ended)
    })?;
    if has_decisions {
        results.rows(Table::Decisions, &OF_DECISIONS, &mut |row| {
            let id = row.id(1)?;
            if let Some((refused, place)) = refused(row)?.zip(place_of(jobs, id)) {
                jobs[place].refusals.push(refused);
            }
            Ok(())
        })?;
    }
    Ok(told)
}

fn place_of(jobs: &[ToldJob], id: u32) -> Option<usize> {
    jobs.binary_search_by_key(&id, |job| job.id).ok()
}

/// Returns what a row refuses, if it does.
fn refused(row: &Row<'_>) -> Result<Option<Refused>, String> {
    let rule = Refused::rule(row.text(5)).filter(|_| row.text(0) == "refuse");
    let (from, to) = (millis(row, 3)?, millis(row, 4)?);
    let (_, kind) = kind(row.text(2), 0)?;
    let known = rule.zip(from).zip(to);
    Ok(known.map(|((rule, from), to)| Refused { kind, from, to, rule }))
}

fn job(row: &Row<'_>, ended: u64) -> Result<ToldJob, String> {
    let at = |column| millis(row, column);
    let submitted = at(7)?.unwrap_or_default();
    Ok(ToldJob {
        id: row.id(0)?,
        name: row.text(1).to_owned(),
        user: row.text(2).to_owned(),
        pool: row.text(3).to_owned(),
        outcome: row.text(12).to_owned(),
        course: Course {
            submitted,
            initialised: at(8)?,
            running: at(9)?,
            maps_done: at(10)?,
            ended: at(11)?.unwrap_or(ended.max(submitted)),
            has_tasks: 0 < row.id(5)? || 0 < row.id(6)?,
        },
        tries: Vec::new(),
        refusals: Vec::new(),
    })
}

/// Adds a row of the attempts to its job, and to what was held.
fn attempt(
    row: &Row<'_>,
    job: &mut ToldJob,
    holds: &mut Vec<Hold>,
    ended: u64,
) -> Result<(), String> {
    let at = |column| millis(row, column);
    let (task, number, outcome) = (row.id(2)?, row.id(3)?, row.text(14));
    let finished = at(10)?;
    if outcome == "lost" {
        // Its own row comes before: it had succeeded.
        let of_map =
            |one: &&mut Try| one.kind == TaskKind::Map && one.task == task && one.number == number;
        if let Some(one) = job.tries.iter_mut().rev().find(of_map) {
            one.lost = finished;
        }
        return Ok(());
    }
    let (started, suspended) = (at(6)?, at(13)?.unwrap_or(0));
    let (kind, slot) = kind(row.text(1), task)?;
    if let Some(from) = started {
        let to = finished.unwrap_or(ended).max(from);
        let slots = f64::from(row.id(4)?);
        let part = 1.0 - suspended as f64 / ((to - from).max(1) as f64);
        holds.push(Hold { job: job.id, kind: slot, from, to, slots: slots * part.max(0.0) });
    }
    let (Some(kind), Some(launched)) = (kind, at(5)?) else { return Ok(()) };
    // Of what is not known, nothing is said: each instant is then the one before.
    let started = started.unwrap_or(launched);
    // What was not heard of before the job ended has kept it waiting for nothing; a job that has not
    // ended waits for it still.
    let unheard = if job.outcome == "unfinished" { job.course.ended } else { u64::MAX };
    let heard = at(11)?.unwrap_or(unheard);
    let finished = finished.unwrap_or(heard.min(ended));
    let worked = finished.saturating_sub(at(12)?.unwrap_or(0)).max(started);
    let begun = started + at(7)?.unwrap_or(0);
    let fetched = (begun + at(8)?.unwrap_or(0)).min(worked);
    let sorted = (fetched + at(9)?.unwrap_or(0)).min(worked);
    let of_reduce = |instant| if kind == TaskKind::Reduce { instant } else { started };
    job.tries.push(Try {
        kind,
        task,
        number,
        is_second: row.text(15) == "true",
        launched,
        started,
        fetched: of_reduce(fetched),
        sorted: of_reduce(sorted),
        worked,
        suspended,
        heard,
        lost: None,
        passed_over: at(16)?,
    });
    Ok(())
}

/// Returns what a task does, unless it is the removal of an output, and the kind of its slot.
fn kind(word: &str, task: u32) -> Result<(Option<TaskKind>, SlotKind), String> {
    let service = if task == 0 { SlotKind::Map } else { SlotKind::Reduce };
    match word {
        "map" => Ok((Some(TaskKind::Map), SlotKind::Map)),
        "reduce" => Ok((Some(TaskKind::Reduce), SlotKind::Reduce)),
        "setup" => Ok((Some(TaskKind::Setup), service)),
        "cleanup" => Ok((Some(TaskKind::Cleanup), service)),
        "map-cleanup" => Ok((None, SlotKind::Map)),
        "reduce-cleanup" => Ok((None, SlotKind::Reduce)),
        other => Err(format!("no kind of task is called `{other}`")),
    }
}

fn millis(row: &Row<'_>, column: usize) -> Result<Option<u64>, String> {
    Ok(row.number(column)?.map(|millis| millis.max(0.0) as u64))
}
