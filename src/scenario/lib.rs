//! What people describe: a cluster, a workload, faults and a policy in YAML, read, checked and resolved.
//!
//! The crate stands on `mumakil-yaml`, which reads trees and tells mistakes with their places, and on those
//! whose options it gathers: `mumakil-core`, `mumakil-policies`, and `mumakil-results` for expectations.
//! Behind `resolve` nothing is checked again; `mumakil-run` takes what comes out.

pub mod fault;
pub mod scenario;
pub mod workload;
