//! What befell the machines over time, from `faults.csv`.

use rustc_hash::FxHashMap;

use super::jobs::JobRow;
use super::slots::{GRAINS, Level};
use super::{RunReport, charted};
use crate::chart::{Axis, Caption, Drawing, Layer, Stack, Unit};
use crate::expect::{ReadError, Results, Table};
use crate::mapred::Incident;
use crate::page::Block;

const COLUMNS: [&str; 3] = ["at_ms", "node", "what"];

/// What a node counts as; one that is off counts as nothing else.
const STATES: [&str; 3] = ["off", "without a tracker", "slow"];

/// What a node is at an instant.
#[derive(Clone, Copy, Default)]
struct State {
    is_off: bool,
    has_no_tracker: bool,
    is_slow: bool,
}

impl State {
    /// Returns the place among [`STATES`]; none, if all is well.
    fn place(self) -> Option<usize> {
        [self.is_off, self.has_no_tracker, self.is_slow].iter().position(|is| *is)
    }

    fn change(&mut self, what: &str) {
        let is = |incident: Incident| incident.words() == what;
        if is(Incident::MachineOff) {
            *self = Self { is_off: true, has_no_tracker: false, ..*self };
        } else if is(Incident::MachineOn) {
            self.is_off = false;
        } else if is(Incident::TrackerGone) {
            self.has_no_tracker = true;
        } else if is(Incident::TrackerBack) {
            self.has_no_tracker = false;
        } else if !is(Incident::DiskLost) {
            self.is_slow = what != USUAL;
        }
    }
}

const USUAL: &str = Incident::Speeds(crate::cluster::Speeds::USUAL).words();

pub(super) fn blocks(run: &RunReport<'_>, _: &[JobRow]) -> Result<Vec<Block>, ReadError> {
    if !run.results.has_faults() {
        return Ok(Vec::new());
    }
    Ok(charted([draw(run.results, run.summary.virtual_s)?]))
}

fn draw(results: &dyn Results, until: f64) -> Result<Drawing, ReadError> {
    let mut nodes: FxHashMap<String, State> = FxHashMap::default();
    let mut levels = STATES.map(|_| Level::default());
    results.rows(Table::Faults, &COLUMNS, &mut |row| {
        let Some(millis) = row.number(0)? else { return Ok(()) };
        let state = nodes.entry(row.text(1).to_owned()).or_default();
        let was = state.place();
        state.change(row.text(2));
        let mut count = |place: Option<usize>, by| {
            if let Some(place) = place {
                levels[place].change(millis / 1e3, by, until / GRAINS);
            }
        };
        count(was, -1.0);
        count(state.place(), 1.0);
        Ok(())
    })?;
    let states = STATES.iter().zip(levels).filter(|(_, level)| !level.steps.is_empty());
    let layer =
        |(name, level): (&&str, Level)| Layer { name: (*name).to_owned(), steps: level.steps };
    let stack = Stack {
        caption: Caption {
            id: "faults".to_owned(),
            title: "Nodes that are off or slow".to_owned(),
            description: "How many nodes are off, without a tracker, or slow over time.".to_owned(),
        },
        x: Axis::linear("Time", Unit::Seconds),
        y: Axis::linear("Nodes", Unit::Count),
        layers: states.map(layer).collect(),
        capacity: None,
        until,
    };
    Ok(stack.draw())
}
