//! One run of PostMark, in the order of the original: what is drawn, which file is meant, what is
//! counted. How bytes get into a file and out of it is in `files`.

use sha2::{Digest, Sha256};

use super::Options;
use super::counters::Counters;
use super::directories::Directories;
use super::files::{Files, Trouble};
use super::names::Names;
use super::settings::Settings;
use super::slots::{Entry, Slots};
use super::twister::Twister;
use crate::command::stop_requested;
use crate::ops::{Failure, Ops};
use crate::result::Postmark;
use crate::units::Seed;

/// One run.
pub(super) struct Engine<'a> {
    settings: &'a Settings,
    options: Options,
    random: Twister,
    pub(super) slots: Slots,
    pub(super) files: Files,
    counters: Counters,
    /// Over the list of operations; `None` inside the clock.
    digest: Option<Sha256>,
    line: String,
    pub(super) directories: Directories,
}

pub(super) type Done = Result<(), Trouble>;

impl<'a> Engine<'a> {
    /// `step` is the directory of the step; `None` for a run in place. `seed` is that of the step.
    pub(super) fn new(settings: &'a Settings, options: Options, step: Option<&str>, seed: Seed) -> Self {
        let mut random = Twister::new(settings.seed);
        let pool = pool(&mut random, settings.size_high);
        Self {
            settings,
            options,
            random,
            slots: Slots::new(settings.number.saturating_mul(2)),
            files: Files::new(settings, options, pool, Names::new(settings, step), seed),
            counters: Counters::default(),
            digest: None,
            line: String::new(),
            directories: Directories::default(),
        }
    }

    /// Only count, and take the digest of all operations.
    pub(super) fn planned(mut self) -> Self {
        self.digest = Some(Sha256::new());
        self.files.is_idle = true;
        self
    }

    /// The digest, in hexadecimal digits.
    pub(super) fn digest(&mut self) -> String {
        let digest = self.digest.take().unwrap_or_default().finalize();
        digest.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// What was counted so far.
    pub(super) fn counts(&self) -> Postmark {
        self.counters.finish(self.settings, self.random.draws())
    }

    /// The operation at work or, between two, the next one; from 1.
    pub(super) fn operation(&self) -> u64 {
        self.counters.counts.file_operations_count + 1
    }

    /// All of it.
    pub(super) fn run(&mut self, ops: &mut dyn Ops) -> Done {
        ops.phase("subdirectories");
        self.make_directories(ops)?;
        ops.phase("creation");
        for _ in 0..self.settings.number {
            self.create(ops)?;
        }
        ops.phase("transactions");
        self.transactions(ops)?;
        if self.options.verify && !self.options.bug_compatible {
            self.files.list(&self.slots, self.counters.counts.created_count, ops)?;
        }
        if self.options.delete {
            ops.phase("deletion");
            self.delete_all(ops)?;
        }
        ops.phase("cleanup");
        if self.options.delete {
            self.remove_subdirectories(ops)?;
        }
        Ok(())
    }

    fn transactions(&mut self, ops: &mut dyn Ops) -> Done {
        for number in 0..self.settings.transactions {
            if self.counters.counts.created_count == self.counters.counts.deleted_count {
                let left = self.settings.transactions - number;
                self.counters.counts.transactions_not_run_count = left.into();
                break;
            }
            self.transaction(ops)?;
        }
        Ok(())
    }

    /// One read or append, and one creation or deletion; the two choose for themselves.
    fn transaction(&mut self, ops: &mut dyn Ops) -> Done {
        if self.settings.bias_read != -1 {
            let reads = self.is_below(self.settings.bias_read);
            let slot = self.pick();
            if reads { self.read(slot, ops)? } else { self.append(slot, ops)? }
        }
        if self.settings.bias_create != -1 {
            if self.is_below(self.settings.bias_create) {
                self.create(ops)?;
            } else {
                let slot = self.pick();
                self.delete(slot, ops)?;
            }
        }
        Ok(())
    }

    fn is_below(&mut self, bias: i32) -> bool {
        i64::from(self.random.below(10)) < i64::from(bias)
    }

    /// Any file; it takes as many draws as it takes to meet an occupied slot.
    fn pick(&mut self) -> u32 {
        loop {
            let slot = self.random.below(self.slots.count());
            if self.slots.is_occupied(slot) {
                return slot;
            }
        }
    }

    fn create(&mut self, ops: &mut dyn Ops) -> Done {
        let Some(slot) = self.slots.next_empty() else {
            self.counters.counts.creates_skipped_count += 1;
            return Ok(());
        };
        let directory = self.files.names.draw(&mut self.random);
        self.counters.created();
        let spread = self.settings.size_high - self.settings.size_low;
        let size = self.settings.size_low + self.random.below(spread);
        let number = u32::try_from(self.counters.counts.created_count).unwrap_or(u32::MAX);
        self.slots.occupy(slot, Entry { number, directory, size });
        self.counters.grown(size);
        let made = self.files.create(slot, &mut self.slots, ops);
        if self.is_done(made)? {
            self.counters.written(size);
            self.note('C', slot, size);
        }
        Ok(())
    }

    fn read(&mut self, slot: u32, ops: &mut dyn Ops) -> Done {
        let read = self.files.read(slot, &self.slots, ops);
        if self.is_done(read)? {
            let size = self.slots.entry(slot).size;
            self.counters.read(size);
            self.note('R', slot, size);
        }
        Ok(())
    }

    /// The amount is drawn once the file is open.
    fn append(&mut self, slot: u32, ops: &mut dyn Ops) -> Done {
        let room = self.settings.size_high.saturating_sub(self.slots.entry(slot).size);
        if room == 0 {
            self.counters.counts.appends_skipped_count += 1;
            return Ok(());
        }
        let opened = self.files.open_to_append(slot, &self.slots, ops);
        let file = match opened {
            Ok(file) => file,
            Err(trouble) => return self.is_done(Err(trouble)).map(drop),
        };
        let amount = self.random.below(room) + 1;
        self.slots.grow(slot, amount);
        self.counters.grown(amount);
        let appended = self.files.append(file, slot, amount, &mut self.slots, ops);
        if self.is_done(appended)? {
            self.counters.counts.appended_count += 1;
            self.counters.written(amount);
            self.note('A', slot, amount);
        }
        Ok(())
    }

    fn delete(&mut self, slot: u32, ops: &mut dyn Ops) -> Done {
        let deleted = self.files.delete(slot, &self.slots, ops);
        if self.is_done(deleted)? {
            self.note('D', slot, 0);
            self.counters.deleted(self.slots.entry(slot).size);
            self.slots.empty(slot);
        }
        Ok(())
    }

    fn delete_all(&mut self, ops: &mut dyn Ops) -> Done {
        let before = self.counters.counts.deleted_count;
        for slot in 0..self.slots.count() {
            if self.slots.is_occupied(slot) {
                self.delete(slot, ops)?;
            }
            self.counters.counts.deleted_alone_count = self.counters.counts.deleted_count - before;
        }
        Ok(())
    }

    /// Whether it was done. One that failed ends the run, unless PostMark's bugs are wanted.
    pub(super) fn is_done(&self, outcome: Done) -> Result<bool, Trouble> {
        match outcome {
            Ok(()) => Ok(true),
            Err(Trouble::Failed(failure)) if self.goes_on(&failure) => Ok(false),
            Err(trouble) => Err(trouble),
        }
    }

    fn goes_on(&self, failure: &Failure) -> bool {
        self.options.bug_compatible && !failure.is_stop()
    }

    /// Add an operation to the list.
    fn note(&mut self, letter: char, slot: u32, bytes: u32) {
        use std::fmt::Write as _;
        let entry = self.slots.entry(slot);
        self.counters.operation([letter.into(), entry.number, entry.directory, bytes]);
        let Some(digest) = &mut self.digest else { return };
        self.files.names.typed_file(entry, &mut self.line);
        writeln!(self.line, " {bytes}").expect("a String takes it");
        digest.update([letter as u8, b' ']);
        digest.update(&self.line);
    }
}

/// Printable characters. PostMark draws twice as many as a write can take; that of the largest
/// sizes takes seconds, so it is short if a signal comes, which no operation survives either.
fn pool(random: &mut Twister, size_high: u32) -> Vec<u8> {
    let size = size_high as usize;
    let mut pool = vec![0; size];
    for letters in pool.chunks_mut(POOL_AT_ONCE) {
        if stop_requested() {
            return pool;
        }
        letters.fill_with(|| u8::try_from(32 + random.below(95)).expect("it is below 127"));
    }
    for begin in (0..size).step_by(POOL_AT_ONCE) {
        if stop_requested() {
            break;
        }
        for _ in begin..size.min(begin + POOL_AT_ONCE) {
            random.draw();
        }
    }
    pool
}

/// Characters between two looks at signals.
const POOL_AT_ONCE: usize = 1 << 20;
