//! A run that users watch while it goes on, pause and change: `mumakil live`.
//!
//! The run is like any other, on the virtual clock.
//! ```text
//! the run's thread                    the server's thread             browser
//!   message  ->  gate: go or wait?  <-  session  <-  POST /command  <-  pause, step, an action
//!   events   ->  picture           ->   session  ->  GET /pictures  ->  slots, jobs, decisions
//! ```
//! The [`gate`](gate::Gate) pauses the run between two instants. The
//! [`picture`](picture::LivePicture) is made from the run's events, and `history` has the time before it. A [`session`](session::Session)
//! repeats the run with each [`user_action`], and the [`server`] serves the page to the browsers among
//! its `connections`.

mod command;
mod connections;
pub mod gate;
mod history;
pub mod picture;
pub mod server;
pub mod session;
#[cfg(test)]
#[path = "../../tests/it/registry.rs"]
mod testing;
pub mod user_action;

use mumakil_cli::{Chapter, Command, CommandGroup, Satellite};

/// Returns what this crate adds to the program.
pub fn satellite() -> Satellite {
    let live =
        Command::of("live", CommandGroup::RunAndLook, command::LiveArguments::run).starts_runs();
    Satellite {
        commands: vec![live.scenarios("scenario")],
        chapters: vec![Chapter::new("watching", include_str!("watching.md"))],
        ..Satellite::default()
    }
}
