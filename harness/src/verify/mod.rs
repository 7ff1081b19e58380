//! Nothing is measured that was not verified.
