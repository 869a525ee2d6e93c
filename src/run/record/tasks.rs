//! `tasks.csv`: a row for each attempt, written when the attempt is closed (see
//! [`super::RunBooks`]).
//!
//! Times and phases are as the tracker saw them. The outcome is the JobTracker's verdict, or the
//! tracker's outcome if the JobTracker gave no verdict before the job ended. Attempts that are open
//! when the run stops come last, in the order of their ids. They are `unfinished` unless a tracker
//! or the JobTracker knew their outcome.
//!
//! Two events have rows of their own. The removal of an attempt's output has a row of the kind
//! `map-cleanup` or `reduce-cleanup`, with the attempt's number and the node that removes the
//! output. A map whose output is lost after its success has a second row, `lost`, at the instant at
//! which the JobTracker learned of the loss. Each task that had succeeded when its job was begun
//! anew also has a second row, `lost`.

use std::fmt::{self, Write};
use std::path::Path;
use std::sync::Arc;

use super::table::TableWriter;
use super::{BookedAttempt, NodeLabel, RecordError, RunBooks, RunEnd, SlotHold, Watcher};
use mumakil_base::units::{SimSpan, SimTime};
use mumakil_core::mapred::{
    AttemptFact, AttemptId, Event, Fact, Outcome, Reason, Role, TaskKind, TrackerId,
};
use mumakil_results::tables::{AttemptEnd, AttemptKind, AttemptRow};

/// The most suspensions that a row lists one by one.
// Chosen: most attempts have fewer than ten, and with instants of 13 digits this many take 28 kB.
// Python's `csv` refuses fields above 128 kB.
const MOST_STOPS: usize = 1_000;

/// Writes `tasks.csv`.
#[derive(Debug)]
pub(super) struct TasksTable {
    table: TableWriter<AttemptRow>,
    labels: Arc<[NodeLabel]>,
    reason: String,
    suspensions: String,
}

impl TasksTable {
    pub(super) fn create(folder: &Path, labels: Arc<[NodeLabel]>) -> Result<Self, RecordError> {
        let table = TableWriter::create(folder)?;
        Ok(Self { table, labels, reason: String::new(), suspensions: String::new() })
    }

    fn row(
        &mut self,
        id: AttemptId,
        attempt: &BookedAttempt,
        books: &RunBooks,
    ) -> Result<(), RecordError> {
        // Only the removal of the attempt's output is known, and the removal has a row of its own.
        if !attempt.has_work() {
            return Ok(());
        }
        self.reason.clear();
        let launch = attempt.grant.map(|grant| grant.reason);
        if let Some(reason) = launch {
            write!(self.reason, "{reason}").expect("a string takes every text");
        }
        self.suspensions.clear();
        tell_stops(&attempt.stops, &mut self.suspensions).expect("a string takes every text");
        let weighed = launch.map(|reason| reason.weighed()).unwrap_or_default();
        // An order to kill may come too late: an attempt that ended by itself has no reason for a
        // kill.
        let kill = attempt.killed_for.filter(|_| attempt.outcome() == Some(Outcome::Killed));
        let killed = kill.map(|reason| reason.weighed()).unwrap_or_default();
        let NodeLabel { node, rack, .. } = &self.labels[attempt.tracker.index()];
        let ending = attempt.ending;
        // An attempt that was killed before it started had no phases.
        let phases = attempt.started.and(ending).map(|ending| ending.phases);
        // Only reduces have a shuffle and a sort; zeros for maps would look like measurements.
        let fetched = phases.filter(|_| id.task.kind == TaskKind::Reduce);
        let job = books.job(id.task.job).filter(|_| fetched.is_some());
        self.table.row(&AttemptRow {
            job: id.task.job.0,
            kind: id.task.kind.into(),
            task: id.task.index,
            attempt: id.number,
            node: node.into(),
            rack: rack.into(),
            locality: attempt.grant.and_then(|grant| grant.locality),
            slots: attempt.width,
            launch_ms: attempt.grant.map(|grant| grant.at.as_millis()),
            start_ms: attempt.started.map(SimTime::as_millis),
            start_up_ms: phases.map(|phases| phases.start_up.as_millis()),
            shuffle_ms: fetched.map(|phases| phases.shuffle.as_millis()),
            maps_wait_ms: job.and_then(|job| attempt.maps_wait(job)).map(SimSpan::as_millis),
            sort_ms: fetched.map(|phases| phases.sort.as_millis()),
            finish_ms: ending.map(|ending| ending.at.as_millis()),
            heard_ms: attempt.verdict.map(|(at, _)| at.as_millis()),
            commit_ms: phases.and_then(|phases| phases.commit).map(SimSpan::as_millis),
            suspended_ms: phases.map(|phases| phases.suspended.as_millis()),
            suspensions: (&*self.suspensions).into(),
            outcome: attempt.outcome().map_or(AttemptEnd::Unfinished, AttemptEnd::from),
            speculative: attempt.grant.map(|grant| grant.speculative),
            code: launch.as_ref().map_or("", Reason::code).into(),
            place: weighed.place,
            waited_ms: weighed.waited.map(SimSpan::as_millis),
            held: weighed.held,
            share: weighed.share,
            min_share: weighed.min_share,
            killed_code: kill.as_ref().map_or("", Reason::code).into(),
            killed_for_job: killed.for_job.map(|job| job.0),
            killed_held: killed.held,
            killed_share: killed.share,
            reason: (&*self.reason).into(),
        })
    }
}

/// Writes the suspensions of an attempt: `3000-4500 7000-`. If there are too many, those between the
/// first and the last have one entry, with their number and sum: `9000-80000/250/42000`.
fn tell_stops(stops: &[(SimTime, Option<SimTime>)], into: &mut String) -> fmt::Result {
    let (first, others) = stops.split_at(stops.len().min(MOST_STOPS));
    let (summed, last) = others.split_at(others.len().saturating_sub(1));
    let mut gap = "";
    let mut one = |into: &mut String, (from, to): (SimTime, Option<SimTime>)| {
        let to = to.map(|to| to.as_millis().to_string()).unwrap_or_default();
        write!(into, "{}{}-{to}", std::mem::replace(&mut gap, " "), from.as_millis())
    };
    first.iter().try_for_each(|stop| one(into, *stop))?;
    if let [(from, _), ..] = summed {
        // Only the last suspension may have no end.
        let ends = summed.iter().filter_map(|(from, to)| Some((from, (*to)?)));
        let (end, ms) = ends
            .fold((*from, 0), |(_, ms), (from, to)| (to, ms + (to.as_millis() - from.as_millis())));
        one(into, (*from, Some(end)))?;
        write!(into, "/{}/{ms}", summed.len())?;
    }
    last.iter().try_for_each(|stop| one(into, *stop))
}

impl TasksTable {
    fn row_of(
        &mut self,
        id: AttemptId,
        tracker: TrackerId,
        row: AttemptRow,
    ) -> Result<(), RecordError> {
        let NodeLabel { node, rack, .. } = &self.labels[tracker.index()];
        let (job, task, attempt) = (id.task.job.0, id.task.index, id.number);
        let (node, rack) = (node.into(), rack.into());
        self.table.row(&AttemptRow { job, task, attempt, node, rack, ..row })
    }

    /// Writes the row of the removal of an attempt's output.
    fn cleanup(
        &mut self,
        id: AttemptId,
        SlotHold { tracker, since, .. }: SlotHold,
        end: Option<(SimTime, Outcome)>,
    ) -> Result<(), RecordError> {
        let row = AttemptRow {
            kind: AttemptKind::removal(id.slot()),
            slots: 1,
            start_ms: Some(since.as_millis()),
            finish_ms: end.map(|(at, _)| at.as_millis()),
            outcome: end.map_or(AttemptEnd::Unfinished, |(_, outcome)| outcome.into()),
            speculative: Some(false),
            code: Reason::TaskCleanup.code().into(),
            reason: Reason::TaskCleanup.to_string().into(),
            ..AttemptRow::default()
        };
        self.row_of(id, tracker, row)
    }
}

impl Watcher for TasksTable {
    fn see(&mut self, event: &Event, books: &RunBooks) -> Result<(), RecordError> {
        if let Some((id, hold)) = books.released
            && hold.role == Role::TaskCleanup
            && let Fact::Attempt(_, _, AttemptFact::Ended { outcome, .. }) = event.fact
        {
            self.cleanup(id, hold, Some((event.at, outcome)))?;
        }
        // The row of the success is already written, so the loss gets a second row.
        if let Some((attempt, tracker)) = books.lost {
            let finish_ms = Some(event.at.as_millis());
            let kind = attempt.task.kind.into();
            let outcome = AttemptEnd::Lost;
            let row = AttemptRow { kind, finish_ms, outcome, ..AttemptRow::default() };
            self.row_of(attempt, tracker, row)?;
        }
        books.closed.iter().try_for_each(|(id, attempt)| self.row(*id, attempt, books))
    }

    fn finish(&mut self, end: &RunEnd<'_>) -> Result<(), RecordError> {
        for (id, attempt) in end.books.open() {
            self.row(id, attempt, end.books)?;
        }
        for (id, attempt) in end.books.open() {
            let mut holds = attempt.holds.clone();
            // In the order of trackers: the order of holds depends on which others have ended.
            holds.sort_unstable_by_key(|hold| hold.tracker);
            for hold in holds.into_iter().filter(|hold| hold.role == Role::TaskCleanup) {
                self.cleanup(id, hold, None)?;
            }
        }
        self.table.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(stops: &[(u64, Option<u64>)]) -> String {
        let at = |ms: u64| SimTime::ZERO + SimSpan::from_millis(ms);
        let stops: Vec<_> = stops.iter().map(|(from, to)| (at(*from), to.map(at))).collect();
        let mut text = String::new();
        tell_stops(&stops, &mut text).unwrap();
        text
    }

    #[test]
    fn the_list_of_suspensions_is_bounded_and_says_what_it_sums_up() {
        assert_eq!(told(&[]), "");
        assert_eq!(told(&[(3_000, Some(4_500)), (7_000, None)]), "3000-4500 7000-");
        // The times of ten years, with the most digits that occur.
        let begin = 315_576_000_000;
        let mut stops: Vec<_> =
            (0..10_000).map(|stop| (begin + 10 * stop, Some(begin + 10 * stop + 4))).collect();
        stops[9_999].1 = None;
        let text = told(&stops);
        assert!(text.len() < 30_000, "{}", text.len());
        assert_eq!(text.split(' ').count(), MOST_STOPS + 2);
        let end = " 315576010000-315576099984/8999/35996 315576099990-";
        assert!(text.ends_with(end), "{}", &text[text.len() - 80..]);
        // As many as are listed one by one, and one more: no sum.
        assert!(!told(&stops[..=MOST_STOPS]).contains('/'));
    }
}
