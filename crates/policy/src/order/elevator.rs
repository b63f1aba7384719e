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

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use tidegate_model::{Request, RequestId};

use super::{Order, Positions};

/// A waiting request. The greatest is served first: the lowest position, then the oldest.
#[derive(Debug, Clone, Copy)]
struct Waiting {
    position: u64,
    number: u64,
    request: Request,
}

impl Waiting {
    const fn key(&self) -> (u64, u64) {
        (self.position, self.number)
    }
}

impl Ord for Waiting {
    fn cmp(&self, other: &Self) -> Ordering {
        other.key().cmp(&self.key())
    }
}
impl PartialOrd for Waiting {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
impl PartialEq for Waiting {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}
impl Eq for Waiting {}

/// C-LOOK; see the module documentation.
///
/// # Invariants
/// - Every request in `running` lies at or above `heads_at`.
///
/// # Complexity
/// O(log queued) for `push` and `pop`, O(1) for `peek`; allocates nothing once its capacity has
/// grown.
#[derive(Debug, Clone)]
pub(crate) struct Elevator {
    positions: Positions,
    running: BinaryHeap<Waiting>,
    next: BinaryHeap<Waiting>,
    /// The position of the last request.
    heads_at: u64,
    /// How many newcomers may still join the running sweep.
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
            heads_at: 0,
            newcomers_left: 0,
            is_bounded,
            arrived: 0,
        }
    }
}

impl Order for Elevator {
    fn push(&mut self, request: Request) {
        let (position, _) = self.positions.span(&request);
        let waiting = Waiting { position, number: self.arrived, request };
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
        self.running.peek().or_else(|| self.next.peek()).map(|waiting| &waiting.request)
    }

    fn pop(&mut self) -> Option<Request> {
        // Only a request begins a sweep: asking an empty queue must not use up newcomers.
        if self.running.is_empty() && !self.next.is_empty() {
            std::mem::swap(&mut self.running, &mut self.next);
            self.newcomers_left = self.running.len();
        }
        let Waiting { position, request, .. } = self.running.pop()?;
        self.heads_at = position;
        Some(request)
    }

    fn cancel(&mut self, id: RequestId) -> Option<Request> {
        [&mut self.running, &mut self.next].into_iter().find_map(|sweep| {
            let found = sweep.iter().find(|waiting| waiting.request.id == id)?.request;
            sweep.retain(|waiting| waiting.request.id != id);
            Some(found)
        })
    }

    fn len(&self) -> usize {
        self.running.len() + self.next.len()
    }

    fn boxed(&self) -> Box<dyn Order> {
        Box::new(self.clone())
    }
}
