//! Files that people write: read as a tree, laid over each other, and what is wrong in them said so
//! that it can be mended.
//!
//! A text becomes a tree of values (`tree`). Trees are laid over each other (`layer`) by what may
//! stand in them (`shape`); a `Document` is a stack of them, and knows where each value was written. A
//! tree becomes a typed value with all mistakes at once (`node`, `read`), and a mistake's path becomes a
//! place in the text (`locate`, `finding`). The meaning of keys is not known here.
//!
//! The crate stands on `mumakil-base` alone. `mumakil-scenario` says what the fields of a scenario are,
//! `mumakil-study` those of a study; both get their mistakes told from here.

mod document;
mod finding;
mod layer;
mod locate;
mod node;
mod only_if;
mod path;
mod read;
mod shape;
#[doc(hidden)]
pub mod testing;
mod tree;

pub use document::{DisplacedSettings, Document, Origin};
pub use finding::{Excerpt, Finding, FindingSpot, print};
pub use path::{Path, PathStep};
pub use read::{MOST, YamlProblem, read, read_whole};

pub use layer::lay;
pub use node::{fields, write};
pub use only_if::{ConditionalSetting, each, is_nothing, only};
pub use shape::{LateShape, TreeShape, kept::kept};
pub use tree::read as tree;
