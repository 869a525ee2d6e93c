//! `--drive`: the carrier of a run's messages.

use clap::builder::{PossibleValuesParser, TypedValueParser};

use mumakil_runtime::Transport;

#[derive(Clone, Copy, Debug, Default, clap::Args)]
pub(super) struct DriveOption {
    /// The carrier of messages on the virtual clock: `actors`, or `bare`, which calls their code in a
    /// loop, takes less time and gives the same results [default: actors for one run, bare for the
    /// runs of a study]
    #[arg(long = "drive", value_name = "DRIVE", value_parser = transports())]
    pub(super) transport: Option<Transport>,
}

fn transports() -> impl TypedValueParser<Value = Transport> {
    PossibleValuesParser::new(["actors", "bare"]).map(|name| match &*name {
        "bare" => Transport::Bare,
        // The parser accepts only the names `bare` and `actors`.
        _ => Transport::Actors,
    })
}
