// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A bounded, unordered queue of requests with their positions on the drive, for policies that look
//! at all of them at each decision.

use tidegate_model::{RequestId, Target};

use crate::Full;

/// A queued request and its position on the drive.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Placed {
    /// Sequence number of arrival: the oldest request wins ties.
    pub(crate) number: u64,
    pub(crate) id: RequestId,
    pub(crate) target: Target,
}

/// Released, undispatched requests, at most `queued_max`.
#[derive(Debug)]
pub(crate) struct PlacedQueue {
    placed: Vec<Placed>,
    queued_max: u32,
}

impl PlacedQueue {
    /// Returns an empty queue. It grows on demand up to the bound and keeps its capacity.
    pub(crate) fn new(queued_max: u32) -> Self {
        Self { placed: Vec::new(), queued_max }
    }

    pub(crate) fn push(&mut self, placed: Placed) -> Result<(), Full> {
        if self.placed.len() >= self.queued_max as usize {
            return Err(Full);
        }
        self.placed.push(placed);
        Ok(())
    }

    pub(crate) fn as_slice(&self) -> &[Placed] {
        &self.placed
    }

    /// Removes and returns the request at this index, in O(1).
    pub(crate) fn take(&mut self, index: usize) -> Placed {
        self.placed.swap_remove(index)
    }

    /// Removes a request from anywhere in the queue, if it is there. O(queued).
    pub(crate) fn cancel(&mut self, id: RequestId) {
        if let Some(index) = self.placed.iter().position(|placed| placed.id == id) {
            self.placed.swap_remove(index);
        }
    }

    /// Sets the bound. If the queue is already longer, it drops nothing and only refuses new
    /// requests.
    pub(crate) fn set_queued_max(&mut self, queued_max: u32) {
        self.queued_max = queued_max;
    }
}
