//! The overloaded cells of a study: foretold before its runs, and told in few words.

use std::collections::BTreeMap;
use std::sync::Arc;

use indexmap::{IndexMap, IndexSet};

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
    let marked = cells.iter().filter(|(_, mark)| *mark);
    let places: IndexSet<Vec<usize>> =
        marked.map(|(values, _)| axes.iter().map(|&axis| values[axis]).collect()).collect();
    let mut told = match axes[..] {
        [axis] => ranges(places.iter().map(|place| place[0]), |value| tell(axis, value)),
        _ => places
            .iter()
            .map(|place| {
                let settings = axes.iter().zip(place).map(|(&axis, &value)| tell(axis, value));
                settings.collect::<Vec<_>>().join(", ")
            })
            .collect(),
    };
    let more = told.len().saturating_sub(MOST_TOLD);
    told.truncate(MOST_TOLD);
    let more = if more == 0 { String::new() } else { format!("; and {more} more") };
    told.join("; ") + &more
}

/// Returns settings of one axis in words. Three or more numbers in a row are a range, such as `10 to 90
/// nodes`; `tell` returns one of them as `nodes=10`.
pub(crate) fn ranges(
    values: impl IntoIterator<Item = usize>,
    tell: impl Fn(usize) -> String,
) -> Vec<String> {
    let mut values: Vec<usize> = values.into_iter().collect();
    values.sort_unstable();
    let runs = values.chunk_by(|one, next| one + 1 == *next);
    let told = runs.flat_map(|run| {
        let all: Vec<String> = run.iter().map(|value| tell(*value)).collect();
        let ends = all[0].split_once('=').zip(all[all.len() - 1].split_once('='));
        match ends.filter(|((_, from), _)| 2 < all.len() && from.starts_with(char::is_numeric)) {
            Some((("nodes", from), (_, to))) => vec![format!("{from} to {to} nodes")],
            Some(((name, from), (_, to))) => vec![format!("{name}={from} to {to}")],
            None => all,
        }
    });
    told.collect()
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
    fn numbers_in_a_row_are_a_range() {
        let nodes = |value| format!("nodes={}0", value + 1);
        assert_eq!(ranges(0..9, nodes), ["10 to 90 nodes"]);
        assert_eq!(ranges([0, 1, 3], nodes), ["nodes=10", "nodes=20", "nodes=40"]);
        assert_eq!(ranges(0..3, |value| format!("block={value}")), ["block=0 to 2"]);
        assert_eq!(ranges(0..3, |value| format!("scheduler=p{value}")).len(), 3);
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
