//! The tree of queues under the capacity scheduler.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

use super::settings::CapacitySettings;
use crate::message::AppId;
use crate::scheduler::java;
use crate::size::{SizeCalculator, YarnSize};

/// The number of a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct CapacityQueueId(usize);

/// A queue.
#[derive(Debug)]
pub(super) struct CapacityQueue {
    /// The full name, such as `root.a`.
    pub(super) path: String,
    pub(super) parent: Option<CapacityQueueId>,
    pub(super) children: Vec<CapacityQueueId>,
    /// Its share of the cluster, and the most that it may have, from 0 to 1.
    pub(super) capacity: f32,
    pub(super) max_capacity: f32,
    pub(super) used: YarnSize,
    /// The used part of its share, which may be more than 1.
    pub(super) used_capacity: f32,
    pub(super) is_preemption_disabled: bool,
    /// The part that only a leaf has.
    pub(super) leaf: Option<LeafState>,
}

/// The part of a queue that has applications.
#[derive(Debug, Default)]
pub(super) struct LeafState {
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

impl LeafState {
    pub(super) fn user(&self, user: &str) -> LeafUser {
        self.users.get(user).copied().unwrap_or_default()
    }

    pub(super) fn user_mut(&mut self, user: &str) -> &mut LeafUser {
        self.users.entry(user.to_owned()).or_default()
    }
}

/// All queues.
#[derive(Debug)]
pub(super) struct CapacityQueues(Vec<CapacityQueue>);

impl CapacityQueues {
    pub(super) const ROOT: CapacityQueueId = CapacityQueueId(0);

    /// Makes the tree; the error says what the settings contradict.
    pub(super) fn new(settings: &CapacitySettings) -> Result<Self, String> {
        let mut queues = Self(Vec::new());
        queues.add(settings, "root".to_owned(), None)?;
        Ok(queues)
    }

    fn add(
        &mut self,
        settings: &CapacitySettings,
        path: String,
        parent: Option<CapacityQueueId>,
    ) -> Result<CapacityQueueId, String> {
        let (above, above_max) = parent.map_or((1.0, 1.0), |id| {
            let above = self.get(id);
            (above.capacity, above.max_capacity)
        });
        let whole = if parent.is_none() { 100.0_f32 } else { -1.0 };
        let capacity: f32 = settings.get(&format!("{path}.capacity"), whole)?;
        let max = match settings.get(&format!("{path}.maximum-capacity"), 100.0_f32)? {
            unset if unset < 0.0 => 100.0,
            max => max,
        };
        if !(0.0..=100.0).contains(&capacity) || !(0.0..=100.0).contains(&max) || max < capacity {
            return Err(format!(
                "queue `{path}`: a capacity of {capacity} with a maximum of {max}"
            ));
        }
        let children = settings.children(&path);
        let names = children.iter().map(|name| format!("{path}.{name}")).collect::<Vec<_>>();
        let id = CapacityQueueId(self.0.len());
        let is_disabled = settings.is_on(&format!("{path}.disable_preemption"), false);
        let (capacity, max_capacity) = (capacity / 100.0 * above, max / 100.0 * above_max);
        let leaf = names.is_empty().then(|| leaf(settings, &path, capacity)).transpose()?;
        self.0.push(CapacityQueue {
            path: path.clone(),
            parent,
            children: Vec::new(),
            capacity,
            max_capacity,
            used: YarnSize::NONE,
            used_capacity: 0.0,
            is_preemption_disabled: is_disabled,
            leaf,
        });
        let mut sum = 0.0;
        for name in names {
            sum += settings.get(&format!("{name}.capacity"), 0.0_f32)? / 100.0;
            let child = self.add(settings, name, Some(id))?;
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

    pub(super) fn get(&self, id: CapacityQueueId) -> &CapacityQueue {
        &self.0[id.0]
    }

    pub(super) fn get_mut(&mut self, id: CapacityQueueId) -> &mut CapacityQueue {
        &mut self.0[id.0]
    }

    /// Returns a leaf by the last part of its name, as jobs name it; the error says why there is
    /// none.
    pub(super) fn find_leaf(&self, name: &str) -> Result<CapacityQueueId, String> {
        let place = self
            .0
            .iter()
            .position(|queue| queue.path == name || queue.path.rsplit('.').next() == Some(name));
        match place.map(CapacityQueueId) {
            Some(id) if self.get(id).leaf.is_some() => Ok(id),
            Some(_) => {
                Err(format!("queue `{name}` has queues below it, and takes no applications"))
            }
            None => Err(format!("there is no queue `{name}`")),
        }
    }

    /// Returns the queues below one in the order of offers: by used capacity, then by name.
    pub(super) fn by_used_capacity(&self, id: CapacityQueueId) -> Vec<CapacityQueueId> {
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
        id: CapacityQueueId,
        change: impl Fn(&mut YarnSize),
    ) {
        let mut next = Some(id);
        while let Some(id) = next {
            let queue = self.get_mut(id);
            change(&mut queue.used);
            let share = total.times(f64::from(queue.capacity));
            queue.used_capacity = match share == YarnSize::NONE {
                true => 0.0,
                false => calculator.quotient(total, queue.used, share),
            };
            next = queue.parent;
        }
    }
}

fn leaf(settings: &CapacitySettings, path: &str, capacity: f32) -> Result<LeafState, String> {
    let percent: i32 = settings.get(&format!("{path}.minimum-user-limit-percent"), 100)?;
    let factor: f32 = settings.get(&format!("{path}.user-limit-factor"), 1.0)?;
    let of_system: i32 = settings.get("maximum-applications", 10_000)?;
    let own: i32 = settings.get(&format!("{path}.maximum-applications"), -1)?;
    let most = if own < 0 { (of_system as f32 * capacity) as i32 } else { own };
    let masters = settings.get("maximum-am-resource-percent", 0.1_f32)?;
    Ok(LeafState {
        user_limit_percent: percent,
        user_limit_factor: factor,
        max_master_share: settings.get(&format!("{path}.maximum-am-resource-percent"), masters)?,
        max_applications: most,
        max_applications_of_user: most
            .min((most as f32 * (percent as f32 / 100.0) * factor) as i32),
        ..LeafState::default()
    })
}
