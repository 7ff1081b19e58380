//! Set-up and development commands of fsduel.
fn main() {}
