//! How long a phase takes if it shares nothing, and which parts of it share resources.

use crate::cluster::Demand;
use mumakil_base::units::SimSpan;

/// The effort of a phase: parts that follow each other.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PhaseEffort {
    /// How long it takes if nothing is shared.
    pub alone: SimSpan,
    /// The parts; empty if no part shares resources.
    pub parts: Box<[EffortPart]>,
}

/// When the process of a reduce learns of outputs, and when it fetches them.
///
/// One thread asks the tracker for outputs in every `poll`. Another thread fetches what is known, and
/// sleeps whenever it has nothing to fetch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FetchLoop {
    /// The time between two questions; zero if the process learns of each output at once.
    pub poll: SimSpan,
    /// How long it sleeps when it has nothing to fetch; zero if it fetches an output as soon as it
    /// learns of it.
    pub sleep: SimSpan,
    /// Whether the time of the shuffle is its time after the last map had ended, as in a log.
    /// Otherwise a part of that time passes for each output while other maps still run.
    pub is_after_maps: bool,
}

/// A part of a phase.
#[derive(Clone, Debug, PartialEq)]
pub struct EffortPart {
    /// How long it takes if nothing is shared.
    pub alone: SimSpan,
    /// The resource of the node that it keeps busy.
    pub by: NodeResource,
    /// The resources that it shares; `None` if it shares none.
    pub demand: Option<Demand>,
}

/// The resource of a node that a part of a phase keeps busy. A slow resource slows this part down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NodeResource {
    /// The cores.
    Cores,
    /// A disk.
    Disk,
    /// The connection.
    Network,
    /// Nothing: the attempt waits.
    Patience,
}

impl From<SimSpan> for PhaseEffort {
    fn from(alone: SimSpan) -> Self {
        Self { alone, parts: Box::default() }
    }
}

impl EffortPart {
    /// Returns a part that takes a fixed time.
    pub const fn fixed(alone: SimSpan, by: NodeResource) -> Self {
        Self { alone, by, demand: None }
    }
}

impl PhaseEffort {
    /// Returns the effort of these parts. The parts are kept if one of them shares resources, or if
    /// `are_told` is set because nodes may become slow. Otherwise they are dropped to save memory.
    pub fn of<const COUNT: usize>(parts: [EffortPart; COUNT], are_told: bool) -> Self {
        let alone = parts.iter().map(|part| part.alone).sum();
        if !are_told && !parts.iter().any(|part| part.demand.is_some() && !part.alone.is_zero()) {
            return Self::from(alone);
        }
        Self { alone, parts: parts.into_iter().filter(|part| !part.alone.is_zero()).collect() }
    }

    /// Puts a wait before all other parts.
    pub fn wait_first(&mut self, waits: SimSpan) {
        if waits.is_zero() {
            return;
        }
        let wait = EffortPart::fixed(waits, NodeResource::Patience);
        let rest = std::mem::take(&mut self.parts).into_vec();
        // An effort without parts uses the cores; behind a wait it must be a part of its own.
        let whole = EffortPart::fixed(self.alone, NodeResource::Cores);
        let is_whole = rest.is_empty() && !self.alone.is_zero();
        self.parts = [wait].into_iter().chain(is_whole.then_some(whole)).chain(rest).collect();
        self.alone += waits;
    }

    /// Leaves out this share of the phase, from its beginning on.
    pub fn skip(&mut self, share: f64) {
        let mut done = self.alone.ceil_mul(share).min(self.alone);
        self.alone = self.alone.saturating_sub(done);
        for part in &mut self.parts {
            let gone = part.alone.min(done);
            part.alone = part.alone.saturating_sub(gone);
            done = done.saturating_sub(gone);
        }
        let parts = std::mem::take(&mut self.parts).into_vec();
        self.parts = parts.into_iter().filter(|part| !part.alone.is_zero()).collect();
    }

    /// Returns the part that is under way when `done` of the phase is done, and before it the time
    /// that this part still takes. If parts are not kept, returns the time that the phase still
    /// takes, and `None`.
    pub fn under_way(&self, done: SimSpan) -> (SimSpan, Option<&EffortPart>) {
        let mut end = SimSpan::ZERO;
        for part in &self.parts {
            end += part.alone;
            // At the end of a part the next part is under way. Each part takes some time, so no
            // part is skipped.
            if done < end {
                return (end - done, Some(part));
            }
        }
        (self.alone.saturating_sub(done), None)
    }
}
