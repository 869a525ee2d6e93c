//! The runs of a study are done.
//!
//! Workers (`work`) do the missing runs and keep them in the `store`; workers beside others take runs that
//! nobody else has (`shared_runs`). Failures are noted (`failed`), and so are warnings (`doubts`). A few
//! runs tell how long all will take (`forecast`).

pub mod failed;
pub(crate) mod forecast;
pub(crate) mod run_warnings;
pub(crate) mod shared_runs;
pub(crate) mod store;
pub(crate) mod work;
