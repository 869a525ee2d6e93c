//! Nodes: their numbers, their racks and their hardware.

use std::fmt;

use serde::Serialize;

use super::{PowerSpec, SwapSpec};
use mumakil_base::units::{Bytes, Factor, Rate};

/// The number of a TaskTracker and of its node, from 0: each node runs one tracker.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TrackerId(pub u32);

/// The number of a rack, from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RackId(pub u32);

/// The number of a pod, from 0. A pod is a group of racks that share a switch above their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PodId(pub u32);

/// The two kinds of slots.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SlotKind {
    /// Runs maps.
    Map,
    /// Runs reduces.
    Reduce,
}

/// Two values, one for each kind of slot.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct PerSlot<T> {
    /// The value for map slots.
    pub map: T,
    /// The value for reduce slots.
    pub reduce: T,
}

/// A machine that runs a TaskTracker: its rack and its hardware.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// The rack that the node is in.
    pub rack: RackId,
    /// How many slots of each kind the node has.
    pub slots: PerSlot<u32>,
    /// How many cores the node has.
    pub cores: u32,
    /// How fast the node computes; 1 is the speed for which a workload gives its times.
    pub speed: Factor,
    /// The memory for attempts: the node's memory less that of the system and Hadoop's daemons.
    pub memory: Bytes,
    /// How fast each disk of the node reads and writes.
    pub disk: Rate,
    /// The speed of the node's network card, in each direction.
    pub nic: Rate,
    /// How swapping slows down when much is moved at once; `None` if it never slows down.
    pub swap: Option<SwapSpec>,
    /// The power that the node takes; `None` if nobody counts it.
    pub watts: Option<PowerSpec>,
    /// The price of an hour; `None` if nobody counts it.
    pub price: Option<Factor>,
}

impl Node {
    /// Returns a node with plain hardware, for tests.
    pub fn plain(rack: u32, slots: PerSlot<u32>) -> Self {
        Self {
            rack: RackId(rack),
            slots,
            cores: 4,
            speed: Factor::ONE,
            memory: Bytes::from_mib(1_024),
            disk: Rate::from_mb_per_s(100),
            nic: Rate::from_mb_per_s(125),
            swap: None,
            watts: None,
            price: None,
        }
    }
}

impl TrackerId {
    /// Returns the position in a vector of trackers.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

impl RackId {
    /// Returns the position in a vector of racks.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

impl SlotKind {
    /// Both kinds, maps first.
    pub const BOTH: [Self; 2] = [Self::Map, Self::Reduce];

    /// Returns the word used in tables.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Map => "map",
            Self::Reduce => "reduce",
        }
    }
}

impl<T> PerSlot<T> {
    /// Returns the values that `each` returns for the two kinds.
    pub fn of(mut each: impl FnMut(SlotKind) -> T) -> Self {
        Self { map: each(SlotKind::Map), reduce: each(SlotKind::Reduce) }
    }
}

impl<T> std::ops::Index<SlotKind> for PerSlot<T> {
    type Output = T;
    fn index(&self, kind: SlotKind) -> &T {
        match kind {
            SlotKind::Map => &self.map,
            SlotKind::Reduce => &self.reduce,
        }
    }
}

impl<T> std::ops::IndexMut<SlotKind> for PerSlot<T> {
    fn index_mut(&mut self, kind: SlotKind) -> &mut T {
        match kind {
            SlotKind::Map => &mut self.map,
            SlotKind::Reduce => &mut self.reduce,
        }
    }
}

/// Prints the name that people use: nodes are counted from 1.
impl fmt::Display for TrackerId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "node-{}", u64::from(self.0) + 1)
    }
}

/// Prints the name that people use: racks are counted from 1.
impl fmt::Display for RackId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "rack-{}", u64::from(self.0) + 1)
    }
}
