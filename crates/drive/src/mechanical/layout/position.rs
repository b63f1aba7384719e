// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Positions of sectors and of runs of sectors, which every layout returns.

use tidegate_model::Lba;

use crate::mechanical::rotation::Angle;

/// The position of a sector.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Position {
    /// The cylinder, from 0, the outermost.
    pub cylinder: u32,
    /// The head, from 0.
    pub head: u32,
    /// The physical sector on the track, from 0; sectors without data count.
    pub sector: u32,
}

/// Consecutive sectors of one track, by number and by position.
///
/// # Invariants
/// - `sectors >= 1`; `track_begin <= start < start + sectors <= track_end`.
/// - `span` covers the first to the last sector, slipped ones between them included, and is at
///   most one turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Extent {
    /// The first sector.
    pub start: Lba,
    /// The number of data sectors.
    pub sectors: u32,
    /// The sectors' cylinder.
    pub cylinder: u32,
    /// The sectors' head.
    pub head: u32,
    /// The angle at which the first sector begins.
    pub begin: Angle,
    /// The angle from the beginning of the first sector to the end of the last.
    pub span: Angle,
    /// The number of physical sectors on the track.
    pub sectors_per_track: u32,
    /// The first data sector of the run on this track that contains `start`; remapped sectors
    /// split a track into several runs.
    pub track_begin: Lba,
    /// The data sector after the last sector of that run.
    pub track_end: Lba,
}

/// A zone: consecutive tracks of one density.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ZoneFacts {
    /// The first cylinder.
    pub cylinder_first: u32,
    /// The last cylinder.
    pub cylinder_last: u32,
    /// The number of physical sectors on a track; if the heads differ, on the longest track.
    pub sectors_per_track: u32,
    /// The zone's first data sector.
    pub start: Lba,
    /// The zone's number of data sectors.
    pub sectors: u64,
}
