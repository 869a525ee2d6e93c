//! Waits, cut where a policy refused for another reason than its order.

use std::collections::BTreeMap;

use super::part::WaitRule;
use super::story::StoryPart;
use mumakil_core::cluster::{PerSlot, SlotKind};

/// For how long a job was refused slots of a kind, in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RefusedTime {
    /// The kind of slot.
    pub kind: SlotKind,
    /// From the first time.
    pub from: u64,
    /// To the last.
    pub to: u64,
    /// Why.
    pub rule: WaitRule,
}

impl RefusedTime {
    /// Returns the rule of a refusal with this code; none if it is no policy's own.
    pub fn rule(code: &str) -> Option<WaitRule> {
        match code {
            "delay" | "long-tasks" => Some(WaitRule::LocalityDelay),
            "group-limit" | "user-limit" | "job-limit" | "not-admitted" => Some(WaitRule::Limit),
            "kept-for" => Some(WaitRule::Reservation),
            "bad-tracker" => Some(WaitRule::BadTracker),
            "tracker-load" => Some(WaitRule::TrackerLoad),
            // Refusals by order are told by the order's own rule.
            _ => None,
        }
    }

    /// Returns how much the reason explains. A job at its limit gets no slot anywhere; a job that
    /// was refused one tracker may get another.
    const fn weight(&self) -> u8 {
        match self.rule {
            WaitRule::Limit => 4,
            WaitRule::Reservation => 3,
            WaitRule::LocalityDelay => 2,
            _ => 1,
        }
    }
}

/// Returns the stretches, with the waits cut at the refusals of a job and each piece with the rule that
/// explains most. Costs a sort of the refusals, and a look at each for each kind of slot.
pub fn ruled(stretches: Vec<StoryPart>, refusals: &[RefusedTime]) -> Vec<StoryPart> {
    // Most runs do not record decisions.
    if refusals.is_empty() {
        return stretches;
    }
    let mut most = PerSlot::default();
    for kind in SlotKind::BOTH {
        most[kind] = explaining_most(refusals.iter().filter(|one| one.kind == kind));
    }
    let cut = |stretch: StoryPart| match stretch.part.slot() {
        Some(kind) => cut(stretch, &most[kind]),
        None => vec![stretch],
    };
    stretches.into_iter().flat_map(cut).collect()
}

/// From when to when which rule explains most, in the order of time, one after the other.
type RefusalSpans = Vec<(u64, u64, WaitRule)>;

fn explaining_most<'r>(refusals: impl Iterator<Item = &'r RefusedTime>) -> RefusalSpans {
    let mut changes: Vec<(u64, bool, u8, WaitRule)> = Vec::new();
    for one in refusals.filter(|one| one.from < one.to) {
        changes.push((one.from, true, one.weight(), one.rule));
        changes.push((one.to, false, one.weight(), one.rule));
    }
    changes.sort_unstable();
    let mut most = RefusalSpans::new();
    // How many refusals there are at the moment by each rule.
    let mut current: BTreeMap<(u8, WaitRule), u32> = BTreeMap::new();
    let mut since = 0;
    for (at, begins, weight, rule) in changes {
        if let Some(((_, rule), _)) = current.last_key_value().filter(|_| since < at) {
            match most.last_mut() {
                // Another refusal with less weight may have come or gone; the reader sees one span.
                Some((_, to, last)) if *to == since && last == rule => *to = at,
                _ => most.push((since, at, *rule)),
            }
        }
        since = at;
        let count = current.entry((weight, rule)).or_default();
        match begins {
            true => *count += 1,
            // At one instant ends are sorted before beginnings, and none before its own beginning.
            false => *count -= 1,
        }
        if *count == 0 {
            current.remove(&(weight, rule));
        }
    }
    most
}

fn cut(stretch: StoryPart, most: &RefusalSpans) -> Vec<StoryPart> {
    // The list is in order, so a stretch skips what ended before it without a walk.
    let first = most.partition_point(|(_, to, _)| *to <= stretch.from);
    let during = most[first..].iter().take_while(|(from, ..)| *from < stretch.to);
    let ruled = |(from, to, rule): &(u64, u64, WaitRule)| StoryPart {
        from: *from,
        to: *to,
        rule: Some(*rule),
        ..stretch
    };
    stretch.cut(during.map(ruled))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::explain::SojournPart;
    use mumakil_base::units::SimSpan;
    use mumakil_core::mapred::{JobId, Reason, SlotStanding};

    /// Tables have the codes as texts: one that is spelt otherwise here would be overlooked.
    #[test]
    fn every_refusal_has_a_rule() {
        let refusals = [
            Reason::Delay(SimSpan::ZERO),
            Reason::LongTasks,
            Reason::BadTracker,
            Reason::TrackerLoad,
            Reason::GroupLimit(SlotStanding::of(1)),
            Reason::UserLimit,
            Reason::JobLimit,
            Reason::KeptFor(JobId(0)),
        ];
        for reason in refusals {
            assert!(RefusedTime::rule(reason.code()).is_some(), "{reason:?}");
        }
        assert_eq!(RefusedTime::rule(Reason::JobOver.code()), None);
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
