// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Another set of exports under another policy, while clients go on.
//!
//! Rule: the old policy goes on by the old plan until a *quiet instant*, one at which the drive
//! has nothing and no request that a contract allowed before is unanswered. Then, and at no
//! other time, the new policy takes its place: made anew from the new plan, it is given what waits.
//! Until then best effort is held back, so that such an instant comes soon.
//!
//! # Promise
//! A request that its contract allows before the switch is answered within the bound of the old
//! set, one that it allows from then on within the bound of the new one. Proof: the first are
//! all answered before the switch, under the old policy, and its bound holds for every best effort,
//! less of it too. For the others, the switch is the beginning of a service: the drive is idle,
//! the policy is new, and nothing is pending that was released before. Tokens go on, so the
//! instants at which contracts allow requests are, from the switch on, those of tasks that keep
//! them: leaving the beginning out of a sporadic sequence leaves a sporadic sequence. So the
//! bound of the new set holds, whichever policy it was proved for, and whatever is different
//! between both plans: z, the drive's tables, the tasks.
//!
//! An instant between two batches is not enough. What waits there came under the old plan, and the
//! batch before it may have been larger or longer than any that the new bound reckons with:
//! `service::tests::admission` has a switch that does not wait, and catches it.
//!
//! Where contracts keep the drive busy without a gap, no quiet instant comes: the switch is given
//! up, and nothing has changed.

use oneshot::{Sender, channel};
use tidegate_model::{Plan, Time};
use tidegate_policy::Policy;

use super::{CallError, Core, DataBackend, Part, RequestId};
use crate::service::offer::{ExportId, Member};
use crate::service::tenant::Tenant;
use tidegate_model::Class;

/// What is to take the place of what is; see the module's text.
pub(crate) struct Switch {
    /// All exports from then on, in order; none: as they are. Those that are not among them are
    /// gone: they were closed, and what is left of theirs is answered as removed.
    pub(crate) members: Option<Vec<Member>>,
    /// Who decides then; none: who does now, by the same plan, if nothing of those that are gone
    /// is outstanding.
    pub(crate) successor: Option<Successor>,
    /// When it is given up.
    pub(crate) until: Time,
    /// Gets when it took place, or why it did not.
    pub(crate) answer: Sender<Result<Time, GivenUp>>,
}

/// Why a switch did not take place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum GivenUp {
    /// No instant was quiet until it was given up.
    NeverQuiet,
    /// Nothing new is to come.
    Ending,
}

/// Who decides next.
pub(crate) struct Successor {
    pub(crate) policy: Box<dyn Policy>,
    /// What batches are compared with; none: with what they are.
    pub(crate) plan: Option<Box<Plan>>,
    pub(crate) window: usize,
}

impl<B: DataBackend> Core<B> {
    /// Nothing new is to come: from the next quiet instant on `policy`, which knows of no
    /// contracts, carries out what is left. One that keeps the drive free for what contracts may
    /// ask next would never come to an end with it.
    pub(crate) fn wind_down(&mut self, policy: Box<dyn Policy>) {
        if let Some(before) = self.switch.take() {
            // Whoever asked may have gone: that changes nothing.
            let _ = before.answer.send(Err(GivenUp::Ending));
        }
        // Nobody waits for it.
        let (answer, _) = channel();
        let successor = Some(Successor { policy, plan: None, window: self.window });
        self.switch(Switch { members: None, successor, until: Time::MAX, answer });
        self.is_winding_down = true;
        // Whoever waits for its limit would be waited for.
        self.shares.lift_limits();
    }

    /// Begins to wait for a quiet instant. One that waited before is given up.
    pub(crate) fn switch(&mut self, switch: Switch) {
        if self.is_winding_down {
            let _ = switch.answer.send(Err(GivenUp::Ending));
            return;
        }
        if let Some(before) = self.switch.replace(switch) {
            // Whoever asked may have gone: that changes nothing.
            let _ = before.answer.send(Err(GivenUp::NeverQuiet));
        }
    }

    /// Whether best effort is held back for a switch.
    pub(super) fn is_holding_back(&self) -> bool {
        self.switch.as_ref().is_some_and(|switch| switch.successor.is_some())
    }

    /// When a switch is given up.
    pub(super) fn switch_until(&self) -> Option<Time> {
        self.switch.as_ref().map(|switch| switch.until)
    }

    /// Switches, if one waits and this is the instant; everything that came until now is known.
    pub(super) fn switch_if_quiet(&mut self, now: Time) {
        let Some(switch) = &self.switch else { return };
        let is_over = now >= switch.until;
        let is_time = switch.successor.is_none() || self.is_quiet(now);
        if !is_over && !is_time {
            return;
        }
        let Switch { members, successor, answer, .. } = self.switch.take().expect("just seen");
        if is_over {
            // Whoever asked is told, or has gone and reckons with it.
            let _ = answer.send(Err(GivenUp::NeverQuiet));
            return;
        }
        if let Some(members) = members {
            self.enrol(&members);
        }
        if let Some(successor) = successor {
            self.succeed(now, successor);
        }
        // There may be more room for each.
        let exports: Vec<ExportId> = self.tenants.keys().copied().collect();
        for export in exports {
            self.move_up(export);
        }
        let _ = answer.send(Ok(now));
    }

    /// Whether the past is over: the drive has nothing, and no request that a contract allowed
    /// before now is unanswered.
    fn is_quiet(&self, now: Time) -> bool {
        #[cfg(test)]
        if self.is_hasty {
            return self.watch.in_flight() == 0 && self.flushes.is_empty();
        }
        let is_past =
            |part: &Part| part.request.class != Class::BestEffort && part.admission.eligible < now;
        self.watch.in_flight() == 0
            && self.trims.is_empty()
            && self.flushes.is_empty()
            && !self.parts.values().any(is_past)
    }

    /// Takes over who is offered what. Tasks of contracts are numbered in order, others behind.
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
                Tenant::new(spec.contract.clone())
            });
            (tenant.task, tenant.bound) = (task, *bound);
            self.tenants.insert(*id, tenant);
        }
        self.room = Plan::QUEUED_MAX_DEFAULT as usize / self.contract_count();
        for id in before.into_keys() {
            self.abandon(id);
            self.shares.remove_lane(id);
        }
        for part in self.parts.values_mut() {
            let call = self.calls[part.call].as_ref().expect("a call outlives its parts");
            part.request.task = self.tenants[&call.call.export].task;
        }
    }

    /// How many have a contract, or one: their requests share the policy's room.
    pub(super) fn contract_count(&self) -> usize {
        self.tenants.values().filter(|tenant| tenant.has_contract()).count().max(1)
    }

    /// Refuses what an export that is gone still waits for; the policy that knew of it goes too.
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
            if !is_best_effort {
                self.watch.kept(now, part.admission.eligible);
            }
            self.answer_part(part, Err(CallError::Removed));
        }
    }

    /// The new policy gets what the old one had, in the order in which it did.
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
