//! Scratch file systems on loop devices, workloads, honest measurement, verification.
//!
//! This is the library of `fsduel`. A run goes through it in one direction:
//!
//! 1. [`suite`] reads a TOML file and resolves it into [`case::CaseSpec`]s, one for each file
//!    system, options and block.
//! 2. [`runner`] starts one worker process for each case: in namespaces of its own, or in a virtual
//!    machine ([`vm`] is its outside, [`guest`] its inside).
//! 3. [`worker`] makes the file system ([`scratch`], [`fs`]), does the work ([`workload`] through
//!    [`ops`]), measures it ([`measure`]) and reads everything back ([`verify`]).
//! 4. The results meet again in one [`result::RunReport`], which [`claim`], [`compare`] and [`facts`] judge and [`report`]
//!    writes. These read results only, so they work anywhere, without root, on stored JSON.
//!
//! What each number means, and what it does not count, is in [`metrics`].
//!
//! Modules import downwards only; `tests/imports.rs` holds them to it.
#![deny(missing_docs)]
#![warn(clippy::print_stdout, clippy::print_stderr)]

pub mod error;
mod lines;
mod names;
pub mod stats;
pub mod units;

pub mod command;
pub mod require;
pub mod sys;

pub mod content;
pub mod guard;
pub mod manifest;
pub mod ops;
pub mod result;

pub mod fs;
pub mod measure;
#[doc = include_str!("metrics.md")]
pub mod metrics {}
pub mod scratch;
pub mod verify;
pub mod workload;

pub mod case;
pub mod guest;
pub mod runner;
pub mod suite;
pub mod vm;
pub mod worker;

pub mod testing;

pub mod claim;
pub mod compare;
pub mod facts;
pub mod report;

pub use error::{Error, Result};
