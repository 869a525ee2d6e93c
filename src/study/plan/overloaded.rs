//! The overloaded cells of a study: foretold before its runs, and told in few words.

use std::collections::BTreeMap;
use std::sync::Arc;

use indexmap::IndexMap;

use crate::plan::runs::Plan;
use mumakil_base::units::tell::counted;
use mumakil_run::emulation::{EmulationError, Prepared};
use mumakil_scenario::Registry;

/// The most cells that a sentence names.
// Chosen: about three lines on a terminal.
const MOST_TOLD: usize = 10;

impl Plan {
    /// Returns a warning about the cells whose jobs ask for more slot time than there is; `None` if
    /// there are none. Reads the workload of each cell; cells with the same cluster and jobs are
    /// asked once.
    ///
    /// # Errors
    /// If a trace has become unreadable since the plan was made.
    pub fn overload(&self, registry: &Registry) -> Result<Option<String>, EmulationError> {
        let mut known = IndexMap::new();
        let mut marks = Vec::new();
        for (cell, run) in self.cells.iter().zip(self.firsts()) {
            let (cluster, workload, rest) = cell.load_parts();
            let site = (Arc::as_ptr(cluster), Arc::as_ptr(workload), Arc::as_ptr(rest));
            let mark = match known.get(&site) {
                Some(mark) => *mark,
                None => Prepared::new(self.scenario(run), registry)?.overload().is_some(),
            };
            known.insert(site, mark);
            marks.push((&cell.values[..], mark));
        }
        let overloaded = marks.iter().filter(|(_, mark)| *mark).count() as u64;
        if overloaded == 0 {
            return Ok(None);
        }
        Ok(Some(format!(
            "in {} of {} the jobs ask for more slot time than there is while they arrive: {}; their \
             sojourns will measure how many jobs there are. Let jobs arrive more slowly, or at a \
             rate that suits each cluster (`workload.pace: {{load: 0.7}}`)",
            overloaded,
            counted(marks.len() as u64, "cell"),
            marked_cells(&marks, |axis, value| self.told(axis, value)),
        )))
    }
}

/// Returns the marked cells in words: only by the axes on which the mark depends, and only the
/// first cells of many. `tell` returns a value of an axis in words.
pub(crate) fn marked_cells(
    cells: &[(&[usize], bool)],
    tell: impl Fn(usize, usize) -> String,
) -> String {
    let count = cells.first().map_or(0, |(values, _)| values.len());
    let axes: Vec<usize> = (0..count)
        .filter(|axis| {
            let mut marks: BTreeMap<Vec<usize>, bool> = BTreeMap::new();
            // An axis matters if two cells that differ in it alone differ in their mark.
            cells.iter().any(|(values, mark)| {
                let mut others = values.to_vec();
                others.remove(*axis);
                *marks.entry(others).or_insert(*mark) != *mark
            })
        })
        .collect();
    if axes.is_empty() {
        return "all of them".to_owned();
    }
    let mut told: Vec<String> = Vec::new();
    for (values, _) in cells.iter().filter(|(_, mark)| *mark) {
        let settings: Vec<String> = axes.iter().map(|&axis| tell(axis, values[axis])).collect();
        let place = settings.join(", ");
        if !told.contains(&place) {
            told.push(place);
        }
    }
    let more = told.len().saturating_sub(MOST_TOLD);
    told.truncate(MOST_TOLD);
    let more = if more == 0 { String::new() } else { format!("; and {more} more") };
    told.join("; ") + &more
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(cells: &[([usize; 2], bool)]) -> String {
        let cells: Vec<(&[usize], bool)> =
            cells.iter().map(|(values, mark)| (&values[..], *mark)).collect();
        marked_cells(&cells, |axis, value| format!("{}{value}", ["nodes", "policy"][axis]))
    }

    #[test]
    fn cells_are_told_by_the_axes_that_matter() {
        let by_nodes = [([0, 0], true), ([0, 1], true), ([1, 0], false), ([1, 1], false)];
        assert_eq!(told(&by_nodes), "nodes0");
        let by_both = [([0, 0], true), ([0, 1], true), ([1, 0], true), ([1, 1], false)];
        assert_eq!(told(&by_both), "nodes0, policy0; nodes0, policy1; nodes1, policy0");
        assert_eq!(told(&[([0, 0], true), ([0, 1], true)]), "all of them");
        let many: Vec<_> = (0..13).map(|nodes| ([nodes, 0], nodes < 12)).collect();
        assert!(told(&many).ends_with("nodes9; and 2 more"), "{}", told(&many));
    }
}
