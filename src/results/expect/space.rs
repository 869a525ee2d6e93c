//! The runs of a study: its axes, its cells (combinations of values), and a run for each cell and
//! seed.

use crate::tables::{ReadError, Results};
use mumakil_base::expression::{Unit, with_unit};

/// The axes of a study. A single scenario has none.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Space {
    /// The axes. A cell has the index of a value on each axis.
    pub axes: Vec<SpaceAxis>,
    /// The index of the axis whose values the study compares. In an expectation, each quantity must
    /// choose one of its values.
    pub compared: Option<usize>,
}

/// An axis: a setting that the study varies.
#[derive(Clone, Debug, PartialEq)]
pub struct SpaceAxis {
    /// The path in the scenario, such as `cluster.nodes`.
    pub path: String,
    /// The values in the order of the study.
    pub values: Vec<SpaceValue>,
}

/// A value on an axis.
#[derive(Clone, Debug, PartialEq)]
pub struct SpaceValue {
    /// The shortest text that identifies it on its axis.
    pub label: String,
    /// Its number in seconds, in bytes or without a unit; `None` if it is a word.
    pub number: Option<(f64, Unit)>,
}

impl SpaceValue {
    /// Returns the value with this label. The value has a number if the label is a number, such as
    /// `100`, `5s`, `2GiB`, `5 %`.
    pub fn new(label: impl Into<String>) -> Self {
        let label = label.into();
        // Rust also parses `inf` and `nan`, which are words on an axis.
        let share = || label.strip_suffix('%')?.trim_end().parse().ok().map(|n: f64| n / 100.0);
        let plain = label.parse().ok().filter(|number: &f64| number.is_finite());
        let number = plain
            .map(|number| (number, Unit::PLAIN))
            .or_else(|| with_unit(&label))
            .or_else(|| share().map(|share| (share, Unit::SHARE)));
        Self { label, number }
    }
}

impl SpaceAxis {
    /// Returns the last part of the path.
    pub fn name(&self) -> &str {
        self.path.rsplit('.').next().unwrap_or(&self.path)
    }

    /// Returns the unit of the axis; `None` unless all its values are numbers of the same unit.
    pub fn unit(&self) -> Option<Unit> {
        let known: Option<Vec<Unit>> =
            self.values.iter().map(|value| value.number.map(|(_, unit)| unit)).collect();
        let units = known?;
        // An axis without values has no unit.
        let first = *units.first()?;
        units.iter().all(|unit| unit.fits(first)).then_some(first)
    }
}

impl Space {
    /// Returns the indices of the axes that a name may mean: the axis with this path, or all axes
    /// whose paths end in this name.
    pub(super) fn find(&self, name: &str) -> Vec<usize> {
        let places = || 0..self.axes.len();
        match places().find(|place| self.axes[*place].path == name) {
            // A complete path is never ambiguous, even if it is also the end of a longer path.
            Some(exact) => vec![exact],
            None => places().filter(|place| self.axes[*place].name() == name).collect(),
        }
    }

    /// Returns the index of the axis with this path, or of the only axis whose path ends in `name`;
    /// `None` if there is no such axis or there are several.
    pub fn place_of(&self, name: &str) -> Option<usize> {
        match self.find(name)[..] {
            [place] => Some(place),
            _ => None,
        }
    }

    /// Returns a cell in words, by its values on these axes.
    pub fn describe(&self, cell: &[usize], axes: &[usize]) -> String {
        axes.iter().map(|axis| self.setting(*axis, cell[*axis])).collect::<Vec<_>>().join(", ")
    }

    /// Returns a value of an axis in words, such as `nodes=10`.
    pub fn setting(&self, axis: usize, value: usize) -> String {
        let axis = &self.axes[axis];
        format!("{}={}", axis.name(), axis.values[value].label)
    }
}

/// Returns all combinations of one element from each list; the last list varies fastest.
pub fn combinations(choices: &[Vec<usize>]) -> Vec<Vec<usize>> {
    choices.iter().fold(vec![Vec::new()], |prefixes, choice| {
        let longer = prefixes.iter().flat_map(|prefix| {
            choice.iter().map(|place| [&prefix[..], &[*place]].concat()).collect::<Vec<_>>()
        });
        longer.collect()
    })
}

/// The runs of a study.
pub trait Runs {
    /// Returns the number of seeds of each cell; at least one.
    fn seeds(&self) -> usize;

    /// Returns whether these seeds are all that are meant, and no sample of others.
    fn are_all_seeds(&self) -> bool {
        false
    }

    /// Returns whether the study has a cell; a study may leave cells out.
    fn has(&self, cell: &[usize]) -> bool;

    /// Returns the results of a run. `cell` has the index of a value on each axis; `seed` is the
    /// index of a seed.
    fn run(&self, cell: &[usize], seed: usize) -> Result<&dyn Results, ReadError>;
}
