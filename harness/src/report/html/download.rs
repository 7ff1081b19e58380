//! The stored run inside the page, so that figures and what they were made from stay together.
//!
//! A link with the data in its address needs no program. Compressed, since a run is mostly keys that
//! repeat. What makes a run large is left out first, and said so; a page that nobody can open or send
//! would be of no use.

use std::io::{self, BufWriter, Write};

use base64::engine::general_purpose::STANDARD;
use base64::write::EncoderStringWriter;
use flate2::write::GzEncoder;
use flate2::{Compression, GzBuilder};
use serde::Serialize;

use crate::result::RunReport;

/// The link, and what is to be said of it.
#[derive(Serialize)]
pub(super) struct Download {
    /// Of the file.
    name: String,
    /// `data:` and the compressed file; absent where even the least is too much.
    address: Option<String>,
    note: &'static str,
}

/// With an address of at most `room` signs.
pub(super) fn of(report: &RunReport, room: usize) -> Download {
    let name = name(report);
    if let Some(address) = address(report, room) {
        return Download { name, address: Some(address), note: "All results of this run, as JSON." };
    }
    let address = address(&lighter(report), room);
    let note = match address {
        Some(_) => {
            "All results of this run, as JSON, without its histograms and series: with them it would be \
             too large for a page. `fsduel run --json PATH` stores all of it."
        }
        None => "This run is too large to be part of a page. `fsduel run --json PATH` stores it.",
    };
    Download { name, address, note }
}

/// Of signs that every file system takes.
fn name(report: &RunReport) -> String {
    let plain = |text: &str| -> String {
        let kept = |sign: char| if sign.is_ascii_alphanumeric() { sign } else { '-' };
        text.chars().take(40).map(kept).collect()
    };
    let run: String = report.run_id.chars().take(8).collect();
    let parts = [plain(&report.suite.name), plain(&run)];
    let parts: Vec<_> =
        parts.iter().map(|part| part.trim_matches('-')).filter(|part| !part.is_empty()).collect();
    format!("{}.json.gz", if parts.is_empty() { "run".into() } else { parts.join("-") })
}

/// Without what only charts need.
fn lighter(report: &RunReport) -> RunReport {
    let mut report = report.clone();
    for step in report.cases.iter_mut().flat_map(|case| &mut case.steps) {
        step.series.clear();
        step.latency.values_mut().for_each(|latency| latency.histogram.clear());
    }
    report
}

/// Compressed at once.
const PIECE: usize = 64 << 10;

/// `None` where it would be too long.
fn address(report: &RunReport, room: usize) -> Option<String> {
    let target = Limited { left: room, to: EncoderStringWriter::new(&STANDARD) };
    // Neither name nor time: the same run gives the same bytes.
    let gzip: GzEncoder<_> = GzBuilder::new().write(target, Compression::default());
    // Piece by piece, so that what is too long ends early.
    let mut pieces = BufWriter::with_capacity(PIECE, gzip);
    serde_json::to_writer(&mut pieces, report).ok()?;
    let encoded = pieces.into_inner().ok()?.finish().ok()?.to.into_inner();
    Some(format!("data:application/gzip;base64,{encoded}"))
}

/// Ends what is too long before all of it is made.
struct Limited<W> {
    left: usize,
    to: W,
}

impl<W: Write> Write for Limited<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // Four signs for three bytes.
        let signs = bytes.len().div_ceil(3) * 4;
        self.left = self.left.checked_sub(signs).ok_or(io::ErrorKind::FileTooLarge)?;
        self.to.write_all(bytes)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use base64::Engine;

    use super::*;
    use crate::report::{example, json};

    fn unpacked(download: &Download) -> RunReport {
        let (_, encoded) = download.address.as_ref().unwrap().split_once("base64,").unwrap();
        let bytes = STANDARD.decode(encoded).unwrap();
        let mut text = String::new();
        flate2::read::GzDecoder::new(bytes.as_slice()).read_to_string(&mut text).unwrap();
        json::read(&text).unwrap()
    }

    const ROOM: usize = 800_000;

    /// Digits that do not compress.
    fn histogram(seed: u64, length: usize) -> String {
        let mut state = seed;
        let mut next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            format!("{}:1 ", state >> 20)
        };
        std::iter::repeat_with(&mut next).take(length).collect()
    }

    #[test]
    fn the_run_comes_out_as_it_was() {
        let report = example::repeated();
        let download = of(&report, ROOM);
        assert_eq!(json::text(&unpacked(&download)).unwrap(), json::text(&report).unwrap());
        assert_eq!(download.name, "linux-magazin-2010-1f0c7f0a.json.gz");
    }

    #[test]
    fn what_is_too_large_is_left_out_and_said() {
        let mut report = example::report();
        let latency = report.cases[0].steps[0].latency.get_mut("create").unwrap();
        latency.histogram = histogram(1, 200_000);
        let download = of(&report, ROOM);
        assert!(download.note.contains("without its histograms"), "{}", download.note);
        let again = unpacked(&download);
        assert_eq!(again.cases[0].steps[0].latency["create"].histogram, "");
        assert_eq!(again.cases[0].steps[0].latency["create"].count, 9999);
        report.manifest.argv.push(histogram(2, 200_000));
        let download = of(&report, ROOM);
        assert!(download.address.is_none() && download.note.contains("--json PATH"), "{}", download.note);
    }

    #[test]
    fn a_name_of_a_file_has_plain_signs_only() {
        let mut report = example::report();
        report.suite.name = "../\"><script>".into();
        report.run_id = "\u{202e}\u{0}".into();
        assert_eq!(name(&report), "script.json.gz");
        report.suite.name.clear();
        assert_eq!(name(&report), "run.json.gz");
    }
}
