// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The nearest request first, or the elevator that serves in both directions.
//!
//! The heads are assumed to be at the end of the last request. At equal positions the oldest
//! request goes first. Requests that keep arriving near the heads delay others indefinitely.
//!
//! Source: P. Denning, "Effects of Scheduling on File Memory Operations", AFIPS 1967 (SSTF,
//! SCAN; here in the form that turns at the last request, LOOK).

use std::collections::BTreeMap;

use tidegate_model::{Request, RequestId};

use super::{Order, Positions};

/// A position and a sequence number: unique, and the oldest request of a position comes first.
type Key = (u64, u64);

/// The direction in which the queue moves the heads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Heading {
    /// To the nearest request, wherever it is.
    Nearest,
    /// Upwards until no request is ahead.
    Up,
    /// Downwards until no request is ahead.
    Down,
}

/// Requests by their distance from the heads; see the module documentation.
///
/// # Complexity
/// O(log queued) for `push`, `peek` and `pop`.
#[derive(Debug, Clone)]
pub(crate) struct ByDistance {
    positions: Positions,
    heading: Heading,
    /// Requests with the position of the heads after each.
    requests: BTreeMap<Key, (Request, u64)>,
    heads_at: u64,
    arrived: u64,
}

impl ByDistance {
    /// Returns an empty queue that serves the nearest request first.
    pub(crate) fn nearest(positions: Positions) -> Self {
        Self::new(positions, Heading::Nearest)
    }

    /// Returns an empty queue that serves in one direction while a request is ahead, then in the
    /// other.
    pub(crate) fn both_ways(positions: Positions) -> Self {
        Self::new(positions, Heading::Up)
    }

    fn new(positions: Positions, heading: Heading) -> Self {
        Self { positions, heading, requests: BTreeMap::new(), heads_at: 0, arrived: 0 }
    }

    /// Returns the first request at or above the heads.
    fn above(&self) -> Option<Key> {
        self.requests.range((self.heads_at, 0)..).next().map(|(&key, _)| key)
    }

    /// Returns the oldest request at the highest position at or below the heads.
    fn below(&self) -> Option<Key> {
        let (&(position, _), _) = self.requests.range(..=(self.heads_at, u64::MAX)).next_back()?;
        self.requests.range((position, 0)..).next().map(|(&key, _)| key)
    }

    /// Returns the next request with the heading in which it is reached.
    fn next(&self) -> Option<(Key, Heading)> {
        let up = || self.above().map(|key| (key, Heading::Up));
        let down = || self.below().map(|key| (key, Heading::Down));
        match self.heading {
            Heading::Up => up().or_else(down),
            Heading::Down => down().or_else(up),
            Heading::Nearest => {
                let distance =
                    |&(position, number): &Key| (position.abs_diff(self.heads_at), number);
                let nearest = self.above().into_iter().chain(self.below()).min_by_key(distance);
                nearest.map(|key| (key, Heading::Nearest))
            }
        }
    }
}

impl Order for ByDistance {
    fn push(&mut self, request: Request) {
        let (begin, end) = self.positions.span(&request);
        self.requests.insert((begin, self.arrived), (request, end));
        self.arrived += 1;
    }

    fn peek(&self) -> Option<&Request> {
        self.next().map(|(key, _)| &self.requests[&key].0)
    }

    fn pop(&mut self) -> Option<Request> {
        let (key, heading) = self.next()?;
        let (request, end) = self.requests.remove(&key)?;
        (self.heads_at, self.heading) = (end, heading);
        Some(request)
    }

    fn cancel(&mut self, id: RequestId) -> Option<Request> {
        let found = self.requests.iter().find(|(_, (request, _))| request.id == id);
        let key = *found?.0;
        self.requests.remove(&key).map(|(request, _)| request)
    }

    fn len(&self) -> usize {
        self.requests.len()
    }

    fn boxed(&self) -> Box<dyn Order> {
        Box::new(self.clone())
    }
}
