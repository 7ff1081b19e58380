//! One case, in its own process and namespaces.
