use super::*;

/// From `btrfs inspect-internal dump-super` of btrfs-progs 6.2.
const SUPERBLOCK: &str = "\
superblock: bytenr=65536, device=b
---------------------------------------------------------
csum_type		0 (crc32c)
csum_size		4
flags			0x1
			( WRITTEN )
sectorsize		4096
nodesize		16384
leafsize (deprecated)	16384
compat_flags		0x0
compat_ro_flags		0x3
			( FREE_SPACE_TREE |
			  FREE_SPACE_TREE_VALID )
incompat_flags		0x341
			( MIXED_BACKREF |
			  EXTENDED_IREF |
			  SKINNY_METADATA |
			  NO_HOLES )
cache_generation	0
dev_item.sector_size	4096
";

/// From `mkfs.btrfs` 6.2.
const MKFS: &str = "\
Node size:          16384
Sector size:        4096
Block group profiles:
  Data:             single            8.00MiB
  Metadata:         DUP              51.19MiB
  System:           DUP               8.00MiB
";

fn statfs() -> StatFs {
    StatFs {
        total: Bytes::gib(1),
        free: Bytes(0),
        available: Bytes(0),
        inodes: 0,
        inodes_free: 0,
        read_only: false,
    }
}

fn info(flags: u64, total: u64, used: u64) -> SpaceInfo {
    SpaceInfo { flags, total: Bytes(total), used: Bytes(used) }
}

/// As the ioctl gave it on a file system of 1 GiB.
fn infos() -> [SpaceInfo; 4] {
    [
        info(space::DATA, 243_269_632, 35_635_200),
        info(space::SYSTEM | space::DUP, 8_388_608, 16_384),
        info(space::METADATA | space::DUP, 53_673_984, 3_080_192),
        info(space::METADATA | space::GLOBAL_RESERVE, 5_767_168, 0),
    ]
}

#[test]
fn the_superblock_and_mkfs_tell_features_sizes_profiles_and_checksums() {
    let told = parse_description(SUPERBLOCK, MKFS);
    let features = ["EXTENDED_IREF", "FREE_SPACE_TREE", "FREE_SPACE_TREE_VALID", "MIXED_BACKREF", "NO_HOLES"];
    assert_eq!(told.features[..5], features);
    assert_eq!(told.features.len(), 6);
    assert_eq!(told.ledger["node_size_bytes"], 16384);
    assert_eq!(told.ledger["block_size_bytes"], 4096);
    assert_eq!(told.ledger["metadata_profile"], "DUP");
    assert_eq!(told.ledger["data_profile"], "single");
    assert_eq!(told.ledger["data_checksums"], "crc32c");
    assert!(!told.ledger.contains_key("inodes_count"));
}

#[test]
fn mixed_block_groups_have_one_profile_for_both() {
    let told = parse_description(
        SUPERBLOCK,
        "Block group profiles:\n  Data+Metadata:    single            8.00MiB\n",
    );
    assert_eq!(told.ledger["data_profile"], "single");
    assert_eq!(told.ledger["metadata_profile"], "single");
}

#[test]
fn each_copy_of_metadata_counts() {
    let told = detail(&infos()).unwrap();
    assert_eq!(told.data_used, Some(Bytes(35_635_200)));
    assert_eq!(told.metadata_used, Some(Bytes(2 * (3_080_192 + 16_384))));
    assert_eq!(told.metadata_total, Some(Bytes(2 * (53_673_984 + 8_388_608))));
    assert_eq!(told.metadata_reserve, Some(Bytes(2 * 5_767_168)));
}

#[test]
fn mixed_block_groups_tell_nothing_of_data_and_metadata() {
    assert_eq!(detail(&[info(space::DATA | space::METADATA, 1 << 27, 1 << 20)]), None);
}

#[test]
fn full_metadata_with_room_for_data_is_a_limit_of_metadata() {
    // 256 MiB full of files of 2000 bytes.
    let metadata = (115.5 * 1_048_576.0, 106.2 * 1_048_576.0);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "small positive numbers")]
    let space = SpaceDetail {
        data_used: Some(Bytes(0)),
        data_total: Some(Bytes::mib(8)),
        metadata_used: Some(Bytes(metadata.1 as u64)),
        metadata_total: Some(Bytes(metadata.0 as u64)),
        metadata_reserve: Some(Bytes(5_767_168)),
    };
    let (which, text) = Btrfs.limit(Errno::ENOSPC, &statfs(), Some(&space));
    assert_eq!(which, Which::Metadata);
    assert!(text.contains("data 0 of 8388608") && text.contains("5767168 in reserve"), "{text}");
}

#[test]
fn full_data_is_a_limit_of_space_and_never_of_inodes() {
    let space = SpaceDetail { data_used: Some(Bytes(243_269_632)), ..detail(&infos()).unwrap() };
    assert_eq!(Btrfs.limit(Errno::ENOSPC, &statfs(), Some(&space)).0, Which::Space);
    assert_eq!(Btrfs.limit(Errno::ENOSPC, &statfs(), None).0, Which::Space);
    assert_eq!(Btrfs.limit(Errno::EMLINK, &statfs(), None).0, Which::Links);
}

#[test]
fn only_a_check_without_a_complaint_says_clean() {
    let clean = "[1/7] checking root items\nfound 147456 bytes used, no error found\n";
    assert_eq!(Btrfs.verdict(0, clean).checked, Checked::Clean);
    let one_copy = "[2/7] checking extents\n\
        checksum verify failed on 30703616 wanted 0x52bcb208 found 0x3b08041b\n\
        found 180224 bytes used, no error found\n";
    let verdict = Btrfs.verdict(0, one_copy);
    assert_eq!(verdict.checked, Checked::Damaged, "one of two copies is bad, and the status is 0");
    assert!(verdict.text.contains(": checksum verify failed on 30703616"), "{}", verdict.text);
    assert_eq!(Btrfs.verdict(1, "ERROR: errors found in fs roots\n").checked, Checked::Damaged);
    let mounted = "ERROR: /dev/loop0 is currently mounted, use --force if you really intend to check\n";
    assert_eq!(Btrfs.verdict(1, mounted).checked, Checked::NotChecked);
}

#[test]
fn the_last_option_decides_whether_it_compresses() {
    for yes in ["noatime,compress=lzo", "compress", "compress-force=zstd:3", "compress=no,compress=zlib"] {
        assert!(Btrfs.compresses(yes), "{yes}");
    }
    for no in
        ["", "noatime", "compress=no", "compress=none", "compress=zstd,compress=no", "compress,nodatacow"]
    {
        assert!(!Btrfs.compresses(no), "{no}");
    }
}

#[test]
fn only_counters_that_moved_are_told() {
    let zero = "write_errs 0\nread_errs 0\nflush_errs 0\ncorruption_errs 0\ngeneration_errs 0\n";
    assert_eq!(counted("loop4", zero), None);
    let told = counted("loop4", &zero.replace("corruption_errs 0", "corruption_errs 10")).unwrap();
    assert_eq!(told, "btrfs counted errors on loop4: corruption_errs 10");
}
