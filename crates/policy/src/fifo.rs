// SPDX-License-Identifier: Apache-2.0 OR MIT
//! `fifo`: first in, first out, one request on the drive at a time.
//!
//! Rule: whenever the drive is idle, send it the oldest request of any class. The drive never has a
//! choice, so every request costs at most b(1), and the drive's own scheduling gains nothing. With
//! equal relative deadlines this is also non-preemptive EDF. Bound: `tidegate_analysis::fifo`.
//!
//! Best effort may be served in an order of its own. A best-effort request then takes the turn of
//! another one:
//!
//! ```text
//!   turns, oldest first:   B1  R1  B2  B3        best effort by position: B3  B1  B2
//!   served:                B3  R1  B1  B2
//! ```
//!
//! As many best-effort requests are served before a real-time request as were released before it,
//! so the bound holds for every order.

use std::collections::VecDeque;

use tidegate_model::{Class, RequestId, Time};

use crate::order::{OrderedQueue, OrdersBestEffort};
use crate::{Decision, Event, Full, Policy, Tag};

/// The turn of a queued request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Turn {
    RealTime(RequestId),
    /// The turn that this request took on arrival; another best-effort request may use it.
    BestEffort(RequestId),
}

/// One request at a time in release order; see the module documentation.
///
/// # Invariants
/// - `turns` holds as many turns of best effort as `best_effort` holds requests.
#[derive(Debug)]
pub struct Fifo {
    turns: VecDeque<Turn>,
    best_effort: OrderedQueue,
    queued_max: u32,
    is_busy: bool,
}

impl Fifo {
    /// Returns a policy that holds at most `queued_max` requests, and serves best effort in the
    /// order of release.
    pub fn new(queued_max: u32) -> Self {
        Self {
            turns: VecDeque::new(),
            best_effort: OrderedQueue::first_come(queued_max),
            queued_max,
            is_busy: false,
        }
    }

    /// Removes a queued request with its turn. If another request has used that turn, the next turn
    /// of best effort is removed, which delays nothing.
    fn cancel(&mut self, id: RequestId) {
        let is_best_effort = self.best_effort.cancel(id).is_some();
        let own = if is_best_effort { Turn::BestEffort(id) } else { Turn::RealTime(id) };
        let of_best_effort = |turn: &Turn| is_best_effort && matches!(turn, Turn::BestEffort(_));
        let position = self.turns.iter().position(|turn| *turn == own);
        if let Some(position) = position.or_else(|| self.turns.iter().position(of_best_effort)) {
            self.turns.remove(position);
        }
    }
}

impl OrdersBestEffort for Fifo {
    fn best_effort_mut(&mut self) -> &mut OrderedQueue {
        &mut self.best_effort
    }
}

impl Policy for Fifo {
    fn observe(&mut self, _now: Time, event: Event) -> Result<(), Full> {
        match event {
            Event::Release(request) => {
                if self.turns.len() >= self.queued_max as usize {
                    return Err(Full);
                }
                if request.class == Class::BestEffort {
                    self.best_effort.push(request)?;
                    self.turns.push_back(Turn::BestEffort(request.id));
                } else {
                    self.turns.push_back(Turn::RealTime(request.id));
                }
            }
            Event::Complete { .. } => {
                assert!(self.is_busy, "completion while nothing is on the drive");
                self.is_busy = false;
            }
            Event::Cancel(id) => self.cancel(id),
            Event::Notice { .. } => {}
            Event::Reconfigure(plan) => {
                self.queued_max = plan.queued_max;
                self.best_effort.set_queued_max(plan.queued_max);
            }
        }
        Ok(())
    }

    fn decide(&mut self, _now: Time) -> Decision {
        if self.is_busy {
            return Decision::AwaitEvent;
        }
        let id = match self.turns.pop_front() {
            None => return Decision::AwaitEvent,
            Some(Turn::RealTime(id)) => id,
            Some(Turn::BestEffort(_)) => {
                self.best_effort.pop().expect("a turn for each queued request").id
            }
        };
        self.is_busy = true;
        Decision::Dispatch { id, tag: Tag::Simple }
    }
}
