// SPDX-License-Identifier: Apache-2.0 OR MIT
//! How a solid-state drive spreads data over its chips, and what a neighbour's writes do to
//! reads.
//!
//! ```text
//!   alone      x                        one small read
//!   apart d    x  +  x + d              two at once: as long as one where different chips
//!                                       serve them, longer where one chip serves both
//!   at once n  n at random places       how many are served at once
//!   beside     x, others writing        one read beside a flow of writes
//! ```
//!
//! Source: our own. What a chip is cannot be seen from outside; what is told is which
//! distances get in each other's way.

use model::{Bytes, Duration, Op, Tag};
use rand::RngExt as _;
use rand_pcg::Pcg64;
use serde::{Deserialize, Serialize};

use crate::flow::Flow;
use crate::held_up::Sample;
use crate::kind::Kind;
use crate::order_statistics::Summary;
use crate::places::Places;
use crate::subject::{Subject, SubjectError};

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

/// One read of a few: what is measured in a cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cell {
    /// One.
    Alone,
    /// Two, so many reads apart.
    Apart(u64),
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
    let distances = std::iter::successors(Some(1_u64), |distance| distance.checked_mul(2));
    let apart = distances.take_while(|&distance| distance <= APART_MAX.min(count / 2));
    let many = std::iter::successors(Some(2_u32), |many| many.checked_mul(2));
    let at_once = many.take_while(|&many| many <= depth);
    let apart = apart.filter(|_| depth > 1).map(Cell::Apart);
    std::iter::once(Cell::Alone).chain(apart).chain(at_once.map(Cell::AtOnce)).collect()
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
}

/// What the samples say; none without one of each cell.
pub(crate) fn found(cells: &[(Cell, Vec<Sample>)]) -> Option<Stripe> {
    let times = |cell: &Vec<Sample>| cell.iter().map(|it| it.took).collect::<Vec<_>>();
    let summary = |(_, cell): &(Cell, Vec<Sample>)| Summary::of(&mut times(cell));
    let summaries: Vec<Summary> = cells.iter().map(summary).collect::<Option<_>>()?;
    let median = |summary: &Summary| summary.quantiles[2].ns();
    let of_alone = cells.iter().position(|(cell, _)| *cell == Cell::Alone)?;
    let alone_ns = median(&summaries[of_alone]);
    let mut stripe = Stripe {
        read_bytes: READ.get(),
        samples: u64::from(summaries.iter().map(|it| it.count).min()?),
        alone_ns,
        alone_slow_ppm: slow_ppm(&cells[of_alone].1, alone_ns),
        conflicts_ppm: Vec::new(),
        block_bytes: None,
        at_once_ns: Vec::new(),
        parallel_permille: 1000,
        is_still_rising: false,
        beside_writes_ns: None,
    };
    for ((cell, samples), summary) in cells.iter().zip(&summaries) {
        match *cell {
            Cell::Alone => (),
            Cell::Apart(distance) => {
                stripe.conflicts_ppm.push((distance * READ.get(), slow_ppm(samples, alone_ns)));
            }
            Cell::AtOnce(many) => {
                let ns = median(summary);
                stripe.at_once_ns.push((many, ns));
                let permille = alone_ns * u64::from(many) * 1000 / ns.max(1);
                stripe.is_still_rising = permille > stripe.parallel_permille;
                stripe.parallel_permille = stripe.parallel_permille.max(permille);
            }
            Cell::BesideWrites => {
                let p99 = summary.quantiles[4].ns();
                stripe.beside_writes_ns = Some([median(summary), p99, summary.highest.ns()]);
            }
        }
    }
    stripe.block_bytes = block(&stripe);
    Some(stripe)
}

/// The share of samples that took much longer than one read, in parts per million.
fn slow_ppm(samples: &[Sample], alone_ns: u64) -> u64 {
    let is_slow = |it: &&Sample| it.took.ns() * 100 > alone_ns * CONFLICT_PERCENT;
    let ppm = samples.iter().filter(is_slow).count() * 1_000_000 / samples.len().max(1);
    u64::try_from(ppm).expect("at most a million")
}

/// The least distance without conflicts behind distances that have many.
fn block(stripe: &Stripe) -> Option<u64> {
    let above = |ppm: u64| ppm.saturating_sub(stripe.alone_slow_ppm);
    let free = stripe.conflicts_ppm.iter().position(|&(_, ppm)| above(ppm) < FREE_PPM)?;
    let (closer, _) = stripe.conflicts_ppm.split_at(free);
    let is_crowded = closer.first().is_some_and(|&(_, ppm)| above(ppm) > CROWDED_PPM);
    is_crowded.then(|| stripe.conflicts_ppm[free].0)
}

/// Where the small reads lie.
pub(crate) fn places(capacity: Bytes) -> Places {
    Places::of(capacity, Kind { op: Op::Read, size: READ })
}
