//! The order at an offer: `fair`, `fifo` and `drf`.
//!
//! Both below their minimum share: by the share of it that they have. One below it: that one first.
//! None: by usage over weight. Ties go to the earlier start, then to the name; under `drf` the
//! former order of the list decides instead of the name.

use std::cmp::Ordering;

use crate::scheduler::java;
use crate::size::YarnSize;

/// The order within a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FairPolicy {
    /// Memory by weight.
    Fair,
    /// The earliest first.
    Fifo,
    /// The larger share of memory or cores by weight.
    Dominant,
}

/// A queue or an application at an offer.
#[derive(Clone, Copy, Debug)]
pub(super) struct FairContender<'a, K> {
    pub(super) key: K,
    pub(super) usage: YarnSize,
    pub(super) demand: YarnSize,
    pub(super) min: YarnSize,
    pub(super) weight: f32,
    /// When it came, in milliseconds.
    pub(super) start: u64,
    /// The name of a queue; an application has a number instead.
    pub(super) name: Option<&'a str>,
    pub(super) number: u32,
}

impl FairPolicy {
    pub(super) fn compare<K>(
        self,
        cluster: YarnSize,
        one: &FairContender<'_, K>,
        other: &FairContender<'_, K>,
    ) -> Ordering {
        let by_start = one.start.cmp(&other.start);
        match self {
            Self::Fair => by_memory(one, other).then(by_start).then_with(|| by_name(one, other)),
            Self::Fifo => by_start.then_with(|| by_name(one, other)),
            Self::Dominant => by_dominant(cluster, one, other).then(by_start),
        }
    }

    /// Returns those at an offer in their order.
    pub(super) fn sorted<'a, K: Copy + 'a>(
        self,
        cluster: YarnSize,
        all: impl Iterator<Item = FairContender<'a, K>>,
    ) -> Vec<K> {
        let mut all: Vec<FairContender<'a, K>> = all.collect();
        java::sort(&mut all, |one, other| self.compare(cluster, one, other));
        all.into_iter().map(|it| it.key).collect()
    }

    /// Returns the one that would be offered last; the first of those that tie.
    pub(super) fn last<'a, K: Copy + 'a>(
        self,
        cluster: YarnSize,
        all: impl Iterator<Item = FairContender<'a, K>>,
    ) -> Option<K> {
        let last = all.reduce(|last, next| match self.compare(cluster, &next, &last) {
            Ordering::Greater => next,
            _ => last,
        })?;
        Some(last.key)
    }
}

fn by_memory<K>(one: &FairContender<'_, K>, other: &FairContender<'_, K>) -> Ordering {
    let mins = [one, other].map(|it| it.min.memory.min(it.demand.memory));
    let needy = [one.usage.memory < mins[0], other.usage.memory < mins[1]];
    let [mine, others] = match needy {
        [true, false] => return Ordering::Less,
        [false, true] => return Ordering::Greater,
        [true, true] => [(one, mins[0]), (other, mins[1])]
            .map(|(it, min)| f64::from(it.usage.memory) / f64::from(min.max(1))),
        // A float over a float, and only then a double.
        [false, false] => [one, other].map(|it| f64::from(it.usage.memory as f32 / it.weight)),
    };
    signum(mine - others)
}

fn by_dominant<K>(
    cluster: YarnSize,
    one: &FairContender<'_, K>,
    other: &FairContender<'_, K>,
) -> Ordering {
    let [mine, others] = [one, other].map(|it| {
        let of_cluster = shares(it.usage, cluster, it.weight);
        let of_min = shares(it.usage, it.min, 1.0);
        // Cores win a tie.
        let order = if of_cluster[1] < of_cluster[0] { [0, 1] } else { [1, 0] };
        let is_needy = of_min[order[0]] < 1.0;
        (is_needy, order.map(|which| of_cluster[which]), order.map(|which| of_min[which]))
    });
    let [left, right] = match (mine.0, others.0) {
        (true, false) => return Ordering::Less,
        (false, true) => return Ordering::Greater,
        (true, true) => [mine.2, others.2],
        (false, false) => [mine.1, others.1],
    };
    let [first, second] = [0, 1].map(|which| signum(f64::from(left[which] - right[which])));
    first.then(second)
}

fn shares(usage: YarnSize, of: YarnSize, weight: f32) -> [f32; 2] {
    [
        usage.memory as f32 / (of.memory as f32 * weight),
        usage.cores as f32 / (of.cores as f32 * weight),
    ]
}

/// Returns the sign of a difference. A difference that is no number ties.
fn signum(difference: f64) -> Ordering {
    difference.partial_cmp(&0.0).unwrap_or(Ordering::Equal)
}

fn by_name<K>(one: &FairContender<'_, K>, other: &FairContender<'_, K>) -> Ordering {
    match (one.name, other.name) {
        (Some(one), Some(other)) => java::compare_texts(one, other),
        _ => application_name(one.number).cmp(&application_name(other.number)),
    }
}

/// Returns the name of an application, as Hadoop writes it.
pub(super) fn application_name(number: u32) -> String {
    format!("application_1000000000_{number:04}")
}

#[cfg(test)]
mod tests {
    use super::*;

    const CLUSTER: YarnSize = YarnSize::new(10_000, 100);

    fn contender(memory: i32, cores: i32) -> FairContender<'static, ()> {
        FairContender {
            key: (),
            usage: YarnSize::new(memory, cores),
            demand: YarnSize::new(9_000, 90),
            min: YarnSize::NONE,
            weight: 1.0,
            start: 0,
            name: None,
            number: 1,
        }
    }

    #[test]
    fn usage_counts_by_weight() {
        let heavy = FairContender { weight: 3.0, ..contender(2_000, 1) };
        let light = contender(1_000, 1);
        assert!(FairPolicy::Fair.compare(CLUSTER, &heavy, &light).is_lt());
    }

    #[test]
    fn below_the_minimum_comes_before_all_others() {
        let needy = FairContender { min: YarnSize::new(3_000, 1), ..contender(2_000, 1) };
        let idle = contender(0, 0);
        assert!(FairPolicy::Fair.compare(CLUSTER, &needy, &idle).is_lt());
        let content = FairContender { demand: YarnSize::new(1_000, 1), ..needy };
        assert!(FairPolicy::Fair.compare(CLUSTER, &content, &idle).is_gt(), "it wants no more");
    }

    #[test]
    fn a_weight_of_zero_ties_without_usage_and_comes_last_with_it() {
        let weightless = FairContender { weight: 0.0, start: 1, ..contender(0, 0) };
        let early = contender(5_000, 1);
        assert!(FairPolicy::Fair.compare(CLUSTER, &weightless, &early).is_gt(), "by start");
        let using = FairContender { usage: YarnSize::new(1, 1), ..weightless };
        assert!(FairPolicy::Fair.compare(CLUSTER, &using, &early).is_gt());
    }

    #[test]
    fn the_dominant_share_decides_under_drf_and_names_do_not() {
        let [by_memory, by_cores] = [contender(6_000, 1), contender(100, 50)];
        assert!(FairPolicy::Dominant.compare(CLUSTER, &by_cores, &by_memory).is_lt());
        let twin = FairContender { number: 2, ..by_cores };
        assert!(FairPolicy::Dominant.compare(CLUSTER, &by_cores, &twin).is_eq());
    }
}
