//! `decisions.csv`.

use super::attempt::AttemptKind;
use super::cell::{CellText, words};
use crate::{table, worded};
use mumakil_core::mapred::Order;

table! {
    /// Refusals of slots and jobs, orders to attempts, and reasons. A refusal of slots has the
    /// time for which it lasted. Launches are in the table of attempts.
    #[derive(Default)]
    "decisions.csv" pub struct DecisionRow {
        /// The decision.
        what: Decided,
        /// The number of the job.
        job: u32,
        /// The kind of the task, or of the slots that were refused; `setup` for a refused job.
        kind: AttemptKind,
        /// The number of the task; empty for refusals.
        task: Option<u32>,
        /// The number of the attempt; empty for refusals.
        attempt: Option<u32>,
        /// When it happened or began.
        from_ms: u64,
        /// When it ended.
        to_ms: u64,
        /// How often it happened in this time.
        times: u32,
        /// The code of the reason.
        code: CellText,
        /// How long the job had waited.
        waited_ms: Option<u64>,
        /// The slots that its pool, queue or job held.
        held: Option<u32>,
        /// The share with which the policy compared these slots.
        share: Option<f64>,
        /// The minimum share, if it was the reason.
        min_share: Option<u32>,
        /// The job for which the policy decided so.
        for_job: Option<u32>,
        /// The jobs that held most slots of the kind, with their slots: `3:12 7:4`.
        held_by: CellText,
        /// The reason in words.
        reason: CellText,
    }
}

worded! {
    /// A decision of the policy.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum Decided {
        /// To refuse a slot to a job.
        #[default]
        Refuse = "refuse",
        /// To refuse a job at its submission.
        RefuseJob = "refuse-job",
        /// To kill an attempt.
        Kill = "kill",
        /// To suspend an attempt.
        Suspend = "suspend",
        /// To resume an attempt.
        Resume = "resume",
        /// To end an attempt once it has saved its work.
        Checkpoint = "checkpoint",
        /// To kill an attempt if the policy were to kill any; nothing happened to it.
        WouldKill = "would-kill",
    }
}

words!(Decided: Refuse RefuseJob Kill Suspend Resume Checkpoint WouldKill);

impl From<Order> for Decided {
    fn from(order: Order) -> Self {
        match order {
            Order::Kill => Self::Kill,
            Order::Suspend => Self::Suspend,
            Order::Resume => Self::Resume,
            Order::Checkpoint => Self::Checkpoint,
        }
    }
}
