//! The MapReduce v1 protocol and the state machines that speak it.
//!
//! [`JobTracker`] and [`TaskTracker`] are cores: plain structs with one entry function, which gets
//! a message and the present instant. A core has neither a clock nor a thread. A tracker knows the
//! truth about its node; the JobTracker's `ledger` of [jobs](Job) holds only the content of
//! heartbeats. The [`FaultInjector`] turns machines off or slows them down, the [`NameNode`] knows
//! where blocks are, [`MapOutputs`] knows which outputs of maps can be fetched, and the [`Fabric`]
//! gives each transfer its rate.
//!
//! ```text
//!             heartbeat: reports                    flows begin and end
//! JobTracker ◄────────────────── TaskTracker ─────────────────────────► Fabric
//!            ──────────────────►             ◄─────────────────────────
//!             reply: launch, kill …                 new rates
//! ```
//!
//! # Layers
//! A file here uses only files of the layers above its own. Other folders use the names that are
//! exported below.
//!
//! | layer | |
//! |---|---|
//! | `ids`, `locality`, `speculation`, `stall` | ids, distances, second attempts, stalls |
//! | `hadoop`, `holders`, `reason`, `traced` | settings, slot holders, reasons, traced tasks |
//! | `settings` | the settings that each job may set for itself |
//! | `spec` | a job as it is submitted |
//! | `event`, `map_cache`, `replicas` | events of the run; where maps find their input |
//! | `heartbeat` | the contents of a heartbeat and of its answer |
//! | `cost`, `job`, `message`, `unfetched` | durations of work, a job in the ledger, all messages |
//! | `outbox`, `true_durations` | the trait and the output of cores; what oracles may know |
//! | `fabric`, `map_outputs`, `name_node`, `fault_injector`, `refusals`, `task_tracker` | all other cores |
//! | `ledger` | the JobTracker's knowledge |
//! | `scheduler` | the view and the decisions of a policy |
//! | `job_tracker` | the JobTracker |

mod cost;
mod event;
mod fabric;
mod fault_injector;
mod hadoop;
mod heartbeat;
mod holders;
mod ids;
mod job;
mod job_tracker;
mod ledger;
mod locality;
mod map_cache;
mod map_outputs;
mod message;
mod name_node;
mod outbox;
mod reason;
mod refusals;
mod replicas;
mod scheduler;
mod settings;
mod spec;
mod speculation;
mod stall;
mod task_tracker;
mod traced;
mod true_durations;
mod unfetched;

pub use crate::protocol::{Message, MessageEffect};
pub use cost::{
    AttemptPlan, ContendedResources, Costs, EffortPart, FailureKind, FailurePoint, NodeResource,
    PhaseEffort, PlannedFailure,
};
pub use event::{
    AttemptFact, AttemptState, CopyMade, Event, Fact, Incident, JobFact, JobSize, LedgerFact,
    MemberFact, Order, Outcome, PhaseTimes, Role, SlotCounts, TrackerFact, WorldFact,
};
pub use fabric::Fabric;
pub use fault_injector::{FaultInjector, Mishap, MishapHarm, MishapRhythm};
pub use hadoop::{
    AttemptLimit, AutoSpan, Behaviour, CommitPending, Draws, FailedMaps, Hadoop, HadoopLine,
    HeartbeatGrowth, IntervalFuzz, LaunchExpiry, Recovery, TrackerFailureLimit,
};
pub use heartbeat::{
    AttemptPhase, Directive, FailedFetch, Heartbeat, HeartbeatCall, LaunchOrder, MapsDone, Missing,
    Reply, Report, SavedWork, TrackerStatus,
};
pub use holders::Holders;
pub use ids::{AttemptId, JobId, TaskId, TaskKind};
pub use job::{Job, JobChange, JobEvent, JobState, TaskTimeSum, Tasks};
pub use job_tracker::{JobTracker, JobTrackerOptions, NotedRefusals};
pub use locality::Locality;
pub use map_cache::MapReach;
pub use map_outputs::MapOutputs;
pub use message::{
    FlowBegins, FlowId, FlowRate, HandEnd, LONGEST_PROBE, Load, Mail, MapOutput, MapReduce,
    MishapId, ToFabric, ToFaultInjector, ToInjector, ToJobTracker, ToMapOutputs, ToNameNode,
    ToTracker, WatchedJobTracker,
};
pub use name_node::{NameNode, ReplicationUpkeep};
pub use outbox::{Core, IdleState, Letter, Outbox, StopReason};
pub use reason::{LastRefusal, Reason, ReasonNumbers, SlotShare, SlotStanding, WaitingTasks};
pub use replicas::{Copy, InputReading, ReplicaChoice, Replicas};
#[doc(hidden)]
pub use scheduler::steps::steps_of;
pub use scheduler::{
    Complaint, DelayedNames, ExternalWork, KnownJob, Launched, Offer, OptionFacts, OptionFile,
    OptionFileReader, Orders, Policy, PolicyBench, PolicyDialogue, PolicyEntry, PolicyFailed,
    PolicyGroups, PolicyNeeds, PolicyOptions, PolicyProgram, PolicyReload, PolicySite, PolicyWords,
    Precedence, PrecedenceBy, Preemption, ProgramPermit, ProgramWarning, PromisedSlots, RankNumber,
    RunEndHook, RunPermit, SayRank, Scheduler, SchedulerChoice, Setting, SizeEstimator,
    SizeEstimators, View, Wrapper, or_file, position, steps::step,
};
pub use settings::{EffectiveSettings, JobSettings};
pub use spec::{
    Block, ExpectedJob, Input, JobAlteration, JobSpec, MapCost, Priority, ReduceCost, Split,
    TaskBytes, TaskTimes,
};
pub use speculation::{Hadoop020Options, Hadoop021Options, LateOptions, Rule, Speculation};
pub use stall::{JobSlots, JobWait, Stall, WaitCause, WaitingPart};
pub use task_tracker::{HeartbeatManner, TaskTracker};
pub use traced::{
    Cdf, ServiceTimes, Traced, TracedInit, TracedService, TracedTask, TracedTimes, TracedTry,
};
pub use true_durations::TrueDurations;

pub use crate::cluster::{PerSlot, RackId, SlotKind, TrackerId};
