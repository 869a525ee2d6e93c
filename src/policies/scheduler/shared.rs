//! The code that policies share. Each policy owns its own instances of the types that it uses.
//!
//! ```text
//!                       fifo  naive  fair  fair-deficit  modified-fair  capacity  hfsp  rank
//! delay                  ×     ×      ×                        ×           ×       ×     ×
//! load                   ×            ×         ×              ×
//! reduces                ×     ×      ×         ×              ×           ×             ×
//! pools, job_queue, share             ×         ×              ×
//! launches, for kills                 ×                                    ×
//! line, taking, suspensions                                                        ×     ×
//! ```

pub mod allocations;
pub mod coupling;
pub mod delay;
pub mod job_queue;
pub mod launches;
pub mod line;
pub mod load;
pub mod long_tasks;
pub mod measure;
pub mod names;
pub mod new_job_boost;
pub mod places;
pub mod pool_tree;
pub mod pools;
pub mod reduces;
pub mod share;
pub mod srt;
pub mod suspensions;
pub mod taking;
pub mod updates;
