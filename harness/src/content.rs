//! File contents from a seed.
//!
//! Bytes come from a pool of 1 MiB that is drawn once, so that inside the clock a write costs a
//! `memcpy` and no generator runs. A pool alone would repeat: the first 16 bytes of each 4 KiB
//! block are a stamp of (seed, file, block). So no two blocks are equal, nothing can be
//! deduplicated, and a block in the wrong place is noticed.
//!
//! Every draw goes through `next_u64` of a named portable generator with our own mapping to
//! ranges: `rand` promises its own mapping within patch releases only.

use std::ops::RangeInclusive;
use std::sync::{Arc, Mutex, PoisonError};

use rand::{Rng, SeedableRng};
use serde::{Deserialize, Serialize};

use crate::units::Seed;

/// The generator behind every draw.
pub type Random = rand::rngs::ChaCha8Rng;

/// Bytes in the pool; a power of two.
const POOL: usize = 1 << 20;
/// Bytes between two stamps: the smallest block size that all file systems have.
const BLOCK: u64 = 4096;
/// Bytes in a stamp.
const STAMP: u64 = 16;
/// Pools that are kept: those of the steps of one case.
const KEPT: usize = 4;

/// What a file holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Pattern {
    /// Random bytes, which no file system can compress or deduplicate.
    #[default]
    Random,
    /// Zero bytes.
    Zero,
    /// Printable words, which compress as text does.
    Text,
}

/// A generator for `seed`: the seed is the first 8 bytes of the key, little-endian.
#[must_use]
pub fn random(seed: Seed) -> Random {
    let mut key = [0; 32];
    key[..8].copy_from_slice(&seed.0.to_le_bytes());
    Random::from_seed(key)
}

/// Draw a number of `range`, all of them equally likely (to within 2⁻⁶⁴ times its length).
///
/// The upper half of the product of a draw and the length; see Lemire, "Fast random integer
/// generation in an interval", 2019, without the rejection.
///
/// # Panics
///
/// If the range is reversed.
pub fn draw(random: &mut Random, range: RangeInclusive<u64>) -> u64 {
    let (low, high) = range.into_inner();
    assert!(low <= high, "a range must not be reversed: {low}..{high}");
    let length = u128::from(high - low) + 1;
    low + ((u128::from(random.next_u64()) * length) >> 64) as u64
}

/// The contents of all files of a step.
#[derive(Clone, Debug)]
pub struct Content {
    pattern: Pattern,
    seed: u64,
    pool: Arc<[u8]>,
}

impl Content {
    /// Contents of `pattern`. A pool that was drawn before is used again.
    #[must_use]
    pub fn new(pattern: Pattern, seed: Seed) -> Self {
        Self { pattern, seed: seed.0, pool: pool(pattern, seed) }
    }

    /// Whether all bytes are equal, so that a buffer needs to be filled only once.
    #[must_use]
    pub fn is_uniform(&self) -> bool {
        self.pattern == Pattern::Zero
    }

    /// Write the bytes of file `key` at `offset` into `into`.
    pub fn fill(&self, key: u64, offset: u64, into: &mut [u8]) {
        if self.pattern == Pattern::Zero {
            return into.fill(0);
        }
        let base = mix(self.seed ^ mix(key));
        // A stamp hides the pool below it: a tiny file costs no access to a cold place of it,
        // which was half of the processor time of making one.
        let is_all_stamp = offset % BLOCK + into.len() as u64 <= STAMP;
        let mut done = if is_all_stamp { into.len() } else { 0 };
        while done < into.len() {
            let from = place(base.wrapping_add(offset).wrapping_add(done as u64));
            let length = (POOL - from).min(into.len() - done);
            into[done..done + length].copy_from_slice(&self.pool[from..from + length]);
            done += length;
        }
        self.stamp(base, offset, into);
    }

    /// Stamp each block that begins in `into` or just before it.
    fn stamp(&self, base: u64, offset: u64, into: &mut [u8]) {
        let end = offset + into.len() as u64;
        let mut block = offset / BLOCK;
        while block * BLOCK < end {
            let start = block * BLOCK;
            let (from, to) = (offset.max(start), end.min(start + STAMP));
            if from < to {
                let stamp = self.stamp_of(base, block);
                into[index(from - offset)..index(to - offset)]
                    .copy_from_slice(&stamp[index(from - start)..index(to - start)]);
            }
            block += 1;
        }
    }

    fn stamp_of(&self, base: u64, block: u64) -> [u8; 16] {
        let number = mix(base ^ mix(2 * block));
        let mut stamp = [0; 16];
        if self.pattern == Pattern::Text {
            for (digit, byte) in stamp.iter_mut().enumerate() {
                *byte = b"0123456789abcdef"[index((number >> (4 * digit)) & 15)];
            }
        } else {
            stamp[..8].copy_from_slice(&number.to_le_bytes());
            stamp[8..].copy_from_slice(&mix(base ^ mix(2 * block + 1)).to_le_bytes());
        }
        stamp
    }
}

fn place(offset: u64) -> usize {
    index(offset % POOL as u64)
}

fn index(number: u64) -> usize {
    usize::try_from(number).expect("it lies within a buffer")
}

/// splitmix64 (Steele, Lea and Flood, 2014): a bijection, so different inputs stay different.
fn mix(number: u64) -> u64 {
    let mut z = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// The pool, kept because planning a step before its clock starts draws the same one.
fn pool(pattern: Pattern, seed: Seed) -> Arc<[u8]> {
    type Pools = Vec<((Pattern, Seed), Arc<[u8]>)>;
    static POOLS: Mutex<Pools> = Mutex::new(Vec::new());
    let mut pools = POOLS.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, pool)) = pools.iter().find(|(of, _)| *of == (pattern, seed)) {
        return Arc::clone(pool);
    }
    let pool: Arc<[u8]> = match pattern {
        Pattern::Random => random_pool(seed),
        Pattern::Text => text_pool(seed),
        Pattern::Zero => Vec::new(),
    }
    .into();
    if pools.len() == KEPT {
        pools.remove(0);
    }
    pools.push(((pattern, seed), Arc::clone(&pool)));
    pool
}

fn random_pool(seed: Seed) -> Vec<u8> {
    let mut random = random(seed);
    (0..POOL / 8).flat_map(|_| random.next_u64().to_le_bytes()).collect()
}

const WORDS: [&str; 32] = [
    "the",
    "of",
    "and",
    "a",
    "to",
    "in",
    "is",
    "that",
    "it",
    "was",
    "for",
    "on",
    "are",
    "with",
    "as",
    "they",
    "block",
    "file",
    "tree",
    "node",
    "extent",
    "journal",
    "inode",
    "directory",
    "kernel",
    "device",
    "sector",
    "page",
    "cache",
    "write",
    "read",
    "space",
];

fn text_pool(seed: Seed) -> Vec<u8> {
    let mut random = random(seed);
    let mut text = Vec::with_capacity(POOL + 16);
    while text.len() < POOL {
        let drawn = draw(&mut random, 0..=32 * 12 - 1);
        text.extend_from_slice(WORDS[index(drawn % 32)].as_bytes());
        text.push(if drawn < 32 { b'\n' } else { b' ' });
    }
    text.truncate(POOL);
    text
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    /// Computed by a ChaCha8 of its own in Python, its key `(42).to_bytes(8, "little") + bytes(24)`:
    ///
    /// ```text
    /// [1 + (v * 9 >> 64) for v in chacha8(key, 8)]
    /// ```
    #[test]
    fn the_first_draws_are_those_of_another_implementation() {
        let mut random = random(Seed(42));
        let drawn: Vec<u64> = (0..8).map(|_| draw(&mut random, 1..=9)).collect();
        assert_eq!(drawn, [4, 3, 5, 4, 8, 1, 5, 3]);
    }

    /// Computed in Python (`chacha8` as above, `mix` is splitmix64, `le` is `to_bytes(8, "little")`):
    ///
    /// ```text
    /// pool = b"".join(le(v) for v in chacha8(key, 1 << 17))
    /// def byte(k, o):
    ///     a = mix(42 ^ mix(k)); b = o // 4096
    ///     stamp = le(mix(a ^ mix(2 * b))) + le(mix(a ^ mix(2 * b + 1)))
    ///     return stamp[o % 4096] if o % 4096 < 16 else pool[(a + o) % (1 << 20)]
    /// bytes(byte(7, o) for o in range(4090, 4130)).hex()
    /// ```
    #[test]
    fn the_first_bytes_are_those_of_another_implementation() {
        let mut bytes = [0; 40];
        Content::new(Pattern::Random, Seed(42)).fill(7, 4090, &mut bytes);
        let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(hex, "9ce73f2960a85ddc83b6a7dc1a9da2601047fe541f7bebec60acb8b1c65540949a4501c0996b025d");
    }

    #[test]
    fn a_file_is_the_same_in_one_piece_and_in_many() {
        for pattern in [Pattern::Random, Pattern::Zero, Pattern::Text] {
            let content = Content::new(pattern, Seed(1));
            let mut whole = vec![1; 3 * POOL / 2];
            content.fill(9, 0, &mut whole);
            let mut pieces = vec![2; whole.len()];
            for length in [4095, 7] {
                for (at, piece) in pieces.chunks_mut(length).enumerate() {
                    content.fill(9, (at * length) as u64, piece);
                }
                assert!(whole == pieces, "{pattern:?} in pieces of {length}");
                pieces.fill(2);
            }
        }
    }

    #[test]
    fn no_two_blocks_of_any_two_files_are_equal() {
        for pattern in [Pattern::Random, Pattern::Text] {
            let content = Content::new(pattern, Seed(3));
            let mut seen = HashSet::new();
            let mut file = vec![0; 4 * POOL];
            for key in 0..3 {
                content.fill(key, 0, &mut file);
                assert!(file.chunks(4096).all(|block| seen.insert(block[..16].to_vec())), "{pattern:?}");
            }
        }
    }

    #[test]
    fn text_is_printable() {
        let mut text = vec![0; 20_000];
        Content::new(Pattern::Text, Seed(5)).fill(1, 100, &mut text);
        assert!(text.iter().all(|byte| byte.is_ascii_lowercase() || b" \n0123456789".contains(byte)));
    }
}
