// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Asserts: of the queued real-time requests, one of the earliest group is sent, and in the group
//! the smallest, then the nearest to the heads, then the oldest; with `order = "nearest"` the
//! nearest, then the oldest (`g-edf`). The group holds the
//! requests due no later than the earliest deadline plus a share of the earliest request's relative
//! deadline. The heads are at the end of the last request.
//!
//! While more real-time requests wait than the policy can hold, the host holds requests that the
//! policy does not know, and nothing is asserted.

use std::collections::BTreeMap;

use tidegate_model::parameters::{GroupEdfParams, GroupRule};
use tidegate_model::{Duration, Lba, Plan, Request, RequestId, Task, Time};

use super::{Breach, ViolationLog, end_of, is_best_effort};
use crate::Observer;

/// Checks the order by groups of near deadlines; see the module documentation.
#[derive(Debug)]
pub struct GroupOrder {
    parameters: GroupEdfParams,
    tasks: Vec<Task>,
    queued_max: usize,
    /// The queued real-time requests by deadline.
    queued: BTreeMap<(Time, RequestId), Request>,
    heads_at: Lba,
    log: ViolationLog,
}

impl GroupOrder {
    /// Creates the checker of a policy that carries out `plan`.
    pub fn new(plan: &Plan) -> Self {
        Self {
            parameters: plan.parameters.group_edf,
            tasks: plan.tasks.clone(),
            queued_max: plan.queued_max as usize,
            queued: BTreeMap::new(),
            heads_at: Lba::new(0),
            log: ViolationLog::default(),
        }
    }

    /// Returns the latest deadline in the group of the earliest request.
    fn group_end(&self, earliest: &Request) -> Time {
        let due = due(earliest);
        let by_contract = self.tasks.get(earliest.task.index()).map(|task| task.deadline);
        // For a task that is not in the plan, the request gives the deadline. Saturation is
        // intended: a deadline before the release leaves no time.
        let own = || Duration::from_ns(due.ns().saturating_sub(earliest.eligible.ns()));
        let deadline = by_contract.unwrap_or_else(own);
        let share_ns =
            u128::from(deadline.ns()) * u128::from(self.parameters.group_ppm) / 1_000_000;
        let share = u64::try_from(share_ns).map_or(Duration::MAX, Duration::from_ns);
        due.checked_add(share).unwrap_or(Time::MAX)
    }

    /// Checks a real-time request against the queue that holds it.
    fn check(&mut self, now: Time, request: &Request) {
        let Some((&(_, waiting), earliest)) = self.queued.first_key_value() else { return };
        let (id, end) = (request.id, self.group_end(earliest));
        if due(request) > end {
            self.log.add(now, Breach::LaterDueFirst { id, waiting });
            return;
        }
        let distance = |request: &Request| request.start.get().abs_diff(self.heads_at.get());
        let group = self.queued.range(..=(end, RequestId(u64::MAX))).map(|(_, member)| member);
        let next = match self.parameters.order {
            GroupRule::Smallest => {
                group.min_by_key(|&member| (member.size, distance(member), member.id))
            }
            GroupRule::Nearest => group.min_by_key(|&member| (distance(member), member.id)),
        };
        if let Some(&Request { id: expected, .. }) = next.filter(|next| next.id != id) {
            self.log.add(now, Breach::OutOfGroupOrder { id, expected });
        }
    }
}

fn due(request: &Request) -> Time {
    request.due.unwrap_or(Time::MAX)
}

keeps_log!(GroupOrder);

impl Observer for GroupOrder {
    fn released(&mut self, _now: Time, request: &Request) {
        if !is_best_effort(request) {
            self.queued.insert((due(request), request.id), *request);
        }
    }

    fn dispatched(&mut self, now: Time, batch: &[Request]) {
        for request in batch {
            if !is_best_effort(request) && self.queued.len() <= self.queued_max {
                self.check(now, request);
            }
            self.queued.remove(&(due(request), request.id));
            self.heads_at = end_of(request);
        }
    }

    fn dropped(&mut self, _now: Time, request: &Request) {
        self.queued.remove(&(due(request), request.id));
    }
}
