//! How workloads make files: sizes and bytes from the seed, and `fsync` where it was asked for.

use std::fmt::Write as _;

use crate::content::{Content, Pattern, Random, draw, random};
use crate::ops::{self, Ops};
use crate::units::Seed;
use crate::workload::shared::parameters::{Fsync, Span};

/// Bytes given to one `write`.
const CHUNK: u64 = 128 << 10;

/// Calls that a file takes at least, an empty one: it is made and closed.
pub const LEAST_CALLS: u64 = 2;

/// Makes the files of a step, one after the other.
pub struct Files {
    content: Content,
    sizes: Span,
    fsync: Fsync,
    random: Random,
    made: u64,
    buffer: Vec<u8>,
}

impl Files {
    /// `seed` is that of the step.
    pub fn new(seed: Seed, sizes: Span, pattern: Pattern, fsync: Fsync) -> Self {
        let length = usize::try_from(sizes.high.min(CHUNK)).expect("a chunk fits");
        Self {
            content: Content::new(pattern, seed),
            sizes,
            fsync,
            random: random(seed.derive("sizes")),
            made: 0,
            buffer: vec![0; length],
        }
    }

    /// Make the next file.
    pub fn make(&mut self, ops: &mut dyn Ops, path: &str) -> ops::Result<()> {
        let size = draw(&mut self.random, self.sizes.range());
        let key = self.made;
        self.made += 1;
        let file = ops.create(path)?;
        self.write(ops, file, key, size)?;
        if self.fsync == Fsync::File {
            ops.fsync(file)?;
        }
        ops.close(file)
    }

    fn write(&mut self, ops: &mut dyn Ops, file: ops::Handle, key: u64, size: u64) -> ops::Result<()> {
        let mut at = 0;
        while at < size {
            let length = (size - at).min(self.buffer.len() as u64);
            let bytes = &mut self.buffer[..usize::try_from(length).expect("it fits the buffer")];
            if ops.wants_bytes() {
                self.content.fill(key, at, bytes);
            }
            let mut left = &bytes[..];
            while !left.is_empty() {
                left = &left[ops.write(file, left)?..];
            }
            at += length;
        }
        Ok(())
    }
}

/// Open a file that was made, bring it to the device, close it.
pub fn fsync_again(ops: &mut dyn Ops, path: &str) -> ops::Result<()> {
    let file = ops.open(path)?;
    ops.fsync(file)?;
    ops.close(file)
}

/// A path that is written again and again into the same memory: `step/000123/4`.
pub struct Name {
    text: String,
    width: usize,
}

impl Name {
    /// Names of `count` things: decimal numbers of one width, at least 6 digits.
    pub fn of(count: u64) -> Self {
        let last = count.saturating_sub(1).to_string();
        Self { text: String::new(), width: last.len().max(6) }
    }

    /// The path of thing `number` in the directory `step`.
    pub fn entry(&mut self, step: &str, number: u64) -> &str {
        self.text.clear();
        write!(self.text, "{step}/{number:0width$}", width = self.width).expect("a String takes it");
        &self.text
    }

    /// The path of file `file` in it.
    pub fn file_in(&mut self, step: &str, number: u64, file: u64) -> &str {
        self.entry(step, number);
        write!(self.text, "/{file}").expect("a String takes it");
        &self.text
    }
}
