//! Memory and cores as the JobTracker counts them: the amounts that attempts ask for, and that
//! nodes have.

use std::ops::{Add, AddAssign, Sub, SubAssign};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use mumakil_base::mutated;
use mumakil_base::units::Bytes;

/// The resources of a node that limit its attempts beside its slots.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum CountedResources {
    /// None: a task may run wherever a slot is free, as in Hadoop.
    #[default]
    #[serde(rename = "slots")]
    Slots,
    /// Memory: all tasks of a node together ask for no more than it has.
    #[serde(rename = "memory")]
    Memory,
    /// Memory and cores.
    #[serde(rename = "memory+cores")]
    MemoryAndCores,
}

/// Amounts of two resources: bytes of memory and cores; or, where neither is counted, slots for maps
/// and for reduces.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Amounts([u64; 2]);

impl CountedResources {
    /// Returns whether nothing but slots is counted.
    pub fn are_only_slots(&self) -> bool {
        *self == Self::Slots
    }

    /// Returns the counted part of these amounts; nothing if only slots are counted.
    pub fn of(self, memory: Bytes, cores: u32) -> Amounts {
        match self {
            Self::Slots => Amounts::default(),
            Self::Memory => Amounts::of(memory.get(), 0),
            Self::MemoryAndCores => Amounts::of(memory.get(), u64::from(cores)),
        }
    }
}

impl Amounts {
    /// Returns these amounts of the two resources.
    pub const fn of(first: u64, second: u64) -> Self {
        Self([first, second])
    }

    /// Returns the amounts of the first and the second resource.
    pub const fn parts(self) -> [u64; 2] {
        self.0
    }

    /// Returns whether there is as much of each resource in `all`.
    pub fn fit_in(self, all: Self) -> bool {
        self.0.iter().zip(all.0).all(|(own, all)| *own <= all)
    }

    /// Returns the larger of the shares that these amounts are of `all`. A resource of which there
    /// is nothing has no share.
    pub fn dominant_share(self, all: Self) -> f64 {
        let counted = self.0.into_iter().zip(all.0).filter(|(_, all)| 0 < *all);
        let most = mutated!(usize::MAX, "drf/first-resource" => 1);
        counted.take(most).map(|(own, all)| own as f64 / all as f64).fold(0.0, f64::max)
    }

    /// Returns the amounts of `count` attempts that each ask for these.
    pub fn times(self, count: u32) -> Self {
        // Saturate: a user may write 18 EiB, and no node has them.
        Self(self.0.map(|amount| amount.saturating_mul(u64::from(count))))
    }
}

impl Add for Amounts {
    type Output = Self;

    fn add(self, more: Self) -> Self {
        Self([0, 1].map(|of| self.0[of].saturating_add(more.0[of])))
    }
}

impl AddAssign for Amounts {
    fn add_assign(&mut self, more: Self) {
        *self = *self + more;
    }
}

impl Sub for Amounts {
    type Output = Self;

    fn sub(self, less: Self) -> Self {
        Self([0, 1].map(|of| self.0[of].saturating_sub(less.0[of])))
    }
}

impl SubAssign for Amounts {
    fn sub_assign(&mut self, less: Self) {
        *self = *self - less;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_counted_resource_must_fit() {
        let node = CountedResources::MemoryAndCores.of(Bytes::from_mib(4), 3);
        let held = CountedResources::MemoryAndCores.of(Bytes::from_mib(3), 1);
        let fits = |mib, cores| {
            let more = CountedResources::MemoryAndCores.of(Bytes::from_mib(mib), cores);
            (held + more).fit_in(node)
        };
        assert_eq!([fits(1, 2), fits(2, 1), fits(1, 3)], [true, false, false]);
        assert_eq!(CountedResources::Slots.of(Bytes::from_mib(99), 99), Amounts::default());
    }

    #[test]
    fn the_dominant_share_is_the_larger_one() {
        let all = Amounts::of(18, 9);
        let shares = [(4, 1), (1, 3), (0, 0)]
            .map(|(memory, cores)| Amounts::of(memory, cores).dominant_share(all));
        assert_eq!(shares, [4.0 / 18.0, 3.0 / 9.0, 0.0]);
        assert_eq!(Amounts::of(5, 7).dominant_share(Amounts::of(10, 0)), 0.5);
    }
}
