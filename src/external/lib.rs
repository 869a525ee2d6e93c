//! `external`: a policy that runs in another process and is written in any language.
//!
//! Mumakil exchanges lines of JSON ([`protocol`]) with the process over its standard input and
//! output (`process`, `dialogue`). The JobTracker asks this policy like any other. The adapter (`policy`)
//! remembers what it has sent, so that it sends only changes, and carries out the answers. The
//! guide's chapter `external` shows the protocol message by message.

mod dialogue;
mod groups;
mod load;
mod options;
mod policy;
mod process;
pub mod protocol;
pub mod sandbox;
pub mod template;
mod words;

pub use groups::end_all;
pub use options::{ExternalOptions, find};
pub use policy::External;
pub use sandbox::SandboxOptions;
