//! The queue of what is due, in the exact order of (time, sequence).
//!
//! A calendar: time is cut into slots of about four milliseconds, and these into blocks of eight seconds.
//! A ring of slots holds what is due in the block that time has reached and in the next one; all later
//! blocks are lists. When time reaches a block, the one after it is dealt out to the slots; when it reaches
//! a slot, that is sorted. So to add something costs a push into a list or two and its part of a short sort,
//! however many trackers there are, where a heap would pay the logarithm of all that is due. Lists that
//! are used up are filled again, the last one first: as many are in the processor's cache as are in use,
//! not one for each slot of the ring.
//!
//! Contract: what is due at the same instant comes out in the order in which it went in.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use crate::units::SimTime;

/// Microseconds of a slot, as a power of two.
const SLOT_BITS: u32 = 12;
/// Slots of a block.
const BLOCK: u64 = 2_048;
/// Slots of the ring: a power of two, so that the place of a slot is quickly found.
const SLOTS: u64 = 2 * BLOCK;

/// A queue of things that are due at some instant.
#[derive(Debug)]
pub struct Timers<T> {
    /// The number of the next thing that goes in.
    sequence: u64,
    /// The slot that time has reached.
    slot: u64,
    /// What is due in the reached slot, the next one last.
    due: Vec<Entry<T>>,
    /// What is due in the slots after it, to the end of the next block.
    ring: Vec<Vec<Entry<T>>>,
    /// A bit for each slot of the ring: whether it holds something.
    filled: Vec<u64>,
    /// Lists of slots that are used up, with the room that they have.
    spare: Vec<Vec<Entry<T>>>,
    /// What is due in later blocks.
    far: BTreeMap<u64, Vec<Entry<T>>>,
}

#[derive(Debug)]
struct Entry<T> {
    time: SimTime,
    sequence: u64,
    what: T,
}

impl<T> Default for Timers<T> {
    fn default() -> Self {
        Self {
            sequence: 0,
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
    /// Adds something that is due at `time`; if that has passed, it is due at once.
    pub fn push(&mut self, time: SimTime, what: T) {
        let entry = Entry { time, sequence: self.sequence, what };
        self.sequence += 1;
        let slot = entry.slot();
        if slot <= self.slot {
            // Mostly it is the next: what is sent now and arrives soon.
            if self.due.last().is_none_or(|next| entry.key() < next.key()) {
                self.due.push(entry);
            } else {
                let at = self.due.partition_point(|other| other.key() > entry.key());
                self.due.insert(at, entry);
            }
        } else if slot / BLOCK <= self.slot / BLOCK + 1 {
            self.push_into_ring(slot, entry);
        } else {
            self.far.entry(slot / BLOCK).or_default().push(entry);
        }
    }

    /// Returns when the next thing is due.
    pub fn next_time(&mut self) -> Option<SimTime> {
        self.reach_next();
        self.due.last().map(|entry| entry.time)
    }

    /// Takes the next thing that is due, with its time.
    pub fn pop(&mut self) -> Option<(SimTime, T)> {
        self.reach_next();
        self.due.pop().map(|entry| (entry.time, entry.what))
    }

    /// Moves on to the next slot that holds something, if the reached one is used up.
    fn reach_next(&mut self) {
        if !self.due.is_empty() {
            return;
        }
        let next = self.next_filled().or_else(|| {
            // Nothing is due before the next block that holds something.
            let block = *self.far.first_key_value()?.0;
            self.reach(block * BLOCK - 1);
            self.next_filled()
        });
        let Some(slot) = next else { return };
        let index = (slot % SLOTS) as usize;
        let list = std::mem::take(&mut self.ring[index]);
        self.spare.push(std::mem::replace(&mut self.due, list));
        self.filled[index / 64] &= !(1 << (index % 64));
        self.reach(slot);
        if 1 < self.due.len() {
            self.due.sort_unstable_by_key(|entry| Reverse(entry.key()));
        }
    }

    /// Moves on to a slot, and deals out the block after the one that it is in.
    fn reach(&mut self, slot: u64) {
        let was = std::mem::replace(&mut self.slot, slot);
        if was / BLOCK == slot / BLOCK {
            return;
        }
        while let Some(block) = self.far.first_entry() {
            if slot / BLOCK + 1 < *block.key() {
                break;
            }
            for entry in block.remove() {
                let slot = entry.slot();
                self.push_into_ring(slot, entry);
            }
        }
    }

    fn push_into_ring(&mut self, slot: u64, entry: Entry<T>) {
        let index = (slot % SLOTS) as usize;
        let list = &mut self.ring[index];
        if list.is_empty() {
            *list = self.spare.pop().unwrap_or_default();
            self.filled[index / 64] |= 1 << (index % 64);
        }
        list.push(entry);
    }

    /// Returns the next slot of the ring that holds something, after the reached one.
    fn next_filled(&self) -> Option<u64> {
        let start = self.slot + 1;
        let (first_word, first_bit) = ((start % SLOTS / 64) as usize, start % 64);
        let words = self.filled.len();
        // The first word is looked at twice: its later bits first, its earlier ones at the end.
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
                let ahead = (index + SLOTS - start % SLOTS) % SLOTS;
                return Some(start + ahead);
            }
        }
        None
    }
}

impl<T> Entry<T> {
    /// Returns time and sequence as one number, which compares in one step.
    fn key(&self) -> u128 {
        u128::from(self.time.as_micros()) << 64 | u128::from(self.sequence)
    }

    fn slot(&self) -> u64 {
        self.time.as_micros() >> SLOT_BITS
    }
}

impl<T> PartialEq for Entry<T> {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}

impl<T> Eq for Entry<T> {}

impl<T> PartialOrd for Entry<T> {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl<T> Ord for Entry<T> {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.key().cmp(&other.key())
    }
}

#[cfg(test)]
mod tests {
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
        let order: Vec<i32> = std::iter::from_fn(|| timers.pop()).map(|(_, n)| n).collect();
        assert_eq!(order, (0..100).collect::<Vec<_>>());
    }

    #[test]
    fn an_empty_queue_has_nothing_due() {
        let mut timers = Timers::<()>::default();
        assert_eq!(timers.next_time(), None);
        assert_eq!(timers.pop(), None);
    }

    proptest! {
        /// Any mix of pushes and pops gives what a sorted list would, over slots, ring and heap.
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
                    prop_assert_eq!(timers.pop(), expected);
                    now = expected.map_or(now, |(time, _)| time.as_micros());
                }
            }
        }
    }
}
