//! The directories of a run: made before the clock of PostMark starts and removed after it stops,
//! and what is in them if the run ends in between.

use std::collections::{BTreeMap, HashMap};

use super::engine::{Done, Engine};
use super::files::Trouble;
use crate::ops::{self, Ops};

/// How many were made and removed so far; both go by their order.
#[derive(Default)]
pub(super) struct Directories {
    parents: usize,
    made: u32,
    removed: u32,
}

impl Engine<'_> {
    pub(super) fn make_directories(&mut self, ops: &mut dyn Ops) -> Done {
        for at in 0..self.files.names.parents().len() {
            let made = ops.mkdir(&self.files.names.parents()[at]).map_err(Trouble::Failed);
            self.is_done(made)?;
            self.directories.parents += 1;
        }
        self.each_subdirectory(ops, |ops, path| ops.mkdir(path), |directories| &mut directories.made)
    }

    pub(super) fn remove_subdirectories(&mut self, ops: &mut dyn Ops) -> Done {
        self.each_subdirectory(ops, |ops, path| ops.rmdir(path), |directories| &mut directories.removed)
    }

    fn each_subdirectory(
        &mut self,
        ops: &mut dyn Ops,
        call: impl Fn(&mut dyn Ops, &str) -> ops::Result<()>,
        count: impl Fn(&mut Directories) -> &mut u32,
    ) -> Done {
        let mut path = String::new();
        for number in 0..self.files.names.subdirectories() {
            if self.files.names.home(number) == number {
                self.files.names.directory(number, &mut path);
                let done = call(ops, &path).map_err(Trouble::Failed);
                self.is_done(done)?;
            }
            *count(&mut self.directories) += 1;
        }
        Ok(())
    }

    /// Make what the run has left, and nothing that it has removed again: each directory, then
    /// what is in it.
    pub(super) fn make_what_is_left(&mut self, ops: &mut dyn Ops) -> ops::Result<()> {
        let mut files = self.files_by_directory();
        let names = &self.files.names;
        let parents = names.parents()[..self.directories.parents].iter().cloned();
        let below = (self.directories.removed..self.directories.made)
            .filter(|number| names.home(*number) == *number)
            .map(|number| names.directory_path(number));
        for path in depth_first(parents.chain(below).collect()) {
            ops.mkdir(&path)?;
            for slot in files.remove(&path).unwrap_or_default() {
                self.files.make(slot, &self.slots, ops)?;
            }
        }
        Ok(())
    }

    fn files_by_directory(&self) -> BTreeMap<String, Vec<u32>> {
        let mut by_number: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        for slot in self.slots.files() {
            let home = self.files.names.home(self.slots.entry(slot).directory);
            by_number.entry(home).or_default().push(slot);
        }
        by_number
            .into_iter()
            .map(|(number, slots)| (self.files.names.directory_path(number), slots))
            .collect()
    }
}

/// Each directory before what is in it, and all of that before the next beside it; else in order.
fn depth_first(mut paths: Vec<String>) -> Vec<String> {
    let places: HashMap<String, usize> = paths.iter().cloned().zip(0..).collect();
    paths.sort_by_cached_key(|path| {
        let above = path.match_indices('/').map(|(end, _)| &path[..end]);
        above.chain([path.as_str()]).filter_map(|path| places.get(path).copied()).collect::<Vec<_>>()
    });
    paths
}
