// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Compares the measured figures of every built-in disk with the planted ones.

use std::sync::atomic::{AtomicBool, Ordering};

use tidegate_model::mechanics::{Mechanics, Seek, TrackOrder};

use super::late::Late;
use super::planted::Compared;
use super::*;
use crate::geometry::NotSeen;

/// Checks every figure with a promised error, and also the tracks, for which nothing is promised.
#[test]
fn every_built_in_disk_is_what_was_planted() {
    for (name, mut planted, _) in disks() {
        let found = taken_to_pieces(&planted, SECTOR, 1);
        Compared::new(&planted, &found).is_found(name);
        let tracks = found.zones.as_ref().and_then(|map| map.tracks.clone()).expect("tracks");
        let zones = zones_of(&mut planted).clone();
        let skews = (zones.zone[0].track_skew_ppm, zones.zone[0].cylinder_skew_ppm);
        assert_eq!((tracks.track_skew_ppm, tracks.cylinder_skew_ppm), skews, "{name}");
        assert_eq!(tracks.surfaces, planted.surfaces, "{name}");
        assert_eq!(tracks.range_cylinders, zones.range_cylinders, "{name}");
        let is_by_surface = zones.order == TrackOrder::SurfaceSerpentine;
        assert_eq!(tracks.order == TrackOrder::SurfaceSerpentine, is_by_surface, "{name}");
        let seek = found.seek.as_ref().expect("seeks");
        assert_eq!(seek.zero_latency, Some(planted.zero_latency), "{name}");
        let switch = seek.head_switch_ns.expect("a head switch");
        assert!(switch.abs_diff(planted.head_switch_ns) < planted.head_switch_ns / 50, "{name}");
        assert!(seek.left_out.is_empty(), "{name}: {:?}", seek.left_out);
    }
}

/// Whether a layout is serpentine matters only if a head switch takes longer than a short seek.
/// Then it is detected.
#[test]
fn the_way_that_cylinders_go_is_seen_where_it_matters() {
    for (name, mut planted, _) in disks() {
        let order = zones_of(&mut planted).order;
        let Seek::Points(points) = &planted.seek else { panic!("built-in disks have points") };
        let seen = taken_to_pieces(&planted, SECTOR, 2).seek.expect("seeks").is_serpentine;
        let matters =
            order != TrackOrder::SurfaceSerpentine && points[0].1 < planted.head_switch_ns;
        assert_eq!(seen.is_some(), matters, "{name}");
        assert!(seen.is_none_or(|seen| seen == (order == TrackOrder::CylinderSerpentine)));
    }
}

/// Goal: rotation and zones are found even if the host is late by tens of microseconds, and by
/// milliseconds for one read in fifty. The host's lateness is then contained in the overhead.
#[test]
fn a_late_host_finds_rotation_and_zones() {
    for (name, planted, _) in disks() {
        let compared = Compared::new(&planted, &taken_to_pieces_late(&planted, 3));
        let is_excused =
            |fault: &&String| fault.starts_with("overhead") || fault.starts_with("seek");
        let faults = compared.faults();
        let faults: Vec<_> = faults.iter().filter(|fault| !is_excused(fault)).collect();
        assert!(faults.is_empty(), "{name}: {faults:?}");
        let (planted, found) = compared.least;
        assert!((planted..planted + 60_000.0).contains(&found), "{name}: {compared:?}");
    }
}

/// Goal: every figure keeps its promised error although the spindle drifts by up to 20 parts per
/// million, sometimes ahead and sometimes behind.
#[test]
fn a_spindle_that_drifts_is_followed() {
    for name in ["ibm-40k1044", "seagate-36es2", "nearline-7200"] {
        let (planted, _) = disk(name);
        let mut drive = MechanicalDrive::new(&planted, 1, 1).expect("a disk");
        let mut subject = Late::drifting(SimulatedSubject::new(&mut drive));
        let found = geometry(&mut subject, planted.sectors, SECTOR, 1).expect("it turns");
        Compared::new(&planted, &found).is_found(name);
    }
}

/// Goal: blocks of 4 KiB still show zones to within 1 % of capacity and of density, on a disk whose
/// tracks are not a multiple of 4 KiB.
#[test]
fn blocks_of_4_kib_find_rotation_and_zones() {
    for name in ["seagate-36es2", "nearline-7200"] {
        let (planted, _) = disk(name);
        let found = taken_to_pieces(&planted, Bytes::from_kib(4), 1);
        let compared = Compared::new(&planted, &found);
        assert!(compared.rotation.abs() < 1e-3, "{name}: {compared:?}");
        assert!(compared.boundary < 0.01, "{name}: {compared:?}");
        assert!(compared.sectors_per_track < 0.015, "{name}: {compared:?}");
    }
}

/// Canaries: the results are compared with disks that are slightly different. Each difference must
/// be caught by the check that is meant for it.
#[test]
fn a_disk_that_is_a_little_different_is_caught() {
    let (planted, _) = disk("seagate-36es2");
    let found = taken_to_pieces(&planted, SECTOR, 1);
    let caught = |change: fn(&mut Mechanics)| {
        let mut other = planted.clone();
        change(&mut other);
        let faults = Compared::new(&other, &found).faults();
        let names = faults.iter().filter_map(|fault| fault.split(':').next());
        names.map(str::to_owned).collect::<Vec<_>>()
    };
    assert!(caught(|_| ()).is_empty());
    assert_eq!(caught(|disk| disk.rpm = 7_210), ["rotation"]);
    assert_eq!(caught(|disk| disk.overhead.read_miss_after_read_ns += 40_000), ["overhead"]);
    let slower = caught(|disk| {
        let Seek::Points(points) = &mut disk.seek else { return };
        for (_, ns) in points {
            *ns += *ns / 25;
        }
    });
    assert_eq!(slower, ["seek"]);
    let moved = caught(|disk| {
        let zones = &mut zones_of(disk).zone;
        zones[4].cylinder_last -= 500;
        zones[5].cylinder_first -= 500;
        disk.sectors -= 500 * 4 * 26;
    });
    assert_eq!(moved, ["boundary"]);
    let denser = caught(|disk| zones_of(disk).zone[3].sectors_per_track += 1);
    assert_eq!(denser, ["sectors per track"]);
}

#[test]
fn what_was_found_is_written_down_and_read_again() {
    let (planted, _) = disk("fujitsu-max3036rc");
    let found = taken_to_pieces(&planted, SECTOR, 1);
    let text = toml::to_string(&found).expect("text");
    assert_eq!(toml::from_str::<Geometry>(&text).expect("a geometry"), found);
}

/// Goal: a stop at any time gives no result rather than an incomplete one. Method: stops each
/// experiment after increasing numbers of requests.
#[test]
fn a_stop_gives_nothing() {
    let (planted, _) = disk("ibm-36z15");
    let whole = taken_to_pieces(&planted, SECTOR, 1);
    let (turn, map) = (whole.rotation.expect("a turn"), whole.zones.expect("zones"));
    for after in [0, 1, 40, 300, 700, 2_000, 4_000] {
        for experiment in 0..4 {
            let stop = AtomicBool::new(after == 0);
            let mut drive = MechanicalDrive::new(&planted, 1, 1).expect("a disk");
            let mut subject = SimulatedSubject::new(&mut drive);
            let sizes = (planted.sectors, SECTOR);
            let after_each = |done| stop.store(done >= after, Ordering::Relaxed);
            probed(&mut subject, sizes, 1, &stop, after_each, |probing| {
                let is_stopped = match experiment {
                    0 => rotation(probing)? == Err(NoRotation::Cancelled),
                    1 => overhead(probing, &turn)? == Err(NotSeen::Cancelled),
                    2 => zones(probing, &turn)? == Err(NotSeen::Cancelled),
                    _ => seek_curve(probing, &turn, &map, None)? == Err(NotSeen::Cancelled),
                };
                // The shorter experiments end before the later stops.
                let is_done = probing.spent() < after;
                assert!(is_stopped || is_done, "experiment {experiment}, stopped after {after}");
                Ok(())
            });
        }
    }
}

// Every experiment has a limit on its requests.
const _: () = assert!(crate::geometry::rotation::REQUESTS.most < 2_000);
const _: () = assert!(crate::geometry::REQUESTS_MAX < 75_000);

/// Goal: an experiment that finds nothing stops at its limit. Method: a host that is so late that
/// hardly any angle is right.
#[test]
fn requests_are_bounded() {
    let (planted, _) = disk("seagate-36es2");
    let turn = taken_to_pieces(&planted, SECTOR, 1).rotation.expect("a turn");
    let (stop, mut most) = (AtomicBool::new(false), 0);
    let mut drive = MechanicalDrive::new(&planted, 1, 1).expect("a disk");
    let mut subject = Late::new(SimulatedSubject::new(&mut drive), 1).worse();
    let (sizes, after_each) = ((planted.sectors, SECTOR), |done: u64| most = most.max(done));
    probed(&mut subject, sizes, 1, &stop, after_each, |probing| {
        for none in [zones(probing, &turn)?.err(), overhead(probing, &turn)?.err()] {
            let is_bounded = matches!(none, Some(NotSeen::NoTrack { .. } | NotSeen::Spent { .. }));
            assert!(is_bounded, "{none:?}");
        }
        Ok(())
    });
    assert!(most <= crate::geometry::zones::REQUESTS.most);
}
