//! A shell in a fresh file system, at a terminal and without one.

use std::fs;
use std::io::{Read, Write};
use std::process::{Child, ChildStdin, Command, Output, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use libtest_mimic::Trial;

use crate::general;
use crate::lab::{Lab, assert_exits, stderr, told};
use crate::live::with_tool;

pub fn trials() -> Vec<Trial> {
    vec![
        general("a_shell_reads_lines_and_its_status_is_passed_on", lines),
        general("a_shell_that_is_no_single_file_system_is_refused", refused),
        general("an_image_of_a_shell_is_kept_and_can_be_mounted_again", kept),
        general("what_a_shell_leaves_running_is_named_and_ended", left_running),
        with_tool("a_shell_has_its_terminal_with_jobs_and_a_prompt", "script", "bsdutils", terminal),
    ]
}

/// What a shell does with these lines, which are no terminal.
fn shell(lab: &Lab, options: &[&str], lines: &str) -> Output {
    let mut command = lab.fsduel(["shell", "--size", "300MiB"]);
    command.args(options).env("SHELL", "/bin/bash");
    let command = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    // One that does not start reads nothing.
    let _ = child.stdin.take().unwrap().write_all(lines.as_bytes());
    child.wait_with_output().unwrap()
}

fn lines() {
    let lab = Lab::new();
    let tree = lab.path("tree");
    fs::create_dir(&tree).unwrap();
    fs::write(tree.join("file"), "copied").unwrap();
    let copy = ["--fs", "ext4", "--copy", tree.to_str().unwrap()];
    let output = shell(&lab, &copy, "cat file; echo; stat -f -c %T .; echo $FSTYP; pwd; exit 7\n");
    assert_exits(&output, 7);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[..3], ["copied", "ext2/ext3", "ext4"], "{}", told(&output));
    assert!(stderr(&output).contains(lines[3]), "where it is mounted is said: {}", told(&output));
    assert!(!lines[3].is_empty() && !fs::exists(lines[3]).unwrap(), "it is seen from there only");
    assert_exits(&shell(&lab, &["--fs", "ext4"], "kill -KILL $$\n"), 137);
    // A person may do with it what they like.
    assert_exits(&shell(&lab, &["--fs", "xfs"], "mount -o remount,inode32 .\n"), 0);
    lab.assert_nothing_is_left();
}

fn refused() {
    let lab = Lab::new();
    for options in [vec![], vec!["--fs", "ext4,xfs"], vec!["--fs", "nofs"], vec!["--fs", "ext4", "more"]] {
        assert_exits(&shell(&lab, &options, "echo it-runs\n"), 2);
    }
    lab.assert_nothing_is_left();
}

fn kept() {
    let lab = Lab::new();
    let output = shell(&lab, &["--fs", "ext4", "--keep"], "echo content > file\n");
    assert_exits(&output, 0);
    let said = stderr(&output);
    let line = said.lines().find_map(|line| line.split_once("mount it again: ")).unwrap().1;
    let words: Vec<&str> = line.split_whitespace().collect();
    assert_eq!(words.last(), Some(&"DIRECTORY"), "{said}");
    let place = lab.path("mnt");
    fs::create_dir(&place).unwrap();
    let (mount, path) = (words[..words.len() - 1].join(" "), place.display());
    // In a mount namespace, so that it goes with this command.
    let line = format!("{mount} {path} && cat {path}/file && umount {path}");
    let output = Command::new("unshare").args(["--mount", "sh", "-ec", &line]).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout), "content\n", "{}", told(&output));
    let folder = said.lines().find_map(|line| line.strip_prefix("kept in ")).unwrap();
    fs::remove_dir_all(folder).unwrap();
    lab.assert_nothing_is_left();
}

fn left_running() {
    let lab = Lab::new();
    let output = shell(&lab, &["--fs", "ext4"], "sleep 1000 &\nexit 3\n");
    assert_exits(&output, 3);
    assert!(stderr(&output).contains("`sleep 1000`"), "{}", told(&output));
    lab.assert_nothing_is_left();
}

/// Somebody at a terminal.
struct Person {
    script: Child,
    keys: ChildStdin,
    seen: Receiver<String>,
    text: String,
}

impl Person {
    fn at(mut command: Command) -> Self {
        let mut script = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let (mut screen, keys) = (script.stdout.take().unwrap(), script.stdin.take().unwrap());
        let (tell, seen) = channel();
        std::thread::spawn(move || {
            let mut chunk = [0; 4096];
            while let Ok(length @ 1..) = screen.read(&mut chunk) {
                let _ = tell.send(String::from_utf8_lossy(&chunk[..length]).into_owned());
            }
        });
        Self { script, keys, seen, text: String::new() }
    }

    fn types(&mut self, keys: &str) {
        self.keys.write_all(keys.as_bytes()).unwrap();
    }

    /// Wait until `words` come up behind all that was waited for before.
    fn sees(&mut self, words: &str) {
        let begun = Instant::now();
        loop {
            if let Some(at) = self.text.find(words) {
                self.text.drain(..at + words.len());
                return;
            }
            assert!(begun.elapsed() < Duration::from_secs(60), "no {words:?} in {:?}", self.text);
            self.text.extend(self.seen.recv_timeout(Duration::from_secs(1)));
        }
    }
}

fn terminal() {
    let lab = Lab::new();
    let mut command = lab.command("script");
    let line = format!("{} shell --fs ext4 --size 128MiB; echo status $?", env!("CARGO_BIN_EXE_fsduel"));
    command.args(["-qec", &line, "/dev/null"]).env("SHELL", "/bin/bash").env("HOME", "/");
    let mut person = Person::at(command);
    person.sees("[ext4 128 MiB] ");
    // The words are put together by the shell, so that their echo is not taken for them.
    person.types("sh -c 'while sleep 0.1; do echo it-\"works\"; done'\n");
    person.sees("it-works");
    person.types("\u{1a}");
    person.sees("Stopped");
    person.types("fg\n");
    person.sees("it-works");
    person.types("\u{3}");
    person.types("test -t 1 && echo the-'shell'-lives\n");
    person.sees("the-shell-lives");
    person.types("exit 4\n");
    person.sees("status 4");
    person.script.wait().unwrap();
    lab.assert_nothing_is_left();
}
