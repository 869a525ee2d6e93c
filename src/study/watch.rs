//! The progress of a study, over all its processes and machines.
//! ```text
//! process on node a -> at-work/a-4711-….json   {done: 40, running: [...], runs_a_minute: 12}
//! process on node b -> at-work/b-1234-….json   (sign_files; the content is a life_sign, with its pace)
//! status  = these signs + the runs in the store + the notes of failed runs
//! ```

pub(crate) mod life_sign;
pub(crate) mod pace;
pub(crate) mod sign_files;
pub(crate) mod status;
