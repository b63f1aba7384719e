// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A drive that keeps only drain(q), and an adversary that controls it.
//!
//! ```text
//!   submit: q outstanding             submit: q' outstanding
//!   |<------- drain(q) ---------------|---->|  does not count any more
//!                                     |<------- drain(q') ------->|
//! ```
//!
//! Every dispatch restarts the clock: all requests in flight complete within the new drain time,
//! each request at an instant that the drive chooses. [`crate::drain_duel::duel`] lets an adversary
//! that sees the clock choose completions and sporadic releases against a policy; the same drive
//! serves any host.

use rand::RngExt;
use rand_pcg::Pcg64;
use tidegate_drive::{Completion, Drive};
use tidegate_model::{Duration, Request, RequestId, Time};

use crate::held::{self, Held};

/// When the drive completes its requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CompletionStrategy {
    /// All requests complete at the last instant.
    Burst,
    /// Each request completes at any instant, one of them at the last instant.
    Random,
    /// One best-effort request completes immediately, so that another is sent; real-time requests
    /// complete at the last instant.
    Trickle,
    /// One best-effort request completes at any instant, the others at the last instant.
    LateTrickle,
    /// All requests complete immediately except the request with the earliest deadline, which
    /// completes at the last instant.
    AllButOne,
    /// A new choice among the other strategies after every dispatch.
    Mixed,
}

impl CompletionStrategy {
    /// All strategies.
    pub const ALL: [Self; 6] =
        [Self::Mixed, Self::Burst, Self::Trickle, Self::LateTrickle, Self::AllButOne, Self::Random];
}

/// The drive; see the module's text.
#[derive(Debug, Clone)]
pub struct BlackBox {
    /// drain(q) by q, as the drive keeps it; the times can decrease.
    drain: Vec<Duration>,
    strategy: CompletionStrategy,
    random: Pcg64,
    held: Vec<Held>,
    empty_by: Time,
}

impl BlackBox {
    /// Creates an idle drive.
    ///
    /// # Shape
    /// `drain[q]` for q = 0 to the most requests that the drive gets.
    #[must_use]
    pub const fn new(drain: Vec<Duration>, strategy: CompletionStrategy, random: Pcg64) -> Self {
        Self { drain, strategy, random, held: Vec::new(), empty_by: Time::ZERO }
    }

    /// Returns the latest instant at which all requests of the drive are complete.
    #[must_use]
    pub const fn empty_by(&self) -> Time {
        self.empty_by
    }

    /// Returns the number of requests in flight.
    #[must_use]
    pub const fn held_count(&self) -> usize {
        self.held.len()
    }

    fn any_instant(&mut self, now: Time) -> Time {
        let span = self.empty_by.since(now).ns().max(1);
        now + Duration::from_ns(self.random.random_range(1..=span))
    }

    /// Plans all completions again, because a dispatch restarted the clock.
    fn plan(&mut self, now: Time) {
        let kinds = CompletionStrategy::ALL.len();
        let strategy = match self.strategy {
            CompletionStrategy::Mixed => {
                CompletionStrategy::ALL[self.random.random_range(1..kinds)]
            }
            strategy => strategy,
        };
        let soon = (now + Duration::from_ns(1)).min(self.empty_by);
        let early = match strategy {
            CompletionStrategy::Trickle => soon,
            _ => self.any_instant(now),
        };
        for held in &mut self.held {
            held.completes = self.empty_by;
        }
        match strategy {
            CompletionStrategy::Burst | CompletionStrategy::Mixed => {}
            CompletionStrategy::Random => {
                for place in 1..self.held.len() {
                    self.held[place].completes = self.any_instant(now);
                }
            }
            CompletionStrategy::Trickle | CompletionStrategy::LateTrickle => {
                if let Some(held) = self.held.iter_mut().find(|held| held.request.due.is_none()) {
                    held.completes = early;
                }
            }
            CompletionStrategy::AllButOne => {
                let key = |held: &&Held| (held.request.due.is_none(), held.request.due);
                let kept = self.held.iter().min_by_key(key).map(|held| held.request.id);
                for held in self.held.iter_mut().filter(|held| Some(held.request.id) != kept) {
                    held.completes = soon;
                }
            }
        }
    }
}

impl Drive for BlackBox {
    fn submit(&mut self, now: Time, batch: &[Request]) {
        if batch.is_empty() {
            return;
        }
        let held = |&request: &Request| Held { request, completes: now };
        self.held.extend(batch.iter().map(held));
        self.empty_by = now + self.drain[self.held.len()];
        self.plan(now);
    }

    fn flush(&mut self, _now: Time, _id: RequestId) {
        unreachable!("these tests send no flush");
    }

    fn next_event(&self) -> Option<Time> {
        held::next_event(&self.held)
    }

    fn advance(&mut self, now: Time, out: &mut Vec<Completion>) {
        held::advance(&mut self.held, now, out);
    }
}
