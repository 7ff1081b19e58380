//! PostMark's table of files: twice as many slots as files, some of them empty.
//!
//! It decides which file is meant, so it is kept as PostMark keeps it. Beside it stands of which
//! writes each file is made up, so that every byte that is read can be compared. A slot takes 16
//! bytes and a bit, and each write of a file that is there 12 more.

use std::ops::Range;

/// What a file that was never written to is made up of.
const NONE: u32 = u32::MAX;

/// One write to a file, at its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Piece {
    /// Bytes that the write took.
    pub(super) length: u32,
    /// The operation that wrote it.
    pub(super) key: u32,
    previous: u32,
}

/// A file in its slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    /// Its number, which is its name.
    pub(super) number: u32,
    /// Its directory.
    pub(super) directory: u32,
    /// Its size as PostMark counts it.
    pub(super) size: u32,
}

/// All slots.
pub(super) struct Slots {
    occupied: Vec<u64>,
    numbers: Vec<u32>,
    directories: Vec<u32>,
    sizes: Vec<u32>,
    last_pieces: Vec<u32>,
    pieces: Vec<Piece>,
    /// Pieces that are used by no file, one after the other.
    unused: u32,
    cursor: u32,
    /// No slot below it is empty.
    lowest: u32,
    count: u32,
}

impl Slots {
    /// `count` empty slots.
    pub(super) fn new(count: u32) -> Self {
        let slots = count as usize;
        Self {
            occupied: vec![0; slots.div_ceil(64)],
            numbers: vec![0; slots],
            directories: vec![0; slots],
            sizes: vec![0; slots],
            last_pieces: vec![NONE; slots],
            pieces: vec![],
            unused: NONE,
            cursor: 0,
            lowest: 0,
            count,
        }
    }

    /// Slots, empty or not.
    pub(super) fn count(&self) -> u32 {
        self.count
    }

    /// Whether there is a file in it.
    pub(super) fn is_occupied(&self, slot: u32) -> bool {
        self.occupied[slot as usize / 64] >> (slot % 64) & 1 == 1
    }

    /// Occupied slots, in order.
    pub(super) fn files(&self) -> impl Iterator<Item = u32> {
        (0..self.count).filter(|slot| self.is_occupied(*slot))
    }

    /// What is in an occupied slot.
    pub(super) fn entry(&self, slot: u32) -> Entry {
        let at = slot as usize;
        Entry { number: self.numbers[at], directory: self.directories[at], size: self.sizes[at] }
    }

    /// The slot of the next new file: the one after that of the last one if it is empty, else the
    /// lowest empty one.
    pub(super) fn next_empty(&mut self) -> Option<u32> {
        let here = self.cursor < self.count && !self.is_occupied(self.cursor);
        let slot = if here { self.cursor } else { self.lowest_empty()? };
        self.cursor = slot + 1;
        Some(slot)
    }

    fn lowest_empty(&mut self) -> Option<u32> {
        let word = self.lowest as usize / 64;
        let at = word + self.occupied[word..].iter().position(|word| *word != u64::MAX)?;
        let slot = u32::try_from(at).ok()? * 64 + self.occupied[at].trailing_ones();
        self.lowest = slot.min(self.count.saturating_sub(1));
        (slot < self.count).then_some(slot)
    }

    /// Put a file into an empty slot.
    pub(super) fn occupy(&mut self, slot: u32, entry: Entry) {
        let at = slot as usize;
        self.occupied[at / 64] |= 1 << (slot % 64);
        self.numbers[at] = entry.number;
        self.directories[at] = entry.directory;
        self.sizes[at] = entry.size;
    }

    /// The file has gone.
    pub(super) fn empty(&mut self, slot: u32) {
        let at = slot as usize;
        self.occupied[at / 64] &= !(1 << (slot % 64));
        self.lowest = self.lowest.min(slot);
        let mut piece = std::mem::replace(&mut self.last_pieces[at], NONE);
        while piece != NONE {
            let previous = std::mem::replace(&mut self.pieces[piece as usize].previous, self.unused);
            self.unused = std::mem::replace(&mut piece, previous);
        }
    }

    /// PostMark's size of a file grows.
    pub(super) fn grow(&mut self, slot: u32, bytes: u32) {
        self.sizes[slot as usize] += bytes;
    }

    /// A write to a file begins, of which nothing is written yet.
    pub(super) fn begin_piece(&mut self, slot: u32, key: u32) {
        let last = &mut self.last_pieces[slot as usize];
        let piece = Piece { length: 0, key, previous: *last };
        if let Some(unused) = self.pieces.get_mut(self.unused as usize) {
            *last = self.unused;
            self.unused = std::mem::replace(unused, piece).previous;
        } else {
            *last = u32::try_from(self.pieces.len()).unwrap_or(NONE);
            self.pieces.push(piece);
        }
    }

    /// The last write to a file took so many bytes more.
    pub(super) fn grow_piece(&mut self, slot: u32, bytes: u32) {
        if let Some(piece) = self.pieces.get_mut(self.last_pieces[slot as usize] as usize) {
            piece.length += bytes;
        }
    }

    /// The writes of which a file is made up, in order, into `pieces`.
    pub(super) fn pieces(&self, slot: u32, pieces: &mut Vec<Piece>) {
        pieces.clear();
        let mut next = self.last_pieces[slot as usize];
        while let Some(piece) = self.pieces.get(next as usize) {
            pieces.push(*piece);
            next = piece.previous;
        }
        pieces.reverse();
    }
}

/// Where the bytes `at..at + length` of a file are: parts of its pieces, in order.
pub(super) fn parts(pieces: &[Piece], at: u64, length: u64) -> impl Iterator<Item = (Piece, Range<u64>)> {
    let mut begin = 0;
    pieces.iter().filter_map(move |piece| {
        let here = begin..begin + u64::from(piece.length);
        begin = here.end;
        let part = at.max(here.start)..(at + length).min(here.end);
        (part.start < part.end).then(|| (*piece, part.start - here.start..part.end - here.start))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(number: u32) -> Entry {
        Entry { number, directory: 0, size: 1 }
    }

    #[test]
    fn a_new_file_takes_the_next_slot_or_else_the_lowest_empty_one() {
        let mut slots = Slots::new(100);
        for number in 0..100 {
            assert_eq!(slots.next_empty(), Some(number));
            slots.occupy(number, file(number));
        }
        assert_eq!(slots.next_empty(), None);
        for slot in [70, 5, 6, 90] {
            slots.empty(slot);
        }
        for wanted in [5, 6, 70] {
            assert_eq!(slots.next_empty(), Some(wanted));
            slots.occupy(wanted, file(1));
        }
        slots.empty(3);
        slots.empty(71);
        assert_eq!(slots.next_empty(), Some(71), "the one after the last");
    }

    #[test]
    fn the_pieces_of_a_file_are_kept_in_order_and_used_again_after_it() {
        let mut slots = Slots::new(4);
        let mut pieces = vec![];
        for round in 0..3 {
            for slot in 0..4 {
                slots.occupy(slot, file(slot));
                for key in 0..3 {
                    slots.begin_piece(slot, key);
                    slots.grow_piece(slot, 10 + key);
                }
            }
            for slot in 0..4 {
                slots.pieces(slot, &mut pieces);
                let found: Vec<_> = pieces.iter().map(|piece| (piece.length, piece.key)).collect();
                assert_eq!(found, [(10, 0), (11, 1), (12, 2)], "round {round}, slot {slot}");
                slots.empty(slot);
            }
        }
        assert_eq!(slots.pieces.len(), 12);
    }

    #[test]
    fn the_bytes_of_a_file_are_found_in_its_pieces() {
        let piece = |length, key| Piece { length, key, previous: NONE };
        let pieces = [piece(10, 1), piece(0, 2), piece(5, 3)];
        let found = |at, length| {
            parts(&pieces, at, length).map(|(piece, part)| (piece.key, part)).collect::<Vec<_>>()
        };
        assert_eq!(found(0, 15), [(1, 0..10), (3, 0..5)]);
        assert_eq!(found(8, 4), [(1, 8..10), (3, 0..2)]);
        assert_eq!(found(15, 4), []);
    }
}
