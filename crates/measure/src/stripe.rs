// SPDX-License-Identifier: Apache-2.0 OR MIT
//! How a solid-state drive spreads data over its chips, and what a neighbour's writes do to
//! reads.
//!
//! ```text
//!   alone      x                        one small read
//!   apart d    x  +  x + d              two at once: as long as one where different chips
//!                                       serve them, longer where one chip serves both
//!   pair       two at random places     how often both fall on one chip: how many there are
//!   at once n  n at random places       how many are served at once, link and all
//!   beside     x, others writing        one read beside a flow of writes
//! ```
//!
//! Source: our own. What a chip is cannot be seen from outside; what is told is which
//! distances get in each other's way, and among how many places of service reads are shared.

use rand::RngExt as _;
use rand_pcg::Pcg64;
use serde::{Deserialize, Serialize};
use tidegate_model::{Bytes, Duration, Op, Tag};

use crate::flow::Flow;
use crate::held_up::Sample;
use crate::kind::Kind;
use crate::places::Places;
use crate::subject::{Subject, SubjectError};
use tidegate_stats::order_statistics::Summary;

mod chips;

pub use chips::Chips;

/// The size of every read: what file systems ask for at least.
pub(crate) const READ: Bytes = Bytes::from_kib(4);

/// The farthest two reads lie apart, in their size: 64 MiB.
const APART_MAX: u64 = 1 << 14;

/// Two at once that take longer than one by this part got in each other's way.
const CONFLICT_PERCENT: u64 = 130;

/// Of two reads in one block more than this part of a million are in conflict.
const CROWDED_PPM: u64 = 300_000;

/// Of two in different blocks less than this part: so few chips are shared by chance.
const FREE_PPM: u64 = 150_000;

/// See [`samples`].
const SAMPLES_PART: u32 = 4;

/// How many pairs a round has: a chip of many is hit twice rarely.
const PAIRS: usize = 8;

/// One read of a few: what is measured in a cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cell {
    /// One.
    Alone,
    /// Two, so many reads apart.
    Apart(u64),
    /// Two at random places.
    Pair,
    /// So many at random places.
    AtOnce(u32),
    /// One beside a flow of writes.
    BesideWrites,
}

/// Of each cell a part of the samples of other experiments is enough: medians are told.
pub(crate) fn samples(samples: u32) -> u32 {
    samples.div_ceil(SAMPLES_PART)
}

/// What there is to measure by reading.
pub(crate) fn cells(places: Places, depth: u32) -> Vec<Cell> {
    let count = u64::try_from(places.count).unwrap_or(u64::MAX);
    let apart = distances().take_while(|&distance| distance <= count / 2);
    let pairs = std::iter::repeat_n(Cell::Pair, PAIRS);
    let two = apart.map(Cell::Apart).chain(pairs).filter(|_| depth > 1);
    std::iter::once(Cell::Alone).chain(two).chain(at_once(depth)).collect()
}

/// How many cells there are at most.
pub(crate) fn cell_count(depth: u32) -> usize {
    1 + distances().count() + PAIRS + at_once(depth).count()
}

/// 1, 2, 3, 4, 6, 8, 12, ..: powers of two, and what lies between them.
fn distances() -> impl Iterator<Item = u64> {
    let powers = std::iter::successors(Some(1_u64), |distance| distance.checked_mul(2));
    let all = powers.flat_map(|power| [Some(power), (power > 1).then_some(power / 2 * 3)]);
    all.flatten().take_while(|&distance| distance <= APART_MAX)
}

fn at_once(depth: u32) -> impl Iterator<Item = Cell> {
    let many = std::iter::successors(Some(2_u32), |many| many.checked_mul(2));
    many.take_while(move |&many| many <= depth).map(Cell::AtOnce)
}

/// What there is to measure beside what a neighbour writes, if it may.
pub(crate) fn beside_cells(depth: u32, writes: Option<Kind>) -> Vec<Cell> {
    writes.filter(|_| depth > 1).map(|_| Cell::BesideWrites).into_iter().collect()
}

/// One time.
pub(crate) fn sample(
    subject: &mut dyn Subject,
    cell: Cell,
    (reads, writes): (Places, Option<Places>),
    depth: u32,
    random: &mut Pcg64,
) -> Result<Duration, SubjectError> {
    match (cell, writes) {
        (Cell::Alone, _) => subject.serve(&[reads.anywhere(random)]),
        (Cell::Pair, _) => subject.serve(&reads.different(2, random)),
        (Cell::AtOnce(many), _) => subject.serve(&reads.different(many as usize, random)),
        (Cell::Apart(distance), _) => {
            let distance = usize::try_from(distance).expect("it fits into the target");
            let first = random.random_range(0..reads.count - distance);
            subject.serve(&[reads.at(first), reads.at(first + distance)])
        }
        (Cell::BesideWrites, Some(writes)) => beside_writes(subject, reads, writes, depth, random),
        (Cell::BesideWrites, None) => unreachable!("there is no such cell without writes"),
    }
}

/// One read in the lower half, beside a flow of writes in the upper.
fn beside_writes(
    subject: &mut dyn Subject,
    reads: Places,
    writes: Places,
    depth: u32,
    random: &mut Pcg64,
) -> Result<Duration, SubjectError> {
    let upper = writes.count / 2..writes.count;
    let lower = 0..reads.count / 2;
    let mut flow = Flow::on(subject);
    flow.keep(depth - 1, 2 * depth, || writes.within(upper.clone(), random))?;
    let begun = flow.now();
    let read = flow.send(1, Tag::Simple, || reads.within(lower.clone(), random))?[0];
    while !flow.wait()?.contains(&read.start) {
        flow.fill(depth, || writes.within(upper.clone(), random))?;
    }
    let took = flow.now().since(begun);
    flow.drain()?;
    Ok(took)
}

/// What was found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stripe {
    /// Size of a read.
    pub read_bytes: u64,
    /// How often each was tried.
    pub samples: u64,
    /// Median of one read.
    pub alone_ns: u64,
    /// The share of single reads that took much longer than their median, in parts per million:
    /// what of conflicts is none.
    pub alone_slow_ppm: u64,
    /// Bytes from one read to the other, and the share of two at once that took much longer
    /// than one, in parts per million.
    pub conflicts_ppm: Vec<(u64, u64)>,
    /// What lies closer together gets in each other's way, what is so far apart does not; none
    /// where nothing like that shows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub block_bytes: Option<u64>,
    /// The least distance beyond a block at which reads get in each other's way again, of those
    /// that are tried: powers of two and three times such, in reads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub again_bytes: Option<u64>,
    /// Among how many chips reads at random places are shared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chips: Option<Chips>,
    /// So many at once, and their median.
    pub at_once_ns: Vec<(u32, u64)>,
    /// How many reads are served at once, in thousandths: the most that alone x n over the
    /// time of n gives.
    pub parallel_permille: u64,
    /// The most were measured with the most at once: more may be served.
    pub is_still_rising: bool,
    /// Median, 99 % and longest of a read beside writes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub beside_writes_ns: Option<[u64; 3]>,
    /// Size of those writes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub beside_writes_of_bytes: Option<u64>,
}

/// What the samples say, of the cells that have some; none without one read alone.
pub(crate) fn found(cells: &[(Cell, Vec<Sample>)], writes: Option<Kind>) -> Option<Stripe> {
    let times = |cell: &[Sample]| cell.iter().map(|it| it.took).collect::<Vec<_>>();
    let summary = |(cell, samples): &'_ (Cell, Vec<Sample>)| {
        Some((*cell, samples.clone(), Summary::of(&mut times(samples))?))
    };
    let measured: Vec<(Cell, Vec<Sample>, Summary)> = cells.iter().filter_map(summary).collect();
    let (_, alone, of_alone) = measured.iter().find(|(cell, ..)| *cell == Cell::Alone)?;
    let alone_ns = median(of_alone);
    let mut stripe = Stripe {
        read_bytes: READ.get(),
        samples: u64::from(measured.iter().map(|(.., it)| it.count).min()?),
        alone_ns,
        alone_slow_ppm: ppm(slow(alone, alone_ns), alone.len()),
        conflicts_ppm: Vec::new(),
        block_bytes: None,
        again_bytes: None,
        chips: None,
        at_once_ns: Vec::new(),
        parallel_permille: 1000,
        is_still_rising: false,
        beside_writes_ns: None,
        beside_writes_of_bytes: None,
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

    /// What of a share is due to the second read.
    fn above(&self, ppm: u64) -> u64 {
        ppm.saturating_sub(self.alone_slow_ppm)
    }

    /// The least distance without conflicts behind distances that have many.
    fn block(&self) -> Option<u64> {
        let free = self.conflicts_ppm.iter().position(|&(_, ppm)| self.above(ppm) < FREE_PPM)?;
        let (closer, _) = self.conflicts_ppm.split_at(free);
        let is_crowded = closer.first().is_some_and(|&(_, ppm)| self.above(ppm) > CROWDED_PPM);
        is_crowded.then(|| self.conflicts_ppm[free].0)
    }

    /// The least distance beyond a block that has many conflicts, and no fewer than the next:
    /// half the way there, half of all pairs meet already.
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

/// How many samples took much longer than one read.
fn slow(samples: &[Sample], alone_ns: u64) -> usize {
    let is_slow = |it: &&Sample| it.took.ns() * 100 > alone_ns * CONFLICT_PERCENT;
    samples.iter().filter(is_slow).count()
}

/// A share in parts per million.
fn ppm(part: usize, whole: usize) -> u64 {
    u64::try_from(part * 1_000_000 / whole.max(1)).expect("at most a million")
}

/// Where the small reads lie.
pub(crate) fn places(capacity: Bytes) -> Places {
    Places::of(capacity, Kind { op: Op::Read, size: READ })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_are_powers_of_two_and_what_lies_between() {
        let first: Vec<u64> = distances().take(8).collect();
        assert_eq!(first, [1, 2, 3, 4, 6, 8, 12, 16]);
        assert_eq!(distances().last(), Some(APART_MAX));
        let places = Places::of(Bytes::from_kib(1 << 20), Kind { op: Op::Read, size: READ });
        assert_eq!(cells(places, 32).len(), cell_count(32));
    }
}
