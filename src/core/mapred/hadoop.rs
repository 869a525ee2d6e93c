//! The `hadoop:` part of a scenario: the settings of the protocol, with the defaults of a Hadoop
//! version.
//!
//! Every field has a value in the file of each version (`hadoop/*.yaml`), so there are no
//! defaults here.
//!
//! ```text
//! hadoop/0.20.yaml    heartbeat_floor: 3s       expiry: 10min   …
//! hadoop/1.x.yaml     heartbeat_floor: 300ms
//! a user's scenario                                       expiry: 1min
//! the run                       heartbeat_floor: 300ms    expiry: 1min    …
//! ```

mod line;

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_yaml::Mapping;

pub use self::line::{Behaviour, HadoopLine, Recovery};
use crate::mapred::speculation::Speculation;
use mumakil_base::random::Dist;
use mumakil_base::units::{Count, Fraction, SimSpan};

/// The settings of the protocol. `line` (a Hadoop release line, such as 1.x) sets the defaults of
/// all; each can be set on its own.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Hadoop {
    /// The Hadoop version whose settings are the defaults of all other keys.
    #[schemars(with = "String")]
    pub line: HadoopLine,
    /// The time between two heartbeats of a tracker: `auto` for the formula of the Hadoop line,
    /// which grows with the cluster.
    pub heartbeat: AutoSpan,
    /// How the interval of `auto` grows with the number of trackers.
    #[schemars(extend("x-only-if" = {"hadoop.heartbeat": "auto"}))]
    pub heartbeat_growth: HeartbeatGrowth,
    /// The shortest interval that `auto` gives.
    // In 1.x a restarted tracker waits this long before its first heartbeat.
    #[schemars(extend("x-only-if" = {"hadoop.heartbeat": "auto", "hadoop.line": "1.x"}))]
    pub heartbeat_floor: SimSpan,
    /// How many heartbeats a second `auto` aims at, over the whole cluster.
    #[schemars(extend("x-only-if" = {"hadoop.heartbeat": "auto"}))]
    pub heartbeats_per_second: Count<1, 1_000_000>,
    /// The trackers' first heartbeats are spread evenly over this time; `auto` is one interval.
    pub heartbeat_phase: AutoSpan,
    /// A random time that is added to each interval: up to one value more or less, or anything
    /// between two. To study how heartbeats queue at the JobTracker, use `200ms`.
    pub heartbeat_fuzz: IntervalFuzz,
    /// Whether a tracker sends an extra heartbeat as soon as an attempt ends.
    pub out_of_band: bool,
    /// If a tracker gets no reply for this long, it sends the same heartbeat again.
    #[schemars(extend("x-only-if" = {"a fault that disturbs messages": true}))]
    pub rpc_timeout: SimSpan,
    /// A tracker that is silent for this long is declared lost.
    pub expiry: SimSpan,
    /// An attempt that makes no progress for this long fails at its tracker's next heartbeat; with
    /// `0s` it never does.
    pub task_timeout: SimSpan,
    /// An attempt that was assigned `expiry` ago fails, unless its tracker has done this.
    pub launch_expiry: LaunchExpiry,
    /// The share of a job's maps that must have ended before its reduces start.
    pub slow_start: Fraction,
    /// Whether an attempt that waits for its commit counts as running.
    pub commit_pending: CommitPending,
    /// Whether jobs run a setup and a cleanup task.
    pub setup_cleanup: bool,
    /// Whether an extra attempt removes the output of an attempt that failed or was killed.
    pub task_cleanup: bool,
    /// Whether a job that ends kills the attempts that it still runs. Mumak lets them run.
    pub kill_orphans: bool,
    /// A task fails after this many failed attempts.
    pub max_attempts: AttemptLimit,
    /// The share of a job's maps that may fail without failing the job.
    pub map_failures: Fraction,
    /// The share of a job's reduces that may fail without failing the job.
    pub reduce_failures: Fraction,
    /// A job avoids a tracker after this many failed attempts there.
    pub tracker_failures: TrackerFailureLimit,
    /// Whether a tracker that several jobs avoid gets no tasks of any job. If not, as in 1.x, it is
    /// only graylisted, in `events.jsonl`.
    pub blacklist: bool,
    /// A tracker can be blacklisted when this many successful jobs have avoided it, less one for
    /// each day since, and graylisted when they have in the last three hours.
    pub tracker_faults: Count<1, 1_000_000>,
    /// Where a task that must run again waits.
    pub failed_maps: FailedMaps,
    /// Whether slow tasks get a second attempt on another tracker, and by which rule they are
    /// found. Here it is off by default.
    pub speculation: Speculation,
    /// How often a running attempt reports its progress to its tracker; with `0s` each heartbeat
    /// contains the progress at that instant.
    pub progress_interval: SimSpan,
    /// How often a task asks its tracker for map outputs to fetch, or for permission to commit;
    /// with `0s` it gets them at once.
    pub poll: SimSpan,
    /// How long a reduce sleeps each time it knows of no map output to fetch. With `0s`, as in
    /// 0.21, it fetches an output as soon as it knows of it.
    pub copier_sleep: SimSpan,
    /// How long an attempt takes from its slot to its work, if its job's files must be copied
    /// first.
    pub start_up: Dist<SimSpan>,
    /// The part of `start_up` in which the job's files are copied. Only the first attempts of a job
    /// on a tracker spend it.
    pub localisation: SimSpan,
    /// How long a setup task works after its start-up.
    #[schemars(extend("x-only-if" = {"hadoop.setup_cleanup": true}))]
    pub setup_time: Dist<SimSpan>,
    /// How long a cleanup task works after its start-up.
    #[schemars(extend("x-only-if" = {"hadoop.setup_cleanup": true, "hadoop.task_cleanup": true}))]
    pub cleanup_time: Dist<SimSpan>,
    /// How long a commit takes once it is allowed.
    #[schemars(extend("x-only-if" = {"hadoop.commit_pending": {"not": "none"}}))]
    pub commit_time: SimSpan,
    /// The random numbers for first heartbeats, `heartbeat_fuzz`, and what a Rumen trace leaves
    /// open.
    pub draws: Draws,
    /// The protocol that takes the place of MapReduce v1's, with its settings. A line such as
    /// `yarn` sets it.
    #[serde(default, skip_serializing_if = "Mapping::is_empty")]
    #[schemars(with = "BTreeMap<String, BTreeMap<String, serde_json::Value>>")]
    pub protocol: Mapping,
}

/// How many attempts of a task may fail before the task is given up.
pub type AttemptLimit = Count<1, 100>;

/// How many attempts of a job may fail on a tracker before the job avoids the tracker.
pub type TrackerFailureLimit = Count<1, 1_000_000>;

/// The origin of random numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Draws {
    /// Mumakil's: the same for a task under every policy.
    Own,
    /// Those that Mumak draws with the same seed, if all else is as in Mumak.
    Mumak,
}

/// A span, or `auto`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AutoSpan {
    /// The value that a rule gives, such as the formula of the Hadoop line.
    #[default]
    Auto,
    /// Always this span.
    Fixed(SimSpan),
}

/// The span added to an interval: anything from `-early` to `late`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IntervalFuzz {
    /// The most that is subtracted.
    pub early: SimSpan,
    /// The most that is added.
    pub late: SimSpan,
}

/// How the heartbeat interval grows with the cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum HeartbeatGrowth {
    /// By whole seconds, rounded up: 0.20.
    WholeSeconds,
    /// In proportion to the trackers: 0.21 and later.
    Proportional,
}

/// The step that an assigned attempt must reach on its tracker before the expiry, or it fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LaunchExpiry {
    /// Reported it, even if it waits for a slot.
    Reported,
    /// Started it: 1.2 and later.
    Started,
}

/// Whether an attempt that waits for its commit counts as running.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CommitPending {
    /// As in Hadoop: its tracker reports the slot as free, its job counts it as running.
    Quirk,
    /// Its tracker reports the slot as taken until it has ended.
    SlotHeld,
    /// The slot is free, and the job no longer counts it.
    NotCounted,
    /// It does not wait.
    None,
}

/// Where a map or reduce that runs again is put in the queue of waiting tasks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FailedMaps {
    /// At the front of the lists of nodes and racks with its input; a reduce, before all others.
    Front,
    /// Before all other maps, on any node; the one with most failures first. This is 1.x.
    First,
}

impl Hadoop {
    /// Returns the settings of a Hadoop version, as of a scenario that names just the version.
    pub fn of(line: HadoopLine) -> Self {
        let read = |text: &str| -> Mapping { serde_yaml::from_str(text).expect("it is tested") };
        let mut settings = read(HadoopLine::V020.settings());
        settings.extend(read(line.settings()));
        serde_yaml::from_value(settings.into()).expect("it is tested")
    }

    /// Returns the fixed behaviour of the Hadoop version, which users cannot set.
    pub const fn behaviour(&self) -> &'static Behaviour {
        self.line.behaviour()
    }

    /// Returns how long a restarted tracker process waits before its first heartbeat.
    pub fn first_wait(&self) -> SimSpan {
        if self.behaviour().waits_after_restart { self.heartbeat_floor } else { SimSpan::ZERO }
    }

    /// Returns the heartbeat interval of a cluster of `trackers` trackers.
    pub fn heartbeat_interval(&self, trackers: u32) -> SimSpan {
        let AutoSpan::Auto = self.heartbeat else {
            return self.heartbeat.or(SimSpan::ZERO);
        };
        let per_second = self.heartbeats_per_second.get();
        // JobTracker.getNextHeartbeatInterval: 0.20 rounds up to whole seconds, later versions
        // truncate to milliseconds. They multiply a rounded quotient, so that the result is a
        // millisecond short at some sizes: 2,009 ms for 201 trackers.
        let grown = match self.heartbeat_growth {
            HeartbeatGrowth::WholeSeconds => {
                SimSpan::from_secs(u64::from(trackers).div_ceil(u64::from(per_second)))
            }
            HeartbeatGrowth::Proportional => {
                let seconds = f64::from(trackers) / f64::from(per_second);
                SimSpan::from_millis((1_000.0 * seconds) as u64)
            }
        };
        grown.max(self.heartbeat_floor)
    }
}

impl IntervalFuzz {
    /// Nothing is added.
    pub const NONE: Self = Self { early: SimSpan::ZERO, late: SimSpan::ZERO };
}

impl AutoSpan {
    /// Returns the fixed span, or `auto` if the formula decides.
    pub fn or(self, auto: SimSpan) -> SimSpan {
        match self {
            Self::Auto => auto,
            Self::Fixed(span) => span,
        }
    }
}

mumakil_base::text_form! {
    AutoSpan,
    name: "AutoOrDuration",
    expected: "`auto`, or a duration with a unit, such as 3s",
    pattern: r"^\s*auto\s*$|^\s*0\s*$|^(\s*\d+(\.\d+)?\s*(us|µs|ms|s|min|h|d))+\s*$",
    parse: |text| match text.trim() {
        "auto" => Some(AutoSpan::Auto),
        text => text.parse().ok().map(AutoSpan::Fixed),
    },
    print: |auto, f| match auto {
        AutoSpan::Auto => f.write_str("auto"),
        AutoSpan::Fixed(span) => write!(f, "{span}"),
    },
    write: |self, to| to.collect_str(self),
}

mumakil_base::text_form! {
    IntervalFuzz,
    name: "Fuzz",
    expected: "a duration such as 10ms, or a range such as -11ms..9ms",
    pattern: r"^\s*(-\s*(\d+(\.\d+)?\s*(us|µs|ms|s|min|h|d)|0)\s*\.\.\s*)?(\d+(\.\d+)?\s*(us|µs|ms|s|min|h|d)|0)\s*$",
    parse: |text| match text.trim().split_once("..") {
        None => text.parse().ok().map(|span| IntervalFuzz { early: span, late: span }),
        Some((early, late)) => Some(IntervalFuzz {
            early: early.trim().strip_prefix('-')?.parse().ok()?,
            late: late.parse().ok()?,
        }),
    },
    print: |fuzz, f| match fuzz {
        IntervalFuzz { early, late } if early == late => write!(f, "{late}"),
        IntervalFuzz { early, late } => write!(f, "-{early}..{late}"),
    },
    write: |self, to| to.collect_str(self),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interval_that_grows_in_proportion_is_rounded_as_in_java() {
        let mut hadoop = Hadoop::of(HadoopLine::V020);
        hadoop.heartbeat_floor = SimSpan::from_millis(300);
        let millis = |hadoop: &Hadoop, trackers| hadoop.heartbeat_interval(trackers).as_millis();
        assert_eq!([0, 100, 101].map(|n| millis(&hadoop, n)), [300, 1_000, 2_000]);
        hadoop.heartbeat_growth = HeartbeatGrowth::Proportional;
        // 2.01 and 4.02 are a little less as floating-point numbers.
        assert_eq!(
            [0, 30, 31, 200, 201, 202, 402, 1_545].map(|n| millis(&hadoop, n)),
            [300, 300, 310, 2_000, 2_009, 2_020, 4_019, 15_450]
        );
    }
}
