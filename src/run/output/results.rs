//! Reads the files of a run.
//!
//! A file is read only when it is needed. Tables are read row by row. Summaries are small, so the
//! most recently read ones are kept ([`RecentSummaries`]). Histograms are not kept: the histograms
//! of one run take a megabyte, and a study has thousands of runs.

mod log;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io::{self, Read};
use std::path::PathBuf;
use std::rc::Rc;

use hdrhistogram::Histogram;
use indexmap::IndexMap;
use serde::Deserialize;
use serde_json::Value;

use crate::output::{DecisionCost, RunPlace};
use crate::record::RunFacts;
use mumakil_base::files::{LATENCY, PERF, SUMMARY};
use mumakil_base::units::SimTime;
use mumakil_results::expect::Runs;
use mumakil_results::explain::{self, RunToExplain};
use mumakil_results::tables::{AttemptRow, DecisionRow, ReadError, Results, SlotsRow, TableRow};

/// The files of a run.
#[derive(Debug)]
pub struct RunResults {
    place: RunPlace,
    /// The index of this run among the runs that share `recent`.
    number: usize,
    recent: Rc<RecentSummaries>,
}

/// The most recently read summaries. A study may have too many runs to keep all their summaries in
/// memory.
#[derive(Debug)]
pub struct RecentSummaries {
    most: usize,
    /// The summaries by the indices of their runs, the oldest first.
    kept: RefCell<IndexMap<usize, Rc<Value>>>,
}

impl RunResults {
    /// Returns the results in a folder.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self::of(RunPlace::Folder(folder.into()), 0, RecentSummaries::new(1))
    }

    /// Returns the results of one of many runs.
    pub fn of(place: RunPlace, number: usize, recent: Rc<RecentSummaries>) -> Self {
        Self { place, number, recent }
    }

    /// Checks that the files are as the run wrote them, and, if `name` is given, that the run had
    /// this name in its study.
    ///
    /// # Errors
    /// [`ReadError::Changed`] if they are not; another error if a file cannot be read.
    pub fn check(&self, name: Option<&str>) -> Result<(), ReadError> {
        self.place.check(name)
    }

    fn summary(&self) -> Result<Rc<Value>, ReadError> {
        self.recent.get(self.number, || {
            let path = || self.place.path(SUMMARY);
            let text = self.text_of(SUMMARY)?;
            serde_json::from_str(&text)
                .map_err(|error| ReadError::row(&path(), error.line() as u64, error.to_string()))
        })
    }

    fn text_of(&self, file: &str) -> Result<String, ReadError> {
        let text = self.place.text(file);
        text.map_err(|source| ReadError::Read { path: self.place.path(file), source })
    }

    /// Returns the properties of the run with which `summary.json` begins.
    pub fn facts(&self) -> Result<RunFacts, ReadError> {
        RunFacts::deserialize(&*self.summary()?)
            .map_err(|error| ReadError::row(&self.place.path(SUMMARY), 1, error.to_string()))
    }

    /// Returns the jobs and attempts of the run, as the input of explanations.
    pub fn told(&self) -> Result<RunToExplain, ReadError> {
        self.told_with(|_| {})
    }

    /// As [`told`](Self::told); calls `also` with each attempt of the run.
    pub fn told_with(&self, also: impl FnMut(&AttemptRow)) -> Result<RunToExplain, ReadError> {
        let facts = self.facts()?;
        let orders = facts.deciders().map(|(from, _, precedence)| (from, precedence));
        explain::read(self, orders.collect(), also)
    }

    /// Returns the real time that the decisions of the run's policy took.
    ///
    /// # Errors
    /// If `perf.json` cannot be read.
    pub fn decision_cost(&self) -> Result<DecisionCost, ReadError> {
        let text = self.text_of(PERF)?;
        let perf: Value = serde_json::from_str(&text).map_err(|error| {
            ReadError::row(&self.place.path(PERF), error.line() as u64, error.to_string())
        })?;
        Ok(DecisionCost::of(&perf))
    }

    /// Returns whether the run has recorded histograms.
    pub fn has_histograms(&self) -> bool {
        self.place.has(LATENCY)
    }

    /// Returns whether the run has recorded its attempts.
    pub fn has_tasks(&self) -> bool {
        self.place.has(AttemptRow::FILE)
    }

    /// Returns whether the run has recorded a timeline.
    pub fn has_timeline(&self) -> bool {
        self.place.has(SlotsRow::FILE)
    }

    /// Returns whether the run has recorded decisions.
    pub fn has_decisions(&self) -> bool {
        self.place.has(DecisionRow::FILE)
    }

    /// Returns the histograms for whose names `is_wanted` returns `true`.
    pub fn histograms(
        &self,
        is_wanted: impl Fn(&str) -> bool,
    ) -> Result<BTreeMap<String, Histogram<u64>>, ReadError> {
        let text = self.text_of(LATENCY)?;
        let read = log::read_log(&text, is_wanted);
        read.map_err(|(line, message)| ReadError::row(&self.place.path(LATENCY), line, message))
    }
}

impl RecentSummaries {
    /// Returns an empty store that keeps at most `most` summaries.
    pub fn new(most: usize) -> Rc<Self> {
        Rc::new(Self { most, kept: RefCell::default() })
    }

    fn get(
        &self,
        number: usize,
        read: impl FnOnce() -> Result<Value, ReadError>,
    ) -> Result<Rc<Value>, ReadError> {
        if let Some(summary) = self.kept.borrow().get(&number) {
            return Ok(summary.clone());
        }
        // Read the summary before removing another: a failed read must not displace a kept summary.
        let summary = Rc::new(read()?);
        let mut kept = self.kept.borrow_mut();
        if kept.len() == self.most {
            // Remove the oldest summary: readers go through a study run by run, so this summary is
            // the least likely to be needed again.
            kept.shift_remove_index(0);
        }
        kept.insert(number, summary.clone());
        Ok(summary)
    }
}

impl RunResults {
    /// Reads all rows of a table into memory; for small tables only.
    pub fn all<R: TableRow>(&self) -> Result<Vec<R>, ReadError> {
        (self as &dyn Results).all()
    }
}

impl Results for RunResults {
    fn open(&self, file: &str) -> io::Result<Box<dyn Read + '_>> {
        self.place.open(file)
    }

    fn path(&self, file: &str) -> PathBuf {
        self.place.path(file)
    }

    fn number(&self, path: &str) -> Result<Option<f64>, ReadError> {
        let summary = self.summary()?;
        let mut value = &*summary;
        for key in path.split('.') {
            value = value.get(key).ok_or_else(|| {
                let file = self.place.path(SUMMARY);
                ReadError::row(&file, 1, format!("there is no number `{path}`"))
            })?;
        }
        Ok(number_in(value))
    }

    fn number_if_there(&self, path: &str) -> Result<Option<f64>, ReadError> {
        let summary = self.summary()?;
        let value = path.split('.').try_fold(&*summary, |value, key| value.get(key));
        Ok(value.and_then(number_in))
    }

    fn histogram(&self, name: &str) -> Result<Histogram<u64>, ReadError> {
        let empty = || Histogram::new(3).expect("three digits are possible");
        // A histogram without values leaves no file, so a missing histogram is an empty one, not an
        // error.
        Ok(self.histograms(|other| other == name)?.remove(name).unwrap_or_else(empty))
    }

    fn warm_up(&self) -> Result<SimTime, ReadError> {
        let seconds = self.number("warm_up_s")?.unwrap_or_default();
        Ok(SimTime::from_micros((seconds * 1e6).round() as u64))
    }
}

/// A single run is a study without axes.
impl Runs for RunResults {
    fn seeds(&self) -> usize {
        1
    }

    fn has(&self, _: &[usize]) -> bool {
        true
    }

    fn run(&self, _: &[usize], _: usize) -> Result<&dyn Results, ReadError> {
        Ok(self)
    }
}

/// Returns the number in a value. Yes is 1, and no is 0: the mean over seeds is then a share of runs.
fn number_in(value: &Value) -> Option<f64> {
    value.as_f64().or_else(|| value.as_bool().map(|is_so| f64::from(u8::from(is_so))))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use tempfile::TempDir;

    use super::*;
    use mumakil_results::table;
    use mumakil_results::tables::CellText;

    table! {
        /// A time of each job.
        "times.csv" struct TimeRow {
            /// Its number.
            job: u32,
            /// Its name.
            name: CellText,
            /// How long it took.
            took_ms: Option<u64>,
        }
    }

    /// Returns a folder with these files, and its results.
    fn results(files: &[(&str, &str)]) -> (TempDir, RunResults) {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            fs::write(folder.path().join(name), text).unwrap();
        }
        let results = RunResults::new(folder.path());
        (folder, results)
    }

    fn names(results: &RunResults) -> Result<Vec<String>, String> {
        let mut names = Vec::new();
        let read = (results as &dyn Results).rows(|row: TimeRow| {
            names.push(format!("{} {:?}", row.name, row.took_ms));
            Ok(())
        });
        let file = |error: ReadError| {
            let text = error.to_string();
            text.rsplit_once('/').map_or(text.clone(), |(_, file)| file.to_owned())
        };
        read.map(|()| names).map_err(file)
    }

    #[test]
    fn columns_are_found_by_their_names() {
        let (_folder, results) = results(&[("times.csv", "job,took_ms,name\n0,3,a\n1,,b\n")]);
        assert_eq!(names(&results).unwrap(), ["a Some(3)", "b None"]);
    }

    #[test]
    fn rows_larger_than_any_run_writes_are_refused_before_they_fill_the_memory() {
        let long = format!("job,took_ms,name\n0,3,a\n1,,\"{}\"\n", "b\n".repeat(1 << 20));
        let (_folder, one) = results(&[("times.csv", &long)]);
        assert_eq!(names(&one).unwrap_err(), "times.csv:3: the row is larger than 1 MiB");
        let long = format!("{{{}}}", " ".repeat(32 << 20));
        let (_folder, one) = results(&[("summary.json", &long)]);
        let ReadError::Read { source, .. } = one.facts().unwrap_err() else { panic!() };
        assert_eq!(source.to_string(), "it is larger than 32 MiB; no run wrote it");
    }

    #[test]
    fn errors_name_the_file_and_the_line() {
        for (table, error) in [
            (
                "job,took_ms,name\n0,3,a\n1,x,b\n",
                "times.csv:3: column `took_ms`: `x` is not a whole number",
            ),
            ("took_ms,name\n3,a\n", "times.csv:1: there is no column `job`"),
            ("job,name\n3\n", "times.csv:2: 1 fields where 2 are expected"),
        ] {
            let (_folder, results) = results(&[("times.csv", table)]);
            assert_eq!(names(&results).unwrap_err(), error);
        }
        let (_folder, results) = results(&[]);
        assert_eq!(names(&results).unwrap_err(), "times.csv");
    }

    #[test]
    fn numbers_of_the_summary_are_found_by_their_paths() {
        let summary = r#"{"nodes": 20, "makespan_s": null, "slot_utilisation": {"map": 0.5}}"#;
        let (_folder, results) = results(&[("summary.json", summary)]);
        assert_eq!(results.number("nodes").unwrap(), Some(20.0));
        assert_eq!(results.number("makespan_s").unwrap(), None);
        let or_zero = |key| results.number_if_there(key).unwrap().unwrap_or_default();
        assert_eq!((or_zero("nodes"), or_zero("jobs_refused")), (20.0, 0.0));
        assert_eq!(results.number("slot_utilisation.map").unwrap(), Some(0.5));
        let error = results.number("map_slots").unwrap_err().to_string();
        assert!(error.ends_with("summary.json:1: there is no number `map_slots`"), "{error}");
    }

    #[test]
    fn a_broken_summary_names_its_line() {
        let (_folder, results) = results(&[("summary.json", "{\n  \"nodes\": }\n")]);
        let error = results.number("nodes").unwrap_err().to_string();
        assert!(error.contains("summary.json:2: "), "{error}");
    }
}
