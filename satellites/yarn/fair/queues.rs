//! The tree of queues under the fair scheduler.
//!
//! A queue's usage is counted as containers come and go, for all queues above it, too. Warned
//! containers do not count while others are chosen for preemption.

use super::order::{FairContender, FairPolicy};
use super::settings::FairSettings;
use crate::message::AppId;
use crate::scheduler::java;
use crate::size::YarnSize;

/// The number of a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct FairQueueId(usize);

/// A queue.
#[derive(Debug)]
pub(super) struct FairQueue {
    /// The full name, such as `root.a`.
    pub(super) name: String,
    pub(super) parent: Option<FairQueueId>,
    pub(super) is_leaf: bool,
    /// The queues below it, in the order of the last offer.
    pub(super) children: Vec<FairQueueId>,
    /// Its applications that may run, in the order of the last offer.
    pub(super) runnable: Vec<AppId>,
    /// Its applications that may not run yet, in the order of arrival.
    pub(super) waiting: Vec<AppId>,
    /// How many applications run in it and below.
    pub(super) running: i32,
    pub(super) policy: FairPolicy,
    pub(super) weight: f32,
    pub(super) min: YarnSize,
    pub(super) max: YarnSize,
    pub(super) max_running: i32,
    pub(super) max_master_share: f32,
    pub(super) timeouts_ms: [u64; 2],
    pub(super) threshold: f32,
    pub(super) demand: YarnSize,
    pub(super) share: YarnSize,
    pub(super) usage: YarnSize,
    /// The sum of its masters.
    pub(super) master_usage: YarnSize,
    /// When it last had its minimum share, and its fair share, in milliseconds.
    pub(super) fed_at: [u64; 2],
}

/// All queues.
#[derive(Debug)]
pub(super) struct FairQueues(Vec<FairQueue>);

impl FairQueues {
    pub(super) const ROOT: FairQueueId = FairQueueId(0);

    /// Makes the root, its leaf `default`, and the queues of the file: first its leaves, then its
    /// parents, each in the order of Java's hash set, which matters where queues tie.
    pub(super) fn new(settings: &FairSettings) -> Self {
        let mut queues = Self(Vec::new());
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

    pub(super) fn get(&self, id: FairQueueId) -> &FairQueue {
        &self.0[id.0]
    }

    pub(super) fn get_mut(&mut self, id: FairQueueId) -> &mut FairQueue {
        &mut self.0[id.0]
    }

    /// Returns a queue and those above it, up to the root.
    pub(super) fn upwards(&self, id: FairQueueId) -> impl Iterator<Item = FairQueueId> + '_ {
        std::iter::successors(Some(id), |id| self.get(*id).parent)
    }

    /// Returns the leaves in the order in which they were made.
    pub(super) fn leaves(&self) -> Vec<FairQueueId> {
        (0..self.0.len()).map(FairQueueId).filter(|id| self.get(*id).is_leaf).collect()
    }

    pub(super) fn by_name(&self) -> Vec<FairQueueId> {
        let mut ids: Vec<FairQueueId> = (0..self.0.len()).map(FairQueueId).collect();
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
    ) -> Result<FairQueueId, String> {
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
        let known = self.0.len();
        let leaf = self.make(settings, &name, true);
        self.0[known..].iter_mut().for_each(|queue| queue.fed_at = [now_ms; 2]);
        leaf.filter(|id| self.get(*id).is_leaf)
            .ok_or_else(|| format!("`{name}` is not a leaf queue"))
    }

    fn find(&self, name: &str) -> Option<FairQueueId> {
        self.0.iter().position(|queue| queue.name == name).map(FairQueueId)
    }

    /// Returns a queue by its full name; makes it and its parents if need be, unless a parent is a
    /// leaf with applications.
    fn make(&mut self, settings: &FairSettings, name: &str, is_leaf: bool) -> Option<FairQueueId> {
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
        parent: Option<FairQueueId>,
        is_leaf: bool,
    ) -> FairQueueId {
        let named = settings.queues.iter().find(|(of, _)| of == name);
        let own = named.map(|(_, own)| own.clone()).unwrap_or_default();
        let default = &settings.default;
        let above = parent.map(|id| self.get(id));
        // Time-outs and thresholds come from the parent, all else from the defaults.
        let timeouts_ms = [0, 1].map(|which| {
            own.timeouts_ms[which]
                .or_else(|| above.map(|above| above.timeouts_ms[which]))
                .or(default.timeouts_ms[which])
                .unwrap_or(u64::MAX)
        });
        let threshold = own.threshold.or(above.map(|above| above.threshold));
        let policy = own.policy.or(default.policy).unwrap_or(FairPolicy::Fair);
        let queue = FairQueue {
            name: name.to_owned(),
            parent,
            is_leaf,
            children: Vec::new(),
            runnable: Vec::new(),
            waiting: Vec::new(),
            running: 0,
            // A parent cannot be `fifo`, and stays `fair` then.
            policy: if is_leaf || policy != FairPolicy::Fifo { policy } else { FairPolicy::Fair },
            weight: own.weight.or(default.weight).unwrap_or(1.0),
            min: own.min.or(default.min).unwrap_or_default(),
            max: own.max.or(default.max).unwrap_or(YarnSize::UNBOUNDED),
            max_running: own.max_running.or(default.max_running).unwrap_or(i32::MAX),
            max_master_share: own.max_master_share.or(default.max_master_share).unwrap_or(0.5),
            timeouts_ms,
            threshold: threshold.or(default.threshold).unwrap_or(0.5),
            demand: YarnSize::NONE,
            share: YarnSize::NONE,
            usage: YarnSize::NONE,
            master_usage: YarnSize::NONE,
            fed_at: [0; 2],
        };
        let id = FairQueueId(self.0.len());
        self.0.push(queue);
        if let Some(parent) = parent {
            self.get_mut(parent).children.push(id);
        }
        id
    }

    /// Returns whether a queue and all above it stay within their maxima with so much more.
    pub(super) fn has_room(&self, id: FairQueueId, more: YarnSize) -> bool {
        self.upwards(id).all(|id| {
            let queue = self.get(id);
            (queue.usage + more).fits_in(queue.max)
        })
    }

    /// Returns whether a queue or one above it is above its maximum, so that no node is offered.
    pub(super) fn is_above_maximum(&self, id: FairQueueId) -> bool {
        self.upwards(id).any(|id| !self.get(id).usage.fits_in(self.get(id).max))
    }

    pub(super) fn add_usage(&mut self, id: FairQueueId, size: YarnSize) {
        self.change_upwards(id, |queue| queue.usage += size);
    }

    pub(super) fn free_usage(&mut self, id: FairQueueId, size: YarnSize) {
        self.change_upwards(id, |queue| queue.usage -= size);
    }

    pub(super) fn change_upwards(&mut self, id: FairQueueId, change: impl Fn(&mut FairQueue)) {
        let mut next = Some(id);
        while let Some(id) = next {
            let queue = self.get_mut(id);
            change(queue);
            next = queue.parent;
        }
    }

    pub(super) fn contender(&self, id: FairQueueId) -> FairContender<'_, FairQueueId> {
        let queue = self.get(id);
        FairContender {
            key: id,
            usage: queue.usage,
            demand: queue.demand,
            min: queue.min,
            weight: queue.weight,
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
