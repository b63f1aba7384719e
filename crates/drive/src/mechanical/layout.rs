// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Where sectors lie: from a sector's number to its place on the platters and back.
//!
//! Two kinds of description, by rule and by index, answer the same questions. What they share
//! is beside them: slips, sectors that are stored elsewhere, the angles of a track.

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

/// A disk may not have more surfaces.
const SURFACES_MAX: u32 = 1 << 10;

/// A disk may not have more cylinders.
const CYLINDERS_MAX: u32 = 1 << 24;

/// A sector's place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Position {
    /// From 0, the outermost.
    pub cylinder: u32,
    /// From 0.
    pub head: u32,
    /// Physical sector of the track, from 0, those without data counted.
    pub sector: u32,
}

/// Consecutive sectors of one track, by number and by place.
///
/// # Invariants
/// - `sectors >= 1`; `track_begin <= start < start + sectors <= track_end`.
/// - `span` covers the first to the last of them, slipped ones in between included, and is
///   at most one turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Extent {
    /// The first of them.
    pub start: Lba,
    /// How many sectors of data.
    pub sectors: u32,
    /// Their cylinder.
    pub cylinder: u32,
    /// Their head.
    pub head: u32,
    /// The angle at which the first begins.
    pub begin: Angle,
    /// The angle from where the first begins to where the last ends.
    pub span: Angle,
    /// Physical sectors of the track.
    pub sectors_per_track: u32,
    /// First sector of data that lies on this track with all up to `start`: where sectors are
    /// stored elsewhere, a track is as several.
    pub track_begin: Lba,
    /// The sector of data after the last that lies on this track with all from `start` on.
    pub track_end: Lba,
}

/// Tracks of one density.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ZoneFacts {
    /// First cylinder.
    pub cylinder_first: u32,
    /// Last cylinder.
    pub cylinder_last: u32,
    /// Physical sectors of a track; of the longest, where heads differ.
    pub sectors_per_track: u32,
    /// The zone's first sector of data.
    pub start: Lba,
    /// Sectors of data in it.
    pub sectors: u64,
}

/// What a layout holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Held {
    /// Sectors of data.
    pub sectors: u64,
    /// Cylinders up to the last one with data.
    pub cylinders: u32,
}

/// The layout of a disk.
///
/// # Complexity
/// A look-up bisects zones, slips and rows, and allocates nothing. Memory is proportional to
/// the description.
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
    /// By rule, zone by zone.
    Zones(ZonedLayout),
    /// By an index over tracks.
    Index(IndexedLayout),
}

impl Layout {
    /// The layout that a drive file describes.
    ///
    /// # Errors
    /// What is wrong with the description, and where.
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

    /// How much the layout of a drive file holds, whatever the file says of that.
    ///
    /// # Errors
    /// What else is wrong with the description, and where.
    pub fn held(mechanics: &Mechanics) -> Result<Held, MechanicsError> {
        let layout = Self::full(mechanics, CYLINDERS_MAX)?;
        let cylinders = match &layout {
            Self::Zones(zones) => zones.cylinders(),
            Self::Index(index) => index.cylinders(),
        };
        Ok(Held { sectors: layout.sectors(), cylinders })
    }

    /// The layout with all sectors that it holds.
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

    /// The sectors from `start` on that lie on one track, at most `sectors_max`.
    ///
    /// # Panics
    /// When `start` is beyond the end of the disk or `sectors_max` is 0.
    pub fn extent(&self, start: Lba, sectors_max: u64) -> Extent {
        match self {
            Self::Zones(zones) => zones.extent(start.get(), sectors_max),
            Self::Index(index) => index.extent(start.get(), sectors_max),
        }
    }

    /// The place of a sector.
    ///
    /// # Panics
    /// When `sector` is beyond the end of the disk.
    pub fn position(&self, sector: Lba) -> Position {
        match self {
            Self::Zones(zones) => zones.position(sector.get()),
            Self::Index(index) => index.position(sector.get()),
        }
    }

    /// The sector that lies at this place; none where there is no data.
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

    /// Sectors of data on the disk.
    pub fn sectors(&self) -> u64 {
        match self {
            Self::Zones(zones) => zones.sectors(),
            Self::Index(index) => index.sectors(),
        }
    }

    /// Zones in the order of their sectors.
    ///
    /// An index names none: here each row of its root is one, and rows of one density that
    /// follow each other are one zone.
    pub fn zones(&self) -> Vec<ZoneFacts> {
        match self {
            Self::Zones(zones) => zones.facts(),
            Self::Index(index) => index.facts(),
        }
    }
}

/// What is wrong, where, and what to write instead.
fn wrong(
    place: impl Into<String>,
    message: impl Into<String>,
    help: impl Into<String>,
) -> MechanicsError {
    MechanicsError { place: place.into(), message: message.into(), help: help.into() }
}

/// Refuses a disk of no surfaces or cylinders, or of too many.
fn check_count(place: &str, value: u32, max: u32) -> Result<(), MechanicsError> {
    if (1..=max).contains(&value) {
        return Ok(());
    }
    let message = format!("a disk cannot have {value} of them");
    Err(wrong(place, message, format!("write a number from 1 to {max}")))
}

/// Refuses a disk that is to have more sectors than its layout holds, or none.
fn check_sectors(asked: u64, held: u64) -> Result<(), MechanicsError> {
    if asked == 0 || asked > held {
        return Err(wrong(
            "sectors",
            format!("a disk of {asked} sectors, but the layout holds {held}"),
            if held == 0 {
                "check zones, spares and slips: they leave nothing".to_owned()
            } else {
                format!("write a number from 1 to {held}")
            },
        ));
    }
    Ok(())
}

/// Refuses a track of no sectors or of more than angles are computed for.
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
