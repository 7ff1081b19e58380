//! Nothing is measured that was not verified.

pub mod fsck;
pub mod kernel_log;
mod read_back;
mod walk;

pub use read_back::{ReadBack, read_back};
pub use walk::walk;
