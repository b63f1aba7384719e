// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Exact response times under preemptive fixed priorities.

use tidegate_model::Duration;

use super::demand::Source;
use super::level::Level;
use tidegate_model::Verdict;

/// The maximum number of evaluations of one source's demand; a search stops after them.
pub(super) const STEPS_MAX: usize = 1 << 22;

/// Returns the longest time from arrival to completion of a job of `own`, delayed by the sources in
/// `level`, which are at least as urgent.
///
/// # Bound
/// With w(q) the least w such that
/// `w = B + q e + sum over i of ceil((w + J_i) / p_i) e_i + A(w)`:
/// `R = max over q >= 1 of w(q) + J - (q - 1) p`, up to the first q with `w(q) + J <= q p`, where
/// the busy interval ends. A(w) is the measured demand, B the sum of all delays that occur once.
///
/// # Source
/// M. Joseph and P. Pandya, "Finding Response Times in a Real-Time System", 1986; N. Audsley et
/// al., "Applying new scheduling theory to static priority pre-emptive scheduling", 1993 (jitter,
/// blocking); J. Lehoczky, RTSS 1990, and K. Tindell et al., 1994 (deadlines beyond periods). Exact
/// for sporadic tasks of different priorities without blocking or measured demand.
///
/// # Complexity
/// At most 2^22 evaluations of one source's demand; if they do not suffice, there is no bound.
///
/// # Panics
/// If a period is zero.
pub fn response(level: &Level<'_>, own: &Source) -> Verdict {
    response_and_window(level, own).0
}

/// Returns [`response`], and the longest window whose demand it depends on: up to the end of the
/// busy interval, or up to the instant at which the search stopped.
pub(super) fn response_and_window(level: &Level<'_>, own: &Source) -> (Verdict, Duration) {
    let with_own = || level.utilization()?.add_ceil(own.utilization());
    if with_own().is_none_or(|utilization| !utilization.is_at_most(1)) {
        return (Verdict::NoBoundWithin { horizon: Duration::MAX }, Duration::MAX);
    }
    let mut horizon_ns = 0;
    let response_ns = response_ns(level, own, &mut horizon_ns);
    let horizon = Duration::from_ns(horizon_ns);
    match response_ns {
        Some(response_ns) => (Verdict::Bounded(Duration::from_ns(response_ns)), horizon),
        None => (Verdict::NoBoundWithin { horizon }, horizon),
    }
}

fn response_ns(level: &Level<'_>, own: &Source, horizon_ns: &mut u64) -> Option<u64> {
    let (execution, period) = (own.execution.ns(), own.period.ns());
    let jitter = own.jitter.ns();
    let mut steps = STEPS_MAX;
    let (mut worst, mut completion) = (0, 0);
    for jobs in 1_u64.. {
        let demand = execution.checked_mul(jobs)?;
        completion = level.completion_ns(demand, completion, &mut steps)?;
        *horizon_ns = completion;
        let from_first_arrival = completion.checked_add(jitter)?;
        let arrival = period.checked_mul(jobs - 1)?;
        // A job that jitter releases together with the first job has also arrived before the
        // completion.
        worst = worst.max(from_first_arrival.checked_sub(arrival)?);
        if from_first_arrival <= period.checked_mul(jobs)? {
            return Some(worst);
        }
    }
    None
}
