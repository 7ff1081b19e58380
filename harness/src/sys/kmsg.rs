//! The kernel's log, record by record: `/dev/kmsg`.
//!
//! A record is `priority,sequence,microseconds,flags;text`, and keys on the lines below; the lowest
//! three bits of the priority are the level, those above the facility.
//! Source: Linux `Documentation/ABI/testing/dev-kmsg`.

use std::fs::File;
use std::io::{ErrorKind, Read, Seek, SeekFrom};
use std::os::unix::fs::OpenOptionsExt;

use nix::errno::Errno;

/// Longest record. Source: Linux `include/linux/printk.h`, `PRINTKRB_RECORD_MAX` and its keys.
const RECORD_BYTES: usize = 8192;

/// An open log.
#[derive(Debug)]
pub struct Kmsg(File);

impl Kmsg {
    /// What comes from now on.
    ///
    /// # Errors
    ///
    /// The log cannot be read: no `CAP_SYSLOG`, or no node.
    pub fn from_now() -> Result<Self, Errno> {
        let opened = File::options().read(true).custom_flags(libc::O_NONBLOCK).open("/dev/kmsg");
        let at_end = opened.and_then(|mut log| log.seek(SeekFrom::End(0)).map(|_| log));
        at_end.map(Self).map_err(|error| errno_of(&error))
    }

    /// The next record, if there is one yet.
    ///
    /// # Errors
    ///
    /// `EPIPE`: records were overwritten before they were read, and the next call goes on with the
    /// oldest that is left. Anything else: the log cannot be read any more.
    pub fn next_record(&mut self) -> Result<Option<String>, Errno> {
        let mut record = [0; RECORD_BYTES];
        loop {
            return match self.0.read(&mut record) {
                Ok(0) => Ok(None),
                Ok(length) => Ok(Some(String::from_utf8_lossy(&record[..length]).into_owned())),
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) if error.kind() == ErrorKind::WouldBlock => Ok(None),
                Err(error) => Err(errno_of(&error)),
            };
        }
    }
}

impl From<File> for Kmsg {
    fn from(records: File) -> Self {
        Self(records)
    }
}

fn errno_of(error: &std::io::Error) -> Errno {
    Errno::from_raw(error.raw_os_error().unwrap_or(0))
}

/// Facility (0 is the kernel itself) and level (4 and below are warnings and errors) of a record.
#[must_use]
pub fn priority(record: &str) -> Option<(u32, u32)> {
    let priority: u32 = record.split(',').next()?.parse().ok()?;
    Some((priority >> 3, priority & 7))
}

/// The text of a record, without its keys.
#[must_use]
pub fn message(record: &str) -> &str {
    let text = record.split_once(';').map_or("", |(_, text)| text);
    text.lines().next().unwrap_or("")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_is_taken_apart() {
        let record = "28,1234,98765,-;BTRFS error: failed to parse 'lzma'\n DEVICE=b7:4\n";
        assert_eq!(priority(record), Some((3, 4)));
        assert_eq!(message(record), "BTRFS error: failed to parse 'lzma'");
        assert_eq!((priority("no record"), message("no record")), (None, ""));
    }

    #[test]
    fn at_the_end_there_is_no_record() {
        let mut log = Kmsg::from(File::open("/dev/null").unwrap());
        assert_eq!(log.next_record(), Ok(None));
    }
}
