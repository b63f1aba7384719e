// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Stands between a policy and its regulators and tells checkers what the policy sees.
//!
//! A policy keeps its rules towards what it was given. What regulators hold back it does not
//! know of; a request that they hand on later, as of another class or with another due is,
//! for the policy, released then, of that class and due then.
//!
//! ```text
//!   host --> regulators --> spy --> policy
//!                            +----> checkers
//! ```

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use tidegate_model::{PolicyName, Request, RequestId, Time};
use tidegate_policy::{Decision, Event, Full, Policy};

use super::Checkers;
use crate::Observer;

/// A request that the policy has and has not seen come back.
#[derive(Debug, Clone, Copy)]
struct Known {
    request: Request,
    is_dispatched: bool,
}

/// The policy behind its regulators, watched; see the module's text.
pub(super) struct Spy {
    name: PolicyName,
    policy: Box<dyn Policy>,
    checkers: Rc<RefCell<Checkers>>,
    known: BTreeMap<RequestId, Known>,
    /// What this round has sent.
    batch: Vec<Request>,
}

impl Spy {
    /// A watched `policy` of that name.
    pub(super) fn new(
        name: PolicyName,
        policy: Box<dyn Policy>,
        checkers: Rc<RefCell<Checkers>>,
    ) -> Self {
        Self { name, policy, checkers, known: BTreeMap::new(), batch: Vec::new() }
    }

    /// What an event tells checkers, before the policy knows of it.
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
            // A regulator that hides some of the drive says so before anything comes.
            Event::Reconfigure(plan) if self.known.is_empty() => {
                *checkers = Checkers::of_bare(self.name, plan);
            }
            Event::Release(_) | Event::Notice { .. } | Event::Reconfigure(_) => {}
        }
    }

    fn dispatch(&mut self, id: RequestId) {
        // What it does not have is the matter of the host, which stops there.
        if let Some(known) = self.known.get_mut(&id) {
            known.is_dispatched = true;
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

impl Policy for Spy {
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
            Decision::Dispatch { id, .. } => self.dispatch(id),
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
