// SPDX-License-Identifier: Apache-2.0 OR MIT
//! One round of decisions, the same in every host: ask the policy until it stops dispatching, submit
//! all of it as one batch, hold the requests that the policy had no room for and offer them again.
//!
//! What a proof rests on is decided here: which requests share a batch, that nothing is offered
//! ahead of what is held in its line, and that a policy is full only to releases. What a request is
//! and where it comes from is the host's ([`Requests`]); how it is executed is the back end's.

use tidegate_model::{Request, RequestId, Tag, TaskIndex, Time};
use tidegate_policy::{Decision, Event, Full, Policy};

use crate::backend::Backend;
use crate::held::Held;

/// The requests of a host, as a [`Round`] asks for them.
pub trait Requests {
    /// What travels with a request: the back end's [`Backend::Payload`].
    type Payload;

    /// Returns the request of that name, which is released and not dispatched.
    fn released(&mut self, id: RequestId) -> Request;

    /// Returns the request of that name, which is dispatched from now on, under this tag.
    fn dispatch(&mut self, id: RequestId, tag: Tag) -> Request;

    /// Gives up a queued request that its policy dropped.
    fn drop_queued(&mut self, now: Time, id: RequestId);

    /// Takes note of a batch on its way to the drive, never an empty one, and adds its payloads.
    /// Requests that mean nothing to the drive are removed.
    fn submitted(&mut self, now: Time, batch: &mut Vec<Request>, payloads: &mut Vec<Self::Payload>);
}

/// A policy, and the requests that it had no room for; see the module's text.
#[derive(Debug)]
pub struct Round<P, M> {
    policy: P,
    held: Held,
    /// When the policy wants to be asked again though nothing happens.
    not_before: Option<Time>,
    /// Scratch, empty between rounds.
    batch: Vec<Request>,
    payloads: Vec<M>,
}

impl<P: Policy, M> Round<P, M> {
    /// Makes the rounds of `policy`, with memory for batches of `expected` requests.
    pub fn new(policy: P, expected: usize) -> Self {
        let (batch, payloads) = (Vec::with_capacity(expected), Vec::with_capacity(expected));
        Self { policy, held: Held::default(), not_before: None, batch, payloads }
    }

    /// Returns when the policy wants to be asked again though nothing happens.
    pub fn not_before(&self) -> Option<Time> {
        self.not_before
    }

    /// Whether a request waits for room.
    pub fn is_holding(&self) -> bool {
        !self.held.is_empty()
    }

    /// Tells the policy of anything but a release.
    ///
    /// # Panics
    /// When the policy is full, which it may be to releases only.
    #[inline]
    pub fn tell(&mut self, now: Time, event: Event) {
        assert_eq!(self.policy.observe(now, event), Ok(()), "a policy is full to releases only");
    }

    /// Offers a request to the policy, or holds it behind the requests of its line.
    #[inline]
    pub fn release(&mut self, now: Time, line: TaskIndex, request: &Request) {
        // Behind what is held already, if only to keep the order.
        let must_wait = self.held.is_waiting(line);
        if must_wait || self.policy.observe(now, Event::Release(*request)) == Err(Full) {
            self.held.push(line, request.id);
        }
    }

    /// Holds a request behind the others of its line until [`Self::offer_held`].
    pub fn hold(&mut self, line: TaskIndex, id: RequestId) {
        self.held.push(line, id);
    }

    /// Offers what is held, each line oldest first until it is refused; whether the policy took any
    /// of it.
    pub fn offer_held(&mut self, now: Time, requests: &mut impl Requests) -> bool {
        if self.held.is_empty() {
            return false;
        }
        let Self { held, policy, .. } = self;
        held.offer(|id| policy.observe(now, Event::Release(requests.released(id))).is_ok())
    }

    /// Asks until the policy has no more to dispatch, then submits it all as one batch; whether
    /// there was any.
    ///
    /// # Errors
    /// When the means of submission fail.
    ///
    /// # Panics
    /// When the policy asks to be asked at an instant that has passed.
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
        self.batch.clear();
        Ok(true)
    }

    /// Puts another policy in the place of this one. Nothing is held any more: the host offers the
    /// new policy everything that it is to know.
    pub fn succeed(&mut self, policy: P) {
        self.policy = policy;
        self.not_before = None;
        self.held.clear();
    }
}
