//! Options that would reach beyond the scratch device, or make it useless, are refused before the
//! start: no device and no file that this program did not make is ever formatted or mounted.

use crate::error::{Error, Result};
use crate::result::Configuration;

/// Mount options that take a second device. Sources: btrfs(5), ext4(5), xfs(5).
const OTHER_DEVICES: [&str; 5] = ["device", "journal_dev", "journal_path", "logdev", "rtdev"];

/// What a device is named by, without a slash, anywhere in a word and in any case; `PARTUUID=` and
/// `PARTLABEL=` end in two of them. Sources: mke2fs(8) and libblkid, mkfs.xfs(8).
const NAMES_A_DEVICE: [&str; 5] = ["device=", "logdev=", "rtdev=", "uuid=", "label="];

/// Refuse options of mkfs and mount that name something which is not ours.
pub(super) fn check(configuration: &Configuration) -> Result<()> {
    let (id, words) = (&configuration.id, &configuration.mkfs_options);
    words.iter().try_for_each(|word| mkfs_word(id, word))?;
    no_argument(id, words)?;
    configuration.mount_options.split(',').try_for_each(|word| mount_word(id, word.trim()))
}

/// Tools run in a folder where there is no file, so that a path that leads to one has a slash.
fn mkfs_word(id: &str, word: &str) -> Result<()> {
    if !word.contains('/') && !names_a_device(word) {
        return Ok(());
    }
    let why = "it names a path or a device, and nothing but the scratch device is ever formatted";
    Err(Error::usage(format!("make {id} with `{word}`: {why}")).next("leave it out"))
}

/// A word that is no option, nor can be the value of the one before it, is a second device.
fn no_argument(id: &str, words: &[String]) -> Result<()> {
    let is_option = |word: &String| word.starts_with('-');
    let mut before = false;
    for word in words {
        if !is_option(word) && !before {
            let why = "it belongs to no option, and would be formatted in place of the scratch device";
            return Err(Error::usage(format!("make {id} with `{word}`: {why}"))
                .next("leave it out, or put its option before it"));
        }
        before = is_option(word);
    }
    Ok(())
}

fn names_a_device(word: &str) -> bool {
    let word = word.to_ascii_lowercase();
    NAMES_A_DEVICE.iter().any(|name| word.contains(name))
}

fn mount_word(id: &str, word: &str) -> Result<()> {
    let name = word.split_once('=').map_or(word, |(name, _)| name);
    let why = match name {
        "ro" => "every workload writes",
        name if OTHER_DEVICES.contains(&name) || names_a_device(word) => {
            "nothing but the scratch device is ever mounted"
        }
        _ => return Ok(()),
    };
    Err(Error::usage(format!("mount {id} with `{word}`: {why}")).next(format!("leave `{name}` out")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Kind;

    fn configuration(mkfs: &[&str], mount: &str) -> Configuration {
        Configuration {
            id: "a".into(),
            filesystem: "a".into(),
            mount_options: mount.into(),
            mkfs_options: mkfs.iter().map(ToString::to_string).collect(),
            block_size_bytes: 4096,
            environment: 0,
        }
    }

    #[test]
    fn options_that_stay_on_the_scratch_device_are_taken() {
        for mkfs in [vec![], vec!["-O", "^has_journal"], vec!["-m", "single"], vec!["-i", "nrext64=0"]] {
            check(&configuration(&mkfs, "noatime,compress=zstd:3,data=journal")).unwrap();
        }
        check(&configuration(&[], "")).unwrap();
    }

    #[test]
    fn no_device_or_file_of_others_is_formatted() {
        for word in [
            "/dev/sda",
            "dev/sda",
            "device=/dev/sda",
            "logdev=/dev/sda",
            "file,name=/tmp/x,size=1g",
            "device=UUID=0",
            "-Jdevice=sda",
            "DEVICE=sda",
            "logdev=sda",
            "size=1m,rtdev=x",
            "PartLabel=root",
        ] {
            let error = check(&configuration(&["-x", word], "")).unwrap_err();
            assert_eq!(error.kind(), Kind::Usage);
            assert!(error.to_string().contains(word) && error.next_step().is_some(), "{error}");
        }
    }

    #[test]
    fn a_word_without_an_option_is_not_formatted() {
        for words in [vec!["swapfile"], vec!["-m", "single", "swapfile"], vec!["-f", "a", "b", "-x"]] {
            let error = check(&configuration(&words, "")).unwrap_err();
            assert_eq!(error.kind(), Kind::Usage);
            assert!(error.to_string().contains("belongs to no option"), "{error}");
        }
    }

    #[test]
    fn no_second_device_is_mounted_and_no_mount_is_read_only() {
        for word in [
            "device=/dev/sda",
            "logdev=sda",
            "rtdev=x",
            "journal_dev=0x801",
            "journal_path=/x",
            "ro",
            " ro",
            "x=UUID=1",
        ] {
            let error = check(&configuration(&[], &format!("noatime,{word}"))).unwrap_err();
            assert_eq!(error.kind(), Kind::Usage);
            assert!(error.to_string().contains(word.trim()) && error.next_step().is_some(), "{error}");
        }
    }
}
