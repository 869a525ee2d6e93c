//! Files that people write: they are read as trees and laid over each other, and mistakes in them
//! become messages that help to correct them.
//!
//! ```text
//! tree              a text becomes a tree of values
//! shape, layer      trees are laid over each other, as the shape of their values allows
//! document          a stack of layers, which knows where each value was written
//! node, read        a tree becomes a typed value, with all mistakes at once
//! locate, finding   the path of a mistake becomes a place in the text
//! ```
//!
//! This crate does not know the meaning of keys.
//!
//! The crate depends on `mumakil-base` alone. `mumakil-core` reads options of policies with it, `mumakil-scenario` defines the fields of a scenario,
//! `mumakil-study` those of a study; both get their messages from here.

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
pub use path::{Path, PathStep, PointAt};
pub use read::{MOST, YamlProblem, read, read_whole};

pub use layer::lay;
pub use node::{fields, write};
pub use only_if::{ConditionalSetting, each, is_nothing, only};
pub use shape::{LateShape, TreeShape, kept::kept};
pub use tree::read as tree;
