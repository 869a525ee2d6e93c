//! What a run left, read back.
