//! The plan: which slot each task should have, as the cheapest flow from the tasks to the slots.
//!
//! ```text
//!            ╭── 0 ──────────▶ node that holds its input ──╮
//! task ──────┼── rack cost ──▶ rack ──▶ its nodes ─────────┼──▶ slots
//!            ├── far cost ───▶ anywhere ──▶ all racks      │
//!            ╰── wait cost ──▶ its job's waiting tasks ────╯
//! ```
//! Costs are in millionths of a second of waiting at `wait: 1`. While a task waits, its wait cost
//! grows. All waiting tasks grow dearer together; so the plan lowers the cost of slots instead, of
//! which there are fewer.
//!
//! Changes are noted where they happen. Only [`SlotPlan::make`] asks the jobs what they may have and
//! repairs the flow, so that each plan is of tasks and jobs that fit together.

use std::collections::{BTreeMap, BTreeSet};

use indexmap::IndexMap;
use rustc_hash::FxHashMap;

use crate::flow::{CheapestFlow, FlowArc, FlowNode};
use mumakil_base::mutated;
use mumakil_base::theory::equal_shares;
use mumakil_base::units::{SimSpan, SimTime};
use mumakil_core::cluster::{Topology, TrackerId};
use mumakil_core::mapred::{AttemptId, JobId, SlotKind, TaskId, TaskKind, View, step};

use super::QuincyOptions;

/// The cost of breaking a job's guarantee by one slot: more than any wait.
const GUARANTEE: i64 = 100_000_000_000_000_000;

/// The most that anything else costs: three years of waiting at the dearest rate.
const MOST: f64 = 1e16;

/// More units than there are.
const MANY: i64 = u32::MAX as i64;

/// The plan for the slots of a kind.
#[derive(Clone, Debug)]
pub(super) struct SlotPlan {
    kind: SlotKind,
    /// The kind of the tasks for these slots.
    tasks_are: TaskKind,
    options: QuincyOptions,
    flow: CheapestFlow,
    slots: FlowNode,
    anywhere: FlowNode,
    machines: Vec<PlannedMachine>,
    jobs: IndexMap<JobId, PlannedJob>,
    tasks: BTreeMap<TaskId, PlannedTask>,
    /// The tasks by their nodes in the flow.
    by_node: FxHashMap<FlowNode, TaskId>,
    /// Waiting tasks whose place in a plan was a tracker that they avoid, as after a failure there.
    displaced: BTreeSet<TaskId>,
    /// How long tasks waited before their earlier attempts.
    waited: FxHashMap<TaskId, SimSpan>,
    /// The nodes that hold a task's input; kept to be used again.
    holders: Vec<TrackerId>,
}

#[derive(Clone, Debug)]
struct PlannedMachine {
    node: FlowNode,
    /// The node of its rack.
    rack: FlowNode,
    slots: FlowArc,
    /// How many of its slots were free when it was heard last.
    free: u32,
    /// The tasks of the plan that run here.
    running: BTreeSet<TaskId>,
}

#[derive(Clone, Debug)]
struct PlannedJob {
    /// The node of its tasks that wait.
    waiting: FlowNode,
    /// The way of tasks that may wait, though the job may run them.
    may_wait: FlowArc,
    /// The way of tasks that wait though the job is guaranteed slots for them.
    must_not_wait: FlowArc,
    /// How many of its tasks are in the plan, and how many of these wait.
    tasks: u32,
    tasks_waiting: u32,
    /// How many slots it may have.
    most: u32,
    /// How many tasks the flow has, and how many of them it must run and may run.
    given: Option<[u32; 3]>,
}

#[derive(Clone, Debug)]
struct PlannedTask {
    node: FlowNode,
    wait: FlowArc,
    /// Since when it has waited, or has run.
    since: SimTime,
    /// Its attempt; `None` while it waits.
    running: Option<PlannedAttempt>,
}

#[derive(Clone, Copy, Debug)]
struct PlannedAttempt {
    attempt: AttemptId,
    tracker: TrackerId,
    stay: FlowArc,
    /// The cost of reading the input there.
    transfer: i64,
    /// The cost of its waits before.
    waited: i64,
}

impl SlotPlan {
    /// Returns the plan of a cluster without machines.
    pub(super) fn new(kind: SlotKind, options: &QuincyOptions) -> Self {
        let mut flow = CheapestFlow::default();
        let [slots, anywhere] = [0; 2].map(|supply| flow.add_node(supply));
        Self {
            kind,
            tasks_are: kind.into(),
            options: options.clone(),
            flow,
            slots,
            anywhere,
            machines: Vec::new(),
            jobs: IndexMap::new(),
            tasks: BTreeMap::new(),
            by_node: FxHashMap::default(),
            displaced: BTreeSet::new(),
            waited: FxHashMap::default(),
            holders: Vec::new(),
        }
    }

    // ---- what is known ----

    /// Adds the machines of a cluster, none of which has been heard.
    pub(super) fn add_machines(&mut self, topology: &Topology) {
        let Self { flow, slots, anywhere, .. } = self;
        let mut rack = |_| {
            let rack = flow.add_node(0);
            flow.add_arc(*anywhere, rack, MANY, 0);
            rack
        };
        let racks: Vec<FlowNode> = (0..topology.racks()).map(&mut rack).collect();
        self.machines.extend(topology.nodes().map(|(id, _)| {
            let (node, rack) = (flow.add_node(0), racks[topology.rack(id).0 as usize]);
            flow.add_arc(rack, node, MANY, 0);
            let slots = flow.add_arc(node, *slots, 0, 0);
            PlannedMachine { node, rack, slots, free: 0, running: BTreeSet::new() }
        }));
    }

    /// Notes how many slots of a tracker are free.
    pub(super) fn hear(&mut self, tracker: TrackerId, free: u32) {
        let machine = &mut self.machines[tracker.index()];
        machine.free = free;
        let capacity = free as usize + machine.running.len();
        self.flow.set_capacity(machine.slots, capacity as i64);
        self.flow.settle(machine.node);
    }

    /// Brings the tasks of a job up to date.
    pub(super) fn note_job(&mut self, view: &View<'_>, id: JobId) {
        let Some(job) = view.job(id).filter(|job| job.is_running()) else {
            return self.forget_job(id);
        };
        let known = self.jobs.get(&id).map_or(0, |job| job.tasks_waiting);
        if known == job.waiting(self.kind) {
            return;
        }
        for index in 0..job.tasks(self.kind).total() {
            let task = TaskId { job: id, kind: self.tasks_are, index };
            self.note_task(view, task);
        }
    }

    /// Brings a task up to date.
    pub(super) fn note_task(&mut self, view: &View<'_>, task: TaskId) {
        step();
        let waits = view.job(task.job).is_some_and(|job| job.waits(task));
        match self.tasks.get(&task) {
            Some(known) if known.running.is_none() && !waits => self.drop_task(task),
            None if waits => self.add_task(view, task),
            _ => {}
        }
    }

    /// Notes that an attempt has ended.
    pub(super) fn note_end(&mut self, attempt: AttemptId) {
        let known = self.tasks.get(&attempt.task).and_then(|task| task.running);
        if known.is_some_and(|running| running.attempt == attempt) {
            self.drop_task(attempt.task);
        }
    }

    fn forget_job(&mut self, id: JobId) {
        let tasks: Vec<TaskId> = self.tasks_of(id).map(|(task, _)| *task).collect();
        tasks.into_iter().for_each(|task| self.drop_task(task));
        if let Some(job) = self.jobs.shift_remove(&id) {
            self.flow.remove_node(job.waiting);
        }
        self.waited.retain(|task, _| task.job != id);
    }

    fn tasks_of(&self, job: JobId) -> impl Iterator<Item = (&TaskId, &PlannedTask)> {
        let kind = self.tasks_are;
        let [first, last] = [0, u32::MAX].map(|index| TaskId { job, kind, index });
        self.tasks.range(first..=last)
    }

    fn job(&mut self, id: JobId) -> &mut PlannedJob {
        let Self { jobs, flow, slots, .. } = self;
        if !jobs.contains_key(&id) {
            let waiting = flow.add_node(0);
            let may_wait = flow.add_arc(waiting, *slots, 0, 0);
            let must_not_wait = flow.add_arc(waiting, *slots, 0, GUARANTEE);
            flow.settle(waiting);
            let (tasks, tasks_waiting, most) = Default::default();
            let given = None;
            jobs.insert_sorted(
                id,
                PlannedJob { waiting, may_wait, must_not_wait, tasks, tasks_waiting, most, given },
            );
        }
        &mut jobs[&id]
    }

    fn add_task(&mut self, view: &View<'_>, task: TaskId) {
        let job = self.job(task.job);
        job.tasks += 1;
        job.tasks_waiting += 1;
        let waiting = job.waiting;
        let now = view.now();
        let waited = self.waited.get(&task).copied().unwrap_or_default();
        let since_start = mutated!(now.as_micros() as f64 - waited.as_micros() as f64,
            "quincy/waits-cost-nothing" => 0.0);
        let wait_cost = -cost(self.options.wait.get() * since_start);
        let node = self.flow.add_node(1);
        let wait = self.flow.add_arc(node, waiting, 1, wait_cost);
        let (far, places) = self.places(view, task);
        self.flow.add_arc(node, self.anywhere, 1, far);
        for (place, cost) in places {
            self.flow.add_arc(node, place, 1, cost);
        }
        // Most tasks of a new job wait at first.
        self.flow.guess(wait, 1);
        self.flow.settle(node);
        self.by_node.insert(node, task);
        self.tasks.insert(task, PlannedTask { node, wait, since: now, running: None });
    }

    /// Returns what it costs to run a task anywhere, and the places where it costs less.
    fn places(&mut self, view: &View<'_>, task: TaskId) -> (i64, Vec<(FlowNode, i64)>) {
        let gigabytes = view.input(task, &mut self.holders).get() as f64 / 1e9;
        if self.holders.is_empty() {
            return (0, Vec::new());
        }
        let [in_rack, far] =
            [self.options.rack, self.options.far].map(|price| cost(price.get() * gigabytes * 1e6));
        let far = mutated!(far, "quincy/far-as-rack" => in_rack);
        let in_rack = mutated!(in_rack, "quincy/rack-as-far" => far);
        let mut places = Vec::new();
        for on in self.holders.iter().map(|on| &self.machines[on.index()]) {
            places.push((on.node, mutated!(0, "quincy/node-as-rack" => in_rack)));
            if !places.contains(&(on.rack, in_rack)) {
                places.push((on.rack, in_rack));
            }
        }
        (far, places)
    }

    fn drop_task(&mut self, id: TaskId) {
        let Some(task) = self.tasks.remove(&id) else { return };
        self.displaced.remove(&id);
        self.by_node.remove(&task.node);
        self.flow.remove_node(task.node);
        let job = self.job(id.job);
        job.tasks -= 1;
        job.tasks_waiting -= u32::from(task.running.is_none());
        if let Some(running) = task.running {
            let machine = &mut self.machines[running.tracker.index()];
            machine.running.remove(&id);
            let free = machine.free;
            self.hear(running.tracker, free);
        }
    }

    // ---- the plan ----

    /// Returns whether a task waits.
    pub(super) fn has_waiting(&self) -> bool {
        self.jobs.values().any(|job| 0 < job.tasks_waiting)
    }

    /// Makes the plan for this instant.
    pub(super) fn make(&mut self, view: &View<'_>) {
        let now = view.now();
        let waits = cost(self.options.wait.get() * now.as_micros() as f64);
        for machine in 0..self.machines.len() {
            step();
            let tracker = TrackerId(machine as u32);
            // A tracker that is lost is not heard any more.
            if 0 < self.machines[machine].free && !view.is_active(tracker) {
                self.hear(tracker, 0);
            }
            let Self { machines, tasks, flow, .. } = self;
            flow.set_cost(machines[machine].slots, -waits);
            for task in machines[machine].running.iter().map(|id| &tasks[id]) {
                let Some(running) = task.running else { continue };
                // The slot that it has is the cheapest one, even before it has run for any time.
                let micros = now.saturating_since(task.since).as_micros() as i64;
                let ran = mutated!(
                    micros + 1,
                    "quincy/work-is-worth-nothing" => 1,
                    "quincy/work-costs" => 1 - micros,
                );
                flow.set_cost(running.stay, running.transfer - ran);
                flow.set_cost(task.wait, running.waited - waits);
                flow.settle(task.node);
            }
        }
        self.guarantee(view);
        self.flow.settle(self.slots);
        self.flow.repair().expect("each task can wait");
    }

    /// Sets how many tasks each job has to run, and how many it may run.
    fn guarantee(&mut self, view: &View<'_>) {
        let kind = self.kind;
        let counted = self.jobs.iter().map(|(id, planned)| {
            step();
            let running = view.job(*id).map_or(0, |job| job.tasks(kind).running());
            (running, running + planned.tasks_waiting)
        });
        let demands: Vec<(u32, u32)> = counted.collect();
        let shares = match self.options.fair {
            true => {
                let wanted: Vec<u32> = demands.iter().map(|(_, wanted)| *wanted).collect();
                let shares = equal_shares(view.capacity(kind), &wanted).into_iter();
                shares.map(|it| (mutated!(it, "quincy/no-guarantee" => 0), it)).collect()
            }
            // Every job has a slot, so that none starves.
            false => {
                let least = mutated!(1, "quincy/no-slot-each" => 0);
                demands.iter().map(|(_, wanted)| (least, *wanted)).collect::<Vec<_>>()
            }
        };
        let mut in_slots = 0;
        for ((job, (running, _)), (least, most)) in self.jobs.values_mut().zip(demands).zip(shares)
        {
            // Attempts that the plan does not move take their part of the job's slots first.
            let fixed = running.saturating_sub(job.tasks - job.tasks_waiting);
            let [least, most] =
                [least, most].map(|slots: u32| slots.saturating_sub(fixed).min(job.tasks));
            job.most = most + fixed;
            in_slots += i64::from(most);
            let given = Some([job.tasks, least, most]);
            if std::mem::replace(&mut job.given, given) == given {
                continue;
            }
            let flow = &mut self.flow;
            flow.set_supply(job.waiting, i64::from(most) - i64::from(job.tasks));
            flow.set_capacity(job.may_wait, i64::from(most - least));
            flow.set_capacity(job.must_not_wait, i64::from(least));
        }
        self.flow.set_supply(self.slots, -in_slots);
    }

    /// Returns the waiting tasks that the plan puts on a tracker.
    pub(super) fn planned_on(&self, tracker: TrackerId) -> Vec<TaskId> {
        let mut found = Vec::new();
        let mut at = vec![(self.machines[tracker.index()].node, MANY)];
        // From the machine back along the flow: tasks whose input is here, then tasks in the rack,
        // then all others.
        while let Some((place, units)) = at.pop() {
            let before = found.len();
            for (source, units) in self.flow.sources_of(place) {
                step();
                match self.by_node.get(&source) {
                    Some(task) if self.tasks[task].running.is_some() => {}
                    Some(task) => found.push(*task),
                    None => at.push((source, units)),
                }
            }
            found[before..].sort_unstable();
            found.truncate(before + units as usize);
            let left = units - (found.len() - before) as i64;
            at.iter_mut().for_each(|(_, units)| *units = left.min(*units));
        }
        found
    }

    /// Lists the attempts on a tracker that the plan moves elsewhere or lets wait.
    pub(super) fn moved_from(&self, tracker: TrackerId) -> Vec<AttemptId> {
        let tasks = self.machines[tracker.index()].running.iter();
        let running = tasks.filter_map(|task| self.tasks[task].running);
        running.filter(|it| self.flow.flow(it.stay) == 0).map(|it| it.attempt).collect()
    }

    /// Notes a launch of a task of the plan.
    pub(super) fn launched(&mut self, view: &View<'_>, tracker: TrackerId, attempt: AttemptId) {
        let id = attempt.task;
        let Some(task) = self.tasks.get(&id).filter(|task| task.running.is_none()) else { return };
        let now = view.now();
        let waited = self.waited.entry(id).or_default();
        *waited += now.saturating_since(task.since);
        let waited = cost(self.options.wait.get() * waited.as_micros() as f64);
        if !self.options.preemption.kills() {
            return self.drop_task(id);
        }
        let (far, places) = self.places(view, id);
        let machine = &mut self.machines[tracker.index()];
        let here = places.iter().filter(|(place, _)| [machine.node, machine.rack].contains(place));
        let transfer = here.map(|(_, cost)| *cost).min().unwrap_or(far);
        machine.running.insert(id);
        let task = self.tasks.get_mut(&id).expect("it has just been found there");
        let stay = self.flow.add_shortcut(task.node, machine.node, transfer - 1);
        task.running = Some(PlannedAttempt { attempt, tracker, stay, transfer, waited });
        task.since = now;
        self.displaced.remove(&id);
        self.job(id.job).tasks_waiting -= 1;
    }

    /// Notes that a task avoids the tracker on which the plan puts it. The next plan may put it there
    /// again, since a tracker is no place of its own for most tasks.
    pub(super) fn displace(&mut self, task: TaskId) {
        self.displaced.insert(task);
    }

    /// Returns the tasks that avoid their trackers: any other tracker may have them.
    pub(super) fn displaced(&self) -> Vec<TaskId> {
        self.displaced.iter().copied().collect()
    }

    /// Asserts that the plan knows the tasks that wait and those that run, and that what its jobs
    /// supply to the flow is what they have.
    #[cfg(test)]
    pub(super) fn assert_sound(&self, view: &View<'_>) {
        assert!(self.flow.is_proven());
        for job in view.running_jobs() {
            let all = (0..job.tasks(self.kind).total()).map(|index| TaskId {
                job: job.id(),
                kind: self.tasks_are,
                index,
            });
            let waiting = all.clone().filter(|task| job.waits(*task)).count();
            let known = all.filter_map(|task| self.tasks.get(&task));
            let (run, wait): (Vec<_>, Vec<_>) = known.partition(|it| it.running.is_some());
            assert_eq!(wait.len(), waiting, "tasks of {} wait", job.id());
            let counted =
                self.jobs.get(&job.id()).map_or((0, 0), |it| (it.tasks, it.tasks_waiting));
            assert_eq!(counted, ((run.len() + wait.len()) as u32, wait.len() as u32));
            assert!(run.len() as u32 <= job.tasks(self.kind).running(), "{} runs", job.id());
        }
    }

    /// Returns how many slots a job may have, and how long a task of it has waited.
    pub(super) fn standing(&self, job: JobId, now: SimTime) -> (u32, SimSpan) {
        let waiting = self.tasks_of(job).filter(|(_, task)| task.running.is_none());
        let since = waiting.map(|(_, task)| task.since).min().unwrap_or(now);
        let most = self.jobs.get(&job).map_or(0, |job| job.most);
        (most, now.saturating_since(since))
    }
}

/// Rounds a cost, and limits it so that no sum of costs leaves the range of integers.
fn cost(cost: f64) -> i64 {
    cost.clamp(-MOST, MOST).round() as i64
}
