//! PostMark's generator: a Mersenne Twister with the seeding of 1999.
//!
//! Libraries seed theirs as its authors did from 2002 on, which gives other numbers, so these few
//! lines are ours. Every bounded draw is a remainder.

const WORDS: usize = 624;
/// Distance of the word that is mixed in.
const AHEAD: usize = 397;

/// The generator, and how often it was asked.
pub(super) struct Twister {
    words: [u32; WORDS],
    at: usize,
    draws: u64,
}

impl Twister {
    /// Each word takes its halves from two numbers of a linear congruential generator, the first
    /// of which is the seed itself.
    pub(super) fn new(seed: u32) -> Self {
        let mut state = seed;
        let mut half = || {
            let high = state & 0xffff_0000;
            state = state.wrapping_mul(69069).wrapping_add(1);
            high
        };
        let words = std::array::from_fn(|_| half() | (half() >> 16));
        Self { words, at: 0, draws: 0 }
    }

    /// The next number.
    pub(super) fn draw(&mut self) -> u32 {
        let word = |at: usize| if at < WORDS { at } else { at - WORDS };
        let joined = (self.words[self.at] & 0x8000_0000) | (self.words[word(self.at + 1)] & 0x7fff_ffff);
        let odd = if joined & 1 == 1 { 0x9908_b0df } else { 0 };
        let new = self.words[word(self.at + AHEAD)] ^ (joined >> 1) ^ odd;
        self.words[self.at] = new;
        self.at = word(self.at + 1);
        self.draws += 1;
        tempered(new)
    }

    /// A number from 0 to `n` - 1. Where there is only 0 to choose (`n` is 0), nothing is drawn.
    pub(super) fn below(&mut self, n: u32) -> u32 {
        if n == 0 { 0 } else { self.draw() % n }
    }

    /// Numbers drawn.
    pub(super) fn draws(&self) -> u64 {
        self.draws
    }
}

fn tempered(mut y: u32) -> u32 {
    y ^= y >> 11;
    y ^= (y << 7) & 0x9d2c_5680;
    y ^= (y << 15) & 0xefc6_0000;
    y ^ (y >> 18)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers that the real program drew, by their place from 1.
    const DRAWN: [(u64, u32); 8] = [
        (1, 4_179_544_424),
        (2, 615_236_124),
        (3, 4_165_290_828),
        (4, 3_119_652_344),
        (624, 1_304_686_307),
        (625, 299_826_205),
        (1000, 2_144_691_740),
        (10_000, 67_221_680),
    ];

    #[test]
    fn the_words_after_seeding_are_those_of_the_real_program() {
        let twister = Twister::new(42);
        assert_eq!(twister.words[1..3], [0xa684_824d, 0x45d5_8ab2]);
    }

    #[test]
    fn the_numbers_are_those_of_the_real_program() {
        let mut twister = Twister::new(42);
        for (place, number) in DRAWN {
            while twister.draws() < place - 1 {
                twister.draw();
            }
            assert_eq!(twister.draw(), number, "number {place}");
        }
        let mut twister = Twister::new(1);
        assert_eq!([0; 3].map(|_| twister.draw()), [3_556_162_021, 4_012_392_791, 221_657_543]);
    }

    #[test]
    fn nothing_is_drawn_where_there_is_no_choice() {
        let mut twister = Twister::new(42);
        assert_eq!((twister.below(0), twister.draws()), (0, 0));
        assert_eq!((twister.below(1), twister.draws()), (0, 1));
    }
}
