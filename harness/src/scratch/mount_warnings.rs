//! What the kernel's log says about a mount that failed, to quote what an errno does not say.

use nix::errno::Errno;

use crate::sys::kmsg::{Kmsg, message, priority};

/// The log from one moment on.
pub(super) struct MountWarnings(Option<Kmsg>);

impl MountWarnings {
    /// From now on. Where the log cannot be read it stays empty.
    pub fn from_now() -> Self {
        Self(Kmsg::from_now().ok())
    }

    /// New warnings and errors in which any of `words` occurs.
    pub fn with_any(&mut self, words: &[&str]) -> Vec<String> {
        let Some(log) = &mut self.0 else { return vec![] };
        let mut found = Vec::new();
        loop {
            match log.next_record() {
                Ok(Some(record)) => found.extend(warning_of(&record, words)),
                // Records were overwritten before we read them: go on with what is left.
                Err(Errno::EPIPE) => {}
                Ok(None) | Err(_) => return found,
            }
        }
    }
}

/// The text of a record, if it is a warning or an error with one of `words`.
fn warning_of(record: &str, words: &[&str]) -> Option<String> {
    let (_, level) = priority(record)?;
    (level <= 4 && has_any(message(record), words)).then(|| message(record).to_owned())
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
    fn a_warning_is_quoted_and_what_is_normal_is_not() {
        let warning = "3,1234,98765,-;BTRFS error: failed to parse compression option 'lzma'\n DEVICE=b7:4\n";
        let told = "BTRFS error: failed to parse compression option 'lzma'";
        assert_eq!(warning_of(warning, &["btrfs"]).as_deref(), Some(told));
        let normal = "6,1235,98766,-;BTRFS info (device loop0): first mount of filesystem\n";
        assert_eq!(warning_of(normal, &["btrfs"]), None);
    }

    #[test]
    fn a_device_is_not_taken_for_a_longer_number() {
        assert!(has_any("XFS (loop1): Mounting V5 Filesystem", &["loop1"]));
        assert!(!has_any("XFS (loop10): Mounting V5 Filesystem", &["loop1"]));
        assert!(has_any("BTRFS error: failed", &["btrfs", "loop1"]));
    }
}
