//! The jobs and attempts of a run, read from its tables.

use std::collections::BTreeMap;

use indexmap::IndexSet;

use super::free::{SlotsByNode, TrackerSlots};
use super::holders::{AttemptHold, SlotHolders};
use super::refused::RefusedTime;
use super::story::JobAttempt;
use crate::tables::{
    AttemptEnd, AttemptRow, Decided, DecisionRow, FaultRow, JobEnd, JobRow, ReadError, Results,
    TableRow,
};
use mumakil_core::cluster::{PerSlot, SlotKind};
use mumakil_core::mapred::{Incident, Precedence, Reason, TaskKind};

/// Incidents that take the work of a node, or its output.
// Only incidents after which attempts or outputs on the node are lost; a slow node loses none.
const TAKES_WORK: [Incident; 4] =
    [Incident::MachineOff, Incident::TrackerGone, Incident::DiskLost, Incident::CutOff];

/// When nodes went, by their names.
type NodesGone = BTreeMap<String, Vec<u64>>;

/// When the JobTracker knew that a map's output was lost, and when its node went, if known: by job,
/// task and attempt.
type LostOutputs = BTreeMap<(u32, u32, u32), (u64, Option<u64>)>;

/// A run as its files tell it.
#[derive(Clone, Debug)]
pub struct ToldRun {
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
    /// The spans in which attempts held slots.
    pub holds: Vec<AttemptHold>,
}

impl ToldRun {
    /// Returns who held slots when.
    pub fn holders(&self) -> SlotHolders {
        let group = |job| self.job(job).map_or(u32::MAX, |job| job.group);
        SlotHolders::new(self.holds.iter().copied(), group)
    }

    /// Returns the job of a number.
    pub fn job(&self, id: u32) -> Option<&ToldJob> {
        place_of(&self.jobs, id).map(|place| &self.jobs[place])
    }
}

/// A job.
#[derive(Clone, Debug)]
pub struct ToldJob {
    /// Its row in the table of the jobs.
    pub row: JobRow,
    /// The place of its pool, or of its user, among the groups of the run.
    pub group: u32,
    /// When it ended, or when the run did.
    pub ended: u64,
    /// Its attempts.
    pub tries: Vec<JobAttempt>,
    /// The refusals that it met, if these were recorded.
    pub refusals: Vec<RefusedTime>,
}

/// Reads what a run has left, whose policies put jobs in these orders.
///
/// # Errors
/// If its files cannot be read.
pub fn read(results: &dyn Results, orders: Vec<(u64, Precedence)>) -> Result<ToldRun, ReadError> {
    let number = |key| Ok::<_, ReadError>(results.number(key)?.unwrap_or_default().max(0.0));
    let whole = |key| number(key).map(|number| number as u64);
    let ended = (number("virtual_s")? * 1e3) as u64;
    // How many milliseconds lie between two heartbeats of a tracker, about.
    // The summary has no interval, so it follows from how many heartbeats all nodes sent in the
    // run.
    let heartbeat = ended * whole("nodes")? / whole("heartbeats")?.max(1);
    let mut told = ToldRun {
        jobs: Vec::new(),
        orders,
        groups: Vec::new(),
        slots: PerSlot { map: whole("map_slots")?, reduce: whole("reduce_slots")? },
        absences: Vec::new(),
        holds: Vec::new(),
    };
    let mut groups = IndexSet::new();
    results.rows(|row: JobRow| {
        // Without pools, as under FIFO, users are the groups that a reader knows.
        let group = if row.pool.is_empty() { &row.user } else { &row.pool };
        let group = groups.insert_full(group.to_string()).0 as u32;
        told.jobs.push(ToldJob {
            ended: row.finish_ms.unwrap_or(ended.max(row.submit_ms)),
            row,
            group,
            tries: Vec::new(),
            refusals: Vec::new(),
        });
        Ok(())
    })?;
    told.groups = groups.into_iter().collect();
    // Before the attempts, which need to know when their nodes went.
    let went = faults(results, ended, &mut told)?;
    tasks(results, ended, heartbeat, &went, &mut told)?;
    decisions(results, &mut told.jobs)?;
    Ok(told)
}

/// Reads when the JobTracker's process was not there, and when nodes went.
fn faults(results: &dyn Results, ended: u64, told: &mut ToldRun) -> Result<NodesGone, ReadError> {
    let (mut went, mut since) = (NodesGone::new(), None);
    results.rows_if_any(|row: FaultRow| {
        let (at, what) = (row.at_ms, &*row.what);
        if row.node == Incident::OF_JOBTRACKER {
            match what == Incident::Back.words() {
                // A pause may become a death: the absence began with the first of them.
                false => _ = since.get_or_insert(at),
                true => told.absences.extend(since.take().map(|since| (since, at))),
            }
        } else if TAKES_WORK.map(Incident::words).contains(&what) {
            went.entry(row.node.to_string()).or_default().push(at);
        }
        Ok(())
    })?;
    // An absence that had not ended lasts to the end of the run.
    told.absences.extend(since.map(|since| (since, ended)));
    Ok(went)
}

/// Reads the attempts, what they held, which of their outputs were lost, and since when their slots had
/// been free.
fn tasks(
    results: &dyn Results,
    ended: u64,
    heartbeat: u64,
    went: &NodesGone,
    told: &mut ToldRun,
) -> Result<(), ReadError> {
    let ToldRun { jobs, holds, .. } = told;
    let mut losses = LostOutputs::new();
    let mut trackers = SlotsByNode::new();
    // On which tracker each attempt was, in the order of the table.
    let mut launches: Vec<(usize, usize, usize)> = Vec::new();
    results.rows(|row: AttemptRow| {
        let unknown = || format!("job {} is not in {}", row.job, JobRow::FILE);
        let place = place_of(jobs, row.job).ok_or_else(unknown)?;
        let node = &*row.node;
        if row.outcome == AttemptEnd::Lost {
            // Its own row came before: it had succeeded.
            let at = row.finish_ms.unwrap_or_default();
            let of_node = went.get(node).into_iter().flatten();
            // The last trouble of the node before the JobTracker noticed: an earlier one was
            // noticed then.
            let gone = of_node.copied().filter(|gone| *gone <= at).max();
            losses.insert((row.job, row.task, row.attempt), (at, gone));
            return Ok(());
        }
        let (job, first) = (&mut jobs[place], holds.len());
        let before = job.tries.len();
        attempt(&row, job, holds, ended)?;
        // Looked up first, so that a name is copied once for each node instead of once for each
        // row.
        let known = trackers.get_index_of(node);
        let number = known
            .unwrap_or_else(|| trackers.insert_full(node.to_owned(), TrackerSlots::default()).0);
        // Removals of outputs hold slots but are no attempts of the story.
        if before < job.tries.len() {
            launches.push((place, before, number));
        }
        for hold in &holds[first..] {
            trackers[number].held(hold.kind, (hold.from, hold.to), hold.slots);
        }
        Ok(())
    })?;
    trackers.values_mut().for_each(TrackerSlots::settle);
    for (place, number, tracker) in launches {
        let one = &mut jobs[place].tries[number];
        let kind = if one.kind == TaskKind::Reduce { SlotKind::Reduce } else { SlotKind::Map };
        if let Some(free) = trackers[tracker].free(kind, one.launched, heartbeat) {
            (one.free, one.served) = free;
        }
    }
    // Most runs lose nothing; then the walk over all attempts is saved.
    if losses.is_empty() {
        return Ok(());
    }
    for job in jobs {
        for one in job.tries.iter_mut().filter(|one| one.kind == TaskKind::Map) {
            if let Some((at, gone)) = losses.get(&(job.row.job, one.task, one.number)) {
                (one.lost, one.gone) = (Some(*at), *gone);
            }
        }
    }
    Ok(())
}

/// Reads what jobs were refused.
fn decisions(results: &dyn Results, jobs: &mut [ToldJob]) -> Result<(), ReadError> {
    results.rows_if_any(|row: DecisionRow| {
        if let Some((refused, place)) = refused(&row).zip(place_of(jobs, row.job)) {
            jobs[place].refusals.push(refused);
        }
        Ok(())
    })
}

fn place_of(jobs: &[ToldJob], id: u32) -> Option<usize> {
    // `jobs.csv` is in the order of numbers.
    jobs.binary_search_by_key(&id, |job| job.row.job).ok()
}

/// Returns what a row refuses, if it does.
fn refused(row: &DecisionRow) -> Option<RefusedTime> {
    let rule = RefusedTime::rule(&row.code).filter(|_| row.what == Decided::Refuse)?;
    Some(RefusedTime { kind: row.kind.slot(0), from: row.from_ms, to: row.to_ms, rule })
}

/// Adds an attempt's row to its job, and its time in slots to the holds.
fn attempt(
    row: &AttemptRow,
    job: &mut ToldJob,
    holds: &mut Vec<AttemptHold>,
    ended: u64,
) -> Result<(), String> {
    let finished = row.finish_ms;
    let started = row.start_ms;
    let stops = stops(&row.suspensions, finished.unwrap_or(ended))?;
    if let Some(from) = started {
        let to = finished.unwrap_or(ended).max(from);
        // It holds its slot from one stop to the next.
        let begins = std::iter::once(from).chain(stops.iter().map(|stop| stop.1));
        let ends = stops.iter().map(|stop| stop.0).chain([to]);
        for (from, to) in begins.zip(ends).filter(|(from, to)| from < to) {
            holds.push(AttemptHold { job: row.job, kind: row.slot(), from, to, slots: row.slots });
        }
    }
    let (Some(kind), Some(launched)) = (row.kind.task(), row.launch_ms) else { return Ok(()) };
    // An unknown instant is set to the one before, so its stretch is empty.
    let started = started.unwrap_or(launched);
    // If the JobTracker did not hear of an attempt's end before the job ended, the job did not wait for it. A job
    // that has not ended waits for it still.
    let unheard = if job.row.outcome == JobEnd::Unfinished { job.ended } else { u64::MAX };
    let heard = row.heard_ms.unwrap_or(unheard);
    let finished = finished.unwrap_or(heard.min(ended));
    // The commit comes last, so the work ended that much earlier; never before the start.
    let worked = finished.saturating_sub(row.commit_ms.unwrap_or(0)).max(started);
    // Phases do not include the time for which the attempt was stopped.
    let begun = row.start_up_ms.unwrap_or(0);
    let fetching = begun + row.shuffle_ms.unwrap_or(0);
    let sorting = fetching + row.sort_ms.unwrap_or(0);
    let fetched = after(started, fetching, &stops).min(worked);
    let sorted = after(started, sorting, &stops).min(worked);
    // Maps and setups have neither phase: both instants are the start, and their stretches empty.
    let of_reduce = |instant| if kind == TaskKind::Reduce { instant } else { started };
    // The tracker died with the attempt; the JobTracker notices only later.
    let gone = row.killed_code == Reason::TrackerLost.code();
    job.tries.push(JobAttempt {
        kind,
        task: row.task,
        number: row.attempt,
        is_second: row.speculative == Some(true),
        launched,
        started,
        fetched: of_reduce(fetched),
        sorted: of_reduce(sorted),
        worked,
        stops,
        heard,
        is_vain: matches!(row.outcome, AttemptEnd::Failed | AttemptEnd::Killed),
        lost: None,
        gone: gone.then_some(finished.min(heard)),
        passed_over: row.waited_ms,
        // Until the trackers' slots are known, a slot counts as free only from its launch.
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
