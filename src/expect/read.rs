//! Quantities are read: rows chosen, columns made into numbers, jobs into keys.

use rustc_hash::{FxHashMap, FxHashSet};

use super::plan::{ALONE, ATTEMPT, CHAIN, CHANGE, Filter, JOB, Selection, WASTE};
use super::quantity::{KeyKind, LOCALITIES, Quantity, Shape, Source};
use super::source::{ReadError, Results, Row, Table};
use super::unit::Unit;
use super::value::{Evaluated, Key, NoNumber, Steps, Value};

/// Numbers for the names of jobs, the same in all runs.
#[derive(Debug, Default)]
pub(super) struct Names(FxHashMap<String, u32>);

impl Names {
    fn number(&mut self, name: &str) -> u32 {
        if let Some(number) = self.0.get(name) {
            return *number;
        }
        let number = self.0.len() as u32;
        self.0.insert(name.to_owned(), number);
        number
    }
}

/// A job that was chosen.
struct Job {
    id: u32,
    key: u32,
    numbers: Vec<f64>,
}

/// Reads a quantity of a run.
pub(super) fn read(
    quantity: &Quantity,
    selection: &Selection,
    run: &dyn Results,
    names: &mut Names,
) -> Evaluated<Value> {
    let mut reader = Reader { quantity, selection, run, names };
    match quantity.source {
        Source::Summary(path) => match run.number(path)? {
            Some(number) => Ok(Value::One(number)),
            None => Err(NoNumber::Undefined(format!("there is no {}", quantity.name))),
        },
        Source::Histogram(name) => Ok(Value::Samples(run.histogram(name)?)),
        Source::Job(..) => reader.jobs_value(),
        Source::Slowdown => reader.slowdown(),
        Source::Chain => reader.chains(),
        Source::Waste(column) => reader.waste(column),
        Source::Locality(level) => reader.locality(level),
        Source::ReduceTime => reader.reduce_time(),
        Source::Attempt(..) => reader.attempts(),
        Source::Series(column) => reader.series(column),
    }
}

struct Reader<'a> {
    quantity: &'a Quantity,
    selection: &'a Selection,
    run: &'a dyn Results,
    names: &'a mut Names,
}

impl<'a> Reader<'a> {
    fn filters(&self, table: Table) -> Vec<&'a Filter> {
        self.selection.rows.iter().filter(|filter| filter.key.table == table).collect()
    }

    fn columns(&self, table: Table) -> Vec<&'static str> {
        let columns = self.quantity.columns().into_iter();
        columns.filter(|(of, _)| *of == table).map(|(_, column)| column).collect()
    }

    /// Shows the rows of a table that all its filters choose. First stand the `leading` columns,
    /// then those of the quantity.
    fn chosen(
        &self,
        table: Table,
        leading: &[&'static str],
        mut see: impl FnMut(&Row<'_>, bool) -> Result<(), String>,
    ) -> Result<(), ReadError> {
        let filters = self.filters(table);
        let mut columns = leading.to_vec();
        columns.extend(self.columns(table));
        let first = columns.len();
        columns.extend(filters.iter().map(|filter| filter.key.column));
        self.run.rows(table, &columns, &mut |row| {
            let mut tests = (first..).zip(&filters);
            see(row, tests.all(|(column, filter)| filter.fits(row.text(column))))
        })
    }

    /// Reads the jobs that are chosen, those of the warm-up not among them.
    fn jobs(&mut self) -> Result<Vec<Job>, ReadError> {
        let warm_up = self.run.warm_up()?.as_micros() as f64 / 1e3;
        let wanted = JOB.len()..JOB.len() + self.columns(Table::Jobs).len();
        let mut names: FxHashSet<String> = FxHashSet::default();
        let mut repeated = false;
        let mut jobs = Vec::new();
        let see = |row: &Row<'_>, chosen: bool| {
            let id = row.id(0)?;
            repeated |= !names.insert(row.text(1).to_owned());
            if chosen && warm_up <= row.number(2)?.unwrap_or(f64::INFINITY) {
                let number = |column| Ok(row.number(column)?.unwrap_or(f64::NAN));
                let numbers = wanted.clone().map(number).collect::<Result<_, String>>()?;
                jobs.push((row.text(1).to_owned(), Job { id, key: 0, numbers }));
            }
            Ok(())
        };
        self.chosen(Table::Jobs, &JOB, see)?;
        let key = |(name, mut job): (String, Job)| {
            job.key = self.key(repeated, &name, job.id);
            job
        };
        Ok(jobs.into_iter().map(key).collect())
    }

    /// Jobs are the same in two runs if their names are; where names repeat, if their numbers are.
    fn key(&mut self, repeated: bool, name: &str, id: u32) -> u32 {
        if repeated { self.names.number(&format!("#{id}")) } else { self.names.number(name) }
    }

    fn scale(&self) -> f64 {
        if self.quantity.unit == Unit::TIME { 1e-3 } else { 1.0 }
    }

    fn jobs_value(&mut self) -> Evaluated<Value> {
        let scale = self.scale();
        let number = |job: Job| (job.key, less(&job.numbers) * scale);
        Ok(by_job(self.jobs()?.into_iter().map(number)))
    }

    fn slowdown(&mut self) -> Evaluated<Value> {
        let mut rows: Vec<(String, u32, f64)> = Vec::new();
        let mut names: FxHashSet<String> = FxHashSet::default();
        let mut repeated = false;
        self.run.rows(Table::Alone, &ALONE, &mut |row| {
            repeated |= !names.insert(row.text(1).to_owned());
            let alone = row.number(2)?.unwrap_or(f64::NAN);
            rows.push((row.text(1).to_owned(), row.id(0)?, alone));
            Ok(())
        })?;
        let alone: FxHashMap<u32, f64> = rows
            .into_iter()
            .map(|(name, id, alone)| (self.key(repeated, &name, id), alone))
            .collect();
        let slowdown = |job: Job| {
            let alone = alone.get(&job.key).copied().unwrap_or(f64::NAN);
            (job.key, job.numbers[0] / alone)
        };
        Ok(by_job(self.jobs()?.into_iter().map(slowdown)))
    }

    fn chains(&mut self) -> Evaluated<Value> {
        let mut sojourns: FxHashMap<u32, f64> = FxHashMap::default();
        self.run.rows(Table::Chains, &CHAIN, &mut |row| {
            sojourns.insert(row.id(0)?, row.number(1)?.unwrap_or(f64::NAN) / 1e3);
            Ok(())
        })?;
        // A job that begins no chain has no number.
        let sojourn = |job: Job| Some((job.key, *sojourns.get(&job.id)?));
        Ok(by_job(self.jobs()?.into_iter().filter_map(sojourn)))
    }

    fn waste(&mut self, column: &'static str) -> Evaluated<Value> {
        let scale = self.scale();
        let mut numbers: FxHashMap<u32, f64> = FxHashMap::default();
        self.run.rows(Table::Waste, &[WASTE[0], column], &mut |row| {
            numbers.insert(row.id(0)?, row.number(1)?.unwrap_or(f64::NAN) * scale);
            Ok(())
        })?;
        // A job that did not succeed has no stragglers.
        let number = |job: Job| Some((job.key, *numbers.get(&job.id)?));
        let numbers = self.jobs()?.into_iter().filter_map(number);
        Ok(by_job(numbers.filter(|(_, number)| !number.is_nan())))
    }

    fn locality(&mut self, level: usize) -> Evaluated<Value> {
        let mut sums = [0.0; LOCALITIES.len()];
        for job in self.jobs()? {
            for (sum, number) in sums.iter_mut().zip(job.numbers) {
                *sum += if number.is_nan() { 0.0 } else { number };
            }
        }
        let whole: f64 = sums.iter().sum();
        if whole == 0.0 {
            return Err(NoNumber::Undefined("no map with input was chosen".to_owned()));
        }
        Ok(Value::One(sums[level] / whole))
    }

    fn reduce_time(&mut self) -> Evaluated<Value> {
        let mut spans: FxHashMap<u32, (f64, f64)> = FxHashMap::default();
        self.chosen(Table::Tasks, &ATTEMPT, |row, chosen| {
            if chosen && row.text(1) == "reduce" {
                let span = spans.entry(row.id(0)?).or_insert((f64::INFINITY, f64::NEG_INFINITY));
                let [finish, start] = [row.number(4)?, row.number(5)?];
                span.0 = span.0.min(start.unwrap_or(f64::INFINITY));
                span.1 = span.1.max(finish.unwrap_or(f64::NEG_INFINITY));
            }
            Ok(())
        })?;
        let time = |job: Job| spans.get(&job.id).map(|(from, to)| (job.key, (to - from) / 1e3));
        Ok(by_job(self.jobs()?.into_iter().filter_map(time).filter(|(_, time)| time.is_finite())))
    }

    /// Attempts of setup and cleanup tasks, and removals of outputs, count only where their kind is chosen.
    fn attempts(&mut self) -> Evaluated<Value> {
        let jobs: FxHashMap<u32, u32> =
            self.jobs()?.into_iter().map(|job| (job.id, job.key)).collect();
        let all_kinds = self.filters(Table::Tasks).iter().any(|filter| filter.key.name == "kind");
        let tasks = self.quantity.shape == Shape::Tasks;
        let numbers = ATTEMPT.len()..ATTEMPT.len() + self.columns(Table::Tasks).len();
        let numbers = numbers.start..numbers.end - usize::from(tasks);
        let mut items = Vec::new();
        self.chosen(Table::Tasks, &ATTEMPT, |row, chosen| {
            let Some(job) = jobs.get(&row.id(0)?).filter(|_| chosen) else { return Ok(()) };
            let kind = match row.text(1) {
                "map" => 0,
                "reduce" => 1,
                _ if !all_kinds => return Ok(()),
                "setup" => 2,
                "cleanup" => 3,
                "map-cleanup" => 4,
                _ => 5,
            };
            if tasks && row.text(numbers.end) != "succeeded" {
                return Ok(());
            }
            let number = |column| Ok(row.number(column)?.unwrap_or(f64::NAN));
            let numbers = numbers.clone().map(number).collect::<Result<Vec<_>, String>>()?;
            let attempt = if tasks { 0 } else { row.id(3)? };
            let key = Key { job: *job, kind, task: row.id(2)?, attempt };
            items.push((key, less(&numbers) / 1e3));
            Ok(())
        })?;
        items.sort_by_key(|(key, _)| *key);
        // Of a task that succeeded twice, since its first output was lost, the first counts.
        items.dedup_by_key(|(key, _)| *key);
        Ok(Value::Keyed(items))
    }

    /// The sum of the step functions of the jobs and kinds that are chosen, over the whole run.
    fn series(&mut self, column: &'static str) -> Evaluated<Value> {
        let jobs: Option<FxHashSet<u32>> = if self.filters(Table::Jobs).is_empty() {
            None
        } else {
            let mut jobs = FxHashSet::default();
            self.chosen(Table::Jobs, &JOB, |row, chosen| {
                if chosen {
                    jobs.insert(row.id(0)?);
                }
                Ok(())
            })?;
            Some(jobs)
        };
        let end = self.run.number("virtual_s")?.unwrap_or(f64::INFINITY);
        let is_window = |filter: &&&Filter| filter.key.kind == KeyKind::Time;
        let filters = self.filters(Table::Timeline);
        let (from, to) =
            filters.iter().find(is_window).and_then(|filter| filter.window()).unwrap_or((0.0, end));
        let kinds: Vec<&&Filter> =
            filters.iter().filter(|filter| filter.key.kind != KeyKind::Time).collect();
        let mut levels: FxHashMap<(u32, String), f64> = FxHashMap::default();
        let (mut sum, mut changes) = (0.0, Vec::new());
        let columns = [CHANGE[0], CHANGE[1], CHANGE[2], column];
        self.run.rows(Table::Timeline, &columns, &mut |row| {
            let job = row.id(2)?;
            let of_job = jobs.as_ref().is_none_or(|jobs| jobs.contains(&job));
            if of_job && kinds.iter().all(|filter| filter.fits(row.text(1))) {
                let level = row.number(3)?.unwrap_or(0.0);
                let before = levels.insert((job, row.text(1).to_owned()), level).unwrap_or(0.0);
                sum += level - before;
                changes.push((row.number(0)?.unwrap_or(0.0) / 1e3, sum));
            }
            Ok(())
        })?;
        // What changed in the same millisecond, changed at once.
        changes.reverse();
        changes.dedup_by_key(|(at, _)| *at);
        changes.reverse();
        Ok(Value::Steps(Steps::new(&changes, from.max(0.0), to.min(end))))
    }
}

/// Returns the number of the first column, less that of the second if there is one.
fn less(numbers: &[f64]) -> f64 {
    match numbers {
        [to, from] => to - from,
        [number, ..] => *number,
        [] => f64::NAN,
    }
}

fn by_job(numbers: impl Iterator<Item = (u32, f64)>) -> Value {
    let key = |(job, number)| (Key { job, ..Key::default() }, number);
    let mut items: Vec<(Key, f64)> = numbers.map(key).collect();
    items.sort_unstable_by_key(|(key, _)| *key);
    Value::Keyed(items)
}
