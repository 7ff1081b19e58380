//! The files of a run: the calls that make, read, extend, list and delete them.
//!
//! What is read is compared at once with what was written, which is why the writes of each file
//! are kept: a benchmark that does not look does not notice that it measures nothing.

use super::names::Names;
use super::settings::Settings;
use super::slots::{Piece, Slots, parts};
use super::stream::{self, Way};
use super::{Content, Options};
use crate::content::{self, Pattern};
use crate::ops::{self, Failure, Handle, How, Kind, Ops};
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

/// Bytes for files, and room for what is read.
pub(super) struct Files {
    pub(super) names: Names,
    options: Options,
    buffering: bool,
    read_block: u64,
    write_block: u64,
    bytes: Bytes,
    path: String,
    read: Vec<u8>,
    pieces: Vec<Piece>,
    /// Writes so far.
    key: u32,
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
            read_block: settings.read.into(),
            write_block: settings.write.into(),
            bytes: Bytes { pool, unique, made: vec![] },
            path: String::new(),
            read: vec![],
            pieces: vec![],
            key: 0,
        }
    }

    fn open(&mut self, slot: u32, slots: &Slots, how: How, ops: &mut dyn Ops) -> ops::Result<Handle> {
        self.names.file(slots.entry(slot), &mut self.path);
        ops.open_as(&self.path, how)
    }

    /// Make a file, and write all of it.
    pub(super) fn create(&mut self, slot: u32, slots: &mut Slots, ops: &mut dyn Ops) -> Done {
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
        let way = self.way(file, ops)?;
        self.key += 1;
        slots.begin_piece(slot, self.key);
        let (key, made) = (self.key, &mut self.bytes);
        let lenient = self.options.bug_compatible;
        stream::writes(way, amount.into(), self.write_block, &mut |part| {
            let mut left = made.of(key, part.start, part.end - part.start);
            loop {
                match ops.write(file, left) {
                    Ok(taken) => {
                        slots.grow_piece(slot, bytes(taken));
                        left = &left[taken..];
                    }
                    // PostMark does not look, and goes on with the next block.
                    Err(failure) if lenient && !failure.is_stop() => return Ok(()),
                    Err(failure) => return Err(failure),
                }
                if left.is_empty() {
                    return Ok(());
                }
            }
        })?;
        Ok(ops.close(file)?)
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
        let file = self.open(slot, slots, How::Read, ops)?;
        let size = u64::from(slots.entry(slot).size);
        ops.expect_size(file, size);
        let way = self.way(file, ops)?;
        let compares = self.options.verify && !self.options.bug_compatible && ops.reads_bytes();
        if compares {
            slots.pieces(slot, &mut self.pieces);
        }
        let (mut at, mut differs) = (0, None);
        let (into, made, pieces) = (&mut self.read, &mut self.bytes, &self.pieces);
        stream::reads(way, size, self.read_block, &mut |length| {
            if into.len() < index(length) {
                into.resize(index(length), 0);
            }
            let got = ops.read(file, &mut into[..index(length)])?;
            if compares && differs.is_none() {
                differs = difference(pieces, at, &into[..got], made);
            }
            at += got as u64;
            Ok(got as u64)
        })?;
        ops.close(file)?;
        if compares {
            self.judge(size, at, differs)?;
        }
        Ok(())
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
        self.names.file(slots.entry(slot), &mut self.path);
        Ok(ops.unlink(&self.path)?)
    }

    /// List all directories in a pause: every file that must be there is, with its size, and no
    /// other that looks like one. `created` is the highest number that was used, `most` the highest
    /// that could have been.
    pub(super) fn list(&mut self, slots: &Slots, (created, most): (u64, u64), ops: &mut dyn Ops) -> Done {
        if !ops.reads_bytes() {
            return Ok(());
        }
        let mut outcome = Ok(());
        ops.aside(&mut |ops| {
            outcome = self.listed(slots, (index(created), index(most)), ops);
            Ok(())
        })?;
        outcome
    }

    fn listed(&mut self, slots: &Slots, (created, most): (usize, usize), ops: &mut dyn Ops) -> Done {
        let mut missing = vec![false; created + 1];
        slots.files().for_each(|slot| missing[slots.entry(slot).number as usize] = true);
        for directory in 0..self.names.count() {
            if self.names.home(directory) != directory {
                continue;
            }
            self.names.directory(directory, &mut self.path);
            let mut extra = None;
            ops.readdir(&self.path, &mut |name, kind| {
                let number =
                    name.parse().ok().filter(|_| kind == Kind::File && !name.starts_with(['+', '0']));
                let expected = number.and_then(|number: usize| missing.get_mut(number));
                match (expected, number) {
                    (Some(missing), _) if *missing => *missing = false,
                    (_, Some(number)) if number <= most => extra = Some(name.to_owned()),
                    _ => {}
                }
            })?;
            if let Some(name) = extra {
                return Err(Trouble::Differs(format!(
                    "{}/{name} is there, and was deleted or never made",
                    self.path
                )));
            }
        }
        slots.files().try_for_each(|slot| self.look_at(slot, slots, &missing, ops))
    }

    fn look_at(&mut self, slot: u32, slots: &Slots, missing: &[bool], ops: &mut dyn Ops) -> Done {
        let entry = slots.entry(slot);
        self.names.file(entry, &mut self.path);
        if missing[entry.number as usize] {
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
