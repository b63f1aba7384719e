// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Predicts the throughput of best effort beside the tasks, from measured throughputs of the drive.
//!
//! This is no bound: nothing is promised to best effort. Let t(1) be the typical time of a request at a
//! random place alone, t(q) in company of q random ones, and T(q) that of a best-effort request in its
//! order with q on the drive. Real time takes the time of random requests. After a real-time request
//! the heads return to the best effort that they left, which costs up to t(q) - T(q), unless another
//! real-time request follows first.
//!
//! # Source
//! Own model, fitted to simulations: `docs/reference/policies.md` has its errors.

use tidegate_model::{
    BestEffortOrder, DispatchMode, DriveContract, Duration, Intensity, TypicalTimes, Workload,
};

use crate::assessment::{Answer, Assessment};
use crate::drain::Drain;

/// A rate, in requests per 1,000,000 s.
type Rate = u128;

/// So long, in ns.
const MILLION_S_NS: u128 = 1_000_000_000_000_000;

/// The best effort of a policy in a steady state.
#[derive(Debug, Clone, Copy)]
struct Flow {
    /// The mean time of a best-effort request without real time, T(q), in ns.
    own_ns: u64,
    /// The mean time of a request at a random place in the same company, t(q), in ns.
    company_ns: u64,
    /// The time of a real-time request, in ns.
    real_time_ns: u64,
    /// How many requests the drive can have at once: so many real-time ones can follow each other.
    together: u32,
}

/// Returns the predicted throughput of best effort in bytes per second; `None` if it gets nothing, or
/// if the model does not cover the policy, the drive or the workload.
///
/// # Assumptions
/// Checked: closed loops without regulators, and the throughput of exactly these requests was measured
/// at random places.
pub fn expected_best_effort(workload: &Workload, assessment: &Assessment) -> Option<u64> {
    let is_covered = assessment.answer == Answer::Proven && workload.regulators.is_empty();
    let typical = workload.typical.as_ref().filter(|_| is_covered)?;
    let outstanding = outstanding(workload)?;
    let size = workload.best_effort.first()?.size;
    let flow = Flow::of(workload, assessment, typical, outstanding)?;
    let requests = flow.best_effort_beside(real_time(workload)?);
    u64::try_from(requests * u128::from(size.get()) / 1_000_000).ok()
}

/// Returns how many best-effort requests are always outstanding; `None` unless all loads are closed
/// loops.
fn outstanding(workload: &Workload) -> Option<u32> {
    let of = |intensity| match intensity {
        Intensity::Outstanding(outstanding) => Some(outstanding),
        Intensity::Rate(_) | Intensity::Paced { .. } => None,
    };
    let mut all = workload.best_effort.iter().map(|load| of(load.intensity));
    all.try_fold(0_u32, |sum, of_load| sum.checked_add(of_load?))
}

/// Returns the highest rate of real-time requests.
fn real_time(workload: &Workload) -> Option<Rate> {
    let mut sum: Rate = 0;
    for task in &workload.tasks {
        let rate = u128::from(task.requests) * MILLION_S_NS;
        sum = sum.checked_add(rate.checked_div(u128::from(task.period.ns()))?)?;
    }
    Some(sum)
}

impl Flow {
    fn of(
        workload: &Workload,
        assessment: &Assessment,
        typical: &TypicalTimes,
        outstanding: u32,
    ) -> Option<Self> {
        let facts = assessment.policy.facts();
        if !facts.best_effort.has_order() {
            return None;
        }
        let order = workload.best_effort_order_under(assessment.policy);
        let of_depth = |depth: u32| {
            let depth = depth.min(outstanding);
            let own_ns = match order {
                BestEffortOrder::Fifo => typical.random.at(depth),
                BestEffortOrder::Elevator => typical.in_sweep(outstanding, depth)?,
                BestEffortOrder::Nearest | BestEffortOrder::Satf => return None,
            };
            Some((own_ns, typical.random.at(depth)))
        };
        let (own_ns, company_ns, together) = match facts.dispatch {
            DispatchMode::OneAtATime => {
                let (own_ns, company_ns) = of_depth(1)?;
                (own_ns, company_ns, 1)
            }
            DispatchMode::BestEffortDepth => {
                let depth = depth(workload, assessment).filter(|&depth| depth > 0)?;
                let (own_ns, company_ns) = of_depth(depth)?;
                (own_ns, company_ns, depth)
            }
            DispatchMode::Batches => {
                let fill = assessment.best_effort_fill.min(outstanding);
                let batch_ns =
                    fill.checked_sub(1).and_then(|i| typical.batch_ns.get(i as usize))?;
                let random_ns = batch_ns / u64::from(fill);
                let own_ns = match order {
                    BestEffortOrder::Fifo => random_ns,
                    // A batch of q has q, q - 1, .. requests on the drive.
                    BestEffortOrder::Elevator
                    | BestEffortOrder::Nearest
                    | BestEffortOrder::Satf => {
                        let all: Option<Vec<_>> = (1..=fill).map(of_depth).collect();
                        let sum: u64 = all?.iter().map(|(own_ns, _)| own_ns).sum();
                        sum / u64::from(fill)
                    }
                };
                (own_ns, random_ns, assessment.batch_max)
            }
            DispatchMode::UpToDepth => return None,
        };
        let alone_ns = typical.random.at(1);
        let real_time_ns = match order {
            BestEffortOrder::Fifo => company_ns,
            BestEffortOrder::Elevator | BestEffortOrder::Nearest | BestEffortOrder::Satf => {
                if workload.tasks.len() <= 1 || is_drained_for_real_time(assessment) {
                    alone_ns
                } else {
                    // Some requests of several tasks meet each other on the drive.
                    u64::midpoint(alone_ns, company_ns)
                }
            }
        };
        Some(Self { own_ns, company_ns, real_time_ns, together })
    }

    /// Returns the rate of best effort beside this rate of real time, which leaves no time unused.
    fn best_effort_beside(self, real_time: Rate) -> Rate {
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

/// Returns whether the policy sends nothing while a real-time request is on the drive, so that few are
/// there together.
fn is_drained_for_real_time(assessment: &Assessment) -> bool {
    let facts = assessment.policy.facts();
    facts.dispatch.limits_best_effort()
        && facts.theorem.is_ok_and(|theorem| !theorem.facts().spends_slack)
}

/// Returns the depth that best effort has at any time; `None` if the model does not know it.
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
    // The gate opens wider just after a release, but never closes below the depth that drains together
    // with all tasks within the shortest deadline.
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
    /// requests take 10, with 20 real-time requests a second: each costs 10 ms and 5 for the return.
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
