//! Finds the built-in suites in `fixtures/` and compiles them in.
//!
//! A suite is added by adding its folder: no list has to be kept. The generated table is read by
//! `builtin.rs`.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn main() -> io::Result<()> {
    // A folder stands for everything in it, new files too.
    println!("cargo::rerun-if-changed=fixtures");
    let root = folder("CARGO_MANIFEST_DIR")?;
    fs::write(folder("OUT_DIR")?.join("builtin.rs"), table(&suites(&root)?))
}

/// A folder that cargo names in the environment.
fn folder(variable: &str) -> io::Result<PathBuf> {
    let value = env::var_os(variable);
    value.map(PathBuf::from).ok_or_else(|| io::Error::other(format!("cargo does not set {variable}")))
}

/// The files `fixtures/NAME/suite.toml`, by name.
fn suites(root: &Path) -> io::Result<Vec<(String, PathBuf)>> {
    let mut found = vec![];
    for entry in fs::read_dir(root.join("fixtures"))? {
        let entry = entry?;
        let file = entry.path().join("suite.toml");
        if file.is_file() {
            found.push((entry.file_name().to_string_lossy().into_owned(), file));
        }
    }
    found.sort();
    Ok(found)
}

/// Rust source of the table.
fn table(suites: &[(String, PathBuf)]) -> String {
    let mut text = String::from("&[\n");
    for (name, path) in suites {
        let file = format!("fixtures/{name}/suite.toml");
        let _ = writeln!(text, "Builtin {{ name: {name:?}, file: {file:?}, text: include_str!({path:?}) }},");
    }
    text + "]\n"
}
