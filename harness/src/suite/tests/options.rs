//! What the command line changes.

use super::*;

#[test]
fn the_command_line_is_over_set_over_the_scale_over_the_defaults() {
    let size = |options: &Options| resolve(&suite(), options).unwrap().image_size;
    let full = Options { scale: Some("full".into()), ..Options::default() };
    assert_eq!(size(&full), Bytes::gib(4));
    assert_eq!(size(&Options::default()), Bytes::gib(1));
    assert_eq!(size(&set(&["size=3GiB"])), Bytes::gib(3));
    assert_eq!(size(&Options { size: Some(Bytes::gib(5)), ..set(&["size=3GiB"]) }), Bytes::gib(5));
}

#[test]
fn every_option_of_the_command_line_wins_over_the_suite() {
    let options = Options {
        block_size: Some(Bytes(1024)),
        seed: Some(u64::MAX),
        timeout: Some(Duration::from_secs(1)),
        store: Some("/mnt/x".into()),
        direct_io: Some(DirectIo::On),
        preallocate: Some(true),
        overcommit: Some(true),
        require_all: true,
        ..Options::default()
    };
    let run = resolve(&suite(), &options).unwrap();
    assert_eq!((run.block_size, run.configurations[0].block_size_bytes), (Bytes(1024), 1024));
    assert_eq!((run.seed, run.timeout), (Seed(u64::MAX), Some(Duration::from_secs(1))));
    assert_eq!(run.store, Store::Directory("/mnt/x".into()));
    assert_eq!((run.direct_io, run.preallocate, run.overcommit), (DirectIo::On, true, true));
    assert!(run.require_all);
}

#[test]
fn set_changes_any_key_of_steps_and_file_systems() {
    let options = set(&[
        "step.small-files.count=500",
        "step.fill.allow-limit=false",
        "filesystem.nojournal.mount=data=journal",
        "filesystem.btrfs.mkfs=[\"-m\", \"dup\"]",
        "defaults.store=/mnt/y",
        "seed=\"18446744073709551615\"",
        "preallocate=true",
    ]);
    let run = resolve(&suite(), &options).unwrap();
    assert_eq!(run.steps[0].parameters["count"], 500);
    assert!(!run.steps[1].allow_limit && run.preallocate);
    assert_eq!(run.configurations[1].mount_options, "data=journal");
    assert_eq!(run.configurations[0].mkfs_options, ["-m", "dup"]);
    assert_eq!((run.store, run.seed), (Store::Directory("/mnt/y".into()), Seed(u64::MAX)));
}

#[test]
fn fs_replaces_the_list_and_numbers_what_is_there_twice() {
    let run = resolve(&suite(), &fs(&["ext4,ext4", "lzo=btrfs:compress=lzo", "ext4"])).unwrap();
    assert!(run.named);
    assert_eq!(ids(&run), ["ext4", "ext4#2", "lzo", "ext4#3"]);
    assert_eq!(run.configurations[0].mkfs_options, [""; 0]);
    assert_eq!(run.configurations[2].mount_options, "compress=lzo");
}

#[test]
fn set_and_mkfs_options_find_the_second_of_two() {
    let options = Options {
        mkfs_options: vec!["ext4#2=-I 512".into(), "ext4#2=-m 0".into(), "btrfs=-m single".into()],
        set: vec!["filesystem.ext4#2.mount=data=journal".into()],
        ..fs(&["ext4,ext4,a=btrfs,btrfs"])
    };
    let run = resolve(&suite(), &options).unwrap();
    let mkfs: Vec<_> = run.configurations.iter().map(|of| of.mkfs_options.join(" ")).collect();
    assert_eq!(mkfs, ["", "-I 512 -m 0", "-m single", "-m single"]);
    assert_eq!(run.configurations[0].mount_options, "");
    assert_eq!(run.configurations[1].mount_options, "data=journal");
}

#[test]
fn mkfs_options_replace_those_of_the_suite() {
    let options = Options { mkfs_options: vec!["ext4=-m 0".into()], ..Options::default() };
    let run = resolve(&suite(), &options).unwrap();
    assert_eq!(run.configurations[1].mkfs_options, ["-m", "0"]);
    let wrong = Options { mkfs_options: vec!["xfs=-m 0".into()], ..Options::default() };
    let error = resolve(&suite(), &wrong).unwrap_err();
    assert!(error.to_string().contains("known: btrfs, nojournal"), "{error}");
}

#[test]
fn an_empty_selection_is_an_error_of_its_own() {
    let no_step = Suite::parse("x", "[suite]\nname = \"x\"").unwrap();
    for (suite, options) in [(suite(), fs(&[""])), (no_step, Options::default())] {
        let error = resolve(&suite, &options).unwrap_err();
        assert_eq!(error.kind(), Kind::Empty, "{error}");
        assert!(error.next_step().is_some());
    }
}

#[test]
fn an_option_that_makes_no_sense_is_refused_with_what_does() {
    let scale = Options { scale: Some("quik".into()), ..Options::default() };
    let block = Options { block_size: Some(Bytes(3000)), ..Options::default() };
    let size = Options { size: Some(Bytes(5000)), ..Options::default() };
    let table = [
        (set(&["siz=1GiB"]), "cannot use `--set siz=1GiB`: unknown key `siz`; did you mean `size`?"),
        (set(&["count=5"]), "cannot use `--set count=5`: unknown key `count`; known: size, "),
        (set(&["size=1XB"]), "`XB` is not a unit of sizes"),
        (set(&["step.small-file.count=1"]), "unknown step `small-file`; did you mean `small-files`?"),
        (set(&["step.small-files.coutn=1"]), "unknown key `coutn`; did you mean `count`?"),
        (set(&["step.small-files.name=x"]), "the name of a step cannot be changed"),
        (set(&["filesystem.ext4.mount=x"]), "unknown file system `ext4`; known: btrfs, nojournal"),
        (set(&["filesystem.btrfs.mont=x"]), "unknown key `mont`; did you mean `mount`?"),
        (set(&["stp.x.y=1"]), "unknown key `stp`; did you mean `step`?"),
        (set(&["step.count=1"]), "a path in it is `step.NAME.KEY`"),
        (set(&["size"]), "there is no `=` in it"),
        (set(&["preallocate=yes"]), "true or false is needed here, not a text"),
        (set(&["seed=-1"]), "invalid digit"),
        (fs(&["zfs"]), "cannot use `--fs zfs`: unknown file system `zfs`; known: btrfs, ext4, xfs"),
        (fs(&["ext5"]), "did you mean `ext4`?"),
        (fs(&["a/b=ext4"]), "`a/b` cannot be a name"),
        (scale, "cannot use `--scale quik`: unknown scale `quik`; did you mean `quick`?"),
        (block, "use blocks of"),
        (size, "not a whole number of blocks"),
    ];
    for (options, expected) in table {
        let error = resolve(&suite(), &options).unwrap_err();
        assert_eq!(error.kind(), Kind::Usage, "{error}");
        assert!(error.to_string().contains(expected), "{error}\nis not {expected}");
    }
}

#[test]
fn an_unknown_workload_or_parameter_of_one_is_refused() {
    let unknown = resolve(&Suite::of_workload("many-small-file").unwrap(), &Options::default()).unwrap_err();
    assert!(unknown.to_string().contains("did you mean `many-small-files`?"), "{unknown}");
    let list = Suite::of_workload("list").unwrap();
    let key = resolve(&list, &set(&["count=5"])).unwrap_err();
    assert!(key.to_string().contains("unknown key `count`"), "{key}");
    assert!(Suite::of_workload("../x").is_err());
}

#[test]
fn an_error_that_a_workload_finds_points_to_its_step() {
    let run = resolve(&suite(), &Options::default()).unwrap();
    let error = run.places.explain("fill", Error::usage("take a chunk of 0").next("take 1MiB"));
    let line = SUITE.lines().position(|line| line.contains("name = \"fill\"")).unwrap();
    assert!(error.to_string().contains(&format!("two.toml:{line}:1: cannot take a chunk of 0")), "{error}");
    assert_eq!(error.next_step(), Some("take 1MiB"));
}

#[test]
fn options_of_a_kernel_cannot_cut_off_what_follows_them() {
    let tell = |text: &str| {
        let options = Options { kernel_options: Some(text.into()), ..Options::default() };
        resolve(&suite(), &options).map_err(|error| error.to_string())
    };
    assert!(tell("quiet -- x").unwrap_err().contains("`--` ends"));
    assert!(tell("quiet\n--").unwrap_err().contains("`--` ends"));
    assert!(tell("a=\"b c").unwrap_err().contains("not closed"));
    assert!(tell(&"x".repeat(1025)).unwrap_err().contains("longer"));
    assert!(tell("a--b=\"c d\" quiet").is_ok());
}

#[test]
fn options_of_a_kernel_boot_one_or_are_refused() {
    let line = Options { kernel_options: Some("quiet".into()), ..Options::default() };
    assert_eq!(resolve(&suite(), &line).unwrap().backend, Backend::Vm);
    let host = Options { backend: Some(Backend::Host), ..line.clone() };
    assert!(resolve(&suite(), &host).unwrap_err().to_string().contains("no kernel is booted"));
    let disk = Options { device: Some("/dev/vdb".into()), backend: Some(Backend::Host), ..line };
    assert!(resolve(&suite(), &disk).unwrap_err().to_string().contains("no kernel is booted"));
}
