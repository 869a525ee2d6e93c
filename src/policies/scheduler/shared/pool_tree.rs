//! The pools of a run: numbered, with all defaults filled in.
//!
//! Jobs belong to the leaves. An undeclared pool is made at the top level when a job first names
//! it, and exists until the end of the run.

use std::sync::Arc;

use indexmap::IndexMap;
use rustc_hash::FxHashMap;

use super::pools::{JobOrder, Number, Pool, Pools};
use mumakil_base::mutated;
use mumakil_base::units::SimSpan;
use mumakil_core::cluster::PerSlot;
use mumakil_core::mapred::step;

/// A pool's number: the root is 0, and the other pools follow in the order of declaration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PoolId(pub u32);

/// A pool with all its values. `u32::MAX` stands for no limit.
#[derive(Clone, Debug, PartialEq)]
pub struct PoolNode {
    /// Its name; empty for the root.
    pub name: Arc<str>,
    /// The pool around it; `None` for the root.
    pub parent: Option<PoolId>,
    /// The pools inside it, in the order in which they were declared or made.
    pub children: Vec<PoolId>,
    /// Its weight: siblings divide the slots of their parent in proportion to their weights.
    pub weight: f64,
    /// The number of slots that it is guaranteed.
    pub min: PerSlot<u32>,
    /// The largest number of slots that it gets.
    pub max: PerSlot<u32>,
    /// How many of its jobs may run at a time.
    pub max_jobs: u32,
    /// The order in which its jobs run.
    pub order: JobOrder,
    /// How long it may be below its minimum before tasks of other pools are killed for it; `None`
    /// means forever.
    pub min_share_after: Option<SimSpan>,
}

/// All pools, in one vector. The root has the whole cluster.
#[derive(Clone, Debug)]
pub struct PoolTree {
    nodes: Vec<PoolNode>,
    by_name: FxHashMap<Arc<str>, PoolId>,
    /// The values of undeclared pools, and of values that a declared pool does not set.
    defaults: PoolNode,
}

impl PoolId {
    /// The root, which holds all other pools.
    pub const ROOT: Self = Self(0);

    /// Returns the pool's index in a vector of pools.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

impl PoolTree {
    /// Returns the tree of checked pools. If two pools have the same name, the first one is used.
    pub fn new(pools: &Pools) -> Self {
        let defaults = Self::defaults(pools);
        // The root holds no jobs directly, so it has no limits.
        let root = PoolNode { max_jobs: u32::MAX, min_share_after: None, ..defaults.clone() };
        let mut tree = Self { nodes: vec![root], by_name: FxHashMap::default(), defaults };
        tree.declare(PoolId::ROOT, &pools.pools);
        tree
    }

    fn defaults(pools: &Pools) -> PoolNode {
        PoolNode {
            name: "".into(),
            parent: None,
            children: Vec::new(),
            // Hadoop's defaults: weight 1, no minimum, no maximum.
            weight: 1.0,
            min: PerSlot::default(),
            max: PerSlot { map: u32::MAX, reduce: u32::MAX },
            max_jobs: limit(pools.pool_max_jobs),
            order: pools.order,
            min_share_after: pools.min_share_after,
        }
    }

    /// Reads the pools again. Pools keep their numbers and their places in the tree; a pool that is
    /// no longer declared has the values of an undeclared one.
    pub fn reload(&mut self, pools: &Pools) {
        self.defaults = Self::defaults(pools);
        let fresh = Self::new(pools);
        for id in self.ids() {
            let old = &mut self.nodes[id.index()];
            let values = match fresh.find(&old.name) {
                _ if id == PoolId::ROOT => &fresh.nodes[0],
                Some(new) => fresh.pool(new),
                None => &self.defaults,
            };
            let (name, parent) = (old.name.clone(), old.parent);
            let children = std::mem::take(&mut old.children);
            *old = PoolNode { name, parent, children, ..values.clone() };
        }
        for id in fresh.ids().filter(|id| *id != PoolId::ROOT) {
            let node = fresh.pool(id);
            if self.find(&node.name).is_none() {
                // Each pool comes after its parent, so the parent is here.
                let around = node.parent.and_then(|around| self.find(&fresh.pool(around).name));
                let parent = Some(around.unwrap_or(PoolId::ROOT));
                self.add(PoolNode { parent, children: Vec::new(), ..node.clone() });
            }
        }
    }

    fn declare(&mut self, parent: PoolId, pools: &IndexMap<String, Pool>) {
        for (name, pool) in pools {
            let defaults = &self.defaults;
            let id = self.add(PoolNode {
                name: name.as_str().into(),
                parent: Some(parent),
                weight: pool.weight.get(),
                min: PerSlot { map: pool.min_maps.get(), reduce: pool.min_reduces.get() },
                max: PerSlot { map: limit(pool.max_maps), reduce: limit(pool.max_reduces) },
                max_jobs: pool.max_jobs.map_or(defaults.max_jobs, Number::get),
                order: pool.order.unwrap_or(defaults.order),
                min_share_after: mutated!(pool.min_share_after, "preempt/one-time-out" => None)
                    .or(defaults.min_share_after),
                children: Vec::new(),
            });
            self.declare(id, &pool.pools);
        }
    }

    fn add(&mut self, node: PoolNode) -> PoolId {
        let id = PoolId(self.nodes.len() as u32);
        if let Some(parent) = node.parent {
            self.nodes[parent.index()].children.push(id);
        }
        // Names are checked to be unique. If two pools had the same name, use the first one.
        self.by_name.entry(node.name.clone()).or_insert(id);
        self.nodes.push(node);
        id
    }

    /// Returns the pool with this name for a job that names it; makes the pool if it is new.
    ///
    /// # Panics
    /// If the pool has pools inside it: jobs belong to leaves.
    pub fn place(&mut self, name: &str) -> PoolId {
        if let Some(id) = self.find(name) {
            assert!(self.is_leaf(id), "only leaves hold jobs");
            return id;
        }
        let parent = Some(PoolId::ROOT);
        self.add(PoolNode { name: name.into(), parent, ..self.defaults.clone() })
    }

    /// Returns the pool with this name; `None` if there is none yet.
    pub fn find(&self, name: &str) -> Option<PoolId> {
        self.by_name.get(name).copied()
    }

    /// Returns the lowest value of a limit among a pool and the pools around it. A pool that is not
    /// declared has the default.
    pub fn lowest(&self, name: &str, limit: impl Fn(&PoolNode) -> u32) -> u32 {
        match self.find(name) {
            Some(id) => self.upwards(id).map(|id| limit(self.pool(id))).min().unwrap_or(u32::MAX),
            None => limit(&self.defaults),
        }
    }

    /// Returns the values of a pool.
    pub fn pool(&self, id: PoolId) -> &PoolNode {
        step();
        &self.nodes[id.index()]
    }

    /// Returns whether the pool can hold jobs: it has no pools inside, and it is not the root.
    pub fn is_leaf(&self, id: PoolId) -> bool {
        id != PoolId::ROOT && self.pool(id).children.is_empty()
    }

    /// Returns all pools, each after its parent; the root comes first.
    pub fn ids(&self) -> impl DoubleEndedIterator<Item = PoolId> + use<> {
        self.ids_from(0)
    }

    /// Returns all pools from this index on.
    pub fn ids_from(&self, index: usize) -> impl DoubleEndedIterator<Item = PoolId> + use<> {
        (index as u32..self.nodes.len() as u32).map(PoolId).inspect(|_| step())
    }

    /// Returns a pool, its parent, and so on up to the root.
    pub fn upwards(&self, id: PoolId) -> impl Iterator<Item = PoolId> {
        std::iter::successors(Some(id), |id| self.pool(*id).parent)
    }
}

fn limit(number: Option<Number>) -> u32 {
    number.map_or(u32::MAX, Number::get)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(yaml: &str) -> PoolTree {
        PoolTree::new(&serde_yaml::from_str(yaml).unwrap())
    }

    fn names(tree: &PoolTree, ids: impl Iterator<Item = PoolId>) -> String {
        ids.map(|id| &*tree.pool(id).name).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn pools_are_numbered_as_they_are_written() {
        let tree = tree("pools: {a: {pools: {b: {}, c: {pools: {d: {}}}}}, e: {}}");
        assert_eq!(names(&tree, tree.ids()), " a b c d e");
        assert_eq!(names(&tree, tree.upwards(tree.find("d").unwrap())), "d c a ");
        let children = |name| &tree.pool(tree.find(name).unwrap()).children;
        assert_eq!(names(&tree, children("a").iter().copied()), "b c");
    }

    #[test]
    fn jobs_stand_in_leaves() {
        let mut tree = tree("pools: {a: {pools: {b: {}}}}");
        assert!(!tree.is_leaf(tree.find("a").unwrap()));
        assert_eq!(Some(tree.place("b")), tree.find("b"));
        assert!(!tree.is_leaf(PoolId::ROOT));
    }

    #[test]
    fn an_undeclared_pool_begins_with_its_first_job_and_is_found_by_the_next() {
        let mut tree = tree("{pools: {a: {}}, pool_max_jobs: 3, order: fifo, min_share_after: 5s}");
        let new = tree.place("new");
        assert_eq!(tree.place("new"), new);
        assert_eq!(names(&tree, tree.upwards(new)), "new ");
        let PoolNode { weight, max_jobs, order, min_share_after, max, .. } = tree.pool(new);
        assert_eq!((*weight, *max_jobs, *order), (1.0, 3, JobOrder::Fifo));
        assert_eq!((*min_share_after, max.map), (Some(SimSpan::from_secs(5)), u32::MAX));
    }

    #[test]
    fn a_pools_own_settings_win() {
        let tree = tree(
            "{pools: {a: {max_jobs: 1, order: fair, max_maps: 7, min_reduces: 2}}, \
             pool_max_jobs: 3, order: fifo}",
        );
        let a = tree.pool(tree.find("a").unwrap());
        assert_eq!((a.max_jobs, a.order), (1, JobOrder::Fair));
        assert_eq!(
            (a.max, a.min),
            (PerSlot { map: 7, reduce: u32::MAX }, PerSlot { map: 0, reduce: 2 },)
        );
        assert_eq!(tree.pool(PoolId::ROOT).max_jobs, u32::MAX);
    }
}
