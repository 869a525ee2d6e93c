//! What can be asked for by name, and where it is read.

use super::source::Table;
use super::unit::Unit;

/// What a number is of: the run, each of its jobs, and so on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    /// One a run.
    One,
    Jobs,
    /// One for each chain of jobs.
    Chains,
    /// One for each task that has succeeded.
    Tasks,
    Attempts,
    /// A step function of time.
    Series,
    /// A histogram.
    Samples,
}

impl Shape {
    pub(super) const fn word(self) -> &'static str {
        match self {
            Self::One => "one number",
            Self::Jobs => "a number for each job",
            Self::Chains => "a number for each chain of jobs",
            Self::Tasks => "a number for each task",
            Self::Attempts => "a number for each attempt",
            Self::Series => "numbers over time",
            Self::Samples => "a histogram",
        }
    }
}

/// A quantity: its name, what it is of, and where it is read.
#[derive(Debug, PartialEq)]
pub(super) struct Quantity {
    pub(super) name: &'static str,
    pub(super) shape: Shape,
    pub(super) unit: Unit,
    pub(super) source: Source,
    pub(super) about: &'static str,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Source {
    /// A number of the summary.
    Summary(&'static str),
    /// A column of `jobs.csv`, less another one.
    Job(&'static str, Option<&'static str>),
    /// From a job's first start of a reduce to the last end of one.
    ReduceTime,
    /// Sojourn over the time alone.
    Slowdown,
    /// The sojourn of the chain that a job begins.
    Chain,
    /// A column of `waste.csv`.
    Waste(&'static str),
    /// The share of one of [`LOCALITIES`] in the sum of them.
    Locality(usize),
    /// A column of `tasks.csv`, less another one.
    Attempt(&'static str, Option<&'static str>),
    /// A column of `timeline.csv`.
    Series(&'static str),
    Histogram(&'static str),
}

/// The columns whose sum is the maps that had input.
pub(super) const LOCALITIES: [&str; 3] = ["node_local", "rack_local", "off_rack"];

const fn quantity(
    name: &'static str,
    shape: Shape,
    unit: Unit,
    source: Source,
    about: &'static str,
) -> Quantity {
    Quantity { name, shape, unit, source, about }
}

const fn number(name: &'static str, about: &'static str) -> Quantity {
    quantity(name, Shape::One, Unit::PLAIN, Source::Summary(name), about)
}

const fn summary(
    name: &'static str,
    unit: Unit,
    path: &'static str,
    about: &'static str,
) -> Quantity {
    quantity(name, Shape::One, unit, Source::Summary(path), about)
}

const fn histogram(name: &'static str, about: &'static str) -> Quantity {
    quantity(name, Shape::Samples, Unit::TIME, Source::Histogram(name), about)
}

const fn series(name: &'static str, column: &'static str, about: &'static str) -> Quantity {
    quantity(name, Shape::Series, Unit::PLAIN, Source::Series(column), about)
}

const fn count(name: &'static str, about: &'static str) -> Quantity {
    quantity(name, Shape::Jobs, Unit::PLAIN, Source::Job(name, None), about)
}

type Column = &'static str;

const fn job(name: Column, to: Column, from: Option<Column>, about: &'static str) -> Quantity {
    quantity(name, Shape::Jobs, Unit::TIME, Source::Job(to, from), about)
}

const fn attempt(name: Column, to: Column, from: Option<Column>, about: &'static str) -> Quantity {
    quantity(name, Shape::Attempts, Unit::TIME, Source::Attempt(to, from), about)
}

const fn waste(name: Column, unit: Unit, column: Column, about: &'static str) -> Quantity {
    quantity(name, Shape::Jobs, unit, Source::Waste(column), about)
}

const fn locality(name: &'static str, level: usize, about: &'static str) -> Quantity {
    quantity(name, Shape::One, Unit::SHARE, Source::Locality(level), about)
}

const TASK_TIME: Source = Source::Attempt("finish_ms", Some("start_ms"));

/// All that can be asked for.
pub(super) const QUANTITIES: &[Quantity] = &[
    job("sojourn", "sojourn_ms", None, "from its arrival to its end"),
    job("wait", "wait_ms", None, "from its arrival to the launch of its first task"),
    job(
        "run",
        "finish_ms",
        Some("first_launch_ms"),
        "from the launch of its first task to its end",
    ),
    job(
        "map_phase",
        "maps_done_ms",
        Some("submit_ms"),
        "from its arrival to the end of its last map",
    ),
    job("submit", "submit_ms", None, "when it arrived"),
    job("finish", "finish_ms", None, "when it ended"),
    quantity(
        "reduce_time",
        Shape::Jobs,
        Unit::TIME,
        Source::ReduceTime,
        "from the first start of a reduce to the last end of one",
    ),
    quantity(
        "slowdown",
        Shape::Jobs,
        Unit::PLAIN,
        Source::Slowdown,
        "its sojourn, divided by the one that it has alone on the cluster",
    ),
    count("maps", "its maps"),
    count("reduces", "its reduces"),
    count("failed", "its attempts that failed"),
    count("killed", "its attempts that were killed, and maps that were lost"),
    count("suspended", "how often its attempts were suspended"),
    waste(
        "straggling",
        Unit::PLAIN,
        "straggling",
        "its sojourn, divided by the one that it would have had if none of its tasks took longer than \
         their median",
    ),
    waste("held", Unit::TIME, "held_ms", "the slot time of its attempts"),
    waste("wasted", Unit::TIME, "wasted_ms", "what of this was in vain"),
    waste(
        "second_attempts",
        Unit::PLAIN,
        "second_attempts",
        "its second attempts of tasks that ran already",
    ),
    waste(
        "second_attempts_won",
        Unit::PLAIN,
        "second_attempts_won",
        "those of them that succeeded",
    ),
    quantity(
        "chain.sojourn",
        Shape::Chains,
        Unit::TIME,
        Source::Chain,
        "from the first arrival to the last end of its jobs; chosen by its first job",
    ),
    attempt("attempt.time", "finish_ms", Some("start_ms"), "from its start to its end"),
    attempt("attempt.start", "start_ms", None, "when it started"),
    attempt("attempt.finish", "finish_ms", None, "when it ended"),
    attempt(
        "attempt.commit",
        "commit_ms",
        None,
        "from the end of its work to the end of its commit",
    ),
    attempt("attempt.suspended", "suspended_ms", None, "how long it was suspended"),
    quantity(
        "task.time",
        Shape::Tasks,
        Unit::TIME,
        TASK_TIME,
        "how long its successful attempt took",
    ),
    series("slots", "slots", "slots that jobs hold"),
    series("running", "running", "running tasks, as the JobTracker counts them"),
    series("pending", "pending", "tasks that wait for a slot"),
    series("suspended_tasks", "suspended", "attempts that are suspended"),
    summary(
        "makespan",
        Unit::TIME,
        "makespan_s",
        "from the first arrival to the last end of a job",
    ),
    summary("virtual", Unit::TIME, "virtual_s", "how long the cluster ran"),
    locality("locality.node", 0, "the share of maps that read on their node"),
    locality("locality.rack", 1, "the share of maps that read in their rack"),
    locality("locality.off_rack", 2, "the share of maps that read elsewhere"),
    summary(
        "utilisation.map",
        Unit::SHARE,
        "slot_utilisation.map",
        "the share of map slots in use",
    ),
    summary(
        "utilisation.reduce",
        Unit::SHARE,
        "slot_utilisation.reduce",
        "the share of reduce slots in use",
    ),
    summary(
        "goodput",
        Unit::SHARE,
        "waste.goodput",
        "the share of useful slot time in that of all attempts that ended",
    ),
    summary("waste.failed", Unit::TIME, "waste.failed_s", "slot time of attempts that failed"),
    summary(
        "waste.speculative",
        Unit::TIME,
        "waste.speculative_s",
        "slot time of attempts that were slower than another one of their task",
    ),
    summary(
        "waste.lost",
        Unit::TIME,
        "waste.lost_s",
        "slot time of attempts that were lost with their tracker, or whose output was",
    ),
    summary(
        "waste.preempted",
        Unit::TIME,
        "waste.preempted_s",
        "slot time of attempts that were killed though their job went on",
    ),
    summary(
        "waste.killed",
        Unit::TIME,
        "waste.killed_s",
        "slot time of jobs that failed or were killed",
    ),
    number("nodes", "the nodes of the cluster"),
    number("map_slots", "its map slots"),
    number("reduce_slots", "its reduce slots"),
    number("jobs", "the jobs that arrived"),
    number("jobs_succeeded", "those that succeeded"),
    number("jobs_failed", "those that failed"),
    number("jobs_killed", "those that were killed"),
    number("attempts", "the attempts of maps and reduces"),
    number("attempts_failed", "those that failed"),
    number("attempts_killed", "those that were killed, and maps that were lost"),
    number("suspensions", "how often attempts were suspended"),
    number("heartbeats", "the heartbeats that the JobTracker served"),
    number("messages", "the messages between actors"),
    histogram("heartbeat_rtt", "from a heartbeat to its reply"),
    histogram("jobtracker_queue", "how long heartbeats wait for the JobTracker"),
    histogram("slot_idle", "how long slots are free between tasks"),
    histogram("job_wait", "the waits of jobs"),
    histogram("job_sojourn", "the sojourns of jobs"),
    histogram("task_wait", "how long tasks wait for a slot"),
    histogram("locality_wait", "how long jobs without input nearby are passed over"),
    histogram("commit_delay", "from the end of the work to the end of the commit"),
    histogram("suspension", "how long attempts are suspended"),
    histogram(
        "preemption_to_launch",
        "from the order to take a slot to the launch of the task that gets it",
    ),
    histogram("clock_lag", "how late a scaled clock is"),
];

/// What rows can be chosen by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RowKey {
    pub(super) name: &'static str,
    /// The table of the column, and the column.
    pub(super) table: Table,
    pub(super) column: &'static str,
    pub(super) kind: KeyKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum KeyKind {
    /// Any word.
    Word,
    /// One of these words.
    Among(&'static [&'static str]),
    Number,
    /// An instant.
    Time,
}

const fn key(name: &'static str, table: Table, column: &'static str, kind: KeyKind) -> RowKey {
    RowKey { name, table, column, kind }
}

const OUTCOMES: KeyKind = KeyKind::Among(&["succeeded", "failed", "killed", "unfinished"]);
const ENDS: KeyKind = KeyKind::Among(&["succeeded", "failed", "killed", "lost", "unfinished"]);
const KINDS: KeyKind =
    KeyKind::Among(&["map", "reduce", "setup", "cleanup", "map-cleanup", "reduce-cleanup"]);

/// A name that two tables have is that of the attempt for quantities of attempts, and of the job
/// for all others.
pub(super) const ROW_KEYS: &[RowKey] = &[
    key("class", Table::Jobs, "class", KeyKind::Word),
    key("pool", Table::Jobs, "pool", KeyKind::Word),
    key("user", Table::Jobs, "user", KeyKind::Word),
    key("name", Table::Jobs, "name", KeyKind::Word),
    key("job", Table::Jobs, "job", KeyKind::Number),
    key("maps", Table::Jobs, "maps", KeyKind::Number),
    key("reduces", Table::Jobs, "reduces", KeyKind::Number),
    key("time", Table::Jobs, "submit_ms", KeyKind::Time),
    key("outcome", Table::Jobs, "outcome", OUTCOMES),
    key("outcome", Table::Tasks, "outcome", ENDS),
    key("kind", Table::Tasks, "kind", KINDS),
    key("locality", Table::Tasks, "locality", KeyKind::Among(&["node", "rack", "off-rack"])),
    key("node", Table::Tasks, "node", KeyKind::Word),
    key("rack", Table::Tasks, "rack", KeyKind::Word),
    key("reason", Table::Tasks, "reason", KeyKind::Word),
    key("kind", Table::Timeline, "kind", KeyKind::Among(&["map", "reduce"])),
    key("time", Table::Timeline, "time_ms", KeyKind::Time),
];

impl RowKey {
    /// Returns whether it chooses jobs.
    pub(super) fn is_of_jobs(&self) -> bool {
        self.table == Table::Jobs
    }
}

impl Quantity {
    /// Returns the quantity of this name.
    pub(super) fn find(name: &str) -> Option<&'static Self> {
        QUANTITIES.iter().find(|quantity| quantity.name == name)
    }

    /// Returns the table whose rows it chooses from, besides those of the jobs.
    pub(super) const fn table(&self) -> Option<Table> {
        match self.source {
            Source::Summary(_) | Source::Histogram(_) => None,
            Source::Attempt(..) => Some(Table::Tasks),
            Source::Series(_) => Some(Table::Timeline),
            _ => Some(Table::Jobs),
        }
    }

    /// Returns the key of this name by which its rows can be chosen.
    pub(super) fn key(&self, name: &str) -> Option<&'static RowKey> {
        let table = self.table()?;
        let of = |table| ROW_KEYS.iter().find(|key| key.name == name && key.table == table);
        of(table).or_else(|| of(Table::Jobs))
    }
}
