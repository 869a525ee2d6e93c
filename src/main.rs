//! The `mumakil` command, with the bundled policies.

use std::process::ExitCode;

use mimalloc::MiMalloc;

// A run allocates millions of small messages, which mimalloc serves faster than the system
// allocator.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

fn main() -> ExitCode {
    mumakil::cli::run(mumakil::registry())
}
