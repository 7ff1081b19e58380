//! What is said about a suite that is wrong.

use super::*;

/// The message about [`SUITE`] with `from` replaced by `to`; `from` must be there once.
fn message(from: &str, to: &str) -> String {
    assert_eq!(SUITE.matches(from).count(), 1, "{from:?}");
    let result = Suite::parse("two.toml", &SUITE.replace(from, to));
    let error = result.and_then(|suite| resolve(&suite, &Options::default())).expect_err(to);
    assert_eq!(error.kind(), Kind::Usage, "{error}");
    error.to_string()
}

#[test]
fn a_message_has_file_line_column_and_a_caret() {
    assert_eq!(
        message("count = 100", "coutn = 100"),
        "cannot read two.toml:30:1: unknown key `coutn`; did you mean `count`?\n   |\n30 | coutn = 100\n   | ^^^^^"
    );
}

#[test]
fn a_scale_that_is_not_run_is_checked_too() {
    let text =
        SUITE.replace("[[filesystem]]\nname", "[scale.huge]\nstep.fill.chnk = 1\n[[filesystem]]\nname");
    let error = resolve(&Suite::parse("x", &text).unwrap(), &Options::default()).unwrap_err().to_string();
    assert!(error.contains("unknown key `chnk`; did you mean `chunk`?"), "{error}");
}

#[test]
fn a_place_in_a_claim_is_that_in_its_expression() {
    let text = message("btrfs < nojournal", "btrfs < nojurnal");
    let expected = "51 | holds = \"btrfs < nojurnal\"\n   |                  ^^^^^^^^";
    assert!(text.contains("did you mean `nojournal`?") && text.ends_with(expected), "{text}");
}

#[test]
fn every_mistake_in_a_claim_is_shown_at_its_place_even_on_several_lines() {
    let table = [
        ("fil.synced_s[btrfs] < 1", "fil.synced_s[btrfs]", "unknown step"),
        ("fill.sync_s[btrfs] < 1", "fill.sync_s[btrfs]", "unknown metric"),
        ("mkf_s[btrfs] < 1", "mkf_s[btrfs]", "unknown metric"),
        ("fill.synced_s[btfs] < 1", "fill.synced_s[btfs]", "unknown file system"),
        ("file_size_bytes[btrfs] < 1", "file_size_bytes[btrfs]", "only steps of fill-until-enospc have"),
        ("fill.postmark_total_s[btrfs] < 1", "fill.postmark_total_s[btrfs]", "only steps of postmark have"),
        ("btrfs < 53MB", "53MB", "is not a plain number"),
        ("btrfs ! nojournal", "!", "has no meaning"),
        ("(btrfs < 1) * 2 < 3", "(btrfs < 1)", "not a comparison"),
    ];
    for (holds, place, expected) in table {
        for several_lines in [false, true] {
            let written = match several_lines {
                false => format!("\"btrfs < 2 and {holds}\""),
                true => format!("\"\"\"\\\n  btrfs < 2 and \\\n    {holds}\"\"\""),
            };
            let text = message("\"btrfs < nojournal\"", &written);
            assert!(text.contains(expected), "{text}");
            let lines: Vec<&str> = text.lines().rev().take(2).collect();
            let (carets, line) = (lines[0], lines[1]);
            let (start, end) = (carets.find('^').unwrap(), carets.len());
            assert_eq!(line.get(start..end), Some(place), "{text}");
        }
    }
}

#[test]
fn unknown_keys_are_refused_everywhere() {
    let table = [
        ("title = \"Two steps\"", "titel = \"x\"", "did you mean `title`?"),
        ("seed = 7", "sed = 7", "did you mean `seed`?"),
        ("size = \"1GiB\"", "siz = 1", "did you mean `size`?"),
        ("step.small-files.count = 10", "step.small-file.count = 10", "did you mean `small-files`?"),
        ("step.small-files.count = 10", "step.small-files.workload = \"list\"", "cannot be changed"),
        ("mount = ", "mont = ", "did you mean `mount`?"),
        ("approx", "aprox", "did you mean `approx`?"),
        ("must", "mst", "did you mean `must`?"),
        ("[defaults]", "[default]", "did you mean `defaults`?"),
        ("recover = false", "recovr = false", "did you mean `recover`?"),
        ("[[figure.panel]]", "[[figure.panle]]", "did you mean `panel`?"),
        ("title = \"One file\"", "titel = \"One file\"", "did you mean `title`?"),
        ("step.small-files.count = 10", "step.small-files.coutn = 10", "did you mean `count`?"),
    ];
    for (from, to, expected) in table {
        let text = message(from, to);
        assert!(text.contains(expected) && text.contains('^') && text.contains("two.toml:"), "{text}");
    }
}

#[test]
fn wrong_values_are_refused_at_their_place() {
    let table = [
        ("\"4GiB\"", "\"4Q\"", "`Q` is not a unit"),
        ("\"4GiB\"", "4.5", "a text or a whole number is needed here, not a number"),
        ("\"4GiB\"", "2026-01-01", "no key of a suite is a date"),
        ("\"1m30s\"", "90", "cannot take `90` as a duration"),
        ("seed = 7", "seed = 99999999999999999999", "too large"),
        ("store = \"memory\"", "block-size = 3000", "use blocks of"),
        ("store = \"memory\"", "direct-io = \"yes\"", "take `yes` as direct-io"),
        ("recover = false", "when = 1979-05-27", "is a date"),
        ("allow-limit = true", "allow-limit = 1", "true or false is needed here, not a whole number"),
        ("[\"-O\", \"^has_journal\"]", "\"-O ^has_journal\"", "a list is needed here, not a text"),
        ("\"53MB\"", "\"53s\"", "`s` is not a unit"),
        ("\"53MB\"", "true", "a figure is needed here"),
        ("\"53MB\"", "nan", "a figure is needed here"),
        ("\"1m30s\"", "\"0s\"", "give a step no time at all"),
        ("name = \"fill\"", "name = \"small-files\"", "a second step `small-files`"),
        ("name = \"fill\"", "name = \"lost+found\"", "cannot be a name"),
        ("workload = \"fill-until-enospc\"", "", "`workload` is missing here"),
    ];
    for (from, to, expected) in table {
        let text = message(from, to);
        assert!(text.contains(expected) && text.contains('^'), "{text}\nis not {expected}");
    }
}

#[test]
fn names_that_do_not_exist_are_refused() {
    let table = [
        ("workload = \"fill-until-enospc\"", "workload = \"fil\"", "unknown workload `fil`"),
        ("name = \"btrfs\"", "name = \"betrfs\"", "did you mean `btrfs`?"),
        ("filesystem = \"btrfs\"", "filesystem = \"xfs\"", "unknown file system `xfs`"),
        ("scales = [\"full\"]", "scales = [\"ful\"]", "unknown scale `ful`; did you mean `full`?"),
        ("btrfs < nojournal", "fil.synced_s[btrfs] < 1", "unknown step `fil`"),
        ("btrfs < nojournal", "fill.sync_s[btrfs] < 1", "did you mean `synced_s`?"),
        ("btrfs < nojournal", "fill.mkfs_s[btrfs] < 1", "unknown metric `mkfs_s`"),
        ("btrfs < nojournal", "btrfs < 53MB", "is not a plain number"),
        ("step = \"fill\"", "step = \"fil\"", "unknown step `fil`; did you mean `fill`?"),
        ("metric = \"file_size_bytes\"", "metric = \"file_sise_bytes\"", "did you mean `file_size_bytes`?"),
        ("step = \"fill\"", "step = \"small-files\"", "only steps of fill-until-enospc have"),
        ("default-scale = \"quick\"", "default-scale = \"quik\"", "did you mean `quick`?"),
        ("default-scale = \"quick\"", "", "several scales need `default-scale`"),
        ("base-scale = \"full\"", "", "several scales need `base-scale`"),
        ("base-scale = \"full\"", "base-scale = \"quick\"", "a scale has the same name"),
    ];
    for (from, to, expected) in table {
        let text = message(from, to);
        assert!(text.contains(expected) && text.contains('^'), "{text}\nis not {expected}");
    }
}

#[test]
fn a_reference_names_a_metric_of_its_step() {
    let text = message("metric = \"space_used_bytes\"\nfilesystem", "metric = \"mkfs_s\"\nfilesystem");
    assert!(text.contains("cannot take `53MB`"), "{text}");
    let text =
        message("metric = \"space_used_bytes\"\nfilesystem", "metric = \"spce_used_bytes\"\nfilesystem");
    assert!(text.contains("unknown metric `spce_used_bytes`; did you mean `space_used_bytes`?"), "{text}");
}

#[test]
fn a_claim_about_a_whole_case_and_one_about_a_fact_are_known() {
    for holds in ["mkfs_s[btrfs] < 1", "fill.file_size_bytes[btrfs] > 1"] {
        let text = SUITE.replace("step = \"small-files\"\nmetric = \"space_used_bytes\"\nholds", "holds");
        let text = text.replace("btrfs < nojournal", holds);
        let run = resolve(&Suite::parse("x", &text).unwrap(), &Options::default()).unwrap();
        assert_eq!(run.claims[0].holds, holds);
    }
}

#[test]
fn a_figure_without_a_panel_shows_nothing_and_is_refused() {
    let panel = &SUITE[SUITE.find("[[figure.panel]]").unwrap()..];
    assert!(message(panel, "").contains("a figure needs a panel: [[figure.panel]]"));
    assert!(message(panel, "panel = []").contains("a figure needs a panel"));
}

#[test]
fn a_kernel_that_cannot_be_one_is_refused_at_its_place() {
    for (kernels, at, why) in [
        ("{ path = \"\" }", "{ path = \"\" }", "`path` is missing here"),
        ("{ id = \"6.1\" }", "{ id = \"6.1\" }", "`path` is missing here"),
        ("{ id = \"a@b\", path = \"x\" }", "\"a@b\"", "cannot be the id of a kernel"),
        ("{ id = \"k\", path = \"x\" }, { id = \"k\", path = \"y\" }", "\"k\"", "a second kernel `k`"),
        ("{ id = \"k\", paht = \"x\" }", "paht", "unknown key `paht`"),
    ] {
        let text = message("[[reference]]", &format!("[matrix]\nkernel = [{kernels}]\n[[reference]]"));
        let carets = "^".repeat(at.len());
        assert!(text.contains(why) && text.ends_with(&format!(" {carets}")), "{text}");
    }
    let empty = SUITE.replace("[[reference]]", "[matrix]\nkernel = []\n[[reference]]");
    assert!(resolve(&Suite::parse("x", &empty).unwrap(), &Options::default()).unwrap().kernels.is_empty());
}

#[test]
fn no_text_makes_the_reader_panic() {
    for end in (0..SUITE.len()).filter(|end| SUITE.is_char_boundary(*end)) {
        // Most ends are errors; what matters is that each is one with a place, or a suite.
        if let Err(error) = Suite::parse("cut.toml", &SUITE[..end]) {
            assert!(error.to_string().contains("cut.toml:"), "{error}");
        }
    }
}

#[test]
fn a_file_system_that_no_kernel_has_is_refused_with_the_reason() {
    let options = Options { filesystems: vec!["oldfs".into()], ..Options::default() };
    let error = resolve(&Suite::parse("two.toml", SUITE).unwrap(), &options).unwrap_err();
    assert_eq!(error.kind(), Kind::Usage);
    assert!(error.to_string().contains("no file system `oldfs` here: it is in no kernel"), "{error}");
}
