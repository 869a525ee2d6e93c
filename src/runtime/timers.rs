//! A queue of entries, ordered by their due times; entries due at the same instant keep the order
//! in which they were added, unless they have ranks.
//!
//! The queue is a calendar. Time is cut into slots of about four milliseconds, and slots are
//! grouped into blocks of eight seconds. A ring of slots holds the entries due in the current block
//! and in the next one; each later block is a list. When time reaches a block, the entries of the
//! block after it are dealt out to the slots; when time reaches a slot, its entries are sorted. So
//! an entry costs one or two pushes into lists and its share of a short sort, however many trackers
//! there are; in a heap the cost would grow with the number of entries. Used-up lists are reused,
//! the latest first, so the processor's cache need hold only the lists in use, not one for each
//! slot of the ring.
//!
//! An entry goes to the end of its list, and sorting keeps the order of equal entries. So the queue
//! need not store the order in which entries were added.
//!
//! A message that is sent now and arrives within the reached slot is inserted into the sorted list,
//! usually a few places from its end. If thousands of entries are due at one instant, it would move
//! all of them, and each of them may send such a message. So an entry that would move more than a
//! few others goes into a second list, by its instant.

use std::cmp::Reverse;
use std::collections::{BTreeMap, VecDeque};
use std::mem::{self, ManuallyDrop};

use mumakil_base::units::SimTime;

/// The length of a slot in microseconds, as a power of two.
// Chosen: with a thousand trackers at 3 s, a slot of 4.1 ms holds about four messages.
const SLOT_BITS: u32 = 12;
/// The number of slots in a block.
// Chosen: 8.4 s, so that the next heartbeats are within the ring.
const BLOCK: u64 = 2_048;
/// The number of slots in the ring: a power of two, so that the index of a slot is quickly
/// computed.
const SLOTS: u64 = 2 * BLOCK;

/// The most entries of the reached slot that a new entry moves.
// Chosen: moving so many takes about as long as an access to the second list.
const MOVED: usize = 64;

/// A queue of entries, each due at some instant. Of entries due together, the lowest rank comes
/// first; most queues have no ranks.
#[derive(Debug)]
pub struct Timers<T, R: Copy + Ord = ()> {
    /// The slot that time has reached.
    slot: u64,
    /// The entries due in the reached slot; the entry that fires next is last.
    due: Vec<TimerEntry<T, R>>,
    /// The entries due in the reached slot that would have moved too many others, by instant. Of
    /// entries due at the same instant, those in `due` are older.
    late: BTreeMap<(SimTime, R), VecDeque<TimerEntry<T, R>>>,
    /// The entries due in the slots after the reached one, to the end of the next block.
    ring: Vec<Vec<TimerEntry<T, R>>>,
    /// A bit for each slot of the ring: 1 if it has entries.
    filled: Vec<u64>,
    /// Lists of used-up slots, with their memory.
    spare: Vec<Vec<TimerEntry<T, R>>>,
    /// The entries due in later blocks, by block.
    far: BTreeMap<u64, Vec<TimerEntry<T, R>>>,
}

#[derive(Debug)]
struct TimerEntry<T, R> {
    /// When it is due, and its rank.
    time: (SimTime, R),
    /// The value. The caller of [`Timers::pop`] drops it, or else the queue when it is dropped
    /// itself. `ManuallyDrop` lets the compiler build an entry in place. Otherwise it would build
    /// the entry on the stack, in case a list cannot grow, and then copy it; copying bytes that
    /// were just written in parts makes the processor wait.
    what: ManuallyDrop<T>,
}

impl<T, R: Copy + Ord> Default for Timers<T, R> {
    fn default() -> Self {
        Self {
            slot: 0,
            due: Vec::new(),
            late: BTreeMap::new(),
            ring: (0..SLOTS).map(|_| Vec::new()).collect(),
            filled: vec![0; SLOTS as usize / 64],
            spare: Vec::new(),
            far: BTreeMap::new(),
        }
    }
}

impl<T> Timers<T> {
    /// Adds an entry that is due at `time`; if that has passed, it is due at once.
    pub fn push(&mut self, time: SimTime, what: T) {
        self.push_ranked(time, (), what);
    }
}

impl<T, R: Copy + Ord> Timers<T, R> {
    /// Adds an entry with a rank that is due at `time`; if that has passed, it is due at once.
    pub fn push_ranked(&mut self, time: SimTime, rank: R, what: T) {
        let what = ManuallyDrop::new(what);
        let slot = slot_of(time);
        let time = (time, rank);
        let list = if slot <= self.slot {
            // Usually the new entry is the next one: a message that is sent now and arrives soon.
            if !self.late.is_empty() || self.due.last().is_some_and(|next| next.time <= time) {
                return self.insert(TimerEntry { time, what });
            }
            &mut self.due
        // The ring holds two blocks, so no two slots share an index.
        } else if slot / BLOCK <= self.slot / BLOCK + 1 {
            self.slot_list(slot)
        } else {
            self.far.entry(slot / BLOCK).or_default()
        };
        list.push(TimerEntry { time, what });
    }

    /// Inserts an entry of the reached slot that may not be the next one.
    fn insert(&mut self, entry: TimerEntry<T, R>) {
        let time = entry.time;
        // In `due` an entry stands for older than those of its instant in `late`.
        if self.late.first_key_value().is_none_or(|(late, _)| time < *late) {
            let at = self.due.partition_point(|other| time < other.time);
            if self.due.len() - at <= MOVED {
                return self.due.insert(at, entry);
            }
        }
        self.late.entry(time).or_default().push_back(entry);
    }

    /// Returns when the next entry is due; `None` if the queue is empty.
    pub fn next_time(&mut self) -> Option<SimTime> {
        self.reach_next();
        let next = self.due.last().map(|entry| entry.time.0);
        if self.late.is_empty() {
            return next;
        }
        let late = self.late.first_key_value().map(|((time, _), _)| *time);
        Some(next.into_iter().chain(late).min().expect("`late` has an entry"))
    }

    /// Removes and returns the next entry.
    pub fn pop(&mut self) -> Option<T> {
        self.reach_next();
        if !self.late.is_empty()
            && let Some(what) = self.pop_late()
        {
            return Some(what);
        }
        let last = self.due.len().checked_sub(1)?;
        // Unlike `Vec::pop`, `swap_remove` copies the entry as a whole: reading a copy right after
        // it was written in parts makes the processor wait.
        Some(ManuallyDrop::into_inner(self.due.swap_remove(last).what))
    }

    /// Removes and returns the first entry of `late`, if no entry of `due` comes before it.
    #[cold]
    fn pop_late(&mut self) -> Option<T> {
        let mut first = self.late.first_entry()?;
        if self.due.last().is_some_and(|next| next.time <= *first.key()) {
            return None;
        }
        let entry = first.get_mut().pop_front().expect("a list with an instant has an entry");
        if first.get().is_empty() {
            first.remove();
        }
        Some(ManuallyDrop::into_inner(entry.what))
    }

    /// Moves on to the next slot with entries, if the reached one is used up.
    #[inline]
    fn reach_next(&mut self) {
        if self.due.is_empty() {
            self.turn();
        }
    }

    /// Moves on to the next slot with entries, if `late` is used up, too.
    fn turn(&mut self) {
        if !self.late.is_empty() {
            return;
        }
        let next = self.next_filled().or_else(|| {
            // No entry is due before the next block with entries.
            let block = *self.far.first_key_value()?.0;
            // One slot before the block, as `next_filled` searches after the reached slot.
            self.reach(block * BLOCK - 1);
            self.next_filled()
        });
        let Some(slot) = next else { return };
        let index = (slot % SLOTS) as usize;
        let list = mem::take(&mut self.ring[index]);
        // The used-up list keeps its memory for another slot.
        self.spare.push(mem::replace(&mut self.due, list));
        self.filled[index / 64] &= !(1 << (index % 64));
        self.reach(slot);
        if 1 < self.due.len() {
            // The entry that fires next must be last; of equal times, the entry that was added first.
            self.due.reverse();
            self.due.sort_by_key(|entry| Reverse(entry.time));
        }
    }

    /// Moves on to a slot, and deals out the block after that slot's block.
    fn reach(&mut self, slot: u64) {
        let was = mem::replace(&mut self.slot, slot);
        // Only a new block makes room in the ring for another one.
        if was / BLOCK == slot / BLOCK {
            return;
        }
        while let Some(block) = self.far.first_entry() {
            if slot / BLOCK + 1 < *block.key() {
                break;
            }
            for entry in block.remove() {
                self.slot_list(slot_of(entry.time.0)).push(entry);
            }
        }
    }

    /// Returns the list of a slot of the ring, for an entry that is added.
    #[inline(always)]
    fn slot_list(&mut self, slot: u64) -> &mut Vec<TimerEntry<T, R>> {
        let index = (slot % SLOTS) as usize;
        let list = &mut self.ring[index];
        if list.is_empty() {
            *list = self.spare.pop().unwrap_or_default();
            self.filled[index / 64] |= 1 << (index % 64);
        }
        list
    }

    /// Returns the next slot of the ring with entries, after the reached one.
    fn next_filled(&self) -> Option<u64> {
        let start = self.slot + 1;
        let (first_word, first_bit) = ((start % SLOTS / 64) as usize, start % 64);
        let words = self.filled.len();
        // The first word is searched twice: its later bits first, its earlier ones at the end.
        for step in 0..=words {
            let word = (first_word + step) % words;
            let mask = match step {
                0 => u64::MAX << first_bit,
                _ if step == words => !(u64::MAX << first_bit),
                _ => u64::MAX,
            };
            let bits = self.filled[word] & mask;
            if bits != 0 {
                let index = word as u64 * 64 + u64::from(bits.trailing_zeros());
                // The distance of the index in the ring, which may wrap around its end.
                let ahead = (index + SLOTS - start % SLOTS) % SLOTS;
                return Some(start + ahead);
            }
        }
        None
    }
}

impl<T, R: Copy + Ord> Drop for Timers<T, R> {
    fn drop(&mut self) {
        // Entries are `ManuallyDrop`: without this their contents would leak.
        while self.pop().is_some() {}
    }
}

fn slot_of(time: SimTime) -> u64 {
    time.as_micros() >> SLOT_BITS
}

#[cfg(test)]
mod tests {
    use std::rc::Rc;

    use super::*;
    use proptest::prelude::*;

    fn at(micros: u64) -> SimTime {
        SimTime::from_micros(micros)
    }

    #[test]
    fn messages_due_together_come_in_the_order_of_sending() {
        let mut timers = Timers::default();
        for number in 0..100 {
            timers.push(at(5_000_000), number);
        }
        let order: Vec<i32> = std::iter::from_fn(|| timers.pop()).collect();
        assert_eq!(order, (0..100).collect::<Vec<_>>());
    }

    #[test]
    fn messages_due_together_come_by_rank_and_then_in_the_order_of_sending() {
        let mut timers = Timers::default();
        for (number, rank) in [3_u32, 1, 2, 1, 0].into_iter().enumerate() {
            timers.push_ranked(at(5), rank, number);
        }
        assert_eq!(timers.pop(), Some(4));
        // A message that an entry causes may come before the others of its instant.
        timers.push_ranked(at(5), 0, 5);
        let order: Vec<usize> = std::iter::from_fn(|| timers.pop()).collect();
        assert_eq!(order, [5, 1, 3, 2, 0]);
    }

    #[test]
    fn an_empty_queue_has_nothing_due() {
        let mut timers = Timers::<()>::default();
        assert_eq!(timers.next_time(), None);
        assert_eq!(timers.pop(), None);
    }

    #[test]
    fn messages_still_due_are_dropped_with_the_queue() {
        let what = Rc::new(());
        let mut timers = Timers::default();
        for secs in [0, 1, 20, 2_000] {
            timers.push(at(secs * 1_000_000), what.clone());
        }
        drop(timers.pop());
        assert_eq!(Rc::strong_count(&what), 4);
        drop(timers);
        assert_eq!(Rc::strong_count(&what), 1);
    }

    #[test]
    fn answers_to_thousands_within_their_slot_move_none_of_them() {
        const ALL: u64 = 10_000;
        let mut timers = Timers::default();
        (0..ALL).for_each(|number| timers.push(at(1), number));
        let mut order = Vec::new();
        while let Some(number) = timers.pop() {
            order.push(number);
            // Each is answered at one of two instants of the same slot, the later one first.
            if number < ALL {
                timers.push(at(3 - number % 2), ALL + number);
            }
            // An answer in the sorted list would have moved all that are still due.
            let due = ALL.saturating_sub(order.len() as u64) as usize;
            assert!(timers.due.len() <= due + MOVED, "{} of {due} due", timers.due.len());
        }
        let answers = |rest| (0..ALL).filter(move |number| number % 2 == rest).map(|n| ALL + n);
        let expected: Vec<u64> = (0..ALL).chain(answers(1)).chain(answers(0)).collect();
        assert!(order == expected, "by instant, then as sent");
    }

    proptest! {
        /// Any mix of pushes and pops gives the order of a sorted list, over slots, ring and later
        /// blocks.
        #[test]
        fn the_order_is_that_of_a_sorted_list(
            steps in prop::collection::vec(
                prop_oneof![
                    6 => (0u64..8).prop_map(Some),
                    3 => (0u64..10_000).prop_map(Some),
                    2 => (0u64..40_000_000).prop_map(Some),
                    1 => (0u64..4_000_000_000).prop_map(Some),
                    4 => Just(None),
                ],
                1..400,
            )
        ) {
            let mut timers = Timers::default();
            let mut sorted: Vec<(SimTime, u64)> = Vec::new();
            let (mut now, mut number) = (0, 0);
            for step in steps {
                if let Some(delay) = step {
                    timers.push(at(now + delay), number);
                    sorted.push((at(now + delay), number));
                    sorted.sort();
                    number += 1;
                } else {
                    let expected = (!sorted.is_empty()).then(|| sorted.remove(0));
                    prop_assert_eq!(timers.next_time(), expected.map(|(time, _)| time));
                    prop_assert_eq!(timers.pop(), expected.map(|(_, number)| number));
                    now = expected.map_or(now, |(time, _)| time.as_micros());
                }
            }
        }
    }
}
