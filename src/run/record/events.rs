//! `events.jsonl`: every fact as a line of JSON, for people and for scripts that ask what no table
//! answers.
//!
//! `at_us` is the instant in microseconds; names are those of the tables. A field that a fact does
//! not have is left out.

use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use serde::Serialize;

use super::incident::Details;
use super::table::TextFile;
use super::{NodeLabel, RecordError, RunBooks, RunEnd, Watcher};
use mumakil_base::files;
use mumakil_base::units::SimSpan;
use mumakil_core::cluster::BlockId;
use mumakil_core::mapred::{
    AttemptFact, AttemptId, AttemptState, Block, Event, Fact, JobFact, JobId, LedgerFact, Locality,
    MemberFact, Outcome, PerSlot, Reason, Role, SlotCounts, TrackerFact, TrackerId, WorldFact,
};

/// Writes `events.jsonl`.
#[derive(Debug)]
pub(super) struct Events {
    lines: TextFile,
    labels: Arc<[NodeLabel]>,
}

/// A line: what the facts have, together.
#[derive(Default, Serialize)]
struct EventLine<'a> {
    at_us: u64,
    fact: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    job: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pool: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    maps: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reduces: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    kind: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    task: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    attempt: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    of_map: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    of_attempt: Option<u32>,
    #[serde(skip)]
    tracker: Option<TrackerId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    node: Option<&'a str>,
    #[serde(skip)]
    source: Option<TrackerId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    from: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    block: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    role: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    locality: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    speculative: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    waited_us: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    state: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    outcome: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    shuffle_us: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    sort_us: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    commit_us: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    suspended_us: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    running: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pending: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    map_slots: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reduce_slots: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    rtt_us: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    queued_us: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cpu: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    disk: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    network: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    blocks: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    bytes: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    from_us: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    to_us: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    times: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    order: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    code: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    place: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    passed_over_us: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    held: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    share: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    min_share: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    for_job: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<&'a str>,
}

impl Events {
    pub(super) fn create(folder: &Path, labels: Arc<[NodeLabel]>) -> Result<Self, RecordError> {
        Ok(Self { lines: TextFile::create(folder, files::EVENTS)?, labels })
    }
}

impl Watcher for Events {
    fn see(&mut self, event: &Event, _: &RunBooks) -> Result<(), RecordError> {
        let mut line = EventLine::of(event);
        let label = |tracker: TrackerId| &*self.labels[tracker.index()].node;
        (line.node, line.from) = (line.tracker.map(label), line.source.map(label));
        self.lines.write(|to| {
            serde_json::to_writer(&mut *to, &line)?;
            to.write_all(b"\n")
        })
    }

    fn hears_heartbeats(&self) -> bool {
        true
    }

    fn finish(&mut self, _: &RunEnd<'_>) -> Result<(), RecordError> {
        self.lines.finish()
    }
}

impl<'a> EventLine<'a> {
    fn of(event: &'a Event) -> Self {
        let line = match event.fact {
            Fact::Job(job, ref fact) => Self::of_job(fact).job(job),
            Fact::Ledger(attempt, tracker, fact) => Self::of_ledger(fact).attempt(attempt, tracker),
            Fact::Member(tracker, fact) => Self::of_member(fact).node(tracker),
            Fact::Attempt(attempt, tracker, fact) => {
                Self::of_attempt(fact).attempt(attempt, tracker)
            }
            Fact::Tracker(tracker, fact) => Self::of_tracker(fact).node(tracker),
            Fact::World(fact) => Self::of_world(fact),
        };
        Self { at_us: event.at.as_micros(), ..line }
    }

    fn of_job(fact: &'a JobFact) -> Self {
        match *fact {
            JobFact::Submitted(ref spec) => Self {
                name: Some(&spec.name),
                pool: Some(&spec.pool),
                maps: Some(spec.maps),
                reduces: Some(spec.reduces),
                ..Self::named("job submitted")
            },
            JobFact::Initialised => Self::named("job initialised"),
            JobFact::Running => Self::named("job running"),
            JobFact::MapsDone => Self::named("maps done"),
            JobFact::Ended(outcome) => Self::named("job ended").outcome(outcome),
            JobFact::BegunAnew => Self::named("job begun anew"),
            JobFact::Refused { kind, from, to, times, reason, .. } => Self {
                kind: Some(kind.word()),
                from_us: Some(from.as_micros()),
                to_us: Some(to.as_micros()),
                times: Some(times),
                ..Self::named("refused").reason(reason)
            },
        }
    }

    fn of_ledger(fact: LedgerFact) -> Self {
        match fact {
            LedgerFact::Assigned { role, locality, speculative, reason, waited, counts } => Self {
                locality: locality.map(Locality::word),
                speculative: Some(speculative),
                waited_us: Some(waited.as_micros()),
                ..Self::named("assigned").role(role).counts(counts).reason(reason)
            },
            LedgerFact::Learned { state, counts } => {
                Self { state: Some(state_word(state)), ..Self::named("learned").counts(counts) }
            }
            LedgerFact::Ordered { order, reason } => {
                Self { order: Some(order.word()), ..Self::named("ordered").reason(reason) }
            }
        }
    }

    fn of_member(fact: MemberFact) -> Self {
        match fact {
            MemberFact::Joined => Self::named("tracker joined"),
            MemberFact::Lost => Self::named("tracker lost"),
            MemberFact::Blacklisted => Self::named("tracker blacklisted"),
            MemberFact::Forgiven => Self::named("tracker forgiven"),
            MemberFact::Graylisted => Self::named("tracker graylisted"),
            MemberFact::OffGraylist => Self::named("tracker off the graylist"),
            MemberFact::Noted(note) => Self { note: Some(note), ..Self::named("noted") },
        }
    }

    fn of_attempt(fact: AttemptFact) -> Self {
        match fact {
            AttemptFact::Opened { from } => Self { source: from, ..Self::named("opened") },
            AttemptFact::Started { role, .. } => Self::named("started").role(role),
            AttemptFact::CommitPending => Self::named("commit pending"),
            AttemptFact::Suspended => Self::named("suspended"),
            AttemptFact::Resumed => Self::named("resumed"),
            AttemptFact::FetchFailed { map } => Self {
                of_map: Some(map.task.index),
                of_attempt: Some(map.number),
                ..Self::named("fetch failed")
            },
            AttemptFact::Ended { role, outcome, phases } => Self {
                shuffle_us: Some(phases.shuffle.as_micros()),
                sort_us: Some(phases.sort.as_micros()),
                commit_us: phases.commit.map(|commit| commit.as_micros()),
                suspended_us: Some(phases.suspended.as_micros()),
                ..Self::named("ended").role(role).outcome(outcome)
            },
        }
    }

    fn of_tracker(fact: TrackerFact) -> Self {
        match fact {
            TrackerFact::Up(PerSlot { map, reduce }) => Self {
                map_slots: Some(map),
                reduce_slots: Some(reduce),
                ..Self::named("tracker up")
            },
            TrackerFact::Down => Self::named("tracker down"),
            TrackerFact::Heartbeat { rtt, queued } => Self {
                rtt_us: Some(rtt.as_micros()),
                queued_us: Some(queued.as_micros()),
                ..Self::named("heartbeat")
            },
        }
    }

    fn of_world(fact: WorldFact) -> Self {
        match fact {
            WorldFact::Incident { tracker, incident } => {
                let Details { speeds, attempt, copies } = Details::of(incident);
                let line = Self { tracker, ..Self::named(incident.words()) };
                let line = match (attempt, tracker) {
                    (Some(attempt), Some(tracker)) => line.attempt(attempt, tracker),
                    _ => line,
                };
                Self {
                    cpu: speeds.map(|speeds| speeds.cpu),
                    disk: speeds.map(|speeds| speeds.disk),
                    network: speeds.map(|speeds| speeds.network),
                    blocks: copies.map(|(blocks, _)| blocks),
                    bytes: copies.map(|(_, bytes)| bytes.get()),
                    ..line
                }
            }
            WorldFact::Copy { block, tracker, is_there } => {
                let line = Self::named(if is_there { "copy made" } else { "copy removed" });
                let line = match block {
                    Block::OfFile(BlockId { file, place }) => {
                        Self { file: Some(file.0), block: Some(place), ..line }
                    }
                    Block::OfTrace(job, map) => Self { block: Some(map), ..line.job(job) },
                };
                line.node(tracker)
            }
            WorldFact::PolicyChanged => Self::named("policy changed"),
        }
    }

    fn named(fact: &'a str) -> Self {
        Self { fact, ..Self::default() }
    }

    fn job(self, job: JobId) -> Self {
        Self { job: Some(job.0), ..self }
    }

    fn node(self, tracker: TrackerId) -> Self {
        Self { tracker: Some(tracker), ..self }
    }

    fn attempt(self, attempt: AttemptId, tracker: TrackerId) -> Self {
        Self {
            kind: Some(attempt.task.kind.word()),
            task: Some(attempt.task.index),
            attempt: Some(attempt.number),
            ..self.job(attempt.job()).node(tracker)
        }
    }

    fn role(self, role: Role) -> Self {
        let word = match role {
            Role::Work => "work",
            Role::TaskCleanup => "task cleanup",
        };
        Self { role: Some(word), ..self }
    }

    fn reason(self, reason: Reason) -> Self {
        let weighed = reason.weighed();
        Self {
            code: Some(reason.code()),
            place: weighed.place,
            passed_over_us: weighed.waited.map(SimSpan::as_micros),
            held: weighed.held,
            share: weighed.share,
            min_share: weighed.min_share,
            for_job: weighed.for_job.map(|job| job.0),
            reason: Some(reason.to_string()),
            ..self
        }
    }

    fn outcome(self, outcome: Outcome) -> Self {
        Self { outcome: Some(outcome.word()), ..self }
    }

    fn counts(self, counts: SlotCounts) -> Self {
        Self { running: Some(counts.running), pending: Some(counts.pending), ..self }
    }
}

const fn state_word(state: AttemptState) -> &'static str {
    match state {
        AttemptState::Unassigned => "unassigned",
        AttemptState::Running => "running",
        AttemptState::Suspended => "suspended",
        AttemptState::CommitPending => "commit-pending",
        AttemptState::FailedUnclean => "failed, unclean",
        AttemptState::KilledUnclean => "killed, unclean",
        AttemptState::Succeeded => "succeeded",
        AttemptState::Failed => "failed",
        AttemptState::Killed => "killed",
    }
}
