// SPDX-License-Identifier: Apache-2.0 OR MIT
//! One round of decisions, the same in every host: asks the policy until it stops dispatching,
//! submits all dispatched requests as one batch, holds the requests that the policy had no room
//! for, and offers them again.
//!
//! Proofs rely on what this module does: it decides which requests share a batch, it offers no
//! request ahead of earlier held requests of its queue, and it lets a policy refuse nothing but
//! releases. The host defines its requests ([`Requests`]); the backend executes them.

use tidegate_model::parameters::TokenRate;
use tidegate_model::{Request, RequestId, Tag, TaskIndex, Time};
use tidegate_policy::{Decision, Event, Full, Policy};

use crate::backend::Backend;
use crate::held::Held;

/// The host's requests, as a [`Round`] uses them.
pub trait Requests {
    /// The value that travels with a request: the backend's [`Backend::Payload`].
    type Payload;

    /// Returns the request with that identifier, which is released and not dispatched.
    fn released(&mut self, id: RequestId) -> Request;

    /// Marks the request with that identifier as dispatched with this tag, and returns it.
    fn dispatch(&mut self, id: RequestId, tag: Tag) -> Request;

    /// Drops a queued request, as the policy decided.
    fn drop_queued(&mut self, now: Time, id: RequestId);

    /// Records a batch that is about to be submitted, which is never empty, and adds its payloads.
    /// Removes requests that do not go to the drive.
    fn submitted(&mut self, now: Time, batch: &mut Vec<Request>, payloads: &mut Vec<Self::Payload>);
}

/// A policy, and the requests that it had no room for.
#[derive(Debug)]
pub struct Round<P, M> {
    policy: P,
    held: Held,
    /// The instant at which the policy must be asked again without an event.
    not_before: Option<Time>,
    /// A scratch list, empty between rounds.
    batch: Vec<Request>,
    payloads: Vec<M>,
}

impl<P: Policy, M> Round<P, M> {
    /// Makes the rounds of `policy`, with memory for batches of `expected` requests.
    pub fn new(policy: P, expected: usize) -> Self {
        let (batch, payloads) = (Vec::with_capacity(expected), Vec::with_capacity(expected));
        Self { policy, held: Held::default(), not_before: None, batch, payloads }
    }

    /// Returns the instant at which the policy must be asked again without an event.
    pub fn not_before(&self) -> Option<Time> {
        self.not_before
    }

    /// Returns the rate, in tokens per second, at which the policy gives best effort tokens; `None`
    /// without a limit.
    pub fn tokens_per_s(&self) -> Option<TokenRate> {
        self.policy.tokens_per_s()
    }

    /// Returns whether a request waits for room.
    pub fn is_holding(&self) -> bool {
        !self.held.is_empty()
    }

    /// Tells the policy of any event except a release.
    ///
    /// # Panics
    /// If the policy is full, which is allowed only for releases.
    #[inline]
    pub fn tell(&mut self, now: Time, event: Event) {
        assert_eq!(self.policy.observe(now, event), Ok(()), "a full policy refuses only releases");
    }

    /// Offers a request to the policy, or holds it behind the held requests of its queue.
    #[inline]
    pub fn release(&mut self, now: Time, line: TaskIndex, request: &Request) {
        // The request waits behind held requests, if only to keep the order.
        let must_wait = self.held.is_waiting(line);
        if must_wait || self.policy.observe(now, Event::Release(*request)) == Err(Full) {
            self.held.push(line, request.id);
        }
    }

    /// Holds a request behind the others of its queue until [`Self::offer_held`].
    pub fn hold(&mut self, line: TaskIndex, id: RequestId) {
        self.held.push(line, id);
    }

    /// Offers the held requests, each queue oldest first until one is refused; returns whether the
    /// policy took any.
    pub fn offer_held(&mut self, now: Time, requests: &mut impl Requests) -> bool {
        if self.held.is_empty() {
            return false;
        }
        let Self { held, policy, .. } = self;
        held.offer(|id| policy.observe(now, Event::Release(requests.released(id))).is_ok())
    }

    /// Asks the policy until it has nothing more to dispatch, then submits all dispatched requests
    /// as one batch; returns whether there were any.
    ///
    /// # Errors
    /// If the submission fails.
    ///
    /// # Panics
    /// If the policy asks for an instant that has passed.
    pub fn decide<B: Backend<Payload = M>>(
        &mut self,
        now: Time,
        backend: &mut B,
        requests: &mut impl Requests<Payload = M>,
    ) -> Result<bool, B::Error> {
        self.not_before = loop {
            match self.policy.decide(now) {
                Decision::Dispatch { id, tag } => self.batch.push(requests.dispatch(id, tag)),
                Decision::Drop(id) => requests.drop_queued(now, id),
                Decision::NotBefore(at) => {
                    assert!(at > now, "the policy asks to be asked in the past");
                    break Some(at);
                }
                Decision::AwaitEvent => break None,
            }
        };
        if self.batch.is_empty() {
            return Ok(false);
        }
        requests.submitted(backend.now(), &mut self.batch, &mut self.payloads);
        backend.submit(&self.batch, &mut self.payloads)?;
        // A payload left behind would go with another request in the next batch.
        assert!(self.payloads.is_empty(), "a backend takes every payload of its batch");
        self.batch.clear();
        Ok(true)
    }

    /// Replaces the policy. Nothing is held any more: the host must offer the new policy all
    /// requests that it must know about.
    pub fn succeed(&mut self, policy: P) {
        self.policy = policy;
        self.not_before = None;
        self.held.clear();
    }
}
