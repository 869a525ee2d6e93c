//! Max-min fair rates of flows over the resources that they share.
//!
//! A flow uses one or more resources at once (a disk, two wires) and moves at one rate everywhere;
//! a weight says how much of that rate burdens each of them. Rates are *max-min fair*: none can
//! grow unless one that is not larger shrinks. Equivalently, no resource is over its capacity and
//! every flow has a *bottleneck*: a resource that is full and on which no flow is faster, or on
//! which the flow goes as fast as one alone may.
//!
//! ```text
//! flow a: disk and wire    full: the wire, of 40 MB/s     a moves at 40 MB/s
//! flow b: the same disk    full: the disk, of 100 MB/s    b moves at 60 MB/s
//! ```
//!
//! That second form makes changes cheap. When flows begin or end, only a few are awake at first:
//! they share, by progressive filling, what the others leave. Then every sleeper that they met is
//! looked at. A sleeper that has lost its bottleneck wakes, and so does one that is faster than an
//! awake flow on that flow's bottleneck. If one woke, all awake flows share again. When none wakes,
//! every flow has a bottleneck; and as max-min fair rates are unique, no flow farther off has to be
//! looked at. The work grows with the flows on the resources that the awake ones use.
//!
//! Nothing here knows time or messages. Units are the caller's: bytes a second, or cores.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;

/// A resource, by its place in the list that [`SharedResources::new`] was given.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ResourceId(pub u32);

/// How much of a resource there is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ResourceCapacity {
    /// For all flows together.
    pub total: f64,
    /// For one flow: the rate that none exceeds, be it alone or not.
    pub each: f64,
}

impl ResourceCapacity {
    /// Returns a capacity that one flow may use up.
    pub const fn of(total: f64) -> Self {
        Self { total, each: f64::INFINITY }
    }

    /// Returns the rate of flows of this weight in sum, were there no other.
    pub fn alone(self, weight: f64) -> f64 {
        (self.total / weight).min(self.each)
    }
}

/// A resource that a flow uses, and how much the flow burdens it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ResourceUse {
    /// The resource, which a flow names at most once.
    pub resource: ResourceId,
    /// The share of the flow's rate that burdens it; above zero.
    pub weight: f64,
}

/// A flow, by its place among those that are there; free for another after its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct FlowIndex(u32);

impl ResourceId {
    /// Returns the position in a vector of resources.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

impl FlowIndex {
    /// Returns the position in a vector of flows.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// Resources and the flows that share them.
#[derive(Debug)]
pub struct SharedResources {
    resources: Vec<Resource>,
    flows: Vec<Flow>,
    free: Vec<FlowIndex>,
    /// Flows whose rates are being looked for, in the order in which they woke.
    awake: Vec<FlowIndex>,
    /// Resources that they use, in the order in which they were met.
    met: Vec<ResourceId>,
    /// The levels at which resources will be full, by their bits, which for numbers that are not
    /// negative have the order of the numbers.
    levels: BinaryHeap<Reverse<(u64, ResourceId)>>,
}

#[derive(Debug)]
struct Resource {
    capacity: ResourceCapacity,
    users: Vec<ResourceUser>,
    /// Whether an awake flow uses it.
    is_met: bool,
    /// The capacity that the flows with settled rates leave to the others.
    spare: f64,
    /// The sum of the weights of the flows whose rates are not settled, and how many these flows
    /// are.
    thirst: f64,
    // Counted beside the sum, which after additions and subtractions may miss zero by a little.
    thirsty: u32,
}

#[derive(Clone, Copy, Debug)]
struct ResourceUser {
    flow: FlowIndex,
    weight: f64,
}

#[derive(Debug, Default)]
struct Flow {
    uses: Arc<[ResourceUse]>,
    rate: f64,
    /// The rate before the awake were filled.
    told: f64,
    bottleneck: Option<ResourceId>,
    is_awake: bool,
    /// Whether it is awake and its rate still rises.
    is_thirsty: bool,
}

/// The flows on a resource, summed up.
struct Crowd {
    load: f64,
    fastest: f64,
    /// The rate of the slowest awake flow that the resource holds back.
    slowest_held: f64,
}

/// Rates that differ by less, relatively, are the same: sums of floats depend on their order.
// Chosen: far above the rounding of sums of doubles, far below what a run could show.
const TOLERANCE: f64 = 1e-9;

fn is_below(small: f64, large: f64) -> bool {
    small < large * (1.0 - TOLERANCE)
}

impl SharedResources {
    /// Returns resources without flows.
    pub fn new(capacities: impl IntoIterator<Item = ResourceCapacity>) -> Self {
        let resource = |capacity| Resource {
            capacity,
            users: Vec::new(),
            is_met: false,
            spare: 0.0,
            thirst: 0.0,
            thirsty: 0,
        };
        Self {
            resources: capacities.into_iter().map(resource).collect(),
            flows: Vec::new(),
            free: Vec::new(),
            awake: Vec::new(),
            met: Vec::new(),
            levels: BinaryHeap::new(),
        }
    }

    /// Adds a flow that uses something; its rate is there when all is settled.
    pub fn begin(&mut self, uses: Arc<[ResourceUse]>) -> FlowIndex {
        assert!(!uses.is_empty(), "a flow that uses nothing has no rate");
        let index = self.free.pop().unwrap_or_else(|| {
            self.flows.push(Flow::default());
            FlowIndex(self.flows.len() as u32 - 1)
        });
        for used in &*uses {
            let user = ResourceUser { flow: index, weight: used.weight };
            // The weight is kept here as well, so that sums over a resource need not look into its
            // flows.
            self.resources[used.resource.index()].users.push(user);
        }
        self.flows[index.index()] = Flow { uses, ..Flow::default() };
        self.wake(index);
        index
    }

    /// Removes a flow. The flows that it held back wake.
    pub fn end(&mut self, flow: FlowIndex) {
        let uses = std::mem::take(&mut self.flows[flow.index()]).uses;
        for used in &*uses {
            let users = &mut self.resources[used.resource.index()].users;
            users.retain(|user| user.flow != flow);
            for place in 0..users.len() {
                let user = self.resources[used.resource.index()].users[place].flow;
                if self.flows[user.index()].bottleneck == Some(used.resource) {
                    self.wake(user);
                }
            }
        }
        // It may have begun at the same instant, and was never settled.
        self.awake.retain(|awake| *awake != flow);
        self.free.push(flow);
    }

    /// Gives a resource another capacity. All who use it wake.
    pub fn set_capacity(&mut self, id: ResourceId, capacity: ResourceCapacity) {
        self.resources[id.index()].capacity = capacity;
        for place in 0..self.resources[id.index()].users.len() {
            self.wake(self.resources[id.index()].users[place].flow);
        }
    }

    /// Returns the rate of a flow, as it was settled last.
    pub fn rate(&self, flow: FlowIndex) -> f64 {
        self.flows[flow.index()].rate
    }

    /// Finds the rates after flows have begun and ended, and calls `changed` with each flow that
    /// has another rate than before.
    pub fn settle(&mut self, mut changed: impl FnMut(FlowIndex, f64)) {
        loop {
            let awake = self.awake.len();
            self.fill();
            self.wake_disturbed_flows();
            if self.awake.len() == awake {
                break;
            }
        }
        for id in self.met.drain(..) {
            self.resources[id.index()].is_met = false;
        }
        for index in self.awake.drain(..) {
            let flow = &mut self.flows[index.index()];
            flow.is_awake = false;
            if is_below(flow.rate, flow.told) || is_below(flow.told, flow.rate) {
                changed(index, flow.rate);
            } else {
                // The old bits, too: otherwise each settling would move the rate by rounding, and
                // its tracker would not hear of it.
                flow.rate = flow.told;
            }
        }
    }

    fn wake(&mut self, index: FlowIndex) {
        let flow = &mut self.flows[index.index()];
        if !flow.is_awake {
            flow.is_awake = true;
            flow.told = flow.rate;
            self.awake.push(index);
        }
    }

    /// Shares what the sleepers leave among the awake: all rates rise together from zero, and
    /// where a resource is full its flows stay behind.
    fn fill(&mut self) {
        for index in &self.awake {
            let flow = &mut self.flows[index.index()];
            flow.is_thirsty = true;
            for used in &*flow.uses {
                let resource = &mut self.resources[used.resource.index()];
                if !resource.is_met {
                    resource.is_met = true;
                    self.met.push(used.resource);
                }
            }
        }
        for id in &self.met {
            let resource = &mut self.resources[id.index()];
            resource.measure(&self.flows);
            if let Some(level) = resource.level() {
                self.levels.push(Reverse((level.to_bits(), *id)));
            }
        }
        while let Some(Reverse((bits, id))) = self.levels.pop() {
            // Levels only rise while others stay behind; an entry that is too low comes again.
            match self.resources[id.index()].level() {
                Some(level) if f64::from_bits(bits) < level => {
                    self.levels.push(Reverse((level.to_bits(), id)));
                }
                Some(level) => self.fix_rates(id, level),
                None => {}
            }
        }
    }

    /// Gives the thirsty flows of a resource their rate.
    fn fix_rates(&mut self, id: ResourceId, rate: f64) {
        for place in 0..self.resources[id.index()].users.len() {
            let user = self.resources[id.index()].users[place];
            let flow = &mut self.flows[user.flow.index()];
            if !std::mem::take(&mut flow.is_thirsty) {
                continue;
            }
            flow.rate = rate;
            flow.bottleneck = Some(id);
            for used in &*flow.uses {
                let resource = &mut self.resources[used.resource.index()];
                // Rounding may take a little more than there is; a rate below zero would let time
                // run back.
                resource.spare = (resource.spare - used.weight * rate).max(0.0);
                resource.thirst -= used.weight;
                resource.thirsty -= 1;
            }
        }
    }

    /// Wakes the sleepers that have lost their bottleneck, and those that stand in another's way.
    fn wake_disturbed_flows(&mut self) {
        for met in 0..self.met.len() {
            let id = self.met[met];
            let Crowd { load, fastest, slowest_held } = self.crowd(id);
            let Resource { capacity, .. } = self.resources[id.index()];
            // A resource with room holds no flow back any more.
            let has_room = is_below(load, capacity.total);
            for place in 0..self.resources[id.index()].users.len() {
                let user = self.resources[id.index()].users[place].flow;
                let flow = &self.flows[user.index()];
                let is_free =
                    flow.is_held_by(id, capacity) && (has_room || is_below(flow.rate, fastest));
                // An awake flow is held here at a lower rate than this one has: that is not fair,
                // so share again.
                if is_free || is_below(slowest_held, flow.rate) {
                    self.wake(user);
                }
            }
        }
    }

    fn crowd(&self, id: ResourceId) -> Crowd {
        let Resource { capacity, users, .. } = &self.resources[id.index()];
        let mut crowd = Crowd { load: 0.0, fastest: 0.0, slowest_held: f64::INFINITY };
        for user in users {
            let flow = &self.flows[user.flow.index()];
            crowd.load += user.weight * flow.rate;
            crowd.fastest = crowd.fastest.max(flow.rate);
            if flow.is_awake && flow.is_held_by(id, *capacity) {
                crowd.slowest_held = crowd.slowest_held.min(flow.rate);
            }
        }
        crowd
    }
}

impl Flow {
    /// Returns whether a resource keeps it from being faster, because of the others there.
    fn is_held_by(&self, id: ResourceId, capacity: ResourceCapacity) -> bool {
        // A flow at the rate that one alone may have is not held back by the others.
        self.bottleneck == Some(id) && is_below(self.rate, capacity.each)
    }
}

impl Resource {
    /// Finds what the flows leave that are not thirsty, and how much the others want.
    fn measure(&mut self, flows: &[Flow]) {
        (self.spare, self.thirst, self.thirsty) = (self.capacity.total, 0.0, 0);
        for user in &self.users {
            let flow = &flows[user.flow.index()];
            if flow.is_thirsty {
                self.thirst += user.weight;
                self.thirsty += 1;
            } else {
                self.spare -= user.weight * flow.rate;
            }
        }
        self.spare = self.spare.max(0.0);
    }

    /// Returns the rate at which the resource is full, or holds back for another reason; none, if
    /// no rate on it rises any more.
    fn level(&self) -> Option<f64> {
        (0 < self.thirsty).then(|| (self.spare / self.thirst).min(self.capacity.each))
    }
}

#[cfg(test)]
mod tests;
