// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Compares the parts of two devices, figure by figure: rotation, overhead, zones, seeks, stripes,
//! costs.
//!
//! Observations (`[fit.geometry]`) take precedence over fits (`[fit.mechanics]`), and both over
//! `[mechanics]`. The file of a simulated disk has only `[mechanics]`, which is exact, so a disk's
//! profile can be compared with the disk itself. Zones are compared at the middle of every zone of
//! both files. Seeks are compared over equal shares of the disks' cylinders, and interpolated
//! between the known points. The files do not state the sampling errors of these figures, so the
//! tolerance alone decides. There are two exceptions: stripes are medians of a known number of
//! samples, and costs follow the longest times, so they never count as changed.

use crate::geometry::{Geometry, ZoneMap};
use crate::stripe::Stripe;
use serde::Deserialize;
use tidegate_drive::mechanical::{Layout, SeekCurve};
use tidegate_model::mechanics::Mechanics;
use tidegate_model::{CostModel, DriveFile};

use super::figures::{Figures, Unit};
use super::sampling::Sampling;

/// The divisor of a compared seek distance that gives the step to the next distance; the step is at
/// least 1.
const PART: u64 = 4;
/// Like `PART`, for the points that represent a seek formula.
const PART_OF_CURVE: u64 = 16;

/// Returns the structural figures of both devices.
pub(super) fn figures(first: &DriveFile, second: &DriveFile) -> [Vec<Figures>; 2] {
    let [a, b] = [first, second].map(Structure::of);
    let [zones_of_a, zones_of_b] = densities(&a, &b);
    let [seeks_of_a, seeks_of_b] = seeks(&a, &b);
    let all = |of: &Structure, zones, seeks| {
        let one = |name, unit, figure: Option<u64>| {
            figure.map(|figure| Figures::exact(name, unit, [(1, figure)]))
        };
        let alone = [
            one("rotation (one turn)", Unit::Time, of.turn_ns),
            one("overhead (least read)", Unit::Time, of.overhead_ns),
            one("zones", Unit::Count, of.zone_count()),
            zones,
            seeks,
        ];
        alone.into_iter().flatten().chain(of.stripes()).chain(of.costs()).collect()
    };
    [all(&a, zones_of_a, seeks_of_a), all(&b, zones_of_b, seeks_of_b)]
}

/// The parts of one device.
struct Structure {
    turn_ns: Option<u64>,
    overhead_ns: Option<u64>,
    /// First sector and sectors per track of each zone.
    zones: Vec<(u64, u32)>,
    sectors: u64,
    seek: Option<Seeks>,
    stripe: Option<Stripe>,
    cost: Option<CostModel>,
}

/// The seek times: points in order of distance. A distance is a share of the disk's cylinders, so
/// that disks can be compared even if their cylinders were counted differently or not at all.
struct Seeks(Vec<(u64, u64)>);

/// The distance across a whole disk.
const WHOLE: u64 = 1_000_000_000;
/// One part per million of a whole disk, the unit of distances in the comparison.
const PPM: u64 = WHOLE / 1_000_000;

impl Structure {
    fn of(file: &DriveFile) -> Self {
        let geometry: Geometry = fitted(file, "geometry").unwrap_or_default();
        let fitted_mechanics: Option<Mechanics> = fitted(file, "mechanics");
        let mechanics = fitted_mechanics.as_ref().or(file.mechanics.as_deref());
        let turn_ns = |rotation: crate::geometry::Rotation| rotation.turn_ps / 1000;
        let (zones, sectors) = zones(&geometry, mechanics);
        let seek = Seeks::seen(&geometry).or_else(|| Seeks::curve(mechanics?));
        Self {
            turn_ns: geometry.rotation.map(turn_ns).or_else(|| {
                let rpm = mechanics?.rpm;
                60_000_000_000_u64.checked_div(rpm.into())
            }),
            overhead_ns: geometry.overhead.map(|seen| seen.least_ns),
            zones,
            sectors,
            seek,
            stripe: fitted(file, "stripe"),
            cost: file.cost.clone(),
        }
    }

    /// Returns the number of zones; `None` if they are not known.
    fn zone_count(&self) -> Option<u64> {
        u64::try_from(self.zones.len()).ok().filter(|&count| count > 0)
    }

    fn stripes(&self) -> Vec<Figures> {
        let Some(stripe) = &self.stripe else { return Vec::new() };
        let medians = |name: &str, medians: Vec<(u32, u64)>| Figures {
            sampling: medians.iter().map(|it| Sampling::Median(it.1, stripe.samples)).collect(),
            ..Figures::exact(name, Unit::Time, medians)
        };
        let beside = stripe.beside_writes_ns;
        let beside = beside.map(|[ns, ..]| medians("stripe: a read beside writes", vec![(1, ns)]));
        let all = [
            medians("stripe: one read", vec![(1, stripe.alone_ns)]),
            medians("stripe: reads at once", stripe.at_once_ns.clone()),
        ];
        all.into_iter().chain(beside).collect()
    }

    fn costs(&self) -> Vec<Figures> {
        let Some(cost) = &self.cost else { return Vec::new() };
        let first = ("cost: positioning".to_owned(), cost.positioning_max);
        let each = cost.requests.iter();
        let each = each.map(|it| (format!("cost: {} of {}", it.op.name(), it.size), it.time_max));
        // Costs are fitted to longest times, and A can grow at the expense of c. So costs are
        // reported, but never count as changed.
        let figures = |(name, time): (String, tidegate_model::Duration)| Figures {
            sampling: vec![Sampling::Longest],
            ..Figures::exact(&name, Unit::Time, [(1, time.ns())])
        };
        std::iter::once(first).chain(each).map(figures).collect()
    }

    /// Returns the number of sectors per track at a sector.
    fn density(&self, sector: u64) -> Option<u64> {
        let zone = self.zones.iter().rfind(|zone| zone.0 <= sector)?;
        (sector < self.sectors).then_some(zone.1.into())
    }

    /// Returns the sector in the middle of each zone.
    fn middles(&self) -> impl Iterator<Item = u64> {
        let ends = self.zones.iter().skip(1).map(|zone| zone.0).chain([self.sectors]);
        self.zones.iter().zip(ends).map(|(zone, end)| zone.0.midpoint(end))
    }
}

impl Seeks {
    /// Returns measured times; distances are in cylinders, or in tracks if cylinders could not be
    /// identified.
    fn seen(geometry: &Geometry) -> Option<Self> {
        let (seen, all) = (geometry.seek.as_ref()?, cylinders(geometry.zones.as_ref()?)?);
        let points = seen.points.iter().map(|point| (share(point.cylinders, all), point.ns));
        Some(Self(points.collect()))
    }

    fn curve(mechanics: &Mechanics) -> Option<Self> {
        let all = mechanics.cylinders;
        let curve = SeekCurve::new(&mechanics.seek, all).ok()?;
        let distances = distances(1, all.checked_sub(1)?.into(), PART_OF_CURVE);
        let distances = distances.filter_map(|distance| u32::try_from(distance).ok());
        let points = distances.map(|it| (share(it, all.into()), curve.time(it).ns()));
        Some(Self(points.collect()))
    }

    /// Returns the shortest and the longest distance with a known time.
    fn range(&self) -> Option<[u64; 2]> {
        Some([self.0.first()?.0, self.0.last()?.0])
    }

    /// Returns the seek time for a distance within the range, interpolated linearly between two
    /// points.
    fn ns(&self, distance: u64) -> Option<u64> {
        let after = self.0.iter().find(|point| point.0 >= distance)?;
        let before = self.0.iter().rfind(|point| point.0 <= distance)?;
        let (width, along) = (after.0 - before.0, distance - before.0);
        if width == 0 {
            return Some(after.1);
        }
        let weighted = u128::from(before.1) * u128::from(width - along)
            + u128::from(after.1) * u128::from(along);
        u64::try_from(weighted / u128::from(width)).ok()
    }
}

/// Converts a distance to a share of a disk with `all` cylinders.
fn share(distance: u32, all: u64) -> u64 {
    u64::from(distance) * WHOLE / all.max(1)
}

/// Returns the number of cylinders in all zones; of tracks if the surfaces were not identified.
fn cylinders(map: &ZoneMap) -> Option<u64> {
    let surfaces = map.tracks.as_ref().map_or(1, |tracks| u64::from(tracks.surfaces));
    let ends = map.zone.iter().skip(1).map(|zone| zone.start).chain([map.sectors]);
    let tracks = map.zone.iter().zip(ends).map(|(zone, end)| {
        end.saturating_sub(zone.start).checked_div(zone.sectors_per_track.into())
    });
    Some((tracks.sum::<Option<u64>>()? / surfaces.max(1)).max(1))
}

/// Returns a part of `[fit]`; `None` if it is missing or cannot be parsed.
fn fitted<'de, T: Deserialize<'de>>(file: &DriveFile, name: &str) -> Option<T> {
    T::deserialize(file.fit.as_ref()?.get(name)?.clone()).ok()
}

/// Returns the zones and the end of the last one, as measured or as described in `[mechanics]`.
fn zones(geometry: &Geometry, mechanics: Option<&Mechanics>) -> (Vec<(u64, u32)>, u64) {
    if let Some(map) = &geometry.zones {
        let zones = map.zone.iter().map(|zone| (zone.start, zone.sectors_per_track));
        return (zones.collect(), map.sectors);
    }
    let layout = mechanics.and_then(|it| Some((Layout::new(it).ok()?, it.sectors)));
    let Some((layout, sectors)) = layout else { return (Vec::new(), 0) };
    let zones = layout.zones();
    (zones.iter().map(|zone| (zone.start.get(), zone.sectors_per_track)).collect(), sectors)
}

/// Returns both devices' sectors per track at the middles of all zones.
fn densities(a: &Structure, b: &Structure) -> [Option<Figures>; 2] {
    let mut middles: Vec<u64> = a.middles().chain(b.middles()).collect();
    middles.sort_unstable();
    middles.dedup();
    [a, b].map(|of| {
        let places = (1..).zip(middles.iter().map(|&sector| of.density(sector)));
        let known = places.filter_map(|(place, density)| Some((place, density?)));
        let figures = Figures::exact("sectors per track", Unit::Count, known);
        Some(figures).filter(|it| !it.entries.is_empty())
    })
}

/// Returns both devices' seek times over equal distances. A distance is in millionths of the disk's
/// cylinders.
fn seeks(a: &Structure, b: &Structure) -> [Option<Figures>; 2] {
    let ranges = [a, b].map(|of| of.seek.as_ref().and_then(Seeks::range));
    let [low, high] = match ranges {
        [Some(a), Some(b)] => [a[0].max(b[0]), a[1].min(b[1])],
        [a, b] => a.or(b).unwrap_or_default(),
    };
    [a, b].map(|of| {
        let seek = of.seek.as_ref()?;
        let times = distances(low.div_ceil(PPM), high / PPM, PART);
        let times = times.filter_map(|it| Some((u32::try_from(it).ok()?, seek.ns(it * PPM)?)));
        Some(Figures::exact("seeks, by ppm of the disk", Unit::Time, times))
    })
}

/// Returns distances from `low` to `high`, each longer than the previous one by one part in `part`.
fn distances(low: u64, high: u64, part: u64) -> impl Iterator<Item = u64> {
    let next = move |&distance: &u64| distance.checked_add((distance / part).max(1));
    let grown = std::iter::successors(Some(low), next);
    grown.take_while(move |&distance| distance < high).chain((low <= high).then_some(high))
}
