//! The machine a run came from.
