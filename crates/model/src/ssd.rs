// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The `[ssd]` section of a drive file: the parts of a solid-state drive.
//!
//! All figures are integers with the unit in their name. The simulated drive computes times from
//! them; this module computes sizes from them, because hosts need the capacity too.

mod check;

use serde::{Deserialize, Serialize};

use crate::units::Bytes;

pub use check::SsdError;

/// The parts of a solid-state drive.
///
/// [`Ssd::check`] checks the figures.
///
/// # Shape
/// ```text
/// channel --- die --- plane --- block --- page --- unit
/// ```
/// All planes of a die work together. One read covers a *stripe*: one page of each plane. One
/// program covers a *row*: `read_ns.len()` pages of each plane. One erase covers a block of the
/// die. A *unit* is the smallest piece that the drive maps.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ssd {
    /// Figures that no source gives and that were chosen; free text for people, one line each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub chosen: Vec<String>,
    /// Channels between the controller and its dies.
    pub channels: u32,
    /// Number of dies that share a channel.
    pub dies_per_channel: u32,
    /// Number of planes in a die.
    pub planes_per_die: u32,
    /// Number of blocks in a plane.
    pub blocks_per_plane: u32,
    /// Number of pages in a block: a multiple of the number of pages that are programmed together.
    pub pages_per_block: u32,
    /// Size of a page in bytes: a multiple of the unit size.
    pub page_bytes: u32,
    /// Size of a unit, which the drive maps; a smaller write first reads the rest of the unit.
    pub unit_bytes: u32,
    /// Flash beyond the addressable capacity, in percent of the addressable capacity.
    pub over_provisioning_percent: u32,
    /// Time to read a page, one entry for each page that a plane programs together: three entries
    /// for a cell of three bits.
    pub read_ns: Vec<u64>,
    /// Time to program all these pages in all planes of a die.
    pub program_ns: u64,
    /// Time to erase a block in all planes of a die.
    pub erase_ns: u64,
    /// Time after which a program or an erase is suspended for a read; `None` if it is never
    /// suspended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suspend_ns: Option<u64>,
    /// The maximum number of younger reads that may precede, or suspend, one program or erase.
    pub reads_first_max: u32,
    /// Transfer rate of a channel.
    pub channel_bytes_per_s: u64,
    /// Time to process a command; the drive processes many commands at the same time.
    pub overhead_ns: u64,
    /// The link to the host.
    pub link: Link,
    /// The cache for written data.
    pub cache: WriteCache,
    /// The rules for freeing blocks.
    pub collection: Collection,
    /// The data written before the first request.
    #[serde(default)]
    pub prefill: Prefill,
}

/// The link to the host.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Link {
    /// Transfer rate in one direction.
    pub bytes_per_s: u64,
    /// Time for which each command occupies the link, in addition to its data.
    pub command_ns: u64,
    /// Whether data may flow in both directions at the same time.
    pub full_duplex: bool,
}

/// The cache for written data.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WriteCache {
    /// Capacity in bytes: at least one row for each of the `stripe_dies` dies.
    pub bytes: u64,
    /// Whether a write counts as complete when it is in the cache.
    pub write_back: bool,
    /// Whether the cache survives a loss of power. Every write is then complete when it is in the
    /// cache, and a flush has nothing to do.
    pub power_loss_protection: bool,
    /// The number of dies over which consecutive data are distributed, stripe by stripe.
    pub stripe_dies: u32,
}

/// The rules for freeing blocks, by the number of free blocks in a die.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Collection {
    /// With this many free blocks or fewer, the die collects garbage when it is idle.
    pub background_blocks: u32,
    /// With this many free blocks or fewer, the die takes data from the host only as fast as
    /// collection frees room for them.
    pub foreground_blocks: u32,
}

/// The data written before the first request.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Prefill {
    /// The share of the drive that is filled, from its first sector on.
    pub percent: u32,
    /// The order of the writes.
    pub order: PrefillOrder,
}

/// The order in which a drive was filled.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PrefillOrder {
    /// Filled once, from the front: all spare blocks are free.
    #[default]
    Sequential,
    /// Filled again and again at random places: no spare block is free, and stale units are spread
    /// over the blocks as after long overwriting.
    Random,
}

impl Ssd {
    /// Returns the number of dies on all channels.
    ///
    /// # Panics
    /// On a section that [`Ssd::check`] refuses; so do all methods below.
    pub fn dies(&self) -> u32 {
        product([self.channels, self.dies_per_channel])
    }

    /// Returns the number of units in one page of each plane of a die: the most that one read
    /// fetches.
    ///
    /// # Panics
    /// The same as [`Ssd::dies`].
    pub fn units_per_stripe(&self) -> u32 {
        product([self.planes_per_die, self.page_bytes / self.unit_bytes])
    }

    /// Returns the number of units that one program writes.
    ///
    /// # Panics
    /// The same as [`Ssd::dies`].
    pub fn units_per_row(&self) -> u32 {
        product([self.units_per_stripe(), self.stripes_per_row()])
    }

    /// Returns the number of pages that a plane programs together.
    ///
    /// # Panics
    /// The same as [`Ssd::dies`].
    pub fn stripes_per_row(&self) -> u32 {
        u32::try_from(self.read_ns.len()).expect("a cell of few bits")
    }

    /// Returns the number of units that one erase frees.
    ///
    /// # Panics
    /// The same as [`Ssd::dies`].
    pub fn units_per_block(&self) -> u32 {
        product([self.units_per_stripe(), self.pages_per_block])
    }

    /// Returns the number of units in all flash.
    ///
    /// # Panics
    /// The same as [`Ssd::dies`].
    pub fn units_of_flash(&self) -> u32 {
        product([self.dies(), self.blocks_per_plane, self.units_per_block()])
    }

    /// Returns the number of units that hosts can address.
    ///
    /// # Panics
    /// The same as [`Ssd::dies`].
    pub fn units(&self) -> u32 {
        let parts = 100 + u64::from(self.over_provisioning_percent);
        let units = u64::from(self.units_of_flash()) * 100 / parts;
        u32::try_from(units).expect("less than there is flash")
    }

    /// Returns the size that hosts can address.
    ///
    /// # Panics
    /// The same as [`Ssd::dies`].
    pub fn capacity(&self) -> Bytes {
        Bytes::new(u64::from(self.units()) * u64::from(self.unit_bytes))
    }
}

fn product<const N: usize>(factors: [u32; N]) -> u32 {
    let checked = |product: u32, factor| product.checked_mul(factor);
    factors.into_iter().try_fold(1, checked).expect("a drive that was checked")
}
