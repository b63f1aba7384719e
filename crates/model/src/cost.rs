// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The cost of a batch of different requests: one positioning A, and c for each request.
//!
//! The table b(i) covers one kind of request and charges every workload as if all requests were of
//! the largest kind. A cost model distinguishes kinds: a batch takes at most `A + sum c(op, size)`.
//! A drive file states the model in `[cost]`. Without that section, an envelope of the measured
//! tables is derived: it holds for batches of one kind because it covers every entry, and for mixed
//! batches by assumption.

use crate::drive_file::tables::MeasuredTable;
use crate::task::Op;
use crate::units::{Bytes, Duration};

/// The longest time of a batch, as a sum over its requests.
///
/// # Bound
/// `A + sum c(op_j, size_j)` for a batch of requests j, plus one `switch_max` for each change
/// between reads and writes inside it.
///
/// # Invariants
/// - No two entries of `requests` have the same operation and size; no cost is zero.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CostModel {
    /// A: the largest positioning time, charged once for each batch, including a change of
    /// direction before its first request.
    pub positioning_max: Duration,
    /// c: the time that a request adds to a batch, for each operation and size.
    pub requests: Vec<RequestCost>,
    /// The longest time of a change of direction inside a batch; `None` if the device groups reads
    /// and writes, or if A and c cover the changes.
    pub switch_max: Option<Duration>,
    /// The longest time that forcing a write to the medium adds to its c. No task of a workload
    /// file forces its writes.
    pub fua_max: Option<Duration>,
    /// The largest batch for which the model holds; `None` if it holds for every batch.
    pub batch_max: Option<u32>,
    /// The method by which the model was found.
    pub how: Option<String>,
    /// Number of samples of each batch.
    pub samples: Option<u64>,
}

/// c: the most that one request adds to a batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RequestCost {
    /// Read or write.
    pub op: Op,
    /// Size of the request.
    pub size: Bytes,
    /// The longest time that the request adds to a batch.
    pub time_max: Duration,
}

/// A measured batch that took longer than a cost model says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Uncovered {
    /// The operation of every request: read or write.
    pub op: Op,
    /// Size of every request.
    pub size: Bytes,
    /// Number of requests in the batch.
    pub requests: u32,
    /// The measured time of the batch.
    pub measured: Duration,
    /// The longest time of the batch according to the model.
    pub covered: Duration,
}

impl CostModel {
    /// Returns c of a request: the cost of the smallest known size that covers it, or of a smaller
    /// known size that costs more. `None` if no known size covers the request.
    pub fn cost(&self, op: Op, size: Bytes) -> Option<Duration> {
        let known = || self.requests.iter().filter(|cost| cost.op == op);
        let covering = known().map(|cost| cost.size).filter(|&known| known >= size).min()?;
        // A fit may charge a smaller size more; a size in between is not known to cost less.
        known().filter(|cost| cost.size <= covering).map(|cost| cost.time_max).max()
    }

    /// Returns `A + n c`: the longest time of a batch of `count` requests of one kind.
    pub fn batch_of_one_kind(&self, op: Op, size: Bytes, count: u32) -> Option<Duration> {
        self.batch_of([(op, size, count)])
    }

    /// Returns `A + sum n c`: the longest time of a batch of n requests of each of these kinds,
    /// changes of direction not counted. `None` if no known size covers one of the kinds.
    pub fn batch_of(
        &self,
        requests: impl IntoIterator<Item = (Op, Bytes, u32)>,
    ) -> Option<Duration> {
        let mut requests = requests.into_iter();
        requests.try_fold(self.positioning_max, |sum, (op, size, count)| {
            sum.checked_add(self.cost(op, size)?.checked_mul(u64::from(count))?)
        })
    }

    /// Returns the first measured batch that took longer than this model says; such a batch refutes
    /// the model. Skips tables of kinds that the model does not cover.
    pub fn first_uncovered(&self, tables: &[MeasuredTable]) -> Option<Uncovered> {
        tables.iter().find_map(|table| {
            let (op, size) = (table.op?, table.size?);
            (1..=table.table.batch_max()).find_map(|requests| {
                let measured = table.table.time_max(requests);
                let covered = self.batch_of_one_kind(op, size, requests)?;
                (measured > covered).then_some(Uncovered { op, size, requests, measured, covered })
            })
        })
    }

    /// Returns an envelope of measured tables: the model that charges least for two batches which
    /// together have `weights[k]` requests of the k-th table. `None` if there is no table, or if a
    /// table holds for every operation or size.
    ///
    /// # Bound
    /// For any A, `c = max over n of ceil((b(n) - A) / n)` is the least c with `A + n c >= b(n)`
    /// for every n. The chosen A makes `2 A + sum weight c` least, because Theorem 2 charges this
    /// sum. The sum is convex in A except for the rounding of c, so the chosen A can be slightly
    /// off the best; the envelope covers every entry in any case.
    ///
    /// # Source
    /// Own derivation, `docs/theory/requests-of-different-kinds.md` section 11.
    ///
    /// # Assumptions
    /// None for batches of one kind as measured. For mixed batches: a batch of n requests takes no
    /// longer than the average of the batches of n requests of one of its kinds, each kind weighted
    /// by its share of the batch. `A + sum c` is then enough for any A. No measurement supports
    /// this, so users of the model must state it for mixed batches.
    ///
    /// # Shape
    /// `weights` is as long as `tables`.
    ///
    /// # Complexity
    /// O(entries log b).
    pub fn envelope(tables: &[&MeasuredTable], weights: &[u64]) -> Option<Self> {
        let kinds: Option<Vec<(Op, Bytes)>> =
            tables.iter().map(|table| Some((table.op?, table.size?))).collect();
        let batch_max = tables.iter().map(|table| table.table.batch_max()).min()?;
        let positioning_ns = best_positioning_ns(tables, weights);
        let cost = |((op, size), table): ((Op, Bytes), &&MeasuredTable)| {
            let time_max = Duration::from_ns(least_request_ns(table, positioning_ns));
            RequestCost { op, size, time_max }
        };
        Some(Self {
            positioning_max: Duration::from_ns(positioning_ns),
            requests: kinds?.into_iter().zip(tables).map(cost).collect(),
            switch_max: None,
            fua_max: None,
            batch_max: Some(batch_max),
            how: Some("an envelope of the [[batch]] tables".to_owned()),
            samples: tables.iter().filter_map(|table| table.samples).min(),
        })
    }
}

/// Returns the A that charges least, by ternary search between 0 and the longest batch.
fn best_positioning_ns(tables: &[&MeasuredTable], weights: &[u64]) -> u64 {
    let longest = tables.iter().map(|table| table.table.time_max(table.table.batch_max()).ns());
    let (mut low, mut high) = (0, longest.max().unwrap_or(0));
    let charge = |positioning_ns: u64| charge_ns(tables, weights, positioning_ns);
    while high - low > 2 {
        let third = (high - low) / 3;
        let (left, right) = (low + third, high - third);
        if charge(left) <= charge(right) {
            high = right;
        } else {
            low = left;
        }
    }
    (low..=high).min_by_key(|&ns| charge(ns)).unwrap_or(low)
}

/// Returns the charge of two batches that together have `weights[k]` requests of the k-th table.
fn charge_ns(tables: &[&MeasuredTable], weights: &[u64], positioning_ns: u64) -> u128 {
    let of_table = |(table, &weight): (&&MeasuredTable, &u64)| {
        u128::from(weight) * u128::from(least_request_ns(table, positioning_ns))
    };
    2 * u128::from(positioning_ns) + tables.iter().zip(weights).map(of_table).sum::<u128>()
}

/// Returns the least c that covers a table with this A, in ns; at least 1.
fn least_request_ns(table: &MeasuredTable, positioning_ns: u64) -> u64 {
    let least = |requests: u32| {
        // Saturation is intended: a batch shorter than A needs nothing from c.
        let rest = table.table.time_max(requests).ns().saturating_sub(positioning_ns);
        rest.div_ceil(u64::from(requests))
    };
    (1..=table.table.batch_max()).map(least).max().unwrap_or(1).max(1)
}
