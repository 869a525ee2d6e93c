//! Tests of the whole language: its errors, its results on hand-written tables, and the effects of
//! the repeated experiments, all of which it must be able to express.

mod answers;
mod errors;
mod experiments;
mod properties;

use std::collections::BTreeMap;
use std::io::{self, Read};
use std::path::PathBuf;

use hdrhistogram::Histogram;

use super::*;
use crate::tables::testing::complete;
use crate::tables::{AttemptRow, JobRow, ReadError, Results, SlotsRow, TableRow};
use mumakil_base::units::SimTime;

/// A run with hand-written tables.
#[derive(Default)]
struct Run {
    tables: BTreeMap<&'static str, String>,
    numbers: BTreeMap<&'static str, f64>,
    micros: Vec<u64>,
    warm_up: SimTime,
}

impl Run {
    fn table<R: TableRow>(mut self, text: &str) -> Self {
        self.tables.insert(R::FILE, complete::<R>(text));
        self
    }

    fn number(mut self, path: &'static str, number: f64) -> Self {
        self.numbers.insert(path, number);
        self
    }
}

impl Results for Run {
    fn open(&self, file: &str) -> io::Result<Box<dyn Read + '_>> {
        Ok(Box::new(self.tables.get(file).map_or("", String::as_str).as_bytes()))
    }

    fn path(&self, file: &str) -> PathBuf {
        file.into()
    }

    fn number(&self, path: &str) -> Result<Option<f64>, ReadError> {
        Ok(self.numbers.get(path).copied())
    }

    fn number_if_there(&self, key: &str) -> Result<Option<f64>, ReadError> {
        Ok(self.numbers.get(key).copied())
    }

    fn histogram(&self, _: &str) -> Result<Histogram<u64>, ReadError> {
        let mut histogram = Histogram::new(3).unwrap();
        self.micros.iter().for_each(|micros| histogram.record(*micros).unwrap());
        Ok(histogram)
    }

    fn warm_up(&self) -> Result<SimTime, ReadError> {
        Ok(self.warm_up)
    }
}

/// The runs of a study with one axis: for each value of the axis, a run for each seed.
struct Grid(Vec<Vec<Run>>);

/// Runs whose seeds are all that are meant.
struct AllSeeds(Grid);

impl Runs for AllSeeds {
    fn seeds(&self) -> usize {
        self.0.seeds()
    }

    fn are_all_seeds(&self) -> bool {
        true
    }

    fn has(&self, cell: &[usize]) -> bool {
        self.0.has(cell)
    }

    fn run(&self, cell: &[usize], seed: usize) -> Result<&dyn Results, ReadError> {
        self.0.run(cell, seed)
    }
}

impl Runs for Grid {
    fn seeds(&self) -> usize {
        self.0[0].len()
    }

    fn has(&self, cell: &[usize]) -> bool {
        cell.first().is_none_or(|place| *place < self.0.len())
    }

    fn run(&self, cell: &[usize], seed: usize) -> Result<&dyn Results, ReadError> {
        Ok(&self.0[cell.first().copied().unwrap_or(0)][seed])
    }
}

fn space(axes: &[(&str, &[&str])], compared: Option<usize>) -> Space {
    let axis = |(path, labels): &(&str, &[&str])| SpaceAxis {
        path: (*path).to_owned(),
        values: labels.iter().map(|label| SpaceValue::new(*label)).collect(),
    };
    Space { axes: axes.iter().map(axis).collect(), compared }
}
