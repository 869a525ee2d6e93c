//! The MapReduce v1 protocol and the state machines that speak it.

mod event;
mod hadoop;
mod ids;
mod message;
mod reason;
mod scheduler;
mod spec;

pub use crate::cluster::{PerSlot, RackId, SlotKind, TrackerId};
pub use event::{AttemptState, Counts, Event, Fact, Locality, Outcome, Phases, Role};
pub use hadoop::{Auto, CommitPending, FailedMaps, Hadoop, HeartbeatGrowth, Speculation};
pub use ids::{AttemptId, JobId, TaskId, TaskKind};
pub use message::{
    Address, Core, Directive, Launch, Letter, MapsDone, Msg, Outbox, Phase, Reply, Report, Status,
    Stop,
};
pub use reason::Reason;
pub use scheduler::{Policy, Scheduler};
pub use spec::{Input, JobSpec, MapCost, Priority, ReduceCost};
