//! The code that policies share. Each policy owns its own instances of the types that it uses.
//!
//! ```text
//!                      fifo  naive  fair  fair-deficit  modified-fair  capacity  hfsp  rank
//! delay, long_tasks     ×      ×     ×                        ×           ×       ×     ×
//! reduces, srt          ×      ×     ×         ×              ×           ×             ×
//! load                  ×            ×         ×              ×
//! pools, pool_tree                   ×         ×              ×
//! job_queue                          ×         ×              ×
//! allocations                        ×         ×              ×                   ×
//! share                              ×         ×              ×                   ×
//! names                              ×         ×              ×           ×
//! launches, for kills                ×                                    ×
//! line                         ×     ×                        ×           ×       ×     ×
//! suspensions                        ×                                            ×     ×
//! taking                                                                          ×     ×
//! ```

pub mod allocations;
pub mod delay;
pub mod job_queue;
pub mod launches;
pub mod line;
pub mod load;
pub mod long_tasks;
pub mod names;
pub mod pool_tree;
pub mod pools;
pub mod reduces;
pub mod share;
pub mod srt;
pub mod suspensions;
pub mod taking;
