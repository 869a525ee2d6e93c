//! The file of a study becomes the runs that it wants.
//!
//! ```text
//! study.yaml -> spec (axes, compared, search) -> runs: cells and runs, each with its hash
//!                                                  named_files: those that the scenarios name
//! the folder <- manifest: which run is which; resolved: the whole study; brought_files: copies
//! ```

pub(crate) mod axes;
pub(crate) mod brought_files;
pub(crate) mod compared;
pub(crate) mod manifest;
pub(crate) mod named_files;
pub(crate) mod resolved;
pub(crate) mod runs;
pub(crate) mod search;
pub(crate) mod spec;
