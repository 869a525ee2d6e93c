//! Numbers about numbers: means, quantiles, and how far to trust them.
