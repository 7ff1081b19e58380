//! Finds the built-in suites in `fixtures/` and compiles them in.
fn main() {}
