//! The suites that are compiled in, so that one binary is enough on another machine.

/// A suite of `fixtures/`.
pub struct Builtin {
    /// Name of its folder, and of the suite.
    pub name: &'static str,
    /// Its file in the source tree, for messages.
    pub file: &'static str,
    /// Its text.
    pub text: &'static str,
}

/// All of them, by name.
pub static SUITES: &[Builtin] = include!(concat!(env!("OUT_DIR"), "/builtin.rs"));

#[cfg(test)]
mod tests {
    use super::*;
    use fsduel_harness::suite::Suite;

    #[test]
    fn a_built_in_suite_is_called_like_its_folder() {
        assert!(SUITES.iter().any(|suite| suite.name == "quick"), "the default is missing");
        for suite in SUITES {
            assert_eq!(Suite::parse(suite.file, suite.text).unwrap().name(), suite.name);
        }
    }
}
