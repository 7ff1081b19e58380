//! What a user's own command came to.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A command that a step ran: how it ended, and the end of what it printed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CommandResult {
    /// Which of the step's commands this is: `command`, or the one that failed: `prepare`, `check`.
    pub role: Role,
    /// The program and its arguments.
    pub argv: Vec<String>,
    /// Its exit status; absent where a signal ended it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_status: Option<i32>,
    /// The signal that ended it, as `SIGSEGV`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signal: Option<String>,
    /// Number of that signal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signal_number: Option<i32>,
    /// Why it could not start at all; absent where it did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_started: Option<String>,
    /// Name of the user as whom it ran.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
    /// Bytes that it wrote to its standard output.
    pub stdout_bytes: u64,
    /// The end of them, at most 64 KiB; what is no UTF-8 is replaced.
    pub stdout: String,
    /// Bytes that it wrote to its standard error.
    pub stderr_bytes: u64,
    /// The end of them, at most 64 KiB; what is no UTF-8 is replaced.
    pub stderr: String,
}

/// What a command is to its step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// What is measured.
    #[default]
    Command,
    /// What makes it ready.
    Prepare,
    /// What looks at what it left.
    Check,
}

impl CommandResult {
    /// It ended with status 0.
    #[must_use]
    pub fn succeeded(&self) -> bool {
        self.exit_status == Some(0)
    }

    /// As a shell tells it: the exit status, or 128+n for signal n.
    #[must_use]
    pub fn code(&self) -> u8 {
        let code = self.exit_status.or_else(|| self.signal_number.map(|number| 128 + number));
        code.and_then(|code| u8::try_from(code).ok()).unwrap_or(u8::MAX)
    }

    /// How it ended, in words: `ended with exit status 7`, `was killed by SIGKILL`, `could not start: ...`.
    #[must_use]
    pub fn ending(&self) -> String {
        if let Some(why) = &self.not_started {
            return format!("could not start: {why}");
        }
        match (self.exit_status, &self.signal) {
            (Some(status), _) => format!("ended with exit status {status}"),
            (None, Some(signal)) => format!("was killed by {signal}"),
            (None, None) => "ended in an unknown way".into(),
        }
    }
}
