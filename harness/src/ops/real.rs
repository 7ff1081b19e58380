//! `Ops` that does the calls.
/// x
pub struct Real;
/// x
pub struct Progress;
/// x
pub struct Stop;
