//! More weight for new jobs, so that short jobs end soon and long jobs do not starve.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use mumakil_base::units::{Factor, SimSpan, SimTime};

/// A larger weight for each job while it is new: Hadoop's `NewJobWeightBooster`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct NewJobBoost {
    /// The factor by which the weight of a new job is multiplied.
    pub factor: Factor,
    /// How long a job is new, from its submission on.
    pub duration: SimSpan,
}

impl Default for NewJobBoost {
    fn default() -> Self {
        Self {
            // `mapred.newjobweightbooster.factor` is 3.
            factor: Factor::of(3.0),
            // `mapred.newjobweightbooster.duration` is 300,000 ms.
            duration: SimSpan::from_secs(5 * 60),
        }
    }
}

impl NewJobBoost {
    /// Returns the instant from which a job is no longer new.
    pub fn end(&self, submitted: SimTime) -> SimTime {
        submitted + self.duration
    }

    /// Returns the factor of a job's weight; 1 if there is no boost or the job is no longer new.
    pub fn factor_of(boost: Option<&Self>, submitted: SimTime, now: SimTime) -> f64 {
        let boost = boost.filter(|boost| now < boost.end(submitted));
        boost.map_or(1.0, |boost| boost.factor.get())
    }
}
