//! Texts that break what shows them, in every place of a run that holds text.

use fsduel_harness::result::RunReport;
use serde_json::Value;

/// A kind of hostile text: made from the text that was there, so that equal names stay equal.
pub struct Hostile {
    /// In the name of a test.
    pub name: &'static str,
    /// The text in place of an ordinary one.
    pub of: fn(&str) -> String,
}

/// The marker is set by whatever of these is executed.
pub const HOSTILE: &[Hostile] = &[
    Hostile { name: "markup", of: markup },
    Hostile { name: "one word of 200 letters", of: long },
    Hostile { name: "right to left", of: right_to_left },
    Hostile { name: "control characters", of: control },
    Hostile { name: "formulas and tables", of: formula },
];

fn markup(text: &str) -> String {
    format!(
        "{text}</script></style></text></svg>--><img src=x onerror=window.broken=1>\
         <script>window.broken=2</script>\"'onmouseover=window.broken=3 {{{{7*7}}}}{{% raw %}}]]>&amp;&#0;"
    )
}

fn long(text: &str) -> String {
    let rest = 200_usize.saturating_sub(text.chars().count());
    format!("{text}{}", "W".repeat(rest))
}

fn right_to_left(text: &str) -> String {
    format!("\u{202e}{text}\u{2067}שלום עולם\u{202b}مرحبا {text}")
}

fn control(text: &str) -> String {
    format!("\u{1b}[31m\u{1b}]0;title\u{7}{text}\0\u{8}\u{b}\r\n\t\u{7f}\u{9b}2J\u{feff}\u{fffe}\u{200b}")
}

fn formula(text: &str) -> String {
    format!(
        "=cmd|'/c calc'!A1,\"{text}\"|`a`\n# title\n| a | b |\n|---|---|\n@everyone [x](javascript:alert(1)) ~~~ **\\"
    )
}

/// Words of machines: no text from outside can stand there.
const WORDS: [&str; 9] =
    ["status", "ended", "which", "read_back", "fsck", "kernel_log", "teardown", "verdict", "gate_verdict"];

/// Lists whose keys come from outside.
const KEYS: [&str; 3] = ["tools", "latency", "ledger"];

/// The run, with such text in place of every text that it holds.
pub fn hostile(run: &RunReport, kind: &Hostile) -> RunReport {
    let mut value = serde_json::to_value(run).unwrap();
    change(&mut value, kind.of, false);
    serde_json::from_value(value).unwrap()
}

fn change(value: &mut Value, of: fn(&str) -> String, foreign_keys: bool) {
    match value {
        Value::String(text) => *text = of(text),
        Value::Array(list) => list.iter_mut().for_each(|entry| change(entry, of, false)),
        Value::Object(fields) => {
            for (key, mut value) in std::mem::take(fields) {
                // A metric that this program does not know is shown under its own name.
                if let Some(metrics) = value.as_object_mut().filter(|_| key == "metrics") {
                    metrics.insert(of("other_s"), 1.5.into());
                }
                if !(WORDS.contains(&key.as_str()) && value.is_string()) {
                    change(&mut value, of, KEYS.contains(&key.as_str()));
                }
                fields.insert(if foreign_keys { of(&key) } else { key }, value);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
