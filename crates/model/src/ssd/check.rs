// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Checks of an `[ssd]` section.
//!
//! A drive with a section that passes always makes progress: its sizes can be counted, its times
//! can be added, and collection always finds a block that gains room.

use super::Ssd;

/// A fault in an `[ssd]` section.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{place}: {message}")]
pub struct SsdError {
    /// The faulty value, as `cache: bytes`.
    pub place: &'static str,
    /// The fault.
    pub message: String,
    /// The advice: what to write instead.
    pub help: String,
}

impl SsdError {
    fn new(place: &'static str, message: impl Into<String>, help: impl Into<String>) -> Self {
        Self { place, message: message.into(), help: help.into() }
    }
}

/// The largest count: no drive has more, and products of larger counts would overflow.
const COUNT_MAX: u32 = 1 << 16;
/// The longest time of a die's operation, in nanoseconds: one second. A larger number is probably
/// in another unit.
const TIME_NS_MAX: u64 = 1_000_000_000;
/// The highest rate, in bytes per second: one terabyte per second.
const RATE_MAX: u64 = 1_000_000_000_000;
/// The largest cache, in bytes: one gibibyte. The simulator needs memory for each unit in the
/// cache.
const CACHE_BYTES_MAX: u64 = 1 << 30;
/// The maximum number of units of flash. Their tables take 9 bytes each, 75 MB in total.
const UNITS_MAX: u128 = 1 << 23;

impl Ssd {
    /// Checks this section.
    ///
    /// # Errors
    /// The first impossible value, with advice.
    pub fn check(&self) -> Result<(), SsdError> {
        self.check_counts()?;
        self.check_times()?;
        self.check_rates()?;
        self.check_sizes()?;
        self.check_cache()?;
        self.check_spare()
    }

    fn check_counts(&self) -> Result<(), SsdError> {
        for (place, count) in [
            ("channels", self.channels),
            ("dies_per_channel", self.dies_per_channel),
            ("planes_per_die", self.planes_per_die),
            ("blocks_per_plane", self.blocks_per_plane),
            ("pages_per_block", self.pages_per_block),
            ("cache: stripe_dies", self.cache.stripe_dies),
            ("collection: foreground_blocks", self.collection.foreground_blocks),
            ("collection: background_blocks", self.collection.background_blocks),
        ] {
            within(place, u64::from(count), 1, u64::from(COUNT_MAX))?;
        }
        within("over_provisioning_percent", self.over_provisioning_percent.into(), 1, 1000)?;
        within("prefill: percent", self.prefill.percent.into(), 0, 100)
    }

    fn check_times(&self) -> Result<(), SsdError> {
        let entries = self.read_ns.len();
        if !(1..=8).contains(&entries) {
            return Err(SsdError::new(
                "read_ns",
                format!("the list has {entries} entries"),
                "give one for each page that a plane programs at once, 1 to 8",
            ));
        }
        for (place, time_ns) in [
            ("program_ns", self.program_ns),
            ("erase_ns", self.erase_ns),
            ("overhead_ns", self.overhead_ns),
            ("suspend_ns", self.suspend_ns.unwrap_or(1)),
        ] {
            within(place, time_ns, 1, TIME_NS_MAX)?;
        }
        within("link: command_ns", self.link.command_ns, 0, TIME_NS_MAX)?;
        self.read_ns.iter().try_for_each(|&time_ns| within("read_ns", time_ns, 1, TIME_NS_MAX))
    }

    fn check_rates(&self) -> Result<(), SsdError> {
        within("channel_bytes_per_s", self.channel_bytes_per_s, 1_000_000, RATE_MAX)?;
        within("link: bytes_per_s", self.link.bytes_per_s, 1_000_000, RATE_MAX)
    }

    fn check_sizes(&self) -> Result<(), SsdError> {
        within("unit_bytes", self.unit_bytes.into(), 512, u64::from(COUNT_MAX))?;
        within("page_bytes", self.page_bytes.into(), 512, 1 << 20)?;
        multiple("unit_bytes", self.unit_bytes, 512, "bytes of a sector")?;
        multiple("page_bytes", self.page_bytes, self.unit_bytes, "unit_bytes")?;
        multiple("pages_per_block", self.pages_per_block, self.stripes_per_row(), "pages a row")?;
        let factors = [
            self.channels,
            self.dies_per_channel,
            self.planes_per_die,
            self.blocks_per_plane,
            self.pages_per_block,
            self.page_bytes / self.unit_bytes,
        ];
        // Each factor is below 2^17, so the product is exact.
        let units: u128 = factors.into_iter().map(u128::from).product();
        if units <= UNITS_MAX {
            return Ok(());
        }
        Err(SsdError::new(
            "blocks_per_plane",
            format!(
                "the flash has {units} units, but the simulator's memory holds at most {UNITS_MAX}"
            ),
            "write fewer blocks; a smaller drive has the same times",
        ))
    }

    fn check_cache(&self) -> Result<(), SsdError> {
        let dies = self.dies();
        within("cache: stripe_dies", self.cache.stripe_dies.into(), 1, dies.into())?;
        let row = u64::from(self.units_per_row()) * u64::from(self.unit_bytes);
        let least = row * u64::from(self.cache.stripe_dies);
        within("cache: bytes", self.cache.bytes, least, CACHE_BYTES_MAX)
    }

    /// Checks that the drive has enough spare flash for collection to make progress.
    ///
    /// On the die with the most spare flash, at most this much is unusable: the blocks that must be
    /// free, two blocks that are being written, one spare block, and the rest of a row in every
    /// other block.
    fn check_spare(&self) -> Result<(), SsdError> {
        let Self { collection, blocks_per_plane, .. } = self;
        if collection.background_blocks < collection.foreground_blocks {
            return Err(SsdError::new(
                "collection: background_blocks",
                "it is less than foreground_blocks, so an idle drive would never collect",
                "write at least foreground_blocks",
            ));
        }
        let kept = u64::from(collection.background_blocks) + 4;
        let rows = u64::from(*blocks_per_plane) * u64::from(self.units_per_row());
        let needed = u64::from(self.dies()) * (kept * u64::from(self.units_per_block()) + rows);
        let spare = u64::from(self.units_of_flash() - self.units());
        if spare >= needed {
            return Ok(());
        }
        Err(SsdError::new(
            "over_provisioning_percent",
            format!(
                "it leaves {spare} spare units, but with this collection the drive needs {needed}"
            ),
            "write a larger share, more and smaller blocks, or fewer blocks in [ssd.collection]",
        ))
    }
}

fn within(place: &'static str, value: u64, least: u64, most: u64) -> Result<(), SsdError> {
    if (least..=most).contains(&value) {
        return Ok(());
    }
    Err(SsdError::new(
        place,
        format!("{value} is not between {least} and {most}"),
        "write a value in this range",
    ))
}

fn multiple(place: &'static str, value: u32, of: u32, what: &str) -> Result<(), SsdError> {
    if value.is_multiple_of(of) {
        return Ok(());
    }
    let message = format!("{value} is not a multiple of {of}, the {what}");
    Err(SsdError::new(place, message, format!("write for example {}", value.next_multiple_of(of))))
}
