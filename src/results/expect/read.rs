//! Reads quantities: chooses rows, turns columns into numbers, and gives each job a key.

use rustc_hash::{FxHashMap, FxHashSet};

use super::plan::{Filter, Selection};
use super::quantity::{KeyKind, NamedQuantity, QuantityShape, QuantitySource, ValueOf};
use super::value::{Evaluated, NoNumber, StepFunction, Value, ValueKey};
use crate::tables::{
    AttemptEnd, AttemptKind, AttemptRow, CellText, JobEnd, JobRow, NodeRow, ReadError, Results,
    SlotsRow, TableRow,
};
use mumakil_base::expression::Unit;
use mumakil_base::units::SimTime;
use mumakil_core::cluster::PerSlot;

/// A number for each job name. A name has the same number in all runs.
#[derive(Debug, Default)]
pub(super) struct JobNumbers(FxHashMap<String, u32>);

impl JobNumbers {
    fn number(&mut self, name: &str) -> u32 {
        if let Some(number) = self.0.get(name) {
            return *number;
        }
        let number = self.0.len() as u32;
        self.0.insert(name.to_owned(), number);
        number
    }
}

/// A job that the filters choose, with its key.
struct ChosenJob {
    row: JobRow,
    key: u32,
}

pub(super) fn read(
    quantity: &NamedQuantity,
    selection: &Selection,
    run: &dyn Results,
    names: &mut JobNumbers,
) -> Evaluated<Value> {
    let mut keys = selection.rows.iter().map(|filter| (filter.key.name, filter.key.file));
    let takes_all = !quantity.is_of_succeeded() || keys.any(|key| key == ("outcome", JobRow::FILE));
    let mut reader = QuantityReader { quantity, selection, takes_all, run, names };
    match quantity.source {
        QuantitySource::Summary(path) => match run.number(path)? {
            Some(number) => Ok(Value::One(number)),
            None => Err(NoNumber::Undefined(format!("there is no {}", quantity.name))),
        },
        QuantitySource::SummaryOrZero(key) => {
            Ok(Value::One(run.number_if_there(key)?.unwrap_or_default()))
        }
        QuantitySource::SummaryIfCounted(key) => run.number_if_there(key)?.map_or_else(
            || Err(NoNumber::Undefined(format!("{} is not counted", quantity.name))),
            |number| Ok(Value::One(number)),
        ),
        QuantitySource::Histogram(name) => Ok(Value::Samples(run.histogram(name)?)),
        QuantitySource::Job(of) => reader.jobs_value(of),
        QuantitySource::Locality(level) => reader.locality(level),
        QuantitySource::ReduceTime => reader.reduce_time(),
        QuantitySource::Attempt(of) => reader.attempts(of),
        QuantitySource::Series(of) => reader.series(of),
        QuantitySource::Node(of) => reader.nodes(of),
    }
}

struct QuantityReader<'a> {
    quantity: &'a NamedQuantity,
    selection: &'a Selection,
    /// Whether jobs that did not succeed have the quantity, too.
    takes_all: bool,
    run: &'a dyn Results,
    names: &'a mut JobNumbers,
}

impl<'a> QuantityReader<'a> {
    /// Returns the filters on columns of the table `R`. Each comes with the function that reads its
    /// column.
    fn filters<R: TableRow>(&self) -> Vec<(&'a Filter, ValueOf<R>)> {
        let of_table = self.selection.rows.iter().filter(|filter| filter.key.file == R::FILE);
        let with_columns = of_table.filter_map(|filter| {
            let column = R::COLUMNS.iter().find(|column| column.info.key == Some(filter.key.name));
            Some((filter, column?.value))
        });
        with_columns.collect()
    }

    /// Reads the chosen jobs, without the jobs that arrived in the warm-up.
    fn jobs(&mut self) -> Result<Vec<ChosenJob>, ReadError> {
        let warm_up = self.run.warm_up()?;
        let filters = self.filters::<JobRow>();
        let mut names: FxHashSet<CellText> = FxHashSet::default();
        let mut repeated = false;
        let mut jobs = Vec::new();
        self.run.rows(|row: JobRow| {
            // Look at all jobs, not only at the chosen jobs: keys must not depend on the filters.
            repeated |= !names.insert(row.name.clone());
            let counts = warm_up <= SimTime::from_micros(row.submit_ms * 1_000);
            if counts && fit(&filters, &row) {
                jobs.push(ChosenJob { row, key: 0 });
            }
            Ok(())
        })?;
        for job in &mut jobs {
            // Keys depend on whether any name repeats, which is known only now.
            job.key = self.key(repeated, &job.row.name, job.row.job);
        }
        Ok(jobs)
    }

    /// Returns the key of a job. Jobs of two runs are paired by their names; if names repeat in a
    /// run, the jobs are paired by their numbers.
    fn key(&mut self, repeated: bool, name: &str, id: u32) -> u32 {
        if repeated { self.names.number(&format!("#{id}")) } else { self.names.number(name) }
    }

    fn scale(&self) -> f64 {
        if self.quantity.unit == Unit::TIME { 1e-3 } else { 1.0 }
    }

    fn jobs_value(&mut self, of: ValueOf<JobRow>) -> Evaluated<Value> {
        if let Some(key) = self.quantity.record {
            self.run.expect_columns::<JobRow>(key)?;
        }
        let scale = self.scale();
        let is_always_there = self.quantity.record.is_none() || self.quantity.is_of_succeeded();
        let jobs = self.jobs()?;
        let numbers = jobs.into_iter().filter_map(|ChosenJob { row, key }| {
            let end = match self.quantity.shape {
                // Only the first job of a chain has the chain's number.
                QuantityShape::Chains => row.chain_outcome?,
                _ => row.outcome,
            };
            match of(&row).number().filter(|_| self.takes(end)) {
                Some(number) => Some((key, number * scale)),
                // NaN: means leave the job out, and it meets no condition.
                None if is_always_there => Some((key, f64::NAN)),
                // Some jobs have no such number; for example, a job that did not succeed has no
                // stragglers.
                None => None,
            }
        });
        Ok(by_job(numbers))
    }

    /// Returns whether a job with this end has the quantity.
    const fn takes(&self, end: JobEnd) -> bool {
        self.takes_all || end.is_measured()
    }

    fn locality(&mut self, level: usize) -> Evaluated<Value> {
        let mut sums = [0.0; 3];
        for job in self.jobs()? {
            for (sum, maps) in sums.iter_mut().zip(job.row.maps_by_distance()) {
                *sum += maps as f64;
            }
        }
        let whole: f64 = sums.iter().sum();
        // Without any map, neither 0 % nor 100 % would be true.
        if whole == 0.0 {
            return Err(NoNumber::Undefined("no map with input was chosen".to_owned()));
        }
        Ok(Value::One(sums[level] / whole))
    }

    fn reduce_time(&mut self) -> Evaluated<Value> {
        let filters = self.filters::<AttemptRow>();
        let mut spans: FxHashMap<u32, (f64, f64)> = FxHashMap::default();
        self.run.rows(|row: AttemptRow| {
            if row.kind == AttemptKind::Reduce && fit(&filters, &row) {
                // Begin with an empty span: the first reduce sets both ends.
                let span = spans.entry(row.job).or_insert((f64::INFINITY, f64::NEG_INFINITY));
                let millis = |instant: Option<u64>| instant.map(|millis| millis as f64);
                span.0 = span.0.min(millis(row.start_ms).unwrap_or(f64::INFINITY));
                span.1 = span.1.max(millis(row.finish_ms).unwrap_or(f64::NEG_INFINITY));
            }
            Ok(())
        })?;
        let jobs = self.jobs()?;
        let time = |job: ChosenJob| {
            let span = spans.get(&job.row.job).filter(|_| self.takes(job.row.outcome));
            span.map(|(from, to)| (job.key, (to - from) / 1e3))
        };
        Ok(by_job(jobs.into_iter().filter_map(time).filter(|(_, time)| time.is_finite())))
    }

    /// Reads the chosen attempts. Setup and cleanup tasks and removals of outputs count only if a
    /// filter chooses their kind.
    fn attempts(&mut self, of: ValueOf<AttemptRow>) -> Evaluated<Value> {
        let jobs: FxHashMap<u32, u32> =
            self.jobs()?.into_iter().map(|job| (job.row.job, job.key)).collect();
        let filters = self.filters::<AttemptRow>();
        let all_kinds = filters.iter().any(|(filter, _)| filter.key.name == "kind");
        let tasks = self.quantity.shape == QuantityShape::Tasks;
        let mut items = Vec::new();
        self.run.rows(|row: AttemptRow| {
            let is_work = matches!(row.kind, AttemptKind::Map | AttemptKind::Reduce);
            if let Some(job) = jobs.get(&row.job)
                && (is_work || all_kinds)
                && (!tasks || row.outcome == AttemptEnd::Succeeded)
                && fit(&filters, &row)
            {
                let attempt = if tasks { 0 } else { row.attempt };
                let key = ValueKey { job: *job, kind: row.kind as u8, task: row.task, attempt };
                items.push((key, of(&row).number().unwrap_or(f64::NAN) / 1e3));
            }
            Ok(())
        })?;
        // Use a stable sort: the attempts of a task must stay in the table's order for
        // `dedup_by_key`.
        items.sort_by_key(|(key, _)| *key);
        // If a task succeeded twice, because its first output was lost, the first success counts.
        items.dedup_by_key(|(key, _)| *key);
        Ok(Value::Keyed(items))
    }

    fn nodes(&mut self, of: ValueOf<NodeRow>) -> Evaluated<Value> {
        let (scale, filters) = (self.scale(), self.filters::<NodeRow>());
        let mut numbers = Vec::new();
        self.run.rows(|row: NodeRow| {
            if fit(&filters, &row) {
                let number = of(&row).number().unwrap_or(f64::NAN) * scale;
                numbers.push((self.names.number(&row.node), number));
            }
            Ok(())
        })?;
        Ok(by_job(numbers.into_iter()))
    }

    /// Reads the sum of the step functions of the chosen jobs and slot kinds, over the whole run.
    fn series(&mut self, of: ValueOf<SlotsRow>) -> Evaluated<Value> {
        let chosen = self.filters::<JobRow>();
        // Without a choice of jobs, `jobs.csv` is not needed.
        let jobs: Option<FxHashSet<u32>> = if chosen.is_empty() {
            None
        } else {
            let mut jobs = FxHashSet::default();
            self.run.rows(|row: JobRow| {
                if fit(&chosen, &row) {
                    jobs.insert(row.job);
                }
                Ok(())
            })?;
            Some(jobs)
        };
        let end = self.run.number("virtual_s")?.unwrap_or(f64::INFINITY);
        let filters = self.filters::<SlotsRow>();
        let (windows, kinds): (Vec<_>, Vec<_>) =
            filters.into_iter().partition(|(filter, _)| filter.key.kind == KeyKind::Time);
        let window = windows.first().and_then(|(filter, _)| filter.window());
        let (from, to) = window.unwrap_or((0.0, end));
        let mut levels: FxHashMap<u32, PerSlot<f64>> = FxHashMap::default();
        let (mut sum, mut changes) = (0.0, Vec::new());
        self.run.rows(|row: SlotsRow| {
            let of_job = jobs.as_ref().is_none_or(|jobs| jobs.contains(&row.job));
            if of_job && fit(&kinds, &row) {
                let level = of(&row).number().unwrap_or(0.0);
                let before = &mut levels.entry(row.job).or_default()[row.kind];
                // A row has the level of one job. The sum over jobs changes by the difference from
                // the job's previous level.
                sum += level - std::mem::replace(before, level);
                changes.push((row.time_ms as f64 / 1e3, sum));
            }
            Ok(())
        })?;
        // Of several changes in one millisecond, keep the last. `dedup` keeps the first of equals,
        // so reverse the list for it.
        changes.reverse();
        changes.dedup_by_key(|(at, _)| *at);
        changes.reverse();
        Ok(Value::Steps(StepFunction::new(&changes, from.max(0.0), to.min(end))))
    }
}

/// Returns whether all filters accept a row.
fn fit<R>(filters: &[(&Filter, ValueOf<R>)], row: &R) -> bool {
    filters.iter().all(|(filter, of)| filter.fits(of(row)))
}

fn by_job(numbers: impl Iterator<Item = (u32, f64)>) -> Value {
    let key = |(job, number)| (ValueKey { job, ..ValueKey::default() }, number);
    let mut items: Vec<(ValueKey, f64)> = numbers.map(key).collect();
    items.sort_unstable_by_key(|(key, _)| *key);
    Value::Keyed(items)
}
