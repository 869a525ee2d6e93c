//! The tree of queues under the fair scheduler.
//!
//! A queue's usage is counted as containers come and go, for all queues above it, too. Warned
//! containers do not count while others are chosen for preemption.

use super::order::{FairContender, FairPolicy};
use super::settings::{FairQueueSettings, FairSettings};
use crate::message::AppId;
use crate::scheduler::java;
use crate::scheduler::tree::{YarnQueueId, YarnQueues};
use crate::size::YarnSize;

/// A queue.
#[derive(Debug, Default)]
pub(super) struct FairQueue {
    /// The full name, such as `root.a`.
    pub(super) name: String,
    pub(super) is_leaf: bool,
    /// The queues below it, in the order of the last offer.
    pub(super) children: Vec<YarnQueueId>,
    /// Its applications that may run, in the order of the last offer.
    pub(super) runnable: Vec<AppId>,
    /// Its applications that may not run yet, in the order of arrival.
    pub(super) waiting: Vec<AppId>,
    /// How many applications run in it and below.
    pub(super) running: i32,
    pub(super) set: FairQueueSettings,
    pub(super) demand: YarnSize,
    pub(super) share: YarnSize,
    pub(super) usage: YarnSize,
    /// The sum of its masters.
    pub(super) master_usage: YarnSize,
    /// When it last had its minimum share, and its fair share, in milliseconds.
    pub(super) fed_at: [u64; 2],
}

/// All queues.
pub(super) type FairQueues = YarnQueues<FairQueue>;

impl FairQueues {
    /// Makes the root, its leaf `default`, and the queues of the file: first its leaves, then its
    /// parents, each in the order of Java's hash set, which matters where queues tie.
    pub(super) fn new(settings: &FairSettings) -> Self {
        let mut queues = Self::default();
        queues.add(settings, "root", None, false);
        queues.make(settings, "root.default", true);
        for is_parent in [false, true] {
            let named = settings.queues.iter().filter(|(_, queue)| queue.is_parent == is_parent);
            let names = named.map(|(name, _)| name.clone()).collect();
            for name in java::in_hash_order(names) {
                queues.make(settings, &name, !is_parent);
            }
        }
        queues
    }

    /// Returns the leaves in the order in which they were made.
    pub(super) fn leaves(&self) -> Vec<YarnQueueId> {
        self.all().filter(|id| self.get(*id).is_leaf).collect()
    }

    pub(super) fn by_name(&self) -> Vec<YarnQueueId> {
        let mut ids: Vec<YarnQueueId> = self.all().collect();
        ids.sort_by(|one, other| java::compare_texts(&self.get(*one).name, &self.get(*other).name));
        ids
    }

    /// Returns the leaf for a job, and makes it if need be; the error says why there is none.
    pub(super) fn place(
        &mut self,
        settings: &FairSettings,
        queue: &str,
        user: &str,
        now_ms: u64,
    ) -> Result<YarnQueueId, String> {
        if queue.is_empty() || queue.starts_with('.') || queue.ends_with('.') {
            return Err(format!("`{queue}` is no name of a queue"));
        }
        // First the job's own queue, unless that is `default`; then its user's.
        let own = (queue != "default").then(|| full_name(queue));
        let of_user =
            settings.user_as_default_queue.then(|| full_name(&user.replace('.', "_dot_")));
        let mut choices = own.into_iter().chain(of_user);
        let usable = choices.find(|name| settings.allow_undeclared || self.find(name).is_some());
        let name = usable.unwrap_or_else(|| full_name("default"));
        let known = self.all().count();
        let leaf = self.make(settings, &name, true);
        self.all().skip(known).for_each(|id| self.get_mut(id).fed_at = [now_ms; 2]);
        leaf.filter(|id| self.get(*id).is_leaf)
            .ok_or_else(|| format!("`{name}` is not a leaf queue"))
    }

    fn find(&self, name: &str) -> Option<YarnQueueId> {
        self.all().find(|id| self.get(*id).name == name)
    }

    /// Returns a queue by its full name; makes it and its parents if need be, unless a parent is a
    /// leaf with applications.
    fn make(&mut self, settings: &FairSettings, name: &str, is_leaf: bool) -> Option<YarnQueueId> {
        if let Some(id) = self.find(name) {
            return Some(id);
        }
        let (parent, _) = name.rsplit_once('.')?;
        let parent = self.make(settings, parent, false)?;
        (!self.get(parent).is_leaf).then(|| self.add(settings, name, Some(parent), is_leaf))
    }

    fn add(
        &mut self,
        settings: &FairSettings,
        name: &str,
        parent: Option<YarnQueueId>,
        is_leaf: bool,
    ) -> YarnQueueId {
        let named = settings.queues.iter().find(|(of, _)| of == name);
        let mut set = named.map_or(settings.default, |(_, own)| *own);
        if let (None, Some(above)) = (named, parent) {
            set = set.below(&self.get(above).set);
        }
        // A parent cannot be `fifo`, and stays `fair` then.
        if !is_leaf && set.policy == FairPolicy::Fifo {
            set.policy = FairPolicy::Fair;
        }
        let name = name.to_owned();
        let id = self.push(parent, FairQueue { name, is_leaf, set, ..FairQueue::default() });
        if let Some(parent) = parent {
            self.get_mut(parent).children.push(id);
        }
        id
    }

    /// Returns whether a queue and all above it stay within their maxima with so much more.
    pub(super) fn has_room(&self, id: YarnQueueId, more: YarnSize) -> bool {
        self.upwards(id).all(|id| {
            let queue = self.get(id);
            (queue.usage + more).fits_in(queue.set.max)
        })
    }

    /// Returns whether a queue or one above it is above its maximum, so that no node is offered.
    pub(super) fn is_above_maximum(&self, id: YarnQueueId) -> bool {
        self.upwards(id).any(|id| !self.get(id).usage.fits_in(self.get(id).set.max))
    }

    pub(super) fn add_usage(&mut self, id: YarnQueueId, size: YarnSize) {
        self.change_upwards(id, |queue| queue.usage += size);
    }

    pub(super) fn free_usage(&mut self, id: YarnQueueId, size: YarnSize) {
        self.change_upwards(id, |queue| queue.usage -= size);
    }

    pub(super) fn contender(&self, id: YarnQueueId) -> FairContender<'_, YarnQueueId> {
        let queue = self.get(id);
        FairContender {
            key: id,
            usage: queue.usage,
            demand: queue.demand,
            min: queue.set.min,
            weight: queue.set.weight,
            start: 0,
            name: Some(&queue.name),
            number: 0,
        }
    }
}

/// Returns the name of a queue with that of the root before it.
fn full_name(name: &str) -> String {
    match name == "root" || name.starts_with("root.") {
        true => name.to_owned(),
        false => format!("root.{name}"),
    }
}
