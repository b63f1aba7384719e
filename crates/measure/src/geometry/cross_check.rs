// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Checks found mechanics against the measured tables beside them: the simulated disk must take as
//! long as the real one, or a figure of it is wrong.

use std::fmt;

use tidegate_model::drive_file::MeasuredTable;
use tidegate_model::mechanics::Mechanics;
use tidegate_model::{Bytes, Duration, Lba, Op};

use super::number::whole;
use super::queue::{MEDIAN_PPM, batches};
use crate::kind::Kind;
use crate::places::Places;

/// How far the median of a batch may be from the measured one. The median of 300 batches is within
/// about 4 % of the true one.
const APART_PERCENT_MAX: u64 = 10;
/// The least distance that counts: half the resolution of most hosts' timers.
const APART_MIN: Duration = Duration::from_us(50);

/// A batch that takes longer or shorter on the simulated disk than it was measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Apart {
    /// The requests.
    pub kind: Kind,
    /// The number of requests.
    pub requests: usize,
    /// The measured median.
    pub measured: Duration,
    /// The median on the simulated disk.
    pub simulated: Duration,
}

impl Apart {
    /// Returns the distance in millionths of the measured median.
    fn ppm(&self) -> u128 {
        let apart = u128::from(self.measured.ns().abs_diff(self.simulated.ns()));
        apart * 1_000_000 / u128::from(self.measured.ns().max(1))
    }
}

impl fmt::Display for Apart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { kind, requests, measured, simulated } = self;
        write!(f, "b({requests}) of {kind} has a median of {measured}, and {simulated} simulated")
    }
}

/// Returns the batches of 1, 2, 4 .. reads at random places whose medians are more than 10 % and 50
/// us apart, the most distant first. Tables without medians are not compared, nor are writes,
/// whose mechanics are chosen.
///
/// # Complexity
/// 300 batches of each of these sizes, for each table.
pub fn cross_check(disk: &Mechanics, tables: &[MeasuredTable]) -> Vec<Apart> {
    let mut apart: Vec<Apart> =
        tables.iter().filter_map(|table| of_table(disk, table)).flatten().collect();
    apart.sort_by_key(|it| std::cmp::Reverse(it.ppm()));
    apart
}

fn of_table(disk: &Mechanics, table: &MeasuredTable) -> Option<Vec<Apart>> {
    let level = MeasuredTable::LEVELS_PPM.iter().position(|&level| level == MEDIAN_PPM)?;
    let medians = table.quantiles_ns.get(level)?;
    let (op, size) = (table.op.filter(|&op| op == Op::Read)?, table.size?);
    let kind = Kind { op, size };
    let capacity = Bytes::new(disk.sectors.checked_mul(Lba::SECTOR_BYTES)?);
    let sizes = (0..16).map(|power| 1_usize << power);
    let sizes: Vec<usize> = sizes.take_while(|&size| size <= medians.len()).collect();
    if sizes.is_empty() {
        return None;
    }
    let simulated = batches(disk, Places::of(capacity, kind), &sizes)?;
    let compared = simulated.zip(sizes.iter().copied()).map(|(time, requests)| Apart {
        kind,
        requests,
        measured: Duration::from_ns(medians[requests - 1]),
        simulated: Duration::from_ns(whole(time)),
    });
    let is_apart = |it: &Apart| {
        let apart_ns = it.measured.ns().abs_diff(it.simulated.ns());
        apart_ns > APART_MIN.ns() && it.ppm() > u128::from(APART_PERCENT_MAX) * 10_000
    };
    Some(compared.filter(is_apart).collect())
}
