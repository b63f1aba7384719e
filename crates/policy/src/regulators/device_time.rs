// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The charge of a request when tokens are device time.
//!
//! ```text
//!   one kind of request:   b(z) / z                      its share of a full batch
//!   several:               min(b(z) / z, c + A / z)      c of its own kind
//! ```
//!
//! The table b is for the largest request and the slower operation, so b(z)/z alone would delay a 4
//! KiB request as long as one of 1 MiB. If the workload has different kinds of requests, the cost
//! model distinguishes them: a batch takes at most A plus the c of each request
//! (`docs/theory/requests-of-different-kinds.md` section 11).

use tidegate_model::{Bytes, CostModel, Op, Plan};

/// The charge of each kind of request, rounded up.
#[derive(Debug, Clone)]
pub(crate) struct DeviceTime {
    /// The charge of the largest request: b(z)/z, in ns.
    largest_ns: u64,
    /// A request's share of a batch's positioning: A/z, in ns.
    positioning_ns: u64,
    /// The cost model; `None` if all requests are of one kind.
    costs: Option<CostModel>,
}

impl DeviceTime {
    pub(crate) fn of(plan: &Plan) -> Self {
        let batch_max = u64::from(plan.batch_max);
        let costs = plan.contracts.costs.clone();
        let positioning_ns = costs.as_ref().map_or(0, |costs| costs.positioning_max.ns());
        Self {
            largest_ns: plan.table.time_max(plan.batch_max).ns().div_ceil(batch_max),
            positioning_ns: positioning_ns.div_ceil(batch_max),
            costs,
        }
    }

    /// Returns the device time of a request, in ns; the largest request's if the cost is unknown.
    pub(crate) fn ns(&self, op: Op, size: Bytes) -> u64 {
        let own = self.costs.as_ref().and_then(|costs| costs.cost(op, size));
        own.map_or(self.largest_ns, |own| {
            own.ns().saturating_add(self.positioning_ns).min(self.largest_ns)
        })
    }
}

#[cfg(test)]
mod tests {
    use tidegate_model::cost::RequestCost;
    use tidegate_model::{BatchTable, Duration, Workload};

    use super::*;

    /// Returns a plan with b(n) = 10 n us and z = 4; with `has_costs` also A = 8 us, 2 us for
    /// 4 KiB, 9 us for 64 KiB.
    fn plan(has_costs: bool) -> Plan {
        let times: Vec<Duration> = (1..=4).map(|n| Duration::from_us(10 * n)).collect();
        let mut workload = Workload::new("d", 4, BatchTable::new(&times).unwrap());
        let kind = |kib: u64, us: u64| RequestCost {
            op: Op::Read,
            size: Bytes::from_kib(kib),
            time_max: Duration::from_us(us),
        };
        workload.contracts.costs = has_costs.then(|| CostModel {
            positioning_max: Duration::from_us(8),
            requests: vec![kind(4, 2), kind(64, 9)],
            switch_max: None,
            fua_max: None,
            batch_max: None,
            how: None,
            samples: None,
        });
        Plan::of(&workload)
    }

    #[test]
    fn a_small_request_is_charged_its_own_kind() {
        let of_kind = DeviceTime::of(&plan(true));
        assert_eq!(of_kind.ns(Op::Read, Bytes::from_kib(4)), 4_000);
        // c + A/z = 11 us is more than its share of the longest batch.
        assert_eq!(of_kind.ns(Op::Read, Bytes::from_kib(64)), 10_000);
    }

    #[test]
    fn what_no_cost_is_known_of_is_charged_as_the_largest() {
        let of_kind = DeviceTime::of(&plan(true));
        assert_eq!(of_kind.ns(Op::Write, Bytes::from_kib(4)), 10_000);
        assert_eq!(DeviceTime::of(&plan(false)).ns(Op::Read, Bytes::from_kib(4)), 10_000);
    }
}
