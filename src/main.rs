//! The `mumakil` command, with the policies that Mumakil brings.

use std::process::ExitCode;

use mimalloc::MiMalloc;
use mumakil::scenario::Registry;

#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

fn main() -> ExitCode {
    mumakil::cli::run(Registry::builtin())
}
