//! The speeds of a node's parts, which a fault can lower for a while.

/// The speeds of a node's parts, as shares of their usual speeds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Speeds {
    /// The speed of the node's cores.
    pub cpu: f64,
    /// The speed of each of the node's disks.
    pub disk: f64,
    /// The speed of the node's connection, in each direction.
    pub network: f64,
}

impl Speeds {
    /// Everything is as fast as usual.
    pub const USUAL: Self = Self { cpu: 1.0, disk: 1.0, network: 1.0 };

    /// Returns whether everything is as fast as usual.
    pub const fn are_usual(self) -> bool {
        self.cpu == 1.0 && self.disk == 1.0 && self.network == 1.0
    }

    /// Returns the speeds of a machine that two causes slow down at once.
    pub fn and(self, other: Self) -> Self {
        Self {
            // If two causes each halve the speed, a quarter of it is left.
            cpu: self.cpu * other.cpu,
            disk: self.disk * other.disk,
            network: self.network * other.network,
        }
    }
}
