//! fsduel compares Linux file systems, on loop devices or in virtual machines.
//!
//! Standard output is the result, standard error is everything else.

mod builtin;
mod cli;
mod command;
mod describe;
mod destination;
#[cfg(test)]
mod example;
mod exit;
mod logger;
mod parts;
mod progress;
mod source;

use std::io::Write;
use std::process::ExitCode;

use clap::Parser;
use fsduel_harness::{Error, Result};

use cli::{Cli, Command};

fn main() -> ExitCode {
    logger::start();
    // A measured case is this program again, in namespaces of its own.
    if let Some(code) = parts::run_if_started_by_a_run() {
        std::process::exit(code);
    }
    let code = match Cli::try_parse() {
        Ok(cli) => dispatch(cli.command).unwrap_or_else(|error| {
            tell(&error);
            exit::of_error(&error, parts::signal())
        }),
        Err(error) => {
            // Help is no failure, and a reader that has gone away is none either.
            let _ = error.print();
            u8::try_from(error.exit_code()).unwrap_or(exit::USAGE)
        }
    };
    ExitCode::from(code)
}

fn dispatch(command: Command) -> Result<u8> {
    match command {
        Command::Run(arguments) => command::run::run(&arguments),
        Command::Exec(arguments) => command::exec::exec(&arguments),
        Command::Shell(arguments) => command::shell::shell(&arguments),
        Command::Postmark(arguments) => command::postmark::postmark(&arguments),
        Command::Compare(arguments) => command::compare::compare(&arguments),
        Command::Report(arguments) => command::report::report(&arguments),
        Command::Verify(arguments) => command::verify::verify(&arguments),
        Command::List(arguments) => command::list::list(&arguments),
        Command::Doctor(arguments) => command::doctor::doctor(&arguments),
        Command::Gc(arguments) => command::gc::gc(&arguments),
        Command::Completions { shell } => command::manual::completions(shell),
        Command::Man => command::manual::man(),
    }
}

/// What could not be done, and the next step. A closed stderr must not hide the exit code.
fn tell(error: &Error) {
    let mut out = std::io::stderr().lock();
    let _ = writeln!(out, "error: {error}");
    if let Some(next) = error.next_step() {
        let _ = writeln!(out, "  next: {next}");
    }
}
