//! `external`: a policy that is another process, in any language.
//!
//! ```text
//! JobTracker ─offer─▶ policy ─▶ process   {"offer": {"number": 7, "tracker": 3, "free": [2, 0], …}}
//! JobTracker ◀launch─ policy ◀─ process   {"answer": {"number": 7, "do": [{"map": {"job": 1}}]}}
//! ```
//! The lines are JSON ([`protocol`]), on the standard input and output of the process. The JobTracker
//! asks this policy as it asks any other. `policy` keeps what it has told the process, so that it tells
//! changes only, and carries out the answers. The guide's chapter `external` has the protocol message
//! by message.

mod options;
mod policy;
mod process;
pub mod protocol;
pub mod template;
mod words;

pub use options::{ExternalOptions, find, title};
pub use policy::External;
