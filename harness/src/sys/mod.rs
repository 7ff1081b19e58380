//! The only `unsafe`: system calls that no crate offers as we need them.

pub mod block_stat;
pub mod cache;
pub mod proc;
pub mod space;
pub mod statfs;
