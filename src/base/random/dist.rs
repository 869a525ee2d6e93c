//! Distributions of a quantity: a task's time, a link's latency, the noise of a model.
//!
//! In a scenario a distribution is a plain value (`20s`: always the same), or a name with its
//! options (`{log_normal: {mean: 20s, cv: 0.2}}`). Counts are drawn like times, and rounded. Means
//! are means of the drawn values, not parameters of a logarithm.

use rand::{Rng, RngExt};
use rand_distr::{Distribution, Exp1, StandardNormal};
use schemars::{JsonSchema, json_schema};
use serde::de::value::{F64Deserializer, StrDeserializer, U64Deserializer};
use serde::{Deserialize, Serialize, Serializer, de};
use statrs::function::gamma::gamma;

use super::pick;
use crate::forms;
use crate::units::{Factor, Fraction, Quantity};

/// A distribution of a quantity.
#[derive(Clone, Debug, PartialEq)]
pub enum Dist<T> {
    /// Always the same.
    Constant(T),
    /// Drawn anew each time.
    Drawn(Shape<T>),
}

/// The form of a distribution.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Shape<T> {
    /// Any value between two bounds, equally likely.
    Uniform {
        /// The smallest value.
        from: T,
        /// The largest value.
        to: T,
    },
    /// Many small values, few large ones, without memory.
    Exponential {
        /// The mean.
        mean: T,
    },
    /// The logarithm is normal: what task times usually look like.
    LogNormal {
        /// The mean.
        mean: T,
        /// The coefficient of variation: standard deviation over mean.
        cv: Factor,
    },
    /// Times until something breaks: a `shape` below 1 stands for early failures, above 1 for wear;
    /// with 1 the distribution is exponential.
    Weibull {
        /// The mean.
        mean: T,
        /// The shape.
        shape: Factor,
    },
    /// A heavy tail: a few values are very large.
    Pareto {
        /// The smallest value.
        min: T,
        /// The tail index: the smaller it is, the heavier is the tail. Only above 1 is there a
        /// mean.
        shape: Factor,
    },
    /// Drawn from a measured distribution function, interpolated linearly between its points.
    Empirical {
        /// Values in ascending order, each with the share of all values that are not above it; the
        /// last share is 1.
        cdf: Vec<(T, Fraction)>,
    },
    /// One of several values, each with its weight: `[[1, 3], [2, 1]]`.
    Choice(Vec<(T, Factor)>),
}

impl<T: Quantity> Dist<T> {
    /// Draws one value.
    pub fn sample<R: Rng>(&self, rng: &mut R) -> T {
        match self {
            Self::Constant(value) => *value,
            Self::Drawn(shape) => T::from_f64(shape.sample(rng)),
        }
    }

    /// Returns the mean of the drawn values, in the base unit; infinite for the heaviest tails.
    pub fn mean(&self) -> f64 {
        match self {
            Self::Constant(value) => value.as_f64(),
            Self::Drawn(shape) => shape.mean(),
        }
    }

    /// Returns whether every draw is the same, so that no stream is needed.
    pub fn is_constant(&self) -> bool {
        matches!(self, Self::Constant(_))
    }
}

impl<T: Quantity> Shape<T> {
    fn sample<R: Rng>(&self, rng: &mut R) -> f64 {
        match self {
            Self::Uniform { from, to } => {
                let (from, to) = (from.as_f64(), to.as_f64());
                // Counts are rounded afterwards: half a step at both ends makes the first and the
                // last count as likely as the others.
                from + (to - from + T::STEP) * rng.random::<f64>() - T::STEP / 2.0
            }
            Self::Exponential { mean } => {
                let unit: f64 = Exp1.sample(rng);
                mean.as_f64() * unit
            }
            Self::LogNormal { mean, cv } => {
                // σ² = ln(1 + cv²); subtracting σ²/2 from the logarithm keeps the mean.
                let sigma2 = (cv.get() * cv.get()).ln_1p();
                let normal: f64 = StandardNormal.sample(rng);
                mean.as_f64() * (sigma2.sqrt() * normal - sigma2 / 2.0).exp()
            }
            Self::Weibull { mean, shape } => {
                let unit: f64 = Exp1.sample(rng);
                let power = 1.0 / shape.get();
                // Γ(1 + 1/shape) is the mean of a Weibull distribution of scale 1.
                mean.as_f64() * unit.powf(power) / gamma(1.0 + power)
            }
            Self::Pareto { min, shape } => {
                let unit: f64 = Exp1.sample(rng);
                // Inversion: with an exponential draw for −ln U this is min · U^(−1/shape).
                min.as_f64() * (unit / shape.get()).exp()
            }
            Self::Empirical { cdf } => quantile(cdf, rng.random()),
            Self::Choice(values) => {
                values[pick(values.iter().map(|(_, weight)| weight.get()), rng)].0.as_f64()
            }
        }
    }

    fn mean(&self) -> f64 {
        match self {
            Self::Uniform { from, to } => (from.as_f64() + to.as_f64()) / 2.0,
            Self::Exponential { mean }
            | Self::LogNormal { mean, .. }
            | Self::Weibull { mean, .. } => mean.as_f64(),
            Self::Pareto { min, shape } if 1.0 < shape.get() => {
                min.as_f64() * shape.get() / (shape.get() - 1.0)
            }
            Self::Pareto { .. } => f64::INFINITY,
            Self::Empirical { cdf } => {
                let (first, share) = cdf[0];
                // All draws below the first share are the first value.
                let below = first.as_f64() * share.get();
                let pieces = cdf.windows(2).map(|pair| {
                    let middle = (pair[0].0.as_f64() + pair[1].0.as_f64()) / 2.0;
                    middle * (pair[1].1.get() - pair[0].1.get())
                });
                below + pieces.sum::<f64>()
            }
            Self::Choice(values) => {
                let weights: f64 = values.iter().map(|(_, weight)| weight.get()).sum();
                values.iter().map(|(value, weight)| value.as_f64() * weight.get()).sum::<f64>()
                    / weights
            }
        }
    }

    /// Returns what is wrong with the options; `None` if they are right.
    fn fault(&self) -> Option<&'static str> {
        match self {
            Self::Uniform { from, to } if from.as_f64() > to.as_f64() => {
                Some("`from` is above `to`")
            }
            // Γ(1 + 1/shape) grows beyond all floats: at 0.1 it is 10!, at 0.005 it is infinite.
            Self::Weibull { shape, .. } if shape.get() < 0.1 => {
                Some("the `shape` of a Weibull distribution is 0.1 or more")
            }
            Self::Pareto { shape, .. } if shape.get() == 0.0 => {
                Some("the `shape` of a Pareto distribution is above zero")
            }
            Self::Empirical { cdf } => {
                let rises = cdf
                    .windows(2)
                    .all(|pair| pair[0].0.as_f64() <= pair[1].0.as_f64() && pair[0].1 <= pair[1].1);
                let ends = cdf.last().is_some_and(|(_, share)| share.get() == 1.0);
                (!rises || !ends).then_some("a `cdf` rises in both columns and ends at the share 1")
            }
            Self::Choice(values) if values.iter().all(|(_, weight)| weight.get() == 0.0) => {
                Some("a `choice` has a value whose weight is above zero")
            }
            _ => None,
        }
    }
}

/// Returns the value below which a share `u` of all values lies, interpolated linearly between the
/// points.
///
/// Returns the first value if `u` is below the first point's share: no draw is below the measured
/// minimum.
fn quantile<T: Quantity>(cdf: &[(T, Fraction)], u: f64) -> f64 {
    let above = cdf.partition_point(|(_, share)| share.get() < u);
    // The last share is 1 and `u` below it; the bound only guards against rounding.
    let (value, share) = cdf[above.min(cdf.len() - 1)];
    let Some((below, from)) = above.checked_sub(1).map(|index| cdf[index]) else {
        return value.as_f64();
    };
    let along = (u - from.get()) / (share.get() - from.get());
    below.as_f64() + along * (value.as_f64() - below.as_f64())
}

impl<T: Default> Default for Dist<T> {
    fn default() -> Self {
        Self::Constant(T::default())
    }
}

impl<T> From<T> for Dist<T> {
    fn from(value: T) -> Self {
        Self::Constant(value)
    }
}

impl<T: Serialize> Serialize for Dist<T> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Constant(value) => value.serialize(to),
            Self::Drawn(shape) => serde_yaml::with::singleton_map::serialize(shape, to),
        }
    }
}

const EXPECTED: &str = "a value, or a distribution such as {log_normal: {mean: …, cv: 0.2}}";

forms! {
    Dist<T>, of: [T: Quantity + Deserialize<'de>], expected: EXPECTED,
    text: |text| T::deserialize(StrDeserializer::new(text)).map(Dist::Constant),
    whole: |number| T::deserialize(U64Deserializer::new(number)).map(Dist::Constant),
    number: |number| T::deserialize(F64Deserializer::new(number)).map(Dist::Constant),
    map: |map| {
        let shape = Shape::deserialize(map)?;
        match shape.fault() {
            Some(fault) => Err(de::Error::custom(fault)),
            None => Ok(Dist::Drawn(shape)),
        }
    },
    schema: format!("DistributionOf{}", T::schema_name()), of: [T: JsonSchema], |schemas| {
        let value = schemas.subschema_for::<T>();
        let shape = schemas.subschema_for::<Shape<T>>();
        json_schema!({ "title": EXPECTED, "anyOf": [value, shape] })
    },
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Purpose, stream};
    use crate::units::{Count, SimSpan};

    fn dist(yaml: &str) -> Dist<SimSpan> {
        serde_yaml::from_str(yaml).unwrap()
    }

    fn mean_and_cv(yaml: &str) -> (f64, f64) {
        let (dist, mut rng) = (dist(yaml), stream(1, Purpose::MapTime, 0));
        let draws: Vec<f64> = (0..100_000).map(|_| dist.sample(&mut rng).as_secs_f64()).collect();
        let mean = draws.iter().sum::<f64>() / draws.len() as f64;
        let variance = draws.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / draws.len() as f64;
        (mean, variance.sqrt() / mean)
    }

    #[test]
    fn draws_have_the_mean_and_variation_that_were_asked_for() {
        let close = |yaml: &str, mean: f64, cv: f64| {
            assert!((dist(yaml).mean() / 1e6 / mean - 1.0).abs() < 1e-9, "{yaml}");
            let drawn = mean_and_cv(yaml);
            assert!((drawn.0 / mean - 1.0).abs() < 0.02, "{yaml}: mean {}", drawn.0);
            assert!((drawn.1 - cv).abs() < 0.02, "{yaml}: cv {}", drawn.1);
        };
        close("20s", 20.0, 0.0);
        close("{log_normal: {mean: 20s, cv: 0.5}}", 20.0, 0.5);
        close("{exponential: {mean: 20s}}", 20.0, 1.0);
        // Weibull with shape k: cv² = Γ(1+2/k)/Γ(1+1/k)² − 1, and Γ(2)/Γ(1.5)² = 4/π.
        close("{weibull: {mean: 20s, shape: 2}}", 20.0, (4.0 / std::f64::consts::PI - 1.0).sqrt());
        close("{uniform: {from: 10s, to: 30s}}", 20.0, 10.0 / 3f64.sqrt() / 20.0);
        // Pareto with tail index a: mean a·min/(a−1), cv 1/√(a(a−2)).
        close("{pareto: {min: 10s, shape: 5}}", 12.5, 1.0 / 15f64.sqrt());
        close("{empirical: {cdf: [[0s, 0], [40s, 1]]}}", 20.0, 1.0 / 3f64.sqrt());
        close("{choice: [[10s, 3], [50s, 1]]}", 20.0, 3f64.sqrt() / 2.0);
    }

    #[test]
    fn an_empirical_distribution_keeps_its_steps() {
        let cdf = [(5.0, 0.25), (5.0, 0.5), (9.0, 1.0)]
            .map(|(value, share)| (SimSpan::ceil_from_secs(value), Fraction::of(share)));
        let secs = |u| quantile(&cdf, u) / 1e6;
        assert_eq!((secs(0.0), secs(0.4), secs(0.75), secs(1.0)), (5.0, 5.0, 7.0, 9.0));
    }

    #[test]
    fn every_count_of_a_range_is_equally_likely() {
        let dist: Dist<Count<0, 9>> = serde_yaml::from_str("{uniform: {from: 0, to: 3}}").unwrap();
        let mut rng = stream(1, Purpose::Workload, 0);
        let mut drawn = [0; 10];
        for _ in 0..10_000 {
            drawn[dist.sample(&mut rng).get() as usize] += 1;
        }
        assert!(drawn[..4].iter().all(|times| (2_350..2_650).contains(times)), "{drawn:?}");
        assert_eq!(drawn[4..], [0; 6]);
    }

    #[test]
    fn a_distribution_reads_back_as_written() {
        for yaml in ["20s\n", "log_normal:\n  mean: 20s\n  cv: 0.2\n"] {
            assert_eq!(serde_yaml::to_string(&dist(yaml)).unwrap(), yaml);
        }
    }

    #[test]
    fn impossible_options_are_refused() {
        for yaml in [
            "{uniform: {from: 2s, to: 1s}}",
            "{pareto: {min: 1s, shape: 0}}",
            "{weibull: {mean: 1s, shape: 0}}",
            "{empirical: {cdf: []}}",
            "{empirical: {cdf: [[1s, 0.5]]}}",
            "{choice: []}",
            "{choice: [[1s, 0]]}",
            "{gamma: {mean: 1s}}",
            "{exponential: {mean: 1s}, uniform: {from: 1s, to: 2s}}",
            "{exponential: {mean: 1s, cv: 2}}",
            "[1s]",
        ] {
            assert!(serde_yaml::from_str::<Dist<SimSpan>>(yaml).is_err(), "{yaml}");
        }
    }

    #[test]
    fn the_first_draws_of_every_shape_never_change() {
        let draws: Vec<(&str, Vec<u64>)> = [
            "{uniform: {from: 10s, to: 30s}}",
            "{exponential: {mean: 20s}}",
            "{log_normal: {mean: 20s, cv: 0.5}}",
            "{pareto: {min: 10s, shape: 3}}",
            "{empirical: {cdf: [[1s, 0], [20s, 0.5], [60s, 1]]}}",
        ]
        .map(|yaml| {
            let mut rng = stream(42, Purpose::MapTime, 7);
            let dist = dist(yaml);
            (yaml, (0..4).map(|_| dist.sample(&mut rng).as_micros()).collect())
        })
        .to_vec();
        insta::assert_debug_snapshot!(draws);
    }
}
