//! The cheapest flow through a network that changes.
//!
//! Nodes supply or demand units, which flow along arcs of limited capacity; each unit pays the cost
//! of the arcs on its way. After a change, the old flow is repaired instead of computed anew: arcs
//! that have become worth their cost are filled, and each unit that is then out of place takes the
//! cheapest path to a place where one is lacking (successive shortest paths with potentials).
//!
//! ```text
//! supply 1 ──task──▶ 0 ──node──▶ 1 ──sink       the reduced cost of an arc is
//!             ╰─ 5 ──wait──▶ 0 ──╯               cost + potential(from) - potential(to)
//! ```
//! The flow is the cheapest one if and only if no arc with room has a negative reduced cost. This
//! holds after each [repair](CheapestFlow::repair), and is a proof that anyone can
//! [check](CheapestFlow::is_proven).

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// A network with its cheapest flow.
///
/// Costs are integers, so that the flow does not depend on rounding. The sum of the costs on any
/// path must fit into an `i64`.
#[derive(Clone, Debug, Default)]
pub struct CheapestFlow {
    nodes: Vec<NodeOfFlow>,
    /// The arcs, each as two directions side by side: at an even place the arc itself, at the next
    /// place the way back, along which flow is undone.
    ways: Vec<FlowWay>,
    /// Arcs that may have got a negative reduced cost.
    doubted: Vec<usize>,
    /// Nodes that may have units out of place.
    restless: Vec<usize>,
    unused_nodes: Vec<usize>,
    unused_ways: Vec<usize>,
    search: PathSearch,
}

/// A node of a network.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FlowNode(usize);

/// An arc of a network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlowArc(usize);

/// The supply of a node cannot reach any demand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unreachable;

#[derive(Clone, Debug, Default)]
struct NodeOfFlow {
    /// Parts between which nothing may flow wander off from each other, by the cost of an arc each
    /// time: far beyond the largest cost.
    potential: i128,
    supply: i64,
    /// The supply and the units that flow in, less the units that flow out.
    excess: i64,
    /// The ways that leave it; those with room come first.
    ways: Vec<usize>,
    /// How many of them have room. Of the thousands of ways that tasks take to one place, few do, so
    /// a search must not look at all.
    open: usize,
}

#[derive(Clone, Copy, Debug)]
struct FlowWay {
    to: usize,
    cost: i64,
    /// How many more units may go this way.
    room: i64,
    /// Its place in the list of the node that it leaves.
    place: usize,
}

/// The memory of searches for paths, kept to be used again.
#[derive(Clone, Debug, Default)]
struct PathSearch {
    /// The number of the search; what an earlier one has noted does not count.
    number: u64,
    nodes: Vec<SearchedNode>,
    heap: BinaryHeap<Reverse<(i128, usize)>>,
    /// The path to the node that was reached last, as far as it costs nothing, each node with the
    /// place of the next way to look at. Many paths cost the same: the search goes on from the
    /// newest node at once, instead of noting all nodes that are equally near.
    trail: Vec<(usize, usize)>,
    /// The nodes whose distance is final.
    done: Vec<usize>,
}

#[derive(Clone, Copy, Debug, Default)]
struct SearchedNode {
    search: u64,
    distance: i128,
    is_done: bool,
    /// The way by which the path comes.
    by: usize,
}

impl CheapestFlow {
    /// Adds a node without arcs, which supplies this many units; a negative number is a demand.
    pub fn add_node(&mut self, supply: i64) -> FlowNode {
        let place = self.unused_nodes.pop().unwrap_or_else(|| {
            self.nodes.push(NodeOfFlow::default());
            self.nodes.len() - 1
        });
        let node = FlowNode(place);
        self.set_supply(node, supply);
        node
    }

    /// Removes a node with its arcs. Units that flowed through it are out of place at its neighbours
    /// until the next [repair](CheapestFlow::repair).
    pub fn remove_node(&mut self, node: FlowNode) {
        while let Some(way) = self.nodes[node.0].ways.last().copied() {
            self.remove_arc(FlowArc(way & !1));
        }
        self.nodes[node.0] = NodeOfFlow::default();
        self.unused_nodes.push(node.0);
    }

    /// Changes how many units a node supplies.
    pub fn set_supply(&mut self, node: FlowNode, supply: i64) {
        let before = std::mem::replace(&mut self.nodes[node.0].supply, supply);
        self.shift_excess(node.0, supply - before);
    }

    /// Adds an arc.
    pub fn add_arc(&mut self, from: FlowNode, to: FlowNode, capacity: i64, cost: i64) -> FlowArc {
        let arc = self.unused_ways.pop().unwrap_or_else(|| {
            let empty = FlowWay { to: 0, cost: 0, room: 0, place: 0 };
            self.ways.extend([empty; 2]);
            self.ways.len() - 2
        });
        for (way, from, to, cost) in [(arc, from, to, cost), (arc + 1, to, from, -cost)] {
            let list = &mut self.nodes[from.0].ways;
            self.ways[way] = FlowWay { to: to.0, cost, room: 0, place: list.len() };
            list.push(way);
        }
        self.set_room(arc, capacity);
        self.doubted.push(arc);
        FlowArc(arc)
    }

    /// Removes an arc. Its units are out of place until the next repair.
    pub fn remove_arc(&mut self, arc: FlowArc) {
        self.set_capacity(arc, 0);
        for way in [arc.0, arc.0 + 1] {
            let (from, place) = (self.from(way), self.ways[way].place);
            let list = &mut self.nodes[from].ways;
            list.swap_remove(place);
            if let Some(moved) = list.get(place).copied() {
                self.ways[moved].place = place;
            }
        }
        self.unused_ways.push(arc.0);
    }

    /// Changes the cost of a unit on an arc.
    pub fn set_cost(&mut self, arc: FlowArc, cost: i64) {
        if self.ways[arc.0].cost != cost {
            (self.ways[arc.0].cost, self.ways[arc.0 + 1].cost) = (cost, -cost);
            self.doubted.push(arc.0);
        }
    }

    /// Changes how many units may flow on an arc. Units for which there is no room any more are out
    /// of place until the next repair.
    pub fn set_capacity(&mut self, arc: FlowArc, capacity: i64) {
        let flow = self.flow(arc);
        let over = (flow - capacity).max(0);
        self.set_room(arc.0, capacity - (flow - over));
        self.set_room(arc.0 + 1, flow - over);
        if 0 < over {
            self.shift_excess(self.from(arc.0), over);
            self.shift_excess(self.ways[arc.0].to, -over);
        }
        self.doubted.push(arc.0);
    }

    /// Sends units along an arc, which has room for them. With a good guess, the next repair has less
    /// to do.
    pub fn guess(&mut self, arc: FlowArc, units: i64) {
        self.send(arc.0, units);
        self.shift_excess(self.from(arc.0), -units);
        self.shift_excess(self.ways[arc.0].to, units);
        self.doubted.push(arc.0);
    }

    /// Adds an arc of one unit that costs at most as much as the way that a unit takes from one node
    /// to the other now, and moves that unit to it. The flow stays the cheapest one, without a search.
    pub fn add_shortcut(&mut self, from: FlowNode, to: FlowNode, cost: i64) -> FlowArc {
        let mut way = Vec::new();
        let is_found = self.follow_flow(from.0, to.0, &mut way);
        let arc = self.add_arc(from, to, 1, cost);
        if is_found {
            for old in way {
                self.send(old ^ 1, 1);
                self.doubted.push(old);
            }
            self.send(arc.0, 1);
            // The arc that the unit has left may have been full because it is worth more than it costs.
            self.settle(from);
        }
        arc
    }

    /// Finds arcs on which units flow from one node to another.
    fn follow_flow(&self, from: usize, to: usize, found: &mut Vec<usize>) -> bool {
        from == to
            || self.nodes[from].ways.iter().filter(|way| *way % 2 == 0).any(|way| {
                let flows = 0 < self.ways[way ^ 1].room;
                found.push(*way);
                let is_there = flows && self.follow_flow(self.ways[*way].to, to, found);
                if !is_there {
                    found.pop();
                }
                is_there
            })
    }

    /// Returns how many units flow on an arc.
    pub fn flow(&self, arc: FlowArc) -> i64 {
        self.ways[arc.0 + 1].room
    }

    /// Lists the nodes from which units flow straight to a node, with their numbers of units.
    pub fn sources_of(&self, node: FlowNode) -> impl Iterator<Item = (FlowNode, i64)> {
        // A way back that has room leads to a node from which units come.
        let back = self.nodes[node.0].ways.iter().filter(|way| *way % 2 == 1);
        let filled = back.map(|way| &self.ways[*way]).filter(|way| 0 < way.room);
        filled.map(|way| (FlowNode(way.to), way.room))
    }

    /// Returns what the flow costs.
    pub fn cost(&self) -> i64 {
        let arcs = (0..self.ways.len()).step_by(2);
        arcs.map(|arc| self.ways[arc].cost * self.ways[arc + 1].room).sum()
    }

    /// Gives a node the potential with which none of its arcs with room has a negative reduced cost,
    /// if there is one. Without this, [`CheapestFlow::repair`] finds it with more work.
    pub fn settle(&mut self, node: FlowNode) {
        let ways = self.nodes[node.0].ways.iter();
        let [mut least, mut most] = [None, None];
        for way in ways {
            let (out, back) = (&self.ways[*way], &self.ways[way ^ 1]);
            let other = self.nodes[out.to].potential;
            if 0 < out.room {
                least = least.max(Some(other - i128::from(out.cost)));
            }
            if 0 < back.room {
                let bound = other + i128::from(back.cost);
                most = Some(most.map_or(bound, |most: i128| most.min(bound)));
            }
        }
        // If the bounds contradict each other, a repair must move flow.
        if least.zip(most).is_none_or(|(least, most)| least <= most)
            && let Some(potential) = most.or(least)
        {
            self.nodes[node.0].potential = potential;
        }
    }

    /// Makes the flow the cheapest one again after changes. The supplies and demands of all nodes
    /// must add up to zero.
    ///
    /// # Errors
    /// If units cannot reach a demand; the flow is then of no use.
    pub fn repair(&mut self) -> Result<(), Unreachable> {
        while let Some(arc) = self.doubted.pop() {
            for way in [arc, arc ^ 1] {
                let room = self.ways[way].room;
                if 0 < room && self.reduced_cost(way) < 0 {
                    self.send(way, room);
                    self.shift_excess(self.from(way), -room);
                    self.shift_excess(self.ways[way].to, room);
                }
            }
        }
        while let Some(node) = self.restless.pop() {
            while 0 < self.nodes[node].excess {
                let lacking = self.find_lacking(node)?;
                self.send_along_path(node, lacking);
            }
        }
        Ok(())
    }

    /// Returns whether the flow is proven to be the cheapest one: no unit is out of place, and no
    /// arc with room has a negative reduced cost.
    pub fn is_proven(&self) -> bool {
        let mut ways =
            (0..self.ways.len()).filter(|way| self.nodes[self.from(*way)].ways.contains(way));
        ways.all(|way| self.ways[way].room == 0 || 0 <= self.reduced_cost(way))
            && self.nodes.iter().all(|node| node.excess == 0)
    }

    fn from(&self, way: usize) -> usize {
        self.ways[way ^ 1].to
    }

    fn reduced_cost(&self, way: usize) -> i128 {
        let [from, to] = [self.from(way), self.ways[way].to].map(|node| self.nodes[node].potential);
        i128::from(self.ways[way].cost) + from - to
    }

    fn send(&mut self, way: usize, units: i64) {
        self.set_room(way, self.ways[way].room - units);
        self.set_room(way ^ 1, self.ways[way ^ 1].room + units);
    }

    fn set_room(&mut self, way: usize, room: i64) {
        let before = std::mem::replace(&mut self.ways[way].room, room);
        if (before == 0) == (room == 0) {
            return;
        }
        let node = &mut self.nodes[self.ways[way ^ 1].to];
        let at = self.ways[way].place;
        // It changes places with the first way without room, or with the last one that has room.
        let border = match room {
            0 => node.open - 1,
            _ => node.open,
        };
        node.open = if room == 0 { border } else { border + 1 };
        node.ways.swap(at, border);
        self.ways[node.ways[at]].place = at;
        self.ways[way].place = border;
    }

    fn shift_excess(&mut self, node: usize, units: i64) {
        self.nodes[node].excess += units;
        if 0 < self.nodes[node].excess {
            self.restless.push(node);
        }
    }

    /// Finds the cheapest path from a node to one that lacks units (Dijkstra's algorithm), and
    /// changes the potentials so that all arcs on the path cost nothing.
    fn find_lacking(&mut self, start: usize) -> Result<usize, Unreachable> {
        let mut search = std::mem::take(&mut self.search);
        search.begin(self.nodes.len());
        search.reach(start, 0, usize::MAX);
        let mut found = Err(Unreachable);
        while let Some((distance, node)) = search.next() {
            if let Some(lacking) = self.follow_level(&mut search, node, distance) {
                found = Ok(lacking);
                // Nodes that are farther away than this one keep their potentials.
                for passed in search.done.drain(..) {
                    self.nodes[passed].potential += search.nodes[passed].distance - distance;
                }
                break;
            }
        }
        self.search = search;
        found
    }

    /// Follows all ways from a node that cost nothing, and notes where the others lead, until a node
    /// lacks units.
    fn follow_level(&self, search: &mut PathSearch, node: usize, distance: i128) -> Option<usize> {
        search.trail.clear();
        search.trail.push((node, 0));
        if self.nodes[node].excess < 0 {
            return Some(node);
        }
        while let Some((node, place)) = search.trail.last_mut() {
            let from = &self.nodes[*node];
            let Some(way) = from.ways[..from.open].get(*place).copied() else {
                search.trail.pop();
                continue;
            };
            *place += 1;
            let to = self.ways[way].to;
            let far = distance + self.reduced_cost(way);
            if distance < far {
                search.reach(to, far, way);
            } else if search.finish(to, distance, way) {
                if self.nodes[to].excess < 0 {
                    return Some(to);
                }
                search.trail.push((to, 0));
            }
        }
        None
    }

    /// Sends as many units as possible along the path that was found.
    fn send_along_path(&mut self, start: usize, end: usize) {
        let mut units = self.nodes[start].excess.min(-self.nodes[end].excess);
        let before = |flow: &Self, node: usize| {
            let by = flow.search.nodes[node].by;
            (by, flow.from(by))
        };
        let mut node = end;
        while node != start {
            let (way, from) = before(self, node);
            units = units.min(self.ways[way].room);
            node = from;
        }
        node = end;
        while node != start {
            let (way, from) = before(self, node);
            self.send(way, units);
            node = from;
        }
        self.nodes[start].excess -= units;
        self.nodes[end].excess += units;
    }
}

impl PathSearch {
    fn begin(&mut self, nodes: usize) {
        self.number += 1;
        self.nodes.resize(nodes, SearchedNode::default());
        self.heap.clear();
        self.done.clear();
    }

    /// Notes a path to a node, unless a shorter one is known.
    fn reach(&mut self, node: usize, distance: i128, by: usize) {
        let known = &mut self.nodes[node];
        if known.search == self.number && known.distance <= distance {
            return;
        }
        *known = SearchedNode { search: self.number, distance, is_done: false, by };
        self.heap.push(Reverse((distance, node)));
    }

    /// Notes the final distance of a node. Returns false if it was noted before.
    fn finish(&mut self, node: usize, distance: i128, by: usize) -> bool {
        let known = &mut self.nodes[node];
        let is_new = known.search != self.number || !known.is_done;
        if is_new {
            *known = SearchedNode { search: self.number, distance, is_done: true, by };
            self.done.push(node);
        }
        is_new
    }

    /// Returns the nearest node whose distance was not final before.
    fn next(&mut self) -> Option<(i128, usize)> {
        while let Some(Reverse((distance, node))) = self.heap.pop() {
            let known = &mut self.nodes[node];
            if !known.is_done {
                known.is_done = true;
                self.done.push(node);
                return Some((distance, node));
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::collection::vec;
    use proptest::prelude::*;

    /// A task of a random instance: what it costs on each machine, and to leave it out.
    type TaskCosts = (Vec<i64>, i64);

    /// Tasks that machines of some slots may serve, as a network.
    struct Assignment {
        flow: CheapestFlow,
        sink: FlowNode,
        wait: FlowNode,
        machines: Vec<(FlowNode, FlowArc)>,
    }

    impl Assignment {
        fn new(slots: &[i64]) -> Self {
            let mut flow = CheapestFlow::default();
            let [sink, wait] = [0; 2].map(|supply| flow.add_node(supply));
            flow.add_arc(wait, sink, 1_000, 0);
            let machine = |slots: &i64| {
                let node = flow.add_node(0);
                (node, flow.add_arc(node, sink, *slots, 0))
            };
            let machines = slots.iter().map(machine).collect();
            Self { flow, sink, wait, machines }
        }

        fn add_task(&mut self, (on, out): &TaskCosts) -> FlowNode {
            let task = self.flow.add_node(1);
            self.add_supply_of_sink(-1);
            self.flow.add_arc(task, self.wait, 1, *out);
            for ((machine, _), cost) in self.machines.iter().zip(on) {
                self.flow.add_arc(task, *machine, 1, *cost);
            }
            self.flow.settle(task);
            task
        }

        fn add_supply_of_sink(&mut self, more: i64) {
            let supply = self.flow.nodes[self.sink.0].supply;
            self.flow.set_supply(self.sink, supply + more);
        }

        fn arc_to(&self, task: FlowNode, machine: FlowNode) -> FlowArc {
            let mut ways = self.flow.nodes[task.0].ways.iter();
            let way = ways.find(|way| self.flow.ways[**way].to == machine.0);
            FlowArc(*way.expect("every task has an arc to every machine"))
        }

        fn remove_task(&mut self, task: FlowNode) {
            self.flow.remove_node(task);
            self.add_supply_of_sink(1);
        }

        fn repaired_cost(&mut self) -> i64 {
            self.flow.repair().unwrap();
            assert!(self.flow.is_proven());
            self.flow.cost()
        }
    }

    /// Returns the least cost of all ways to serve the tasks, by trying all of them.
    fn least(slots: &mut [i64], tasks: &[TaskCosts]) -> i64 {
        let Some(((on, out), others)) = tasks.split_first() else { return 0 };
        let mut best = out + least(slots, others);
        for (machine, cost) in on.iter().enumerate().take(slots.len()) {
            if 0 < slots[machine] {
                slots[machine] -= 1;
                best = best.min(cost + least(slots, others));
                slots[machine] += 1;
            }
        }
        best
    }

    fn tasks(most: usize) -> impl Strategy<Value = Vec<TaskCosts>> {
        vec((vec(-9_i64..9, 3), -9_i64..9), 0..most)
    }

    proptest! {
        #[test]
        fn no_other_way_is_cheaper(slots in vec(0_i64..3, 3), tasks in tasks(6)) {
            let mut found = Assignment::new(&slots);
            tasks.iter().for_each(|task| _ = found.add_task(task));
            prop_assert_eq!(found.repaired_cost(), least(&mut slots.clone(), &tasks));
        }

        /// Tasks come and go, slots and costs change, and the flow is repaired now and then.
        #[test]
        fn a_repaired_flow_costs_what_a_new_one_costs(
            slots in vec(0_i64..3, 3),
            first in tasks(5),
            changes in vec((0_u8..4, 0_usize..99, -9_i64..9, (vec(-9_i64..9, 3), -9_i64..9)), 0..12),
        ) {
            let mut slots = slots;
            let mut found = Assignment::new(&slots);
            let mut present: Vec<(FlowNode, TaskCosts)> =
                first.into_iter().map(|task| (found.add_task(&task), task)).collect();
            for (what, which, number, task) in changes {
                match what {
                    0 if present.len() < 6 => present.push((found.add_task(&task), task)),
                    1 if !present.is_empty() => {
                        let (node, _) = present.swap_remove(which % present.len());
                        found.remove_task(node);
                    }
                    2 => {
                        let machine = which % slots.len();
                        slots[machine] = number.clamp(0, 3);
                        found.flow.set_capacity(found.machines[machine].1, slots[machine]);
                    }
                    _ if !present.is_empty() => {
                        let one = which % present.len();
                        let (node, (on, _)) = &mut present[one];
                        on[0] = number;
                        let arc = found.arc_to(*node, found.machines[0].0);
                        found.flow.set_cost(arc, number);
                        found.flow.settle(*node);
                    }
                    _ => {}
                }
                if which % 2 == 0 {
                    found.repaired_cost();
                }
            }
            let tasks: Vec<TaskCosts> = present.into_iter().map(|(_, task)| task).collect();
            prop_assert_eq!(found.repaired_cost(), least(&mut slots, &tasks));
        }
    }

    /// Potentials of parts between which nothing flows wander off, by a dear arc each time.
    #[test]
    fn a_long_life_of_changes_with_dear_arcs_overflows_nothing() {
        const DEAR: i64 = 100_000_000_000_000_000;
        let mut flow = CheapestFlow::default();
        let sink = flow.add_node(0);
        let machines = [0; 3].map(|supply| {
            let machine = flow.add_node(supply);
            (machine, flow.add_arc(machine, sink, 0, 0))
        });
        let jobs = [0; 4].map(|supply| {
            let wait = flow.add_node(supply);
            (wait, [0, DEAR].map(|cost| flow.add_arc(wait, sink, 0, cost)))
        });
        let mut tasks: Vec<(FlowNode, usize)> = Vec::new();
        let mut drawn: u64 = 1;
        let mut draw = |below: usize| {
            drawn = drawn
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (drawn >> 33) as usize % below
        };
        for turn in 0..5_000 {
            let (machine, slots) = machines[draw(3)];
            flow.set_capacity(slots, draw(3) as i64);
            let job = draw(4);
            if draw(2) == 0 {
                let task = flow.add_node(1);
                flow.add_arc(task, jobs[job].0, 1, 0);
                flow.add_arc(task, machine, 1, 5);
                flow.settle(task);
                tasks.push((task, job));
            } else if !tasks.is_empty() {
                let (task, _) = tasks.swap_remove(draw(tasks.len()));
                flow.remove_node(task);
            }
            let mut most = 0;
            for (number, (_, [may_wait, must_not_wait])) in jobs.iter().enumerate() {
                let own = tasks.iter().filter(|(_, job)| *job == number).count();
                let least = draw(own + 1) as i64;
                flow.set_capacity(*may_wait, own as i64 - least);
                flow.set_capacity(*must_not_wait, least);
                most += own as i64;
            }
            flow.set_supply(sink, -most);
            flow.repair().unwrap();
            assert!(flow.is_proven(), "turn {turn}");
        }
    }

    #[test]
    fn a_shortcut_takes_the_unit_without_a_search() {
        let mut found = Assignment::new(&[1, 1, 0]);
        let task = found.add_task(&(vec![5, 7, 9], 20));
        found.repaired_cost();
        let searches = found.flow.search.number;
        let arc = found.flow.add_shortcut(task, found.machines[0].0, 4);
        assert_eq!(found.repaired_cost(), 4);
        assert_eq!((found.flow.flow(arc), found.flow.search.number), (1, searches));
    }

    #[test]
    fn supply_that_reaches_no_demand_is_told() {
        let mut flow = CheapestFlow::default();
        let [from, to] = [1, -1].map(|supply| flow.add_node(supply));
        let arc = flow.add_arc(from, to, 0, 3);
        assert_eq!(flow.repair(), Err(Unreachable));
        let mut flow = flow.clone();
        flow.set_supply(from, 0);
        flow.set_supply(from, 1);
        flow.set_capacity(arc, 1);
        assert_eq!(flow.repair(), Ok(()));
        assert_eq!((flow.cost(), flow.sources_of(to).collect::<Vec<_>>()), (3, vec![(from, 1)]));
    }
}
