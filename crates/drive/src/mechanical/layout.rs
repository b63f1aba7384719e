// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The layout of sectors: from a sector's number to its position on the platters and back.
//!
//! A layout is described by zones or by an index; both support the same queries and share slips,
//! remapped sectors and the angles of a track.

mod angles;
mod check;
mod home;
mod homes;
mod index;
mod position;
mod remaps;
mod slips;
pub(super) mod steps;
mod zones;

use tidegate_model::Lba;
use tidegate_model::mechanics::{self, Mechanics, MechanicsError};

use self::check::{check_count, check_sectors};
use self::homes::Homes;
use self::index::IndexedLayout;
pub use self::position::{Extent, Position, ZoneFacts};
use self::zones::ZonedLayout;

/// The largest number of surfaces.
const SURFACES_MAX: u32 = 1 << 10;

/// The largest number of cylinders.
const CYLINDERS_MAX: u32 = 1 << 24;

/// The capacity of a layout.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Held {
    /// The number of data sectors.
    pub sectors: u64,
    /// The number of cylinders up to the last one with data.
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
    /// A layout described by zones.
    Zones(ZonedLayout),
    /// A layout described by an index over tracks.
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
    /// [`MechanicsError`] with any fault except a wrong capacity, and its place in the description.
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
    /// In an index, linear in the rows of a node; meant for plots and checks.
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
    /// An index does not name zones: each row of its root counts as a zone, and consecutive rows of
    /// the same density count as one zone.
    pub fn zones(&self) -> Vec<ZoneFacts> {
        match self {
            Self::Zones(zones) => zones.facts(),
            Self::Index(index) => index.facts(),
        }
    }
}
