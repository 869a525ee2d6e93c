//! Nodes in trouble over time, from `faults.csv`.

use rustc_hash::FxHashMap;

use super::slots::{GRAINS, SlotLevel};
use super::{ReportBlocks, ReportSource, charted};
use mumakil_core::cluster::Speeds;
use mumakil_core::mapred::Incident;
use mumakil_draw::chart::{AxisUnit, Caption, ChartAxis, SeriesLook, Stack, StackLayer};
use mumakil_results::tables::{CellText, FaultRow, Results};

/// The bad states of a node. A node in several states counts only in the first one on this list.
const STATES: [&str; 5] = ["off", "not used", "without a tracker", "cut off", "slow"];

/// The troubles of a node at an instant.
#[derive(Clone, Copy, Default)]
struct NodeCondition {
    is_off: bool,
    has_no_tracker: bool,
    cuts: u32,
    is_unhealthy: bool,
    is_excluded: bool,
    is_slow: bool,
}

impl NodeCondition {
    /// Returns the index of its state in [`STATES`]; `None` if the node is well.
    fn place(self) -> Option<usize> {
        let is_unused = self.is_unhealthy || self.is_excluded;
        let states = [self.is_off, is_unused, self.has_no_tracker, 0 < self.cuts, self.is_slow];
        states.iter().position(|is| *is)
    }

    fn change(&mut self, what: &str) {
        let is = |incident: Incident| incident.words() == what;
        if is(Incident::MachineOff) {
            // A machine that is switched on again starts its tracker, so a missing tracker is no
            // longer a trouble of its own.
            *self = Self { is_off: true, has_no_tracker: false, ..*self };
        } else if is(Incident::MachineOn) {
            self.is_off = false;
        } else if is(Incident::TrackerGone) {
            self.has_no_tracker = true;
        } else if is(Incident::TrackerBack) {
            self.has_no_tracker = false;
        } else if is(Incident::CutOff) {
            // Count the cuts: a cut of a node and a cut of its rack may overlap.
            self.cuts += 1;
        } else if is(Incident::Reconnected) {
            self.cuts = self.cuts.saturating_sub(1);
        } else if is(Incident::Unhealthy) || is(Incident::Healthy) {
            self.is_unhealthy = is(Incident::Unhealthy);
        } else if is(Incident::Excluded) || is(Incident::Included) {
            self.is_excluded = is(Incident::Excluded);
        } else if what == SLOW || what == USUAL {
            self.is_slow = what == SLOW;
        }
    }
}

const USUAL: &str = Incident::Speeds(Speeds::USUAL).words();
// The table describes an incident in words only; these are the words for any slow speed.
const SLOW: &str = Incident::Speeds(Speeds { cpu: 0.5, ..Speeds::USUAL }).words();

/// Draws how many nodes were in trouble over time; returns no block if all nodes were always well.
pub(super) fn blocks(ReportSource { run, until, .. }: &ReportSource<'_>) -> ReportBlocks {
    let until = *until;
    let mut nodes: FxHashMap<CellText, NodeCondition> = FxHashMap::default();
    let mut levels = STATES.map(|_| SlotLevel::default());
    (run.results as &dyn Results).rows_if_any(|row: FaultRow| {
        // The chart counts nodes only; the stories of jobs show when the JobTracker was down.
        if row.node == Incident::OF_JOBTRACKER {
            return Ok(());
        }
        let state = nodes.entry(row.node.clone()).or_default();
        let was = state.place();
        state.change(&row.what);
        let mut count = |place: Option<usize>, by| {
            if let Some(place) = place {
                levels[place].change(row.at_ms as f64 / 1e3, by, until / GRAINS);
            }
        };
        // If the state stays the same, the two changes cancel each other.
        count(was, -1.0);
        count(state.place(), 1.0);
        Ok(())
    })?;
    let states = STATES.iter().zip(levels).enumerate();
    let all = states.map(|(place, (name, level))| StackLayer {
        name: (*name).to_owned(),
        // Colours go by the index of the state, so a state has the same colour in every report.
        look: SeriesLook(place),
        steps: level.steps,
        ..StackLayer::default()
    });
    let mut layers: Vec<StackLayer> = all.filter(|layer| !layer.steps.is_empty()).collect();
    if layers.is_empty() {
        return Ok(Vec::new());
    }
    // Begin at zero, as the charts beside it do.
    layers.iter_mut().for_each(|layer| layer.steps.insert(0, (0.0, 0.0)));
    let stack = Stack {
        caption: Caption {
            id: "faults".to_owned(),
            title: "Nodes in trouble".to_owned(),
            description:
                "How many nodes are off, not used, without a tracker, cut off or slow over \
                          time."
                    .to_owned(),
            look_for: "what other charts show at the same time",
            ..Caption::default()
        },
        x: ChartAxis::linear("Time", AxisUnit::Seconds),
        y: ChartAxis::linear("Nodes", AxisUnit::Count),
        layers,
        capacity: None,
        waiting: None,
        until,
    };
    Ok(charted([stack.draw()]))
}
