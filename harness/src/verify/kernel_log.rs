//! What the kernel says about one device while a case runs: `/dev/kmsg`.
//!
//! A fault is a kernel record (not one that a program wrote) that names the device as a word and
//! is a warning or worse, or one of the few that btrfs logs as information although they tell of
//! damage. Silence proves nothing: the kernel limits how often it repeats itself, and its buffer is
//! small. So a case also looks at errnos, at the file systems' counters and at their checkers.

use nix::errno::Errno;

use crate::result::Checked;
use crate::sys::kmsg::{Kmsg, message, priority};

/// Records that are kept. More of them say nothing new.
const KEPT: usize = 1000;
/// Records that are told.
const TOLD: usize = 20;

/// Records of damage below the level of a warning: a mirror that was repaired, counters of errors
/// that are not 0, a recovery after an unclean end.
const DAMAGE: [&str; 4] = ["read error corrected", "errs:", "recovery", "forced readonly"];

/// Warnings that belong to what a file system was asked to do: xfs with large blocks or of an old
/// version; a full index of an ext4 directory, which is a limit and told as one; btrfs with blocks
/// below a page, or with options that will go.
const EXPECTED: [&str; 6] = [
    "EXPERIMENTAL",
    "is experimental",
    "index full, reach max htree level",
    "Large directory feature is not enabled",
    "deprecated",
    "Deprecated V4 format",
];

/// The kernel's log from [`KernelLog::begin`] on. Drain it often: its buffer may be 128 KiB.
#[derive(Debug)]
pub struct KernelLog {
    log: Result<Kmsg, Errno>,
    /// What the name of each device holds that may be asked about, as `loop`.
    word: String,
    /// All that it said of such devices, the first [`KEPT`].
    said: Vec<String>,
    /// Faults of any such device.
    faults: Vec<String>,
    /// Records were lost, or are not kept.
    incomplete: bool,
}

impl KernelLog {
    /// Listen from now on to what is said of devices with `word` in their name. Where the log cannot be read, that is remembered, and told by
    /// [`finish`](Self::finish).
    #[must_use]
    pub fn begin(word: String) -> Self {
        Self { log: Kmsg::from_now(), word, said: vec![], faults: vec![], incomplete: false }
    }

    /// Read what came since.
    pub fn drain(&mut self) {
        while let Ok(log) = &mut self.log {
            match log.next_record() {
                Ok(Some(record)) => self.keep(&record),
                Ok(None) => break,
                Err(Errno::EPIPE) => self.incomplete = true,
                Err(_) => {
                    self.incomplete = true;
                    break;
                }
            }
        }
    }

    fn keep(&mut self, record: &str) {
        if !record.contains(&self.word) {
            return;
        }
        if self.said.len() < KEPT {
            self.said.push(record.to_owned());
        }
        if !is_grave(record) {
            return;
        }
        if self.faults.len() < KEPT {
            self.faults.push(record.to_owned());
        } else {
            self.incomplete = true;
        }
    }

    /// What the kernel said when the store below `device` (`loop4`) was full or failed, as far as
    /// was drained: a write that the file system took for granted is lost, and no number of the
    /// case means anything.
    ///
    /// `None` proves nothing: it says so at most ten times in 5 s, for all devices together. Ask
    /// the store too.
    #[must_use]
    pub fn store_fault(&self, device: &str) -> Option<&str> {
        let of_the_store = |text: &&str| {
            text.contains("critical space allocation error") || text.contains("I/O error, dev ")
        };
        self.faults.iter().map(|record| message(record)).filter(of_the_store).find(|text| names(text, device))
    }

    /// All that the kernel said of `device` (`loop4`), a line each, faults or not; as far as it was
    /// drained, and at most 1,000 lines.
    #[must_use]
    pub fn about(&self, device: &str) -> Vec<&str> {
        self.said.iter().map(|record| message(record)).filter(|text| names(text, device)).collect()
    }

    /// Whether the kernel told of a fault of `device` (`loop4`); with its words, or why it is not
    /// known.
    #[must_use]
    pub fn finish(mut self, device: &str) -> (Checked, Vec<String>) {
        self.drain();
        if let Err(errno) = self.log {
            return (Checked::NotChecked, vec![format!("kernel log: not readable ({errno:?})")]);
        }
        let faults: Vec<_> = self.faults.iter().filter(|record| is_fault(record, device)).collect();
        if faults.is_empty() && self.incomplete {
            let text = "kernel log: records were lost before they could be read";
            return (Checked::NotChecked, vec![text.into()]);
        }
        let checked = if faults.is_empty() { Checked::Clean } else { Checked::Damaged };
        (checked, tell(&faults))
    }
}

/// The first faults, each once, without the numbers in front of them.
fn tell(faults: &[&String]) -> Vec<String> {
    let mut told: Vec<String> = vec![];
    for fault in faults.iter().map(|record| format!("kernel log: {}", message(record))) {
        if !told.contains(&fault) {
            told.push(fault);
        }
    }
    let more = told.len().saturating_sub(TOLD);
    told.truncate(TOLD);
    if more > 0 {
        told.push(format!("kernel log: {more} more"));
    }
    told
}

/// Whether a record of `/dev/kmsg` ("4,343,1064930849,-;XFS (loop0): ...") tells of a fault of
/// `device`, such as `loop0`.
#[must_use]
pub fn is_fault(record: &str, device: &str) -> bool {
    is_grave(record) && names(message(record), device)
}

/// From the kernel, and a warning or worse or a sign of damage, and not to be expected.
fn is_grave(record: &str) -> bool {
    let Some((facility, level)) = priority(record) else { return false };
    let says = |words: &[&str]| words.iter().any(|word| message(record).contains(word));
    let harmless = |text| is_missing_offload(text) || is_busy(text);
    facility == 0 && (level <= 4 || says(&DAMAGE)) && !says(&EXPECTED) && !harmless(message(record))
}

/// Whether a mount of btrfs found the device open elsewhere (EBUSY): udev and desktops look at
/// each new one for a moment. The mount is tried again, and is an error of its own if that is no
/// use.
fn is_busy(text: &str) -> bool {
    text.contains("failed to open device for path") && text.ends_with(": -16")
}

/// Whether a tool asked the device to zero or discard a range and the store, such as memory,
/// cannot: the tool then writes zeros itself.
fn is_missing_offload(text: &str) -> bool {
    let offload = text.contains(":(WRITE_ZEROES)") || text.contains(":(DISCARD)");
    text.starts_with("operation not supported error") && offload
}

/// Whether `device` stands in `text` as a word: `loop1` is not in "loop10".
fn names(text: &str, device: &str) -> bool {
    let in_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    text.match_indices(device)
        .any(|(at, _)| !text[..at].ends_with(in_word) && !text[at + device.len()..].starts_with(in_word))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(records: &[&str]) -> KernelLog {
        let nothing = std::fs::File::open("/dev/null").unwrap();
        let mut log = KernelLog {
            log: Ok(nothing.into()),
            word: "loop".into(),
            said: vec![],
            faults: vec![],
            incomplete: false,
        };
        records.iter().for_each(|record| log.keep(record));
        log
    }

    #[test]
    fn the_records_of_an_ordinary_case_are_no_faults() {
        let ordinary = [
            "6,342,1064893738,-;loop0: detected capacity change from 0 to 2097152\n SUBSYSTEM=block\n DEVICE=b7:0\n",
            "5,344,1064934947,-;XFS (loop0): Mounting V5 Filesystem 6db01b18-3bf1-4456-8c5d-d5de394e7094\n",
            "6,345,1064961898,-;XFS (loop0): Ending clean mount\n",
            "6,352,1065492835,-;EXT4-fs (loop0): mounted filesystem 32cb0f1f r/w with ordered data mode. Quota mode: none.\n",
            "6,353,1065492835,-;BTRFS info (device loop0): first mount of filesystem 11111111\n",
        ];
        assert!(ordinary.iter().all(|record| !is_fault(record, "loop0")));
    }

    #[test]
    fn warnings_and_worse_about_this_device_are_faults() {
        let faults = [
            "2,1,1,-;EXT4-fs error (device loop0): ext4_lookup:1787: inode #2: comm ls\n",
            "0,1,1,-;EXT4-fs (loop0): failed to convert unwritten extents\n",
            "4,1,1,-;BTRFS warning (device loop0): csum failed root 5 ino 257 off 0 csum 0x8 expected csum 0x9 mirror 1\n",
            "3,1,1,-;BTRFS error (device loop0 state EA): checksum verify failed on logical 30441472\n",
            "1,1,1,-;XFS (loop0): Metadata CRC error detected at xfs_dir3_block_read_verify\n",
            "3,1,1,-;loop0: writeback error on inode 131\n",
            "3,1,1,-;critical space allocation error, dev loop0, sector 4096 op 0x1:(WRITE)\n",
            "3,1,1,-;Buffer I/O error on dev loop0, logical block 12, lost async page write\n",
            "4,1,1,-;EXT4-fs (loop0): warning: mounting fs with errors, running e2fsck is recommended\n",
        ];
        for record in faults {
            assert!(is_fault(record, "loop0"), "{record}");
            assert!(!is_fault(record, "loop1") && !is_fault(record, "loop"), "{record}");
        }
    }

    #[test]
    fn btrfs_repairs_are_faults_although_they_are_only_information() {
        assert!(is_fault(
            "6,1,1,-;BTRFS info (device loop0): read error corrected: ino 0 off 30441472\n",
            "loop0"
        ));
        assert!(is_fault(
            "6,1,1,-;BTRFS info (device loop0): bdev /dev/loop0 errs: wr 0, rd 0, flush 0, corrupt 2, gen 0\n",
            "loop0"
        ));
    }

    #[test]
    fn a_device_is_named_by_a_whole_word() {
        assert!(!is_fault("3,1,1,-;loop10: writeback error on inode 131\n", "loop1"));
        assert!(is_fault(
            "3,1,1,-;JBD2: Error -5 detected when updating journal superblock for loop1-8.\n",
            "loop1"
        ));
        let keys = "3,1,1,-;I/O error\n DEVICE=+block:loop1\n";
        assert!(!is_fault(keys, "loop1"), "only the text counts");
    }

    #[test]
    fn what_a_program_wrote_is_no_fault() {
        assert!(!is_fault("11,1,1,-;XFS (loop0): Metadata CRC error detected\n", "loop0"));
    }

    #[test]
    fn warnings_that_belong_to_what_was_asked_are_no_faults() {
        let expected = [
            "4,343,1064930849,-;XFS (loop0): EXPERIMENTAL large block size feature enabled.  Use at your own risk!\n",
            "4,353,1066675405,-;EXT4-fs warning (device loop0): ext4_dx_add_entry:2528: Directory (ino: 2) index full, reach max htree level :2\n",
            "4,354,1066675449,-;EXT4-fs warning (device loop0): ext4_dx_add_entry:2532: Large directory feature is not enabled on this filesystem\n",
        ];
        assert!(expected.iter().all(|record| !is_fault(record, "loop0")));
        let old = "4,1,1,-;BTRFS warning (device loop0): space cache v1 is being deprecated and will be removed in a future release\n";
        assert!(!is_fault(old, "loop0"));
    }

    #[test]
    fn a_device_that_another_program_looked_at_is_no_fault_but_one_that_is_gone_is() {
        let record = |errno| {
            format!(
                "3,1,1,-;BTRFS error: failed to open device for path /dev/loop0 with flags 0x23: {errno}\n"
            )
        };
        assert!(!is_fault(&record(-16), "loop0"));
        assert!(is_fault(&record(-5), "loop0"));
    }

    #[test]
    fn a_full_or_failing_store_is_told_for_its_own_device() {
        let log = with(&["3,1,1,-;critical space allocation error, dev loop0, sector 4096\n"]);
        assert!(log.store_fault("loop0").is_some_and(|words| words.contains("space")));
        assert_eq!(log.store_fault("loop1"), None);
        let log = with(&["3,1,1,-;I/O error, dev loop0, sector 8 op 0x1:(WRITE) flags 0x0\n"]);
        assert!(log.store_fault("loop0").is_some());
    }

    #[test]
    fn all_that_was_said_of_a_device_is_told_without_what_was_said_of_others() {
        let log = with(&[
            "6,1,1,-;loop0: detected capacity change from 0 to 2097152\n SUBSYSTEM=block\n",
            "6,2,1,-;XFS (loop10): Ending clean mount\n",
            "6,3,1,-;EXT4-fs (loop0): mounted filesystem 32cb0f1f r/w\n",
            "3,4,1,-;loop0: writeback error on inode 131\n",
            "6,5,1,-;usb 1-1: new device\n",
        ]);
        let told = [
            "loop0: detected capacity change from 0 to 2097152",
            "EXT4-fs (loop0): mounted filesystem 32cb0f1f r/w",
            "loop0: writeback error on inode 131",
        ];
        assert_eq!(log.about("loop0"), told);
        assert_eq!(log.about("loop1"), [""; 0]);
    }

    #[test]
    fn lost_records_are_not_clean_but_a_fault_that_was_seen_stays_one() {
        let mut log = with(&[]);
        log.incomplete = true;
        assert_eq!(log.finish("loop0").0, Checked::NotChecked);
        let mut log = with(&["3,1,1,-;loop0: writeback error on inode 131\n"]);
        log.incomplete = true;
        let (checked, told) = log.finish("loop0");
        assert_eq!(checked, Checked::Damaged);
        assert_eq!(told, ["kernel log: loop0: writeback error on inode 131"]);
    }

    #[test]
    fn many_faults_are_told_in_short_and_each_once() {
        let record = |inode| format!("3,1,1,-;loop0: writeback error on inode {inode}\n");
        let records: Vec<_> = (0..30).chain(0..30).map(record).collect();
        let records: Vec<_> = records.iter().map(String::as_str).collect();
        let (_, told) = with(&records).finish("loop0");
        assert_eq!(told.len(), TOLD + 1);
        assert_eq!(told[TOLD], "kernel log: 10 more");
    }

    #[test]
    fn a_store_that_cannot_zero_ranges_is_no_fault_but_one_that_cannot_write_is() {
        let zero = "3,1,1,-;operation not supported error, dev loop1, sector 819072 op 0x9:(WRITE_ZEROES) flags 0x20000800\n";
        assert!(!is_fault(zero, "loop1"));
        assert!(is_fault(&zero.replace("WRITE_ZEROES", "WRITE"), "loop1"));
    }

    #[test]
    fn a_log_that_cannot_be_read_is_not_clean() {
        let log = KernelLog {
            log: Err(Errno::EPERM),
            word: "loop".into(),
            said: vec![],
            faults: vec![],
            incomplete: false,
        };
        let (checked, told) = log.finish("loop0");
        assert_eq!(checked, Checked::NotChecked);
        assert_eq!(told, ["kernel log: not readable (EPERM)"]);
    }
}
