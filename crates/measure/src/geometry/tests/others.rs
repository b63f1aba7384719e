// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Tests disks that differ from the built-in ones: some figures are still found, others are not.

use tidegate_model::mechanics::{Faults, ReadAhead, Sparing};

use super::planted::Compared;
use super::round_trip::behaves_alike;
use super::*;
use crate::geometry::{Doubt, doubt, mechanics};

const NAMES: [&str; 2] = ["seagate-36es2", "nearline-7200"];

/// Returns the disk with the number of sectors that its layout holds.
fn filled(mut disk: Mechanics) -> Mechanics {
    disk.sectors = tidegate_drive::mechanical::Layout::held(&disk).expect("a layout").sectors;
    disk
}

/// The name of a change to a disk, and the function that makes it.
type Change = (&'static str, fn(&mut Mechanics));

/// Changes after which the disk is still measured correctly.
const CHANGES: [Change; 7] = [
    ("without reading ahead", |disk| {
        disk.cache.as_mut().expect("memory").read_ahead = ReadAhead::Off;
    }),
    ("without memory", |disk| disk.cache = None),
    ("with much memory", |disk| {
        let cache = disk.cache.as_mut().expect("memory");
        (cache.segments, cache.segment_sectors) = (2_000, 4_096);
    }),
    ("that errs", |disk| {
        let (retry_ppm, recalibration_ppm) = (5_000, 500);
        let recalibration_ns = 20_000_000;
        let faults = Faults { retry_ppm, retries_max: 3, recalibration_ppm, recalibration_ns };
        disk.faults = Some(faults);
    }),
    ("with slipped sectors", |disk| {
        for zone in &mut zones_of(disk).zone {
            zone.slips = (0..200).map(|slip| 1_000 + slip * 20_011).collect();
        }
    }),
    ("of one surface", |disk| disk.surfaces = 1),
    ("of one zone", |disk| {
        let last = disk.cylinders - 1;
        let zones = &mut zones_of(disk).zone;
        zones.truncate(1);
        zones[0].cylinder_last = last;
    }),
];

#[test]
fn other_disks_are_found_as_well() {
    for name in NAMES {
        for (what, change) in CHANGES {
            let (mut planted, _) = disk(name);
            change(&mut planted);
            let planted = filled(planted);
            let found = taken_to_pieces(&planted, SECTOR, 1);
            Compared::new(&planted, &found).is_found(&format!("{name} {what}"));
        }
    }
}

/// Goal: if spares end each track, only the sectors that hold data count, and the capacity is
/// right.
#[test]
fn spares_of_a_track_are_no_sectors_of_it() {
    for name in NAMES {
        let (mut planted, _) = disk(name);
        let zones = zones_of(&mut planted);
        zones.sparing = Sparing::Track;
        zones.zone.iter_mut().for_each(|zone| zone.spares = 3);
        let sectors: Vec<_> = zones.zone.iter().map(|zone| zone.sectors_per_track - 3).collect();
        let found = taken_to_pieces(&filled(planted), SECTOR, 1);
        let map = found.zones.expect("zones");
        assert_eq!(map.zone.iter().map(|zone| zone.sectors_per_track).collect::<Vec<_>>(), sectors);
    }
}

/// Goal: if head switches and seeks have equal skews, tracks count as cylinders. That is wrong if a
/// seek to the next cylinder is faster than a head switch, and the held-out reads show it.
#[test]
fn surfaces_that_skews_do_not_show_are_not_invented() {
    let (mut planted, _) = disk("seagate-36es2");
    for zone in &mut zones_of(&mut planted).zone {
        zone.cylinder_skew_ppm = zone.track_skew_ppm;
    }
    let found = taken_to_pieces(&planted, SECTOR, 1);
    assert!(matches!(doubt(&found), Some(Doubt::HeldOut(_))), "{:?}", doubt(&found));
    assert_eq!(mechanics(&found, planted.queue.clone()), None);
}

/// Goal: if spares end each cylinder, its last track is shorter than the others. Zones and seeks
/// are still found, and the disk that is made from the results behaves like the measured one.
#[test]
fn spares_of_a_cylinder_are_passed_over() {
    for name in ["seagate-36es2", "ibm-40k1044", "fujitsu-max3036rc"] {
        let (mut planted, depth) = disk(name);
        let zones = zones_of(&mut planted);
        zones.sparing = Sparing::Cylinder;
        zones.zone.iter_mut().for_each(|zone| zone.spares = 5);
        let planted = filled(planted);
        let found = taken_to_pieces(&planted, SECTOR, 1);
        Compared::new(&planted, &found).is_found(name);
        let again = mechanics(&found, planted.queue.clone()).expect("all was seen");
        behaves_alike(name, &planted, &again, depth);
    }
}

/// Goal: if a disk keeps the sectors that pass before the requested one, it answers backward reads
/// from memory. Its rotation is then not found, and the message mentions memory as a possible
/// reason.
#[test]
fn a_disk_that_reads_on_arrival_is_not_understood_and_that_is_said() {
    let (mut planted, _) = disk("seagate-36es2");
    planted.cache.as_mut().expect("memory").reads_on_arrival = true;
    let mut drive = MechanicalDrive::new(&planted, 1, 1).expect("a disk");
    let mut subject = SimulatedSubject::new(&mut drive);
    let none = geometry(&mut subject, planted.sectors, SECTOR, 1).expect_err("it is hidden");
    assert!(matches!(none, NoRotation::Fast { .. }), "{none:?}");
    assert!(none.to_string().contains("or memory answers"), "{none}");
}

/// Goal: on a target that ends anywhere within a disk, even near its beginning, the measurement may
/// fail, but does not panic.
#[test]
fn small_targets_do_no_harm() {
    let (planted, _) = disk("seagate-36es2");
    for sectors in (6..26).map(|power| (1_u64 << power) + 37 * power) {
        for block in [SECTOR, Bytes::from_kib(4)] {
            let mut drive = MechanicalDrive::new(&planted, 1, 1).expect("a disk");
            let mut subject = SimulatedSubject::new(&mut drive);
            if let Ok(found) = geometry(&mut subject, sectors, block, 1) {
                let fitted = mechanics(&found, planted.queue.clone());
                assert!(fitted.is_none_or(|disk| disk.sectors <= sectors), "{sectors}");
            }
        }
    }
}
