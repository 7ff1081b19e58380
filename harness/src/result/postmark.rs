//! What PostMark counts, and the figures that it prints from it.
//!
//! PostMark adds up bytes in single precision, divides whole seconds and rounds in its own way. All
//! of that is repeated here, from stored numbers only, so that its report can be written anywhere.

use serde::{Deserialize, Serialize};

/// What PostMark counts in one run, exact in every run of the same configuration.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Postmark {
    /// Names handed out, in both phases.
    pub created_count: u64,
    /// Of the creation phase: the setting `number`.
    pub created_alone_count: u64,
    /// Of the transactions.
    pub created_mixed_count: u64,
    /// Transactions that read a file.
    pub read_count: u64,
    /// Transactions that appended to a file.
    pub appended_count: u64,
    /// Files deleted, in both phases.
    pub deleted_count: u64,
    /// Of the deletion phase.
    pub deleted_alone_count: u64,
    /// Of the transactions.
    pub deleted_mixed_count: u64,
    /// The setting `transactions`.
    pub transactions_count: u64,
    /// Transactions left when no file was there any more; PostMark prints no report then.
    pub transactions_not_run_count: u64,
    /// Creations that found no empty slot.
    pub creates_skipped_count: u64,
    /// Appends to files that had the largest size already.
    pub appends_skipped_count: u64,
    /// Bytes read.
    pub read_bytes: u64,
    /// Bytes written.
    pub written_bytes: u64,
    /// Bytes read, added up in single precision as PostMark does.
    pub read_single_precision_bytes: u64,
    /// Bytes written, added up in single precision as PostMark does.
    pub written_single_precision_bytes: u64,
    /// Random numbers drawn.
    pub draws_count: u64,
    /// Operations: creations, reads, appends and deletions.
    pub file_operations_count: u64,
    /// Files at the fullest moment.
    pub live_peak_count: u64,
    /// Bytes in files at the fullest moment.
    pub live_peak_bytes: u64,
}

/// Whole seconds as PostMark takes them from `time()`; a difference of 0 is taken as 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seconds {
    /// From the first creation to the last deletion.
    pub total: u64,
    /// Of the creation phase.
    pub creation: u64,
    /// Of the transactions.
    pub transactions: u64,
    /// Of the deletion phase.
    pub deletion: u64,
}
