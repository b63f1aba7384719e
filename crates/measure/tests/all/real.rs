// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Runs complete measurements on a real file, on the disk with the build directory. If direct I/O
//! or io_uring is not available, a test prints the reason and is skipped.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};

use tidegate_device::create::CreateError;
use tidegate_device::{Access, OpenError, RingError, Target};
use tidegate_measure::{
    Experiment, Kind, Profile, ProfileError, ProfileParams, Progress, Skip, Warning, profile,
};
use tidegate_model::{Bytes, DriveFile, Op};

static NEVER: AtomicBool = AtomicBool::new(false);

/// A file in a directory of its own; both are removed at the end.
struct File {
    directory: tempfile::TempDir,
    target: Target,
}

fn file(access: Access) -> Option<File> {
    let directory = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a directory");
    let path: PathBuf = directory.path().join("file");
    match Target::create(&path, Bytes::from_kib(8 << 10), access, |_| (), &NEVER) {
        Ok(target) => Some(File { directory, target }),
        Err(CreateError::Unusable(
            error @ (OpenError::MemoryFileSystem { .. } | OpenError::NoDirectIo { .. }),
        )) => skip(&error),
        Err(error) => panic!("{error}"),
    }
}

fn skip<T>(reason: &dyn std::error::Error) -> Option<T> {
    eprintln!("skipped: {reason}");
    None
}

const SIZE: Bytes = Bytes::from_kib(16);

const WRITES: [Kind; 1] = [Kind { op: Op::Write, size: SIZE }];

fn params(target: &Target) -> ProfileParams {
    ProfileParams {
        depth: 6,
        samples: 12,
        kinds: vec![Kind { op: Op::Read, size: SIZE }],
        experiments: vec![Experiment::BATCH],
        ..ProfileParams::new("file", target.facts())
    }
}

fn measured(
    file: &File,
    params: &ProfileParams,
    progress: impl FnMut(Progress),
    cancelled: &AtomicBool,
) -> Option<Profile> {
    match profile(&file.target, params, progress, cancelled, None) {
        Ok(profile) => Some(profile),
        Err(ProfileError::Ring(error @ (RingError::Forbidden { .. } | RingError::Absent))) => {
            skip(&error)
        }
        Err(error) => panic!("{error}"),
    }
}

#[test]
fn a_profile_of_a_file_is_a_drive_file() {
    let Some(file) = file(Access::ReadOnly) else { return };
    let mut told = Vec::new();
    let progress = |it: Progress| told.push(it.done);
    let Some(profile) = measured(&file, &params(&file.target), progress, &NEVER) else { return };
    let text = profile.file.to_toml();
    println!("{text}");
    assert_eq!(DriveFile::parse(&text).expect("a drive file"), profile.file);
    assert_eq!(told.last(), Some(&72));
    let [batch] = &profile.file.batch[..] else { panic!("one table") };
    assert_eq!((batch.ns_max.len(), batch.samples), (6, Some(12)));
    for levels in batch.quantiles_ns.windows(2) {
        assert!(levels[0].iter().zip(&levels[1]).all(|(lower, upper)| lower <= upper));
    }
    let secret = file.directory.path().to_string_lossy().into_owned();
    assert!(!text.contains(&secret), "a drive file has no paths of the host");
}

#[test]
fn what_limits_the_table_is_said() {
    let Some(file) = file(Access::ReadOnly) else { return };
    let Some(profile) = measured(&file, &params(&file.target), |_| (), &NEVER) else { return };
    let has = |wanted: fn(&Warning) -> bool| profile.warnings.iter().any(wanted);
    assert!(has(|it| matches!(it, Warning::FewSamples { samples: 12, needed: 72_704 })));
    assert!(has(|it| matches!(it, Warning::FileOnly { .. })));
    assert!(has(|it| *it == Warning::NotRealTime));
}

#[test]
fn a_stopped_profile_keeps_its_samples() {
    let Some(file) = file(Access::ReadOnly) else { return };
    let stop = AtomicBool::new(false);
    let after_some = |it: Progress| stop.store(it.done >= 20, Ordering::Relaxed);
    let Some(profile) = measured(&file, &params(&file.target), after_some, &stop) else { return };
    assert!(profile.is_cancelled);
    assert_eq!(profile.file.batch[0].samples, Some(3));
}

#[test]
fn reading_leaves_the_file_as_it_was() {
    let Some(file) = file(Access::ReadOnly) else { return };
    let path = file.directory.path().join("file");
    let before = std::fs::read(&path).expect("the file");
    if measured(&file, &params(&file.target), |_| (), &NEVER).is_some() {
        assert_eq!(std::fs::read(&path).expect("the file"), before);
    }
}

#[test]
fn writing_needs_a_target_opened_for_it() {
    let Some(file) = file(Access::ReadOnly) else { return };
    let params = ProfileParams { kinds: WRITES.to_vec(), ..params(&file.target) };
    let error =
        profile(&file.target, &params, |_| (), &NEVER, None).expect_err("it must be refused");
    assert!(matches!(error, ProfileError::ReadOnly), "{error}");
}

#[test]
fn writes_are_measured_where_that_is_allowed() {
    let Some(file) = file(Access::ReadWrite) else { return };
    let params = ProfileParams { kinds: WRITES.to_vec(), ..params(&file.target) };
    let Some(profile) = measured(&file, &params, |_| (), &NEVER) else { return };
    assert_eq!(profile.file.batch[0].op, Some(Op::Write));
}

/// Goal: all experiments run on a real file; an experiment that does not apply to the device is
/// skipped, and the report says so. Method: a file on a real disk. Its times are unknown, so only
/// the structure of the result is checked.
#[test]
fn drains_and_starvation_of_a_file_are_measured_and_priority_is_not() {
    let Some(file) = file(Access::ReadOnly) else { return };
    let experiments = Experiment::ALL.to_vec();
    let params = ProfileParams { experiments, samples: 3, ..params(&file.target) };
    let Some(profile) = measured(&file, &params, |_| (), &NEVER) else { return };
    let [drain] = &profile.file.drain[..] else { panic!("one table of drains") };
    assert_eq!((drain.ns_max.len(), drain.samples), (6, Some(3)));
    assert_eq!(profile.starts.len(), 5);
    assert!(profile.file.priority.is_empty());
    let skip = Skip::NoTags;
    assert!(
        profile.warnings.contains(&Warning::Skipped { experiment: Experiment::PRIORITY, skip })
    );
    assert!(profile.file.starvation_max.is_some());
    assert_eq!(DriveFile::parse(&profile.file.to_toml()).expect("a drive file"), profile.file);
}
