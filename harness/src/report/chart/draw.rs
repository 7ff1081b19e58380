//! The elements of a picture, written as SVG.
//!
//! Every text goes through one function, which is why none leaves its room and none is markup.

use std::fmt::Write as _;

use super::colour::Paint;
use super::text::{escaped, fit};

/// Elements so far.
#[derive(Default)]
pub(in crate::report) struct Drawing {
    pub(in crate::report) body: String,
}

/// A line of text.
#[derive(Clone, Copy)]
pub(in crate::report) struct Line<'a> {
    pub(in crate::report) text: &'a str,
    /// Of its left end; of its right end where it stands at the right.
    pub(in crate::report) x: f64,
    /// Of its upper edge.
    pub(in crate::report) y: f64,
    pub(in crate::report) size: f64,
    /// Its width is not larger.
    pub(in crate::report) room: f64,
    pub(in crate::report) paint: Paint,
    pub(in crate::report) strong: bool,
    pub(in crate::report) right: bool,
}

/// Of a line, in the size of its font: what fonts have above and below, so that none meets the next.
const LINE: f64 = 1.4;
/// From the upper edge to the foot of the letters.
const ASCENT: f64 = 1.1;

impl<'a> Line<'a> {
    /// At the left, in the colour of text.
    pub(in crate::report) fn new(text: &'a str, [x, y]: [f64; 2], size: f64, room: f64) -> Self {
        Self { text, x, y, size, room, paint: Paint::Text, strong: false, right: false }
    }
}

/// Of a line of text of that size.
pub(in crate::report) fn height(size: f64) -> f64 {
    (size * LINE).ceil()
}

/// With one decimal at most.
pub(in crate::report) fn px(value: f64) -> String {
    let text = format!("{value:.1}");
    match text.strip_suffix(".0").unwrap_or(&text) {
        "-0" => "0".into(),
        short => short.into(),
    }
}

impl Drawing {
    /// A line of text, which ends where its room does.
    pub(in crate::report) fn text(&mut self, line: &Line) {
        let fitted = fit(line.text, line.size, line.room);
        let (x, y) = (px(line.x), px(line.y + line.size * ASCENT));
        let mut attributes = format!("x=\"{x}\" y=\"{y}\" font-size=\"{}\"", px(line.size));
        if line.right {
            attributes.push_str(" text-anchor=\"end\"");
        }
        if line.strong {
            attributes.push_str(" font-weight=\"600\"");
        }
        if line.paint != Paint::Text {
            attributes.push_str(&format!(" style=\"fill:{}\"", line.paint.css()));
        }
        if let Some(width) = fitted.pinned {
            attributes.push_str(&format!(" textLength=\"{}\" lengthAdjust=\"spacingAndGlyphs\"", px(width)));
        }
        let full = fitted.full.map(|full| format!("<title>{}</title>", escaped(&full)));
        let full = full.unwrap_or_default();
        self.add(&format!("<text {attributes}>{full}{}</text>", escaped(&fitted.shown)));
    }

    /// A filled box.
    pub(in crate::report) fn rect(&mut self, [x, y]: [f64; 2], [width, height]: [f64; 2], paint: Paint) {
        self.faint_rect([x, y], [width, height], paint, 1.0);
    }

    /// A box through which something can be seen.
    pub(super) fn faint_rect(
        &mut self,
        [x, y]: [f64; 2],
        [width, height]: [f64; 2],
        paint: Paint,
        opacity: f64,
    ) {
        let size = format!("width=\"{}\" height=\"{}\"", px(width.max(0.0)), px(height));
        let opacity = if opacity < 1.0 { format!(";fill-opacity:{opacity}") } else { String::new() };
        let style = format!("fill:{}{opacity}", paint.css());
        self.add(&format!("<rect x=\"{}\" y=\"{}\" {size} style=\"{style}\"/>", px(x), px(y)));
    }

    /// Boxes below each other as one element, since a large run has many: from `left` to `right`, each
    /// with its upper edge at one of `tops`.
    pub(super) fn bands(&mut self, tops: &[f64], [left, right]: [f64; 2], height: f64, paint: Paint) {
        let (x, wide, high) = (px(left), px(right - left), px(height));
        let boxes = tops.iter().map(|y| format!("M{x} {}h{wide}v{high}h-{wide}z", px(*y)));
        let style = format!("fill:{}", paint.css());
        self.add(&format!("<path d=\"{}\" style=\"{style}\"/>", boxes.collect::<String>()));
    }

    /// A line along a path.
    pub(super) fn path(&mut self, path: &str, width: f64, paint: Paint, dashes: &str) {
        let dashes = match dashes {
            "none" => String::new(),
            dashes => format!(";stroke-dasharray:{dashes}"),
        };
        let style = format!("fill:none;stroke:{};stroke-width:{}{dashes}", paint.css(), px(width));
        self.add(&format!("<path d=\"{path}\" style=\"{style}\"/>"));
    }

    /// A dot at each place, with a rim that is seen on any ground.
    pub(super) fn dots(&mut self, places: &[[f64; 2]], radius: f64, paint: Paint, hollow: bool) {
        let fill = if hollow { Paint::Ground } else { paint };
        let rim = if hollow { paint } else { Paint::Text };
        let width = if hollow { 1.4 } else { 0.5 };
        let style = format!("fill:{};stroke:{};stroke-width:{}", fill.css(), rim.css(), px(width));
        let mut dots = String::new();
        for [x, y] in places {
            let _ = write!(dots, "<circle cx=\"{}\" cy=\"{}\" r=\"{}\"/>", px(*x), px(*y), px(radius));
        }
        self.add(&format!("<g style=\"{style}\">{dots}</g>"));
    }

    /// What was drawn elsewhere, moved there.
    pub(in crate::report) fn group(&mut self, [x, y]: [f64; 2], body: &str) {
        self.add(&format!("<g transform=\"translate({} {})\">\n{body}</g>", px(x), px(y)));
    }

    fn add(&mut self, element: &str) {
        self.body.push_str(element);
        self.body.push('\n');
    }
}
