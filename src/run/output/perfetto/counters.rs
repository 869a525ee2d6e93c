//! The JobTracker's counts over time: running attempts and pending tasks of the cluster and of each
//! pool, and how long heartbeats wait for the JobTracker.
//!
//! Counts are sums of the counts in `timeline.csv`. Each instant has one value: the last. For
//! waits, each second has one value: the longest wait of its heartbeats.

use std::collections::BTreeSet;
use std::io;
use std::mem;
use std::sync::Arc;

use indexmap::IndexMap;
use serde_json::json;

use super::event::{JOB_TRACKER, TraceEvents, TraceTrack};
use mumakil_base::dense::grown;
use mumakil_base::units::{SimSpan, SimTime};
use mumakil_core::mapred::{JobId, PerSlot, SlotCounts, SlotKind};

// A second in microseconds. Chosen as the step of the waits: a large cluster has hundreds of
// heartbeats a second.
const SECOND: u64 = 1_000_000;

/// The counters.
#[derive(Debug, Default)]
pub(super) struct Counters {
    jobs: Vec<PerSlot<SlotCounts>>,
    /// The counts of the cluster, which comes first and has no name, and of each pool.
    sums: IndexMap<Option<Arc<str>>, (TraceTrack, PerSlot<SlotCounts>)>,
    /// The instant of the counts that are not written yet.
    at: SimTime,
    /// The counts that are not written yet: the index in `sums`, and the kind of slots.
    changed: BTreeSet<(usize, SlotKind)>,
    /// The current second since the start of the run.
    second: u64,
    /// The longest wait of a heartbeat in the current second.
    longest: SimSpan,
    /// The wait that was last written.
    written: Option<SimSpan>,
}

impl Counters {
    /// Returns the counters, and writes zeros as their first values.
    pub(super) fn begin(events: &mut TraceEvents) -> io::Result<Self> {
        let mut counters = Self::default();
        counters.sums.insert(None, (JOB_TRACKER, PerSlot::default()));
        counters.write_cluster(SimTime::ZERO, events)?;
        counters.end_second(events)?;
        Ok(counters)
    }

    /// Records new counts of the JobTracker for a job of a pool.
    pub(super) fn change(
        &mut self,
        at: SimTime,
        (job, pool): (JobId, &Arc<str>),
        kind: SlotKind,
        counts: SlotCounts,
        events: &mut TraceEvents,
    ) -> io::Result<()> {
        // Each count has one sample for an instant, with its last value.
        if self.at != at {
            self.write(events)?;
            self.at = at;
        }
        let before = mem::replace(&mut grown(&mut self.jobs, job.index())[kind], counts);
        if before == counts {
            return Ok(());
        }
        let name = Some(pool.clone());
        let place = match self.sums.get_index_of(&name) {
            Some(place) => place,
            None => {
                // The rank -1 shows pools above nodes.
                let track = events.process(&format!("pool {pool}"), -1)?;
                self.sums.insert_full(name, (track, PerSlot::default())).0
            }
        };
        for place in [0, place] {
            let now = &mut self.sums[place].1[kind];
            // Add before subtracting: the numbers are unsigned, and each sum contains the old
            // count.
            now.running = now.running + counts.running - before.running;
            now.pending = now.pending + counts.pending - before.pending;
            self.changed.insert((place, kind));
        }
        Ok(())
    }

    /// Records how long a heartbeat waited for the JobTracker.
    pub(super) fn hear(
        &mut self,
        at: SimTime,
        waited: SimSpan,
        events: &mut TraceEvents,
    ) -> io::Result<()> {
        let second = at.as_micros() / SECOND;
        if self.second != second {
            self.end_second(events)?;
            // Write a zero for a second without heartbeats; otherwise the old value would seem to
            // last until now.
            if self.second + 1 < second {
                self.second += 1;
                self.end_second(events)?;
            }
            self.second = second;
        }
        self.longest = self.longest.max(waited);
        Ok(())
    }

    /// Writes the pending values, and the cluster's counts once more at the end of the trace.
    pub(super) fn finish(&mut self, ended: SimTime, events: &mut TraceEvents) -> io::Result<()> {
        self.write(events)?;
        self.end_second(events)?;
        self.write_cluster(ended, events)
    }

    fn write_cluster(&mut self, at: SimTime, events: &mut TraceEvents) -> io::Result<()> {
        self.at = at;
        self.changed.extend(SlotKind::BOTH.map(|kind| (0, kind)));
        self.write(events)
    }

    fn write(&mut self, events: &mut TraceEvents) -> io::Result<()> {
        for (place, kind) in mem::take(&mut self.changed) {
            let (track, now) = &self.sums[place];
            let SlotCounts { running, pending } = now[kind];
            let name = format!("{}s", kind.word());
            let args = json!({ "running": running, "pending": pending });
            events.count(*track, self.at, &name, args)?;
        }
        Ok(())
    }

    /// Writes the longest wait of the current second, unless it equals the wait that was last
    /// written.
    fn end_second(&mut self, events: &mut TraceEvents) -> io::Result<()> {
        let longest = mem::take(&mut self.longest);
        if self.written.replace(longest) == Some(longest) {
            return Ok(());
        }
        let at = SimTime::from_micros(self.second * SECOND);
        let args = json!({ "µs": longest.as_micros() });
        events.count(JOB_TRACKER, at, "longest wait of a heartbeat", args)
    }
}
