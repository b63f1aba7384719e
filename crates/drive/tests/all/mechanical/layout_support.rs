// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Helpers for the tests of layouts: sample disks, and properties of every layout.

use std::collections::HashSet;

use tidegate_drive::mechanical::{Layout, Position};
use tidegate_model::Lba;
use tidegate_model::mechanics::{self, Mechanics, Sparing, TrackIndex, TrackOrder, Zone, Zones};
use toml::{Table, Value};

use super::layout_checks::{check_sector, check_zones};

pub(crate) const ORDERS: [TrackOrder; 4] = [
    TrackOrder::Cylinder,
    TrackOrder::CylinderSerpentine,
    TrackOrder::CylinderSerpentineParity,
    TrackOrder::SurfaceSerpentine,
];

pub(crate) const SPARINGS: [Sparing; 7] = [
    Sparing::None,
    Sparing::Track,
    Sparing::Cylinder,
    Sparing::CylinderFront,
    Sparing::Range,
    Sparing::Zone,
    Sparing::ZoneTracks,
];

/// Returns a disk with a layout and otherwise arbitrary figures.
pub(crate) fn disk(
    surfaces: u32,
    cylinders: u32,
    sectors: u64,
    layout: mechanics::Layout,
) -> Mechanics {
    Mechanics { surfaces, cylinders, sectors, layout, ..super::disk_support::plain() }
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

/// Returns the cases of a table, two lines each: the figures of a disk, and the expected result.
pub(crate) fn cases(table: &str) -> Vec<[&str; 2]> {
    let is_part = |line: &&str| !line.is_empty() && !line.starts_with("//");
    let lines: Vec<&str> = table.lines().map(str::trim).filter(is_part).collect();
    let (cases, rest) = lines.as_chunks();
    assert!(rest.is_empty(), "{rest:?} shows nothing");
    cases.to_vec()
}

/// Returns a disk from `figures of the disk and its zones | figures of a zone | ..`. The defaults
/// are two heads, ten cylinders and eight sectors; zones of two cylinders with tracks of four
/// sectors.
pub(crate) fn disk_with_zones(text: &str) -> Mechanics {
    let figures =
        |text: &str| -> Table { toml::from_str(&text.replace(';', "\n")).expect("figures") };
    let mut parts = text.split('|').map(figures);
    let mut zones = parts.next().expect("the disk's part");
    let mut take = |name, default| {
        zones.remove(name).map_or(default, |figure| figure.try_into().expect("a number"))
    };
    let [surfaces, cylinders, sectors] =
        [("surfaces", 2), ("cylinders", 10), ("sectors", 8)].map(|(name, it)| take(name, it));
    let zone = |part| {
        let mut zone = figures("cylinder_first = 0; cylinder_last = 1; sectors_per_track = 4");
        zone.extend(part);
        Value::Table(zone)
    };
    zones.insert("zone".to_owned(), Value::Array(parts.map(zone).collect()));
    let zones = zones.try_into().expect("zones");
    zoned(surfaces, cylinders, sectors.into(), &zones)
}

/// Returns zones with default options.
pub(crate) fn plain(zone: Vec<Zone>) -> Zones {
    Zones { zone, ..Zones::default() }
}

/// Returns a zone without skews, spares and slips.
pub(crate) fn zone(cylinder_first: u32, cylinder_last: u32, sectors_per_track: u32) -> Zone {
    let figures = [
        ("cylinder_first", cylinder_first),
        ("cylinder_last", cylinder_last),
        ("sectors_per_track", sectors_per_track),
    ];
    let figures = figures.map(|(name, figure)| (name.to_owned(), i64::from(figure).into()));
    Table::from_iter(figures).try_into().expect("a zone needs no more")
}

/// Returns an index with these tracks and rows.
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

/// Returns the number of sectors that the description holds.
pub(crate) fn held(mechanics: &Mechanics) -> u64 {
    Layout::held(mechanics).unwrap().sectors
}

/// Returns the content of each slot of each track, in the tracks' order: `0-2` for three sectors in
/// a row, dots for slots without data; `|` between tracks, `||` between cylinders. Checks every
/// sector too.
pub(crate) fn map(layout: &Layout) -> String {
    check_all(layout);
    let zones = layout.zones();
    let slots = zones.iter().map(|zone| zone.sectors_per_track).max().expect("a zone");
    let last = zones.iter().map(|zone| zone.cylinder_last).max().expect("a zone");
    let track = |cylinder, head| {
        let held = |sector| layout.sector_at(Position { cylinder, head, sector }).map(Lba::get);
        runs(&(0..slots).map(held).collect::<Vec<_>>())
    };
    let cylinder = |cylinder| [0, 1].map(|head| track(cylinder, head)).join(" | ");
    (0..=last).map(cylinder).collect::<Vec<_>>().join(" || ")
}

fn runs(slots: &[Option<u64>]) -> String {
    let follows = |one: &Option<u64>, next: &Option<u64>| *next == one.map(|sector| sector + 1);
    let run = |run: &[Option<u64>]| match run {
        [Some(only)] => only.to_string(),
        [Some(first), .., Some(last)] => format!("{first}-{last}"),
        none => ".".repeat(none.len()),
    };
    slots.chunk_by(follows).map(run).collect::<Vec<_>>().join(" ")
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

/// Checks that extents cover the disk from its first sector to its last, each exactly once.
fn check_tiling(layout: &Layout) {
    let mut next = 0;
    while next < layout.sectors() {
        let extent = layout.extent(Lba::new(next), u64::MAX);
        assert_eq!(extent.track_begin.get(), next, "an extent begins inside of its track");
        next = extent.track_end.get();
    }
    assert_eq!(next, layout.sectors());
}
