//! How long a bag of tasks takes on slots that are given to them as they become free, in any order.
//!
//! With `n` tasks of a mean time of one, the longest of which takes `longest`, on `s` slots:
//!
//! ```text
//! n / s  <=  time  <=  (n - 1) / s + longest
//! ```
//! No order is faster, since all slots are busy at most all the time; none is slower, since all slots
//! are busy until the last task begins. R. L. Graham: Bounds for certain multiprocessing anomalies,
//! 1966. A. Verma, L. Cherkasova, R. Campbell (ARIA, 2011) find the slots for a deadline from it.

use super::{DomainError, check, count};

/// A bag of tasks, and slots.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TaskBag {
    /// How many tasks there are.
    pub tasks: f64,
    /// How many slots serve them.
    pub slots: f64,
    /// The longest time of a task, as a multiple of the mean time.
    pub longest: f64,
}

impl TaskBag {
    /// Returns the least time that all tasks can take, as a multiple of the mean time of a task.
    ///
    /// # Errors
    /// If a count is no whole number of at least one, or the longest time is below the mean.
    pub fn least(self) -> Result<f64, DomainError> {
        self.check()?;
        // The longest task alone takes its time, however many slots there are.
        Ok((self.tasks / self.slots).max(self.longest))
    }

    /// Returns the most time that all tasks can take, as a multiple of the mean time of a task.
    ///
    /// # Errors
    /// As [`Self::least`].
    pub fn most(self) -> Result<f64, DomainError> {
        self.check()?;
        Ok((self.tasks - 1.0) / self.slots + self.longest)
    }

    /// Returns the fewest slots with which all tasks surely end within a time, a multiple of the mean
    /// time of a task; [`Self::slots`] is not used.
    ///
    /// # Errors
    /// As [`Self::least`], or if the time is not longer than the longest task.
    pub fn slots_for(self, within: f64) -> Result<f64, DomainError> {
        self.check()?;
        check("within", within, self.longest < within, "above the longest time")?;
        Ok(((self.tasks - 1.0) / (within - self.longest)).ceil().max(1.0))
    }

    fn check(self) -> Result<(), DomainError> {
        count("tasks", self.tasks)?;
        count("slots", self.slots)?;
        check("longest", self.longest, 1.0 <= self.longest, "a multiple of the mean, 1 or more")
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn equal_tasks_end_between_full_waves_and_one_more() {
        let bag = |slots: f64| TaskBag { tasks: 12.0, slots, longest: 1.0 };
        assert_eq!((bag(4.0).least(), bag(4.0).most()), (Ok(3.0), Ok(3.75)));
        assert_eq!((bag(12.0).least(), bag(12.0).most()), (Ok(1.0), Ok(11.0 / 12.0 + 1.0)));
        assert_eq!(bag(1.0).slots_for(3.75), Ok(4.0));
        assert_eq!(bag(1.0).slots_for(12.0), Ok(1.0));
        let error = bag(1.0).slots_for(1.0).unwrap_err().to_string();
        assert_eq!(error, "`within` is 1; it must be above the longest time");
    }

    proptest! {
        /// The tasks take the slot that is free first, in the order of the list.
        #[test]
        fn every_order_is_within_the_bounds(
            times in prop::collection::vec(1..100_u32, 1..40), slots in 1..10_usize,
        ) {
            let mut free = vec![0_u32; slots];
            for time in &times {
                let first = free.iter_mut().min().unwrap();
                *first += time;
            }
            let mean = f64::from(times.iter().sum::<u32>()) / times.len() as f64;
            let longest = f64::from(*times.iter().max().unwrap()) / mean;
            let bag = TaskBag { tasks: times.len() as f64, slots: slots as f64, longest };
            let time = f64::from(*free.iter().max().unwrap()) / mean;
            prop_assert!(bag.least().unwrap() <= time + 1e-9 && time <= bag.most().unwrap() + 1e-9);
            // As many slots as are said to suffice for this time do.
            if longest < time {
                let slots = bag.slots_for(time).unwrap();
                let enough = TaskBag { slots, ..bag };
                prop_assert!(enough.most().unwrap() <= time + 1e-9, "{enough:?}");
            }
        }
    }
}
