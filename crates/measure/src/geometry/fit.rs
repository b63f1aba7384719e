// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Makes a `[mechanics]` section from measurements: a disk that behaves like the measured one.
//!
//! Some figures cannot be measured from outside without writing. These are chosen, and `chosen` in
//! the section names them: writes cost as much as reads, and the drive's memory is small.

use tidegate_drive::mechanical::MechanicalDrive;
use tidegate_model::mechanics::{Bus, Cache, Mechanics, Overhead, Queue, ReadAhead};

use super::bare::bare;
use super::doubt::doubt;
use super::number::{float, whole};
use super::seen::Geometry;

/// The number of segments of the chosen memory, and the number of sectors of each.
const SEGMENTS: (u32, u32) = (8, 1_024);
/// The time of a sector on a bus that could not be measured, in picoseconds: 300 MB/s.
const BUS_SECTOR_PS: u64 = 1_706_667;

/// Returns a disk that behaves as measured; `None` if rotation, overhead, zones or seeks are
/// missing, or do not describe a disk. `queue` is the order in which the disk serves requests; the
/// geometry does not show it.
///
/// `chosen` of the result names the figures that were not measured.
pub fn mechanics(geometry: &Geometry, queue: Queue) -> Option<Mechanics> {
    let (rotation, overhead) = (geometry.rotation.as_ref()?, geometry.overhead.as_ref()?);
    let (map, seek) = (geometry.zones.as_ref()?, geometry.seek.as_ref()?);
    if seek.points.is_empty() || doubt(geometry).is_some() {
        return None;
    }
    let sector_ps = overhead.bus_sector_ps.unwrap_or(BUS_SECTOR_PS);
    let transfer = whole(float(geometry.block * sector_ps) / 1e3);
    // The overhead of a read that misses the cache is the shortest time of a read, without the time
    // in which the block passes the heads and the bus. Seek times are measured in excess of that
    // shortest time.
    let outermost = float(u64::from(map.zone.first()?.sectors_per_track));
    let block = whole(rotation.turn() / outermost * float(geometry.block));
    let miss = seek.least_ns.saturating_sub(block + transfer);
    let hit = overhead.hit_ns.map_or(miss, |hit| hit.saturating_sub(transfer));
    let found = Mechanics {
        chosen: chosen(geometry),
        rpm: u32::try_from(rotation.rpm()).ok()?,
        head_switch_ns: seek.head_switch_ns.unwrap_or(0),
        zero_latency: seek.zero_latency.unwrap_or(false),
        seek: seek.curve(),
        overhead: overheads(hit.min(miss), miss),
        bus: Bus { read_sector_ps: sector_ps, write_sector_ps: sector_ps, read_watermark_ppm: 0 },
        cache: overhead.hit_ns.map(|_| cache(overhead.reads_ahead)),
        queue,
        ..bare(map, seek.is_serpentine)?
    };
    MechanicalDrive::new(&found, 1, 0).is_ok().then_some(found)
}

fn overheads(hit: u64, miss: u64) -> Overhead {
    Overhead {
        read_hit_after_read_ns: hit,
        read_hit_after_write_ns: hit,
        read_miss_after_read_ns: miss,
        read_miss_after_write_ns: miss,
        write_hit_after_read_ns: hit,
        write_hit_after_write_ns: hit,
        write_miss_after_read_ns: miss,
        write_miss_after_write_ns: miss,
        ..Overhead::default()
    }
}

fn cache(goes_on: bool) -> Cache {
    let read_ahead = if goes_on { ReadAhead::Segment } else { ReadAhead::Off };
    let (segments, segment_sectors) = SEGMENTS;
    Cache { segments, segment_sectors, read: true, read_ahead, ..Cache::default() }
}

/// Returns the figures that could not be measured and had to be chosen, one line each.
fn chosen(geometry: &Geometry) -> Vec<String> {
    let overhead = geometry.overhead.as_ref();
    let seek = geometry.seek.as_ref();
    let tracks = geometry.zones.as_ref().and_then(|map| map.tracks.as_ref());
    let unseen = [
        (true, "writes: nothing was written; they cost what reads cost and are not written back"),
        (true, "overhead: all of it before the medium; what comes after looks the same"),
        (true, "layout: angles between zones, spare and slipped sectors"),
        (
            tracks.is_none_or(|tracks| tracks.surfaces < 2),
            "surfaces: one; skews do not distinguish head switches from seeks",
        ),
        (
            overhead.is_some_and(|it| it.hit_ns.is_none()),
            "cache: none; what was just read is read again from the medium",
        ),
        (overhead.is_some_and(|it| it.hit_ns.is_some()), "cache: number and size of segments"),
        (
            overhead.is_some_and(|it| it.bus_sector_ps.is_none()),
            "bus: 300 MB/s; memory answered no read",
        ),
        (
            seek.is_some_and(|it| it.zero_latency.is_none()),
            "zero_latency: off; it could not be seen",
        ),
        (
            seek.is_some_and(|it| it.is_serpentine.is_none()),
            "order: heads that a seek hides; each cylinder from the first",
        ),
        (
            seek.is_some_and(|it| it.head_switch_ns.is_none()),
            "head_switch_ns: none beside the seek",
        ),
    ];
    unseen.into_iter().filter(|(is_so, _)| *is_so).map(|(_, line)| line.to_owned()).collect()
}
