//! Fair shares: how many slots each pool or job should have.
//!
//! Each pool or job gets slots in proportion to its weight, but no more than it demands and no less
//! than its minimum: `min(demand, max(minimum, weight × R))`. The ratio `R` is chosen so that all
//! slots are given away or all demands are met.
//!
//! [`bisected`] finds `R` as Hadoop's fair scheduler does (0.21 and later), digit for digit. If the
//! minimums exceed the slots, each claim keeps its minimum, and the shares exceed the cluster.
//! [`max_min`] computes `R` exactly, and scales down minimums that exceed the slots. This scaling
//! is for nested pools, which the paper on delay scheduling does not have. For pools as in the
//! paper, a policy scales the declared minimums down to the cluster first (section 4).
//!
//! A weight comes from a job's priority and size; a [`NewJobBoost`] makes short jobs end soon.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use mumakil_base::mutated;
use mumakil_base::units::{Factor, SimSpan, SimTime};
use mumakil_base::with_defaults;
use mumakil_core::mapred::Priority;

/// The claim of a job or a pool on slots.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Claim {
    /// The claim's weight relative to other claims: above zero, and finite.
    pub weight: f64,
    /// The number of slots that are guaranteed, if they are demanded.
    pub min_share: f64,
    /// The number of slots that the job or pool can use.
    pub demand: f64,
}

impl Claim {
    /// Returns the claim's share in slots, if a weight of one gets `ratio` slots.
    fn at(self, ratio: f64) -> f64 {
        (self.weight * ratio).max(self.min_share).min(self.demand)
    }

    /// Returns how many of its guaranteed slots the claim demands.
    fn owed(self) -> f64 {
        self.min_share.min(self.demand)
    }
}

/// How often Hadoop halves the range in which it searches the ratio.
// `COMPUTE_FAIR_SHARES_ITERATIONS` of Hadoop's SchedulingAlgorithms. For a million slots, the
// result is precise to a tenth of a slot.
const HALVINGS: u32 = 25;

/// Writes the fair share of each claim into `shares`. As in Hadoop, the ratio is found by doubling,
/// then by halving.
///
/// Takes some thirty passes over the claims.
///
/// # Panics
/// Unless `shares` has one entry for each claim.
pub fn bisected(claims: &[Claim], slots: f64, shares: &mut [f64]) {
    let used = |ratio: f64| claims.iter().map(|claim| claim.at(ratio)).sum::<f64>();
    let wanted = claims.iter().map(|claim| claim.demand).sum::<f64>().min(slots);
    let mut high = 1.0;
    // With tiny weights no finite ratio suffices; the bound `f64::MAX` ends the loop.
    while used(high) < wanted && high < f64::MAX {
        high *= 2.0;
    }
    let mut low = 0.0;
    for _ in 0..HALVINGS {
        let middle = (low + high) / 2.0;
        if used(middle) < wanted {
            low = middle;
        } else {
            high = middle;
        }
    }
    // As in Hadoop, the upper end: the shares may slightly exceed the slots.
    write(claims, shares, |claim| claim.at(high));
}

/// Writes the exact fair share of each claim into `shares`.
///
/// If the minimums that claims demand exceed the slots, all minimums are scaled down by the same
/// factor. Takes O(n log n). `scratch` is working space, which the caller keeps for the next call.
///
/// # Panics
/// Unless `shares` has one entry for each claim.
pub fn max_min(claims: &[Claim], slots: f64, scratch: &mut Vec<f64>, shares: &mut [f64]) {
    let owed: f64 = claims.iter().map(|claim| claim.owed()).sum();
    if owed <= slots {
        let ratio = ratio(claims, slots, scratch);
        write(claims, shares, |claim| claim.at(ratio));
    } else {
        write(claims, shares, |claim| claim.owed() * (slots / owed));
    }
}

fn write(claims: &[Claim], shares: &mut [f64], share_of: impl Fn(&Claim) -> f64) {
    assert_eq!(claims.len(), shares.len(), "a share for each claim");
    debug_assert!(
        claims.iter().all(|claim| 0.0 < claim.weight),
        "{claims:?}: a weight is above zero"
    );
    for (share, claim) in shares.iter_mut().zip(claims) {
        *share = share_of(claim);
    }
}

/// Returns the ratio at which all slots are given away, in slots for a weight of one; infinite if
/// the slots suffice for all demands.
///
/// The sum of all shares is a piecewise linear function of the ratio. The function bends where a
/// share leaves its minimum or reaches its demand; the result lies between two bends.
fn ratio(claims: &[Claim], slots: f64, bends: &mut Vec<f64>) -> f64 {
    let used = |ratio: f64| claims.iter().map(|claim| claim.at(ratio)).sum::<f64>();
    bends.clear();
    bends.push(0.0);
    bends.extend(claims.iter().map(|claim| claim.owed() / claim.weight));
    bends.extend(claims.iter().map(|claim| claim.demand / claim.weight));
    // Between two neighbouring bends the sum of all shares is linear.
    bends.sort_unstable_by(f64::total_cmp);
    // The slots suffice at the first bend, which is zero.
    let after = bends.partition_point(|bend| used(*bend) <= slots);
    let Some(&end) = bends.get(after) else { return f64::INFINITY };
    let start = bends[after - 1];
    // Between the two bends a share is either constant or grows in proportion to its weight.
    let climbs =
        |claim: &&Claim| claim.owed() / claim.weight <= start && end <= claim.demand / claim.weight;
    let slope: f64 = claims.iter().filter(climbs).map(|claim| claim.weight).sum();
    // If the bends differ only by rounding, the slope is zero and `min` returns `end`.
    (start + (slots - used(start)) / slope).min(end)
}

/// Returns a job's weight by its priority and, if given, by its number of tasks.
pub fn weight(priority: Priority, tasks: Option<u32>) -> f64 {
    // Hadoop's factors for its five priorities.
    let importance = match priority {
        Priority::VeryHigh => 4.0,
        Priority::High => 2.0,
        Priority::Normal => 1.0,
        Priority::Low => 0.5,
        Priority::VeryLow => 0.25,
    };
    // As in Hadoop, a job without tasks has weight 0.
    let by_size = tasks.map_or(1.0, |tasks| {
        let size = f64::from(tasks) + 1.0;
        mutated!(size.log2(), "share/size-itself" => size)
    });
    mutated!(importance, "share/no-priority" => 1.0) * by_size
}

with_defaults! {
    /// A larger weight for each job while it is new: Hadoop's `NewJobWeightBooster`.
    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
    #[serde(default, deny_unknown_fields)]
    pub struct NewJobBoost {
        /// The factor by which the weight of a new job is multiplied.
        // `mapred.newjobweightbooster.factor` is 3.
        pub factor: Factor = Factor::of(3.0),
        /// How long a job is new, from its submission on.
        // `mapred.newjobweightbooster.duration` is 300,000 ms.
        pub duration: SimSpan = SimSpan::from_secs(5 * 60),
    }
}

impl NewJobBoost {
    /// Returns the instant from which a job is no longer new.
    pub fn end(&self, submitted: SimTime) -> SimTime {
        submitted + self.duration
    }

    /// Returns the factor of a job's weight; 1 if there is no boost or the job is no longer new.
    pub fn factor_of(boost: Option<&Self>, submitted: SimTime, now: SimTime) -> f64 {
        let boost =
            boost.filter(|boost| mutated!(now < boost.end(submitted), "share/always-new" => true, "share/never-new" => false));
        boost.map_or(1.0, |boost| boost.factor.get())
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    fn claim(weight: f64, min_share: f64, demand: f64) -> Claim {
        Claim { weight, min_share, demand }
    }

    fn exact(claims: &[Claim], slots: f64) -> Vec<f64> {
        let mut shares = vec![f64::NAN; claims.len()];
        max_min(claims, slots, &mut Vec::new(), &mut shares);
        shares
    }

    fn hadoop(claims: &[Claim], slots: f64) -> Vec<f64> {
        let mut shares = vec![f64::NAN; claims.len()];
        bisected(claims, slots, &mut shares);
        shares
    }

    fn owed(claims: &[Claim]) -> f64 {
        claims.iter().map(|claim| claim.owed()).sum()
    }

    #[test]
    fn figure_4_of_the_paper_gives_the_idle_pools_slots_to_the_others() {
        // Pool 1 is guaranteed 60 of 100 slots, pool 3 ten, and pool 3 has no jobs.
        let pools = [claim(1.0, 60.0, 1e3), claim(1.0, 0.0, 1e3), claim(1.0, 10.0, 0.0)];
        assert_eq!(exact(&pools, 100.0), [60.0, 40.0, 0.0]);
        let near: Vec<f64> = hadoop(&pools, 100.0).iter().map(|share| share.round()).collect();
        assert_eq!(near, [60.0, 40.0, 0.0]);
    }

    #[test]
    fn slots_go_by_weight_until_a_demand_is_met() {
        let pools = [claim(2.0, 0.0, 100.0), claim(1.0, 0.0, 100.0), claim(1.0, 0.0, 6.0)];
        assert_eq!(exact(&pools, 36.0), [20.0, 10.0, 6.0]);
        assert_eq!(exact(&pools, 1e3), [100.0, 100.0, 6.0]);
        assert_eq!(exact(&pools, 0.0), [0.0; 3]);
    }

    #[test]
    fn minimums_beyond_the_cluster_are_scaled_by_the_paper_and_kept_by_hadoop() {
        let pools = [claim(1.0, 60.0, 1e3), claim(1.0, 80.0, 1e3), claim(5.0, 0.0, 1e3)];
        let mut shares = [0.0; 3];
        max_min(&pools, 70.0, &mut Vec::new(), &mut shares);
        assert_eq!(shares, [30.0, 40.0, 0.0]);
        let kept = hadoop(&pools, 70.0);
        assert_eq!(kept[..2], [60.0, 80.0]);
        assert!(kept[2] < 1e-4);
    }

    #[test]
    fn hadoop_ends_a_little_above_the_exact_ratio_as_its_halving_does() {
        // Doubling from one ends at four, where ten slots are used. After 25 halvings the range is
        // 2^-23 wide, and its upper end is the first multiple of 2^-23 above ten thirds.
        let shares = hadoop(&[claim(1.0, 0.0, 10.0); 3], 10.0);
        assert_eq!(shares, [3.333_333_373_069_763; 3]);
    }

    #[test]
    fn nobody_gets_nothing_and_one_gets_what_it_can_use() {
        assert!(exact(&[], 10.0).is_empty() && hadoop(&[], 10.0).is_empty());
        assert_eq!(exact(&[claim(1e-300, 0.0, 7.0)], 10.0), [7.0]);
        assert_eq!(hadoop(&[claim(f64::MIN_POSITIVE, 0.0, 7.0)], 10.0), [7.0]);
    }

    /// Returns the shares by definition: all shares begin at their minimums, and each crumb of the
    /// remaining slots goes to the claim with the smallest share for its weight.
    fn by_crumbs(claims: &[Claim], slots: f64, crumb: f64) -> Vec<f64> {
        let mut shares: Vec<f64> = claims.iter().map(|claim| claim.owed()).collect();
        let mut left = slots - owed(claims);
        while crumb <= left {
            let hungry = (0..claims.len()).filter(|i| shares[*i] + crumb <= claims[*i].demand);
            let level = |i: &usize| shares[*i] / claims[*i].weight;
            let Some(next) = hungry.min_by(|a, b| level(a).total_cmp(&level(b))) else { break };
            shares[next] += crumb;
            left -= crumb;
        }
        shares
    }

    /// Returns random claims in whole slots, like the claims of pools, and a number of slots;
    /// minimums often exceed demands.
    fn any() -> impl Strategy<Value = (Vec<Claim>, f64)> {
        let claim = (1..80_u32, 0..20_u32, 0..60_u32).prop_map(|(weight, min, demand)| {
            claim(f64::from(weight) / 8.0, min.into(), demand.into())
        });
        (vec(claim, 1..8), (0..200_u32).prop_map(f64::from))
    }

    proptest! {
        #[test]
        fn all_slots_are_given_away_and_nobody_gets_too_much_or_too_little((claims, slots) in any()) {
            let shares = exact(&claims, slots);
            let wanted: f64 = claims.iter().map(|claim| claim.demand).sum();
            let given: f64 = shares.iter().sum();
            prop_assert!((given - wanted.min(slots)).abs() < 1e-9, "{given} of {slots}");
            for (claim, share) in claims.iter().zip(&shares) {
                prop_assert!(*share <= claim.demand);
                prop_assert!(slots < owed(&claims) || claim.owed() <= *share);
            }
        }

        #[test]
        fn a_pool_with_less_for_its_weight_wants_no_more_or_the_other_is_promised_it(
            (claims, slots) in any(),
        ) {
            prop_assume!(owed(&claims) <= slots);
            let shares = exact(&claims, slots);
            let both = || claims.iter().zip(&shares);
            for ((poor, less), (rich, more)) in both().flat_map(|a| both().map(move |b| (a, b))) {
                let is_less = less / poor.weight < more / rich.weight - 1e-9;
                let is_right = *less == poor.demand || *more == rich.owed();
                prop_assert!(!is_less || is_right, "{poor:?} has {less}, {rich:?} has {more}");
            }
        }

        #[test]
        fn it_is_what_crumbs_come_to((claims, slots) in any()) {
            prop_assume!(owed(&claims) <= slots);
            let crumb = 1.0 / 64.0;
            let within = crumb * (1.0 + claims.len() as f64);
            for (share, crumbs) in exact(&claims, slots).iter().zip(by_crumbs(&claims, slots, crumb)) {
                prop_assert!((share - crumbs).abs() <= within, "{share} is not {crumbs}");
            }
        }

        #[test]
        fn hadoop_finds_it_to_the_ten_thousandth_where_minimums_fit((claims, slots) in any()) {
            prop_assume!(owed(&claims) <= slots);
            for (share, found) in exact(&claims, slots).iter().zip(hadoop(&claims, slots)) {
                prop_assert!((share - found).abs() < 1e-4, "{share} is not {found}");
            }
        }
    }
}
