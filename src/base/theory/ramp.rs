//! How fast a new framework gets its slots as the tasks of others end, and what its job then takes
//! (Hindman et al., NSDI 2011, section 4.3 and table 2).
//!
//! The framework may have `slots` slots, all of which others hold; each is its own when the task in it
//! ends. Its job is `work` times all these slots for the mean time of a task. An *elastic* framework uses
//! each slot at once, a *rigid* one begins when it has them all.
//!
//! | | constant tasks | exponential tasks |
//! |---|---|---|
//! | ramp-up | 1 | ln slots |
//! | completion, elastic | 1/2 + work | 1 + work |
//! | completion, rigid | 1 + work | ln slots + work |
//! | utilisation, rigid | work / (1/2 + work) | work / (ln slots - 1 + work) |
//!
//! All times are multiples of the mean time of a task. With exponential tasks the forms hold for many
//! slots.

use super::{DomainError, check, count};

/// A framework that gets the slots of others.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FrameworkRamp {
    /// How many slots it gets.
    pub slots: f64,
    /// The work of its job, as a multiple of all these slots for the mean time of a task.
    pub work: f64,
    /// Whether the times of tasks are exponential; otherwise they are all the same.
    pub is_exponential: bool,
}

impl FrameworkRamp {
    /// Returns the time until it has all slots.
    ///
    /// # Errors
    /// If the slots are no whole number of at least one, or the work is below zero.
    pub fn ramp_up(self) -> Result<f64, DomainError> {
        self.check()?;
        Ok(if self.is_exponential { self.slots.ln() } else { 1.0 })
    }

    /// Returns the time that its job takes if it uses each slot at once.
    ///
    /// # Errors
    /// As [`Self::ramp_up`].
    pub fn elastic(self) -> Result<f64, DomainError> {
        self.check()?;
        Ok(self.work + if self.is_exponential { 1.0 } else { 0.5 })
    }

    /// Returns the time that its job takes if it begins when it has all slots.
    ///
    /// # Errors
    /// As [`Self::ramp_up`].
    pub fn rigid(self) -> Result<f64, DomainError> {
        Ok(self.work + self.ramp_up()?)
    }

    /// Returns the share of its slot time that a framework uses which begins when it has all slots.
    ///
    /// # Errors
    /// As [`Self::ramp_up`].
    pub fn rigid_utilisation(self) -> Result<f64, DomainError> {
        let idle = self.ramp_up()? - if self.is_exponential { 1.0 } else { 0.5 };
        Ok(self.work / (idle + self.work))
    }

    fn check(self) -> Result<(), DomainError> {
        count("slots", self.slots)?;
        check("work", self.work, self.work.is_finite() && 0.0 <= self.work, "0 or more")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Purpose, stream};
    use rand::RngExt;

    /// Returns the ramp-up, the completions and the utilisation of slots that become free at these
    /// times.
    fn counted(mut free: Vec<f64>, work: f64) -> [f64; 4] {
        free.sort_unstable_by(f64::total_cmp);
        let slots = free.len() as f64;
        let last = free[free.len() - 1];
        // The work of an elastic framework that is done when the last slot is free.
        let before: f64 = free.iter().map(|at| last - at).sum();
        let left = work * slots - before;
        assert!(0.0 < left, "the job outlasts the ramp-up");
        let held = before + work * slots;
        [last, last + left / slots, last + work, work * slots / held]
    }

    #[test]
    fn the_forms_are_those_of_slots_that_become_free_by_chance() {
        let mut rng = stream(1, Purpose::Workload, 0);
        for is_exponential in [false, true] {
            let ramp = FrameworkRamp { slots: 100_000.0, work: 20.0, is_exponential };
            let drawn = (0..100_000).map(|_| {
                let uniform: f64 = rng.random();
                if is_exponential { -(1.0 - uniform).ln() } else { uniform }
            });
            let counted = counted(drawn.collect(), ramp.work);
            let expected = [ramp.ramp_up(), ramp.elastic(), ramp.rigid(), ramp.rigid_utilisation()];
            for (counted, expected) in counted.iter().zip(expected) {
                let expected = expected.unwrap();
                // The largest of many exponential times varies by about one mean.
                let apart: f64 = if is_exponential { 3.0 } else { 0.01 };
                assert!(
                    (counted - expected).abs() < apart.min(0.2 * expected),
                    "{counted} {expected}"
                );
            }
        }
    }

    #[test]
    fn numbers_out_of_range_are_named() {
        let ramp = FrameworkRamp { slots: 0.5, work: 1.0, is_exponential: true };
        assert!(ramp.ramp_up().unwrap_err().to_string().starts_with("`slots` is 0.5"));
        let ramp = FrameworkRamp { slots: 5.0, work: -1.0, is_exponential: true };
        assert!(ramp.rigid().unwrap_err().to_string().starts_with("`work` is -1"));
    }
}
