// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The tokens of requests, and the rate that the declared tasks leave to best effort.
//!
//! ```text
//!   device time of a request:   min(b(z) / z, c + A / z)      c of its own kind, if it is known
//!   rate that is left:          capacity - sum of e tokens / p, at least 1 % of the capacity
//! ```
//! Each term is rounded up.

use tidegate_model::parameters::{BestEffortRate, TokenRate, TokenUnit};
use tidegate_model::{Bytes, CostModel, Op, Plan};

/// The charge of requests under a plan.
#[derive(Debug)]
pub(super) struct Charge {
    longest_share_ns: u64,
    positioning_share_ns: u64,
    costs: Option<CostModel>,
}

impl Charge {
    pub(super) fn of(plan: &Plan) -> Self {
        let share = |ns: u64| ns.div_ceil(u64::from(plan.batch_max));
        let costs = plan.contracts.costs.clone();
        Self {
            longest_share_ns: share(plan.table.time_max(plan.batch_max).ns()),
            positioning_share_ns: share(costs.as_ref().map_or(0, |it| it.positioning_max.ns())),
            costs,
        }
    }

    /// Returns the tokens of a request.
    pub(super) fn tokens(&self, unit: TokenUnit, op: Op, size: Bytes) -> u64 {
        match unit {
            TokenUnit::Request => 1,
            TokenUnit::Byte => size.get(),
            TokenUnit::DeviceTime => {
                let own = self.costs.as_ref().and_then(|costs| costs.cost(op, size));
                // Saturation is intended: the other term is the minimum then.
                let own = own.map(|own| own.ns().saturating_add(self.positioning_share_ns));
                own.unwrap_or(u64::MAX).min(self.longest_share_ns)
            }
        }
    }
}

/// Returns the rate of best effort that `[policy.token-bucket]` states.
pub(super) fn fixed_rate(plan: &Plan) -> TokenRate {
    let (unit, capacity) = match plan.parameters.token_bucket.rate {
        BestEffortRate::Fixed(rate) => return rate,
        BestEffortRate::Reserve { capacity: Some(bytes) } => (TokenUnit::Byte, bytes.bytes_per_s()),
        BestEffortRate::Reserve { capacity: None } => (TokenUnit::DeviceTime, 1_000_000_000),
    };
    let charge = Charge::of(plan);
    let reserved = plan.tasks.iter().map(|task| {
        let tokens = charge.tokens(unit, task.op, task.size);
        let of_job = u128::from(tokens) * u128::from(task.requests);
        (of_job * 1_000_000_000).div_ceil(u128::from(task.period.ns()))
    });
    let reserved = reserved.fold(0, u128::saturating_add);
    let left = u128::from(capacity).saturating_sub(reserved); // none is left
    let least = u64::max(capacity / 100, 1);
    let per_s = u64::try_from(left).expect("it is at most the capacity").max(least);
    TokenRate { unit, per_s }
}
