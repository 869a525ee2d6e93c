//! Who contends for a slot: the jobs with something to launch as a policy ranks them, the numbers that
//! rank them, and why some get nothing here.
//!
//! A policy tells it with [`Scheduler::contenders`](super::Scheduler::contenders), which changes nothing.
//! In an offer it may tell it before each slot that it gives, with [`Offer::tell_contenders`]: this costs a
//! look unless somebody [listens](Offer::listen).

use std::sync::Arc;

use super::Offer;
use crate::mapred::{AttemptId, Directive, JobId, Priority, Reach, Reason, SlotKind};
use crate::units::SimTime;

/// A job with something to launch, as a policy ranks it for a slot.
#[derive(Clone, Debug, PartialEq)]
pub struct Contender {
    /// The job.
    pub job: JobId,
    /// How it stands: first the groups that it is in (pools, queues), the outermost first, then the job
    /// itself. One that a policy does not even ask has none.
    pub standings: Vec<Standing>,
    /// Why it gets nothing here, if so. Whoever is first without a refusal gets the slot.
    pub refusal: Option<Reason>,
}

/// How a group, or a job in its group, stands beside the others.
#[derive(Clone, Debug, PartialEq)]
pub struct Standing {
    /// The group's name; `None` for the job itself.
    pub group: Option<Arc<str>>,
    /// What it has, the number first that is compared first; what is not compared comes last.
    pub numbers: Vec<(Measure, f64)>,
}

/// What a number is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measure {
    /// How much the job matters: 0 for those before all others, to 4.
    Priority,
    /// When the job arrived, in seconds.
    Arrived,
    /// Whether it is below its minimum share, 1 or 0: such come first.
    BelowMinShare,
    /// What it holds, for its weight or of what is promised to it: the least comes first.
    Ratio,
    /// The slots that it holds.
    Held,
    /// Its share of the slots.
    Share,
    /// The slots that it is promised.
    MinShare,
    /// What it weighs among the others.
    Weight,
    /// The slots that it should have had and had not, times seconds: the most comes first.
    Deficit,
    /// Until when it is to get slots back, in seconds; without end if it is not to.
    Due,
    /// Its tasks that wait: the most comes first.
    Pending,
    /// The number of its last launch among all: the lowest comes first.
    LastLaunch,
    /// Whether this would be a task of a sample, 1 or 0: such come first.
    Sample,
    /// Its tasks that are not done.
    TasksLeft,
    /// Whether a suspended attempt would go on here, 1 or 0.
    Resumes,
    /// When it would end if all shared equally, in seconds of virtual time.
    VirtualFinish,
    /// The seconds of work that are left of it where all share equally.
    VirtualLeft,
    /// The seconds of work that are left of it.
    WorkLeft,
    /// The seconds of work that it is thought to be.
    Size,
    /// The seconds that its reduces would wait for maps; without end if nobody knows.
    MapWait,
    /// Its maps that are done, or those left if nobody knows how long they take: then the fewest first.
    Maps,
    /// Whether the tracker is kept for it, 1 or 0: such come first.
    Reserved,
    /// Whether its user is at the limit, and the limit gives way, 1 or 0: such come last.
    LimitsAside,
}

/// How a number is to be told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Told {
    /// As the word of a priority.
    Priority,
    /// As yes or no.
    Flag,
    /// As a number.
    Number,
    /// As a time.
    Seconds,
}

/// Who contended for a slot in an offer.
#[derive(Clone, Debug, PartialEq)]
pub struct Lineup {
    /// The kind of slot.
    pub kind: SlotKind,
    /// How many tasks the offer had brought before.
    pub launched: usize,
    /// The jobs, in the policy's order.
    pub contenders: Vec<Contender>,
}

impl Lineup {
    /// Adds a job that is not asked, unless it is there.
    pub fn add_withheld(&mut self, job: JobId, reason: Reason) {
        if self.contenders.iter().all(|one| one.job != job) {
            let withheld = Contender { job, standings: Vec::new(), refusal: Some(reason) };
            self.contenders.push(withheld);
        }
    }
}

impl Standing {
    /// Returns how a group stands.
    pub fn of_group<const N: usize>(name: &str, numbers: [(Measure, f64); N]) -> Self {
        Self { group: Some(name.into()), numbers: numbers.into() }
    }

    /// Returns how a job stands.
    pub fn of_job(numbers: impl IntoIterator<Item = (Measure, f64)>) -> Self {
        Self { group: None, numbers: numbers.into_iter().collect() }
    }

    /// Returns how a job stands by priority and arrival.
    pub fn in_line(priority: Priority, arrived: SimTime) -> [(Measure, f64); 2] {
        [(Measure::Priority, f64::from(priority as u8)), Measure::arrived(arrived)]
    }
}

impl Measure {
    /// Returns the name that programs read: with the unit, if there is one.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Priority => "priority",
            Self::Arrived => "arrived_s",
            Self::BelowMinShare => "below_min_share",
            Self::Ratio => "ratio",
            Self::Held => "held",
            Self::Share => "share",
            Self::MinShare => "min_share",
            Self::Weight => "weight",
            Self::Deficit => "deficit_slot_s",
            Self::Due => "due_s",
            Self::Pending => "pending",
            Self::LastLaunch => "last_launch",
            Self::Sample => "sample",
            Self::TasksLeft => "tasks_left",
            Self::Resumes => "resumes",
            Self::VirtualFinish => "virtual_finish_s",
            Self::VirtualLeft => "virtual_left_s",
            Self::WorkLeft => "work_left_s",
            Self::Size => "size_s",
            Self::MapWait => "map_wait_s",
            Self::Maps => "maps",
            Self::Reserved => "reserved",
            Self::LimitsAside => "limits_aside",
        }
    }

    /// Returns the words that people read.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Priority => "priority",
            Self::Arrived => "arrived at",
            Self::BelowMinShare => "below its minimum share",
            Self::Ratio => "ratio",
            Self::Held => "holds",
            Self::Share => "share",
            Self::MinShare => "promised",
            Self::Weight => "weight",
            Self::Deficit => "lacked slot-seconds",
            Self::Due => "due at",
            Self::Pending => "waiting tasks",
            Self::LastLaunch => "last launch",
            Self::Sample => "for its sample",
            Self::TasksLeft => "tasks left",
            Self::Resumes => "goes on here",
            Self::VirtualFinish => "shared, would end at",
            Self::VirtualLeft => "shared, would have left",
            Self::WorkLeft => "work left",
            Self::Size => "size",
            Self::MapWait => "waits for maps",
            Self::Maps => "maps",
            Self::Reserved => "the node is kept for it",
            Self::LimitsAside => "user at the limit",
        }
    }

    /// Returns how its number is to be told.
    pub const fn told(self) -> Told {
        match self {
            Self::Priority => Told::Priority,
            Self::BelowMinShare
            | Self::Sample
            | Self::Resumes
            | Self::Reserved
            | Self::LimitsAside => Told::Flag,
            Self::Arrived
            | Self::Due
            | Self::VirtualFinish
            | Self::VirtualLeft
            | Self::WorkLeft
            | Self::Size
            | Self::MapWait => Told::Seconds,
            Self::Ratio
            | Self::Held
            | Self::Share
            | Self::MinShare
            | Self::Weight
            | Self::Deficit
            | Self::Pending
            | Self::LastLaunch
            | Self::TasksLeft
            | Self::Maps => Told::Number,
        }
    }

    /// Returns when a job arrived.
    pub fn arrived(at: SimTime) -> (Self, f64) {
        (Self::Arrived, at.as_secs_f64())
    }

    /// Returns whether something is so.
    pub fn flag(self, is_so: bool) -> (Self, f64) {
        (self, f64::from(u8::from(is_so)))
    }

    /// Returns a number of slots or tasks.
    pub fn count(self, number: u32) -> (Self, f64) {
        (self, f64::from(number))
    }
}

impl Offer<'_> {
    /// From here on, what the policy tells of contenders is kept.
    pub fn listen(&mut self) {
        self.lineups.get_or_insert_default();
    }

    /// Returns whether somebody listens.
    pub fn is_listened_to(&self) -> bool {
        self.lineups.is_some()
    }

    /// Tells who contends for the next slot of a kind, if somebody listens; `who` is asked only then.
    pub fn tell_contenders(
        &mut self,
        kind: SlotKind,
        who: impl FnOnce(&Self) -> Option<Vec<Contender>>,
    ) {
        if self.lineups.is_some()
            && let Some(contenders) = who(self)
        {
            let launched = self.directives.len();
            self.lineups.get_or_insert_default().push(Lineup { kind, launched, contenders });
        }
    }

    /// Returns what was told of contenders since somebody began to listen, who then does so no more.
    pub fn told_contenders(&mut self) -> Vec<Lineup> {
        self.lineups.take().unwrap_or_default()
    }

    /// Returns what was launched in this offer, in that order.
    pub fn launched(&self) -> impl Iterator<Item = AttemptId> {
        self.directives.iter().filter_map(|directive| match directive {
            Directive::Launch(launch) => Some(launch.attempt),
            _ => None,
        })
    }

    /// Returns whether a job has a map for this tracker within reach, as
    /// [`Offer::launch_wide_map`] would find it. Copies the lists of its waiting maps.
    pub fn has_map(&self, job: JobId, slots: u32, reach: Reach) -> bool {
        self.ledger.has_map(job, self.tracker, slots, reach)
    }

    /// Returns whether a job has a reduce for this tracker.
    pub fn has_reduce(&self, job: JobId, slots: u32) -> bool {
        self.ledger.has_reduce(job, self.tracker, slots)
    }

    /// Returns why a job gets no slot here that may launch anywhere, if so.
    pub fn refusal(&self, job: JobId, kind: SlotKind, slots: u32) -> Option<Reason> {
        let has_task = match kind {
            SlotKind::Map => self.has_map(job, slots, Reach::Any),
            SlotKind::Reduce => self.has_reduce(job, slots),
        };
        (!has_task).then_some(Reason::BadTracker)
    }
}
