// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Goal: comparisons are correct. Method: pairs of files whose differences are known exactly.

use super::*;

fn pair(first: u64, second: u64) -> Pair {
    Pair { entry: 1, first, second, is_chance: false }
}

#[test]
fn change_is_relative_to_what_was() {
    assert_eq!(pair(200, 210).change_ppm(), 50_000);
    assert_eq!(pair(200, 100).change_ppm(), -500_000);
    assert_eq!(pair(0, u64::MAX).change_ppm(), i64::MAX);
}

fn file(ns_max: &str, ns_p50: &str) -> DriveFile {
    let text = format!(
        "name = \"t\"\nkind = \"recorded\"\ndepth = 4\n[[batch]]\nop = \"read\"\nsize = \"4KiB\"\nns_max = [{ns_max}]\nns_p50 = [{ns_p50}]\n"
    );
    DriveFile::parse(&text).unwrap()
}

#[test]
fn a_profile_is_like_itself() {
    let one = file("10, 20, 30", "5, 6, 7");
    let comparison = Comparison::of(&one, &one);
    assert!(!comparison.has_moved(0) && comparison.facts.is_empty());
    assert_eq!(comparison.rows[0].entries, 3);
}

#[test]
fn the_worst_entry_is_told_and_a_refuted_table() {
    let comparison = Comparison::of(&file("10, 20, 30", "5, 6, 7"), &file("9, 21, 39", "5, 9, 8"));
    let [row] = &comparison.rows[..] else { panic!("one table") };
    assert_eq!(row.median, Some(Pair { entry: 2, first: 6, second: 9, is_chance: false }));
    assert_eq!(row.exceeded, Some(Pair { entry: 3, first: 30, second: 39, is_chance: false }));
    assert!(row.has_moved(499_999) && !row.has_moved(500_000));
}

#[test]
fn a_dip_in_a_measured_table_is_not_exceeded_by_what_its_running_maximum_covers() {
    let comparison = Comparison::of(&file("10, 9, 30", "5, 5, 5"), &file("10, 10, 30", "5, 5, 5"));
    assert_eq!(comparison.rows[0].exceeded, None);
}

#[test]
fn longest_times_above_the_first_table_are_told_and_decide_nothing() {
    let comparison = Comparison::of(&file("10, 20, 30", "5, 6, 7"), &file("10, 20, 90", "5, 6, 7"));
    assert!(comparison.rows[0].exceeded.is_some() && !comparison.has_moved(0));
}

#[test]
fn a_limit_moves_both_ways() {
    let with = |ns: u64| DriveFile {
        starvation_max: Some(tidegate_model::Duration::from_ns(ns)),
        ..file("10", "5")
    };
    let moved = |a, b| Comparison::of(&with(a), &with(b)).has_moved(50_000);
    assert!(moved(100, 90) && moved(100, 110) && !moved(100, 104) && !moved(100, 96));
}

#[test]
fn costs_are_told_and_decide_nothing() {
    let with = |ns: u64| {
        let cost = tidegate_model::CostModel {
            positioning_max: tidegate_model::Duration::from_ns(ns),
            requests: Vec::new(),
            switch_max: None,
            fua_max: None,
            batch_max: None,
            how: None,
            samples: None,
        };
        DriveFile { cost: Some(cost), ..file("10", "5") }
    };
    let comparison = Comparison::of(&with(100), &with(120));
    let row = comparison.rows.iter().find(|row| row.name == "cost: positioning").unwrap();
    assert!(row.is_unsure(50_000) && !comparison.has_moved(50_000));
}

/// Returns a profile with one entry, the median `p50` and this number of samples. The median is
/// halfway between the 10 % and 90 % quantiles.
fn sampled(p50: u64, samples: u64) -> DriveFile {
    let lists = ["min", "p10", "p50", "p90", "p99", "p999", "max"];
    let steps = [0, 1000, 5000, 9000, 9900, 9990, 10_000];
    let lists =
        lists.iter().zip(steps).map(|(name, step)| format!("ns_{name} = [{}]\n", p50 + step));
    let text = format!(
        "name = \"t\"\nkind = \"recorded\"\ndepth = 4\n[[batch]]\nop = \"read\"\nsize = \"4KiB\"\nsamples = {samples}\n{}",
        lists.collect::<String>()
    );
    DriveFile::parse(&text).unwrap()
}

/// Goal: a change of 8 % or more counts as chance with ten samples, but not with a thousand.
#[test]
fn few_samples_leave_a_change_unsure() {
    let compared = |samples| Comparison::of(&sampled(5000, samples), &sampled(6000, samples));
    let (few, many) = (compared(10), compared(1000));
    assert!(few.rows[0].is_unsure(50_000) && !few.has_moved(50_000));
    assert!(many.has_moved(50_000) && !many.rows[0].is_unsure(50_000));
    assert!(!many.has_moved(500_000));
}

/// Returns a disk that is known only by measurements.
fn seen(rpm: u64, sectors_per_track: u32, seek_ns: u64) -> DriveFile {
    let turn_ps = 60_000_000_000_000 / rpm;
    let fit = format!(
        "block = 1\nrotation = {{ turn_ps = {turn_ps}, unsure_ppb = 0, noise_ns = 0, agreement_ppm = 0, anywhere_ppm = 0, requests = 1 }}\n\
         [zones]\nsectors = 1004000\nrequests = 1\nzone = [{{ start = 0, unsure = 0, sectors_per_track = 500 }}, {{ start = 1000000, unsure = 0, sectors_per_track = {sectors_per_track} }}]\n\
         [seek]\nleast_ns = 1\nrequests = 1\nhead_switch_ns = 1\npoints = [{{ cylinders = 1, share_ppm = 1, ns = 1000, unsure_ns = 0 }}, {{ cylinders = 101, share_ppm = 1, ns = {seek_ns}, unsure_ns = 0 }}]\n"
    );
    let geometry: toml::Table = fit.parse().unwrap();
    let fit = toml::Table::from_iter([("geometry".to_owned(), toml::Value::Table(geometry))]);
    DriveFile { fit: Some(fit), ..file("10", "5") }
}

#[test]
fn what_a_disk_is_made_of_is_compared() {
    let usual = seen(10_000, 400, 9000);
    let changes = |other: &DriveFile| {
        let rows = Comparison::of(&usual, other).rows;
        let moved = rows.into_iter().filter(|row| row.has_moved(50_000));
        moved.map(|row| row.name).collect::<Vec<_>>()
    };
    assert_eq!(changes(&usual), [""; 0]);
    assert_eq!(changes(&seen(11_000, 400, 9000)), ["rotation (one turn)"]);
    assert_eq!(changes(&seen(10_000, 300, 9000)), ["sectors per track"]);
    assert_eq!(changes(&seen(10_000, 400, 19_000)), ["seeks, by ppm of the disk"]);
}

/// Goal: two disks are equal if one has twice the cylinders and the same seek times over equal
/// shares of the disk. They differ if the seek times are equal over equal numbers of cylinders.
#[test]
fn seeks_are_compared_by_share_of_the_disk() {
    use tidegate_model::mechanics::{Mechanics, Seek};
    let disk = *tidegate_drive::builtin::load("ibm-36z15").unwrap().mechanics.unwrap();
    let of = |cylinders: u32, point: u32| {
        let seek = Seek::Points(vec![(1, 1_000_000), (point, 9_000_000)]);
        let disk = Mechanics { cylinders, seek, ..disk.clone() };
        let fitted = toml::Value::try_from(disk).unwrap();
        let fit = Some(toml::Table::from_iter([("mechanics".to_owned(), fitted)]));
        DriveFile { fit, ..file("10", "5") }
    };
    let usual = of(10_000, 9_999);
    for (other, has_moved) in [(of(20_000, 19_999), false), (of(20_000, 9_999), true)] {
        let rows = Comparison::of(&usual, &other).rows;
        let row = rows.iter().find(|row| row.name == "seeks, by ppm of the disk").unwrap();
        assert_eq!(row.has_moved(50_000), has_moved, "{row:?}");
    }
}

/// Goal: the measurements of a disk can be compared with the disk itself, by cylinders if these
/// were identified.
#[test]
fn what_was_seen_is_held_against_mechanics() {
    let mut disk = tidegate_drive::builtin::load("ibm-36z15").unwrap();
    let rows = Comparison::of(&seen(15_000, 400, 9000), &disk).rows;
    let of = |name: &str| rows.iter().find(|row| row.name == name).unwrap();
    assert!(!of("rotation (one turn)").has_moved(10_000));
    assert!(of("zones").has_moved(50_000) && of("seeks, by ppm of the disk").has_moved(50_000));
    let slower =
        tidegate_model::mechanics::Mechanics { rpm: 12_000, ..*disk.mechanics.clone().unwrap() };
    let fitted = toml::Value::try_from(slower).unwrap();
    disk.fit = Some(toml::Table::from_iter([("mechanics".to_owned(), fitted)]));
    let rows = Comparison::of(&seen(15_000, 400, 9000), &disk).rows;
    let of = |name: &str| rows.iter().find(|row| row.name == name).unwrap();
    assert!(of("rotation (one turn)").has_moved(50_000), "the fit takes precedence");
}
