// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Switches to another set of exports under another policy, while clients continue.
//!
//! Rule: the old policy continues with the old plan until a *quiet instant*, at which no request is
//! in flight and no request that a contract allowed before is incomplete. Only then does a new
//! policy, built from the new plan, replace it and get the waiting requests. Until then best effort
//! is held back, so that a quiet instant comes soon.
//!
//! # Promise
//! A request that its contract allows before the switch completes within the old set's bound; a
//! request that its contract allows from then on completes within the new set's bound. Proof: the
//! requests of the first kind all complete before the switch, under the old policy, whose bound
//! holds for every amount of best effort, so also for less. For requests of the second kind, the
//! switch is the start of a service: the drive is idle, the policy is new, and no request released
//! before is pending. Tokens continue, so from the switch on the instants at which contracts allow
//! requests are those of tasks that keep their contracts: a sporadic sequence without its beginning
//! is a sporadic sequence. So the new set's bound holds, for any policy that it was proved for and
//! any difference between the plans: z, the drive's tables, the tasks.
//!
//! An instant between two batches is not sufficient. The waiting requests arrived under the old
//! plan, and the previous batch may have been larger or longer than any that the new bound accounts
//! for. `service::tests::admission` contains a switch that does not wait, and detects it.
//!
//! If contracts keep the drive busy without a gap, no quiet instant comes: the switch is given up,
//! and nothing has changed.

use oneshot::{Sender, channel};
use tidegate_model::{Plan, Time};
use tidegate_policy::Policy;

use super::{CallError, Core, DataBackend, Part, RequestId};
use crate::service::offer::{ExportId, Member};
use crate::service::tenant::Tenant;
use tidegate_model::Class;

/// A waiting switch to another set of exports or policy.
pub(crate) struct Switch {
    /// All exports after the switch, in order; `None` keeps the current ones. Exports that are not
    /// listed are removed: they were closed, and their remaining requests fail as removed.
    pub(crate) members: Option<Vec<Member>>,
    /// The next policy. With `None`, the current policy continues with the same plan, provided no
    /// request of removed exports is outstanding.
    pub(crate) successor: Option<Successor>,
    /// The instant at which the switch is given up.
    pub(crate) until: Time,
    /// Receives the switch's instant, or the reason why it did not happen.
    pub(crate) answer: Sender<Result<Time, GivenUp>>,
}

/// The reason why a switch did not happen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum GivenUp {
    /// No quiet instant came in time.
    NeverQuiet,
    /// The service is winding down.
    Ending,
}

/// The next policy, with its plan.
pub(crate) struct Successor {
    pub(crate) policy: Box<dyn Policy>,
    /// The plan with which batches are compared; `None` keeps the current one.
    pub(crate) plan: Option<Box<Plan>>,
    pub(crate) window: usize,
}

impl<B: DataBackend> Core<B> {
    /// Prepares the end of the service: from the next quiet instant on, `policy`, which has no
    /// contracts, serves the remaining requests. A policy that keeps the drive free for contracts
    /// would never finish.
    pub(crate) fn wind_down(&mut self, policy: Box<dyn Policy>) {
        if let Some(before) = self.switch.take() {
            // The requester may no longer exist, which has no effect.
            let _ = before.answer.send(Err(GivenUp::Ending));
        }
        // No one waits for this switch.
        let (answer, _) = channel();
        let successor = Some(Successor { policy, plan: None, window: self.window });
        self.switch(Switch { members: None, successor, until: Time::MAX, answer });
        self.is_winding_down = true;
        // Requests that wait for a throughput limit would delay the end.
        self.shares.lift_limits();
    }

    /// Makes a switch wait for a quiet instant. A switch that was already waiting is given up.
    pub(crate) fn switch(&mut self, switch: Switch) {
        if self.is_winding_down {
            let _ = switch.answer.send(Err(GivenUp::Ending));
            return;
        }
        if let Some(before) = self.switch.replace(switch) {
            // The requester may no longer exist, which has no effect.
            let _ = before.answer.send(Err(GivenUp::NeverQuiet));
        }
    }

    /// Returns whether best effort is held back for a switch.
    pub(super) fn is_holding_back(&self) -> bool {
        self.switch.as_ref().is_some_and(|switch| switch.successor.is_some())
    }

    /// Returns the instant at which a switch is given up.
    pub(super) fn switch_until(&self) -> Option<Time> {
        self.switch.as_ref().map(|switch| switch.until)
    }

    /// Performs a waiting switch if `now` is a quiet instant, or gives it up if its time limit is
    /// reached. All arrivals up to `now` must be known.
    pub(super) fn switch_if_quiet(&mut self, now: Time) {
        let Some(switch) = &self.switch else { return };
        let is_over = now >= switch.until;
        let is_time = switch.successor.is_none() || self.is_quiet(now);
        if !is_over && !is_time {
            return;
        }
        let Switch { members, successor, answer, .. } = self.switch.take().expect("just seen");
        if is_over {
            // The requester gets the result unless it has stopped waiting.
            let _ = answer.send(Err(GivenUp::NeverQuiet));
            return;
        }
        if let Some(members) = members {
            self.enrol(&members);
        }
        if let Some(successor) = successor {
            self.succeed(now, successor);
        }
        // Each export may have more room now.
        let exports: Vec<ExportId> = self.tenants.keys().copied().collect();
        for export in exports {
            self.move_up(export);
        }
        let _ = answer.send(Ok(now));
    }

    /// Returns whether the instant is quiet: no request is in flight, and no request that a
    /// contract allowed before now is incomplete.
    fn is_quiet(&self, now: Time) -> bool {
        #[cfg(test)]
        if self.is_hasty {
            return self.watch.in_flight() == 0 && self.flushes.is_empty();
        }
        // A request without a deadline has no bound that a change could break. It still keeps the
        // drive from being idle.
        let is_past = |part: &Part| part.admission.due.is_some() && part.admission.eligible < now;
        self.watch.in_flight() == 0
            && self.trims.is_empty()
            && self.flushes.is_empty()
            && !self.parts.values().any(is_past)
    }

    /// Sets the exports. Exports with a contract get the first task numbers, in order; the others
    /// follow.
    pub(super) fn enrol(&mut self, members: &[Member]) {
        let mut before = std::mem::take(&mut self.tenants);
        let with_contract = members.iter().filter(|member| member.spec.contract.is_some()).count();
        let (mut tasks, mut others) = (0.., with_contract..);
        for Member { id, spec, bound } in members {
            let numbers = if spec.contract.is_some() { &mut tasks } else { &mut others };
            let number = numbers.next().expect("an endless count");
            let task =
                tidegate_model::TaskIndex(u32::try_from(number).expect("fewer exports than 2^32"));
            let mut tenant = before.remove(id).unwrap_or_else(|| {
                self.shares.add_lane(*id, spec.share.weight, spec.share.limit);
                Tenant::new(spec.contract.clone(), spec.is_soft)
            });
            (tenant.task, tenant.bound) = (task, *bound);
            self.tenants.insert(*id, tenant);
        }
        self.room = Plan::QUEUED_MAX_DEFAULT as usize / self.real_time_count();
        for id in before.into_keys() {
            self.abandon(id);
            self.shares.remove_lane(id);
        }
        for part in self.parts.values_mut() {
            let call = self.calls[part.call].as_ref().expect("a call outlives its parts");
            part.request.task = self.tenants[&call.call.export].task;
        }
    }

    /// Returns the number of exports with real-time requests, which share the policy's room; at
    /// least 1.
    pub(super) fn real_time_count(&self) -> usize {
        self.tenants.values().filter(|tenant| tenant.is_real_time()).count().max(1)
    }

    /// Fails the remaining requests of a removed export; the policy that held them is replaced too.
    fn abandon(&mut self, export: ExportId) {
        let is_of_it = |part: &Part| {
            let call = self.calls[part.call].as_ref().expect("a call outlives its parts");
            call.call.export == export
        };
        let now = self.backend.now();
        let parts = self.parts.iter().filter(|(_, part)| is_of_it(part));
        let ids: Vec<RequestId> = parts.map(|(&id, _)| id).collect();
        for id in ids {
            let part = self.parts.remove(&id).expect("just seen");
            let is_best_effort = part.request.class == Class::BestEffort;
            self.admitted -= usize::from(part.offered.is_some() && is_best_effort);
            if part.admission.due.is_some() {
                self.watch.kept(now, part.admission.eligible);
            }
            self.answer_part(part, Err(CallError::Removed));
        }
    }

    /// Replaces the policy, and offers the old policy's requests to the new one in the same order.
    fn succeed(&mut self, now: Time, successor: Successor) {
        let Successor { policy, plan, window } = successor;
        self.round.succeed(policy);
        self.window = window;
        if let Some(plan) = plan {
            self.watch.compare_with(&plan);
        }
        let mut offered: Vec<(u64, RequestId)> = self
            .parts
            .iter()
            .filter_map(|(&id, part)| part.offered.map(|number| (number, id)))
            .collect();
        offered.sort_unstable();
        for (_, id) in offered {
            self.offer(now, id);
        }
    }
}
