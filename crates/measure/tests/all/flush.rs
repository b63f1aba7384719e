// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Compares the longest measured flush with the flushes that the drives carried out.
//!
//! A witness between the measurement and the drive records each flush: when it arrived, how many
//! writes had completed since the previous one, and when it completed. The drive file must have the
//! longest of these flushes, to the nanosecond, and this time must follow the size of the planted
//! cache.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::atomic::AtomicBool;

use tidegate_device::DeviceFacts;
use tidegate_drive::{Completion, Drive, PseudoDisk};
use tidegate_measure::{
    Experiment, FlushStart, FlushTimes, Kind, Profile, ProfileParams, Skip, Warning,
};
use tidegate_measure::{Progress, profile_drive};
use tidegate_model::{
    BatchTable, Bytes, DriveFile, DriveKind, Duration, Op, Outcome, Request, RequestId, Time,
};

/// A recorded flush.
#[derive(Debug, Clone, Copy)]
struct Flushed {
    /// The number of writes that completed since the previous flush.
    writes: u32,
    took: Duration,
}

/// A drive that records its flushes; the log is shared with the test.
struct Witness<D> {
    drive: D,
    held: usize,
    writes: u32,
    current: Option<(RequestId, Time)>,
    log: Rc<RefCell<Vec<Flushed>>>,
}

impl<D: Drive> Drive for Witness<D> {
    fn submit(&mut self, now: Time, batch: &[Request]) {
        assert!(batch.iter().all(|request| request.op == Op::Write), "nothing else is measured");
        assert_eq!(self.current, None, "a flush is alone");
        self.held += batch.len();
        self.drive.submit(now, batch);
    }

    fn next_event(&self) -> Option<Time> {
        self.drive.next_event()
    }

    fn flush(&mut self, now: Time, id: RequestId) {
        assert_eq!((self.held, self.current), (0, None), "what is in flight is not idle");
        self.current = Some((id, now));
        self.drive.flush(now, id);
    }

    fn advance(&mut self, now: Time, out: &mut Vec<Completion>) {
        let before = out.len();
        self.drive.advance(now, out);
        for completion in &out[before..] {
            if let Some((_, begun)) = self.current.take_if(|(id, _)| *id == completion.id) {
                let took = completion.at.since(begun);
                let writes = std::mem::take(&mut self.writes);
                self.log.borrow_mut().push(Flushed { writes, took });
            } else {
                self.held -= 1;
                self.writes += 1;
            }
        }
    }
}

const SIZE: Bytes = Bytes::from_kib(64);

fn params(depth: u32, samples: u32) -> ProfileParams {
    ProfileParams {
        depth,
        samples,
        allows_writes: true,
        experiments: vec![Experiment::FLUSH],
        kinds: vec![Kind { op: Op::Read, size: SIZE }],
        ..ProfileParams::new("it", &DeviceFacts::default())
    }
}

/// Returns the profile, and the flushes of all trials that count.
fn witnessed(
    drive: impl Drive,
    capacity: Bytes,
    params: &ProfileParams,
) -> (Profile, Vec<Flushed>) {
    let log = Rc::new(RefCell::new(Vec::new()));
    let mut witness = Witness { drive, held: 0, writes: 0, current: None, log: Rc::clone(&log) };
    let (mut trials, mut done) = (Vec::new(), 0);
    let after_trial = |progress: Progress| {
        if progress.done > done {
            done = progress.done;
            trials.extend(log.borrow().last().copied());
        }
    };
    let never = AtomicBool::new(false);
    let profile = profile_drive(&mut witness, "it", capacity, params, after_trial, &never, None);
    (profile.expect("a profile"), trials)
}

fn of_file(file: &DriveFile, params: &ProfileParams) -> (Profile, Vec<Flushed>) {
    let kind = if file.ssd.is_some() { DriveKind::Ssd } else { DriveKind::Mechanical };
    let drive = tidegate_drive::from_parts(kind, file, 1).expect("it has parts");
    let capacity = file.capacity().or(file.ssd.as_ref().map(|ssd| ssd.capacity()));
    witnessed(drive, capacity.expect("parts have a capacity"), params)
}

fn built_in(name: &str) -> DriveFile {
    tidegate_drive::builtin::load(name).expect("it is built in")
}

/// Returns the times of flushes in the drive file, for the only size of writes.
fn times(profile: &Profile) -> FlushTimes {
    let fit = profile.file.fit.as_ref().expect("flushes were measured");
    let of_size = fit["flush"]["writes of 64KiB"].clone();
    of_size.try_into().expect("it is read back")
}

/// Returns whether the drive file agrees with the recorded flushes, for each start and for all
/// together.
fn agrees(profile: &Profile, log: &[Flushed]) -> bool {
    // A flush too short for the clock still counts as 1 ns.
    let ns = |flush: &Flushed| flush.took.ns().max(1);
    let longest = log.iter().map(ns).max();
    let times = times(profile);
    let of_start = |(&writes, &ns_max): (&u32, &u64)| {
        log.iter().any(|flush| flush.writes >= writes && ns(flush) == ns_max)
    };
    profile.file.flush_max.map(Duration::ns) == longest
        && times.writes.iter().zip(&times.ns_max).all(of_start)
        && log.len() == times.samples as usize * times.start.len()
}

#[test]
fn the_longest_flush_is_that_of_the_trials() {
    for name in tidegate_drive::builtin::names() {
        let file = built_in(name);
        let (profile, log) = of_file(&file, &params(file.depth.min(8), 12));
        println!("{name}: {:?} {:?}", profile.file.flush_max, times(&profile));
        assert!(agrees(&profile, &log), "{name}: {log:?}");
        is_free_where_nothing_is_volatile(&file, profile.file.flush_max.expect("a limit"));
        // The canary: a measurement that misses the longest flush is caught.
        let longest = log.iter().map(|flush| flush.took).max();
        let without: Vec<_> =
            log.iter().filter(|flush| Some(flush.took) != longest).copied().collect();
        assert!(!agrees(&profile, &without), "{name}");
    }
}

/// Checks that a drive without a volatile cache, or one that saves its cache on power failure,
/// flushes immediately, and that the others need some milliseconds. A measurement with few samples
/// must not exceed the figure in the file.
fn is_free_where_nothing_is_volatile(file: &DriveFile, longest: Duration) {
    let is_safe = file.ssd.as_ref().is_some_and(|ssd| ssd.cache.power_loss_protection);
    if file.defers_writes() && !is_safe {
        assert!(longest > Duration::from_ms(1), "{}: {longest}", file.name);
    } else {
        assert!(longest < Duration::from_us(100), "{}: {longest}", file.name);
    }
    assert!(Some(longest) <= file.flush_max, "{}: {longest}", file.name);
}

/// Goal: the longest flush follows the size of the cache. Method: one disk with caches of 8 to 64
/// segments of writes. Each segment is one write at another place. Writing out a segment must take
/// between about one and two average random services (12.7 ms: an average seek and half a turn). A
/// write from end to end (15 ms, half a turn and the head's settling) takes little more than one
/// and a half times the average.
#[test]
fn the_flush_follows_the_planted_cache() {
    let mut before = 0;
    for segments in [8, 16, 32, 64] {
        let mut file = built_in("nearline-7200");
        let mechanics = file.mechanics.as_mut().expect("a disk");
        mechanics.cache.as_mut().expect("a cache").write_segments = segments;
        let (profile, _) = of_file(&file, &params(8, 40));
        let longest = profile.file.flush_max.expect("a limit").ns();
        println!("{segments} segments: {} us, {:?}", longest / 1_000, times(&profile));
        let service = longest / u64::from(segments);
        assert!((12_700_000..26_000_000).contains(&service), "{segments}: {longest}");
        assert!(longest * 10 > before * 15, "{segments}: {longest} after {before}");
        before = longest;
    }
}

/// Goal: the data in the full cache determine the longest flush, not the command itself. Method:
/// compares the starts on one disk; if the cache were clean, all flushes would take as long as the
/// first.
#[test]
fn a_flush_takes_the_longer_the_more_was_written() {
    let (profile, _) = of_file(&built_in("nearline-7200"), &params(8, 40));
    let times = times(&profile);
    let names: Vec<_> = FlushStart::ALL.iter().map(|start| start.name()).collect();
    assert_eq!(times.start, names);
    let [one, deep, full, ends] = times.ns_p50[..] else { panic!("four starts") };
    assert!(one * 3 < deep && deep * 3 < full, "{times:?}");
    assert!(ends > full, "the way from end to end is longer: {times:?}");
    assert!(times.writes[2] > 64 && times.is_full, "{times:?}");
}

/// A drive whose cache never fills: each write adds a millisecond to the next flush.
struct Endless {
    disk: PseudoDisk,
    dirty: u64,
    flush: Option<Completion>,
}

impl Drive for Endless {
    fn submit(&mut self, now: Time, batch: &[Request]) {
        self.dirty += u64::try_from(batch.len()).expect("few");
        self.disk.submit(now, batch);
    }

    fn next_event(&self) -> Option<Time> {
        self.flush.map(|flush| flush.at).or_else(|| self.disk.next_event())
    }

    fn flush(&mut self, now: Time, id: RequestId) {
        let at = now + Duration::from_ms(1) * std::mem::take(&mut self.dirty);
        self.flush = Some(Completion { id, at, outcome: Outcome::Done });
    }

    fn advance(&mut self, now: Time, out: &mut Vec<Completion>) {
        out.extend(self.flush.take_if(|flush| flush.at <= now));
        self.disk.advance(now, out);
    }
}

#[test]
fn a_cache_that_was_not_seen_full_has_no_longest_flush() {
    let table = BatchTable::new(&[Duration::from_ms(5)]).expect("a table");
    let disk = Endless { disk: PseudoDisk::new(1, table, 1), dirty: 0, flush: None };
    let (profile, _) = witnessed(disk, Bytes::new(1 << 30), &params(1, 4));
    assert_eq!(profile.file.flush_max, None);
    assert!(!times(&profile).is_full);
    let is_said = |it: &Warning| matches!(it, Warning::FlushGrows { .. });
    assert!(profile.warnings.iter().any(is_said), "{:?}", profile.warnings);
}

#[test]
fn nothing_is_written_where_that_is_not_allowed() {
    let file = built_in("nearline-7200");
    let (profile, log) = of_file(&file, &ProfileParams { allows_writes: false, ..params(8, 4) });
    assert!(log.is_empty() && profile.file.flush_max.is_none());
    let (experiment, skip) = (Experiment::FLUSH, Skip::MayNotWrite);
    assert!(profile.warnings.contains(&Warning::Skipped { experiment, skip }));
}
