//! All integration tests: one binary, a module for each subject.

mod invalid;
