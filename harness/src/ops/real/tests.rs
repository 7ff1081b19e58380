//! The calls are done, counted, timed and refused as they should be.

use std::time::Duration;

use super::*;
use crate::sys::counters::Done;

static GO_ON: AtomicBool = AtomicBool::new(false);

fn real(directory: &tempfile::TempDir) -> Real<'static> {
    let root = std::fs::File::open(directory.path()).unwrap();
    Real::new(root, &GO_ON)
}

#[test]
fn every_call_is_counted_and_has_a_latency() {
    let directory = tempfile::tempdir().unwrap();
    let mut real = real(&directory);
    real.mkdir("a").unwrap();
    let file = real.create("a/f").unwrap();
    assert!(real.block_size(file).unwrap() >= 512);
    assert_eq!(real.write(file, b"hello").unwrap(), 5);
    real.seek_end(file).unwrap();
    real.fsync(file).unwrap();
    real.close(file).unwrap();
    let file = real.open("a/f").unwrap();
    let mut bytes = [0; 9];
    assert_eq!(real.read(file, &mut bytes).unwrap(), 5);
    real.close(file).unwrap();
    assert_eq!((&bytes[..5], real.stat("a/f").unwrap()), (&b"hello"[..], 5));
    let mut told = vec![];
    real.readdir("a", &mut |name, kind| told.push((name.to_owned(), kind))).unwrap();
    assert_eq!(told, [("f".to_owned(), Kind::File)]);
    real.unlink("a/f").unwrap();
    real.rmdir("a").unwrap();
    let record = real.into_record();
    assert_eq!((record.counts.written_bytes, record.counts.read_bytes), (5, 5));
    for op in Op::ALL {
        assert_eq!(record.latency[op.name()].count, record.counts.of(op), "{}", op.name());
    }
    let series = &record.series[0];
    assert_eq!((series.t_s[0], series.value.last()), (0.0, Some(&10.0)));
}

#[test]
fn a_failure_says_the_call_the_path_and_the_errno_and_is_kept() {
    let directory = tempfile::tempdir().unwrap();
    let mut real = real(&directory);
    let missing = real.unlink("a").unwrap_err();
    assert_eq!(missing.to_string(), "unlink a: No such file or directory (ENOENT)");
    let file = real.create("f").unwrap();
    let exists = real.create("f").unwrap_err();
    assert_eq!(exists.errno, Errno::EEXIST);
    let unreadable = real.read(file, &mut [0]).unwrap_err();
    assert_eq!((unreadable.path.as_str(), unreadable.errno), ("f", Errno::EBADF));
    real.close(file).unwrap();
    let closed = real.close(file).unwrap_err();
    assert_eq!(closed.errno, Errno::EBADF);
    let record = real.into_record();
    assert_eq!(record.errnos, [missing, exists, unreadable, closed]);
    assert_eq!(record.counts.total(), 2, "failures are not counted");
}

#[test]
fn failures_that_are_kept_are_bounded() {
    let directory = tempfile::tempdir().unwrap();
    let mut real = real(&directory);
    for _ in 0..3 * FAILURES {
        real.rmdir("a").unwrap_err();
    }
    assert_eq!(real.into_record().errnos.len(), FAILURES);
}

#[test]
fn nothing_is_done_once_the_run_is_stopped() {
    let directory = tempfile::tempdir().unwrap();
    let stop = AtomicBool::new(false);
    let root = std::fs::File::open(directory.path()).unwrap();
    let mut real = Real::new(root, &stop);
    real.mkdir("a").unwrap();
    stop.store(true, Ordering::Relaxed);
    assert_eq!(real.mkdir("b").unwrap_err().errno, Errno::EINTR);
    assert!(!directory.path().join("b").exists());
    assert!(real.into_record().errnos.is_empty(), "no call has failed");
}

#[test]
fn a_look_is_taken_once_a_second_and_bytes_are_sampled_more_often() {
    let directory = tempfile::tempdir().unwrap();
    let root = std::fs::File::open(directory.path()).unwrap();
    let looks = std::cell::Cell::new(0);
    let mut real = Real::new(root, &GO_ON).each_second(|| looks.set(looks.get() + 1));
    let file = real.create("f").unwrap();
    let begun = Instant::now();
    while begun.elapsed() < Duration::from_millis(1100) {
        real.write(file, &[0; 100]).unwrap();
        std::thread::sleep(Duration::from_millis(5));
    }
    let series = real.into_record().series.remove(0);
    let seconds = begun.elapsed().as_secs();
    assert!((1..=seconds).contains(&looks.get()), "{} in {seconds} s", looks.get());
    assert!(series.t_s.len() as u64 > looks.get() + 2, "{:?}", series.t_s);
}

#[test]
fn others_see_every_call_that_succeeded_and_the_bytes_so_far() {
    let directory = tempfile::tempdir().unwrap();
    let root = std::fs::File::open(directory.path()).unwrap();
    let counters = Counters::default();
    let mut real = Real::new(root, &GO_ON).counting_in(&counters);
    let file = real.create("f").unwrap();
    let seen = |operations, bytes| assert_eq!(counters.read(), Done { operations, bytes });
    seen(1, 0);
    real.write(file, &[0; 100]).unwrap();
    seen(2, 100);
    real.create("f").unwrap_err();
    seen(2, 100);
    real.aside(&mut |ops| ops.stat("f").map(drop)).unwrap();
    seen(2, 100);
    real.write(file, &[0; 7]).unwrap();
    seen(3, 107);
    assert_eq!(real.into_record().counts.total(), 3);
}

#[test]
fn a_pause_lies_in_no_count_no_latency_and_no_part_of_the_work() {
    let directory = tempfile::tempdir().unwrap();
    let mut real = real(&directory);
    real.phase("before");
    real.mkdir("a").unwrap();
    let busy = Duration::from_millis(200);
    real.aside(&mut |ops| {
        let begun = Instant::now();
        while begun.elapsed() < busy {
            ops.stat("a")?;
        }
        Ok(())
    })
    .unwrap();
    real.phase("after");
    real.mkdir("b").unwrap();
    let record = real.into_record();
    assert_eq!(record.latency.keys().collect::<Vec<_>>(), ["mkdir"]);
    assert_eq!((record.counts.total(), record.series[0].value.last()), (2, Some(&0.0)));
    assert!(record.aside.time >= busy, "{:?}", record.aside);
    assert!(record.aside.cpu.user + record.aside.cpu.kernel > Duration::ZERO, "{:?}", record.aside);
    let last = record.phases.last().unwrap();
    assert!(last.ended < busy && last.begun < busy, "{:?}", record.phases);
}
