//! A run that people watch while it goes on, and meddle with: `mumakil live`.
//!
//! The run is one like any other, on the virtual clock; a [`gate`](gate::Gate) holds it up between two
//! instants. A [`picture`](picture::LivePicture) of it is made of its facts, a [`session`](session::Session)
//! is what people may want of it, and a [`server`] lets them say so, in a browser on the same machine. An
//! `outlook` shows the two futures of a deed.

pub mod gate;
mod holdings;
pub mod picture;
pub mod server;
pub mod session;
pub mod user_action;
mod what_if;
