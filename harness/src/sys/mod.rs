//! The only `unsafe`: system calls that no crate offers as we need them.

pub mod space;
pub mod statfs;
