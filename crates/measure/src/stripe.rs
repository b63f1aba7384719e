// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Infers how a solid-state drive spreads data over its chips, and how writes slow down reads, from
//! the samples of the experiment `stripe`.
//!
//! ```text
//!   alone      x                        one small read
//!   apart d    x  +  x + d              two at once: as long as one where different chips
//!                                       serve them, longer where one chip serves both
//!   pair       two at random places     how often both fall on one chip: how many chips there are
//!   at once n  n at random places       how many are served at once, including the link
//!   beside     x, others writing        one read beside a flow of writes
//! ```
//!
//! Chips cannot be seen from outside. The samples show which distances conflict, and how many
//! independent servers share the reads.

use serde::{Deserialize, Serialize};
use tidegate_model::Bytes;
use tidegate_stats::order_statistics::Summary;

use crate::held_up::Sample;
use crate::kind::Kind;

mod chips;

pub use chips::Chips;

/// The size of every read: the smallest read that file systems send.
pub(crate) const READ: Bytes = Bytes::from_kib(4);

/// The time of two simultaneous reads, as a percentage of the time of one, above which they
/// conflict.
const CONFLICT_PERCENT: u64 = 130;

/// The share of conflicting pairs, in millionths, above which a distance counts as conflicting.
/// Pairs that are slow by chance are subtracted.
const CROWDED_PPM: u64 = 300_000;

/// The share of conflicting pairs, in millionths, below which a distance counts as free of
/// conflicts. Pairs that are slow by chance are subtracted. The share is above 0 because some
/// distant pairs share a chip by chance.
const FREE_PPM: u64 = 150_000;

/// The reads of a cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cell {
    /// One read.
    Alone,
    /// Two reads at this distance, in units of a read's size.
    Apart(u64),
    /// Two reads at random places.
    Pair,
    /// This number of reads at random places.
    AtOnce(u32),
    /// One read during a flow of writes.
    BesideWrites,
}

/// The results of the experiment.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stripe {
    /// The size of a read.
    pub read_bytes: u64,
    /// The number of samples of the cell that has fewest.
    pub samples: u64,
    /// The median time of one read.
    pub alone_ns: u64,
    /// The share of single reads that took much longer than their median, in parts per million. The
    /// same share of slow pairs is not due to conflicts.
    pub alone_slow_ppm: u64,
    /// Distances between two reads in bytes, each with the share of pairs that took much longer
    /// than one read, in parts per million.
    pub conflicts_ppm: Vec<(u64, u64)>,
    /// The shortest distance at which two reads no longer conflict although closer reads do; `None`
    /// if no such distance was found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub block_bytes: Option<u64>,
    /// The shortest distance beyond a block at which reads conflict again; `None` if no such
    /// distance was found. Only powers of two, and numbers halfway between them, are tried, in
    /// units of a read's size.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub again_bytes: Option<u64>,
    /// The number of chips that share reads at random places.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chips: Option<Chips>,
    /// The numbers of reads that were sent together, each with the median time.
    pub at_once_ns: Vec<(u32, u64)>,
    /// The number of reads that are served in parallel, in thousandths: the largest ratio of the
    /// time of n reads one by one to the time of n reads at the same time.
    pub parallel_permille: u64,
    /// Whether the ratio was largest for the largest number of reads; the device can then possibly
    /// serve more in parallel.
    pub is_still_rising: bool,
    /// The median, the 99 % quantile and the maximum time of a read during a flow of writes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub beside_writes_ns: Option<[u64; 3]>,
    /// The size of the writes in that flow.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub beside_writes_of_bytes: Option<u64>,
}

/// Returns the results from all cells that have samples; `None` if no read was measured alone.
pub(crate) fn found(cells: &[(Cell, Vec<Sample>)], writes: Option<Kind>) -> Option<Stripe> {
    let summary = |(cell, samples): &(Cell, Vec<Sample>)| {
        Some((*cell, samples.clone(), Sample::summary(samples)?))
    };
    let measured: Vec<(Cell, Vec<Sample>, Summary)> = cells.iter().filter_map(summary).collect();
    let (_, alone, of_alone) = measured.iter().find(|(cell, ..)| *cell == Cell::Alone)?;
    let alone_ns = median(of_alone);
    let mut stripe = Stripe {
        read_bytes: READ.get(),
        samples: u64::from(measured.iter().map(|(.., it)| it.count).min()?),
        alone_ns,
        alone_slow_ppm: ppm(slow(alone, alone_ns), alone.len()),
        parallel_permille: 1000,
        ..Stripe::default()
    };
    for (cell, samples, summary) in &measured {
        stripe.note(*cell, samples, summary, writes);
    }
    stripe.block_bytes = stripe.block();
    stripe.again_bytes = stripe.block_bytes.and_then(|block| stripe.again(block));
    let pairs = measured.iter().filter(|(cell, ..)| *cell == Cell::Pair);
    let pairs: Vec<Sample> = pairs.flat_map(|(_, samples, _)| samples.clone()).collect();
    stripe.chips = Chips::of(slow(&pairs, alone_ns), pairs.len(), stripe.alone_slow_ppm);
    Some(stripe)
}

impl Stripe {
    fn note(&mut self, cell: Cell, samples: &[Sample], summary: &Summary, writes: Option<Kind>) {
        match cell {
            Cell::Alone | Cell::Pair => (),
            Cell::Apart(distance) => {
                let share = ppm(slow(samples, self.alone_ns), samples.len());
                self.conflicts_ppm.push((distance * READ.get(), share));
            }
            Cell::AtOnce(many) => {
                let ns = median(summary);
                self.at_once_ns.push((many, ns));
                let permille = self.alone_ns * u64::from(many) * 1000 / ns.max(1);
                self.is_still_rising = permille > self.parallel_permille;
                self.parallel_permille = self.parallel_permille.max(permille);
            }
            Cell::BesideWrites => {
                let p99 = summary.quantiles[4].ns();
                self.beside_writes_ns = Some([median(summary), p99, summary.highest.ns()]);
                self.beside_writes_of_bytes = writes.map(|kind| kind.size.get());
            }
        }
    }

    /// Returns the part of a share of slow pairs that is due to the second read.
    fn above(&self, ppm: u64) -> u64 {
        ppm.saturating_sub(self.alone_slow_ppm)
    }

    /// Returns the shortest distance with few conflicts, if closer reads conflict often.
    fn block(&self) -> Option<u64> {
        let free = self.conflicts_ppm.iter().position(|&(_, ppm)| self.above(ppm) < FREE_PPM)?;
        let (closer, _) = self.conflicts_ppm.split_at(free);
        let is_crowded = closer.first().is_some_and(|&(_, ppm)| self.above(ppm) > CROWDED_PPM);
        is_crowded.then(|| self.conflicts_ppm[free].0)
    }

    /// Returns the shortest distance beyond a block at which many pairs conflict, and at least as
    /// many as at the next distance. The latter excludes the distance halfway there, at which half
    /// of all pairs already conflict.
    fn again(&self, block: u64) -> Option<u64> {
        let next = self.conflicts_ppm.iter().skip(1).map(|&(_, ppm)| ppm).chain([0]);
        let mut beyond =
            self.conflicts_ppm.iter().zip(next).filter(|&(&(bytes, _), _)| bytes > block);
        let again = beyond.find(|&(&(_, ppm), next)| self.above(ppm) > CROWDED_PPM && ppm >= next);
        again.map(|(&(bytes, _), _)| bytes)
    }
}

fn median(summary: &Summary) -> u64 {
    summary.quantiles[2].ns()
}

/// Returns the number of samples that took more than [`CONFLICT_PERCENT`] of the time of one read.
fn slow(samples: &[Sample], alone_ns: u64) -> usize {
    let is_slow = |it: &&Sample| it.took.ns() * 100 > alone_ns * CONFLICT_PERCENT;
    samples.iter().filter(is_slow).count()
}

/// Returns a share in parts per million.
fn ppm(part: usize, whole: usize) -> u64 {
    u64::try_from(part * 1_000_000 / whole.max(1)).expect("at most a million")
}
