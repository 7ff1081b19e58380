//! What a report keeps in a browser, and for each rule a page that breaks it: a check that finds
//! nothing wrong there finds nothing anywhere.

/// A rule.
pub struct Rule {
    /// In `checks.js`.
    pub key: &'static str,
    /// What holds where it is kept.
    pub sentence: &'static str,
    /// It also holds for a picture in a file of its own.
    pub of_pictures: bool,
    /// Within `<body>`: what breaks it.
    pub broken_by: &'static [&'static str],
}

/// All of them.
pub const RULES: &[Rule] = &[
    Rule {
        key: "overlap",
        sentence: "no_text_of_a_chart_overlaps_another",
        of_pictures: true,
        broken_by: &[
            r#"<svg role="img" aria-label="time of two steps" width="300" height="100">
               <text x="10" y="50">small-files</text><text x="40" y="55">directories</text></svg>"#,
            r#"<svg role="img" aria-label="time of two steps" width="300" height="100">
               <text x="10" y="50">small-files<tspan x="20" y="52">remove</tspan></text></svg>"#,
            r#"<svg role="img" aria-label="time of two steps" width="300" height="100">
               <text x="10" y="50" textLength="200" lengthAdjust="spacingAndGlyphs">small</text>
               <text x="150" y="55">directories</text></svg>"#,
        ],
    },
    Rule {
        key: "outside",
        sentence: "every_text_of_a_chart_is_inside_its_picture",
        of_pictures: true,
        broken_by: &[
            r#"<svg role="img" aria-label="time of one step" width="200" height="100" style="overflow: visible">
               <text x="150" y="50">small-files</text></svg>"#,
            r#"<svg role="img" aria-label="time of one step" width="200" height="100">
               <text x="10" y="98">yg</text></svg>"#,
            r#"<svg role="img" aria-label="time of one step" width="200" height="100" style="overflow: visible">
               <text x="150" y="50" textLength="60" lengthAdjust="spacingAndGlyphs">a</text></svg>"#,
        ],
    },
    Rule {
        key: "silent",
        sentence: "every_chart_says_in_words_what_it_shows",
        of_pictures: true,
        broken_by: &[r#"<svg width="200" height="100"><text x="10" y="50">small-files</text></svg>"#],
    },
    Rule {
        key: "small",
        sentence: "no_text_is_smaller_than_11_pixels",
        of_pictures: true,
        broken_by: &[
            r#"<p style="font-size: 10px">of one block</p>"#,
            r#"<svg role="img" aria-label="time of one step" viewBox="0 0 1400 100" width="300" height="30">
               <text x="10" y="50" font-size="20">small-files</text></svg>"#,
        ],
    },
    Rule {
        key: "contrast",
        sentence: "every_text_stands_out_from_what_is_behind_it",
        of_pictures: true,
        broken_by: &[
            r#"<p style="color: #888; background: #fff">of one block</p>"#,
            r#"<p style="opacity: 0.4">of one block</p>"#,
            r##"<svg role="img" aria-label="time of one step" width="200" height="100"><rect width="200" height="100"
                fill="#0072b2"/><text x="10" y="50" fill="#000">small-files</text></svg>"##,
            r"<style>@media (prefers-color-scheme: dark) { p { background: #222; color: #333 } }</style><p>of one block</p>",
        ],
    },
    Rule {
        key: "sideways",
        sentence: "the_page_does_not_scroll_sideways",
        of_pictures: false,
        broken_by: &[r#"<div style="width: 500px; height: 10px"></div>"#],
    },
    Rule {
        key: "box",
        sentence: "no_text_leaves_its_box_or_is_hidden",
        of_pictures: false,
        broken_by: &[
            r#"<div style="width: 80px"><p>noatime,nodiscard,compress=zstd</p></div>"#,
            r#"<p style="width: 80px; overflow: hidden">noatime,nodiscard,compress=zstd</p>"#,
        ],
    },
    Rule {
        key: "cut",
        sentence: "nothing_is_cut_on_paper",
        of_pictures: false,
        broken_by: &[
            r#"<svg role="img" aria-label="time of one step" width="300" height="1500"><text x="10" y="50">a</text></svg>"#,
            r#"<div style="overflow-x: auto"><div style="width: 900px">small-files</div></div>"#,
            r#"<figure style="break-inside: auto"><svg role="img" aria-label="time of one step" width="50" height="50">
               </svg></figure>"#,
        ],
    },
    Rule {
        key: "executed",
        sentence: "no_text_from_outside_is_executed",
        of_pictures: true,
        broken_by: &[
            "<script>window.broken = 1</script>",
            r#"<p onclick="void 0">of one block</p>"#,
            r#"<a href="javascript:void(0)">of one block</a>"#,
            "<img alt='' src='data:,'>",
            "<p>small-files \u{202e}evomer of one block</p>",
        ],
    },
    Rule {
        key: "console",
        sentence: "the_console_has_no_error_and_no_warning",
        of_pictures: true,
        broken_by: &[
            "<script>console.warn('of one block')</script>",
            "<script>none()</script>",
            r#"<link rel="stylesheet" href="none.css">"#,
        ],
    },
    Rule {
        key: "request",
        sentence: "nothing_is_asked_for_beside_the_file",
        of_pictures: true,
        broken_by: &[
            r#"<link rel="stylesheet" href="https://fonts.invalid/a.css">"#,
            "<script>fetch('https://count.invalid/').catch(() => 0)</script>",
            "<style>p { background: url(none.png) }</style><p>of one block</p>",
        ],
    },
    Rule {
        key: "scripts",
        sentence: "without_scripts_all_headings_are_there",
        of_pictures: false,
        broken_by: &["<script>document.body.insertAdjacentHTML('beforeend', '<h2>Samples</h2>')</script>"],
    },
];

/// A page that keeps all of them, with `body` in it.
pub fn page(body: &str) -> String {
    format!(
        "<!doctype html><html lang=en><meta charset=utf-8><title>a run</title>\
         <meta name=viewport content='width=device-width, initial-scale=1'>\
         <style>:root {{ color-scheme: light dark; font: 16px sans-serif }} svg {{ background: #fff }}\
         figure {{ break-inside: avoid; margin: 0 }}</style>\
         <body><h1>A run</h1>{RIGHT}{body}</body></html>"
    )
}

/// Breaks nothing, although it is close to it.
pub const RIGHT: &str = r##"<p>Small files: <b style="color: GrayText; color: inherit">12,345</b> of them.</p>
    <div style="overflow-x: auto"><p style="width: 600px; max-width: 100%">noatime,nodiscard</p></div>
    <p><bdi>small-files &#x202e;evomer</bdi></p>
    <figure><svg role="img" aria-label="Time until synced: small-files 0.4 s" width="300" height="100">
    <rect width="100" height="100" fill="#003"/><text x="10" y="40" fill="#fff">small-files</text>
    <text x="10" y="58" fill="#fff">remove</text><text x="160" y="40">directories</text>
    <text x="10" y="80" textLength="80" lengthAdjust="spacingAndGlyphs" fill="#fff">&#xfffd;שלום WWWWWWWWWW</text>
    <text x="105" y="80">fill</text></svg></figure>"##;
