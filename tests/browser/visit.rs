//! All that a browser can say of one file, in one visit: in each size and both colours, on paper,
//! and without scripts.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Value, json};

use crate::chromium::{Chromium, Result};
use crate::tab::{Tab, Told, View};

const CHECKS: &str = include_str!("checks.js");

/// A telephone held upright, and a desk.
const WIDTHS: [u32; 2] = [360, 1280];

/// What A4 has between margins of 1 cm: 190 mm at 96 pixels to the inch.
const PAPER: u32 = 718;

/// Chromium draws no higher picture in one piece.
const HIGHEST: f64 = 16_000.0;

/// What was found.
#[derive(Default)]
pub struct Visit {
    /// By rule.
    pub faults: BTreeMap<String, Vec<String>>,
    /// Of the parts of the page, in order.
    pub headings: Vec<String>,
    /// What the link for the run gives.
    pub download: Option<Vec<u8>>,
    /// Of the file.
    pub bytes: usize,
    /// What the page says of the stored run.
    pub raw_data: String,
    /// The page on paper.
    pub pdf: Vec<u8>,
}

/// A file, and how to look at it.
pub struct File<'a> {
    /// Where it is.
    pub path: &'a Path,
    /// A picture has one size, and no headings.
    pub is_picture: bool,
    /// Where pictures of what is seen go, up to `-WIDTH-SCHEME.png`.
    pub screenshots: Option<PathBuf>,
}

/// Look at a file in every way.
pub fn visit(chromium: &Chromium, file: &File) -> Result<Visit> {
    let tab = Tab::open(chromium.wire())?;
    let address = format!("file://{}", file.path.display());
    let mut visit = Visit::default();
    let widths = if file.is_picture { &WIDTHS[1..] } else { &WIDTHS[..] };
    for width in widths.iter().copied() {
        visit.on_screen(&tab, &address, width, file.screenshots.as_deref())?;
    }
    if !file.is_picture {
        visit.headings = headings(&tab)?;
        visit.download = download(&tab)?;
        visit.raw_data = text(&tab, "document.querySelector('#raw-data')?.textContent")?;
        visit.bytes = std::fs::read(file.path).map_err(|error| error.to_string())?.len();
        visit.on_paper(&tab)?;
        visit.without_scripts(&tab, &address)?;
    }
    Ok(visit)
}

impl Visit {
    fn on_screen(&mut self, tab: &Tab, address: &str, width: u32, screenshots: Option<&Path>) -> Result<()> {
        tab.view(View { width, dark: false, print: false })?;
        let told = tab.load(address)?;
        self.hear(told, address);
        for dark in [false, true] {
            // Colours are the same in every size.
            let is_checked = !dark || width == WIDTHS[1];
            if !is_checked && screenshots.is_none() {
                continue;
            }
            let scheme = if dark { "dark" } else { "light" };
            tab.view(View { width, dark, print: false })?;
            if let Some(base) = screenshots {
                screenshot(tab, width, Path::new(&format!("{}-{width}-{scheme}.png", base.display())))?;
            }
            if is_checked {
                self.check(tab, width, false, &format!("at {width}, {scheme}"))?;
            }
        }
        Ok(())
    }

    fn on_paper(&mut self, tab: &Tab) -> Result<()> {
        tab.view(View { width: PAPER, dark: false, print: true })?;
        self.check(tab, PAPER, true, "on paper")?;
        let margin = 1.0 / 2.54;
        let paper = json!({ "paperWidth": 8.27, "paperHeight": 11.69, "marginLeft": margin, "marginRight": margin,
                            "marginTop": margin, "marginBottom": margin, "printBackground": true });
        self.pdf = decoded(&tab.call("Page.printToPDF", &paper)?["data"])?;
        Ok(())
    }

    fn without_scripts(&mut self, tab: &Tab, address: &str) -> Result<()> {
        tab.allow_scripts(false)?;
        tab.view(View { width: WIDTHS[1], dark: false, print: false })?;
        tab.load(address)?;
        let without = headings(tab)?;
        if without != self.headings {
            self.add("scripts", format!("with scripts {:?}, without {without:?}", self.headings));
        }
        Ok(())
    }

    fn check(&mut self, tab: &Tab, width: u32, print: bool, how: &str) -> Result<()> {
        let found = tab.evaluate(&format!("{CHECKS}({width}, {print})"))?;
        for (rule, texts) in found.as_object().into_iter().flatten() {
            for text in texts.as_array().into_iter().flatten() {
                self.add(rule, format!("{how}: {}", text.as_str().unwrap_or_default()));
            }
        }
        Ok(())
    }

    fn hear(&mut self, told: Told, address: &str) {
        for complaint in told.complaints {
            self.add("console", complaint);
        }
        for request in told.requests.into_iter().filter(|to| to != address && !to.starts_with("data:")) {
            self.add("request", request);
        }
    }

    fn add(&mut self, rule: &str, text: String) {
        self.faults.entry(rule.to_owned()).or_default().push(text);
    }
}

/// Those of the page and of its parts, shown.
fn headings(tab: &Tab) -> Result<Vec<String>> {
    let found = tab.evaluate(
        "[...document.querySelectorAll('h1, h2')].filter(at => at.checkVisibility()).map(at => at.textContent.trim())",
    )?;
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    Ok(found.as_array().into_iter().flatten().map(text).collect())
}

fn download(tab: &Tab) -> Result<Option<Vec<u8>>> {
    let link = tab.evaluate("document.querySelector('a[download]')?.href")?;
    let data = link.as_str().and_then(|link| link.split_once(";base64,"));
    data.map(|(_, data)| decoded(&data.into())).transpose()
}

fn text(tab: &Tab, expression: &str) -> Result<String> {
    tab.evaluate(expression).map(|found| found.as_str().unwrap_or_default().to_owned())
}

fn decoded(data: &Value) -> Result<Vec<u8>> {
    BASE64_STANDARD.decode(data.as_str().unwrap_or_default()).map_err(|error| error.to_string())
}

fn screenshot(tab: &Tab, width: u32, path: &Path) -> Result<()> {
    let height = tab.evaluate("document.documentElement.getBoundingClientRect().height")?;
    let height = height.as_f64().unwrap_or(900.0).clamp(1.0, HIGHEST);
    let clip = json!({ "x": 0, "y": 0, "width": width, "height": height, "scale": 1 });
    let asked = json!({ "format": "png", "captureBeyondViewport": true, "clip": clip });
    let picture = decoded(&tab.call("Page.captureScreenshot", &asked)?["data"])?;
    std::fs::write(path, picture).map_err(|error| format!("cannot write {}: {error}", path.display()))
}
