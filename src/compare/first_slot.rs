//! The first slot that two runs of the same jobs give to different jobs.
//!
//! Two runs with different policies or seeds soon launch tasks on different nodes and in different
//! milliseconds, even if they serve the same jobs. So slots are numbered in the order in which
//! attempts get them:
//!
//! ```text
//! map slot      1  2  3  4  5
//! under fifo    a  a  a  b  a
//! under fair    a  a  b  b  a     they differ at slot 3: a in one, b in the other
//! ```
//!
//! Map slots and reduce slots are numbered separately. Setup and cleanup tasks do not count: no
//! policy decides on them.

use serde_json::{Value, json};

use mumakil_base::units::tell::{counted, span};
use mumakil_core::mapred::{PerSlot, SlotKind};
use mumakil_draw::page::{PageCell, PageColumn, PageTable};
use mumakil_results::tables::{AttemptKind, AttemptRow, CellText, ReadError, Results};

/// The slots that a run gave to attempts, for each kind in the order of time.
pub(crate) type Slots = PerSlot<Vec<GivenSlot>>;

/// The first slot that two runs give to different jobs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FirstSlot {
    /// The kind of slot.
    pub kind: SlotKind,
    /// The number of the slot among the slots of its kind, counted from 1 in the order of launches.
    pub number: usize,
    /// The attempt that gets the slot in each run; `None` if the run gives no more slots of this
    /// kind.
    pub given: [Option<GivenSlot>; 2],
}

/// A slot that a run gives to an attempt.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct GivenSlot {
    /// The millisecond of the decision.
    pub at: u64,
    /// The number of the job.
    pub job: u32,
    /// The number of the map or reduce.
    pub task: u32,
    /// The number of the attempt.
    pub attempt: u32,
    /// The node.
    pub node: CellText,
    /// The millisecond at which the attempt ends, if it does.
    pub ended: Option<u64>,
    /// Why the job got the slot, in words.
    pub reason: CellText,
}

/// Where two runs part, or a job's stories in them.
#[derive(Clone, Debug)]
pub struct PartedSlots {
    /// A row for each run, with its slot. The caption says what differs.
    pub slots: PageTable,
    /// The course of both runs until the later one gives the slot, too.
    pub meanwhile: Vec<String>,
}

impl FirstSlot {
    /// Finds the first slot that two runs give to different jobs; `None` if there is none.
    pub fn find([one, other]: [&dyn Results; 2]) -> Result<Option<Self>, ReadError> {
        let runs = [slots(one)?, slots(other)?];
        Ok(Self::of([&runs[0], &runs[1]]))
    }

    fn of(runs: [&Slots; 2]) -> Option<Self> {
        let of_kinds = SlotKind::BOTH.into_iter().filter_map(|kind| Self::of_kind(kind, runs));
        // Take the earlier difference: the difference of the other kind may follow from it.
        of_kinds.min_by_key(Self::at)
    }

    fn of_kind(kind: SlotKind, runs: [&Slots; 2]) -> Option<Self> {
        let [one, other] = runs.map(|slots| &slots[kind]);
        let alike = one.iter().zip(other).take_while(|(one, other)| one.job == other.job).count();
        let given = [one.get(alike).cloned(), other.get(alike).cloned()];
        // If both runs gave the same slots to the same jobs, they do not differ.
        let parts = given.iter().any(Option::is_some);
        parts.then_some(Self { kind, number: alike + 1, given })
    }

    /// Returns the millisecond of the difference.
    pub fn at(&self) -> u64 {
        let at = self.given.iter().flatten().map(|slot| slot.at);
        at.min().expect("at least one run has given the slot")
    }

    /// Returns the slot in each run, for readers.
    pub fn parted(&self, runs: [&str; 2], name_of: impl Fn(u32) -> String) -> PartedSlots {
        let kind = self.kind.word();
        let before = match self.number - 1 {
            0 => "none went before".to_owned(),
            alike => format!("{} went alike", counted(alike as u64, kind)),
        };
        let row = |run: usize| match &self.given[run] {
            None => [runs[run].to_owned(), "no slot any more".to_owned()].to_vec(),
            Some(slot) => {
                let GivenSlot { at, job, task, node, reason, .. } = slot;
                let attempt = format!("{kind} {task} of job {job} ({}) on {node}", name_of(*job));
                let at = span(*at as f64 / 1e3);
                [runs[run].to_owned(), at, attempt, reason.to_string()].to_vec()
            }
        };
        let caption = format!("the first {kind} slot that goes to another job ({before})");
        PartedSlots::new(caption, [row(0), row(1)], Vec::new())
    }

    /// Returns the slot as JSON.
    pub fn to_json(&self, name_of: impl Fn(u32) -> String) -> Value {
        let given =
            self.given.each_ref().map(|slot| slot.as_ref().map(|slot| slot.to_json(&name_of)));
        json!({"kind": self.kind.word(), "number": self.number, "given": given})
    }
}

impl GivenSlot {
    /// Returns the milliseconds for which the attempt had the slot; `None` if it has no end.
    pub fn length(&self) -> Option<u64> {
        Some(self.ended?.saturating_sub(self.at))
    }

    /// Returns the slot as JSON.
    pub fn to_json(&self, name_of: impl Fn(u32) -> String) -> Value {
        let Self { at, job, task, attempt, node, reason, .. } = self;
        json!({
            "at_ms": at,
            "job": job,
            "name": name_of(*job),
            "task": task,
            "attempt": attempt,
            "node": node.as_str(),
            "reason": reason.as_str(),
        })
    }
}

impl PartedSlots {
    /// Returns the slots of two runs. A run without a slot has fewer texts.
    pub(crate) fn new(caption: String, rows: [Vec<String>; 2], meanwhile: Vec<String>) -> Self {
        let columns: Vec<_> = ["run", "at", "attempt", "why"].map(PageColumn::text).into();
        let rows = rows.into_iter().filter(|row| !row.is_empty()).map(|row| {
            let mut cells: Vec<PageCell> = row.into_iter().map(PageCell::text).collect();
            cells.resize(columns.len(), PageCell::default());
            cells
        });
        Self { slots: PageTable { caption, rows: rows.collect(), columns }, meanwhile }
    }

    /// Returns all in one sentence.
    pub fn sentence(&self) -> String {
        let slots = self.slots.rows.iter().map(|row| {
            let texts = row[1..].iter().map(|cell| &*cell.shown).filter(|text| !text.is_empty());
            format!("{}: {}", row[0].shown, texts.collect::<Vec<_>>().join(", "))
        });
        let caption = std::iter::once(self.slots.caption.clone());
        caption.chain(slots).chain(self.meanwhile.clone()).collect::<Vec<_>>().join("; ")
    }
}

/// Reads the slots that a run gave to maps and reduces.
pub(crate) fn slots(results: &dyn Results) -> Result<Slots, ReadError> {
    let mut slots = Slots::default();
    results.rows(|row: AttemptRow| {
        let AttemptRow { job, task, attempt, .. } = row;
        // A map whose output was lost has a second row, without a launch.
        if let (AttemptKind::Map | AttemptKind::Reduce, Some(at)) = (row.kind, row.launch_ms) {
            let kind = row.slot();
            let AttemptRow { node, finish_ms: ended, reason, .. } = row;
            slots[kind].push(GivenSlot { at, job, task, attempt, node, ended, reason });
        }
        Ok(())
    })?;
    // The table is in the order of ends, but slots are numbered by launch. At the same instant,
    // sort by job and task, which have the same numbers in both runs.
    SlotKind::BOTH.into_iter().for_each(|kind| slots[kind].sort_unstable());
    Ok(slots)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A slot that a job gets at millisecond `at` for one of its tasks.
    fn given(at: u64, job: u32, task: u32) -> GivenSlot {
        GivenSlot { at, job, task, ..GivenSlot::default() }
    }

    fn maps<const N: usize>(map: [GivenSlot; N]) -> Slots {
        Slots { map: map.into(), reduce: Vec::new() }
    }

    #[test]
    fn other_tasks_nodes_and_instants_are_no_parting() {
        let one = maps([given(5, 0, 0), given(7, 0, 1), given(9, 1, 0)]);
        let mut other = maps([given(6, 0, 1), given(8, 0, 0), given(8, 1, 0)]);
        other.map[1].node = "elsewhere".into();
        assert_eq!(FirstSlot::of([&one, &other]), None);
    }

    #[test]
    fn runs_part_at_the_first_slot_that_goes_to_another_job() {
        let one = maps([given(5, 0, 0), given(7, 0, 1), given(9, 1, 0)]);
        let other = maps([given(5, 0, 0), given(8, 1, 4), given(9, 0, 1)]);
        let found = FirstSlot::of([&one, &other]).unwrap();
        assert_eq!((found.kind, found.number, found.at()), (SlotKind::Map, 2, 7));
        assert_eq!(found.given, [Some(given(7, 0, 1)), Some(given(8, 1, 4))]);
    }

    #[test]
    fn maps_and_reduces_are_counted_apart() {
        let one = Slots { reduce: vec![given(6, 0, 0)], ..maps([given(5, 0, 0), given(9, 0, 1)]) };
        let other =
            Slots { reduce: vec![given(6, 1, 0)], ..maps([given(5, 0, 0), given(7, 1, 1)]) };
        let found = FirstSlot::of([&one, &other]).unwrap();
        assert_eq!((found.kind, found.number, found.at()), (SlotKind::Reduce, 1, 6));
    }

    #[test]
    fn a_slot_that_only_one_run_gives_parts_them() {
        let found =
            FirstSlot::of([&maps([given(5, 0, 0)]), &maps([given(5, 0, 0), given(9, 0, 1)])]);
        let found = found.unwrap();
        assert_eq!(found.given, [None, Some(given(9, 0, 1))]);
        assert_eq!(
            found.parted(["fifo", "fair"], |_| "a".to_owned()).sentence(),
            "the first map slot that goes to another job (1 map went alike); fifo: no slot any more; \
             fair: 0.0 s, map 1 of job 0 (a) on "
        );
    }
}
