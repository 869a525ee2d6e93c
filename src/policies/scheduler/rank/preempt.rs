//! Preemption: a job that waits takes slots from jobs that rank below it.
//!
//! The slots are taken as [`taking`] says. With kills, a task loses its work only once: so every run
//! ends, whatever the formulas. With checkpoints, it is interrupted only once.
//!
//! [`taking`]: crate::scheduler::shared::taking

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::facts::RankedJob;
use super::record::RankTurn;
use super::{ByRank, turn};
use crate::scheduler::shared::suspensions::is_suspendable;
use crate::scheduler::shared::taking::{
    SlotClaim, SlotTurn, Taking, Victim, victims, with_resumed,
};
use mumakil_base::mutated;
use mumakil_base::units::Bytes;
use mumakil_core::mapred::{AttemptId, Offer, Preemption, Reason, SlotKind, View};

/// Which attempt loses its slot first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum VictimChoice {
    /// The youngest of the job that ranks last.
    #[default]
    LastJob,
    /// With `kill`, the one that has worked for the shortest time; otherwise, the one with the
    /// least memory.
    Cheapest,
}

impl ByRank {
    pub(super) fn taking(&self) -> Option<Preemption> {
        self.preemption.preemption()
    }

    pub(super) fn suspended_here(
        &mut self,
        offer: &Offer<'_>,
        kind: SlotKind,
    ) -> Option<(RankTurn, AttemptId)> {
        self.suspended.on(offer.tracker()).next()?;
        let view = offer.view();
        let around = self.surroundings(&view, kind);
        let Self { formulas, records, stack, suspended, .. } = self;
        suspended.first_on(offer, kind, |job| {
            let (job, record) = view.job(job).zip(records.get(&job))?;
            Some(turn(&formulas[kind], &RankedJob { job, record, around: &around }, stack))
        })
    }

    /// Takes slots on the offer's tracker for jobs that lack them.
    pub(super) fn preempt(&mut self, offer: &mut Offer<'_>, kind: SlotKind) {
        let Some(how) = self.taking() else { return };
        // Reduces with an order of their own follow that instead of the ranks.
        if kind == SlotKind::Reduce && self.reduces.have_an_order() {
            return;
        }
        let waits = |policy: &Self| {
            policy.lines[kind].waiting(..).next().is_some()
                || policy.suspended.on(offer.tracker()).next().is_some()
        };
        if !waits(self) || self.suspended.preemptable(offer, kind, how).next().is_none() {
            return;
        }
        self.refresh(&offer.view(), kind);
        // An attempt that has just begun keeps its slot until the next heartbeat. Two jobs whose ranks
        // depend on what they hold would take one slot from each other for ever.
        let mut begun = Vec::new();
        while self.suspended.have_room(offer, how)
            && let Some(attempt) = self.take_slot(offer, kind, how, &begun)
        {
            begun.push(attempt);
        }
    }

    /// Takes a slot for the first job that lacks one and can use it on this tracker, but not from an
    /// attempt that has `begun` in this offer. Returns the attempt that gets the slot.
    fn take_slot(
        &mut self,
        offer: &mut Offer<'_>,
        kind: SlotKind,
        how: Preemption,
        begun: &[AttemptId],
    ) -> Option<AttemptId> {
        let here = self.suspended_here(offer, kind);
        let line = &self.lines[kind];
        let first = line.waiting(..).next().into_iter().chain(here.map(|(turn, _)| turn));
        // Usually the jobs that hold slots rank first, which this check finds quickly.
        let ends = first.min().zip(line.last_holder());
        if !ends.is_some_and(|(first, last)| first.may_take_from(last)) {
            return None;
        }
        let mut victims = self.victims(offer, kind, how);
        victims.retain(|victim| !begun.contains(&victim.attempt));
        let view = offer.view();
        let around = self.surroundings(&view, kind);
        let spare = view.capacity(kind).saturating_sub(self.lines[kind].held());
        let taking = Taking { kind, how, spare, victims };
        let Self { when, lines, records, reduces, delay, stack, .. } = self;
        let waiting = lines[kind].waiting(..).map(|turn| (turn, None));
        let here = here.map(|(turn, attempt)| (turn, Some(attempt)));
        let mut line = (0..).zip(with_resumed(waiting, here));
        let next_claim = |view: &View<'_>| {
            line.find_map(|(place, (turn, resumed))| {
                let job = view.job(turn.2)?;
                let tasks = if resumed.is_some() { 0 } else { reduces.pending(job, kind) };
                Some(SlotClaim { turn, tasks, resumed, reason: Reason::InLine(place) })
            })
        };
        let taken = taking.take(offer, delay, next_claim, |view, taker, giver| {
            let Some(when) = mutated!(when.as_ref(), "rank/when-ignored" => None) else {
                return true;
            };
            let [taker, giver] = [taker, giver].map(|(.., id)| {
                let (job, record) = view.job(id).zip(records.get(&id))?;
                Some(RankedJob { job, record, around: &around })
            });
            taker.zip(giver).is_some_and(|(taker, giver)| {
                mutated!(
                    when.holds(&taker, &giver, stack),
                    "rank/when-reversed" => when.holds(&giver, &taker, stack),
                )
            })
        });
        // The iterator borrows the line, which is about to change.
        drop(line);
        let (attempt, victim) = taken?;
        self.note_begun(offer, attempt);
        let now = offer.view().now();
        let record = self.records.entry(victim.job()).or_default();
        match how {
            Preemption::Suspend => {
                record.stops(victim, now);
                self.suspended.note(victim, offer.tracker());
            }
            Preemption::Kill | Preemption::Checkpoint => record.is_killed(victim, now),
        }
        self.place_for_both(&offer.view(), victim.job());
        Some(attempt)
    }

    fn victims(&self, offer: &Offer<'_>, kind: SlotKind, how: Preemption) -> Vec<Victim<RankTurn>> {
        let view = offer.view();
        let here = self.suspended.preemptable(offer, kind, how).filter_map(|report| {
            let job = report.attempt.job();
            let record = self.records.get(&job)?;
            let may_lose = how == Preemption::Suspend || record.may_kill(report.attempt);
            self.lines[kind].place(job).filter(|_| may_lose).map(|turn| (turn, report))
        });
        let givers = self.lines[kind].givers(|job| match how {
            Preemption::Suspend if is_suspendable(&view, job) => 0,
            Preemption::Suspend => u32::MAX,
            Preemption::Kill | Preemption::Checkpoint => {
                self.records.get(&job).map_or(0, |record| record.spared(kind))
            }
        });
        let mut victims = victims(here, givers);
        if mutated!(self.victims == VictimChoice::Cheapest, "rank/never-cheapest" => false) {
            let memory = |job| view.job(job).map_or(Bytes::ZERO, |job| job.spec().memory[kind]);
            victims.sort_by_key(|one| {
                let by_time = mutated!(
                    how == Preemption::Kill,
                    "rank/cheapest-by-memory" => false,
                    "rank/cheapest-by-time" => true,
                );
                let cost = match by_time {
                    true => one.ran.as_micros(),
                    false => memory(one.attempt.job()).get(),
                };
                mutated!(cost, "rank/dearest" => !cost)
            });
        }
        victims
    }
}

#[cfg(test)]
mod tests {
    use super::super::RankOptions;
    use super::*;
    use crate::scheduler::shared::reduces::WithReduces;
    use mumakil_core::mapred::{JobId, Order, PerSlot, Policy, PolicyBench, Priority, Scheduler};

    const MAP: SlotKind = SlotKind::Map;

    /// Returns trackers with one slot of each kind.
    fn bench(options: &str, trackers: u32) -> PolicyBench<ByRank> {
        let options: WithReduces<RankOptions> = serde_yaml::from_str(options).unwrap();
        PolicyBench::new(ByRank::new(options), trackers, PerSlot { map: 1, reduce: 1 })
    }

    /// Offers each tracker once, and returns the orders that the policy gives.
    fn round(bench: &mut PolicyBench<ByRank>, trackers: u32) -> Vec<(AttemptId, Order)> {
        (0..trackers).for_each(|tracker| _ = bench.offer(tracker));
        bench.carry_out()
    }

    fn jobs_of(orders: &[(AttemptId, Order)]) -> Vec<(JobId, Order)> {
        orders.iter().map(|(attempt, order)| (attempt.job(), *order)).collect()
    }

    #[test]
    fn a_job_takes_a_slot_of_a_lower_rank_and_of_no_higher_one() {
        for kind in SlotKind::BOTH {
            let mut bench = bench("{jobs: -remaining, preemption: kill}", 1);
            let submit = |bench: &mut PolicyBench<ByRank>, tasks| match kind {
                SlotKind::Map => bench.submit(tasks, 0, |_| {}),
                SlotKind::Reduce => bench.submit(0, tasks, |_| {}),
            };
            let middle = submit(&mut bench, 3);
            bench.fill();
            let large = submit(&mut bench, 9);
            assert_eq!(round(&mut bench, 1), [], "a larger job waits");
            let equal = submit(&mut bench, 3);
            assert_eq!(round(&mut bench, 1), [], "and so does an equal one");
            let small = submit(&mut bench, 1);
            assert_eq!(jobs_of(&round(&mut bench, 1)), [(middle, Order::Kill)]);
            assert_eq!(bench.held(kind, [middle, large, equal, small]), [0, 0, 0, 1]);
        }
    }

    /// Each job ranks before the other as soon as it holds nothing.
    #[test]
    fn two_jobs_do_not_take_one_slot_from_each_other_for_ever() {
        let mut bench = bench("{jobs: -running, preemption: eager}", 1);
        bench.submit(3, 0, |_| {});
        bench.fill();
        bench.at(10.0).submit(3, 0, |_| {});
        for instant in 11..20 {
            assert!(round(bench.at(f64::from(instant)), 1).len() <= 2, "at {instant} s");
        }
    }

    #[test]
    fn without_preemption_all_keep_their_slots() {
        for preemption in ["", ", preemption: wait"] {
            let mut bench = bench(&format!("{{jobs: -remaining{preemption}}}"), 1);
            bench.submit(9, 0, |_| {});
            bench.fill();
            bench.submit(1, 0, |_| {});
            assert_eq!(round(&mut bench, 1), [], "{preemption}");
            assert!(!bench.policy.needs().full_trackers);
        }
    }

    #[test]
    fn the_youngest_attempt_of_the_last_job_gives_way() {
        let options = serde_yaml::from_str("{jobs: -remaining, preemption: kill}").unwrap();
        let mut bench = PolicyBench::new(ByRank::new(options), 1, PerSlot { map: 3, reduce: 0 });
        let [middle, last] = [2, 9].map(|maps| bench.submit(maps, 0, |_| {}));
        bench.fill();
        assert_eq!(bench.held(MAP, [middle, last]), [2, 1]);
        bench.at(10.0).end_first(middle, MAP, 1);
        let young = bench.offer(0)[0];
        assert_eq!(young.job(), last);
        bench.at(15.0).submit(1, 0, |_| {});
        assert_eq!(round(&mut bench, 1), [(young.attempt, Order::Kill)]);
    }

    /// The last job has the older attempt, and less memory.
    #[test]
    fn the_cheapest_attempt_gives_way_if_asked() {
        for (how, victim, gives_way) in [
            ("kill", "last-job", "last"),
            ("kill", "cheapest", "middle"),
            ("checkpoint", "cheapest", "last"),
            ("eager", "cheapest", "last"),
        ] {
            let options = format!("{{jobs: priority, preemption: {how}, victims: {victim}}}");
            let policy = ByRank::new(serde_yaml::from_str(&options).unwrap());
            let mut bench = PolicyBench::new(policy, 1, PerSlot { map: 2, reduce: 0 });
            let last = bench.submit(9, 0, |job| {
                (job.priority, job.memory.map) = (Priority::Low, Bytes::from_mib(100));
            });
            bench.fill();
            bench.at(10.0).end_first(last, MAP, 1);
            let middle = bench.submit(1, 0, |job| job.memory.map = Bytes::from_mib(200));
            bench.offer(0);
            assert_eq!(bench.held(MAP, [last, middle]), [1, 1]);
            bench.at(15.0).submit(2, 0, |job| job.priority = Priority::High);
            let order = match how {
                "kill" => Order::Kill,
                "eager" => Order::Suspend,
                _ => Order::Checkpoint,
            };
            let job = if gives_way == "last" { last } else { middle };
            // The new job lacks two slots, so both are taken, one before the other.
            assert_eq!(jobs_of(&round(&mut bench, 1))[0], (job, order), "{options}");
        }
    }

    #[test]
    fn slots_are_taken_first_from_the_last_job_wherever_it_runs() {
        let mut bench = bench("{jobs: -remaining, preemption: kill}", 2);
        let [last, middle] = [9, 5].map(|maps| {
            let job = bench.submit(maps, 0, |_| {});
            // The larger job runs on the second tracker, the other on the first.
            bench.offer(if maps == 9 { 1 } else { 0 });
            job
        });
        let small = bench.submit(1, 0, |_| {});
        assert_eq!(jobs_of(&round(&mut bench, 2)), [(last, Order::Kill)]);
        assert_eq!(bench.held(MAP, [small, middle]), [1, 1]);
        bench.submit(2, 0, |_| {});
        assert_eq!(jobs_of(&round(&mut bench, 2)), [(middle, Order::Kill)]);
    }

    #[test]
    fn no_slot_is_taken_for_tasks_that_free_slots_can_serve() {
        let mut bench = bench("{jobs: -remaining, preemption: kill}", 2);
        let large = bench.submit(9, 0, |_| {});
        bench.offer(0);
        bench.submit(1, 0, |_| {});
        assert_eq!(round(&mut bench, 1), [], "the other tracker has a free slot");
        bench.submit(1, 0, |_| {});
        assert_eq!(jobs_of(&round(&mut bench, 1)), [(large, Order::Kill)], "but only one");
    }

    #[test]
    fn a_condition_says_when_and_from_whom() {
        let mut waits =
            bench("{jobs: -remaining, preemption: kill, preemption_when: waited > 1min}", 1);
        waits.submit(9, 0, |_| {});
        waits.fill();
        waits.submit(1, 0, |_| {});
        let taken = [30.0, 60.0, 61.0].map(|at| round(waits.at(at), 1).len());
        assert_eq!(taken, [0, 0, 1]);

        let mut larger =
            bench("{jobs: -remaining, preemption: kill, preemption_when: 5 < victim.remaining}", 1);
        let middle = larger.submit(5, 0, |_| {});
        larger.fill();
        larger.submit(1, 0, |_| {});
        assert_eq!(round(&mut larger, 1), [], "its victim would be too small");
        assert_eq!(larger.held(MAP, [middle]), [1]);
    }

    /// Jobs of 4 and 3 maps on one tracker share its four slots.
    #[test]
    fn equal_shares_are_reached_and_kept() {
        let options =
            "{jobs: -running, preemption: eager, preemption_when: running + 1 < victim.running}";
        let options = serde_yaml::from_str(options).unwrap();
        let mut bench = PolicyBench::new(ByRank::new(options), 1, PerSlot { map: 4, reduce: 0 });
        let first = bench.submit(4, 0, |_| {});
        bench.fill();
        let second = bench.submit(3, 0, |_| {});
        for at in [1.0, 2.0, 3.0] {
            round(bench.at(at), 1);
            assert_eq!(bench.held(MAP, [first, second]), [2, 2], "{at}");
        }
    }

    #[test]
    fn a_suspended_attempt_resumes_when_its_job_has_its_turn() {
        let mut bench = bench("{jobs: -remaining, preemption: eager}", 1);
        let large = bench.submit(2, 0, |_| {});
        let map = bench.offer(0)[0].attempt;
        let small = bench.at(10.0).submit(1, 0, |_| {});
        assert_eq!(round(&mut bench, 1), [(map, Order::Suspend)]);
        bench.at(20.0).end_first(small, MAP, 1);
        assert_eq!(round(&mut bench, 1), [(map, Order::Resume)], "before its other map");
        bench.at(25.0).end_first(large, MAP, 1);
        assert_eq!(bench.policy.took.map.mean(), Some((10.0 + 15.0) / 2.0));
        assert_eq!(bench.offer(0)[0].attempt.task.index, 1);
    }

    #[test]
    fn a_job_that_must_not_be_suspended_keeps_its_slots() {
        let mut bench = bench("{jobs: -remaining, preemption: eager}", 1);
        bench.submit(9, 0, |spec| spec.suspendable = false);
        bench.fill();
        bench.submit(1, 0, |_| {});
        assert_eq!(round(&mut bench, 1), []);
    }

    /// The job that waits always ranks first, so without an end each would kill the other's map.
    #[test]
    fn each_task_is_killed_only_once_so_the_run_ends() {
        let mut bench = bench("{jobs: -running, preemption: kill}", 1);
        let jobs = [1, 1].map(|maps| bench.submit(maps, 0, |_| {}));
        let kills = (1..20).map(|at| round(bench.at(f64::from(at)), 1).len());
        assert_eq!(kills.sum::<usize>(), 2);
        assert_eq!(bench.held(MAP, jobs), [1, 0]);
    }

    #[test]
    fn reduces_with_an_order_of_their_own_keep_their_slots() {
        let mut bench = bench("{jobs: -remaining, preemption: kill, reduce_order: srt}", 1);
        bench.submit(0, 9, |_| {});
        bench.fill();
        bench.submit(0, 1, |_| {});
        assert_eq!(round(&mut bench, 1), []);
    }
}
