//! Known facts as a file: JSON with sorted keys, or the same in insta's format for snapshots.
//!
//! A golden file in a repository is reviewed with `cargo insta review` and checked with `fsduel
//! verify`. Both read one file only if this program knows insta's header, which stands between two
//! lines of `---`. Source: insta's documentation, "Snapshot Files".

use serde::Deserialize;

use super::{Golden, SCHEMA_VERSION, value};
use crate::error::{Cannot, Error, Result};

/// A file of facts.
#[derive(Clone, Debug, PartialEq)]
pub struct Parsed {
    /// Its header, up to the JSON; absent in a file that is only JSON.
    pub header: Option<String>,
    /// Its facts.
    pub golden: Golden,
}

const RULE: &str = "---\n";

/// The header of a snapshot that no test has written yet.
pub const NEW_HEADER: &str = "---\nsource: fsduel verify --accept\nexpression: facts\n---\n";

/// Understand a file of facts.
///
/// # Errors
///
/// The text is cut short, not JSON, not facts, or from a newer fsduel. With line and column.
pub fn parse(text: &str) -> Result<Parsed> {
    let (header, json) = split(text)?;
    let head: Head = serde_json::from_str(json).map_err(refused)?;
    match head.schema_version {
        None => Err(Error::usage("read these facts: they have no schema_version").next(MAKE)),
        Some(version) if version > u64::from(SCHEMA_VERSION) => Err(newer(version)),
        Some(_) => {
            let golden = serde_json::from_str(json).map_err(refused)?;
            Ok(Parsed { header: header.map(Into::into), golden })
        }
    }
}

const MAKE: &str = "`fsduel verify RUN.json --against FACTS.json --accept` makes a file of facts";

/// The header with both of its lines, and the rest.
fn split(text: &str) -> Result<(Option<&str>, &str)> {
    let Some(rest) = text.strip_prefix(RULE) else { return Ok((None, text)) };
    let end = if rest.starts_with(RULE) { Some(0) } else { rest.find("\n---\n").map(|at| at + 1) };
    let end = end.ok_or_else(|| {
        Error::usage("read these facts: the header of the snapshot has no end")
            .next("end it with a line of `---`, or remove it")
    })?;
    let (header, json) = text.split_at(RULE.len() + end + RULE.len());
    Ok((Some(header), json))
}

#[derive(Deserialize)]
struct Head {
    schema_version: Option<u64>,
}

fn newer(version: u64) -> Error {
    Error::usage(format!(
        "read these facts: their schema_version is {version}, and this program knows up to {SCHEMA_VERSION}"
    ))
    .next("use the fsduel that wrote them, or a newer one")
}

fn refused(error: serde_json::Error) -> Error {
    let doing = if error.is_eof() { "read these facts: the text is cut short" } else { "read these facts" };
    Error::usage(doing).because(error).next(MAKE)
}

/// Facts as text, with sorted keys and a newline at the end, below `header`.
///
/// # Errors
///
/// A value that JSON cannot hold.
pub fn text(golden: &Golden, header: Option<&str>) -> Result<String> {
    let json = serde_json::to_string_pretty(&value(golden)?).cannot(|| "write facts as JSON".into())?;
    Ok(format!("{}{json}\n", header.unwrap_or_default()))
}
