//! What differs, kept in the order in which entries were made, however many threads look.

use std::collections::BTreeMap;
use std::fmt;

use nix::errno::Errno;

/// Differences that are named.
const NAMED: usize = 10;

/// How an entry is not as it must be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Difference {
    /// It is not there.
    Missing,
    /// It was not made.
    Extra,
    /// It is there, and no listing of its directory tells it.
    Unlisted,
    /// A listing of its directory tells it more than once.
    ListedTwice,
    /// Its directories had so many entries when they were listed first, and the right ones then.
    Listing { wanted: u64, found: u64 },
    /// It is no file, or no directory, as it must be.
    Kind { wanted: &'static str },
    /// It has another size.
    Size { wanted: u64, found: u64 },
    /// It has other bytes; the first, where it is known: offset, wanted, found.
    Content(Option<(u64, u8, u8)>),
    /// It has a hole where bytes were written.
    Hole { at: u64 },
    /// It has fewer blocks than bytes.
    Blocks { bytes: u64, allocated: u64 },
    /// It was removed, and is there.
    NotRemoved,
    /// It cannot be read on from this byte.
    Unreadable { at: u64, errno: Errno },
    /// It cannot be looked at.
    Failed { doing: &'static str, errno: Errno },
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing => write!(f, "missing"),
            Self::Extra => write!(f, "was not made by this step"),
            Self::Unlisted => write!(f, "is there, and is missing in the listing of its directory"),
            Self::ListedTwice => write!(f, "is more than once in the listing of its directory"),
            Self::Listing { wanted, found } => write!(
                f,
                "had other names when it was listed ({found} instead of {wanted}), and the right ones when \
                 listed again"
            ),
            Self::Kind { wanted } => write!(f, "is no {wanted}"),
            Self::Size { wanted, found } => write!(f, "has {found} bytes instead of {wanted}"),
            Self::Content(Some((at, wanted, found))) => {
                write!(f, "byte {at} is {found:#04x} instead of {wanted:#04x}")
            }
            Self::Content(None) => write!(f, "had other content, and has the right one when read again"),
            Self::Hole { at } => write!(f, "has a hole at byte {at}, where zeros were written"),
            Self::Blocks { bytes, allocated } => {
                write!(f, "has blocks for {allocated} bytes only, of {bytes} that were written")
            }
            Self::NotRemoved => write!(f, "was removed and is still there"),
            Self::Unreadable { at, errno } => {
                write!(f, "cannot read byte {at} and beyond: {} ({errno:?})", errno.desc())
            }
            Self::Failed { doing, errno } => write!(f, "cannot {doing}: {} ({errno:?})", errno.desc()),
        }
    }
}

/// The first differences, and how many there are.
#[derive(Debug, Default)]
pub(super) struct Differences {
    first: BTreeMap<(u64, String), Difference>,
    count: u64,
    /// Numbers of an appended tree begin after those before it.
    trees: u64,
}

impl Differences {
    /// Entry `number` differs.
    pub(super) fn add(&mut self, number: u64, path: &str, difference: Difference) {
        self.count += 1;
        self.first.insert((number, path.to_owned()), difference);
        if self.first.len() > NAMED {
            self.first.pop_last();
        }
    }

    /// Take in those of another part of the same tree.
    pub(super) fn merge(&mut self, other: Self) {
        let named = other.first.len() as u64;
        for ((number, path), difference) in other.first {
            self.add(number, &path, difference);
        }
        self.count += other.count - named;
    }

    /// Take in those of the next tree.
    pub(super) fn append(&mut self, other: Self) {
        self.trees += 1;
        let mut moved = Self { count: other.count, ..Self::default() };
        for ((number, path), difference) in other.first {
            moved.first.insert((number.saturating_add(self.trees << 48), path), difference);
        }
        self.merge(moved);
    }

    /// How many there are.
    pub(super) fn count(&self) -> u64 {
        self.count
    }

    /// Files with other content.
    pub(super) fn contents(&mut self) -> impl Iterator<Item = (&str, &mut Difference)> {
        self.first
            .iter_mut()
            .filter(|(_, difference)| matches!(difference, Difference::Content(_)))
            .map(|((_, path), difference)| (path.as_str(), difference))
    }

    /// In sentences.
    pub(super) fn details(&self) -> Vec<String> {
        let mut details: Vec<String> =
            self.first.iter().map(|((_, path), difference)| format!("{path}: {difference}")).collect();
        let more = self.count - self.first.len() as u64;
        if more > 0 {
            details.push(format!("and {more} more differences"));
        }
        details
    }
}
