//! The ground of Mumakil: what has no idea of clusters, jobs or Hadoop.
//!
//! ```text
//! units        3s, 128MiB, 5 %: quantities with their unit, as people write them
//! random       the random stream of each purpose
//! statistics   means, intervals, tests
//! theory       closed forms and fluid models that runs are held against
//! files, disk  the names of a run's files, and all that changes the disk
//! ```
//!
//! Nothing of Mumakil lies below this crate; all other crates stand on it.

pub mod dense;
pub mod disk;
pub mod files;
pub mod nearest;
pub mod random;
pub mod statistics;
pub mod theory;
pub mod units;
