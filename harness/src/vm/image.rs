//! What a file tells of the kernel in it: whether it is one, of which architecture and release.
//!
//! Sources: Linux `Documentation/arch/x86/boot.rst` (bzImage) and `Documentation/arch/arm64/booting.rst`.

use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::Path;

use crate::error::{Cannot, Error, Result};

/// The header of a bzImage, and the release string at most 64 KiB behind it, lie in so many bytes.
const HEAD_BYTES: u64 = 68 << 10;

/// What a kernel's file tells of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Image {
    /// As in `std::env::consts::ARCH`.
    pub architecture: &'static str,
    /// As `uname -r` prints it, where the header has it.
    pub release: Option<String>,
}

/// Read the header of the kernel at `path`.
///
/// # Errors
///
/// It cannot be read, is no kernel, or is one of another architecture than this program.
pub(super) fn read(path: &Path) -> Result<Image> {
    let doing = || format!("boot {}", path.display());
    let mut head = Vec::new();
    let file = File::open(path).map_err(|error| unreadable(path, error))?;
    file.take(HEAD_BYTES).read_to_end(&mut head).map_err(|error| unreadable(path, error))?;
    let image = understand(&head).ok_or_else(|| {
        Error::usage(format!("{}: it is no kernel", doing()))
            .next("name a bzImage (x86_64), an Image (arm64), or a .deb package with one")
    })?;
    match image.architecture == std::env::consts::ARCH {
        true => Ok(image),
        false => Err(wrong_architecture(path, image.architecture)),
    }
}

fn wrong_architecture(path: &Path, architecture: &str) -> Error {
    let ours = std::env::consts::ARCH;
    Error::unavailable(format!(
        "boot {}: wrong architecture: it is a kernel for {architecture}, this program is one for {ours}",
        path.display()
    ))
    .next(format!("name a kernel for {ours}"))
}

/// Some distributions let only root read their kernels.
pub(super) fn unreadable(path: &Path, error: std::io::Error) -> Error {
    let kind = error.kind();
    let told = Err::<(), _>(error).cannot(|| format!("read the kernel {}", path.display()));
    let told = told.map_or_else(|error| error, |()| Error::new("read"));
    match kind {
        ErrorKind::PermissionDenied => told.of_kind(crate::error::Kind::Unavailable).next(format!(
            "sudo install -m 644 {} COPY, and name COPY with --kernel",
            crate::command::quoted(&path.to_string_lossy())
        )),
        ErrorKind::NotFound => told
            .of_kind(crate::error::Kind::Usage)
            .next("see `ls /boot/vmlinuz-*`; or get one: apt-get download linux-image-..."),
        _ => told,
    }
}

fn understand(head: &[u8]) -> Option<Image> {
    x86(head).or_else(|| arm64(head))
}

/// `HdrS` at 0x202; where the release begins, less 0x200, at 0x20E; bit 0 of the flags at 0x236 (since
/// protocol 2.12, at 0x206): it starts in 64 bits.
fn x86(head: &[u8]) -> Option<Image> {
    if head.get(0x202..0x206)? != b"HdrS" {
        return None;
    }
    let is_64 = word(head, 0x206)? >= 0x020C && word(head, 0x236)? & 1 == 1;
    let text = head.get(usize::from(word(head, 0x20E)?) + 0x200..)?;
    let first = text.split(|byte| !byte.is_ascii_graphic()).next()?;
    let release = String::from_utf8_lossy(first).into_owned();
    Some(Image {
        architecture: if is_64 { "x86_64" } else { "x86" },
        release: Some(release).filter(|text| is_release(text)),
    })
}

/// `ARM\x64` at 56. A compressed one (`zimg` at 4) names its machine nowhere, and is only made there.
fn arm64(head: &[u8]) -> Option<Image> {
    let plain = head.get(56..60)? == b"ARM\x64";
    let packed = head.starts_with(b"MZ") && head.get(4..8)? == b"zimg";
    (plain || packed).then_some(Image { architecture: "aarch64", release: None })
}

fn word(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_le_bytes(bytes.get(at..at + 2)?.try_into().ok()?))
}

/// A release is a part of paths: it begins with a version and has no slash.
pub(super) fn is_release(text: &str) -> bool {
    let plain = |sign: char| sign.is_ascii_alphanumeric() || "-_.+~".contains(sign);
    text.starts_with(|sign: char| sign.is_ascii_digit())
        && text.contains('.')
        && text.len() <= 64
        && text.chars().all(plain)
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// The head of a bzImage with this release.
    pub(in super::super) fn bzimage(flags: u16, release: &str) -> Vec<u8> {
        let mut head = vec![0; 0x400];
        head[0x202..0x206].copy_from_slice(b"HdrS");
        head[0x206..0x208].copy_from_slice(&0x020F_u16.to_le_bytes());
        head[0x20E..0x210].copy_from_slice(&0x200_u16.to_le_bytes());
        head[0x236..0x238].copy_from_slice(&flags.to_le_bytes());
        head.extend(release.as_bytes());
        head.push(0);
        head
    }

    #[test]
    fn a_bzimage_tells_its_release_and_width() {
        let text = "6.1.0-56-amd64 (debian-kernel@lists.debian.org) #1 SMP PREEMPT_DYNAMIC";
        let image = understand(&bzimage(0x7F, text)).unwrap();
        assert_eq!(image, Image { architecture: "x86_64", release: Some("6.1.0-56-amd64".into()) });
        assert_eq!(understand(&bzimage(0x7E, text)).unwrap().architecture, "x86");
    }

    #[test]
    fn an_arm64_image_is_known_by_its_magic() {
        let mut head = vec![0; 64];
        head[56..60].copy_from_slice(b"ARM\x64");
        assert_eq!(understand(&head).unwrap().architecture, "aarch64");
        assert_eq!(
            understand(b"\x7fELF and more, but no kernel of any kind, which is to be told........"),
            None
        );
    }

    #[test]
    fn a_kernel_of_another_architecture_names_both() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("vmlinuz");
        std::fs::write(&path, bzimage(0, "5.10.0-1-686 (x) #1")).unwrap();
        let text = read(&path).unwrap_err().to_string();
        assert!(text.contains("wrong architecture: it is a kernel for x86, this program"), "{text}");
        assert!(text.ends_with(std::env::consts::ARCH), "{text}");
    }

    #[test]
    fn a_release_is_no_path_and_has_no_other_signs() {
        assert!(is_release("6.12.95+deb12-amd64") && is_release("6.18.0-rc1_x~y"));
        for wrong in ["", "6", "../6.1", "6.1/..", "6.1\u{202e}", "6.1 x", "v6.1"] {
            assert!(!is_release(wrong), "{wrong}");
        }
    }

    #[test]
    fn a_truncated_header_is_no_kernel() {
        let head = bzimage(0x7F, "6.1.0");
        assert_eq!(understand(&head[..0x210]), None);
        assert_eq!(understand(&[]), None);
    }
}
