//! How far a study is, whoever works on it and wherever.
//!
//! Each process says what it does (`life`) in a file of its own (`at_work`), with its `pace`; `status` puts
//! that together with the runs that are there.

pub(crate) mod life_sign;
pub(crate) mod pace;
pub(crate) mod sign_files;
pub(crate) mod status;
