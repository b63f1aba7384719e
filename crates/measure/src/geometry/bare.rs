// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Makes a disk with the layout that the zones and tracks show.

use tidegate_model::mechanics::{
    Bus, Layout, Mechanics, Overhead, Queue, Seek, TrackOrder, Zone, Zones,
};

use super::order::TracksSeen;
use super::zones::ZoneMap;

/// Returns a disk with that layout whose operations take no time; `None` if there are no zones.
pub(super) fn bare(map: &ZoneMap, is_serpentine: Option<bool>) -> Option<Mechanics> {
    let mut tracks = map.tracks.clone().unwrap_or_else(one_by_one);
    if is_serpentine == Some(true) {
        tracks.order = TrackOrder::CylinderSerpentine;
    }
    let (zone, cylinders) = zones(map, &tracks)?;
    let layout = Zones {
        order: tracks.order,
        range_cylinders: tracks.range_cylinders,
        zone,
        ..Zones::default()
    };
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
    }
}

/// Returns zones in whole cylinders that hold all sectors, and the number of cylinders.
fn zones(map: &ZoneMap, tracks: &TracksSeen) -> Option<(Vec<Zone>, u32)> {
    let surfaces = u64::from(tracks.surfaces);
    let last = map.zone.len().checked_sub(1)?;
    let mut found = Vec::new();
    let (mut cylinder, mut start) = (0_u32, 0_u64);
    for (index, (zone, end)) in map.zone.iter().zip(map.ends()).enumerate() {
        let per_cylinder = u64::from(zone.sectors_per_track) * surfaces;
        let range = u64::from(tracks.range_cylinders.unwrap_or(1));
        let skipped = if index == 0 { skipped(tracks.aligned_at, per_cylinder * range) } else { 0 };
        let sectors = end.saturating_sub(start) + skipped;
        let nearest = (sectors + per_cylinder / 2) / per_cylinder;
        let count = if index == last { sectors.div_ceil(per_cylinder) } else { nearest }.max(1);
        let next = cylinder.checked_add(u32::try_from(count).ok()?)?;
        found.push(Zone {
            cylinder_first: cylinder,
            cylinder_last: next - 1,
            sectors_per_track: zone.sectors_per_track,
            offset_millisectors: 0,
            offset_ppm: 0,
            skipped_sectors: skipped,
            track_skew_millisectors: 0,
            track_skew_ppm: tracks.track_skew_ppm,
            cylinder_skew_millisectors: 0,
            cylinder_skew_ppm: tracks.cylinder_skew_ppm,
            spares: 0,
            slips: Vec::new(),
            defects: Vec::new(),
        });
        (cylinder, start) = (next, start + count * per_cylinder - skipped);
    }
    Some((found, cylinder))
}

/// Returns the number of sectors before sector 0 in its cylinder or range, if a later one begins at
/// `aligned_at`.
fn skipped(aligned_at: u64, group: u64) -> u64 {
    (group - aligned_at % group) % group
}
