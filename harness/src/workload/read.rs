//! Read every file of earlier steps to its end, in the order of creation.
//!
//! 128 KiB at a time, as `cat` of coreutils 9 does.

use super::Row;
use super::shared::earlier::{self, look};
use crate::ops::{self, Ops, Visit};

pub(super) const ROW: Row = Row {
    name: "read",
    meaning: "Read every file of earlier steps to its end.",
    parameters: earlier::PARAMETERS,
    build: |build| look(build, || Box::new(Visitor { buffer: vec![0; BUFFER] })),
};

/// Bytes asked for at once.
const BUFFER: usize = 128 << 10;

struct Visitor {
    buffer: Vec<u8>,
}

impl Visit for Visitor {
    fn directory(&mut self, _ops: &mut dyn Ops, _path: &str) -> ops::Result<()> {
        Ok(())
    }

    fn file(&mut self, ops: &mut dyn Ops, path: &str, size: Option<u64>) -> ops::Result<()> {
        let file = ops.open(path)?;
        if let Some(size) = size {
            ops.expect_size(file, size);
        }
        while ops.read(file, &mut self.buffer)? > 0 {}
        ops.close(file)
    }
}
