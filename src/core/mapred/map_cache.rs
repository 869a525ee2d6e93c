//! A job's waiting maps, listed by the nodes and racks that hold their input, to find the map that
//! suits a node best.
//!
//! Each map is in the list of every node and of every rack that holds its input, in the order of
//! the maps' numbers, largest splits first. Lists are cleaned when they are read: a map that no
//! longer waits is skipped and removed. A map that waits again goes to the front of its lists. So a
//! search costs about one look-up, however many maps the job has. Most nodes hold no input of the
//! job; for these the search reads a single bit.
//!
//! If a node's rack has no waiting map, the node gets a map of another rack. The other racks are
//! searched in the order in which the JobTracker met them. It meets a rack when the first tracker
//! there joins, or when it reads the splits of the first job with input there.

use std::mem;

use rustc_hash::FxHashMap;

use crate::cluster::{Topology, TrackerId};
use crate::mapred::locality::Locality;

/// How far from its input a map may be launched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum MapReach {
    /// Only on a node that holds the input.
    Node,
    /// Only in the rack of a node that holds the input.
    Rack,
    /// Anywhere.
    Any,
    /// Only outside the node's rack; node and rack were searched before and had no map.
    Beyond,
}

/// A search's verdict on a map in a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MapVerdict {
    /// The map is the answer.
    Take,
    /// The map waits, but may not run on this node.
    Pass,
    /// The map no longer waits.
    Drop,
}

/// The waiting maps of a job.
#[derive(Clone, Debug, Default)]
pub(super) struct MapCache {
    nodes: Lists,
    racks: Lists,
    /// The racks that have a list, in the order in which the JobTracker met them. Last comes
    /// [`nowhere`], the list of maps whose input no node holds.
    by_turn: Vec<u32>,
    /// How many waiting maps have input that no node holds.
    homeless: u32,
}

/// The racks that the JobTracker has met.
#[derive(Debug, Default)]
pub(super) struct RackOrder {
    met: u32,
    /// For each rack, how many racks the JobTracker met before this one; `None` if it has not met
    /// the rack.
    turns: Vec<Option<u32>>,
}

impl RackOrder {
    /// Notes that the JobTracker meets a rack; has no effect the second time.
    pub(super) fn meet(&mut self, rack: u32) {
        let place = rack as usize;
        if self.turns.len() <= place {
            self.turns.resize(place + 1, None);
        }
        if self.turns[place].is_none() {
            self.turns[place] = Some(self.met);
            self.met += 1;
        }
    }

    /// Returns the turn of a rack in searches. Racks that were not met come last, and so does the
    /// list of maps whose input no node holds.
    fn turn(&self, rack: u32) -> u32 {
        self.turns.get(rack as usize).copied().flatten().unwrap_or(u32::MAX)
    }
}

/// Lists of maps by place; a place is the number of a node, or of a rack.
#[derive(Clone, Debug, Default)]
struct Lists {
    /// A bit for each place: 0 if certainly no map waits there.
    marks: Vec<u64>,
    /// The places that have a list. Each entry is for the 64 places of one word of `marks`.
    index: Vec<IndexedPlaces>,
    /// The lists, in the order of their places.
    lists: Vec<MapList>,
    /// The maps of all lists, one list after another.
    maps: Vec<u32>,
    /// Maps that wait again, by place; the last one is the next to launch.
    again: FxHashMap<u32, Vec<u32>>,
}

/// The places of a group that have a list.
#[derive(Clone, Copy, Debug, Default)]
struct IndexedPlaces {
    /// A bit for each place of the group: 1 if the place has a list.
    places: u64,
    /// How many lists belong to earlier groups.
    before: u32,
}

/// A list: a range of `maps` whose first part is used up.
#[derive(Clone, Copy, Debug, Default)]
struct MapList {
    next: u32,
    end: u32,
    /// A copy of the map at `next`, if the list is not empty. Every search needs that map, and
    /// `maps` lies elsewhere in memory.
    first: u32,
}

impl MapCache {
    /// Returns the cache of a job with `maps` maps, all waiting; `locate` finds the nodes with the
    /// input of a map. Adds the racks of these nodes to `order`.
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
                if rack != nowhere(topology) {
                    order.meet(rack);
                }
                racks.push((rack, map));
            }
        }
        let (nodes, racks) = (Lists::new(&nodes), Lists::new(&racks));
        let mut by_turn: Vec<u32> = racks.places().collect();
        // Maps without a node come last: no rack has their number. Hadoop, too, keeps them in a
        // list of their own and searches it last.
        by_turn.sort_unstable_by_key(|rack| (order.turn(*rack), *rack));
        let homeless = racks.find(nowhere(topology)).map_or(0, |at| racks.lists[at].len());
        Self { nodes, racks, by_turn, homeless }
    }

    /// Puts a map that waits again at the front of its lists.
    pub(super) fn requeue_map(&mut self, map: u32, holders: &[TrackerId], topology: &Topology) {
        self.homeless += u32::from(holders.is_empty());
        for node in holders {
            self.nodes.requeue_map(node.0, map);
        }
        for rack in racks_of(holders, topology) {
            self.racks.requeue_map(rack, map);
        }
    }

    /// Notes the launch of a map that was not found by a search. Its lists drop it later.
    pub(super) fn forget(&mut self, holders: &[TrackerId]) {
        self.homeless -= u32::from(holders.is_empty());
    }

    /// Returns how many nodes have a list, used up or not.
    pub(super) fn nodes(&self) -> u32 {
        self.nodes.lists.len() as u32
    }

    /// Returns whether a map waits whose input no node holds.
    pub(super) fn has_homeless(&self) -> bool {
        0 < self.homeless
    }

    /// Returns whether it is certain that no map waits for this node.
    pub(super) fn has_none_on(&self, node: TrackerId) -> bool {
        !self.nodes.may_have(node.0)
    }

    /// Removes and returns the map within reach that suits a node best, with the distance of its
    /// input; `None` if no map within reach may run on the node.
    ///
    /// `verdict` judges maps, the most suitable first. A map that may not run on this node is
    /// skipped, and stays listed for other nodes.
    pub(super) fn best(
        &mut self,
        node: TrackerId,
        reach: MapReach,
        topology: &Topology,
        mut verdict: impl FnMut(u32) -> MapVerdict,
    ) -> Option<(u32, Option<Locality>)> {
        // With `Beyond` the policy has already searched node and rack without success.
        let looks_near = reach != MapReach::Beyond;
        if looks_near && let Some(map) = self.nodes.take(node.0, &mut verdict) {
            return Some((map, Some(Locality::Node)));
        }
        if reach == MapReach::Node {
            return None;
        }
        let own_rack = topology.rack(node).0;
        if looks_near {
            if let Some(map) = self.racks.take(own_rack, &mut verdict) {
                return Some((map, Some(Locality::Rack)));
            }
            if reach == MapReach::Rack {
                return None;
            }
        }
        // Skip the node's own rack, as Hadoop does even if the reach kept it from searching there.
        for rack in self.by_turn.iter().copied().filter(|rack| *rack != own_rack) {
            if let Some(map) = self.racks.take(rack, &mut verdict) {
                let is_homeless = rack == nowhere(topology);
                self.homeless -= u32::from(is_homeless);
                return Some((map, (!is_homeless).then_some(Locality::OffRack)));
            }
        }
        None
    }
}

impl MapCache {
    /// Returns how many maps that may run have input on a node, and how many have input in its
    /// rack. Each count stops at `most`.
    pub(super) fn near(
        &mut self,
        node: TrackerId,
        most: u32,
        topology: &Topology,
        mut verdict: impl FnMut(u32) -> MapVerdict,
    ) -> [u32; 2] {
        let on_node = self.nodes.count(node.0, most, &mut verdict);
        [on_node, self.racks.count(topology.rack(node).0, most, &mut verdict)]
    }
}

impl Lists {
    /// Returns the lists made of these pairs (place, map); the maps of a place keep their order.
    fn new(entries: &[(u32, u32)]) -> Self {
        let size = entries.iter().map(|(place, _)| place + 1).max().unwrap_or(0);
        let mut all = Self { maps: vec![0; entries.len()], ..Self::default() };
        // This holds for each place first the number of maps, later the position of the next map.
        let mut ends = vec![0; size as usize];
        for (place, _) in entries {
            ends[*place as usize] += 1;
        }
        let mut begin = 0;
        // A counting sort: one walk to count, one to fill. Maps of a place keep the order of their
        // numbers.
        for ends in ends.chunks_mut(u64::BITS as usize) {
            let (mut places, before) = (0, all.lists.len() as u32);
            for (place, end) in ends.iter_mut().enumerate().filter(|(_, count)| 0 < **count) {
                places |= 1 << place;
                let next = begin;
                begin += mem::replace(end, next);
                all.lists.push(MapList { next, end: begin, first: 0 });
            }
            all.marks.push(places);
            all.index.push(IndexedPlaces { places, before });
        }
        for (place, map) in entries {
            let end = &mut ends[*place as usize];
            all.maps[*end as usize] = *map;
            *end += 1;
        }
        for list in &mut all.lists {
            list.first = all.maps[list.next as usize];
        }
        all
    }

    /// Returns the places that have a list, in order.
    fn places(&self) -> impl Iterator<Item = u32> {
        (0..self.index.len() as u32 * u64::BITS).filter(|place| self.find(*place).is_some())
    }

    /// Returns the index of the list of a place, if it has one.
    fn find(&self, place: u32) -> Option<usize> {
        let (at, bit) = mark(place);
        let IndexedPlaces { places, before } = *self.index.get(at)?;
        (places & bit != 0).then(|| (before + (places & (bit - 1)).count_ones()) as usize)
    }

    /// Returns whether a place may have a map that waits.
    fn may_have(&self, place: u32) -> bool {
        let (at, bit) = mark(place);
        self.marks.get(at).is_some_and(|marks| marks & bit != 0)
    }

    /// Puts a map that waits again at the front of a list that contained it before.
    fn requeue_map(&mut self, place: u32, map: u32) {
        let (at, bit) = mark(place);
        self.marks[at] |= bit;
        // Put it on a stack, since its list's range in `maps` has no room for one more.
        self.again.entry(place).or_default().push(map);
    }

    /// Removes and returns the first map of a place that may run.
    fn take(&mut self, place: u32, verdict: &mut impl FnMut(u32) -> MapVerdict) -> Option<u32> {
        let map = self.first(place, verdict)?;
        let at = self.find(place)?;
        let list = &mut self.lists[at];
        // Remove the map now only if it is the first of its list. If it was on the stack, or behind
        // a map that may not run here, a later search finds that it no longer waits, and drops it.
        if list.next < list.end && list.first == map {
            list.skip_first(&self.maps);
        }
        Some(map)
    }

    /// Returns the first map of a place that may run; `None` if there is none.
    fn first(&mut self, place: u32, verdict: &mut impl FnMut(u32) -> MapVerdict) -> Option<u32> {
        // For most nodes this bit is the answer: they hold no input of the job, or their maps are
        // used up.
        if !self.may_have(place) {
            return None;
        }
        if let Some(again) = self.again.get_mut(&place) {
            while again.last().is_some_and(|map| verdict(*map) == MapVerdict::Drop) {
                again.pop();
            }
            // As in Hadoop, the map that was put at the front last comes first.
            let found = again.iter().rev().copied().find(|map| verdict(*map) == MapVerdict::Take);
            if again.is_empty() {
                self.again.remove(&place);
            }
            if found.is_some() {
                return found;
            }
        }
        let at = self.find(place)?;
        let list = &mut self.lists[at];
        let found = list.first(&self.maps, verdict);
        // Clear the mark only if the list is empty: a map that may not run on this node still waits
        // for other nodes of the rack.
        if list.len() == 0 && !self.again.contains_key(&place) {
            let (at, bit) = mark(place);
            self.marks[at] &= !bit;
        }
        found
    }

    /// Returns how many maps of a place may run, at most `most`.
    fn count(&mut self, place: u32, most: u32, verdict: &mut impl FnMut(u32) -> MapVerdict) -> u32 {
        // First drop the maps at the front that no longer wait, as a launch does, so that later
        // counts do not meet them again.
        if self.first(place, verdict).is_none() {
            return 0;
        }
        let again = self.again.get(&place).into_iter().flatten().rev();
        let fresh = self.find(place).map_or(&[][..], |at| self.lists[at].rest(&self.maps));
        let taken = again.chain(fresh).filter(|map| verdict(**map) == MapVerdict::Take);
        taken.take(most as usize).count() as u32
    }
}

impl MapList {
    /// Returns how many maps of the list are not used up.
    fn len(self) -> u32 {
        self.end - self.next
    }

    /// Returns the maps of the list that are not used up.
    fn rest(self, maps: &[u32]) -> &[u32] {
        &maps[self.next as usize..self.end as usize]
    }

    /// Uses up the first map.
    fn skip_first(&mut self, maps: &[u32]) {
        self.next += 1;
        if self.next < self.end {
            self.first = maps[self.next as usize];
        }
    }

    /// Returns the first map in the list that may run; uses up the maps at the front that no longer
    /// wait.
    fn first(&mut self, maps: &[u32], verdict: &mut impl FnMut(u32) -> MapVerdict) -> Option<u32> {
        while self.next < self.end {
            match verdict(self.first) {
                MapVerdict::Take => return Some(self.first),
                MapVerdict::Pass => {
                    let later = self.rest(maps).iter().skip(1);
                    return later.copied().find(|map| verdict(*map) == MapVerdict::Take);
                }
                MapVerdict::Drop => self.skip_first(maps),
            }
        }
        None
    }
}

/// Returns the index of the mark of a place, and the bit of the place in that mark.
fn mark(place: u32) -> (usize, u64) {
    ((place / u64::BITS) as usize, 1 << (place % u64::BITS))
}

/// Returns the place of maps whose input no node holds: it follows the places of all racks.
fn nowhere(topology: &Topology) -> u32 {
    topology.racks()
}

/// Returns the numbers of the nodes' racks, each once, in the order of the nodes; [`nowhere`] if
/// there is no node.
fn racks_of(nodes: &[TrackerId], topology: &Topology) -> impl Iterator<Item = u32> {
    let racks = nodes.iter().enumerate().filter_map(|(index, node)| {
        let rack = topology.rack(*node);
        // If two copies are in one rack, its list gets the map only once.
        let is_new = nodes[..index].iter().all(|earlier| topology.rack(*earlier) != rack);
        is_new.then_some(rack.0)
    });
    racks.chain(nodes.is_empty().then(|| nowhere(topology)))
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};
    use std::sync::Arc;

    use proptest::prelude::*;

    use super::*;
    use crate::cluster::{Hdfs, Node, PerSlot, Placement};
    use crate::mapred::spec::{Input, Split};
    use mumakil_base::units::Bytes;

    fn node(rack: u32) -> Node {
        Node::plain(rack, PerSlot { map: 1, reduce: 0 })
    }

    fn take(lists: &mut Lists, place: u32, waiting: &mut BTreeSet<u32>) -> Option<u32> {
        let found = lists.take(place, &mut |map| {
            if waiting.contains(&map) { MapVerdict::Take } else { MapVerdict::Drop }
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
        lists.requeue_map(5, 1);
        assert_eq!(take(&mut lists, 5, &mut waiting), Some(1));
        assert_eq!(take(&mut lists, 5, &mut waiting), Some(2));
    }

    proptest! {
        #[test]
        fn lists_answer_as_if_each_was_looked_through(
            holders in prop::collection::vec(prop::collection::btree_set(0..200_u32, 0..4), 1..40),
            asked in prop::collection::vec((0..200_u32, any::<bool>()), 0..200),
        ) {
            let entries: Vec<(u32, u32)> = (0..).zip(&holders)
                .flat_map(|(map, places)| places.iter().map(move |place| (*place, map)))
                .collect();
            let mut lists = Lists::new(&entries);
            let mut plain: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
            for (place, map) in &entries {
                plain.entry(*place).or_default().push(*map);
            }
            prop_assert!(lists.places().eq(plain.keys().copied()));
            let mut waiting: BTreeSet<u32> = (0..holders.len() as u32).collect();
            for (place, waits_again) in asked {
                let list = plain.get(&place).into_iter().flatten();
                let first = list.copied().find(|map| waiting.contains(map));
                let taken = take(&mut lists, place, &mut waiting);
                prop_assert_eq!(taken, first);
                prop_assert!(taken.is_none() || lists.find(place).is_some());
                if let Some(map) = taken.filter(|_| waits_again) {
                    waiting.insert(map);
                    for place in &holders[map as usize] {
                        lists.requeue_map(*place, map);
                        let list = plain.get_mut(place).unwrap();
                        list.retain(|other| *other != map);
                        list.insert(0, map);
                    }
                }
            }
            for place in 0..200 {
                while take(&mut lists, place, &mut waiting).is_some() {}
                prop_assert!(!lists.may_have(place), "a place without maps has a mark");
            }
        }
    }

    #[test]
    fn a_map_that_may_not_run_here_stays_for_others() {
        let mut lists = Lists::new(&[(5, 0), (5, 1)]);
        let barred = |map| if map == 0 { MapVerdict::Pass } else { MapVerdict::Take };
        assert_eq!(lists.first(5, &mut { barred }), Some(1));
        assert_eq!(lists.first(5, &mut |_| MapVerdict::Take), Some(0));
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
            cache.best(TrackerId(0), MapReach::Any, &topology, |_| MapVerdict::Take).unwrap()
        };
        assert_eq!(take(&mut cache), (0, Some(Locality::Node)));
        cache.nodes = Lists::default();
        cache.racks.lists[0].next = 1;
        assert!(cache.has_homeless());
        assert_eq!(take(&mut cache), (1, None));
        assert!(!cache.has_homeless(), "though nobody has looked at its list since");
        cache.requeue_map(1, &[], &topology);
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
        // No tracker of racks 1 and 3 has joined yet: the JobTracker meets them with the first maps
        // there.
        let split = |on| Split { bytes: Bytes::new(1), holders: [TrackerId(on)].into() };
        let input = Input::Splits([3, 1, 2].map(split).into());
        let locate = |map, holders: &mut Vec<TrackerId>| input.locate(map, &hdfs, holders);
        let mut cache = MapCache::new(3, locate, &topology, &mut order);
        let mut waiting = BTreeSet::from([0, 1, 2]);
        let far = [(); 3].map(|()| {
            let verdict =
                |map: u32| if waiting.contains(&map) { MapVerdict::Take } else { MapVerdict::Drop };
            let (map, _) = cache.best(TrackerId(0), MapReach::Any, &topology, verdict).unwrap();
            waiting.remove(&map);
            map
        });
        assert_eq!(far, [2, 0, 1]);
    }
}
