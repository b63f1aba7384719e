// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The slots of a zone that hold data: all except spares and slips.
//!
//! A zone is divided into regions, each with its spares. If slips use the spares, a region holds as
//! many data sectors as without slips, and the data after a slip move to later slots:
//! ```text
//! slots   0 1 2 3 4 5 | 6 7 8 9 . .      region of 6, 1 spare at its end
//! data    0 1 x 2 3 4 | 5 6 7 8 9 -      x: slip, -: spare
//! ```
//! If slips do not use spares, data continue past the spares into the next region.

use crate::mechanical::layout::slips::Slips;

/// The regions of a zone and their spares.
#[derive(Debug, Clone, Copy)]
pub(super) struct Regions {
    /// The number of slots in the zone.
    total: u64,
    /// The number of slots in a region; the zone's last region can be shorter and then has no
    /// spares.
    slots: u64,
    /// The number of data sectors in a region.
    data: u64,
    /// The number of regions with spares.
    full: u64,
    /// Whether the spares are at the front of each region.
    is_front: bool,
}

impl Regions {
    /// Creates regions of `slots` slots in a zone of `total`; `spares` must be less than `slots`.
    pub(super) fn new(total: u64, slots: u64, spares: u64, is_front: bool) -> Self {
        Self { total, slots, data: slots - spares, full: total / slots, is_front }
    }

    fn of_slot(&self, slot: u64) -> u64 {
        // Most zones are one region, which needs no division.
        if slot < self.slots { 0 } else { slot / self.slots }
    }

    fn of_data(&self, data: u64) -> u64 {
        if data < self.data { 0 } else { (data / self.data).min(self.full) }
    }

    fn front(&self, region: u64) -> u64 {
        if self.is_front && region < self.full { self.slots - self.data } else { 0 }
    }

    /// Returns the slot of a region's data sector, ignoring slips.
    fn slot(&self, region: u64, data: u64) -> u64 {
        region * self.slots + self.front(region) + (data - region * self.data)
    }

    /// Returns the number of data sectors before a slot of a region, ignoring slips.
    fn data_before(&self, region: u64, slot: u64) -> u64 {
        let into = (slot - region * self.slots).saturating_sub(self.front(region));
        self.with(region, into)
    }

    /// Returns the number of data sectors before a region, plus `data`, which is limited to the
    /// region's own data sectors if the region has spares.
    fn with(&self, region: u64, data: u64) -> u64 {
        let own = if region < self.full { data.min(self.data) } else { data };
        region * self.data + own
    }

    fn is_one(&self) -> bool {
        self.slots == self.total
    }
}

/// The slots of a zone that hold data.
#[derive(Debug, Clone)]
pub(super) struct DataSlots {
    regions: Regions,
    slips: Slips,
    /// Whether slips leave spares unused; `slips` then counts slots without the spares.
    keeps_spares: bool,
}

/// The slot of a data sector, with values that speed up look-ups of nearby sectors.
#[derive(Debug, Clone, Copy)]
pub(super) struct Found {
    pub(super) slot: u64,
    region: u64,
    /// The number of usable slots before the region's data, if slips use spares; otherwise 0.
    before: u64,
    /// The approximate number of runs of slips before the slot.
    pub(super) runs: usize,
}

/// A fault in a zone's slips.
#[derive(Debug, Clone, Copy)]
pub(super) enum SlipFault {
    /// This slot is listed twice.
    Twice(u64),
    /// The region that contains this slot has this many slips, which is more than its spares.
    Region(u64, u64),
    /// No slot is left for data.
    Nothing,
}

impl DataSlots {
    /// Creates the data slots of a zone with slips, given as ascending runs of (first slot, number
    /// of slots).
    pub(super) fn new(
        mut regions: Regions,
        keeps_spares: bool,
        runs: &[(u64, u64)],
    ) -> Result<Self, SlipFault> {
        let all = Slips::new(runs.iter().copied()).map_err(|(slot, _)| SlipFault::Twice(slot))?;
        if keeps_spares {
            let dense = runs.iter().map(|&(slot, count)| {
                let region = regions.of_slot(slot);
                let before = regions.data_before(region, slot);
                (before, regions.data_before(region, slot + count) - before)
            });
            let slips = Slips::new(dense).map_err(|(slot, _)| SlipFault::Twice(slot))?;
            return Ok(Self { regions, slips, keeps_spares });
        }
        if regions.is_one() {
            // In a zone of one region, more slips than spares shorten the zone.
            regions.data = regions.data.min(all.data_before(regions.total));
        } else {
            check_regions(&regions, &all, runs)?;
        }
        if regions.data == 0 {
            return Err(SlipFault::Nothing);
        }
        Ok(Self { regions, slips: all, keeps_spares })
    }

    /// Returns whether no slots except spares are skipped.
    pub(super) fn is_without_slips(&self) -> bool {
        self.slips.is_empty()
    }

    /// Returns the location of one of the zone's data sectors.
    pub(super) fn locate(&self, data: u64) -> Found {
        if self.keeps_spares {
            let (dense, runs) = self.slips.locate(data);
            let region = self.regions.of_data(dense);
            return Found { slot: self.regions.slot(region, dense), region, before: 0, runs };
        }
        let region = self.regions.of_data(data);
        if self.slips.is_empty() {
            return Found { slot: self.regions.slot(region, data), region, before: 0, runs: 0 };
        }
        let before = self.usable_before(region);
        let (slot, runs) = self.slips.locate(before + data - region * self.regions.data);
        Found { slot, region, before, runs }
    }

    /// Returns the number of data sectors before a slot in the region of `found`. For a slot beyond
    /// the region's end, returns the number before that end.
    pub(super) fn data_before_near(&self, slot: u64, found: Found) -> u64 {
        let Found { region, before, runs, .. } = found;
        if self.slips.is_empty() {
            self.regions.data_before(region, slot)
        } else if self.keeps_spares {
            self.slips.data_before_near(self.regions.data_before(region, slot), runs)
        } else {
            let usable = self.slips.data_before_near(slot, runs).saturating_sub(before);
            self.regions.with(region, usable)
        }
    }

    /// Returns the number of data sectors before a slot. For a slot beyond the zone's end, returns
    /// the number before that end.
    pub(super) fn data_before(&self, slot: u64) -> u64 {
        let region = self.regions.of_slot(slot);
        if self.keeps_spares || self.slips.is_empty() {
            return self.slips.data_before(self.regions.data_before(region, slot));
        }
        let usable = self.slips.data_before(slot).saturating_sub(self.usable_before(region));
        self.regions.with(region, usable)
    }

    /// Returns the number of data sectors of the zone.
    pub(super) fn data(&self) -> u64 {
        self.data_before(self.regions.total)
    }

    /// Returns the number of usable slots before the data of a region.
    fn usable_before(&self, region: u64) -> u64 {
        if region == 0 && !self.regions.is_front {
            return 0;
        }
        let begin = region * self.regions.slots;
        let before = self.slips.data_before(begin);
        if self.regions.front(region) == 0 {
            return before;
        }
        // Slips have used up some of the spares at the front.
        self.slips.data_before(begin + self.regions.slots) - self.regions.data
    }
}

/// Checks that slips fit into the spares of their regions.
fn check_regions(regions: &Regions, slips: &Slips, runs: &[(u64, u64)]) -> Result<(), SlipFault> {
    let spares = regions.slots - regions.data;
    for &(slot, _) in runs {
        let begin = slot / regions.slots * regions.slots;
        let end = (begin + regions.slots).min(regions.total);
        let slipped = (end - begin) - (slips.data_before(end) - slips.data_before(begin));
        if slipped > spares && end - begin == regions.slots {
            return Err(SlipFault::Region(slot, slipped));
        }
    }
    Ok(())
}
