//! Text from outside as text: no markup, no mention of people, no reference to issues, no link.
//!
//! GitHub looks for `@name`, `#123`, `GH-123` and addresses after it has understood the Markdown, so
//! a backslash or an entity for the sign alone does not help; a sign without width behind it does.

use crate::report::page::UNBROKEN;
use crate::units::plain;

/// Parts what would be understood as one; nothing is seen of it.
const PARTED: &str = "&#8203;";

/// A line of its own.
pub(super) fn text(text: &str) -> String {
    begun(inline(text))
}

/// On one line, behind something else, with every sign that means something to Markdown escaped.
pub(super) fn inline(text: &str) -> String {
    let signs: Vec<char> = plain::line(&text.replace(UNBROKEN, " ")).trim().chars().collect();
    let mut escaped = String::new();
    for (at, sign) in signs.iter().enumerate() {
        let next = signs.get(at + 1).copied().unwrap_or(' ');
        if *sign == ' ' && next == ' ' {
            continue;
        }
        escaped.push_str(&one(*sign));
        if parts(&signs[..=at], next) {
            escaped.push_str(PARTED);
        }
    }
    escaped
}

fn one(sign: char) -> String {
    match sign {
        '&' => "&amp;".into(),
        '<' => "&lt;".into(),
        '>' => "&gt;".into(),
        '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '~' | '$' | '!' => format!("\\{sign}"),
        other => other.to_string(),
    }
}

/// Whether what is read so far and what follows would be more than text.
fn parts(read: &[char], next: char) -> bool {
    let ends = |end: &str| {
        let count = end.chars().count();
        read.len() >= count
            && read[read.len() - count..]
                .iter()
                .zip(end.chars())
                .all(|(one, other)| one.eq_ignore_ascii_case(&other))
    };
    match read.last() {
        Some('@') => next.is_alphanumeric(),
        Some('#') => next.is_ascii_digit(),
        Some('-') => ends("gh-") && next.is_ascii_digit(),
        Some(':') => next == '/' || next.is_ascii_alphabetic(),
        Some('w' | 'W') => ends("www") && next == '.',
        _ => false,
    }
}

/// What begins a list, a heading or a line only where it stands first.
fn begun(text: String) -> String {
    let digits = text.chars().take_while(char::is_ascii_digit).count();
    match text[digits..].chars().next() {
        Some('#' | '-' | '+' | '=') if digits == 0 => format!("\\{text}"),
        Some('.' | ')') if digits > 0 => format!("{}\\{}", &text[..digits], &text[digits..]),
        _ => text,
    }
}

/// A command on one line, to be copied as it is.
pub(super) fn command(command: &str) -> String {
    let command = plain::line(command);
    let longest = command.split(|sign| sign != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest + 1);
    let blank = if command.starts_with('`') || command.ends_with('`') { " " } else { "" };
    format!("{fence}{blank}{command}{blank}{fence}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markup_is_text() {
        assert_eq!(text("<b>&amp;</b>"), "&lt;b&gt;&amp;amp;&lt;/b&gt;");
        assert_eq!(text("a|b `c` *d* _e_ ~f~ $g$"), "a\\|b \\`c\\` \\*d\\* \\_e\\_ \\~f\\~ \\$g\\$");
        assert_eq!(text("![x](y)"), "\\!\\[x\\](y)");
        assert_eq!(text("a\nb\r\n  c\u{a0}d\u{202e}"), "a b c d\u{fffd}");
    }

    #[test]
    fn nobody_is_called_and_no_issue_is_pointed_at() {
        assert_eq!(text("@torvalds, a@b.c, @ 5"), "@&#8203;torvalds, a@&#8203;b.c, @ 5");
        assert_eq!(text("ext4#2 GH-1 x/y#12 # 3"), "ext4#&#8203;2 GH-&#8203;1 x/y#&#8203;12 # 3");
        assert_eq!(text("https://a.b www.a.b"), "https:&#8203;//a.b www&#8203;.a.b");
        assert_eq!(text("ext4:noatime:x:"), "ext4:&#8203;noatime:&#8203;x:");
    }

    #[test]
    fn no_text_begins_a_heading_or_a_list() {
        assert_eq!(text("# a"), "\\# a");
        assert_eq!(text("- a"), "\\- a");
        assert_eq!(text("1. a"), "1\\. a");
        assert_eq!(text("12) a"), "12\\) a");
        assert_eq!(text("1.05 s"), "1\\.05 s", "which is shown as 1.05 s");
        assert_eq!(text("6.18"), "6\\.18");
        assert_eq!(text("668 ms"), "668 ms");
    }

    #[test]
    fn a_command_can_be_copied_whatever_quotes_it_has() {
        assert_eq!(command("fsduel run quick"), "`fsduel run quick`");
        assert_eq!(command("echo ``date`"), "``` echo ``date` ```");
    }
}
