//! The command in a report repeats the run.

use super::*;

/// Words as a shell reads them.
fn words(line: &str) -> Vec<String> {
    let (mut words, mut quote) = (vec![String::new()], None);
    for sign in line.chars() {
        match (quote, sign) {
            (None, ' ') => words.push(String::new()),
            (None, '\'' | '"') => quote = Some(sign),
            (Some(open), sign) if sign == open => quote = None,
            _ => words.last_mut().unwrap().push(sign),
        }
    }
    words
}

/// The suite that is named, and the options.
fn read(line: &str) -> (Option<String>, Option<String>, Options) {
    let words = words(line);
    assert_eq!(words[..2], ["fsduel", "run"]);
    let (mut named, mut workload, mut options) = (None, None, Options::default());
    let mut rest = words[2..].iter();
    while let Some(word) = rest.next() {
        let mut value = || rest.next().unwrap().clone();
        match word.as_str() {
            "--workload" => workload = Some(value()),
            "--scale" => options.scale = Some(value()),
            "--fs" => options.filesystems.push(value()),
            "--size" => options.size = Some(value().parse().unwrap()),
            "--block-size" => options.block_size = Some(value().parse().unwrap()),
            "--seed" => options.seed = Some(value().parse().unwrap()),
            "--set" => options.set.push(value()),
            "--mkfs-options" => options.mkfs_options.push(value()),
            "--timeout" => options.timeout = Some(crate::units::parse_duration(&value()).unwrap()),
            "--store" => options.store = Some(value()),
            "--direct-io" => options.direct_io = Some(parse_direct_io(&value()).unwrap()),
            "--memory" => options.memory = Some(value().parse().unwrap()),
            "--backend" => options.backend = Some(if value() == "vm" { Backend::Vm } else { Backend::Host }),
            "--kernel" => options.kernels.push(value()),
            "--device" => options.device = Some(value().into()),
            "--destroy-data" => assert_eq!(options.device, Some(value().into())),
            "--wipe" => options.wipe = true,
            "--preallocate" => options.preallocate = Some(true),
            "--overcommit" => options.overcommit = Some(true),
            "--require-all" => options.require_all = true,
            suite => assert!(named.replace(suite.to_owned()).is_none() && !suite.starts_with('-'), "{suite}"),
        }
    }
    (named, workload, options)
}

fn command(run: &Resolved) -> String {
    run.info.resolved["command"].as_str().unwrap().to_owned()
}

/// Everything that is run and shown, the command itself too.
fn text(run: &Resolved) -> String {
    format!("{run:?}")
}

fn asked() -> Vec<Options> {
    vec![
        Options::default(),
        Options { scale: Some("full".into()), ..fs(&["btrfs,ext4,ext4"]) },
        fs(&["lzo=btrfs:noatime,compress=lzo;ext4:data=journal", "xfs"]),
        Options {
            size: Some(Bytes((1 << 30) + 4096)),
            block_size: Some(Bytes(1024)),
            seed: Some(u64::MAX),
            mkfs_options: vec!["nojournal=-O ^has_journal -L it's".into()],
            timeout: Some(Duration::from_millis(1500)),
            ..set(&["step.small-files.count=20", "filesystem.btrfs.mkfs=[\"-m\", \"dup\"]"])
        },
        Options {
            store: Some("/mnt/a folder".into()),
            direct_io: Some(DirectIo::Off),
            preallocate: Some(true),
            overcommit: Some(true),
            require_all: true,
            ..Options::default()
        },
        Options { store: Some(DEFAULT_STORE.into()), ..Options::default() },
        Options {
            memory: Some(Bytes(512 << 20)),
            backend: Some(Backend::Vm),
            kernels: vec!["host".into(), "/a folder/it's.deb".into()],
            ..Options::default()
        },
        Options { backend: Some(Backend::Host), device: Some("/dev/vdb".into()), wipe: true, ..fs(&["xfs"]) },
    ]
}

#[test]
fn the_command_reads_back_to_the_same_run() {
    for options in asked() {
        let run = resolve(&suite(), &options).unwrap();
        let (named, workload, again) = read(&command(&run));
        assert_eq!((named.as_deref(), workload), (Some("two.toml"), None));
        assert_eq!(text(&resolve(&suite(), &again).unwrap()), text(&run));
    }
}

#[test]
fn a_workload_alone_is_repeated_as_one() {
    let suite = Suite::of_workload("many-small-files").unwrap();
    let run = resolve(&suite, &set(&["count=5", "file-size=1..4"])).unwrap();
    let line = command(&run);
    assert_eq!(
        line,
        "fsduel run --workload many-small-files --size 2GiB --block-size 4KiB --seed 2010 --set count=5 \
         --set file-size=1..4"
    );
    let (named, workload, again) = read(&line);
    assert_eq!((named, workload.as_deref()), (None, Some("many-small-files")));
    assert_eq!(text(&resolve(&suite, &again).unwrap()), text(&run));
}

#[test]
fn a_suite_that_is_built_in_is_called_by_its_name_and_the_scale_is_told() {
    let suite = Suite::built_in("two", "fixtures/two/suite.toml", SUITE).unwrap();
    let run = resolve(&suite, &Options::default()).unwrap();
    assert!(command(&run).starts_with("fsduel run two --scale quick --size 1GiB "), "{}", command(&run));
    assert_eq!(run.info.resolved["base_scale"], "full");
}

#[test]
fn a_suite_of_steps_is_called_as_it_was_asked_for_and_takes_lone_keys() {
    let step = |name: &str, count: u64| StepSpec {
        name: name.into(),
        workload: "many-small-files".into(),
        parameters: json!({ "count": count, "file-size": "1..9" }),
        allow_limit: false,
    };
    let steps = [step("mails", 10), step("mails-2", 20)];
    let suite = Suite::of_steps(&["postmark", "a b.pmrc"], "Mails", &steps).unwrap();
    assert_eq!((suite.name(), suite.title()), ("mails", "Mails"));
    let options = Options { set: vec!["count=5".into()], ..fs(&["ext4"]) };
    let run = resolve(&suite, &options).unwrap();
    assert_eq!(run.steps[0].parameters, json!({ "count": 5, "file-size": "1..9" }));
    assert_eq!(run.steps[1], steps[1]);
    assert!(
        command(&run).starts_with("fsduel postmark 'a b.pmrc' --fs ext4 --size 2GiB "),
        "{}",
        command(&run)
    );
    assert!(Suite::of_steps(&["postmark"], "Mails", &[step("no name", 1)]).is_err());
}
