//! Cells whose runs are the same: what tells these cells apart has no effect.

use std::hash::Hasher as _;
use std::io::Read as _;

use indexmap::IndexMap;
use rustc_hash::{FxHashSet, FxHasher};

use crate::plan::manifest::StudyManifest;
use crate::plan::overloaded::ranges;
use mumakil_base::units::tell::listed;
use mumakil_results::expect::Space;
use mumakil_results::tables::{JobRow, ReadError, Results as _, TableRow as _};
use mumakil_run::output::results::RunResults;

/// The most sentences, and the most places in a sentence.
// Chosen: what is behind them is of the same kind.
const MOST_TOLD: usize = 3;

/// The hash of a run's jobs: of all their times and outcomes.
pub(super) type JobsDigest = u64;

/// Returns the hash of a run's jobs.
pub(super) fn digest(run: &RunResults) -> Result<JobsDigest, ReadError> {
    // With 64 bits, the chance that two of a million runs share a hash by chance is one in 37
    // million; and cells share the hashes of all their seeds.
    let hash = || {
        let (mut file, mut part, mut hasher) =
            (run.open(JobRow::FILE)?, Vec::new(), FxHasher::default());
        // The hash depends on the borders of the parts, so each but the last has the same length.
        while file.by_ref().take(1 << 16).read_to_end(&mut part)? != 0 {
            hasher.write(&part);
            part.clear();
        }
        Ok(hasher.finish())
    };
    hash().map_err(|source| ReadError::Read { path: run.path(JobRow::FILE), source })
}

/// Returns sentences about the cells whose runs are the same with every seed. `digests` has a hash
/// for each cell and seed.
pub(super) fn same_cells(sheet: &StudyManifest, digests: &[Vec<JobsDigest>]) -> Vec<String> {
    let mut alike: IndexMap<&[JobsDigest], Vec<&[usize]>> = IndexMap::new();
    let mut known = FxHashSet::default();
    // Cells that share their runs are the same on purpose: their policy lacks the axis' option.
    let own = sheet.cells.iter().zip(digests).filter(|(cell, _)| known.insert(&cell.runs));
    for (cell, digests) in own {
        alike.entry(digests).or_default().push(&cell.values);
    }
    // The same values of the same axes may make no difference in many places: `v1 and v2` with 10
    // nodes, with 20, and so on.
    let space = sheet.space();
    let mut places: IndexMap<String, Vec<String>> = IndexMap::new();
    for cells in alike.into_values().filter(|cells| 1 < cells.len()) {
        let (which, place) = told(&space, &cells);
        places.entry(which).or_default().push(place);
    }
    let more = places.len().saturating_sub(MOST_TOLD);
    let told = places.into_iter().take(MOST_TOLD).map(|(which, mut places)| {
        let more = places.len().saturating_sub(MOST_TOLD);
        places.truncate(MOST_TOLD);
        let more = if more == 0 { String::new() } else { format!("; and {more} more") };
        let at = match places.join("; ") + &more {
            nowhere if nowhere.is_empty() => String::new(),
            at => format!(" ({at})"),
        };
        format!(
            "The runs of {which} are the same, job by job and with every seed{at}: what tells them \
             apart has no effect there."
        )
    });
    let mut sentences: Vec<String> = told.collect();
    if 0 < more {
        sentences.push(format!("{more} more groups of cells are of the same runs."));
    }
    sentences
}

/// Returns cells in words: by the axes on which they differ, and by those that they share.
fn told(space: &Space, cells: &[&[usize]]) -> (String, String) {
    let axes = 0..space.axes.len();
    let (shared, own): (Vec<usize>, Vec<usize>) =
        axes.partition(|axis| cells.iter().all(|cell| cell[*axis] == cells[0][*axis]));
    let labels = cells.iter().map(|cell| {
        own.iter().map(|axis| space.setting(*axis, cell[*axis])).collect::<Vec<_>>().join(" with ")
    });
    let mut names: Vec<String> = match own[..] {
        [axis] => ranges(cells.iter().map(|cell| cell[axis]), |value| space.setting(axis, value)),
        _ => labels.collect(),
    };
    let more = names.len().saturating_sub(2 * MOST_TOLD);
    names.truncate(2 * MOST_TOLD);
    if 0 < more {
        names.push(format!("{more} more cells"));
    }
    // An axis with one value says nothing.
    let shared: Vec<usize> =
        shared.into_iter().filter(|axis| 1 < space.axes[*axis].values.len()).collect();
    (listed(names, "and"), space.describe(cells[0], &shared))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::compared::ComparedWith;
    use crate::plan::manifest::{ManifestAxis, ManifestCell};

    fn sentences(digests: &[&[u8]]) -> Vec<String> {
        let axis = |field: &str, values: [&str; 3]| ManifestAxis {
            field: field.to_owned(),
            values: values.map(str::to_owned).to_vec(),
            numbers: Default::default(),
        };
        let cell = |cell: usize| ManifestCell {
            values: vec![cell / 3, cell % 3],
            runs: vec![cell.to_string()],
        };
        let sheet = StudyManifest {
            study: "s".to_owned(),
            description: String::new(),
            version: String::new(),
            model: 0,
            axes: vec![
                axis("cluster.nodes", ["10", "20", "30"]),
                axis("scheduler", ["v1", "v2", "fair"]),
            ],
            compare: None,
            against: ComparedWith::default(),
            seeds: vec![1, 2],
            same_seeds: false,
            cells: (0..digests.len()).map(cell).collect(),
            metrics: Vec::new(),
            charts: Vec::new(),
            expect: Vec::new(),
        };
        let digests: Vec<Vec<JobsDigest>> =
            digests.iter().map(|cell| cell.iter().map(|run| u64::from(*run)).collect()).collect();
        same_cells(&sheet, &digests)
    }

    #[test]
    fn cells_of_the_same_runs_are_told_by_what_ought_to_tell_them_apart() {
        assert_eq!(
            sentences(&[&[1, 2], &[1, 2], &[3, 4], &[5, 6], &[5, 6], &[7, 8]]),
            ["The runs of scheduler=v1 and scheduler=v2 are the same, job by job and with every \
                 seed (nodes=10; nodes=20): what tells them apart has no effect there."]
        );
    }

    #[test]
    fn cells_that_differ_with_one_seed_are_not_told() {
        assert_eq!(sentences(&[&[1, 2], &[1, 3], &[3, 4]]), [""; 0]);
    }
}
