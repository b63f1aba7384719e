// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The mapping table: the location of each unit, and the unit at each flash address.

use super::cache::Slot;
use super::geometry::{Address, Geometry, Unit};

/// The location of a unit's current content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum UnitLocation {
    /// Nowhere: the unit was never written, or was trimmed.
    Nowhere,
    /// In flash.
    Flash(Address),
    /// In the write cache.
    Cache(Slot),
}

/// Represents no unit and no address.
const NONE: u32 = u32::MAX;
/// Marks a cache slot; addresses are smaller.
const CACHED: u32 = 1 << 31;

/// The mapping table.
///
/// # Invariants
/// - A unit is in flash at an address if and only if the address holds this unit.
/// - A block's count is the number of its addresses that hold a unit.
///
/// # Shape
/// `locations` by unit, `holders` by address, `valid_counts` by block of all dies. Locations and
/// holders are numbers, not enums, because there are millions of them.
#[derive(Debug, Clone)]
pub(super) struct Mapping {
    locations: Vec<u32>,
    holders: Vec<u32>,
    valid_counts: Vec<u32>,
    units_per_block: u32,
}

impl Mapping {
    /// Creates the table of an empty drive.
    pub(super) fn new(geometry: &Geometry) -> Self {
        let blocks = geometry.dies * geometry.blocks_per_die;
        Self {
            locations: vec![NONE; geometry.units as usize],
            holders: vec![NONE; (geometry.dies * geometry.units_per_die) as usize],
            valid_counts: vec![0; blocks as usize],
            units_per_block: geometry.units_per_block,
        }
    }

    pub(super) fn location(&self, unit: Unit) -> UnitLocation {
        match self.locations[unit.0 as usize] {
            NONE => UnitLocation::Nowhere,
            cached if cached & CACHED != 0 => UnitLocation::Cache(Slot(cached & !CACHED)),
            address => UnitLocation::Flash(Address(address)),
        }
    }

    /// Returns the unit whose current content is at this address.
    pub(super) fn holder(&self, address: Address) -> Option<Unit> {
        let unit = self.holders[address.0 as usize];
        (unit != NONE).then_some(Unit(unit))
    }

    /// Returns the number of units whose current content is in a block.
    pub(super) fn valid_count(&self, block: usize) -> u32 {
        self.valid_counts[block]
    }

    /// Moves a unit's current content to `location`; its copy in flash becomes stale.
    pub(super) fn set(&mut self, unit: Unit, location: UnitLocation) {
        let number = match location {
            UnitLocation::Nowhere => NONE,
            UnitLocation::Flash(address) => address.0,
            UnitLocation::Cache(slot) => slot.0 | CACHED,
        };
        let before = std::mem::replace(&mut self.locations[unit.0 as usize], number);
        if before & CACHED == 0 {
            self.holders[before as usize] = NONE;
            self.valid_counts[(before / self.units_per_block) as usize] -= 1;
        }
        if let UnitLocation::Flash(address) = location {
            self.holders[address.0 as usize] = unit.0;
            self.valid_counts[(address.0 / self.units_per_block) as usize] += 1;
        }
    }

    fn count_valid(&self) -> Vec<u32> {
        let blocks = self.holders.chunks(self.units_per_block as usize);
        blocks.map(|block| block.iter().map(|&unit| u32::from(unit != NONE)).sum()).collect()
    }

    /// Checks the invariants.
    ///
    /// # Panics
    /// If they do not hold.
    pub(super) fn audit(&self) {
        for (address, &unit) in (0..).zip(&self.holders).filter(|&(_, &unit)| unit != NONE) {
            assert_eq!(self.locations[unit as usize], address, "unit {unit} is elsewhere");
        }
        assert_eq!(self.count_valid(), self.valid_counts, "units counted by block");
        let in_flash = self.locations.iter().filter(|&&location| location & CACHED == 0).count();
        let held = self.holders.iter().filter(|&&unit| unit != NONE).count();
        assert_eq!(in_flash, held, "a unit is in flash where nothing holds it");
    }
}
