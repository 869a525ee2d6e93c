//! The `mumakil` command, with the bundled policies.

use std::process::ExitCode;

use mimalloc::MiMalloc;
use mumakil::scenario::Registry;

// A run allocates millions of small messages, which mimalloc serves faster than the system
// allocator.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

fn main() -> ExitCode {
    mumakil::cli::run(Registry::builtin())
}
