//! Nothing is measured that was not verified.

mod read_back;

pub use read_back::{ReadBack, read_back};
