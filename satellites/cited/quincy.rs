//! `quincy`: the cheapest plan for all waiting tasks and all slots at once (Isard et al.: Quincy, SOSP
//! 2009).
//!
//! Each way to place a task has a cost: the bytes that would cross a rack or the core of the network,
//! or the time for which it waits. Each job is to have at least and at most so many slots. The plan
//! that costs least in all is found as a flow ([`SlotPlan`]); at a heartbeat, the tasks that it puts on
//! this tracker are launched.
//!
//! ```text
//! every change ──▶ plan: task 1 to node 3, task 2 waits, task 3 to node 1 ...
//! heartbeat of node 3 ──▶ launch task 1
//! ```
//! With `preemption`, running tasks are part of the plan: to keep one where it is costs less the
//! longer it has run. A task that the plan moves elsewhere or lets wait is killed as soon as another
//! one is to have its slot.

mod plan;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use self::plan::SlotPlan;
use mumakil_base::units::Factor;
use mumakil_base::with_defaults;
use mumakil_core::mapred::{
    Complaint, Job, JobChange, JobEvent, JobId, MapReach, Offer, OptionFacts, PerSlot, Policy,
    PolicyNeeds, PolicySite, Preemption, Reason, RunEndHook, Scheduler, Setting, SlotKind,
    SlotShare, SlotStanding, View,
};
use mumakil_policies::scheduler::shared::suspensions::KillOrWait;

with_defaults! {
    /// The options of `quincy`.
    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
    #[serde(default, deny_unknown_fields)]
    pub struct QuincyOptions {
        // The numbers of the paper's experiments; `far` is 20 where its network is slow.
        /// Whether jobs get equal numbers of slots. If not, each has at least one.
        pub fair: bool = true,
        /// How tasks get slots that others hold.
        pub preemption: KillOrWait = KillOrWait::Wait,
        /// The cost of each second for which a task waits; at most 100.
        pub wait: Factor = Factor::of(0.5),
        /// The cost of each gigabyte that a task reads from another node of its rack.
        pub rack: Factor = Factor::ONE,
        /// The cost of each gigabyte that a task reads from another rack.
        pub far: Factor = Factor::of(2.0),
    }
}

/// Launches tasks by the cheapest plan for all of them.
#[derive(Debug)]
pub struct Quincy {
    options: QuincyOptions,
    plans: PerSlot<SlotPlan>,
}

impl Quincy {
    /// Launches the tasks that the plan puts on the offer's tracker. Returns whether all of them
    /// could be launched.
    fn launch_planned(&mut self, offer: &mut Offer<'_>, kind: SlotKind) -> bool {
        let plan = &mut self.plans[kind];
        let tracker = offer.tracker();
        for task in plan.displaced() {
            let (most, _) = plan.standing(task.job, offer.view().now());
            let held = offer.view().job(task.job).map_or(0, |job| job.tasks(kind).running());
            if held < most
                && 0 < offer.free(kind)
                && let Some(launched) = offer.launch_task(task, Reason::Planned)
            {
                plan.launched(&offer.view(), tracker, launched.attempt);
            }
        }
        plan.make(&offer.view());
        let mut victims = plan.moved_from(tracker).into_iter();
        for task in plan.planned_on(tracker) {
            let mut victim = None;
            if offer.free(kind) == 0 {
                victim = victims.find(|attempt| offer.can_preempt(*attempt));
                let Some(victim) = victim else { break };
                offer.count_on(victim, Preemption::Kill);
            }
            let launched = offer.launch_task(task, Reason::Planned);
            offer.count_on_none();
            let Some(launched) = launched else {
                if offer.fits(task.job, kind) {
                    plan.displace(task);
                }
                return false;
            };
            if let Some(victim) = victim {
                offer.preempt(victim, Preemption::Kill, launched.attempt);
                plan.note_end(victim);
            }
            plan.launched(&offer.view(), tracker, launched.attempt);
        }
        true
    }

    /// Launches tasks of the jobs in the order of their arrival, as long as slots are free: of all
    /// jobs, or only second attempts.
    fn launch_others(&mut self, offer: &mut Offer<'_>, kind: SlotKind, of_all: bool) {
        let may_launch = |job: &&Job| 0 < job.pending(kind) && (of_all || job.waiting(kind) == 0);
        let jobs: Vec<JobId> = offer.running_jobs().filter(may_launch).map(Job::id).collect();
        for job in jobs {
            while 0 < offer.free(kind) && offer.view().job(job).as_ref().is_some_and(may_launch) {
                let launched = match kind {
                    SlotKind::Map => offer.launch_map(job, MapReach::Any, Reason::Planned),
                    SlotKind::Reduce => offer.launch_reduce(job, Reason::Planned),
                };
                let Some(launched) = launched else { break };
                self.plans[kind].launched(&offer.view(), offer.tracker(), launched.attempt);
            }
        }
    }

    /// Returns the first job that waits, and why it gets no slot.
    fn refused(&self, offer: &Offer<'_>, kind: SlotKind) -> Option<(JobId, Reason)> {
        let job = offer.running_jobs().find(|job| 0 < job.waiting(kind))?;
        let (most, waited) = self.plans[kind].standing(job.id(), offer.view().now());
        let held = job.tasks(kind).running();
        let reason = match held < most {
            true => Reason::Delay(waited),
            false => {
                let share = Some(SlotShare::of(f64::from(most)));
                Reason::GroupLimit(SlotStanding { share, ..SlotStanding::of(held) })
            }
        };
        Some((job.id(), reason))
    }
}

impl Scheduler for Quincy {
    fn begin(&mut self, setting: &Setting<'_>) -> Result<Option<RunEndHook>, String> {
        for kind in SlotKind::BOTH {
            self.plans[kind].add_machines(setting.topology);
        }
        Ok(None)
    }

    fn needs(&self) -> PolicyNeeds {
        PolicyNeeds {
            reports: false,
            full_trackers: self.options.preemption.kills(),
            ..PolicyNeeds::default()
        }
    }

    fn job_changed(&mut self, view: &View<'_>, event: &JobEvent) {
        if let JobChange::Attempt(attempt, state) = event.change {
            let plan = &mut self.plans[attempt.slot()];
            if state.outcome().is_some() {
                plan.note_end(attempt);
            }
            plan.note_task(view, attempt.task);
        }
        for kind in SlotKind::BOTH {
            self.plans[kind].note_job(view, event.job);
        }
    }

    fn offer(&mut self, offer: &mut Offer<'_>) {
        for kind in SlotKind::BOTH {
            let plan = &mut self.plans[kind];
            plan.hear(offer.tracker(), offer.free(kind));
            let could_launch = 0 < offer.free(kind) || self.options.preemption.kills();
            if !could_launch || offer.view().jobs_pending(kind) == 0 {
                continue;
            }
            let is_planned = !plan.has_waiting() || self.launch_planned(offer, kind);
            self.launch_others(offer, kind, !is_planned);
            // If a task could not run here, no plan may count on this tracker for now.
            let free = if is_planned { offer.free(kind) } else { 0 };
            self.plans[kind].hear(offer.tracker(), free);
        }
        offer.refuse_first(|offer, kind| self.refused(offer, kind));
    }
}

impl Policy for Quincy {
    const NAME: &'static str = "quincy";
    const ABOUT: &'static str = "the plan that costs least: bytes moved, time waited, work lost";
    const GROUP: &'static str = "of other papers";
    type Options = QuincyOptions;

    fn settle(options: &mut QuincyOptions, _: &PolicySite<'_>) -> Vec<Complaint> {
        let message = "`wait` must be at most 100";
        let hint = "only its ratio to `rack` and `far` counts: make these smaller instead";
        let is_large = 100.0 < options.wait.get();
        is_large.then(|| Complaint::error(&["wait"], message, hint)).into_iter().collect()
    }

    fn facts(_: &QuincyOptions) -> OptionFacts<'_> {
        OptionFacts { heeds_bytes: false, ..OptionFacts::default() }
    }

    fn new(options: QuincyOptions) -> Self {
        let plans = PerSlot::of(|kind| SlotPlan::new(kind, &options));
        Self { options, plans }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mumakil_base::units::Bytes;
    use mumakil_core::cluster::TrackerId;
    use mumakil_core::mapred::{Input, Order, PolicyBench, Split};
    use proptest::collection::vec;
    use proptest::prelude::*;

    const MAP: SlotKind = SlotKind::Map;

    /// Returns nodes of one slot in these racks. All of them have been heard.
    fn bench(options: &str, racks: &[u32]) -> PolicyBench<Quincy> {
        let policy = Quincy::new(serde_yaml::from_str(options).unwrap());
        let mut bench = PolicyBench::with_racks(policy, racks, PerSlot { map: 1, reduce: 1 });
        bench.fill();
        bench
    }

    /// Submits a job with a map for each of these nodes, on which its gigabyte of input is.
    fn reads(bench: &mut PolicyBench<Quincy>, holders: &[u32]) -> JobId {
        let split =
            |on: &u32| Split { bytes: Bytes::new(1_000_000_000), holders: [TrackerId(*on)].into() };
        let splits: Vec<Split> = holders.iter().map(split).collect();
        bench.submit(holders.len() as u32, 0, |job| job.input = Some(Input::Splits(splits.into())))
    }

    /// Offers all trackers in this order; returns the trackers and the jobs that get their slots.
    fn round(bench: &mut PolicyBench<Quincy>, order: &[u32]) -> Vec<(u32, JobId)> {
        let launch = |tracker: &u32| {
            let launched = bench.offer(*tracker);
            launched.into_iter().map(|it| (*tracker, it.job())).collect::<Vec<_>>()
        };
        order.iter().flat_map(launch).collect()
    }

    #[test]
    fn a_task_leaves_the_slot_to_another_that_reads_there() {
        let mut bench = bench("{fair: false, wait: 100}", &[0, 0, 0]);
        let here = reads(&mut bench, &[0, 0]);
        let there = reads(&mut bench, &[1]);
        // The first job has the older tasks, but the second one's reads on node 1.
        assert_eq!(round(bench.at(1.0), &[1, 2, 0]), [(1, there), (2, here), (0, here)]);
    }

    /// To read a gigabyte from another rack costs as much as four seconds of waiting.
    #[test]
    fn a_task_waits_as_long_as_that_is_cheaper() {
        let mut bench = bench("{fair: false, wait: 0.5, far: 2}", &[0, 1]);
        let job = reads(&mut bench, &[0, 0]);
        assert_eq!(round(&mut bench, &[1, 0]), [(0, job)]);
        bench.refused();
        assert_eq!(round(bench.at(3.9), &[1]), []);
        assert_eq!(bench.refused(), [(job, MAP, "delay")]);
        assert_eq!(round(bench.at(4.1), &[1]), [(1, job)]);
    }

    /// When one of the nodes with the input is heard, the plan puts the map there, though it has failed
    /// there; when another node is heard, the plan chose the one that is not heard.
    #[test]
    fn a_map_that_failed_where_its_input_is_does_not_wait_for_ever() {
        for order in [[2, 4, 0, 3, 1], [0, 1, 2, 3, 4], [4, 2, 3, 0, 1], [2, 1, 0, 3, 4]] {
            let mut bench = bench("{}", &[0; 5]);
            let holders = [0, 2, 3].map(TrackerId).into();
            let split = Split { bytes: Bytes::new(1_000_000_000), holders };
            let input = Input::Splits(vec![split].into());
            let job = bench.submit(1, 0, |job| job.input = Some(input));
            let mut failed = Vec::new();
            for instant in 1..12 {
                for (node, _) in round(bench.at(f64::from(instant)), &order) {
                    if failed.len() < 3 {
                        failed.push(node);
                        let attempt = bench.running(node)[0];
                        bench.fails(attempt);
                    }
                }
            }
            assert_eq!(failed.len(), 3, "{order:?}");
            assert_eq!(bench.held(MAP, [job]), [1], "{order:?}: it waits");
        }
    }

    #[test]
    fn jobs_have_equal_numbers_of_slots_if_fair() {
        let mut bench = bench("{}", &[0; 12]);
        let jobs = [100, 2, 100].map(|maps| bench.submit(maps, 0, |_| {}));
        bench.fill();
        assert_eq!(bench.held(MAP, jobs), [5, 2, 5]);
    }

    #[test]
    fn a_new_job_waits_for_its_share_or_takes_it() {
        for (preemption, held) in [("wait", [6, 0]), ("kill", [3, 3])] {
            let mut bench = bench(&format!("{{preemption: {preemption}}}"), &[0; 6]);
            let first = bench.submit(100, 0, |_| {});
            bench.fill();
            bench.at(10.0);
            let second = bench.submit(100, 0, |_| {});
            bench.fill();
            let killed = bench.carry_out().into_iter().filter(|(_, order)| *order == Order::Kill);
            assert_eq!(killed.count(), held[1]);
            assert_eq!(bench.held(MAP, [first, second]), held);
        }
    }

    proptest! {
        /// Jobs arrive and are killed, attempts end and fail, orders are carried out now or later:
        /// whatever happens, the plan knows what waits and what runs, and places no unit for a task
        /// that has gone.
        #[test]
        fn a_victim_that_waits_is_asked_for_once(
            (fair, wait, racks) in (any::<bool>(), 0_u32..3, vec(0_u32..2, 1..4)),
            events in vec((0_u8..8, 0_u32..8, 0_u32..8), 1..60),
        ) {
            let options = format!("{{fair: {fair}, preemption: kill, wait: {wait}}}");
            let nodes = racks.len() as u32;
            let mut bench = bench(&options, &racks);
            let mut jobs = Vec::new();
            for (instant, (what, one, other)) in (1..).zip(events) {
                bench.at(f64::from(instant));
                match what {
                    0 => jobs.push(reads(&mut bench, &vec![one % nodes; 1 + other as usize])),
                    1 => jobs.push(bench.submit(one, other, |_| {})),
                    2 if !jobs.is_empty() => bench.kill_job(jobs.remove(one as usize % jobs.len())),
                    3 => _ = bench.carry_out(),
                    4 | 5 => {
                        let running = bench.running(one % nodes);
                        match running.get(other as usize) {
                            Some(attempt) if what == 4 => bench.ends(*attempt),
                            Some(attempt) => bench.fails(*attempt),
                            None => {}
                        }
                    }
                    _ => _ = bench.offer(one % nodes),
                }
                for kind in SlotKind::BOTH {
                    let mut plan = bench.policy.plans[kind].clone();
                    plan.make(&bench.view());
                    plan.assert_sound(&bench.view());
                }
            }
        }
    }

    /// Returns the least number of gigabytes that cross a rack or the core, times their costs, of all
    /// ways to give each task a node of its own.
    fn least(racks: &[u32], tasks: &[u32], taken: &mut Vec<bool>) -> u32 {
        let Some((holder, others)) = tasks.split_first() else { return 0 };
        let ways = (0..racks.len()).filter_map(|node| {
            if std::mem::replace(&mut taken[node], true) {
                return None;
            }
            let found = cost(racks, *holder, node) + least(racks, others, taken);
            taken[node] = false;
            Some(found)
        });
        ways.collect::<Vec<_>>().into_iter().min().expect("there are as many nodes as tasks")
    }

    fn cost(racks: &[u32], holder: u32, node: usize) -> u32 {
        match () {
            () if holder as usize == node => 0,
            () if racks[holder as usize] == racks[node] => 1,
            () => 2,
        }
    }

    proptest! {
        /// Nodes are heard in any order; waiting is so dear that no task waits.
        #[test]
        fn no_other_placement_moves_less(
            racks in vec(0_u32..3, 1..6),
            holders in vec(0_u32..5, 1..6),
            (jobs, turn) in (1_usize..4, 0_usize..6),
        ) {
            let racks = racks.as_slice();
            let nodes = racks.len();
            let holders: Vec<u32> = holders.iter().take(nodes).map(|on| on % nodes as u32).collect();
            let mut bench = bench("{fair: false, wait: 100}", racks);
            let parts = holders.chunks(holders.len().div_ceil(jobs));
            let parts: Vec<(JobId, &[u32])> =
                parts.map(|part| (reads(&mut bench, part), part)).collect();
            bench.at(1.0);
            let mut found = 0;
            let mut begun = 0;
            for node in (0..nodes).map(|node| (node + turn) % nodes) {
                for launched in bench.offer(node as u32) {
                    let (_, part) = parts[launched.job().index()];
                    found += cost(racks, part[launched.attempt.task.index as usize], node);
                    begun += 1;
                }
            }
            prop_assert_eq!(begun, holders.len());
            prop_assert_eq!(found, least(racks, &holders, &mut vec![false; nodes]));
        }
    }
}
