// SPDX-License-Identifier: Apache-2.0 OR MIT
//! One queue per class, served by priority: hard, soft, interactive, best effort; within a class,
//! in order of release.

use std::collections::VecDeque;

use tidegate_model::{Class, Request, RequestId};

use crate::Full;

/// Released, undispatched requests, at most `queued_max` of each class.
#[derive(Debug, Clone)]
pub(crate) struct ClassQueues {
    /// In order of priority, best effort last.
    queues: [VecDeque<Request>; 4],
    queued_max: u32,
}

/// The index of the best-effort queue.
const BEST_EFFORT: usize = 3;

const fn index_of(class: Class) -> usize {
    match class {
        Class::Hard => 0,
        Class::Soft => 1,
        Class::Interactive => 2,
        Class::BestEffort => BEST_EFFORT,
    }
}

impl ClassQueues {
    /// Returns empty queues. They grow on demand up to the bound and keep their capacity.
    pub(crate) fn new(queued_max: u32) -> Self {
        Self { queues: Default::default(), queued_max }
    }

    pub(crate) fn push(&mut self, request: Request) -> Result<(), Full> {
        let queue = &mut self.queues[index_of(request.class)];
        if queue.len() >= self.queued_max as usize {
            return Err(Full);
        }
        queue.push_back(request);
        Ok(())
    }

    /// Removes and returns the next request that is not best effort.
    pub(crate) fn pop_real_time(&mut self) -> Option<Request> {
        self.queues[..BEST_EFFORT].iter_mut().find_map(VecDeque::pop_front)
    }

    /// Removes and returns the next best-effort request.
    pub(crate) fn pop_best_effort(&mut self) -> Option<Request> {
        self.queues[BEST_EFFORT].pop_front()
    }

    /// Returns the next request that is not best effort.
    pub(crate) fn next_real_time(&self) -> Option<&Request> {
        self.queues[..BEST_EFFORT].iter().find_map(VecDeque::front)
    }

    /// Returns the next best-effort request.
    pub(crate) fn next_best_effort(&self) -> Option<&Request> {
        self.queues[BEST_EFFORT].front()
    }

    /// Removes and returns a request from anywhere in the queues, if it is there. O(queued).
    pub(crate) fn cancel(&mut self, id: RequestId) -> Option<Request> {
        self.queues.iter_mut().find_map(|queue| {
            let position = queue.iter().position(|request| request.id == id)?;
            queue.remove(position)
        })
    }

    /// Sets the bound. If a queue is already longer, it drops nothing and only refuses new
    /// requests.
    pub(crate) fn set_queued_max(&mut self, queued_max: u32) {
        self.queued_max = queued_max;
    }
}
