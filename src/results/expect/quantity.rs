//! The quantities that expressions name, and the source of each.
//!
//! Columns of tables declare themselves as quantities or keys ([`crate::tables`]). This file adds
//! quantities computed from several columns, the numbers of the summary, and the histograms.

use std::sync::LazyLock;

use crate::tables::{
    AttemptRow, CellKind, CellValue, ColumnInfo, JobRow, NodeRow, SlotMillis, SlotsRow, TableRow,
};
use mumakil_base::expression::Unit;

/// The shape of a quantity's value: one number for each job, one for the run, and so on. Lists of
/// quantities are in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum QuantityShape {
    Jobs,
    /// One number for each chain of jobs.
    Chains,
    Attempts,
    /// One number for each task that has succeeded.
    Tasks,
    /// One number for each node.
    Nodes,
    /// A step function of time.
    Series,
    /// One number for a run.
    One,
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
    pub(super) about: String,
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
    /// A number of the summary that only some scenarios count.
    SummaryIfCounted(&'static str),
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

/// Returns the milliseconds from one instant to another.
fn between(from: Option<u64>, to: Option<u64>) -> CellValue<'static> {
    // The result may be negative: instants that are truncated, or that come from a scaled clock, may
    // be in the wrong order.
    number(from.zip(to).map(|(from, to)| to as f64 - from as f64))
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
            // One or zero, whose mean is a share.
            "missed" | "memory_share" | "cores_share" => Unit::SHARE,
            _ => Unit::PLAIN,
        };
        let about = as_part(about);
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

/// All quantities, in the order of their shapes; columns come first.
pub(super) static QUANTITIES: LazyLock<Vec<NamedQuantity>> = LazyLock::new(|| {
    let mut all: Vec<NamedQuantity> = of_table(QuantityShape::Jobs, QuantitySource::Job)
        .chain(of_table(QuantityShape::Attempts, QuantitySource::Attempt))
        .chain(of_table(QuantityShape::Nodes, QuantitySource::Node))
        .chain(of_table(QuantityShape::Series, QuantitySource::Series))
        .chain(computed())
        .collect();
    all.sort_by_key(|quantity| quantity.shape);
    all
});

/// Makes a list of quantities. Each has a sentence, the key of `record` without which it does not
/// exist, a name, a shape, a unit, and a source.
macro_rules! quantities {
    ($(
        $(#[doc = $about:literal])*
        $(#[record = $record:literal])?
        $name:literal: $Shape:ident, $UNIT:ident = $Source:ident $(($from:expr))?;
    )*) => {
        vec![$(NamedQuantity {
            name: $name,
            shape: QuantityShape::$Shape,
            unit: Unit::$UNIT,
            source: QuantitySource::$Source $(($from))?,
            record: [$(Some($record),)? None][0],
            about: as_part(concat!($($about),*).trim_ascii()),
        },)*]
    };
}

/// Returns the quantities that are not columns.
fn computed() -> Vec<NamedQuantity> {
    quantities! {
        /// From the launch of its first task to its end.
        "run": Jobs, TIME = Job(|job| between(job.first_launch_ms, job.finish_ms));
        /// From its arrival to the end of its last map.
        "map_phase": Jobs, TIME = Job(|job| between(Some(job.submit_ms), job.maps_done_ms));
        /// From the first start of a reduce to the last end of one.
        "reduce_time": Jobs, TIME = ReduceTime;
        /// Its sojourn, divided by the one that it has alone on the cluster.
        #[record = "alone"]
        "slowdown": Jobs, PLAIN = Job(|job| {
            let times = job.sojourn_ms.zip(job.alone_ms);
            number(times.map(|(sojourn, alone)| sojourn as f64 / alone as f64))
        });
        /// From the first arrival to the last end of its jobs; chosen by its first job.
        #[record = "chains"]
        "chain.sojourn": Chains, TIME = Job(|job| number(job.chain_sojourn_ms.map(|ms| ms as f64)));
        /// From its start to its end.
        "attempt.time": Attempts, TIME = Attempt(|row| between(row.start_ms, row.finish_ms));
        /// From its launch to the instant at which the JobTracker hears of its end.
        "attempt.sojourn": Attempts, TIME = Attempt(|row| between(row.launch_ms, row.heard_ms));
        /// When a reduce had fetched all outputs of maps.
        "attempt.shuffled": Attempts, TIME = Attempt(|row| {
            let fetching = row.start_ms.zip(row.start_up_ms).map(|(start, up)| start + up);
            number(fetching.zip(row.shuffle_ms).map(|(at, took)| (at + took) as f64))
        });
        /// How long its successful attempt took.
        "task.time": Tasks, TIME = Attempt(|row| between(row.start_ms, row.finish_ms));
        /// The share of its map slots in use.
        "node.utilisation.map": Nodes, SHARE = Node(|row| part(row.map_busy_ms, row.map_slot_ms));
        /// The share of its reduce slots in use.
        "node.utilisation.reduce": Nodes, SHARE =
            Node(|row| part(row.reduce_busy_ms, row.reduce_slot_ms));
        /// From the first arrival to the last end of a job.
        "makespan": One, TIME = Summary("makespan_s");
        /// How long the cluster ran.
        "virtual": One, TIME = Summary("virtual_s");
        /// The share of maps that read on their node.
        "locality.node": One, SHARE = Locality(0);
        /// The share of maps that read in their rack.
        "locality.rack": One, SHARE = Locality(1);
        /// The share of maps that read elsewhere.
        "locality.off_rack": One, SHARE = Locality(2);
        /// The share of map slots in use.
        "utilisation.map": One, SHARE = Summary("slot_utilisation.map");
        /// The share of reduce slots in use.
        "utilisation.reduce": One, SHARE = Summary("slot_utilisation.reduce");
        /// The share of memory that attempts hold, where `cluster.resources` counts it.
        "utilisation.memory": One, SHARE = SummaryIfCounted("resource_utilisation.memory");
        /// The share of cores that attempts hold, where `cluster.resources` counts them.
        "utilisation.cores": One, SHARE = SummaryIfCounted("resource_utilisation.cores");
        /// The energy of all nodes in kWh, where `cluster.watts` counts it.
        "energy": One, PLAIN = SummaryIfCounted("energy_kwh");
        /// The price of all nodes for the hours of the run, where `cluster.price` has one.
        "cost": One, PLAIN = SummaryIfCounted("cost");
        /// The share of the slot time of reduces for which they wait in their slots for maps.
        "maps_wait": One, SHARE = Summary("maps_wait");
        /// The slot time that maps ask for while jobs arrive, over that of the map slots.
        "offered_load.map": One, PLAIN = Summary("load.offered.map");
        /// The slot time that reduces ask for while jobs arrive, over that of the reduce slots.
        "offered_load.reduce": One, PLAIN = Summary("load.offered.reduce");
        /// By how many slots' work the waiting maps grow while jobs arrive.
        "backlog_growth.map": One, PLAIN = Summary("load.growth.map");
        /// By how many slots' work the waiting reduces grow while jobs arrive.
        "backlog_growth.reduce": One, PLAIN = Summary("load.growth.reduce");
        /// 1 if the waiting work grew, 0 if not; the mean over seeds is the share of such runs.
        "overloaded": One, PLAIN = Summary("load.overloaded");
        /// The share of useful slot time in that of all attempts that ended.
        "goodput": One, SHARE = Summary("waste.goodput");
        /// Slot time of attempts that failed.
        "waste.failed": One, TIME = Summary("waste.failed_s");
        /// Slot time of attempts that were slower than another one of their task.
        "waste.speculative": One, TIME = Summary("waste.speculative_s");
        /// Slot time of attempts that were lost with their tracker, or whose output was.
        "waste.lost": One, TIME = Summary("waste.lost_s");
        /// Slot time of attempts that were killed though their job went on.
        "waste.preempted": One, TIME = Summary("waste.preempted_s");
        /// Slot time of jobs that failed or were killed.
        "waste.killed": One, TIME = Summary("waste.killed_s");
        /// The nodes of the cluster.
        "nodes": One, PLAIN = Summary("nodes");
        /// Its map slots.
        "map_slots": One, PLAIN = Summary("map_slots");
        /// Its reduce slots.
        "reduce_slots": One, PLAIN = Summary("reduce_slots");
        /// The jobs that arrived.
        "jobs": One, PLAIN = Summary("jobs");
        /// Those that succeeded.
        "jobs_succeeded": One, PLAIN = Summary("jobs_succeeded");
        /// Those that failed.
        "jobs_failed": One, PLAIN = Summary("jobs_failed");
        /// Those that were killed.
        "jobs_killed": One, PLAIN = Summary("jobs_killed");
        /// Those that the policy refused at their submission.
        "jobs_refused": One, PLAIN = SummaryOrZero("jobs_refused");
        /// The attempts of maps and reduces.
        "attempts": One, PLAIN = Summary("attempts");
        /// Those that failed.
        "attempts_failed": One, PLAIN = Summary("attempts_failed");
        /// Those that were killed, and maps that were lost.
        "attempts_killed": One, PLAIN = Summary("attempts_killed");
        /// How often attempts were suspended.
        "suspensions": One, PLAIN = Summary("suspensions");
        /// The heartbeats that the JobTracker served.
        "heartbeats": One, PLAIN = Summary("heartbeats");
        /// The messages between actors.
        "messages": One, PLAIN = Summary("messages");
        /// From a heartbeat to its reply.
        "heartbeat_rtt": Samples, TIME = Histogram("heartbeat_rtt");
        /// How long heartbeats wait for the JobTracker.
        "jobtracker_queue": Samples, TIME = Histogram("jobtracker_queue");
        /// How long slots are free between tasks.
        "slot_idle": Samples, TIME = Histogram("slot_idle");
        /// The waits of jobs.
        "job_wait": Samples, TIME = Histogram("job_wait");
        /// The sojourns of jobs.
        "job_sojourn": Samples, TIME = Histogram("job_sojourn");
        /// How long tasks wait for a slot.
        "task_wait": Samples, TIME = Histogram("task_wait");
        /// How long jobs without input nearby are passed over.
        "locality_wait": Samples, TIME = Histogram("locality_wait");
        /// From the end of the work to the end of the commit.
        "commit_delay": Samples, TIME = Histogram("commit_delay");
        /// How long attempts are suspended.
        "suspension": Samples, TIME = Histogram("suspension");
        /// From the order to take a slot to the launch of the task that gets it.
        "preemption_to_launch": Samples, TIME = Histogram("preemption_to_launch");
        /// From the allocation of a container until its master gets it (YARN).
        "acquisition": Samples, TIME = Histogram("acquisition");
        /// From then until it begins on its node (YARN).
        "container_launch": Samples, TIME = Histogram("container_launch");
        /// How late a scaled clock is.
        "clock_lag": Samples, TIME = Histogram("clock_lag");
    }
}

fn number(number: Option<f64>) -> CellValue<'static> {
    number.map_or(CellValue::Empty, CellValue::Decimal)
}

/// Returns a part of slot time as a share.
fn part(part: SlotMillis, whole: SlotMillis) -> CellValue<'static> {
    number((whole.0 != 0).then(|| part.0 as f64 / whole.0 as f64))
}

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
            | QuantitySource::SummaryIfCounted(_)
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
