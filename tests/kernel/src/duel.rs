// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Runs two policies on the same events; they must make the same decisions.

use std::cell::RefCell;
use std::fmt;
use std::rc::Rc;

use tidegate_model::Time;
use tidegate_policy::{Decision, Event, Full, Policy};

/// The first decision in which two policies differ.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// The instant of the decision.
    pub now: Time,
    /// The decision of the Rust policy.
    pub expected: Decision,
    /// The decision of the other policy.
    pub found: Decision,
    /// The number of equal decisions before this one.
    pub equal: u64,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { now, expected, found, equal } = self;
        write!(f, "at {} ns after {equal} equal decisions: {found:?}, not {expected:?}", now.ns())
    }
}

/// The decisions of a duel so far.
#[derive(Debug, Clone, Default)]
pub struct Score {
    /// The number of equal decisions to send a request.
    pub sent: u64,
    /// The number of equal decisions to decide again at an instant.
    pub timed: u64,
    /// The number of equal decisions to wait for an event.
    pub awaited: u64,
    /// The first difference; `None` if there is none so far.
    pub difference: Option<Difference>,
}

impl Score {
    /// Returns the number of equal decisions.
    pub fn equal(&self) -> u64 {
        self.sent + self.timed + self.awaited
    }

    /// Adds the equal decisions of another duel.
    pub fn count(&mut self, other: &Self) {
        self.sent += other.sent;
        self.timed += other.timed;
        self.awaited += other.awaited;
    }

    fn add(&mut self, decision: Decision) {
        match decision {
            Decision::Dispatch { .. } | Decision::Drop(_) => self.sent += 1,
            Decision::NotBefore(_) => self.timed += 1,
            Decision::AwaitEvent => self.awaited += 1,
        }
    }
}

/// A policy that follows the decisions of `expected`, and compares `other` until it decides
/// differently.
pub struct Duel<A, B> {
    expected: A,
    other: B,
    score: Rc<RefCell<Score>>,
}

impl<A: Policy, B: Policy> Duel<A, B> {
    /// Makes a duel that writes its score to `score`.
    pub fn new(expected: A, other: B, score: &Rc<RefCell<Score>>) -> Self {
        Self { expected, other, score: Rc::clone(score) }
    }

    fn is_over(&self) -> bool {
        self.score.borrow().difference.is_some()
    }
}

impl<A: Policy, B: Policy> Policy for Duel<A, B> {
    fn observe(&mut self, now: Time, event: Event) -> Result<(), Full> {
        self.expected.observe(now, event.clone())?;
        if !self.is_over() {
            self.other.observe(now, event)?;
        }
        Ok(())
    }

    fn decide(&mut self, now: Time) -> Decision {
        let expected = self.expected.decide(now);
        if self.is_over() {
            return expected;
        }
        let found = self.other.decide(now);
        let mut score = self.score.borrow_mut();
        if found == expected {
            score.add(expected);
        } else {
            let equal = score.equal();
            score.difference = Some(Difference { now, expected, found, equal });
        }
        expected
    }
}
