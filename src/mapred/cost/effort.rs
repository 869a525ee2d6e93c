//! How long something takes were it alone, and which parts of it have to share.

use crate::cluster::Demand;
use crate::units::SimSpan;

/// How long something takes were it alone: parts that follow each other.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Effort {
    /// How long it takes.
    pub alone: SimSpan,
    /// The parts; none, if nothing of it has to share.
    pub parts: Box<[Part]>,
}

/// A part of an effort.
#[derive(Clone, Debug, PartialEq)]
pub struct Part {
    /// How long it takes alone.
    pub alone: SimSpan,
    /// What it has to share with others, if it does.
    pub demand: Option<Demand>,
}

impl From<SimSpan> for Effort {
    fn from(alone: SimSpan) -> Self {
        Self { alone, parts: Box::default() }
    }
}

impl Part {
    /// Returns a part that takes its time whatever others do.
    pub const fn fixed(alone: SimSpan) -> Self {
        Self { alone, demand: None }
    }
}

impl Effort {
    /// Returns the effort of these parts. Costs no memory if none of them shares anything.
    pub fn of<const COUNT: usize>(parts: [Part; COUNT]) -> Self {
        let alone = parts.iter().map(|part| part.alone).sum();
        let shares = |part: &Part| part.demand.is_some() && !part.alone.is_zero();
        if !parts.iter().any(shares) {
            return Self::from(alone);
        }
        Self { alone, parts: parts.into_iter().filter(|part| !part.alone.is_zero()).collect() }
    }

    /// Returns what is left of the part that is under way after so much of the effort, and what
    /// that part has to share.
    pub fn under_way(&self, done: SimSpan) -> (SimSpan, Option<&Demand>) {
        let mut end = SimSpan::ZERO;
        for part in &self.parts {
            end += part.alone;
            if done < end {
                return (end - done, part.demand.as_ref());
            }
        }
        (self.alone.saturating_sub(done), None)
    }
}
