//! `external`: a policy that is another process, in any language.
//!
//! It is spoken to in lines of JSON ([`protocol`]) over its standard input and output (`process`).
//! The JobTracker asks it as it asks any policy; `policy` keeps what it was told last, so that it is
//! told changes only, and plays its answers. The guide's chapter `external` has the protocol message by
//! message.

mod options;
mod policy;
mod process;
pub mod protocol;
pub mod template;
mod words;

pub use options::{ExternalOptions, find, title};
pub use policy::External;
