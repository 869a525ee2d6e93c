//! The jobs and attempts of a run, read from its tables.

use std::collections::BTreeMap;

use indexmap::IndexSet;

use super::free::{SlotsByNode, TrackerSlots};
use super::holders::{AttemptHold, SlotHolders};
use super::refused::RefusedTime;
use super::story::JobAttempt;
use crate::tables::{
    AttemptEnd, AttemptRow, CellText, ContainerRow, Decided, DecisionRow, FaultRow, JobEnd, JobRow,
    ReadError, Results, TableCell as _, TableRow,
};
use mumakil_core::cluster::{PerSlot, SlotKind};
use mumakil_core::mapred::{Incident, Precedence, Reason, TaskKind};

/// Incidents by which a node loses its attempts or their outputs.
// Slowness is no such incident: a slow node loses nothing.
const TAKES_WORK: [Incident; 4] =
    [Incident::MachineOff, Incident::TrackerGone, Incident::DiskLost, Incident::CutOff];

/// The most pieces in which the sum of an attempt's suspensions is spread.
// Chosen: a piece is then a thousandth of the time, as good as any for a reader.
const MOST_SPREAD: u64 = 1_000;

/// The milliseconds at which nodes lost work, by the names of the nodes.
type NodesGone = BTreeMap<String, Vec<u64>>;

/// The lost outputs of maps, by the numbers of job, task and attempt. For each output: when the
/// JobTracker learned of the loss, and when the node lost the output, if known.
type LostOutputs = BTreeMap<(u32, u32, u32), (u64, Option<u64>)>;

/// A run, read from its files for explanations.
#[derive(Clone, Debug)]
pub struct RunToExplain {
    /// Its jobs, in the order of their numbers.
    pub jobs: Vec<JobToExplain>,
    /// The orders in which its policies served jobs, each with the millisecond from which it holds;
    /// the first order holds from the beginning.
    pub orders: Vec<(u64, Precedence)>,
    /// The names of the groups of jobs: pools, and users for jobs without a pool.
    pub groups: Vec<String>,
    /// The sum of the slots that each tracker had when it first came up.
    pub slots: PerSlot<u64>,
    /// Whether its tasks ran in containers of YARN: maps and reduces share the room of a node.
    pub has_containers: bool,
    /// The beginnings and ends, in milliseconds, of the times in which the JobTracker was paused or
    /// down.
    pub absences: Vec<(u64, u64)>,
    /// The spans in which attempts held slots.
    pub holds: Vec<AttemptHold>,
    /// How many suspensions the run tells only as a sum. They count as spread evenly: how long
    /// attempts were suspended is right, and not exactly when.
    pub summed_stops: u64,
}

impl RunToExplain {
    /// Returns the holders of slots over time.
    pub fn holders(&self) -> SlotHolders {
        SlotHolders::new(self.holds.iter().copied(), |job| {
            self.job(job).map_or(u32::MAX, |job| job.group)
        })
    }

    /// Returns the job with this number; `None` if there is none.
    pub fn job(&self, id: u32) -> Option<&JobToExplain> {
        place_of(&self.jobs, id).map(|place| &self.jobs[place])
    }
}

impl JobToExplain {
    /// Returns whether the policy refused the job, so that it spent no time.
    pub fn is_refused(&self) -> bool {
        self.row.outcome == JobEnd::Refused
    }
}

/// A job.
#[derive(Clone, Debug)]
pub struct JobToExplain {
    /// Its row in `jobs.csv`.
    pub row: JobRow,
    /// The index of its pool or user in [`RunToExplain::groups`].
    pub group: u32,
    /// The millisecond at which the job ended; for an unfinished job, the end of the run.
    pub ended: u64,
    /// Its attempts.
    pub tries: Vec<JobAttempt>,
    /// The refusals of slots to the job; empty if decisions were not recorded.
    pub refusals: Vec<RefusedTime>,
    /// Why the policy refused the job itself, in words; `None` if it did not, or if decisions were
    /// not recorded.
    pub refused_for: Option<CellText>,
}

/// Reads a run from its files. `orders` has the orders in which the run's policies served jobs,
/// each with the millisecond from which it holds. `also` is called with each row of `tasks.csv`.
pub fn read(
    results: &dyn Results,
    orders: Vec<(u64, Precedence)>,
    also: impl FnMut(&AttemptRow),
) -> Result<RunToExplain, ReadError> {
    let number = |key| Ok::<_, ReadError>(results.number(key)?.unwrap_or_default().max(0.0));
    let whole = |key| number(key).map(|number| number as u64);
    let ended = (number("virtual_s")? * 1e3) as u64;
    // The approximate number of milliseconds between two heartbeats of a tracker. The summary has
    // no interval, so compute it from the number of heartbeats in the run.
    let heartbeat = ended.saturating_mul(whole("nodes")?) / whole("heartbeats")?.max(1);
    let mut told = RunToExplain {
        jobs: Vec::new(),
        orders,
        groups: Vec::new(),
        slots: PerSlot { map: whole("map_slots")?, reduce: whole("reduce_slots")? },
        has_containers: results.open(ContainerRow::FILE).is_ok(),
        absences: Vec::new(),
        holds: Vec::new(),
        summed_stops: 0,
    };
    let mut groups = IndexSet::new();
    results.rows(|row: JobRow| {
        // Without pools, as under FIFO, users are the groups.
        let owner = if row.pool.is_empty() { &row.user } else { &row.pool };
        let group = groups.insert_full(owner.to_string()).0 as u32;
        told.jobs.push(JobToExplain {
            ended: row.finish_ms.unwrap_or(ended.max(row.submit_ms)),
            row,
            group,
            tries: Vec::new(),
            refusals: Vec::new(),
            refused_for: None,
        });
        Ok(())
    })?;
    told.groups = groups.into_iter().collect();
    // Read faults first: the attempts need the instants at which nodes lost work.
    let went = faults(results, ended, &mut told)?;
    tasks(results, ended, heartbeat, &went, &mut told, also)?;
    decisions(results, &mut told.jobs)?;
    Ok(told)
}

/// Reads the JobTracker's absences, and returns the instants at which nodes lost work.
fn faults(
    results: &dyn Results,
    ended: u64,
    told: &mut RunToExplain,
) -> Result<NodesGone, ReadError> {
    let (mut went, mut since) = (NodesGone::new(), None);
    results.rows_if_any(|row: FaultRow| {
        let (at, what) = (row.at_ms, &*row.what);
        if row.node == Incident::OF_JOBTRACKER {
            match what == Incident::Back.words() {
                // The JobTracker may die while it is paused: then the absence began with the pause.
                false => _ = since.get_or_insert(at),
                true => told.absences.extend(since.take().map(|since| (since, at))),
            }
        } else if TAKES_WORK.map(Incident::words).contains(&what) {
            went.entry(row.node.to_string()).or_default().push(at);
        }
        Ok(())
    })?;
    // An absence that has not ended lasts to the end of the run.
    told.absences.extend(since.map(|since| (since, ended)));
    Ok(went)
}

/// Reads the attempts: their slots, their lost outputs, and when their slots had become free.
fn tasks(
    results: &dyn Results,
    ended: u64,
    heartbeat: u64,
    went: &NodesGone,
    told: &mut RunToExplain,
    mut also: impl FnMut(&AttemptRow),
) -> Result<(), ReadError> {
    let RunToExplain { jobs, holds, summed_stops, .. } = told;
    let mut losses = LostOutputs::new();
    let mut trackers = SlotsByNode::new();
    // A row for each attempt, in the order of the table: the indices of its job, of the attempt in
    // this job, and of its tracker.
    let mut launches: Vec<(usize, usize, usize)> = Vec::new();
    results.rows(|row: AttemptRow| {
        also(&row);
        let place = place_of(jobs, row.job)
            .ok_or_else(|| format!("job {} is not in {}", row.job, JobRow::FILE))?;
        let node = &*row.node;
        if row.outcome == AttemptEnd::Lost {
            // This row says that an output was lost. An earlier row says that the attempt
            // succeeded.
            let at = row.finish_ms.unwrap_or_default();
            let of_node = went.get(node).into_iter().flatten();
            // Take the node's last incident before the JobTracker noticed this loss: the JobTracker
            // had already noticed the losses of earlier incidents.
            let gone = of_node.copied().filter(|gone| *gone <= at).max();
            losses.insert((row.job, row.task, row.attempt), (at, gone));
            return Ok(());
        }
        let (job, first) = (&mut jobs[place], holds.len());
        let before = job.tries.len();
        *summed_stops = summed_stops.saturating_add(attempt(&row, job, holds, ended)?);
        // Look the name up before copying it: one node has many rows.
        let known = trackers.get_index_of(node);
        let number = known
            .unwrap_or_else(|| trackers.insert_full(node.to_owned(), TrackerSlots::default()).0);
        // Removals of outputs hold slots but are not attempts here.
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
    // Most runs lose no output: skip the loop over all attempts.
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

/// Reads the refusals of jobs, and of slots to jobs.
fn decisions(results: &dyn Results, jobs: &mut [JobToExplain]) -> Result<(), ReadError> {
    results.rows_if_any(|row: DecisionRow| {
        if let Some(place) = place_of(jobs, row.job).filter(|_| row.what == Decided::RefuseJob) {
            jobs[place].refused_for = Some(row.reason);
        } else if let Some((refused, place)) = refused(&row).zip(place_of(jobs, row.job)) {
            jobs[place].refusals.push(refused);
        }
        Ok(())
    })
}

fn place_of(jobs: &[JobToExplain], id: u32) -> Option<usize> {
    // `jobs.csv` is in the order of numbers.
    jobs.binary_search_by_key(&id, |job| job.row.job).ok()
}

/// Returns the refusal in a row; `None` if the row is no refusal, or if its refusal has no rule of
/// its own.
fn refused(row: &DecisionRow) -> Option<RefusedTime> {
    let rule = RefusedTime::rule(&row.code).filter(|_| row.what == Decided::Refuse)?;
    Some(RefusedTime { kind: row.kind.slot(0), from: row.from_ms, to: row.to_ms, rule })
}

/// Adds the attempt of a row to its job, and the spans in which it held slots to the holds. Returns
/// how many of its suspensions are told only as a sum.
fn attempt(
    row: &AttemptRow,
    job: &mut JobToExplain,
    holds: &mut Vec<AttemptHold>,
    ended: u64,
) -> Result<u64, String> {
    let finished = row.finish_ms;
    let started = row.start_ms;
    let (stops, summed) = stops(&row.suspensions, finished.unwrap_or(ended))?;
    if let Some(from) = started {
        let to = finished.unwrap_or(ended).max(from);
        // The attempt holds its slots between its suspensions.
        let begins = std::iter::once(from).chain(stops.iter().map(|stop| stop.1));
        let ends = stops.iter().map(|stop| stop.0).chain([to]);
        for (from, to) in begins.zip(ends).filter(|(from, to)| from < to) {
            holds.push(AttemptHold { job: row.job, kind: row.slot(), from, to, slots: row.slots });
        }
    }
    let (Some(kind), Some(launched)) = (row.kind.task(), row.launch_ms) else { return Ok(summed) };
    // If an instant is unknown, use the previous instant, so that the part between them is empty.
    let started = started.unwrap_or(launched);
    // If the JobTracker did not learn of an attempt's end before the job ended, the job did not
    // wait for the attempt. A job that has not ended still waits for it.
    let unheard = if job.row.outcome == JobEnd::Unfinished { job.ended } else { u64::MAX };
    let heard = row.heard_ms.unwrap_or(unheard);
    let finished = finished.unwrap_or(heard.min(ended));
    // The work ended when the commit began, but never before the start.
    let worked = finished.saturating_sub(row.commit_ms.unwrap_or(0)).max(started);
    // The lengths of phases do not include suspensions.
    let begun = row.start_up_ms.unwrap_or(0);
    let fetching = begun + row.shuffle_ms.unwrap_or(0);
    let sorting = fetching + row.sort_ms.unwrap_or(0);
    let fetched = after(started, fetching, &stops).min(worked);
    let sorted = after(started, sorting, &stops).min(worked);
    // Only reduces fetch and sort; for other kinds both instants are the start.
    let of_reduce = |instant| if kind == TaskKind::Reduce { instant } else { started };
    // If the attempt died with its tracker, the JobTracker noticed the death later.
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
        // `free` and `served` are set later, once the slots of all trackers are known.
        free: launched,
        served: launched,
    });
    Ok(summed)
}

/// Returns the instant at which an attempt has run for `ran` milliseconds, not counting
/// suspensions.
fn after(started: u64, ran: u64, stops: &[(u64, u64)]) -> u64 {
    stops.iter().fold(started.saturating_add(ran), |instant, (from, to)| match *from < instant {
        true => instant.saturating_add(to - from),
        false => instant,
    })
}

/// Reads the suspensions of an attempt, and how many of them are told only as a sum; a suspension
/// without an end lasts until `end`.
fn stops(text: &str, end: u64) -> Result<(Vec<(u64, u64)>, u64), String> {
    let (mut all, mut summed) = (Vec::new(), 0);
    let read = text.split_whitespace().try_for_each(|stop| {
        let (start, to) = stop.split_once('-')?;
        let from = u64::read(start).ok()?;
        if let Some((to, sum)) = to.split_once('/') {
            let ((count, ms), to) = (sum.split_once('/')?, u64::read(to).ok()?);
            let (count, ms) = (u64::read(count).ok()?, u64::read(ms).ok()?);
            all.extend(spread(from, to, count, ms)?);
            summed = count.saturating_add(summed);
            return Some(());
        }
        let to = if to.is_empty() { end } else { u64::read(to).ok()? };
        all.push((from, to.max(from)));
        Some(())
    });
    match read {
        Some(()) => Ok((all, summed)),
        None => Err(format!("`{text}` are no suspensions, such as `3000-4500 7000-9000`")),
    }
}

/// Returns suspensions of equal lengths at equal distances, which begin and end at these instants and
/// last so long together; `None` if they cannot.
fn spread(from: u64, to: u64, count: u64, ms: u64) -> Option<impl Iterator<Item = (u64, u64)>> {
    let between = to.checked_sub(from)?.checked_sub(ms)?;
    // A file that was edited may claim any number.
    let pieces = count.clamp(1, MOST_SPREAD);
    let part = |of: u64, number: u64, all: u64| {
        (u128::from(of) * u128::from(number) / u128::from(all.max(1))) as u64
    };
    Some((0..pieces).map(move |piece| {
        let run = part(between, piece, pieces - 1);
        (from + run + part(ms, piece, pieces), from + run + part(ms, piece + 1, pieces))
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stops_are_read_and_delay_what_comes_after_them() {
        let (stops, _) = stops("3000-4500 7000-", 9_000).unwrap();
        assert_eq!(stops, [(3_000, 4_500), (7_000, 9_000)]);
        // The attempt starts at 1 s. Two seconds of work end when the first suspension begins;
        // further work comes after this suspension.
        assert_eq!(after(1_000, 2_000, &stops), 3_000);
        assert_eq!(after(1_000, 2_500, &stops), 5_000);
        assert_eq!(after(1_000, 5_000, &stops), 9_500);
        assert_eq!(super::stops("", 9_000), Ok((Vec::new(), 0)));
        // Times of an edited file must not overflow when they are added up.
        assert!(super::stops("3000-18446744073709551615", 9_000).is_err());
        assert!(u64::read("18446744073709551615").unwrap_err().contains("up to 2^60"));
        assert!(super::stops("3000", 9_000).unwrap_err().contains("`3000` are no suspensions"));
    }

    #[test]
    fn summed_suspensions_are_spread_and_lose_no_time() {
        let (stops, summed) = super::stops("1-2 10-100/4/30 200-", 210).unwrap();
        assert_eq!(stops, [(1, 2), (10, 17), (37, 45), (65, 72), (92, 100), (200, 210)]);
        assert_eq!(summed, 4);
        let (many, summed) = super::stops("0-100000000/999999999999/70000000", 0).unwrap();
        assert_eq!(many.iter().map(|(from, to)| to - from).sum::<u64>(), 70_000_000);
        assert_eq!((many.len() as u64, summed), (MOST_SPREAD, 999_999_999_999));
        assert!(many.is_sorted_by(|one, next| one.1 <= next.0));
        for wrong in ["10-100/4/91", "10-100/4", "100-10/1/1", "10-/1/1", "10-100/x/1"] {
            assert!(super::stops(wrong, 9).unwrap_err().contains("are no suspensions"), "{wrong}");
        }
    }
}
