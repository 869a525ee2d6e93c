//! Studies: a scenario run many times, with other values and other seeds.
//!
//! A file becomes a [`Study`] (`spec`, `axes`), a study becomes a [`Plan`] of runs, each known by a
//! hash of all that decides its results (`plan`). Workers run what is missing (`work`) and leave
//! each run whole or not at all in a folder of its own (`store`).

mod axes;
mod plan;
mod spec;
mod store;
mod work;

pub use plan::{Cell, Plan, PlanError, PlannedRun};
pub use spec::Study;
pub use store::Store;
pub use work::{FailedRun, Shard, Step};
