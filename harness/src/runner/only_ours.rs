//! Options that would reach beyond the scratch device, or make it useless, are refused before the
//! start: no device and no file that this program did not make is ever formatted or mounted.

use crate::error::{Error, Result};
use crate::result::Configuration;

/// Mount options that take a second device. Sources: btrfs(5), ext4(5), xfs(5).
const OTHER_DEVICES: [&str; 5] = ["device", "journal_dev", "journal_path", "logdev", "rtdev"];

/// Refuse options of mkfs and mount that name something which is not ours.
pub(super) fn check(configuration: &Configuration) -> Result<()> {
    configuration.mkfs_options.iter().try_for_each(|word| mkfs_word(&configuration.id, word))?;
    configuration.mount_options.split(',').try_for_each(|word| mount_word(&configuration.id, word))
}

/// Tools run in `/`, so that the name of a device always has a slash.
fn mkfs_word(id: &str, word: &str) -> Result<()> {
    if !word.contains('/') {
        return Ok(());
    }
    Err(Error::usage(format!(
        "make {id} with `{word}`: it names a path, and nothing but the scratch device is ever formatted"
    ))
    .next("leave it out"))
}

fn mount_word(id: &str, word: &str) -> Result<()> {
    let name = word.split_once('=').map_or(word, |(name, _)| name);
    let why = match name {
        "ro" => "every workload writes",
        name if OTHER_DEVICES.contains(&name) => "nothing but the scratch device is ever mounted",
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
        for word in ["/dev/sda", "dev/sda", "device=/dev/sda", "logdev=/dev/sda", "file,name=/tmp/x,size=1g"]
        {
            let error = check(&configuration(&["-x", word], "")).unwrap_err();
            assert_eq!(error.kind(), Kind::Usage);
            assert!(error.to_string().contains(word) && error.next_step().is_some(), "{error}");
        }
    }

    #[test]
    fn no_second_device_is_mounted_and_no_mount_is_read_only() {
        for word in ["device=/dev/sda", "logdev=sda", "rtdev=x", "journal_dev=0x801", "journal_path=/x", "ro"]
        {
            let error = check(&configuration(&[], &format!("noatime,{word}"))).unwrap_err();
            assert_eq!(error.kind(), Kind::Usage);
            assert!(error.to_string().contains(word) && error.next_step().is_some(), "{error}");
        }
    }
}
