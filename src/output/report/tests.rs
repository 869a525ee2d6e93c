//! A report of a small run that is written by hand.
