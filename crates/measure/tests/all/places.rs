// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Tests the measurement by families of places: every table has every family, and the measurement
//! takes at most twice the time and can be resumed.

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, Ordering};

use tidegate_device::DeviceFacts;
use tidegate_measure::{
    Experiment, Journal, Kind, Profile, ProfileParams, Progress, plan_drive, profile_drive,
};
use tidegate_model::drive_file::{FamilyTimes, MeasuredTable, PlaceFamily};
use tidegate_model::{Bytes, DriveFile, DriveKind, Duration, Op};

const DEPTH: u32 = 4;
const SAMPLES: u32 = 60;

fn nearline() -> DriveFile {
    tidegate_drive::builtin::load("nearline-7200").expect("it is built in")
}

fn params(experiments: &[Experiment]) -> ProfileParams {
    ProfileParams {
        depth: DEPTH,
        samples: SAMPLES,
        experiments: experiments.to_vec(),
        ..ProfileParams::new("test", &DeviceFacts::default())
    }
}

fn measured(
    params: &ProfileParams,
    progress: impl FnMut(Progress),
    cancelled: &AtomicBool,
    journal: Option<&mut Journal>,
) -> Profile {
    let file = nearline();
    let mut disk = tidegate_drive::from_parts(DriveKind::Mechanical, &file, 1).expect("mechanics");
    let capacity = file.capacity().expect("the mechanics give it");
    profile_drive(&mut *disk, "test", capacity, params, progress, cancelled, journal)
        .expect("a profile")
}

/// Returns the profile, and the time of the measurement on the drive's clock.
fn whole(experiments: &[Experiment]) -> (Profile, Duration) {
    let elapsed = Cell::new(Duration::ZERO);
    let note = |progress: Progress| elapsed.set(progress.elapsed);
    let profile = measured(&params(experiments), note, &AtomicBool::new(false), None);
    (profile, elapsed.get())
}

fn of(families: &[FamilyTimes], places: PlaceFamily) -> &FamilyTimes {
    families.iter().find(|it| it.places == places).expect("it was measured")
}

fn assert_whole(table: &MeasuredTable) {
    assert_eq!(table.missing_families(), []);
    for (entry, &ns) in table.ns_max.iter().enumerate() {
        let longest = table.families.iter().map(|family| family.ns_max[entry]).max();
        assert_eq!(longest, Some(ns), "entry {entry}");
    }
}

/// Goal: each family is measured, the table holds the longest times of all families, and the times
/// at random places are the same as without families. Method: the nearline disk, on which a
/// sequence takes far less time.
#[test]
fn every_family_is_measured() {
    let (alone, _) = whole(&[Experiment::BATCH]);
    let (profile, _) = whole(&[Experiment::BATCH, Experiment::PLACES]);
    let table = &profile.file.batch[0];
    assert_whole(table);
    assert_eq!(table.random_ns_max(), alone.file.batch[0].ns_max);
    assert_eq!(table.quantiles_ns, alone.file.batch[0].quantiles_ns);
    let [sequential, ends, climbed] =
        [PlaceFamily::Sequential, PlaceFamily::BothEnds, PlaceFamily::Climbed]
            .map(|family| of(&table.families, family));
    assert!(sequential.screened && !ends.screened && !climbed.screened);
    assert!(ends.samples > sequential.samples);
    assert_eq!(DriveFile::parse(&profile.file.to_toml()).expect("it is read back"), profile.file);
}

#[test]
fn drains_and_starvation_have_every_family() {
    let experiments = [
        Experiment::DRAIN,
        Experiment::DRAIN_PLACES,
        Experiment::STARVATION,
        Experiment::STARVATION_PLACES,
    ];
    let few = ProfileParams { samples: 4, ..params(&experiments) };
    let profile = measured(&few, |_| (), &AtomicBool::new(false), None);
    assert_whole(&profile.file.drain[0]);
    let starved = &profile.file.starvation_places;
    assert_eq!(tidegate_model::drive_file::missing(starved, 1), []);
    let longest = starved.iter().map(|family| family.ns_max[0]).max();
    assert_eq!(longest, profile.file.starvation_max.map(Duration::ns));
}

#[test]
fn mixed_batches_have_every_family_and_costs_cover_them() {
    let kinds = Kind::all(&[Op::Read], &[Bytes::from_kib(4), Bytes::from_kib(128)]);
    let experiments =
        [Experiment::BATCH, Experiment::PLACES, Experiment::MIXED, Experiment::MIXED_PLACES];
    let few = ProfileParams { kinds, samples: 10, ..params(&experiments) };
    let profile = measured(&few, |_| (), &AtomicBool::new(false), None);
    let mixed = &profile.file.mixed[0];
    assert_eq!(tidegate_model::drive_file::missing(&mixed.places, mixed.ns_max.len()), []);
    assert!(profile.file.cost.is_some());
    DriveFile::parse(&profile.file.to_toml()).expect("the costs cover every batch");
}

/// Goal: families at most double the time, by the plan's estimate and in the drive's time.
#[test]
fn families_at_most_double_the_time() {
    let file = nearline();
    for (alone, with) in [
        (Experiment::BATCH, Experiment::PLACES),
        (Experiment::DRAIN, Experiment::DRAIN_PLACES),
        (Experiment::STARVATION, Experiment::STARVATION_PLACES),
    ] {
        let planned = params(&[alone, with]);
        let mut disk = tidegate_drive::from_parts(DriveKind::Mechanical, &file, 1).expect("a disk");
        let steps = plan_drive(&mut *disk, file.capacity().expect("it has one"), &planned);
        let steps = steps.expect("a plan");
        let time = |of| steps.iter().find(|step| step.experiment == of).expect("planned").time;
        assert!(
            time(with) <= time(alone),
            "{with:?} is planned for {} of {}",
            time(with),
            time(alone)
        );
        let (once, both) = (whole(&[alone]).1, whole(&[alone, with]).1);
        assert!(both <= once * 2, "{with:?}: {both} instead of {once}");
    }
}

/// Goal: an interrupted measurement resumes with all its samples, in whichever part it was
/// interrupted. Method: stops after each third of the trials.
#[test]
fn a_measurement_by_families_goes_on() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("samples");
    drop(Journal::create(&path, "it").expect("a journal"));
    let experiments = [Experiment::BATCH, Experiment::PLACES];
    for stop_at in [40, 80, 108] {
        let cancelled = AtomicBool::new(false);
        let stop = |progress: Progress| {
            let is_due = progress.experiment == Experiment::PLACES && progress.done >= stop_at;
            cancelled.store(is_due, Ordering::Relaxed);
        };
        let journal = &mut Journal::resume(&path, "it").expect("a journal");
        let profile = measured(&params(&experiments), stop, &cancelled, Some(journal));
        assert!(profile.is_cancelled, "stopped at {stop_at}");
    }
    let journal = &mut Journal::resume(&path, "it").expect("a journal");
    let profile = measured(&params(&experiments), |_| (), &AtomicBool::new(false), Some(journal));
    assert!(!profile.is_cancelled);
    assert_whole(&profile.file.batch[0]);
    let at_once = whole(&experiments).0;
    for family in [PlaceFamily::Random, PlaceFamily::Climbed] {
        let samples = |profile: &Profile| of(&profile.file.batch[0].families, family).samples;
        assert_eq!(samples(&profile), samples(&at_once), "{family}");
    }
}
