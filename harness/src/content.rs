//! File contents from a seed.
