// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Garbage collection of one die: frees a block by copying its valid units.
//!
//! ```text
//!           +--> read a stripe --> over the channel --+
//!   victim -+                                         +--> ... --> erase --> free
//!           +--> over the channel --> program a row --+
//! ```
//!
//! Each step is a separate operation of the die, so that host reads run between steps.

use std::ops::Range;

use super::geometry::{Address, Geometry, Stripe, Unit};
use super::mapping::{Mapping, UnitLocation};
use super::pace::Pace;
use super::row::Row;

/// A unit being copied, and the address from which it was read.
#[derive(Debug, Clone, Copy)]
pub(super) struct Copied {
    pub(super) unit: Unit,
    pub(super) from: Address,
}

/// A step of garbage collection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CollectStep {
    /// Read a stripe.
    Read(Stripe),
    /// Program the gathered units.
    Write,
    /// Erase the victim: it holds no valid unit any more.
    Erase,
}

/// The collection of one die.
///
/// # Invariants
/// - Without a victim nothing is gathered.
#[derive(Debug, Clone, Default)]
pub(super) struct Collector {
    victim: Option<u32>,
    /// Stripes of the victim that were not yet examined.
    stripes: Range<u32>,
    /// The stripe that is being read.
    reading: Option<Stripe>,
    gathered: Vec<Copied>,
    /// The row that is being programmed.
    pub(super) row: Row<Copied>,
    pace: Pace,
}

impl Collector {
    pub(super) fn victim(&self) -> Option<u32> {
        self.victim
    }

    /// Returns the credit of host rows that garbage collection has earned.
    pub(super) fn pace(&mut self) -> &mut Pace {
        &mut self.pace
    }

    pub(super) fn has_credit(&self) -> bool {
        self.pace.has_credit()
    }

    /// Begins to collect a block of a die; the block holds `valid` valid units.
    pub(super) fn begin(&mut self, die: u32, victim: u32, valid: u32, geometry: &Geometry) {
        self.victim = Some(victim);
        self.stripes = geometry.stripes(die, victim);
        self.pace.begin(valid.div_ceil(geometry.units_per_row), geometry.rows_per_block);
    }

    /// Returns the next step.
    pub(super) fn next_step(&mut self, mapping: &Mapping, geometry: &Geometry) -> CollectStep {
        if self.gathered.len() >= geometry.units_per_row as usize {
            return CollectStep::Write;
        }
        let holds = |stripe| valid_units(stripe, mapping, geometry).next().is_some();
        match self.stripes.by_ref().map(Stripe).find(|&stripe| holds(stripe)) {
            Some(stripe) => {
                self.reading = Some(stripe);
                CollectStep::Read(stripe)
            }
            None if self.gathered.is_empty() => CollectStep::Erase,
            None => CollectStep::Write,
        }
    }

    /// Gathers the still valid units of the stripe that was read.
    pub(super) fn gather(&mut self, mapping: &Mapping, geometry: &Geometry) {
        let stripe = self.reading.take().expect("a stripe was read");
        self.gathered.extend(valid_units(stripe, mapping, geometry));
    }

    /// Moves gathered units into the row that begins at `start`, up to a full row.
    pub(super) fn fill_row(&mut self, start: Address, geometry: &Geometry) {
        let count = self.gathered.len().min(geometry.units_per_row as usize);
        self.row.begin(start, geometry);
        self.gathered.drain(..count).for_each(|copied| self.row.push(copied));
    }

    /// Ends the collection; returns the erased block.
    pub(super) fn end(&mut self) -> u32 {
        self.pace.end();
        self.victim.take().expect("a block was collected")
    }
}

/// Returns the number of valid units of a stripe.
pub(super) fn valid_count(stripe: Stripe, mapping: &Mapping, geometry: &Geometry) -> u32 {
    u32::try_from(valid_units(stripe, mapping, geometry).count()).expect("a stripe has few units")
}

fn valid_units<'a>(
    stripe: Stripe,
    mapping: &'a Mapping,
    geometry: &Geometry,
) -> impl Iterator<Item = Copied> + use<'a> {
    let held = move |from| mapping.holder(from).map(|unit| Copied { unit, from });
    geometry.addresses(stripe).filter_map(held)
}

/// Records the new addresses of a row's units, and returns the number of units. A unit that was
/// overwritten meanwhile keeps the location of its new content.
pub(super) fn commit(row: &Row<Copied>, mapping: &mut Mapping) -> u64 {
    let mut count = 0;
    for (to, &Copied { unit, from }) in row.placed() {
        count += 1;
        if mapping.location(unit) == UnitLocation::Flash(from) {
            mapping.set(unit, UnitLocation::Flash(to));
        }
    }
    count
}

#[cfg(test)]
mod tests {
    use tidegate_model::ssd::{Collection, Link, Prefill, Ssd, WriteCache};

    use super::super::cache::Slot;
    use super::*;

    /// Returns a geometry of one die, 16 blocks of four rows, two units in a row.
    fn geometry() -> Geometry {
        let link = Link { bytes_per_s: 1_000_000, command_ns: 0, full_duplex: false };
        let cache = WriteCache {
            bytes: 8_192,
            write_back: true,
            power_loss_protection: false,
            stripe_dies: 1,
        };
        Geometry::new(&Ssd {
            chosen: Vec::new(),
            channels: 1,
            dies_per_channel: 1,
            planes_per_die: 1,
            blocks_per_plane: 16,
            pages_per_block: 8,
            page_bytes: 4_096,
            unit_bytes: 4_096,
            over_provisioning_percent: 100,
            read_ns: vec![1, 1],
            program_ns: 1,
            erase_ns: 1,
            suspend_ns: None,
            reads_first_max: 0,
            channel_bytes_per_s: 1_000_000,
            overhead_ns: 1,
            link,
            cache,
            collection: Collection { background_blocks: 1, foreground_blocks: 1 },
            prefill: Prefill::default(),
        })
    }

    fn read_for_row(collector: &mut Collector, mapping: &Mapping, geometry: &Geometry) {
        while let CollectStep::Read(_) = collector.next_step(mapping, geometry) {
            collector.gather(mapping, geometry);
        }
    }

    /// Goal: a unit that the host overwrites while it is copied keeps its new content. Method: of
    /// units 0, 1 and 2 in block 0 the first two make a row; before that row is in flash, unit 0
    /// moves to the cache and unit 1 to another block. Only unit 2 is copied.
    #[test]
    fn copies_do_not_replace_overwritten_units() {
        let geometry = geometry();
        let mut mapping = Mapping::new(&geometry);
        let mut collector = Collector::default();
        (0..3).for_each(|unit| mapping.set(Unit(unit), UnitLocation::Flash(Address(unit))));
        collector.begin(0, 0, 3, &geometry);
        let elsewhere = [UnitLocation::Cache(Slot(5)), UnitLocation::Flash(Address(16))];
        read_for_row(&mut collector, &mapping, &geometry);
        collector.fill_row(Address(8), &geometry);
        (0..).zip(elsewhere).for_each(|(unit, location)| mapping.set(Unit(unit), location));
        assert_eq!(commit(&collector.row, &mut mapping), 2);
        read_for_row(&mut collector, &mapping, &geometry);
        collector.fill_row(Address(10), &geometry);
        assert_eq!(commit(&collector.row, &mut mapping), 1);
        let locations = [0, 1, 2].map(|unit| mapping.location(Unit(unit)));
        assert_eq!(locations, [elsewhere[0], elsewhere[1], UnitLocation::Flash(Address(10))]);
        assert_eq!(collector.next_step(&mapping, &geometry), CollectStep::Erase);
        mapping.audit();
    }
}
