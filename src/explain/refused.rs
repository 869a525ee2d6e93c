//! Waits, cut where a policy refused for another reason than its order.

use super::part::Rule;
use super::story::Stretch;
use crate::cluster::SlotKind;

/// For how long a job was refused slots of a kind, in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refused {
    /// The kind of slot.
    pub kind: SlotKind,
    /// From the first time.
    pub from: u64,
    /// To the last.
    pub to: u64,
    /// Why.
    pub rule: Rule,
}

impl Refused {
    /// Returns the rule of a refusal with this code; none if it is no policy's own.
    pub fn rule(code: &str) -> Option<Rule> {
        match code {
            "delay" | "long-tasks" => Some(Rule::LocalityDelay),
            "group-limit" | "user-limit" | "job-limit" | "not-admitted" => Some(Rule::Limit),
            "kept-for" => Some(Rule::Reservation),
            "bad-tracker" => Some(Rule::BadTracker),
            "tracker-load" => Some(Rule::TrackerLoad),
            _ => None,
        }
    }

    /// Returns how much the reason explains: who is at a limit gets nothing wherever a slot is free, who
    /// is refused a tracker may get another one.
    const fn weight(&self) -> u8 {
        match self.rule {
            Rule::Limit => 4,
            Rule::Reservation => 3,
            Rule::LocalityDelay => 2,
            _ => 1,
        }
    }
}

/// Returns the stretches, with the waits cut at the refusals of a job and each piece with the rule that
/// explains most.
pub fn ruled(stretches: Vec<Stretch>, refusals: &[Refused]) -> Vec<Stretch> {
    if refusals.is_empty() {
        return stretches;
    }
    stretches.into_iter().flat_map(|stretch| cut(stretch, refusals)).collect()
}

fn cut(stretch: Stretch, refusals: &[Refused]) -> Vec<Stretch> {
    let Some(kind) = stretch.part.slot() else { return vec![stretch] };
    let overlaps =
        |one: &&Refused| one.kind == kind && one.from < stretch.to && stretch.from < one.to;
    let here: Vec<&Refused> = refusals.iter().filter(overlaps).collect();
    let mut bounds = vec![stretch.from, stretch.to];
    let inside = here.iter().flat_map(|one| [one.from, one.to]);
    bounds.extend(inside.filter(|at| stretch.from < *at && *at < stretch.to));
    bounds.sort_unstable();
    bounds.dedup();
    let piece = |pair: &[u64]| {
        let (from, to) = (pair[0], pair[1]);
        let covers = |one: &&&Refused| one.from <= from && to <= one.to;
        let most = here.iter().filter(covers).max_by_key(|one| one.weight());
        Stretch { from, to, rule: most.map_or(stretch.rule, |one| Some(one.rule)), ..stretch }
    };
    let mut pieces: Vec<Stretch> = Vec::new();
    for next in bounds.windows(2).map(piece) {
        match pieces.last_mut() {
            Some(last) if last.rule == next.rule => last.to = next.to,
            _ => pieces.push(next),
        }
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::explain::Part;
    use crate::mapred::{Holding, JobId, Reason};
    use crate::units::SimSpan;

    /// Tables have the codes as texts: one that is spelt otherwise here would be overlooked.
    #[test]
    fn every_refusal_has_a_rule() {
        let refusals = [
            Reason::Delay(SimSpan::ZERO),
            Reason::LongTasks,
            Reason::BadTracker,
            Reason::TrackerLoad,
            Reason::GroupLimit(Holding::of(1)),
            Reason::UserLimit,
            Reason::JobLimit,
            Reason::KeptFor(JobId(0)),
        ];
        for reason in refusals {
            assert!(Refused::rule(reason.code()).is_some(), "{reason:?}");
        }
        assert_eq!(Refused::rule(Reason::JobOver.code()), None);
    }

    #[test]
    fn a_wait_is_cut_where_the_reason_changes() {
        let wait = |from, to, rule| Stretch { part: Part::MapWait, from, to, rule: Some(rule) };
        let refused = |from, to, rule| Refused { kind: SlotKind::Map, from, to, rule };
        let refusals = [
            refused(0, 30, Rule::BadTracker),
            refused(20, 40, Rule::Limit),
            Refused { kind: SlotKind::Reduce, ..refused(0, 99, Rule::Limit) },
            refused(70, 90, Rule::LocalityDelay),
        ];
        let work = Stretch { part: Part::Mapping, from: 50, to: 80, rule: None };
        let cut =
            ruled(vec![wait(10, 50, Rule::Share), work, wait(80, 85, Rule::Share)], &refusals);
        let expected = [
            wait(10, 20, Rule::BadTracker),
            wait(20, 40, Rule::Limit),
            wait(40, 50, Rule::Share),
            work,
            wait(80, 85, Rule::LocalityDelay),
        ];
        assert_eq!(cut, expected);
    }
}
