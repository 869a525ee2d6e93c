//! The plug point of scheduling policies.

use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;

/// A scheduling policy at work.
pub trait Scheduler: Send {}

/// A scheduling policy that scenarios can name.
pub trait Policy: Scheduler + Sized + 'static {
    /// The name in `scheduler:`.
    const NAME: &'static str;
    /// What it does, in one sentence.
    const ABOUT: &'static str;
    /// Its options in the scenario.
    type Options: DeserializeOwned + Serialize + JsonSchema + Default;

    /// Returns the policy, ready for an empty cluster.
    fn new(options: Self::Options) -> Self;
}
