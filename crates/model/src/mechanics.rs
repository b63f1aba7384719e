// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The `[mechanics]` section of a drive file: what a hard disk is made of.
//!
//! Integers only: times in nanoseconds, rotation in whole turns per minute, skews in
//! thousandths of a sector, angles in millionths of a turn, as the published extractions
//! have them. What these figures mean in time is the business of the mechanical drive.

mod check;
mod queue;

use std::fmt;

use serde::{Deserialize, Serialize};

pub use queue::{Queue, Scheduler};

/// What a hard disk is made of.
///
/// [`Mechanics::check`] says what is wrong with it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mechanics {
    /// What no source gives and was chosen, one line each, for people.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub chosen: Vec<String>,
    /// Turns per minute.
    pub rpm: u32,
    /// Recorded surfaces, one head each.
    pub surfaces: u32,
    /// Cylinders, 0 the outermost.
    pub cylinders: u32,
    /// Sectors of 512 bytes that hosts can address, at most as many as the layout holds.
    pub sectors: u64,
    /// Time to change to another head of the same cylinder.
    pub head_switch_ns: u64,
    /// Added to positioning before a write; negative where reads take longer to settle.
    #[serde(default)]
    pub write_settle_ns: i64,
    /// A write that does not go on from the last one takes at least so long to get there.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub write_seek_ns_min: u64,
    /// A read may be transferred from its middle on, if the head arrives there.
    #[serde(default)]
    pub zero_latency: bool,
    /// Time of a seek by its distance.
    pub seek: Seek,
    /// Processing of a command before anything moves.
    #[serde(default)]
    pub overhead: Overhead,
    /// Transfer to and from the host.
    #[serde(default)]
    pub bus: Bus,
    /// The drive's own memory; none: neither read-ahead nor write-back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache: Option<Cache>,
    /// The order in which the drive serves what it holds.
    #[serde(default)]
    pub queue: Queue,
    /// What goes wrong now and then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub faults: Option<Faults>,
    /// Where sectors lie.
    pub layout: Layout,
}

/// Time of a seek by its distance in cylinders; a seek of no distance takes no time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub enum Seek {
    /// Linear between measured points (distance, ns), in order of distance. Beyond the last
    /// point the last slope goes on; below the first point the time is that of the first.
    Points(Vec<(u32, u64)>),
    /// Two pieces: a + b sqrt(d) for short seeks, c + e d for long ones.
    ///
    /// # Source
    /// Ruemmler and Wilkes, An introduction to disk drive modeling, IEEE Computer 1994.
    Formula {
        /// a.
        short_ns: u64,
        /// b.
        per_root_ns: u64,
        /// c.
        long_ns: u64,
        /// e, in thousandths of a nanosecond for each cylinder.
        per_cylinder_ps: u64,
        /// The distance from which a seek is long.
        long_from: u32,
    },
}

/// Processing of a command before anything moves, by what the drive did before.
///
/// The figure of a hit after the same kind of command holds where it goes on from that
/// command; a hit elsewhere costs what a hit after the other kind costs. A drive that writes
/// back processes every write as a hit.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Overhead {
    /// A read that finds its data in the cache, after a read.
    pub read_hit_after_read_ns: u64,
    /// The same after a write.
    pub read_hit_after_write_ns: u64,
    /// A read that does not, after a read.
    pub read_miss_after_read_ns: u64,
    /// The same after a write.
    pub read_miss_after_write_ns: u64,
    /// A write that the cache takes, after a read.
    pub write_hit_after_read_ns: u64,
    /// The same after a write.
    pub write_hit_after_write_ns: u64,
    /// A write that goes to the medium before it counts as complete, after a read.
    pub write_miss_after_read_ns: u64,
    /// The same after a write.
    pub write_miss_after_write_ns: u64,
    /// Between the last byte of a read and its completion.
    pub read_completion_ns: u64,
    /// Between the end of a write and its completion.
    pub write_completion_ns: u64,
    /// Taking up the bus again after the heads were needed.
    pub reconnect_ns: u64,
    /// Before each transfer.
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
    /// How much of a read must have passed the head before its transfer begins, in millionths;
    /// at least one sector.
    pub read_watermark_ppm: u32,
}

/// The drive's own memory.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(clippy::struct_excessive_bools, reason = "the switches of a drive, one key each")]
pub struct Cache {
    /// Segments, each for one run of sectors.
    pub segments: u32,
    /// Sectors that a segment holds.
    pub segment_sectors: u32,
    /// How many segments may hold what is not on the medium yet.
    #[serde(default)]
    pub write_segments: u32,
    /// Reads are answered from segments where they can be.
    #[serde(default)]
    pub read: bool,
    /// How far the drive reads on after a read.
    #[serde(default)]
    pub read_ahead: ReadAhead,
    /// At most so many sectors are read on; none: as many as the segment holds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_ahead_sectors_max: Option<u32>,
    /// A write counts as complete when it is in a segment.
    #[serde(default)]
    pub write_back: WriteBack,
    /// Reads are answered from written segments too.
    #[serde(default)]
    pub read_hits_on_writes: bool,
    /// What a host has read is not kept: the drive needs the room to read on.
    #[serde(default)]
    pub gives_up_read: bool,
    /// The drive reads from where the head arrives on a track, and keeps what passes before
    /// the first sector asked for.
    #[serde(default)]
    pub reads_on_arrival: bool,
    /// One segment is for writes alone.
    #[serde(default)]
    pub write_segment_apart: bool,
    /// After a read that was answered from memory alone, an idle drive reads on.
    #[serde(default)]
    pub read_ahead_after_hits: bool,
    /// Reads are answered from memory while the heads serve something else.
    #[serde(default)]
    pub hits_while_busy: bool,
    /// Writes are taken into memory while the heads serve something else; what goes on from
    /// an unwritten segment always is.
    #[serde(default)]
    pub writes_while_busy: bool,
}

/// How far the drive reads on after a read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ReadAhead {
    /// Not at all.
    #[default]
    Off,
    /// To the end of the track.
    Track,
    /// To the end of the cylinder.
    Cylinder,
    /// `read_ahead_sectors_max` sectors, or as many as a segment holds; what was longest in
    /// the segment goes.
    Segment,
    /// To the end of the track; and one track further when the segment shows that the host
    /// came from an earlier one. Longer than the segment it may be, as in DiskSim: then what
    /// was read first is lost.
    Adaptive,
}

/// When a write counts as complete.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WriteBack {
    /// When it is on the medium.
    #[default]
    Off,
    /// When it is in a segment.
    On,
}

/// What goes wrong now and then; seeded, so that a run can be repeated.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Faults {
    /// Of a million accesses to the medium so many must be repeated a turn later.
    pub retry_ppm: u32,
    /// At most so many turns for one access; then it fails.
    pub retries_max: u32,
    /// Of a million accesses so many come upon a recalibration.
    pub recalibration_ppm: u32,
    /// How long a recalibration takes.
    pub recalibration_ns: u64,
}

/// Where sectors lie.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub enum Layout {
    /// By rule, zone by zone: DiskSim's `dm_layout_g1`.
    Zones(Zones),
    /// By an index over tracks as they were measured: DiskSim's `dm_layout_g4`.
    Index(TrackIndex),
}

/// A layout by rule.
///
/// Tracks are counted through each zone in their order, from 0, and sectors through those
/// tracks: `slips`, `defects` and `skipped_sectors` speak of these numbers. Cylinders
/// between two zones hold nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Zones {
    /// How tracks follow each other.
    #[serde(default)]
    pub order: TrackOrder,
    /// What stands in for sectors that cannot be used.
    #[serde(default)]
    pub sparing: Sparing,
    /// Cylinders of a range, for `range` sparing and the `surface-serpentine` order; the last
    /// range of a zone may be shorter and then has no spares. None: the whole zone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub range_cylinders: Option<u32>,
    /// Spares are kept free: what follows a slip moves up through the whole zone. Otherwise it
    /// moves up into the spares of its region.
    #[serde(default)]
    pub slips_keep_spares: bool,
    /// Zones in order of their cylinders.
    pub zone: Vec<Zone>,
}

/// How tracks follow each other.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TrackOrder {
    /// All heads of a cylinder, from the first; then the next cylinder (DiskSim's mapping 0).
    #[default]
    Cylinder,
    /// The same, but every other cylinder from the last head to the first; the first cylinder
    /// of each zone is in order (mapping 1).
    CylinderSerpentine,
    /// The same, but cylinders of even number are in order, wherever zones begin (mapping 2).
    CylinderSerpentineParity,
    /// All cylinders of a range inwards under one head and back outwards under the next.
    SurfaceSerpentine,
}

/// What stands in for sectors that cannot be used: where the spares of a zone are.
///
/// DiskSim's schemes 4, 6 and 10 are `cylinder`, `cylinder-front` and `zone` with
/// `slips_keep_spares`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Sparing {
    /// Nowhere: `spares` is not used, each slip makes the zone a sector shorter (schemes 0
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
    /// The last `spares` tracks of the zone: here `spares`, `slips` and `defects` count whole
    /// tracks (scheme 1).
    ZoneTracks,
}

/// Cylinders with the same number of sectors on each track.
///
/// The angle at which a track begins is the zone's offset, a track skew for each change of
/// heads since the zone's first track and a cylinder skew for each change of cylinders. With
/// spares by track or by cylinder, each slip on an earlier track or cylinder of the zone adds
/// one sector. Figures in sectors and in ppm of a turn add up; a source gives one of them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Zone {
    /// Its first cylinder.
    pub cylinder_first: u32,
    /// Its last cylinder, below [`Mechanics::cylinders`].
    pub cylinder_last: u32,
    /// Sectors on each track, spare ones included.
    pub sectors_per_track: u32,
    /// Angle of the first sector of the first track, in thousandths of a sector.
    #[serde(default)]
    pub offset_millisectors: u64,
    /// The same in millionths of a turn.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub offset_ppm: u64,
    /// Usable sectors at the front of the zone, spares not counted, that hold no data.
    #[serde(default)]
    pub skipped_sectors: u64,
    /// Between the first sectors of two tracks of a cylinder, in thousandths of a sector.
    #[serde(default)]
    pub track_skew_millisectors: u64,
    /// The same in millionths of a turn.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub track_skew_ppm: u64,
    /// Between the last track of a cylinder and the first of the next.
    #[serde(default)]
    pub cylinder_skew_millisectors: u64,
    /// The same in millionths of a turn.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub cylinder_skew_ppm: u64,
    /// Spare sectors (or tracks), where `sparing` says.
    #[serde(default)]
    pub spares: u32,
    /// Sectors (or tracks) of the zone that are left out, each once, in any order: those after
    /// them move up.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub slips: Vec<u64>,
    /// Sectors (or tracks) of the zone that are stored elsewhere in it: (sector, where). One
    /// that stands for itself is no defect.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub defects: Vec<(u64, u64)>,
}

/// Whether a figure can be left out of the file.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands out references")]
const fn is_zero(figure: &u64) -> bool {
    *figure == 0
}

/// A layout by an index over tracks as they were measured.
///
/// Rows of decimal numbers between blanks, in text: such an index has tens of thousands of
/// them, and a drive has to start at once. Blank rows do not count. A minus stands only where
/// it is named; angles are in millionths of a turn, at most 999,999.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TrackIndex {
    /// Kinds of track, numbered from 0: `first last sectors_per_track`. The sectors of the
    /// track that hold data, the first and the last of them, and how many there are in all.
    pub tracks: String,
    /// Nodes, numbered from 0, separated by a row `-`; the last one is the root. One row for
    /// each entry: `sectors_before cylinder offset_ppm sectors cylinders skew_ppm run_sectors
    /// run_cylinders T kind head`, or the same with `N node` instead of `T kind head`.
    ///
    /// - The entry stands for a run of equal pieces: tracks of a kind under a head (`T`), or
    ///   nodes (`N`) with all that is in them.
    /// - The run begins `sectors_before` sectors, `cylinder` cylinders and the angle `offset_ppm`
    ///   after where its own node begins; the root begins at 0.
    /// - It covers `run_sectors` sectors and `run_cylinders` cylinders; each piece covers
    ///   `sectors` and `cylinders`, and begins `skew_ppm` after the one before.
    /// - `run_cylinders` is negative where each piece lies further out than the one before:
    ///   `cylinder` is then that of the first piece, the innermost.
    ///
    /// Entries are in order of `sectors_before`, without gaps; slipped sectors count. A node
    /// stands before the rows that refer to it. The last row of all may say more `sectors` than
    /// its piece has, as extractions do that ran beyond the end of the disk.
    pub index: String,
    /// Slips in order: `sector count`. So many sectors are left out from this one on, in the
    /// numbers of `index`, in which slipped ones count.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub slips: String,
    /// Sectors that are stored elsewhere: `sector count cylinder head first
    /// sectors_per_track`. So many sectors from this one on, in the numbers of the host, lie
    /// on the track of that cylinder and head, from its physical sector `first` on.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub remaps: String,
}

/// What is wrong with a `[mechanics]` section.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MechanicsError {
    /// Which value, as `zone 3: sectors_per_track`; zones count from 0.
    pub place: String,
    /// What is wrong with it.
    pub message: String,
    /// What to write instead.
    pub help: String,
}

impl fmt::Display for MechanicsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.message)
    }
}

impl std::error::Error for MechanicsError {}
