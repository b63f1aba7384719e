// SPDX-License-Identifier: Apache-2.0 OR MIT
//! The shortest access time first, according to a model of the drive.
//!
//! Access times are shorter with a longer queue, and a host's queue may be longer than any drive's.
//! Requests far from the heads wait while nearer ones keep arriving, so there is no bound.
//!
//! Source: L. Reuther and M. Pohlack, "Using SATF Scheduling in Real-Time Systems", section 2;
//! D. Jacobson and J. Wilkes, "Disk Scheduling Algorithms Based on Rotational Position",
//! HPL-CSP-91-7, 1991.

use tidegate_model::{Duration, Request, RequestId};

use super::Order;
use super::heads::Heads;
use crate::placed_queue::Placed;

/// Shortest access time first; see the module documentation. A round that takes several requests
/// estimates each from the position of the heads before the round.
///
/// # Complexity
/// One estimate per queued request for `peek` and for `pop`.
#[derive(Debug, Clone)]
pub(crate) struct ShortestAccess {
    heads: Heads,
    placed: Vec<Placed>,
    /// The requests of `placed`, at the same indices.
    requests: Vec<Request>,
    arrived: u64,
}

impl ShortestAccess {
    /// Returns an empty queue in the order of these heads' access times.
    pub(crate) fn new(heads: Heads) -> Self {
        Self { heads, placed: Vec::new(), requests: Vec::new(), arrived: 0 }
    }

    /// Returns the index of the request with the shortest access time; of equal ones, the oldest.
    fn soonest(&self) -> Option<usize> {
        let access = self.heads.access();
        let mut best: Option<(Duration, u64, usize)> = None;
        for (index, placed) in self.placed.iter().enumerate() {
            let key = (access.access(&placed.target), placed.number, index);
            if best.is_none_or(|best| key < best) {
                best = Some(key);
            }
        }
        best.map(|(_, _, index)| index)
    }

    fn take(&mut self, index: usize) -> Request {
        self.placed.swap_remove(index);
        self.requests.swap_remove(index)
    }
}

impl Order for ShortestAccess {
    fn push(&mut self, request: Request) {
        let target = self.heads.access().target(&request);
        self.placed.push(Placed { number: self.arrived, id: request.id, target });
        self.requests.push(request);
        self.arrived += 1;
    }

    fn peek(&self) -> Option<&Request> {
        self.soonest().map(|index| &self.requests[index])
    }

    fn pop(&mut self) -> Option<Request> {
        let index = self.soonest()?;
        Some(self.take(index))
    }

    fn cancel(&mut self, id: RequestId) -> Option<Request> {
        let index = self.placed.iter().position(|placed| placed.id == id)?;
        Some(self.take(index))
    }

    fn len(&self) -> usize {
        self.placed.len()
    }

    fn boxed(&self) -> Box<dyn Order> {
        Box::new(self.clone())
    }
}
