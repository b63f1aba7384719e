// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Invalid disks and zones, with their error messages.

use tidegate_model::mechanics::{Sparing, TrackOrder, Zone, Zones};

use crate::layout_support::{plain, refusal, zone, zoned};

/// Checks the error of a disk with two heads, ten cylinders and these zones.
fn refused(zones: &Zones, expected: &str) {
    assert_eq!(refusal(&zoned(2, 10, 8, zones)), expected);
}

/// Checks the error of spares in a zone of two cylinders with tracks of four sectors.
fn refused_spares(sparing: Sparing, zone: Zone, expected: &str) {
    refused(&Zones { sparing, ..plain(vec![zone]) }, expected);
}

#[test]
fn disk_of_no_surfaces_or_too_many() {
    let zones = plain(vec![zone(0, 0, 4)]);
    assert_eq!(
        refusal(&zoned(0, 10, 8, &zones)),
        "surfaces: 0 is not possible for a disk; write a number from 1 to 1024"
    );
    assert_eq!(
        refusal(&zoned(2, u32::MAX, 8, &zones)),
        "cylinders: 4294967295 is not possible for a disk; write a number from 1 to 16777216"
    );
}

#[test]
fn more_sectors_than_the_layout_holds_or_none() {
    let zones = plain(vec![zone(0, 0, 4)]);
    let held = "but the layout holds 8; write a number from 1 to 8";
    assert_eq!(
        refusal(&zoned(2, 10, 9, &zones)),
        format!("sectors: the disk has 9 sectors, {held}")
    );
    assert_eq!(
        refusal(&zoned(2, 10, 0, &zones)),
        format!("sectors: the disk has 0 sectors, {held}")
    );
}

#[test]
fn layout_that_holds_nothing() {
    refused(
        &plain(Vec::new()),
        "sectors: the disk has 8 sectors, but the layout holds 0; check zones, spares and slips: \
         they leave no sectors",
    );
}

#[test]
fn zones_that_overlap_or_are_out_of_order() {
    refused(
        &plain(vec![zone(0, 4, 4), zone(4, 6, 4)]),
        "zone 1: cylinder_first: cylinder 4 belongs to the previous zone; write zones in order of \
         their cylinders, this one from 5 on",
    );
}

#[test]
fn zone_that_ends_before_it_begins_or_beyond_the_disk() {
    let help = "write the last cylinder of the zone, counted from 0, or correct `cylinders`";
    for (first, last) in [(3, 2), (8, 10), (0, u32::MAX)] {
        let expected = format!(
            "zone 0: cylinder_last: cylinders {first} to {last}, but the disk has 10 cylinders; {help}"
        );
        refused(&plain(vec![zone(first, last, 4)]), &expected);
    }
}

#[test]
fn track_of_no_sectors_or_too_many() {
    for sectors in [0, 131_073, u32::MAX] {
        let expected = format!(
            "zone 0: sectors_per_track: a track cannot have {sectors} sectors; write a number \
             from 1 to 131072"
        );
        refused(&plain(vec![zone(0, 0, sectors)]), &expected);
    }
}

#[test]
fn range_of_no_cylinders() {
    refused(
        &Zones { range_cylinders: Some(0), ..plain(vec![zone(0, 0, 4)]) },
        "range_cylinders: a range cannot have 0 cylinders; write 1 or more, or omit it: a range is \
         then the whole zone",
    );
}

#[test]
fn spares_by_cylinder_where_tracks_go_by_surface() {
    for sparing in [Sparing::Cylinder, Sparing::CylinderFront] {
        let zones = plain(vec![zone(0, 0, 4)]);
        refused(
            &Zones { sparing, order: TrackOrder::SurfaceSerpentine, ..zones },
            "sparing: spares in each cylinder need an order in which a cylinder's tracks are consecutive; choose `track`, `range` or `zone`, or another `order`",
        );
    }
}

#[test]
fn spares_that_leave_nothing() {
    refused_spares(
        Sparing::Track,
        Zone { spares: 4, ..zone(0, 1, 4) },
        "zone 0: spares: 4 of every 4 sectors are spares: no sectors are left; write fewer spares",
    );
    refused_spares(
        Sparing::ZoneTracks,
        Zone { spares: u32::MAX, ..zone(0, 1, 4) },
        "zone 0: spares: 17179869180 of every 16 sectors are spares: no sectors are left; write \
         fewer spares",
    );
}

#[test]
fn slip_beyond_the_zone() {
    refused_spares(
        Sparing::Zone,
        Zone { slips: vec![16], ..zone(0, 1, 4) },
        "zone 0: slips: 16 is beyond the end of the zone, which has 16; count from the first \
         sector (with `zone-tracks`, track) of the zone, from 0",
    );
    refused_spares(
        Sparing::ZoneTracks,
        Zone { slips: vec![4], ..zone(0, 1, 4) },
        "zone 0: slips: 4 is beyond the end of the zone, which has 4; count from the first \
         sector (with `zone-tracks`, track) of the zone, from 0",
    );
}

#[test]
fn slip_named_twice() {
    for sparing in [Sparing::None, Sparing::ZoneTracks] {
        refused_spares(
            sparing,
            Zone { slips: vec![3, 1, 3], ..zone(0, 1, 4) },
            "zone 0: slips: 3 is listed twice; list each slip once",
        );
    }
}

#[test]
fn more_slips_in_a_region_than_spares() {
    refused_spares(
        Sparing::Cylinder,
        Zone { spares: 1, slips: vec![2, 9, 12], ..zone(0, 1, 4) },
        "zone 0: slips: 2 slips around 9, but only 1 spares for them; write more spares, or set `slips_keep_spares = true` to move the whole zone up",
    );
}

#[test]
fn zone_that_is_slipped_altogether() {
    refused_spares(
        Sparing::Zone,
        Zone { slips: (0..16).collect(), ..zone(0, 1, 4) },
        "zone 0: slips: slips skip all sectors of the zone; list fewer slips",
    );
}

#[test]
fn more_skipped_than_the_zone_holds() {
    refused_spares(
        Sparing::Zone,
        Zone { spares: 3, skipped_sectors: 14, ..zone(0, 1, 4) },
        "zone 0: skipped_sectors: 14 sectors skipped, but the zone holds 13; write at most 13",
    );
}

#[test]
fn defects_that_cannot_be() {
    let defects = |defects: &[(u64, u64)], expected: &str| {
        let zone = Zone { spares: 3, defects: defects.to_vec(), ..zone(0, 1, 4) };
        refused_spares(Sparing::Zone, zone, &format!("zone 0: defects: {expected}"));
    };
    let beyond = "beyond the end of the zone, which has 16; count from the first sector (with \
                  `zone-tracks`, track) of the zone, from 0";
    defects(&[(1, 16)], &format!("16 is {beyond}"));
    defects(&[(u64::MAX, 1)], &format!("18446744073709551615 is {beyond}"));
    defects(&[(1, 13), (1, 14)], "1 is listed twice; list each sector once");
    defects(&[(1, 12)], "12 replaces another, but holds data itself; name a spare");
}

#[test]
fn two_defects_at_one_place() {
    refused_spares(
        Sparing::Zone,
        Zone { spares: 3, defects: vec![(1, 14), (2, 14)], ..zone(0, 1, 4) },
        "defects: two sectors are stored at cylinder 1, head 1, sector 2; give each defect a \
         spare sector of its own",
    );
}
