//! `set location`: a path and a weight, of which only the last space tells which is which.

use super::number::{Number, is_space};
use super::quoted;
use super::reader::Reader;
use crate::workload::postmark::settings::Location;

impl Reader<'_> {
    /// `PATH` replaces all, `+PATH` is one more, `-PATH` is one less.
    pub(super) fn location(&mut self, text: &str) {
        if let Some(path) = text.strip_prefix('-') {
            return self.remove_location(path);
        }
        let more = text.strip_prefix('+');
        let location = self.parse_location(more.unwrap_or(text));
        if more.is_none() {
            self.settings.locations.clear();
        }
        self.settings.locations.push(location);
    }

    fn remove_location(&mut self, path: &str) {
        match self.settings.locations.iter().position(|location| location.path == path) {
            Some(index) => drop(self.settings.locations.remove(index)),
            None => self.warn(format!(
                "there is no location {} to remove; it must be written as it was added, and no \
                 weight may follow",
                quoted(path)
            )),
        }
    }

    fn parse_location(&mut self, text: &str) -> Location {
        let (path, weight) = match text.rsplit_once(' ') {
            Some((path, weight)) => (path, self.weight(path, weight)),
            None => (text, 1),
        };
        self.doubt_path(path);
        Location { path: path.into(), weight }
    }

    /// A weight that is refused is cut off the path all the same.
    fn weight(&mut self, path: &str, text: &str) -> u32 {
        let number = Number::read(text);
        let weight = u32::try_from(number.value).unwrap_or(0);
        if weight == 0 {
            self.warn(format!(
                "{} is taken for a weight, which must be 1 or more, and so for 1; the path is {} \
                 (a path that has spaces needs a weight after it)",
                quoted(text),
                quoted(path)
            ));
        } else if let Some(surprise) = number.surprise() {
            self.warn(format!("the weight {surprise}; the path is {}", quoted(path)));
        }
        weight.max(1)
    }

    fn doubt_path(&mut self, path: &str) {
        let why = if path.is_empty() {
            "files are named from the root directory, as `/1`"
        } else if path.starts_with(is_space) || path.ends_with(is_space) {
            "white space is part of it"
        } else if path.starts_with(['~', '"', '\'']) || path.contains(['$', '\t']) {
            "it is used as typed, by no shell"
        } else {
            return;
        };
        self.warn(format!("the path is {}: {why}", quoted(path)));
    }
}
