//! One file for each command. A command returns its exit code, or an error that has one.

pub mod compare;
pub mod doctor;
pub mod exec;
pub mod gates;
pub mod gc;
pub mod list;
pub mod manual;
pub mod postmark;
pub mod report;
pub mod run;
pub mod shell;
pub mod verify;
