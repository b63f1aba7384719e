// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A layer between a policy and its regulators that reports to checkers the events that the policy
//! sees.
//!
//! A policy keeps its rules for the requests that it gets. It does not know the requests that
//! regulators hold back. If they pass a request on later, with another class or another deadline,
//! then for the policy it is released at that instant, with that class and deadline.
//!
//! ```text
//!   host --> probe --> regulator --> probe --> .. --> policy_probe --> policy
//!              +--> its rate <---------+                +----> checkers
//! ```

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use tidegate_model::parameters::TokenRate;
use tidegate_model::{AccessTime, Plan, PolicyName, RegulatorName, Request, RequestId, Tag, Time};
use tidegate_policy::{BuildError, Decision, Event, Full, Policy};

use super::probe::{Probe, SharedRate};
use super::{Checkers, Positions, RateKept, is_regulated};
use crate::Observer;

impl Checkers {
    /// Builds the policy of this name with its regulators, and the checkers of all its claims under
    /// `plan`. The policy itself is checked on the events below its regulators, the whole on the
    /// events that the host sees, and each shaper on both sides of it.
    ///
    /// # Errors
    /// [`BuildError`] if the policy needs unknown facts about the drive.
    pub fn watching(
        name: PolicyName,
        plan: &Plan,
        access: Option<Box<dyn AccessTime>>,
    ) -> Result<(Box<dyn Policy>, Self), BuildError> {
        Self::watching_under(name, plan, plan, access)
    }

    /// Builds a policy and its checkers as [`Self::watching`] does, except that the policy gets the
    /// plan `followed`, which can differ from `plan`.
    ///
    /// # Errors
    /// [`BuildError`] if the policy needs unknown facts about the drive.
    pub fn watching_under(
        name: PolicyName,
        plan: &Plan,
        followed: &Plan,
        access: Option<Box<dyn AccessTime>>,
    ) -> Result<(Box<dyn Policy>, Self), BuildError> {
        let positions = match access {
            Some(_) => Positions::OfDrive,
            None => Positions::Sectors,
        };
        if !is_regulated(name, plan) {
            let checkers = Self::of_bare(name, plan, positions);
            return Ok((tidegate_policy::build(name, followed, access)?, checkers));
        }
        let mut checkers = Self::of_regulated(name, plan);
        let mut inside = None;
        let watch = |around: Option<RegulatorName>, mut policy| {
            if checkers.below.is_none() {
                policy = checkers.watch_by(positions, name, plan, policy);
            }
            let around = around.and_then(|regulator| checkers.add_rate(regulator, plan));
            let inside = std::mem::replace(&mut inside, around.clone());
            Probe::around(policy, inside, around)
        };
        let policy = tidegate_policy::build_watched(name, followed, access, watch)?;
        Ok((policy, checkers))
    }

    /// Adds the checker of a regulator's rate, if it has one.
    fn add_rate(&mut self, regulator: RegulatorName, plan: &Plan) -> Option<SharedRate> {
        let rate = Rc::new(RefCell::new(RateKept::of(regulator, plan)?));
        self.rates.push(Rc::clone(&rate));
        Some(rate)
    }

    /// Wraps `policy`, built without access times if it can be, so that its own rules are checked
    /// on the events that it sees itself. Its violations count as violations of these checkers.
    pub fn watch(
        &mut self,
        name: PolicyName,
        plan: &Plan,
        policy: Box<dyn Policy>,
    ) -> Box<dyn Policy> {
        self.watch_by(Positions::Sectors, name, plan, policy)
    }

    /// Wraps `policy` as [`Self::watch`] does, for a policy that orders by these positions.
    fn watch_by(
        &mut self,
        positions: Positions,
        name: PolicyName,
        plan: &Plan,
        policy: Box<dyn Policy>,
    ) -> Box<dyn Policy> {
        let (name, _) = tidegate_policy::parts(name);
        let checkers = Rc::new(RefCell::new(Self::of_bare(name, plan, positions)));
        self.below = Some(Rc::clone(&checkers));
        let (known, batch) = Default::default();
        Box::new(PolicyProbe { name, positions, policy, checkers, known, batch })
    }
}

/// A request that the policy has and whose completion it has not seen.
#[derive(Debug, Clone, Copy)]
struct Known {
    request: Request,
    is_dispatched: bool,
}

/// A watched policy behind its regulators; see the module documentation.
struct PolicyProbe {
    name: PolicyName,
    positions: Positions,
    policy: Box<dyn Policy>,
    checkers: Rc<RefCell<Checkers>>,
    known: BTreeMap<RequestId, Known>,
    /// The requests that this round has sent.
    batch: Vec<Request>,
}

impl PolicyProbe {
    /// Reports an event to the checkers before the policy sees it.
    fn note(&mut self, now: Time, event: &Event) {
        let mut checkers = self.checkers.borrow_mut();
        match event {
            Event::Complete { id, outcome } => {
                if let Some(Known { request, .. }) = self.known.remove(id) {
                    checkers.completed(now, &request, *outcome);
                }
            }
            Event::Cancel(id) => {
                if self.known.get(id).is_some_and(|known| !known.is_dispatched)
                    && let Some(Known { request, .. }) = self.known.remove(id)
                {
                    checkers.dropped(now, &request);
                }
            }
            // A regulator that hides part of the drive announces this before the first request.
            Event::Reconfigure(plan) if self.known.is_empty() => {
                *checkers = Checkers::of_bare(self.name, plan, self.positions);
            }
            Event::Release(_) | Event::Notice { .. } | Event::Reconfigure(_) => {}
        }
    }

    fn dispatch(&mut self, id: RequestId, tag: Tag) {
        // The host itself stops at a dispatch of a request that the policy does not have.
        if let Some(known) = self.known.get_mut(&id) {
            known.is_dispatched = true;
            known.request.tag = tag;
            self.batch.push(known.request);
        }
    }

    fn end_round(&mut self, now: Time) {
        let mut checkers = self.checkers.borrow_mut();
        if !self.batch.is_empty() {
            checkers.dispatched(now, &self.batch);
            self.batch.clear();
        }
        checkers.settled(now);
    }
}

impl Policy for PolicyProbe {
    fn tokens_per_s(&self) -> Option<TokenRate> {
        self.policy.tokens_per_s()
    }

    fn observe(&mut self, now: Time, event: Event) -> Result<(), Full> {
        self.note(now, &event);
        let released = match &event {
            Event::Release(request) => Some(*request),
            Event::Complete { .. }
            | Event::Cancel(_)
            | Event::Notice { .. }
            | Event::Reconfigure(_) => None,
        };
        self.policy.observe(now, event)?;
        if let Some(request) = released {
            self.known.insert(request.id, Known { request, is_dispatched: false });
            self.checkers.borrow_mut().released(now, &request);
        }
        Ok(())
    }

    fn decide(&mut self, now: Time) -> Decision {
        let decision = self.policy.decide(now);
        match decision {
            Decision::Dispatch { id, tag } => self.dispatch(id, tag),
            Decision::Drop(id) => {
                if let Some(Known { request, .. }) = self.known.remove(&id) {
                    self.checkers.borrow_mut().dropped(now, &request);
                }
            }
            Decision::NotBefore(_) | Decision::AwaitEvent => self.end_round(now),
        }
        decision
    }
}
