//! A run that people watch while it goes on, and meddle with: `mumakil live`.
//!
//! The run is one like any other, on the virtual clock.
//! ```text
//! the run's thread                    the server's thread             browser
//!   message  ->  gate: go or wait?  <-  session  <-  POST /command  <-  pause, step, a deed
//!   events   ->  picture           ->   session  ->  GET /pictures  ->  slots, jobs, decisions
//! ```
//! The [`gate`](gate::Gate) holds the run up between two instants; the
//! [`picture`](picture::LivePicture) is made of its facts. A [`session`](session::Session) repeats
//! the run with each [`user_action`] in it, the [`server`] serves the page, and a `what_if` shows the
//! two futures of a deed.

pub mod gate;
mod holdings;
pub mod picture;
pub mod server;
pub mod session;
pub mod user_action;
mod what_if;
