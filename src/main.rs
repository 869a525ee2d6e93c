//! The `mumakil` command, with the policies that Mumakil brings.

use std::process::ExitCode;

use mumakil::scenario::Registry;

fn main() -> ExitCode {
    mumakil::cli::run(Registry::builtin())
}
