//! Runs cases, one worker process each.
