//! The port to the runner: JSON lines out, a case and a word in.

use std::fs::{self, File};
use std::io::Write;
use std::os::fd::{AsFd, BorrowedFd};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use crate::case::Event;
use crate::error::{Cannot, Error, Result};
use crate::vm::PORT;

/// The driver names its ports a moment after it was loaded.
const PATIENCE: Duration = Duration::from_secs(30);

/// An open port.
pub(super) struct Port(File);

impl Port {
    /// Wait for the port and open it.
    pub(super) fn open() -> Result<Self> {
        let begun = Instant::now();
        let path = loop {
            match find() {
                Some(path) => break path,
                None if begun.elapsed() > PATIENCE => {
                    return Err(Error::new(format!("find the port {PORT}: this kernel shows none"))
                        .next("the kernel needs virtio_console and virtio_pci"));
                }
                None => std::thread::sleep(Duration::from_millis(5)),
            }
        };
        let file = File::options().read(true).write(true).open(&path);
        file.map(Self).cannot(|| format!("open {}", path.display()))
    }

    #[cfg(test)]
    pub(super) fn of(file: File) -> Self {
        Self(file)
    }

    /// Tell the runner.
    pub(super) fn tell(&mut self, event: &Event) -> Result<()> {
        let mut line = serde_json::to_vec(event).cannot(|| "write an event as JSON".into())?;
        line.push(b'\n');
        self.pass(&line)
    }

    /// Pass whole lines on.
    pub(super) fn pass(&mut self, lines: &[u8]) -> Result<()> {
        self.0.write_all(lines).cannot(|| "tell the runner".into())
    }

    pub(super) fn file(&mut self) -> &mut File {
        &mut self.0
    }
}

impl AsFd for Port {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

/// The node of the port with our name: `vport1p1` of `/sys/class/virtio-ports`.
fn find() -> Option<PathBuf> {
    let ports = fs::read_dir("/sys/class/virtio-ports").ok()?;
    let ours = ports
        .flatten()
        .find(|port| fs::read_to_string(port.path().join("name")).is_ok_and(|name| name.trim() == PORT))?;
    let node = PathBuf::from("/dev").join(ours.file_name());
    node.exists().then_some(node)
}
