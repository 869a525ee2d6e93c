//! `events.jsonl`: every fact as a line of JSON, for questions that no table answers.
//!
//! `at_us` is the instant in microseconds; jobs, tasks and nodes have the names of the tables. A
//! field that a fact does not have is left out.

use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use serde::{Serialize, Serializer};

use super::incident::IncidentDetails;
use super::jobs::slot_millis;
use super::table::TextFile;
use super::{NodeLabel, RecordError, RunBooks, RunEnd, Watcher};
use mumakil_base::files;
use mumakil_base::units::SimSpan;
use mumakil_core::cluster::BlockId;
use mumakil_core::mapred::{
    AttemptFact, AttemptId, Block, Event, Fact, JobFact, JobId, LedgerFact, MemberFact, PerSlot,
    Reason, Role, SlotCounts, TrackerFact, TrackerId, WorldFact,
};
use mumakil_results::tables::CellValue;

/// Writes `events.jsonl`.
#[derive(Debug)]
pub(super) struct Events {
    lines: TextFile,
    labels: Arc<[NodeLabel]>,
}

/// A line: the fields of its fact, in their order in the file.
struct EventLine<'a> {
    labels: &'a [NodeLabel],
    fields: Vec<(&'static str, CellValue<'a>)>,
    /// The reason in words, the last field. It is kept apart, since `fields` only borrows texts.
    reason: Option<String>,
}

impl Events {
    pub(super) fn create(folder: &Path, labels: Arc<[NodeLabel]>) -> Result<Self, RecordError> {
        Ok(Self { lines: TextFile::create(folder, files::EVENTS)?, labels })
    }
}

impl Watcher for Events {
    fn see(&mut self, event: &Event, _: &RunBooks) -> Result<(), RecordError> {
        let line = EventLine::of(event, &self.labels);
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

impl Serialize for EventLine<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let reason = self.reason.as_deref().map(|reason| ("reason", CellValue::Text(reason)));
        to.collect_map(self.fields.iter().copied().chain(reason))
    }
}

impl<'a> EventLine<'a> {
    fn of(event: &'a Event, labels: &'a [NodeLabel]) -> Self {
        // Few facts have more than 20 fields.
        let mut line = Self { labels, fields: Vec::with_capacity(20), reason: None };
        line.number("at_us", event.at.as_micros());
        match event.fact {
            Fact::Job(job, ref fact) => line.job_fact(job, fact),
            Fact::Ledger(attempt, tracker, fact) => line.ledger_fact(attempt, tracker, fact),
            Fact::Member(tracker, fact) => line.member_fact(tracker, fact),
            Fact::Attempt(attempt, tracker, fact) => line.attempt_fact(attempt, tracker, fact),
            Fact::Tracker(tracker, fact) => line.tracker_fact(tracker, fact),
            Fact::World(fact) => line.world_fact(fact),
            Fact::Pool(ref pool, kind, standing) => line
                .fact("share")
                .text("pool", pool)
                .text("kind", kind.word())
                .number("held", standing.held)
                .maybe("share", standing.share.map(|it| CellValue::Decimal(it.slots())))
                .number("min_share", standing.min_share),
            Fact::Span(name, span) => {
                line.fact("span").text("name", name).number("us", span.as_micros())
            }
        };
        line
    }

    fn job_fact(&mut self, job: JobId, fact: &'a JobFact) -> &mut Self {
        match *fact {
            JobFact::Submitted(ref spec) => self
                .fact("job submitted")
                .job(job)
                .text("name", &spec.name)
                .text("pool", &spec.pool)
                .number("maps", spec.maps)
                .number("reduces", spec.reduces),
            JobFact::Initialised => self.fact("job initialised").job(job),
            JobFact::Running => self.fact("job running").job(job),
            JobFact::MapsDone => self.fact("maps done").job(job),
            JobFact::Ended(outcome) => {
                self.fact("job ended").job(job).text("outcome", outcome.word())
            }
            JobFact::SubmissionRefused(reason) => self.fact("job refused").job(job).reason(reason),
            JobFact::BegunAnew => self.fact("job begun anew").job(job),
            JobFact::Sized(kind, size) => self
                .fact("job sized")
                .job(job)
                .text("kind", kind.word())
                .number("estimated_ms", slot_millis(size.estimated))
                .number("real_ms", slot_millis(size.real)),
            JobFact::Altered(ref alteration) => {
                let priority = alteration.priority.map(|it| CellValue::Text(it.word()));
                let pool = alteration.pool.as_deref().map(CellValue::Text);
                self.fact("job changed").job(job).maybe("priority", priority).maybe("pool", pool)
            }
            JobFact::Refused { kind, from, to, times, reason, .. } => self
                .fact("refused")
                .job(job)
                .text("kind", kind.word())
                .number("from_us", from.as_micros())
                .number("to_us", to.as_micros())
                .number("times", times)
                .reason(reason),
        }
    }

    fn ledger_fact(
        &mut self,
        attempt: AttemptId,
        tracker: TrackerId,
        fact: LedgerFact,
    ) -> &mut Self {
        match fact {
            LedgerFact::Assigned { role, locality, speculative, reason, waited, counts } => self
                .of_attempt("assigned", attempt, tracker)
                .role(role)
                .maybe("locality", locality.map(|locality| CellValue::Text(locality.word())))
                .field("speculative", CellValue::Flag(speculative))
                .number("waited_us", waited.as_micros())
                .counts(counts)
                .reason(reason),
            LedgerFact::Learned { state, counts } => self
                .of_attempt("learned", attempt, tracker)
                .text("state", state.word())
                .counts(counts),
            LedgerFact::Ordered { order, reason } => self
                .of_attempt("ordered", attempt, tracker)
                .text("order", order.word())
                .reason(reason),
            LedgerFact::Spared { reason } => {
                self.of_attempt("spared", attempt, tracker).reason(reason)
            }
        }
    }

    fn member_fact(&mut self, tracker: TrackerId, fact: MemberFact) -> &mut Self {
        let name = match fact {
            MemberFact::Joined => "tracker joined",
            MemberFact::Lost => "tracker lost",
            MemberFact::Blacklisted => "tracker blacklisted",
            MemberFact::Forgiven => "tracker forgiven",
            MemberFact::Graylisted => "tracker graylisted",
            MemberFact::OffGraylist => "tracker off the graylist",
            // `Noted` is the only fact about membership that has a text.
            MemberFact::Noted(note) => {
                return self.fact("noted").node(tracker).text("note", note);
            }
        };
        self.fact(name).node(tracker)
    }

    fn attempt_fact(
        &mut self,
        attempt: AttemptId,
        tracker: TrackerId,
        fact: AttemptFact,
    ) -> &mut Self {
        match fact {
            AttemptFact::Opened { from } => {
                let from = from.map(|from| CellValue::Text(&self.labels[from.index()].node));
                self.of_attempt("opened", attempt, tracker).maybe("from", from)
            }
            AttemptFact::Started { role, .. } => {
                self.of_attempt("started", attempt, tracker).role(role)
            }
            AttemptFact::CommitPending => self.of_attempt("commit pending", attempt, tracker),
            AttemptFact::Saved => self.of_attempt("saved", attempt, tracker),
            AttemptFact::Suspended => self.of_attempt("suspended", attempt, tracker),
            AttemptFact::Resumed => self.of_attempt("resumed", attempt, tracker),
            AttemptFact::FetchFailed { map } => self
                .fact("fetch failed")
                .attempt(attempt)
                // `task` and `attempt` name the complaining reduce, so the map's fields have other
                // names.
                .number("of_map", map.task.index)
                .number("of_attempt", map.number)
                .node(tracker),
            AttemptFact::Ended { role, outcome, phases } => {
                let commit = phases.commit.map(|commit| CellValue::Whole(commit.as_micros()));
                self.of_attempt("ended", attempt, tracker)
                    .role(role)
                    .text("outcome", outcome.word())
                    .number("shuffle_us", phases.shuffle.as_micros())
                    .number("sort_us", phases.sort.as_micros())
                    .maybe("commit_us", commit)
                    .number("suspended_us", phases.suspended.as_micros())
            }
        }
    }

    fn tracker_fact(&mut self, tracker: TrackerId, fact: TrackerFact) -> &mut Self {
        match fact {
            TrackerFact::Up(PerSlot { map, reduce }) => self
                .fact("tracker up")
                .node(tracker)
                .number("map_slots", map)
                .number("reduce_slots", reduce),
            TrackerFact::Down => self.fact("tracker down").node(tracker),
            TrackerFact::Heartbeat { rtt, queued } => self
                .fact("heartbeat")
                .node(tracker)
                .number("rtt_us", rtt.as_micros())
                .number("queued_us", queued.as_micros()),
        }
    }

    fn world_fact(&mut self, fact: WorldFact) -> &mut Self {
        match fact {
            WorldFact::Incident { tracker, incident } => {
                let IncidentDetails { speeds, attempt, copies } = IncidentDetails::of(incident);
                self.fact(incident.words());
                if let Some(attempt) = attempt {
                    self.attempt(attempt);
                }
                if let Some(tracker) = tracker {
                    self.node(tracker);
                }
                if let Some(speeds) = speeds {
                    self.field("cpu", CellValue::Decimal(speeds.cpu))
                        .field("disk", CellValue::Decimal(speeds.disk))
                        .field("network", CellValue::Decimal(speeds.network));
                }
                if let Some((blocks, bytes)) = copies {
                    self.number("blocks", blocks).number("bytes", bytes.get());
                }
                self
            }
            WorldFact::Copy { block, tracker, made } => {
                self.fact(if made.is_some() { "copy made" } else { "copy removed" });
                match block {
                    Block::OfFile(BlockId { file, place }) => {
                        self.node(tracker).number("file", file.0).number("block", place)
                    }
                    Block::OfTrace(job, map) => self.job(job).node(tracker).number("block", map),
                }
            }
            WorldFact::PolicyChanged => self.fact("policy changed"),
            WorldFact::Reloaded => self.fact("allocations reloaded"),
        }
    }

    fn field(&mut self, name: &'static str, value: CellValue<'a>) -> &mut Self {
        self.fields.push((name, value));
        self
    }

    fn maybe(&mut self, name: &'static str, value: Option<CellValue<'a>>) -> &mut Self {
        // Absent fields are left out, which keeps the lines of a long run short.
        self.fields.extend(value.map(|value| (name, value)));
        self
    }

    fn number(&mut self, name: &'static str, number: impl Into<u64>) -> &mut Self {
        self.field(name, CellValue::Whole(number.into()))
    }

    fn text(&mut self, name: &'static str, text: &'a str) -> &mut Self {
        self.field(name, CellValue::Text(text))
    }

    fn fact(&mut self, name: &'a str) -> &mut Self {
        self.text("fact", name)
    }

    fn of_attempt(&mut self, name: &'a str, attempt: AttemptId, tracker: TrackerId) -> &mut Self {
        self.fact(name).attempt(attempt).node(tracker)
    }

    fn job(&mut self, job: JobId) -> &mut Self {
        self.number("job", job.0)
    }

    fn node(&mut self, tracker: TrackerId) -> &mut Self {
        let labels = self.labels;
        self.text("node", &labels[tracker.index()].node)
    }

    fn attempt(&mut self, attempt: AttemptId) -> &mut Self {
        self.job(attempt.job())
            .text("kind", attempt.task.kind.word())
            .number("task", attempt.task.index)
            .number("attempt", attempt.number)
    }

    fn role(&mut self, role: Role) -> &mut Self {
        self.text("role", role.word())
    }

    fn counts(&mut self, counts: SlotCounts) -> &mut Self {
        self.number("running", counts.running).number("pending", counts.pending)
    }

    fn reason(&mut self, reason: Reason) -> &mut Self {
        let weighed = reason.weighed();
        let whole = |number: u32| CellValue::Whole(number.into());
        let waited = weighed.waited.map(SimSpan::as_micros);
        // The reason is kept apart: the fields borrow texts, but this text is made here.
        self.reason = Some(reason.to_string());
        self.text("code", reason.code())
            .maybe("place", weighed.place.map(whole))
            .maybe("passed_over_us", waited.map(CellValue::Whole))
            .maybe("held", weighed.held.map(whole))
            .maybe("share", weighed.share.map(CellValue::Decimal))
            .maybe("min_share", weighed.min_share.map(whole))
            .maybe("for_job", weighed.for_job.map(|job| whole(job.0)))
    }
}
