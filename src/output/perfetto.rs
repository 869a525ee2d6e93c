//! A run as a trace that the Perfetto UI opens.
