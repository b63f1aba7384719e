// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Properties of every layout: a sector is where it is found, and zones cover the disk.
//!
//! The tests of imported layouts use this file too.

use tidegate_drive::mechanical::{Angle, Extent, Layout};
use tidegate_model::Lba;

/// Checks a sector and its track.
pub(crate) fn check_sector(layout: &Layout, sector: u64) {
    let start = Lba::new(sector);
    let position = layout.position(start);
    assert_eq!(layout.sector_at(position), Some(start), "{position:?}");

    let extent = layout.extent(start, u64::MAX);
    check_extent(&extent);
    assert_eq!(extent.start, start);
    assert_eq!((extent.cylinder, extent.head), (position.cylinder, position.head));
    assert_eq!(extent.start.get() + u64::from(extent.sectors), extent.track_end.get());

    let one = layout.extent(start, 1);
    assert_eq!((one.begin, one.sectors), (extent.begin, 1));
    assert_eq!((one.track_begin, one.track_end), (extent.track_begin, extent.track_end));
    let per_track = u64::from(extent.sectors_per_track);
    let least = Angle::of_turn(1, per_track).units();
    assert!((least..=least + 1).contains(&one.span.units()), "one sector: {one:?}");
    if extent.sectors > 1 {
        check_next(layout, &extent, &one);
    }
}

/// Checks that the next sector of the track begins where this one ends, or after slips.
fn check_next(layout: &Layout, extent: &Extent, one: &Extent) {
    let next = Lba::new(extent.start.get() + 1);
    let gap = layout.position(next).sector - layout.position(extent.start).sector;
    let rest = layout.extent(next, u64::MAX);
    if gap == 1 {
        assert_eq!(one.begin.plus(one.span), rest.begin);
        assert_eq!(one.span.units() + rest.span.units(), extent.span.units());
    }
    let behind = rest.begin.after(one.begin).units() + rest.span.units();
    assert_eq!(behind, extent.span.units(), "{extent:?} then {rest:?}");
    assert_eq!((rest.track_begin, rest.track_end), (extent.track_begin, extent.track_end));
}

fn check_extent(extent: &Extent) {
    assert!(extent.sectors >= 1 && extent.track_begin <= extent.start);
    assert!(extent.begin < Angle::TURN && extent.span <= Angle::TURN, "{extent:?}");
    let sectors = u64::from(extent.sectors);
    assert!(extent.start.get() + sectors <= extent.track_end.get());
    assert!(extent.span >= Angle::of_turn(sectors, extent.sectors_per_track.into()));
}

/// Checks that zones cover the disk in order, and that their sectors are on their cylinders.
pub(crate) fn check_zones(layout: &Layout) {
    let mut next = 0;
    for zone in layout.zones() {
        assert_eq!(zone.start.get(), next);
        next += zone.sectors;
        for sector in [zone.start.get(), next - 1] {
            let extent = layout.extent(Lba::new(sector), 1);
            assert!((zone.cylinder_first..=zone.cylinder_last).contains(&extent.cylinder));
            assert!(extent.sectors_per_track <= zone.sectors_per_track);
        }
    }
    assert_eq!(next, layout.sectors());
}
