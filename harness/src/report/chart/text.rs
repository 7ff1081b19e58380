//! Text of a chart: what fits, and what XML can hold.
//!
//! No font is known while a chart is drawn, so a width is an estimate that real ones rarely exceed.
//! Names come from outside: a text that might leave its room is drawn at exactly the width that was
//! estimated, whatever the font makes of it.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use crate::units::plain;

/// Of a column of a terminal, in the size of the font: the mean of a wide font.
const MEAN: f64 = 0.62;
/// Marks above or below one letter; more would leave the line.
const MARKS: usize = 2;

/// A text in its room.
#[derive(Debug, PartialEq)]
pub(super) struct Fitted {
    /// Safe for XML, and not yet escaped.
    pub(super) shown: String,
    /// All of it, where not all is shown.
    pub(super) full: Option<String>,
    /// The width that it is drawn at, where a font may make it wider than its room.
    pub(super) pinned: Option<f64>,
}

/// The width of a text of that size, as an estimate.
pub(in crate::report) fn width(text: &str, size: f64) -> f64 {
    columns(text) * MEAN * size
}

/// As many signs as have room.
pub(super) fn fit(text: &str, size: f64, room: f64) -> Fitted {
    let clean = clean(text);
    let fits = width(&clean, size) <= room;
    let shown = if fits { clean.clone() } else { cut(&clean, room / (MEAN * size)) };
    let safe = shown.chars().map(widest).sum::<Option<f64>>().is_some_and(|width| width * size <= room);
    let pinned = (!safe && shown.chars().count() > 1).then(|| width(&shown, size).min(room));
    Fitted { full: (!fits).then_some(clean), shown, pinned }
}

/// The width of a sign in a wide font, in its size; unknown of what fonts draw in very different ways.
/// Source: the advance widths of `DejaVu` Sans, rounded up.
fn widest(sign: char) -> Option<f64> {
    match sign {
        ' ' | '\u{a0}' | '.' | ',' | ':' | ';' | '\'' | '!' | '|' | '/' | '(' | ')' | '[' | ']' | '-' => {
            Some(0.42)
        }
        'i' | 'j' | 'l' | 'f' | 't' | 'r' | 'I' => Some(0.45),
        'm' | 'w' | 'M' | 'W' | '@' | '%' | '…' => Some(1.05),
        'A'..='Z' | '<' | '=' | '>' | '+' | '~' | '#' | '&' | '^' | '×' => Some(0.88),
        sign if sign.is_ascii_graphic() => Some(0.66),
        'µ' | '±' => Some(0.88),
        _ => None,
    }
}

/// The beginning of a text, and a sign that there is more.
fn cut(text: &str, columns: f64) -> String {
    let mut shown = String::new();
    for sign in text.chars() {
        let longer = format!("{shown}{sign}…");
        if self::columns(&longer) > columns {
            break;
        }
        shown.push(sign);
    }
    format!("{}…", shown.trim_end())
}

#[expect(clippy::cast_precision_loss, reason = "no text is that long")]
fn columns(text: &str) -> f64 {
    text.width() as f64
}

/// What can be shown on one line: of marks above and below a letter the first few, and something even
/// where nothing is to be seen.
pub(in crate::report) fn clean(text: &str) -> String {
    let mut marks = 0;
    let mut clean = plain::line(text);
    clean.retain(|sign| {
        marks = if sign.width() == Some(0) { marks + 1 } else { 0 };
        marks <= MARKS
    });
    let trimmed = clean.trim();
    match trimmed.width() {
        0 => char::REPLACEMENT_CHARACTER.to_string(),
        _ => trimmed.to_owned(),
    }
}

/// As XML holds it, between tags and in quotes.
pub(in crate::report) fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for sign in text.chars() {
        match sign {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            sign => escaped.push(sign),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_word_is_drawn_as_the_font_has_it() {
        let fitted = fit("ext4", 12.0, 100.0);
        assert_eq!(fitted, Fitted { shown: "ext4".into(), full: None, pinned: None });
    }

    #[test]
    fn what_has_no_room_ends_in_an_ellipsis_and_is_told_in_full() {
        let long = "x".repeat(200);
        let fitted = fit(&long, 10.0, 62.0);
        assert_eq!(fitted.shown, format!("{}…", "x".repeat(9)));
        assert_eq!(fitted.full, Some(long));
        assert_eq!(fitted.pinned, Some(62.0));
    }

    #[test]
    fn wide_letters_and_those_of_other_scripts_are_held_in_their_room() {
        assert!(fit("WWWWWWWW", 10.0, 60.0).pinned.is_some(), "8 letters of 10 are 80");
        let of_six_columns = fit("日本語", 10.0, 60.0).pinned.unwrap();
        assert!((of_six_columns - 37.2).abs() < 1e-9, "{of_six_columns}");
        assert!(fit("مرحبا", 10.0, 60.0).pinned.is_some());
    }

    #[test]
    fn nothing_that_steers_comes_through() {
        let clean = clean("a\u{202e}b\u{0}c\u{1b}[31md\ne\u{7f}\u{ffff}");
        assert_eq!(clean, "a\u{fffd}b\u{fffd}c\u{fffd}[31md e\u{fffd}\u{fffd}");
        assert_eq!(self::clean("\u{301}\u{301}"), "\u{fffd}", "nothing to see is seen");
        assert_eq!(self::clean(&format!("o{}", "\u{301}".repeat(50))), "o\u{301}\u{301}");
    }

    #[test]
    fn markup_is_text() {
        assert_eq!(escaped("<b a='1' c=\"2\">&"), "&lt;b a=&#39;1&#39; c=&quot;2&quot;&gt;&amp;");
    }
}
