//! What can be asked for by name, and where it is read.

use super::source::Table;
use super::unit::Unit;

/// What a number is of: the run, each of its jobs, and so on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    /// One a run.
    One,
    Jobs,
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

const fn quantity(name: &'static str, shape: Shape, unit: Unit, source: Source) -> Quantity {
    Quantity { name, shape, unit, source }
}

const fn number(name: &'static str) -> Quantity {
    quantity(name, Shape::One, Unit::PLAIN, Source::Summary(name))
}

const fn histogram(name: &'static str) -> Quantity {
    quantity(name, Shape::Samples, Unit::TIME, Source::Histogram(name))
}

const fn series(name: &'static str, column: &'static str) -> Quantity {
    quantity(name, Shape::Series, Unit::PLAIN, Source::Series(column))
}

const fn count(name: &'static str) -> Quantity {
    quantity(name, Shape::Jobs, Unit::PLAIN, Source::Job(name, None))
}

const fn job(name: &'static str, to: &'static str, from: Option<&'static str>) -> Quantity {
    quantity(name, Shape::Jobs, Unit::TIME, Source::Job(to, from))
}

const fn attempt(name: &'static str, to: &'static str, from: Option<&'static str>) -> Quantity {
    quantity(name, Shape::Attempts, Unit::TIME, Source::Attempt(to, from))
}

const fn locality(name: &'static str, level: usize) -> Quantity {
    quantity(name, Shape::One, Unit::SHARE, Source::Locality(level))
}

pub(super) const QUANTITIES: &[Quantity] = &[
    job("sojourn", "sojourn_ms", None),
    job("wait", "wait_ms", None),
    job("run", "finish_ms", Some("first_launch_ms")),
    job("map_phase", "maps_done_ms", Some("submit_ms")),
    job("submit", "submit_ms", None),
    job("finish", "finish_ms", None),
    quantity("reduce_time", Shape::Jobs, Unit::TIME, Source::ReduceTime),
    quantity("slowdown", Shape::Jobs, Unit::PLAIN, Source::Slowdown),
    count("maps"),
    count("reduces"),
    count("failed"),
    count("killed"),
    count("suspended"),
    locality("locality.node", 0),
    locality("locality.rack", 1),
    locality("locality.off_rack", 2),
    attempt("attempt.time", "finish_ms", Some("start_ms")),
    attempt("attempt.start", "start_ms", None),
    attempt("attempt.finish", "finish_ms", None),
    attempt("attempt.commit", "commit_ms", None),
    attempt("attempt.suspended", "suspended_ms", None),
    quantity("task.time", Shape::Tasks, Unit::TIME, Source::Attempt("finish_ms", Some("start_ms"))),
    series("slots", "slots"),
    series("running", "running"),
    series("pending", "pending"),
    series("suspended_tasks", "suspended"),
    quantity("makespan", Shape::One, Unit::TIME, Source::Summary("makespan_s")),
    quantity("virtual", Shape::One, Unit::TIME, Source::Summary("virtual_s")),
    quantity("utilisation.map", Shape::One, Unit::SHARE, Source::Summary("slot_utilisation.map")),
    quantity(
        "utilisation.reduce",
        Shape::One,
        Unit::SHARE,
        Source::Summary("slot_utilisation.reduce"),
    ),
    number("nodes"),
    number("map_slots"),
    number("reduce_slots"),
    number("jobs"),
    number("jobs_succeeded"),
    number("jobs_failed"),
    number("jobs_killed"),
    number("attempts"),
    number("heartbeats"),
    number("messages"),
    histogram("heartbeat_rtt"),
    histogram("jobtracker_queue"),
    histogram("slot_idle"),
    histogram("job_wait"),
    histogram("job_sojourn"),
    histogram("task_wait"),
    histogram("locality_wait"),
    histogram("commit_delay"),
    histogram("suspension"),
    histogram("preemption_to_launch"),
    histogram("clock_lag"),
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
    key("outcome", Table::Tasks, "outcome", OUTCOMES),
    key("kind", Table::Tasks, "kind", KeyKind::Among(&["map", "reduce", "setup", "cleanup"])),
    key("locality", Table::Tasks, "locality", KeyKind::Among(&["node", "rack", "off-rack"])),
    key("node", Table::Tasks, "node", KeyKind::Word),
    key("rack", Table::Tasks, "rack", KeyKind::Word),
    key("reason", Table::Tasks, "reason", KeyKind::Word),
    key("kind", Table::Timeline, "kind", KeyKind::Among(&["map", "reduce"])),
    key("time", Table::Timeline, "time_ms", KeyKind::Time),
];

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
