//! The file of a study becomes the runs that it wants.
//!
//! `spec` reads the file, with what varies (`axes`), what is compared (`compared`) and what is searched for
//! (`search`). `runs` makes the runs of it, and finds the files that they name (`named`). The study's folder
//! says what it is by `sheet` and `resolved`, and has the files (`bring`).

pub(crate) mod axes;
pub(crate) mod brought_files;
pub(crate) mod compared;
pub(crate) mod manifest;
pub(crate) mod named_files;
pub(crate) mod resolved;
pub(crate) mod runs;
pub(crate) mod search;
pub(crate) mod spec;
