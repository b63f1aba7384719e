// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Fills a drive before the first request.
//!
//! Sequential order models a fresh drive that was filled once. Random order models a drive that
//! has been overwritten for a long time. The fill level of its blocks is then computed, since
//! simulating it would take seconds: under uniform overwriting a block loses units at a rate that
//! falls slowly with its age, so the number of valid units falls nearly linearly from the
//! youngest block, which is full, to the oldest, which is collected next.

use tidegate_model::Random;
use tidegate_model::ssd::{PrefillOrder, Ssd};

use super::agenda::Stream;
use super::blocks::Blocks;
use super::geometry::{Address, Geometry, Unit};
use super::mapping::{Mapping, UnitLocation};

/// Fills the drive as its `[ssd]` section describes; `dies` must belong to an empty drive.
pub(super) fn prefill(
    ssd: &Ssd,
    geometry: &Geometry,
    seed: u64,
    dies: &mut [Blocks],
    mapping: &mut Mapping,
) {
    let filled = u64::from(geometry.units) * u64::from(ssd.prefill.percent) / 100;
    let filled = u32::try_from(filled).expect("at most all units");
    match ssd.prefill.order {
        _ if filled == 0 => {}
        PrefillOrder::Sequential => {
            fill_in_order(filled, ssd.cache.stripe_dies, geometry, dies, mapping);
        }
        PrefillOrder::Random => {
            let free = ssd.collection.background_blocks + 1;
            let blocks = geometry.blocks_per_die - free;
            let random = Random::new(seed, Random::DRIVE_STREAM);
            Filler { geometry, mapping, random }.fill_at_random(filled, blocks, dies);
        }
    }
}

fn fill_in_order(
    filled: u32,
    stripe_dies: u32,
    geometry: &Geometry,
    dies: &mut [Blocks],
    mapping: &mut Mapping,
) {
    let mut turn = (0..dies.len()).cycle();
    let mut next = 0;
    while next < filled {
        let rows = stripe_dies.min((filled - next).div_ceil(geometry.units_per_row));
        let count = (filled - next).min(rows * geometry.units_per_row);
        let mut begin_row = |_| {
            let die = &mut dies[turn.next().expect("a drive has dies")];
            let start = die.begin_row(Stream::Host, geometry);
            die.end_row(Stream::Host, geometry);
            start
        };
        let starts: Vec<Address> = (0..rows).map(&mut begin_row).collect();
        for index in 0..count {
            let (row, behind) = geometry.dealt(index, rows);
            let address = starts[row as usize].plus(behind);
            mapping.set(Unit(next + index), UnitLocation::Flash(address));
        }
        next += count;
    }
}

/// Fills a drive in random order.
struct Filler<'a> {
    geometry: &'a Geometry,
    mapping: &'a mut Mapping,
    random: Random,
}

impl Filler<'_> {
    /// Spreads the first `filled` units over `blocks` blocks of every die.
    fn fill_at_random(&mut self, filled: u32, blocks: u32, dies: &mut [Blocks]) {
        let mut units = self.shuffled(filled).into_iter();
        let count = self.geometry.dies;
        for (die, free) in (0..count).zip(dies) {
            let share = filled / count + u32::from(die < filled % count);
            let profile = Profile::new(share, blocks, self.geometry.units_per_block);
            for age in 0..blocks {
                let start = self.geometry.block_start(die, free.take_full());
                self.fill_block(start, units.by_ref().take(profile.valid_count(age) as usize));
            }
        }
    }

    /// Returns the first `count` units in random order.
    fn shuffled(&mut self, count: u32) -> Vec<Unit> {
        let mut units: Vec<Unit> = (0..count).map(Unit).collect();
        for last in (1..units.len()).rev() {
            units.swap(last, self.random.index(last + 1));
        }
        units
    }

    /// Puts units at random addresses of a block; the other addresses are stale.
    fn fill_block(&mut self, start: Address, mut units: impl ExactSizeIterator<Item = Unit>) {
        for behind in 0..self.geometry.units_per_block {
            let places = u64::from(self.geometry.units_per_block - behind);
            if self.random.below(places) < units.len() as u64
                && let Some(unit) = units.next()
            {
                self.mapping.set(unit, UnitLocation::Flash(start.plus(behind)));
            }
        }
    }
}

/// The number of valid units in each block of a die, the oldest block first. The numbers lie on a
/// straight line and have an exact total.
///
/// # Equation
/// With U units in n blocks the mean is m = U/n; the youngest block has t = min(units of a block,
/// 2m), the oldest b = 2m - t. The k oldest together have the integral of the line, k b + k^2 (t
/// - b) / 2n, rounded down. Both t and b are stored multiplied by n.
struct Profile {
    blocks: u64,
    oldest_times_blocks: u64,
    youngest_times_blocks: u64,
}

impl Profile {
    fn new(units: u32, blocks: u32, units_per_block: u32) -> Self {
        let [units, blocks, most] = [units, blocks, units_per_block].map(u64::from);
        let youngest_times_blocks = (most * blocks).min(2 * units);
        let oldest_times_blocks = 2 * units - youngest_times_blocks;
        Self { blocks, oldest_times_blocks, youngest_times_blocks }
    }

    /// Returns the number of units in the `count` oldest blocks.
    fn units_up_to(&self, count: u64) -> u128 {
        let [n, k] = [self.blocks, count].map(u128::from);
        let [b, t] = [self.oldest_times_blocks, self.youngest_times_blocks].map(u128::from);
        (2 * n * k * b + k * k * (t - b)) / (2 * n * n)
    }

    fn valid_count(&self, age: u32) -> u32 {
        let age = u64::from(age);
        let units = self.units_up_to(age + 1) - self.units_up_to(age);
        u32::try_from(units).expect("at most a block")
    }
}
