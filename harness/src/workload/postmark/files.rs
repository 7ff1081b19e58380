//! The files of a run: the calls that make, read, extend, list and delete them.
//!
//! What is read is compared at once with what was written, which is why the writes of each file
//! are kept: a benchmark that does not look does not notice that it measures nothing.

use nix::errno::Errno;

use super::names::Names;
use super::settings::Settings;
use super::slots::{Piece, Slots, parts};
use super::stream::{self, Way};
use super::{Content, Options};
use crate::command::stop_requested;
use crate::content::{self, Pattern};
use crate::ops::{self, Failure, Handle, How, Kind, Op, Ops};
use crate::units::Seed;

/// Why an operation was not done.
#[derive(Debug)]
pub(super) enum Trouble {
    /// A call failed.
    Failed(Failure),
    /// What is there is not what was written, in words.
    Differs(String),
}

impl From<Failure> for Trouble {
    fn from(failure: Failure) -> Self {
        Self::Failed(failure)
    }
}

type Done = Result<(), Trouble>;

/// What a listing says of a number that the run used.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Seen {
    /// It must not be there: it was deleted.
    Gone,
    /// It must be there, and was not seen yet.
    Missing,
    /// It must be there, and is: in each of the ways in which its directory is written.
    Listed,
}

/// Whether failures of `read`, `write` and `close` are passed over: PostMark does not look.
#[derive(Clone, Copy)]
struct Lenient(bool);

impl Lenient {
    fn pass<T>(self, outcome: ops::Result<T>, instead: T) -> ops::Result<T> {
        match outcome {
            Err(failure) if self.0 && !failure.is_stop() => Ok(instead),
            other => other,
        }
    }
}

/// Bytes for files, and room for what is read.
pub(super) struct Files {
    pub(super) names: Names,
    options: Options,
    buffering: bool,
    /// Files with higher numbers are somebody else's.
    highest: u64,
    read_block: u64,
    write_block: u64,
    bytes: Bytes,
    path: String,
    read: Vec<u8>,
    pieces: Vec<Piece>,
    /// Writes so far.
    key: u32,
    /// Whether anybody will ask of which writes a file is made up.
    pub(super) keeps_pieces: bool,
    /// No call is made: only counts are wanted.
    pub(super) is_idle: bool,
}

/// What writes put into files.
struct Bytes {
    pool: Vec<u8>,
    unique: Option<content::Content>,
    made: Vec<u8>,
}

impl Bytes {
    /// The bytes `at..at + length` of write `key`.
    fn of(&mut self, key: u32, at: u64, length: u64) -> &[u8] {
        let (begin, length) = (index(at), index(length));
        let Some(unique) = &self.unique else { return &self.pool[begin..begin + length] };
        if self.made.len() < length {
            self.made.resize(length, 0);
        }
        unique.fill(key.into(), at, &mut self.made[..length]);
        &self.made[..length]
    }
}

/// Positions in files are below 2^31.
fn index(at: u64) -> usize {
    usize::try_from(at).expect("it is below 2^31")
}

fn bytes(length: usize) -> u32 {
    u32::try_from(length).expect("it is below 2^31")
}

impl Files {
    pub(super) fn new(
        settings: &Settings,
        options: Options,
        pool: Vec<u8>,
        names: Names,
        seed: Seed,
    ) -> Self {
        let unique = match options.content {
            Content::Pool => None,
            Content::Unique => Some(content::Content::new(Pattern::Random, seed)),
        };
        Self {
            names,
            options,
            buffering: settings.buffering,
            highest: settings.highest_number(),
            read_block: settings.read.into(),
            write_block: settings.write.into(),
            bytes: Bytes { pool, unique, made: vec![] },
            path: String::new(),
            read: vec![],
            pieces: vec![],
            key: 0,
            keeps_pieces: true,
            is_idle: false,
        }
    }

    fn open(&mut self, slot: u32, slots: &Slots, how: How, ops: &mut dyn Ops) -> ops::Result<Handle> {
        self.names.file(slots.entry(slot), &mut self.path);
        ops.open_as(&self.path, how)
    }

    /// Make a file, and write all of it.
    pub(super) fn create(&mut self, slot: u32, slots: &mut Slots, ops: &mut dyn Ops) -> Done {
        if self.is_idle {
            return idle();
        }
        let how = if self.buffering { How::Truncate } else { How::ReadWriteCreate };
        let file = self.open(slot, slots, how, ops).inspect_err(|_| {
            // PostMark keeps the slot of a file that is not there.
            if !self.options.bug_compatible {
                slots.empty(slot);
            }
        })?;
        let size = slots.entry(slot).size;
        self.append(file, slot, size, slots, ops)
    }

    /// Open a file to append to it.
    pub(super) fn open_to_append(
        &mut self,
        slot: u32,
        slots: &Slots,
        ops: &mut dyn Ops,
    ) -> Result<Handle, Trouble> {
        if self.is_idle {
            return idle().map(|()| Handle(0));
        }
        let how = if self.buffering { How::AppendOrCreate } else { How::ReadWriteAppend };
        let file = self.open(slot, slots, how, ops)?;
        if self.buffering {
            ops.seek_end(file)?;
        }
        Ok(file)
    }

    /// Write the next bytes of an open file, and close it.
    pub(super) fn append(
        &mut self,
        file: Handle,
        slot: u32,
        amount: u32,
        slots: &mut Slots,
        ops: &mut dyn Ops,
    ) -> Done {
        if self.is_idle {
            return idle();
        }
        let way = self.way(file, ops)?;
        self.key += 1;
        let keeps = self.keeps_pieces;
        if keeps {
            slots.begin_piece(slot, self.key);
        }
        let (key, made) = (self.key, &mut self.bytes);
        let makes = self.options.content == Content::Unique;
        let lenient = Lenient(self.options.bug_compatible);
        stream::writes(way, amount.into(), self.write_block, &mut |part| {
            let mut left = made.of(key, part.start, part.end - part.start);
            loop {
                if !makes {
                    ops.directly();
                }
                let taken = lenient.pass(ops.write(file, left).map(Some), None)?;
                let Some(taken) = taken else { return Ok(()) };
                if keeps {
                    slots.grow_piece(slot, bytes(taken));
                }
                left = &left[taken..];
                if left.is_empty() {
                    return Ok(());
                }
            }
        })?;
        Ok(lenient.pass(ops.close(file), ())?)
    }

    /// Through a stream, whose buffer the file system chooses, or bare.
    fn way(&self, file: Handle, ops: &mut dyn Ops) -> ops::Result<Way> {
        if !self.buffering {
            return Ok(Way::Bare);
        }
        // glibc takes no more than its BUFSIZ.
        Ok(Way::Stream(ops.block_size(file)?.clamp(512, 8192)))
    }

    /// Read all of a file, and compare it.
    pub(super) fn read(&mut self, slot: u32, slots: &Slots, ops: &mut dyn Ops) -> Done {
        if self.is_idle {
            return idle();
        }
        let file = self.open(slot, slots, How::Read, ops)?;
        let size = u64::from(slots.entry(slot).size);
        ops.expect_size(file, size);
        let way = self.way(file, ops)?;
        let lenient = Lenient(self.options.bug_compatible);
        let compares = self.options.verify && !self.options.bug_compatible && ops.reads_bytes();
        if compares {
            slots.pieces(slot, &mut self.pieces);
        }
        let (mut at, mut got, mut differs) = (0, 0, None);
        let (into, made, pieces) = (&mut self.read, &mut self.bytes, &self.pieces);
        let mut compare = |at, read: &[u8]| {
            if compares && differs.is_none() {
                differs = difference(pieces, at, read, made);
            }
        };
        // Comparing comes before the next call or after the last one: between a read and the close
        // it would be taken for a part of the close.
        stream::reads(way, size, self.read_block, &mut |length| {
            compare(at, &into[..got]);
            at += got as u64;
            if into.len() < index(length) {
                into.resize(index(length), 0);
            }
            if !compares {
                ops.directly();
            }
            got = lenient.pass(ops.read(file, &mut into[..index(length)]), 0)?;
            Ok(got as u64)
        })?;
        lenient.pass(ops.close(file), ())?;
        compare(at, &into[..got]);
        let is_known = ops.reads_bytes() && !self.options.bug_compatible;
        if is_known { self.judge(size, at + got as u64, differs) } else { Ok(()) }
    }

    fn judge(&self, size: u64, read: u64, differs: Option<u64>) -> Done {
        let text = match differs {
            Some(at) if at == size => format!("{} goes on after its {size} bytes", self.path),
            Some(at) => format!("{} differs at byte {at} from what was written", self.path),
            None if read != size => format!("{} ends after {read} bytes, and must have {size}", self.path),
            None => return Ok(()),
        };
        Err(Trouble::Differs(text))
    }

    /// Remove a file.
    pub(super) fn delete(&mut self, slot: u32, slots: &Slots, ops: &mut dyn Ops) -> Done {
        if self.is_idle {
            return idle();
        }
        self.names.file(slots.entry(slot), &mut self.path);
        Ok(ops.unlink(&self.path)?)
    }

    /// List all directories in a pause: every file that must be there is, with its size, and no
    /// other that looks like one. `created` is the highest number that was used.
    pub(super) fn list(&mut self, slots: &Slots, created: u64, ops: &mut dyn Ops) -> Done {
        if !ops.reads_bytes() {
            return Ok(());
        }
        let mut outcome = Ok(());
        ops.aside(&mut |ops| {
            outcome = self.listed(slots, created, ops);
            Ok(())
        })?;
        outcome
    }

    fn listed(&mut self, slots: &Slots, created: u64, ops: &mut dyn Ops) -> Done {
        let mut seen = vec![Seen::Gone; index(created) + 1];
        slots.files().for_each(|slot| seen[slots.entry(slot).number as usize] = Seen::Missing);
        for directory in (0..self.names.count()).filter(|number| self.names.home(*number) == *number) {
            self.names.directory(directory, &mut self.path);
            let mut extra = None;
            ops.readdir(&self.path, &mut |name, kind| {
                let is_number = kind == Kind::File && !name.starts_with(['+', '0']);
                let number = name.parse().ok().filter(|number| is_number && *number <= self.highest);
                match number.map(|number| seen.get_mut(index(number))) {
                    Some(None | Some(Seen::Gone)) => extra = Some(name.to_owned()),
                    Some(Some(seen)) => *seen = Seen::Listed,
                    None => {}
                }
            })?;
            if let Some(name) = extra {
                return Err(Trouble::Differs(format!(
                    "{}/{name} is there, and was deleted or never made",
                    self.path
                )));
            }
        }
        slots.files().try_for_each(|slot| self.look_at(slot, slots, &seen, ops))
    }

    fn look_at(&mut self, slot: u32, slots: &Slots, seen: &[Seen], ops: &mut dyn Ops) -> Done {
        let entry = slots.entry(slot);
        self.names.file(entry, &mut self.path);
        if seen[entry.number as usize] == Seen::Missing {
            return Err(Trouble::Differs(format!("{} is not listed in its directory", self.path)));
        }
        let (size, wanted) = (ops.stat(&self.path)?, u64::from(entry.size));
        if size == wanted {
            return Ok(());
        }
        Err(Trouble::Differs(format!("{} has {size} bytes, and must have {wanted}", self.path)))
    }

    /// Make a file at once, with the bytes it has by now.
    pub(super) fn make(&mut self, slot: u32, slots: &Slots, ops: &mut dyn Ops) -> ops::Result<()> {
        self.names.file(slots.entry(slot), &mut self.path);
        slots.pieces(slot, &mut self.pieces);
        let file = ops.create(&self.path)?;
        for piece in &self.pieces {
            ops.write(file, self.bytes.of(piece.key, 0, piece.length.into()))?;
        }
        ops.close(file)
    }
}

/// Where no call looks whether the run is being stopped.
fn idle() -> Done {
    match stop_requested() {
        true => Err(Failure { op: Op::Open, path: String::new(), errno: Errno::EINTR }.into()),
        false => Ok(()),
    }
}

/// The first byte of `read`, which begins at `at`, that is not what was written.
fn difference(pieces: &[Piece], at: u64, read: &[u8], made: &mut Bytes) -> Option<u64> {
    let mut done = 0;
    for (piece, part) in parts(pieces, at, read.len() as u64) {
        let wanted = made.of(piece.key, part.start, part.end - part.start);
        let found = &read[done..done + wanted.len()];
        if found != wanted {
            let equal = found.iter().zip(wanted).take_while(|(found, wanted)| found == wanted).count();
            return Some(at + (done + equal) as u64);
        }
        done += wanted.len();
    }
    // More than was written.
    (done < read.len()).then_some(at + done as u64)
}
