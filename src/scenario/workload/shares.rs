//! `reduce_shares`: how unevenly the reduces of a job share its bytes.
//!
//! Keys are assigned to reduces by their hash, and some keys have far more records than others. The
//! bytes that a reduce fetches, processes at its rate and writes are proportional to its share.

use std::sync::Arc;

use rand::{Rng, RngExt};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use mumakil_base::random::ChaCha8Rng;
use mumakil_base::units::{Bytes, Factor};
use mumakil_core::mapred::TaskBytes;

/// How the reduces of a job share what all of them fetch and write.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ReduceShares {
    /// In proportion to these numbers, one for each reduce.
    List(Vec<Factor>),
    /// By Zipf's law: reduce *i*, counted from one, in proportion to `1 / i` to this power.
    Zipf(Factor),
    /// In proportion to numbers drawn for each job from a Pareto distribution with this exponent:
    /// at 2 the largest of a hundred is about nine times the mean.
    PowerLaw(Factor),
}

impl ReduceShares {
    /// Returns a problem with the shares of a job with `reduces` reduces, if there is one.
    pub(super) fn fault(&self, reduces: u32) -> Option<String> {
        match self {
            Self::List(shares) if shares.len() != reduces as usize => {
                Some(format!("there are {} shares for {reduces} reduces", shares.len()))
            }
            Self::List(shares) if shares.iter().all(|share| share.get() == 0.0) => {
                Some("at least one share must be above 0".to_owned())
            }
            Self::PowerLaw(power) if power.get() == 0.0 => {
                Some("the exponent of a power law must be above 0".to_owned())
            }
            _ => None,
        }
    }

    /// Returns each reduce's share of the bytes. Expects that `fault` finds no problem.
    ///
    /// Shares are rounded down, as for reduces that share evenly.
    pub(super) fn split(&self, bytes: Bytes, reduces: u32, mut rng: ChaCha8Rng) -> TaskBytes {
        let weights = self.weights(reduces, &mut rng);
        let all: f64 = weights.iter().sum();
        let parts = weights.iter().map(|weight| (bytes.get() as f64 * (weight / all)) as u64);
        TaskBytes::Each(parts.map(Bytes::new).collect::<Arc<[_]>>())
    }

    fn weights(&self, reduces: u32, rng: &mut impl Rng) -> Vec<f64> {
        match self {
            Self::List(shares) => shares.iter().map(|share| share.get()).collect(),
            Self::Zipf(power) => (1..=reduces).map(|i| f64::from(i).powf(-power.get())).collect(),
            Self::PowerLaw(exponent) => {
                // `random` is in [0, 1), so `1 - random` is above 0, and the heaviest weight is
                // finite.
                (0..reduces)
                    .map(|_| (1.0 - rng.random::<f64>()).powf(-1.0 / exponent.get()))
                    .collect()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mumakil_base::random::{Purpose, stream};

    fn split(shares: &ReduceShares, bytes: u64, reduces: u32) -> Vec<u64> {
        let rng = stream(1, Purpose::ReduceShares, 0);
        let split = shares.split(Bytes::new(bytes), reduces, rng);
        (0..reduces).map(|reduce| split.of(reduce).get()).collect()
    }

    #[test]
    fn a_list_is_read_in_proportion() {
        let list = ReduceShares::List([6.0, 3.0, 1.0].map(Factor::of).into());
        assert_eq!(split(&list, 1_000, 3), [600, 300, 100]);
    }

    #[test]
    fn zipf_gives_reduce_two_half_of_what_reduce_one_has() {
        // 1 + 1/2 + 1/3 + 1/6 would be 2; with four reduces it is 25/12.
        let zipf = ReduceShares::Zipf(Factor::ONE);
        assert_eq!(split(&zipf, 25_000, 4), [12_000, 6_000, 4_000, 3_000]);
        assert_eq!(split(&ReduceShares::Zipf(Factor::of(0.0)), 100, 4), [25; 4]);
    }

    #[test]
    fn a_power_law_has_the_tail_of_its_exponent() {
        let law = ReduceShares::PowerLaw(Factor::of(2.0));
        let mut rng = stream(1, Purpose::ReduceShares, 0);
        let weights = law.weights(100_000, &mut rng);
        for bound in [2.0_f64, 5.0, 20.0] {
            let above = weights.iter().filter(|weight| bound < **weight).count() as f64;
            let expected = 1e5 * bound.powi(-2);
            // Four standard deviations of a count of rare events.
            let apart = (above - expected).abs();
            assert!(apart < 4.0 * expected.sqrt(), "{above} above {bound}, not {expected}");
        }
    }

    #[test]
    fn shares_that_cannot_be_are_told() {
        let list =
            |shares: &[f64]| ReduceShares::List(shares.iter().copied().map(Factor::of).collect());
        assert_eq!(list(&[1.0]).fault(2).unwrap(), "there are 1 shares for 2 reduces");
        assert!(list(&[0.0, 0.0]).fault(2).is_some());
        assert!(list(&[0.0, 1.0]).fault(2).is_none());
        assert!(ReduceShares::PowerLaw(Factor::of(0.0)).fault(2).is_some());
        assert!(ReduceShares::Zipf(Factor::of(0.0)).fault(2).is_none());
    }
}
