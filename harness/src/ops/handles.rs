//! What the handles of an `Ops` without descriptors stand for.

use super::Handle;

/// Open files by handle. The number of a closed file is used again, so memory is for open ones only.
pub(super) struct Handles<T>(Vec<Option<T>>);

impl<T> Handles<T> {
    /// None is open.
    pub(super) fn new() -> Self {
        Self(Vec::new())
    }

    /// Open a file.
    pub(super) fn keep(&mut self, file: T) -> Handle {
        let at = self.0.iter().position(Option::is_none).unwrap_or(self.0.len());
        if at == self.0.len() {
            self.0.push(None);
        }
        self.0[at] = Some(file);
        Handle(at)
    }

    /// An open file.
    pub(super) fn get(&self, file: Handle) -> Option<&T> {
        self.0.get(file.0)?.as_ref()
    }

    /// An open file.
    pub(super) fn get_mut(&mut self, file: Handle) -> Option<&mut T> {
        self.0.get_mut(file.0)?.as_mut()
    }

    /// Close a file.
    pub(super) fn take(&mut self, file: Handle) -> Option<T> {
        self.0.get_mut(file.0)?.take()
    }

    /// Close all files.
    pub(super) fn into_open(self) -> impl Iterator<Item = T> {
        self.0.into_iter().flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_handle_of_a_closed_file_is_used_again() {
        let mut files = Handles::new();
        let (a, b) = (files.keep("a"), files.keep("b"));
        assert_eq!((files.take(a), files.take(a), files.get(a)), (Some("a"), None, None));
        assert_eq!((files.keep("c"), files.keep("d")), (a, Handle(2)));
        assert_eq!((files.get(b), files.get(Handle(9))), (Some(&"b"), None));
        assert_eq!(files.into_open().collect::<Vec<_>>(), ["c", "b", "d"]);
    }
}
