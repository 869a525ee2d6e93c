//! The events of a run up to an instant, as hashes, for comparison with another run.
//!
//! Two runs have the same past if all their events before an instant are equal, including
//! heartbeats.

use std::fmt::{self, Write as _};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::Arc;

use parking_lot::Mutex;

use super::{RecordError, RunBooks, Watcher};
use mumakil_base::units::{SimSpan, SimTime};
use mumakil_core::mapred::{Event, Fact, TrackerFact};

/// Each of the first 65,536 events has a mark; after them, every 1,024th event has one. Chosen:
/// precise enough to say when two runs begin to differ, while the first 65,536 marks take a
/// megabyte.
const MARKED: u64 = 1 << 16;
const STRIDE: u64 = 1 << 10;

/// Hashes of the events of a run up to an instant.
#[derive(Clone, Debug)]
pub struct RunPast {
    until: SimTime,
    /// How many events were added.
    pub events: u64,
    hash: DefaultHasher,
    /// The instant of an event, and the hash of all events up to and including it.
    marks: Vec<(SimTime, u64)>,
    /// The number of events of another past, and the hash of this past after that many events; the
    /// hash is `None` until then.
    goal: Option<(u64, Option<u64>)>,
}

impl RunPast {
    /// Returns an empty past and a watcher that fills it with the events before `until`.
    pub fn until(until: SimTime) -> (Arc<Mutex<Self>>, Box<dyn Watcher>) {
        let past = Arc::new(Mutex::new(Self { until, ..Self::open(None) }));
        (past.clone(), Box::new(past))
    }

    /// Returns an empty past without an end, which the caller fills. Given `other`, the new past
    /// can say later whether it begins with the events of `other`.
    pub fn open(other: Option<&Self>) -> Self {
        let mut past = Self {
            until: SimTime::NEVER,
            events: 0,
            // The keys of this hasher are fixed within a process, and hashes never leave the
            // process.
            hash: DefaultHasher::default(),
            marks: Vec::new(),
            goal: other.map(|other| (other.events, None)),
        };
        // If the other past has no events, the goal is reached at once.
        past.arrive();
        past
    }

    /// Returns an instant up to which both pasts are equal; `None` if they do not differ.
    pub fn parts_from(&self, other: &Self) -> Option<SimTime> {
        if (self.events, self.hash.finish()) == (other.events, other.hash.finish()) {
            return None;
        }
        Some(self.same_as(other))
    }

    /// Returns an instant up to which this past and `shorter` are equal; `None` if this past begins
    /// with all events of `shorter`. The caller must have opened this past with `shorter`.
    pub fn parts_before(&self, shorter: &Self) -> Option<SimTime> {
        let goal = Some((shorter.events, Some(shorter.hash.finish())));
        (self.goal != goal).then(|| self.same_as(shorter))
    }

    /// Returns the last marked instant up to which both pasts are equal.
    fn same_as(&self, other: &Self) -> SimTime {
        let pairs = self.marks.iter().zip(&other.marks);
        // Each mark is a hash of all events up to it, so after the first difference all marks
        // differ.
        let same = pairs.take_while(|(own, others)| own == others);
        same.last().map_or(SimTime::ZERO, |((at, _), _)| *at)
    }

    fn arrive(&mut self) {
        if let Some((events, hash)) = &mut self.goal
            && *events == self.events
        {
            *hash = Some(self.hash.finish());
        }
    }

    /// Adds an event, unless it is at or after the end of the past.
    pub fn add(&mut self, event: &Event) {
        // Leave out events at `until` itself: the change that makes two runs differ may happen
        // then.
        if event.at < self.until {
            match event.fact {
                // Most events are heartbeats, and writing them as text would cost more than all the
                // rest.
                Fact::Tracker(tracker, TrackerFact::Heartbeat { rtt, queued }) => {
                    let spans = [rtt, queued].map(SimSpan::as_micros);
                    (event.at.as_micros(), tracker.0, spans).hash(&mut self.hash);
                }
                // The `Debug` form of an event does not change within a process.
                _ => drop(write!(HashWriter(&mut self.hash), "{event:?}")),
            }
            self.events += 1;
            if self.events <= MARKED || self.events.is_multiple_of(STRIDE) {
                self.marks.push((event.at, self.hash.finish()));
            }
            self.arrive();
        }
    }
}

impl Watcher for Arc<Mutex<RunPast>> {
    fn see(&mut self, event: &Event, _: &RunBooks) -> Result<(), RecordError> {
        self.lock().add(event);
        Ok(())
    }

    fn hears_heartbeats(&self) -> bool {
        true
    }
}

/// A writer that hashes text.
struct HashWriter<'h>(&'h mut DefaultHasher);

impl fmt::Write for HashWriter<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.0.write(text.as_bytes());
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mumakil_core::mapred::{JobFact, JobId};

    fn past(jobs: impl Iterator<Item = u32>, until: u64) -> RunPast {
        let (past, _) = RunPast::until(SimTime::ZERO + SimSpan::from_secs(until));
        let mut past = past.lock().clone();
        for (second, job) in (0..).zip(jobs) {
            let at = SimTime::ZERO + SimSpan::from_secs(second);
            past.add(&Event { at, fact: Fact::Job(JobId(job), JobFact::Running) });
        }
        past
    }

    #[test]
    fn pasts_part_where_one_event_differs_and_what_comes_after_the_instant_does_not_count() {
        let odd_at = |place: u32| past((0..100_000).map(|n| n + u32::from(n == place)), 90_000);
        let plain = past(0..100_000, 90_000);
        let secs = |secs: u64| Some(SimTime::ZERO + SimSpan::from_secs(secs));
        assert_eq!(plain.events, 90_000);
        assert_eq!(plain.parts_from(&odd_at(95_000)), None);
        assert_eq!(plain.parts_from(&odd_at(3_000)), secs(2_999));
        assert_eq!(plain.parts_from(&odd_at(0)), secs(0));
        // The last mark before the difference is at the 79,872nd event.
        assert_eq!(plain.parts_from(&odd_at(80_000)), secs(79_871));
        assert_eq!(past(0..10, 99).parts_from(&past(0..11, 99)), secs(9));
    }

    #[test]
    fn a_past_begins_as_a_shorter_one_or_parts_from_it() {
        let shorter = past(0..10, 99);
        let longer = |jobs: &mut dyn Iterator<Item = u32>| {
            let mut past = RunPast::open(Some(&shorter));
            for (second, job) in (0..).zip(jobs) {
                let at = SimTime::ZERO + SimSpan::from_secs(second);
                past.add(&Event { at, fact: Fact::Job(JobId(job), JobFact::Running) });
            }
            past.parts_before(&shorter)
        };
        assert_eq!(longer(&mut (0..10)), None);
        assert_eq!(longer(&mut (0..15)), None);
        let secs = |secs: u64| Some(SimTime::ZERO + SimSpan::from_secs(secs));
        assert_eq!(longer(&mut (0..9)), secs(8), "it is shorter");
        assert_eq!(longer(&mut (0..15).map(|n| n + u32::from(n == 5))), secs(4));
        let nothing = past(0..0, 99);
        assert_eq!(RunPast::open(Some(&nothing)).parts_before(&nothing), None);
    }
}
