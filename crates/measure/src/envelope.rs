// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The cheapest cost model that covers every measured batch: a cost A of the batch, and a cost c of
//! each of its requests, by operation and size. Batches of one kind and of several determine it.
//!
//! A linear programme in floats chooses A and c. Soundness does not depend on its solution: the
//! costs are rounded up to whole nanoseconds, and A is then computed exactly, as the least that
//! covers every batch. A bad solution costs tightness, never coverage.
//!
//! [`CostModel::envelope`] derives a model from the tables of a drive file for one workload. The
//! model here also uses mixed batches if they were measured, and does not depend on a workload.

use microlp::{ComparisonOp, OptimizationDirection, Problem};
use thiserror::Error;
use tidegate_model::Duration;
use tidegate_model::cost::{CostModel, RequestCost};

use crate::kind::Kind;
use tidegate_stats::float;

/// The first words of `origin` in a cost model that this module fitted.
pub const FITTED: &str = "a linear programme over the longest batches measured";

/// The longest time of all batches with the same composition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Point {
    /// The number of requests of each kind, in the order of the kinds.
    pub counts: Vec<u32>,
    /// The longest time.
    pub highest: Duration,
}

/// A cost model that covers all points it was made from.
///
/// # Invariants
/// - `A + sum n_k c_k` is at least the time of each point, exactly.
/// - No c is zero.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Envelope {
    /// A: the largest positioning time, charged once per batch.
    pub positioning_max: Duration,
    /// c, the cost of a request of each kind.
    pub requests: Vec<RequestCost>,
    /// The size up to which the model is supported by measurements: for each kind, the largest
    /// measured batch that contains it; then the smallest of these sizes.
    pub batch_max: u32,
    /// The largest amount by which the model exceeds a measured time, in ppm of that time, rounded
    /// up.
    pub overshoot_ppm_highest: u64,
    /// The indices of the points that determine the model: it exceeds each of them only by
    /// rounding, at most 1 ns for A and 1 ns for each request.
    pub tight: Vec<usize>,
}

/// The reasons why no envelope exists.
#[derive(Debug, Error, Clone, PartialEq)]
#[non_exhaustive]
pub enum EnvelopeError {
    /// Nothing was measured.
    #[error("no batch was measured: measure some")]
    NoPoints,
    /// A kind is given twice.
    #[error("{} of {} is given twice: give each kind once", .0.op.name(), .0.size)]
    KindTwice(Kind),
    /// No batch has requests of this kind.
    #[error("no measured batch has a {} of {}: measure one, or leave the kind out", .0.op.name(), .0.size)]
    KindNotMeasured(Kind),
    /// A point has a wrong number of counts.
    #[error("batch {point} counts {counts} kinds of request, but there are {kinds}: count each")]
    CountsMismatch {
        /// The point's index.
        point: usize,
        /// The number of the point's counts.
        counts: usize,
        /// The number of kinds.
        kinds: usize,
    },
    /// The batch of this index has no requests, or 2^32 or more.
    #[error("batch {0} has no requests, or too many to count: leave it out")]
    BatchSize(usize),
    /// The solver failed. The linear programme always has a solution, so this is a fault of the
    /// solver.
    #[error("the linear programme was not solved: {0}")]
    Solver(microlp::Error),
}

/// Returns the model with the least total overshoot over all points.
///
/// # Equation
/// Minimise `sum over points p of (A + sum_k n_pk c_k - t_p)` subject to
/// `A + sum_k n_pk c_k >= t_p` for every p, `A >= 0`, `c_k >= 0`. Then `c_k` is rounded up, to
/// 1 ns at least, and `A = max over p of max(0, t_p - sum_k n_pk c_k)`.
///
/// # Bound
/// The model covers every point exactly. The total overshoot is at most the linear programme's,
/// plus one nanosecond for each point and each request, for rounding.
///
/// # Source
/// Own derivation, `docs/theory/requests-of-different-kinds.md` section 11.
///
/// # Assumptions
/// A batch that was not measured takes no longer than the model says; no measurement supports that.
/// With points on one line, or a single one, many models are equally tight and any of them may be
/// returned; they differ for batches that were not measured.
///
/// # Shape
/// `points[p].counts` has one entry for each of `kinds`.
///
/// # Errors
/// If there is nothing to cover, a kind occurs twice or in no batch, or counts do not fit.
///
/// # Complexity
/// A linear programme of 1 + kinds variables and one row for each point.
pub fn fit(kinds: &[Kind], points: &[Point]) -> Result<Envelope, EnvelopeError> {
    let batch_max = check(kinds, points)?;
    let costs = solve(kinds.len(), points)?;
    let positioning_ns = points.iter().map(|point| uncovered_ns(point, &costs)).max().unwrap_or(0);
    let excess_ns = |point: &Point| {
        u128::from(positioning_ns) + requests_ns(point, &costs) - u128::from(point.highest.ns())
    };
    let is_tight = |point: &Point| excess_ns(point) <= 1 + requests_of(point);
    let tight = points.iter().enumerate().filter(|(_, point)| is_tight(point));
    let overshoots = points.iter().filter_map(|point| {
        let overshoot = excess_ns(point).checked_mul(1_000_000)?;
        (!point.highest.is_zero()).then(|| overshoot.div_ceil(u128::from(point.highest.ns())))
    });
    // Saturation is harmless here: it affects only overshoots too large to matter.
    let highest = u64::try_from(overshoots.max().unwrap_or(0)).unwrap_or(u64::MAX);
    let cost = |(kind, &ns): (&Kind, &u64)| RequestCost {
        op: kind.op,
        size: kind.size,
        time_max: Duration::from_ns(ns),
    };
    Ok(Envelope {
        positioning_max: Duration::from_ns(positioning_ns),
        requests: kinds.iter().zip(&costs).map(cost).collect(),
        batch_max,
        overshoot_ppm_highest: highest,
        tight: tight.map(|(index, _)| index).collect(),
    })
}

/// Checks the points, and returns the `batch_max` of their envelope.
fn check(kinds: &[Kind], points: &[Point]) -> Result<u32, EnvelopeError> {
    for (index, &kind) in kinds.iter().enumerate() {
        if kinds[..index].contains(&kind) {
            return Err(EnvelopeError::KindTwice(kind));
        }
    }
    for (index, point) in points.iter().enumerate() {
        let (counts, kinds) = (point.counts.len(), kinds.len());
        if counts != kinds {
            return Err(EnvelopeError::CountsMismatch { point: index, counts, kinds });
        }
        if !(1..=u128::from(u32::MAX)).contains(&requests_of(point)) {
            return Err(EnvelopeError::BatchSize(index));
        }
    }
    let largest = |(index, &kind): (usize, &Kind)| {
        let with_kind = points.iter().filter(|point| point.counts[index] > 0);
        with_kind
            .map(|point| point.counts.iter().sum())
            .max()
            .ok_or(EnvelopeError::KindNotMeasured(kind))
    };
    let largest: Vec<u32> = kinds.iter().enumerate().map(largest).collect::<Result<_, _>>()?;
    largest.into_iter().min().filter(|_| !points.is_empty()).ok_or(EnvelopeError::NoPoints)
}

/// Returns c of each kind, in ns, rounded up to at least 1.
///
/// Times are in units of the longest, counts in units of the largest batch, so that everything
/// the solver sees is of the order of 1.
fn solve(kinds: usize, points: &[Point]) -> Result<Vec<u64>, EnvelopeError> {
    let longest = points.iter().map(|point| point.highest.ns()).max().unwrap_or(0).max(1);
    let largest = points.iter().flat_map(|point| &point.counts).copied().max().unwrap_or(1);
    let (time_unit, count_unit) = (float::of(longest), f64::from(largest));
    let mut problem = Problem::new(OptimizationDirection::Minimize);
    let positive = (0.0, f64::INFINITY);
    let positioning = problem.add_var(1.0, positive);
    // The mean over all points instead of the sum: the same optimum, again of the order of 1.
    let weight = |kind: usize| {
        let sum: f64 = points.iter().map(|point| f64::from(point.counts[kind])).sum();
        sum / count_unit / float::of_length(points.len())
    };
    let costs: Vec<_> = (0..kinds).map(|kind| problem.add_var(weight(kind), positive)).collect();
    for point in points {
        let requests = costs.iter().zip(&point.counts).filter(|&(_, &count)| count > 0);
        let requests = requests.map(|(&cost, &count)| (cost, f64::from(count) / count_unit));
        let row: Vec<_> = std::iter::once((positioning, 1.0)).chain(requests).collect();
        problem.add_constraint(row, ComparisonOp::Ge, float::of(point.highest.ns()) / time_unit);
    }
    let outcome = problem.solve().map_err(EnvelopeError::Solver)?;
    let solution = outcome.into_solution().expect("without a time limit nothing interrupts");
    let ns = |&cost: &_| float::ceil(solution.var_value(cost) * time_unit / count_unit).max(1);
    // No request takes longer than the longest batch, regardless of what the solver says.
    Ok(costs.iter().map(|cost| ns(cost).min(longest)).collect())
}

/// Returns the least A that covers this point.
fn uncovered_ns(point: &Point, costs: &[u64]) -> u64 {
    let covered = u64::try_from(requests_ns(point, costs)).unwrap_or(u64::MAX);
    // Saturation is correct here: if c alone covers a point, A is not needed.
    point.highest.ns().saturating_sub(covered)
}

/// Returns `sum n_k c_k` in ns; it is below 2^96 for 2^32 requests.
fn requests_ns(point: &Point, costs: &[u64]) -> u128 {
    let of_kind = |(&count, &cost): (&u32, &u64)| u128::from(count) * u128::from(cost);
    point.counts.iter().zip(costs).map(of_kind).sum()
}

fn requests_of(point: &Point) -> u128 {
    point.counts.iter().map(|&count| u128::from(count)).sum()
}

/// The model has no separate cost for changes of direction or forced writes: A and c already cover
/// the changes in the mixed batches that were measured.
impl From<Envelope> for CostModel {
    fn from(envelope: Envelope) -> Self {
        let percent = float::of(envelope.overshoot_ppm_highest) / 10_000.0;
        Self {
            positioning_max: envelope.positioning_max,
            requests: envelope.requests,
            switch_max: None,
            fua_max: None,
            batch_max: Some(envelope.batch_max),
            how: Some(format!("{FITTED}, {percent:.2} % above one of them at most")),
            samples: None,
        }
    }
}

#[cfg(test)]
mod tests;
