// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Orders in which queued requests are served, and the bounded queue that policies use with any of
//! them.
//!
//! No bound depends on the order of best effort: bounds count its requests or their cost, so every
//! policy that holds best effort back may choose the request that suits the disk. `sstf`, `scan`,
//! `c-look` and `satf` serve all classes in such an order.
//!
//! | order | next request | wait |
//! |---|---|---|
//! | `fifo` | the oldest | as many requests as are queued |
//! | `elevator` | upwards from the last one, then from the lowest | bounded, see `elevator` |
//! | `nearest` | the nearest to the last one | unbounded |
//! | `satf` | the one with the shortest access time | unbounded |
//!
//! The elevator and `nearest` order best effort by sector number, which needs no knowledge of the
//! drive: sector numbers rise with the cylinders.

mod by_distance;
mod elevator;
mod first_come;
mod heads;
mod shortest_access;

use std::fmt;
use std::rc::Rc;

use tidegate_model::{AccessTime, BestEffortOrder, Request, RequestId};

use crate::Full;

pub(crate) use by_distance::ByDistance;
pub(crate) use elevator::Elevator;
pub(crate) use first_come::FirstCome;
pub(crate) use heads::{Heads, Tracked};
pub(crate) use shortest_access::ShortestAccess;

/// Queued requests in an order of service.
pub(crate) trait Order: fmt::Debug {
    fn push(&mut self, request: Request);

    /// Returns the request that `pop` would take.
    fn peek(&self) -> Option<&Request>;

    /// Removes and returns the next request.
    fn pop(&mut self) -> Option<Request>;

    /// Removes a request from anywhere in the queue, if it is there. O(queued).
    fn cancel(&mut self, id: RequestId) -> Option<Request>;

    fn len(&self) -> usize;

    /// Returns a copy, which shares the order's model of the drive if there is one.
    fn boxed(&self) -> Box<dyn Order>;
}

/// At most `queued_max` requests in an order of service.
#[derive(Debug)]
pub(crate) struct OrderedQueue {
    order: Box<dyn Order>,
    queued_max: u32,
}

impl OrderedQueue {
    /// Returns an empty queue in this order.
    pub(crate) fn new(order: impl Order + 'static, queued_max: u32) -> Self {
        Self { order: Box::new(order), queued_max }
    }

    /// Returns an empty queue in the order of arrival.
    pub(crate) fn first_come(queued_max: u32) -> Self {
        Self::new(FirstCome::default(), queued_max)
    }

    /// Returns an empty queue in the order of this name. `heads` estimates access times.
    ///
    /// # Panics
    /// If the order needs access times and `heads` is `None`.
    pub(crate) fn in_order(order: BestEffortOrder, heads: Option<&Heads>, queued_max: u32) -> Self {
        let sectors = || Positions::sectors();
        match order {
            BestEffortOrder::Fifo => Self::first_come(queued_max),
            BestEffortOrder::Elevator => Self::new(Elevator::bounded(sectors()), queued_max),
            BestEffortOrder::Nearest => Self::new(ByDistance::nearest(sectors()), queued_max),
            BestEffortOrder::Satf => {
                let heads = heads.expect("an order by access time needs access times");
                Self::new(ShortestAccess::new(heads.clone()), queued_max)
            }
        }
    }

    pub(crate) fn push(&mut self, request: Request) -> Result<(), Full> {
        if self.order.len() >= self.queued_max as usize {
            return Err(Full);
        }
        self.order.push(request);
        Ok(())
    }

    /// Returns the request that `pop` would take.
    pub(crate) fn peek(&self) -> Option<&Request> {
        self.order.peek()
    }

    /// Removes and returns the next request.
    pub(crate) fn pop(&mut self) -> Option<Request> {
        self.order.pop()
    }

    /// Removes a request from anywhere in the queue, if it is there. O(queued).
    pub(crate) fn cancel(&mut self, id: RequestId) -> Option<Request> {
        self.order.cancel(id)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.order.len() == 0
    }

    pub(crate) const fn queued_max(&self) -> u32 {
        self.queued_max
    }

    /// Sets the bound. If the queue is already longer, it drops nothing and only refuses new
    /// requests.
    pub(crate) fn set_queued_max(&mut self, queued_max: u32) {
        self.queued_max = queued_max;
    }
}

impl Clone for OrderedQueue {
    fn clone(&self) -> Self {
        Self { order: self.order.boxed(), queued_max: self.queued_max }
    }
}

/// A policy whose best effort waits in an order of its own.
pub(crate) trait OrdersBestEffort {
    /// Returns the queue of best effort, which may be replaced while it is empty.
    fn best_effort_mut(&mut self) -> &mut OrderedQueue;
}

/// Computes the positions of requests: cylinders if they are known, otherwise sector numbers.
#[derive(Debug, Clone)]
pub(crate) struct Positions {
    access: Option<Rc<dyn AccessTime>>,
}

impl Positions {
    /// Returns positions that are sector numbers.
    pub(crate) const fn sectors() -> Self {
        Self { access: None }
    }

    /// Returns positions that are the cylinders of `access`, or sector numbers without it.
    pub(crate) fn of(access: Option<Box<dyn AccessTime>>) -> Self {
        Self { access: access.map(Rc::from) }
    }

    /// Returns the positions of the heads before and after a request.
    fn span(&self, request: &Request) -> (u64, u64) {
        if let Some(access) = &self.access {
            let cylinder = u64::from(access.target(request).cylinder);
            return (cylinder, cylinder);
        }
        let begin = request.start.get();
        // Saturation is intended: no drive has 2^64 sectors, so such a request ends at the last.
        (begin, begin.saturating_add(request.size.sectors_ceil()))
    }
}
