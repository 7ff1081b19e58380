//! Claims of a source, judged on results.
