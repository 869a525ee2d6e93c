//! Files that people write: read as a tree, and what is wrong in them said so that it can be mended.
//!
//! A text becomes a tree of values (`tree`), a tree becomes a typed value with all mistakes at once
//! (`read`), and a mistake's path becomes a place in the text (`locate`, `finding`). What the keys
//! mean is not known here.

mod finding;
mod locate;
mod path;
mod read;
mod tree;

pub use finding::{Excerpt, Finding, Spot};

pub(crate) use finding::{clip, print};
pub(crate) use locate::{PointAt, locate};
pub(crate) use path::{Path, Step};
pub(crate) use read::{MOST, Problem, read};
pub(crate) use tree::read as tree;
