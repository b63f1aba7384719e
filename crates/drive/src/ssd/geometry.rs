// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The dimensions of the drive and the numbering of flash.
//!
//! ```text
//!  address   die | block | row | stripe | unit          one number, die in front
//!  dealing   row of die A:  stripe 0   stripe 2 ..      consecutive data over two dies
//!            row of die B:  stripe 1   stripe 3 ..
//! ```

use std::ops::Range;

use tidegate_model::ssd::Ssd;

/// A unit: the smallest piece of the host's address space that the drive maps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Unit(pub(super) u32);

/// An address in flash that holds a unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Address(pub(super) u32);

impl Address {
    pub(super) fn plus(self, units: u32) -> Self {
        Self(self.0 + units)
    }
}

/// The pages at the same position in all planes of a die, which one read fetches together. Stripes
/// are numbered across all dies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Stripe(pub(super) u32);

/// The dimensions of the drive.
#[derive(Debug, Clone)]
pub(super) struct Geometry {
    pub(super) channels: u32,
    pub(super) dies: u32,
    pub(super) blocks_per_die: u32,
    pub(super) rows_per_block: u32,
    pub(super) pages_per_row: u32,
    pub(super) stripes_per_row: u32,
    pub(super) units_per_stripe: u32,
    pub(super) units_per_row: u32,
    pub(super) units_per_block: u32,
    pub(super) units_per_die: u32,
    /// Units that hosts can address.
    pub(super) units: u32,
    pub(super) unit_bytes: u32,
    pub(super) page_bytes: u32,
}

impl Geometry {
    /// Returns the geometry of a checked section.
    pub(super) fn new(ssd: &Ssd) -> Self {
        let units_per_row = ssd.units_per_row();
        Self {
            channels: ssd.channels,
            dies: ssd.dies(),
            blocks_per_die: ssd.blocks_per_plane,
            rows_per_block: ssd.units_per_block() / units_per_row,
            pages_per_row: ssd.planes_per_die * ssd.stripes_per_row(),
            stripes_per_row: ssd.stripes_per_row(),
            units_per_stripe: ssd.units_per_stripe(),
            units_per_row,
            units_per_block: ssd.units_per_block(),
            units_per_die: ssd.units_per_block() * ssd.blocks_per_plane,
            units: ssd.units(),
            unit_bytes: ssd.unit_bytes,
            page_bytes: ssd.page_bytes,
        }
    }

    /// Returns the channel of a die: dies with adjacent numbers have different channels.
    pub(super) fn channel(&self, die: u32) -> usize {
        (die % self.channels) as usize
    }

    pub(super) fn die(&self, stripe: Stripe) -> u32 {
        stripe.0 / (self.units_per_die / self.units_per_stripe)
    }

    pub(super) fn stripe(&self, address: Address) -> Stripe {
        Stripe(address.0 / self.units_per_stripe)
    }

    /// Returns the index of a stripe within its row, because read times differ between a row's
    /// pages.
    pub(super) fn page_kind(&self, stripe: Stripe) -> usize {
        (stripe.0 % self.stripes_per_row) as usize
    }

    /// Returns the number of a die's block among the blocks of all dies.
    pub(super) fn block(&self, die: u32, block: u32) -> usize {
        (die * self.blocks_per_die + block) as usize
    }

    /// Returns the first address of a die's block.
    pub(super) fn block_start(&self, die: u32, block: u32) -> Address {
        Address(die * self.units_per_die + block * self.units_per_block)
    }

    /// Returns the stripes of a die's block.
    pub(super) fn stripes(&self, die: u32, block: u32) -> Range<u32> {
        let first = self.stripe(self.block_start(die, block)).0;
        first..first + self.units_per_block / self.units_per_stripe
    }

    /// Returns the addresses of a stripe.
    pub(super) fn addresses(&self, stripe: Stripe) -> impl Iterator<Item = Address> + use<> {
        let first = stripe.0 * self.units_per_stripe;
        (first..first + self.units_per_stripe).map(Address)
    }

    /// Deals consecutive data over `rows` rows: returns the row of the unit at `index`, and its
    /// offset in that row.
    pub(super) fn dealt(&self, index: u32, rows: u32) -> (u32, u32) {
        let stripe = index / self.units_per_stripe;
        let before = stripe / rows * self.units_per_stripe;
        (stripe % rows, before + index % self.units_per_stripe)
    }
}
