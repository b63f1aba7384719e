// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The charts of a drive: its seek curve, its zones, its batch tables.

use tidegate_drive::mechanical::{Layout, SeekCurve};
use tidegate_model::drive_file::MeasuredTable;
use tidegate_model::mechanics::{Mechanics, MechanicsError, Seek};
use tidegate_model::{Bytes, DriveFile, Lba, Op};

use crate::plot::Chart;
use crate::plot::axis::{Axis, Unit};

/// The unit milliseconds; values are in nanoseconds.
const MS: Unit = ("ms", 1_000_000);
/// The unit gigabyte, decimal as on disk labels; values are in bytes.
const GB: Unit = ("GB", 1_000_000_000);
/// The unit megabyte, decimal too.
const MB: Unit = ("MB", 1_000_000);

/// Returns all charts of a drive: those of its mechanics, or else those of its tables.
pub(crate) fn of_drive(file: &DriveFile) -> Result<Vec<Chart>, MechanicsError> {
    match &file.mechanics {
        Some(mechanics) => Ok(vec![seek(mechanics)?, zones(mechanics)?]),
        None => Ok(file.batch.iter().map(batch).collect()),
    }
}

fn seek(mechanics: &Mechanics) -> Result<Chart, MechanicsError> {
    let curve = SeekCurve::new(&mechanics.seek, mechanics.cylinders)?;
    Ok(seek_chart(seek_points(mechanics, &curve)))
}

/// Returns the points at which a seek curve is drawn: distances in cylinders, times in ns.
pub(crate) fn seek_points(mechanics: &Mechanics, curve: &SeekCurve) -> Vec<(u64, u64)> {
    let stroke = mechanics.cylinders.saturating_sub(1).max(1);
    let distances = distances(&mechanics.seek, stroke).into_iter();
    distances.map(|distance| (distance.into(), curve.time(distance).ns())).collect()
}

/// Draws a seek curve over cylinders; the last point is the full stroke.
pub(crate) fn seek_chart(points: Vec<(u64, u64)>) -> Chart {
    seek_chart_in("cylinders", points)
}

/// Draws a seek curve whose distances are in `unit`.
pub(crate) fn seek_chart_in(unit: &'static str, points: Vec<(u64, u64)>) -> Chart {
    let stroke = points.last().map_or(1, |point| point.0);
    let highest = points.iter().map(|point| point.1).max().unwrap_or(0);
    Chart::of_curve(
        "Seek time by distance".to_owned(),
        Axis::ending_at(stroke, "distance", (unit, 1)),
        Axis::reaching(highest, "seek time", MS),
        points,
    )
}

/// Returns the distances at which the curve is drawn: evenly spaced over the disk, and the measured
/// ones.
fn distances(seek: &Seek, stroke: u32) -> Vec<u32> {
    const EVENLY: u64 = 800;
    let even = (0..=EVENLY).map(|index| index * u64::from(stroke) / EVENLY);
    let even = even.map(|distance| u32::try_from(distance).expect("not beyond the disk"));
    let mut distances: Vec<u32> = even.chain([1]).filter(|&distance| distance > 0).collect();
    if let Seek::Points(points) = seek {
        distances.extend(points.iter().map(|point| point.0).filter(|&at| at <= stroke));
    }
    distances.sort_unstable();
    distances.dedup();
    distances
}

fn zones(mechanics: &Mechanics) -> Result<Chart, MechanicsError> {
    let zones = Layout::new(mechanics)?.zones();
    let bytes = |sectors: u64| sectors.saturating_mul(Lba::SECTOR_BYTES);
    let steps = zones.iter().flat_map(|zone| {
        let sectors_per_track = u64::from(zone.sectors_per_track);
        let begin = zone.start.get();
        [begin, begin + zone.sectors].map(|at| (bytes(at), sectors_per_track))
    });
    let steps: Vec<(u64, u64)> = steps.collect();
    let highest = steps.iter().map(|step| step.1).max().unwrap_or(0);
    let size = bytes(mechanics.sectors);
    let unit = if size >= 2 * GB.1 { GB } else { MB };
    Ok(Chart::of_curve(
        "Sectors per track by position".to_owned(),
        Axis::ending_at(size, "position", unit),
        Axis::reaching(highest, "", ("sectors", 1)),
        steps,
    ))
}

fn batch(measured: &MeasuredTable) -> Chart {
    let requests = requests(measured.op.map(Op::name), measured.size);
    times(format!("b(i), the longest time of i requests at once{requests}"), &measured.ns_max)
}

/// Describes the requests of a table, in brackets after a title.
pub(crate) fn requests(op: Option<&str>, size: Option<Bytes>) -> String {
    match (op, size) {
        (Some(op), Some(size)) => format!(" ({op}s of {size})"),
        _ => String::new(),
    }
}

/// Draws a table of the longest times of 1, 2, .. requests. As in proofs, each time is at least as
/// long as the previous one.
pub(crate) fn times(title: String, ns_max: &[u64]) -> Chart {
    let raised = ns_max.iter().scan(0, |longest, &ns| {
        *longest = ns.max(*longest);
        Some(*longest)
    });
    let times: Vec<(u64, u64)> = (1..).zip(raised).collect();
    let highest = times.last().map_or(0, |time| time.1);
    Chart::of_curve(
        title,
        Axis::ending_at(ns_max.len() as u64, "", ("requests at once", 1)),
        Axis::reaching(highest, "longest time", MS),
        times,
    )
}
