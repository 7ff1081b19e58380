//! `set`: numbers, sizes and words. A value that is refused leaves the setting as it was.

use super::number::{Number, is_space};
use super::quoted;
use super::reader::Reader;
use crate::workload::postmark::settings::{ReportStyle, Settings};

impl Reader<'_> {
    /// A number of 1 or more.
    pub(super) fn count(&mut self, name: &str, text: &str, field: fn(&mut Settings) -> &mut u32) {
        let number = Number::read(text);
        let stays = *field(&mut self.settings);
        match u32::try_from(number.value) {
            Err(_) | Ok(0) => self.refuse(name, text, &least(&number), stays),
            Ok(value) => {
                *field(&mut self.settings) = value;
                self.surprise(&number);
                if name == "set subdirectories" && value == 1 {
                    self.warn("1 subdirectory is none: they are used from 2 on");
                }
            }
        }
    }

    fn surprise(&mut self, number: &Number) {
        if let Some(text) = number.surprise() {
            self.warn(text);
        }
    }

    /// An argument that is empty is 0; only one that is missing is refused for that.
    pub(super) fn bias(&mut self, name: &str, text: Option<&str>, field: fn(&mut Settings) -> &mut i32) {
        let number = text.map(Number::read).filter(|number| (-1..=10).contains(&number.value));
        let stays = *field(&mut self.settings);
        match number {
            None => self.refuse(name, text.unwrap_or_default(), "it takes -1 to 10", stays),
            Some(number) => {
                *field(&mut self.settings) = number.value;
                self.surprise(&number);
            }
        }
    }

    /// The largest size is looked for from the first space of the argument on.
    pub(super) fn size(&mut self, text: &str) {
        let first = text.split(is_space).find(|word| !word.is_empty()).unwrap_or_default();
        let low = Number::read(first);
        let Some(lowest) = u32::try_from(low.value).ok().filter(|value| *value > 0) else {
            let stays = format!("{} to {}", self.settings.size_low, self.settings.size_high);
            return self.refuse("set size", text, &least(&low), stays);
        };
        let high = text.find(' ').map_or(0, |at| Number::read(&text[at..]).value);
        let most = u32::try_from(high).unwrap_or(0).max(lowest);
        (self.settings.size_low, self.settings.size_high) = (lowest, most);
        self.surprise(&low);
        self.doubt_size(text, high);
    }

    fn doubt_size(&mut self, text: &str, high: i32) {
        let Settings { size_low, size_high, .. } = self.settings;
        let sizes = format!("sizes are {size_low} to {size_high}");
        let mut words = text.split(is_space).filter(|word| !word.is_empty());
        let (first, second) = (words.next().unwrap_or_default(), words.next());
        let Some(second) = second else { return };
        let (before, rest) = text.split_once(' ').unwrap_or((text, ""));
        if before.is_empty() {
            if first != second {
                self.warn(format!("after two spaces the second size is read from the first: {sizes}"));
            }
        } else if before.trim_matches(is_space).contains(is_space) {
            self.warn(format!("only a space parts two sizes, no tab: {sizes}"));
        } else {
            self.surprise(&Number::read(rest));
            if i64::from(high) < i64::from(size_low) {
                self.warn(format!("{} is below the first size, which replaces it: {sizes}", quoted(second)));
            }
        }
    }

    /// `true` or `false`.
    pub(super) fn buffering(&mut self, text: &str) {
        match text {
            "true" => self.settings.buffering = true,
            "false" => self.settings.buffering = false,
            _ => {
                let stays = self.settings.buffering;
                self.refuse("set buffering", text, "it takes `true` or `false`, and nothing more", stays);
            }
        }
    }

    /// `verbose` or `terse`.
    pub(super) fn report(&mut self, text: &str) {
        self.settings.report = match (text, self.settings.report) {
            ("verbose", _) => ReportStyle::Verbose,
            ("terse", _) => ReportStyle::Terse,
            (_, stays) => {
                let name = if stays == ReportStyle::Terse { "terse" } else { "verbose" };
                self.refuse("set report", text, "it takes `verbose` or `terse`, and nothing more", name);
                stays
            }
        };
    }

    /// `stays` is the value that the setting had and keeps.
    fn refuse(&mut self, name: &str, text: &str, why: &str, stays: impl std::fmt::Display) {
        let line = quoted(format!("{name} {text}").trim_end_matches(' '));
        self.warn(format!("{line} is refused: {why}; {stays} stays"));
    }
}

/// Why a number is refused where 1 is the least.
fn least(number: &Number) -> String {
    let surprise = number.surprise().map(|text| format!(", and {text}"));
    format!("it takes 1 or more{}", surprise.unwrap_or_default())
}
