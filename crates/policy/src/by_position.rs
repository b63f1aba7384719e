// SPDX-License-Identifier: Apache-2.0 OR MIT
//! `sstf`, `scan`, `c-look`, `satf`: serve requests by position, one request on the drive at a
//! time.
//!
//! Rules, whenever the drive is idle:
//! - `sstf` sends the request nearest to the heads.
//! - `scan` sends the next request in the heads' direction, and reverses when there is none.
//! - `c-look` sends the next request at or above the last one, or the lowest if there is none.
//! - `satf` sends the request whose data, according to a model of the drive, will be under the
//!   heads first.
//!
//! A position is a cylinder if the drive's mechanics are known, otherwise a sector number, as in
//! kernels. At equal positions the oldest request goes first. All classes share one queue. None of
//! the policies has a bound: requests that keep arriving near the heads delay others indefinitely.
//!
//! The orders, with their sources, are in `order`.

use tidegate_model::{AccessTime, RequestId, Time};

use crate::order::{ByDistance, Elevator, Heads, OrderedQueue, Positions, ShortestAccess, Tracked};
use crate::{Decision, Event, Full, Policy, Tag};

/// The rule that selects the next queued request by its position.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rule {
    /// The nearest request.
    Nearest,
    /// The next request in the heads' direction, which reverses after the last one.
    BothWays,
    /// The next request upwards; after the highest, the lowest.
    OneWay,
}

/// Serves one request at a time, by position; see the module documentation.
///
/// # Complexity
/// O(log n) for a decision and for a release, O(n) for a cancellation.
#[derive(Debug)]
pub struct ByPosition {
    queue: OrderedQueue,
    in_flight: Option<RequestId>,
}

impl ByPosition {
    /// Returns a policy that follows `rule` and holds at most `queued_max` requests. `access` gives
    /// the drive's positions if they are known.
    pub fn new(rule: Rule, access: Option<Box<dyn AccessTime>>, queued_max: u32) -> Self {
        let positions = Positions::of(access);
        Self::in_order(match rule {
            Rule::Nearest => OrderedQueue::new(ByDistance::nearest(positions), queued_max),
            Rule::BothWays => OrderedQueue::new(ByDistance::both_ways(positions), queued_max),
            Rule::OneWay => OrderedQueue::new(Elevator::unbounded(positions), queued_max),
        })
    }

    const fn in_order(queue: OrderedQueue) -> Self {
        Self { queue, in_flight: None }
    }
}

impl Policy for ByPosition {
    fn observe(&mut self, _now: Time, event: Event) -> Result<(), Full> {
        match event {
            Event::Release(request) => self.queue.push(request)?,
            Event::Complete { id, .. } => {
                assert_eq!(
                    self.in_flight.take(),
                    Some(id),
                    "the completed request was not in flight"
                );
            }
            Event::Cancel(id) => {
                self.queue.cancel(id);
            }
            Event::Notice { .. } => {}
            Event::Reconfigure(plan) => self.queue.set_queued_max(plan.queued_max),
        }
        Ok(())
    }

    fn decide(&mut self, _now: Time) -> Decision {
        if self.in_flight.is_some() {
            return Decision::AwaitEvent;
        }
        let Some(request) = self.queue.pop() else { return Decision::AwaitEvent };
        self.in_flight = Some(request.id);
        Decision::Dispatch { id: request.id, tag: Tag::Simple }
    }
}

/// Shortest access time first; see the module documentation.
///
/// # Complexity
/// One estimate per queued request at each decision.
#[derive(Debug)]
pub struct Satf {
    tracked: Tracked<ByPosition>,
}

impl Satf {
    /// Returns a policy that holds at most `queued_max` requests; `access` models the drive.
    pub fn new(access: Box<dyn AccessTime>, queued_max: u32) -> Self {
        let heads = Heads::new(access);
        let queue = OrderedQueue::new(ShortestAccess::new(heads.clone()), queued_max);
        Self { tracked: Tracked::new(ByPosition::in_order(queue), heads) }
    }
}

impl Policy for Satf {
    fn observe(&mut self, now: Time, event: Event) -> Result<(), Full> {
        self.tracked.observe(now, event)
    }

    fn decide(&mut self, now: Time) -> Decision {
        self.tracked.decide(now)
    }
}
