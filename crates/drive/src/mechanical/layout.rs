// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The layout of sectors: from a sector's number to its position on the platters and back.
//!
//! A layout is described by zones or by an index; both support the same queries and share slips,
//! remapped sectors and the angles of a track.

mod angles;
mod home;
mod index;
mod remaps;
mod slips;
pub(super) mod steps;
mod zones;

use tidegate_model::Lba;
use tidegate_model::mechanics::{self, Mechanics, MechanicsError};

use self::index::IndexedLayout;
use self::zones::ZonedLayout;
use super::rotation::Angle;

/// The largest number of surfaces.
const SURFACES_MAX: u32 = 1 << 10;

/// The largest number of cylinders.
const CYLINDERS_MAX: u32 = 1 << 24;

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
    /// Their cylinder.
    pub cylinder: u32,
    /// Their head.
    pub head: u32,
    /// The angle at which the first sector begins.
    pub begin: Angle,
    /// The angle from the beginning of the first sector to the end of the last.
    pub span: Angle,
    /// Physical sectors of the track.
    pub sectors_per_track: u32,
    /// The first data sector of the run on this track that contains `start`; remapped sectors
    /// split a track into several runs.
    pub track_begin: Lba,
    /// The data sector after the last of that run.
    pub track_end: Lba,
}

/// Tracks of one density.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ZoneFacts {
    /// First cylinder.
    pub cylinder_first: u32,
    /// Last cylinder.
    pub cylinder_last: u32,
    /// Physical sectors of a track; where heads differ, of the longest track.
    pub sectors_per_track: u32,
    /// The zone's first data sector.
    pub start: Lba,
    /// The zone's number of data sectors.
    pub sectors: u64,
}

/// The capacity of a layout.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Held {
    /// Data sectors.
    pub sectors: u64,
    /// Cylinders up to the last one with data.
    pub cylinders: u32,
}

/// The layout of a disk.
///
/// # Complexity
/// A look-up bisects zones, slips and rows, and does not allocate. Memory is proportional to the
/// description.
///
/// # Example
/// ```
/// use tidegate_drive::mechanical::{Layout, Position};
/// use tidegate_model::Lba;
/// use tidegate_model::mechanics::Mechanics;
///
/// let mechanics: Mechanics = toml::from_str("
///     rpm = 7200
///     surfaces = 2
///     cylinders = 10
///     sectors = 2000
///     head_switch_ns = 900_000
///     seek.points = [[1, 1_600_000]]
///     layout.zones.zone = [{ cylinder_first = 0, cylinder_last = 9, sectors_per_track = 100 }]
/// ").unwrap();
/// let layout = Layout::new(&mechanics).unwrap();
///
/// assert_eq!(layout.position(Lba::new(250)), Position { cylinder: 1, head: 0, sector: 50 });
/// let extent = layout.extent(Lba::new(250), 128);
/// assert_eq!((extent.sectors, extent.track_end), (50, Lba::new(300)));
/// ```
#[derive(Debug, Clone)]
pub enum Layout {
    /// Described by zones.
    Zones(ZonedLayout),
    /// Described by an index over tracks.
    Index(IndexedLayout),
}

impl Layout {
    /// Builds the layout that a drive file describes.
    ///
    /// # Errors
    /// [`MechanicsError`] with the fault and its place in the description.
    pub fn new(mechanics: &Mechanics) -> Result<Self, MechanicsError> {
        check_count("cylinders", mechanics.cylinders, CYLINDERS_MAX)?;
        let mut layout = Self::full(mechanics, mechanics.cylinders)?;
        check_sectors(mechanics.sectors, layout.sectors())?;
        match &mut layout {
            Self::Zones(zones) => zones.limit(mechanics.sectors),
            Self::Index(index) => index.limit(mechanics.sectors),
        }
        Ok(layout)
    }

    /// Returns the capacity of a drive file's layout, regardless of the capacity that the file
    /// states.
    ///
    /// # Errors
    /// [`MechanicsError`] with any other fault and its place in the description.
    pub fn held(mechanics: &Mechanics) -> Result<Held, MechanicsError> {
        let layout = Self::full(mechanics, CYLINDERS_MAX)?;
        let cylinders = match &layout {
            Self::Zones(zones) => zones.cylinders(),
            Self::Index(index) => index.cylinders(),
        };
        Ok(Held { sectors: layout.sectors(), cylinders })
    }

    /// Returns the layout with all sectors that it can hold.
    fn full(mechanics: &Mechanics, cylinders: u32) -> Result<Self, MechanicsError> {
        let surfaces = mechanics.surfaces;
        check_count("surfaces", surfaces, SURFACES_MAX)?;
        match &mechanics.layout {
            mechanics::Layout::Zones(zones) => {
                ZonedLayout::full(zones, surfaces, cylinders).map(Self::Zones)
            }
            mechanics::Layout::Index(index) => {
                IndexedLayout::full(index, surfaces, cylinders).map(Self::Index)
            }
        }
    }

    /// Returns the sectors from `start` on that lie on one track, at most `sectors_max`.
    ///
    /// # Panics
    /// If `start` is beyond the end of the disk or `sectors_max` is 0.
    pub fn extent(&self, start: Lba, sectors_max: u64) -> Extent {
        match self {
            Self::Zones(zones) => zones.extent(start.get(), sectors_max),
            Self::Index(index) => index.extent(start.get(), sectors_max),
        }
    }

    /// Returns the position of a sector.
    ///
    /// # Panics
    /// If `sector` is beyond the end of the disk.
    pub fn position(&self, sector: Lba) -> Position {
        match self {
            Self::Zones(zones) => zones.position(sector.get()),
            Self::Index(index) => index.position(sector.get()),
        }
    }

    /// Returns the sector at this position; `None` for a position without data.
    ///
    /// # Complexity
    /// In an index, linear in the rows of a node: for pictures and checks.
    pub fn sector_at(&self, position: Position) -> Option<Lba> {
        match self {
            Self::Zones(zones) => zones.sector_at(position),
            Self::Index(index) => index.sector_at(position),
        }
        .map(Lba::new)
    }

    /// Returns the number of data sectors on the disk.
    pub fn sectors(&self) -> u64 {
        match self {
            Self::Zones(zones) => zones.sectors(),
            Self::Index(index) => index.sectors(),
        }
    }

    /// Returns the zones in the order of their sectors.
    ///
    /// An index does not name zones: each row of its root counts as one, and consecutive rows of
    /// the same density are one zone.
    pub fn zones(&self) -> Vec<ZoneFacts> {
        match self {
            Self::Zones(zones) => zones.facts(),
            Self::Index(index) => index.facts(),
        }
    }
}

/// Returns an error that states the fault, its place, and what to write instead.
fn wrong(
    place: impl Into<String>,
    message: impl Into<String>,
    help: impl Into<String>,
) -> MechanicsError {
    MechanicsError { place: place.into(), message: message.into(), help: help.into() }
}

/// Refuses a disk with no surfaces or cylinders, or with too many.
fn check_count(place: &str, value: u32, max: u32) -> Result<(), MechanicsError> {
    if (1..=max).contains(&value) {
        return Ok(());
    }
    let message = format!("{value} is not possible for a disk");
    Err(wrong(place, message, format!("write a number from 1 to {max}")))
}

/// Refuses a disk with more sectors than its layout holds, or with none.
fn check_sectors(asked: u64, held: u64) -> Result<(), MechanicsError> {
    if asked == 0 || asked > held {
        return Err(wrong(
            "sectors",
            format!("the disk has {asked} sectors, but the layout holds {held}"),
            if held == 0 {
                "check zones, spares and slips: they leave no sectors".to_owned()
            } else {
                format!("write a number from 1 to {held}")
            },
        ));
    }
    Ok(())
}

/// Refuses a track with no sectors or with more than the angles support.
fn check_sectors_per_track(place: &str, value: u64) -> Result<u32, MechanicsError> {
    let max = angles::SECTORS_PER_TRACK_MAX;
    match u32::try_from(value) {
        Ok(sectors) if (1..=max).contains(&sectors) => Ok(sectors),
        _ => Err(wrong(
            place,
            format!("a track cannot have {value} sectors"),
            format!("write a number from 1 to {max}"),
        )),
    }
}
