//! Where files are, by PostMark's names and by ours.
//!
//! On a scratch file system, each location lies below the directory of the step; a run in place
//! uses the names as they were typed. The digest of the operations has the typed ones either way.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::hash::Hash;
use std::path::PathBuf;

use super::settings::{Location, Settings};
use super::slots::Entry;
use super::twister::Twister;

/// The directories of a run.
pub(super) struct Names {
    /// As typed, each ending in `/`; one that is empty without locations.
    typed: Vec<String>,
    /// Where they really are, in the same way.
    real: Vec<String>,
    /// For each of them the first that is the same place.
    firsts: Vec<u32>,
    /// Sums of the weights up to each entry of the wheel, and its location.
    wheel: Vec<(u32, u32)>,
    /// Subdirectories of each location; 0 or at least 2.
    subdirectories: u32,
    /// Made before the subdirectories, in order.
    parents: Vec<String>,
}

impl Names {
    /// `step` is the directory of the step; `None` for a run in place.
    pub(super) fn new(settings: &Settings, step: Option<&str>) -> Self {
        let mut names = Self {
            typed: vec![],
            real: vec![],
            firsts: vec![],
            wheel: vec![],
            subdirectories: if settings.subdirectories >= 2 { settings.subdirectories } else { 0 },
            parents: step.map(str::to_owned).into_iter().collect(),
        };
        for location in &settings.locations {
            names.add(location, step);
        }
        if settings.locations.is_empty() {
            names.typed.push(String::new());
            names.real.push(step.map(|step| format!("{step}/")).unwrap_or_default());
        }
        names.identify(|place| PathBuf::from(place));
        names
    }

    /// Two places are one if `identity` gives the same for their paths: one can be written in many
    /// ways.
    pub(super) fn identify<K: Hash + Eq>(&mut self, identity: impl Fn(&str) -> K) {
        let mut seen = HashMap::new();
        let places = (0..).zip(&self.real);
        self.firsts = places.map(|(at, place)| *seen.entry(identity(place)).or_insert(at)).collect();
    }

    fn add(&mut self, location: &Location, step: Option<&str>) {
        let typed = format!("{}/", location.path);
        let known = self.typed.iter().position(|other| *other == typed);
        let at = known.unwrap_or(self.typed.len());
        if known.is_none() {
            let real = match step {
                Some(step) => self.below(step, &location.path),
                None => typed.clone(),
            };
            self.real.push(real);
            self.typed.push(typed);
        }
        let sum = self.wheel.last().map_or(0, |(sum, _)| *sum);
        self.wheel.push((sum.saturating_add(location.weight), u32::try_from(at).unwrap_or(u32::MAX)));
    }

    /// The place of `path` below `step`, with all directories above it as parents.
    fn below(&mut self, step: &str, path: &str) -> String {
        let mut place = step.to_owned();
        for part in path.split('/').filter(|part| !part.is_empty() && *part != ".") {
            // What a path leaves it cannot leave here.
            let part = if part == ".." { "_" } else { part };
            place = format!("{place}/{part}");
            if !self.parents.contains(&place) {
                self.parents.push(place.clone());
            }
        }
        format!("{place}/")
    }

    /// The directory of a new file: a location is drawn where there are several, then one of its
    /// subdirectories.
    pub(super) fn draw(&self, random: &mut Twister) -> u32 {
        let location = match self.wheel.as_slice() {
            [] | [_] => 0,
            [.., (sum, _)] => {
                let drawn = random.below(*sum);
                self.wheel[self.wheel.partition_point(|(end, _)| *end <= drawn)].1
            }
        };
        match self.subdirectories {
            0 => location,
            count => location * count + random.below(count),
        }
    }

    /// Made before the subdirectories, in order.
    pub(super) fn parents(&self) -> &[String] {
        &self.parents
    }

    /// Number of directories that hold files; each has a number below it.
    pub(super) fn count(&self) -> u32 {
        u32::try_from(self.real.len()).unwrap_or(u32::MAX).saturating_mul(self.subdirectories.max(1))
    }

    /// Number of subdirectories of all locations, which hold the files then.
    pub(super) fn subdirectories(&self) -> u32 {
        if self.subdirectories == 0 { 0 } else { self.count() }
    }

    /// The first directory that is the same as this one.
    pub(super) fn home(&self, number: u32) -> u32 {
        let each = self.subdirectories.max(1);
        self.firsts[(number / each) as usize] * each + number % each
    }

    /// The real path of a directory that holds files.
    pub(super) fn directory_path(&self, number: u32) -> String {
        let mut path = String::new();
        self.directory(number, &mut path);
        path
    }

    /// The real path of a directory that holds files, into `path`.
    pub(super) fn directory(&self, number: u32, path: &mut String) {
        self.begin(&self.real, number, path);
        match path.pop() {
            None => path.push('.'),
            // The root itself.
            Some(_) if path.is_empty() => path.push('/'),
            Some(_) => {}
        }
    }

    /// The real path of a file, into `path`.
    pub(super) fn file(&self, file: Entry, path: &mut String) {
        self.begin(&self.real, file.directory, path);
        write!(path, "{}", file.number).expect("a String takes it");
    }

    /// The path of a file as PostMark has it, into `path`.
    pub(super) fn typed_file(&self, file: Entry, path: &mut String) {
        self.begin(&self.typed, file.directory, path);
        write!(path, "{}", file.number).expect("a String takes it");
    }

    fn begin(&self, places: &[String], directory: u32, path: &mut String) {
        path.clear();
        if self.subdirectories == 0 {
            path.push_str(&places[directory as usize]);
            return;
        }
        path.push_str(&places[(directory / self.subdirectories) as usize]);
        write!(path, "s{}/", directory % self.subdirectories).expect("a String takes it");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(paths: &[&str], subdirectories: u32) -> Settings {
        let location = |path: &&str| Location { path: (*path).to_owned(), weight: 1 };
        Settings { locations: paths.iter().map(location).collect(), subdirectories, ..Settings::default() }
    }

    fn file(names: &Names, directory: u32) -> [String; 3] {
        let mut paths = [const { String::new() }; 3];
        let entry = Entry { number: 7, directory, size: 1 };
        names.file(entry, &mut paths[0]);
        names.typed_file(entry, &mut paths[1]);
        names.directory(directory, &mut paths[2]);
        paths
    }

    #[test]
    fn a_location_lies_below_the_step_and_keeps_its_typed_name() {
        let names = Names::new(&settings(&["/srv/mail", "/srv/x/../y/"], 3), Some("step"));
        assert_eq!(file(&names, 2), ["step/srv/mail/s2/7", "/srv/mail/s2/7", "step/srv/mail/s2"]);
        assert_eq!(file(&names, 3), ["step/srv/x/_/y/s0/7", "/srv/x/../y//s0/7", "step/srv/x/_/y/s0"]);
        let parents = ["step", "step/srv", "step/srv/mail", "step/srv/x", "step/srv/x/_", "step/srv/x/_/y"];
        assert_eq!(names.parents(), parents);
    }

    #[test]
    fn in_place_names_are_as_typed() {
        let names = Names::new(&settings(&["/mnt/"], 0), None);
        assert_eq!(file(&names, 0), ["/mnt//7", "/mnt//7", "/mnt/"]);
        assert_eq!(file(&Names::new(&settings(&[], 0), None), 0), ["7", "7", "."]);
        assert_eq!(file(&Names::new(&settings(&[], 4), None), 3), ["s3/7", "s3/7", "s3"]);
        assert_eq!(file(&Names::new(&settings(&["/"], 0), None), 0), ["//7", "//7", "/"]);
    }

    #[test]
    fn a_location_that_is_given_twice_is_one_directory() {
        let names = Names::new(&settings(&["a", "b", "a"], 0), None);
        assert_eq!((names.count(), names.wheel.last()), (2, Some(&(3, 0))));
    }
}
