// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Layouts by zones: small disks computed by hand, and every sector of random ones.

use proptest::prelude::*;
use tidegate_drive::mechanical::{Angle, Layout, Position};
use tidegate_model::Lba;
use tidegate_model::mechanics::{Sparing, TrackOrder, Zone, Zones};

use crate::layout_support::{check_all, held, plain, zone, zoned};

fn at(cylinder: u32, head: u32, sector: u32) -> Position {
    Position { cylinder, head, sector }
}

/// Returns the positions of all sectors of a disk with two heads and tracks of four sectors.
fn places(zones: &Zones) -> Vec<Position> {
    let mut mechanics = zoned(2, 8, 1, zones);
    mechanics.sectors = held(&mechanics);
    let layout = Layout::new(&mechanics).unwrap();
    (0..layout.sectors()).map(|sector| layout.position(Lba::new(sector))).collect()
}

#[test]
fn slip_moves_the_rest_of_the_zone_up() {
    let zones = plain(vec![Zone { slips: vec![2], ..zone(0, 0, 4) }]);
    let places = places(&zones);
    assert_eq!(places[1..4], [at(0, 0, 1), at(0, 0, 3), at(0, 1, 0)]);
    assert_eq!(places.len(), 7);
}

#[test]
fn slip_moves_up_into_the_spares_of_its_track_only() {
    let zone = Zone { spares: 1, slips: vec![1], ..zone(0, 0, 4) };
    let zones = Zones { sparing: Sparing::Track, ..plain(vec![zone]) };
    let places = places(&zones);
    assert_eq!(places[..4], [at(0, 0, 0), at(0, 0, 2), at(0, 0, 3), at(0, 1, 0)]);
    assert_eq!(places.len(), 6);
}

/// DiskSim continues at the start of the next cylinder here, where another sector already is.
#[test]
fn slip_moves_up_into_the_spares_of_its_cylinder_only() {
    let zone = Zone { spares: 1, slips: vec![0], ..zone(0, 1, 4) };
    let zones = Zones { sparing: Sparing::Cylinder, ..plain(vec![zone]) };
    let places = places(&zones);
    assert_eq!(places[0], at(0, 0, 1));
    assert_eq!(places[6..8], [at(0, 1, 3), at(1, 0, 0)]);
    assert_eq!(places.len(), 14);
}

#[test]
fn slip_leaves_spares_alone_where_they_are_kept() {
    let zone = Zone { spares: 1, slips: vec![0], ..zone(0, 1, 4) };
    let zones = Zones { sparing: Sparing::Cylinder, slips_keep_spares: true, ..plain(vec![zone]) };
    let places = places(&zones);
    assert_eq!(places[5..7], [at(0, 1, 2), at(1, 0, 0)]);
    assert_eq!(places.len(), 13);
}

#[test]
fn spares_in_front_are_used_up_from_behind() {
    let zone = Zone { spares: 2, slips: vec![3], ..zone(0, 0, 4) };
    let zones = Zones { sparing: Sparing::CylinderFront, ..plain(vec![zone]) };
    assert_eq!(places(&zones)[..3], [at(0, 0, 1), at(0, 0, 2), at(0, 1, 0)]);
}

#[test]
fn last_range_has_no_spares_if_it_is_shorter() {
    let zone = Zone { spares: 3, ..zone(0, 2, 4) };
    let zones = Zones { sparing: Sparing::Range, range_cylinders: Some(2), ..plain(vec![zone]) };
    let places = places(&zones);
    assert_eq!(places[12..14], [at(1, 1, 0), at(2, 0, 0)]);
    assert_eq!(places.len(), 13 + 8);
}

#[test]
fn last_range_may_hold_more_than_the_others() {
    let zone = Zone { spares: 10, ..zone(0, 4, 4) };
    let zones = Zones { sparing: Sparing::Range, range_cylinders: Some(3), ..plain(vec![zone]) };
    let places = places(&zones);
    assert_eq!(places[13..15], [at(1, 1, 1), at(3, 0, 0)]);
    assert_eq!(places[14 + 15], at(4, 1, 3));
    assert_eq!(places.len(), 14 + 16);
}

#[test]
fn slips_and_spares_by_track_are_whole_tracks() {
    let zone = Zone { spares: 1, slips: vec![1], ..zone(0, 1, 4) };
    let zones = Zones { sparing: Sparing::ZoneTracks, ..plain(vec![zone]) };
    let places = places(&zones);
    assert_eq!(places[3..5], [at(0, 0, 3), at(1, 0, 0)]);
    assert_eq!(places.len(), 12);
}

/// A model may have more slips than spares: the zone then holds what is left.
#[test]
fn more_slips_than_spares_shorten_the_zone() {
    let zone = Zone { spares: 1, slips: vec![0, 1, 2], ..zone(0, 0, 4) };
    let zones = Zones { sparing: Sparing::Zone, ..plain(vec![zone]) };
    assert_eq!(places(&zones).len(), 5);
}

#[test]
fn skipped_sectors_are_in_front_of_the_zone() {
    let second = Zone { skipped_sectors: 5, ..zone(3, 3, 4) };
    let places = places(&plain(vec![zone(0, 0, 4), second]));
    assert_eq!(places[7..9], [at(0, 1, 3), at(3, 1, 1)]);
    assert_eq!(places.len(), 8 + 3);
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

/// 3 sectors of track skew and 5 of cylinder skew, an offset of 1, tracks of 16 sectors.
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

const ORDERS: [TrackOrder; 4] = [
    TrackOrder::Cylinder,
    TrackOrder::CylinderSerpentine,
    TrackOrder::CylinderSerpentineParity,
    TrackOrder::SurfaceSerpentine,
];

const SPARINGS: [Sparing; 7] = [
    Sparing::None,
    Sparing::Track,
    Sparing::Cylinder,
    Sparing::CylinderFront,
    Sparing::Range,
    Sparing::Zone,
    Sparing::ZoneTracks,
];

prop_compose! {
    /// A zone whose slips and defects can lie anywhere.
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

    /// Method: refused layouts are ignored here, provided a good part is accepted.
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
