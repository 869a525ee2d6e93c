//! Mumak's random numbers: Java's generator, seeded with hashes of names.
//!
//! A run has a master seed. The seed of each generator comes from the master seed and a text: one
//! generator for all first heartbeats, one for each tracker's fuzz, one for each job. Times that
//! the trace lacks come from further generators, one for each distribution of a job, whose seeds do
//! not depend on the master seed. Because of this quirk Mumak draws the same times in every run, if
//! the distributions are first used in the same order.
//!
//! Unlike Mumakil's [streams](super::stream) these generators have a state, so the order of the
//! draws matters. Each generator is kept where Mumak keeps it: in a tracker or in the JobTracker.

use std::collections::BTreeMap;

use md5::{Digest, Md5};
use rustc_hash::FxHashMap;

use super::Dice;

/// Java's generator: `java.util.Random`.
#[derive(Clone, Debug)]
pub struct JavaRandom(u64);

// Java's generator has 48 bits of state; multiplier and increment are in the documentation of its
// class.
const STATE: u64 = (1 << 48) - 1;

impl JavaRandom {
    /// Returns the generator of a seed.
    pub fn new(seed: i64) -> Self {
        Self((seed as u64 ^ 0x5_DEEC_E66D) & STATE)
    }

    /// Returns the generator for all trackers' first heartbeats, drawn in the order of the
    /// trackers.
    pub fn of_phases(master: u64) -> Self {
        Self::new(sub_seed("forStartTaskTrackers()", master as i64))
    }

    /// Returns the generator for the random part of a tracker's heartbeat interval.
    pub fn of_fuzz(master: u64, tracker: u32) -> Self {
        Self::new(sub_seed(&format!("forTaskTracker{tracker}"), master as i64))
    }

    fn next(&mut self, bits: u32) -> i32 {
        self.0 = self.0.wrapping_mul(0x5_DEEC_E66D).wrapping_add(0xB) & STATE;
        (self.0 >> (48 - bits)) as i32
    }

    /// Draws a whole number from 0 to `n` − 1, where `n` is above zero: `nextInt(n)`.
    pub fn below(&mut self, n: i32) -> i32 {
        assert!(0 < n, "no number is below {n}");
        // As in Java, a power of two uses the high bits, which are more random than the low ones.
        if n & (n - 1) == 0 {
            return ((i64::from(n) * i64::from(self.next(31))) >> 31) as i32;
        }
        loop {
            let drawn = self.next(31);
            let value = drawn % n;
            // The last numbers before 2^31 would make some values likelier than others: as in Java,
            // detect them by the overflow of this sum, and draw again.
            if 0 <= (drawn - value).wrapping_add(n - 1) {
                return value;
            }
        }
    }

    /// Draws a number from 0 up to, but not including, 1: `nextDouble()`.
    pub fn share(&mut self) -> f64 {
        let (high, low) = (i64::from(self.next(26)), i64::from(self.next(27)));
        ((high << 27) + low) as f64 / (1u64 << 53) as f64
    }
}

/// Returns the seed of a generator, from its name and a number.
fn sub_seed(name: &str, number: i64) -> i64 {
    let hash: [u8; 16] = Md5::digest(format!("{name}/{number}")).into();
    let (head, _) = hash.split_first_chunk::<8>().expect("a hash has sixteen bytes");
    // Mumak adds 128 to each signed byte of the hash, which flips its top bit.
    (u64::from_be_bytes(*head) ^ 0x8080_8080_8080_8080) as i64
}

/// The generators of a run's jobs, and the list of machines in the order that the last draw left.
#[derive(Debug)]
pub struct MumakJobs {
    seed: i64,
    jobs: FxHashMap<u32, JobGenerators>,
    machines: Vec<u32>,
}

/// The generators of a job.
#[derive(Debug)]
pub struct JobGenerators {
    name: String,
    own: JavaRandom,
    /// The generators of the distributions, each made at its first use.
    distributions: BTreeMap<usize, JavaRandom>,
}

impl MumakJobs {
    /// Returns the generators of a run with `machines` machines.
    pub fn new(master: u64, machines: u32) -> Self {
        let seed = sub_seed("forSimulatorJobStoryProducer", master as i64);
        Self { seed, jobs: FxHashMap::default(), machines: (0..machines).collect() }
    }

    /// Returns the generators of a job; `id` is the job's id in its trace.
    pub fn of(&mut self, job: u32, id: &str) -> &mut JobGenerators {
        self.jobs.entry(job).or_insert_with(|| JobGenerators::new(id, self.seed))
    }

    /// Draws `count` machines for a job. The draw reorders the list of machines, also for the next
    /// draw.
    pub fn machines(&mut self, job: u32, id: &str, count: usize) -> &[u32] {
        self.of(job, id);
        let Self { jobs, machines, .. } = self;
        let own = &mut jobs.get_mut(&job).expect("it has just been put there").own;
        let total = machines.len();
        let count = count.min(total);
        // As in Mumak, draw the machines that are not wanted if there are fewer of them.
        let draws = count.min(total - count);
        for drawn in 0..draws {
            let left = total - drawn;
            machines.swap(own.below(left as i32) as usize, left - 1);
        }
        if draws == count { &machines[total - count..] } else { &machines[..count] }
    }
}

impl JobGenerators {
    fn new(id: &str, seed: i64) -> Self {
        let name = format!("forZombieJob{id}");
        let own = JavaRandom::new(sub_seed(&name, seed));
        Self { name, own, distributions: BTreeMap::new() }
    }
}

impl Dice for JobGenerators {
    fn share(&mut self) -> f64 {
        self.own.share()
    }

    fn below(&mut self, n: u128) -> u128 {
        self.own.below(i32::try_from(n).unwrap_or(i32::MAX)) as u128
    }

    fn share_of(&mut self, distribution: usize) -> f64 {
        // Distributions are numbered in the order of their first use, so this order decides the
        // seeds.
        let number = self.distributions.len() as i64 + 1;
        let known = self.distributions.entry(distribution);
        known.or_insert_with(|| JavaRandom::new(sub_seed(&self.name, number))).share()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_those_of_java() {
        let fresh = || JavaRandom::new(42);
        let mut random = fresh();
        assert_eq!([random.next(32), random.next(32)], [-1_170_105_035, 234_785_527]);
        let mut random = fresh();
        assert_eq!([random.below(10), random.below(10), random.below(10)], [0, 3, 8]);
        assert_eq!(fresh().share(), 0.727_563_680_032_868_1);
        // A power of two uses the high bits.
        assert_eq!(fresh().below(16), 11);
    }

    #[test]
    fn trackers_send_their_heartbeats_when_they_do_in_mumak() {
        assert_eq!(sub_seed("forTaskTracker0", 42), -4_710_878_552_861_223_446);
        assert_eq!(sub_seed("forStartTaskTrackers()", 42), 3_305_151_705_093_674_027);
        let mut phases = JavaRandom::of_phases(42);
        assert_eq!([(); 3].map(|()| phases.below(100_000)), [76_908, 79_080, 26_399]);
        let mut fuzz = JavaRandom::of_fuzz(42, 0);
        assert_eq!([(); 6].map(|()| fuzz.below(21) - 11), [0, 3, -3, -2, -8, 9]);
    }

    #[test]
    fn jobs_draw_by_the_master_and_their_distributions_without_it() {
        let mut stories = MumakJobs::new(42, 0);
        assert_eq!(stories.seed, 3_801_083_612_022_698_999);
        let id = "job_200904211745_0006";
        assert_eq!(sub_seed(&format!("forZombieJob{id}"), stories.seed), 5_161_469_806_599_701_347);
        let story = stories.of(4, id);
        assert_eq!(story.share(), 0.341_485_125_841_441_4);
        // Distributions are numbered in the order of their first use.
        assert_eq!(story.share_of(2), 0.691_722_566_789_844_2);
        assert_eq!(story.share_of(8), 0.421_667_650_621_399_1);
        assert_eq!(story.share_of(8), 0.567_781_341_278_176_1);
    }

    #[test]
    fn machines_stay_in_the_order_of_the_last_draw() {
        let mut stories = MumakJobs::new(42, 5);
        let two = stories.machines(0, "job_1_0001", 2).to_vec();
        let mut all = stories.machines(0, "job_1_0001", 9).to_vec();
        assert_eq!(all[3..], two, "all of them are no draw");
        all.sort_unstable();
        assert_eq!(all, [0, 1, 2, 3, 4]);
    }
}
