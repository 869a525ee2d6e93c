//! The parts of a run that expressions read: tables, numbers and histograms.

use std::collections::BTreeSet;

use crate::tables::{TableRow, WasteRow};

/// The parts of a run that an expression reads. A study need record no others.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExprNeeds {
    /// The files of the tables.
    pub tables: BTreeSet<&'static str>,
    /// The histograms of `latency.hlog`.
    pub histograms: BTreeSet<&'static str>,
    /// The numbers of `summary.json`.
    pub numbers: BTreeSet<&'static str>,
}

impl ExprNeeds {
    /// Adds what another expression reads.
    pub fn add(&mut self, other: Self) {
        self.tables.extend(other.tables);
        self.histograms.extend(other.histograms);
        self.numbers.extend(other.numbers);
    }

    /// Returns whether it reads a table.
    pub fn reads<R: TableRow>(&self) -> bool {
        self.tables.contains(R::FILE)
    }

    /// Returns whether it reads what slots were held for.
    pub fn reads_waste(&self) -> bool {
        let numbers = self.numbers.iter().any(|number| number.starts_with("waste."));
        numbers || self.reads::<WasteRow>()
    }
}
