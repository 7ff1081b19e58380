//! Which `read` and `write` calls move a number of bytes: through a stream of the C library, or
//! bare.
//!
//! PostMark moves bytes in blocks. Bare, each block is a call, and so is the rest, even one of 0
//! bytes. A stream fills its buffer, gives it to the kernel when it is full, and passes whole
//! multiples of it by; so does glibc (`_IO_new_file_xsputn` and `_IO_file_xsgetn`, 2.36).

use std::ops::Range;

use crate::ops;

/// How bytes are moved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    /// A call for each block.
    Bare,
    /// Through a buffer of so many bytes.
    Stream(u64),
}

/// Buffers below this are not passed by; no file system asks for one.
const LEAST_BUFFER: u64 = 128;

/// Tell, in order, which of `total` bytes each `write` takes.
pub(super) fn writes(
    way: Way,
    total: u64,
    block: u64,
    write: &mut dyn FnMut(Range<u64>) -> ops::Result<()>,
) -> ops::Result<()> {
    let Way::Stream(buffer) = way else { return bare(total, block, write) };
    if buffer.is_multiple_of(block) {
        return chunks(total, buffer, write);
    }
    let (mut sent, mut filled, mut room) = (0, 0, 0);
    for mut left in blocks(total, block) {
        let fits = left.min(room);
        (filled, room, left) = (filled + fits, room - fits, left - fits);
        if left == 0 {
            continue;
        }
        let direct = left - if buffer >= LEAST_BUFFER { left % buffer } else { 0 };
        for length in [filled, direct] {
            if length > 0 {
                write(sent..sent + length)?;
                sent += length;
            }
        }
        filled = left - direct;
        room = buffer - filled;
    }
    if filled > 0 { write(sent..sent + filled) } else { Ok(()) }
}

/// Ask, in order, for as many bytes as each `read` asks for, until it has given `total`. `read`
/// gives what it got; 0 ends the file.
pub(super) fn reads(
    way: Way,
    total: u64,
    block: u64,
    read: &mut dyn FnMut(u64) -> ops::Result<u64>,
) -> ops::Result<()> {
    let Way::Stream(buffer) = way else {
        return bare(total, block, &mut |part| read(part.end - part.start).map(drop));
    };
    let mut ahead = 0;
    for mut want in blocks(total, block) {
        loop {
            let taken = want.min(ahead);
            (want, ahead) = (want - taken, ahead - taken);
            if want == 0 {
                break;
            }
            let direct = want - want % buffer;
            let got = read(if direct > 0 { direct } else { buffer })?;
            if got == 0 {
                return Ok(());
            }
            if direct > 0 { want -= got.min(want) } else { ahead = got }
        }
    }
    Ok(())
}

/// Whole blocks, then the rest, if there is one.
fn blocks(total: u64, block: u64) -> impl Iterator<Item = u64> {
    let whole = usize::try_from(total / block).unwrap_or(usize::MAX);
    std::iter::repeat_n(block, whole).chain([total % block]).filter(|length| *length > 0)
}

fn bare(total: u64, block: u64, call: &mut dyn FnMut(Range<u64>) -> ops::Result<()>) -> ops::Result<()> {
    let rest = total - total % block;
    chunks(rest, block, call)?;
    call(rest..total)
}

fn chunks(total: u64, chunk: u64, call: &mut dyn FnMut(Range<u64>) -> ops::Result<()>) -> ops::Result<()> {
    let mut at = 0;
    while at < total {
        let end = total.min(at + chunk);
        call(at..end)?;
        at = end;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(way: Way, total: u64, block: u64) -> Vec<u64> {
        let (mut lengths, mut at) = (vec![], 0);
        writes(way, total, block, &mut |part| {
            assert_eq!(part.start, at);
            at = part.end;
            lengths.push(part.end - part.start);
            Ok(())
        })
        .unwrap();
        assert_eq!(at, total);
        lengths
    }

    fn asked(way: Way, total: u64, block: u64, mut size: u64) -> Vec<u64> {
        let mut lengths = vec![];
        reads(way, total, block, &mut |wanted| {
            lengths.push(wanted);
            let got = wanted.min(size);
            size -= got;
            Ok(got)
        })
        .unwrap();
        lengths
    }

    #[test]
    fn bare_calls_move_blocks_and_then_the_rest_even_of_nothing() {
        assert_eq!(written(Way::Bare, 1300, 512), [512, 512, 276]);
        assert_eq!(written(Way::Bare, 1024, 512), [512, 512, 0]);
        assert_eq!(asked(Way::Bare, 1024, 512, 1024), [512, 512, 0]);
    }

    #[test]
    fn small_blocks_reach_the_kernel_in_buffers() {
        assert_eq!(written(Way::Stream(4096), 9640, 512), [4096, 4096, 1448]);
        assert_eq!(written(Way::Stream(4096), 8192, 512), [4096, 4096]);
        assert_eq!(asked(Way::Stream(4096), 9174, 512, 9174), [4096, 4096, 4096]);
        assert_eq!(asked(Way::Stream(4096), 8192, 512, 8192), [4096, 4096]);
    }

    /// Seen with strace, PostMark 1.53 on glibc 2.36.
    #[test]
    fn large_blocks_pass_the_buffer_by_as_glibc_lets_them() {
        let stream = Way::Stream(4096);
        assert_eq!(written(stream, 33_478, 10_000), [8192, 4096, 4096, 4096, 8192, 4096, 710]);
        assert_eq!(written(stream, 33_478, 100_000), [32_768, 710]);
        assert_eq!(written(stream, 33_478, 5000), [4096, 4096, 4096, 4096, 4096, 4096, 4096, 4096, 710]);
        assert_eq!(asked(stream, 59_927, 100_000, 59_927), [57_344, 4096]);
        let wanted = [8192, 4096, 4096, 4096, 8192, 4096, 4096, 4096, 8192, 4096, 4096, 4096];
        assert_eq!(asked(stream, 59_927, 10_000, 59_927), wanted);
    }

    #[test]
    fn a_file_that_is_shorter_ends_the_reading() {
        assert_eq!(asked(Way::Stream(4096), 9000, 512, 5000), [4096, 4096, 4096]);
    }
}
