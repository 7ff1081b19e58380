//! Figures against each other, with what their noise allows to say.
//!
//! A ratio without an interval invites a wrong word, so there is no word without one, save for
//! values that do not scatter at all. Within a run configurations are paired by block: what disturbs
//! a whole block then cancels. Two runs are independent samples. `verdict.rs` says which words there
//! are and what they promise.

mod between;
mod differences;
#[cfg(test)]
mod example;
mod figure;
pub mod gate;
mod ratio;
mod repeat;
mod verdict;
mod within;

pub use between::between;
pub use differences::same_work;
pub use repeat::Repeat;
pub use within::{resolved, within};
