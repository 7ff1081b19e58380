//! One moving line on a terminal.
//!
//! It is drawn when something is told, which is at most once a second while a step is timed, and
//! never by a timer: a redraw is work on the machine that is measured.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use terminal_size::terminal_size_of;
use unicode_width::UnicodeWidthStr;

use super::state::Words;

/// Columns where the terminal does not tell them.
const WIDTH: u16 = 80;
/// Cut off at the width of the terminal, whatever it is by then.
const TEMPLATE: &str = "{wide_msg}";

/// An empty line at the end of the terminal.
pub fn bar() -> ProgressBar {
    let style = ProgressStyle::with_template(TEMPLATE).unwrap_or_else(|_| ProgressStyle::default_bar());
    ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr_with_hz(4)).with_style(style)
}

/// Columns of the terminal now.
pub fn width() -> usize {
    terminal_size_of(std::io::stderr()).map_or(WIDTH, |(width, _)| width.0).into()
}

/// As much as fits, and what matters least is left out first.
pub fn line(words: &Words, width: usize) -> String {
    let lines = (0..LEVELS).map(|level| compose(words, level));
    let mut last = String::new();
    for line in lines {
        last = line;
        if last.width() <= width {
            break;
        }
    }
    last
}

/// From everything to the case and what it does.
const LEVELS: usize = 7;
/// Signs of the chart where room is short.
const SHORT: usize = 8;

fn compose(words: &Words, level: usize) -> String {
    let part = |part: &Option<String>, up_to: usize| part.clone().filter(|_| level <= up_to);
    let short = |chart: String| chart.chars().skip(chart.chars().count().saturating_sub(SHORT)).collect();
    let chart = part(&words.chart, 1).map(|chart| if level == 1 { short(chart) } else { chart });
    let parts = [part(&words.amount, 5), part(&words.rate, 4), chart, part(&words.left, 3)];
    let mut line = format!("{} {}", words.case, words.doing);
    for part in parts.into_iter().flatten() {
        line.push(' ');
        line.push_str(&part);
    }
    if let Some(run_left) = part(&words.run_left, 2) {
        line.push_str("; ");
        line.push_str(&run_left);
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words() -> Words {
        Words {
            case: "[3/18] btrfs/1".into(),
            doing: "fill".into(),
            amount: Some("1.20 GiB".into()),
            rate: Some("812 MiB/s".into()),
            chart: Some("▁▂▃▄▅▆▇█▁▂▃▄▅▆▇█▁▂▃▄".into()),
            left: Some("40 s left".into()),
            run_left: Some("run: 3 min left".into()),
            ..Words::default()
        }
    }

    #[test]
    fn the_line_says_where_it_is_how_fast_and_how_long_still() {
        assert_eq!(
            line(&words(), 200),
            "[3/18] btrfs/1 fill 1.20 GiB 812 MiB/s ▁▂▃▄▅▆▇█▁▂▃▄▅▆▇█▁▂▃▄ 40 s left; run: 3 min left"
        );
        let phase = Words { case: "[1/3] a/1".into(), doing: "fsck".into(), ..Words::default() };
        assert_eq!(line(&phase, 80), "[1/3] a/1 fsck");
    }

    #[test]
    fn what_matters_least_goes_first_where_the_terminal_is_narrow() {
        let table = [
            (75, "[3/18] btrfs/1 fill 1.20 GiB 812 MiB/s ▅▆▇█▁▂▃▄ 40 s left; run: 3 min left"),
            (66, "[3/18] btrfs/1 fill 1.20 GiB 812 MiB/s 40 s left; run: 3 min left"),
            (50, "[3/18] btrfs/1 fill 1.20 GiB 812 MiB/s 40 s left"),
            (40, "[3/18] btrfs/1 fill 1.20 GiB 812 MiB/s"),
            (30, "[3/18] btrfs/1 fill 1.20 GiB"),
            (20, "[3/18] btrfs/1 fill"),
        ];
        for (width, text) in table {
            assert_eq!(line(&words(), width), text, "{width}");
        }
        let wide = Words { case: "大大大大大".into(), ..words() };
        for width in 20..100 {
            assert!(line(&wide, width).width() <= width, "{width}");
        }
    }

    #[test]
    fn the_template_is_understood() {
        assert!(ProgressStyle::with_template(TEMPLATE).is_ok());
    }
}
