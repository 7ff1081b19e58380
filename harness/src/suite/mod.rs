//! Suites: TOML files, resolved into cases.
