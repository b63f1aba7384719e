// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Where each unit is: the mapping table, and back from flash to units.

use super::cache::Slot;
use super::geometry::{Address, Geometry, Unit};

/// Where the current content of a unit is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// Nowhere: it was never written, or trimmed.
    Nowhere,
    /// In flash.
    Flash(Address),
    /// In the write cache.
    Cache(Slot),
}

/// No unit, no address.
const NONE: u32 = u32::MAX;
/// Marks a slot of the cache; addresses are smaller.
const CACHED: u32 = 1 << 31;

/// The mapping table.
///
/// # Invariants
/// - A unit is in flash at an address exactly if the address holds this unit.
/// - The count of a block is how many of its addresses hold a unit.
///
/// # Shape
/// `places` by unit, `holders` by address, `valid_counts` by block of all dies. Places and
/// holders are numbers, not enums, because there are millions of them.
#[derive(Debug, Clone)]
pub(super) struct Mapping {
    places: Vec<u32>,
    holders: Vec<u32>,
    valid_counts: Vec<u32>,
    units_per_block: u32,
}

impl Mapping {
    /// The table of a drive to which nothing was written.
    pub(super) fn new(geometry: &Geometry) -> Self {
        let blocks = geometry.dies * geometry.blocks_per_die;
        Self {
            places: vec![NONE; geometry.units as usize],
            holders: vec![NONE; (geometry.dies * geometry.units_per_die) as usize],
            valid_counts: vec![0; blocks as usize],
            units_per_block: geometry.units_per_block,
        }
    }

    pub(super) fn place(&self, unit: Unit) -> Place {
        match self.places[unit.0 as usize] {
            NONE => Place::Nowhere,
            cached if cached & CACHED != 0 => Place::Cache(Slot(cached & !CACHED)),
            address => Place::Flash(Address(address)),
        }
    }

    /// The unit whose current content is at this address.
    pub(super) fn holder(&self, address: Address) -> Option<Unit> {
        let unit = self.holders[address.0 as usize];
        (unit != NONE).then_some(Unit(unit))
    }

    /// How many units have their current content in a block.
    pub(super) fn valid_count(&self, block: usize) -> u32 {
        self.valid_counts[block]
    }

    /// The content of a unit is now here; what flash had of it is stale.
    pub(super) fn set(&mut self, unit: Unit, place: Place) {
        let number = match place {
            Place::Nowhere => NONE,
            Place::Flash(address) => address.0,
            Place::Cache(slot) => slot.0 | CACHED,
        };
        let before = std::mem::replace(&mut self.places[unit.0 as usize], number);
        if before & CACHED == 0 {
            self.holders[before as usize] = NONE;
            self.valid_counts[(before / self.units_per_block) as usize] -= 1;
        }
        if let Place::Flash(address) = place {
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
    /// When they do not hold.
    pub(super) fn audit(&self) {
        for (address, &unit) in (0..).zip(&self.holders).filter(|&(_, &unit)| unit != NONE) {
            assert_eq!(self.places[unit as usize], address, "unit {unit} is elsewhere");
        }
        assert_eq!(self.count_valid(), self.valid_counts, "units counted by block");
        let in_flash = self.places.iter().filter(|&&place| place & CACHED == 0).count();
        let held = self.holders.iter().filter(|&&unit| unit != NONE).count();
        assert_eq!(in_flash, held, "a unit is in flash where nothing holds it");
    }
}
