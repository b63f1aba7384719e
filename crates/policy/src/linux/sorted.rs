// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A queue of requests by position, taken upwards from the last one, then again from the lowest.

use std::collections::BTreeMap;
use std::ops::Bound;

use tidegate_model::{Lba, Request, RequestId};

/// A request's position: its first sector, then its id.
pub(super) type Position = (Lba, RequestId);

/// Queued requests by position.
///
/// # Complexity
/// O(log queued), except `cancel`, which is O(queued).
#[derive(Debug, Default)]
pub(super) struct Sorted {
    requests: BTreeMap<Position, Request>,
    next: Next,
}

/// The way to find the request that follows the one taken last.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Next {
    /// The lowest position above the one taken last; before the first, the lowest of all.
    Above(Option<Position>),
    /// As in Linux 6.1, the position that was next when the last request was taken. A request that
    /// arrives between these two positions afterwards is passed over.
    Remembered(Option<Position>),
}

impl Default for Next {
    fn default() -> Self {
        Self::Above(None)
    }
}

impl Sorted {
    /// Returns an empty queue that remembers the next position when it takes a request.
    pub(super) fn remembering() -> Self {
        Self { next: Next::Remembered(None), ..Self::default() }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.requests.is_empty()
    }

    pub(super) fn push(&mut self, request: Request) {
        self.requests.insert((request.start, request.id), request);
    }

    /// Returns the next position above the last one; `None` at the upper end.
    pub(super) fn next_above(&self) -> Option<Position> {
        match self.next {
            Next::Above(None) => self.lowest(),
            Next::Above(Some(last)) => self.above(last),
            Next::Remembered(next) => next,
        }
    }

    fn above(&self, position: Position) -> Option<Position> {
        let above = (Bound::Excluded(position), Bound::Unbounded);
        self.requests.range(above).next().map(|(&position, _)| position)
    }

    fn lowest(&self) -> Option<Position> {
        self.requests.first_key_value().map(|(&position, _)| position)
    }

    /// Takes the request at this position.
    ///
    /// # Panics
    /// If no request is queued at this position.
    pub(super) fn take(&mut self, position: Position) -> Request {
        self.next = match self.next {
            Next::Above(_) => Next::Above(Some(position)),
            Next::Remembered(_) => Next::Remembered(self.above(position)),
        };
        self.requests.remove(&position).expect("a request at its position")
    }

    /// Takes the next request above the last one, or the lowest.
    pub(super) fn pop(&mut self) -> Option<Request> {
        let position = self.next_above().or_else(|| self.lowest())?;
        Some(self.take(position))
    }

    /// Returns the request that `pop` would take.
    pub(super) fn peek(&self) -> Option<&Request> {
        self.requests.get(&self.next_above().or_else(|| self.lowest())?)
    }

    pub(super) fn cancel(&mut self, id: RequestId) -> Option<Request> {
        let position = *self.requests.keys().find(|position| position.1 == id)?;
        if self.next == Next::Remembered(Some(position)) {
            self.next = Next::Remembered(self.above(position));
        }
        self.requests.remove(&position)
    }
}
