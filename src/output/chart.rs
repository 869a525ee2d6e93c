//! Charts as SVG: one style for all of them.
