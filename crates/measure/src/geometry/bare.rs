// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Makes a disk with the layout that the measured zones and tracks show.

use tidegate_model::mechanics::{
    Bus, Layout, Mechanics, Overhead, Queue, Seek, Sparing, TrackOrder, Zone, Zones,
};

use super::order::TracksSeen;
use super::zones::{ZoneMap, ZoneSeen};

/// Returns a disk with that layout, whose operations take no time; `None` if there are no zones.
pub(super) fn bare(map: &ZoneMap, is_serpentine: Option<bool>) -> Option<Mechanics> {
    let mut tracks = map.tracks.clone().unwrap_or_else(one_by_one);
    if is_serpentine == Some(true) {
        tracks.order = TrackOrder::CylinderSerpentine;
    }
    let (zone, cylinders) = zones(map, &tracks)?;
    let (mut sparing, range_cylinders) = sparing(&tracks)?;
    if sparing == Sparing::None && zone.iter().any(|zone| zone.spares > 0) {
        sparing = Sparing::Zone;
    }
    let layout = Zones { order: tracks.order, sparing, range_cylinders, zone, ..Zones::default() };
    Some(Mechanics {
        chosen: Vec::new(),
        rpm: 1,
        surfaces: tracks.surfaces,
        cylinders,
        sectors: map.sectors,
        head_switch_ns: 0,
        write_settle_ns: 0,
        write_seek_ns_min: 0,
        zero_latency: false,
        seek: Seek::Points(vec![(1, 0)]),
        overhead: Overhead::default(),
        bus: Bus::default(),
        cache: None,
        queue: Queue::default(),
        faults: None,
        layout: Layout::Zones(layout),
    })
}

fn one_by_one() -> TracksSeen {
    TracksSeen {
        order: TrackOrder::Cylinder,
        surfaces: 1,
        range_cylinders: None,
        track_skew_ppm: 0,
        cylinder_skew_ppm: 0,
        unsure_ppm: 0,
        aligned_at: 0,
        spares_every: None,
        is_spared_first: false,
        spares: None,
    }
}

/// The number of sectors in a zone's cylinders, with a group of spares after every `range`
/// cylinders.
#[derive(Debug, Clone, Copy)]
struct Density {
    /// The number of sectors of a cylinder, including spares.
    per_cylinder: u64,
    /// The number of cylinders from one group of spares to the next.
    range: u64,
    spares: u64,
}

impl Density {
    fn of(zone: &ZoneSeen, tracks: &TracksSeen) -> Self {
        let surfaces = u64::from(tracks.surfaces);
        let every = tracks.spares_every.map_or(surfaces, u64::from);
        let mut per_cylinder = u64::from(zone.sectors_per_track) * surfaces;
        let mut spares = u64::from(zone.spares);
        if every == 1 {
            (per_cylinder, spares) = (per_cylinder + spares * surfaces, spares * surfaces);
        }
        Self { per_cylinder, range: (every / surfaces).max(1), spares }
    }

    /// Returns the number of sectors with data on this number of cylinders.
    fn data(self, cylinders: u64) -> u64 {
        (cylinders * self.per_cylinder).saturating_sub(cylinders / self.range * self.spares)
    }

    /// Returns the largest number of cylinders that have at most `sectors` sectors with data.
    fn cylinders(self, sectors: u64) -> u64 {
        let per_range = self.data(self.range);
        let ranges = sectors / per_range.max(1);
        let rest = (sectors - ranges * per_range) / self.per_cylinder.max(1);
        ranges * self.range + rest.min(self.range - 1)
    }
}

/// Returns zones in whole cylinders that hold all sectors, and the number of cylinders.
fn zones(map: &ZoneMap, tracks: &TracksSeen) -> Option<(Vec<Zone>, u32)> {
    let last = map.zone.len().checked_sub(1)?;
    let mut found = Vec::new();
    let (mut cylinder, mut start) = (0_u32, 0_u64);
    for (index, (zone, end)) in map.zone.iter().zip(map.ends()).enumerate() {
        let density = Density::of(zone, tracks);
        let group = u64::from(tracks.range_cylinders.unwrap_or(1)).max(density.range);
        let skipped = if index == 0 { skipped(tracks.aligned_at, density.data(group)) } else { 0 };
        let sectors = end.saturating_sub(start) + skipped;
        let below = density.cylinders(sectors);
        let is_over = density.data(below) < sectors;
        let is_far = sectors - density.data(below) > density.per_cylinder / 2;
        let is_exact = index == last || map.zone[index + 1].unsure == 0;
        let is_up = if is_exact { is_over } else { is_far };
        let count = (below + u64::from(is_up)).max(1);
        let is_without = tracks.spares_every.is_none() && is_exact && index < last;
        let hidden = if is_without { density.data(count) - sectors } else { 0 };
        let next = cylinder.checked_add(u32::try_from(count).ok()?)?;
        let of_track = if tracks.spares_every == Some(1) { zone.spares } else { 0 };
        found.push(Zone {
            cylinder_first: cylinder,
            cylinder_last: next - 1,
            sectors_per_track: zone.sectors_per_track + of_track,
            offset_millisectors: 0,
            offset_ppm: 0,
            skipped_sectors: skipped,
            track_skew_millisectors: 0,
            track_skew_ppm: tracks.track_skew_ppm,
            cylinder_skew_millisectors: 0,
            cylinder_skew_ppm: tracks.cylinder_skew_ppm,
            spares: if is_without { u32::try_from(hidden).ok()? } else { zone.spares },
            slips: Vec::new(),
            defects: Vec::new(),
        });
        (cylinder, start) = (next, start + density.data(count) - skipped - hidden);
    }
    Some((found, cylinder))
}

/// Returns the places of the spares, and the number of cylinders in a range; `None` if a drive file
/// cannot state them.
fn sparing(tracks: &TracksSeen) -> Option<(Sparing, Option<u32>)> {
    let range = tracks.range_cylinders;
    Some(match tracks.spares_every {
        None => (Sparing::None, range),
        Some(1) => (Sparing::Track, range),
        Some(every) if every == tracks.surfaces && range.is_none() => {
            let is_first = tracks.is_spared_first;
            (if is_first { Sparing::CylinderFront } else { Sparing::Cylinder }, range)
        }
        Some(_) if tracks.is_spared_first => return None,
        Some(every) => {
            let cylinders = every / tracks.surfaces;
            // A layout has only one length of ranges, for heads and for spares.
            if range.is_some_and(|range| range != cylinders) {
                return None;
            }
            (Sparing::Range, Some(cylinders))
        }
    })
}

/// Returns the number of sectors that precede sector 0 in its cylinder or range. `aligned_at` is a
/// sector at which a later cylinder or range begins, and `group` the number of sectors of one.
fn skipped(aligned_at: u64, group: u64) -> u64 {
    (group - aligned_at % group) % group
}
