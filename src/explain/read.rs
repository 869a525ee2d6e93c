//! The jobs and attempts of a run, read from its tables.

use std::collections::BTreeMap;

use indexmap::IndexSet;

use super::free::{Tracker, Trackers};
use super::holders::{Hold, Holders};
use super::refused::Refused;
use super::story::{Course, Try};
use crate::cluster::{PerSlot, SlotKind};
use crate::expect::{ReadError, Results, Row, Table};
use crate::mapred::{Incident, Precedence, Reason, TaskKind};

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

const OF_TASKS: [&str; 19] = [
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
    "suspensions",
    "outcome",
    "speculative",
    "waited_ms",
    "node",
    "killed_code",
];

const OF_DECISIONS: [&str; 6] = ["what", "job", "kind", "from_ms", "to_ms", "code"];

const OF_FAULTS: [&str; 3] = ["at_ms", "node", "what"];

/// What takes the work of a node, or its output.
const TAKES_WORK: [Incident; 4] =
    [Incident::MachineOff, Incident::TrackerGone, Incident::DiskLost, Incident::CutOff];

/// When nodes went, by their names.
type Went = BTreeMap<String, Vec<u64>>;

/// When the outputs of maps were known to be lost, and when their nodes had gone, if that is known: by
/// job, task and attempt.
type Losses = BTreeMap<(u32, u32, u32), (u64, Option<u64>)>;

/// What is known of a run.
#[derive(Clone, Debug)]
pub struct Told {
    /// Its jobs, in the order of their numbers.
    pub jobs: Vec<ToldJob>,
    /// By what its policies put jobs in order, each with the millisecond from which on that holds; the
    /// first from the beginning.
    pub orders: Vec<(u64, Precedence)>,
    /// The pools of jobs, and the users of those that have none.
    pub groups: Vec<String>,
    /// The slots that trackers had when they first came up.
    pub slots: PerSlot<u64>,
    /// When the JobTracker's process stood still or was gone: from and to, in milliseconds.
    pub absences: Vec<(u64, u64)>,
    /// What attempts held.
    pub holds: Vec<Hold>,
}

impl Told {
    /// Returns who held slots when.
    pub fn holders(&self) -> Holders {
        let group = |job| self.job(job).map_or(u32::MAX, |job| job.group);
        Holders::new(self.holds.iter().copied(), group)
    }

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
    /// The place of its pool, or of its user, among the groups of the run.
    pub group: u32,
    /// How it ended, or `unfinished`.
    pub outcome: String,
    /// Its own instants.
    pub course: Course,
    /// Its attempts.
    pub tries: Vec<Try>,
    /// What it was refused, if that was recorded.
    pub refusals: Vec<Refused>,
}

/// What is known of a run beside its tables of jobs and attempts.
#[derive(Clone, Debug)]
pub struct About {
    /// By what its policies put jobs in order, each with the millisecond from which on it decided.
    pub orders: Vec<(u64, Precedence)>,
    /// The slots that trackers had when they first came up.
    pub slots: PerSlot<u64>,
    /// How many milliseconds lie between two heartbeats of a tracker, about.
    pub heartbeat: u64,
    /// The millisecond at which it stopped.
    pub ended: u64,
    /// Whether it recorded its decisions.
    pub has_decisions: bool,
    /// Whether something befell a machine.
    pub has_faults: bool,
}

/// Reads what a run has left.
///
/// # Errors
/// If its tables cannot be read.
pub fn read(results: &dyn Results, about: &About) -> Result<Told, ReadError> {
    let ended = about.ended;
    let mut told = Told {
        jobs: Vec::new(),
        orders: about.orders.clone(),
        groups: Vec::new(),
        slots: about.slots,
        absences: Vec::new(),
        holds: Vec::new(),
    };
    let mut groups = IndexSet::new();
    results.rows(Table::Jobs, &OF_JOBS, &mut |row| {
        let mut job = job(row, ended)?;
        let group = if job.pool.is_empty() { &job.user } else { &job.pool };
        job.group = groups.insert_full(group.clone()).0 as u32;
        told.jobs.push(job);
        Ok(())
    })?;
    told.groups = groups.into_iter().collect();
    let mut went = Went::new();
    if about.has_faults {
        (told.absences, went) = faults(results, ended)?;
    }
    tasks(results, about, &went, &mut told)?;
    if about.has_decisions {
        decisions(results, &mut told.jobs)?;
    }
    Ok(told)
}

/// Reads when the JobTracker's process was not there, and when nodes went.
fn faults(results: &dyn Results, ended: u64) -> Result<(Vec<(u64, u64)>, Went), ReadError> {
    let (mut absences, mut went, mut since) = (Vec::new(), Went::new(), None);
    results.rows(Table::Faults, &OF_FAULTS, &mut |row| {
        let (at, what) = (millis(row, 0)?.unwrap_or_default(), row.text(2));
        if row.text(1) == Incident::OF_JOBTRACKER {
            match what == Incident::Back.words() {
                false => _ = since.get_or_insert(at),
                true => absences.extend(since.take().map(|since| (since, at))),
            }
        } else if TAKES_WORK.map(Incident::words).contains(&what) {
            went.entry(row.text(1).to_owned()).or_default().push(at);
        }
        Ok(())
    })?;
    absences.extend(since.map(|since| (since, ended)));
    Ok((absences, went))
}

/// Reads the attempts, what they held, which of their outputs were lost, and since when their slots had
/// been free.
fn tasks(
    results: &dyn Results,
    about: &About,
    went: &Went,
    told: &mut Told,
) -> Result<(), ReadError> {
    let Told { jobs, holds, .. } = told;
    let mut losses = Losses::new();
    let mut trackers = Trackers::new();
    // On which tracker each attempt was, in the order of the table.
    let mut launches: Vec<(usize, usize, usize)> = Vec::new();
    results.rows(Table::Tasks, &OF_TASKS, &mut |row| {
        let id = row.id(0)?;
        let unknown = || format!("job {id} is not in {}", Table::Jobs.file());
        let place = place_of(jobs, id).ok_or_else(unknown)?;
        let node = row.text(17);
        if row.text(14) == "lost" {
            // Its own row came before: it had succeeded.
            let at = millis(row, 10)?.unwrap_or_default();
            let of_node = went.get(node).into_iter().flatten();
            let gone = of_node.copied().filter(|gone| *gone <= at).max();
            losses.insert((id, row.id(2)?, row.id(3)?), (at, gone));
            return Ok(());
        }
        let (job, first) = (&mut jobs[place], holds.len());
        let before = job.tries.len();
        attempt(row, job, holds, about.ended)?;
        let known = trackers.get_index_of(node);
        let number =
            known.unwrap_or_else(|| trackers.insert_full(node.to_owned(), Tracker::default()).0);
        if before < job.tries.len() {
            launches.push((place, before, number));
        }
        for hold in &holds[first..] {
            trackers[number].held(hold.kind, (hold.from, hold.to), hold.slots);
        }
        Ok(())
    })?;
    trackers.values_mut().for_each(Tracker::settle);
    for (place, number, tracker) in launches {
        let one = &mut jobs[place].tries[number];
        let kind = if one.kind == TaskKind::Reduce { SlotKind::Reduce } else { SlotKind::Map };
        if let Some(free) = trackers[tracker].free(kind, one.launched, about.heartbeat) {
            (one.free, one.served) = free;
        }
    }
    if losses.is_empty() {
        return Ok(());
    }
    for job in jobs {
        for one in job.tries.iter_mut().filter(|one| one.kind == TaskKind::Map) {
            if let Some((at, gone)) = losses.get(&(job.id, one.task, one.number)) {
                (one.lost, one.gone) = (Some(*at), *gone);
            }
        }
    }
    Ok(())
}

/// Reads what jobs were refused.
fn decisions(results: &dyn Results, jobs: &mut [ToldJob]) -> Result<(), ReadError> {
    results.rows(Table::Decisions, &OF_DECISIONS, &mut |row| {
        let id = row.id(1)?;
        if let Some((refused, place)) = refused(row)?.zip(place_of(jobs, id)) {
            jobs[place].refusals.push(refused);
        }
        Ok(())
    })
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
        group: 0,
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
    let started = at(6)?;
    let stops = stops(row.text(13), finished.unwrap_or(ended))?;
    let (kind, slot) = kind(row.text(1), task)?;
    if let Some(from) = started {
        let to = finished.unwrap_or(ended).max(from);
        let slots = row.id(4)?;
        // It holds its slot from one stop to the next.
        let begins = std::iter::once(from).chain(stops.iter().map(|stop| stop.1));
        let ends = stops.iter().map(|stop| stop.0).chain([to]);
        for (from, to) in begins.zip(ends).filter(|(from, to)| from < to) {
            holds.push(Hold { job: job.id, kind: slot, from, to, slots });
        }
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
    // Phases are told without the time in which the attempt was stopped.
    let begun = at(7)?.unwrap_or(0);
    let fetching = begun + at(8)?.unwrap_or(0);
    let sorting = fetching + at(9)?.unwrap_or(0);
    let fetched = after(started, fetching, &stops).min(worked);
    let sorted = after(started, sorting, &stops).min(worked);
    let of_reduce = |instant| if kind == TaskKind::Reduce { instant } else { started };
    // The tracker's last instant, while the JobTracker has yet to miss it.
    let gone = row.text(18) == Reason::TrackerLost.code();
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
        stops,
        heard,
        is_vain: matches!(outcome, "failed" | "killed"),
        lost: None,
        gone: gone.then_some(finished.min(heard)),
        passed_over: at(16)?,
        free: launched,
        served: launched,
    });
    Ok(())
}

/// Returns the instant at which an attempt has run for so long, stops aside.
fn after(started: u64, ran: u64, stops: &[(u64, u64)]) -> u64 {
    stops.iter().fold(started.saturating_add(ran), |instant, (from, to)| match *from < instant {
        true => instant.saturating_add(to - from),
        false => instant,
    })
}

/// Reads when an attempt was stopped; a stop that has no end lasts until the given instant.
fn stops(text: &str, end: u64) -> Result<Vec<(u64, u64)>, String> {
    let stop = |stop: &str| {
        let (from, to) = stop.split_once('-')?;
        let from = from.parse().ok()?;
        let to: u64 = if to.is_empty() { end } else { to.parse().ok()? };
        Some((from, to.max(from)))
    };
    let all: Option<Vec<_>> = text.split_whitespace().map(stop).collect();
    all.ok_or_else(|| format!("`{text}` are no suspensions, such as `3000-4500 7000-9000`"))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stops_are_read_and_delay_what_comes_after_them() {
        let stops = stops("3000-4500 7000-", 9_000).unwrap();
        assert_eq!(stops, [(3_000, 4_500), (7_000, 9_000)]);
        // Started at 1 s: two seconds of work end with the first stop's begin, more come after it.
        assert_eq!(after(1_000, 2_000, &stops), 3_000);
        assert_eq!(after(1_000, 2_500, &stops), 5_000);
        assert_eq!(after(1_000, 5_000, &stops), 9_500);
        assert_eq!(super::stops("", 9_000), Ok(Vec::new()));
        assert!(super::stops("3000", 9_000).unwrap_err().contains("`3000` are no suspensions"));
    }
}
