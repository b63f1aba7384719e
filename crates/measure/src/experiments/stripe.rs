// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Runs the reads that show how a solid-state drive spreads data over its chips: alone, in pairs,
//! in larger groups, and during a flow of writes.
//!
//! Source: our own.

use rand::RngExt as _;
use rand_pcg::Pcg64;
use tidegate_model::{Duration, Op, Tag};

use super::{probe, rotation};
use crate::context::Context;
use crate::experiment::{Experiment, Facts};
use crate::flow::Flow;
use crate::found::Found;
use crate::held_up::Sample;
use crate::kind::Kind;
use crate::params::ProfileParams;
use crate::places::Places;
use crate::procedure::{Pace, Procedure};
use crate::rounds::Grid;
use crate::stripe::{self, Cell, READ};
use crate::subject::TrialResult;
use crate::warning::{Skip, Warning};

/// The largest distance between two reads, in units of their size: 64 MiB.
const APART_MAX: u64 = 1 << 14;

/// Divides the number of samples of each cell: the results are medians, for which fewer are enough.
const SAMPLES_PART: u32 = 4;

/// The number of pairs in a round: with many chips, two reads rarely use the same one.
const PAIRS: usize = 8;

const FACTS: Facts =
    Facts { time: "stripe: reads of 4KiB, several at once", ..probe::facts("stripe") };

impl Experiment {
    /// The way in which data is spread over chips.
    pub const STRIPE: Self = Self::of(&FACTS);
}

/// The procedure of [`Experiment::STRIPE`].
pub(super) struct Stripe;

impl Procedure for Stripe {
    /// Returns the grid of a large target; a small one has fewer distances and so fewer cells.
    fn grid(&self, params: &ProfileParams) -> Grid {
        grid(params, cell_count(params.depth))
    }

    fn requests(&self, _params: &ProfileParams, _pace: Pace) -> u64 {
        3
    }

    fn make(&self, _kind: Kind, context: &mut Context<'_>, found: &mut Found) -> TrialResult {
        if rotation::of(context, found)?.is_some() {
            let (experiment, skip) = (Experiment::STRIPE, Skip::Turns);
            found.warnings.push(Warning::Skipped { experiment, skip });
            return Ok(());
        }
        if found.is_cancelled {
            found.stop(Experiment::STRIPE);
            return Ok(());
        }
        let writes = smallest_writes(&context.params.kinds);
        let made = read_all(writes, context, found)?;
        if let Some(stripe) = stripe::found(&made, writes) {
            found.fit("stripe", &stripe);
        }
        Ok(())
    }
}

fn grid(params: &ProfileParams, cells: usize) -> Grid {
    Grid { samples: params.samples.div_ceil(SAMPLES_PART), cells, ways: 1 }
}

/// Returns the smallest kind of writes. Large writes saturate the path to the device, which hides
/// the effect of its chips.
fn smallest_writes(kinds: &[Kind]) -> Option<Kind> {
    kinds.iter().copied().filter(|kind| kind.op == Op::Write).min_by_key(|kind| kind.size)
}

/// Measures all cells; reads during writes come last and separately.
fn read_all(
    writes: Option<Kind>,
    context: &mut Context<'_>,
    found: &mut Found,
) -> TrialResult<Vec<(Cell, Vec<Sample>)>> {
    let depth = context.params.depth;
    let reads = context.places(Kind { op: Op::Read, size: READ });
    let places = (reads, writes.map(|kind| context.places(kind)));
    let passes = [(reads.kind, cells(reads, depth))];
    let beside = writes.filter(|_| depth > 1).map(|kind| (kind, vec![Cell::BesideWrites]));
    let mut made = Vec::new();
    for (kind, cells) in passes.into_iter().chain(beside) {
        let rounds = context.rounds(Experiment::STRIPE, kind, grid(context.params, cells.len()));
        let trial = |flow: &mut Flow<'_>, cell: usize| sample(flow, cells[cell], places, depth);
        if !found.is_cancelled {
            let measured = context.measure(&rounds, trial)?;
            found.note(&rounds, &measured);
            made.extend(cells.into_iter().zip(measured.cells));
        }
    }
    Ok(made)
}

/// Returns the cells that only read.
fn cells(places: Places, depth: u32) -> Vec<Cell> {
    let count = u64::try_from(places.count).unwrap_or(u64::MAX);
    let apart = distances().take_while(|&distance| distance <= count / 2);
    let pairs = std::iter::repeat_n(Cell::Pair, PAIRS);
    let two = apart.map(Cell::Apart).chain(pairs).filter(|_| depth > 1);
    std::iter::once(Cell::Alone).chain(two).chain(at_once(depth)).collect()
}

/// Returns the maximum number of cells.
fn cell_count(depth: u32) -> usize {
    1 + distances().count() + PAIRS + at_once(depth).count()
}

/// Returns 1, 2, 3, 4, 6, 8, 12, ..: the powers of two and the numbers halfway between them.
fn distances() -> impl Iterator<Item = u64> {
    let powers = std::iter::successors(Some(1_u64), |distance| distance.checked_mul(2));
    let all = powers.flat_map(|power| [Some(power), (power > 1).then_some(power / 2 * 3)]);
    all.flatten().take_while(|&distance| distance <= APART_MAX)
}

fn at_once(depth: u32) -> impl Iterator<Item = Cell> {
    let many = std::iter::successors(Some(2_u32), |many| many.checked_mul(2));
    many.take_while(move |&many| many <= depth).map(Cell::AtOnce)
}

/// Takes one sample of a cell.
fn sample(
    flow: &mut Flow<'_>,
    cell: Cell,
    (reads, writes): (Places, Option<Places>),
    depth: u32,
) -> TrialResult<Duration> {
    let batch = match cell {
        Cell::Alone => vec![reads.anywhere(flow.random)],
        Cell::Pair => reads.different(2, flow.random),
        Cell::AtOnce(many) => reads.different(many as usize, flow.random),
        Cell::Apart(distance) => {
            let distance = usize::try_from(distance).expect("it fits into the target");
            let first = flow.random.random_range(0..reads.count - distance);
            vec![reads.at(first), reads.at(first + distance)]
        }
        Cell::BesideWrites => {
            let writes = writes.expect("there is no such cell without writes");
            return beside_writes(flow, reads, writes, depth);
        }
    };
    flow.serve(&batch)
}

/// Returns the time of one read in the lower half, during a flow of writes in the upper half.
fn beside_writes(
    flow: &mut Flow<'_>,
    reads: Places,
    writes: Places,
    depth: u32,
) -> TrialResult<Duration> {
    let upper = writes.count / 2..writes.count;
    let lower = 0..reads.count / 2;
    let write = |random: &mut Pcg64| writes.within(upper.clone(), random);
    flow.keep(depth - 1, 2 * depth, write)?;
    let begun = flow.now();
    let read = flow.send(1, Tag::Simple, |random| reads.within(lower.clone(), random))?[0];
    while !flow.wait()?.contains(&read.start) {
        flow.fill(depth, write)?;
    }
    let took = flow.now().since(begun);
    flow.drain()?;
    Ok(took)
}

#[cfg(test)]
mod tests {
    use tidegate_model::Bytes;

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
