// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Draws hard disks: with every order of tracks, every placement of spare sectors, even and odd
//! numbers of heads, small and large.
//!
//! The figures are typical of disks from 1995 to 2010. As on real disks, a skew covers the time of
//! a head switch or of a seek to the next cylinder.

use tidegate_drive::mechanical::Layout as DiskLayout;
use tidegate_model::Random;
use tidegate_model::mechanics::{
    Bus, Cache, Layout, Mechanics, Overhead, Queue, ReadAhead, Seek, Sparing, TrackOrder, Zone,
    Zones,
};

const ORDERS: [TrackOrder; 4] = [
    TrackOrder::Cylinder,
    TrackOrder::CylinderSerpentine,
    TrackOrder::CylinderSerpentineParity,
    TrackOrder::SurfaceSerpentine,
];
const SPARING: [Sparing; 7] = [
    Sparing::None,
    Sparing::Track,
    Sparing::Cylinder,
    Sparing::CylinderFront,
    Sparing::Range,
    Sparing::Zone,
    Sparing::ZoneTracks,
];

/// The class of a disk; the table has a row for each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Kind {
    pub(super) order: &'static str,
    pub(super) sparing: &'static str,
}

/// A drawn disk.
pub(super) struct Drawn {
    pub(super) kind: Kind,
    pub(super) disk: Mechanics,
}

struct Dice(Random);

impl Dice {
    fn within(&mut self, low: u64, high: u64) -> u64 {
        low + self.0.below(high - low + 1)
    }

    fn small(&mut self, low: u32, high: u32) -> u32 {
        u32::try_from(self.within(low.into(), high.into())).expect("small")
    }

    fn pick<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.0.index(of.len())]
    }
}

/// Draws a disk. Orders and placements of spares take turns; everything else is random.
pub(super) fn disk(seed: u64) -> Drawn {
    let mut dice = Dice(Random::new(seed, 0));
    let pick = |number: u64, of: usize| usize::try_from(number).expect("few") % of;
    let order = ORDERS[pick(seed, ORDERS.len())];
    let mut sparing = SPARING[pick(seed / 4, SPARING.len())];
    let by_cylinder = matches!(sparing, Sparing::Cylinder | Sparing::CylinderFront);
    if by_cylinder && order == TrackOrder::SurfaceSerpentine {
        sparing = Sparing::Range;
    }
    let mut disk = mechanism(&mut dice);
    let zones = zones(&mut dice, &disk, (order, sparing));
    disk.layout = Layout::Zones(zones);
    disk.sectors = 0;
    disk.sectors = DiskLayout::held(&disk).expect("a layout").sectors;
    Drawn { kind: Kind { order: order_name(order), sparing: sparing_name(sparing) }, disk }
}

fn mechanism(dice: &mut Dice) -> Mechanics {
    let rpm = dice.pick(&[4_500, 5_400, 7_200, 10_000, 10_033, 15_000]);
    let cylinders = dice.pick(&[2_500, 8_000, 20_000, 50_000]) + dice.small(0, 999);
    let head_switch_ns = dice.within(300, 1_200) * 1_000;
    Mechanics {
        chosen: Vec::new(),
        rpm,
        surfaces: dice.small(1, 12),
        cylinders,
        sectors: 0,
        head_switch_ns,
        write_settle_ns: 200_000,
        write_seek_ns_min: 0,
        zero_latency: dice.pick(&[false, true]),
        seek: seek(dice, cylinders),
        overhead: overhead(dice),
        bus: Bus {
            read_sector_ps: dice.pick(&[1_600_000, 5_120_000, 25_600_000]),
            write_sector_ps: 5_120_000,
            read_watermark_ppm: 0,
        },
        cache: (dice.small(0, 4) > 0).then(|| cache(dice)),
        queue: Queue::default(),
        faults: None,
        layout: Layout::Zones(Zones::default()),
    }
}

/// Returns a seek curve of points: a + b sqrt(d) up to a third of the cylinders, then a straight
/// line.
fn seek(dice: &mut Dice, cylinders: u32) -> Seek {
    let (first, full) = (dice.within(250, 1_500), dice.within(8_000, 18_000));
    let [first, full, all] = [first, full, u64::from(cylinders - 1)];
    let at = |distance: u64| {
        let root = |of: u64| (of * 1_000_000).isqrt();
        let third = (all / 3).max(1);
        let bend = first + (full - first) * 6 / 10;
        let us = if distance <= third {
            first + (bend - first) * (root(distance) - 1_000) / (root(third) - 1_000)
        } else {
            bend + (full - bend) * (distance - third) / (all - third)
        };
        us * 1_000
    };
    let mut points = Vec::new();
    let mut distance = 1;
    while distance < all {
        points.push((u32::try_from(distance).expect("small"), at(distance)));
        distance = (distance * 13 / 10).max(distance + 1);
    }
    points.push((cylinders - 1, at(all)));
    Seek::Points(points)
}

fn overhead(dice: &mut Dice) -> Overhead {
    let hit = dice.within(50, 300) * 1_000;
    let miss = hit + dice.within(0, 200) * 1_000;
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

fn cache(dice: &mut Dice) -> Cache {
    let read_ahead = [ReadAhead::Off, ReadAhead::Track, ReadAhead::Segment, ReadAhead::Adaptive];
    Cache {
        segments: dice.pick(&[1, 3, 8, 16]),
        segment_sectors: dice.pick(&[256, 512, 1_024, 2_048]),
        read: true,
        read_ahead: dice.pick(&read_ahead),
        ..Cache::default()
    }
}

fn zones(dice: &mut Dice, disk: &Mechanics, (order, sparing): (TrackOrder, Sparing)) -> Zones {
    let needs_range = sparing == Sparing::Range || order == TrackOrder::SurfaceSerpentine;
    let range_cylinders = needs_range.then(|| dice.small(2, 12));
    let count = dice.pick(&[1, 3, 8, 15, 24]);
    let (outer, inner) = (dice.small(400, 1_300), dice.small(55, 70));
    let equal_skews = dice.small(0, 9) == 0;
    let mut zone = Vec::new();
    let mut first = 0;
    for number in 0..count {
        let end = disk.cylinders * (number + 1) / count;
        let sectors = outer - outer * (100 - inner) / 100 * number / count.max(2);
        let mut drawn = plain(disk, (first, end - 1), sectors);
        if equal_skews {
            drawn.track_skew_ppm = drawn.cylinder_skew_ppm;
        }
        drawn.spares = spares(dice, sparing, sectors, disk.surfaces);
        zone.push(drawn);
        first = end;
    }
    Zones { order, sparing, range_cylinders, zone, ..Zones::default() }
}

fn plain(disk: &Mechanics, (first, last): (u32, u32), sectors: u32) -> Zone {
    let Seek::Points(points) = &disk.seek else { unreachable!("a curve of points") };
    // Rounded up to whole sectors, plus two for the command.
    let skew = |ns: u64| {
        let turn_ns = 60_000_000_000 / u64::from(disk.rpm);
        let whole = (ns * u64::from(sectors)).div_ceil(turn_ns) + 2;
        whole * 1_000_000 / u64::from(sectors) % 1_000_000
    };
    Zone {
        cylinder_first: first,
        cylinder_last: last,
        sectors_per_track: sectors,
        offset_millisectors: 0,
        offset_ppm: 0,
        skipped_sectors: 0,
        track_skew_millisectors: 0,
        track_skew_ppm: skew(disk.head_switch_ns),
        cylinder_skew_millisectors: 0,
        cylinder_skew_ppm: skew(points[0].1),
        spares: 0,
        slips: Vec::new(),
        defects: Vec::new(),
    }
}

fn spares(dice: &mut Dice, sparing: Sparing, sectors: u32, surfaces: u32) -> u32 {
    match sparing {
        Sparing::None => 0,
        Sparing::Track => dice.small(1, 8),
        Sparing::Cylinder | Sparing::CylinderFront => dice.small(2, 40).min(sectors / 4),
        // From 5 sectors to more than a track.
        Sparing::Range if surfaces > 1 => dice.small(5, sectors * 5 / 4),
        Sparing::Range => dice.small(5, sectors / 2),
        Sparing::Zone => dice.small(50, 5_000),
        Sparing::ZoneTracks => dice.small(1, 20),
    }
}

fn order_name(order: TrackOrder) -> &'static str {
    match order {
        TrackOrder::Cylinder => "cylinder",
        TrackOrder::CylinderSerpentine => "cylinder-serpentine",
        TrackOrder::CylinderSerpentineParity => "cylinder-serpentine-parity",
        TrackOrder::SurfaceSerpentine => "surface-serpentine",
    }
}

fn sparing_name(sparing: Sparing) -> &'static str {
    match sparing {
        Sparing::None => "none",
        Sparing::Track => "track",
        Sparing::Cylinder => "cylinder",
        Sparing::CylinderFront => "cylinder-front",
        Sparing::Range => "range",
        Sparing::Zone => "zone",
        Sparing::ZoneTracks => "zone-tracks",
    }
}
