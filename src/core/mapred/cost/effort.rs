//! How long something takes were it alone, and which parts of it have to share.

use crate::cluster::Demand;
use mumakil_base::units::SimSpan;

/// How long something takes were it alone: parts that follow each other.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PhaseEffort {
    /// How long it takes.
    pub alone: SimSpan,
    /// The parts; none, if nothing of it has to share.
    pub parts: Box<[EffortPart]>,
}

/// A part of an effort.
#[derive(Clone, Debug, PartialEq)]
pub struct EffortPart {
    /// How long it takes alone.
    pub alone: SimSpan,
    /// The part of the node that it keeps busy.
    pub by: NodeResource,
    /// The resources that it shares with others, if it does.
    pub demand: Option<Demand>,
}

/// The part of a node that an effort keeps busy: if that is slow, so is the effort.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NodeResource {
    /// The cores.
    Cores,
    /// A disk.
    Disk,
    /// The connection.
    Network,
    /// Nothing: it waits.
    Patience,
}

impl From<SimSpan> for PhaseEffort {
    fn from(alone: SimSpan) -> Self {
        Self { alone, parts: Box::default() }
    }
}

impl EffortPart {
    /// Returns a part that takes its time whatever others do.
    pub const fn fixed(alone: SimSpan, by: NodeResource) -> Self {
        Self { alone, by, demand: None }
    }
}

impl PhaseEffort {
    /// Returns the effort of these parts. It keeps the parts only if one of them shares something,
    /// or if `are_told`, as where nodes may become slow: the others cost no memory.
    pub fn of<const COUNT: usize>(parts: [EffortPart; COUNT], are_told: bool) -> Self {
        let alone = parts.iter().map(|part| part.alone).sum();
        let shares = |part: &EffortPart| part.demand.is_some() && !part.alone.is_zero();
        if !are_told && !parts.iter().any(shares) {
            return Self::from(alone);
        }
        Self { alone, parts: parts.into_iter().filter(|part| !part.alone.is_zero()).collect() }
    }

    /// Lets it wait for so long before all else.
    pub fn wait_first(&mut self, waits: SimSpan) {
        if waits.is_zero() {
            return;
        }
        let wait = EffortPart::fixed(waits, NodeResource::Patience);
        let rest = std::mem::take(&mut self.parts).into_vec();
        // An effort without parts is one of the cores; to stand behind a wait it needs to be a
        // part.
        let whole = EffortPart::fixed(self.alone, NodeResource::Cores);
        let is_whole = rest.is_empty() && !self.alone.is_zero();
        self.parts = [wait].into_iter().chain(is_whole.then_some(whole)).chain(rest).collect();
        self.alone += waits;
    }

    /// Returns what is left of the part that is under way after so much of the effort, and that part,
    /// if there is one.
    pub fn under_way(&self, done: SimSpan) -> (SimSpan, Option<&EffortPart>) {
        let mut end = SimSpan::ZERO;
        for part in &self.parts {
            end += part.alone;
            // At the end of a part the next one is under way. Parts take some time each, so none is
            // skipped.
            if done < end {
                return (end - done, Some(part));
            }
        }
        (self.alone.saturating_sub(done), None)
    }
}
