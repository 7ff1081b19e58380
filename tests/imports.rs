//! Modules of the library import downwards only, `unsafe` stays in `sys/`, other programs start in
//! `command`, the library never prints, and the name of a file system stands in `fs/` only.
//!
//! The order is what keeps parts replaceable: a workload that cannot see a file system is the same
//! work on every one, and a report that sees results only can be made anywhere.
#![expect(clippy::unwrap_used, reason = "a test that cannot get its input has to fail")]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// From the ground up. A module may import its own row and the rows above it in this list.
const ROWS: [&[&str]; 10] = [
    &["error", "lines", "names", "stats", "units"],
    &["command", "require", "sys"],
    &["content", "guard", "manifest", "ops", "result"],
    &["fs", "measure", "scratch", "verify", "workload"],
    &["claim", "compare", "facts"],
    &["case", "suite"],
    &["vm"],
    &["guest", "runner", "worker"],
    &["report"],
    &["testing"],
];

/// The row whose parts do not see each other: they meet in the worker. Their traits are the
/// exception, which is why the other side of the arrow is this one.
const PARTS: usize = 3;
const TRAITS: [&str; 1] = ["fs"];

/// Reports see results only, so that they can be made from stored JSON.
const SEEN_BY_REPORT: [&str; 5] = ["error", "stats", "units", "result", "report"];

/// The traits whose implementations are rows of a table, and do not import each other.
const ROW_TRAITS: [&str; 3] = ["Filesystem", "Measurement", "Workload"];

/// Names of file systems that mean something else there.
const OTHER_NAMES: [(&str, &str); 4] = [
    ("guard/store.rs", "the host's file system below the images"),
    ("require.rs", "programs and the packages that have them"),
    ("scratch/store.rs", "the host's file system below the images"),
    ("testing/scratch.rs", "short ways to those that tests ask for most"),
];

/// Where other programs are started, and where such a start is made ready.
const STARTS: [&str; 3] = ["command.rs", "command/theirs.rs", "sys/confine.rs"];

/// What prints there is read beside the output of a test.
const PRINTS: [&str; 1] = ["testing/each.rs"];

struct Source {
    /// Below `harness/src`.
    path: PathBuf,
    /// Without comments and without tests.
    code: String,
}

impl Source {
    /// The module at the root of the crate.
    fn module(&self) -> String {
        let first = self.path.iter().next().unwrap_or_default().to_string_lossy();
        first.trim_end_matches(".rs").to_owned()
    }

    /// The file itself as a module.
    fn stem(&self) -> String {
        self.path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
    }
}

fn rust_files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let (folders, files): (Vec<_>, Vec<_>) = entries.partition(|path| path.is_dir());
    let own = files.into_iter().filter(|path| path.extension().is_some_and(|end| end == "rs"));
    own.chain(folders.iter().flat_map(|folder| rust_files(folder))).collect()
}

/// Every source file below `folder` that is not made for tests only.
fn sources(folder: &str) -> Vec<Source> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let texts: Vec<_> =
        rust_files(&root).into_iter().map(|path| (fs::read_to_string(&path).unwrap(), path)).collect();
    let for_tests: BTreeSet<_> = texts.iter().flat_map(|(text, path)| test_files(text, path)).collect();
    let kept = texts.into_iter().filter(|(_, path)| !for_tests.iter().any(|made| path.starts_with(made)));
    kept.map(|(text, path)| Source {
        path: path.strip_prefix(&root).unwrap().to_owned(),
        code: production(&text),
    })
    .collect()
}

/// The file, or the folder, behind `#[cfg(test)] mod NAME;` in the file at `path`.
fn test_files(text: &str, path: &Path) -> Vec<PathBuf> {
    let folder = match path.file_stem().and_then(|stem| stem.to_str()) {
        Some("mod" | "lib" | "main") => path.parent().unwrap().to_owned(),
        _ => path.with_extension(""),
    };
    let names = text.split("#[cfg(test)]").skip(1).filter_map(|rest| {
        let line = rest.trim_start().lines().next()?;
        let words = line.strip_prefix("pub(crate) ").or(line.strip_prefix("pub(super) ")).unwrap_or(line);
        words.strip_prefix("mod ")?.strip_suffix(';').map(str::to_owned)
    });
    names.flat_map(|name| [folder.join(format!("{name}.rs")), folder.join(name)]).collect()
}

/// The text without comments, and without the tests at its end.
fn production(text: &str) -> String {
    let end = text.find("#[cfg(test)]\nmod tests {").unwrap_or(text.len());
    let lines = text[..end].lines().filter(|line| !line.trim_start().starts_with("//"));
    lines.map(|line| line.split(" // ").next().unwrap_or(line)).collect::<Vec<_>>().join("\n")
}

/// The modules at the root of the crate that the code names.
fn imports(code: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    // `$crate::` in a macro is seen from outside.
    let code = code.replace("$crate::", "");
    for rest in code.split("crate::").skip(1) {
        match rest.strip_prefix('{') {
            Some(list) => found.extend(heads(list)),
            None => found.extend(head(rest)),
        }
    }
    found
}

/// The first word of each path in `a::{b, c}, d}`.
fn heads(list: &str) -> Vec<String> {
    let mut depth = 0;
    let mut parts = vec![String::new()];
    for letter in list.chars() {
        match letter {
            '}' if depth == 0 => break,
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => parts.push(String::new()),
            _ => parts.last_mut().unwrap().push(letter),
        }
    }
    parts.iter().filter_map(|part| head(part.trim())).collect()
}

/// The module that a path begins with. A type at the root is one of `error`.
fn head(path: &str) -> Option<String> {
    let word: String = path.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
    let is_type = word.chars().next()?.is_uppercase();
    Some(if is_type { "error".into() } else { word })
}

fn row(module: &str) -> Option<usize> {
    ROWS.iter().position(|row| row.contains(&module))
}

/// Why `module` may not import `other`, if it may not.
fn refusal(module: &str, other: &str) -> Option<String> {
    let (Some(own), Some(its)) = (row(module), row(other)) else {
        return Some(format!("`{module}` or `{other}` has no row in tests/imports.rs"));
    };
    if module == "report" && !SEEN_BY_REPORT.contains(&other) {
        return Some(format!("`report` imports `{other}`, but reads results only"));
    }
    if its > own {
        return Some(format!("`{module}` imports `{other}`, which is above it"));
    }
    (own == PARTS && its == PARTS && module != other && !TRAITS.contains(&other))
        .then(|| format!("`{module}` imports `{other}`, which is beside it"))
}

/// Fails with all that is wrong, one line each.
fn assert_none(wrong: Vec<String>) {
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// `path: what` for every source that `what` finds something in.
fn each(sources: &[Source], what: impl Fn(&Source) -> Vec<String>) -> Vec<String> {
    let tell = |source: &Source| {
        what(source).into_iter().map(|text| format!("{}: {text}", source.path.display())).collect::<Vec<_>>()
    };
    sources.iter().flat_map(tell).collect()
}

#[test]
fn modules_import_downwards_only() {
    let sources = sources("harness/src");
    assert!(sources.len() > 20, "the sources were found");
    assert_none(each(&sources, |source| {
        let module = source.module();
        if module == "lib" {
            return vec![];
        }
        imports(&source.code).iter().filter_map(|other| refusal(&module, other)).collect()
    }));
}

#[test]
fn a_row_of_a_table_does_not_import_another_row() {
    let sources = sources("harness/src");
    let is_row =
        |source: &Source| ROW_TRAITS.iter().any(|name| source.code.contains(&format!("impl {name} for ")));
    let rows: Vec<_> = sources.into_iter().filter(is_row).collect();
    assert_none(each(&rows, |source| {
        let others = rows.iter().filter(|other| other.module() == source.module());
        let others = others.map(Source::stem).filter(|stem| *stem != source.stem() && stem != "mod");
        let paths = |stem: String| [format!("super::{stem}::"), format!("{}::{stem}::", source.module())];
        others.flat_map(paths).filter(|path| source.code.contains(path)).collect()
    }));
}

#[test]
fn unsafe_stays_in_sys() {
    let words = ["unsafe {", "unsafe fn", "unsafe impl", "unsafe extern", "unsafe trait"];
    let has = |source: &Source| {
        words.iter().filter(|word| source.code.contains(*word)).map(|word| (*word).into()).collect()
    };
    let library =
        sources("harness/src").into_iter().filter(|source| source.module() != "sys").collect::<Vec<_>>();
    assert_none(each(&library, has));
    assert_none(each(&sources("src"), has));
}

#[test]
fn other_programs_start_in_command_only() {
    let library = sources("harness/src")
        .into_iter()
        .chain(sources("src"))
        .filter(|source| !STARTS.iter().any(|path| source.path == Path::new(path)));
    assert_none(each(&library.collect::<Vec<_>>(), |source| {
        let starts = ["process::Command", "std::process::{", "process::Child", "Command::new("];
        starts.iter().filter(|word| source.code.contains(*word)).map(|word| (*word).into()).collect()
    }));
}

#[test]
fn the_library_never_prints() {
    let library = sources("harness/src").into_iter();
    let silent = library.filter(|source| !PRINTS.iter().any(|path| source.path == Path::new(path)));
    assert_none(each(&silent.collect::<Vec<_>>(), |source| {
        ["println!", "print!", "dbg!"]
            .iter()
            .filter(|word| source.code.contains(*word))
            .map(|word| (*word).into())
            .collect()
    }));
}

#[test]
fn the_name_of_a_file_system_stands_in_fs_only() {
    let names = ["\"btrfs\"", "\"ext4\"", "\"xfs\""];
    let library = sources("harness/src").into_iter().filter(|source| source.module() != "fs");
    let library =
        library.filter(|source| !OTHER_NAMES.iter().any(|(path, _)| source.path == Path::new(path)));
    let all: Vec<_> = library.chain(sources("src")).collect();
    assert_none(each(&all, |source| {
        names.iter().filter(|name| source.code.contains(*name)).map(|name| (*name).into()).collect()
    }));
}

#[test]
fn an_import_is_found_in_every_way_of_writing_it() {
    let code = production(
        "use crate::{error::{Cannot, Result}, fs};\n/// [`crate::worker`] is only named here.\n\
         let x = crate::units::Bytes(1); // crate::runner\npub(crate) fn f() -> crate::Result<()> {}\n\
         #[cfg(test)]\nmod tests {\n use crate::report;\n}\n",
    );
    let found: Vec<_> = imports(&code).into_iter().collect();
    assert_eq!(found, ["error", "fs", "units"]);
}

#[test]
fn an_import_upwards_or_sideways_is_refused() {
    for (module, other) in [
        ("workload", "case"),
        ("error", "sys"),
        ("workload", "verify"),
        ("workload", "measure"),
        ("report", "ops"),
        ("result", "new_module"),
    ] {
        assert!(refusal(module, other).is_some(), "{module} → {other}");
    }
    for (module, other) in [("workload", "ops"), ("measure", "fs"), ("report", "result"), ("fs", "fs")] {
        assert_eq!(refusal(module, other), None, "{module} → {other}");
    }
}

#[test]
fn a_file_made_for_tests_only_is_known() {
    let found = test_files("mod a;\n#[cfg(test)]\nmod example;\n", Path::new("report/mod.rs"));
    assert!(found.contains(&PathBuf::from("report/example.rs")));
    assert!(found.contains(&PathBuf::from("report/example")), "the folder, if it is one");
    assert!(!found.contains(&PathBuf::from("report/a.rs")));
}
