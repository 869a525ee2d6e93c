//! How long jobs of one task wait for a slot, if jobs and tasks are as random as can be.
//!
//! The queue M/M/c: jobs arrive at random with a constant rate, each has one task, the times of
//! tasks are exponential, and any free slot takes the task that has waited longest. The wait is
//! A. K. Erlang's second formula (1917): L. Kleinrock, Queueing Systems 1, section 3.5.

use super::{DomainError, check, count};

/// A queue in front of equal slots.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SlotQueue {
    /// The number of slots.
    pub slots: f64,
    /// The offered load: the mean work that arrives in the time of all slots; below one.
    pub load: f64,
}

impl SlotQueue {
    /// Returns the probability that a task finds no free slot.
    ///
    /// # Errors
    /// If the slots are no whole number of at least one, or if the load is not below one: then
    /// waits grow for ever.
    pub fn waits(self) -> Result<f64, DomainError> {
        let Self { slots, load } = self;
        count("slots", slots)?;
        check("load", load, (0.0..1.0).contains(&load), "a number from 0 to below 1")?;
        // Erlang's first formula by its recursion: factorials of many slots are no floats.
        let offered = slots * load;
        let mut lost = 1.0;
        for slot in 1..=slots as u32 {
            lost = offered * lost / (f64::from(slot) + offered * lost);
        }
        Ok(lost / (1.0 - load * (1.0 - lost)))
    }

    /// Returns the mean wait, as a multiple of the mean time of a task.
    ///
    /// # Errors
    /// As [`Self::waits`].
    pub fn mean_wait(self) -> Result<f64, DomainError> {
        Ok(self.waits()? / (self.slots * (1.0 - self.load)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_are_those_of_the_tables() {
        let queue = |slots, load| SlotQueue { slots, load };
        // One slot: the load is the probability, and the wait ρ / (1 − ρ).
        assert!((queue(1.0, 0.5).waits().unwrap() - 0.5).abs() < 1e-12);
        assert!((queue(1.0, 0.8).mean_wait().unwrap() - 4.0).abs() < 1e-12);
        // Two slots: 2 ρ² / (1 + ρ).
        assert!((queue(2.0, 0.75).waits().unwrap() - 1.125 / 1.75).abs() < 1e-12);
        // Ten slots and eight erlangs, by the tables.
        assert!((queue(10.0, 0.8).waits().unwrap() - 0.4092).abs() < 1e-4);
        assert!(queue(400_000.0, 0.9).waits().unwrap() < 1e-9);
    }

    #[test]
    fn a_full_queue_has_no_wait() {
        let refused = |slots, load| SlotQueue { slots, load }.waits().unwrap_err().name;
        assert_eq!(refused(1.0, 1.0), "load");
        assert_eq!(refused(1.5, 0.5), "slots");
    }
}
