// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The source of figures of a drive file: the disk's geometry, and the values that equations derive
//! from it.

use serde::Deserialize;
use tidegate_commands::NamedDrive;
use tidegate_drive::amortised::expected::{
    Density, expected_seek_distance, expected_seek_time_ceil, expected_transfer_time_ceil,
};
use tidegate_drive::mechanical::{Layout, Rotation, SeekCurve, ZoneFacts};
use tidegate_model::mechanics::Mechanics;
use tidegate_model::{Bytes, DriveFile, Duration, Op};

use super::{Failed, Measures, sequential, unknown};
use crate::cell::Cell;

/// The parameters.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Parameters {
    /// The name of a built-in drive.
    drive: String,
    /// The size of requests in the measures of tables and transfers.
    #[serde(default = "default_size")]
    size: Bytes,
    /// The number of concurrent requests in the measures of tables.
    #[serde(default = "one")]
    requests: usize,
}

const fn default_size() -> Bytes {
    Bytes::from_kib(128)
}

const fn one() -> usize {
    1
}

/// The measures of a drive file.
pub(super) struct Drive {
    file: DriveFile,
    parameters: Parameters,
}

/// The figures of a hard disk's parts.
struct Disk<'a> {
    mechanics: &'a Mechanics,
    layout: Layout,
    seek: SeekCurve,
    turn: Duration,
}

impl Parameters {
    pub(super) fn run(self) -> Result<Drive, Failed> {
        let file = NamedDrive::new(&self.drive).map_err(Failed::of)?.file;
        Ok(Drive { file, parameters: self })
    }
}

impl Drive {
    /// Returns the mean transfer rate over eleven places, spread evenly over the disk, with equal
    /// amounts read at each.
    fn mean_rate(&self) -> Result<f64, String> {
        let sectors = self.file.mechanics.as_ref().map_or(0, |it| it.sectors);
        let percents = (0..=10_u64).map(|tenth| (tenth * 10).min(99));
        let times = percents.map(|percent| {
            sequential::rate(&self.file, self.parameters.size, sectors / 100 * percent)
                .map(f64::recip)
        });
        let times = times.collect::<Result<Vec<f64>, String>>()?;
        Ok(tidegate_stats::float::of_length(times.len()) / times.iter().sum::<f64>())
    }
}

impl Measures for Drive {
    fn get(&self, name: &str) -> Result<Option<Cell>, String> {
        let file = &self.file;
        let size = self.parameters.size;
        let of_table = || {
            let table = tidegate_drive::measured_table(file, Op::Read, size)?;
            table.ns_max.get(self.parameters.requests.checked_sub(1)?).copied().map(Cell::of)
        };
        match name {
            "depth" => return Ok(Some(Cell::of(file.depth.into()))),
            "capacity_bytes" => return Ok(file.capacity().map(|it| Cell::of(it.get()))),
            "batch_ns_max" => return Ok(of_table()),
            _ => (),
        }
        let rate = |percent: u64| {
            let sectors = file.mechanics.as_ref().map_or(0, |it| it.sectors);
            sequential::rate(file, size, sectors / 100 * percent).map(|it| Some(Cell::Float(it)))
        };
        match name {
            "sequential_bytes_per_s_first" => return rate(0),
            "sequential_bytes_per_s_last" => return rate(99),
            "sequential_bytes_per_s_mean" => {
                return self.mean_rate().map(|it| Some(Cell::Float(it)));
            }
            _ => (),
        }
        let Some(mechanics) = &file.mechanics else { return Ok(None) };
        Disk::of(mechanics)?.get(name, size)
    }
}

const KNOWN: &str = "depth, capacity_bytes, batch_ns_max, sequential_bytes_per_s_first, _last, _mean, sectors, rpm, surfaces, cylinders, tracks, \
                     turn_ns, sectors_per_track_min, _max, _mean, seek_ns_max, seek_third_ns, seek_distance_mean, \
                     seek_ns_mean, transfer_ns_mean";

impl<'a> Disk<'a> {
    fn of(mechanics: &'a Mechanics) -> Result<Self, String> {
        let layout = Layout::new(mechanics).map_err(|error| error.to_string())?;
        let seek = SeekCurve::new(&mechanics.seek, mechanics.cylinders);
        let seek = seek.map_err(|error| error.to_string())?;
        Ok(Self { mechanics, layout, seek, turn: Rotation::new(mechanics.rpm).turn() })
    }

    fn get(&self, name: &str, size: Bytes) -> Result<Option<Cell>, String> {
        let Self { mechanics, layout, seek, turn } = self;
        let zones = layout.zones();
        let per_track = || zones.iter().map(|zone| u64::from(zone.sectors_per_track));
        let cylinders = mechanics.cylinders;
        // The numbers of tracks that hold data, per zone.
        let tracks = zones.iter().map(|zone| zone.sectors.div_ceil(zone.sectors_per_track.into()));
        let tracks: u64 = tracks.sum();
        let density = |zone: &ZoneFacts| Density {
            sectors_per_track: zone.sectors_per_track,
            sectors: zone.sectors,
        };
        let densities = || zones.iter().map(density).collect::<Vec<_>>();
        Ok(match name {
            "sectors" => Some(Cell::of(mechanics.sectors)),
            "rpm" => Some(Cell::of(mechanics.rpm.into())),
            "surfaces" => Some(Cell::of(mechanics.surfaces.into())),
            "cylinders" => Some(Cell::of(cylinders.into())),
            "tracks" => Some(Cell::of(tracks)),
            "turn_ns" => Some(Cell::of_time(*turn)),
            "sectors_per_track_min" => per_track().min().map(Cell::of),
            "sectors_per_track_max" => per_track().max().map(Cell::of),
            "sectors_per_track_mean" => Some(Cell::of((mechanics.sectors + tracks / 2) / tracks)),
            "seek_ns_max" => Some(Cell::of_time(seek.time(cylinders - 1))),
            "seek_third_ns" => Some(Cell::of_time(seek.time((cylinders - 1) / 3))),
            "seek_distance_mean" => Some(Cell::of(expected_seek_distance(cylinders).floor())),
            "seek_ns_mean" => {
                Some(Cell::of_time(expected_seek_time_ceil(cylinders, |it| seek.time(it))))
            }
            "transfer_ns_mean" => {
                Some(Cell::of_time(expected_transfer_time_ceil(size, *turn, &densities())))
            }
            _ => return Err(unknown(name, KNOWN)),
        })
    }
}
