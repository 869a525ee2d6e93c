//! Tests that hold for several policies.

use super::*;

mod alterations;
mod growth;
mod steps;
mod truthfulness;
