//! Randomness: one named stream per purpose and subject, and the distributions drawn from it.
//!
//! A stream is derived from (seed, purpose, subject) and never shared or passed along. So a new
//! draw in one place changes no number in another: the same task takes the same time under every
//! scheduler that is compared. The generator is ChaCha8, whose streams cannot collide and whose
//! numbers are the same on every machine and with every release.
//!
//! ```text
//! seed      the key of ChaCha8
//! purpose   8 bits of the stream's number: MapTime, Placement, Fuzz, …
//! subject   56 bits: a job, a task and an attempt, or a node, or a block
//! ```
//!
//! The exact random numbers of Mumak are in [`mumak`].

mod dist;
pub mod mumak;

use std::cell::Cell;

pub use dist::{Dist, Shape};
pub use rand::rngs::ChaCha8Rng;
use rand::{Rng, RngExt, SeedableRng};

/// The purpose of a random stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Purpose {
    // New purposes go to the end: a change of any other purpose's number would change all results.
    // Numbers begin at 1, since a generator without a purpose uses stream 0.
    /// When a tracker sends its first heartbeat.
    Phase = 1,
    /// The random part of a tracker's heartbeat interval.
    Fuzz,
    /// The nodes that hold the blocks of a file.
    Placement,
    /// How long a map's work takes.
    MapTime,
    /// How long a reduce's work takes.
    ReduceTime,
    /// How long a setup task takes.
    SetupTime,
    /// Whether and when a map attempt fails.
    MapFailure,
    /// Whether and when a reduce attempt fails.
    ReduceFailure,
    /// How long an actor's messages travel, and which of them are lost or arrive twice.
    Link,
    /// The times and the outcome of an attempt, where a trace leaves them out.
    Traced,
    /// The jobs of a generated workload.
    Workload,
    /// How long a job's cleanup task takes.
    CleanupTime,
    /// How long it takes to remove the output of a map.
    MapCleanupTime,
    /// How long it takes to remove the output of a reduce.
    ReduceCleanupTime,
    /// Which values a bootstrap draws again.
    Bootstrap,
    /// On which disk of its node a copy of a block lies.
    BlockDisk,
    /// Which copy of its input a map's attempt reads.
    Source,
    /// The disk on which a map's attempt writes.
    MapDisk,
    /// The disk on which a reduce's attempt works.
    ReduceDisk,
    /// The error in the estimate of a job's size.
    SizeError,
    /// How a job's bytes are distributed over its reduces.
    ReduceShares,
    /// The settings of a random scenario.
    Chaos,
    /// The nodes that a fault strikes.
    Target,
    /// When a mishap strikes a node, and for how long.
    Mishap,
    /// Whether and where a map attempt hangs.
    MapHang,
    /// Whether and where a reduce attempt hangs.
    ReduceHang,
    /// Whether and where a map attempt runs out of memory.
    MapMemory,
    /// Whether and where a reduce attempt runs out of memory.
    ReduceMemory,
    /// The targets for new copies of blocks that have lost copies.
    Recopy,
    /// On which disk of its node a new copy of a block lies.
    CopyDisk,
    /// How long the JobTracker's process had run when the run began.
    Uptime,
    /// The fields of a scenario that each seed of a study draws anew.
    Condition,
    /// The seed that a policy is told, which does not reveal the run's.
    PolicySeed,
}

/// Returns the random stream of one (seed, purpose, subject): always the same, whatever other
/// streams are used.
///
/// A subject is a job (24 bits), task (24) and attempt (8), or any other dense number.
pub fn stream(seed: u64, purpose: Purpose, subject: u64) -> ChaCha8Rng {
    assert!(subject < 1 << 56, "subject numbers leave the top byte to the purpose");
    let mut rng = seeded(seed);
    rng.set_stream(((purpose as u64) << 56) | subject);
    rng
}

/// Returns a generator with this seed. A run has one seed and takes a stream for every block and
/// attempt, so the key of the last seed is cached.
fn seeded(seed: u64) -> ChaCha8Rng {
    thread_local! {
        static LAST: Cell<Option<(u64, [u8; 32])>> = const { Cell::new(None) };
    }
    if let Some((_, key)) = LAST.get().filter(|(of, _)| *of == seed) {
        return ChaCha8Rng::from_seed(key);
    }
    let rng = ChaCha8Rng::seed_from_u64(seed);
    LAST.set(Some((seed, rng.get_seed())));
    rng
}

/// Random draws for the facts about a job's attempts that a trace leaves out.
pub trait Dice {
    /// Draws a number from 0 up to, but not including, 1.
    fn share(&mut self) -> f64;
    /// Draws a whole number from 0 to `n` − 1, where `n` is above zero.
    fn below(&mut self, n: u128) -> u128;
    /// Draws a number from 0 up to, but not including, 1 for one of the job's distributions, given
    /// by its number.
    fn share_of(&mut self, distribution: usize) -> f64;
}

/// One stream serves all draws, in the order of the calls.
impl Dice for ChaCha8Rng {
    fn share(&mut self) -> f64 {
        self.random()
    }

    fn below(&mut self, n: u128) -> u128 {
        self.random_range(0..n)
    }

    fn share_of(&mut self, _: usize) -> f64 {
        self.random()
    }
}

/// Draws an index by the weights, at least one of which must be above zero.
pub fn pick<R: Rng>(weights: impl Iterator<Item = f64> + Clone, rng: &mut R) -> usize {
    let mut left = rng.random::<f64>() * weights.clone().sum::<f64>();
    let mut place = 0;
    for (next, weight) in weights.enumerate().filter(|(_, weight)| 0.0 < *weight) {
        // If rounding leaves a remainder after the last weight, the last one above zero is drawn.
        place = next;
        if left < weight {
            break;
        }
        left -= weight;
    }
    place
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_is_the_same_whoever_else_draws() {
        let first = stream(42, Purpose::MapTime, 7).next_u64();
        let _ = stream(42, Purpose::MapTime, 8).next_u64();
        assert_eq!(stream(42, Purpose::MapTime, 7).next_u64(), first);
    }

    #[test]
    fn purposes_subjects_and_seeds_do_not_share_numbers() {
        let draw = |seed, purpose, subject| stream(seed, purpose, subject).next_u64();
        let all = [
            draw(1, Purpose::Phase, 0),
            draw(1, Purpose::Fuzz, 0),
            draw(1, Purpose::Phase, 1),
            draw(2, Purpose::Phase, 0),
        ];
        for (i, a) in all.iter().enumerate() {
            assert!(all[i + 1..].iter().all(|b| a != b), "{all:?}");
        }
    }

    #[test]
    fn places_are_picked_by_their_weights() {
        let mut rng = stream(1, Purpose::Workload, 0);
        let mut picked = [0; 4];
        for _ in 0..10_000 {
            picked[pick([3.0, 0.0, 1.0, 0.0].into_iter(), &mut rng)] += 1;
        }
        assert_eq!((picked[1], picked[3]), (0, 0));
        assert!((7_350..7_650).contains(&picked[0]), "{picked:?}");
    }

    #[test]
    fn the_generator_prints_the_same_numbers_in_every_release() {
        let mut rng = stream(42, Purpose::MapTime, 7);
        let draws = [rng.next_u64(), rng.next_u64(), rng.next_u64()];
        insta::assert_debug_snapshot!(draws);
    }
}
