//! The ground of Mumakil: what has no idea of clusters, jobs or Hadoop.
//!
//! Instants and sizes as people write them, the random stream of each purpose, statistics and the closed
//! forms that runs are held against, what the files of a run are called, and all that changes the disk.
//! Nothing of Mumakil lies below this crate; all other crates stand on it.

pub mod dense;
pub mod disk;
pub mod files;
pub mod nearest;
pub mod random;
pub mod statistics;
pub mod theory;
pub mod units;
