// SPDX-License-Identifier: Apache-2.0 OR MIT
//! One queue per class, served by priority: hard, soft, interactive, best effort; within a
//! real-time class in order of release, best effort in an order of its own.

use std::collections::VecDeque;

use tidegate_model::{Class, Request, RequestId};

use crate::Full;
use crate::order::OrderedQueue;

/// Released, undispatched requests, at most `queued_max` of each class.
#[derive(Debug, Clone)]
pub(crate) struct ClassQueues {
    /// The classes above best effort, in order of priority.
    real_time: [VecDeque<Request>; 3],
    best_effort: OrderedQueue,
}

/// Returns the index of a class's queue; `None` for best effort.
const fn index_of(class: Class) -> Option<usize> {
    match class {
        Class::Hard => Some(0),
        Class::Soft => Some(1),
        Class::Interactive => Some(2),
        Class::BestEffort => None,
    }
}

impl ClassQueues {
    /// Returns empty queues. They grow on demand up to the bound and keep their capacity.
    pub(crate) fn new(queued_max: u32) -> Self {
        Self { real_time: Default::default(), best_effort: OrderedQueue::first_come(queued_max) }
    }

    pub(crate) fn push(&mut self, request: Request) -> Result<(), Full> {
        let Some(index) = index_of(request.class) else { return self.best_effort.push(request) };
        let queue = &mut self.real_time[index];
        if queue.len() >= self.best_effort.queued_max() as usize {
            return Err(Full);
        }
        queue.push_back(request);
        Ok(())
    }

    /// Removes and returns the next request that is not best effort.
    pub(crate) fn pop_real_time(&mut self) -> Option<Request> {
        self.real_time.iter_mut().find_map(VecDeque::pop_front)
    }

    /// Removes and returns the next best-effort request.
    pub(crate) fn pop_best_effort(&mut self) -> Option<Request> {
        self.best_effort.pop()
    }

    /// Returns the next request that is not best effort.
    pub(crate) fn next_real_time(&self) -> Option<&Request> {
        self.real_time.iter().find_map(VecDeque::front)
    }

    /// Returns whether best effort is queued.
    pub(crate) fn has_best_effort(&self) -> bool {
        !self.best_effort.is_empty()
    }

    /// Returns the queue of best effort.
    pub(crate) fn best_effort_mut(&mut self) -> &mut OrderedQueue {
        &mut self.best_effort
    }

    /// Removes and returns a request from anywhere in the queues, if it is there. O(queued).
    pub(crate) fn cancel(&mut self, id: RequestId) -> Option<Request> {
        let real_time = self.real_time.iter_mut().find_map(|queue| {
            let position = queue.iter().position(|request| request.id == id)?;
            queue.remove(position)
        });
        real_time.or_else(|| self.best_effort.cancel(id))
    }

    /// Sets the bound. If a queue is already longer, it drops nothing and only refuses new
    /// requests.
    pub(crate) fn set_queued_max(&mut self, queued_max: u32) {
        self.best_effort.set_queued_max(queued_max);
    }
}
