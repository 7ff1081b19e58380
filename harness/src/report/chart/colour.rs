//! Colours that people who see fewer of them can tell apart, and what else tells lines apart.
//!
//! The eight of Okabe and Ito, "Color Universal Design" (2008), with yellow last, since it is faint
//! on white. From the ninth on they come again, hollow or dashed: never does colour alone tell what
//! is what. A page sets the properties that begin with `--chart-`; without one, or where a reader
//! ignores styles, the light colours stand in the elements themselves.

/// Of each configuration, in the order of the suite.
const PALETTE: [&str; 8] =
    ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#f0e442"];

/// The properties of charts in light and in dark, as CSS.
pub(in crate::report) const THEME: &str = "\
:root{color-scheme:light dark;--chart-ground:#ffffff;--chart-text:#1f2328;--chart-muted:#57606a;\
--chart-track:#f0f2f4;--chart-grid:#d0d7de;--chart-band:#dfe5ec}
@media(prefers-color-scheme:dark){:root{--chart-ground:#0d1117;--chart-text:#e6edf3;--chart-muted:#9aa4af;\
--chart-track:#1b222b;--chart-grid:#3d444d;--chart-band:#303a46;--c1:#3d9be0;--c7:#ffffff}}
@media print{:root{--chart-ground:#ffffff;--chart-text:#1f2328;--chart-muted:#57606a;--chart-track:#f0f2f4;\
--chart-grid:#d0d7de;--chart-band:#dfe5ec;--c1:#0072b2;--c7:#000000}}
";

/// What a part of a chart is painted with.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::report) enum Paint {
    Ground,
    Text,
    Muted,
    Track,
    Grid,
    Band,
    /// Of a configuration, by its place.
    Configuration(usize),
}

impl Paint {
    /// As a value of CSS.
    pub(in crate::report) fn css(self) -> String {
        let (name, light) = match self {
            Self::Ground => ("chart-ground", "#ffffff"),
            Self::Text => ("chart-text", "#1f2328"),
            Self::Muted => ("chart-muted", "#57606a"),
            Self::Track => ("chart-track", "#f0f2f4"),
            Self::Grid => ("chart-grid", "#d0d7de"),
            Self::Band => ("chart-band", "#dfe5ec"),
            Self::Configuration(at) => {
                let at = at % PALETTE.len();
                return format!("var(--c{},{})", at + 1, PALETTE[at]);
            }
        };
        format!("var(--{name},{light})")
    }
}

/// Whether the dots of a configuration are hollow.
pub(super) fn hollow(at: usize) -> bool {
    (at / PALETTE.len()) % 2 == 1
}

/// The dashes of a configuration's line: neighbours differ in them, too.
pub(super) fn dashes(at: usize) -> &'static str {
    const DASHES: [&str; 5] = ["none", "6 3", "2 3", "9 3 2 3", "12 4"];
    DASHES[at % DASHES.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_of_forty_lines_look_the_same() {
        let looks: std::collections::BTreeSet<_> =
            (0..40).map(|at| (Paint::Configuration(at).css(), dashes(at))).collect();
        assert_eq!(looks.len(), 40);
        assert!(!hollow(7) && hollow(8) && !hollow(16));
    }

    #[test]
    fn the_theme_knows_every_paint_and_has_the_same_light_colours() {
        for paint in [Paint::Ground, Paint::Text, Paint::Muted, Paint::Track, Paint::Grid, Paint::Band] {
            let css = paint.css();
            let (name, light) = css[4..css.len() - 1].split_once(',').unwrap();
            let (start, rest) = THEME.split_once("@media").unwrap();
            assert!(start.contains(&format!("{name}:{light}")), "{css}");
            assert!(rest.contains(&format!("{name}:")), "{css} in the dark");
        }
    }
}
