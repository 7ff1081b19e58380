//! The system calls of both programs on the files of a run, as strace sees them: same calls, same
//! order, same names, same sizes, same bytes.
//!
//! Three differences are ours and stay out: flags that keep a descriptor from children and refuse a
//! link, which of the calls that mean the same is used, and the mode of subdirectories.

use std::collections::HashMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use libtest_mimic::Trial;

use super::{POSTMARK, STRACE, folder, printed};
use crate::lab::Lab;
use crate::trial;

const CONFIGURATIONS: [(&str, &str); 4] = [
    ("defaults", "set location a\nrun\nquit\n"),
    (
        "no_buffering",
        "set location a\nset buffering false\nset number 100\nset transactions 200\nset read 512\n\
         set write 500\nset subdirectories 3\nrun\nquit\n",
    ),
    (
        "blocks_of_10000",
        "set read 10000\nset write 10000\nset size 1 40000\nset number 60\nset transactions 150\n\
         run\nquit\n",
    ),
    (
        "odd_blocks",
        "set read 3000\nset write 1000\nset size 1 20000\nset number 60\nset transactions 150\nrun\nquit\n",
    ),
];

pub fn trials() -> Vec<Trial> {
    let of = |(name, commands): (&str, &'static str)| {
        let name = format!("postmark::{name}_make_the_system_calls_of_the_real_program");
        trial(name, vec![POSTMARK, STRACE], move || without(commands))
    };
    let mut trials: Vec<_> = CONFIGURATIONS.map(of).into();
    let name = "postmark::verification_adds_no_call_on_a_file_but_lists_them";
    trials.push(trial(name.into(), vec![POSTMARK, STRACE], verified));
    trials
}

fn without(commands: &str) {
    assert!(!lists(&same_calls(commands, &["--no-verify"])), "the files are not listed");
}

fn verified() {
    assert!(lists(&same_calls(CONFIGURATIONS[0].1, &[])), "the files are listed");
}

/// Whether a directory is listed between the first file and the last.
fn lists(trace: &str) -> bool {
    let lines: Vec<_> = trace.lines().collect();
    let files = |line: &&str| call(line, &mut HashMap::new()).is_some();
    let (first, last) = (lines.iter().position(files).unwrap(), lines.iter().rposition(files).unwrap());
    lines[first..last].iter().any(|line| line.starts_with("getdents64("))
}

/// Both programs make the same calls; all that ours made.
fn same_calls(commands: &str, more: &[&str]) -> String {
    let lab = Lab::new();
    let [theirs, ours] = ["theirs", "ours"].map(|name| folder(&lab, name, commands));
    let mut fsduel = vec![env!("CARGO_BIN_EXE_fsduel"), "postmark", "c"];
    fsduel.extend(more);
    let (theirs, ours) = (trace(&theirs, &["postmark", "c"]), trace(&ours, &fsduel));
    same(&calls(&theirs), &calls(&ours));
    ours
}

fn same(theirs: &[String], ours: &[String]) {
    assert!(theirs.len() > 1000, "{} calls", theirs.len());
    let differs = (0..theirs.len().max(ours.len())).find(|at| theirs.get(*at) != ours.get(*at));
    let Some(at) = differs else { return };
    let near =
        |calls: &[String]| calls.iter().skip(at.saturating_sub(5)).take(8).cloned().collect::<Vec<_>>();
    panic!("call {at} differs\ntheirs: {:#?}\nours: {:#?}", near(theirs), near(ours));
}

/// What a program calls, one line each; each thread by itself, so that no call is interrupted by
/// another's line.
fn trace(folder: &Path, words: &[&str]) -> String {
    let calls = "trace=openat,read,write,lseek,fstat,newfstatat,statx,close,unlink,unlinkat,mkdir,mkdirat,rmdir,\
                 getdents64";
    let mut strace = Command::new("strace");
    strace.args(["-ff", "-s", "24", "-o", "trace", "-e", calls]).args(words);
    printed(&mut strace, folder);
    let mut traces: Vec<_> = fs::read_dir(folder).unwrap().flatten().map(|entry| entry.path()).collect();
    traces.retain(|path| path.file_name().unwrap().to_string_lossy().starts_with("trace."));
    traces.sort();
    traces.iter().map(|path| fs::read_to_string(path).unwrap()).collect()
}

/// The calls on files of the run, in words that both programs share.
fn calls(trace: &str) -> Vec<String> {
    let mut files = HashMap::new();
    trace.lines().filter_map(|line| call(line, &mut files)).collect()
}

fn call(line: &str, files: &mut HashMap<String, String>) -> Option<String> {
    let (name, rest) = line.split_once('(')?;
    if let "openat" | "unlink" | "unlinkat" | "mkdir" | "mkdirat" | "rmdir" = name {
        return call_on_path(name, rest, files);
    }
    let fd: String = rest.chars().take_while(char::is_ascii_digit).collect();
    let path = files.get(&fd)?.clone();
    let rest = &rest[fd.len()..];
    Some(match name {
        "close" => {
            files.remove(&fd);
            format!("close {path}")
        }
        "fstat" | "newfstatat" | "statx" => format!("stat {path} {}", size(rest)),
        other => format!("{other} {path} {}", rest.replace("...", "")),
    })
}

fn call_on_path(name: &str, rest: &str, files: &mut HashMap<String, String>) -> Option<String> {
    let path = rest.split('"').nth(1).filter(|path| is_of_a_run(path))?;
    let (arguments, result) = rest.rsplit('"').next()?.rsplit_once(" = ")?;
    if name == "openat" {
        files.insert(result.to_owned(), path.to_owned());
        return Some(format!("open {path} {}", flags(arguments)));
    }
    let name = if arguments.contains("AT_REMOVEDIR") { "rmdir" } else { name.trim_end_matches("at") };
    Some(format!("{name} {path} = {result}"))
}

/// A run names its files by a number and its subdirectories by `s` and a number, from the current
/// directory on.
fn is_of_a_run(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or_default();
    !path.starts_with('/') && name.strip_prefix('s').unwrap_or(name).parse::<u32>().is_ok()
}

/// `, O_RDONLY|O_CLOEXEC) = 3`: flags in order, without those that change nothing here, and mode.
fn flags(text: &str) -> String {
    let words = text.trim_start_matches(", ").split_once(')').unwrap().0;
    let (flags, mode) = words.split_once(", ").unwrap_or((words, ""));
    let ours = ["O_CLOEXEC", "O_NOFOLLOW", "O_LARGEFILE"];
    let mut flags: Vec<_> = flags.split('|').filter(|flag| !ours.contains(flag)).collect();
    flags.sort_unstable();
    format!("{} {mode}", flags.join("|"))
}

fn size(text: &str) -> &str {
    let size = text.split_once("st_size=").or_else(|| text.split_once("stx_size=")).unwrap().1;
    size.split(',').next().unwrap()
}
