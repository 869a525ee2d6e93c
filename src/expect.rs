//! The language in which scenarios and studies say what to measure and what to expect.
