//! A job's waiting maps by the places that hold their input: which map suits a node best?
//!
//! Each map stands in the list of every node and of every rack that holds its input, in the
//! order of its number, largest splits first. Lists are cleaned when they are read: what no
//! longer waits is stepped over once. A map that waits again stands in front of its lists. So an
//! answer costs a look-up, however many maps the job has.
//!
//! A node whose rack has nothing gets a map of another rack. Those are looked through in the order in
//! which the JobTracker has met them: with their first tracker, or with the first job that reads there.

use std::mem;

use rustc_hash::FxHashMap;

use super::{Locality, TrackerId};
use crate::cluster::Topology;

/// How far from its input a map may be launched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reach {
    /// Only on a node that holds it.
    Node,
    /// At most in the rack of such a node.
    Rack,
    /// Anywhere.
    Any,
    /// Anywhere, without looking at node and rack again: they had nothing.
    Beyond,
}

/// What a list does with a map that it comes upon.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// It is the answer.
    Take,
    /// It waits, but not for this node.
    Pass,
    /// It does not wait any more.
    Drop,
}

/// The waiting maps of a job.
#[derive(Clone, Debug, Default)]
pub(super) struct MapCache {
    nodes: Lists,
    racks: Lists,
    /// The racks that have a list, those first that the JobTracker met first; nowhere is last.
    by_turn: Vec<u32>,
    /// How many maps wait whose input is nowhere.
    homeless: u32,
}

/// The racks that the JobTracker has met.
#[derive(Debug, Default)]
pub(super) struct RackOrder {
    met: u32,
    /// By rack, how many it had met before, if it has met it.
    turns: Vec<Option<u32>>,
}

impl RackOrder {
    /// Meets a rack, if it has not met it yet; nowhere is met by nobody.
    pub(super) fn meet(&mut self, rack: u32) {
        if rack == NOWHERE {
            return;
        }
        let place = rack as usize;
        if self.turns.len() <= place {
            self.turns.resize(place + 1, None);
        }
        if self.turns[place].is_none() {
            self.turns[place] = Some(self.met);
            self.met += 1;
        }
    }

    /// Returns the turn of a rack; nowhere and what it has not met come last.
    fn turn(&self, rack: u32) -> u32 {
        self.turns.get(rack as usize).copied().flatten().unwrap_or(u32::MAX)
    }
}

/// The place, among racks, of maps whose input is nowhere.
const NOWHERE: u32 = u32::MAX;

/// Lists by the number of a node or rack.
#[derive(Clone, Debug, Default)]
struct Lists {
    /// A bit for each place that has a list, by its number modulo the bits: most jobs are small and have
    /// nothing on most nodes, which is known then without a look at the lists.
    marks: u128,
    /// By place.
    lists: FxHashMap<u32, List>,
    /// All lists, one after another.
    maps: Vec<u32>,
    /// Maps that wait again, the next one last.
    again: FxHashMap<u32, Vec<u32>>,
}

/// A list: a run of `maps` of which the first part is used up.
#[derive(Clone, Copy, Debug, Default)]
struct List {
    next: u32,
    end: u32,
    /// The map at `next`, if there is one: whoever asks needs it, and the run is elsewhere in memory.
    first: u32,
}

impl MapCache {
    /// Returns the cache of a job with so many maps, all waiting; `locate` finds the nodes that hold
    /// their input. Meets the racks of these.
    pub(super) fn new(
        maps: u32,
        mut locate: impl FnMut(u32, &mut Vec<TrackerId>),
        topology: &Topology,
        order: &mut RackOrder,
    ) -> Self {
        let (mut nodes, mut racks) = (Vec::new(), Vec::new());
        let mut holders = Vec::new();
        for map in 0..maps {
            locate(map, &mut holders);
            nodes.extend(holders.iter().map(|node| (node.0, map)));
            for rack in racks_of(&holders, topology) {
                order.meet(rack);
                racks.push((rack, map));
            }
        }
        let (nodes, racks) = (Lists::new(&nodes), Lists::new(&racks));
        let mut by_turn: Vec<u32> = racks.lists.keys().copied().collect();
        by_turn.sort_unstable_by_key(|rack| (order.turn(*rack), *rack));
        let homeless = racks.lists.get(&NOWHERE).map_or(0, |list| list.end - list.next);
        Self { nodes, racks, by_turn, homeless }
    }

    /// Puts a map that waits again in front of its lists.
    pub(super) fn put_in_front(&mut self, map: u32, holders: &[TrackerId], topology: &Topology) {
        self.homeless += u32::from(holders.is_empty());
        for node in holders {
            self.nodes.again.entry(node.0).or_default().push(map);
        }
        for rack in racks_of(holders, topology) {
            self.racks.again.entry(rack).or_default().push(map);
        }
    }

    /// Returns how many nodes have ever had a list.
    pub(super) fn nodes(&self) -> u32 {
        self.nodes.lists.len() as u32
    }

    /// Returns whether a map waits whose input is nowhere.
    pub(super) fn has_homeless(&self) -> bool {
        0 < self.homeless
    }

    /// Returns whether certainly no map was ever waiting for this node.
    pub(super) fn has_none_on(&self, node: TrackerId) -> bool {
        !self.nodes.may_have(node.0)
    }

    /// Returns the map that suits a node best within reach, with its distance.
    ///
    /// `verdict` is asked about maps in the order of preference; one that may not run on this
    /// node is passed over here and stays for others. The answer does not wait any more.
    pub(super) fn best(
        &mut self,
        node: TrackerId,
        reach: Reach,
        topology: &Topology,
        mut verdict: impl FnMut(u32) -> Verdict,
    ) -> Option<(u32, Option<Locality>)> {
        let looks_near = reach != Reach::Beyond;
        if looks_near && let Some(map) = self.nodes.first(node.0, &mut verdict) {
            return Some((map, Some(Locality::Node)));
        }
        // Most who ask end here.
        if reach == Reach::Node {
            return None;
        }
        let own_rack = topology.rack(node).0;
        if looks_near {
            if let Some(map) = self.racks.first(own_rack, &mut verdict) {
                return Some((map, Some(Locality::Rack)));
            }
            if reach == Reach::Rack {
                return None;
            }
        }
        for rack in self.by_turn.iter().copied().filter(|rack| *rack != own_rack) {
            if let Some(map) = self.racks.first(rack, &mut verdict) {
                self.homeless -= u32::from(rack == NOWHERE);
                return Some((map, (rack != NOWHERE).then_some(Locality::OffRack)));
            }
        }
        None
    }
}

impl MapCache {
    /// Returns how many maps suit a node within reach of the node and of its rack, of so many at most.
    pub(super) fn near(
        &mut self,
        node: TrackerId,
        most: u32,
        topology: &Topology,
        mut verdict: impl FnMut(u32) -> Verdict,
    ) -> [u32; 2] {
        let on_node = self.nodes.count(node.0, most, &mut verdict);
        [on_node, self.racks.count(topology.rack(node).0, most, &mut verdict)]
    }
}

impl Lists {
    /// Returns the lists of these places and maps, each in the order in which its maps stand here.
    fn new(entries: &[(u32, u32)]) -> Self {
        let mut lists = Self::default();
        for (place, _) in entries {
            // How many there are, until the list has its place.
            lists.lists.entry(*place).or_default().next += 1;
        }
        lists.maps.resize(entries.len(), 0);
        let mut begin = 0;
        for (place, map) in entries {
            let list = lists.lists.get_mut(place).expect("each place has its list");
            if list.end == 0 {
                lists.marks |= mark(*place);
                let length = mem::replace(&mut list.next, begin);
                (list.end, list.first) = (begin, *map);
                begin += length;
            }
            lists.maps[list.end as usize] = *map;
            list.end += 1;
        }
        lists
    }

    /// Returns whether a place may have a list: if not, it has certainly none.
    fn may_have(&self, place: u32) -> bool {
        self.marks & mark(place) != 0
    }

    /// Returns the first map of a place; whatever waits again was in the place's list once.
    fn first(&mut self, place: u32, verdict: &mut impl FnMut(u32) -> Verdict) -> Option<u32> {
        if !self.may_have(place) {
            return None;
        }
        let list = self.lists.get_mut(&place)?;
        if let Some(again) = self.again.get_mut(&place) {
            while again.last().is_some_and(|map| verdict(*map) == Verdict::Drop) {
                again.pop();
            }
            let found = again.iter().rev().copied().find(|map| verdict(*map) == Verdict::Take);
            if again.is_empty() {
                self.again.remove(&place);
            }
            if found.is_some() {
                return found;
            }
        }
        list.first(&self.maps, verdict)
    }

    /// Returns how many maps of a place are to be taken, of so many at most.
    fn count(&mut self, place: u32, most: u32, verdict: &mut impl FnMut(u32) -> Verdict) -> u32 {
        // What no longer waits is used up first, as by who takes one.
        if self.first(place, verdict).is_none() {
            return 0;
        }
        let again = self.again.get(&place).into_iter().flatten().rev();
        let List { next, end, .. } = self.lists[&place];
        let fresh = &self.maps[next as usize..end as usize];
        let taken = again.chain(fresh).filter(|map| verdict(**map) == Verdict::Take);
        taken.take(most as usize).count() as u32
    }
}

impl List {
    /// Returns the first of all `maps` that is in the list and to be taken; what no longer waits is used
    /// up.
    fn first(&mut self, maps: &[u32], verdict: &mut impl FnMut(u32) -> Verdict) -> Option<u32> {
        while self.next < self.end {
            match verdict(self.first) {
                Verdict::Take => return Some(self.first),
                Verdict::Pass => {
                    let later = &maps[self.next as usize + 1..self.end as usize];
                    return later.iter().copied().find(|map| verdict(*map) == Verdict::Take);
                }
                Verdict::Drop => {
                    self.next += 1;
                    if self.next < self.end {
                        self.first = maps[self.next as usize];
                    }
                }
            }
        }
        None
    }
}

/// Returns the bit of a place among the marks.
fn mark(place: u32) -> u128 {
    1 << (place % u128::BITS)
}

/// Returns the numbers of the racks of some nodes, each once, in the order of the nodes; nowhere
/// without a node.
fn racks_of(nodes: &[TrackerId], topology: &Topology) -> impl Iterator<Item = u32> {
    let racks = nodes.iter().enumerate().filter_map(|(index, node)| {
        let rack = topology.rack(*node);
        let is_new = nodes[..index].iter().all(|earlier| topology.rack(*earlier) != rack);
        is_new.then_some(rack.0)
    });
    racks.chain(nodes.is_empty().then_some(NOWHERE))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::sync::Arc;

    use super::*;
    use crate::cluster::{Hdfs, Node, PerSlot, Placement};
    use crate::mapred::{Input, Split};
    use crate::units::Bytes;

    fn node(rack: u32) -> Node {
        Node::plain(rack, PerSlot { map: 1, reduce: 0 })
    }

    fn take(lists: &mut Lists, place: u32, waiting: &mut BTreeSet<u32>) -> Option<u32> {
        let found = lists.first(place, &mut |map| {
            if waiting.contains(&map) { Verdict::Take } else { Verdict::Drop }
        });
        if let Some(map) = found {
            waiting.remove(&map);
        }
        found
    }

    #[test]
    fn maps_are_found_in_the_order_of_their_numbers() {
        let mut lists = Lists::new(&[(5, 0), (5, 1), (7, 1), (5, 2)]);
        let mut waiting = BTreeSet::from([0, 1, 2]);
        assert_eq!(take(&mut lists, 7, &mut waiting), Some(1));
        assert_eq!(take(&mut lists, 5, &mut waiting), Some(0));
        assert_eq!(
            take(&mut lists, 5, &mut waiting),
            Some(2),
            "1 was taken through the other list"
        );
        assert_eq!(take(&mut lists, 5, &mut waiting), None);
        assert_eq!(take(&mut lists, 6, &mut waiting), None);
    }

    #[test]
    fn a_map_that_waits_again_comes_first() {
        let mut lists = Lists::new(&[(5, 0), (5, 1), (5, 2)]);
        let mut waiting = BTreeSet::from([0, 1, 2]);
        take(&mut lists, 5, &mut waiting);
        take(&mut lists, 5, &mut waiting);
        waiting.insert(1);
        lists.again.entry(5).or_default().push(1);
        assert_eq!(take(&mut lists, 5, &mut waiting), Some(1));
        assert_eq!(take(&mut lists, 5, &mut waiting), Some(2));
    }

    #[test]
    fn a_map_that_may_not_run_here_stays_for_others() {
        let mut lists = Lists::new(&[(5, 0), (5, 1)]);
        let barred = |map| if map == 0 { Verdict::Pass } else { Verdict::Take };
        assert_eq!(lists.first(5, &mut { barred }), Some(1));
        assert_eq!(lists.first(5, &mut |_| Verdict::Take), Some(0));
    }

    #[test]
    fn a_map_without_a_node_is_there_until_it_is_taken_and_again_when_it_waits_again() {
        let topology = Arc::new(Topology::from_nodes(vec![node(0)]));
        let hdfs = Hdfs::new(1, topology.clone(), 1, Placement::Random);
        let splits =
            [Split { bytes: Bytes::new(1), holders: [TrackerId(0)].into() }, Split::default()];
        let (input, mut order) = (Input::Splits(splits.into()), RackOrder::default());
        let locate = |map, holders: &mut Vec<TrackerId>| input.locate(map, &hdfs, holders);
        let mut cache = MapCache::new(2, locate, &topology, &mut order);
        let take = |cache: &mut MapCache| {
            cache.best(TrackerId(0), Reach::Any, &topology, |_| Verdict::Take).unwrap()
        };
        assert_eq!(take(&mut cache), (0, Some(Locality::Node)));
        cache.nodes = Lists::default();
        cache.racks.lists.get_mut(&0).unwrap().next = 1;
        assert!(cache.has_homeless());
        assert_eq!(take(&mut cache), (1, None));
        assert!(!cache.has_homeless(), "though nobody has looked at its list since");
        cache.put_in_front(1, &[], &topology);
        assert!(cache.has_homeless());
    }

    #[test]
    fn other_racks_come_as_the_jobtracker_has_met_them() {
        let topology = Arc::new(Topology::from_nodes((0..4).map(node).collect()));
        let hdfs = Hdfs::new(1, topology.clone(), 1, Placement::Random);
        let mut order = RackOrder::default();
        for met in [0, 2] {
            order.meet(topology.rack(TrackerId(met)).0);
        }
        // Nobody has spoken from racks 1 and 3 yet: they are met with the first maps that lie there.
        let split = |on| Split { bytes: Bytes::new(1), holders: [TrackerId(on)].into() };
        let input = Input::Splits([3, 1, 2].map(split).into());
        let locate = |map, holders: &mut Vec<TrackerId>| input.locate(map, &hdfs, holders);
        let mut cache = MapCache::new(3, locate, &topology, &mut order);
        let mut waiting = BTreeSet::from([0, 1, 2]);
        let far = [(); 3].map(|()| {
            let verdict =
                |map: u32| if waiting.contains(&map) { Verdict::Take } else { Verdict::Drop };
            let (map, _) = cache.best(TrackerId(0), Reach::Any, &topology, verdict).unwrap();
            waiting.remove(&map);
            map
        });
        assert_eq!(far, [2, 0, 1]);
    }
}
