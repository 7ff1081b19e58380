//! What holds for all kinds of file systems.

use super::*;

fn options() -> MkfsOptions {
    MkfsOptions {
        block_size: Bytes::kib(4),
        uuid: "11111111-2222-4333-8444-555555555555".into(),
        seed: Seed(1),
        extra: vec!["--extra".into()],
    }
}

#[test]
fn every_file_of_this_folder_has_a_row_in_the_table() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/fs");
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let sources = files.filter(|path| path.extension().is_some_and(|end| end == "rs"));
    let names = sources.map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned());
    let mut in_folder: Vec<_> = names.filter(|name| !["mod", "tests"].contains(&name.as_str())).collect();
    in_folder.sort();
    let mut in_table: Vec<_> = ALL.iter().map(|filesystem| filesystem.name()).collect();
    in_table.sort_unstable();
    assert_eq!(in_table, in_folder);
}

#[test]
fn a_name_leads_to_its_row() {
    for filesystem in ALL {
        assert_eq!(by_name(filesystem.name()).map(Filesystem::name), Some(filesystem.name()));
    }
    assert!(by_name("ext").is_none());
}

#[test]
fn no_check_command_repairs() {
    for words in ALL.iter().filter_map(|filesystem| filesystem.fsck(Path::new("/dev/loop9"))) {
        let words = words.words();
        let only_reads = ["-n", "-fn", "--readonly", "--dry-run", "--check"];
        assert!(words.iter().any(|word| only_reads.contains(&word.as_str())), "{words:?}");
        // To `--check`, which repairs nothing, `-y` answers only whether to begin.
        let begins = words.iter().any(|word| word == "--check");
        let repairs =
            ["-p", "-a", "-L", "-fy", "-f", "--repair", "--force", "--fix-fixable", "--rebuild-tree"];
        assert!(!words.iter().any(|word| repairs.contains(&word.as_str())), "{words:?}");
        assert!(begins || !words.iter().any(|word| word == "-y"), "{words:?}");
    }
}

#[test]
fn only_what_has_no_checker_has_no_command_for_one() {
    let without = ALL.iter().filter(|filesystem| filesystem.fsck(Path::new("/dev/loop9")).is_none());
    let names: Vec<_> = without.map(|filesystem| filesystem.name()).collect();
    assert_eq!(names, ["nilfs2"]);
}

#[test]
fn every_mkfs_has_block_size_uuid_and_no_discard_and_ends_in_the_device() {
    // Their mkfs never discards: an image of random bytes was as large afterwards.
    let never_discards = ["jfs", "reiserfs"];
    let kernel = KernelVersion { version: (6, 12), here: false };
    for filesystem in ALL {
        let words = filesystem.mkfs(Path::new("/dev/loop9"), &options()).words();
        let line = words.join(" ");
        let one_size = filesystem.block_sizes(kernel) == [Bytes::kib(4)];
        assert!(line.contains("4096") || one_size, "{line}");
        let uuid = line.contains("11111111-2222-4333-8444-555555555555");
        assert_eq!(uuid, filesystem.takes_uuid(), "{line}");
        let switched_off = [" -K ", ",nodiscard", " -t 0 "].iter().any(|word| line.contains(word));
        assert_ne!(switched_off, never_discards.contains(&filesystem.name()), "{line}");
        assert!(line.ends_with(" --extra /dev/loop9"), "{line}");
    }
}

#[test]
fn no_tool_asks_a_question() {
    for filesystem in ALL {
        let words = filesystem.mkfs(Path::new("/dev/loop9"), &options()).words();
        let quiet = ["-f", "-F", "-q"];
        assert!(words.iter().any(|word| quiet.contains(&word.as_str())), "{words:?}");
    }
}

#[test]
fn every_program_of_a_command_line_is_required() {
    for filesystem in ALL {
        let device = Path::new("/dev/loop9");
        let fsck = filesystem.fsck(device).map(|fsck| fsck.program);
        let mkfs = filesystem.mkfs(device, &options()).program;
        let required = filesystem.requirements();
        for used in [filesystem.version().program, mkfs].into_iter().chain(fsck) {
            let has = required
                .iter()
                .any(|need| matches!(need, Requirement::Tool { program, .. } if *program == used));
            assert!(has, "{used} of {}", filesystem.name());
        }
    }
}

#[test]
fn the_package_of_every_required_program_is_known() {
    for need in ALL.iter().flat_map(|filesystem| filesystem.requirements()) {
        if let Requirement::Tool { program, package } = need {
            assert_eq!(require::package_of(program), Some(package), "{program}");
        }
    }
}

#[test]
fn every_file_system_takes_4_kib_blocks_on_4_kib_pages() {
    if crate::sys::page_size() == 4096 {
        for kernel in [KernelVersion::here(), KernelVersion::of("6.1.0-56-amd64")] {
            let takes =
                |filesystem: &&dyn Filesystem| filesystem.block_sizes(kernel).contains(&Bytes::kib(4));
            assert!(ALL.iter().all(takes));
        }
    }
}

#[test]
fn a_file_system_that_left_linux_is_told_with_the_version() {
    let reiserfs = by_name("reiserfs").unwrap();
    assert!(reiserfs.in_linux().has(KernelVersion::of("6.12.95+deb12-amd64").version));
    let missing = lacking(reiserfs, "6.18.44", "no module");
    assert_eq!(missing.text, "reiserfs left Linux in 6.13; kernel 6.18.44 has none");
    assert!(missing.next.contains("--backend vm --kernel"), "{}", missing.next);
}

#[test]
fn what_is_left_out_has_no_row_and_what_is_common_has() {
    assert!(LEFT_OUT.iter().all(|(name, _)| by_name(name).is_none()));
    let names: Vec<_> = common().iter().map(|filesystem| filesystem.name()).collect();
    assert_eq!(names, ["btrfs", "ext4", "xfs"]);
}

#[test]
fn a_verdict_keeps_what_the_checker_found_and_not_how_far_it_was() {
    let output = "Phase 1 - find and verify superblock...\n        - agno = 0\nbad hash table\n\n";
    let verdict = verdict("xfs_repair -n", Checked::Damaged, 1, output);
    assert_eq!(verdict.text, "xfs_repair -n ended with 1: bad hash table");
}

#[test]
fn a_progress_display_leaves_no_control_characters() {
    let text = verdict("reiserfsck", Checked::Damaged, 4, "\u{8}bad\u{8} leaf\n").text;
    assert_eq!(text, "reiserfsck ended with 4: bad leaf");
}

#[test]
fn every_checker_that_did_not_start_has_checked_nothing() {
    for filesystem in ALL {
        assert_eq!(filesystem.verdict(127, "").checked, Checked::NotChecked);
        if filesystem.fsck(Path::new("/dev/loop9")).is_some() {
            let crashed = filesystem.verdict(139, "").checked;
            assert_eq!(crashed, Checked::Damaged, "a crash proves nothing good");
        }
    }
}
