//! What policies share: each policy owns the parts that it is made of.

pub mod share;
