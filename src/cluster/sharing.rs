//! Who gets how much of what is shared: max-min fair rates of flows over resources.
//!
//! A flow uses one or more resources at once (a disk, two wires) and moves at one rate everywhere;
//! a weight says how much of that rate burdens each of them. Rates are *max-min fair*: none can
//! grow unless one that is not larger shrinks. Equivalently, no resource is over its capacity and
//! every flow has a *bottleneck*: a resource that is full and on which no flow is faster, or on
//! which the flow goes as fast as one alone may.
//!
//! That second form is what makes changes cheap. When flows begin or end, only a few are awake at
//! first: they share, by progressive filling, what the others leave. Then every sleeper that they
//! met is looked at. One whose bottleneck is none any more wakes, and so does one that is faster
//! than an awake flow on that flow's bottleneck. If one woke, all who are awake share again. When
//! none wakes, every flow has a bottleneck, and as max-min fair rates are unique these are those
//! of the whole: no one farther off has to be asked. The work grows with the flows on the
//! resources that the awake ones use.
//!
//! Nothing here knows time or messages. Units are the caller's: bytes a second, or cores.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;

/// A resource, by its place in the list that [`Sharing::new`] was given.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ResourceId(pub u32);

/// How much of a resource there is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Capacity {
    /// For all flows together.
    pub total: f64,
    /// For one flow: the rate that none exceeds, be it alone or not.
    pub each: f64,
}

impl Capacity {
    /// Returns a capacity that one flow may use up.
    pub const fn of(total: f64) -> Self {
        Self { total, each: f64::INFINITY }
    }

    /// Returns the rate of flows of this weight in sum, were there no other.
    pub fn alone(self, weight: f64) -> f64 {
        (self.total / weight).min(self.each)
    }
}

/// What a flow uses.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Use {
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
pub struct Sharing {
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
    capacity: Capacity,
    users: Vec<User>,
    /// Whether an awake flow uses it.
    is_met: bool,
    /// What flows leave whose rates are settled.
    spare: f64,
    /// The weights of those on it whose rates are not, and how many these are.
    thirst: f64,
    thirsty: u32,
}

#[derive(Clone, Copy, Debug)]
struct User {
    flow: FlowIndex,
    weight: f64,
}

#[derive(Debug, Default)]
struct Flow {
    uses: Arc<[Use]>,
    rate: f64,
    /// The rate before the awake were filled.
    told: f64,
    bottleneck: Option<ResourceId>,
    is_awake: bool,
    /// Whether it is awake and its rate still rises.
    is_thirsty: bool,
}

/// Rates that differ by less, relatively, are the same: sums of floats depend on their order.
const TOLERANCE: f64 = 1e-9;

fn is_below(small: f64, large: f64) -> bool {
    small < large * (1.0 - TOLERANCE)
}

impl Sharing {
    /// Returns resources that nobody uses.
    pub fn new(capacities: impl IntoIterator<Item = Capacity>) -> Self {
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
    pub fn begin(&mut self, uses: Arc<[Use]>) -> FlowIndex {
        assert!(!uses.is_empty(), "a flow that uses nothing has no rate");
        let index = self.free.pop().unwrap_or_else(|| {
            self.flows.push(Flow::default());
            FlowIndex(self.flows.len() as u32 - 1)
        });
        for used in &*uses {
            let user = User { flow: index, weight: used.weight };
            self.resources[used.resource.index()].users.push(user);
        }
        self.flows[index.index()] = Flow { uses, ..Flow::default() };
        self.wake(index);
        index
    }

    /// Removes a flow. Those wake whom it kept from being faster.
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
        self.awake.retain(|awake| *awake != flow);
        self.free.push(flow);
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
            self.wake_the_disturbed();
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
                Some(level) => self.stay_behind(id, level),
                None => {}
            }
        }
    }

    /// Gives the thirsty flows of a resource their rate.
    fn stay_behind(&mut self, id: ResourceId, rate: f64) {
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
                resource.spare = (resource.spare - used.weight * rate).max(0.0);
                resource.thirst -= used.weight;
                resource.thirsty -= 1;
            }
        }
    }

    /// Wakes the sleepers that have lost their bottleneck, and those that stand in another's way.
    fn wake_the_disturbed(&mut self) {
        for met in 0..self.met.len() {
            let id = self.met[met];
            let resource = &self.resources[id.index()];
            let Capacity { total, each } = resource.capacity;
            let users = || resource.users.iter().map(|user| (user, &self.flows[user.flow.index()]));
            let load: f64 = users().map(|(user, flow)| user.weight * flow.rate).sum();
            let fastest = users().map(|(_, flow)| flow.rate).fold(0.0, f64::max);
            // Whom the resource holds back must be as fast as any on it.
            let held = |flow: &Flow| flow.bottleneck == Some(id) && is_below(flow.rate, each);
            let slowest_held = users()
                .filter(|(_, flow)| flow.is_awake && held(flow))
                .map(|(_, flow)| flow.rate)
                .fold(f64::INFINITY, f64::min);
            let has_room = is_below(load, total);
            for place in 0..resource.users.len() {
                let user = self.resources[id.index()].users[place].flow;
                let flow = &self.flows[user.index()];
                let held = flow.bottleneck == Some(id) && is_below(flow.rate, each);
                let is_free = held && (has_room || is_below(flow.rate, fastest));
                if is_free || is_below(slowest_held, flow.rate) {
                    self.wake(user);
                }
            }
        }
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
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn uses(of: &[(u32, f64)]) -> Arc<[Use]> {
        of.iter().map(|(id, weight)| Use { resource: ResourceId(*id), weight: *weight }).collect()
    }

    fn sharing(totals: &[f64]) -> Sharing {
        Sharing::new(totals.iter().copied().map(Capacity::of))
    }

    /// Settles, and returns who was told which rate.
    fn told(sharing: &mut Sharing) -> Vec<(FlowIndex, f64)> {
        let mut told = Vec::new();
        sharing.settle(|flow, rate| told.push((flow, rate)));
        told
    }

    #[test]
    fn two_flows_share_a_disk_and_the_one_that_stays_gets_it_back() {
        let mut sharing = sharing(&[80.0]);
        let one = sharing.begin(uses(&[(0, 1.0)]));
        assert_eq!(told(&mut sharing), [(one, 80.0)]);
        let two = sharing.begin(uses(&[(0, 1.0)]));
        assert_eq!(told(&mut sharing), [(two, 40.0), (one, 40.0)]);
        sharing.end(one);
        assert_eq!(told(&mut sharing), [(two, 80.0)]);
    }

    #[test]
    fn what_a_slow_flow_leaves_goes_to_the_fast_one() {
        // Both use the wire of 100; one reads from a disk of 20.
        let mut sharing = sharing(&[100.0, 20.0]);
        let slow = sharing.begin(uses(&[(0, 1.0), (1, 1.0)]));
        let fast = sharing.begin(uses(&[(0, 1.0)]));
        told(&mut sharing);
        assert_eq!((sharing.rate(slow), sharing.rate(fast)), (20.0, 80.0));
    }

    #[test]
    fn a_weight_says_how_much_of_the_rate_burdens_a_resource() {
        let mut sharing = sharing(&[30.0]);
        let half = sharing.begin(uses(&[(0, 0.5)]));
        let whole = sharing.begin(uses(&[(0, 1.0)]));
        told(&mut sharing);
        assert_eq!((sharing.rate(half), sharing.rate(whole)), (20.0, 20.0));
    }

    #[test]
    fn one_computation_uses_one_core_and_five_share_four() {
        let mut sharing = Sharing::new([Capacity { total: 4.0, each: 1.0 }]);
        for _ in 0..4 {
            sharing.begin(uses(&[(0, 1.0)]));
        }
        assert!(told(&mut sharing).iter().all(|(_, rate)| *rate == 1.0));
        sharing.begin(uses(&[(0, 1.0)]));
        let told = told(&mut sharing);
        assert!(told.len() == 5 && told.iter().all(|(_, rate)| *rate == 0.8), "{told:?}");
    }

    #[test]
    fn a_change_travels_as_far_as_it_must_and_no_farther() {
        // A chain: each flow uses two wires, each wire but the outer ones carries two flows.
        let mut sharing = sharing(&[10.0, 10.0, 30.0, 40.0]);
        let [a, b, c] = [0, 1, 2].map(|wire| sharing.begin(uses(&[(wire, 1.0), (wire + 1, 1.0)])));
        told(&mut sharing);
        assert_eq!([a, b, c].map(|flow| sharing.rate(flow)), [5.0, 5.0, 25.0]);
        sharing.end(a);
        assert_eq!(told(&mut sharing), [(b, 10.0), (c, 20.0)]);
        // The last wire has room for one more, and nobody else hears of it.
        let d = sharing.begin(uses(&[(3, 1.0)]));
        assert_eq!(told(&mut sharing), [(d, 20.0)]);
    }

    #[test]
    fn what_begins_and_ends_before_all_is_settled_changes_nothing() {
        let mut sharing = sharing(&[80.0]);
        let one = sharing.begin(uses(&[(0, 1.0)]));
        told(&mut sharing);
        let other = sharing.begin(uses(&[(0, 1.0)]));
        sharing.end(other);
        assert_eq!(told(&mut sharing), []);
        assert_eq!(sharing.rate(one), 80.0);
    }

    /// Progressive filling of everything at once, with no thought for speed.
    fn naive(capacities: &[Capacity], flows: &[Arc<[Use]>]) -> Vec<f64> {
        let mut rates = vec![None; flows.len()];
        while rates.contains(&None) {
            let level = |id: usize| {
                let weight = |flow: &Arc<[Use]>| {
                    let used = flow.iter().find(|used| used.resource.index() == id);
                    used.map_or(0.0, |used| used.weight)
                };
                let (mut spare, mut thirst) = (capacities[id].total, 0.0);
                for (flow, rate) in flows.iter().zip(&rates) {
                    match rate {
                        Some(rate) => spare -= weight(flow) * rate,
                        None => thirst += weight(flow),
                    }
                }
                (0.0 < thirst).then(|| ((spare.max(0.0) / thirst).min(capacities[id].each), id))
            };
            let (rate, id) = (0..capacities.len())
                .filter_map(level)
                .min_by(|one, other| one.0.total_cmp(&other.0))
                .expect("a flow that still rises uses something");
            for (flow, known) in flows.iter().zip(&mut rates) {
                if known.is_none() && flow.iter().any(|used| used.resource.index() == id) {
                    *known = Some(rate);
                }
            }
        }
        rates.into_iter().flatten().collect()
    }

    /// What happens: a flow begins, the flow at a place among the present ends, or all is settled.
    #[derive(Clone, Debug)]
    enum Step {
        Begin(Arc<[Use]>),
        End(usize),
        Settle,
    }

    fn steps() -> impl Strategy<Value = (Vec<Capacity>, Vec<Step>)> {
        let capacity =
            (1u32..20, prop::option::weighted(0.2, 1u32..5)).prop_map(|(total, each)| Capacity {
                total: f64::from(total),
                each: each.map_or(f64::INFINITY, f64::from),
            });
        prop::collection::vec(capacity, 1..12).prop_flat_map(|capacities| {
            let ids: Vec<u32> = (0..capacities.len() as u32).collect();
            let most = ids.len().min(5);
            let begin =
                (prop::sample::subsequence(ids, 1..=most), 1u32..5).prop_map(|(ids, quarters)| {
                    let weight = |id| if id == 0 { f64::from(quarters) / 4.0 } else { 1.0 };
                    let uses: Vec<(u32, f64)> = ids.iter().map(|id| (*id, weight(*id))).collect();
                    Step::Begin(super::tests::uses(&uses))
                });
            let step = prop_oneof![
                4 => begin,
                3 => (0usize..40).prop_map(Step::End),
                3 => Just(Step::Settle),
            ];
            (Just(capacities), prop::collection::vec(step, 1..60))
        })
    }

    fn near(one: f64, other: f64) -> bool {
        (one - other).abs() <= 1e-6 * one.max(other)
    }

    proptest! {
        #[test]
        fn rates_are_those_of_the_naive_solver_whatever_happened_before((capacities, steps) in steps()) {
            let mut sharing = Sharing::new(capacities.iter().copied());
            let mut present: Vec<(FlowIndex, Arc<[Use]>)> = Vec::new();
            let mut known: Vec<f64> = Vec::new();
            for step in steps.into_iter().chain([Step::Settle]) {
                match step {
                    Step::Begin(uses) => present.push((sharing.begin(uses.clone()), uses)),
                    Step::End(place) if place < present.len() => {
                        sharing.end(present.remove(place).0);
                    }
                    Step::End(_) => {}
                    Step::Settle => {
                        sharing.settle(|flow, rate| {
                            known.resize(known.len().max(flow.index() + 1), 0.0);
                            known[flow.index()] = rate;
                        });
                        let flows: Vec<_> = present.iter().map(|(_, uses)| uses.clone()).collect();
                        for ((flow, _), rate) in present.iter().zip(naive(&capacities, &flows)) {
                            prop_assert!(near(sharing.rate(*flow), rate));
                            prop_assert!(near(known[flow.index()], rate), "not told");
                        }
                    }
                }
            }
        }

        #[test]
        fn nothing_is_over_its_capacity_and_every_flow_has_a_bottleneck((capacities, steps) in steps()) {
            let mut sharing = Sharing::new(capacities.iter().copied());
            let mut present: Vec<(FlowIndex, Arc<[Use]>)> = Vec::new();
            for step in steps {
                match step {
                    Step::Begin(uses) => present.push((sharing.begin(uses.clone()), uses)),
                    Step::End(place) if place < present.len() => {
                        sharing.end(present.remove(place).0);
                    }
                    _ => sharing.settle(|_, _| {}),
                }
            }
            sharing.settle(|_, _| {});
            let on = |id: usize| {
                let rates = present.iter().filter_map(|(flow, uses)| {
                    let used = uses.iter().find(|used| used.resource.index() == id)?;
                    Some((sharing.rate(*flow), used.weight))
                });
                let load: f64 = rates.clone().map(|(rate, weight)| rate * weight).sum();
                (load, rates.map(|(rate, _)| rate).fold(0.0, f64::max))
            };
            for (id, capacity) in capacities.iter().enumerate() {
                let (load, fastest) = on(id);
                prop_assert!(load <= capacity.total * (1.0 + 1e-6), "{load} of {capacity:?}");
                prop_assert!(fastest <= capacity.each);
            }
            for (flow, uses) in &present {
                let rate = sharing.rate(*flow);
                let holds = |used: &Use| {
                    let id = used.resource.index();
                    let (load, fastest) = on(id);
                    let is_full = near(load, capacities[id].total) && near(rate, fastest);
                    is_full || near(rate, capacities[id].each)
                };
                prop_assert!(uses.iter().any(holds), "{rate} could be more");
            }
        }

        #[test]
        fn the_order_in_which_flows_came_does_not_matter((capacities, steps) in steps()) {
            let flows: Vec<Arc<[Use]>> = steps
                .into_iter()
                .filter_map(|step| if let Step::Begin(uses) = step { Some(uses) } else { None })
                .collect();
            let mut forwards = Sharing::new(capacities.iter().copied());
            let mut backwards = Sharing::new(capacities.iter().copied());
            let one: Vec<FlowIndex> = flows.iter().map(|uses| forwards.begin(uses.clone())).collect();
            forwards.settle(|_, _| {});
            let mut other: Vec<FlowIndex> = Vec::new();
            for uses in flows.iter().rev() {
                other.push(backwards.begin(uses.clone()));
                backwards.settle(|_, _| {});
            }
            for (one, other) in one.iter().zip(other.iter().rev()) {
                prop_assert!(near(forwards.rate(*one), backwards.rate(*other)));
            }
        }
    }
}
