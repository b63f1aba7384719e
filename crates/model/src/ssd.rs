// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The `[ssd]` section of a drive file: what a solid-state drive is made of.
//!
//! Integers only, each with its unit in its name. What these figures mean in time is the
//! business of the simulated drive; what sizes follow from them is said here, because hosts
//! need the capacity too.

mod check;

use serde::{Deserialize, Serialize};

use crate::units::Bytes;

pub use check::SsdError;

/// What a solid-state drive is made of.
///
/// [`Ssd::check`] says what is wrong with it.
///
/// # Shape
/// ```text
/// channel --- die --- plane --- block --- page --- unit
/// ```
/// All planes of a die work together. What they read at once, one page each, is a *stripe*;
/// what they program at once, `read_ns.len()` pages each, is a *row*; what they erase at once
/// is a block of the die. A *unit* is what the drive keeps track of.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ssd {
    /// What no source gives and was chosen, one line each, for people.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub chosen: Vec<String>,
    /// Channels between the controller and its dies.
    pub channels: u32,
    /// Dies that share a channel.
    pub dies_per_channel: u32,
    /// Planes of a die.
    pub planes_per_die: u32,
    /// Blocks of a plane.
    pub blocks_per_plane: u32,
    /// Pages of a block: a multiple of the pages that are programmed at once.
    pub pages_per_block: u32,
    /// Size of a page: a multiple of a unit.
    pub page_bytes: u32,
    /// Size of what the drive maps: a write of less reads the rest first.
    pub unit_bytes: u32,
    /// How much more flash there is than hosts can address, in percent of the latter.
    pub over_provisioning_percent: u32,
    /// Time to read a page, one entry for each page that a plane programs at once: a cell of
    /// three bits has three.
    pub read_ns: Vec<u64>,
    /// Time to program all of them, in all planes.
    pub program_ns: u64,
    /// Time to erase a block in all planes.
    pub erase_ns: u64,
    /// Time after which a program or an erase makes way for a read; none: it does not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suspend_ns: Option<u64>,
    /// How many younger reads may go before, or suspend, one program or erase.
    pub reads_first_max: u32,
    /// Rate of a channel.
    pub channel_bytes_per_s: u64,
    /// Time that the drive thinks about a command, of which it handles many at once.
    pub overhead_ns: u64,
    /// The way to the host.
    pub link: Link,
    /// Memory for what hosts write.
    pub cache: WriteCache,
    /// When blocks are made free again.
    pub collection: Collection,
    /// What was written before the first request.
    #[serde(default)]
    pub prefill: Prefill,
}

/// The way to the host.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Link {
    /// Rate in one direction.
    pub bytes_per_s: u64,
    /// Time that each command occupies the link besides its data.
    pub command_ns: u64,
    /// Data may flow in both directions at once.
    pub full_duplex: bool,
}

/// Memory for what hosts write.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WriteCache {
    /// How much it holds: at least a row for each of `stripe_dies`.
    pub bytes: u64,
    /// A write counts as complete when it is in the cache.
    pub write_back: bool,
    /// What is in the cache outlives a loss of power: then every write is complete when it is
    /// there, and a flush has nothing to do.
    pub power_loss_protection: bool,
    /// Over how many dies consecutive data are dealt, stripe by stripe.
    pub stripe_dies: u32,
}

/// When blocks are made free again, by the number of free blocks of a die.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Collection {
    /// With so many or fewer the die collects when it has nothing else to do.
    pub background_blocks: u32,
    /// With so many or fewer it takes data from the host only as fast as collecting gains room
    /// for them.
    pub foreground_blocks: u32,
}

/// What was written before the first request.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Prefill {
    /// How much of the drive, from its first sector on.
    pub percent: u32,
    /// In which order.
    pub order: PrefillOrder,
}

/// In which order a drive was filled.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PrefillOrder {
    /// Once, from the front: all spare blocks are free.
    #[default]
    Sequential,
    /// Again and again at random places: no spare block is free, and what is stale is spread
    /// over the blocks as it is when overwriting has gone on for long.
    Random,
}

impl Ssd {
    /// Dies of all channels.
    ///
    /// # Panics
    /// Like all of these, for a section that [`Ssd::check`] refuses.
    pub fn dies(&self) -> u32 {
        product([self.channels, self.dies_per_channel])
    }

    /// Units of a page in all planes of a die: what one read can fetch.
    ///
    /// # Panics
    /// See [`Ssd::dies`].
    pub fn units_per_stripe(&self) -> u32 {
        product([self.planes_per_die, self.page_bytes / self.unit_bytes])
    }

    /// Units that one program writes.
    ///
    /// # Panics
    /// See [`Ssd::dies`].
    pub fn units_per_row(&self) -> u32 {
        product([self.units_per_stripe(), self.stripes_per_row()])
    }

    /// Pages that a plane programs at once.
    ///
    /// # Panics
    /// See [`Ssd::dies`].
    pub fn stripes_per_row(&self) -> u32 {
        u32::try_from(self.read_ns.len()).expect("a cell of few bits")
    }

    /// Units that one erase frees.
    ///
    /// # Panics
    /// See [`Ssd::dies`].
    pub fn units_per_block(&self) -> u32 {
        product([self.units_per_stripe(), self.pages_per_block])
    }

    /// Units of flash.
    ///
    /// # Panics
    /// See [`Ssd::dies`].
    pub fn units_of_flash(&self) -> u32 {
        product([self.dies(), self.blocks_per_plane, self.units_per_block()])
    }

    /// Units that hosts can address.
    ///
    /// # Panics
    /// See [`Ssd::dies`].
    pub fn units(&self) -> u32 {
        let parts = 100 + u64::from(self.over_provisioning_percent);
        let units = u64::from(self.units_of_flash()) * 100 / parts;
        u32::try_from(units).expect("less than there is flash")
    }

    /// What hosts can address.
    ///
    /// # Panics
    /// See [`Ssd::dies`].
    pub fn capacity(&self) -> Bytes {
        Bytes::new(u64::from(self.units()) * u64::from(self.unit_bytes))
    }
}

fn product<const N: usize>(factors: [u32; N]) -> u32 {
    let checked = |product: u32, factor| product.checked_mul(factor);
    factors.into_iter().try_fold(1, checked).expect("a drive that was checked")
}
