// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Runs complete measurements on simulated drives, in virtual time. The measured figures must be
//! those that the drive was built to have.

use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, Ordering};

use tidegate_device::DeviceFacts;
use tidegate_drive::{Completion, Drive, PseudoDisk};
use tidegate_measure::{
    Entries, Experiment, Kind, Profile, ProfileError, ProfileParams, Progress, Warning,
    profile_drive,
};
use tidegate_model::{
    BatchTable, Bytes, DriveFile, DriveKind, Duration, Op, Request, RequestId, Time,
};

const CAPACITY: Bytes = Bytes::new(1 << 40);

fn reads_of(size: Bytes) -> Vec<Kind> {
    vec![Kind { op: Op::Read, size }]
}

fn table() -> BatchTable {
    let times: Vec<_> = (1..=8).map(|requests| Duration::from_ms(3 + 2 * requests)).collect();
    BatchTable::new(&times).expect("a table")
}

fn params(samples: u32) -> ProfileParams {
    ProfileParams {
        depth: 8,
        samples,
        experiments: vec![Experiment::BATCH],
        ..ProfileParams::new("test", &DeviceFacts::default())
    }
}

fn measured(
    params: &ProfileParams,
    progress: impl FnMut(Progress),
    cancelled: &AtomicBool,
) -> Result<Profile, ProfileError> {
    let mut drive = PseudoDisk::new(8, table(), 7);
    profile_drive(&mut drive, "pseudo-disk", CAPACITY, params, progress, cancelled, None)
}

fn whole(samples: u32) -> Profile {
    measured(&params(samples), |_| (), &AtomicBool::new(false)).expect("a profile")
}

#[test]
fn a_pseudo_disk_is_measured_to_be_its_table() {
    let profile = whole(20);
    let [batch] = &profile.file.batch[..] else { panic!("one table") };
    assert_eq!(batch.table, table());
    assert!(batch.quantiles_ns.iter().all(|list| list == &batch.ns_max));
    assert_eq!(batch.samples, Some(20));
    assert_eq!((profile.file.kind, profile.file.depth), (DriveKind::Recorded, 8));
}

/// A drive that records the places of requests by operation.
struct Notebook {
    disk: PseudoDisk,
    places: [HashSet<u64>; 2],
}

impl Drive for Notebook {
    fn submit(&mut self, now: Time, batch: &[Request]) {
        for request in batch {
            self.places[usize::from(request.op == Op::Write)].insert(request.start.get());
        }
        self.disk.submit(now, batch);
    }

    fn next_event(&self) -> Option<Time> {
        self.disk.next_event()
    }

    fn flush(&mut self, _now: Time, _id: RequestId) {
        unreachable!("nothing is flushed");
    }

    fn advance(&mut self, now: Time, out: &mut Vec<Completion>) {
        self.disk.advance(now, out);
    }
}

/// Goal: writes do not go to the places of earlier reads, which a device may still have in memory.
/// Method: compares all places of both; less than one in a thousand may be equal by chance.
#[test]
fn writes_go_to_other_places_than_reads() {
    let kind = |op| Kind { op, size: ProfileParams::SIZE };
    let params = ProfileParams { kinds: vec![kind(Op::Read), kind(Op::Write)], ..params(20) };
    let mut notebook =
        Notebook { disk: PseudoDisk::new(8, table(), 7), places: [(); 2].map(|()| HashSet::new()) };
    let (never, no_progress) = (AtomicBool::new(false), |_| ());
    profile_drive(&mut notebook, "pseudo-disk", CAPACITY, &params, no_progress, &never, None)
        .expect("a profile");
    let [reads, writes] = &notebook.places;
    assert!(reads.len() > 500 && writes.len() > 500);
    assert!(reads.intersection(writes).count() < 5);
}

#[test]
fn the_file_reads_back_to_what_was_written() {
    let profile = whole(3);
    let read = DriveFile::parse(&profile.file.to_toml()).expect("a drive file");
    assert_eq!(read, profile.file);
}

#[test]
fn few_samples_are_said_with_the_number_needed() {
    let profile = whole(3);
    let expected = Warning::FewSamples { samples: 3, needed: 72_704 };
    assert_eq!(profile.warnings, [expected]);
    let confidence = profile.file.batch[0].confidence.clone().expect("a statement");
    assert!(confidence.contains("maximum of an entry's 3 "), "{confidence}");
}

fn cancelled(samples: u32, entries: u32) -> Warning {
    let experiment = Experiment::BATCH;
    Warning::Cancelled {
        experiment,
        samples,
        asked: 1000,
        entries: Some(Entries { entries, asked: 8 }),
    }
}

#[test]
fn a_stop_keeps_what_was_measured() {
    let stop = AtomicBool::new(false);
    let after_some = |it: Progress| stop.store(it.done >= 20, Ordering::Relaxed);
    let profile = measured(&params(1000), after_some, &stop).expect("a profile");
    assert!(profile.is_cancelled);
    assert_eq!(profile.file.batch[0].samples, Some(2));
    let expected = cancelled(2, 8);
    assert_eq!(profile.warnings[0], expected);
    let how = profile.file.identity.how.expect("it says how");
    assert!(how.ends_with("interrupted with 2 samples of each at least"), "{how}");
}

/// Goal: everything that was measured before a stop is written, as a shorter table that a reader
/// cannot mistake for a complete one. Method: stops after each number of batches of the first
/// counted round.
#[test]
fn a_stop_within_the_first_counted_round_gives_a_shorter_table() {
    for batch_max in 1..8 {
        let stop = AtomicBool::new(false);
        let after = |it: Progress| stop.store(it.done >= u64::from(batch_max), Ordering::Relaxed);
        let profile = measured(&params(1000), after, &stop).expect("a shorter profile");
        let [batch] = &profile.file.batch[..] else { panic!("one table") };
        assert_eq!(batch.ns_max.len(), batch_max as usize);
        assert_eq!((profile.file.depth, batch.samples), (batch_max, Some(1)));
        assert_eq!(DriveFile::parse(&profile.file.to_toml()).expect("a file"), profile.file);
        let expected = cancelled(1, batch_max);
        assert_eq!(profile.warnings[0], expected);
        assert!(expected.to_string().contains(&format!("ends at b({batch_max})")), "{expected}");
    }
}

#[test]
fn a_stop_before_the_first_sample_is_an_error() {
    let stop = AtomicBool::new(false);
    let at_once = |_: Progress| stop.store(true, Ordering::Relaxed);
    let error = measured(&params(1000), at_once, &stop).expect_err("too early");
    assert!(matches!(error, ProfileError::NothingMeasured), "{error}");
}

#[test]
fn what_cannot_be_measured_is_known_before_there_is_a_target() {
    let whole = Bytes::from_kib(128 * 8);
    assert!(params(1).check(whole).is_ok());
    let error = params(1).check(Bytes::from_kib(128 * 8 - 1)).expect_err("too small");
    assert!(matches!(error, ProfileError::TooSmall { .. }), "{error}");
    let odd = ProfileParams { kinds: reads_of(Bytes::new(1000)), ..params(1) };
    assert!(matches!(odd.check(whole), Err(ProfileError::SizeOdd { .. })));
}

#[test]
fn nonsense_is_refused_with_advice() {
    let with = |change: fn(&mut ProfileParams)| {
        let mut params = params(1);
        change(&mut params);
        measured(&params, |_| (), &AtomicBool::new(false)).expect_err("nonsense").to_string()
    };
    assert!(with(|params| params.samples = 0).contains("at least 1"));
    assert!(with(|params| params.depth = 0).contains("at least 1"));
    assert!(with(|params| params.kinds = reads_of(Bytes::new(1000))).contains("multiple of 512"));
    assert!(with(|params| params.kinds = reads_of(Bytes::new(1 << 39))).contains("smaller size"));
}
