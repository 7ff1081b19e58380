//! Against PostMark itself: what 1.53 printed for the same text, and what was run with it.

use std::collections::BTreeMap;
use std::io;

use serde::Deserialize;
use serde_json::{Value, json};

use super::{Action, Script};
use crate::workload::postmark::settings::Settings;

const VECTORS: &str = include_str!("../../../../../fixtures/postmark/vectors.json");
const SHOWN: &str = include_str!("../../../../../fixtures/postmark/shown.json");

fn nothing(_: &str) -> io::Result<Vec<u8>> {
    Err(io::Error::from_raw_os_error(libc::ENOENT))
}

fn read(text: impl AsRef<[u8]>) -> Script {
    Script::read("mail", text.as_ref(), &mut nothing)
}

fn runs(script: &Script) -> Vec<&Settings> {
    let actions = script.actions.iter();
    let settings = actions.filter_map(|action| match action {
        Action::Run { settings, .. } => Some(settings),
        Action::Show { .. } => None,
    });
    settings.collect()
}

/// Those that `--strict` refuses, without the name of the file.
fn quirks(script: &Script) -> Vec<String> {
    let strict = script.warnings.iter().filter(|warning| warning.strict);
    strict.map(|warning| format!("{} {}", warning.place, warning.text).replace("mail:", "")).collect()
}

#[test]
fn every_vector_means_what_postmark_made_of_it() {
    let vectors: Vec<Value> = serde_json::from_str(VECTORS).unwrap();
    assert!(vectors.len() > 20);
    for vector in vectors {
        let lines = vector["config_lines"].as_array().unwrap();
        let text: String = lines.iter().map(|line| format!("{}\n", line.as_str().unwrap())).collect();
        let script = read(text);
        let mut settings = serde_json::to_value(runs(&script)[0]).unwrap();
        settings.as_object_mut().unwrap().remove("report");
        assert_eq!(settings, vector["config"], "{}", vector["name"]);
    }
}

/// A configuration, and what PostMark 1.53 of Debian did with it when it was started with no
/// standard input.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Shown {
    name: String,
    config: String,
    /// Files beside it.
    #[serde(default)]
    files: BTreeMap<String, String>,
    /// What `show` printed on standard output.
    shown: String,
    /// Lines on standard error.
    refusals: usize,
    /// How often it ran.
    runs: usize,
    /// Files that it wrote, with the word `report` for a report.
    written: BTreeMap<String, String>,
}

#[test]
fn show_prints_what_postmark_prints_whatever_the_configuration() {
    let table: Vec<Shown> = serde_json::from_str(SHOWN).unwrap();
    assert!(table.len() > 20);
    let directory = std::env::current_dir().unwrap().display().to_string();
    for case in table {
        let mut load = |name: &str| match case.files.get(name) {
            Some(text) => Ok(text.clone().into_bytes()),
            None => nothing(name),
        };
        let script = Script::read("mail", case.config.as_bytes(), &mut load);
        let (mut shown, mut written) = (String::new(), BTreeMap::<String, String>::new());
        for action in &script.actions {
            match action {
                Action::Run { report_to: Some(file), .. } => {
                    drop(written.insert(file.clone(), "report".into()))
                }
                Action::Run { report_to: None, .. } => {}
                Action::Show { text, aside, to: Some(file) } => {
                    *written.entry(file.clone()).or_default() += text;
                    shown += aside;
                }
                Action::Show { text, aside, to: None } => shown += &(text.clone() + aside),
            }
        }
        let here = |text: &str| text.replace("{current directory}", &directory);
        assert_eq!(shown, here(&case.shown), "{}", case.name);
        assert_eq!(
            written,
            case.written.into_iter().map(|(file, text)| (file, here(&text))).collect(),
            "{}",
            case.name
        );
        assert_eq!(runs(&script).len(), case.runs.max(1), "{}", case.name);
        let said = quirks(&script);
        assert!(said.len() >= case.refusals, "{}: {said:#?}", case.name);
    }
}

#[test]
fn the_published_configuration_has_no_quirk_and_is_run_once() {
    let text = "set size 3072 102400\nset number 200000\nset transactions 500000\nset location /mnt\n\
                set subdirectories 1000\n";
    let script = read(text);
    assert_eq!(quirks(&script), [""; 0]);
    assert_eq!(script.warnings.len(), 1);
    assert_eq!(script.warnings[0].place, "mail");
    assert_eq!(script.warnings[0].text, "it has no `run`, so it is run once at its end");
    assert_eq!(runs(&script)[0].number, 200_000);
}

#[test]
fn readable_configurations_have_no_quirk() {
    let text = "# Mail\n\n  # indented\n\t\nset size 1 2\nset size 5\nset size  4096\nset size 5 \n\
                set location /a 2\nset location +/b c 1\nset location -/a\nset bias read -1\n\
                set buffering false\nset report terse\nset read\t4096\nshow\nrun\nrun out\nquit\n\n# end";
    let script = read(text);
    assert_eq!(script.warnings, []);
    assert_eq!(runs(&script).len(), 2);
}

/// `LINE SENTENCE` for each quirk of a configuration.
const SURPRISES: [(&str, &[&str]); 38] = [
    ("set number 10k\n", &["1 `10k` is read as 10: there are no units; 10240 was probably meant"]),
    (
        "\nset number 0x10\n",
        &["2 `set number 0x10` is refused: it takes 1 or more, and `0x10` is read as 0: \
            hexadecimal numbers are not known; 16 was probably meant; 500 stays"],
    ),
    ("set write 4096 bytes\n", &["1 `4096 bytes` is read as 4096: what follows the digits is ignored"]),
    ("set seed 4294967316\n", &["1 `4294967316` is cut to 32 bits, which makes it 20"]),
    ("set transactions 0\n", &["1 `set transactions 0` is refused: it takes 1 or more; 500 stays"]),
    (
        "set seed\n",
        &["1 `set seed` is refused: it takes 1 or more, and a missing number is read as 0; 42 stays"],
    ),
    ("set subdirectories 1\n", &["1 1 subdirectory is none: they are used from 2 on"]),
    (
        "set numbers 5\n",
        &["1 this is read as `set number`: `s` after it is skipped, and its argument is ` 5`"],
    ),
    ("run60\n", &["1 this is read as `run`: `6` after it is skipped, and its argument is `0`"]),
    (
        "set size  100 200\n",
        &["1 after two spaces the second size is read from the first: sizes are 100 to 100"],
    ),
    ("set size 100\t200\n", &["1 only a space parts two sizes, no tab: sizes are 100 to 100"]),
    ("set size 200 100\n", &["1 `100` is below the first size, which replaces it: sizes are 200 to 200"]),
    (
        "set size 1k 2k\n",
        &[
            "1 `1k` is read as 1: there are no units; 1024 was probably meant",
            "1 `2k` is read as 2: there are no units; 2048 was probably meant",
        ],
    ),
    ("set size 0 9\n", &["1 `set size 0 9` is refused: it takes 1 or more; 500 to 10000 stays"]),
    ("set size 1 2 3\n", &["1 `2 3` is read as 2: what follows the digits is ignored"]),
    ("set bias read x\n", &["1 `x` is no number, and is read as 0"]),
    ("set bias read \n", &["1 a missing number is read as 0"]),
    ("set bias create 11\n", &["1 `set bias create 11` is refused: it takes -1 to 10; 5 stays"]),
    ("set bias create\n", &["1 `set bias create` is refused: it takes -1 to 10; 5 stays"]),
    (
        "set buffering no\n",
        &["1 `set buffering no` is refused: it takes `true` or `false`, and nothing more; true stays"],
    ),
    (
        "set report terse \n",
        &["1 `set report terse` is refused: it takes `verbose` or `terse`, and nothing more; verbose stays"],
    ),
    (
        "set location /my mail\n",
        &["1 `mail` is taken for a weight, which must be 1 or more, and so for 1; the path \
            is `/my` (a path that has spaces needs a weight after it)"],
    ),
    (
        "set location /a 2x\n",
        &["1 the weight `2x` is read as 2: what follows the digits is ignored; the path is `/a`"],
    ),
    (
        "set location -/a\n",
        &[
            "1 there is no location `/a` to remove; it must be written as it was added, and no weight may follow",
        ],
    ),
    ("set location +\n", &["1 the path is ``: files are named from the root directory, as `/1`"]),
    ("set location ~/mail\n", &["1 the path is `~/mail`: it is used as typed, by no shell"]),
    ("set location\n", &["1 `set location` without a path is refused"]),
    ("help set\n", &["1 `help` is ignored"]),
    ("!rm -r /\n", &["1 `!rm -r /` is a command for a shell, and is not run"]),
    (
        "SET  number 5\n",
        &["1 unknown command `SET  number 5`, which is passed over; `set number` was probably \
            meant, which must be written just so, from the first column"],
    ),
    ("set numer 5\n", &["1 unknown command `set numer 5`, which is passed over"]),
    ("load inc\n", &["1 cannot load `inc`, which is passed over: No such file or directory (os error 2)"]),
    ("quit\n\n# never\nrun\nrun\n", &["4 this is never read, as line 1 is `quit`"]),
    (
        "run",
        &[
            "1 the last line has no newline, in place of which `n` is dropped: it is read as `ru`",
            "1 unknown command `ru`, which is passed over",
        ],
    ),
    (
        "run\nset number 100",
        &["2 the last line has no newline, in place of which `0` is dropped: it is read as `set number 10`"],
    ),
    (
        "run \n",
        &["1 a space after `run` makes it write to a file without a name, and then to standard output"],
    ),
    ("run out \n", &["1 the file is `out `: white space is part of its name"]),
    (
        "set number 5\0\n",
        &[
            "1 the line has a NUL byte, at which it ends: it is read as `set number `",
            "1 `set number` is refused: it takes 1 or more, and a missing number is read as 0; 500 stays",
        ],
    ),
];

#[test]
fn what_surprises_is_said_at_its_line() {
    for (text, said) in SURPRISES {
        assert_eq!(quirks(&read(text)), said, "{text:?}");
    }
}

#[test]
fn carriage_returns_are_said_once_and_where_they_change_a_command() {
    let script = read("set number 7\r\nset seed 8\r\nset report terse\r\nset location /a\r\n\r\nrun\r\n");
    assert_eq!(
        quirks(&script),
        [
            "1 lines end with CR LF, of which the CR stays a part of the line; numbers are read all the same, \
             paths and words are not",
            "3 `set report terse\\r` is refused: it takes `verbose` or `terse`, and nothing more; verbose stays",
            "4 the path is `/a\\r`: white space is part of it",
            "6 a carriage return after `run` makes it write to a file without a name, and then to standard output",
        ]
    );
    assert_eq!(runs(&script).len(), 1);
}

#[test]
fn a_line_that_is_too_long_is_two() {
    let script = read(format!("set number 9{}xset seed 5\n", " ".repeat(241)));
    assert_eq!(
        quirks(&script),
        [
            "1 the line has more than 253 characters: `x` is dropped, and what follows it is read as a line of its \
          own, `set seed 5`"
        ]
    );
    assert_eq!((runs(&script)[0].number, runs(&script)[0].seed), (9, 5));
    let comment = format!("#{}\n", "x".repeat(600));
    assert_eq!(quirks(&read(&comment)), [""; 0]);
    let comment = format!("#{}set seed 5\n", "x".repeat(253));
    assert_eq!(quirks(&read(&comment)), ["1 the comment is too long: its end is read as `set seed 5`"]);
}

#[test]
fn a_path_that_is_not_utf_8_is_kept_as_well_as_can_be() {
    let script = read(b"set location /\xe4b\n");
    assert_eq!(runs(&script)[0].locations[0].path, "/\u{fffd}b");
    assert_eq!(quirks(&script), ["1 the path is not UTF-8: `/\u{fffd}b` is used instead"]);
}

#[test]
fn files_that_load_each_other_end() {
    let mut load = |name: &str| Ok(format!("load {name}x\nload {name}y\nset seed 5\n").into_bytes());
    let script = Script::read("mail", b"load mail\nload a\nset number 7\n", &mut load);
    let said = quirks(&script);
    assert_eq!(said[0], "1 `mail` is not loaded, as it loads itself, without end");
    assert!(said.iter().any(|text| text.contains("is not loaded, as 1000 files have been")));
    assert_eq!(runs(&script).last().map(|settings| settings.number), Some(7));
}

#[test]
fn a_warning_of_a_loaded_file_names_that_file() {
    let mut load = |_: &str| Ok(b"set seed 0\nquit\nrun\n".to_vec());
    let script = Script::read("mail", b"\nload more\nset seed x\nrun\n", &mut load);
    let places: Vec<&str> = script.warnings.iter().map(|warning| &*warning.place).collect();
    assert_eq!(places, ["more:1", "more:3", "mail:3"]);
    assert_eq!(script.warnings[1].text, "this is never read, as line 2 is `quit`");
}

#[test]
fn a_run_has_the_settings_of_its_line() {
    let script = read("run\nset number 7\nrun out\nset number 8\n");
    let numbers: Vec<u32> = runs(&script).iter().map(|settings| settings.number).collect();
    assert_eq!(numbers, [500, 7]);
    assert_eq!(
        script.actions[1],
        Action::Run { settings: runs(&script)[1].clone(), report_to: Some("out".into()) }
    );
    assert_eq!(json!(runs(&script)[0].seed), json!(42));
}
