// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The elevator that serves on its way up only (C-LOOK), with a bound on waiting.
//!
//! ```text
//!              heads
//!   position:    v
//!   ----.--.-----|--x---x-----x------>    x: the running sweep, served by rising position
//!       y  y     |                        y: the next sweep
//!                +--> a newcomer ahead joins the running sweep, if newcomers are left;
//!       <--------+    any other joins the next sweep
//! ```
//!
//! A sweep ends when none of its requests is left; the next begins at its lowest request. At most
//! as many newcomers join a sweep as the sweep began with. While at most Q requests are queued, at
//! most 4 Q - 2 requests are therefore served between the arrival of a request and its own service:
//! `docs/theory/draining.md` section 29 derives it. Without the limit, newcomers just ahead of the
//! heads can starve all others: this is `c-look`.
//!
//! Source: A. Merten, "Some Quantitative Techniques for File Organization", Madison 1970 (C-LOOK);
//! the limit on newcomers is this project's.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use tidegate_model::{Request, RequestId};

use super::{Order, Positions};

/// The position of a waiting request, its sequence number, and its slot among the requests. The
/// least is served first: the lowest position, then the oldest. A heap moves only these three
/// numbers, not the request.
type Waiting = Reverse<(u64, u64, usize)>;

/// C-LOOK; see the module documentation.
///
/// # Invariants
/// - Every request in `running` lies at or above `heads_at`.
/// - `free` has every slot of `requests` that neither sweep names, once each.
///
/// # Complexity
/// O(log queued) for `push` and `pop`, O(1) for `peek`; allocates nothing once its capacity has
/// grown.
#[derive(Debug, Clone)]
pub(crate) struct Elevator {
    positions: Positions,
    running: BinaryHeap<Waiting>,
    next: BinaryHeap<Waiting>,
    requests: Vec<Request>,
    free: Vec<usize>,
    /// The position of the last request that was served.
    heads_at: u64,
    /// The number of newcomers that may still join the running sweep.
    newcomers_left: usize,
    is_bounded: bool,
    arrived: u64,
}

impl Elevator {
    /// Returns an empty queue with a bound on waiting.
    pub(crate) fn bounded(positions: Positions) -> Self {
        Self::new(positions, true)
    }

    /// Returns an empty queue whose sweeps any number of newcomers may join.
    pub(crate) fn unbounded(positions: Positions) -> Self {
        Self::new(positions, false)
    }

    fn new(positions: Positions, is_bounded: bool) -> Self {
        Self {
            positions,
            running: BinaryHeap::new(),
            next: BinaryHeap::new(),
            requests: Vec::new(),
            free: Vec::new(),
            heads_at: 0,
            newcomers_left: 0,
            is_bounded,
            arrived: 0,
        }
    }

    /// Stores a request and returns its slot.
    fn store(&mut self, request: Request) -> usize {
        if let Some(slot) = self.free.pop() {
            self.requests[slot] = request;
            return slot;
        }
        self.requests.push(request);
        self.requests.len() - 1
    }

    /// Frees a slot and returns its request.
    fn release(&mut self, slot: usize) -> Request {
        self.free.push(slot);
        self.requests[slot]
    }
}

impl Order for Elevator {
    fn push(&mut self, request: Request) {
        let (position, _) = self.positions.span(&request);
        let slot = self.store(request);
        let waiting = Reverse((position, self.arrived, slot));
        self.arrived += 1;
        let has_room = !self.is_bounded || self.newcomers_left > 0;
        if position >= self.heads_at && has_room {
            self.newcomers_left = self.newcomers_left.saturating_sub(1);
            self.running.push(waiting);
        } else {
            self.next.push(waiting);
        }
    }

    fn peek(&self) -> Option<&Request> {
        self.running
            .peek()
            .or_else(|| self.next.peek())
            .map(|Reverse((_, _, slot))| &self.requests[*slot])
    }

    fn pop(&mut self) -> Option<Request> {
        // A sweep begins only with a request: a call on an empty queue must not set the limit on
        // newcomers to 0.
        if self.running.is_empty() && !self.next.is_empty() {
            std::mem::swap(&mut self.running, &mut self.next);
            self.newcomers_left = self.running.len();
        }
        let Reverse((position, _, slot)) = self.running.pop()?;
        self.heads_at = position;
        Some(self.release(slot))
    }

    fn cancel(&mut self, id: RequestId) -> Option<Request> {
        let Self { running, next, requests, .. } = self;
        let slot = [running, next].into_iter().find_map(|sweep| {
            let mut slots = sweep.iter().map(|Reverse((_, _, slot))| *slot);
            let found = slots.find(|&slot| requests[slot].id == id)?;
            sweep.retain(|Reverse((_, _, slot))| *slot != found);
            Some(found)
        })?;
        Some(self.release(slot))
    }

    fn len(&self) -> usize {
        self.running.len() + self.next.len()
    }

    fn boxed(&self) -> Box<dyn Order> {
        Box::new(self.clone())
    }
}
