//! The results of a study's runs, each read when an expression first needs it.

use std::cell::OnceCell;
use std::rc::Rc;

use rustc_hash::FxHashMap;

use crate::plan::manifest::StudyManifest;
use crate::run::store::Store;
use mumakil_results::expect::Runs;
use mumakil_results::tables::{ReadError, Results};
use mumakil_run::output::results::{RecentSummaries, RunResults};

/// The largest number of summaries in memory; each has some kilobytes.
const SUMMARIES: usize = 1_000;

/// The results of a study's runs, each read when an expression first needs it.
pub struct StudyRuns<'s> {
    sheet: &'s StudyManifest,
    store: &'s Store,
    /// The index of each cell, by the indices of its values.
    places: FxHashMap<&'s [usize], usize>,
    runs: Vec<Vec<OnceCell<RunResults>>>,
    recent: Rc<RecentSummaries>,
}

impl<'s> StudyRuns<'s> {
    /// Returns the runs of a study.
    pub fn new(sheet: &'s StudyManifest, store: &'s Store) -> Self {
        let cells = || sheet.cells.iter();
        let places = cells().enumerate().map(|(place, cell)| (&cell.values[..], place));
        let runs = cells().map(|cell| cell.runs.iter().map(|_| OnceCell::new()).collect());
        // Keep at least the summaries of two compared cells: with fewer, the summaries of one cell
        // would push out the summaries of the other.
        let recent = RecentSummaries::new(SUMMARIES.max(2 * sheet.seeds.len()));
        Self { sheet, store, places: places.collect(), runs: runs.collect(), recent }
    }

    /// Returns the index of a cell; `None` if the study leaves it out.
    pub fn place(&self, cell: &[usize]) -> Option<usize> {
        self.places.get(cell).copied()
    }

    /// Returns the index of a cell whose runs are all done; `None` if the study leaves it out, or a
    /// run is missing.
    pub fn whole(&self, cell: &[usize]) -> Option<usize> {
        self.place(cell)
            .filter(|place| self.sheet.cells[*place].runs.iter().all(|run| self.store.has(run)))
    }

    /// Returns the runs of a cell, given by its index, seed by seed.
    pub fn of(&self, place: usize) -> impl Iterator<Item = &RunResults> {
        self.runs[place].iter().enumerate().map(move |(seed, run)| {
            let number = place * self.sheet.seeds.len() + seed;
            run.get_or_init(|| {
                let found = self.store.place(&self.sheet.cells[place].runs[seed]);
                RunResults::of(found, number, self.recent.clone())
            })
        })
    }

    /// Checks that the runs of a cell, given by its index, are those of the study, and unchanged.
    pub fn check(&self, place: usize) -> Result<(), ReadError> {
        let names = self.sheet.cells[place].runs.iter();
        names.zip(self.of(place)).try_for_each(|(name, run)| run.check(Some(name)))
    }
}

impl Runs for StudyRuns<'_> {
    fn seeds(&self) -> usize {
        self.sheet.seeds.len()
    }

    fn are_all_seeds(&self) -> bool {
        self.sheet.same_seeds
    }

    fn has(&self, cell: &[usize]) -> bool {
        self.place(cell).is_some()
    }

    fn run(&self, cell: &[usize], seed: usize) -> Result<&dyn Results, ReadError> {
        let place = self.place(cell).expect("only cells of the study are read");
        Ok(self.of(place).nth(seed).expect("every cell has a run for each seed"))
    }
}
