// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Compares the results for a generated disk with the planted figures.

use std::fmt;

use tidegate_drive::mechanical::{Layout as DiskLayout, SeekCurve};
use tidegate_model::mechanics::{Layout, Mechanics, Queue, Seek};

use super::super::{SECTOR, taken_to_pieces};
use crate::geometry::number::{float, whole_32};
use crate::geometry::{Geometry, doubt, mechanics};

/// The number of distances at which seek curves are compared.
const DISTANCES: u32 = 200;

/// The result for a disk.
#[derive(Debug, Clone)]
pub(super) enum Outcome {
    /// Zones, surfaces, skews and seeks are right.
    Recovered,
    /// As `Recovered`, except that each track counts as a cylinder; the mechanics state this.
    ByTrack,
    /// No mechanics are given, for this reason.
    Refused(String),
    /// Mechanics are given, and these figures are wrong.
    Wrong(String),
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Recovered => write!(f, "recovered"),
            Self::ByTrack => write!(f, "by track"),
            Self::Refused(why) => write!(f, "refused: {why}"),
            Self::Wrong(what) => write!(f, "WRONG: {what}"),
        }
    }
}

pub(super) fn of(planted: &Mechanics, seed: u64) -> Outcome {
    compared(planted, &taken_to_pieces(planted, SECTOR, seed))
}

pub(super) fn compared(planted: &Mechanics, found: &Geometry) -> Outcome {
    let Some(disk) = mechanics(found, Queue::default()) else {
        return Outcome::Refused(why(found));
    };
    let mut wrong = Vec::new();
    let is_by_track = disk.surfaces == 1 && planted.surfaces > 1;
    let is_said = disk.chosen.iter().any(|line| line.starts_with("surfaces: one"));
    if disk.surfaces != planted.surfaces && !(is_by_track && is_said) {
        wrong.push(format!("{} surfaces for {}", disk.surfaces, planted.surfaces));
    }
    wrong.extend(zones(planted, &disk));
    if disk.surfaces == planted.surfaces {
        wrong.extend(skews(planted, &disk));
    }
    wrong.extend(seeks(planted, &disk));
    match wrong.is_empty() {
        true if is_by_track => Outcome::ByTrack,
        true => Outcome::Recovered,
        false => Outcome::Wrong(wrong.join("; ")),
    }
}

fn why(found: &Geometry) -> String {
    if let Some(doubt) = doubt(found) {
        return doubt.to_string();
    }
    let missing = [
        ("overhead", found.overhead.is_none()),
        ("zones", found.zones.is_none()),
        ("seeks", found.seek.as_ref().is_none_or(|seek| seek.points.is_empty())),
    ];
    let missing = missing.into_iter().filter(|(_, is_missing)| *is_missing).map(|(name, _)| name);
    let missing: Vec<_> = missing.collect();
    if missing.is_empty() { "not a disk".to_owned() } else { missing.join(", ") }
}

fn zones(planted: &Mechanics, found: &Mechanics) -> Vec<String> {
    let [planted, found] =
        [planted, found].map(|disk| DiskLayout::new(disk).expect("a layout").zones());
    let mut wrong = Vec::new();
    if planted.len() != found.len() {
        return vec![format!("{} zones for {}", found.len(), planted.len())];
    }
    let last = planted.last().expect("a zone").start.get().max(1);
    for (planted, found) in planted.iter().zip(&found) {
        if planted.start.get().abs_diff(found.start.get()) > last / 100 {
            wrong.push(format!("zone at {} for {}", found.start.get(), planted.start.get()));
        }
        let (per_track, spared) = (found.sectors_per_track, planted.sectors_per_track);
        // The number of sectors per track in the results counts only sectors with data.
        if per_track.abs_diff(spared) > 8 {
            wrong.push(format!("{per_track} sectors for {spared}"));
        }
    }
    wrong
}

fn skews(planted: &Mechanics, found: &Mechanics) -> Vec<String> {
    let [planted_skews, found_skews] = [planted, found].map(|disk| {
        let Layout::Zones(zones) = &disk.layout else { panic!("zones") };
        let zone = &zones.zone[0];
        let by_head = if disk.surfaces > 1 { zone.track_skew_ppm } else { 0 };
        (by_head, zone.cylinder_skew_ppm, zone.sectors_per_track)
    });
    let sector_ppm = 1_000_000 / u64::from(planted_skews.2);
    let is_far = |one: u64, other: u64| one.abs_diff(other) > sector_ppm / 10;
    let mut wrong = Vec::new();
    if is_far(planted_skews.0, found_skews.0) || is_far(planted_skews.1, found_skews.1) {
        wrong.push(format!(
            "skews {} {} for {} {}",
            found_skews.0, found_skews.1, planted_skews.0, planted_skews.1
        ));
    }
    let is_far =
        planted.head_switch_ns.abs_diff(found.head_switch_ns) > planted.head_switch_ns / 20;
    if is_far && planted.surfaces > 1 {
        wrong.push(format!(
            "head switch {} for {} us",
            found.head_switch_ns / 1_000,
            planted.head_switch_ns / 1_000
        ));
    }
    wrong
}

/// Compares seeks over distances from one cylinder to all: 19 of 20 must agree within 1 %, or
/// within the time of a sector.
fn seeks(planted: &Mechanics, found: &Mechanics) -> Option<String> {
    let curve = |disk: &Mechanics| SeekCurve::new(&disk.seek, disk.cylinders).ok();
    let (ours, theirs) = (curve(planted)?, curve(found)?);
    let tracks = if found.surfaces == planted.surfaces { 1 } else { planted.surfaces };
    let stroke = f64::from(planted.cylinders - 1);
    let sectors = DiskLayout::new(planted).ok()?.zones().last()?.sectors_per_track;
    let sector_ns = 60e9 / f64::from(planted.rpm) / f64::from(sectors);
    let mut errors: Vec<(f64, u32)> = (0..=DISTANCES)
        .map(|index| {
            let distance = whole_32(stroke.powf(f64::from(index) / f64::from(DISTANCES))).max(1);
            let ns = float(ours.time(distance).ns());
            let other = float(theirs.time(distance * tracks).ns());
            ((other - ns).abs() / (0.01 * ns).max(sector_ns), distance)
        })
        .collect();
    errors.sort_by(|one, other| one.0.total_cmp(&other.0));
    let (most, distance) = errors[errors.len() * 19 / 20];
    let short = matches!(&found.seek, Seek::Points(points) if points.len() < 2);
    (most > 1.0 || short).then(|| format!("seeks off by {most:.1} of the limit ({distance})"))
}
