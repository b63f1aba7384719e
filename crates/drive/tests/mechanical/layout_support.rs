// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Shared by the tests of layouts: sample disks, and properties of every layout.

use std::collections::HashSet;
use std::sync::LazyLock;

use tidegate_drive::mechanical::{Angle, Extent, Layout};
use tidegate_model::Lba;
use tidegate_model::mechanics::{self, Mechanics, TrackIndex, Zone, Zones};

static BASE: LazyLock<Mechanics> = LazyLock::new(|| {
    let text = "
        rpm = 6000
        surfaces = 1
        cylinders = 1
        sectors = 1
        head_switch_ns = 1_000_000
        seek.points = [[1, 1_000_000]]
        layout.zones.zone = []
    ";
    toml::from_str(text).expect("a disk of no zones")
});

/// Returns a disk with a layout and otherwise arbitrary figures.
pub(crate) fn disk(
    surfaces: u32,
    cylinders: u32,
    sectors: u64,
    layout: mechanics::Layout,
) -> Mechanics {
    Mechanics { surfaces, cylinders, sectors, layout, ..BASE.clone() }
}

/// Returns a disk of zones.
pub(crate) fn zoned(surfaces: u32, cylinders: u32, sectors: u64, zones: &Zones) -> Mechanics {
    disk(surfaces, cylinders, sectors, mechanics::Layout::Zones(zones.clone()))
}

/// Returns a disk with an index.
pub(crate) fn indexed(
    surfaces: u32,
    cylinders: u32,
    sectors: u64,
    index: &TrackIndex,
) -> Mechanics {
    disk(surfaces, cylinders, sectors, mechanics::Layout::Index(index.clone()))
}

/// Returns plain zones.
pub(crate) fn plain(zone: Vec<Zone>) -> Zones {
    Zones { zone, ..Zones::default() }
}

/// Returns a zone without skews, spares and slips.
pub(crate) fn zone(cylinder_first: u32, cylinder_last: u32, sectors_per_track: u32) -> Zone {
    Zone {
        cylinder_first,
        cylinder_last,
        sectors_per_track,
        offset_millisectors: 0,
        offset_ppm: 0,
        skipped_sectors: 0,
        track_skew_millisectors: 0,
        track_skew_ppm: 0,
        cylinder_skew_millisectors: 0,
        cylinder_skew_ppm: 0,
        spares: 0,
        slips: Vec::new(),
        defects: Vec::new(),
    }
}

/// Returns an index of rows.
pub(crate) fn index(tracks: &str, index: &str) -> TrackIndex {
    TrackIndex {
        tracks: tracks.to_owned(),
        index: index.to_owned(),
        slips: String::new(),
        remaps: String::new(),
    }
}

/// Returns the error of an invalid disk, with place and help.
pub(crate) fn refusal(mechanics: &Mechanics) -> String {
    let error = Layout::new(mechanics).expect_err("the disk is refused");
    format!("{error}; {}", error.help)
}

/// Returns as many sectors as the description holds.
pub(crate) fn held(mechanics: &Mechanics) -> u64 {
    Layout::held(mechanics).unwrap().sectors
}

/// Checks every sector of a small disk.
pub(crate) fn check_all(layout: &Layout) {
    let mut places = HashSet::new();
    for sector in 0..layout.sectors() {
        check_sector(layout, sector);
        assert!(places.insert(layout.position(Lba::new(sector))), "{sector} shares a place");
    }
    check_tiling(layout);
    check_zones(layout);
}

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

/// The next sector of the track begins where this one ends, or behind slips.
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

/// Extents cover the disk from its first sector to its last, each exactly once.
fn check_tiling(layout: &Layout) {
    let mut next = 0;
    while next < layout.sectors() {
        let extent = layout.extent(Lba::new(next), u64::MAX);
        assert_eq!(extent.track_begin.get(), next, "an extent begins inside of its track");
        next = extent.track_end.get();
    }
    assert_eq!(next, layout.sectors());
}

/// Zones cover the disk in order, and their sectors are on their cylinders.
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
