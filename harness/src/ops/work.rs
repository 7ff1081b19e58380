//! What a workload is, seen from everything but the workloads themselves.
//!
//! It stands beside the calls, so that the verification can plan a tree again without knowing any
//! workload.

use std::sync::Arc;

use super::{Command, Failure, Ops, Reach, Result, UpTo};
use crate::result::Postmark;
use crate::units::{Bytes, Seed};

/// How the work ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ended {
    /// All of it was done.
    Completed,
    /// The file system was full, for a workload that fills it: the call that failed.
    Full(Failure),
    /// A limit of the workload's own was reached, in words.
    Capped(String),
    /// The file system refused a fixed amount of work: the call that failed, and which operation
    /// of the workload's own it belongs to, from 1.
    Limit(Failure, u64),
    /// What was read is not what was written, in words.
    Differs(String),
}

/// What is there at the fullest moment of a step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Fullest {
    /// Files.
    pub files: u64,
    /// Directories.
    pub directories: u64,
    /// Sum of the sizes of the files.
    pub payload: Bytes,
}

/// What became of the space of a full file system after its file was deleted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Recovered {
    /// Seconds until the space was free again.
    pub freed_s: f64,
    /// Size of the file that fitted then.
    pub second_size: Bytes,
}

/// Work through the operations layer, the same for the same seed.
pub trait Workload: Send + Sync {
    /// Do the work through `ops`. The caller starts and stops the clock. `seed` is that of the
    /// run: each step derives its own from its name.
    ///
    /// # Errors
    ///
    /// Any call that fails, except `ENOSPC` in a workload whose purpose is to fill the file
    /// system: that is an outcome, [`Ended::Full`].
    fn run(&self, ops: &mut dyn Ops, seed: Seed) -> Result<Ended>;

    /// Make what the work leaves, at once, where `run` makes more and deletes it again. The work
    /// ends where `reach` says, if it says so. `ops` is a plan: it does no I/O.
    ///
    /// # Errors
    ///
    /// As [`run`](Self::run); `ENOSPC` where `reach` ended it.
    fn leave(&self, ops: &mut dyn Ops, seed: Seed, reach: Reach) -> Result<Ended> {
        self.run(&mut UpTo::new(ops, reach), seed)
    }

    /// The digest of its operations, where it has one and `done` is what it does:
    /// `operations_sha256` of the facts.
    fn digest(&self, _seed: Seed, _done: &Postmark) -> Option<String> {
        None
    }

    /// What is there at the fullest moment, where that is less than all that is made.
    fn fullest(&self, _seed: Seed) -> Option<Fullest> {
        None
    }

    /// Calls that it makes at least, known without a plan: counting a billion of them takes minutes.
    fn least_calls(&self) -> u64 {
        0
    }

    /// The command that is run in place of calls, where the work is one.
    fn command(&self) -> Option<&Command> {
        None
    }

    /// Whether it makes entries in a directory of its own, named like the step.
    fn has_directory(&self) -> bool {
        true
    }

    /// Whether it fills the file system, so that the whole image may be written.
    fn fills(&self) -> bool {
        false
    }

    /// Sizes of the files with which it fills an image, one after the other: what it costs. Empty
    /// where the plan knows the amount.
    fn fill_sizes(&self, _image: Bytes) -> Vec<Bytes> {
        vec![]
    }

    /// Whether each of its files must have all its blocks: written zeros are no holes.
    fn is_dense(&self) -> bool {
        false
    }

    /// Steps whose trees this one reads or needs unchanged: their directories are read back
    /// after it. Empty for a workload that makes its own tree.
    fn reads(&self) -> &[Earlier] {
        &[]
    }

    /// Steps whose directories this one removes.
    fn removes(&self) -> &[Earlier] {
        &[]
    }

    /// Prove, untimed and after the read-back, that a full file system recovers. `free` syncs
    /// the file system and tells the bytes that are free for root (`StatFs::free`: what ext4
    /// keeps in reserve was filled, too). Afterwards the file has its second size.
    ///
    /// # Errors
    ///
    /// A call that fails unexpectedly.
    fn recover(
        &self,
        _ops: &mut dyn Ops,
        _seed: Seed,
        _free: &mut dyn FnMut() -> crate::Result<Bytes>,
    ) -> crate::Result<Option<Recovered>> {
        Ok(None)
    }
}

/// An earlier step of the same case, whose tree a later step works on.
#[derive(Clone)]
pub struct Earlier {
    /// Name of the step, and of its directory.
    pub step: String,
    /// What made the tree.
    pub workload: Arc<dyn Workload>,
}
