//! Finds for each wait for a slot the rule by which other jobs came first.

use super::part::{SojournPart, WaitRule};
use super::story::StoryPart;
use super::{JobToExplain, RunToExplain, SlotHolders};
use mumakil_core::cluster::SlotKind;

/// Gives each wait without a refusal a rule, and joins neighbours of the same cause and rule. If
/// more than half of all slots were free, the reason is unknown. If the job's own tasks held two
/// thirds of the held slots or more, the job waited for these tasks. Otherwise the rule is the
/// policy's order at the time: the order within the job's group if jobs of this group held more
/// than half of the slots of all other jobs, else the order among groups.
pub(super) fn ordered(
    stretches: Vec<StoryPart>,
    job: &JobToExplain,
    told: &RunToExplain,
    holders: &SlotHolders,
) -> Vec<StoryPart> {
    let in_orders = stretches.into_iter().flat_map(|stretch| by_order(stretch, told));
    let mut row: Vec<(StoryPart, Option<usize>)> = Vec::new();
    for (next, order) in in_orders {
        match row.last_mut() {
            Some((last, of)) if (last.part, last.rule, *of) == (next.part, next.rule, order) => {
                last.to = next.to;
            }
            _ => row.push((next, order)),
        }
    }
    let ordered = row.into_iter().map(|(stretch, order)| match order {
        Some(order) => {
            StoryPart { rule: Some(rule(&stretch, order, job, told, holders)), ..stretch }
        }
        None => stretch,
    });
    ordered.collect()
}

/// Cuts a wait without a rule where the policy changed; each piece gets the index of the order in
/// force.
fn by_order(stretch: StoryPart, told: &RunToExplain) -> Vec<(StoryPart, Option<usize>)> {
    if stretch.rule == Some(WaitRule::NextHeartbeat) {
        return vec![(StoryPart { part: SojournPart::Heartbeats, rule: None, ..stretch }, None)];
    }
    // The part is no wait for a slot, or a refusal has already given its rule.
    if stretch.part.slot().is_none() || stretch.rule.is_some() {
        return vec![(stretch, None)];
    }
    // Each order holds until the next policy takes over; the last order holds to the end.
    let ends = told.orders.iter().skip(1).map(|(from, _)| *from).chain([u64::MAX]);
    let pieces = told.orders.iter().zip(ends).enumerate().map(|(place, ((from, _), to))| {
        let (from, to) = (stretch.from.max(*from), stretch.to.min(to));
        (StoryPart { from, to, ..stretch }, Some(place))
    });
    pieces.filter(|(piece, _)| piece.from < piece.to).collect()
}

fn rule(
    wait: &StoryPart,
    order: usize,
    job: &JobToExplain,
    told: &RunToExplain,
    holders: &SlotHolders,
) -> WaitRule {
    // Callers pass only waits for slots, so there is a kind.
    let Some(kind) = wait.part.slot() else { return WaitRule::Order };
    let span = [(wait.from, wait.to)];
    // Containers of both kinds share the room of the nodes.
    let (mut all, mut own, mut of_group) = (0, 0, 0);
    for kind in SlotKind::BOTH.into_iter().filter(|it| told.has_containers || *it == kind) {
        all += holders.all(kind, &span);
        own += holders.of_job(kind, job.row.job, &span);
        of_group += holders.of_group(kind, job.group, &span);
    }
    let precedence = told.orders[order].1;
    // An upper bound: trackers may have been lost since they first came up.
    let there_are = told.slots[kind].saturating_mul(wait.ms());
    if all.saturating_mul(2) < there_are {
        // If more than half of the slots were free, the order of jobs cannot be the reason.
        WaitRule::FreeSlot
    // Two thirds is chosen: a job that itself holds most of the held slots is hardly delayed by
    // others.
    } else if 0 < own && 2 * all <= 3 * own {
        WaitRule::OwnTasks
    // Check whether more than half of the slots of other jobs were held within the same group.
    } else if all - own < 2 * (of_group - own) {
        WaitRule::of_order(precedence.jobs)
    } else {
        WaitRule::of_order(precedence.groups)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::explain::AttemptHold;
    use crate::tables::JobRow;
    use mumakil_core::cluster::PerSlot;
    use mumakil_core::mapred::{Precedence, PrecedenceBy};

    fn job(id: u32, group: u32) -> JobToExplain {
        JobToExplain {
            row: JobRow { job: id, ..JobRow::default() },
            group,
            ended: 0,
            tries: Vec::new(),
            refusals: Vec::new(),
            refused_for: None,
        }
    }

    /// Jobs 0 and 1 are in one group, job 2 is in another group. There are ten slots; the jobs hold
    /// `slots` of them for the 100 ms that job 0 waits.
    fn told(slots: [u32; 3], orders: Vec<(u64, Precedence)>) -> RunToExplain {
        let hold = |(job, slots)| AttemptHold { job, kind: SlotKind::Map, from: 0, to: 100, slots };
        RunToExplain {
            jobs: vec![job(0, 0), job(1, 0), job(2, 1)],
            orders,
            groups: Vec::new(),
            slots: PerSlot { map: 10, reduce: 10 },
            has_containers: false,
            absences: Vec::new(),
            holds: (0..).zip(slots).map(hold).collect(),
            summed_stops: 0,
        }
    }

    fn wait(from: u64, to: u64, rule: Option<WaitRule>) -> StoryPart {
        StoryPart { part: SojournPart::MapWait, from, to, rule }
    }

    #[test]
    fn the_rule_is_that_of_those_who_held_most() {
        let orders =
            vec![(0, Precedence { groups: PrecedenceBy::Share, jobs: PrecedenceBy::Line })];
        let rule = |slots| {
            let told = told(slots, orders.clone());
            let waits = vec![wait(0, 40, None), wait(40, 100, None)];
            let ruled = ordered(waits, &told.jobs[0], &told, &told.holders());
            assert_eq!(ruled.len(), 1, "equal neighbours are joined: {ruled:?}");
            ruled[0].rule.unwrap()
        };
        assert_eq!(rule([1, 3, 6]), WaitRule::Share);
        assert_eq!(rule([1, 6, 3]), WaitRule::HeadOfLine);
        assert_eq!(rule([6, 1, 3]), WaitRule::Share, "own slots do not count");
        assert_eq!(rule([8, 1, 1]), WaitRule::OwnTasks);
        assert_eq!(rule([4, 0, 0]), WaitRule::FreeSlot, "six of ten slots are free");
    }

    #[test]
    fn a_wait_is_cut_where_another_policy_takes_over_and_one_for_a_heartbeat_is_told_as_that() {
        let orders = vec![
            (0, Precedence::of_jobs(PrecedenceBy::Line)),
            (30, Precedence::of_jobs(PrecedenceBy::Size)),
        ];
        let told = told([0, 5, 5], orders);
        let refused = wait(60, 80, Some(WaitRule::Limit));
        let waits = vec![wait(10, 60, None), refused, wait(80, 100, Some(WaitRule::NextHeartbeat))];
        let expected = [
            wait(10, 30, Some(WaitRule::HeadOfLine)),
            wait(30, 60, Some(WaitRule::Size)),
            refused,
            StoryPart { part: SojournPart::Heartbeats, ..wait(80, 100, None) },
        ];
        assert_eq!(ordered(waits, &told.jobs[0], &told, &told.holders()), expected);
    }
}
