// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A model of the drive's heads that follows a policy's requests, and the policy that it follows.
//!
//! The policy's order asks the model. The model must see all requests, whatever queue they come
//! from, so a layer around the policy reports dispatches and completions:
//!
//! ```text
//!   host <--> tracked <--> policy --> order --> heads
//!                +--------------------------------^
//! ```

use std::cell::{Ref, RefCell};
use std::collections::HashMap;
use std::rc::Rc;

use tidegate_model::parameters::TokenRate;
use tidegate_model::{AccessTime, RequestId, Target, Time};

use crate::{Decision, Event, Full, Policy};

/// A shared model of the drive's heads.
#[derive(Debug, Clone)]
pub(crate) struct Heads {
    access: Rc<RefCell<Box<dyn AccessTime>>>,
}

impl Heads {
    pub(crate) fn new(access: Box<dyn AccessTime>) -> Self {
        Self { access: Rc::new(RefCell::new(access)) }
    }

    /// Returns the model, for estimates.
    pub(crate) fn access(&self) -> Ref<'_, Box<dyn AccessTime>> {
        self.access.borrow()
    }
}

/// A policy whose requests move the heads of a model.
#[derive(Debug)]
pub(crate) struct Tracked<P> {
    policy: P,
    heads: Heads,
    queued: HashMap<RequestId, Target>,
    in_flight: Vec<(RequestId, Target)>,
}

impl<P: Policy> Tracked<P> {
    pub(crate) fn new(policy: P, heads: Heads) -> Self {
        Self { policy, heads, queued: HashMap::new(), in_flight: Vec::new() }
    }

    fn complete(&mut self, now: Time, id: RequestId) {
        let index = self.in_flight.iter().position(|(in_flight, _)| *in_flight == id);
        let index = index.expect("the completed request was in flight");
        let (_, target) = self.in_flight.swap_remove(index);
        self.heads.access.borrow_mut().completed(now, &target);
    }
}

impl<P: Policy> Policy for Tracked<P> {
    fn tokens_per_s(&self) -> Option<TokenRate> {
        self.policy.tokens_per_s()
    }

    fn observe(&mut self, now: Time, event: Event) -> Result<(), Full> {
        match event {
            Event::Release(request) => {
                let target = self.heads.access().target(&request);
                self.policy.observe(now, Event::Release(request))?;
                self.queued.insert(request.id, target);
                return Ok(());
            }
            Event::Complete { id, .. } => self.complete(now, id),
            Event::Cancel(id) => {
                self.queued.remove(&id);
            }
            Event::Notice { .. } | Event::Reconfigure(_) => {}
        }
        self.policy.observe(now, event)
    }

    fn decide(&mut self, now: Time) -> Decision {
        self.heads.access.borrow_mut().advance(now);
        let decision = self.policy.decide(now);
        match decision {
            Decision::Dispatch { id, .. } => {
                let target = self.queued.remove(&id).expect("a policy sends queued requests");
                self.heads.access.borrow_mut().dispatched(now, &target);
                self.in_flight.push((id, target));
            }
            Decision::Drop(id) => {
                self.queued.remove(&id);
            }
            Decision::NotBefore(_) | Decision::AwaitEvent => {}
        }
        decision
    }
}
