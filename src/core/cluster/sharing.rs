//! Max-min fair rates of flows over the resources that they share.
//!
//! A flow uses one or more resources at once (a disk, two wires) at one rate; a weight says how
//! much of that rate loads each resource. Rates are *max-min fair*: no flow can get more without
//! taking it from a flow that is not faster. Equivalently, no resource is over its capacity and
//! every flow has a *bottleneck*: a full resource on which no flow is faster, or a resource whose
//! limit for one flow this flow has reached.
//!
//! ```text
//! flow a: disk and wire    full: the wire, of 40 MB/s     a moves at 40 MB/s
//! flow b: the same disk    full: the disk, of 100 MB/s    b moves at 60 MB/s
//! ```
//!
//! The definition by bottlenecks makes changes cheap. A flow is *awake* while its rate is computed
//! anew. When flows begin or end, only a few flows are awake at first. The awake flows share, by
//! progressive filling, the capacity that the sleeping flows leave. Then every sleeping flow on a
//! resource of an awake flow is checked. A sleeping flow wakes if it has lost its bottleneck, or if
//! it is faster than an awake flow on that flow's bottleneck. If a flow woke, all awake flows share
//! again. When no more flows wake, every flow has a bottleneck. Max-min fair rates are unique, so
//! flows farther off need no check. The work grows with the flows on the resources that the awake
//! flows use.
//!
//! This module knows neither time nor messages. Units are the caller's: bytes a second, or cores.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;

/// A resource, by its position in the list that [`SharedResources::new`] takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ResourceId(pub u32);

/// The limits of a resource.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ResourceCapacity {
    /// The limit of all flows together.
    pub total: f64,
    /// The highest rate of one flow, even if it is alone.
    pub each: f64,
}

impl ResourceCapacity {
    /// Returns a capacity without a limit for one flow.
    pub const fn of(total: f64) -> Self {
        Self { total, each: f64::INFINITY }
    }

    /// Returns the rate of each flow of a group that has the resource to itself; `weight` is the
    /// sum of the group's weights.
    pub fn alone(self, weight: f64) -> f64 {
        (self.total / weight).min(self.each)
    }
}

/// A resource that a flow uses, and how much the flow burdens it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ResourceUse {
    /// The resource, which a flow names at most once.
    pub resource: ResourceId,
    /// The share of the flow's rate that loads the resource; above zero.
    pub weight: f64,
}

/// The number of a flow. After the flow's end, another flow may get the number.
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
    /// The flows whose rates are being computed, in the order in which they woke.
    awake: Vec<FlowIndex>,
    /// The resources that the awake flows use, in the order in which they were found.
    met: Vec<ResourceId>,
    /// The rate at which each resource becomes full, as the bits of a float: numbers from zero up
    /// have the same order as their bits.
    levels: BinaryHeap<Reverse<(u64, ResourceId)>>,
}

#[derive(Debug)]
struct Resource {
    capacity: ResourceCapacity,
    users: Vec<ResourceUser>,
    /// Whether an awake flow uses the resource.
    is_met: bool,
    /// The capacity that the flows with settled rates leave.
    spare: f64,
    /// The sum of the weights of the flows whose rates still rise; `rising_flows` is the number of
    /// these flows.
    rising_weight: f64,
    // Counted beside the sum, because rounding may keep the sum from reaching zero.
    rising_flows: u32,
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
    /// The rate that the last call of `settle` gave the flow.
    told: f64,
    bottleneck: Option<ResourceId>,
    is_awake: bool,
    /// Whether the flow is awake and its rate still rises.
    is_thirsty: bool,
}

/// A summary of the flows on a resource: the load on it and the highest rate of a flow.
struct ResourceLoad {
    load: f64,
    fastest: f64,
    /// The rate of the slowest awake flow that has the resource as its bottleneck.
    slowest_held: f64,
}

/// Two rates with a smaller relative difference count as equal: a sum of floats depends on the
/// order of addition.
// Chosen: far above the rounding of sums of doubles, far below any difference that a run could
// show.
const TOLERANCE: f64 = 1e-9;

fn is_below(small: f64, large: f64) -> bool {
    small < large * (1.0 - TOLERANCE)
}

impl SharedResources {
    /// Returns resources without flows.
    pub fn new(capacities: impl IntoIterator<Item = ResourceCapacity>) -> Self {
        let resources = capacities.into_iter().map(|capacity| Resource {
            capacity,
            users: Vec::new(),
            is_met: false,
            spare: 0.0,
            rising_weight: 0.0,
            rising_flows: 0,
        });
        Self {
            resources: resources.collect(),
            flows: Vec::new(),
            free: Vec::new(),
            awake: Vec::new(),
            met: Vec::new(),
            levels: BinaryHeap::new(),
        }
    }

    /// Adds a flow; [`Self::settle`] finds its rate.
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

    /// Removes a flow, and wakes the flows that it held back.
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
        // The flow itself is still awake if it ends before `settle` is called.
        self.awake.retain(|awake| *awake != flow);
        self.free.push(flow);
    }

    /// Sets the capacity of a resource, and wakes all flows that use it.
    pub fn set_capacity(&mut self, id: ResourceId, capacity: ResourceCapacity) {
        self.resources[id.index()].capacity = capacity;
        for place in 0..self.resources[id.index()].users.len() {
            self.wake(self.resources[id.index()].users[place].flow);
        }
    }

    /// Returns a flow's rate, as [`Self::settle`] last found it.
    pub fn rate(&self, flow: FlowIndex) -> f64 {
        self.flows[flow.index()].rate
    }

    /// Finds the rates after flows have begun or ended or capacities have changed. Calls `changed`
    /// with each flow whose rate has changed, and with its new rate.
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
                // Keep the old rate exactly: otherwise rounding would move it a little at each
                // settling, without a call of `changed`.
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

    /// Shares among the awake flows the capacity that the sleeping flows leave. All rates rise
    /// together from zero; when a resource is full, the rates of its flows stop.
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
            // A level rises when the rates of other flows stop, so push an entry again if its level
            // has risen.
            match self.resources[id.index()].level() {
                Some(level) if f64::from_bits(bits) < level => {
                    self.levels.push(Reverse((level.to_bits(), id)));
                }
                Some(level) => self.fix_rates(id, level),
                None => {}
            }
        }
    }

    /// Gives this rate to all flows of a resource whose rates still rise.
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
                resource.rising_weight -= used.weight;
                resource.rising_flows -= 1;
            }
        }
    }

    /// Wakes each flow that has lost its bottleneck, or is faster than an awake flow on that flow's
    /// bottleneck.
    fn wake_disturbed_flows(&mut self) {
        for met in 0..self.met.len() {
            let id = self.met[met];
            let ResourceLoad { load, fastest, slowest_held } = self.crowd(id);
            let Resource { capacity, .. } = self.resources[id.index()];
            // A resource with room is no flow's bottleneck any more.
            let has_room = is_below(load, capacity.total);
            for place in 0..self.resources[id.index()].users.len() {
                let user = self.resources[id.index()].users[place].flow;
                let flow = &self.flows[user.index()];
                let is_free =
                    flow.is_held_by(id, capacity) && (has_room || is_below(flow.rate, fastest));
                // The resource holds an awake flow at a lower rate than this flow has: that is not
                // fair, so share again.
                if is_free || is_below(slowest_held, flow.rate) {
                    self.wake(user);
                }
            }
        }
    }

    fn crowd(&self, id: ResourceId) -> ResourceLoad {
        let Resource { capacity, users, .. } = &self.resources[id.index()];
        let mut crowd = ResourceLoad { load: 0.0, fastest: 0.0, slowest_held: f64::INFINITY };
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
    /// Returns whether the other flows on a resource keep this flow from being faster.
    fn is_held_by(&self, id: ResourceId, capacity: ResourceCapacity) -> bool {
        // A flow at the limit for one flow is not held back by others.
        self.bottleneck == Some(id) && is_below(self.rate, capacity.each)
    }
}

impl Resource {
    /// Finds the sum of the weights of the flows whose rates still rise, and the capacity that the
    /// other flows leave to them.
    fn measure(&mut self, flows: &[Flow]) {
        (self.spare, self.rising_weight, self.rising_flows) = (self.capacity.total, 0.0, 0);
        for user in &self.users {
            let flow = &flows[user.flow.index()];
            if flow.is_thirsty {
                self.rising_weight += user.weight;
                self.rising_flows += 1;
            } else {
                self.spare -= user.weight * flow.rate;
            }
        }
        self.spare = self.spare.max(0.0);
    }

    /// Returns the rate at which the resource becomes full or reaches its limit for one flow;
    /// `None` if no flow on it still rises.
    fn level(&self) -> Option<f64> {
        (0 < self.rising_flows).then(|| (self.spare / self.rising_weight).min(self.capacity.each))
    }
}

#[cfg(test)]
mod tests;
