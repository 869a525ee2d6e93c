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
use super::table::Text;
use super::{Books, End, NodeLabel, RecordError, Watcher};
use crate::cluster::BlockId;
use crate::files;
use crate::mapred::{
    AttemptId, AttemptState, Block, Counts, Event, Fact, JobId, Locality, Outcome, PerSlot, Reason,
    Role, TrackerId,
};
use crate::units::SimSpan;

/// Writes `events.jsonl`.
#[derive(Debug)]
pub(super) struct Events {
    lines: Text,
    labels: Arc<[NodeLabel]>,
}

/// A line: what the facts have, together.
#[derive(Default, Serialize)]
struct Line<'a> {
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
        Ok(Self { lines: Text::create(folder, files::EVENTS)?, labels })
    }
}

impl Watcher for Events {
    fn see(&mut self, event: &Event, _: &Books) -> Result<(), RecordError> {
        let mut line = Line::of(event);
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

    fn finish(&mut self, _: &End<'_>) -> Result<(), RecordError> {
        self.lines.finish()
    }
}

impl<'a> Line<'a> {
    fn of(event: &'a Event) -> Self {
        let line = match event.fact {
            Fact::JobSubmitted(ref spec) => Self {
                name: Some(&spec.name),
                pool: Some(&spec.pool),
                maps: Some(spec.maps),
                reduces: Some(spec.reduces),
                ..Self::named("job submitted").job(spec.id)
            },
            Fact::JobInitialised(job) => Self::named("job initialised").job(job),
            Fact::JobRunning(job) => Self::named("job running").job(job),
            Fact::MapsDone(job) => Self::named("maps done").job(job),
            Fact::JobEnded { job, outcome } => Self::named("job ended").job(job).outcome(outcome),
            Fact::Assigned {
                attempt,
                tracker,
                role,
                locality,
                speculative,
                reason,
                waited,
                counts,
            } => Self {
                locality: locality.map(Locality::word),
                speculative: Some(speculative),
                waited_us: Some(waited.as_micros()),
                ..Self::named("assigned")
                    .attempt(attempt, tracker)
                    .role(role)
                    .counts(counts)
                    .reason(reason)
            },
            Fact::Learned { attempt, tracker, state, counts } => Self {
                state: Some(state_word(state)),
                ..Self::named("learned").attempt(attempt, tracker).counts(counts)
            },
            Fact::Refused { job, kind, from, to, times, reason, .. } => Self {
                kind: Some(kind.word()),
                from_us: Some(from.as_micros()),
                to_us: Some(to.as_micros()),
                times: Some(times),
                ..Self::named("refused").job(job).reason(reason)
            },
            Fact::Ordered { attempt, tracker, order, reason } => Self {
                order: Some(order.word()),
                ..Self::named("ordered").attempt(attempt, tracker).reason(reason)
            },
            Fact::Noted { tracker, note } => {
                Self { note: Some(note), ..Self::named("noted").node(tracker) }
            }
            Fact::TrackerJoined(tracker) => Self::named("tracker joined").node(tracker),
            Fact::TrackerLost(tracker) => Self::named("tracker lost").node(tracker),
            Fact::TrackerBlacklisted(tracker) => Self::named("tracker blacklisted").node(tracker),
            Fact::TrackerForgiven(tracker) => Self::named("tracker forgiven").node(tracker),
            Fact::TrackerGraylisted(tracker) => Self::named("tracker graylisted").node(tracker),
            Fact::TrackerOffGraylist(tracker) => {
                Self::named("tracker off the graylist").node(tracker)
            }
            Fact::JobBegunAnew(job) => Self::named("job begun anew").job(job),
            Fact::PolicyChanged => Self::named("policy changed"),
            Fact::TrackerUp { tracker, slots: PerSlot { map, reduce } } => Self {
                map_slots: Some(map),
                reduce_slots: Some(reduce),
                ..Self::named("tracker up").node(tracker)
            },
            Fact::TrackerDown(tracker) => Self::named("tracker down").node(tracker),
            Fact::Incident { tracker, incident } => {
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
            Fact::Copy { block, tracker, is_there } => {
                let line = Self::named(if is_there { "copy made" } else { "copy removed" });
                let line = match block {
                    Block::OfFile(BlockId { file, place }) => {
                        Self { file: Some(file.0), block: Some(place), ..line }
                    }
                    Block::OfTrace(job, map) => Self { block: Some(map), ..line.job(job) },
                };
                line.node(tracker)
            }
            Fact::Opened { attempt, tracker, from } => {
                Self { source: from, ..Self::named("opened").attempt(attempt, tracker) }
            }
            Fact::Started { attempt, tracker, role, .. } => {
                Self::named("started").attempt(attempt, tracker).role(role)
            }
            Fact::CommitPending { attempt, tracker } => {
                Self::named("commit pending").attempt(attempt, tracker)
            }
            Fact::Suspended { attempt, tracker } => {
                Self::named("suspended").attempt(attempt, tracker)
            }
            Fact::Resumed { attempt, tracker } => Self::named("resumed").attempt(attempt, tracker),
            Fact::FetchFailed { attempt, tracker, map } => Self {
                of_map: Some(map.task.index),
                of_attempt: Some(map.number),
                ..Self::named("fetch failed").attempt(attempt, tracker)
            },
            Fact::Ended { attempt, tracker, role, outcome, phases } => Self {
                shuffle_us: Some(phases.shuffle.as_micros()),
                sort_us: Some(phases.sort.as_micros()),
                commit_us: phases.commit.map(|commit| commit.as_micros()),
                suspended_us: Some(phases.suspended.as_micros()),
                ..Self::named("ended").attempt(attempt, tracker).role(role).outcome(outcome)
            },
            Fact::Heartbeat { tracker, rtt, queued } => Self {
                rtt_us: Some(rtt.as_micros()),
                queued_us: Some(queued.as_micros()),
                ..Self::named("heartbeat").node(tracker)
            },
        };
        Self { at_us: event.at.as_micros(), ..line }
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

    fn counts(self, counts: Counts) -> Self {
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
