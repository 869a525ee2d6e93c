//! The rules that hold in every run, checked from its events alone.
//!
//! The checker keeps its own accounts of nodes, queues, users and asks, and shares with the
//! schedulers only the settings, which each application's first event tells, and the arithmetic.
//! The rules are those of the virtual clock: on the wall clock, cores tell of one thing at different
//! instants.

use std::collections::BTreeMap;

use crate::event::{ApplicationFact, ContainerFact, NodeFact, YarnEvent, YarnFact};
use crate::message::{AppId, AskPriority, ContainerEnd, ContainerId, MasterId, NodeId};
use crate::run::YarnRunSpec;
use crate::size::{SizeCalculator, YarnSize};
use mumakil_base::units::SimTime;

/// The most that a queue may have, by its settings.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct QueueCeiling {
    /// The full name of the queue.
    pub(crate) queue: String,
    pub(crate) rule: CeilingRule,
}

/// How a scheduler reads its settings.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum CeilingRule {
    /// The usage before an allocation is at most this; that after a reservation, too.
    Fair(YarnSize),
    /// The usage with reservations, and with the new container, is at most this share of the
    /// cluster. Before it gets more, a user of a leaf has at most so many times its capacity.
    Capacity { calculator: SizeCalculator, most: f32, user: Option<(f32, f32)> },
}

/// The stages of a container, in their order.
const STAGES: [&str; 7] =
    ["reserved", "allocated", "acquired", "launched", "running", "finished", "heard"];

/// A container, as far as its events tell.
#[derive(Debug, Default)]
struct CheckedLife {
    app: usize,
    node: usize,
    size: YarnSize,
    priority: AskPriority,
    stages: [Option<SimTime>; 7],
    end: Option<ContainerEnd>,
}

/// An application, as far as its events tell.
#[derive(Debug, Default)]
struct CheckedApp {
    user: String,
    ceilings: Box<[QueueCeiling]>,
    /// How many containers are still asked for, by priority.
    asked: BTreeMap<AskPriority, i32>,
}

/// Checks the events of a run.
#[derive(Debug, Default)]
pub(crate) struct YarnChecker {
    sizes: Vec<YarnSize>,
    users: Vec<String>,
    /// The smallest container, in whose multiples limits are rounded.
    step: YarnSize,
    free: Vec<YarnSize>,
    is_up: Vec<bool>,
    kept: Vec<Option<(ContainerId, YarnSize)>>,
    total: YarnSize,
    apps: Vec<CheckedApp>,
    app_of: BTreeMap<MasterId, AppId>,
    containers: BTreeMap<ContainerId, CheckedLife>,
    /// The holdings of queues, and of users in queues: containers, and those with reservations.
    used: BTreeMap<(String, Option<String>), [YarnSize; 2]>,
    now: SimTime,
    breaches: Vec<String>,
}

impl YarnChecker {
    /// Returns a checker for the run of this spec.
    pub(crate) fn new(spec: &YarnRunSpec) -> Self {
        let sizes: Vec<YarnSize> = spec.nodes.iter().map(|node| node.size).collect();
        Self {
            users: spec.jobs.iter().map(|job| job.user.clone()).collect(),
            step: spec.settings.limits.minimum,
            free: sizes.clone(),
            is_up: vec![false; sizes.len()],
            kept: vec![None; sizes.len()],
            sizes,
            ..Self::default()
        }
    }

    /// Returns the rules that were broken so far, each with its instant.
    pub(crate) fn breaches(&self) -> &[String] {
        &self.breaches
    }

    /// Checks the next events.
    pub(crate) fn take(&mut self, events: &[YarnEvent]) {
        for YarnEvent { at, fact } in events {
            self.expect(self.now <= *at, || "time runs back".to_owned());
            self.now = *at;
            match fact {
                YarnFact::Node(id, fact) => self.node(id.index(), *fact),
                YarnFact::Container(id, fact) => self.container(*id, fact),
                YarnFact::Application(id, fact) => self.application(*id, fact),
                _ => {}
            }
        }
    }

    fn expect(&mut self, holds: bool, breach: impl FnOnce() -> String) {
        if !holds {
            self.breaches.push(format!("{}: {}", self.now, breach()));
        }
    }

    fn node(&mut self, node: usize, fact: NodeFact) {
        let (is_up, size) = match fact {
            NodeFact::Registered => (true, self.sizes[node]),
            NodeFact::Lost => (false, YarnSize::NONE - self.sizes[node]),
            NodeFact::Stopped | NodeFact::Slowed(_) => return,
        };
        self.expect(self.is_up[node] != is_up, || format!("node {node} comes or goes twice"));
        self.is_up[node] = is_up;
        self.total += size;
    }

    fn application(&mut self, master: MasterId, fact: &ApplicationFact) {
        if let ApplicationFact::Submitted(id) = fact {
            let user = self.users[master.index()].clone();
            self.apps.push(CheckedApp { user, ..CheckedApp::default() });
            self.app_of.insert(master, *id);
        }
        let Some(id) = self.app_of.get(&master).copied() else { return };
        let app = &mut self.apps[id.index() - 1];
        match fact {
            ApplicationFact::Placed(ceilings) => app.ceilings.clone_from(ceilings),
            ApplicationFact::Asked(priority, count) => _ = app.asked.insert(*priority, *count),
            ApplicationFact::AttemptFailed => app.asked.clear(),
            ApplicationFact::Removed => {
                let own =
                    ContainerId { app: id, number: 0 }..=ContainerId { app: id, number: u32::MAX };
                let lives = self.containers.range(own);
                let left =
                    lives.filter(|(_, it)| it.stages[1].is_some() && it.end.is_none()).count();
                self.expect(left == 0, || {
                    format!("application {} is removed with {left} containers", id.0)
                });
            }
            _ => {}
        }
    }

    fn container(&mut self, id: ContainerId, fact: &ContainerFact) {
        match *fact {
            ContainerFact::Reserved(node, size, _) => {
                self.reach(id, 0, true);
                self.check_limits(id, size, false);
                self.occupy(id, node, size, 1, 1);
                let kept = self.kept[node.index()].replace((id, size));
                self.expect(kept.is_none(), || format!("node {} is kept twice", node.0));
            }
            ContainerFact::Unreserved(node, size, _) => {
                let kept = self.kept[node.index()].take();
                self.expect(kept == Some((id, size)), || {
                    format!("node {} was not kept for {}", node.0, name(id))
                });
                self.occupy(id, node, YarnSize::NONE - size, 1, 1);
            }
            ContainerFact::Allocated(node, size, priority) => {
                let life = self.containers.entry(id).or_default();
                let was_reserved = life.stages[0].is_some();
                (life.app, life.node) = (id.app.index() - 1, node.index());
                (life.size, life.priority) = (size, priority);
                self.reach(id, 1, true);
                self.check_limits(id, size, was_reserved);
                self.occupy(id, node, size, 0, 1);
                let app = &mut self.apps[id.app.index() - 1];
                let left = app.asked.entry(priority).or_default();
                *left -= 1;
                let (left, counts_cores) = (*left, app.ceilings.iter().any(counts_cores));
                self.expect(0 <= left, || format!("{} was not asked for", name(id)));
                let free = &mut self.free[node.index()];
                *free -= size;
                let fits = 0 <= free.memory && (!counts_cores || 0 <= free.cores);
                self.expect(fits, || format!("{} does not fit on node {}", name(id), node.0));
            }
            ContainerFact::Acquired => self.reach(id, 2, false),
            ContainerFact::Launched => self.reach(id, 3, false),
            ContainerFact::Running => self.reach(id, 4, false),
            ContainerFact::Finished(Some(_)) => self.reach(id, 5, false),
            ContainerFact::Heard => {
                let has_ended = self.containers.get(&id).is_some_and(|it| it.end.is_some());
                self.expect(has_ended, || format!("{} is heard of before its end", name(id)));
                self.reach(id, 6, true);
            }
            ContainerFact::Ended(end) => self.end(id, end),
            // The end of an ordered container may be told at any time after the order.
            ContainerFact::Finished(None)
            | ContainerFact::Assigned(_)
            | ContainerFact::Done
            | ContainerFact::IsMaster => {}
        }
    }

    /// Notes that a container reaches a stage: once, before it reaches a later one, and after the
    /// one before, unless it is a first stage.
    fn reach(&mut self, id: ContainerId, stage: usize, is_first: bool) {
        let life = self.containers.entry(id).or_default();
        let before = life.stages[stage].replace(self.now);
        let is_next = is_first || life.stages[..stage.min(4)].last().is_some_and(Option::is_some);
        // A node may tell the end of work after the order to end it, of which the master has heard.
        let is_ordered = stage == 5 && life.end.is_some_and(|end| end != ContainerEnd::Completed);
        let mut later = life.stages[stage + 1..].iter().flatten();
        let is_late = !is_ordered && later.any(|later| *later < self.now);
        let is_dead = life.end.is_some() && [1, 2, 4].contains(&stage);
        self.expect(before.is_none() && is_next && !is_late && !is_dead, || {
            format!("{} is {} out of turn", name(id), STAGES[stage])
        });
    }

    fn end(&mut self, id: ContainerId, end: ContainerEnd) {
        let life = self.containers.entry(id).or_default();
        let lived = life.stages[1].is_some() && life.end.replace(end).is_none();
        self.expect(lived, || format!("{} ends twice, or never lived", name(id)));
        let Some(life) = self.containers.get(&id).filter(|_| lived) else { return };
        let (node, size) = (life.node, life.size);
        let is_given_back = matches!(end, ContainerEnd::Killed | ContainerEnd::Lost);
        if is_given_back && life.stages[2].is_none() {
            *self.apps[life.app].asked.entry(life.priority).or_default() += 1;
        }
        self.free[node] += size;
        self.occupy(id, NodeId(node as u32), YarnSize::NONE - size, 0, 1);
    }

    /// Adds to what the queues of an application and its user in them have, from one account to
    /// another: 0 is that of containers, 1 that with reservations.
    fn occupy(&mut self, id: ContainerId, node: NodeId, size: YarnSize, from: usize, to: usize) {
        let is_up = self.is_up[node.index()] || size.memory < 0;
        self.expect(is_up, || format!("{} is on node {}, which is lost", name(id), node.0));
        let app = &self.apps[id.app.index() - 1];
        for ceiling in &app.ceilings {
            for user in [None, Some(app.user.clone())] {
                let used = self.used.entry((ceiling.queue.clone(), user)).or_default();
                used[from..=to].iter_mut().for_each(|used| *used += size);
            }
        }
    }

    /// Returns what a queue or a user in it has, without and with reservations.
    fn used(&self, queue: &str, user: Option<&str>) -> [YarnSize; 2] {
        let key = (queue.to_owned(), user.map(str::to_owned));
        self.used.get(&key).copied().unwrap_or_default()
    }

    /// Checks the limits of the queues above a container that is allocated or reserved.
    fn check_limits(&mut self, id: ContainerId, size: YarnSize, was_reserved: bool) {
        let app = &self.apps[id.app.index() - 1];
        let mut over = Vec::new();
        for QueueCeiling { queue, rule } in &app.ceilings {
            let [now, with_kept] = self.used(queue, None);
            match *rule {
                CeilingRule::Fair(most) => {
                    let is_new = !was_reserved && self.containers[&id].stages[1].is_some();
                    if !(if is_new { now } else { now + size }).fits_in(most) {
                        over.push(format!("queue `{queue}` is above its maximum"));
                    }
                }
                // Room that is kept was counted when reserved. Where cores count, a parent binds
                // its leaves by the larger share of what it has left, and may have more of the other.
                CeilingRule::Capacity { calculator, most, user }
                    if !was_reserved
                        && (user.is_some() || calculator == SizeCalculator::Memory) =>
                {
                    let most = calculator.times_down(self.total, f64::from(most), self.step);
                    if calculator.compare(self.total, with_kept + size, most).is_gt() {
                        over.push(format!("queue `{queue}` is above its maximum"));
                    }
                    let Some((capacity, factor)) = user else { continue };
                    let own = calculator.times_up(self.total, f64::from(capacity), self.step);
                    let times = calculator.max(self.total, own, size).times(f64::from(factor));
                    let limit = calculator.rounded_up(times, self.step);
                    let [_, of_user] = self.used(queue, Some(&app.user));
                    if calculator.compare(self.total, of_user, limit).is_gt() {
                        over.push(format!("`{}` is above his limit in `{queue}`", app.user));
                    }
                }
                CeilingRule::Capacity { .. } => {}
            }
        }
        over.into_iter().for_each(|text| self.expect(false, || format!("{}: {text}", name(id))));
    }
}

fn counts_cores(ceiling: &QueueCeiling) -> bool {
    !matches!(ceiling.rule, CeilingRule::Capacity { calculator: SizeCalculator::Memory, .. })
}

fn name(ContainerId { app, number }: ContainerId) -> String {
    format!("container {number} of application {}", app.0)
}
