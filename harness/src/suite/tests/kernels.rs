//! Kernels as a dimension, and what can be asked for together about where a run takes place.

use super::*;

const MATRIX: &str = r#"[matrix]
kernel = [{ id = "old", path = "linux-6.1.deb" }, { path = "/boot/new" }, { id = "host" }]
[[step]]
name = "small-files""#;

/// [`SUITE`] with three kernels, in a folder.
fn matrix() -> Suite {
    let text = SUITE.replacen("[[step]]\nname = \"small-files\"", MATRIX, 1);
    Suite::parse("folder/two.toml", &text).unwrap()
}

fn kernels(values: &[&str]) -> Options {
    Options { kernels: values.iter().map(|value| (*value).into()).collect(), ..Options::default() }
}

fn paths(run: &Resolved) -> Vec<&str> {
    run.kernels.iter().map(|kernel| kernel.path.as_str()).collect()
}

fn refused(options: Options) -> String {
    let error = resolve(&suite(), &options).unwrap_err();
    assert_eq!(error.kind(), Kind::Usage);
    format!("{error}; {}", error.next_step().unwrap())
}

fn device() -> Options {
    Options { device: Some("/dev/vdb".into()), ..Options::default() }
}

#[test]
fn each_file_system_runs_on_each_kernel() {
    let mut run = resolve(&matrix(), &Options::default()).unwrap();
    assert_eq!(paths(&run), ["folder/linux-6.1.deb", "/boot/new", "host"]);
    let releases = ["6.1.0-51-amd64", "6.12.95+deb13-amd64", "6.18.44"].map(String::from);
    run.name_kernels(&releases);
    let expected =
        ["btrfs@old", "nojournal@old", "btrfs@6.12", "nojournal@6.12", "btrfs@host", "nojournal@host"];
    assert_eq!(ids(&run), expected);
    let places: Vec<u32> = run.configurations.iter().map(|one| one.environment).collect();
    assert_eq!(places, [0, 0, 1, 1, 2, 2]);
    assert_eq!(run.configurations[3].mkfs_options, ["-O", "^has_journal"]);
    assert_eq!(run.backend, Backend::Vm, "a kernel is booted in one");
    let told = &run.info.resolved;
    assert_eq!(told["configurations"][2]["id"], "btrfs@6.12");
    assert_eq!(
        told["kernels"][1],
        json!({ "id": "6.12", "path": "/boot/new", "release": "6.12.95+deb13-amd64" })
    );
}

#[test]
fn until_they_are_found_kernels_are_called_by_their_place_and_naming_twice_is_naming_once() {
    let mut run = resolve(&suite(), &kernels(&["a", "b"])).unwrap();
    assert_eq!(ids(&run), ["btrfs@1", "nojournal@1", "btrfs@2", "nojournal@2"]);
    for _ in 0..2 {
        run.name_kernels(&["6.1.0".into(), "6.1.9".into()]);
        assert_eq!(ids(&run), ["btrfs@6.1", "nojournal@6.1", "btrfs@6.1#2", "nojournal@6.1#2"]);
    }
}

#[test]
fn one_kernel_leaves_the_ids_as_they_are() {
    let mut run = resolve(&suite(), &kernels(&["vmlinuz"])).unwrap();
    run.name_kernels(&["6.12.1".into()]);
    assert_eq!(ids(&run), ["btrfs", "nojournal"]);
    assert_eq!(run.info.resolved["kernels"][0]["id"], "6.12");
    let mut none = resolve(&suite(), &Options::default()).unwrap();
    none.name_kernels(&[]);
    assert_eq!((ids(&none), none.backend), (vec!["btrfs", "nojournal"], Backend::Auto));
}

#[test]
fn the_command_line_replaces_the_matrix_with_paths_as_they_were_typed() {
    let run = resolve(&matrix(), &kernels(&["linux-6.12.deb"])).unwrap();
    assert_eq!((paths(&run), ids(&run)), (vec!["linux-6.12.deb"], vec!["btrfs", "nojournal"]));
    let command = run.info.resolved["command"].as_str().unwrap().to_owned();
    assert!(command.ends_with(" --backend vm --kernel linux-6.12.deb"), "{command}");
}

#[test]
fn options_of_a_file_system_go_by_its_id_without_a_kernel() {
    let options = Options {
        mkfs_options: vec!["nojournal=-m 0".into()],
        set: vec!["filesystem.btrfs.mount=noatime".into()],
        ..kernels(&["a", "b"])
    };
    let run = resolve(&suite(), &options).unwrap();
    for one in &run.configurations {
        match one.filesystem.as_str() {
            "ext4" => assert_eq!(one.mkfs_options, ["-m", "0"]),
            _ => assert_eq!(one.mount_options, "noatime"),
        }
    }
}

#[test]
fn a_suite_gives_memory_and_backend_and_the_command_line_wins() {
    let text = SUITE.replace("seed = 7", "seed = 7\nmemory = \"512M\"\nbackend = \"vm\"");
    let suite = Suite::parse("two.toml", &text).unwrap();
    let run = resolve(&suite, &Options::default()).unwrap();
    assert_eq!((run.memory, run.backend), (Some(Bytes(512 << 20)), Backend::Vm));
    assert_eq!(run.info.resolved["memory_bytes"], 512 << 20);
    let line = Options { memory: Some(Bytes::gib(1)), backend: Some(Backend::Host), ..Options::default() };
    let run = resolve(&suite, &line).unwrap();
    assert_eq!((run.memory, run.backend), (Some(Bytes::gib(1)), Backend::Host));
    for (wrong, why) in [("backend = \"moon\"", "auto, host or vm"), ("device = \"/dev/vdb\"", "unknown key")]
    {
        let text = SUITE.replace("seed = 7", wrong);
        let error = Suite::parse("x", &text).unwrap_err();
        assert!(format!("{error} {:?}", error.next_step()).contains(why), "{error}");
    }
}

#[test]
fn what_contradicts_itself_is_refused_with_the_way_out() {
    let backend = |backend| Options { backend: Some(backend), ..Options::default() };
    let directory = refused(backend(Backend::Directory));
    assert!(directory.contains("fsduel postmark CONFIG"), "{directory}");
    let host = refused(Options { backend: Some(Backend::Host), ..kernels(&["k"]) });
    assert!(host.contains("--backend vm"), "{host}");
    assert!(refused(kernels(&[""])).contains("--kernel host"));
    assert!(refused(Options { memory: Some(Bytes(0)), ..Options::default() }).contains("no memory"));
    for (options, word) in [
        (Options { backend: Some(Backend::Vm), ..device() }, "virtual machine"),
        (Options { kernels: vec!["k".into()], ..device() }, "virtual machine"),
        (Options { store: Some("/mnt".into()), ..device() }, "leave out --store"),
        (Options { preallocate: Some(true), ..device() }, "leave out --preallocate"),
        (Options { size: Some(Bytes::gib(1)), ..device() }, "leave out --size"),
    ] {
        let text = refused(options);
        assert!(text.contains(word) && text.contains("/dev/vdb"), "{text}");
    }
}

#[test]
fn a_whole_disk_takes_the_place_of_what_a_suite_says_of_images() {
    let suite = Suite::parse("two.toml", &SUITE.replace("seed = 7", "seed = 7\npreallocate = true")).unwrap();
    let mut run = resolve(&suite, &Options { wipe: true, ..device() }).unwrap();
    run.on_a_disk_of(Bytes(3 << 30));
    assert_eq!((run.image_size, &run.info.resolved["size_bytes"]), (Bytes::gib(3), &json!(3u64 << 30)));
    assert_eq!(run.store, Store::Disk("/dev/vdb".into()));
    assert!(run.wipe && !run.preallocate);
    let command = run.info.resolved["command"].as_str().unwrap();
    assert!(command.contains(" --device /dev/vdb --destroy-data /dev/vdb --wipe"), "{command}");
    assert!(!command.contains("--size") && !command.contains("--store"), "{command}");
}
