// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Bounds that are wrong on purpose: each omits one cause of delay.
//!
//! A harness must catch all of these bounds. They must not be used outside this crate.

use tidegate_analysis::{Inapplicable, SporadicTask, System, Verdict};
use tidegate_model::Duration;

/// Theorem 2 without the batch in flight at release: b(E).
///
/// # Errors
/// Never.
pub fn no_carry_in(system: &System) -> Result<Vec<Verdict>, Inapplicable> {
    Ok(same_for_all(system, for_large_batches(system, |requests| cost(system, requests))))
}

/// Theorem 2 without its condition on the periods.
///
/// # Errors
/// Never.
pub fn whatever_the_periods(system: &System) -> Result<Vec<Verdict>, Inapplicable> {
    Ok(two_batches(system, |requests| cost(system, requests), |_, _| true))
}

/// Theorem 2 with responses up to and including the period: a task of the carry-in may then release
/// again at the end of its batch.
///
/// # Errors
/// Never.
pub fn response_up_to_the_period(system: &System) -> Result<Vec<Verdict>, Inapplicable> {
    let holds = |response: Duration, period: Duration| response <= period;
    Ok(two_batches(system, |requests| cost(system, requests), holds))
}

/// Theorem 2 with a table that ignores the best effort in the batch.
///
/// # Errors
/// Never.
pub fn best_effort_for_free(system: &System) -> Result<Vec<Verdict>, Inapplicable> {
    let cost = |requests| system.table.time_max(requests);
    Ok(two_batches(system, cost, |response, period| response < period))
}

/// Theorem 3 without batches of best effort alone.
///
/// # Errors
/// Never.
pub fn no_pure_best_effort(system: &System) -> Result<Vec<Verdict>, Inapplicable> {
    let cost = |requests| if requests == 0 { Duration::ZERO } else { cost(system, requests) };
    Ok(two_batches(system, cost, |response, period| response < period))
}

/// The worst response over all releases at one instant after any batch in flight. It is correct for
/// affine tables as far as is known, and wrong in general: during the batches sent meanwhile, tasks
/// release requests that join the last batch.
///
/// # Errors
/// Never.
///
/// # Panics
/// With more than 2^32 requests.
pub fn released_together(system: &System) -> Result<Vec<Verdict>, Inapplicable> {
    let batch_max = system.batch_max;
    let sum = u32::try_from(system.requests_sum()).expect("few");
    let response = |own: usize| {
        let behind = |carry_in: u32| {
            let full_count = (sum - carry_in - 1) / batch_max;
            let last = sum - carry_in - full_count * batch_max;
            let full = cost(system, batch_max) * u64::from(full_count);
            cost(system, carry_in) + full + cost(system, last)
        };
        let carry_ins = sums_without(system, own).into_iter();
        carry_ins.filter(|&carry_in| carry_in <= batch_max).map(behind).max().expect("S = {}")
    };
    let responses: Vec<Duration> = (0..system.tasks.len()).map(response).collect();
    let once = responses.iter().zip(&system.tasks).all(|(&r, task)| r < task.period);
    Ok(responses.into_iter().map(|response| verdict(once.then_some(response))).collect())
}

/// Lemma 9.2.4 as printed with b(S_cin) = 0, in equation 9.2.6.7: (L + 1) b(z) with L the least x
/// such that `sum ceil((x - 1) b(z) / p_i) e_i <= x z`. This x is always 1.
///
/// # Errors
/// Never.
pub fn busy_interval_of_an_idle_device(system: &System) -> Result<Vec<Verdict>, Inapplicable> {
    let full = system.table.time_max(system.batch_max);
    let released = |length: u64| -> u64 {
        let count = |period: Duration| length.div_ceil(period.ns());
        system.tasks.iter().map(|task| count(task.period) * u64::from(task.requests)).sum()
    };
    let fits = |&batches: &u64| {
        released((batches - 1) * full.ns()) <= batches * u64::from(system.batch_max)
    };
    Ok(same_for_all(system, (1..1000).find(fits).map(|batches| full * (batches + 1))))
}

/// `E b(z) / z`: requests one after the other, each at its mean cost in a full batch. A capacity of
/// z / b(z) without batches would give this time.
///
/// # Errors
/// Never.
pub fn fluid(system: &System) -> Result<Vec<Verdict>, Inapplicable> {
    let full_ns = system.table.time_max(system.batch_max).ns();
    let fluid_ns = (system.requests_sum() * full_ns).div_ceil(u64::from(system.batch_max));
    Ok(same_for_all(system, Some(Duration::from_ns(fluid_ns))))
}

/// EDF that ignores the request of a later deadline in service at the release: only the demand
/// counts.
///
/// # Errors
/// Never.
pub fn edf_without_blocking(system: &System) -> Result<Vec<Verdict>, Inapplicable> {
    let demand = |deadline: Duration| {
        let urgent = system.tasks.iter().filter(|task| task.deadline <= deadline);
        urgent.map(|task| u64::from(task.requests)).sum::<u64>()
    };
    let bound = |deadline| system.table.time_max(1) * demand(deadline);
    let verdicts = system.tasks.iter().map(|task| {
        let response = bound(task.deadline);
        let once = system.tasks.iter().all(|other| response < other.period);
        verdict(once.then_some(response))
    });
    Ok(verdicts.collect())
}

/// Dual-queue EDF without a batch in flight: the requests due no later, released together, with
/// requests of later deadlines in the last batch.
///
/// # Errors
/// Never.
pub fn dq_edf_without_carry_in(system: &System) -> Result<Vec<Verdict>, Inapplicable> {
    Ok(released_together_by_due(system, 0))
}

/// Dual-queue EDF after a full batch, with all tasks releasing at the same time. This is
/// optimistic: a request with a longer deadline that was released earlier can be due before the
/// job.
///
/// # Errors
/// Never.
pub fn dq_edf_released_together(system: &System) -> Result<Vec<Verdict>, Inapplicable> {
    Ok(released_together_by_due(system, system.batch_max))
}

/// Returns the time to serve every request due no later than the job, all released together after a
/// batch of `carry_in` requests; the last batch counts as full. There is no bound unless every
/// response is shorter than its period.
fn released_together_by_due(system: &System, carry_in: u32) -> Vec<Verdict> {
    let response = |task: &SporadicTask| {
        let urgent = system.tasks.iter().filter(|other| other.deadline <= task.deadline);
        let urgent: u32 = urgent.map(|task| task.requests).sum();
        let full_count = (urgent - 1) / system.batch_max;
        let full = cost(system, system.batch_max) * u64::from(full_count + 1);
        let first = if carry_in == 0 { Duration::ZERO } else { cost(system, carry_in) };
        first + full
    };
    let responses: Vec<Duration> = system.tasks.iter().map(response).collect();
    let once = responses.iter().zip(&system.tasks).all(|(&r, task)| r < task.period);
    responses.into_iter().map(|response| verdict(once.then_some(response))).collect()
}

/// Returns `max over S without k of cost(e(S)) + cost(E - e(S))` if z >= E and `holds(R_k, p_k)`
/// for all tasks.
fn two_batches(
    system: &System,
    cost: impl Fn(u32) -> Duration,
    holds: impl Fn(Duration, Duration) -> bool,
) -> Vec<Verdict> {
    let Some(sum) = sum_within_batch(system) else {
        return same_for_all(system, None);
    };
    let response = |own: usize| {
        let behind = |carry_in| cost(carry_in) + cost(sum - carry_in);
        sums_without(system, own).into_iter().map(behind).max().expect("S = {}")
    };
    let responses: Vec<Duration> = (0..system.tasks.len()).map(response).collect();
    let holds = responses.iter().zip(&system.tasks).all(|(&r, task)| holds(r, task.period));
    responses.into_iter().map(|response| verdict(holds.then_some(response))).collect()
}

/// Returns the number of requests of every set of tasks without `own`.
fn sums_without(system: &System, own: usize) -> Vec<u32> {
    let mut sums = vec![0];
    for (index, task) in system.tasks.iter().enumerate() {
        if index != own {
            sums.extend_from_within(..);
            let half = sums.len() / 2;
            sums[half..].iter_mut().for_each(|sum| *sum += task.requests);
        }
    }
    sums
}

/// Returns a bound for systems with z >= E, computed from E.
fn for_large_batches(system: &System, f: impl Fn(u32) -> Duration) -> Option<Duration> {
    sum_within_batch(system).map(f)
}

fn sum_within_batch(system: &System) -> Option<u32> {
    u32::try_from(system.requests_sum()).ok().filter(|&sum| sum <= system.batch_max)
}

fn cost(system: &System, requests: u32) -> Duration {
    system.table.time_max(requests.max(system.best_effort_fill))
}

fn same_for_all(system: &System, response: Option<Duration>) -> Vec<Verdict> {
    vec![verdict(response); system.tasks.len()]
}

fn verdict(response: Option<Duration>) -> Verdict {
    response.map_or(Verdict::NoBoundWithin { horizon: Duration::ZERO }, Verdict::Bounded)
}
