//! What the harness may cost: its own work, its memory, its set-up, beside the limits that were set.
//!
//! A plain program and no timed test: timings of a machine that does something else prove nothing,
//! so a limit that is missed there is told and not held against the code. `cargo xtask bench`
//! builds the program that is measured and starts this as root; `cargo xtask bench postmark`,
//! `report` and `vm` do that part only.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "the table is what it is for")]

mod load;
#[path = "../../../tests/shared/many.rs"]
#[expect(clippy::unwrap_used, reason = "the recorded runs are beside this program")]
mod many;
mod memory;
mod own_work;
mod peer;
mod postmark;
mod program;
mod report;
mod setup;
mod table;
mod vm;

use std::process::ExitCode;

use fsduel_harness::error::Result;

use table::Row;

fn main() -> ExitCode {
    let before = load::average();
    match rows() {
        Ok(rows) => {
            print!("{}", table::render(&rows));
            println!("{}", load::machine());
            judge(&rows, load::is_busy(before, load::average()))
        }
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn rows() -> Result<Vec<Row>> {
    let only = |part: &str| std::env::args().any(|word| word == part);
    if only("report") {
        return report::rows();
    }
    if only("vm") {
        return vm::rows();
    }
    // First, while this process has one thread only: children share the namespace.
    fsduel_harness::sys::namespace::enter_private_mounts()?;
    if only("postmark") {
        return postmark::rows();
    }
    let mut rows = told(setup::rows()?);
    rows.extend(told(vec![own_work::row()?]));
    rows.extend(told(memory::rows()?));
    rows.extend(told(vec![peer::row()?]));
    rows.extend(told(postmark::rows()?));
    rows.extend(told(report::rows()?));
    rows.extend(told(vm::rows()?));
    Ok(rows)
}

/// What is known is told at once: an end that comes early does not take it away.
fn told(rows: Vec<Row>) -> Vec<Row> {
    eprint!("{}", table::render(&rows));
    rows
}

fn judge(rows: &[Row], busy: bool) -> ExitCode {
    if rows.iter().all(Row::is_met) {
        return ExitCode::SUCCESS;
    }
    if busy {
        println!("Not judged: the load average says that the machine is busy with something else.");
        return ExitCode::SUCCESS;
    }
    ExitCode::from(3)
}
