//! `Ops` that does no I/O.
/// x
pub struct Plan;
/// x
pub struct Entry;
/// x
pub enum EntryKind {}
/// x
pub fn entry_hash_of_dir() {}
