// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Layouts by zones: small disks computed by hand, and every sector of random ones.

use proptest::prelude::*;
use tidegate_drive::mechanical::{Angle, Layout, Position};
use tidegate_model::Lba;
use tidegate_model::mechanics::{Sparing, Zone, Zones};

use super::layout_support::{
    ORDERS, SPARINGS, cases, check_all, disk_with_zones, held, map, plain, zone, zoned,
};

fn at(cylinder: u32, head: u32, sector: u32) -> Position {
    Position { cylinder, head, sector }
}

#[test]
fn slips_spares_and_skipped_sectors_leave_their_slots_empty() {
    let table = r#"
        // A slip moves the rest of the zone up.
        | cylinder_last = 0; slips = [2]
          0-1 . 2 | 3-6
        // It moves up into the spares of its track only.
        sparing = "track" | cylinder_last = 0; spares = 1; slips = [1]
          0 . 1-2 | 3-5 .
        // Or of its cylinder. DiskSim continues at the start of the next cylinder here, where another
        // sector already is.
        sparing = "cylinder" | spares = 1; slips = [0]
          . 0-2 | 3-6 || 7-10 | 11-13 .
        // It leaves spares alone where they are kept.
        sparing = "cylinder"; slips_keep_spares = true | spares = 1; slips = [0]
          . 0-2 | 3-5 . || 6-9 | 10-12 .
        // Spares in front are used up from behind.
        sparing = "cylinder-front" | cylinder_last = 0; spares = 2; slips = [3]
          . 0-1 . | 2-5
        // The last range has no spares if it is shorter.
        sparing = "range"; range_cylinders = 2 | cylinder_last = 2; spares = 3
          0-3 | 4-7 || 8-11 | 12 ... || 13-16 | 17-20
        // It may hold more than the others.
        sparing = "range"; range_cylinders = 3 | cylinder_last = 4; spares = 10
          0-3 | 4-7 || 8-11 | 12-13 .. || .... | .... || 14-17 | 18-21 || 22-25 | 26-29
        // Slips and spares by track are whole tracks.
        sparing = "zone-tracks" | spares = 1; slips = [1]
          0-3 | .... || 4-7 | 8-11
        // A model may have more slips than spares: the zone then holds what is left.
        sparing = "zone" | cylinder_last = 0; spares = 1; slips = [0, 1, 2]
          ... 0 | 1-4
        // Skipped sectors are in front of the zone.
        | cylinder_last = 0 | cylinder_first = 3; cylinder_last = 3; skipped_sectors = 5
          0-3 | 4-7 || .... | .... || .... | .... || .... | . 8-10
        "#;
    for [figures, expected] in cases(table) {
        let mut disk = disk_with_zones(figures);
        disk.sectors = held(&disk);
        let layout = Layout::new(&disk).unwrap();
        assert_eq!(map(&layout), expected, "{figures}");
    }
}

#[test]
fn defect_is_an_extent_of_its_own() {
    let zone = Zone { spares: 1, defects: vec![(2, 7), (4, 4)], ..zone(0, 0, 4) };
    let zones = Zones { sparing: Sparing::Zone, ..plain(vec![zone]) };
    let layout = Layout::new(&zoned(2, 8, 7, &zones)).unwrap();
    let extents: Vec<_> = [0, 2, 3].map(|start| layout.extent(Lba::new(start), 100)).into();
    assert_eq!(extents.iter().map(|extent| extent.sectors).collect::<Vec<_>>(), [2, 1, 1]);
    assert_eq!(layout.position(Lba::new(2)), at(0, 1, 3));
    assert_eq!(layout.sector_at(at(0, 0, 2)), None);
    assert_eq!(layout.sector_at(at(0, 1, 3)), Some(Lba::new(2)));
    check_all(&layout);
}

/// Tests 3 sectors of track skew and 5 of cylinder skew, with an offset of 1 and tracks of 16
/// sectors.
#[test]
fn skews_add_up_over_heads_and_cylinders() {
    let zone = Zone {
        offset_millisectors: 1_000,
        track_skew_millisectors: 3_000,
        cylinder_skew_millisectors: 5_000,
        ..zone(2, 4, 16)
    };
    let layout = Layout::new(&zoned(2, 5, 96, &plain(vec![zone]))).unwrap();
    let begins = [0, 16, 32, 48, 64].map(|start| layout.extent(Lba::new(start), 1).begin);
    // Head switches: 0, 1, 1, 2, 2; cylinder switches: 0, 0, 1, 1, 2.
    assert_eq!(begins, [1, 4, 9, 12, 17 - 16].map(|sectors| Angle::of_turn(sectors, 16)));
}

#[test]
fn skews_in_turns_and_parts_of_sectors_are_exact() {
    let zone = Zone {
        offset_ppm: 250_000,
        offset_millisectors: 500,
        track_skew_ppm: 900_000,
        ..zone(0, 0, 7)
    };
    let layout = Layout::new(&zoned(2, 1, 14, &plain(vec![zone]))).unwrap();
    let half_sector = Angle::of_turn(1, 14);
    let begins = [0, 7].map(|start| layout.extent(Lba::new(start), 1).begin);
    assert_eq!(begins, [25, 15].map(|percent| Angle::of_turn(percent, 100).plus(half_sector)));
}

/// With spares by cylinder, the slips of one cylinder rotate the following ones.
#[test]
fn slips_turn_later_cylinders_on() {
    let zone = Zone { spares: 2, slips: vec![1, 2, 9], ..zone(0, 2, 4) };
    let zones = Zones { sparing: Sparing::Cylinder, ..plain(vec![zone]) };
    let layout = Layout::new(&zoned(2, 3, 18, &zones)).unwrap();
    let begins = [0, 6, 12].map(|start| layout.extent(Lba::new(start), 1).begin);
    assert_eq!(begins, [0, 2, 3].map(|sectors| Angle::of_turn(sectors, 4)));
}

#[test]
fn disk_may_address_less_than_the_layout_holds() {
    let zones = plain(vec![zone(0, 0, 4), zone(1, 1, 4)]);
    let layout = Layout::new(&zoned(1, 2, 6, &zones)).unwrap();
    assert_eq!(layout.sectors(), 6);
    assert_eq!(layout.extent(Lba::new(4), 100).track_end, Lba::new(6));
    assert_eq!(layout.sector_at(at(1, 0, 2)), None);
    check_all(&layout);
}

#[test]
#[should_panic(expected = "sector 6 of a disk of 6 sectors")]
fn sector_beyond_the_end_is_a_broken_contract() {
    let zones = plain(vec![zone(0, 0, 4), zone(1, 1, 4)]);
    Layout::new(&zoned(1, 2, 6, &zones)).unwrap().position(Lba::new(6));
}

#[test]
#[should_panic(expected = "an extent needs at least one sector")]
fn extent_of_no_sectors_is_a_broken_contract() {
    Layout::new(&zoned(1, 1, 4, &plain(vec![zone(0, 0, 4)]))).unwrap().extent(Lba::new(0), 0);
}

prop_compose! {
    /// Generates a zone whose slips and defects can lie anywhere.
    fn random_zone()(
        gap in 0_u32..2,
        cylinders in 1_u32..6,
        sectors_per_track in 2_u32..9,
        skipped_sectors in 0_u64..4,
        spares in 0_u32..3,
        mut slips in proptest::collection::vec(0_u64..60, 0..5),
        defects in proptest::collection::vec((0_u64..60, 0_u64..60), 0..3),
        skews in (0_u64..9_000, 0_u64..9_000, 0_u64..9_000),
        ppm in (0_u64..1_000_000, 0_u64..1_000_000, 0_u64..1_000_000),
    ) -> Zone {
        slips.sort_unstable();
        slips.dedup();
        Zone {
            skipped_sectors,
            spares,
            slips,
            defects,
            offset_millisectors: skews.0,
            track_skew_millisectors: skews.1,
            cylinder_skew_millisectors: skews.2,
            offset_ppm: ppm.0,
            track_skew_ppm: ppm.1,
            cylinder_skew_ppm: ppm.2,
            ..zone(gap, gap + cylinders - 1, sectors_per_track)
        }
    }
}

prop_compose! {
    fn random_zones()(
        order in prop::sample::select(&ORDERS),
        sparing in prop::sample::select(&SPARINGS),
        range_cylinders in prop::option::of(1_u32..4),
        slips_keep_spares in any::<bool>(),
        mut zone in proptest::collection::vec(random_zone(), 1..4),
    ) -> Zones {
        let mut next = 0;
        for zone in &mut zone {
            zone.cylinder_first += next;
            zone.cylinder_last += next;
            next = zone.cylinder_last + 1;
        }
        Zones { order, sparing, range_cylinders, slips_keep_spares, zone }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    /// Refused layouts are ignored, provided that enough layouts are accepted.
    #[test]
    fn every_sector_of_a_small_disk_is_where_it_is_found(
        zones in random_zones(), surfaces in 1_u32..4, cut in 0_u64..5,
    ) {
        let mut mechanics = zoned(surfaces, 30, 1, &zones);
        if let Ok(held) = Layout::held(&mechanics) {
            mechanics.sectors = held.sectors.saturating_sub(cut).max(1);
            Layout::new(&mechanics).iter().for_each(check_all);
        }
    }
}
