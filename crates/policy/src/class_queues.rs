// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A queue for each class, served by priority: hard, soft, interactive, best effort; inside a
//! class in the order of release.

use std::collections::VecDeque;

use tidegate_model::{Class, Request, RequestId};

use crate::Full;

/// Requests that are released and not dispatched, at most `queued_max` of each class.
#[derive(Debug, Clone)]
pub(crate) struct ClassQueues {
    /// In the order of priority, best effort last.
    queues: [VecDeque<Request>; 4],
    queued_max: u32,
}

/// The place of best effort among the queues.
const BEST_EFFORT: usize = 3;

const fn place(class: Class) -> usize {
    match class {
        Class::Hard => 0,
        Class::Soft => 1,
        Class::Interactive => 2,
        Class::BestEffort => BEST_EFFORT,
    }
}

impl ClassQueues {
    /// Empty queues. Room grows on demand up to the bound and is then kept.
    pub(crate) fn new(queued_max: u32) -> Self {
        Self { queues: Default::default(), queued_max }
    }

    pub(crate) fn push(&mut self, request: Request) -> Result<(), Full> {
        let queue = &mut self.queues[place(request.class)];
        if queue.len() >= self.queued_max as usize {
            return Err(Full);
        }
        queue.push_back(request);
        Ok(())
    }

    /// Takes the next request that is not best effort.
    pub(crate) fn pop_real_time(&mut self) -> Option<Request> {
        self.queues[..BEST_EFFORT].iter_mut().find_map(VecDeque::pop_front)
    }

    /// Takes the next request of best effort.
    pub(crate) fn pop_best_effort(&mut self) -> Option<Request> {
        self.queues[BEST_EFFORT].pop_front()
    }

    /// The next request that is not best effort.
    pub(crate) fn next_real_time(&self) -> Option<&Request> {
        self.queues[..BEST_EFFORT].iter().find_map(VecDeque::front)
    }

    /// The next request of best effort.
    pub(crate) fn next_best_effort(&self) -> Option<&Request> {
        self.queues[BEST_EFFORT].front()
    }

    /// Removes a request from anywhere; it, if it was there. O(queued).
    pub(crate) fn cancel(&mut self, id: RequestId) -> Option<Request> {
        self.queues.iter_mut().find_map(|queue| {
            let position = queue.iter().position(|request| request.id == id)?;
            queue.remove(position)
        })
    }

    /// A smaller bound than what is queued loses nothing: it only refuses what comes.
    pub(crate) fn set_queued_max(&mut self, queued_max: u32) {
        self.queued_max = queued_max;
    }
}
