//! Read back what must exist: every name, size and byte, and nothing else.
//!
//! One thread plans the work again and hands the entries, in batches, to several readers: a cold
//! read-back waits for one device read per file, and 16 readers were seen to be 4 to 5 times as
//! fast as one. The channel is bounded and entries carry hashes instead of bytes, so memory stays
//! below 3 MiB whatever the number of files. Only where something differs is work planned once
//! more, to name the byte or the entry.

mod difference;
mod reader;

use std::collections::BTreeMap;
use std::os::fd::BorrowedFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Mutex, PoisonError};

use nix::errno::Errno;

use self::difference::{Difference, Differences};
use self::reader::Reader;
use crate::error::{Cannot, Error, Result};
use crate::ops::{Earlier, Entry, Plan, Planned, Reach, Workload};
use crate::result::Checked;
use crate::units::Seed;

/// Entries handed over at once.
const BATCH: usize = 64;
/// Most readers; each has a buffer of 64 KiB.
const READERS: usize = 16;

/// What was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadBack {
    /// Whether it is what must exist.
    pub checked: Checked,
    /// Hash of what was read, as in results.
    pub tree_hash: String,
    /// The first differences, in the order in which the entries were made.
    pub details: Vec<String>,
}

/// Entries with the number of the first.
type Batch = (u64, Vec<Entry>);

/// What all trees have in common.
struct Job<'a> {
    root: BorrowedFd<'a>,
    seed: Seed,
    reach: Reach,
    stop: &'a AtomicBool,
}

/// Read back what `workload` leaves below `root`, the mount: its own tree in the directory
/// `step`, or the trees that it reads; the trees that it removes must be gone.
///
/// `reach` says how far work came that a limit ended: of a workload that fills, the size of its
/// file. It holds for trees of filling workloads and for `workload` itself, not for other steps.
///
/// # Errors
///
/// `stop` became true, or the work cannot be planned. Differences are no error.
pub fn read_back(
    root: BorrowedFd,
    workload: &dyn Workload,
    step: &str,
    seed: Seed,
    reach: impl Into<Reach>,
    stop: &AtomicBool,
) -> Result<ReadBack> {
    let job = Job { root, seed, reach: reach.into(), stop };
    let mut differences = Differences::default();
    let mut tree = 0_u128;
    if workload.has_directory() {
        tree = job.tree(workload, step, job.reach, &mut differences)?;
    }
    for Earlier { step, workload } in workload.reads() {
        let reach = if workload.fills() { job.reach } else { Reach::default() };
        tree = tree.wrapping_add(job.tree(&**workload, step, reach, &mut differences)?);
    }
    // What a removal that a limit ended has left is not known, and so not checked.
    let cut_short = job.reach.operations.is_some() && !workload.removes().is_empty();
    for Earlier { step, .. } in workload.removes().iter().filter(|_| !cut_short) {
        if let Some(difference) = reader::must_be_gone(root, step) {
            differences.add(0, step, difference);
        }
    }
    let checked = if differences.count() == 0 { Checked::Clean } else { Checked::Damaged };
    Ok(ReadBack {
        checked,
        tree_hash: Planned { tree, ..Planned::default() }.tree_hash(),
        details: differences.details(),
    })
}

impl Job<'_> {
    /// Check one tree; the hash of what was read of it.
    fn tree(&self, workload: &dyn Workload, step: &str, reach: Reach, all: &mut Differences) -> Result<u128> {
        let mut found = self.compare(workload, reach)?;
        found.list(self.root, step);
        // What could not be listed is a difference already.
        if found.listed != found.expected && found.unlisted == 0 {
            let before = found.differences.count();
            self.name_listed(workload, step, reach, &mut found.differences)?;
            if found.differences.count() == before {
                let (wanted, listed) = (found.expected.count, found.listed.count);
                found.differences.add(0, step, Difference::Listing { wanted, found: listed });
            }
        }
        self.locate(workload, reach, &mut found.differences)?;
        all.append(found.differences);
        Ok(found.tree)
    }

    /// Plan the work on this thread, and let the readers compare.
    fn compare(&self, workload: &dyn Workload, reach: Reach) -> Result<Reader> {
        let processors = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        let readers = (2 * processors).clamp(READERS / 2, READERS);
        let (sender, receiver) = sync_channel(readers);
        let receiver = Mutex::new(receiver);
        std::thread::scope(|scope| {
            let work = || self.read(workload.is_dense(), &receiver);
            let threads: Vec<_> = (0..readers).map(|_| scope.spawn(work)).collect();
            let planned = self.plan(workload, reach, sender);
            let mut found = Reader::new(false);
            for thread in threads {
                found.merge(thread.join().map_err(|_| Error::new("read back: a reader panicked"))?);
            }
            if self.stop.load(Ordering::Relaxed) {
                return Err(Error::stopped("read back what was written: the run is being stopped"));
            }
            planned.map(|_| found)
        })
    }

    fn plan(&self, workload: &dyn Workload, reach: Reach, sender: SyncSender<Batch>) -> Result<Planned> {
        let (mut number, mut batch) = (0, Vec::with_capacity(BATCH));
        let mut tell = |entry| {
            batch.push(entry);
            if batch.len() == BATCH {
                let full = std::mem::replace(&mut batch, Vec::with_capacity(BATCH));
                // Readers take batches until the sender is gone.
                let _ = sender.send((number, full));
                number += BATCH as u64;
            }
        };
        let planned = self.run(workload, Plan::new(&mut tell), reach)?;
        let _ = sender.send((number, batch));
        Ok(planned)
    }

    /// Run a plan to its end, which is a limit where the work met one.
    fn run<'a>(&'a self, workload: &dyn Workload, plan: Plan<'a>, reach: Reach) -> Result<Planned> {
        if workload.fills() && !reach.is_limited() {
            return Err(Error::new("read back a full file system: the size of its file is not known"));
        }
        let mut plan = plan.stopped_by(self.stop);
        match workload.leave(&mut plan, self.seed, reach) {
            Err(failure) if failure.errno != Errno::ENOSPC || !reach.is_limited() => {
                Err(failure).cannot(|| "plan the work again".into())
            }
            _ => Ok(plan.finish()),
        }
    }

    fn read(&self, dense: bool, batches: &Mutex<Receiver<Batch>>) -> Reader {
        let mut reader = Reader::new(dense);
        loop {
            let batch = batches.lock().unwrap_or_else(PoisonError::into_inner).recv();
            let Ok((first, entries)) = batch else { break };
            for (number, entry) in (first..).zip(&entries) {
                // Batches are still taken then, so that the plan does not wait for room.
                if !self.stop.load(Ordering::Relaxed) {
                    reader.check(self.root, number, entry);
                }
            }
        }
        reader
    }

    /// Say at which byte the first files with other content differ.
    fn locate(&self, workload: &dyn Workload, reach: Reach, differences: &mut Differences) -> Result<()> {
        for (path, difference) in differences.contents() {
            let mut search = reader::Search::new(self.root, path);
            let mut sink = |offset, bytes: &[u8]| search.compare(offset, bytes);
            self.run(workload, Plan::capture(path, &mut sink), reach)?;
            *difference = Difference::Content(search.found());
        }
        Ok(())
    }

    /// Name what is listed and was not made, is listed twice, or is there and not listed. The
    /// names of the whole tree are held for that.
    fn name_listed(
        &self,
        workload: &dyn Workload,
        step: &str,
        reach: Reach,
        differences: &mut Differences,
    ) -> Result<()> {
        let mut made = BTreeMap::new();
        let mut tell = |entry: Entry| {
            made.insert(entry.path, false);
        };
        self.run(workload, Plan::new(&mut tell), reach)?;
        let mut inside = vec![step.to_owned()];
        while let Some(directory) = inside.pop() {
            // A directory that cannot be listed has its own difference.
            let _ = reader::list(self.root, &directory, &mut |name, is_directory| {
                let path = format!("{directory}/{name}");
                match made.get_mut(&path) {
                    None => differences.add(u64::MAX, &path, Difference::Extra),
                    Some(true) => return differences.add(u64::MAX, &path, Difference::ListedTwice),
                    Some(listed) => *listed = true,
                }
                if is_directory {
                    inside.push(path);
                }
            });
        }
        let unlisted = made.iter().filter(|(path, listed)| !**listed && reader::exists(self.root, path));
        unlisted.for_each(|(path, _)| differences.add(u64::MAX, path, Difference::Unlisted));
        Ok(())
    }
}

#[cfg(test)]
mod tests;
