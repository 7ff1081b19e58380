//! Ways to write a stored `RunReport`. They read results only.
