// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Compares results with the figures planted in a simulated disk.
//!
//! Seeks are compared as the drive file defines them: the time of a read's seek, with settling and
//! without processing. They are compared at 400 distances from one cylinder to the full stroke,
//! equally spaced on a logarithmic scale.

use tidegate_drive::mechanical::{Layout, SeekCurve};
use tidegate_model::mechanics::{Mechanics, Seek};

use super::super::Geometry;
use super::super::number::{float, whole_32};

/// The number of distances at which seek curves are compared.
const DISTANCES: u32 = 400;

/// The errors of the measured figures, each as a fraction of the planted figure.
#[derive(Debug, Clone)]
pub(super) struct Compared {
    pub(super) rotation: f64,
    /// The number of zones, planted and found.
    pub(super) zones: (usize, usize),
    /// The largest error of a boundary, as a fraction of the capacity.
    pub(super) boundary: f64,
    /// The largest error of a number of sectors per track.
    pub(super) sectors_per_track: f64,
    /// The error that 19 of 20 distances do not exceed, and the largest error.
    pub(super) seek_most: f64,
    pub(super) seek_worst: f64,
    /// The fixed cost of a read, planted and found, in nanoseconds.
    pub(super) least: (f64, f64),
}

impl Compared {
    pub(super) fn new(planted: &Mechanics, found: &Geometry) -> Self {
        let turn_ps = 60e12 / f64::from(planted.rpm);
        let rotation = found.rotation.as_ref().expect("it turns");
        let (zones, boundary, sectors_per_track) = zones(planted, found);
        let (seek_most, seek_worst) = seeks(planted, found);
        Self {
            rotation: float(rotation.turn_ps) / turn_ps - 1.0,
            zones,
            boundary,
            sectors_per_track,
            seek_most,
            seek_worst,
            least: least(planted, found),
        }
    }

    /// Checks that all figures are as exact as promised.
    #[track_caller]
    pub(super) fn is_found(&self, what: &str) {
        assert!(self.faults().is_empty(), "{what}: {:?}", self.faults());
    }

    /// Returns the figures that are less exact than promised.
    pub(super) fn faults(&self) -> Vec<String> {
        let (planted, found) = self.least;
        let checks = [
            ("rotation", self.rotation.abs() <= 1e-3),
            ("zones", self.zones.0 == self.zones.1),
            ("boundary", self.boundary <= 0.01),
            ("sectors per track", self.sectors_per_track <= 0.001),
            ("seek", self.seek_most <= 0.03),
            ("overhead", (planted - found).abs() <= 0.05 * planted + 15_000.0),
        ];
        let broken = checks.into_iter().filter(|(_, is_good)| !is_good);
        broken.map(|(name, _)| format!("{name}: {self:?}")).collect()
    }
}

fn zones(planted: &Mechanics, found: &Geometry) -> ((usize, usize), f64, f64) {
    let layout = Layout::new(planted).expect("a built-in");
    let planted = layout.zones();
    let map = found.zones.as_ref().expect("zones");
    let (mut boundary, mut sectors) = (0_f64, 0_f64);
    for (planted, found) in planted.iter().zip(&map.zone) {
        let off = float(planted.start.get().abs_diff(found.start)) / float(map.sectors);
        boundary = boundary.max(off);
        let per_track = f64::from(planted.sectors_per_track);
        let off = f64::from(planted.sectors_per_track.abs_diff(found.sectors_per_track));
        sectors = sectors.max(off / per_track);
    }
    ((planted.len(), map.zone.len()), boundary, sectors)
}

fn seeks(planted: &Mechanics, found: &Geometry) -> (f64, f64) {
    let curve = SeekCurve::new(&planted.seek, planted.cylinders).expect("a built-in");
    let points = found.seek.as_ref().map_or(Vec::new(), |seek| seek.points.clone());
    let points = points.iter().map(|point| (point.cylinders, point.ns)).collect();
    let Ok(seen) = SeekCurve::new(&Seek::Points(points), planted.cylinders) else {
        return (f64::INFINITY, f64::INFINITY);
    };
    let stroke = f64::from(planted.cylinders - 1);
    let mut errors: Vec<f64> = (0..=DISTANCES)
        .map(|index| {
            let part = f64::from(index) / f64::from(DISTANCES);
            let distance = whole_32(stroke.powf(part)).max(1);
            let planted = float(curve.time(distance).ns());
            (float(seen.time(distance).ns()) / planted - 1.0).abs()
        })
        .collect();
    errors.sort_by(f64::total_cmp);
    let most = errors.len() * 19 / 20;
    (errors[most], errors[errors.len() - 1])
}

/// Returns the fixed cost of a read, planted and found: processing, a block under the heads, the
/// bus and the reply. The time of the block is the measured one in both.
fn least(planted: &Mechanics, found: &Geometry) -> (f64, f64) {
    let overhead = found.overhead.as_ref().expect("an overhead");
    let bus = float(planted.bus.read_sector_ps * found.block) / 1e3;
    let command = planted.overhead.read_miss_after_read_ns + planted.overhead.read_completion_ns;
    (float(command + overhead.block_ns) + bus, float(overhead.least_ns))
}
