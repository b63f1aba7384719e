// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A layer that reports to the checker of a regulator's rate the requests that reach the regulator,
//! and the requests that it passes on.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use tidegate_model::parameters::TokenRate;
use tidegate_model::{Outcome, Request, RequestId, Time};
use tidegate_policy::{Decision, Event, Full, Policy};

use super::RateKept;
use crate::Observer;

pub(super) type SharedRate = Rc<RefCell<RateKept>>;

/// A watched layer; see the module documentation.
pub(super) struct Probe {
    policy: Box<dyn Policy>,
    /// The rate checker of this layer, if the layer is a regulator.
    inside: Option<SharedRate>,
    /// The rate checker of the regulator around this layer.
    around: Option<SharedRate>,
    /// The requests that this layer took and did not complete or drop, and whether each is on the
    /// drive.
    taken: BTreeMap<RequestId, (Request, bool)>,
}

impl Probe {
    /// Wraps a layer, unless neither it nor the layer around it is a checked regulator.
    pub(super) fn around(
        policy: Box<dyn Policy>,
        inside: Option<SharedRate>,
        around: Option<SharedRate>,
    ) -> Box<dyn Policy> {
        if inside.is_none() && around.is_none() {
            return policy;
        }
        Box::new(Self { policy, inside, around, taken: BTreeMap::new() })
    }

    fn release(&mut self, now: Time, request: Request) -> Result<(), Full> {
        // The regulator may pass the request on immediately.
        if let Some(inside) = &self.inside {
            inside.borrow_mut().arrive(now, &request);
        }
        let result = self.policy.observe(now, Event::Release(request));
        if let (Some(inside), Err(Full)) = (&self.inside, result) {
            inside.borrow_mut().lose(now, request.id);
        }
        if let Some(around) = &self.around {
            match result {
                Ok(()) => around.borrow_mut().released(now, &request),
                Err(Full) => around.borrow_mut().refused_behind(&request),
            }
        }
        if result.is_ok() {
            self.taken.insert(request.id, (request, false));
        }
        result
    }

    /// Forgets a request that is not on the drive.
    fn drop(&mut self, now: Time, id: RequestId) {
        if let Some(inside) = &self.inside {
            inside.borrow_mut().lose(now, id);
        }
        if self.taken.get(&id).is_some_and(|&(_, is_dispatched)| !is_dispatched)
            && let Some((request, _)) = self.taken.remove(&id)
            && let Some(around) = &self.around
        {
            around.borrow_mut().dropped(now, &request);
        }
    }

    fn complete(&mut self, now: Time, id: RequestId, outcome: Outcome) {
        if let Some((request, _)) = self.taken.remove(&id)
            && let Some(around) = &self.around
        {
            around.borrow_mut().completed(now, &request, outcome);
        }
    }
}

impl Policy for Probe {
    fn tokens_per_s(&self) -> Option<TokenRate> {
        self.policy.tokens_per_s()
    }

    fn observe(&mut self, now: Time, event: Event) -> Result<(), Full> {
        match &event {
            Event::Release(request) => return self.release(now, *request),
            Event::Complete { id, outcome } => self.complete(now, *id, *outcome),
            Event::Cancel(id) => self.drop(now, *id),
            Event::Notice { .. } | Event::Reconfigure(_) => {
                if let Some(around) = &self.around {
                    around.borrow_mut().tell(now, &event);
                }
            }
        }
        self.policy.observe(now, event)
    }

    fn decide(&mut self, now: Time) -> Decision {
        let decision = self.policy.decide(now);
        match decision {
            Decision::Dispatch { id, .. } => {
                self.taken.entry(id).and_modify(|(_, is_dispatched)| *is_dispatched = true);
            }
            Decision::Drop(id) => self.drop(now, id),
            Decision::NotBefore(_) | Decision::AwaitEvent => {
                if let Some(inside) = &self.inside {
                    inside.borrow_mut().settled(now);
                }
            }
        }
        decision
    }
}
