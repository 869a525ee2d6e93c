//! Memory and cores, which are what YARN hands out, and the calculators that compare them.
//!
//! Hadoop counts both as 32-bit integers and computes with a mix of `float` and `double`. Every
//! result that becomes an integer here is rounded as Java rounds it: a cast cuts towards zero, and
//! so does `as`.

use std::cmp::Ordering;
use std::fmt;
use std::ops::{Add, AddAssign, Sub, SubAssign};

use mumakil_base::units::Bytes;
use mumakil_base::units::tell::counted;

/// An amount of memory and cores: of a node, of a container, or of all containers of a queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct YarnSize {
    /// The memory in MiB.
    pub(crate) memory: i32,
    /// The virtual cores.
    pub(crate) cores: i32,
}

impl YarnSize {
    /// Nothing.
    pub(crate) const NONE: Self = Self::new(0, 0);
    /// No limit.
    pub(crate) const UNBOUNDED: Self = Self::new(i32::MAX, i32::MAX);

    /// Returns an amount of memory in MiB and of cores.
    pub(crate) const fn new(memory: i32, cores: i32) -> Self {
        Self { memory, cores }
    }

    /// Returns an amount of memory as Hadoop writes it where cores do not count: with one core, if
    /// there is any memory.
    pub(crate) const fn of_memory(memory: i32) -> Self {
        Self::new(memory, if 0 < memory { 1 } else { 0 })
    }

    /// Returns whether both memory and cores are at most those of another amount.
    pub(crate) const fn fits_in(self, other: Self) -> bool {
        self.memory <= other.memory && self.cores <= other.cores
    }

    /// Returns the smaller memory and the smaller cores of two amounts.
    pub(crate) fn least(self, other: Self) -> Self {
        self.zip(other, i32::min)
    }

    /// Returns the larger memory and the larger cores of two amounts.
    pub(crate) fn most(self, other: Self) -> Self {
        self.zip(other, i32::max)
    }

    /// Returns this amount times a factor, cut to integers.
    pub(crate) fn times(self, factor: f64) -> Self {
        self.map(|amount| (f64::from(amount) * factor) as i32)
    }

    /// Returns this amount as often as a count says.
    pub(crate) fn repeated(self, count: i32) -> Self {
        self.map(|amount| amount.wrapping_mul(count))
    }

    fn zip(self, other: Self, join: impl Fn(i32, i32) -> i32) -> Self {
        Self::new(join(self.memory, other.memory), join(self.cores, other.cores))
    }

    fn map(self, change: impl Fn(i32) -> i32) -> Self {
        Self::new(change(self.memory), change(self.cores))
    }
}

// Java's integers wrap around, and demands beside an unlimited share may come to that.
impl Add for YarnSize {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        self.zip(other, i32::wrapping_add)
    }
}

impl Sub for YarnSize {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        self.zip(other, i32::wrapping_sub)
    }
}

impl AddAssign for YarnSize {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl SubAssign for YarnSize {
    fn sub_assign(&mut self, other: Self) {
        *self = *self - other;
    }
}

impl fmt::Display for YarnSize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let memory = Bytes::from_mib(self.memory.max(0).unsigned_abs().into());
        write!(f, "{memory} and {}", counted(self.cores.max(0).unsigned_abs().into(), "core"))
    }
}

/// The sizes that a cluster gives to containers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SizeLimits {
    /// The smallest container.
    pub(crate) minimum: YarnSize,
    /// The largest container.
    pub(crate) maximum: YarnSize,
    /// The steps between sizes under the fair scheduler.
    pub(crate) increment: YarnSize,
}

impl Default for SizeLimits {
    fn default() -> Self {
        Self {
            minimum: YarnSize::new(1_024, 1),
            maximum: YarnSize::new(8_192, 32),
            increment: YarnSize::new(1_024, 1),
        }
    }
}

/// How two amounts are compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum SizeCalculator {
    /// Only memory counts.
    #[default]
    Memory,
    /// The larger share of the cluster counts: that of memory or that of cores.
    Dominant,
}

impl SizeCalculator {
    /// Compares two amounts in a cluster.
    pub(crate) fn compare(self, cluster: YarnSize, one: YarnSize, other: YarnSize) -> Ordering {
        if self == Self::Memory {
            return one.memory.cmp(&other.memory);
        }
        if one == other {
            return Ordering::Equal;
        }
        let [mine, others] = [one, other].map(|size| shares(cluster, size));
        let larger = f32::max(mine[0], mine[1]).partial_cmp(&f32::max(others[0], others[1]));
        let smaller = f32::min(mine[0], mine[1]).partial_cmp(&f32::min(others[0], others[1]));
        larger.unwrap_or(Ordering::Equal).then(smaller.unwrap_or(Ordering::Equal))
    }

    /// Returns whether an amount is more than nothing.
    pub(crate) fn is_some(self, cluster: YarnSize, size: YarnSize) -> bool {
        self.compare(cluster, size, YarnSize::NONE).is_gt()
    }

    /// Returns the smaller of two amounts, the first if they are equal.
    pub(crate) fn min(self, cluster: YarnSize, one: YarnSize, other: YarnSize) -> YarnSize {
        if self.compare(cluster, one, other).is_le() { one } else { other }
    }

    /// Returns the larger of two amounts, the first if they are equal.
    pub(crate) fn max(self, cluster: YarnSize, one: YarnSize, other: YarnSize) -> YarnSize {
        if self.compare(cluster, one, other).is_ge() { one } else { other }
    }

    /// Returns how many containers of a size fit into an amount.
    pub(crate) fn containers(self, available: YarnSize, size: YarnSize) -> i32 {
        let by_memory = available.memory / size.memory;
        match self {
            Self::Memory => by_memory,
            Self::Dominant => by_memory.min(available.cores / size.cores),
        }
    }

    /// Returns a quotient of two amounts in a cluster.
    pub(crate) fn quotient(self, cluster: YarnSize, one: YarnSize, other: YarnSize) -> f32 {
        match self {
            Self::Memory => one.memory as f32 / other.memory as f32,
            Self::Dominant => {
                let [mine, others] = [one, other].map(|size| shares(cluster, size));
                f32::max(mine[0], mine[1]) / f32::max(others[0], others[1])
            }
        }
    }

    /// Returns the ratio of two amounts: the larger one of memory and cores, if both count.
    pub(crate) fn ratio(self, one: YarnSize, other: YarnSize) -> f32 {
        let by_memory = one.memory as f32 / other.memory as f32;
        match self {
            Self::Memory => by_memory,
            Self::Dominant => by_memory.max(one.cores as f32 / other.cores as f32),
        }
    }

    /// Returns the size of a container for an ask: at least the minimum, in steps, at most the
    /// maximum.
    pub(crate) fn normalised(
        self,
        ask: YarnSize,
        SizeLimits { minimum, maximum, increment: step }: SizeLimits,
    ) -> YarnSize {
        self.counted(ask.most(minimum).zip(step, round_up).least(maximum))
    }

    /// Returns an amount in whole steps, rounded up.
    pub(crate) fn rounded_up(self, size: YarnSize, step: YarnSize) -> YarnSize {
        self.counted(size.zip(step, round_up))
    }

    /// Returns an amount in whole steps, rounded down.
    pub(crate) fn rounded_down(self, size: YarnSize, step: YarnSize) -> YarnSize {
        self.counted(size.zip(step, |amount, step| amount / step * step))
    }

    /// Returns an amount times a factor in whole steps, rounded up.
    pub(crate) fn times_up(self, size: YarnSize, factor: f64, step: YarnSize) -> YarnSize {
        let whole = size.map(|amount| match (self, f64::from(amount) * factor) {
            // To the nearest integer first, and only then up to the next step.
            (Self::Memory, exact) => (exact + 0.5) as i32,
            (Self::Dominant, exact) => exact.ceil() as i32,
        });
        self.rounded_up(whole, step)
    }

    /// Returns an amount times a factor in whole steps, rounded down.
    pub(crate) fn times_down(self, size: YarnSize, factor: f64, step: YarnSize) -> YarnSize {
        self.rounded_down(size.times(factor), step)
    }

    /// Returns one of so many equal parts, rounded up; nothing if there are no parts.
    pub(crate) fn part_of(self, size: YarnSize, parts: i32) -> YarnSize {
        self.counted(size.map(|amount| divided_up(amount, parts)))
    }

    /// Returns an amount as the calculator hands it on: cores that do not count are lost.
    fn counted(self, size: YarnSize) -> YarnSize {
        match self {
            Self::Memory => YarnSize::of_memory(size.memory),
            Self::Dominant => size,
        }
    }
}

fn shares(cluster: YarnSize, size: YarnSize) -> [f32; 2] {
    [size.memory as f32 / cluster.memory as f32, size.cores as f32 / cluster.cores as f32]
}

fn divided_up(amount: i32, parts: i32) -> i32 {
    if parts == 0 { 0 } else { amount.wrapping_add(parts - 1) / parts }
}

fn round_up(amount: i32, step: i32) -> i32 {
    divided_up(amount, step).wrapping_mul(step)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: SizeLimits = SizeLimits {
        minimum: YarnSize::new(1_024, 1),
        maximum: YarnSize::new(8_192, 4),
        increment: YarnSize::new(512, 2),
    };

    #[test]
    fn asks_become_whole_steps_within_the_limits() {
        let of = |calculator: SizeCalculator, memory, cores| {
            calculator.normalised(YarnSize::new(memory, cores), LIMITS)
        };
        assert_eq!(of(SizeCalculator::Dominant, 1, 1), YarnSize::new(1_024, 2));
        assert_eq!(of(SizeCalculator::Dominant, 1_025, 3), YarnSize::new(1_536, 4));
        assert_eq!(of(SizeCalculator::Dominant, 9_000, 9), YarnSize::new(8_192, 4));
        assert_eq!(of(SizeCalculator::Memory, 1_025, 3), YarnSize::new(1_536, 1));
    }

    #[test]
    fn the_dominant_calculator_compares_the_larger_shares_first() {
        let cluster = YarnSize::new(1_000, 10);
        let compare = |one: (i32, i32), other: (i32, i32)| {
            let [one, other] = [one, other].map(|(memory, cores)| YarnSize::new(memory, cores));
            SizeCalculator::Dominant.compare(cluster, one, other)
        };
        assert_eq!(compare((100, 5), (400, 1)), Ordering::Greater);
        assert_eq!(compare((100, 5), (500, 1)), Ordering::Equal);
        assert_eq!(compare((200, 5), (500, 1)), Ordering::Greater);
    }

    #[test]
    fn memory_alone_is_rounded_to_the_nearest_before_the_step() {
        let step = YarnSize::new(10, 1);
        let times = |calculator: SizeCalculator, factor| {
            calculator.times_up(YarnSize::new(100, 10), factor, step).memory
        };
        assert_eq!(times(SizeCalculator::Memory, 0.404), 40);
        assert_eq!(times(SizeCalculator::Dominant, 0.404), 50);
        assert_eq!(times(SizeCalculator::Memory, 0.406), 50);
    }

    #[test]
    fn nothing_is_handed_to_no_parts() {
        assert_eq!(SizeCalculator::Memory.part_of(YarnSize::new(7, 7), 0), YarnSize::NONE);
        assert_eq!(SizeCalculator::Dominant.part_of(YarnSize::new(7, 6), 2), YarnSize::new(4, 3));
    }
}
