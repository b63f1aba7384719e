// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Predicts the throughput of best effort beside the tasks, from measured throughputs of the drive.
//!
//! This is no bound: nothing is promised to best effort. Let t(q) be the typical time of a request
//! at a random place with q such requests on the drive, and T(q) the typical time of a best-effort
//! request with q on the drive, served in best effort's own order. Real-time requests take the time
//! of random ones. After a real-time request the heads return to the best effort that they left,
//! which costs up to t(q) - T(q), unless another real-time request follows first.
//!
//! # Source
//! Own model, fitted to simulations: `docs/reference/policies.md` has its errors.

use tidegate_model::{
    BestEffortOrder, DispatchMode, DriveContract, Duration, Intensity, PolicyName, TypicalTimes,
    Workload,
};

use crate::assessment::{Answer, Assessment};
use crate::drain::Drain;

/// A rate, in requests per 1,000,000 s.
pub(crate) type Rate = u128;

/// 1,000,000 s in ns.
const MILLION_S_NS: u128 = 1_000_000_000_000_000;

/// The request times under a policy in a steady state; best effort's throughput follows from them.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Flow {
    /// The mean time of a best-effort request without real time, T(q), in ns.
    own_ns: u64,
    /// The mean time of a request at a random place with the same number on the drive, t(q), in ns.
    company_ns: u64,
    /// The time of a real-time request, in ns.
    real_time_ns: u64,
    /// The number of requests that the drive can have at the same time, and so the number of
    /// real-time requests that can follow each other.
    together: u32,
}

/// Returns the predicted throughput of best effort in bytes per second; `None` if it gets nothing,
/// or if the model does not cover the policy, the drive or the workload.
///
/// # Assumptions
/// Checked: closed loops without regulators, and the throughput of exactly these requests was
/// measured at random places.
pub fn expected_best_effort(workload: &Workload, assessment: &Assessment) -> Option<u64> {
    let is_covered = assessment.answer == Answer::Proven && workload.regulators.is_empty();
    let beside = Beside::of(workload, assessment.policy, workload.tasks.len());
    let beside = beside.filter(|_| is_covered)?;
    let size = workload.best_effort.first()?.size;
    let flow = Flow::of(workload, assessment, beside)?;
    let requests = flow.best_effort_beside(real_time(
        workload.tasks.iter().map(|task| (task.requests, task.period)),
    )?);
    u64::try_from(requests * u128::from(size.get()) / 1_000_000).ok()
}

/// The best effort of a workload under one policy, with its drive's typical times.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Beside<'a> {
    typical: &'a TypicalTimes,
    order: BestEffortOrder,
    /// The total number of outstanding best-effort requests.
    outstanding: u32,
    /// Whether requests of several tasks can be on the drive together.
    is_real_time_together: bool,
}

impl<'a> Beside<'a> {
    /// Returns the best effort beside this number of tasks; `None` if the policy's own rule orders
    /// it, if a load is not a closed loop, or if the drive's typical times are unknown.
    pub(crate) fn of(workload: &'a Workload, policy: PolicyName, tasks: usize) -> Option<Self> {
        let has_order = policy.facts().best_effort.has_order();
        let typical = workload.typical.as_ref().filter(|_| has_order)?;
        let is_real_time_together = tasks > 1 && !is_drained_for_real_time(policy);
        let order = workload.best_effort_order_under(policy);
        Some(Self { typical, order, outstanding: outstanding(workload)?, is_real_time_together })
    }

    /// Returns the flow with up to this many best-effort requests on the drive at any time; `None`
    /// for a depth of 0, or if the flow was not measured.
    pub(crate) fn at_depth(self, depth: u32) -> Option<Flow> {
        let company_ns = (depth > 0).then(|| self.company_ns(depth))?;
        Some(self.flow(self.own_ns(depth)?, company_ns, depth))
    }

    /// Returns the flow in batches of at most `batch_max` requests, up to `fill` of them best
    /// effort; `None` if it was not measured, or if `fill` is 0.
    pub(crate) fn in_batches(self, fill: u32, batch_max: u32) -> Option<Flow> {
        let fill = fill.min(self.outstanding);
        let batch_ns = fill.checked_sub(1).and_then(|i| self.typical.batch_ns.get(i as usize))?;
        let random_ns = batch_ns / u64::from(fill);
        let own_ns = match self.order {
            BestEffortOrder::Fifo => random_ns,
            // A batch of q has q, q - 1, .. requests on the drive.
            BestEffortOrder::Elevator | BestEffortOrder::Nearest | BestEffortOrder::Satf => {
                let all: Option<Vec<_>> = (1..=fill).map(|depth| self.own_ns(depth)).collect();
                all?.iter().sum::<u64>() / u64::from(fill)
            }
        };
        Some(self.flow(own_ns, random_ns, batch_max))
    }

    /// Returns T(q), in ns; `None` if it was not measured.
    fn own_ns(self, depth: u32) -> Option<u64> {
        match self.order {
            BestEffortOrder::Fifo => Some(self.company_ns(depth)),
            BestEffortOrder::Elevator => {
                self.typical.in_sweep(self.outstanding, depth.min(self.outstanding))
            }
            BestEffortOrder::Nearest | BestEffortOrder::Satf => None,
        }
    }

    /// Returns t(q), in ns.
    fn company_ns(self, depth: u32) -> u64 {
        self.typical.random.at(depth.min(self.outstanding))
    }

    fn flow(self, own_ns: u64, company_ns: u64, together: u32) -> Flow {
        let alone_ns = self.typical.random.at(1);
        let real_time_ns = match self.order {
            BestEffortOrder::Fifo => company_ns,
            BestEffortOrder::Elevator | BestEffortOrder::Nearest | BestEffortOrder::Satf => {
                // The requests of several tasks are sometimes on the drive together.
                let is_met = self.is_real_time_together;
                if is_met { u64::midpoint(alone_ns, company_ns) } else { alone_ns }
            }
        };
        Flow { own_ns, company_ns, real_time_ns, together }
    }
}

/// Returns the number of best-effort requests that are always outstanding; `None` unless all loads
/// are closed loops.
fn outstanding(workload: &Workload) -> Option<u32> {
    let of = |intensity| match intensity {
        Intensity::Outstanding(outstanding) => Some(outstanding),
        Intensity::Rate(_) | Intensity::Paced { .. } | Intensity::Stream { .. } => None,
    };
    let mut all = workload.best_effort.iter().map(|load| of(load.intensity));
    all.try_fold(0_u32, |sum, of_load| sum.checked_add(of_load?))
}

/// Returns the highest rate of real-time requests, from the requests and the period of each task.
pub(crate) fn real_time(tasks: impl Iterator<Item = (u32, Duration)>) -> Option<Rate> {
    let mut sum: Rate = 0;
    for (requests, period) in tasks {
        let rate = u128::from(requests) * MILLION_S_NS;
        sum = sum.checked_add(rate.checked_div(u128::from(period.ns()))?)?;
    }
    Some(sum)
}

impl Flow {
    /// Returns the flow under an assessed policy, if the model knows it.
    fn of(workload: &Workload, assessment: &Assessment, beside: Beside<'_>) -> Option<Self> {
        match assessment.policy.facts().dispatch {
            DispatchMode::OneAtATime => beside.at_depth(1),
            DispatchMode::BestEffortDepth => beside.at_depth(depth(workload, assessment)?),
            DispatchMode::Batches => {
                beside.in_batches(assessment.best_effort_fill, assessment.batch_max)
            }
            DispatchMode::UpToDepth => None,
        }
    }

    /// Returns the rate of best effort beside this rate of real-time requests, if the drive is
    /// never idle.
    pub(crate) fn best_effort_beside(self, real_time: Rate) -> Rate {
        let return_ns = u128::from(self.company_ns.saturating_sub(self.own_ns));
        let together = u128::from(self.together);
        let used_ns = |best_effort: Rate| {
            let all = (real_time + best_effort).max(1);
            let followed = real_time * real_time * (together - 1) / (all * together);
            real_time * u128::from(self.real_time_ns)
                + best_effort * u128::from(self.own_ns)
                + (real_time - followed) * return_ns
        };
        let (mut low, mut high) = (0, MILLION_S_NS / u128::from(self.own_ns.max(1)));
        while low < high {
            let middle = (low + high).div_ceil(2);
            if used_ns(middle) <= MILLION_S_NS {
                low = middle;
            } else {
                high = middle - 1;
            }
        }
        low
    }
}

/// Returns whether the policy sends nothing while a real-time request is on the drive, so that the
/// drive rarely has several real-time requests.
fn is_drained_for_real_time(policy: PolicyName) -> bool {
    let facts = policy.facts();
    facts.dispatch.limits_best_effort()
        && facts.theorem.is_ok_and(|theorem| !theorem.facts().spends_slack)
}

/// Returns the depth that best effort can always use; `None` if the model does not know it.
fn depth(workload: &Workload, assessment: &Assessment) -> Option<u32> {
    let facts = assessment.policy.facts().theorem.ok()?.facts();
    match facts.contract {
        DriveContract::Drain => {}
        DriveContract::Batches | DriveContract::Starvation | DriveContract::Priority => {
            return None;
        }
    }
    let depth = assessment.best_effort_depth;
    if !facts.spends_slack {
        return Some(depth);
    }
    // The gate opens wider just after a release, but never closes below the depth that drains
    // together with all tasks within the shortest deadline.
    let Some(shortest) = workload.tasks.iter().map(|task| task.deadline).min() else {
        return Some(depth);
    };
    let units: u64 = workload.tasks.iter().map(|task| u64::from(task.requests)).sum();
    let (units, drain) = (u32::try_from(units).ok()?, Drain::of(workload)?);
    let fits = |&depth: &u32| {
        let time: Option<Duration> = depth.checked_add(units).and_then(|all| drain.time(all));
        time.is_some_and(|time| time <= shortest)
    };
    (1..=depth).rev().find(fits)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Goal: the rates of the model. Method: a drive whose best effort takes 5 ms and whose random
    /// requests take 10 ms, with 20 real-time requests a second: each costs 10 ms, and 5 ms for the
    /// return.
    #[test]
    fn real_time_costs_its_own_time_and_the_return() {
        let flow = Flow {
            own_ns: 5_000_000,
            company_ns: 10_000_000,
            real_time_ns: 10_000_000,
            together: 1,
        };
        assert_eq!(flow.best_effort_beside(0), 200_000_000);
        assert_eq!(flow.best_effort_beside(20_000_000), 140_000_000);
        assert_eq!(flow.best_effort_beside(100_000_000), 0);
        let deep = Flow { together: 4, ..flow };
        assert!(deep.best_effort_beside(20_000_000) > 140_000_000);
    }
}
