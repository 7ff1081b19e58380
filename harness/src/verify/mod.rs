//! Nothing is measured that was not verified.

pub mod fsck;
pub mod kernel_log;
