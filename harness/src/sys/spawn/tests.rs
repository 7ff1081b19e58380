//! How a child is prepared, and what it tells if it cannot start.

use std::io::Write;

use super::*;

impl WorkerProcess {
    /// An ordinary child in the place of a worker.
    pub(crate) fn of_child(mut child: std::process::Child) -> Self {
        let pid = rustix::process::Pid::from_child(&child);
        Self {
            input: OwnedFd::from(child.stdin.take().unwrap()).into(),
            events: OwnedFd::from(child.stdout.take().unwrap()).into(),
            errors: File::open("/dev/null").unwrap(),
            pidfd: rustix::process::pidfd_open(pid, rustix::process::PidfdFlags::empty()).unwrap(),
            pid: pid.as_raw_nonzero().get(),
            exit: None,
        }
    }
}

fn tell(words: &[u8]) -> Option<Error> {
    let (reader, mut writer) = pipe().unwrap();
    writer.write_all(words).unwrap();
    drop(writer);
    told(OwnedFd::from(reader).into()).unwrap()
}

#[test]
fn a_child_that_became_the_worker_tells_nothing() {
    assert!(tell(&[]).is_none());
}

#[test]
fn a_child_that_failed_tells_the_step_and_the_errno() {
    let [a, b, c, d] = (Errno::ENOENT as i32).to_ne_bytes();
    let error = tell(&[5, a, b, c, d]).unwrap();
    assert_eq!(error.errno(), Some(Errno::ENOENT));
    assert!(error.to_string().contains("run its program (for a worker /proc/self/exe"), "{error}");
}

#[test]
fn a_refused_clone_says_what_is_lacking() {
    assert_eq!(refused(Errno::EPERM).kind(), Kind::Unavailable);
    assert!(refused(Errno::ENOSYS).next_step().unwrap().contains("seccomp"));
}

#[test]
fn lists_for_exec_end_in_null() {
    let nothing = File::open("/dev/null").unwrap();
    let of = |argv| Program {
        path: Path::new("/proc/self/exe"),
        argv,
        streams: [nothing.as_fd(); 3],
        inherited: &[],
        namespaces: false,
    };
    let prepared = Prepared::new(&of(&["fsduel", "worker"])).unwrap();
    assert_eq!(prepared.argv.len(), 3);
    assert!(prepared.argv[2].is_null() && prepared.envp.last().unwrap().is_null());
    assert!(Prepared::new(&of(&["a\0b"])).is_err());
}
