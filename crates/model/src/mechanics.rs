// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The `[mechanics]` section of a drive file: the parts of a hard disk.
//!
//! All figures are integers, as in the published extractions: times in nanoseconds, rotation in
//! whole revolutions per minute, skews in thousandths of a sector, angles in millionths of a
//! revolution. The mechanical drive computes times from these figures.

mod check;
mod queue;

use std::fmt;

use serde::{Deserialize, Serialize};

pub use queue::{Queue, Scheduler};

/// The parts of a hard disk.
///
/// [`Mechanics::check`] checks the figures.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mechanics {
    /// Figures that no source gives and that were chosen; free text for people, one line each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub chosen: Vec<String>,
    /// Revolutions per minute.
    pub rpm: u32,
    /// Recorded surfaces, one head each.
    pub surfaces: u32,
    /// Number of cylinders; cylinder 0 is the outermost.
    pub cylinders: u32,
    /// Number of 512-byte sectors that hosts can address, at most as many as the layout holds.
    pub sectors: u64,
    /// Time to change to another head of the same cylinder.
    pub head_switch_ns: u64,
    /// Added to positioning before a write; negative if reads take longer to settle.
    #[serde(default)]
    pub write_settle_ns: i64,
    /// The shortest positioning time of a write that does not continue the previous write.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub write_seek_ns_min: u64,
    /// Whether a read can start its transfer in its middle, if the head arrives there.
    #[serde(default)]
    pub zero_latency: bool,
    /// Time of a seek as a function of its distance.
    pub seek: Seek,
    /// Time to process a command before anything moves.
    #[serde(default)]
    pub overhead: Overhead,
    /// Transfer to and from the host.
    #[serde(default)]
    pub bus: Bus,
    /// The drive's cache; a drive without a cache neither reads ahead nor writes back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache: Option<Cache>,
    /// The order in which the drive serves its queued requests.
    #[serde(default)]
    pub queue: Queue,
    /// Rates of the drive's errors.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub faults: Option<Faults>,
    /// The positions of sectors.
    pub layout: Layout,
}

/// Time of a seek as a function of its distance in cylinders; a seek of distance 0 takes no time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub enum Seek {
    /// Linear between measured points (distance, ns), in order of distance. Beyond the last point
    /// the last slope continues; below the first point the time is the first point's.
    Points(Vec<(u32, u64)>),
    /// Two pieces: a + b sqrt(d) for short seeks, c + e d for long ones.
    ///
    /// # Source
    /// Ruemmler and Wilkes, An introduction to disk drive modeling, IEEE Computer 1994.
    Formula {
        /// a, in nanoseconds.
        short_ns: u64,
        /// b, in nanoseconds for each square root of a cylinder.
        per_root_ns: u64,
        /// c, in nanoseconds.
        long_ns: u64,
        /// e, in thousandths of a nanosecond for each cylinder.
        per_cylinder_ps: u64,
        /// The distance from which a seek is long.
        long_from: u32,
    },
}

/// Time to process a command before anything moves, by the kind of the drive's previous command.
///
/// The time of a hit after the same kind of command holds if the hit continues that command; any
/// other hit costs the time of a hit after the other kind. A write-back drive processes every write
/// as a hit.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Overhead {
    /// A read hit in the cache, after a read.
    pub read_hit_after_read_ns: u64,
    /// A read hit in the cache, after a write.
    pub read_hit_after_write_ns: u64,
    /// A read miss, after a read.
    pub read_miss_after_read_ns: u64,
    /// A read miss, after a write.
    pub read_miss_after_write_ns: u64,
    /// A write that the cache takes, after a read.
    pub write_hit_after_read_ns: u64,
    /// A write that the cache takes, after a write.
    pub write_hit_after_write_ns: u64,
    /// A write that completes only on the medium, after a read.
    pub write_miss_after_read_ns: u64,
    /// A write that completes only on the medium, after a write.
    pub write_miss_after_write_ns: u64,
    /// Time between the last byte of a read and its completion.
    pub read_completion_ns: u64,
    /// Time between the end of a write and its completion.
    pub write_completion_ns: u64,
    /// Time to acquire the bus again after the heads were needed.
    pub reconnect_ns: u64,
    /// Time before each transfer.
    pub data_preparation_ns: u64,
}

/// Transfer to and from the host.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Bus {
    /// Picoseconds for each sector of a read.
    pub read_sector_ps: u64,
    /// Picoseconds for each sector of a write.
    pub write_sector_ps: u64,
    /// Share of a read that must have passed the head before its transfer begins, in millionths; at
    /// least one sector.
    pub read_watermark_ppm: u32,
}

/// The drive's cache.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(clippy::struct_excessive_bools, reason = "the switches of a drive, one key each")]
pub struct Cache {
    /// Number of segments; each holds one run of consecutive sectors.
    pub segments: u32,
    /// Number of sectors that a segment holds.
    pub segment_sectors: u32,
    /// Number of segments that may hold data not yet on the medium.
    #[serde(default)]
    pub write_segments: u32,
    /// Whether segments answer reads.
    #[serde(default)]
    pub read: bool,
    /// How far the drive reads ahead after a read.
    #[serde(default)]
    pub read_ahead: ReadAhead,
    /// The maximum number of sectors that are read ahead; `None` means as many as the segment
    /// holds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_ahead_sectors_max: Option<u32>,
    /// The instant at which a write counts as complete.
    #[serde(default)]
    pub write_back: WriteBack,
    /// Whether written segments answer reads too.
    #[serde(default)]
    pub read_hits_on_writes: bool,
    /// Whether data that a host has read is dropped, to make room for read-ahead.
    #[serde(default)]
    pub gives_up_read: bool,
    /// Whether the drive reads from the sector where the head arrives on a track, and keeps the
    /// sectors that pass before the first requested one.
    #[serde(default)]
    pub reads_on_arrival: bool,
    /// Whether one segment is for writes alone.
    #[serde(default)]
    pub write_segment_apart: bool,
    /// Whether an idle drive reads ahead after a read that the cache answered completely.
    #[serde(default)]
    pub read_ahead_after_hits: bool,
    /// Whether the cache answers reads while the heads serve another request.
    #[serde(default)]
    pub hits_while_busy: bool,
    /// Whether the cache takes writes while the heads serve another request; a write that continues
    /// an unwritten segment is always taken.
    #[serde(default)]
    pub writes_while_busy: bool,
}

/// How far the drive reads ahead after a read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ReadAhead {
    /// No read-ahead.
    #[default]
    Off,
    /// To the end of the track.
    Track,
    /// To the end of the cylinder.
    Cylinder,
    /// `read_ahead_sectors_max` sectors, or as many as a segment holds; the oldest sectors in the
    /// segment are dropped.
    Segment,
    /// To the end of the track, and one track further if the segment shows that the host came from
    /// an earlier track. The read-ahead may exceed the segment, as in DiskSim: the sectors read
    /// first are then lost.
    Adaptive,
}

/// The instant at which a write counts as complete.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WriteBack {
    /// When the data is on the medium.
    #[default]
    Off,
    /// When the data is in a cache segment.
    On,
}

/// Rates of the drive's errors; seeded, so that a run can be repeated.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Faults {
    /// Of a million accesses to the medium, the number that must be repeated a revolution later.
    pub retry_ppm: u32,
    /// The maximum number of retries of one access, one revolution each; then it fails.
    pub retries_max: u32,
    /// Of a million accesses, the number that cause a recalibration.
    pub recalibration_ppm: u32,
    /// Duration of a recalibration.
    pub recalibration_ns: u64,
}

/// The positions of sectors.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub enum Layout {
    /// Computed by a rule for each zone: DiskSim's `dm_layout_g1`.
    Zones(Zones),
    /// Looked up in an index of measured tracks: DiskSim's `dm_layout_g4`.
    Index(TrackIndex),
}

/// A layout that is computed by a rule for each zone.
///
/// Tracks of a zone are numbered in their order from 0, and sectors along these tracks; `slips`,
/// `defects` and `skipped_sectors` use these numbers. Cylinders between two zones hold no data.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Zones {
    /// The order of tracks.
    #[serde(default)]
    pub order: TrackOrder,
    /// The position of spare sectors.
    #[serde(default)]
    pub sparing: Sparing,
    /// Number of cylinders in a range, for `range` sparing and the `surface-serpentine` order. The
    /// last range of a zone may be shorter and then has no spares. `None` means the whole zone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub range_cylinders: Option<u32>,
    /// Whether spares stay free when a sector is slipped: the sectors after the slip then move up
    /// through the whole zone. Otherwise they move up into the spares of their region.
    #[serde(default)]
    pub slips_keep_spares: bool,
    /// Zones in order of their cylinders.
    pub zone: Vec<Zone>,
}

/// The order of tracks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TrackOrder {
    /// All heads of a cylinder, from the first; then the next cylinder (DiskSim's mapping 0).
    #[default]
    Cylinder,
    /// As `Cylinder`, but every second cylinder goes from the last head to the first; the first
    /// cylinder of each zone goes from the first head (mapping 1).
    CylinderSerpentine,
    /// As `Cylinder`, but cylinders of odd number go from the last head to the first, wherever
    /// zones begin (mapping 2).
    CylinderSerpentineParity,
    /// All cylinders of a range inwards under one head, then outwards under the next head.
    SurfaceSerpentine,
}

/// The position of a zone's spare sectors, which replace sectors that cannot be used.
///
/// DiskSim's schemes 4, 6 and 10 are `cylinder`, `cylinder-front` and `zone` with
/// `slips_keep_spares`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Sparing {
    /// No spares: `spares` is not used, and each slip makes the zone one sector shorter (schemes 0
    /// and 7).
    #[default]
    None,
    /// The last `spares` sectors of each track (scheme 3).
    Track,
    /// The last `spares` sectors of each cylinder (scheme 2).
    Cylinder,
    /// The first `spares` sectors of each cylinder (scheme 5).
    CylinderFront,
    /// The last `spares` sectors of each range of cylinders (scheme 8).
    Range,
    /// The last `spares` sectors of the zone (scheme 9).
    Zone,
    /// The last `spares` tracks of the zone; `spares`, `slips` and `defects` then count whole
    /// tracks (scheme 1).
    ZoneTracks,
}

/// Cylinders with the same number of sectors on each track.
///
/// A track begins at the angle of the zone's offset, plus a track skew for each change of heads
/// since the zone's first track, plus a cylinder skew for each change of cylinders. With spares by
/// track or by cylinder, each slip on an earlier track or cylinder of the zone adds one sector. A
/// figure in sectors and the same figure in ppm of a revolution add up; a source gives one of the
/// two.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Zone {
    /// The zone's first cylinder.
    pub cylinder_first: u32,
    /// The zone's last cylinder, below [`Mechanics::cylinders`].
    pub cylinder_last: u32,
    /// Number of sectors on each track, spare sectors included.
    pub sectors_per_track: u32,
    /// Angle of the first sector of the first track, in thousandths of a sector.
    #[serde(default)]
    pub offset_millisectors: u64,
    /// Angle of the first sector of the first track, in millionths of a revolution.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub offset_ppm: u64,
    /// Number of usable sectors at the front of the zone, spares not counted, that hold no data.
    #[serde(default)]
    pub skipped_sectors: u64,
    /// Angle between the first sectors of two tracks of a cylinder, in thousandths of a sector.
    #[serde(default)]
    pub track_skew_millisectors: u64,
    /// Angle between the first sectors of two tracks of a cylinder, in millionths of a revolution.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub track_skew_ppm: u64,
    /// Angle between the last track of a cylinder and the first of the next, in thousandths of a
    /// sector.
    #[serde(default)]
    pub cylinder_skew_millisectors: u64,
    /// Angle between the last track of a cylinder and the first of the next, in millionths of a
    /// revolution.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub cylinder_skew_ppm: u64,
    /// Number of spare sectors (or tracks), at the position that `sparing` gives.
    #[serde(default)]
    pub spares: u32,
    /// Sectors (or tracks) of the zone that are left out, each once, in any order; later ones move
    /// up.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub slips: Vec<u64>,
    /// Sectors (or tracks) of the zone that are stored elsewhere in it: (sector, position). An
    /// entry with both numbers equal is not a defect.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub defects: Vec<(u64, u64)>,
}

/// Returns whether a figure is 0 and can be left out of the file.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands out references")]
const fn is_zero(figure: &u64) -> bool {
    *figure == 0
}

/// A layout by an index of measured tracks.
///
/// Each list is text: rows of decimal numbers separated by blanks. Such an index has tens of
/// thousands of rows, and text lets a drive start immediately. Blank rows do not count. A minus
/// sign is allowed only where the documentation names it; angles are in millionths of a revolution,
/// at most 999,999.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TrackIndex {
    /// Kinds of track, numbered from 0, in rows `first last sectors_per_track`: the first and the
    /// last sector of the track that hold data, and the number of sectors on the track.
    pub tracks: String,
    /// Nodes, numbered from 0, separated by a row `-`; the last node is the root. One row for each
    /// entry: `sectors_before cylinder offset_ppm sectors cylinders skew_ppm run_sectors
    /// run_cylinders T kind head`, or the same with `N node` instead of `T kind head`.
    ///
    /// - The entry describes a run of equal pieces: tracks of one kind under one head (`T`), or
    ///   nodes with all their entries (`N`).
    /// - The run begins `sectors_before` sectors, `cylinder` cylinders and the angle `offset_ppm`
    ///   after the beginning of its own node; the root begins at 0.
    /// - The run covers `run_sectors` sectors and `run_cylinders` cylinders. Each piece covers
    ///   `sectors` and `cylinders`, and begins `skew_ppm` after the previous piece.
    /// - `run_cylinders` is negative if each piece lies further out than the previous one;
    ///   `cylinder` is then the cylinder of the first piece, the innermost.
    ///
    /// Entries are in order of `sectors_before`, without gaps; slipped sectors count. A node comes
    /// before the rows that refer to it. The very last row may state more `sectors` than its piece
    /// has, as in extractions that ran beyond the end of the disk.
    pub index: String,
    /// Slips in order, in rows `sector count`: `count` sectors from this sector on are left out.
    /// Sectors have the numbers of `index`, which include slipped sectors.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub slips: String,
    /// Sectors that are stored elsewhere, in rows
    /// `sector count cylinder head first sectors_per_track`: `count` sectors from this sector on,
    /// in the host's numbers, lie on the track of that cylinder and head, from its physical sector
    /// `first` on.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub remaps: String,
}

/// A fault in a `[mechanics]` section.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MechanicsError {
    /// The faulty value, as `zone 3: sectors_per_track`; zones count from 0.
    pub place: String,
    /// The fault.
    pub message: String,
    /// The advice: what to write instead.
    pub help: String,
}

impl fmt::Display for MechanicsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.message)
    }
}

impl std::error::Error for MechanicsError {}
