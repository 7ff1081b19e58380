//! Set-up and development commands of fsduel, started as `cargo xtask`.
//!
//! One command does the whole set-up of a fresh machine, so this crate depends on nothing: not on
//! the library, whose build needs libclang, which is one of the things installed here.

mod install;
mod kernels;
mod process;
mod programs;
mod tasks;

use std::env;
use std::process::ExitCode;

const HELP: &str = "\
cargo xtask demo [SUITE] [OPTIONS]   install what is missing, build, and run
                                     `fsduel run quick` (or SUITE) as root
cargo xtask test [OPTIONS]           install what is missing (fsx and pjdfstest
                                     into target/tools), and run all tests,
                                     those on real devices as root
cargo xtask lint                     format, clippy, documentation, and the
                                     Vagrantfile where ruby or vagrant is
cargo xtask dist                     build a static binary, target/dist/fsduel,
                                     for containers and virtual machines
cargo xtask bench [postmark|report|vm]
                                     what the harness itself costs, beside its
                                     limits (root; some minutes); or only that
                                     beside the program PostMark, to write the
                                     report of a large run, or to boot
cargo xtask kernels                  fetch Debian's kernels 6.1 and 6.12 into
                                     target/kernels, for virtual machines (apt,
                                     no root; nothing is installed)

They install packages on Debian and Ubuntu (with sudo when not root), and say
which before they do. Elsewhere they say what to install. OPTIONS are passed on.
";

fn main() -> ExitCode {
    let words: Vec<String> = env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let done = match words.as_slice() {
        ["demo", more @ ..] => tasks::demo(more),
        ["test", more @ ..] => tasks::test(more),
        ["lint"] => tasks::lint(),
        ["dist"] => tasks::dist(),
        ["bench"] | ["bench", "postmark" | "report" | "vm"] => tasks::bench(&words[1..]),
        ["kernels"] => tasks::kernels(),
        ["help" | "--help" | "-h"] => {
            print!("{HELP}");
            return ExitCode::SUCCESS;
        }
        _ => {
            eprint!("{HELP}");
            return ExitCode::from(2);
        }
    };
    done.map_or_else(
        |failure| {
            eprintln!("error: {}", failure.text);
            ExitCode::from(failure.code)
        },
        |()| ExitCode::SUCCESS,
    )
}
