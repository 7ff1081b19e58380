use super::*;

/// From `dumpe2fs -h` of e2fsprogs 1.47.0, a file system of 1 GiB.
const DUMPE2FS: &str = "\
Filesystem UUID:          11111111-2222-4333-8444-555555555555
Filesystem revision #:    1 (dynamic)
Filesystem features:      has_journal ext_attr resize_inode dir_index filetype extent 64bit flex_bg sparse_super large_file huge_file dir_nlink extra_isize metadata_csum
Filesystem flags:         signed_directory_hash 
Inode count:              65536
Block count:              262144
Reserved block count:     13107
First block:              0
Block size:               4096
Inode size:	          256
Checksum type:            crc32c
Checksum:                 0x02cb2741
Journal features:         (none)
Total journal size:       32M
Total journal blocks:     8192
";

fn options(extra: &[&str]) -> MkfsOptions {
    MkfsOptions {
        block_size: Bytes::kib(4),
        uuid: "11111111-2222-4333-8444-555555555555".into(),
        seed: Seed(1),
        extra: extra.iter().map(|&word| word.into()).collect(),
    }
}

fn full(available: u64, inodes: u64, inodes_free: u64) -> StatFs {
    StatFs {
        total: Bytes::gib(1),
        free: Bytes(available),
        available: Bytes(available),
        inodes,
        inodes_free,
        read_only: false,
    }
}

#[test]
fn dumpe2fs_tells_features_inodes_journal_and_reserve() {
    let told = parse_dumpe2fs(DUMPE2FS);
    assert_eq!(told.features.len(), 14);
    assert_eq!(told.features[0], "64bit");
    assert_eq!(told.ledger["inode_size_bytes"], 256);
    assert_eq!(told.ledger["inodes_count"], 65536);
    assert_eq!(told.ledger["journal_bytes"], 32 << 20);
    assert_eq!(told.ledger["reserved_bytes"], 13107 * 4096);
    assert_eq!(told.ledger["metadata_checksums"], "crc32c");
}

#[test]
fn without_a_journal_its_size_is_0_and_what_is_not_told_is_absent() {
    let told = parse_dumpe2fs("Filesystem features:      extent\nBlock size:               1024\n");
    assert_eq!(told.ledger["journal_bytes"], 0);
    assert_eq!(told.ledger["metadata_checksums"], "none");
    assert!(!told.ledger.contains_key("inodes_count"));
}

#[test]
fn extended_options_of_a_user_join_ours_because_only_the_last_counts() {
    let words =
        Ext4.mkfs(Path::new("/dev/loop9"), &options(&["-E", "stride=4", "-N", "9", "-Eorphan"])).words();
    let extended: Vec<_> = words.iter().filter(|word| word.starts_with("hash_seed=")).collect();
    assert_eq!(words.iter().filter(|word| *word == "-E").count(), 1);
    assert!(extended[0].ends_with("nodiscard,stride=4,orphan"), "{}", extended[0]);
    assert_eq!(words[words.len() - 3..], ["-N", "9", "/dev/loop9"]);
}

#[test]
fn the_hash_seed_is_a_uuid_that_follows_from_the_seed() {
    let parts: Vec<_> = hash_seed(Seed(7)).split('-').map(str::len).collect();
    assert_eq!(parts, [8, 4, 4, 4, 12]);
    assert_eq!(hash_seed(Seed(7)), hash_seed(Seed(7)));
    assert_ne!(hash_seed(Seed(7)), hash_seed(Seed(8)));
}

#[test]
fn mke2fs_tells_how_many_inodes_it_would_make() {
    let text = "Creating filesystem with 1048576 1k blocks and 65536 inodes\nFilesystem UUID: 986d\n";
    assert_eq!(parse_inodes(text), Some(65536));
    assert_eq!(parse_inodes("mke2fs: invalid blocks"), None);
}

#[test]
fn a_fresh_file_system_has_11_inodes_in_use_or_12_with_an_orphan_file() {
    let taken = |extra: &[&str]| inodes_taken(&options(extra).extra);
    assert_eq!(taken(&["-O", "^orphan_file,quota"]), 11);
    assert_eq!(taken(&["-O", "quota,orphan_file"]), 12);
    assert_eq!(taken(&["-Oorphan_file"]), 12);
}

#[test]
fn enospc_is_inodes_directory_index_or_space() {
    let which = |now| Ext4.limit(Errno::ENOSPC, &now, None).0;
    assert_eq!(which(full(600 << 20, 65536, 0)), Which::Inodes);
    assert_eq!(which(full(159_466 << 10, 60000, 39760)), Which::DirectoryIndex);
    assert_eq!(which(full(0, 65536, 39760)), Which::Space);
    assert_eq!(Ext4.limit(Errno::EMLINK, &full(0, 65536, 0), None).0, Which::Links);
    assert_eq!(Ext4.limit(Errno::EFBIG, &full(0, 65536, 0), None).0, Which::FileSize);
}

#[test]
fn the_sentence_of_a_limit_has_its_numbers() {
    let (_, text) = Ext4.limit(Errno::ENOSPC, &full(600 << 20, 65536, 0), None);
    assert!(text.contains("65536") && text.contains("629145600"), "{text}");
}

#[test]
fn only_a_checker_that_finished_and_found_nothing_says_clean() {
    let clean = "Pass 5: Checking group summary information\ne: 11/65536 files\n";
    assert_eq!(Ext4.verdict(0, clean).checked, Checked::Clean);
    assert_eq!(Ext4.verdict(0, "Warning!  /dev/loop0 is in use.\n").checked, Checked::NotChecked);
    assert_eq!(Ext4.verdict(0, "Warning!  /dev/loop0 is mounted.\n").checked, Checked::NotChecked);
    for damaged in [1, 4, 8, 12, 139] {
        assert_eq!(Ext4.verdict(damaged, "").checked, Checked::Damaged, "{damaged}");
    }
    assert_eq!(Ext4.verdict(16, "Usage: e2fsck").checked, Checked::NotChecked);
    assert_eq!(Ext4.verdict(127, "").checked, Checked::NotChecked);
}

#[test]
fn counters_at_zero_are_no_error() {
    assert_eq!(counted("loop4", 0, 0), None);
    assert!(counted("loop4", 0, 135).is_some_and(|text| text.contains("135 warnings on loop4")));
}
