//! The parts of a run that expressions read: tables, numbers and histograms.

use std::collections::BTreeSet;

use crate::tables::TableRow;

/// The parts of a run that an expression reads. A study needs to record only these parts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExprNeeds {
    /// The names of the tables' files.
    pub tables: BTreeSet<&'static str>,
    /// The keys of `record` that add the columns to `jobs.csv` that the expression reads.
    pub columns: BTreeSet<&'static str>,
    /// The names of the histograms in `latency.hlog`.
    pub histograms: BTreeSet<&'static str>,
    /// The names of the numbers in `summary.json`.
    pub numbers: BTreeSet<&'static str>,
}

impl ExprNeeds {
    /// Adds the parts that another expression reads.
    pub fn add(&mut self, other: Self) {
        self.tables.extend(other.tables);
        self.columns.extend(other.columns);
        self.histograms.extend(other.histograms);
        self.numbers.extend(other.numbers);
    }

    /// Returns whether the expression reads the table `R`.
    pub fn reads<R: TableRow>(&self) -> bool {
        self.tables.contains(R::FILE)
    }

    /// Returns whether the expression reads useful and wasted slot time.
    pub fn reads_waste(&self) -> bool {
        let numbers = self.numbers.iter().any(|number| number.starts_with("waste."));
        numbers || self.columns.contains("waste")
    }
}
