//! One measured case, one process: the worker.
//!
//! The runner starts the same binary again, as process 1 of a PID namespace and in a mount
//! namespace of its own. The case comes in as JSON on stdin, events go out as JSON lines on
//! stdout. How far a step is stands in memory that both share: nothing is told while its clock
//! runs. Stdin stays open as a life line: its end means that the runner is dead, and then this
//! process goes at once. With it go its children, the mount, the loop device and the image, which
//! only live in these namespaces and descriptors.

mod abandon;
mod case;
mod cold;
mod exec;
pub(crate) mod kept;
mod limit;
mod orphans;
pub(crate) mod quiet;
mod step;
mod store;
mod tell;
mod verdict;

use std::io::{BufRead, BufReader, Read, Stdin};

use crate::case::CaseSpec;
use crate::error::{Cannot, Error, Result};
use crate::sys::counters::Shared;
use crate::sys::signal;

use exec::Live;
use tell::Tell;

pub(crate) use case::sequence;
pub(crate) use limit::limit_of;
pub(crate) use step::facts;
pub(crate) use verdict::{all_of, not_allowed, status_of};

/// First argument of a worker's command line. The second is the descriptor of the counters; behind it
/// may be those of the streams of the caller: where a command prints to, and what it reads.
pub const WORKER_ARGUMENT: &str = "__worker";

/// Be a worker if the command line says so; a program that runs cases calls this first.
///
/// The exit code is for `std::process::exit`. It is 0 whatever the case came to: that is told in
/// its last event.
#[must_use]
pub fn run_if_worker() -> Option<i32> {
    if std::env::args_os().nth(1)? != WORKER_ARGUMENT {
        return None;
    }
    Some(match work() {
        Ok(()) => 0,
        Err(error) => {
            log::error!("{error}");
            1
        }
    })
}

fn work() -> Result<()> {
    signal::stop_on(&signal::ENDING)?;
    let counters = Shared::inherited(descriptor()?)?;
    let streams: Vec<String> = std::env::args().skip(3).collect();
    let mut live = Live::inherited(&streams)?;
    let mut input = BufReader::new(std::io::stdin());
    let mut line = String::new();
    input.read_line(&mut line).cannot(|| "read the case from the runner".into())?;
    let spec: CaseSpec =
        serde_json::from_str(&line).cannot(|| "understand the case that the runner sent".into())?;
    hold_life_line(input);
    let mut tell = Tell::new(std::io::stdout(), counters);
    if spec.live == crate::case::Live::Seen && live.is_nothing() {
        live = Live::to_stderr()?;
    }
    let result = case::run(&spec, &mut tell, &live);
    tell.case_ended(result)
}

fn descriptor() -> Result<i32> {
    let number = std::env::args().nth(2).and_then(|number| number.parse().ok());
    number.ok_or_else(|| Error::usage("be a worker: only a run starts one").next("see fsduel run --help"))
}

/// End this process, and so everything in its namespaces, when the runner is gone.
fn hold_life_line(mut input: BufReader<Stdin>) {
    std::thread::spawn(move || {
        let mut byte = [0];
        while !matches!(input.read(&mut byte), Ok(0)) {}
        std::process::exit(1);
    });
}
