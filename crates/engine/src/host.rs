// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The policy, and the requests that wait in front of it because it is full.
//!
//! A policy with as many requests as it may hold refuses the next; the host holds that one,
//! with its `released` unchanged, and offers it again when the policy has dispatched.
//! Each class waits in a line of its own, because policies may hold them apart: best effort
//! that finds no room must not stand in the way of a deadline.

use std::collections::VecDeque;

use model::{Class, Outcome, Request, RequestId, Time};
use policy::{Decision, Event, Policy};

use crate::live::LiveRequests;

/// A policy and what it has no room for.
///
/// # Invariants
/// - Both lines are in the order of release.
pub(crate) struct PolicyHost {
    policy: Box<dyn Policy>,
    /// One line of real-time requests, one of best effort.
    held: [VecDeque<RequestId>; 2],
    /// Releases and completions.
    pub(crate) events: u64,
}

impl PolicyHost {
    /// A host of this policy, nothing held.
    pub(crate) fn new(policy: Box<dyn Policy>) -> Self {
        Self { policy, held: [VecDeque::new(), VecDeque::new()], events: 0 }
    }

    /// Whether a request waits in front of the policy.
    pub(crate) fn has_held(&self) -> bool {
        self.held.iter().any(|line| !line.is_empty())
    }

    /// A request came back.
    pub(crate) fn complete(&mut self, now: Time, id: RequestId, outcome: Outcome) {
        self.events += 1;
        let observed = self.policy.observe(now, Event::Complete { id, outcome });
        observed.expect("a policy refuses releases only");
    }

    /// A request became ready.
    pub(crate) fn release(&mut self, now: Time, request: Request) {
        self.events += 1;
        let line = line_of(request.class);
        if !self.held[line].is_empty() || !self.offer(now, request) {
            self.held[line].push_back(request.id);
        }
    }

    /// Offers what is held in the order of release, each line until the policy is full.
    pub(crate) fn offer_held(&mut self, now: Time, requests: &LiveRequests) {
        let mut is_open = [true; 2];
        while let Some((id, line)) = self.oldest_held(is_open) {
            if self.offer(now, requests.get(id).request) {
                self.held[line].pop_front();
            } else {
                is_open[line] = false;
            }
        }
    }

    /// What to do now.
    pub(crate) fn decide(&mut self, now: Time) -> Decision {
        self.policy.decide(now)
    }

    /// Whether the policy took the request.
    fn offer(&mut self, now: Time, request: Request) -> bool {
        self.policy.observe(now, Event::Release(request)).is_ok()
    }

    fn oldest_held(&self, is_open: [bool; 2]) -> Option<(RequestId, usize)> {
        let fronts = self.held.iter().map(VecDeque::front).enumerate();
        fronts.filter_map(|(line, id)| is_open[line].then_some((*id?, line))).min()
    }
}

/// Where requests of a class wait.
fn line_of(class: Class) -> usize {
    usize::from(class == Class::BestEffort)
}
