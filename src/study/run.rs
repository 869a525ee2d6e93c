//! The runs of a study are done.
//!
//! Workers (`work`) do what is missing and keep it in the `store`; those that work beside others take what
//! nobody else has (`shared_runs`). What fails is noted (`failed`), and what a run warns of (`doubts`). A few
//! runs tell what all will take (`forecast`).

pub(crate) mod doubts;
pub mod failed;
pub(crate) mod forecast;
pub(crate) mod shared_runs;
pub(crate) mod store;
pub(crate) mod work;
