//! The only `unsafe`: system calls that no crate offers as we need them.
#![allow(unsafe_code)]

pub mod statfs;
