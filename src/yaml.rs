//! Files that people write: read as a tree, laid over each other, and what is wrong in them said so
//! that it can be mended.
//!
//! A text becomes a tree of values (`tree`). Trees are laid over each other (`layer`) by what may
//! stand in them (`shape`); a `Document` is a stack of them, and knows where each value was written. A
//! tree becomes a typed value with all mistakes at once (`node`, `read`), and a mistake's path becomes a
//! place in the text (`locate`, `finding`). What the keys mean is not known here.

mod document;
mod finding;
mod layer;
mod locate;
mod node;
mod path;
mod read;
mod shape;
#[cfg(test)]
pub(crate) mod testing;
mod tree;

pub use document::Displaced;
pub use finding::{Excerpt, Finding, Spot};
pub use path::Path;
pub use read::Problem;

pub(crate) use document::{Document, Origin};
pub(crate) use finding::print;
pub(crate) use layer::lay;
pub(crate) use node::write;
pub(crate) use path::Step;
pub(crate) use read::{MOST, read, read_whole};
pub(crate) use shape::kept::kept;
pub(crate) use shape::{LateShape, Shape};
pub(crate) use tree::read as tree;
