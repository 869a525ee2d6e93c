//! The tree of queues under the capacity scheduler.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

use crate::message::AppId;
use crate::scheduler::java;
use crate::scheduler::tree::{YarnQueueId, YarnQueues};
use crate::settings::HadoopProperties;
use crate::size::{SizeCalculator, YarnSize};

/// A queue. Most of it counts only in leaves, which alone have applications.
#[derive(Debug, Default)]
pub(super) struct CapacityQueue {
    /// The full name, such as `root.a`.
    pub(super) path: String,
    pub(super) children: Vec<YarnQueueId>,
    /// Its share of the cluster, and the most that it may have, from 0 to 1.
    pub(super) capacity: f32,
    pub(super) max_capacity: f32,
    pub(super) used: YarnSize,
    /// The used part of its share, which may be more than 1.
    pub(super) used_capacity: f32,
    pub(super) is_preemption_disabled: bool,
    pub(super) user_limit_percent: i32,
    pub(super) user_limit_factor: f32,
    pub(super) max_master_share: f32,
    pub(super) max_applications: i32,
    pub(super) max_applications_of_user: i32,
    pub(super) active: BTreeSet<AppId>,
    pub(super) pending: BTreeSet<AppId>,
    /// The sum of the masters of active applications.
    pub(super) masters: YarnSize,
    pub(super) users: BTreeMap<String, LeafUser>,
    /// The queue's limit as of the last offer.
    pub(super) offered_limit: YarnSize,
    /// The queue's limit as of the last offer that looked at an application.
    pub(super) current_limit: YarnSize,
}

/// The holdings of a user in a queue.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LeafUser {
    pub(super) used: YarnSize,
    /// The sum of the masters of his active applications.
    pub(super) masters: YarnSize,
    pub(super) applications: i32,
}

impl CapacityQueue {
    pub(super) fn is_leaf(&self) -> bool {
        self.children.is_empty()
    }

    pub(super) fn user(&self, user: &str) -> LeafUser {
        self.users.get(user).copied().unwrap_or_default()
    }

    pub(super) fn user_mut(&mut self, user: &str) -> &mut LeafUser {
        self.users.entry(user.to_owned()).or_default()
    }
}

/// All queues.
pub(super) type CapacityQueues = YarnQueues<CapacityQueue>;

impl CapacityQueues {
    /// Makes the tree; the error says what the settings contradict.
    pub(super) fn new(site: &HadoopProperties) -> Result<Self, String> {
        let mut queues = Self::default();
        queues.add(site, "root".to_owned(), None)?;
        Ok(queues)
    }

    fn add(
        &mut self,
        site: &HadoopProperties,
        path: String,
        parent: Option<YarnQueueId>,
    ) -> Result<YarnQueueId, String> {
        let (above, above_max) = parent.map_or((1.0, 1.0), |id| {
            let above = self.get(id);
            (above.capacity, above.max_capacity)
        });
        let prefix = format!("yarn.scheduler.capacity.{path}");
        let whole = if parent.is_none() { 100.0_f32 } else { -1.0 };
        let capacity: f32 = site.get(&format!("{prefix}.capacity"), whole)?;
        let max = match site.get(&format!("{prefix}.maximum-capacity"), 100.0_f32)? {
            unset if unset < 0.0 => 100.0,
            max => max,
        };
        if !(0.0..=100.0).contains(&capacity) || !(0.0..=100.0).contains(&max) || max < capacity {
            return Err(format!(
                "queue `{path}`: a capacity of {capacity} with a maximum of {max}"
            ));
        }
        // Each queue is open here, whatever its state.
        site.text(&format!("{prefix}.state"));
        let list = site.text(&format!("{prefix}.queues")).unwrap_or_default();
        let names: Vec<&str> =
            list.split(',').map(str::trim).filter(|name| !name.is_empty()).collect();
        let (capacity, max_capacity) = (capacity / 100.0 * above, max / 100.0 * above_max);
        let percent: i32 = site.get(&format!("{prefix}.minimum-user-limit-percent"), 100)?;
        let factor: f32 = site.get(&format!("{prefix}.user-limit-factor"), 1.0)?;
        let of_system: i32 = site.get("yarn.scheduler.capacity.maximum-applications", 10_000)?;
        let own: i32 = site.get(&format!("{prefix}.maximum-applications"), -1)?;
        let most = if own < 0 { (of_system as f32 * capacity) as i32 } else { own };
        let masters = site.get("yarn.scheduler.capacity.maximum-am-resource-percent", 0.1_f32)?;
        let queue = CapacityQueue {
            path: path.clone(),
            capacity,
            max_capacity,
            is_preemption_disabled: site.is_on(&format!("{prefix}.disable_preemption"), false),
            user_limit_percent: percent,
            user_limit_factor: factor,
            max_master_share: site
                .get(&format!("{prefix}.maximum-am-resource-percent"), masters)?,
            max_applications: most,
            max_applications_of_user: most
                .min((most as f32 * (percent as f32 / 100.0) * factor) as i32),
            ..CapacityQueue::default()
        };
        let id = self.push(parent, queue);
        let mut sum = 0.0;
        for name in names {
            sum += site.get(&format!("{prefix}.{name}.capacity"), 0.0_f32)? / 100.0;
            let child = self.add(site, format!("{path}.{name}"), Some(id))?;
            self.get_mut(id).children.push(child);
        }
        // Hadoop's own tolerance.
        if !self.get(id).children.is_empty() && 0.000_5 < (1.0 - sum).abs() {
            let percent = sum * 100.0;
            return Err(format!(
                "the capacities below queue `{path}` add up to {percent}, not 100"
            ));
        }
        Ok(id)
    }

    /// Returns a leaf by the last part of its name, as jobs name it; the error says why there is
    /// none.
    pub(super) fn find_leaf(&self, name: &str) -> Result<YarnQueueId, String> {
        let found = self.all().find(|id| {
            let path = &self.get(*id).path;
            path == name || path.rsplit('.').next() == Some(name)
        });
        match found {
            Some(id) if self.get(id).is_leaf() => Ok(id),
            Some(_) => {
                Err(format!("queue `{name}` has queues below it, and takes no applications"))
            }
            None => Err(format!("there is no queue `{name}`")),
        }
    }

    /// Returns the queues below one in the order of offers: by used capacity, then by name.
    pub(super) fn by_used_capacity(&self, id: YarnQueueId) -> Vec<YarnQueueId> {
        let mut children = self.get(id).children.clone();
        children.sort_by(|one, other| {
            let (one, other) = (self.get(*one), self.get(*other));
            let by_use = one.used_capacity.partial_cmp(&other.used_capacity);
            by_use.unwrap_or(Ordering::Equal).then(java::compare_texts(&one.path, &other.path))
        });
        children
    }

    /// Changes what a queue and all above it use.
    pub(super) fn change_used(
        &mut self,
        calculator: SizeCalculator,
        total: YarnSize,
        id: YarnQueueId,
        change: impl Fn(&mut YarnSize),
    ) {
        self.change_upwards(id, |queue| {
            change(&mut queue.used);
            let share = total.times(f64::from(queue.capacity));
            queue.used_capacity = match share == YarnSize::NONE {
                true => 0.0,
                false => calculator.quotient(total, queue.used, share),
            };
        });
    }
}
