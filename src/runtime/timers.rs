//! A queue of entries, ordered by their due times; entries due at the same instant keep the order
//! in which they were added.
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

use std::cmp::Reverse;
use std::collections::BTreeMap;
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

/// A queue of entries, each due at some instant.
#[derive(Debug)]
pub struct Timers<T> {
    /// The slot that time has reached.
    slot: u64,
    /// The entries due in the reached slot; the entry that fires next is last.
    due: Vec<TimerEntry<T>>,
    /// The entries due in the slots after the reached one, to the end of the next block.
    ring: Vec<Vec<TimerEntry<T>>>,
    /// A bit for each slot of the ring: 1 if it has entries.
    filled: Vec<u64>,
    /// Lists of used-up slots, with their memory.
    spare: Vec<Vec<TimerEntry<T>>>,
    /// The entries due in later blocks, by block.
    far: BTreeMap<u64, Vec<TimerEntry<T>>>,
}

#[derive(Debug)]
struct TimerEntry<T> {
    time: SimTime,
    /// The value. The caller of [`Timers::pop`] drops it, or else the queue when it is dropped
    /// itself. `ManuallyDrop` lets the compiler build an entry in place. Otherwise it would build
    /// the entry on the stack, in case a list cannot grow, and then copy it; copying bytes that
    /// were just written in parts makes the processor wait.
    what: ManuallyDrop<T>,
}

impl<T> Default for Timers<T> {
    fn default() -> Self {
        Self {
            slot: 0,
            due: Vec::new(),
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
        let what = ManuallyDrop::new(what);
        let slot = slot_of(time);
        let list = if slot <= self.slot {
            // Usually the new entry is the next one: a message that is sent now and arrives soon.
            if self.due.last().is_some_and(|next| next.time <= time) {
                let at = self.due.partition_point(|other| time < other.time);
                return self.due.insert(at, TimerEntry { time, what });
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

    /// Returns when the next entry is due; `None` if the queue is empty.
    pub fn next_time(&mut self) -> Option<SimTime> {
        self.reach_next();
        self.due.last().map(|entry| entry.time)
    }

    /// Removes and returns the next entry.
    pub fn pop(&mut self) -> Option<T> {
        self.reach_next();
        let last = self.due.len().checked_sub(1)?;
        // Unlike `Vec::pop`, `swap_remove` copies the entry as a whole: reading a copy right after
        // it was written in parts makes the processor wait.
        Some(ManuallyDrop::into_inner(self.due.swap_remove(last).what))
    }

    /// Moves on to the next slot with entries, if the reached one is used up.
    #[inline]
    fn reach_next(&mut self) {
        if self.due.is_empty() {
            self.turn();
        }
    }

    /// Moves on to the next slot with entries.
    fn turn(&mut self) {
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
                self.slot_list(slot_of(entry.time)).push(entry);
            }
        }
    }

    /// Returns the list of a slot of the ring, for an entry that is added.
    #[inline(always)]
    fn slot_list(&mut self, slot: u64) -> &mut Vec<TimerEntry<T>> {
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

impl<T> Drop for Timers<T> {
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
    fn what_is_due_together_comes_in_the_order_of_sending() {
        let mut timers = Timers::default();
        for number in 0..100 {
            timers.push(at(5_000_000), number);
        }
        let order: Vec<i32> = std::iter::from_fn(|| timers.pop()).collect();
        assert_eq!(order, (0..100).collect::<Vec<_>>());
    }

    #[test]
    fn an_empty_queue_has_nothing_due() {
        let mut timers = Timers::<()>::default();
        assert_eq!(timers.next_time(), None);
        assert_eq!(timers.pop(), None);
    }

    #[test]
    fn what_is_still_due_is_dropped_with_the_queue() {
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

    proptest! {
        /// Any mix of pushes and pops gives the order of a sorted list, over slots, ring and later
        /// blocks.
        #[test]
        fn the_order_is_that_of_a_sorted_list(
            steps in prop::collection::vec(
                prop_oneof![
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
