//! `--drive`: what carries the messages of a run.

use clap::ValueEnum;
use clap::builder::PossibleValue;

use crate::runtime::Transport;

#[derive(Clone, Copy, Debug, Default, clap::Args)]
pub(super) struct Drive {
    /// What carries messages on the virtual clock: `bare`, without actors, takes less time and gives
    /// the same results
    #[arg(long = "drive", value_name = "DRIVE", default_value = "actors")]
    pub(super) transport: Transport,
}

impl ValueEnum for Transport {
    fn value_variants<'a>() -> &'a [Self] {
        &[Self::Actors, Self::Bare]
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(PossibleValue::new(match self {
            Self::Actors => "actors",
            Self::Bare => "bare",
        }))
    }
}
