//! The kernel log from one moment on, to quote what an errno does not say.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::os::unix::fs::OpenOptionsExt;

use nix::errno::Errno;

/// An open `/dev/kmsg`, at the end of the log of its time.
pub(super) struct KernelLog(Option<File>);

impl KernelLog {
    /// From now on. Where the log cannot be read (no `CAP_SYSLOG`, no node) it stays empty.
    pub fn from_now() -> Self {
        let opened = File::options().read(true).custom_flags(libc::O_NONBLOCK).open("/dev/kmsg");
        let at_end = opened.and_then(|mut file| file.seek(SeekFrom::End(0)).map(|_| file));
        Self(at_end.ok())
    }

    /// New warnings and errors in which any of `words` occurs.
    pub fn warnings_with(&mut self, words: &[&str]) -> Vec<String> {
        let Some(file) = &mut self.0 else { return vec![] };
        let (mut lines, mut record) = (Vec::new(), [0; 8192]);
        loop {
            match file.read(&mut record) {
                Ok(0) => return lines,
                Ok(length) => lines.extend(warning_of(&record[..length]).filter(|text| has_any(text, words))),
                // Records were overwritten before we read them: go on with what is left.
                Err(error) if error.raw_os_error() == Some(Errno::EPIPE as i32) => {}
                Err(_) => return lines,
            }
        }
    }
}

/// `prio,seq,usec,flags;text\n KEY=...`; the lowest three bits of `prio` are the level, of which 4
/// and below are warnings and errors. Source: Linux `Documentation/ABI/testing/dev-kmsg`.
fn warning_of(record: &[u8]) -> Option<String> {
    let record = String::from_utf8_lossy(record);
    let (head, text) = record.split_once(';')?;
    let priority: u32 = head.split(',').next()?.parse().ok()?;
    (priority & 7 <= 4).then(|| text.lines().next().unwrap_or_default().to_owned())
}

fn has_any(text: &str, words: &[&str]) -> bool {
    let text = text.to_lowercase();
    // A digit after it makes `loop1` another device.
    let ends = |after: Option<&u8>| !after.is_some_and(u8::is_ascii_digit);
    words
        .iter()
        .map(|word| word.to_lowercase())
        .any(|word| text.match_indices(&word).any(|(at, _)| ends(text.as_bytes().get(at + word.len()))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_of_a_warning_is_told_without_its_keys() {
        let record = b"3,1234,98765,-;BTRFS error: failed to parse compression option 'lzma'\n DEVICE=b7:4\n";
        assert_eq!(
            warning_of(record).as_deref(),
            Some("BTRFS error: failed to parse compression option 'lzma'")
        );
    }

    #[test]
    fn what_is_normal_is_not_quoted() {
        assert_eq!(
            warning_of(b"6,1235,98766,-;BTRFS info (device loop0): first mount of filesystem\n"),
            None
        );
    }

    #[test]
    fn a_device_is_not_taken_for_a_longer_number() {
        assert!(has_any("XFS (loop1): Mounting V5 Filesystem", &["loop1"]));
        assert!(!has_any("XFS (loop10): Mounting V5 Filesystem", &["loop1"]));
        assert!(has_any("BTRFS error: failed", &["btrfs", "loop1"]));
    }
}
