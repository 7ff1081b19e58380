//! `Ops` that does no I/O: it counts, and tells the tree that must exist afterwards.
//!
//! Entries are told as soon as they are final, a file at its close and a directory at its
//! `mkdir`, so a plan needs memory for open files only, whatever the number of entries. What is
//! removed again after it was told is counted and nothing more: a workload that deletes what it
//! made has to hold its entries back, in an `Ops` in front of this one.

use std::sync::atomic::{AtomicBool, Ordering};

use nix::errno::Errno;

use super::handles::Handles;
use super::{Counts, Entry, EntryHash, EntryKind, Failure, Handle, How, Kind, Op, Ops, Result};
use crate::result::Postmark;

/// What a plan came to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Planned {
    /// Operations and bytes.
    pub counts: Counts,
    /// Entries that were told.
    pub entries: u64,
    /// Sum of their hashes.
    pub tree: u128,
    /// What PostMark told.
    pub postmark: Option<Postmark>,
}

impl Planned {
    /// `tree` as in results: 32 hexadecimal digits.
    #[must_use]
    pub fn tree_hash(&self) -> String {
        format!("{:032x}", self.tree)
    }
}

type Tell<'a> = &'a mut dyn FnMut(Entry);
type Sink<'a> = &'a mut dyn FnMut(u64, &[u8]);

/// Plans the work.
pub struct Plan<'a> {
    stop: Option<&'a AtomicBool>,
    tell: Option<Tell<'a>>,
    capture: Option<(&'a str, Sink<'a>)>,
    files: Handles<File>,
    planned: Planned,
}

struct File {
    path: String,
    size: u64,
    use_: Use,
}

/// Why a file is open.
enum Use {
    /// It was made, and is told at its close.
    Make(Option<Box<EntryHash>>),
    /// It was opened; so many bytes of it were read.
    Read(u64),
}

impl<'a> Plan<'a> {
    /// Tell every entry, with its hash.
    pub fn new(tell: &'a mut dyn FnMut(Entry)) -> Self {
        Self { tell: Some(tell), ..Self::counting() }
    }

    /// Count only.
    #[must_use]
    pub fn counting() -> Self {
        Self { stop: None, tell: None, capture: None, files: Handles::new(), planned: Planned::default() }
    }

    /// Give every byte of the file `path`, with its offset, to `sink`.
    pub fn capture(path: &'a str, sink: &'a mut dyn FnMut(u64, &[u8])) -> Self {
        Self { capture: Some((path, sink)), ..Self::counting() }
    }

    /// Every call fails with `EINTR` once `stop` is true.
    #[must_use]
    pub fn stopped_by(mut self, stop: &'a AtomicBool) -> Self {
        self.stop = Some(stop);
        self
    }

    /// Tell the files that a limit left open, and what the plan came to.
    #[must_use]
    pub fn finish(mut self) -> Planned {
        for file in std::mem::replace(&mut self.files, Handles::new()).into_open() {
            self.made(file);
        }
        self.planned
    }

    fn check(&self, op: Op, path: &str) -> Result<()> {
        match self.stop.is_some_and(|stop| stop.load(Ordering::Relaxed)) {
            true => Err(Failure { op, path: path.to_owned(), errno: Errno::EINTR }),
            false => Ok(()),
        }
    }

    fn count(&mut self, op: Op, path: &str) -> Result<()> {
        self.check(op, path)?;
        self.done(op);
        Ok(())
    }

    fn done(&mut self, op: Op) {
        self.planned.counts.add(op, 1);
    }

    /// Check an operation on an open file.
    fn on_file(&self, op: Op, file: Handle) -> Result<()> {
        let Some(file) = self.files.get(file) else {
            return Err(Failure { op, path: String::new(), errno: Errno::EBADF });
        };
        self.check(op, &file.path)
    }

    fn made(&mut self, file: File) {
        if let Use::Make(hash) = file.use_ {
            let hash = hash.map_or(0, |hash| hash.finish());
            self.tell(Entry { path: file.path, kind: EntryKind::File, size: file.size, hash });
        }
    }

    fn tell(&mut self, entry: Entry) {
        let Some(tell) = &mut self.tell else { return };
        self.planned.entries += 1;
        self.planned.tree = self.planned.tree.wrapping_add(entry.hash);
        tell(entry);
    }
}

impl Ops for Plan<'_> {
    /// The directory of the step itself is no entry of its tree.
    fn mkdir(&mut self, path: &str) -> Result<()> {
        self.count(Op::Mkdir, path)?;
        if self.tell.is_some() && path.contains('/') {
            let hash = EntryHash::directory(path);
            self.tell(Entry { path: path.to_owned(), kind: EntryKind::Directory, size: 0, hash });
        }
        Ok(())
    }

    fn rmdir(&mut self, path: &str) -> Result<()> {
        self.count(Op::Rmdir, path)
    }

    /// What is written to a file that was not made here is counted, and told nowhere.
    fn open_as(&mut self, path: &str, how: How) -> Result<Handle> {
        self.count(how.op(), path)?;
        let hash = || self.tell.is_some().then(|| Box::new(EntryHash::file(path)));
        let use_ = if how.op() == Op::Create { Use::Make(hash()) } else { Use::Read(0) };
        Ok(self.files.keep(File { path: path.to_owned(), size: 0, use_ }))
    }

    fn write(&mut self, file: Handle, bytes: &[u8]) -> Result<usize> {
        self.on_file(Op::Write, file)?;
        let Some(open) = self.files.get_mut(file) else { unreachable!("on_file has looked") };
        if let Some((path, sink)) = &mut self.capture
            && *path == open.path
        {
            sink(open.size, bytes);
        }
        if let Use::Make(Some(hash)) = &mut open.use_ {
            hash.content(bytes);
        }
        open.size += bytes.len() as u64;
        self.planned.counts.written_bytes += bytes.len() as u64;
        self.done(Op::Write);
        Ok(bytes.len())
    }

    /// As many bytes as [`Ops::expect_size`] told, which are not written into `into`.
    fn read(&mut self, file: Handle, into: &mut [u8]) -> Result<usize> {
        self.on_file(Op::Read, file)?;
        let mut read = 0;
        if let Some(File { size, use_: Use::Read(at), .. }) = self.files.get_mut(file) {
            read = (*size - *at).min(into.len() as u64);
            *at += read;
        }
        self.planned.counts.read_bytes += read;
        self.done(Op::Read);
        Ok(usize::try_from(read).expect("it is at most the length of a buffer"))
    }

    fn fsync(&mut self, file: Handle) -> Result<()> {
        self.on_file(Op::Fsync, file)?;
        self.done(Op::Fsync);
        Ok(())
    }

    fn close(&mut self, file: Handle) -> Result<()> {
        self.on_file(Op::Close, file)?;
        self.done(Op::Close);
        if let Some(file) = self.files.take(file) {
            self.made(file);
        }
        Ok(())
    }

    fn unlink(&mut self, path: &str) -> Result<()> {
        self.count(Op::Unlink, path)
    }

    fn stat(&mut self, path: &str) -> Result<u64> {
        self.count(Op::Stat, path)?;
        Ok(0)
    }

    fn readdir(&mut self, path: &str, _tell: &mut dyn FnMut(&str, Kind)) -> Result<()> {
        self.count(Op::Readdir, path)
    }

    fn block_size(&mut self, file: Handle) -> Result<u64> {
        self.on_file(Op::Stat, file)?;
        self.done(Op::Stat);
        Ok(super::DEFAULT_BLOCK_SIZE)
    }

    fn seek_end(&mut self, file: Handle) -> Result<()> {
        self.on_file(Op::Seek, file)?;
        self.done(Op::Seek);
        Ok(())
    }

    fn told(&mut self, postmark: Postmark) {
        self.planned.postmark = Some(postmark);
    }

    fn counts(&self) -> &Counts {
        &self.planned.counts
    }

    fn wants_bytes(&self) -> bool {
        self.tell.is_some() || self.capture.is_some()
    }

    fn expect_size(&mut self, file: Handle, size: u64) {
        if let Some(file) = self.files.get_mut(file) {
            file.size = size;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn make(plan: &mut Plan, path: &str, bytes: &[u8]) -> Result<()> {
        let file = plan.create(path)?;
        plan.write(file, bytes)?;
        plan.close(file)
    }

    #[test]
    fn entries_are_told_when_they_are_final_and_the_step_itself_is_none() {
        let mut told = vec![];
        let mut tell = |entry: Entry| told.push((entry.path, entry.kind, entry.size));
        let mut plan = Plan::new(&mut tell);
        plan.mkdir("step").unwrap();
        plan.mkdir("step/d").unwrap();
        let open = plan.create("step/open").unwrap();
        make(&mut plan, "step/d/f", b"1234").unwrap();
        plan.close(open).unwrap();
        assert_eq!(plan.finish().entries, 3);
        let [file, directory] = [EntryKind::File, EntryKind::Directory];
        let wanted = [("step/d", directory, 0), ("step/d/f", file, 4), ("step/open", file, 0)];
        assert_eq!(told, wanted.map(|(path, kind, size)| (path.to_owned(), kind, size)));
    }

    #[test]
    fn a_plan_holds_open_files_only() {
        let mut tell = |_| {};
        let mut plan = Plan::new(&mut tell);
        for number in 0..1000 {
            make(&mut plan, &format!("step/{number}"), b"x").unwrap();
        }
        assert_eq!(plan.files.keep(File { path: String::new(), size: 0, use_: Use::Read(0) }), Handle(0));
        assert_eq!(plan.finish().entries, 1000);
    }

    #[test]
    fn the_hash_of_a_tree_does_not_depend_on_the_order() {
        let hash = |names: [&str; 3]| {
            let mut tell = |_| {};
            let mut plan = Plan::new(&mut tell);
            for name in names {
                make(&mut plan, name, name.as_bytes()).unwrap();
            }
            plan.finish().tree_hash()
        };
        assert_eq!(hash(["s/a", "s/b", "s/c"]), hash(["s/c", "s/a", "s/b"]));
        assert_ne!(hash(["s/a", "s/b", "s/c"]), hash(["s/a", "s/a", "s/c"]));
    }

    #[test]
    fn one_file_is_captured_with_offsets() {
        let mut bytes = vec![];
        let mut sink = |offset, piece: &[u8]| bytes.push((offset, piece.to_vec()));
        let mut plan = Plan::capture("step/b", &mut sink);
        make(&mut plan, "step/a", b"no").unwrap();
        let file = plan.create("step/b").unwrap();
        plan.write(file, b"yes").unwrap();
        plan.write(file, b"!").unwrap();
        assert_eq!(bytes, [(0, b"yes".to_vec()), (3, b"!".to_vec())]);
    }

    #[test]
    fn a_stopped_plan_makes_no_call() {
        let stop = AtomicBool::new(true);
        let mut plan = Plan::counting().stopped_by(&stop);
        assert_eq!(plan.mkdir("step").unwrap_err().errno, Errno::EINTR);
        assert_eq!(plan.counts().total(), 0);
    }
}
