//! What the JobTracker counts, over time: running attempts and pending tasks of the cluster and of
//! each pool, and how long heartbeats wait for it.
//!
//! Counts are those of `timeline.csv`, summed; each instant has its last value, and only values
//! that differ are written. Of the heartbeats of a second, the longest wait is shown.

use std::io;
use std::sync::Arc;

use indexmap::IndexMap;

use super::packet::{Packets, Track, TrackFacts};
use crate::mapred::{Counts, JobId, PerSlot, SlotKind};
use crate::units::{SimSpan, SimTime};

/// A word of the first track's description, by which a trace of ours is known.
pub(super) const SIGN: &[u8] = b"emulated by Mumakil";

const SECOND: u64 = 1_000_000;

/// The counters, and their tracks.
#[derive(Debug)]
pub(super) struct Counters {
    top: Track,
    jobs: Vec<PerSlot<Counts>>,
    cluster: Gauge,
    pools: IndexMap<Arc<str>, Gauge>,
    group: Track,
    /// The instant of what is not written yet, and the pools that it is about.
    at: SimTime,
    changed: Vec<usize>,
    wait: Wait,
}

/// Sums, as they are and as they were last written.
#[derive(Debug)]
struct Gauge {
    tracks: PerSlot<[Track; 2]>,
    now: PerSlot<Counts>,
    written: PerSlot<Counts>,
}

/// The longest wait of a heartbeat in the second at hand.
#[derive(Debug)]
struct Wait {
    track: Track,
    second: u64,
    longest: SimSpan,
    written: SimSpan,
}

impl Counters {
    /// Makes the tracks of the cluster, and writes zeros: they are where the trace begins.
    pub(super) fn begin(packets: &mut Packets) -> io::Result<Self> {
        let top = packets.track(TrackFacts {
            name: "JobTracker",
            description: Some("What the JobTracker of this run, emulated by Mumakil, counts."),
            ..TrackFacts::default()
        })?;
        let cluster = Gauge::begin(top, SimTime::ZERO, packets)?;
        let wait = packets.track(TrackFacts {
            name: "longest wait of a heartbeat",
            parent: Some(top),
            rank: 4,
            unit: Some("µs"),
            ..TrackFacts::default()
        })?;
        packets.count(wait, SimTime::ZERO, 0)?;
        let group =
            packets.track(TrackFacts { name: "Pools", rank: 1, ..TrackFacts::default() })?;
        Ok(Self {
            top,
            jobs: Vec::new(),
            cluster,
            pools: IndexMap::new(),
            group,
            at: SimTime::ZERO,
            changed: Vec::new(),
            wait: Wait { track: wait, second: 0, longest: SimSpan::ZERO, written: SimSpan::ZERO },
        })
    }

    /// Returns the JobTracker's own track.
    pub(super) fn top(&self) -> Track {
        self.top
    }

    /// Notes what the JobTracker counts for a job of a pool.
    pub(super) fn change(
        &mut self,
        at: SimTime,
        (job, pool): (JobId, &Arc<str>),
        kind: SlotKind,
        counts: Counts,
        packets: &mut Packets,
    ) -> io::Result<()> {
        if self.at != at {
            self.write(packets)?;
            self.at = at;
        }
        if self.jobs.len() <= job.index() {
            self.jobs.resize_with(job.index() + 1, PerSlot::default);
        }
        let before = std::mem::replace(&mut self.jobs[job.index()][kind], counts);
        if before == counts {
            return Ok(());
        }
        let place = self.pool(pool, packets)?;
        self.cluster.change(kind, before, counts);
        self.pools[place].change(kind, before, counts);
        self.changed.push(place);
        Ok(())
    }

    /// Notes how long a heartbeat waited.
    pub(super) fn hear(
        &mut self,
        at: SimTime,
        waited: SimSpan,
        packets: &mut Packets,
    ) -> io::Result<()> {
        let second = at.as_micros() / SECOND;
        if self.wait.second != second {
            self.wait.write(packets)?;
            if self.wait.second + 1 < second {
                self.wait.second += 1;
                self.wait.write(packets)?;
            }
            self.wait.second = second;
        }
        self.wait.longest = self.wait.longest.max(waited);
        Ok(())
    }

    /// Writes what is not written yet, and the last values once more: they are where the trace
    /// ends.
    pub(super) fn finish(&mut self, ended: SimTime, packets: &mut Packets) -> io::Result<()> {
        self.write(packets)?;
        self.wait.write(packets)?;
        self.cluster.write_all(ended, packets)
    }

    fn write(&mut self, packets: &mut Packets) -> io::Result<()> {
        self.cluster.write(self.at, packets)?;
        for place in self.changed.drain(..) {
            self.pools[place].write(self.at, packets)?;
        }
        Ok(())
    }

    /// Returns the place of a pool, whose tracks are made if they are not there.
    fn pool(&mut self, pool: &Arc<str>, packets: &mut Packets) -> io::Result<usize> {
        if let Some(place) = self.pools.get_index_of(pool) {
            return Ok(place);
        }
        let track = packets.track(TrackFacts {
            name: pool,
            parent: Some(self.group),
            rank: self.pools.len() as u64,
            ..TrackFacts::default()
        })?;
        let gauge = Gauge::begin(track, self.at, packets)?;
        Ok(self.pools.insert_full(pool.clone(), gauge).0)
    }
}

impl Gauge {
    /// Makes the tracks below `parent`, which count nothing yet.
    fn begin(parent: Track, at: SimTime, packets: &mut Packets) -> io::Result<Self> {
        let mut track = |name, rank, unit| {
            let unit = Some(unit);
            let facts = TrackFacts { name, parent: Some(parent), rank, unit, description: None };
            packets.track(facts)
        };
        let tracks = PerSlot {
            map: [track("running maps", 0, "attempts")?, track("pending maps", 1, "tasks")?],
            reduce: [
                track("running reduces", 2, "attempts")?,
                track("pending reduces", 3, "tasks")?,
            ],
        };
        let gauge = Self { tracks, now: PerSlot::default(), written: PerSlot::default() };
        gauge.write_all(at, packets)?;
        Ok(gauge)
    }

    fn change(&mut self, kind: SlotKind, before: Counts, after: Counts) {
        let now = &mut self.now[kind];
        now.running = now.running + after.running - before.running;
        now.pending = now.pending + after.pending - before.pending;
    }

    fn write(&mut self, at: SimTime, packets: &mut Packets) -> io::Result<()> {
        for kind in SlotKind::BOTH {
            let (now, before) = (self.now[kind], self.written[kind]);
            let [running, pending] = self.tracks[kind];
            if now.running != before.running {
                packets.count(running, at, now.running.into())?;
            }
            if now.pending != before.pending {
                packets.count(pending, at, now.pending.into())?;
            }
        }
        self.written = self.now;
        Ok(())
    }

    fn write_all(&self, at: SimTime, packets: &mut Packets) -> io::Result<()> {
        for kind in SlotKind::BOTH {
            let [running, pending] = self.tracks[kind];
            packets.count(running, at, self.now[kind].running.into())?;
            packets.count(pending, at, self.now[kind].pending.into())?;
        }
        Ok(())
    }
}

impl Wait {
    /// Writes the second's longest wait, unless it was so long in the second before.
    fn write(&mut self, packets: &mut Packets) -> io::Result<()> {
        let longest = std::mem::take(&mut self.longest);
        if longest != self.written {
            self.written = longest;
            let at = SimTime::from_micros(self.second * SECOND);
            packets.count(self.track, at, longest.as_micros())?;
        }
        Ok(())
    }
}
