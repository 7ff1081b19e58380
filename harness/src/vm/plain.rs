//! A kernel without its packing, for a processor that is emulated: that takes seconds to unpack what
//! this machine unpacks in a moment, once for all boots.
//!
//! A bzImage holds the packed kernel behind its own small loader. The kernel itself can be booted
//! without the loader where it says that it can, by a note of Xen's (PVH), as distributions' kernels do.
//! Of any other the image is booted as it is, which is only slower.
//!
//! Sources: Linux `Documentation/arch/x86/boot.rst`, `payload_offset`; Xen `docs/misc/pvh.pandoc`.

use std::fs;
use std::path::{Path, PathBuf};

use goblin::elf::Elf;
use xxhash_rust::xxh3::xxh3_128;

use super::{cache, unpack};
use crate::error::{Cannot, Result};

/// Part of each key: rises when what is kept changes.
const LAYOUT: u128 = 1;

/// What is kept.
const NAME: &str = "vmlinux";

/// How packed data begin, and the end of the name by which their program knows them. Linux also packs
/// with others, which no program here unpacks.
const MAGIC: [(&[u8], &str); 3] = [(b"\xFD7zXZ\0", "xz"), (b"\x28\xB5\x2F\xFD", "zst"), (b"\x1F\x8B", "gz")];

/// `XEN_ELFNOTE_PHYS32_ENTRY`.
const PVH: u32 = 18;

/// The kernel of a bzImage, plain; else the image itself.
pub fn plain(image: &Path) -> PathBuf {
    match unpacked(image) {
        Ok(Some(path)) => path,
        Ok(None) => image.to_owned(),
        Err(error) => {
            log::debug!("the kernel stays packed: {error}");
            image.to_owned()
        }
    }
}

fn unpacked(image: &Path) -> Result<Option<PathBuf>> {
    let bytes = fs::read(image).cannot(|| format!("read {}", image.display()))?;
    let Some((packed, end)) = payload(&bytes) else { return Ok(None) };
    let key = format!("{:032x}", xxh3_128(packed).wrapping_add(LAYOUT));
    let kept = cache::keep("plain", &key, |folder| {
        let path = folder.join(NAME).with_extension(end);
        fs::write(&path, packed).cannot(|| format!("write {}", path.display()))?;
        unpack::in_place(&[path])?;
        let plain = folder.join(NAME);
        let starts = fs::read(&plain).is_ok_and(|bytes| has_entry(&bytes));
        if starts { Ok(()) } else { fs::remove_file(&plain).cannot(|| format!("remove {}", plain.display())) }
    })?;
    Ok(Some(kept.join(NAME)).filter(|path| path.exists()))
}

/// The packed kernel, and how it is packed: its place is told at 0x248, behind the sectors of the
/// loader, of which 0x1F1 tells the number. Its last four bytes are the size of the plain one.
fn payload(image: &[u8]) -> Option<(&[u8], &'static str)> {
    let number = |at: usize| {
        let bytes = image.get(at..at + 4)?.try_into().ok()?;
        usize::try_from(u32::from_le_bytes(bytes)).ok()
    };
    let from = (usize::from(*image.get(0x1F1)?) + 1) * 512 + number(0x248)?;
    let packed = image.get(from..(from + number(0x24C)?).checked_sub(4)?)?;
    let (_, end) = MAGIC.iter().find(|(start, _)| packed.starts_with(start))?;
    Some((packed, end))
}

/// Whether it can be started without a loader.
fn has_entry(kernel: &[u8]) -> bool {
    let Ok(elf) = Elf::parse(kernel) else { return false };
    let mut notes = elf.iter_note_headers(kernel).into_iter().flatten().flatten();
    notes.any(|note| note.name.trim_end_matches('\0') == "Xen" && note.n_type == PVH)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bzimage(packed: &[u8]) -> Vec<u8> {
        let mut image = vec![0; 0x600 + 16];
        image[0x1F1] = 2;
        image[0x248..0x24C].copy_from_slice(&16_u32.to_le_bytes());
        let length = u32::try_from(packed.len() + 4).unwrap();
        image[0x24C..0x250].copy_from_slice(&length.to_le_bytes());
        image.extend(packed);
        image.extend([0; 4]);
        image
    }

    #[test]
    fn the_payload_is_found_where_the_header_says_and_without_the_size_behind_it() {
        let image = bzimage(b"\x1F\x8Bpacked");
        assert_eq!(payload(&image), Some((b"\x1F\x8Bpacked".as_slice(), "gz")));
        assert_eq!(payload(&bzimage(b"lz4 is unknown")), None);
        assert_eq!(payload(&image[..image.len() - 5]), None, "cut short");
        assert_eq!(payload(b"short"), None);
        let mut empty = bzimage(b"");
        empty[0x24C..0x250].fill(0);
        assert_eq!(payload(&empty), None);
    }

    #[test]
    fn what_has_no_entry_of_its_own_stays_packed() {
        assert!(!has_entry(b"no kernel"));
        let own = fs::read("/proc/self/exe").unwrap();
        assert!(!has_entry(&own), "an ordinary program");
        let folder = tempfile::tempdir().unwrap();
        let image = folder.path().join("vmlinuz");
        fs::write(&image, bzimage(b"\x1F\x8Bno gzip at all")).unwrap();
        assert_eq!(plain(&image), image);
    }
}
