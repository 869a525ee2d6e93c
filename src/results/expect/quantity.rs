//! The quantities that expressions name, and the source of each.
//!
//! Columns of tables declare themselves as quantities or keys ([`crate::tables`]). This file adds
//! quantities computed from several columns, the numbers of the summary, and the histograms.

use std::borrow::Cow;
use std::sync::LazyLock;

use crate::tables::{
    AttemptRow, CellKind, CellValue, ColumnInfo, JobRow, NodeRow, SlotMillis, SlotsRow, TableRow,
};
use mumakil_base::expression::Unit;

/// The shape of a quantity's value: one number for the run, one for each job, and so on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum QuantityShape {
    /// One number for a run.
    One,
    Jobs,
    /// One number for each chain of jobs.
    Chains,
    /// One number for each task that has succeeded.
    Tasks,
    Attempts,
    /// One number for each node.
    Nodes,
    /// A step function of time.
    Series,
    /// A histogram.
    Samples,
}

impl QuantityShape {
    pub(super) const fn word(self) -> &'static str {
        match self {
            Self::One => "one number",
            Self::Jobs => "a number for each job",
            Self::Chains => "a number for each chain of jobs",
            Self::Tasks => "a number for each task",
            Self::Attempts => "a number for each attempt",
            Self::Nodes => "a number for each node",
            Self::Series => "numbers over time",
            Self::Samples => "a histogram",
        }
    }
}

/// A quantity: its name, its shape, and its source.
#[derive(Debug)]
pub(super) struct NamedQuantity {
    pub(super) name: &'static str,
    pub(super) shape: QuantityShape,
    pub(super) unit: Unit,
    pub(super) source: QuantitySource,
    /// The key of `record` that adds its columns to their table; `None` if they are always there.
    pub(super) record: Option<&'static str>,
    pub(super) about: Cow<'static, str>,
}

impl PartialEq for NamedQuantity {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

/// The quantities that say how long a job takes. A job that did not succeed has no such time
/// ([`JobEnd::is_measured`]), unless a filter for `outcome` chooses jobs by their ends.
///
/// [`JobEnd::is_measured`]: crate::tables::JobEnd::is_measured
const OF_SUCCEEDED: [&str; 6] =
    ["sojourn", "run", "map_phase", "reduce_time", "slowdown", "chain.sojourn"];

/// A function that returns a value of a row.
pub(super) type ValueOf<R> = fn(&R) -> CellValue<'_>;

#[derive(Clone, Copy, Debug)]
pub(super) enum QuantitySource {
    /// A number of the summary.
    Summary(&'static str),
    /// A number of the summary that is left out if it is zero.
    SummaryOrZero(&'static str),
    Job(ValueOf<JobRow>),
    /// The time from the first start to the last end of a job's reduces.
    ReduceTime,
    /// The share of one locality level among all maps with input.
    Locality(usize),
    Attempt(ValueOf<AttemptRow>),
    Series(ValueOf<SlotsRow>),
    Node(ValueOf<NodeRow>),
    Histogram(&'static str),
}

const fn quantity(
    name: &'static str,
    shape: QuantityShape,
    unit: Unit,
    source: QuantitySource,
    about: &'static str,
) -> NamedQuantity {
    NamedQuantity { name, shape, unit, source, record: None, about: Cow::Borrowed(about) }
}

/// Returns a quantity whose columns are there only with a key of `record`.
const fn recorded(key: &'static str, mut quantity: NamedQuantity) -> NamedQuantity {
    quantity.record = Some(key);
    quantity
}

const fn number(name: &'static str, about: &'static str) -> NamedQuantity {
    quantity(name, QuantityShape::One, Unit::PLAIN, QuantitySource::Summary(name), about)
}

const fn summary(
    name: &'static str,
    unit: Unit,
    path: &'static str,
    about: &'static str,
) -> NamedQuantity {
    quantity(name, QuantityShape::One, unit, QuantitySource::Summary(path), about)
}

const fn histogram(name: &'static str, about: &'static str) -> NamedQuantity {
    quantity(name, QuantityShape::Samples, Unit::TIME, QuantitySource::Histogram(name), about)
}

const fn locality(name: &'static str, level: usize, about: &'static str) -> NamedQuantity {
    quantity(name, QuantityShape::One, Unit::SHARE, QuantitySource::Locality(level), about)
}

/// Returns the milliseconds from one instant to another.
fn between(from: Option<u64>, to: Option<u64>) -> CellValue<'static> {
    match (from, to) {
        // The result may be negative: instants that are truncated, or that come from a scaled
        // clock, may be in the wrong order.
        (Some(from), Some(to)) => CellValue::Decimal(to as f64 - from as f64),
        _ => CellValue::Empty,
    }
}

/// Returns the columns of a table that are quantities.
fn of_table<R: TableRow>(
    shape: QuantityShape,
    source: fn(ValueOf<R>) -> QuantitySource,
) -> impl Iterator<Item = NamedQuantity> {
    R::COLUMNS.iter().filter_map(move |column| {
        let ColumnInfo { quantity: name, record, about, .. } = column.info;
        let unit = match column.info.name {
            _ if column.info.is_time() => Unit::TIME,
            bytes if bytes.ends_with("_bytes") => Unit::BYTES,
            _ => Unit::PLAIN,
        };
        let about = Cow::Owned(as_part(about));
        Some(NamedQuantity {
            name: name?,
            shape,
            unit,
            source: source(column.value),
            record,
            about,
        })
    })
}

/// Returns a sentence for use inside another sentence: its first letter is small, and its full stop
/// is left out.
fn as_part(sentence: &str) -> String {
    let (first, rest) = sentence.split_at(sentence.chars().next().map_or(0, char::len_utf8));
    first.to_lowercase() + rest.trim_end_matches('.')
}

/// All quantities.
pub(super) static QUANTITIES: LazyLock<Vec<NamedQuantity>> = LazyLock::new(|| {
    of_table(QuantityShape::Jobs, QuantitySource::Job)
        .chain(OF_JOBS)
        .chain(of_table(QuantityShape::Attempts, QuantitySource::Attempt))
        .chain(OF_ATTEMPTS)
        .chain(of_table(QuantityShape::Nodes, QuantitySource::Node))
        .chain(OF_NODES)
        .chain(of_table(QuantityShape::Series, QuantitySource::Series))
        .chain(OF_RUNS)
        .collect()
});

/// Quantities of jobs that are not columns.
const OF_JOBS: [NamedQuantity; 5] = [
    quantity(
        "run",
        QuantityShape::Jobs,
        Unit::TIME,
        QuantitySource::Job(|job| between(job.first_launch_ms, job.finish_ms)),
        "from the launch of its first task to its end",
    ),
    quantity(
        "map_phase",
        QuantityShape::Jobs,
        Unit::TIME,
        QuantitySource::Job(|job| between(Some(job.submit_ms), job.maps_done_ms)),
        "from its arrival to the end of its last map",
    ),
    quantity(
        "reduce_time",
        QuantityShape::Jobs,
        Unit::TIME,
        QuantitySource::ReduceTime,
        "from the first start of a reduce to the last end of one",
    ),
    recorded(
        "alone",
        quantity(
            "slowdown",
            QuantityShape::Jobs,
            Unit::PLAIN,
            QuantitySource::Job(|job| {
                let times = job.sojourn_ms.zip(job.alone_ms);
                times.map_or(CellValue::Empty, |(sojourn, alone)| {
                    CellValue::Decimal(sojourn as f64 / alone as f64)
                })
            }),
            "its sojourn, divided by the one that it has alone on the cluster",
        ),
    ),
    recorded(
        "chains",
        quantity(
            "chain.sojourn",
            QuantityShape::Chains,
            Unit::TIME,
            QuantitySource::Job(|job| {
                job.chain_sojourn_ms.map_or(CellValue::Empty, CellValue::Whole)
            }),
            "from the first arrival to the last end of its jobs; chosen by its first job",
        ),
    ),
];

/// Quantities of attempts that are not columns.
const OF_ATTEMPTS: [NamedQuantity; 4] = [
    quantity(
        "attempt.time",
        QuantityShape::Attempts,
        Unit::TIME,
        QuantitySource::Attempt(|row| between(row.start_ms, row.finish_ms)),
        "from its start to its end",
    ),
    quantity(
        "attempt.sojourn",
        QuantityShape::Attempts,
        Unit::TIME,
        QuantitySource::Attempt(|row| between(row.launch_ms, row.heard_ms)),
        "from its launch to the instant at which the JobTracker hears of its end",
    ),
    quantity(
        "attempt.shuffled",
        QuantityShape::Attempts,
        Unit::TIME,
        QuantitySource::Attempt(|row| {
            let fetching = row.start_ms.zip(row.start_up_ms).map(|(start, up)| start + up);
            let shuffled = fetching.zip(row.shuffle_ms).map(|(at, took)| at + took);
            shuffled.map_or(CellValue::Empty, |at| CellValue::Decimal(at as f64))
        }),
        "when a reduce had fetched all outputs of maps",
    ),
    quantity(
        "task.time",
        QuantityShape::Tasks,
        Unit::TIME,
        QuantitySource::Attempt(|row| between(row.start_ms, row.finish_ms)),
        "how long its successful attempt took",
    ),
];

/// Quantities of nodes that are not columns.
const OF_NODES: [NamedQuantity; 2] = [
    quantity(
        "node.utilisation.map",
        QuantityShape::Nodes,
        Unit::SHARE,
        QuantitySource::Node(|row| part(row.map_busy_ms, row.map_slot_ms)),
        "the share of its map slots in use",
    ),
    quantity(
        "node.utilisation.reduce",
        QuantityShape::Nodes,
        Unit::SHARE,
        QuantitySource::Node(|row| part(row.reduce_busy_ms, row.reduce_slot_ms)),
        "the share of its reduce slots in use",
    ),
];

/// Returns a part of slot time as a share.
fn part(part: SlotMillis, whole: SlotMillis) -> CellValue<'static> {
    match whole.0 {
        0 => CellValue::Empty,
        whole => CellValue::Decimal(part.0 as f64 / whole as f64),
    }
}

/// Quantities of runs.
const OF_RUNS: [NamedQuantity; 44] = [
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
        "maps_wait",
        Unit::SHARE,
        "maps_wait",
        "the share of the slot time of reduces for which they wait in their slots for maps",
    ),
    summary(
        "offered_load.map",
        Unit::PLAIN,
        "load.offered.map",
        "the slot time that maps ask for while jobs arrive, over that of the map slots",
    ),
    summary(
        "offered_load.reduce",
        Unit::PLAIN,
        "load.offered.reduce",
        "the slot time that reduces ask for while jobs arrive, over that of the reduce slots",
    ),
    summary(
        "backlog_growth.map",
        Unit::PLAIN,
        "load.growth.map",
        "by how many slots' work the waiting maps grow while jobs arrive",
    ),
    summary(
        "backlog_growth.reduce",
        Unit::PLAIN,
        "load.growth.reduce",
        "by how many slots' work the waiting reduces grow while jobs arrive",
    ),
    summary(
        "overloaded",
        Unit::PLAIN,
        "load.overloaded",
        "1 if the waiting work grew, 0 if not; the mean over seeds is the share of such runs",
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
    quantity(
        "jobs_refused",
        QuantityShape::One,
        Unit::PLAIN,
        QuantitySource::SummaryOrZero("jobs_refused"),
        "those that the policy refused at their submission",
    ),
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

/// A key with which filters choose rows: a column of a table.
#[derive(Clone, Copy, Debug)]
pub(super) struct RowKey {
    pub(super) name: &'static str,
    /// The file of the table.
    pub(super) file: &'static str,
    pub(super) kind: KeyKind,
}

impl PartialEq for RowKey {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name && self.file == other.file
    }
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

/// All keys. If two tables have a column of the same name, quantities of attempts use the attempt's
/// column, and all other quantities use the job's column.
pub(super) static ROW_KEYS: LazyLock<Vec<RowKey>> = LazyLock::new(|| {
    keys_of::<JobRow>()
        .chain(keys_of::<AttemptRow>())
        .chain(keys_of::<SlotsRow>())
        .chain(keys_of::<NodeRow>())
        .collect()
});

/// Returns the keys of a table.
fn keys_of<R: TableRow>() -> impl Iterator<Item = RowKey> {
    R::COLUMNS.iter().filter_map(|column| {
        let kind = match column.info.kind {
            CellKind::Words(words) => KeyKind::Among(words),
            CellKind::Text | CellKind::Flag => KeyKind::Word,
            // A column whose name ends in `_ms` is a time.
            CellKind::Whole | CellKind::Decimal if column.info.is_time() => KeyKind::Time,
            CellKind::Whole | CellKind::SlotTime | CellKind::Decimal => KeyKind::Number,
        };
        Some(RowKey { name: column.info.key?, file: R::FILE, kind })
    })
}

impl NamedQuantity {
    /// Returns the quantity of this name; `None` if it is unknown.
    pub(super) fn find(name: &str) -> Option<&'static Self> {
        QUANTITIES.iter().find(|quantity| quantity.name == name)
    }

    /// Returns whether only jobs that succeeded have the quantity, unless a filter for `outcome`
    /// chooses jobs by their ends.
    pub(super) fn is_of_succeeded(&self) -> bool {
        OF_SUCCEEDED.contains(&self.name)
    }

    /// Returns what the quantity is in words: `a number for each job`.
    pub(super) fn word(&self) -> &'static str {
        match self.shape {
            QuantityShape::Jobs if self.is_of_succeeded() => {
                "a number for each job that succeeded; a filter for `outcome` chooses others"
            }
            QuantityShape::Chains => {
                "a number for each chain whose jobs succeeded; a filter for `outcome` chooses others"
            }
            shape => shape.word(),
        }
    }

    /// Returns the file of the table that the quantity reads, besides `jobs.csv`; `None` for a
    /// number of the summary or a histogram.
    pub(super) const fn table(&self) -> Option<&'static str> {
        match self.source {
            QuantitySource::Summary(_)
            | QuantitySource::SummaryOrZero(_)
            | QuantitySource::Histogram(_) => None,
            QuantitySource::Attempt(_) => Some(AttemptRow::FILE),
            QuantitySource::Series(_) => Some(SlotsRow::FILE),
            QuantitySource::Node(_) => Some(NodeRow::FILE),
            _ => Some(JobRow::FILE),
        }
    }

    /// Returns the key with this name; `None` if it cannot choose rows of this quantity.
    pub(super) fn key(&self, name: &str) -> Option<&'static RowKey> {
        let table = self.table()?;
        let of = |table| ROW_KEYS.iter().find(|key| key.name == name && key.file == table);
        // Look in the quantity's own table first: the `outcome` of an attempt is not the `outcome`
        // of its job.
        // A node has no job.
        let jobs = (table != NodeRow::FILE).then_some(JobRow::FILE);
        of(table).or_else(|| of(jobs?))
    }
}
