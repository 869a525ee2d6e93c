//! Refusals in the story of a job: waits are cut where the policy refused slots for a reason other
//! than its order of jobs.

use std::collections::BTreeMap;

use super::part::{SojournPart, WaitRule};
use super::story::StoryPart;
use mumakil_base::units::SimSpan;
use mumakil_core::cluster::{PerSlot, SlotKind};
use mumakil_core::mapred::{JobId, Reason, SlotStanding};

/// A span in which the policy refused slots of one kind to a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RefusedTime {
    /// The kind of slot.
    pub kind: SlotKind,
    /// The millisecond of the first refusal.
    pub from: u64,
    /// The millisecond of the last refusal.
    pub to: u64,
    /// The rule of the refusals.
    pub rule: WaitRule,
}

impl RefusedTime {
    /// Returns the rule of a refusal with this code; `None` for a refusal by the policy's order, or
    /// until the policy's next look, or an unknown code.
    pub fn rule(code: &str) -> Option<WaitRule> {
        // A refusal by the policy's order gets the rule of this order later.
        let rules = [
            (Reason::Delay(SimSpan::ZERO), WaitRule::LocalityDelay),
            (Reason::LongTasks, WaitRule::LocalityDelay),
            (Reason::GroupLimit(SlotStanding::of(0)), WaitRule::Limit),
            (Reason::UserLimit, WaitRule::Limit),
            (Reason::JobLimit, WaitRule::Limit),
            (Reason::KeptFor(JobId(0)), WaitRule::Reservation),
            (Reason::BadTracker, WaitRule::BadTracker),
            (Reason::NoRoom, WaitRule::NoRoom),
            (Reason::TrackerLoad, WaitRule::TrackerLoad),
            (Reason::NextHeartbeat, WaitRule::NextHeartbeat),
        ];
        rules.into_iter().find(|(reason, _)| reason.code() == code).map(|(_, rule)| rule)
    }

    /// Returns how much of a wait the rule explains; a larger number explains more. A limit
    /// explains most: a job at its limit gets no slot anywhere, but a job that was refused on one
    /// tracker may get a slot on another tracker.
    const fn weight(&self) -> u8 {
        match self.rule {
            WaitRule::Limit => 4,
            WaitRule::Reservation => 3,
            WaitRule::LocalityDelay => 2,
            _ => 1,
        }
    }
}

/// Cuts a job's waits where the policy refused it slots, and gives each piece the rule that
/// explains most. The cost is that of sorting the refusals.
pub fn ruled(stretches: Vec<StoryPart>, refusals: &[RefusedTime]) -> Vec<StoryPart> {
    // Most runs do not record decisions.
    if refusals.is_empty() {
        return stretches;
    }
    let mut most = PerSlot::default();
    for kind in SlotKind::BOTH {
        most[kind] = explaining_most(refusals.iter().filter(|one| one.kind == kind));
    }
    let parts =
        stretches.into_iter().flat_map(|stretch| match (stretch.part.slot(), stretch.part) {
            (Some(kind), _) => cut(stretch, &most[kind]),
            // A policy that orders the reading of splits may make a job wait for it at a limit of jobs.
            // It refuses both kinds of slots then, if the job has tasks for both.
            (None, SojournPart::Initialisation) => {
                let [map, reduce] = SlotKind::BOTH.map(|kind| &most[kind]);
                cut(stretch, if map.is_empty() { reduce } else { map })
            }
            (None, _) => vec![stretch],
        });
    parts.collect()
}

/// Spans without overlap in the order of time, each with the rule that explains most.
type RefusalSpans = Vec<(u64, u64, WaitRule)>;

fn explaining_most<'r>(refusals: impl Iterator<Item = &'r RefusedTime>) -> RefusalSpans {
    let mut changes: Vec<(u64, bool, u8, WaitRule)> = Vec::new();
    for one in refusals.filter(|one| one.from < one.to) {
        changes.push((one.from, true, one.weight(), one.rule));
        changes.push((one.to, false, one.weight(), one.rule));
    }
    changes.sort_unstable();
    let mut most = RefusalSpans::new();
    // The number of current refusals by each rule.
    let mut current: BTreeMap<(u8, WaitRule), u32> = BTreeMap::new();
    let mut since = 0;
    for (at, begins, weight, rule) in changes {
        if let Some(((_, rule), _)) = current.last_key_value().filter(|_| since < at) {
            match most.last_mut() {
                // A refusal with less weight may have begun or ended; it does not split the span.
                Some((_, to, last)) if *to == since && last == rule => *to = at,
                _ => most.push((since, at, *rule)),
            }
        }
        since = at;
        let count = current.entry((weight, rule)).or_default();
        match begins {
            true => *count += 1,
            // The count is at least 1: at one instant ends come before beginnings, but each refusal
            // ends after its own beginning.
            false => *count -= 1,
        }
        if *count == 0 {
            current.remove(&(weight, rule));
        }
    }
    most
}

fn cut(stretch: StoryPart, most: &RefusalSpans) -> Vec<StoryPart> {
    // The spans are in the order of time: skip those that ended before this part by binary search.
    let first = most.partition_point(|(_, to, _)| *to <= stretch.from);
    let during = most[first..].iter().take_while(|(from, ..)| *from < stretch.to);
    stretch.cut(during.map(|(from, to, rule)| StoryPart {
        from: *from,
        to: *to,
        rule: Some(*rule),
        ..stretch
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::explain::SojournPart;

    #[test]
    fn a_limit_of_jobs_explains_why_a_job_is_not_initialised() {
        let part = |from, to, rule| StoryPart { part: SojournPart::Initialisation, from, to, rule };
        let refused = |kind| RefusedTime { kind, from: 5, to: 60, rule: WaitRule::Limit };
        let expected = [part(0, 5, None), part(5, 60, Some(WaitRule::Limit)), part(60, 62, None)];
        for refusals in [&[SlotKind::Map][..], &[SlotKind::Reduce], &SlotKind::BOTH] {
            let refusals: Vec<_> = refusals.iter().copied().map(refused).collect();
            assert_eq!(ruled(vec![part(0, 62, None)], &refusals), expected);
        }
    }

    #[test]
    fn a_wait_is_cut_where_the_reason_changes() {
        let wait =
            |from, to, rule| StoryPart { part: SojournPart::MapWait, from, to, rule: Some(rule) };
        let refused = |from, to, rule| RefusedTime { kind: SlotKind::Map, from, to, rule };
        let refusals = [
            refused(0, 30, WaitRule::BadTracker),
            refused(20, 40, WaitRule::Limit),
            RefusedTime { kind: SlotKind::Reduce, ..refused(0, 99, WaitRule::Limit) },
            refused(70, 90, WaitRule::LocalityDelay),
        ];
        let work = StoryPart { part: SojournPart::Mapping, from: 50, to: 80, rule: None };
        let cut = ruled(
            vec![wait(10, 50, WaitRule::Share), work, wait(80, 85, WaitRule::Share)],
            &refusals,
        );
        let expected = [
            wait(10, 20, WaitRule::BadTracker),
            wait(20, 40, WaitRule::Limit),
            wait(40, 50, WaitRule::Share),
            work,
            wait(80, 85, WaitRule::LocalityDelay),
        ];
        assert_eq!(cut, expected);
    }
}
