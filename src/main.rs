//! fsduel compares Linux file systems on loop devices.
fn main() {}
