//! Turns the file of a study into a plan of runs.
//!
//! ```text
//! study.yaml -> spec (axes, compared, sabotage) -> runs: cells and runs, each with its hash
//!                                                           named_files: the files that scenarios name
//!                                                           overloaded: cells that cannot keep up
//! the folder <- manifest: the runs of each cell; resolved: the whole study; brought_files: copies
//! ```

pub(crate) mod axes;
pub(crate) mod brought_files;
pub(crate) mod compared;
pub(crate) mod drawn;
pub(crate) mod expressions;
pub(crate) mod manifest;
pub(crate) mod named_files;
pub(crate) mod needed_folder;
pub(crate) mod overloaded;
pub(crate) mod resolved;
pub(crate) mod runs;
pub(crate) mod sabotage;
pub(crate) mod spec;
